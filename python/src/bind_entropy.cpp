// SPDX-License-Identifier: Apache-2.0
//
// fansite/run/entropy_model.h: an estimator that is fitted once and asked many times.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <tuple>

#include "fansite/report/json.h"
#include "fansite/run/entropy_model.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {
namespace {

using Estimate = std::pair<double, double>;  // value, standard error

Estimate pair_of(const EntropyEstimate& estimate) { return {estimate.value, estimate.standard_error}; }

// Table, estimator, its options, those of the run, the model in use, warnings.
using State = std::tuple<Dataset, std::string, Options, Options, nb::bytes, std::vector<std::string>>;

}  // namespace

void bind_entropy(nb::module_& m) {
  nb::class_<EntropyModel>(m, "EntropyModel", "A table with the estimator fitted to it.")
      .def_prop_ro("names", [](const EntropyModel& self) { return self.data().names; })
      .def_prop_ro("rows", [](const EntropyModel& self) { return self.data().rows(); })
      .def_prop_ro("warnings", &EntropyModel::warnings)
      .def(
          "conditional_entropy",
          [](const EntropyModel& self, const std::string& target, const std::vector<std::string>& given,
             const Running& running) {
            Estimate estimate;
            run(running, [&](Progress&) { estimate = pair_of(self.conditional_entropy(target, given)); });
            return estimate;
          },
          "target"_a, "given"_a, "running"_a, "H(target | given) and its standard error, in nats.")
      .def(
          "mutual_information",
          [](const EntropyModel& self, const std::string& target, const std::vector<std::string>& about,
             const std::vector<std::string>& given, const Running& running) {
            Estimate estimate;
            run(running, [&](Progress&) { estimate = pair_of(self.mutual_information(target, about, given)); });
            return estimate;
          },
          "target"_a, "about"_a, "given"_a, "running"_a, "I(target; about | given) and its standard error, in nats.")
      .def(
          "information",
          [](const EntropyModel& self, const std::string& target, const std::vector<std::string>& given,
             const Running& running) {
            std::string json;
            run(running, [&, watch = Stopwatch()](Progress&) {
              json = to_json(self.information(target, given), timing_of(watch));
            });
            return json;
          },
          "target"_a, "given"_a, "running"_a, "What each of the given tells, as JSON.")
      .def(
          "__getstate__",
          [](const EntropyModel& self) {
            const std::string model = self.model();
            return nb::make_tuple(self.data(), self.params().estimator, to_dict(self.params().options),
                                  to_dict(self.params().run), nb::bytes(model.data(), model.size()), self.warnings());
          },
          nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def("__setstate__", [](EntropyModel& self, const State& state) {
        const auto& [data, estimator, options, run_options, model, warnings] = state;
        EntropyParams params(estimator);
        assign(params.options, options);
        params.run = assigned<RunParams>(run_options);
        new (&self) EntropyModel(data, params, std::string(model.c_str(), model.size()), warnings);
      });
  m.def(
      "fit_entropies",
      [](const Dataset& data, const std::string& estimator, const Options& options, const Options& run_options,
         const Running& running) {
        EntropyParams params(estimator);
        assign(params.options, options);
        params.run = assigned<RunParams>(run_options);
        std::unique_ptr<EntropyModel> fitted;
        run(running, [&](Progress& progress) { fitted = std::make_unique<EntropyModel>(data, params, progress); });
        return fitted;
      },
      "data"_a, "estimator"_a, "options"_a, "run"_a, "running"_a, "The estimator fitted to the table.");
}

}  // namespace fansite::python
