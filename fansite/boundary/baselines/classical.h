// SPDX-License-Identifier: Apache-2.0
//
// What the classical methods share: each searches for the boundary of one target alone, among the variables that may
// join it, and the answers are put together here.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "fansite/boundary/baselines/order.h"
#include "fansite/boundary/methods.h"
#include "fansite/independence/independence_test.h"
#include "fansite/independence/tests.h"

namespace fansite {

/// One target's search. Copies, constants and context are no candidates, nor is what is known to be out.
struct ClassicalTarget {
  int target = -1;
  std::vector<int> candidates;  ///< ascending, those known among them
  std::vector<int> known;       ///< to be in, whatever the data say; ascending
};

/// What was found. Known members that are not in it are added at the end.
struct ClassicalSet {
  std::vector<int> members;      ///< in the method's own order
  std::vector<double> p_values;  ///< of each; empty: see ClassicalRun::test
  bool limited = false;          ///< a limit of the method kept it from trying all that it would
};

/// How all targets are searched and what their results say.
struct ClassicalRun {
  std::function<ClassicalSet(const ClassicalTarget&)> search;  ///< of several targets at once
  MemberOrder order = MemberOrder::kept;
  /// A member's p-value is that of this test given the other members; null: NaN, unless the method has its own.
  const IndependenceTest* test = nullptr;
  /// What the members tell of the target, in nats.
  const SearchEstimator* estimator = nullptr;
};

/// `limited` is set to the targets whose sets were.
BoundaryAnswer search_each(const BoundaryProblem& problem, const ClassicalRun& run, std::vector<int>& limited);

/// Counts the questions, and ends the work when it is interrupted.
class WatchedTest final : public IndependenceTest {
 public:
  WatchedTest(const IndependenceTest& test, const Progress& progress) : test_(test), progress_(progress) {}

  int variables() const override { return test_.variables(); }
  IndependenceVerdict test(int a, int b, std::span<const int> given) const override;
  std::vector<IndependenceVerdict> test_each(int target, std::span<const int> candidates,
                                             std::span<const int> given) const override;
  long count() const { return count_; }

 private:
  const IndependenceTest& test_;
  const Progress& progress_;
  mutable std::atomic<long> count_ = 0;
};

// ---- Methods that ask a test ----------------------------------------------------------------------------------------

/// `alpha`, `test`, `effort` and `order` of a struct that has them.
template <class P>
Describe<P> describe_constraint_based() {
  return Describe<P>()
      .field("alpha", &P::alpha, "p-value of a test up to which two variables count as dependent", between(0, 1))
      .part(&P::test, TestParams::description())
      .field("order", &P::order, "of members: kept (the method's own), index, or pyset (as CPython lists a set)");
}

struct ConstraintBasedRun {
  std::string name;  ///< for people
  double alpha = 0;
  TestParams test;
  MemberOrder order = MemberOrder::kept;
  std::function<ClassicalSet(const IndependenceTest&, const ClassicalTarget&)> search;
  std::string limit = {};  ///< what was not tried where a set is `limited`: "sets of more than 3 variables"
};

BoundaryAnswer run_constraint_based(const BoundaryProblem& problem, const ConstraintBasedRun& run);

/// Of methods that look for small sets which separate two variables.
struct SeparatingSetParams {
  double alpha = 0.005;
  TestParams test;
  int max_subset = 3;  ///< variables in a set that may separate two
  MemberOrder order = MemberOrder::kept;

  static const Description& description();
};

using SeparatingSetSearch = ClassicalSet (*)(const IndependenceTest& test, const ClassicalTarget& search, double alpha,
                                             int max_subset);
BoundaryAnswer run_by_separating_sets(const BoundaryProblem& problem, const SeparatingSetParams& params,
                                      const std::string& name, SeparatingSetSearch search);

/// What they can do.
Capabilities classical_capabilities(bool trains);

/// "[mb] eemb did not try … for 3 of 10 targets ('x', 'y' and 1 more), whose boundaries may be wrong for that".
std::string limit_warning(const std::string& name, const std::string& limit, const std::vector<int>& targets,
                          const BoundaryProblem& problem);

/// Refuses a model that nothing would use, and says that none is written; for methods that train nothing.
void refuse_models(const Context& context, const std::string& why, BoundaryAnswer& answer);

}  // namespace fansite
