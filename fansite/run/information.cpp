// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/information.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/table/findings.h"

namespace fansite {

InformationResult information(const Dataset& data, const InformationParams& params, Progress& progress) {
  InformationResult result;
  result.target = params.target;
  result.rows = data.rows();
  result.params = params;
  result.data_hash = hash_of(data);
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

  Stopwatch watch;
  std::unique_ptr<EntropyEstimator> estimator;
  check(params.estimator != EstimatorKind::automatic, "[entropy] estimator 'auto' is for mb; use flow or gaussian");
  if (params.estimator == EstimatorKind::gaussian) {
    estimator = std::make_unique<GaussianEstimator>(covariance(data.values, progress));
  } else {
    const flow::Ensemble ensemble = flow::train_or_load(learnable_columns(data), params.flow, params.files, progress);
    result.params.flow = ensemble.params;
    if (!params.files.model.empty()) result.model_hash = hash_of(to_bytes(ensemble));
    auto flows = std::make_unique<FlowEstimator>(data, ensemble);
    result.members = static_cast<int>(ensemble.members.size());
    result.steps = static_cast<long>(ensemble.steps());
    result.undone_steps = static_cast<long>(ensemble.undone_steps());
    if (!ensemble.warning().empty()) result.warnings.push_back(ensemble.warning());
    result.out_of_sample = flows->out_of_sample();
    result.original_scale = flows->original_scale(query.target);
    if (!result.out_of_sample) {
      result.warnings.push_back(
          "[entropy] the networks judge rows that they were trained on, so entropies are too low; use two folds or "
          "more");
    }
    estimator = std::move(flows);
  }
  result.train_seconds = watch.lap();

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
  result.query_seconds = watch.seconds();
  return result;
}

}  // namespace fansite
