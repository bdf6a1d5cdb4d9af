// SPDX-License-Identifier: Apache-2.0
//
// What the search asks of flows: frontiers against brute force over every candidate, pairs against tables whose answer
// is known.
#include "fansite/entropy/flow/detail/frontier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/special.h"
#include "fansite/entropy/gaussian.h"
#include "properties.h"
#include "tests/support.h"

namespace fansite::flow {
namespace {

using testing::HasSubstr;

const NoProgress kSilent;  // frontiers keep a reference

FlowEstimator trained_on(const Dataset& data, std::int64_t steps, int repeats = 1) {
  EnsembleParams params;
  params.linear = false;  // networks alone
  params.folds = 2;
  params.repeats = repeats;
  params.train.steps = params.train.evaluate_every = steps;
  params.train.held_out = 0;
  NoProgress silent;
  return FlowEstimator(data, train_ensemble(learnable(data), params, silent));
}

Dataset curved_table(Index rows, int columns, std::uint64_t seed) {
  SimulateParams params;
  params.nodes = columns;
  params.degree = 2;
  params.sem = Sem::gp;
  params.rows = rows;
  params.seed = seed;
  return simulate(params).data;
}

std::vector<char> all_candidates(int d) { return std::vector<char>(static_cast<std::size_t>(d), 1); }

Candidate best_of(Frontier& frontier) {
  const int slot = 0;
  Candidate best;
  frontier.find_best(std::span(&slot, 1), std::span(&best, 1));
  return best;
}

std::vector<int> plus(std::vector<int> set, int z) {
  set.push_back(z);
  return set;
}

// log p(T|S) of every row by all networks.
Eigen::ArrayXd log_density(const FlowEstimator& flow, int target, const std::vector<int>& given) {
  const EntropyQuery query{target, given};
  return flow.log_conditional(std::span(&query, 1), NetworkSet::all).col(0).cast<double>().array();
}

// What `after` tells more about the target than `before`.
Candidate difference(const FlowEstimator& flow, int target, const std::vector<int>& before,
                     const std::vector<int>& after) {
  const Eigen::ArrayXd gain = log_density(flow, target, after) - log_density(flow, target, before);
  const auto n = static_cast<double>(gain.size());
  return {-1, gain.mean(), std::sqrt((gain - gain.mean()).square().sum() / (n - 1) / n)};
}

// Every candidate tried at all rows.
Candidate best_by_brute_force(const FlowEstimator& flow, int target, const std::vector<int>& set,
                              const std::vector<char>& candidates) {
  Candidate best;
  for (int z = 0; z < flow.variables(); ++z) {
    if (z == target || candidates[static_cast<std::size_t>(z)] == 0) continue;
    if (std::find(set.begin(), set.end(), z) != set.end()) continue;
    Candidate candidate = difference(flow, target, set, plus(set, z));
    candidate.variable = z;
    if (best.variable < 0 || candidate.gain > best.gain) best = candidate;
  }
  return best;
}

// ---- Frontier -------------------------------------------------------------------------------------------------------

TEST(FlowFrontier, FindsTheBestOfAllCandidates) {
  const FlowEstimator flow = trained_on(curved_table(150, 7, 1), 100);
  EXPECT_TRUE(rc::check("any targets, candidates and sets", [&] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    std::vector<int> targets = random.permutation(7);
    targets.resize(2);
    std::vector<char> candidates(7);
    for (char& c : candidates) c = random.uniform() < 0.8 ? 1 : 0;
    const auto frontier = flow.open(targets, candidates, kSilent);
    for (int slot = 0; slot < 2; ++slot) {
      // At most 3 members, any of them: a search may start from a set.
      for (const int z : random.subset(7, static_cast<int>(random.below(4)))) {
        if (z != targets[static_cast<std::size_t>(slot)]) frontier->add(slot, z);
      }
    }
    const std::vector<int> slots = {1, 0};  // answers lie in the order of the questions
    std::vector<Candidate> best(2, Candidate{5, 1, 1});
    frontier->find_best(slots, best);
    for (std::size_t s = 0; s < 2; ++s) {
      const int slot = slots[s];
      const Candidate expected =
          best_by_brute_force(flow, targets[static_cast<std::size_t>(slot)], frontier->members(slot), candidates);
      RC_ASSERT(best[s].variable == expected.variable);
      RC_ASSERT(std::abs(best[s].gain - expected.gain) < 1e-9);
      RC_ASSERT(std::abs(best[s].standard_error - expected.standard_error) < 1e-9);
    }
  }));
}

// 20 candidates, so that only 8 get a second look, and only those that are near its best a third.
TEST(FlowFrontier, LooksFindTheBestOfManyRows) {
  const int d = 21;
  Random random(Key{2});
  Dataset data;
  data.values.resize(1600, d);
  for (double& x : data.values.reshaped()) x = random.normal();
  data.values.col(0) += 1.5 * data.values.col(7) + data.values.col(13) - 0.7 * data.values.col(20);
  data.names = default_names(d);
  const FlowEstimator flow = trained_on(data, 20);
  const int target = 0;
  const auto frontier = flow.open(std::span(&target, 1), all_candidates(d), kSilent);
  std::int64_t asked = 0, by_brute_force = 0;
  for (const int expected : {7, 13, 20}) {
    const std::int64_t before = flow.evaluations();
    const Candidate best = best_of(*frontier);
    const std::int64_t between = flow.evaluations();
    const Candidate exact = best_by_brute_force(flow, target, frontier->members(0), all_candidates(d));
    if (expected == 7) {
      // S and S ∪ T each: every candidate, and S as it was, at 1000 rows by both networks; 8 of them at all rows, each
      // by the one that has not seen it; and the one that is clearly ahead at all rows by both.
      EXPECT_EQ(between - before, 2 * 2 * (20 + 1) * 1000 + 2 * (8 + 1) * 1600 + 2 * 2 * (1 + 1) * 1600);
    }
    asked += between - before;
    by_brute_force += flow.evaluations() - between;
    EXPECT_EQ(best.variable, expected);
    EXPECT_EQ(best.variable, exact.variable);
    EXPECT_NEAR(best.gain, exact.gain, 1e-9);  // over all rows, not the sample
    EXPECT_NEAR(best.standard_error, exact.standard_error, 1e-9);
    frontier->add(0, best.variable);
  }
  EXPECT_LT(asked, by_brute_force);
}

// The first look takes every second row, where x1 matters most; over all rows x2 is worth more. 23 candidates,
// so that there is a first look.
TEST(FlowFrontier, LaterLooksCorrectTheFirst) {
  constexpr int kColumns = 24;
  Random random(Key{3});
  Dataset data;
  data.names = default_names(kColumns);
  data.values.resize(2000, kColumns);
  for (double& x : data.values.reshaped()) x = random.normal();
  for (Index i = 0; i < 2000; ++i) {
    const double x1 = data.values(i, 1), x2 = data.values(i, 2);
    data.values(i, 0) = 0.5 * data.values(i, 0) + (i % 2 == 0 ? 1.2 * x1 + 0.8 * x2 : 1.6 * x2);
  }
  const FlowEstimator flow = trained_on(data, 200);
  const std::vector<EntropyQuery> queries = {{0, {1}}, {0, {2}}};
  const Eigen::MatrixXf sample = flow.log_conditional(queries, NetworkSet::sample);
  ASSERT_EQ(sample.rows(), 1000);
  ASSERT_GT(sample.col(0).mean(), sample.col(1).mean());
  const int target = 0;
  const std::int64_t before = flow.evaluations();
  EXPECT_EQ(best_of(*flow.open(std::span(&target, 1), all_candidates(kColumns), kSilent)).variable, 2);
  EXPECT_LT(flow.evaluations() - before, 2 * 2 * kColumns * 2000);  // not all of all
}

// Ten networks: three look at all candidates, if there are rows enough that they do not know by heart.
TEST(FlowFrontier, ManyNetworksAreSparedWhereThereAreEnoughRows) {
  const int target = 0, d = 14;
  for (const Index rows : {Index{480}, Index{520}}) {
    const FlowEstimator flow = trained_on(curved_table(rows, d, 9), 20, 5);
    ASSERT_EQ(flow.networks(), 10u);
    const auto frontier = flow.open(std::span(&target, 1), all_candidates(d), kSilent);
    const std::int64_t before = flow.evaluations();
    const Candidate best = best_of(*frontier);
    const std::int64_t asked = flow.evaluations() - before, all = 2 * std::int64_t{10} * d * rows;
    if (rows < 500) {
      EXPECT_EQ(asked, all);  // S and S ∪ T of 13 candidates and of S as it was
      EXPECT_EQ(best.variable, best_by_brute_force(flow, target, {}, all_candidates(d)).variable);
    } else {
      EXPECT_LT(asked, all);
    }
    EXPECT_NEAR(best.gain, difference(flow, target, {}, {best.variable}).gain, 1e-9);
  }
}

TEST(FlowFrontier, GainsAddUpAndLossesAreOfTheWholeSet) {
  const FlowEstimator flow = trained_on(curved_table(200, 6, 4), 100, 2);
  const std::vector<int> targets = {3, 0};
  const auto frontier = flow.open(targets, all_candidates(6), kSilent);
  EXPECT_TRUE(frontier->gains(1).empty());
  EXPECT_TRUE(frontier->losses(1).empty());
  for (const int z : {5, 1, 4}) frontier->add(1, z);
  EXPECT_TRUE(frontier->members(0).empty());  // slots are apart
  EXPECT_EQ(frontier->members(1), (std::vector<int>{5, 1, 4}));

  const std::vector<Candidate> gains = frontier->gains(1);
  ASSERT_EQ(gains.size(), 3u);
  double sum = 0;
  std::vector<int> before;
  for (const Candidate& gain : gains) {
    EXPECT_EQ(gain.variable, frontier->members(1)[before.size()]);
    const Candidate expected = difference(flow, 0, before, plus(before, gain.variable));
    EXPECT_NEAR(gain.gain, expected.gain, 1e-9);
    EXPECT_NEAR(gain.standard_error, expected.standard_error, 1e-9);
    before.push_back(gain.variable);
    sum += gain.gain;
  }
  EXPECT_NEAR(sum, log_density(flow, 0, before).mean() - log_density(flow, 0, {}).mean(), 1e-9);

  const std::vector<Candidate> losses = frontier->losses(1);
  ASSERT_EQ(losses.size(), 3u);
  const std::vector<std::vector<int>> rests = {{1, 4}, {5, 4}, {5, 1}};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(losses[k].variable, before[k]);
    const Candidate expected = difference(flow, 0, rests[k], before);
    EXPECT_NEAR(losses[k].gain, expected.gain, 1e-9);
    EXPECT_NEAR(losses[k].standard_error, expected.standard_error, 1e-9);
  }
  EXPECT_EQ(losses.back().gain, gains.back().gain);  // the same question
}

