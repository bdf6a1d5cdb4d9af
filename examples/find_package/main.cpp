// SPDX-License-Identifier: Apache-2.0
//
// The library from another project: make a network, find the boundary of each variable, print it.
#include <fansite/fansite.h>

#include <iostream>

int main() {
  fansite::SimulateParams setting;
  setting.nodes = 10;
  setting.rows = 2000;
  setting.seed = 1;
  const fansite::Simulation simulation = fansite::simulate(setting);

  const fansite::BoundariesResult result = fansite::markov_boundaries(simulation.data);
  for (const fansite::Boundary& boundary : result.found.boundaries) {
    std::cout << result.names[static_cast<std::size_t>(boundary.target)] << ":";
    for (const fansite::Member& member : boundary.members) {
      std::cout << " " << result.names[static_cast<std::size_t>(member.variable)] << " (" << member.gain << " nats)";
    }
    std::cout << "\n";
  }
}
