// SPDX-License-Identifier: Apache-2.0
//
// fansite dag: a causal graph of a table's variables.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "cli/command.h"
#include "cli/progress_bar.h"
#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/report/json.h"
#include "fansite/run/causal_graph.h"

namespace fansite::cli {
namespace {

struct DagOptions : CommonOptions {
  TableOptions table;
  CausalGraphParams params;
  LimitOptions limits;
  std::string method{name(CausalGraphParams{}.method)};
  std::string noise{causal::name(causal::AdditiveNoiseParams{}.noise)};
  std::string scale{causal::name(causal::AdditiveNoiseParams{}.scale)};
  std::string estimator{name(BoundariesParams{}.estimator)};
  std::string effort{name(BoundariesParams{}.effort)};
  std::string boundaries, knowledge;
  std::string out, graphml, dot, csv;
};

// The moral graph of a saved result, in the table's columns.
ByteMatrix saved_links(const std::string& path, const Dataset& data) {
  const FileView file(path);
  const SavedBoundaries saved = parse_boundaries(file.bytes(), path);
  std::vector<int> column;
  for (const std::string& variable : saved.variables) {
    const auto found = std::find(data.names.begin(), data.names.end(), variable);
    check(found != data.names.end(), "[dag] {} has the boundary of '{}', which the table does not have", path,
          excerpt(variable));
    column.push_back(static_cast<int>(found - data.names.begin()));
  }
  check_data(saved.targets.size() == saved.variables.size() && saved.variables.size() == data.names.size(),
             "[dag] {} has the boundaries of {} of the table's {} variables; give those of all", path,
             saved.targets.size(), data.variables());
  ByteMatrix links = ByteMatrix::Zero(data.variables(), data.variables());
  for (std::size_t t = 0; t < saved.targets.size(); ++t) {
    const int target = column[static_cast<std::size_t>(saved.targets[t])];
    for (const int member : saved.members[t]) {
      const int other = column[static_cast<std::size_t>(member)];
      links(target, other) = links(other, target) = 1;
    }
  }
  return links;
}

constexpr std::size_t kShownEdges = 24;

// The surest edges as lines for people; the JSON has them all.
void show(const CommonOptions& options, const CausalGraphResult& result) {
  struct Line {
    double weight;
    std::string text;
  };
  std::vector<Line> lines;
  const auto name_of = [&](Index variable) { return excerpt(result.variables[static_cast<std::size_t>(variable)]); };
  if (result.additive_noise) {
    for (const causal::GraphEdge& edge : result.additive_noise->edges) {
      const bool directed = result.graph.directed(edge.from, edge.to) != 0;
      std::string text = fmt::format("  {} {} {}   {:.3f} nats", name_of(edge.from), directed ? "→" : "–",
                                     name_of(edge.to), edge.existence.value);
      if (edge.by == causal::DirectionBy::score) {
        text += fmt::format(", direction {:.3f} ± {:.3f}", edge.direction.value, edge.direction.standard_error);
      } else {
        text += fmt::format(", direction {}", edge.by == causal::DirectionBy::nothing
                                                  ? "undecided"
                                                  : fmt::format("by {}", causal::name(edge.by)));
      }
      lines.push_back({edge.existence.value, std::move(text)});
    }
  } else {
    for (Index i = 0; i < result.weights.rows(); ++i) {
      for (Index j = 0; j < result.weights.cols(); ++j) {
        if (!result.graph.directed(i, j)) continue;
        lines.push_back({result.weights(i, j),
                         fmt::format("  {} → {}   weight {:.3f}", name_of(i), name_of(j), result.weights(i, j))});
      }
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.weight > b.weight; });
  for (std::size_t i = 0; i < std::min(kShownEdges, lines.size()); ++i) say(options, lines[i].text);
  if (lines.size() > kShownEdges) say(options, fmt::format("  … and {} more", lines.size() - kShownEdges));
}

std::string how(const CausalGraphResult& result, const RunTiming& timing) {
  std::string line{name(result.params.method)};
  if (result.additive_noise) {
    const causal::AdditivityTest& test = result.additive_noise->additivity;
    if (result.additive_noise->scale == causal::NoiseScale::normal_scores) line += " on normal scores of the columns";
    line += test.additive ? fmt::format("; nothing speaks against additive noise (p = {:.2g})", test.p_value)
                          : fmt::format("; noise does not just add (p = {:.1g})", test.p_value);
    line += fmt::format("; {}", counted(result.additive_noise->fits, "regression"));
  }
  if (result.differentiable) {
    line += "; directions as published, which follow the columns' scales more than causes";
    line += fmt::format("; {}", counted(result.differentiable->second.epochs, "epoch"));
  }
  return line + fmt::format("; {:.0f} MB", timing.peak_memory_mb);
}

void run(DagOptions& options) {
  const Stopwatch watch;
  CausalGraphParams& params = options.params;
  params.method = parse_graph_method(options.method);
  params.additive_noise.noise = causal::parse_noise_law(options.noise);
  params.additive_noise.scale = causal::parse_noise_scale(options.scale);
  params.boundaries.estimator = parse_estimator(options.estimator);
  params.boundaries.effort = parse_effort(options.effort);
  params.time_budget = options.limits.seconds();
  params.checkpoint = options.limits.checkpoint(params.checkpoint, options.out, options);
  validate(params.additive_noise);
  validate(params.differentiable);
  validate(params.boundaries.search);

  std::set<std::string> places;
  for (const std::string* path : {&options.out, &options.graphml, &options.dot, &options.csv}) {
    if (path->empty() && path != &options.out) continue;
    const std::string place = path->empty() ? "-" : *path;
    check(places.insert(place).second, "[dag] two results cannot both go to {}; give each a file of its own",
          place == "-" ? "standard output" : place);
  }

  ProgressBar progress(options);  // first, so that Ctrl-C never leaves a temporary file
  Output output(options.out);
  std::vector<std::pair<std::unique_ptr<Output>, std::string>> drawings;
  for (const std::string* path : {&options.graphml, &options.dot, &options.csv}) {
    if (!path->empty()) drawings.emplace_back(std::make_unique<Output>(*path), *path);
  }
  const ThreadLimit limit(options.threads);
  const Dataset data = options.table.load(options, progress);
  const Knowledge knowledge = options.knowledge.empty() ? Knowledge() : load_knowledge(options.knowledge, data.names);
  ByteMatrix links;
  if (!options.boundaries.empty()) links = saved_links(options.boundaries, data);
  const CausalGraphResult result = resumable(params.checkpoint, [&] {
    return causal_graph(data, options.boundaries.empty() ? nullptr : &links, knowledge, params, progress);
  });
  for (const std::string& warning : result.warnings) say(options, "warning: " + warning);

  const RunTiming timing = timing_of(watch);
  const PartialDag& graph = result.graph;
  for (auto& [drawing, path] : drawings) {
    if (path == options.csv) {
      drawing->write(to_csv(graph.directed + graph.undirected, data.names));
    } else if (path == options.dot) {
      drawing->write(to_dot(graph.directed, graph.undirected, data.names));
    } else {
      drawing->write(to_graphml(graph.directed, graph.undirected, data.names));
    }
  }
  output.write(to_json(result, timing));

  const long directed = graph.directed.cast<long>().sum(), undecided = graph.undirected.cast<long>().sum() / 2;
  say(options, fmt::format("{} of {} rows × {} variables in {:.2f} s, {} of undecided direction:",
                           counted(directed + undecided, "edge"), data.rows(), data.variables(), timing.total_seconds,
                           undecided));
  show(options, result);
  say(options, how(result, timing));
  say_unfinished(options, result.unfinished, params.checkpoint);
  say_written(options, options.out);
}

}  // namespace

void add_dag(CLI::App& app) {
  const auto options = std::make_shared<DagOptions>();
  CausalGraphParams& params = options->params;
  CLI::App* command = app.add_subcommand("dag", "find a causal graph of the variables");
  options->table.add_to(*command);
  command->add_option("--boundaries", options->boundaries,
                      "a result of `fansite mb` for this table; default: boundaries are found first");
  command
      ->add_option("--method", options->method,
                   "fansite-anm (additive noise inside the moral graph), or as published: fansite-dcd, sdcd")
      ->capture_default_str();
  command->add_option("--knowledge", options->knowledge,
                      "fansite-anm: a file of edges that must or cannot be, tiers, roots, sinks (docs/knowledge.md)");
  command->add_flag("--dag", params.force_dag, "fansite-anm: a direction for every edge, decided by the data or not");
  command->add_option("--noise", options->noise, "fansite-anm: any law, or gaussian")->capture_default_str();
  command
      ->add_option("--scale", options->scale,
                   "fansite-anm: where noise adds: original, normal-scores of the columns, or auto (by a test)")
      ->capture_default_str();
  command
      ->add_option("--price", params.additive_noise.price,
                   "fansite-anm: what an edge must be worth, in units of ln N / 2N nats")
      ->capture_default_str();
  command
      ->add_option("--sure", params.additive_noise.sure,
                   "fansite-anm: standard errors by which the other direction must be worse")
      ->capture_default_str();
  command->add_option("--max-parents", params.additive_noise.max_parents, "fansite-anm: at most so many")
      ->capture_default_str();
  command
      ->add_option("--max-rows", params.additive_noise.max_rows,
                   "fansite-anm: rows used, drawn at random; 0: all of them")
      ->capture_default_str();
  command->add_flag("--standardise", params.differentiable.standardise,
                    "fansite-dcd, sdcd: columns to mean 0 and variance 1 first");
  command
      ->add_option("--epochs", params.differentiable.second.max_epochs,
                   "fansite-dcd, sdcd: times through the rows, at most, of the second stage")
      ->capture_default_str();
  command
      ->add_option("--threshold", params.differentiable.threshold,
                   "fansite-dcd, sdcd: edges of the graph have at least this weight")
      ->capture_default_str();
  command->add_option("--estimator", options->estimator, "of the boundaries: gaussian, flow or auto")
      ->capture_default_str();
  command->add_option("--effort", options->effort, "of the boundaries: quick, normal or thorough")
      ->capture_default_str();
  command->add_option("--fdr", params.boundaries.search.fdr, "of the boundaries: the share of false members to accept")
      ->capture_default_str();
  command->add_option("--model", params.boundaries.files.model, "of the boundaries: use this trained model");
  command->add_option("--save-model", params.boundaries.files.save_model, "of the boundaries: keep the trained model");
  command->add_option("--checkpoint", params.checkpoint,
                      "keep the state of training in this file and of the graph's search in FILE.graph, and continue "
                      "from what is there");
  options->limits.add_to(*command);
  command->add_option("--seed", params.seed, "of every random choice; kept in the result")
      ->capture_default_str()
      ->check(refuse_bad_seed, "");
  command->add_option("--out", options->out, "JSON file; default: standard output");
  command->add_option("--graphml", options->graphml, "also as GraphML");
  command->add_option("--dot", options->dot, "also as DOT, for Graphviz");
  command->add_option("--csv", options->csv, "also as adjacency matrix; undecided edges have both entries");
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
