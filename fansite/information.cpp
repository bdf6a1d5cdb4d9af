// SPDX-License-Identifier: Apache-2.0
#include "fansite/information.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "fansite/error.h"
#include "fansite/flow/estimator.h"
#include "fansite/flow/model_file.h"
#include "fansite/gaussian.h"
#include "fansite/io/file.h"
#include "fansite/io/text.h"

namespace fansite {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

flow::Ensemble model_for(const Dataset& data, const InformationParams& params, Progress& progress) {
  if (!params.model.empty()) return flow::load_model(params.model);
  // A place that cannot be written is known before the work.
  if (!params.save_model.empty()) OutputFile{params.save_model};
  flow::Ensemble ensemble = flow::train_ensemble(learnable_columns(data), params.flow, progress, params.checkpoint);
  if (!params.save_model.empty()) flow::save_model(ensemble, params.save_model);
  return ensemble;
}

void describe_training(const flow::Ensemble& ensemble, InformationResult& result) {
  result.members = static_cast<int>(ensemble.members.size());
  for (const flow::Member& member : ensemble.members) {
    result.steps += static_cast<long>(member.trained.steps);
    result.undone_steps += static_cast<long>(member.trained.undone_steps);
  }
  if (result.undone_steps > 0) {
    result.warnings.push_back(fmt::format(
        "[train] {} of {} steps were taken back because the loss was not finite; is there an absurd value in the data?",
        result.undone_steps, result.steps));
  }
}

}  // namespace

InformationResult information(const Dataset& data, const InformationParams& params, Progress& progress) {
  InformationResult result;
  result.target = params.target;
  result.rows = data.rows();
  result.params = params;
  EntropyQuery query{data.index_of(params.target), {}};
  for (const std::string& name : params.given) {
    const int variable = data.index_of(name);
    check(variable != query.target, "[entropy] '{}' is target and given at once", excerpt(name));
    check(std::find(query.given.begin(), query.given.end(), variable) == query.given.end(),
          "[entropy] '{}' is given twice", excerpt(name));
    query.given.push_back(variable);
  }
  const std::vector<Finding> findings = inspect(data);
  throw_if_fatal(findings);
  for (const Finding& finding : findings) result.warnings.push_back(finding.message);

  auto start = Clock::now();
  std::unique_ptr<EntropyEstimator> estimator;
  if (params.estimator == EntropyKind::gaussian) {
    estimator = std::make_unique<GaussianEstimator>(covariance(data.values, progress));
  } else {
    const flow::Ensemble ensemble = model_for(data, params, progress);
    result.params.flow = ensemble.params;
    auto flows = std::make_unique<FlowEstimator>(data, ensemble);
    describe_training(ensemble, result);
    result.out_of_sample = flows->out_of_sample();
    result.original_scale = flows->original_scale(query.target);
    if (!result.out_of_sample) {
      result.warnings.push_back(
          "[entropy] the networks judge rows that they were trained on, so entropies are too low; use two folds or "
          "more");
    }
    estimator = std::move(flows);
  }
  result.train_seconds = seconds_since(std::exchange(start, Clock::now()));

  result.entropy = estimator->conditional_entropy(EntropyQuery{query.target, {}});
  result.conditional_entropy = estimator->conditional_entropy(query);
  std::vector<InformationQuery> questions = {{query.target, query.given, {}}};
  for (std::size_t i = 0; i < query.given.size(); ++i) {
    InformationQuery& question = questions.emplace_back(InformationQuery{query.target, {query.given[i]}, query.given});
    question.given.erase(question.given.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const std::vector<EntropyEstimate> answers = estimator->mutual_information(questions);
  result.information = answers.front();
  for (std::size_t i = 0; i < query.given.size(); ++i) result.added.push_back({params.given[i], answers[i + 1]});
  result.query_seconds = seconds_since(start);
  return result;
}

std::string_view name(EntropyKind kind) { return kind == EntropyKind::flow ? "flow" : "gaussian"; }

EntropyKind parse_entropy_kind(std::string_view name) {
  if (name == "flow") return EntropyKind::flow;
  if (name == "gaussian") return EntropyKind::gaussian;
  throw UsageError(fmt::format("[entropy] estimator '{}' is unknown; use flow or gaussian", name));
}

}  // namespace fansite
