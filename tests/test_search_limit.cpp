// SPDX-License-Identifier: Apache-2.0
//
// No search asks its estimator about more than its largest_set(), and what has to be left out for that is what has the
// weakest evidence, and is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/base/sets.h"
#include "fansite/base/special.h"
#include "fansite/boundary/refine.h"
#include "fansite/entropy/flow/estimator.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/run/boundaries.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The Gaussian estimator, as if it knew no sets beyond a size, and had held-out rows if wanted. It answers whatever it
/// is asked, and remembers the largest sets: of an entropy, and of that with one variable more.
class Bounded final : public SearchEstimator {
 public:
  Bounded(const Matrix& values, int largest, bool held_out)
      : gaussian_(covariance(values)), largest_(largest), held_out_(held_out) {}

  /// Whether it was ever asked for more than it knows.
  bool overasked() const { return most_ > largest_ || most_with_one_more_ > largest_ + 1; }
  bool asked() const { return most_ >= 0; }

  std::string_view name() const override { return "bounded"; }
  int variables() const override { return gaussian_.variables(); }
  Index rows() const override { return gaussian_.rows(); }
  bool held_out() const override { return held_out_; }
  double p_value(double gain, int given) const override {
    return held_out_ ? std::numeric_limits<double>::quiet_NaN() : gaussian_.p_value(gain, given);
  }
  bool informative(int variable) const override { return gaussian_.informative(variable); }
  int frontier_size() const override { return 3; }
  int largest_set() const override { return largest_; }

  using EntropyEstimator::conditional_entropy;
  std::vector<EntropyEstimate> conditional_entropy(std::span<const EntropyQuery> queries) const override {
    std::vector<EntropyEstimate> answers = gaussian_.conditional_entropy(queries);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      note(most_, queries[q].given.size());
      answers[q].value += cost(queries[q].given.size());
    }
    return answers;
  }

  using EntropyEstimator::mutual_information;
  std::vector<EntropyEstimate> mutual_information(std::span<const InformationQuery> queries) const override {
    std::vector<EntropyEstimate> answers = gaussian_.mutual_information(queries);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      note(most_, queries[q].given.size());
      note(most_with_one_more_, queries[q].given.size() + queries[q].about.size());
      answers[q].value -= cost(queries[q].about.size());
    }
    return answers;
  }

  PairEvidence pair_evidence(const PairQuery& query) const override {
    note(most_, query.given_a.size());
    if (query.both_sides) note(most_, query.given_b.size());
    PairEvidence evidence = gaussian_.pair_evidence(query);
    if (!held_out_) return evidence;
    const double z = std::clamp(-normal_quantile(std::clamp(evidence.p_value, 1e-30, 0.49)), 0.01, 5.0);
    const auto n = static_cast<double>(rows());
    const auto swing = static_cast<float>(std::sqrt(std::max(n / (z * z) - 1, 0.0)));
    evidence.scores.resize(rows());
    for (Index i = 0; i < rows(); ++i) evidence.scores[i] = 1 + (i % 2 == 0 ? swing : -swing);
    return evidence;
  }

  std::unique_ptr<Frontier> open(std::span<const int> targets, const Candidates& candidates,
                                 const Progress& progress) const override {
    return std::make_unique<Watched>(*this, gaussian_.open(targets, candidates, progress));
  }

 private:
  class Watched final : public Frontier {
   public:
    Watched(const Bounded& estimator, std::unique_ptr<Frontier> frontier)
        : estimator_(estimator), frontier_(std::move(frontier)) {}

    void find_best(std::span<const int> slots, std::span<Candidate> best) override {
      frontier_->find_best(slots, best);
      for (std::size_t a = 0; a < slots.size(); ++a) {
        const std::size_t size = members(slots[a]).size();
        note(estimator_.most_, size);
        if (best[a].variable >= 0) note(estimator_.most_with_one_more_, size + 1);
      }
    }
    void add(int slot, int variable) override { frontier_->add(slot, variable); }
    void drop_last(int slot, int count) override { frontier_->drop_last(slot, count); }
    std::vector<Candidate> gains(int slot) override {
      note(estimator_.most_, members(slot).size());
      return frontier_->gains(slot);
    }
    std::vector<Candidate> losses(int slot) override {
      note(estimator_.most_, members(slot).size());
      return frontier_->losses(slot);
    }
    void remove(int slot, int variable) override { frontier_->remove(slot, variable); }
    const std::vector<int>& members(int slot) const override { return frontier_->members(slot); }

   private:
    const Bounded& estimator_;
    std::unique_ptr<Frontier> frontier_;
  };

  static void note(std::atomic<int>& most, std::size_t size) {
    int before = most;
    while (before < static_cast<int>(size) && !most.compare_exchange_weak(before, static_cast<int>(size))) {
    }
  }
  /// What a set costs on rows that were not learnt from.
  double cost(std::size_t size) const { return held_out_ ? 0.002 * static_cast<double>(size) : 0.0; }

  GaussianEstimator gaussian_;
  int largest_;
  bool held_out_;
  mutable std::atomic<int> most_ = -1, most_with_one_more_ = -1;
};

