// SPDX-License-Identifier: Apache-2.0
//
// fansite/simulate.h: data with known truth.
#include "fansite/simulate/simulate.h"

#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_simulate(nb::module_& m) {
  nb::class_<SimulateParams> params(m, "SimulateParams", "The settings of simulate.");
  params.def(nb::init<>())
      .def_rw("nodes", &SimulateParams::nodes)
      .def_rw("degree", &SimulateParams::degree)
      .def_rw("rows", &SimulateParams::rows)
      .def_rw("seed", &SimulateParams::seed)
      .def_rw("weight_low", &SimulateParams::weight_low)
      .def_rw("weight_high", &SimulateParams::weight_high);
  def_choice(params, "graph", &SimulateParams::graph, parse_graph_model);
  def_choice(params, "sem", &SimulateParams::sem, parse_sem);
  def_choice(params, "noise", &SimulateParams::noise, parse_noise);

  nb::class_<Simulation>(m, "Simulation", "A table and the graph that it was made from.")
      .def_prop_ro("names", [](const Simulation& self) { return self.data.names; })
      .def_prop_ro(
          "values", [](const Simulation& self) { return to_numpy<double>(self.data.values); }, nb::rv_policy::move)
      .def_prop_ro(
          "adjacency", [](const Simulation& self) { return to_numpy<unsigned char>(self.dag.adjacency()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "weights", [](const Simulation& self) { return to_numpy<double>(self.weights); }, nb::rv_policy::move)
      .def_prop_ro("noise", [](const Simulation& self) {
        std::vector<std::string> distributions;
        for (const Noise distribution : self.noise) distributions.emplace_back(name(distribution));
        return distributions;
      });
  m.def(
      "simulate",
      [](const SimulateParams& settings, const Running& running) {
        std::optional<Simulation> simulation;
        run(running, [&](Progress& progress) { simulation = simulate(settings, progress); });
        return std::move(*simulation);
      },
      "params"_a, "running"_a, "Data with known truth.");
}

}  // namespace fansite::python