TEST(FlowFrontier, SetsGrowAndShrink) {
  const FlowEstimator flow = trained_on(curved_table(100, 6, 5), 50);
  const std::vector<int> targets = {2};
  const auto frontier = flow.open(targets, all_candidates(6), kSilent);
  for (const int z : {0, 4, 1, 5}) frontier->add(0, z);
  frontier->remove(0, 4);
  EXPECT_EQ(frontier->members(0), (std::vector<int>{0, 1, 5}));
  EXPECT_THAT(best_of(*frontier).variable, testing::AnyOf(3, 4));  // what was removed may come back
  frontier->drop_last(0, 2);
  EXPECT_EQ(frontier->members(0), (std::vector<int>{0}));
  const Candidate best = best_of(*frontier);
  EXPECT_EQ(best.variable, best_by_brute_force(flow, 2, {0}, all_candidates(6)).variable);
  frontier->add(0, best.variable);
  EXPECT_NEAR(frontier->gains(0).back().gain, best.gain, 1e-9);
  frontier->drop_last(0, 0);
  EXPECT_EQ(frontier->members(0).size(), 2u);
}

TEST(FlowFrontier, OnlyCandidatesAppearUntilThereAreNone) {
  const FlowEstimator flow = trained_on(curved_table(100, 6, 6), 50);
  const std::vector<int> targets = {1, 4};
  const std::vector<char> candidates = {1, 1, 0, 1, 0, 0};  // 1 is no candidate for itself
  const auto frontier = flow.open(targets, candidates, kSilent);
  const std::vector<int> slots = {0, 1};
  std::vector<Candidate> best(2);
  for (int step = 0; step < 3; ++step) {
    frontier->find_best(slots, best);
    for (int slot = 0; slot < 2; ++slot) {
      const Candidate& found = best[static_cast<std::size_t>(slot)];
      if (found.variable >= 0) frontier->add(slot, found.variable);
    }
  }
  EXPECT_THAT(frontier->members(0), testing::UnorderedElementsAre(0, 3));
  EXPECT_THAT(frontier->members(1), testing::UnorderedElementsAre(0, 1, 3));
  frontier->find_best(slots, best);
  for (const Candidate& none : best) {
    EXPECT_EQ(none.variable, -1);
    EXPECT_EQ(none.gain, 0);
  }
  frontier->find_best({}, {});  // nothing asked, nothing answered
}