/// x0, and leaves that each follow it, the first least.
Matrix star(int leaves, Index rows, std::uint64_t seed = 1) {
  Random random(Key{seed});
  Matrix values(rows, leaves + 1);
  for (Index i = 0; i < rows; ++i) {
    values(i, 0) = random.normal();
    for (Index j = 1; j <= leaves; ++j) {
      values(i, j) = (0.5 + 0.9 * static_cast<double>(j) / leaves) * values(i, 0) + random.normal();
    }
  }
  return values;
}

Knowledge said(int variables, const std::vector<Statement>& statements) {
  std::vector<std::string> names;
  for (int j = 0; j < variables; ++j) names.push_back("x" + std::to_string(j));
  return Knowledge(names, statements);
}

Boundaries find(const SearchEstimator& estimator, const SearchParams& params, const Knowledge& knowledge = {}) {
  NoProgress silent;
  return find_boundaries(estimator, params, {{}, {}, knowledge}, silent);
}

SearchParams with(StopRule stop, Symmetry rule = Symmetry::or_) {
  SearchParams params;
  params.stop = stop;
  params.rule = rule;
  return params;
}

// ---- A hub ----------------------------------------------------------------------------------------------------------

struct Way {
  StopRule stop;
  bool held_out;
};
constexpr Way kWays[] = {
    {StopRule::calibrated, true}, {StopRule::calibrated, false}, {StopRule::paper, true}, {StopRule::paper, false}};

TEST(Limit, AHubKeepsAsManyAsTheEstimatorKnowsAndItsLeavesKeepIt) {
  for (const auto& [stop, held_out] : kWays) {
    const Bounded estimator(star(6, 300), 3, held_out);
    const Boundaries found = find(estimator, with(stop));
    EXPECT_FALSE(estimator.overasked());
    EXPECT_EQ(found.largest_set, 3);
    EXPECT_EQ(found.boundaries[0].members.size(), 3u);
    EXPECT_TRUE(found.boundaries[0].limited);
    for (std::size_t leaf = 1; leaf <= 6; ++leaf) {
      EXPECT_THAT(found.boundaries[leaf].member_indices(), ElementsAre(0)) << leaf;
      EXPECT_FALSE(found.boundaries[leaf].limited) << leaf;
    }
    EXPECT_EQ(found.moral_edges.size(), 6u);
  }
}

