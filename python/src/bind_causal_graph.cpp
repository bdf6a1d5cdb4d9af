// SPDX-License-Identifier: Apache-2.0
//
// fansite/run/causal_graph.h.
#include "fansite/run/causal_graph.h"

#include "fansite/report/json.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_causal_graph(nb::module_& m) {
  m.def(
      "causal_graph",
      [](const Dataset& data, const std::optional<std::string>& boundaries, const Knowledge& knowledge,
         const std::string& method, const Options& options, const std::string& boundary_method,
         const Options& boundary_options, const Options& run_options, const Running& running) {
        CausalGraphParams params(method);
        assign(params.options, options);
        params.boundaries = BoundariesParams(boundary_method);
        assign(params.boundaries.options, boundary_options);
        params.run = assigned<RunParams>(run_options);
        const ByteMatrix links = boundaries ? saved_links(*boundaries, "the result", data) : ByteMatrix();
        std::string json;
        run(running, [&, watch = Stopwatch()](Progress& progress) {
          const CausalGraphResult result =
              causal_graph(data, boundaries ? &links : nullptr, knowledge, params, progress);
          json = to_json(result, timing_of(watch));
        });
        return json;
      },
      "data"_a, "boundaries"_a.none(), "knowledge"_a, "method"_a, "options"_a, "boundary_method"_a,
      "boundary_options"_a, "run"_a, "running"_a, "The graph as JSON; boundaries: their JSON, or None to find them.");
}

}  // namespace fansite::python