TEST(FlowFrontier, CanBeInterrupted) {
  const FlowEstimator flow = trained_on(curved_table(50, 5, 7), 20);
  const Impatient impatient;
  const int target = 0;
  const auto frontier = flow.open(std::span(&target, 1), all_candidates(5), impatient);
  EXPECT_THROW(best_of(*frontier), Interrupted);
  frontier->add(0, 2);
  EXPECT_THROW(frontier->gains(0), Interrupted);
  EXPECT_THROW(frontier->losses(0), Interrupted);
}

TEST(FlowFrontier, RefusesTheWrongNumberOfCandidates) {
  const FlowEstimator flow = trained_on(curved_table(50, 5, 7), 20);
  const int target = 0;
  EXPECT_THAT(message_of<UsageError>([&] { flow.open(std::span(&target, 1), all_candidates(6), kSilent); }),
              HasSubstr("6 candidate flags for 5 variables"));
}

// ---- Pairs ----------------------------------------------------------------------------------------------------------

// b is a curve of a, and both have a cause of their own; x4 is noise.
Dataset pair_table(Index rows, std::uint64_t seed) {
  Random random(Key{seed});
  Dataset data;
  data.names = {"a", "b", "cause_of_a", "cause_of_b", "noise"};
  data.values.resize(rows, 5);
  for (Index i = 0; i < rows; ++i) {
    const double x = random.normal(), y = random.normal(), a = x + random.normal();
    data.values.row(i) << a, a * a + y + 0.5 * random.normal(), x, y, random.normal();
  }
  return data;
}