TEST(Limit, TheWeakestEvidenceGoesFirstAndIsANearMiss) {
  SearchParams params = with(StopRule::calibrated);
  params.max_size = 1;  // so the hub's own search finds one, and the leaves tell it of the others
  const Boundaries all = find(Bounded(star(6, 300), 6, true), params);
  ASSERT_EQ(all.boundaries[0].members.size(), 6u);
  EXPECT_FALSE(all.boundaries[0].limited);
  std::vector<Member> expected = all.boundaries[0].members;
  std::sort(expected.begin(), expected.end(), [](const Member& a, const Member& b) { return a.p_value < b.p_value; });
  const Boundary hub = find(Bounded(star(6, 300), 3, true), params).boundaries[0];
  std::vector<int> strongest;
  for (std::size_t k = 0; k < 3; ++k) strongest.push_back(expected[k].variable);
  EXPECT_THAT(hub.member_indices(), testing::UnorderedElementsAreArray(strongest));
  ASSERT_EQ(hub.near_misses.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(hub.near_misses[k].candidate.variable, expected[k + 3].variable);
    EXPECT_EQ(hub.near_misses[k].p_value, expected[k + 3].p_value);
    EXPECT_EQ(hub.near_misses[k].reason, NearMiss::Reason::limit);
  }
  EXPECT_FALSE(explain(NearMiss::Reason::limit).empty());
}

TEST(Limit, WhatIsKnownIsNeverLeftOut) {
  const Knowledge knowledge =
      said(7, {{Statement::Kind::in_boundary, 0, 1}, {Statement::Kind::in_boundary, 2, 0}});  // the weakest
  for (const auto& [stop, held_out] : kWays) {
    const Bounded estimator(star(6, 300), 3, held_out);
    const Boundaries found = find(estimator, with(stop), knowledge);
    EXPECT_FALSE(estimator.overasked());
    const std::vector<int> hub = found.boundaries[0].member_indices();
    EXPECT_EQ(hub.size(), 3u);
    EXPECT_TRUE(contains(hub, 1) && contains(hub, 2));
    EXPECT_TRUE(found.boundaries[0].limited);
  }
}

TEST(Limit, MoreThanThatKnownIsRefusedBeforeAnythingIsAsked) {
  std::vector<Statement> statements;
  for (int z = 1; z <= 4; ++z) statements.push_back({Statement::Kind::in_boundary, 0, z});
  const Bounded estimator(star(6, 300), 3, true);
  EXPECT_THAT(message_of<UsageError>([&] { find(estimator, {}, said(7, statements)); }),
              HasSubstr("4 variables are known to be in one boundary"));
  EXPECT_FALSE(estimator.asked());
}

TEST(Limit, AllOthersAreNotTooMany) {
  for (const auto& [stop, held_out] : kWays) {
    const Boundaries found = find(Bounded(star(6, 300), 6, held_out), with(stop));
    EXPECT_EQ(found.boundaries[0].members.size(), 6u);
    for (const Boundary& boundary : found.boundaries) EXPECT_FALSE(boundary.limited);
  }
}

TEST(Limit, MembersOfAGraphThatGainLeastAreLeftOutAndTold) {
  const Bounded estimator(star(6, 300), 3, true);
  SearchParams params = with(StopRule::calibrated, Symmetry::none);
  params.max_size = 1;
  const Boundaries found = find(estimator, params);
  ASSERT_EQ(found.boundaries[0].members.size(), 1u);
  NoProgress silent;
  const Dag graph(7, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}});
  const Boundary hub = refined(estimator, found, graph, silent).boundaries[0];
  EXPECT_FALSE(estimator.overasked());
  EXPECT_TRUE(hub.limited);
  ASSERT_EQ(hub.members.size(), 3u);
  EXPECT_EQ(hub.members[0].variable, found.boundaries[0].members[0].variable);
  ASSERT_EQ(hub.near_misses.size(), 3u);
  for (const NearMiss& miss : hub.near_misses) EXPECT_EQ(miss.reason, NearMiss::Reason::limit);
  const auto alone = [&](int z) {
    return estimator.mutual_information(InformationQuery{0, {z}, {hub.members[0].variable}}).value;
  };
  EXPECT_GT(alone(hub.members[2].variable), alone(hub.near_misses[0].candidate.variable));
}

// ---- Any table ------------------------------------------------------------------------------------------------------

struct Case {
  Matrix values;
  int largest;
  bool held_out;
  SearchParams params;
  SearchScope scope;
};

