// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/compare_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

namespace fansite {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

using Pair = std::pair<int, int>;
using Pairs = std::vector<Pair>;  // ascending, each once

ByteMatrix adjacency_of(const std::vector<std::vector<int>>& found) {
  const auto d = static_cast<Index>(found.size());
  ByteMatrix adjacency = ByteMatrix::Zero(d, d);
  for (Index from = 0; from < d; ++from) {
    for (const int to : found[static_cast<std::size_t>(from)]) adjacency(from, to) = 1;
  }
  return adjacency;
}

// Entries as they are found; a graph's are directions.
Pairs entries_of(const std::vector<std::vector<int>>& found) {
  Pairs entries;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const int j : found[i]) entries.emplace_back(static_cast<int>(i), j);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

Pairs links_of(Pairs entries) {
  for (auto& [a, b] : entries) {
    if (a > b) std::swap(a, b);
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

Pairs claims_of(CompareKind kind, const CompareCell& cell) {
  const Pairs entries = entries_of(cell.found);
  return kind == CompareKind::graph ? links_of(entries) : entries;
}

Pairs true_claims(CompareKind kind, const Dag& truth) {
  std::vector<std::vector<int>> found;
  for (int node = 0; node < truth.nodes(); ++node) {
    found.push_back(kind == CompareKind::graph ? truth.children(node) : truth.markov_boundary(node));
  }
  return kind == CompareKind::graph ? links_of(entries_of(found)) : entries_of(found);
}

Pairs common(const Pairs& a, const Pairs& b) {
  Pairs both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

double overlap(const Pairs& a, const Pairs& b) {
  const auto both = static_cast<double>(common(a, b).size());
  const double either = static_cast<double>(a.size() + b.size()) - both;
  return either > 0 ? both / either : 1.0;
}

// Of the links that both graphs have, the share of those that are the same in both; NaN if there are none.
double share_of_same_direction(const Pairs& a, const Pairs& b) {
  const auto has = [](const Pairs& entries, int from, int to) {
    return std::binary_search(entries.begin(), entries.end(), Pair(from, to));
  };
  const Pairs links = common(links_of(a), links_of(b));
  int same = 0;
  for (const auto& [i, j] : links) same += has(a, i, j) == has(b, i, j) && has(a, j, i) == has(b, j, i);
  return links.empty() ? kNothing : same / static_cast<double>(links.size());
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? kNothing : sum / static_cast<double>(values.size());
}

// For every two methods the mean of `measure` over tables and orders that both have an answer to.
template <class Prepare, class Measure>
Matrix between_methods(const CompareResult& result, const Prepare& prepare, const Measure& measure) {
  const std::size_t count = result.methods.size();
  std::map<std::pair<int, int>, std::vector<std::pair<int, Pairs>>> answers;  // by table and order: method, pairs
  for (const CompareCell& cell : result.cells) {
    if (cell.status == CellStatus::done) answers[{cell.table, cell.order}].emplace_back(cell.method, prepare(cell));
  }
  std::vector<std::vector<double>> values(count * count);
  for (const auto& [unused, group] : answers) {
    for (const auto& [a, pairs_a] : group) {
      for (const auto& [b, pairs_b] : group) {
        const double value = measure(pairs_a, pairs_b);
        if (!std::isnan(value))
          values[static_cast<std::size_t>(a) * count + static_cast<std::size_t>(b)].push_back(value);
      }
    }
  }
  Matrix means(static_cast<Index>(count), static_cast<Index>(count));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      means(static_cast<Index>(i), static_cast<Index>(j)) = mean_of(values[i * count + j]);
    }
  }
  return means;
}

std::vector<MeanAndSpread> mean_scores(CompareKind kind, const std::vector<const CompareCell*>& done) {
  std::vector<MeanAndSpread> scores;
  for (std::size_t s = 0; s < score_names(kind).size(); ++s) {
    std::vector<double> values;
    for (const CompareCell* cell : done) {
      if (s < cell->scores.size() && !std::isnan(cell->scores[s])) values.push_back(cell->scores[s]);
    }
    scores.push_back(values.empty() ? MeanAndSpread{kNothing, kNothing} : mean_and_spread(values));
  }
  return scores;
}

std::optional<double> over_orders(CompareKind kind, const std::vector<const CompareCell*>& done) {
  std::vector<double> values;
  for (std::size_t i = 0; i < done.size(); ++i) {
    for (std::size_t j = i + 1; j < done.size(); ++j) {
      if (done[i]->table != done[j]->table) continue;
      values.push_back(overlap(claims_of(kind, *done[i]), claims_of(kind, *done[j])));
    }
  }
  return values.empty() ? std::nullopt : std::optional(mean_of(values));
}

}  // namespace

const std::vector<std::string>& score_names(CompareKind kind) {
  static const std::vector<std::string> boundaries = {"nDCG", "AveP", "F1", "precision", "recall", "FDR"};
  static const std::vector<std::string> graph = {"SHD", "AUC-ROC", "AUC-PR", "skeleton F1", "directions"};
  return kind == CompareKind::graph ? graph : boundaries;
}

std::vector<double> scores_of(CompareKind kind, const std::vector<std::vector<int>>& found, const Dag& truth) {
  if (kind == CompareKind::graph) {
    const GraphScore score = score_graph(adjacency_of(found), truth.adjacency());
    return {static_cast<double>(score.shd), score.auc_roc, score.auc_pr, score.skeleton_f1, score.direction_accuracy};
  }
  std::vector<std::vector<int>> expected;
  for (int node = 0; node < truth.nodes(); ++node) expected.push_back(truth.markov_boundary(node));
  const BoundariesScore score = score_boundaries(found, expected);
  if (score.targets == 0) return std::vector<double>(score_names(kind).size(), kNothing);
  return {score.mean.ndcg,   score.mean.average_precision, score.mean.f1, score.mean.precision,
          score.mean.recall, score.false_discovery_rate};
}

int pairs_of(CompareKind kind, const CompareCell& cell) { return static_cast<int>(claims_of(kind, cell).size()); }

std::vector<MethodSummary> summaries(const CompareResult& result) {
  std::vector<MethodSummary> all;
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    MethodSummary summary;
    std::vector<const CompareCell*> done;
    std::vector<double> seconds, pairs;
    for (const CompareCell& cell : result.cells) {
      if (cell.method != static_cast<int>(m)) continue;
      summary.peak_memory_mb = std::max(summary.peak_memory_mb, cell.peak_memory_mb);
      if (summary.reason.empty()) summary.reason = cell.reason;
      if (cell.status == CellStatus::timeout) ++summary.timeouts;
      if (cell.status == CellStatus::refused) ++summary.refused;
      if (cell.status == CellStatus::failed) ++summary.failed;
      if (cell.status != CellStatus::done) continue;
      done.push_back(&cell);
      seconds.push_back(cell.seconds);
      pairs.push_back(pairs_of(result.kind, cell));
    }
    summary.done = static_cast<int>(done.size());
    summary.seconds = mean_of(seconds);
    summary.pairs = mean_of(pairs);
    if (!done.empty() && result.has_truth()) summary.scores = mean_scores(result.kind, done);
    summary.over_orders = over_orders(result.kind, done);
    all.push_back(std::move(summary));
  }
  return all;
}

