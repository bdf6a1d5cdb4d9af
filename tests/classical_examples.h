// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the classical methods share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fansite/boundary/baselines/classical.h"
#include "fansite/graph/metrics.h"
#include "fansite/run/boundaries.h"
#include "separation_oracle.h"
#include "support.h"

namespace fansite {

inline ClassicalTarget search_of(int target, int variables) {
  ClassicalTarget search;
  search.target = target;
  for (int z = 0; z < variables; ++z) {
    if (z != target) search.candidates.push_back(z);
  }
  return search;
}

inline std::vector<int> sorted(std::vector<int> set) {
  std::sort(set.begin(), set.end());
  return set;
}

using SetSearch = std::function<ClassicalSet(const IndependenceTest&, const ClassicalTarget&)>;

/// With a test that knows the graph, every boundary is exact: 200 random graphs of 3 to 9 nodes, sparse and dense.
inline void expect_exact_with_oracle(const SetSearch& search) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const int nodes = 3 + static_cast<int>(seed % 7);
    const SeparationOracle oracle(random_dag(nodes, 0.15 + 0.1 * static_cast<double>(seed % 4), seed));
    for (int target = 0; target < nodes; ++target) {
      EXPECT_EQ(sorted(search(oracle, search_of(target, nodes)).members), oracle.dag().markov_boundary(target))
          << "graph " << seed << ", target " << target;
    }
  }
}

/// Members of each boundary that a method finds with these options.
inline std::vector<std::vector<int>> found_by(const std::string& method, const Dataset& data,
                                              const std::vector<std::pair<std::string, Value>>& options = {}) {
  BoundariesParams params(method);
  for (const auto& [name, value] : options) params.options.set(name, value);
  std::vector<std::vector<int>> result;
  for (const Boundary& boundary : markov_boundaries(data, params).found.boundaries) {
    result.push_back(boundary.member_indices());
  }
  return result;
}

inline std::vector<std::vector<int>> true_boundaries(const Dag& dag) {
  std::vector<std::vector<int>> result;
  for (int v = 0; v < dag.nodes(); ++v) result.push_back(dag.markov_boundary(v));
  return result;
}

/// A relation that every method must find, on many rows: x → y ← z, y → w, and v on its own.
inline Dataset collider(Index rows = 2000) {
  Dataset data;
  Random random(Key{5});
  data.names = {"x", "y", "z", "w", "v"};
  data.values = Matrix::NullaryExpr(rows, 5, [&] { return random.normal(); });
  data.values.col(1) = data.values.col(0) + data.values.col(2) + 0.7 * data.values.col(1);
  data.values.col(3) = 0.8 * data.values.col(1) + data.values.col(3);
  return data;
}

// ---- The authors' own tables ----------------------------------------------------------------------------------------

struct AuthorsTable {
  std::string seed;
  Dataset data;
  Dag dag;
};

/// Those that are in ../shared/data, of five: the others are held back.
inline std::vector<AuthorsTable> authors_tables(const std::string& prefix) {
  std::vector<AuthorsTable> tables;
  for (const char* seed : {"42", "123", "1234", "12345", "123456"}) {
    const std::string path = fmt::format("{}/data/{}_seed{}.npz", FANSITE_SHARED_DIR, prefix, seed);
    if (std::filesystem::exists(path)) tables.push_back({seed, load(path), load_dag(path).dag});
  }
  return tables;
}

/// Percent. Mean and spread of five tables, as printed: two digits.
struct PublishedScore {
  double mean, spread;
};

/// With all five tables the figures must be those printed. With fewer, some values of the others must make them so: the
/// known ones may spread no more than the five do. That is a weaker test, but e.g. two-sided IAMB fails it.
inline void expect_published(const std::vector<double>& known, const PublishedScore& published) {
  constexpr double kRounding = 0.005;
  if (known.size() == 5) {
    const MeanAndSpread of_five = mean_and_spread(known);
    EXPECT_NEAR(of_five.mean, published.mean, kRounding + 1e-9);
    EXPECT_NEAR(of_five.standard_deviation, published.spread, kRounding + 1e-9);
    return;
  }
  const double others = 5 - static_cast<double>(known.size());
  double sum = 0, squares = 0;
  for (const double value : known) {
    sum += value - published.mean;
    squares += (value - published.mean) * (value - published.mean);
  }
  const double room = 4 * (published.spread + kRounding) * (published.spread + kRounding);
  EXPECT_LE(squares + sum * sum / others, room + 4 * kRounding * std::sqrt(room));
}

struct Percent {
  double ndcg, average_precision, f1;
};

inline Percent percent(const AuthorsTable& table, const std::vector<std::vector<int>>& found) {
  const BoundaryScore mean = score_boundaries(found, true_boundaries(table.dag)).mean;
  return {100 * mean.ndcg, 100 * mean.average_precision, 100 * mean.f1};
}

}  // namespace fansite

/// In the body of a test: the tables, or a skip that says what is missing.
#define FANSITE_AUTHORS_TABLES(tables, prefix)                                       \
  const std::vector<fansite::AuthorsTable> tables = fansite::authors_tables(prefix); \
  if (tables.empty()) GTEST_SKIP() << prefix << "_seed*.npz is not in ../shared/data, so nothing is tested"
