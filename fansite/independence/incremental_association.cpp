// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/incremental_association.h"

#include "fansite/base/sets.h"

namespace fansite {
namespace {

// The strongest of those dependent given the members, −1 if none is; of equals the first.
int strongest(const IndependenceTest& test, int target, const std::vector<int>& candidates,
              const std::vector<int>& members, double alpha) {
  std::vector<int> outside = candidates;
  std::erase_if(outside, [&](int z) { return contains(members, z); });
  const std::vector<IndependenceVerdict> verdicts = test.test_each(target, outside, members);
  int best = -1;
  double strength = 0;
  for (std::size_t i = 0; i < outside.size(); ++i) {
    if (verdicts[i].independent_when_adding(alpha) || (best >= 0 && verdicts[i].strength <= strength)) continue;
    best = outside[i];
    strength = verdicts[i].strength;
  }
  return best;
}

}  // namespace

std::vector<int> incremental_association(const IndependenceTest& test, int target, const std::vector<int>& candidates,
                                         const std::vector<int>& known, double alpha) {
  std::vector<int> members = known;
  for (;;) {
    const int best = strongest(test, target, candidates, members, alpha);
    if (best < 0) break;
    members.push_back(best);
  }
  const std::vector<int> grown = members;
  for (const int member : grown) {
    if (contains(known, member)) continue;
    const std::vector<int> others = without(members, member);
    if (test.test(target, member, others).independent_when_removing(alpha)) members = others;
  }
  return members;
}

}  // namespace fansite
