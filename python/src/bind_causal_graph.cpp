// SPDX-License-Identifier: Apache-2.0
//
// fansite/causal_graph.h and the settings of its parts.
#include "fansite/run/causal_graph.h"

#include "fansite/report/json.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_causal_graph(nb::module_& m) {
  using causal::AdditiveNoiseParams;
  using causal::DifferentiableParams;
  using causal::StageParams;
  nb::class_<AdditiveNoiseParams> noise(m, "AdditiveNoiseParams", "The settings of fansite-anm.");
  noise.def_rw("penalty", &AdditiveNoiseParams::penalty)
      .def_rw("confidence", &AdditiveNoiseParams::confidence)
      .def_rw("max_parents", &AdditiveNoiseParams::max_parents)
      .def_rw("max_rows", &AdditiveNoiseParams::max_rows);
  def_choice(noise, "noise", &AdditiveNoiseParams::noise, causal::parse_noise_distribution);
  def_choice(noise, "scale", &AdditiveNoiseParams::scale, causal::parse_noise_scale);
  nb::class_<StageParams>(m, "StageParams", "One stage of fansite-dcd and sdcd.")
      .def_rw("max_epochs", &StageParams::max_epochs);
  nb::class_<DifferentiableParams>(m, "DifferentiableParams", "The settings of fansite-dcd and sdcd.")
      .def_rw("second", &DifferentiableParams::second)
      .def_rw("standardise", &DifferentiableParams::standardise)
      .def_rw("threshold", &DifferentiableParams::threshold);

  nb::class_<CausalGraphParams> params(m, "CausalGraphParams", "The settings of causal_graph.");
  params.def(nb::init<>())
      .def_rw("force_dag", &CausalGraphParams::force_dag)
      .def_rw("boundaries", &CausalGraphParams::boundaries)
      .def_rw("additive_noise", &CausalGraphParams::additive_noise)
      .def_rw("differentiable", &CausalGraphParams::differentiable)
      .def_rw("checkpoint", &CausalGraphParams::checkpoint)
      .def_rw("seed", &CausalGraphParams::seed)
      .def_rw("time_budget", &CausalGraphParams::time_budget);
  def_choice(params, "method", &CausalGraphParams::method, parse_graph_method);

  m.def(
      "causal_graph",
      [](const Dataset& data, const std::optional<ByteArray>& links, const Knowledge& knowledge,
         const CausalGraphParams& settings, const Running& running) {
        const ByteMatrix moral = links ? copied<unsigned char>(*links) : ByteMatrix();
        std::string json;
        run(running, [&, watch = Stopwatch()](Progress& progress) {
          validate(settings.additive_noise);
          validate(settings.differentiable);
          validate(settings.boundaries.search);
          const CausalGraphResult result = causal_graph(data, links ? &moral : nullptr, knowledge, settings, progress);
          json = to_json(result, timing_of(watch));
        });
        return json;
      },
      "data"_a, "links"_a.none(), "knowledge"_a, "params"_a, "running"_a, "The graph as JSON, fansite.graph/2.");
}

}  // namespace fansite::python
