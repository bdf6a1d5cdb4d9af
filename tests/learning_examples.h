// SPDX-License-Identifier: Apache-2.0
//
// Tables for methods that learn weights, and what all of them must do with odd ones.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/graph/dag.h"
#include "fansite/run/causal_graph.h"
#include "support.h"

namespace fansite::causal {

using Options = std::vector<std::pair<std::string, Value>>;

/// x → y → z with coefficients 1.5 and −1.2 and noise of variance 1: variances grow along the arrows, and there the
/// least squares of all variables together are smallest.
inline Dataset linear_chain(Index rows, std::uint64_t seed) {
  Random random(Key{seed});
  Dataset data{{"x", "y", "z"}, Matrix(rows, 3)};
  for (Index n = 0; n < rows; ++n) {
    const double x = random.normal(), y = 1.5 * x + random.normal(), z = -1.2 * y + random.normal();
    data.values.row(n) << x, y, z;
  }
  return data;
}

inline ByteMatrix chain_edges() {
  ByteMatrix edges = ByteMatrix::Zero(3, 3);
  edges(0, 1) = edges(1, 2) = 1;
  return edges;
}

inline CausalGraphResult learnt(const std::string& method, const Options& options, const Dataset& data,
                                Progress& progress, const RunParams& run = {}) {
  CausalGraphParams params(method);
  for (const auto& [name, value] : options) params.options.set(name, value);
  params.run = run;
  return causal_graph(data, nullptr, {}, params, progress);
}

inline CausalGraphResult learnt(const std::string& method, const Options& options, const Dataset& data) {
  NoProgress silent;
  return learnt(method, options, data, silent);
}

/// Few rows and many columns, two columns, one, none but constants, a constant and a copy, cells that overflow: an
/// answer without cycles or one sentence.
inline void expect_sound_with_odd_tables(const std::string& method, const Options& options) {
  const auto expect_dag = [](const CausalGraphResult& result) {
    EXPECT_TRUE(find_cycle(result.graph.directed).empty());
    EXPECT_EQ(result.graph.undirected.cast<int>().sum(), 0);
    EXPECT_TRUE(result.weights.allFinite());
    EXPECT_TRUE(result.unfinished.empty());
  };
  Dataset few = simulate_linear(12, 1.5, 8, 3).data;
  expect_dag(learnt(method, options, few));

  Dataset two = linear_chain(100, 4);
  two.names.pop_back();
  two.values.conservativeResize(Eigen::NoChange, 2);
  const CausalGraphResult pair = learnt(method, options, two);
  expect_dag(pair);
  EXPECT_LE(pair.graph.directed.cast<int>().sum(), 1);

  for (const Index columns : {1, 0}) {  // that are not constant
    Dataset one = linear_chain(100, 4);
    one.values.rightCols(3 - columns).setConstant(-1);
    const CausalGraphResult alone = learnt(method, options, one);
    expect_dag(alone);
    EXPECT_TRUE(alone.weights.isZero(0));
  }

  Dataset odd = linear_chain(100, 5);
  odd.values.conservativeResize(Eigen::NoChange, 5);
  odd.values.col(3).setConstant(2);
  odd.values.col(4) = odd.values.col(0);
  odd.names.insert(odd.names.end(), {"constant", "copy"});
  const CausalGraphResult without = learnt(method, options, odd);
  expect_dag(without);
  EXPECT_TRUE(without.weights.rightCols(2).isZero(0) && without.weights.bottomRows(2).isZero(0));
  EXPECT_EQ(without.weights.topLeftCorner(3, 3), learnt(method, options, linear_chain(100, 5)).weights);

  Dataset huge = linear_chain(50, 6);
  huge.values *= 1e300;
  EXPECT_THAT(message_of<DataError>([&] { learnt(method, options, huge); }),
              testing::AllOf(testing::HasSubstr("[" + method + "]"), testing::HasSubstr("overflow")));
  huge.values *= 1e-160;  // squares are numbers, products of sums of them are not
  try {
    expect_dag(learnt(method, options, huge));
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("[" + method + "]"));
  }
}

inline void expect_same_bits_for_any_threads(const std::string& method, const Options& options) {
  const Dataset data = simulate_linear(7, 1.5, 300, 8).data;
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return learnt(method, options, data);
  };
  const CausalGraphResult one = with(1), two = with(2), three = with(3);
  EXPECT_EQ(one.weights, two.weights);
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_EQ(one.details, two.details);
}

/// Time is up from the `limit`-th time on that it is asked for.
class RunsOut final : public Progress {
 public:
  explicit RunsOut(long limit) : limit_(limit) {}
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return false; }
  bool out_of_time() const override { return ++asked_ >= limit_; }

 private:
  long limit_;
  mutable long asked_ = 0;
};

inline void expect_an_answer_when_time_is_up(const std::string& method, const Options& options) {
  RunsOut soon(3);
  const CausalGraphResult result = learnt(method, options, linear_chain(200, 9), soon);
  EXPECT_THAT(result.unfinished, testing::HasSubstr("time ran out"));
  EXPECT_TRUE(find_cycle(result.graph.directed).empty());
  EXPECT_TRUE(result.weights.allFinite());
}

/// A time budget that lasts ends nothing early.
inline void expect_a_budget_that_lasts_to_change_nothing(const std::string& method, const Options& options) {
  NoProgress silent;
  RunParams run;
  run.time_budget = 300;
  const Dataset data = linear_chain(100, 10);
  const CausalGraphResult limited = learnt(method, options, data, silent, run);
  EXPECT_EQ(limited.unfinished, "");
  EXPECT_EQ(limited.weights, learnt(method, options, data).weights);
}

}  // namespace fansite::causal
