// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/entropy_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/hash.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/context/dependent_rows.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/run/detail/table_warnings.h"

namespace fansite {
namespace {

// The columns called so; each may be named once, and none of those named before.
std::vector<int> columns(const Dataset& data, std::vector<std::string> before, const std::vector<std::string>& names) {
  std::vector<int> result;
  for (const std::string& name : names) {
    result.push_back(data.index_of(name));
    check(std::find(before.begin(), before.end(), name) == before.end(),
          "[entropy] '{}' is named twice; name each variable once", excerpt(name));
    before.push_back(name);
  }
  return result;
}

// The table as the estimator is fitted to it: rows that depend on each other are left out together, and count for what
// they are worth. `warnings` gets a sentence about that.
Context fitted_context(const Context& context, const EstimatorMethod& method, const std::string& block,
                       std::vector<std::string>& warnings) {
  const Context ordered = context.for_method(method);
  const std::optional<Context> dependent = with_dependence(ordered, block, "block");
  if (!dependent) return ordered;
  std::string told = dependence_sentence(ordered, *dependent, block, "entropy", "standard errors");
  if (!told.empty()) warnings.push_back(std::move(told));
  return *dependent;
}

}  // namespace

EntropyQuery entropy_query(const Dataset& data, const std::string& target, const std::vector<std::string>& given) {
  const int column = data.index_of(target);
  check(data.columns.empty() || !data.columns[static_cast<std::size_t>(column)].context,
        "[entropy] '{}' is context, which is always given: ask for another target, or leave it out of the context.",
        excerpt(target));
  return {column, columns(data, {target}, given)};
}

EntropyParams::EntropyParams(const std::string& estimator)
    : estimator(estimator), options(entropy_estimators().at(estimator).parameters) {}

Parameters options_for(const std::string& estimator, Effort effort, const Dataset& data) {
  const EstimatorMethod& method = entropy_estimators().at(estimator);
  if (!method.can.trains || !method.for_search) {
    throw ParameterError("effort", fmt::format("{} trains nothing, so no effort is spent; leave it out", estimator));
  }
  return method.for_search({.effort = effort, .variables = data.variables(), .rows = data.rows()});
}

EntropyModel::EntropyModel(Dataset data, EntropyParams params, Progress& progress, bool keep_state)
    : data_(std::move(data)), params_(std::move(params)) {
  const Stopwatch watch;
  const flow::ChosenDevice device(params_.run.device);
  const EstimatorMethod& method = entropy_estimators().at(params_.estimator);
  if (params_.run.time_budget != 0) {
    throw ParameterError("time_budget", "an entropy model cannot be cut short; leave it out");
  }
  const Context context(data_, Knowledge(), params_.run, progress);
  check_request(entropy_estimators(), method, context);
  if (!params_.run.model.empty() || !params_.run.save_model.empty()) {
    entropy_estimators().require(method, &Capabilities::trains, "be given a model or keep one");
  }
  params_.options.validate();
  check_block(params_.block, "block");
  context.require_usable(method, "entropy");
  data_hash_ = context.facts().hash;
  most_told_ = most_told(context);
  warnings_ = context.warnings();
  place_ = inverse(context.columns_for(method));
  fitted_ = method.fit(fitted_context(context, method, params_.block, warnings_), params_.options, 1)
                .value();  // there is always time
  finish();
  if (!keep_state) remove_state();
  train_seconds_ = watch.seconds();
}

EntropyModel::EntropyModel(Dataset data, EntropyParams params, std::string_view model,
                           std::vector<std::string> warnings)
    : data_(std::move(data)), params_(std::move(params)), warnings_(std::move(warnings)) {
  // It is trained already, and where it is loaded there may be no GPU. One that is not asked for is not looked for.
  const bool asked = params_.run.device == Device::cuda;
  if (asked && flow::built_in_accelerator().device == nullptr) params_.run.device = Device::automatic;
  const flow::ChosenDevice device(params_.run.device);
  const EstimatorMethod& method = entropy_estimators().at(params_.estimator);
  NoProgress silent;
  RunParams run = params_.run;
  run.model.clear();  // what was given is in `model`, and nothing is kept a second time
  run.save_model.clear();
  run.checkpoint.clear();
  const Context context(data_, Knowledge(), run, silent);
  data_hash_ = context.facts().hash;
  most_told_ = most_told(context);
  place_ = inverse(context.columns_for(method));
  std::vector<std::string> said;  // when it was fitted
  const Context ordered = fitted_context(context, method, params_.block, said);
  fitted_ =
      method.load && !model.empty() ? method.load(ordered, model) : method.fit(ordered, params_.options, 1).value();
  if (!params_.run.model.empty() && fitted_.model) fitted_.model_hash = hash_of(fitted_.model());
  finish();
}

void EntropyModel::remove_state() const {
  // With a model that was given nothing was trained: what is there is somebody else's.
  if (params_.run.model.empty() && !params_.run.checkpoint.empty()) {
    CheckpointFiles::remove(CheckpointFiles(params_.run.checkpoint).training);
  }
}

// Warnings of the fit, each once.
void EntropyModel::finish() {
  std::vector<std::string> more = fitted_.warnings;
  if (!fitted_.estimator->out_of_sample()) {
    more.emplace_back(
        "[entropy] the networks judge rows that they were trained on, so entropies are too low; use two folds or more");
  }
  for (const std::string& sentence : more) {
    if (std::find(warnings_.begin(), warnings_.end(), sentence) == warnings_.end()) warnings_.push_back(sentence);
  }
  add_device_warning(warnings_);
}

std::vector<int> EntropyModel::placed(std::vector<int> columns) const {
  for (int& column : columns) column = place_of(column);
  return columns;
}

EntropyQuery EntropyModel::placed(const EntropyQuery& query) const {
  return {place_of(query.target), placed(query.given)};
}

EntropyEstimate EntropyModel::conditional_entropy(const std::string& target,
                                                  const std::vector<std::string>& given) const {
  const flow::ChosenDevice device(params_.run.device);
  return fitted_.estimator->conditional_entropy(placed(entropy_query(data_, target, given)));
}

EntropyEstimate EntropyModel::mutual_information(const std::string& target, const std::vector<std::string>& about,
                                                 const std::vector<std::string>& given) const {
  const flow::ChosenDevice device(params_.run.device);
  const std::vector<int> known = columns(data_, {target}, given);
  std::vector<std::string> others = given;
  others.push_back(target);
  return fitted_.estimator->mutual_information(
      InformationQuery{place_of(data_.index_of(target)), placed(columns(data_, others, about)), placed(known)});
}

InformationResult EntropyModel::information(const std::string& target, const std::vector<std::string>& given) const {
  const Stopwatch watch;
  const flow::ChosenDevice device(params_.run.device);
  const SearchEstimator& estimator = *fitted_.estimator;
  InformationResult result;
  result.target = target;
  result.rows = data_.rows();
  result.params = params_;
  result.options_in_force = fitted_.parameters;
  result.data_hash = data_hash_;
  result.roles = data_.roles;
  if (!params_.run.model.empty()) result.model_hash = fitted_.model_hash;
  result.warnings = warnings_;
  const EntropyQuery query = placed(entropy_query(data_, target, given));
  result.entropy = estimator.conditional_entropy(EntropyQuery{query.target, {}});
  result.conditional_entropy = estimator.conditional_entropy(query);
  std::vector<InformationQuery> questions = {{query.target, query.given, {}}};
  for (std::size_t i = 0; i < query.given.size(); ++i) {
    InformationQuery& question = questions.emplace_back(InformationQuery{query.target, {query.given[i]}, query.given});
    question.given.erase(question.given.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const std::vector<EntropyEstimate> answers = estimator.mutual_information(questions);
  result.information = answers.front();
  for (std::size_t i = 0; i < given.size(); ++i) result.added.push_back({given[i], answers[i + 1]});
  const double most = most_told_[static_cast<std::size_t>(data_.index_of(target))];
  const auto impossible = [&](const InformationResult::Added& added) {
    const double of_it = most_told_[static_cast<std::size_t>(data_.index_of(added.variable))];
    return added.information.value - 2 * added.information.standard_error > std::min(most, of_it);
  };
  const auto found = std::find_if(result.added.begin(), result.added.end(), impossible);
  if (found != result.added.end()) {
    result.warnings.push_back(fmt::format(
        "[entropy] '{}' and '{}' cannot tell {:.2f} nats of each other, which is more than the entropy of "
        "their levels: that they depend stands, how much they tell does not; flow takes levels for what they are",
        excerpt(found->variable), excerpt(target), found->information.value));
  }
  result.original_scale = estimator.original_scale(query.target);
  result.out_of_sample = fitted_.training && estimator.out_of_sample();
  result.training = fitted_.training;
  add_device_warning(result.warnings);
  result.train_seconds = train_seconds_;
  result.query_seconds = watch.seconds();
  return result;
}

}  // namespace fansite
