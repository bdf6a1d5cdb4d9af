// SPDX-License-Identifier: Apache-2.0
#include "fansite/graph/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_set>

#include "fansite/base/error.h"

namespace fansite {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double discount(std::size_t place) { return 1.0 / std::log2(static_cast<double>(place) + 1.0); }

std::size_t count_hits(const std::vector<int>& predicted, const std::unordered_set<int>& truth) {
  return static_cast<std::size_t>(
      std::count_if(predicted.begin(), predicted.end(), [&](int member) { return truth.count(member) != 0; }));
}

void check_distinct(const std::vector<int>& members) {
  check(std::unordered_set<int>(members.begin(), members.end()).size() == members.size(),
        "[score_boundary] a boundary names a variable twice");
}

}  // namespace

BoundaryScore score_boundary(const std::vector<int>& predicted, const std::vector<int>& truth) {
  check(!truth.empty(), "[score_boundary] the true boundary is empty, so there is nothing to score");
  check_distinct(predicted);
  check_distinct(truth);
  const std::unordered_set<int> relevant(truth.begin(), truth.end());

  double gain = 0, ideal = 0, precisions = 0;
  for (std::size_t place = 1; place <= truth.size(); ++place) ideal += discount(place);
  std::size_t hits = 0;
  for (std::size_t place = 1; place <= std::min(predicted.size(), truth.size()); ++place) {
    if (relevant.count(predicted[place - 1]) == 0) continue;
    ++hits;
    gain += discount(place);
    precisions += static_cast<double>(hits) / static_cast<double>(place);
  }

  const auto all_hits = static_cast<double>(count_hits(predicted, relevant));
  const auto members = static_cast<double>(predicted.size());
  const auto wanted = static_cast<double>(truth.size());
  BoundaryScore score;
  score.ndcg = gain / ideal;
  score.average_precision = precisions / wanted;
  score.f1 = 2.0 * all_hits / (members + wanted);
  score.precision = predicted.empty() ? 0.0 : all_hits / members;
  score.recall = all_hits / wanted;
  return score;
}

BoundariesScore score_boundaries(const std::vector<std::vector<int>>& predicted,
                                 const std::vector<std::vector<int>>& truth) {
  check(predicted.size() == truth.size(), "[score_boundaries] {} predicted boundaries for {} true ones",
        predicted.size(), truth.size());
  BoundariesScore result;
  BoundaryScore& mean = result.mean;
  std::size_t members = 0, hits = 0;
  for (std::size_t target = 0; target < truth.size(); ++target) {
    members += predicted[target].size();
    hits += count_hits(predicted[target], {truth[target].begin(), truth[target].end()});
    if (truth[target].empty()) continue;
    const BoundaryScore score = score_boundary(predicted[target], truth[target]);
    mean.ndcg += score.ndcg;
    mean.average_precision += score.average_precision;
    mean.f1 += score.f1;
    mean.precision += score.precision;
    mean.recall += score.recall;
    ++result.targets;
  }
  if (result.targets > 0) {
    for (double* sum : {&mean.ndcg, &mean.average_precision, &mean.f1, &mean.precision, &mean.recall}) {
      *sum /= result.targets;
    }
  }
  if (members > 0) result.false_discovery_rate = static_cast<double>(members - hits) / static_cast<double>(members);
  return result;
}

