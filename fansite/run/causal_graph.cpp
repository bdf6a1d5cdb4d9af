// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/causal_graph.h"

#include <fmt/core.h>

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/stopwatch.h"
#include "fansite/boundary/links.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/run/detail/table_order.h"
#include "fansite/run/detail/table_warnings.h"

namespace fansite {
namespace {

// Of a time budget: what the boundaries may take. In a run on 100 variables the graph takes a quarter of the time.
constexpr double kBoundariesShare = 0.65;

// What is asked of a method that it cannot do is refused before any work.
const GraphMethod& checked_method(const Context& context, const CausalGraphParams& params) {
  const MethodList<GraphMethod>& methods = graph_methods();
  const GraphMethod& method = methods.at(params.method);
  check_request(methods, method, context);
  params.options.validate();
  return method;
}

ByteMatrix all_pairs(int variables) {
  ByteMatrix pairs = ByteMatrix::Ones(variables, variables);
  pairs.diagonal().setZero();
  return pairs;
}

// Less those of columns that take no part: nothing can be learnt of them that is not known of the originals.
ByteMatrix links_among(ByteMatrix links, const std::vector<char>& takes_part) {
  for (Index z = 0; z < links.rows(); ++z) {
    if (takes_part[static_cast<std::size_t>(z)]) continue;
    links.row(z).setZero();
    links.col(z).setZero();
  }
  return links;
}

// The boundaries as a stage of this run.
BoundariesResult find_boundaries_first(const Context& context, const GraphMethod& method,
                                       const CausalGraphParams& params) {
  // Boundaries can take hours, after which it would be late to learn that the graph cannot be searched for.
  if (method.check_table) method.check_table(context.for_method(method), params.options);
  if (context.keeps_state()) {
    OutputFile{context.run().checkpoint};
    if (method.check_checkpoint) method.check_checkpoint(context.for_method(method), params.options);
  }
  BoundariesParams boundaries = params.boundaries;
  boundaries.targets.clear();
  boundaries.run = params.run;
  if (boundaries.options.has("refine"))
    boundaries.options.set("refine", std::string("none"));  // the graph comes anyway
  const Context stage = context.within(kBoundariesShare * params.run.time_budget, context.progress());
  // What cannot be resumed is found again; the graph can go on all the same.
  const bool resumable = boundary_methods().at(boundaries.method).can.resumable;
  return markov_boundaries(resumable ? stage : stage.keeping_nothing(), boundaries);
}

// What is said of the table: by the boundaries, if they were found here.
std::vector<std::string> said_of_table(const Context& context, const GraphMethod& method,
                                       const std::optional<BoundariesResult>& boundaries) {
  std::vector<std::string> warnings = boundaries ? boundaries->warnings : table_warnings(context, method);
  const std::string more = boundaries ? independence_warning(context, method) : few_rows_warning(context, "dag");
  if (!more.empty() && std::find(warnings.begin(), warnings.end(), more) == warnings.end()) warnings.push_back(more);
  return warnings;
}

}  // namespace

CausalGraphParams::CausalGraphParams(const std::string& method)
    : method(method), options(graph_methods().at(method).parameters) {}

CausalGraphResult causal_graph(const Dataset& data, const ByteMatrix* links, const Knowledge& knowledge,
                               const CausalGraphParams& params, Progress& progress) {
  const Context context(data, knowledge, params.run, progress);
  CausalGraphResult result = causal_graph(context, links, params);
  if (result.unfinished.empty()) context.remove_checkpoints();
  return result;
}

CausalGraphResult causal_graph(const Context& context, const ByteMatrix* links, const CausalGraphParams& params) {
  const Dataset& data = context.data();
  const Knowledge& knowledge = context.knowledge();
  const flow::ChosenDevice device(context.run().device);
  const GraphMethod& method = checked_method(context, params);
  context.require_usable(method, "dag");
  Stopwatch watch;
  ByteMatrix among = all_pairs(data.variables());
  std::optional<BoundariesResult> boundaries;
  if (method.can.needs_boundaries && links != nullptr) {
    check(links->rows() == data.variables() && links->cols() == data.variables(),
          "[dag] links among {} variables for a table of {}", links->rows(), data.variables());
    among = *links;
  } else if (method.can.needs_boundaries) {
    boundaries = find_boundaries_first(context, method, params);
    among = fansite::links(boundaries->found, data.variables());
  }
  const double boundary_seconds = boundaries ? watch.lap() : 0;

  CausalGraphResult result;
  {
    const Context ordered = context.for_method(method);
    const std::vector<int> order = context.columns_for(method);
    const ByteMatrix links_of_method = to_content_order(links_among(among, context.facts().takes_part), order);
    static_cast<GraphAnswer&>(result) = method.run({ordered, links_of_method}, params.options);
    to_table_order(result, order);
  }
  result.graph_seconds = watch.seconds();
  if (result.weights.size() == 0) result.weights = (result.graph.directed + result.graph.undirected).cast<double>();
  result.boundary_seconds = boundary_seconds;
  result.names = data.names;
  result.rows = data.rows();
  result.params = params;
  result.knowledge = knowledge;
  result.data_hash = context.facts().hash;
  result.roles = data.roles;
  result.links = std::move(among);
  result.needs_links = method.can.needs_boundaries;
  const std::vector<std::string> before = said_of_table(context, method, boundaries);
  result.warnings.insert(result.warnings.begin(), before.begin(), before.end());
  add_device_warning(result.warnings);
  if (boundaries && !boundaries->unfinished.empty()) {
    std::string unfinished = boundaries->unfinished;
    if (!result.unfinished.empty()) add_sentence(unfinished, result.unfinished);
    result.unfinished = unfinished;
  }
  result.boundaries = std::move(boundaries);
  if (!knowledge.empty()) {
    const std::vector<std::string> violations = knowledge.violations(result.graph.directed, result.graph.undirected);
    if (!violations.empty()) {
      throw Error(fmt::format("[dag] the graph found is against the knowledge: {}", violations.front()));
    }
  }
  return result;
}

}  // namespace fansite
