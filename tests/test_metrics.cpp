// SPDX-License-Identifier: Apache-2.0
#include "fansite/graph/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/random.h"
#include "fansite/simulate/simulate.h"
#include "properties.h"

namespace fansite {
namespace {

// ---- Boundaries -----------------------------------------------------------------------------------------------------

TEST(ScoreBoundary, OracleOfTheSpecification) {
  const BoundaryScore score = score_boundary({0, 9, 1}, {0, 1, 2});
  EXPECT_NEAR(score.ndcg, 0.703918, 5e-7);
  EXPECT_NEAR(score.average_precision, 0.555556, 5e-7);
  EXPECT_NEAR(score.f1, 2.0 / 3, 1e-15);
  EXPECT_NEAR(score.precision, 2.0 / 3, 1e-15);
  EXPECT_NEAR(score.recall, 2.0 / 3, 1e-15);
}

TEST(ScoreBoundary, PerfectAndEmpty) {
  const BoundaryScore perfect = score_boundary({2, 0, 1}, {0, 1, 2});
  for (const double value : {perfect.ndcg, perfect.average_precision, perfect.f1, perfect.precision, perfect.recall}) {
    EXPECT_DOUBLE_EQ(value, 1.0);
  }
  const BoundaryScore nothing = score_boundary({}, {0, 1, 2});
  for (const double value : {nothing.ndcg, nothing.average_precision, nothing.f1, nothing.precision, nothing.recall}) {
    EXPECT_EQ(value, 0.0);
  }
}

TEST(ScoreBoundary, PlacesPastTheTrueSizeDoNotRank) {
  const BoundaryScore late = score_boundary({7, 8, 0, 1}, {0, 1});  // both hits come after the first two places
  EXPECT_EQ(late.ndcg, 0.0);
  EXPECT_EQ(late.average_precision, 0.0);
  EXPECT_NEAR(late.f1, 2.0 * 2 / 6, 1e-15);
}

TEST(ScoreBoundary, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(score_boundary({1}, {}), UsageError);
  EXPECT_THROW(score_boundary({1, 1}, {1, 2}), UsageError);
}

TEST(ScoreBoundary, Properties) {
  EXPECT_TRUE(rc::check("scores lie in [0, 1], and moving a hit forward never lowers a ranking score", [] {
    const int variables = *rc::gen::inRange(2, 30);
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const auto size = [&] { return 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(variables) - 1)); };
    const std::vector<int> truth = random.subset(variables, size());
    std::vector<int> predicted = random.permutation(variables);
    predicted.resize(static_cast<std::size_t>(size()));
    const BoundaryScore score = score_boundary(predicted, truth);
    for (const double value : {score.ndcg, score.average_precision, score.f1, score.precision, score.recall}) {
      RC_ASSERT(0.0 <= value);
      RC_ASSERT(value <= 1.0 + 1e-12);
    }
    std::stable_partition(predicted.begin(), predicted.end(),
                          [&](int member) { return std::binary_search(truth.begin(), truth.end(), member); });
    const BoundaryScore best = score_boundary(predicted, truth);
    RC_ASSERT(best.ndcg >= score.ndcg - 1e-12);
    RC_ASSERT(best.average_precision >= score.average_precision - 1e-12);
    RC_ASSERT(best.f1 == score.f1);
  }));
}

TEST(ScoreBoundaries, SkipsEmptyTruthsInTheMeanOnly) {
  const BoundariesScore score = score_boundaries({{0, 9, 1}, {5, 6}, {}}, {{0, 1, 2}, {}, {4}});
  EXPECT_EQ(score.targets, 2);
  EXPECT_NEAR(score.mean.ndcg, 0.703918 / 2, 5e-7);
  EXPECT_NEAR(score.mean.f1, 1.0 / 3, 1e-15);
  EXPECT_NEAR(score.false_discovery_rate, 3.0 / 5, 1e-15);  // 9, 5 and 6 of five members
}

