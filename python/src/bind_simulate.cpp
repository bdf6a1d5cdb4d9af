// SPDX-License-Identifier: Apache-2.0
//
// fansite/simulate.h: data with known truth.
#include "fansite/simulate/simulate.h"

#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_simulate(nb::module_& m) {
  nb::class_<Simulation>(m, "Simulation", "A table and the graph that it was made from.")
      .def_prop_ro("names", [](const Simulation& self) { return self.data.names; })
      .def_prop_ro(
          "values", [](const Simulation& self) { return to_numpy<double>(self.data.values); }, nb::rv_policy::move)
      .def_prop_ro(
          "adjacency", [](const Simulation& self) { return to_numpy<unsigned char>(self.dag.adjacency()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "weights", [](const Simulation& self) { return to_numpy<double>(self.weights); }, nb::rv_policy::move)
      .def_prop_ro("noise",
                   [](const Simulation& self) {
                     std::vector<std::string> distributions;
                     for (const Noise distribution : self.noise) distributions.emplace_back(name(distribution));
                     return distributions;
                   })
      .def_prop_ro("kinds",
                   [](const Simulation& self) {
                     std::vector<std::string> kinds;
                     for (const Kinds kind : self.kinds) kinds.emplace_back(name(kind));
                     return kinds;
                   })
      .def_prop_ro("hidden_cause_pairs", [](const Simulation& self) {
        std::vector<std::pair<std::string, std::string>> pairs;
        for (const auto& [a, b] : self.hidden_cause_pairs) {
          pairs.emplace_back(self.data.names[static_cast<std::size_t>(a)],
                             self.data.names[static_cast<std::size_t>(b)]);
        }
        return pairs;
      });
  m.def(
      "simulate",
      [](const Options& options, const Running& running) {
        const auto settings = assigned<SimulateParams>(options);
        std::optional<Simulation> simulation;
        run(running, [&](Progress& progress) { simulation = simulate(settings, progress); });
        return std::move(*simulation);
      },
      "options"_a, "running"_a, "Data with known truth.");
}

}  // namespace fansite::python
