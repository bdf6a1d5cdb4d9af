// SPDX-License-Identifier: Apache-2.0
//
// fansite/run/boundaries.h. Results go out as the JSON that the command line writes, so that every number is the same.
#include "fansite/run/boundaries.h"

#include "fansite/report/json.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_boundaries(nb::module_& m) {
  m.def(
      "markov_boundaries",
      [](const Dataset& data, const Knowledge& knowledge, const std::string& method, const Options& options,
         const std::vector<std::string>& targets, const Options& run_options, const Running& running) {
        BoundariesParams params(method);
        assign(params.options, options);
        params.targets = targets;
        params.run = assigned<RunParams>(run_options);
        std::string json;
        run(running, [&, watch = Stopwatch()](Progress& progress) {
          json = to_json(markov_boundaries(data, knowledge, params, progress), timing_of(watch));
        });
        return json;
      },
      "data"_a, "knowledge"_a, "method"_a, "options"_a, "targets"_a, "run"_a, "running"_a, "The boundaries as JSON.");
}

}  // namespace fansite::python
