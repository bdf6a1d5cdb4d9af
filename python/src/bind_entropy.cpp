// SPDX-License-Identifier: Apache-2.0
//
// fansite/entropy.h, fansite/information.h: an estimator that is fitted once and asked many times.
#include "fansite/entropy/entropy.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <tuple>

#include "fansite/base/text.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/report/json.h"
#include "fansite/run/information.h"
#include "fansite/table/covariance.h"
#include "fansite/table/findings.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {
namespace {

using Estimate = std::pair<double, double>;  // value, standard error

Estimate pair_of(const EntropyEstimate& estimate) { return {estimate.value, estimate.standard_error}; }

// A table with the estimator fitted to it.
class FittedEntropies {
 public:
  FittedEntropies(Dataset data, InformationParams params, Progress& progress)
      : data_(std::move(data)), params_(std::move(params)) {
    const std::vector<Finding> findings = inspect(data_);
    throw_if_fatal(findings);
    for (const Finding& finding : findings) warnings_.push_back(finding.message);
    check(params_.estimator != EstimatorKind::automatic, "[entropy] estimator 'auto' is for mb; use flow or gaussian");
    const Stopwatch watch;
    if (params_.estimator == EstimatorKind::flow) {
      ensemble_ = flow::train_or_load(learnable_columns(data_), params_.flow, params_.files, progress);
      params_.flow = ensemble_->params;
    }
    make_estimator(progress);
    train_seconds_ = watch.seconds();
  }

  // As pickled.
  FittedEntropies(Dataset data, InformationParams params, const std::string& model, std::vector<std::string> warnings)
      : data_(std::move(data)), params_(std::move(params)), warnings_(std::move(warnings)) {
    if (!model.empty()) {
      ensemble_ = flow::parse_model(model, "the pickled model");
      params_.flow = ensemble_->params;
    }
    NoProgress silent;
    make_estimator(silent);
  }

