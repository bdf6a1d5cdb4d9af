// SPDX-License-Identifier: Apache-2.0
//
// A boundary method in one source, the example of CONTRIBUTING.md: the most correlated variables of each target.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fansite/boundary/methods.h"

namespace fansite {
namespace {

struct MostCorrelatedParams {
  int size = 2;        ///< members of each boundary
  double least = 0.1;  ///< |correlation| of a member
  static const Description& description();
};

const Description& MostCorrelatedParams::description() {
  using P = MostCorrelatedParams;
  static const Description list = Describe<P>()
                                      .field("size", &P::size, "members of each boundary, at most", at_least(1))
                                      .field("least", &P::least, "absolute correlation of a member", from_to(0, 1))
                                      .done();
  return list;
}

BoundaryAnswer most_correlated(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<MostCorrelatedParams>();
  const Matrix& correlation = problem.context.covariance()->correlation;
  BoundaryAnswer answer;
  std::set<std::pair<int, int>> pairs;
  for (const int target : problem.targets.searched) {
    const auto strength = [&](int z) { return std::abs(correlation(target, z)); };
    std::vector<int> others(static_cast<std::size_t>(correlation.cols()));
    std::iota(others.begin(), others.end(), 0);
    std::erase_if(others, [&](int z) {
      const bool copy = problem.context.facts().copy_of[static_cast<std::size_t>(z)] >= 0;
      return z == target || copy || strength(z) < params.least;
    });
    std::stable_sort(others.begin(), others.end(), [&](int a, int b) { return strength(a) > strength(b); });
    others.resize(std::min(others.size(), static_cast<std::size_t>(params.size)));
    Boundary& boundary = answer.found.boundaries.emplace_back();
    boundary.target = target;
    for (const int z : others) {
      Member& member = boundary.members.emplace_back();
      member.variable = z;
      member.gain = -0.5 * std::log1p(-strength(z) * strength(z));  // the information of a normal pair, in nats
      pairs.insert(std::minmax(target, z));
    }
  }
  answer.found.moral_edges.assign(pairs.begin(), pairs.end());
  answer.details = {{"correlations", static_cast<std::int64_t>(correlation.size())}};
  answer.how = "the most correlated variables";
  return answer;
}

const bool added = [] {
  BoundaryMethod row;
  row.name = "most-correlated";
  row.summary = "the most correlated variables of each target";
  row.citation = "an example of CONTRIBUTING.md";
  row.parameters = MostCorrelatedParams();
  row.run = most_correlated;
  boundary_methods().add(std::move(row));
  return true;
}();

}  // namespace
}  // namespace fansite