GraphScore score_graph(const ByteMatrix& estimate, const ByteMatrix& truth) {
  check(truth.rows() == truth.cols() && estimate.rows() == truth.rows() && estimate.cols() == truth.cols(),
        "[score_graph] a {}×{} graph cannot be held against a {}×{} truth", estimate.rows(), estimate.cols(),
        truth.rows(), truth.cols());
  GraphScore score;
  std::int64_t true_edges = 0;
  int links = 0, directed_links = 0, right_links = 0;  // true ones found; those with one direction; the true one
  for (Index j = 0; j < truth.cols(); ++j) {
    for (Index i = 0; i <= j; ++i) {
      // The pair {i, j}, both ways at once; on the diagonal there is one way only, and a loop is an extra edge.
      const bool both_ways = i != j;
      const bool estimate_ij = estimate(i, j) != 0, estimate_ji = both_ways && estimate(j, i) != 0;
      const bool truth_ij = truth(i, j) != 0, truth_ji = both_ways && truth(j, i) != 0;
      true_edges += int{truth_ij} + int{truth_ji};
      score.true_positives += int{estimate_ij && truth_ij} + int{estimate_ji && truth_ji};
      score.false_positives += int{estimate_ij && !truth_ij} + int{estimate_ji && !truth_ji};
      const bool linked = estimate_ij || estimate_ji, truly_linked = truth_ij || truth_ji;
      score.extra += int{linked && !truly_linked};
      score.missing += int{truly_linked && !linked};
      const bool one_way = estimate_ij != estimate_ji;
      score.undecided += int{estimate_ij && estimate_ji};
      links += int{linked && truly_linked};
      directed_links += int{one_way && truly_linked};
      right_links += int{one_way && ((estimate_ij && truth_ij) || (estimate_ji && truth_ji))};
      score.reversed += int{estimate_ij && !truth_ij && truth_ji} + int{estimate_ji && !truth_ji && truth_ij};
    }
  }
  score.shd = score.extra + score.missing + score.reversed;

  const int either = 2 * links + score.extra + score.missing;
  score.skeleton_f1 = either == 0 ? 1.0 : 2.0 * links / either;
  score.direction_accuracy = directed_links == 0 ? kUndefined : static_cast<double>(right_links) / directed_links;

  // The curves of a 0/1 score have one inner point, so their areas are formulas.
  const auto entries = static_cast<double>(truth.size());
  const auto positives = static_cast<double>(true_edges);
  const double found = score.true_positives, claimed = found + score.false_positives;
  if (true_edges == 0 || true_edges == truth.size()) {
    score.auc_roc = kUndefined;
  } else {
    score.auc_roc = (found / positives + 1.0 - score.false_positives / (entries - positives)) / 2.0;
  }
  if (true_edges == 0) {
    score.auc_pr = kUndefined;
  } else {
    const double recall = found / positives;
    score.auc_pr = (claimed > 0 ? recall * found / claimed : 0.0) + (1.0 - recall) * positives / entries;
  }
  return score;
}

CurveAreas curve_areas(const Matrix& scores, const ByteMatrix& truth) {
  check(scores.rows() == truth.rows() && scores.cols() == truth.cols(),
        "[curve_areas] {}×{} scores cannot be held against a {}×{} truth", scores.rows(), scores.cols(), truth.rows(),
        truth.cols());
  struct Tie {
    double score;
    std::int64_t positives, negatives;
  };
  // Graphs are sparse, so most scores are 0: those are one tie from the start, and only the others need sorting.
  std::vector<Tie> ties = {{0.0, 0, 0}};
  for (Index j = 0; j < truth.cols(); ++j) {
    for (Index i = 0; i < truth.rows(); ++i) {
      const double score = scores(i, j);
      check(!std::isnan(score), "[curve_areas] the score of {} → {} is not a number", i, j);
      if (score != 0.0) ties.push_back({score, 0, 0});
      Tie& tie = score == 0.0 ? ties.front() : ties.back();
      ++(truth(i, j) != 0 ? tie.positives : tie.negatives);
    }
  }
  std::sort(ties.begin(), ties.end(), [](const Tie& a, const Tie& b) { return a.score > b.score; });

  std::int64_t positives = 0, negatives = 0;
  for (const Tie& tie : ties) {
    positives += tie.positives;
    negatives += tie.negatives;
  }
  double area = 0, precision_sum = 0;
  std::int64_t true_positives = 0, false_positives = 0;
  for (std::size_t next = 0; next < ties.size();) {
    Tie step = ties[next++];
    for (; next < ties.size() && ties[next].score == step.score; ++next) {
      step.positives += ties[next].positives;
      step.negatives += ties[next].negatives;
    }
    area += static_cast<double>(step.negatives) *
            (static_cast<double>(true_positives) + 0.5 * static_cast<double>(step.positives));
    true_positives += step.positives;
    false_positives += step.negatives;
    if (step.positives > 0) {
      precision_sum += static_cast<double>(step.positives) * static_cast<double>(true_positives) /
                       static_cast<double>(true_positives + false_positives);
    }
  }
  CurveAreas areas{kUndefined, kUndefined};
  if (positives > 0 && negatives > 0) {
    areas.auc_roc = area / (static_cast<double>(positives) * static_cast<double>(negatives));
  }
  if (positives > 0) areas.auc_pr = precision_sum / static_cast<double>(positives);
  return areas;
}

MeanAndSpread mean_and_spread(const std::vector<double>& values) {
  check(!values.empty(), "[mean_and_spread] there are no values");
  const auto n = static_cast<double>(values.size());
  MeanAndSpread result;
  for (const double value : values) result.mean += value / n;
  if (values.size() == 1) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.standard_deviation = std::sqrt(squares / (n - 1.0));
  return result;
}

}  // namespace fansite