Matrix overlaps(const CompareResult& result) {
  return between_methods(
      result, [&](const CompareCell& cell) { return claims_of(result.kind, cell); }, overlap);
}

Matrix same_directions(const CompareResult& result) {
  return between_methods(
      result, [](const CompareCell& cell) { return entries_of(cell.found); }, share_of_same_direction);
}

std::vector<AloneClaims> alone_claims(const CompareResult& result) {
  std::vector<AloneClaims> alone(result.methods.size());
  for (std::size_t t = 0; t < result.tables.size(); ++t) {
    std::vector<std::map<Pair, int>> found(result.methods.size());  // in how many orders
    std::vector<int> orders(result.methods.size());
    for (const CompareCell& cell : result.cells) {
      if (cell.table != static_cast<int>(t) || cell.status != CellStatus::done) continue;
      ++orders[static_cast<std::size_t>(cell.method)];
      for (const Pair& pair : claims_of(result.kind, cell)) ++found[static_cast<std::size_t>(cell.method)][pair];
    }
    std::map<Pair, std::vector<std::size_t>> claimants;
    for (std::size_t m = 0; m < found.size(); ++m) {
      for (const auto& [pair, times] : found[m]) {
        if (2 * times > orders[m]) claimants[pair].push_back(m);
      }
    }
    const std::optional<Dag>& truth = result.tables[t].truth;
    const Pairs expected = truth ? true_claims(result.kind, *truth) : Pairs();
    for (const auto& [pair, methods] : claimants) {
      if (methods.size() != 1) continue;
      AloneClaims& claims = alone[methods.front()];
      ++claims.pairs;
      if (truth)
        claims.true_pairs = claims.true_pairs.value_or(0) + std::binary_search(expected.begin(), expected.end(), pair);
      if (result.expected_tables == 1) claims.of_table.push_back(pair);
    }
  }
  if (result.has_truth()) {
    for (AloneClaims& claims : alone) claims.true_pairs = claims.true_pairs.value_or(0);
  }
  return alone;
}

}  // namespace fansite