TEST(ScoreBoundaries, NothingToScore) {
  const BoundariesScore score = score_boundaries({{}, {}}, {{}, {}});
  EXPECT_EQ(score.targets, 0);
  EXPECT_EQ(score.mean.f1, 0.0);
  EXPECT_EQ(score.false_discovery_rate, 0.0);
  EXPECT_THROW(score_boundaries({{}}, {{}, {}}), UsageError);
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------

// 17 true edges among 11 nodes; the estimate has 8 of them, one reversed and one between unlinked nodes.
struct SachsLike {
  ByteMatrix truth = ByteMatrix::Zero(11, 11), estimate = ByteMatrix::Zero(11, 11);
  SachsLike() {
    int placed = 0;
    for (int i = 0; i < 11 && placed < 17; ++i) {
      for (int j = i + 1; j < 11 && placed < 17; ++j, ++placed) {
        truth(i, j) = 1;
        if (placed < 8) estimate(i, j) = 1;
        if (placed == 8) estimate(j, i) = 1;
      }
    }
    estimate(9, 10) = 1;
  }
};

TEST(ScoreGraph, OracleOfTheSpecification) {
  const SachsLike sachs;
  const GraphScore score = score_graph(sachs.estimate, sachs.truth);
  EXPECT_EQ(score.true_positives, 8);
  EXPECT_EQ(score.false_positives, 2);
  EXPECT_EQ(score.reversed, 1);
  EXPECT_EQ(score.undecided, 0);
  EXPECT_DOUBLE_EQ(score.skeleton_f1, 2.0 * 9 / (10 + 17));
  EXPECT_DOUBLE_EQ(score.direction_accuracy, 8.0 / 9);
  EXPECT_EQ(score.extra, 1);
  EXPECT_EQ(score.missing, 8);
  EXPECT_EQ(score.shd, 10);
  EXPECT_NEAR(score.auc_roc, 0.725679, 5e-7);
  EXPECT_NEAR(score.auc_pr, 0.450851, 5e-7);
}

TEST(GraphScore, TellsLinksAndDirectionsApart) {
  ByteMatrix truth = ByteMatrix::Zero(4, 4), estimate = ByteMatrix::Zero(4, 4);
  truth(0, 1) = truth(1, 2) = truth(2, 3) = 1;
  estimate(0, 1) = estimate(1, 0) = 1;  // open
  estimate(2, 1) = 1;                   // the wrong way
  estimate(0, 3) = 1;                   // no link
  const GraphScore score = score_graph(estimate, truth);
  EXPECT_EQ(score.undecided, 1);
  EXPECT_DOUBLE_EQ(score.skeleton_f1, 2.0 * 2 / (3 + 3));
  EXPECT_EQ(score.direction_accuracy, 0);
  const ByteMatrix none = ByteMatrix::Zero(4, 4);
  EXPECT_EQ(score_graph(none, none).skeleton_f1, 1);
  EXPECT_TRUE(std::isnan(score_graph(none, truth).direction_accuracy));
}

TEST(ScoreGraph, EmptyAndPerfectEstimates) {
  const SachsLike sachs;
  const GraphScore empty = score_graph(ByteMatrix::Zero(11, 11), sachs.truth);
  EXPECT_EQ(empty.shd, 17);
  EXPECT_DOUBLE_EQ(empty.auc_roc, 0.5);
  EXPECT_DOUBLE_EQ(empty.auc_pr, 17.0 / 121);
  const GraphScore perfect = score_graph(sachs.truth, sachs.truth);
  EXPECT_EQ(perfect.shd, 0);
  EXPECT_DOUBLE_EQ(perfect.auc_roc, 1.0);
  EXPECT_DOUBLE_EQ(perfect.auc_pr, 1.0);
}

TEST(ScoreGraph, BothDirectionsOfATrueEdgeCostOne) {
  ByteMatrix truth = ByteMatrix::Zero(2, 2), estimate = ByteMatrix::Zero(2, 2);
  truth(0, 1) = estimate(0, 1) = estimate(1, 0) = 1;
  EXPECT_EQ(score_graph(estimate, truth).shd, 1);
}

TEST(ScoreGraph, UndefinedAreasAreNotNumbers) {
  const GraphScore score = score_graph(ByteMatrix::Zero(3, 3), ByteMatrix::Zero(3, 3));
  EXPECT_EQ(score.shd, 0);
  EXPECT_TRUE(std::isnan(score.auc_roc));
  EXPECT_TRUE(std::isnan(score.auc_pr));
  const CurveAreas areas = curve_areas(Matrix::Zero(3, 3), ByteMatrix::Zero(3, 3));
  EXPECT_TRUE(std::isnan(areas.auc_roc));
  EXPECT_TRUE(std::isnan(areas.auc_pr));
}

TEST(ScoreGraph, RefusesDifferentSizes) {
  EXPECT_THROW(score_graph(ByteMatrix::Zero(3, 3), ByteMatrix::Zero(4, 4)), UsageError);
  EXPECT_THROW(curve_areas(Matrix::Zero(3, 3), ByteMatrix::Zero(4, 4)), UsageError);
}

Dag any_dag(int nodes) {
  const double largest = 0.5 * (nodes - 1);
  const double degree = largest * *rc::gen::inRange(0, 11) / 10;
  return random_dag(GraphModel::er, nodes, degree, Key{*rc::gen::arbitrary<std::uint64_t>()});
}

TEST(ScoreGraph, ShdOfDagsCountsDifferingEntries) {
  EXPECT_TRUE(rc::check("SHD = differing entries − pairs that differ both ways", [] {
    const int nodes = *rc::gen::inRange(1, 15);
    const ByteMatrix a = any_dag(nodes).adjacency(), b = any_dag(nodes).adjacency();
    int entries = 0, pairs = 0;
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < nodes; ++j) {
        entries += a(i, j) != b(i, j);
        pairs += i < j && a(i, j) != b(i, j) && a(j, i) != b(j, i);
      }
    }
    RC_ASSERT(score_graph(a, b).shd == entries - pairs);
    RC_ASSERT(score_graph(a, b).shd == score_graph(b, a).shd);
  }));
}

