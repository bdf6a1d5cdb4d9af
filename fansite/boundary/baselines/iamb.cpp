// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/iamb.h"

#include "fansite/independence/incremental_association.h"

namespace fansite {
namespace {

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
  return {incremental_association(test, search.target, search.candidates, search.known, alpha), {}, false};
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