TEST(FlowPairs, DependentOnesHaveEvidenceAndOthersHaveNot) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const FlowEstimator flow = trained_on(pair_table(400, seed), 800, 2);
    const PairEvidence edge = flow.pair_evidence({0, 1, {2, 3}, {3}, true});
    EXPECT_LT(edge.p_value, 1e-6) << "seed " << seed;
    EXPECT_EQ(edge.votes, 1) << "seed " << seed;
    const PairEvidence none = flow.pair_evidence({1, 4, {0, 3}, {}, true});
    EXPECT_GT(none.p_value, 0.005) << "seed " << seed;
    EXPECT_GE(none.votes, 0);
    EXPECT_LE(none.votes, 1);
    // The cause of a tells nothing about b once a is known.
    EXPECT_GT(flow.pair_evidence({1, 2, {0, 3}, {0}, true}).p_value, 0.005) << "seed " << seed;
  }
}

TEST(FlowPairs, EvidenceIsTheSumOfScaledScores) {
  const FlowEstimator flow = trained_on(pair_table(250, 3), 300, 2);
  const auto p_value_of = [](const PairEvidence& evidence) {
    const Eigen::ArrayXd s = evidence.scores.cast<double>();
    return normal_tail(s.sum() / std::sqrt(s.square().sum()) / evidence.inflation);
  };
  const auto spread_of = [](const Eigen::ArrayXf& s) { return std::sqrt((s - s.mean()).square().mean()); };
  for (const PairQuery& query : {PairQuery{0, 1, {2, 3}, {3}, true}, PairQuery{0, 4, {2}, {}, true}}) {
    const PairEvidence both = flow.pair_evidence(query);
    ASSERT_EQ(both.scores.size(), 250);
    EXPECT_DOUBLE_EQ(both.inflation, std::sqrt(2.0));
    EXPECT_NEAR(both.p_value, p_value_of(both), 1e-12);
    // Each side by itself, with scores of variance 1; their sum is both.
    const PairEvidence from_a = flow.pair_evidence({query.a, query.b, query.given_a, {}, false});
    const PairEvidence from_b = flow.pair_evidence({query.b, query.a, query.given_b, {}, false});
    EXPECT_NEAR(from_a.p_value, p_value_of(from_a), 1e-12);
    EXPECT_NEAR(spread_of(from_a.scores), 1.0f, 1e-3f);
    EXPECT_NEAR(spread_of(from_b.scores), 1.0f, 1e-3f);
    EXPECT_LT((from_a.scores + from_b.scores - both.scores).abs().maxCoeff(), 1e-5f);
    EXPECT_GT((from_a.scores - from_b.scores).abs().maxCoeff(), 1e-2f);  // they are different tests
    // The other side's set does not matter when it was not searched.
    EXPECT_EQ(flow.pair_evidence({query.a, query.b, query.given_a, {3}, false}).p_value, from_a.p_value);
  }
}

