// SPDX-License-Identifier: Apache-2.0
//
// fansite/boundaries.h and the settings of its search. Results go out as the JSON that the command line writes, so that
// every number is the same.
#include "fansite/run/boundaries.h"

#include "fansite/report/json.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_boundaries(nb::module_& m) {
  nb::class_<SearchParams> search(m, "SearchParams", "How boundaries are searched and decided.");
  search.def_rw("fdr", &SearchParams::fdr)
      .def_rw("eps_grow", &SearchParams::eps_grow)
      .def_rw("eps_shrink", &SearchParams::eps_shrink)
      .def_rw("patience", &SearchParams::patience)
      .def_rw("max_size", &SearchParams::max_size);
  def_choice(search, "stop", &SearchParams::stop, parse_stop_rule);
  def_choice(search, "rule", &SearchParams::rule, parse_symmetry);

  nb::class_<BoundariesParams> params(m, "BoundariesParams", "The settings of markov_boundaries.");
  params.def(nb::init<>())
      .def_rw("targets", &BoundariesParams::targets)
      .def_rw("search", &BoundariesParams::search)
      .def_rw("repeats", &BoundariesParams::repeats)
      .def_rw("folds", &BoundariesParams::folds)
      .def_rw("steps", &BoundariesParams::steps)
      .def_rw("files", &BoundariesParams::files)
      .def_rw("seed", &BoundariesParams::seed)
      .def_rw("time_budget", &BoundariesParams::time_budget);
  def_choice(params, "estimator", &BoundariesParams::estimator, parse_estimator);
  def_choice(params, "effort", &BoundariesParams::effort, parse_effort);
  def_choice(params, "refine", &BoundariesParams::refine, parse_refine);

  m.def(
      "markov_boundaries",
      [](const Dataset& data, const Knowledge& knowledge, const BoundariesParams& settings, const Running& running) {
        std::string json;
        run(running, [&, watch = Stopwatch()](Progress& progress) {
          validate(settings.search);
          const BoundariesResult result = markov_boundaries(data, knowledge, settings, progress);
          json = to_json(result, timing_of(watch));
        });
        return json;
      },
      "data"_a, "knowledge"_a, "params"_a, "running"_a, "The boundaries as JSON, fansite.boundaries/2.");
}

}  // namespace fansite::python
