// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/gs.h"

#include "fansite/base/sets.h"

namespace fansite {
namespace {

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<GsParams>();
  ConstraintBasedRun run{"Grow-Shrink", params.alpha, params.test, params.order, {}, {}};
  run.search = [&](const IndependenceTest& test, const ClassicalTarget& search) {
    return grow_shrink(test, search, params.alpha);
  };
  return run_constraint_based(problem, run);
}

}  // namespace

const Description& GsParams::description() {
  static const Description list = describe_constraint_based<GsParams>().done();
  return list;
}

ClassicalSet grow_shrink(const IndependenceTest& test, const ClassicalTarget& search, double alpha) {
  std::vector<int> members = search.known;
  for (bool changed = true; changed;) {
    changed = false;
    for (const int z : search.candidates) {
      if (contains(members, z) || test.test(search.target, z, members).independent_when_adding(alpha)) continue;
      members.push_back(z);
      changed = true;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<int> before = members;
    for (const int member : before) {
      const std::vector<int> others = without(members, member);
      if (contains(search.known, member)) continue;
      if (!test.test(search.target, member, others).independent_when_removing(alpha)) continue;
      members = others;
      changed = true;
    }
  }
  return {members, {}, false};
}

BoundaryMethod gs_method() {
  BoundaryMethod row;
  row.name = "gs";
  row.summary = "Grow-Shrink: admit what is dependent given the set, in the order of columns, then shrink";
  row.citation = "Margaritis and Thrun, Bayesian Network Induction via Local Neighborhoods, NIPS 1999";
  row.can = classical_capabilities(true);
  row.parameters = GsParams();
  row.run = run;
  return row;
}

}  // namespace fansite