Knowledge arbitrary_knowledge(int d) {
  std::vector<Statement> statements;
  for (int j = 1; j < d; ++j) {
    for (int i = 0; i < j; ++i) {
      const int kind = *rc::gen::weightedElement<int>({{6, 0}, {2, 1}, {1, 2}});
      if (kind == 1) statements.push_back({Statement::Kind::in_boundary, i, j});
      if (kind == 2) statements.push_back({Statement::Kind::not_in_boundary, i, j});
    }
  }
  try {
    return said(d, statements);
  } catch (const DataError&) {  // contradictions
    return {};
  }
}

Case arbitrary_case() {
  Case c;
  const int d = *rc::gen::inRange(2, 11);
  const Index rows = *rc::gen::inRange(8, 200);
  const double degree = 0.5 * (d - 1) * *rc::gen::element(0.3, 0.7, 1.0);
  c.values = simulate_linear(d, degree, rows, *rc::gen::inRange<std::uint64_t>(0, 1000)).data.values;
  c.largest = *rc::gen::inRange(0, std::min(d, static_cast<int>(rows) - 3));
  c.held_out = *rc::gen::arbitrary<bool>();
  c.params.stop = *rc::gen::element(StopRule::calibrated, StopRule::paper);
  c.params.rule = *rc::gen::weightedElement<Symmetry>({{3, Symmetry::or_}, {1, Symmetry::and_}, {1, Symmetry::none}});
  c.params.fdr = *rc::gen::element(0.05, 0.5);
  c.params.eps_grow = *rc::gen::element(0.0, 0.005);
  c.params.patience = *rc::gen::element(-1, 0, 2);
  c.params.max_size = *rc::gen::weightedElement<int>({{3, 0}, {1, 1}, {1, 3}});
  c.params.evidence = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) c.scope.knowledge = arbitrary_knowledge(d);
  for (int t = 0; t < d && *rc::gen::weightedElement<int>({{3, 1}, {1, 0}}) == 1; ++t) c.scope.targets.push_back(t);
  return c;
}

std::size_t most_known(const Case& c) {
  std::size_t most = 0;
  const auto d = static_cast<int>(c.values.cols());
  for (int t = 0; t < d && !c.scope.knowledge.empty(); ++t) {
    if (!c.scope.targets.empty() && !contains(c.scope.targets, t)) continue;
    most = std::max(most, c.scope.knowledge.known_boundary(t).size());
  }
  return most;
}

void check_boundaries(const Case& c, const Boundaries& found) {
  std::vector<const Boundary*> of(static_cast<std::size_t>(c.values.cols()), nullptr);
  for (const Boundary& boundary : found.boundaries) of[static_cast<std::size_t>(boundary.target)] = &boundary;
  for (const Boundary& boundary : found.boundaries) {
    const std::vector<int> set = boundary.member_indices();
    RC_ASSERT(static_cast<int>(set.size()) <= c.largest);
    RC_ASSERT(!boundary.limited || c.largest < c.values.cols() - 1);
    for (const NearMiss& miss : boundary.near_misses) {
      RC_ASSERT(!contains(set, miss.candidate.variable));
      RC_ASSERT(boundary.limited || miss.reason != NearMiss::Reason::limit);
    }
    for (const int z : set) {  // the two agree, unless the other had no room
      const Boundary* other = of[static_cast<std::size_t>(z)];
      if (c.params.rule == Symmetry::none || other == nullptr) continue;
      RC_ASSERT(contains(other->member_indices(), boundary.target) || other->limited);
    }
    if (c.scope.knowledge.empty()) continue;
    for (const int z : c.scope.knowledge.known_boundary(boundary.target)) RC_ASSERT(contains(set, z));
  }
}