TEST(FlowPairs, EvidenceIsTheSameFromEitherSide) {
  const FlowEstimator flow = trained_on(pair_table(200, 4), 200, 2);
  const PairEvidence ab = flow.pair_evidence({0, 1, {2, 3}, {3, 4}, true});
  const PairEvidence ba = flow.pair_evidence({1, 0, {3, 4}, {2, 3}, true});
  EXPECT_EQ(ab.p_value, ba.p_value);
  EXPECT_EQ(ab.votes, ba.votes);
  EXPECT_TRUE((ab.scores == ba.scores).all());
}

// A model in which nothing depends on anything gives scores of rounding errors, which must not be blown up.
TEST(FlowPairs, RoundingIsNoEvidence) {
  const Dataset data = pair_table(200, 5);
  EnsembleParams params;
  params.linear = false;
  params.folds = 2;
  params.repeats = 1;
  params.train.steps = 1;
  NoProgress silent;
  Ensemble ensemble = train_ensemble(data, params, silent);
  for (Network& network : ensemble.networks) {
    Parameters parameters = unpack(network.trained.weights);
    parameters.w2.setZero();
    network.trained.weights = pack(parameters);
    network.trained.base = GaussianBase(Vector::Zero(5), Matrix::Identity(5, 5));
  }
  const PairEvidence evidence = FlowEstimator(data, ensemble).pair_evidence({0, 1, {2}, {3}, true});
  EXPECT_EQ(evidence.p_value, 1);
  EXPECT_EQ(evidence.votes, 0);
  EXPECT_TRUE((evidence.scores == 0).all());
}