TEST(CurveAreas, EqualTheFormulasOnBinaryScores) {
  EXPECT_TRUE(rc::check("curve_areas and score_graph agree", [] {
    const int nodes = *rc::gen::inRange(2, 15);
    const ByteMatrix truth = any_dag(nodes).adjacency(), estimate = any_dag(nodes).adjacency();
    RC_PRE((truth.array() != 0).any());
    const GraphScore binary = score_graph(estimate, truth);
    const CurveAreas areas = curve_areas(estimate.cast<double>(), truth);
    RC_ASSERT(std::abs(areas.auc_roc - binary.auc_roc) < 1e-12);
    RC_ASSERT(std::abs(areas.auc_pr - binary.auc_pr) < 1e-12);
  }));
}

// The definitions, in quadratic time: ROC area is the chance that a true entry outscores a false one, ties half.
CurveAreas areas_by_definition(const Matrix& scores, const ByteMatrix& truth) {
  double wins = 0, pairs = 0, precisions = 0, positives = 0;
  for (Index a = 0; a < scores.size(); ++a) {
    if (truth(a) == 0) continue;
    double at_least = 0, true_at_least = 0;
    for (Index b = 0; b < scores.size(); ++b) {
      if (scores(b) >= scores(a)) {
        ++at_least;
        true_at_least += truth(b);
      }
      if (truth(b) != 0) continue;
      wins += scores(a) > scores(b) ? 1.0 : (scores(a) == scores(b) ? 0.5 : 0.0);
      ++pairs;
    }
    precisions += true_at_least / at_least;
    ++positives;
  }
  return {wins / pairs, precisions / positives};
}

TEST(CurveAreas, EqualTheirDefinitions) {
  EXPECT_TRUE(rc::check("for any scores, ties and negative ones among them", [] {
    const int nodes = *rc::gen::inRange(2, 9);
    const ByteMatrix truth = any_dag(nodes).adjacency();
    RC_PRE((truth.array() != 0).any());
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const std::uint32_t levels = *rc::gen::element(2u, 5u, 1000u);
    Matrix scores(nodes, nodes);
    for (Index i = 0; i < scores.size(); ++i) scores(i) = static_cast<double>(random.below(levels)) - 1.0;
    const CurveAreas fast = curve_areas(scores, truth), slow = areas_by_definition(scores, truth);
    RC_ASSERT(std::abs(fast.auc_roc - slow.auc_roc) < 1e-12);
    RC_ASSERT(std::abs(fast.auc_pr - slow.auc_pr) < 1e-12);
    // Only the order of scores counts.
    const CurveAreas rescaled = curve_areas(3.0 * scores, truth);
    RC_ASSERT(rescaled.auc_roc == fast.auc_roc);
    RC_ASSERT(rescaled.auc_pr == fast.auc_pr);
  }));
}

TEST(CurveAreas, RefusesScoresThatAreNotNumbers) {
  Matrix scores = Matrix::Zero(2, 2);
  scores(0, 1) = std::nan("");
  EXPECT_THROW(curve_areas(scores, ByteMatrix::Zero(2, 2)), UsageError);
}

TEST(MeanAndSpread, DividesByOneLess) {
  const MeanAndSpread spread = mean_and_spread({1.0, 2.0, 3.0, 4.0});
  EXPECT_DOUBLE_EQ(spread.mean, 2.5);
  EXPECT_DOUBLE_EQ(spread.standard_deviation, std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(mean_and_spread({7.0}).mean, 7.0);
  EXPECT_EQ(mean_and_spread({7.0}).standard_deviation, 0.0);
  EXPECT_THROW(mean_and_spread({}), UsageError);
}

}  // namespace
}  // namespace fansite