TEST(LimitProperties, NoSearchAsksForMoreThanTheEstimatorKnows) {
  EXPECT_TRUE(rc::check("whatever the table, the rules and what is known", [] {
    const Case c = arbitrary_case();
    const Bounded estimator(c.values, c.largest, c.held_out);
    NoProgress silent;
    if (most_known(c) > static_cast<std::size_t>(c.largest)) {
      RC_ASSERT_THROWS_AS(find_boundaries(estimator, c.params, c.scope, silent), UsageError);
      RC_ASSERT(!estimator.asked());
      return;
    }
    const Boundaries found = find_boundaries(estimator, c.params, c.scope, silent);
    RC_ASSERT(!estimator.overasked());
    check_boundaries(c, found);

    const int d = estimator.variables();
    ByteMatrix adjacency = ByteMatrix::Zero(d, d);
    for (int j = 1; j < d; ++j) {
      for (int i = 0; i < j; ++i) adjacency(i, j) = *rc::gen::element<unsigned char>(0, 1);
    }
    const Dag graph(adjacency);
    const Boundaries after = refined(estimator, found, graph, silent);
    RC_ASSERT(!estimator.overasked());
    for (const Boundary& boundary : after.boundaries) {
      const std::size_t wanted = graph.markov_boundary(boundary.target).size();
      RC_ASSERT(boundary.members.size() == std::min(wanted, static_cast<std::size_t>(c.largest)));
      RC_ASSERT(boundary.limited == (wanted > boundary.members.size()));
    }
  }));
}

// What all sets have room for is as it was before there was a limit.
TEST(LimitProperties, WithoutALimitNothingChanges) {
  EXPECT_TRUE(rc::check("the same boundaries as the plain estimator's", [] {
    Case c = arbitrary_case();
    const GaussianEstimator plain(covariance(c.values));
    RC_PRE(most_known(c) <= static_cast<std::size_t>(plain.largest_set()));
    const Bounded estimator(c.values, plain.largest_set(), false);
    NoProgress silent;
    const Boundaries a = find_boundaries(estimator, c.params, c.scope, silent);
    const Boundaries b = find_boundaries(plain, c.params, c.scope, silent);
    RC_ASSERT(!estimator.overasked());
    RC_ASSERT(a.moral_edges == b.moral_edges);
    RC_ASSERT(a.steps == b.steps);
    for (std::size_t t = 0; t < a.boundaries.size(); ++t) {
      RC_ASSERT(a.boundaries[t].member_indices() == b.boundaries[t].member_indices());
    }
  }));
}

// ---- Networks -------------------------------------------------------------------------------------------------------

Dataset table_of(const Matrix& values) {
  Dataset data;
  for (Index j = 0; j < values.cols(); ++j) data.names.push_back("x" + std::to_string(j));
  data.values = values;
  return data;
}

TEST(LimitOfNetworks, EveryRuleAnswersWhereNetworksKnowSmallSetsOnly) {
  const Dataset data = table_of(star(5, 300));
  flow::EnsembleParams params;
  params.folds = 2;
  params.repeats = 1;
  params.shape.variables = 6;
  params.shape.ranks = 3;
  params.train.max_size = 2;
  params.train.steps = 20;
  params.train.base = flow::BaseKind::gaussian;  // so that so few are enough
  NoProgress silent;
  const FlowEstimator estimator(data, flow::train_ensemble(data, params, silent));
  ASSERT_EQ(estimator.largest_set(), 2);
  const Dag graph(6, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}});
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    for (const Symmetry rule : {Symmetry::or_, Symmetry::and_, Symmetry::none}) {
      const Boundaries found = find(estimator, with(stop, rule));
      EXPECT_LE(found.boundaries[0].members.size(), 2u);
      EXPECT_TRUE(rule != Symmetry::or_ || found.boundaries[0].limited);
      EXPECT_TRUE(rule != Symmetry::or_ || found.moral_edges.size() > 2);
      const Boundary hub = refined(estimator, found, graph, silent).boundaries[0];
      EXPECT_EQ(hub.members.size(), 2u);
      EXPECT_TRUE(hub.limited);
      EXPECT_EQ(estimator.calibration(std::vector<EntropyQuery>{{0, hub.member_indices()}}, {}, silent).targets.size(),
                1u);
    }
  }
}

