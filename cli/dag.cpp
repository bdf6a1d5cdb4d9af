// SPDX-License-Identifier: Apache-2.0
//
// fansite dag: a causal graph of a table's variables.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "cli/boundaries_options.h"
#include "cli/command.h"
#include "cli/offers.h"
#include "cli/progress_bar.h"
#include "fansite/base/error.h"
#include "fansite/base/run_lock.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/report/json.h"
#include "fansite/run/causal_graph.h"

namespace fansite::cli {
namespace {

struct DagOptions : CommonOptions {
  TableOptions table;
  std::string method = CausalGraphParams().method;
  ParameterOptions parameters;
  BoundaryMethodOptions boundary_method;
  KnowledgeOption knowledge;
  RunOptions run;
  std::string boundaries;
  std::string out, graphml, dot, csv;
};

CausalGraphParams parsed(const DagOptions& options) {
  CausalGraphParams params(options.method);
  options.parameters.apply(params.method, params.options);
  params.options.validate();
  params.boundaries = options.boundary_method.parsed();
  const bool needed = graph_methods().at(params.method).can.needs_boundaries;
  if (!needed) options.boundary_method.require_none(params.method + " needs no boundaries");
  if (!needed && !options.boundaries.empty()) {
    throw ParameterError("boundaries", params.method + " needs none; leave them out");
  }
  if (needed && !options.boundaries.empty()) options.boundary_method.require_none("boundaries are given");
  return params;
}

constexpr std::size_t kShownEdges = 24;

// The most certain edges as lines for people; the JSON has them all.
void show(const CommonOptions& options, const CausalGraphResult& result) {
  struct Line {
    double weight;
    std::string text;
  };
  std::vector<Line> lines;
  const auto name_of = [&](Index variable) { return excerpt(result.names[static_cast<std::size_t>(variable)]); };
  if (!result.edges.empty()) {
    for (const causal::GraphEdge& edge : result.edges) {
      const bool directed = result.graph.directed(edge.from, edge.to) != 0;
      std::string text = fmt::format("  {} {} {}   {:.3f} nats", name_of(edge.from), directed ? "→" : "–",
                                     name_of(edge.to), edge.existence.value);
      if (edge.by == causal::DirectionBy::score) {
        text += fmt::format(", direction {:.3f} ± {:.3f}", edge.direction.value, edge.direction.standard_error);
      } else {
        text +=
            fmt::format(", direction {}",
                        edge.by == causal::DirectionBy::nothing ? "undecided" : fmt::format("by {}", name(edge.by)));
      }
      lines.push_back({edge.existence.value, std::move(text)});
    }
  } else {
    for (Index i = 0; i < result.weights.rows(); ++i) {
      for (Index j = 0; j < result.weights.cols(); ++j) {
        const bool directed = result.graph.directed(i, j) != 0;
        if (!directed && (i > j || !result.graph.undirected(i, j))) continue;
        lines.push_back({result.weights(i, j), fmt::format("  {} {} {}   weight {:.3f}", name_of(i),
                                                           directed ? "→" : "–", name_of(j), result.weights(i, j))});
      }
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.weight > b.weight; });
  for (std::size_t i = 0; i < std::min(kShownEdges, lines.size()); ++i) say(options, lines[i].text);
  if (lines.size() > kShownEdges) say(options, fmt::format("  … and {} more", lines.size() - kShownEdges));
}

// Each result to a place of its own.
void check_places(const DagOptions& options) {
  std::set<std::string> places;
  for (const std::string* path : {&options.out, &options.graphml, &options.dot, &options.csv}) {
    if (path->empty() && path != &options.out) continue;
    const std::string place = path->empty() ? "-" : *path;
    check(places.insert(place).second, "[dag] two results cannot both go to {}; give each a file of its own",
          place == "-" ? "standard output" : place);
  }
}

void draw(const DagOptions& options, const CausalGraphResult& result, Output& drawing, const std::string& path) {
  const PartialDag& graph = result.graph;
  const std::vector<std::string>& names = result.names;
  std::vector<std::pair<int, int>> hidden;
  for (const causal::HiddenCause& pair : result.hidden_causes.value_or(std::vector<causal::HiddenCause>())) {
    hidden.emplace_back(pair.a, pair.b);
  }
  if (path == options.csv) {
    drawing.write(to_csv(graph.directed + graph.undirected, names));
  } else if (path == options.dot) {
    drawing.write(to_dot(graph.directed, graph.undirected, names, hidden));
  } else {
    drawing.write(to_graphml(graph.directed, graph.undirected, names, hidden));
  }
}

void run(DagOptions& options) {
  const Stopwatch watch;
  CausalGraphParams params = parsed(options);
  check_places(options);

  ProgressBar progress(options);  // first, so that Ctrl-C never leaves a temporary file
  const RunLock lock(options.out);
  params.run = options.run.parsed(graph_methods(), params.method, options.out, options);
  Output output(options.out);
  std::vector<std::pair<std::unique_ptr<Output>, std::string>> drawings;
  for (const std::string* path : {&options.graphml, &options.dot, &options.csv}) {
    if (!path->empty()) drawings.emplace_back(std::make_unique<Output>(*path), *path);
  }
  const ThreadLimit limit(options.threads);
  const Dataset data = options.table.load(options, progress);
  const Knowledge knowledge = options.knowledge.load(data);
  ByteMatrix links;
  if (!options.boundaries.empty()) links = saved_links(FileView(options.boundaries).bytes(), options.boundaries, data);
  const Context context(data, knowledge, params.run, progress);
  const CausalGraphResult result = resumable(params.run.checkpoint, [&] {
    return causal_graph(context, options.boundaries.empty() ? nullptr : &links, params);
  });
  progress.end();
  for (const std::string& warning : result.warnings) say(options, "warning: " + warning);

  const RunTiming timing = timing_of(watch);
  const PartialDag& graph = result.graph;
  for (auto& [drawing, path] : drawings) draw(options, result, *drawing, path);
  resumable(params.run.checkpoint, [&] { output.write(to_json(result, timing)); });
  if (result.unfinished.empty()) context.remove_checkpoints();  // not before: a full disk must not cost the work

  const long directed = graph.directed.cast<long>().sum(), undecided = graph.undirected.cast<long>().sum() / 2;
  say(options, fmt::format("{} of {} rows × {} variables in {:.2f} s, {} of undecided direction:",
                           counted(directed + undecided, "edge"), data.rows(), data.variables(), timing.total_seconds,
                           undecided));
  show(options, result);
  say(options, fmt::format("{}{}{}; {:.0f} MB", params.method, result.how.empty() ? "" : "; ", result.how,
                           timing.peak_memory_mb));
  say_unfinished(options, result.unfinished, params.run.checkpoint);
  say_written(options, options.out);
}

}  // namespace

void add_dag(CLI::App& app) {
  const auto options = std::make_shared<DagOptions>();
  CLI::App* command = app.add_subcommand("dag", "find a causal graph of the variables");
  options->table.add_to(*command);
  command->add_option("--boundaries", options->boundaries,
                      "a result of `fansite mb` for this table; default: boundaries are found first");
  offer(command
            ->add_option("--method", options->method,
                         "how the graph is found: " + either(graph_methods().names()) + " (fansite methods)")
            ->capture_default_str(),
        graph_methods().names());
  options->parameters.add(*command, graph_methods());
  options->boundary_method.add_to(*command, "--boundary-method", {"refine"});  // the graph comes anyway
  options->knowledge.add_to(*command);
  options->run.add_to(*command);
  command->add_option("--out", options->out, "JSON file; default: standard output");
  command->add_option("--graphml", options->graphml, "also as GraphML");
  command->add_option("--dot", options->dot, "also as DOT, for Graphviz");
  command->add_option("--csv", options->csv, "also as adjacency matrix; undecided edges have both entries");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
