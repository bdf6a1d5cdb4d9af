// SPDX-License-Identifier: Apache-2.0
//
// A table of one's own: boundaries of two variables given the site, what one tells about another, and errors.
//   study study.csv
#include <fansite/fansite.h>

#include <iostream>

int main(int count, char** words) {
  try {
    fansite::LoadOptions options;
    options.roles.context = {"site"};  // conditioned on everywhere
    const fansite::Dataset table = fansite::load(count > 1 ? words[1] : "study.csv", options);

    fansite::BoundariesParams params;
    params.targets = {"pressure", "sleep"};
    params.fansite().effort = fansite::Effort::quick;
    params.run.seed = 1;
    const fansite::BoundariesResult result = fansite::markov_boundaries(table, params);
    for (const std::string& warning : result.warnings) std::cerr << warning << "\n";
    for (const fansite::Boundary& boundary : result.found.boundaries)
      std::cout << result.names[boundary.target] << ": " << boundary.members.size() << " members\n";

    fansite::NoProgress progress;
    const fansite::EntropyModel model(table, fansite::EntropyParams("gaussian"), progress);
    const fansite::EntropyEstimate told = model.mutual_information("age", {"salt"}, {"pressure"});
    std::cout << "I(age; salt | pressure) = " << told.value << " nats, standard error " << told.standard_error << "\n";
  } catch (const fansite::Error& error) {  // one sentence: the operation, the place, the fix
    std::cerr << error.what() << "\n";
    return 1;
  }
}
