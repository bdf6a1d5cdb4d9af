// SPDX-License-Identifier: Apache-2.0
//
// Boundaries whose sizes are decided on held-out rows, found with estimators that answer by heart: no network is
// trained here. What networks make of it is in test_boundaries.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/boundary/detail/held_out_pairs.h"
#include "fansite/entropy/gaussian.h"
#include "support.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::IsNan;
using testing::Le;
using testing::UnorderedElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Index kRows = 400;

/// Σ s / √Σ s² = z, for z up to √kRows.
Eigen::ArrayXf scores_of(double z) {
  const auto swing = static_cast<float>(std::sqrt(static_cast<double>(kRows) / (z * z) - 1));
  Eigen::ArrayXf scores(kRows);
  for (Index i = 0; i < kRows; ++i) scores[i] = 1 + (i % 2 == 0 ? swing : -swing);
  return scores;
}

PairEvidence evidence_of(double p_value, double z = 5, double votes = 0.5) {
  PairEvidence evidence;
  evidence.p_value = p_value;
  evidence.votes = votes;
  evidence.scores = scores_of(z);
  return evidence;
}

/// Ranks by one function of target and set, and judges by another; both know no networks and no rows.
class ByHeart : public SearchEstimator {
 public:
  using Entropy = std::function<double(int target, const std::vector<int>& given)>;

  explicit ByHeart(int variables) : flat(static_cast<std::size_t>(variables), 0), largest(variables - 1) {}

  std::vector<char> flat;                 ///< per variable: it says nothing
  int largest;                            ///< set
  double error = 0.01;                    ///< standard error of every information
  std::map<Pair, PairEvidence> evidence;  ///< of the pair {a, b} as asked; else of {b, a}; else there is none
  std::function<PairEvidence(const PairQuery&)> judge;  ///< instead of `evidence`, if there is one
  Entropy seen;                                         ///< what the frontier ranks by; empty: `entropy`
  mutable std::vector<PairQuery> asked;                 ///< in no order
  virtual double entropy(int target, const std::vector<int>& given) const = 0;

  std::string_view name() const override { return "by heart"; }
  int variables() const override { return static_cast<int>(flat.size()); }
  Index rows() const override { return kRows; }
  bool held_out() const override { return true; }
  double p_value(double, int) const override { return kNan; }
  bool informative(int variable) const override { return flat[static_cast<std::size_t>(variable)] == 0; }
  int frontier_size() const override { return variables(); }
  int largest_set() const override { return largest; }

  using EntropyEstimator::conditional_entropy;
  std::vector<EntropyEstimate> conditional_entropy(std::span<const EntropyQuery> queries) const override {
    std::vector<EntropyEstimate> answers;
    for (const EntropyQuery& query : queries) answers.push_back({entropy(query.target, query.given), error});
    return answers;
  }

  using EntropyEstimator::mutual_information;
  std::vector<EntropyEstimate> mutual_information(std::span<const InformationQuery> queries) const override {
    std::vector<EntropyEstimate> answers;
    for (const InformationQuery& query : queries) {
      std::vector<int> all = query.given;
      all.insert(all.end(), query.about.begin(), query.about.end());
      answers.push_back({entropy(query.target, query.given) - entropy(query.target, all), error});
    }
    return answers;
  }

  PairEvidence pair_evidence(const PairQuery& query) const override {
    {
      const std::lock_guard lock(mutex_);
      asked.push_back(query);
    }
    if (judge) return judge(query);
    for (const Pair& pair : {Pair(query.a, query.b), Pair(query.b, query.a)}) {
      if (const auto found = evidence.find(pair); found != evidence.end()) return found->second;
    }
    return evidence_of(1.0, 0.01);
  }

  std::unique_ptr<Frontier> open(std::span<const int> targets, const Candidates& candidates,
                                 const Progress&) const override {
    return std::make_unique<Growing>(*this, targets, candidates);
  }

 private:
  class Growing final : public Frontier {
   public:
    Growing(const ByHeart& estimator, std::span<const int> targets, const Candidates& candidates)
        : estimator_(estimator),
          targets_(targets.begin(), targets.end()),
          candidates_(candidates),
          sets_(targets.size()) {}

    void find_best(std::span<const int> slots, std::span<Candidate> best) override {
      for (std::size_t a = 0; a < slots.size(); ++a) {
        const int target = targets_[static_cast<std::size_t>(slots[a])];
        const std::vector<int>& set = members(slots[a]);
        best[a] = {};
        for (int z = 0; z < estimator_.variables(); ++z) {
          if (!candidates_.may_join(z, target) || contains(set, z)) continue;
          const double gain = seen(target, set) - seen(target, with(set, z));
          if (best[a].variable < 0 || gain > best[a].gain) best[a] = {z, gain, estimator_.error};
        }
      }
    }
    void add(int slot, int variable) override { set_of(slot).push_back(variable); }
    void drop_last(int slot, int count) override {
      set_of(slot).resize(members(slot).size() - static_cast<std::size_t>(count));
    }
    std::vector<Candidate> gains(int slot) override {
      std::vector<Candidate> result;
      std::vector<int> before;
      for (const int z : members(slot)) {
        result.push_back({z, seen(target(slot), before) - seen(target(slot), with(before, z)), estimator_.error});
        before.push_back(z);
      }
      return result;
    }
    std::vector<Candidate> losses(int slot) override {
      std::vector<Candidate> result;
      for (const int z : members(slot)) {
        const double without_it = seen(target(slot), without(members(slot), z));
        result.push_back({z, without_it - seen(target(slot), members(slot)), estimator_.error});
      }
      return result;
    }
    void remove(int slot, int variable) override { set_of(slot) = without(members(slot), variable); }
    const std::vector<int>& members(int slot) const override { return sets_[static_cast<std::size_t>(slot)]; }