TEST(LimitOfNetworks, TwoColumnsCanBeInEachOthersBoundary) {
  const Dataset data = table_of(star(1, 300));
  flow::EnsembleParams params;
  params.folds = 2;
  params.repeats = 1;
  params.train.steps = 20;
  params.train.base = flow::BaseKind::gaussian;
  NoProgress silent;
  const FlowEstimator estimator(data, flow::train_ensemble(data, params, silent));
  const Boundaries found = find(estimator, {});
  EXPECT_THAT(found.boundaries[0].member_indices(), ElementsAre(1));
  EXPECT_THAT(found.boundaries[1].member_indices(), ElementsAre(0));
  EXPECT_FALSE(found.boundaries[0].limited);
}

// From 100 variables on networks are compact and know sets of 59.
BoundariesParams few_steps() {
  BoundariesParams params;
  params.fansite().estimator = "flow";
  params.fansite().refine = Refine::none;
  params.fansite().folds = 2;
  params.fansite().repeats = 1;
  params.fansite().steps = 2;
  params.fansite().search.max_size = 1;
  return params;
}

TEST(LimitOfNetworks, ATableWithAHubOfNinetyNineIsAnsweredAndSaysWhatIsMissing) {
  const BoundariesResult result = markov_boundaries(table_of(star(99, 120)), few_steps());
  EXPECT_EQ(result.found.largest_set, 59);
  EXPECT_EQ(result.found.boundaries[0].members.size(), 59u);
  EXPECT_THAT(result.warnings, testing::Contains(AllOf(HasSubstr("1 boundary may lack members ('x0')"),
                                                       HasSubstr("these networks allow 59 at most"))));
}

// A first look ends where the effort says, and says so; what users ask for is no one's surprise.
TEST(LimitOfEffort, AQuickSearchEndsAtTwentyMembersAndSaysSo) {
  const Dataset data = table_of(star(24, 300));
  BoundariesParams params = few_steps();
  params.fansite().effort = Effort::quick;
  params.fansite().search.patience = 30;
  params.fansite().search.max_size = 0;
  params.targets = {"x0"};
  const auto said =
      testing::Contains(AllOf(HasSubstr("the search for members of 'x0' ended at 20, the most at effort quick"),
                              HasSubstr("--max-size looks further")));
  const BoundariesResult quick = markov_boundaries(data, params);
  EXPECT_EQ(quick.found.boundaries[0].path.size(), 20u);
  EXPECT_THAT(quick.warnings, said);
  params.fansite().search.max_size = 22;
  const BoundariesResult asked = markov_boundaries(data, params);
  EXPECT_EQ(asked.found.boundaries[0].path.size(), 22u);
  EXPECT_THAT(asked.warnings, testing::Not(said));
  params.fansite().effort = Effort::normal;
  params.fansite().search.max_size = 0;
  EXPECT_GT(markov_boundaries(data, params).found.boundaries[0].path.size(), 20u);
}

TEST(LimitOfNetworks, TooMuchKnowledgeIsRefusedBeforeTraining) {
  const Dataset data = table_of(star(99, 120));
  std::vector<Statement> statements;
  for (int z = 1; z <= 60; ++z) statements.push_back({Statement::Kind::in_boundary, 0, z});
  BoundariesParams params = few_steps();
  params.fansite().steps = 1'000'000'000;  // would take days
  NoProgress silent;
  EXPECT_THAT(
      message_of<UsageError>([&] { markov_boundaries(data, said(100, statements), params, silent); }),
      HasSubstr("60 variables are known to be in the boundary of 'x0', but networks for 100 variables allow 59"));
}

TEST(LimitOfRows, IsToldToo) {
  Random random(Key{3});
  Matrix values(10, 20);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal();
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  params.fansite().search.stop = StopRule::paper;
  const BoundariesResult result = markov_boundaries(table_of(values), params);
  for (const Boundary& boundary : result.found.boundaries) EXPECT_LE(boundary.members.size(), 7u);
  EXPECT_THAT(result.warnings, testing::Contains(HasSubstr("10 rows allow 7 at most in one boundary")));
}

}  // namespace
}  // namespace fansite
