// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/iamb.h"

#include "fansite/base/sets.h"

namespace fansite {
namespace {

// The strongest of those dependent given the members, −1 if none is; of equals the first.
int strongest(const IndependenceTest& test, const ClassicalTarget& search, const std::vector<int>& members,
              double alpha) {
  std::vector<int> outside = search.candidates;
  std::erase_if(outside, [&](int z) { return contains(members, z); });
  const std::vector<IndependenceVerdict> verdicts = test.test_each(search.target, outside, members);
  int best = -1;
  double strength = 0;
  for (std::size_t i = 0; i < outside.size(); ++i) {
    if (verdicts[i].independent_when_adding(alpha) || (best >= 0 && verdicts[i].strength <= strength)) continue;
    best = outside[i];
    strength = verdicts[i].strength;
  }
  return best;
}

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<IambParams>();
  ConstraintBasedRun run{"IAMB", params.alpha, params.test, params.order, {}, {}};
  run.search = [&](const IndependenceTest& test, const ClassicalTarget& search) {
    return iamb(test, search, params.alpha);
  };
  BoundaryAnswer answer = run_constraint_based(problem, run);
  if (params.test.legacy_onesided) {
    answer.warnings.push_back(
        "[mb] --legacy-onesided repeats a mistake to reproduce published figures: only negative relations are seen");
  }
  return answer;
}

}  // namespace

const Description& IambParams::description() {
  using P = IambParams;
  static const Description list =
      describe_constraint_based<P>()
          .field(
              "legacy_onesided", [](auto& p) -> auto& { return p.test.legacy_onesided; },
              "p-values of fisher-z as a published program has them by mistake, which sees negative relations only")
          .rule([](const P& p) {
            if (p.test.legacy_onesided && p.test.kind != TestKind::fisher_z) {
              throw ParameterError("legacy_onesided", "it is of the test fisher-z; leave it out");
            }
          })
          .done();
  return list;
}

ClassicalSet iamb(const IndependenceTest& test, const ClassicalTarget& search, double alpha) {
  std::vector<int> members = search.known;
  for (int best = strongest(test, search, members, alpha); best >= 0; best = strongest(test, search, members, alpha)) {
    members.push_back(best);
  }
  const std::vector<int> grown = members;
  for (const int member : grown) {
    const std::vector<int> others = without(members, member);
    if (contains(search.known, member)) continue;
    if (test.test(search.target, member, others).independent_when_removing(alpha)) members = others;
  }
  return {members, {}, false};
}

BoundaryMethod iamb_method() {
  BoundaryMethod row;
  row.name = "iamb";
  row.summary = "IAMB: grow by the strongest dependence given the set, then shrink";
  row.citation =
      "Tsamardinos, Aliferis and Statnikov, Algorithms for Large Scale Markov Blanket Discovery, FLAIRS 2003";
  row.can = classical_capabilities(true);
  row.parameters = IambParams();
  row.run = run;
  return row;
}

}  // namespace fansite