   private:
    static std::vector<int> with(std::vector<int> set, int z) {
      set.push_back(z);
      return set;
    }
    double seen(int target, const std::vector<int>& set) const {
      return estimator_.seen ? estimator_.seen(target, set) : estimator_.entropy(target, set);
    }
    int target(int slot) const { return targets_[static_cast<std::size_t>(slot)]; }
    std::vector<int>& set_of(int slot) { return sets_[static_cast<std::size_t>(slot)]; }

    const ByHeart& estimator_;
    std::vector<int> targets_;
    Candidates candidates_;
    Sets sets_;
  };

  mutable std::mutex mutex_;
};

/// H(T|S) = 1 − Σ worth(T, z) over z in S. What nothing is said of costs a little. Powers of two keep sums exact.
class Additive final : public ByHeart {
 public:
  explicit Additive(int variables) : ByHeart(variables), worth(Matrix::Constant(variables, variables, -1.0 / 64)) {}
  Matrix worth;

  double entropy(int target, const std::vector<int>& given) const override {
    double value = 1;
    for (const int z : given) value -= worth(target, z);
    return value;
  }
  /// The frontier takes them in this order, whatever they are worth.
  void rank(const std::vector<int>& order) {
    seen = [order](int, const std::vector<int>& given) {
      double value = 0;
      for (const int z : given)
        value -= std::exp2(-static_cast<double>(std::find(order.begin(), order.end(), z) - order.begin()));
      return value;
    };
  }
  void both_ways(int a, int b, double value) { worth(a, b) = worth(b, a) = value; }
};

