// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/fansite_anm.h"

#include <fmt/core.h>

#include <optional>

#include "fansite/base/text.h"
#include "fansite/causal/constrained_graph.h"
#include "fansite/context/dependent_rows.h"

namespace fansite::causal {
namespace {

// Of a time budget: when the search comes to an answer, so that there is time to say how certain it is.
constexpr double kAnswerShare = 0.85;

AdditiveNoiseParams completed(const Context& context, const Parameters& parameters) {
  AdditiveNoiseParams params = parameters.as<FansiteAnmParams>().additive_noise;
  params.seed = context.run().seed;
  params.checkpoint = context.checkpoint(&CheckpointFiles::graph);
  params.values_hash = context.facts().values_hash;
  return params;
}

std::optional<Context> in_blocks(const Context& context, const Parameters& parameters) {
  return with_dependence(context, parameters.as<FansiteAnmParams>().graph_block, "graph_block");
}

GraphTable table_of(const Context& context, const Parameters& parameters) {
  const auto dependent = in_blocks(context, parameters);
  return {context.tame().values,
          context.facts().kinds,
          {},
          context.context_columns(),
          GraphRows::of_table(dependent ? dependent->data() : context.data())};
}

std::string in_words(const GraphRows& rows, Index count) {
  if (rows.plain()) return "";
  return fmt::format("; {} rows tell as much as {:.0f} equal and independent ones", count, rows.independent(count));
}

std::string in_words(const AdditiveNoiseResult& found) {
  std::string words = found.scale == NoiseScale::normal_scores ? "on normal scores of the columns; " : "";
  words += !found.additivity.applicable
               ? fmt::format("whether noise adds was not tested, since {}", found.additivity.why_not())
           : found.additivity.additive
               ? fmt::format("nothing speaks against additive noise (p = {:.2g})", found.additivity.p_value)
               : fmt::format("noise does not just add (p = {:.1g})", found.additivity.p_value);
  if (found.linear) {
    words +=
        found.linearity.tested
            ? fmt::format(
                  "; nothing speaks against linear Gaussian equations (p = {:.2g}), so they are in closed form and "
                  "directions rest on colliders and knowledge alone",
                  found.linearity.p_value)
            : "; linear Gaussian equations, so directions rest on colliders and knowledge alone";
  }
  if (found.draws > 0) words += fmt::format("; scores are means over {} draws of the missing cells", found.draws);
  return words + fmt::format("; {} regression{}", found.fits, found.fits == 1 ? "" : "s");
}

// Directions that no score can decide.
std::string discrete_warning(const AdditiveNoiseResult& found, const std::vector<std::string>& names) {
  std::vector<std::string> discrete;
  for (const int column : found.discrete) discrete.push_back(names[static_cast<std::size_t>(column)]);
  return fmt::format(
      "[dag] {} {}: directions of edges there rest on colliders and knowledge alone, since the equations of levels fit "
      "either way round",
      quoted_list(discrete), discrete.size() == 1 ? "is discrete" : "are discrete");
}

// Where directions are left to colliders and knowledge.
std::string open_directions(const AdditiveNoiseResult& found, const std::vector<std::string>& names) {
  std::vector<std::string> refused;
  for (const int child : found.additivity.refused) refused.push_back(names[static_cast<std::size_t>(child)]);
  return fmt::format("directions at {} rest on colliders and knowledge alone", quoted_list(refused));
}

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const Budget& budget = context.budget();
  Deadline deadline(context.progress(), budget.watch(), kAnswerShare * budget.end(), Budget::never());
  const GraphTable table = table_of(context, parameters);
  AdditiveNoiseResult found =
      find_constrained_graph(table, problem.links, context.knowledge(), completed(context, parameters), deadline);
  GraphAnswer answer;
  answer.graph = found.partial;
  if (parameters.as<FansiteAnmParams>().dag) {
    answer.graph = {found.dag.adjacency(), ByteMatrix::Zero(problem.links.rows(), problem.links.cols())};
  }
  if (found.cut_short) {
    add_sentence(answer.unfinished,
                 "time ran out in the search for the graph: there may be better ones, and directions that were not "
                 "weighed are left open");
  }
  const auto& names = context.data().names;
  if (!found.discrete.empty()) answer.warnings.push_back(discrete_warning(found, names));
  if (found.additivity.applicable && !found.additivity.additive) {
    answer.warnings.push_back(
        fmt::format("[dag] what is left of '{}' depends on '{}' (p = {:.1g}), so noise does not just add there; {}, "
                    "since the score "
                    "decides none",
                    excerpt(names[static_cast<std::size_t>(found.additivity.child)]),
                    excerpt(names[static_cast<std::size_t>(found.additivity.parent)]), found.additivity.p_value,
                    open_directions(found, names)));
  }
  if (!found.hidden_causes.empty()) answer.warnings.push_back("[dag] " + in_words(found.hidden_causes, names));
  answer.how = in_words(found) + in_words(table.rows, context.data().rows());
  answer.weights = std::move(found.weights);
  answer.edges = std::move(found.edges);
  answer.additivity = found.additivity;
  answer.hidden_causes = std::move(found.hidden_causes);
  answer.scale = found.scale;
  answer.details = {{"score", found.score},
                    {"fits", static_cast<std::int64_t>(found.fits)},
                    {"rows_used", static_cast<std::int64_t>(found.rows)}};
  if (found.draws > 0) answer.details.emplace_back("draws", static_cast<std::int64_t>(found.draws));
  return answer;
}

}  // namespace

const Description& FansiteAnmParams::description() {
  using P = FansiteAnmParams;
  static const Description list = Describe<P>()
                                      .field("dag", &P::dag, "a direction for every edge, decided by the data or not")
                                      .field("graph_block", &P::graph_block,
                                             "rows that may depend on each other count as one: auto (as they show), "
                                             "none, or so many in a row")
                                      .rule([](const P& p) { check_block(p.graph_block, "graph_block"); })
                                      .part(&P::additive_noise, AdditiveNoiseParams::description())
                                      .done();
  return list;
}

GraphMethod fansite_anm() {
  GraphMethod row;
  row.name = "fansite-anm";
  row.summary = "additive noise inside the moral graph of the boundaries; what the data do not decide stays undirected";
  row.citation = "Peters, Mooij, Janzing and Schölkopf, JMLR 2014 (additive noise); boundaries as FANSITEMB";
  row.can = {.needs_boundaries = true,
             .satisfies_knowledge = true,
             .resumable = true,
             .can_be_cut_short = true,
             .handles_missing_cells = true,
             .handles_context = true,
             .handles_weights = true,
             .handles_groups = true,
             .weighs_rows = true,
             .column_kinds = {"continuous", "ordered", "atoms", "nominal"}};
  row.parameters = FansiteAnmParams();
  row.run = run;
  row.check_table = [](const Context& context, const Parameters& parameters) { in_blocks(context, parameters); };
  row.check_checkpoint = [](const Context& context, const Parameters& parameters) {
    check_checkpoint(table_of(context, parameters), completed(context, parameters));
  };
  return row;
}

}  // namespace fansite::causal