// ---- Estimator ------------------------------------------------------------------------------------------------------

TEST(FlowSearch, ColumnsAreTheTablesOwn) {
  const Dataset data = pair_table(150, 6);
  Dataset wider = data;  // a constant in front: the ensemble's columns are one fewer
  wider.names.insert(wider.names.begin(), "constant");
  wider.values.resize(150, 6);
  wider.values << Vector::Constant(150, 3), data.values;
  const FlowEstimator flow = trained_on(data, 100), shifted = trained_on(wider, 100);
  EXPECT_EQ(shifted.variables(), 6);
  EXPECT_FALSE(shifted.informative(0));
  for (int j = 1; j < 6; ++j) EXPECT_TRUE(shifted.informative(j));
  for (const NetworkSet networks :
       {NetworkSet::unseen, NetworkSet::all, NetworkSet::sample, NetworkSet::unseen_sample}) {
    EXPECT_TRUE(flow.log_conditional(std::vector<EntropyQuery>{{1, {4, 0}}}, networks) ==
                shifted.log_conditional(std::vector<EntropyQuery>{{2, {5, 1}}}, networks));
  }
  EXPECT_EQ(flow.pair_evidence({0, 1, {2}, {3}, true}).p_value, shifted.pair_evidence({1, 2, {3}, {4}, true}).p_value);
  const int target = 1, shifted_target = 2;
  std::vector<char> candidates = all_candidates(6);
  candidates[0] = 0;
  const Candidate best = best_of(*flow.open(std::span(&target, 1), all_candidates(5), kSilent));
  const Candidate found = best_of(*shifted.open(std::span(&shifted_target, 1), candidates, kSilent));
  EXPECT_EQ(found.variable, best.variable + 1);
  EXPECT_EQ(found.gain, best.gain);
}

TEST(FlowSearch, EntropiesAreOfRowsNotSeenAndGainsHaveNoKnownDistribution) {
  const Dataset data = pair_table(120, 7);
  const FlowEstimator flow = trained_on(data, 50);
  EXPECT_TRUE(flow.held_out());
  EXPECT_TRUE(std::isnan(flow.p_value(0.1, 2)));
  EXPECT_FALSE(GaussianEstimator(covariance(data.values)).held_out());
  EXPECT_EQ(flow.frontier_size(), 5);
  EXPECT_EQ(flow.largest_set(), 4);  // all the others
  // The informations of the estimator are by the members that have not seen a row.
  const std::vector<EntropyQuery> queries = {{1, {3}}, {1, {3, 0}}};
  const Eigen::MatrixXd unseen = flow.log_conditional(queries, NetworkSet::unseen).cast<double>();
  EXPECT_NEAR(flow.mutual_information(InformationQuery{1, {0}, {3}}).value, (unseen.col(1) - unseen.col(0)).mean(),
              1e-9);
}

TEST(FlowSearch, CountsEvaluations) {
  const FlowEstimator flow = trained_on(pair_table(120, 8), 20, 2);  // 4 networks, 2 of which have not seen a row
  EXPECT_EQ(flow.evaluations(), 0);
  const std::vector<EntropyQuery> queries = {{1, {3}}, {1, {3, 0}}, {0, {}}};
  flow.log_conditional(queries, NetworkSet::all);
  EXPECT_EQ(flow.evaluations(), 2 * 3 * 120 * 4);
  flow.conditional_entropy(queries);
  EXPECT_EQ(flow.evaluations(), 2 * 3 * 120 * (4 + 2));
  flow.pair_evidence({0, 1, {2}, {3}, false});
  EXPECT_GT(flow.evaluations(), 2 * 3 * 120 * (4 + 2) + 81 * 120 * 2);  // every pair of nodes, and more
}

}  // namespace
}  // namespace fansite::flow