std::vector<int> all_of(const SearchEstimator& estimator) {
  std::vector<int> all(static_cast<std::size_t>(estimator.variables()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct Grown {
  std::vector<Path> paths;
  long steps = 0;
};
Grown grow(const SearchEstimator& estimator, const SearchParams& params = {}, std::vector<int> targets = {},
           const std::vector<int>& excluded = {}) {
  if (targets.empty()) targets = all_of(estimator);
  NoProgress silent;
  Grown result;
  const Search search(estimator, params, targets, {targets, excluded, {}});
  Boundaries boundaries;
  result.paths = grow_paths(search, boundaries, silent);
  result.steps = boundaries.steps;
  return result;
}

Boundaries find(const SearchEstimator& estimator, const SearchParams& params = {}, const std::vector<int>& targets = {},
                const std::vector<int>& excluded = {}) {
  NoProgress silent;
  return find_boundaries(estimator, params, {targets, excluded, {}}, silent);
}

SearchParams with_rule(Symmetry rule) {
  SearchParams params;
  params.rule = rule;
  return params;
}

// ---- Paths ----------------------------------------------------------------------------------------------------------

TEST(Paths, AreRankedByTheFrontierAndSizedByHeldOutEntropies) {
  Additive table(6);
  table.rank({3, 1, 4, 2, 5, 0});
  table.worth.row(0) << 0, 0.25, -1.0 / 64, 0.5, 0.125, -1.0 / 32;
  const Grown grown = grow(table, {}, {0});
  ASSERT_EQ(grown.paths.size(), 1u);
  const Path& path = grown.paths[0];
  EXPECT_THAT(path.indices, ElementsAre(3, 1, 4, 2, 5));
  EXPECT_THAT(path.entropy, ElementsAre(1, 0.5, 0.25, 0.125, 0.140625, 0.171875));
  EXPECT_EQ(path.best, 3);
  EXPECT_THAT(path.needed, ElementsAre(3, 1, 4));
  EXPECT_EQ(grown.steps, 5);
}

TEST(Paths, NeededIsWhatIsMissedByMoreThanOneStandardError) {
  Additive table(5);
  table.rank({1, 2, 3, 4, 0});
  table.worth.row(0) << 0, 0.5, 1.0 / 128, 1.0 / 256, -0.5;
  for (const auto& [error, needed] :
       {std::pair(4.0 / 256, std::vector{1}), std::pair(2.01 / 256, std::vector{1}),
        std::pair(1.99 / 256, std::vector{1, 2}), std::pair(0.99 / 256, std::vector{1, 2, 3}),
        std::pair(1.0, std::vector<int>{})}) {
    table.error = error;
    const Path path = grow(table, {}, {0}).paths[0];
    EXPECT_EQ(path.needed, needed) << error;
  }
}

// A variable may be worth something only because of those after it.
TEST(Paths, ASmallStepBeforeALargeOneIsKept) {
  Additive table(4);
  table.rank({1, 2, 3, 0});
  table.worth.row(0) << 0, 0.25, 1.0 / 1024, 0.5;
  const Path path = grow(table, {}, {0}).paths[0];
  EXPECT_EQ(path.best, 3);
}

TEST(Paths, OfNothingAreEmptyOrTooLong) {
  const Additive noise(8);
  for (const Path& path : grow(noise).paths) {
    EXPECT_EQ(path.best, 0);
    EXPECT_THAT(path.needed, testing::IsEmpty());
    EXPECT_EQ(path.indices.size(), 7u);  // a patience of 6, and one more
  }
}

// More variables also average out what networks got wrong, so entropies may drift down for ever.
TEST(Paths, ADriftBelowTwoStandardErrorsAStepDoesNotGoOnForEver) {
  Additive table(12);
  table.rank({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0});
  table.worth.row(0) << 0, 0.5, Eigen::RowVectorXd::Constant(10, 1.0 / 64);
  for (const auto& [error, length] : {std::pair(1.0 / 129, 11u), std::pair(1.0 / 128, 8u), std::pair(1.0 / 64, 8u)}) {
    table.error = error;
    const Path path = grow(table, {}, {0}).paths[0];
    EXPECT_EQ(path.indices.size(), length) << error;
    // Of the steps after the last clear one, two may count.
    EXPECT_EQ(path.best, length == 11 ? 11 : 3) << error;
  }
}

TEST(Paths, PatienceIsHowManyStepsMayGoByWithoutTheBest) {
  Additive table(9);
  table.rank({1, 2, 3, 4, 5, 6, 7, 8, 0});
  table.worth.row(0) << 0, 0.25, -0.125, -0.125, 0.5, -0.125, -0.125, -0.125, -0.125;
  SearchParams params;
  const auto grown = [&](int patience) {
    params.patience = patience;
    return grow(table, params, {0}).paths[0];
  };
  EXPECT_EQ(grown(0).best, 1);
  EXPECT_EQ(grown(0).indices.size(), 2u);
  EXPECT_EQ(grown(1).best, 1);
  EXPECT_EQ(grown(1).indices.size(), 3u);
  EXPECT_EQ(grown(2).best, 4);
  EXPECT_EQ(grown(2).indices.size(), 7u);
  EXPECT_EQ(grown(3).indices.size(), 8u);
  EXPECT_EQ(grown(-1).indices.size(), 8u);  // 6 is the default here …
  EXPECT_EQ(Search(table, {}, {0}, {}).patience, 6);
  params.patience = -1;
  params.stop = StopRule::paper;
  EXPECT_EQ(Search(table, params, {0}, {}).patience, 15);  // … and 15 where no held-out rows decide
  EXPECT_FALSE(Search(table, params, {0}, {}).on_held_out_rows());
}

TEST(Paths, EndAtTheLargestSetAndAtMaxSize) {
  Additive table(9);
  table.worth.setConstant(0.125);
  for (const Path& path : grow(table).paths) EXPECT_EQ(path.indices.size(), 8u);
  table.largest = 5;
  for (const Path& path : grow(table).paths) EXPECT_EQ(path.indices.size(), 5u);
  SearchParams params;
  params.max_size = 2;
  for (const Path& path : grow(table, params).paths) {
    EXPECT_THAT(path.entropy, ElementsAre(1, 0.875, 0.75));
    EXPECT_EQ(path.best, 2);
  }
  params.max_size = 7;
  for (const Path& path : grow(table, params).paths) EXPECT_EQ(path.indices.size(), 5u);
}

TEST(Paths, PassOverExcludedAndUninformativeVariables) {
  Additive table(6);
  table.worth.setConstant(0.125);
  table.flat[2] = 1;
  const Grown grown = grow(table, {}, {}, {4});
  ASSERT_EQ(grown.paths.size(), 4u);  // of 0, 1, 3, 5
  EXPECT_THAT(grown.paths[0].indices, UnorderedElementsAre(1, 3, 5));
  EXPECT_THAT(grown.paths[3].indices, UnorderedElementsAre(0, 1, 3));
}

// ---- Confirming -----------------------------------------------------------------------------------------------------

// The shortest set of 0 proposes {0, 1} alone, but {0, 2} and {0, 3} are in the best set and count.
class Family : public testing::Test {
 protected:
  Family() : table(5) {
    table.both_ways(0, 1, 0.5);
    table.worth(0, 2) = table.worth(0, 3) = 1.0 / 256;
  }
  Additive table;
};

TEST_F(Family, IsThePairsOfTheBestSetsWhileOnlyThoseNeededAreTested) {
  table.evidence[{0, 1}] = evidence_of(0.016, 5, 0.75);
  const Boundaries found = find(table);
  EXPECT_EQ(found.tested_pairs, 1);
  ASSERT_EQ(found.boundaries[0].members.size(), 1u);
  const Member& member = found.boundaries[0].members[0];
  EXPECT_EQ(member.variable, 1);
  EXPECT_EQ(member.p_value, 0.016);
  EXPECT_DOUBLE_EQ(member.q_value, (3 - 1) * 0.016);  // itself was certain
  EXPECT_EQ(member.votes, 0.75);
  EXPECT_EQ(found.threshold, 0.016);
  ASSERT_EQ(table.asked.size(), 1u);
  EXPECT_EQ(table.asked[0].a, 0);
  EXPECT_EQ(table.asked[0].b, 1);
  EXPECT_TRUE(table.asked[0].both_sides);
  EXPECT_THAT(table.asked[0].given_a, IsEmpty());  // 2 and 3 are in the best set, but not needed
  EXPECT_THAT(table.asked[0].given_b, IsEmpty());

  table.evidence[{0, 1}] = evidence_of(0.017);  // 3 · 0.017 > 0.05
  const Boundaries refused = find(table);
  EXPECT_THAT(refused.moral_edges, IsEmpty());
  EXPECT_EQ(refused.tested_pairs, 1);
  EXPECT_EQ(refused.threshold, 0);
  SearchParams params;
  params.fdr = 0.052;
  EXPECT_THAT(find(table, params).moral_edges, ElementsAre(Pair(0, 1)));
}

TEST(Confirm, QValuesStepUpInTwoStages) {
  Additive table(12);
  const double p_values[] = {0.001, 0.012, 0.035, 0.04, 0.5, 0.9};
  for (int k = 0; k < 6; ++k) {
    table.both_ways(2 * k, 2 * k + 1, 0.5);
    table.evidence[{2 * k, 2 * k + 1}] = evidence_of(p_values[k]);
  }
  NoProgress silent;
  const SearchParams params;
  const Search search(table, params, all_of(table), {});
  Boundaries boundaries;
  const Confirmed confirmed = decide_on_held_out_rows(search, grow_paths(search, boundaries, silent), silent);
  ASSERT_EQ(confirmed.tested.size(), 6u);
  const auto tested = [&](int k) { return confirmed.tested.at({2 * k, 2 * k + 1}); };
  // Of six the first stage admits two (0.012 · 6 / 2 ≤ 0.05), so the second pays for four.
  EXPECT_DOUBLE_EQ(tested(0).q_value, 0.001 * 4);
  EXPECT_DOUBLE_EQ(tested(1).q_value, 0.012 * 4 / 2);
  EXPECT_DOUBLE_EQ(tested(2).q_value, 0.04 * 4 / 4);  // not 0.035 · 4 / 3: the next one pays for it
  EXPECT_DOUBLE_EQ(tested(3).q_value, 0.04 * 4 / 4);
  EXPECT_DOUBLE_EQ(tested(4).q_value, 0.5);  // not 0.5 · 4 / 5
  EXPECT_DOUBLE_EQ(tested(5).q_value, 0.9);
  for (int k = 0; k < 6; ++k) EXPECT_EQ(tested(k).admitted, k < 4) << k;
  EXPECT_EQ(confirmed.threshold, 0.04);
  EXPECT_THAT(confirmed.sets,
              ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(3), ElementsAre(2), ElementsAre(5),
                          ElementsAre(4), ElementsAre(7), ElementsAre(6), IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
}

// Nineteen certain pairs would pay for one that is as likely false as not.
TEST(Confirm, TheCertainDoNotPayForWhatChanceExplains) {
  Additive table(40);
  for (int k = 0; k < 20; ++k) {
    table.both_ways(2 * k, 2 * k + 1, 0.5);
    table.evidence[{2 * k, 2 * k + 1}] = evidence_of(k < 19 ? 1e-9 : 0.5);
  }
  const Boundaries found = find(table);
  EXPECT_EQ(found.tested_pairs, 20);
  EXPECT_EQ(found.moral_edges.size(), 19u);
}

TEST(Confirm, SymmetryRules) {
  Additive table(4);
  table.both_ways(0, 1, 0.5);
  table.worth(0, 2) = 0.25;  // 2 does not see 0
  table.evidence[{0, 1}] = evidence_of(0.001);
  table.evidence[{1, 0}] = evidence_of(0.9);
  table.evidence[{0, 2}] = evidence_of(0.01);

  const Boundaries either = find(table, with_rule(Symmetry::or_));
  EXPECT_EQ(either.tested_pairs, 2);
  EXPECT_THAT(either.boundaries[0].member_indices(), ElementsAre(1, 2));
  EXPECT_THAT(either.boundaries[1].member_indices(), ElementsAre(0));
  EXPECT_THAT(either.boundaries[2].member_indices(), ElementsAre(0));
  EXPECT_FALSE(either.boundaries[0].members[1].by_symmetry);
  EXPECT_TRUE(either.boundaries[2].members[0].by_symmetry);
  EXPECT_EQ(either.boundaries[2].members[0].gain, -1.0 / 64);  // on held-out rows it may cost
  EXPECT_EQ(either.boundaries[2].members[0].p_value, either.boundaries[0].members[1].p_value);
  EXPECT_THAT(either.moral_edges, ElementsAre(Pair(0, 1), Pair(0, 2)));

  table.asked.clear();
  const Boundaries both = find(table, with_rule(Symmetry::and_));
  EXPECT_EQ(both.tested_pairs, 1);
  EXPECT_THAT(both.boundaries[0].member_indices(), ElementsAre(1));
  EXPECT_EQ(both.boundaries[0].members[0].q_value, 0.001);  // {0, 2} is no hypothesis
  EXPECT_THAT(both.moral_edges, ElementsAre(Pair(0, 1)));
  ASSERT_EQ(table.asked.size(), 1u);
  EXPECT_THAT(table.asked[0].given_a, ElementsAre(2));

  table.asked.clear();
  const Boundaries none = find(table, with_rule(Symmetry::none));
  EXPECT_EQ(none.tested_pairs, 3);
  EXPECT_THAT(none.boundaries[0].member_indices(), ElementsAre(1, 2));
  EXPECT_THAT(none.boundaries[1].member_indices(), IsEmpty());  // its own side says 0.9
  EXPECT_THAT(none.boundaries[2].member_indices(), IsEmpty());
  for (const PairQuery& query : table.asked) EXPECT_FALSE(query.both_sides);
  EXPECT_THAT(none.moral_edges, ElementsAre(Pair(0, 1), Pair(0, 2)));
}

TEST(Confirm, LateComersComeLastTheMostCertainFirst) {
  Additive table(7);
  table.both_ways(0, 5, 0.5);
  for (const int z : {1, 2, 3}) table.worth(z, 0) = 0.5;
  table.evidence[{0, 5}] = evidence_of(0.02);
  table.evidence[{0, 1}] = evidence_of(0.003);
  table.evidence[{0, 2}] = evidence_of(0.001);
  table.evidence[{0, 3}] = evidence_of(0.002);
  const Boundary boundary = find(table).boundaries[0];
  EXPECT_THAT(boundary.member_indices(), ElementsAre(5, 2, 3, 1));
  EXPECT_FALSE(boundary.members[0].by_symmetry);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_TRUE(boundary.members[k].by_symmetry) << k;
}

// Of five members none can be told from chance given the four others; given one other at most, the first can.
TEST(Confirm, WhatChanceExplainsLeavesTheSetsTheWeakerHalfFirst) {
  Additive table(6);
  for (int z = 1; z < 6; ++z) table.worth(0, z) = 0.125;
  table.judge = [](const PairQuery& query) {
    return evidence_of(query.b == 1 && query.given_a.size() < 2 ? 0.001 : 0.1 * query.b);
  };
  const Boundaries found = find(table, {}, {0});
  EXPECT_THAT(found.boundaries[0].member_indices(), ElementsAre(1));
  EXPECT_EQ(found.boundaries[0].members[0].p_value, 0.001);
  EXPECT_EQ(found.tested_pairs, 5);
  std::vector<std::pair<int, std::size_t>> asked;  // who, given how many
  for (const PairQuery& query : table.asked) asked.emplace_back(query.b, query.given_a.size());
  EXPECT_THAT(asked, UnorderedElementsAre(Pair(1, 4), Pair(2, 4), Pair(3, 4), Pair(4, 4), Pair(5, 4),  // all
                                          Pair(1, 1), Pair(2, 1),                            // the better half
                                          Pair(2, 1), Pair(3, 1), Pair(4, 1), Pair(5, 1)));  // all are missed
}

TEST(Confirm, WhatWasAdmittedIsNotTestedAgain) {
  Additive table(6);
  for (int z = 1; z < 6; ++z) table.worth(0, z) = 0.125;
  table.judge = [](const PairQuery& query) { return evidence_of(query.b <= 2 ? 1e-6 : 0.1 * query.b); };
  const Boundaries found = find(table, {}, {0});
  EXPECT_THAT(found.boundaries[0].member_indices(), UnorderedElementsAre(1, 2));
  EXPECT_EQ(table.asked.size(), 5u + 1u + 3u);  // 3 alone stays of 3, 4, 5, and goes; then all three are missed
}

TEST(Confirm, WhatIsClearlyMissedComesBack) {
  Additive table(6);
  for (int z = 1; z < 6; ++z) table.worth(0, z) = 0.125;
  table.judge = [](const PairQuery& query) {
    const bool seen = query.b == 1 || (query.b == 5 && query.given_a == std::vector<int>{1});
    return evidence_of(seen ? 1e-6 : 0.1 * query.b);
  };
  table.error = 1.0 / 24;  // just within three standard errors of nothing: it is not asked again
  EXPECT_THAT(find(table, {}, {0}).boundaries[0].member_indices(), ElementsAre(1));
  table.error = 1.0 / 25;
  EXPECT_THAT(find(table, {}, {0}).boundaries[0].member_indices(), ElementsAre(1, 5));
}

TEST(Confirm, OnlyTheSearchedEndTests) {
  Additive table(5);
  table.worth(3, 1) = table.worth(3, 4) = 0.5;
  table.evidence[{3, 1}] = evidence_of(0.001);
  table.evidence[{3, 4}] = evidence_of(0.002);
  const Boundaries found = find(table, {}, {3});
  ASSERT_EQ(found.boundaries.size(), 1u);
  EXPECT_THAT(found.boundaries[0].member_indices(), ElementsAre(1, 4));
  EXPECT_THAT(found.moral_edges, ElementsAre(Pair(1, 3), Pair(3, 4)));
  ASSERT_EQ(table.asked.size(), 2u);
  for (const PairQuery& query : table.asked) {
    EXPECT_EQ(query.a, 3);
    EXPECT_FALSE(query.both_sides);
    EXPECT_THAT(query.given_a, ElementsAre(query.b == 1 ? 4 : 1));
  }
}

TEST(Confirm, NothingProposedNothingTested) {
  const Additive noise(5);
  const Boundaries found = find(noise);
  EXPECT_EQ(found.tested_pairs, 0);
  EXPECT_EQ(found.threshold, 0);
  EXPECT_THAT(found.moral_edges, IsEmpty());
  EXPECT_THAT(noise.asked, IsEmpty());
  Additive alone(3);
  alone.flat = {1, 0, 1};
  const Boundaries none = find(alone);
  ASSERT_EQ(none.boundaries.size(), 3u);
  for (const Boundary& boundary : none.boundaries) {
    EXPECT_THAT(boundary.members, IsEmpty());
    EXPECT_THAT(boundary.path, IsEmpty());
    EXPECT_THAT(boundary.near_misses, IsEmpty());
    EXPECT_EQ(boundary.entropy, 1);
  }
}

// ---- Near misses ----------------------------------------------------------------------------------------------------

class NearMisses : public testing::Test {
 protected:
  NearMisses() : table(9) {
    table.worth.row(0) << 0, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, -1.0 / 64, -1.0 / 64;
    const double p_values[] = {1e-6, 0.9, 0.5, 0.7, 0.3, 0.8};
    for (int z = 1; z <= 6; ++z) table.evidence[{0, z}] = evidence_of(p_values[z - 1]);
  }
  Additive table;
};

TEST_F(NearMisses, AreTheThreeNearestByChanceAndTheNextOnThePath) {
  const Boundary boundary = find(table).boundaries[0];
  EXPECT_THAT(boundary.member_indices(), ElementsAre(1));
  ASSERT_EQ(boundary.near_misses.size(), 4u);
  const std::pair<int, double> expected[] = {{5, 0.3}, {3, 0.5}, {4, 0.7}};
  for (std::size_t k = 0; k < 3; ++k) {
    const NearMiss& miss = boundary.near_misses[k];
    EXPECT_EQ(miss.candidate.variable, expected[k].first);
    EXPECT_EQ(miss.candidate.gain, 0.25);  // given the boundary
    EXPECT_EQ(miss.candidate.standard_error, table.error);
    EXPECT_EQ(miss.p_value, expected[k].second);
    EXPECT_GT(miss.q_value, 0.05);
    EXPECT_EQ(miss.reason, NearMiss::Reason::chance);
  }
  EXPECT_DOUBLE_EQ(boundary.near_misses[0].q_value, 0.3 * (6 - 1) / 2);
  const NearMiss& next = boundary.near_misses[3];
  EXPECT_EQ(next.candidate.variable, 7);
  EXPECT_EQ(next.candidate.gain, -1.0 / 64);
  EXPECT_THAT(next.p_value, IsNan());
  EXPECT_THAT(next.q_value, IsNan());
  EXPECT_EQ(next.reason, NearMiss::Reason::held_out);
}

TEST_F(NearMisses, ConcernBothEndsUnlessEachSideStandsAlone) {
  const Boundary other = find(table).boundaries[5];
  ASSERT_EQ(other.near_misses.size(), 1u);
  EXPECT_EQ(other.near_misses[0].candidate.variable, 0);
  EXPECT_EQ(other.near_misses[0].p_value, 0.3);
  EXPECT_EQ(other.near_misses[0].reason, NearMiss::Reason::chance);
  const Boundary alone = find(table, with_rule(Symmetry::none)).boundaries[5];
  ASSERT_EQ(alone.near_misses.size(), 1u);
  EXPECT_EQ(alone.near_misses[0].candidate.variable, 0);  // first on its own path
  EXPECT_THAT(alone.near_misses[0].p_value, IsNan());
  EXPECT_EQ(alone.near_misses[0].reason, NearMiss::Reason::held_out);
}

TEST_F(NearMisses, AreNamedOnce) {
  table.worth(7, 0) = 0.5;  // next on the path of 0, and tested because 7 proposes it
  table.evidence[{0, 7}] = evidence_of(0.2);
  Boundary boundary = find(table).boundaries[0];
  ASSERT_EQ(boundary.near_misses.size(), 3u);
  EXPECT_EQ(boundary.near_misses[0].candidate.variable, 7);
  EXPECT_EQ(boundary.near_misses[0].reason, NearMiss::Reason::chance);
  table.evidence[{0, 7}] = evidence_of(1e-9);  // and now a member
  boundary = find(table).boundaries[0];
  EXPECT_THAT(boundary.member_indices(), ElementsAre(1, 7));
  for (const NearMiss& miss : boundary.near_misses) EXPECT_NE(miss.candidate.variable, 7);
}

TEST(NearMissReasons, AreWords) {
  for (const auto reason : {NearMiss::Reason::chance, NearMiss::Reason::held_out, NearMiss::Reason::small}) {
    EXPECT_FALSE(explain(reason).empty());
  }
  EXPECT_NE(explain(NearMiss::Reason::chance), explain(NearMiss::Reason::held_out));
}

// ---- Stability ------------------------------------------------------------------------------------------------------

std::vector<double> stabilities(const std::vector<PairEvidence>& evidence) {
  const int pairs = static_cast<int>(evidence.size());
  Additive table(2 * pairs);
  for (int k = 0; k < pairs; ++k) {
    table.both_ways(2 * k, 2 * k + 1, 0.5);
    table.evidence[{2 * k, 2 * k + 1}] = evidence[static_cast<std::size_t>(k)];
    table.evidence[{2 * k, 2 * k + 1}].p_value = 1e-9;  // all are in; what resamples say is another matter
  }
  std::vector<double> result;
  for (int k = 0; k < pairs; ++k) {
    const Boundary boundary = find(table).boundaries[static_cast<std::size_t>(2 * k)];
    result.push_back(boundary.members.at(0).stability);
  }
  return result;
}

TEST(Stability, IsTheShareOfResamplesInWhichAPairIsIn) {
  std::vector<double> shares;
  for (const double z : {0.01, 1.6, 2.2, 3.0, 19.0}) shares.push_back(stabilities({evidence_of(0, z)})[0]);
  EXPECT_THAT(shares, Each(AllOf(Ge(0.0), Le(1.0))));
  EXPECT_LT(shares[0], 0.2);   // mostly out
  EXPECT_GT(shares[1], 0.25);  // p = 0.055, the edge
  EXPECT_LT(shares[1], 0.75);
  for (std::size_t k = 1; k < shares.size(); ++k) EXPECT_GE(shares[k], shares[k - 1]) << k;
  EXPECT_GT(shares[3], 0.85);
  EXPECT_EQ(shares[4], 1.0);
}

TEST(Stability, IsCertainOfWhatEveryRowSaysAndOfWhatNoRowSays) {
  PairEvidence strong = evidence_of(0), nothing = evidence_of(0);
  strong.scores.setConstant(0.3f);
  nothing.scores.setZero();
  EXPECT_THAT(stabilities({strong, nothing}), ElementsAre(1.0, 0.0));
}

TEST(Stability, FeelsInflationAndTheFamily) {
  PairEvidence inflated = evidence_of(0, 2.2);
  inflated.inflation = std::sqrt(2.0);
  EXPECT_LT(stabilities({inflated})[0], stabilities({evidence_of(0, 2.2)})[0]);
  const PairEvidence weak = evidence_of(0, 0.01);
  EXPECT_LT(stabilities({evidence_of(0, 2.2), weak, weak, weak})[0], stabilities({evidence_of(0, 2.2)})[0]);
}

TEST(Stability, IsTheSameEveryTimeAndForAnyNumberOfThreads) {
  const std::vector<PairEvidence> evidence = {evidence_of(0, 1.5), evidence_of(0, 2), evidence_of(0, 2.5)};
  const ThreadLimit one(1);
  const std::vector<double> first = stabilities(evidence);
  EXPECT_EQ(stabilities(evidence), first);
  const ThreadLimit many(4);
  EXPECT_EQ(stabilities(evidence), first);
}

// "Empty: it is no such sum": then nobody knows how stable the pair is, and it must not be made up.
TEST(Stability, IsNotKnownWithoutScores) {
  PairEvidence silent = evidence_of(1e-9);
  silent.scores.resize(0);
  const std::vector<double> shares = stabilities({silent, evidence_of(0, 19)});
  EXPECT_THAT(shares[0], IsNan());
  EXPECT_EQ(shares[1], 1.0);
}

// ---- The whole search -----------------------------------------------------------------------------------------------

/// The Gaussian closed form, with what a set costs on rows that were not learnt from.
class HeldOutGaussian final : public ByHeart {
 public:
  explicit HeldOutGaussian(const Matrix& values)
      : ByHeart(static_cast<int>(values.cols())), gaussian(covariance(values)) {
    error = 0.001;
  }
  GaussianEstimator gaussian;

  double entropy(int target, const std::vector<int>& given) const override {
    return gaussian.conditional_entropy({target, given}).value + 0.002 * static_cast<double>(given.size());
  }
  PairEvidence pair_evidence(const PairQuery& query) const override {
    ByHeart::pair_evidence(query);  // is remembered
    PairEvidence evidence = gaussian.pair_evidence(query);
    evidence.scores = scores_of(std::clamp(-normal_quantile(std::max(evidence.p_value, 1e-30)), 0.01, 19.0));
    return evidence;
  }
};

// x0 → x2 ← x1, x2 → x3, and x4 apart.
Matrix collider() {
  Random random(Key{1});
  Matrix values(2000, 5);
  for (Index i = 0; i < values.rows(); ++i) {
    const double x0 = random.normal(), x1 = random.normal();
    const double x2 = x0 + x1 + random.normal();
    values.row(i) << x0, x1, x2, 0.8 * x2 + random.normal(), random.normal();
  }
  return values;
}

TEST(HeldOutSearch, FindsParentsChildrenAndSpouses) {
  const HeldOutGaussian estimator(collider());
  for (const Symmetry rule : {Symmetry::or_, Symmetry::and_, Symmetry::none}) {
    const Boundaries found = find(estimator, with_rule(rule));
    EXPECT_THAT(found.boundaries[0].member_indices(), UnorderedElementsAre(1, 2));
    EXPECT_THAT(found.boundaries[1].member_indices(), UnorderedElementsAre(0, 2));
    EXPECT_THAT(found.boundaries[2].member_indices(), UnorderedElementsAre(0, 1, 3));
    EXPECT_THAT(found.boundaries[3].member_indices(), ElementsAre(2));
    EXPECT_THAT(found.boundaries[4].member_indices(), IsEmpty());
    EXPECT_THAT(found.moral_edges, ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2), Pair(2, 3)));
  }
}

TEST(HeldOutSearch, TellsEntropiesGainsAndPathsOfHeldOutRows) {
  const HeldOutGaussian estimator(collider());
  const Boundaries found = find(estimator);
  long steps = 0;
  for (const Boundary& boundary : found.boundaries) {
    const int t = boundary.target;
    EXPECT_EQ(boundary.entropy, estimator.entropy(t, {}));
    EXPECT_EQ(boundary.conditional_entropy, estimator.entropy(t, boundary.member_indices()));
    std::vector<int> before;
    double gains = 0;
    for (const Member& member : boundary.members) {
      EXPECT_EQ(member.gain, estimator.mutual_information({t, {member.variable}, before}).value);
      EXPECT_EQ(member.standard_error, 0.001);
      const std::vector<int> others = without(boundary.member_indices(), member.variable);
      EXPECT_EQ(member.unique, estimator.mutual_information({t, {member.variable}, others}).value);
      EXPECT_LE(member.p_value, member.q_value);
      EXPECT_LE(member.q_value, 0.05);
      EXPECT_THAT(member.stability, AllOf(Ge(0.0), Le(1.0)));
      gains += member.gain;
      before.push_back(member.variable);
    }
    EXPECT_NEAR(gains, boundary.entropy - boundary.conditional_entropy, 1e-12);
    for (const NearMiss& miss : boundary.near_misses) {
      EXPECT_EQ(miss.candidate.gain,
                estimator.mutual_information({t, {miss.candidate.variable}, boundary.member_indices()}).value);
    }
    before.clear();
    for (const PathStep& step : boundary.path) {
      before.push_back(step.variable);
      EXPECT_EQ(step.conditional_entropy, estimator.entropy(t, before));
    }
    EXPECT_EQ(boundary.path.size(), 4u);  // beyond the boundary
    steps += static_cast<long>(boundary.path.size());
  }
  EXPECT_EQ(found.steps, steps);
}

TEST(HeldOutSearch, ExcludedAndUninformativeTargetsHaveEmptyBoundaries) {
  HeldOutGaussian estimator(collider());
  estimator.flat[3] = 1;
  const Boundaries found = find(estimator, {}, {}, {0});
  ASSERT_EQ(found.boundaries.size(), 5u);
  for (const int t : {0, 3}) {
    const Boundary& boundary = found.boundaries[static_cast<std::size_t>(t)];
    EXPECT_EQ(boundary.target, t);
    EXPECT_THAT(boundary.members, IsEmpty());
    EXPECT_THAT(boundary.path, IsEmpty());
    EXPECT_EQ(boundary.entropy, estimator.entropy(t, {}));
    EXPECT_EQ(boundary.conditional_entropy, boundary.entropy);
  }
  EXPECT_THAT(found.moral_edges, ElementsAre(Pair(1, 2)));
  for (const PairQuery& query : estimator.asked) {
    EXPECT_THAT((std::vector{query.a, query.b}), Each(testing::AnyOf(1, 2, 4)));
  }
}

TEST(HeldOutSearch, KeepsTheOrderOfTargets) {
  const HeldOutGaussian estimator(collider());
  const Boundaries found = find(estimator, {}, {3, 0});
  ASSERT_EQ(found.boundaries.size(), 2u);
  EXPECT_EQ(found.boundaries[0].target, 3);
  EXPECT_EQ(found.boundaries[1].target, 0);
  EXPECT_THAT(found.boundaries[1].member_indices(), UnorderedElementsAre(1, 2));
}

TEST(HeldOutSearch, ThePapersRuleKnowsNoHeldOutRows) {
  const HeldOutGaussian estimator(collider());
  SearchParams params;
  params.stop = StopRule::paper;
  const Boundaries found = find(estimator, params);
  EXPECT_THAT(found.boundaries[2].member_indices(), UnorderedElementsAre(0, 1, 3));
  EXPECT_EQ(found.tested_pairs, 0);
  for (const Boundary& boundary : found.boundaries) {
    EXPECT_THAT(boundary.path, IsEmpty());
    for (const Member& member : boundary.members) EXPECT_THAT(member.stability, IsNan());
    ASSERT_EQ(boundary.near_misses.size(), 1u);
    EXPECT_EQ(boundary.near_misses[0].reason, NearMiss::Reason::small);
    EXPECT_THAT(boundary.near_misses[0].p_value, IsNan());  // gains have no known distribution
  }
}

/// Counts what it is told, and interrupts when a stage begins.
class Recorder final : public Progress {
 public:
  explicit Recorder(std::string stage = {}) : stop_at_(std::move(stage)) {}
  void begin(std::string_view stage, long total) override {
    stage_ = stage;
    left[stage_] = total;
  }
  void advance(long steps) override {
    const std::lock_guard lock(mutex_);
    left[stage_] -= steps;
  }
  bool interrupted() const override { return stage_ == stop_at_; }
  std::map<std::string, long> left;

 private:
  std::mutex mutex_;
  std::string stage_ = "none yet", stop_at_;
};

TEST(HeldOutSearch, WhatIsKnownIsInEvenIfThereIsNoTimeToSearch) {
  class NoTime final : public Progress {
   public:
    void begin(std::string_view, long) override {}
    void advance(long) override {}
    bool interrupted() const override { return false; }
    bool out_of_time() const override { return true; }
  };
  const HeldOutGaussian estimator(collider());
  const Knowledge knowledge({"a", "b", "c", "d", "e"}, {{Statement::Kind::in_boundary, 0, 4},
                                                        {Statement::Kind::in_boundary, 0, 3},
                                                        {Statement::Kind::in_boundary, 1, 4}});
  NoTime hurried;
  const Boundaries found = find_boundaries(estimator, {}, {{}, {}, knowledge}, hurried);
  EXPECT_EQ(found.cut_short, 5);
  EXPECT_THAT(found.boundaries[0].member_indices(), ElementsAre(3, 4));
  EXPECT_THAT(found.boundaries[1].member_indices(), ElementsAre(4));
  EXPECT_THAT(found.boundaries[2].member_indices(), IsEmpty());
  EXPECT_THAT(found.boundaries[3].member_indices(), ElementsAre(0));
  EXPECT_THAT(found.boundaries[4].member_indices(), ElementsAre(0, 1));
}

TEST(HeldOutSearch, StopsWhenAskedInEveryStage) {
  const HeldOutGaussian estimator(collider());
  for (const std::string stage : {"searching", "testing", "describing"}) {
    Recorder progress(stage);
    EXPECT_THROW(find_boundaries(estimator, {}, {}, progress), Interrupted) << stage;
    EXPECT_EQ(progress.left.count(stage), 1u);
  }
  Impatient at_once;
  EXPECT_THROW(find_boundaries(estimator, {}, {}, at_once), Interrupted);
}

TEST(HeldOutSearch, ItsProgressAddsUp) {
  Recorder progress;
  find_boundaries(HeldOutGaussian(collider()), {}, {}, progress);
  EXPECT_THAT(progress.left,
              ElementsAre(std::pair("describing", 0), std::pair("searching", 0), std::pair("testing", 0)));
}

TEST(HeldOutSearch, SameBitsForAnyNumberOfThreads) {
  const HeldOutGaussian estimator(simulate_linear(12, 2, 500, 3).data.values);
  const ThreadLimit one(1);
  const Boundaries serial = find(estimator);
  const ThreadLimit many(4);
  const Boundaries parallel = find(estimator);
  EXPECT_EQ(parallel.moral_edges, serial.moral_edges);
  EXPECT_FALSE(serial.moral_edges.empty());
  EXPECT_EQ(parallel.threshold, serial.threshold);
  for (std::size_t b = 0; b < serial.boundaries.size(); ++b) {
    ASSERT_EQ(parallel.boundaries[b].member_indices(), serial.boundaries[b].member_indices());
    for (std::size_t m = 0; m < serial.boundaries[b].members.size(); ++m) {
      const Member &x = parallel.boundaries[b].members[m], &y = serial.boundaries[b].members[m];
      EXPECT_EQ(std::tie(x.gain, x.p_value, x.q_value, x.stability),
                std::tie(y.gain, y.p_value, y.q_value, y.stability));
    }
  }
}

}  // namespace
}  // namespace fansite
