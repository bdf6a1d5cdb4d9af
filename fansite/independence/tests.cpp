// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/tests.h"

#include <utility>

#include "fansite/base/error.h"
#include "fansite/entropy/estimators.h"
#include "fansite/independence/fisher_z.h"
#include "fansite/independence/flow_test.h"

namespace fansite {
namespace {

constexpr std::uint64_t kDrawKey = 0x74657374;  // of the run's seed, for draws of absent cells

FittedTest fit_flow(const Context& context, Effort effort) {
  const EstimatorMethod& flow = entropy_estimators().at("flow");
  const SearchNeeds needs = {effort, context.data().variables(), context.data().rows(), false};
  std::optional<FittedEstimator> fitted = flow.fit(context, flow.for_search(needs), 1);
  check(fitted.has_value(), "[test] there is no time to train networks; use --test fisher-z or a longer --time-budget");
  check(fitted->estimator->out_of_sample(),
        "[test] the model has seen every row of this table, so that it cannot judge them: train it with two folds or "
        "more");
  const Key key = Key{context.run().seed}.split(kDrawKey);
  fitted->estimator->complete(context.data(), context.facts(), {}, key, context.progress());
  FittedTest result;
  result.networks = std::move(fitted->estimator);
  result.test = std::make_unique<FlowTest>(result.networks);
  result.parameters = std::move(fitted->parameters);
  result.training = fitted->training;
  result.model_hash = fitted->model_hash;
  result.warnings = std::move(fitted->warnings);
  return result;
}

}  // namespace

const Description& TestParams::description() {
  using P = TestParams;
  static const Description list =
      Describe<P>()
          .field("test", &P::kind,
                 "of conditional independence: fisher-z (linear relations) or flow (any, by networks)")
          .field("effort", &P::effort,
                 "of training, searching and refining with networks: quick (a first look), normal or thorough")
          .done();
  return list;
}

Capabilities covariance_capabilities() {
  return {.handles_missing_cells = true,
          .handles_context = true,
          .handles_weights = true,
          .handles_groups = true,
          .column_kinds = {"continuous", "ordered", "atoms"}};
}

FittedTest fit_test(const Context& context, const TestParams& params) {
  // Where nothing can be learnt of two columns there is nothing to train on, and every pair is independent.
  if (params.kind == TestKind::flow && context.learnable_columns() >= 2) return fit_flow(context, params.effort);
  FittedTest fitted;
  fitted.test = std::make_unique<FisherZ>(context.covariance(), params.legacy_onesided);
  return fitted;
}

}  // namespace fansite
