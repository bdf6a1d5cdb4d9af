// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/methods.h"

#include <fmt/core.h>

namespace fansite::causal {
namespace {

template <class Params>
DifferentiableParams completed(const Context& context, const Parameters& parameters) {
  DifferentiableParams params = parameters.as<Params>().networks;
  params.seed = context.run().seed;
  params.checkpoint = context.checkpoint(&CheckpointFiles::graph);
  params.values_hash = context.facts().values_hash;
  return params;
}

GraphAnswer to_answer(DifferentiableResult found) {
  GraphAnswer answer;
  answer.graph = {found.dag, ByteMatrix::Zero(found.dag.rows(), found.dag.cols())};
  answer.weights = std::move(found.weights);
  answer.warnings = std::move(found.warnings);
  answer.how = fmt::format("directions as published, which follow the columns' scales more than causes; {} epoch{}",
                           found.second.epochs, found.second.epochs == 1 ? "" : "s");
  answer.details = {{"epochs_taken", std::int64_t{found.second.epochs}}, {"gamma", found.second.gamma}};
  return answer;
}

// SDCD of the columns that take part; the others have no edges.
DifferentiableResult sdcd_of_some(const Context& context, const DifferentiableParams& params) {
  const Matrix& values = context.tame().values;
  std::vector<Index> columns;
  for (Index j = 0; j < values.cols(); ++j) {
    if (context.facts().takes_part[static_cast<std::size_t>(j)]) columns.push_back(j);
  }
  if (static_cast<Index>(columns.size()) == values.cols()) return sdcd(values, params, context.progress());
  DifferentiableParams of_some = params;
  of_some.values_hash.reset();
  const DifferentiableResult found = sdcd(values(Eigen::all, columns), of_some, context.progress());
  DifferentiableResult result = found;
  result.weights = Matrix::Zero(values.cols(), values.cols());
  result.dag = ByteMatrix::Zero(values.cols(), values.cols());
  result.weights(columns, columns) = found.weights;
  result.dag(columns, columns) = found.dag;
  return result;
}

// Those of the second stage: the others do nothing without the first.
Description second_stage() {
  Description list = DifferentiableParams::description();
  std::erase_if(list.fields, [](const Description::Field& field) {
    return field.name.starts_with("first_") || field.name == "mask_threshold";
  });
  return list;
}

}  // namespace

const Description& SdcdParams::description() {
  static const Description list =
      Describe<SdcdParams>().part(&SdcdParams::networks, DifferentiableParams::description()).done();
  return list;
}

const Description& FansiteDcdParams::description() {
  static const Description list = Describe<FansiteDcdParams>().part(&FansiteDcdParams::networks, second_stage()).done();
  return list;
}

GraphMethod fansite_dcd_method() {
  GraphMethod row;
  row.name = "fansite-dcd";
  row.summary = "SDCD's second stage inside the moral graph of the boundaries, as published; for comparison";
  row.citation = "Nguyen, Duong, Huynh and Nguyen, Neural Autoregressive Flows for Markov Boundary Learning";
  row.can = {.needs_boundaries = true, .resumable = true};
  row.parameters = FansiteDcdParams();
  row.run = [](const GraphProblem& problem, const Parameters& parameters) {
    const Context& context = problem.context;
    return to_answer(fansite_dcd(context.tame().values, problem.links, completed<FansiteDcdParams>(context, parameters),
                                 context.progress()));
  };
  row.check_checkpoint = [](const Context& context, const Parameters& parameters) {
    check_checkpoint(context.tame().values, completed<FansiteDcdParams>(context, parameters));
  };
  return row;
}

GraphMethod sdcd_method() {
  GraphMethod row;
  row.name = "sdcd";
  row.summary = "stable differentiable causal discovery, both stages, without boundaries, as published; for comparison";
  row.citation = "Nazaret, Hong, Azizi and Blei, ICML 2024";
  row.can = {.resumable = true};
  row.parameters = SdcdParams();
  row.run = [](const GraphProblem& problem, const Parameters& parameters) {
    return to_answer(sdcd_of_some(problem.context, completed<SdcdParams>(problem.context, parameters)));
  };
  return row;
}

}  // namespace fansite::causal