  const Dataset& data() const { return data_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  EstimatorKind kind() const { return params_.estimator; }
  std::string model() const { return ensemble_ ? flow::to_bytes(*ensemble_) : ""; }

  EntropyEstimate conditional_entropy(const std::string& target, const std::vector<std::string>& given) const {
    return estimator_->conditional_entropy(EntropyQuery{data_.index_of(target), columns({target}, given)});
  }
  EntropyEstimate mutual_information(const std::string& target, const std::vector<std::string>& about,
                                     const std::vector<std::string>& given) const {
    const std::vector<int> known = columns({target}, given);
    std::vector<std::string> others = given;
    others.push_back(target);
    return estimator_->mutual_information(InformationQuery{data_.index_of(target), columns(others, about), known});
  }

  // What information() says of a table, from what is fitted already.
  InformationResult information(const std::string& target, const std::vector<std::string>& given) const {
    const Stopwatch watch;
    InformationResult result;
    result.target = target;
    result.rows = data_.rows();
    result.params = params_;
    result.data_hash = hash_of(data_);
    result.warnings = warnings_;
    result.entropy = conditional_entropy(target, {});
    result.conditional_entropy = conditional_entropy(target, given);
    result.information = mutual_information(target, given, {});
    for (const std::string& variable : given) {
      std::vector<std::string> others = given;
      std::erase(others, variable);
      result.added.push_back({variable, mutual_information(target, {variable}, others)});
    }
    if (ensemble_) {
      const auto& flows = static_cast<const FlowEstimator&>(*estimator_);
      result.networks = static_cast<int>(ensemble_->networks.size());
      result.steps = static_cast<long>(ensemble_->steps());
      result.undone_steps = static_cast<long>(ensemble_->undone_steps());
      result.out_of_sample = flows.out_of_sample();
      result.original_scale = flows.original_scale(data_.index_of(target));
    }
    result.train_seconds = train_seconds_;
    result.query_seconds = watch.seconds();
    return result;
  }

 private:
  void make_estimator(Progress& progress) {
    if (!ensemble_) {
      estimator_ = std::make_unique<GaussianEstimator>(covariance(data_.values, progress));
      return;
    }
    auto flows = std::make_unique<FlowEstimator>(data_, *ensemble_);
    if (!ensemble_->warning().empty()) warn(ensemble_->warning());
    if (!flows->out_of_sample()) {
      warn(
          "[entropy] the networks judge rows that they were trained on, so entropies are too low; use two folds or "
          "more");
    }
    estimator_ = std::move(flows);
  }

  void warn(const std::string& sentence) {
    if (std::find(warnings_.begin(), warnings_.end(), sentence) == warnings_.end()) warnings_.push_back(sentence);
  }

  // The columns called so; each may be named once, and none of those named before.
  std::vector<int> columns(std::vector<std::string> before, const std::vector<std::string>& names) const {
    std::vector<int> result;
    for (const std::string& name : names) {
      result.push_back(data_.index_of(name));
      check(std::find(before.begin(), before.end(), name) == before.end(),
            "[entropy] '{}' is named twice; name each variable once", excerpt(name));
      before.push_back(name);
    }
    return result;
  }

  Dataset data_;
  InformationParams params_;
  std::vector<std::string> warnings_;
  std::optional<flow::Ensemble> ensemble_;
  std::unique_ptr<EntropyEstimator> estimator_;
  double train_seconds_ = 0;
};

// Table, names, estimator, model, warnings.
using State = std::tuple<DoubleArray, std::vector<std::string>, std::string, nb::bytes, std::vector<std::string>>;

}  // namespace

void bind_entropy(nb::module_& m) {
  nb::class_<InformationParams> params(m, "InformationParams", "The settings of fit_entropies.");
  params.def(nb::init<>()).def_rw("flow", &InformationParams::flow).def_rw("files", &InformationParams::files);
  def_choice(params, "estimator", &InformationParams::estimator, parse_estimator);

  nb::class_<FittedEntropies>(m, "FittedEntropies", "A table with the estimator fitted to it.")
      .def_prop_ro("names", [](const FittedEntropies& self) { return self.data().names; })
      .def_prop_ro("rows", [](const FittedEntropies& self) { return self.data().rows(); })
      .def_prop_ro("warnings", &FittedEntropies::warnings)
      .def(
          "conditional_entropy",
          [](const FittedEntropies& self, const std::string& target, const std::vector<std::string>& given,
             const Running& running) {
            Estimate estimate;
            run(running, [&](Progress&) { estimate = pair_of(self.conditional_entropy(target, given)); });
            return estimate;
          },
          "target"_a, "given"_a, "running"_a, "H(target | given) and its standard error, in nats.")
      .def(
          "mutual_information",
          [](const FittedEntropies& self, const std::string& target, const std::vector<std::string>& about,
             const std::vector<std::string>& given, const Running& running) {
            Estimate estimate;
            run(running, [&](Progress&) { estimate = pair_of(self.mutual_information(target, about, given)); });
            return estimate;
          },
          "target"_a, "about"_a, "given"_a, "running"_a, "I(target; about | given) and its standard error, in nats.")
      .def(
          "information",
          [](const FittedEntropies& self, const std::string& target, const std::vector<std::string>& given,
             const Running& running) {
            std::string json;
            run(running, [&, watch = Stopwatch()](Progress&) {
              json = to_json(self.information(target, given), timing_of(watch));
            });
            return json;
          },
          "target"_a, "given"_a, "running"_a, "What each of the given tells, as JSON, fansite.entropy/2.")
      .def(
          "__getstate__",
          [](const FittedEntropies& self) {
            const std::string model = self.model();
            return nb::make_tuple(to_numpy<double>(self.data().values), self.data().names,
                                  std::string(name(self.kind())), nb::bytes(model.data(), model.size()),
                                  self.warnings());
          },
          nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def("__setstate__", [](FittedEntropies& self, const State& state) {
        const auto& [values, names, estimator, model, warnings] = state;
        InformationParams settings;
        settings.estimator = parse_estimator(estimator);
        new (&self) FittedEntropies({names, copied<double>(values)}, settings, std::string(model.c_str(), model.size()),
                                    warnings);
      });
  m.def(
      "fit_entropies",
      [](const Dataset& data, const InformationParams& settings, const Running& running) {
        std::unique_ptr<FittedEntropies> fitted;
        run(running, [&](Progress& progress) { fitted = std::make_unique<FittedEntropies>(data, settings, progress); });
        return fitted;
      },
      "data"_a, "params"_a, "running"_a, "The estimator fitted to the table.");
}

}  // namespace fansite::python
