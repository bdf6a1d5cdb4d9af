// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/causal_graph.h"

#include <fmt/core.h>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/boundary/refine.h"
#include "fansite/causal/constrained_graph.h"
#include "fansite/context/budget.h"
#include "fansite/context/checkpoint_files.h"
#include "fansite/table/findings.h"

namespace fansite {
namespace {

// Of a time budget: what the boundaries may take, and when the search for the graph comes to an answer, so that there
// is time to say how sure it is. In a run on 100 variables the graph takes a quarter of the time.
constexpr double kBoundariesShare = 0.65;
constexpr double kAnswerShare = 0.85;

// Constant columns and copies of others take no part: nothing can be learnt of them that is not known of the originals.
std::vector<char> taking_part(const Dataset& data, const std::vector<Finding>& findings,
                              std::vector<std::string>& warnings) {
  std::vector<char> takes_part(static_cast<std::size_t>(data.variables()), 1);
  for (const Finding& finding : findings) {
    const bool duplicate = finding.kind == Finding::Kind::duplicate;
    if (!duplicate && finding.kind != Finding::Kind::constant) continue;
    warnings.push_back(finding.message);
    for (std::size_t i = duplicate ? 1 : 0; i < finding.columns.size(); ++i) {
      takes_part[static_cast<std::size_t>(finding.columns[i])] = 0;
    }
  }
  return takes_part;
}

ByteMatrix all_pairs(int d) {
  ByteMatrix pairs = ByteMatrix::Ones(d, d);
  pairs.diagonal().setZero();
  return pairs;
}

// Less those of columns that take no part.
ByteMatrix links_among(ByteMatrix links, const std::vector<char>& takes_part) {
  for (Index z = 0; z < links.rows(); ++z) {
    if (takes_part[static_cast<std::size_t>(z)]) continue;
    links.row(z).setZero();
    links.col(z).setZero();
  }
  return links;
}

// The settings of a part, with what goes before them.
template <class PartParams>
PartParams completed(PartParams part, const CausalGraphParams& params) {
  part.seed = params.seed;
  if (!params.checkpoint.empty()) part.checkpoint = CheckpointFiles(params.checkpoint).graph;
  return part;
}

// Boundaries can take hours, after which it would be late to learn that the graph cannot be searched for.
void check_checkpoints(const Dataset& data, const CausalGraphParams& params) {
  if (params.checkpoint.empty()) return;
  OutputFile{params.checkpoint};
  if (params.method == GraphMethod::additive_noise) {
    causal::check_checkpoint(data.values, completed(params.additive_noise, params));
  } else {
    causal::check_checkpoint(data.values, completed(params.differentiable, params));
  }
}

void search_additive_noise(const Dataset& data, const ByteMatrix& links, const Knowledge& knowledge,
                           CausalGraphResult& result, Progress& progress) {
  const causal::AdditiveNoiseParams params = completed(result.params.additive_noise, result.params);
  result.additive_noise = find_obedient_graph(data.values, links, knowledge, params, progress);
  const causal::AdditiveNoiseResult& found = *result.additive_noise;
  result.graph = found.partial;
  result.weights = found.weights;
  if (result.params.force_dag) {
    result.graph = {found.dag.adjacency(), ByteMatrix::Zero(links.rows(), links.cols())};
  }
  if (found.cut_short) {
    add_sentence(result.unfinished,
                 "time ran out in the search for the graph: there may be better ones, and directions that were not "
                 "weighed are left open");
  }
  if (!found.additivity.additive) {
    result.warnings.push_back(fmt::format(
        "[dag] what is left of '{}' depends on '{}' (p = {:.1g}), so noise does not just add there; take directions "
        "with care",
        excerpt(data.names[static_cast<std::size_t>(found.additivity.child)]),
        excerpt(data.names[static_cast<std::size_t>(found.additivity.parent)]), found.additivity.p_value));
  }
}

// SDCD of the columns that take part; the others have no edges.
causal::DifferentiableResult sdcd_of_some(const Dataset& data, const std::vector<char>& takes_part,
                                          const causal::DifferentiableParams& params, Progress& progress) {
  std::vector<Index> columns;
  for (Index j = 0; j < data.values.cols(); ++j) {
    if (takes_part[static_cast<std::size_t>(j)]) columns.push_back(j);
  }
  if (static_cast<Index>(columns.size()) == data.values.cols()) return causal::sdcd(data.values, params, progress);
  const causal::DifferentiableResult found = causal::sdcd(data.values(Eigen::all, columns), params, progress);
  causal::DifferentiableResult result = found;
  result.weights = Matrix::Zero(data.values.cols(), data.values.cols());
  result.mask = result.dag = ByteMatrix::Zero(data.values.cols(), data.values.cols());
  result.weights(columns, columns) = found.weights;
  result.mask(columns, columns) = found.mask;
  result.dag(columns, columns) = found.dag;
  return result;
}

void search_differentiable(const Dataset& data, const ByteMatrix& links, const std::vector<char>& takes_part,
                           CausalGraphResult& result, Progress& progress) {
  const causal::DifferentiableParams params = completed(result.params.differentiable, result.params);
  const bool both_stages = result.params.method == GraphMethod::sdcd;
  result.differentiable = both_stages ? sdcd_of_some(data, takes_part, params, progress)
                                      : causal::fansite_dcd(data.values, links, params, progress);
  const causal::DifferentiableResult& found = *result.differentiable;
  result.graph = {found.dag, ByteMatrix::Zero(links.rows(), links.cols())};
  result.weights = found.weights;
  result.warnings.insert(result.warnings.end(), found.warnings.begin(), found.warnings.end());
}

}  // namespace

CausalGraphResult causal_graph(const Dataset& data, const ByteMatrix* links, const Knowledge& knowledge,
                               const CausalGraphParams& params, Progress& progress) {
  const bool needs_links = params.method != GraphMethod::sdcd;
  check(knowledge.empty() || knowledge.variables() == data.variables(),
        "[dag] knowledge about {} variables for a table of {}", knowledge.variables(), data.variables());
  check(knowledge.empty() || params.method == GraphMethod::additive_noise,
        "[dag] {} cannot obey prior knowledge; use fansite-anm", name(params.method));
  check(params.time_budget >= 0, "[dag] a time budget of {} seconds; use more than 0, or 0 for none",
        params.time_budget);
  check(params.time_budget == 0 || params.method == GraphMethod::additive_noise,
        "[dag] {} cannot be cut short; use fansite-anm, or no time budget", name(params.method));
  const Stopwatch since_begin;
  CausalGraphResult result;
  result.variables = data.names;
  result.rows = data.rows();
  result.params = params;
  result.knowledge = knowledge;
  result.data_hash = hash_of(data);
  const std::vector<Finding> findings = inspect(data);
  throw_if_fatal(findings);
  check_usable(knowledge, data, findings);

  Stopwatch watch;
  if (!needs_links) {
    result.links = all_pairs(data.variables());
  } else if (links != nullptr) {
    check(links->rows() == data.variables() && links->cols() == data.variables(),
          "[dag] links among {} variables for a table of {}", links->rows(), data.variables());
    result.links = *links;
  } else {
    check_checkpoints(data, params);
    BoundariesParams boundaries = params.boundaries;
    boundaries.seed = params.seed;
    if (!params.checkpoint.empty()) boundaries.files.checkpoint = params.checkpoint;
    boundaries.files.keep_checkpoint = true;  // until the graph is found
    boundaries.refine = Refine::none;         // the graph comes anyway
    boundaries.time_budget = kBoundariesShare * params.time_budget;
    result.boundaries = markov_boundaries(data, knowledge, boundaries, progress);
    result.warnings = result.boundaries->warnings;
    result.unfinished = result.boundaries->unfinished;
    result.links = links_of(result.boundaries->found, data.variables());
    result.boundary_seconds = watch.lap();
  }
  std::vector<std::string> odd;
  const std::vector<char> takes_part = taking_part(data, findings, odd);
  const ByteMatrix among = links_among(result.links, takes_part);
  if (!result.boundaries) result.warnings.insert(result.warnings.end(), odd.begin(), odd.end());

  if (params.method == GraphMethod::additive_noise) {
    const Budget budget(params.time_budget, since_begin);
    Deadline deadline(progress, since_begin, kAnswerShare * budget.end(), budget.never());
    search_additive_noise(data, among, knowledge, result, deadline);
  } else {
    search_differentiable(data, among, takes_part, result, progress);
  }
  result.graph_seconds = watch.seconds();
  if (!knowledge.empty()) {
    const std::vector<std::string> violations = knowledge.violations(result.graph.directed, result.graph.undirected);
    if (!violations.empty())
      throw Error(fmt::format("[dag] the graph found is against the knowledge: {}", violations.front()));
  }
  if (result.unfinished.empty()) CheckpointFiles(params.checkpoint).remove();
  return result;
}

std::string_view name(GraphMethod method) {
  switch (method) {
    case GraphMethod::additive_noise:
      return "fansite-anm";
    case GraphMethod::differentiable:
      return "fansite-dcd";
    case GraphMethod::sdcd:
      break;
  }
  return "sdcd";
}

GraphMethod parse_graph_method(std::string_view name) {
  for (const GraphMethod method : {GraphMethod::additive_noise, GraphMethod::differentiable, GraphMethod::sdcd}) {
    if (fansite::name(method) == name) return method;
  }
  throw UsageError(fmt::format("[dag] method '{}' is unknown; use fansite-anm, fansite-dcd or sdcd", name));
}

}  // namespace fansite
