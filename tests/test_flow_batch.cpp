// SPDX-License-Identifier: Apache-2.0
//
// Subsets as the paper draws them, and the lists of a batch against a naive recomputation.
#include "fansite/entropy/flow/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "fansite/base/error.h"
#include "fansite/entropy/flow/base.h"
#include "golden.h"
#include "properties.h"
#include "support.h"

namespace fansite::flow {
namespace {

using testing::ElementsAre;

// ---- Sampler --------------------------------------------------------------------------------------------------------

std::vector<Subset> draws(int variables, SubsetKind kind, int max_size, int count, std::uint64_t seed = 1) {
  SubsetSampler sampler(variables, kind, max_size);
  Random random(Key{seed});
  std::vector<Subset> subsets(static_cast<std::size_t>(count));
  for (Subset& subset : subsets) sampler.draw(random, subset);
  return subsets;
}

// Equally likely cells: true if Σ (observed − expected)²/expected is within 5 standard deviations of its mean.
testing::AssertionResult equally_likely(const std::vector<int>& counts) {
  const auto cells = static_cast<double>(counts.size());
  const double expected = std::accumulate(counts.begin(), counts.end(), 0.0) / cells;
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  const double bound = cells - 1 + 5 * std::sqrt(2 * (cells - 1));
  if (chi_square <= bound) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "chi-square " << chi_square << " above " << bound << ": "
                                     << testing::PrintToString(counts);
}

struct SamplerCase {
  int variables;
  SubsetKind kind;
  int max_size;

  bool leaf() const { return kind == SubsetKind::leaf; }
  int pool() const { return leaf() ? variables - 1 : variables; }  // variables that are drawn
  int least() const { return leaf() ? 0 : 1; }
};

std::vector<SamplerCase> sampler_cases() {
  std::vector<SamplerCase> cases;
  for (const int d : {1, 2, 3, 7, 30, 63, 64, 65, 66, 128, 129, 130}) {
    for (const SubsetKind kind : {SubsetKind::leaf, SubsetKind::non_leaf}) {
      const int least = kind == SubsetKind::leaf ? 0 : 1, most = kind == SubsetKind::leaf ? d - 1 : d;
      for (const int max_size : std::set<int>{least, std::min(1, most), std::min(20, most), most / 2, most - 1, most}) {
        if (max_size >= least) cases.push_back({d, kind, max_size});
      }
    }
  }
  return cases;
}

// Small sets, both sides of whole words of bits, and every kind of largest size.
template <class Visit>
void for_each_sampler(Visit&& visit) {
  for (const SamplerCase& c : sampler_cases()) {
    SCOPED_TRACE(testing::Message() << (c.leaf() ? "leaf" : "non-leaf") << " d " << c.variables << " M " << c.max_size);
    visit(c);
  }
}

TEST(SubsetSampler, SubsetsAreAscendingAndOfTheRightKind) {
  for_each_sampler([](const SamplerCase& c) {
    for (const Subset& subset : draws(c.variables, c.kind, c.max_size, 1000)) {
      ASSERT_FALSE(subset.empty());
      ASSERT_GE(subset.front(), 0);
      ASSERT_LT(subset.back(), c.variables);
      ASSERT_TRUE(std::ranges::adjacent_find(subset, std::greater_equal<>()) == subset.end())
          << testing::PrintToString(subset);
      if (c.leaf()) {
        ASSERT_EQ(subset.back(), c.variables - 1);
      }
      const int drawn = static_cast<int>(subset.size()) - (c.leaf() ? 1 : 0);
      ASSERT_GE(drawn, c.least());
      ASSERT_LE(drawn, c.max_size);
    }
  });
}

TEST(SubsetSampler, SizesAreUniform) {
  for_each_sampler([](const SamplerCase& c) {
    const int sizes = c.max_size - c.least() + 1;
    std::vector<int> counts(static_cast<std::size_t>(sizes));
    for (const Subset& subset : draws(c.variables, c.kind, c.max_size, 50 * sizes + 1000)) {
      ++counts.at(subset.size() - 1);  // leaf: 1..M+1; else 1..M
    }
    EXPECT_TRUE(equally_likely(counts));
  });
}

// Over all sizes, and over those above half of the pool, where the variables left out are drawn instead.
TEST(SubsetSampler, EveryVariableIsAsLikelyAsTheOthers) {
  for_each_sampler([](const SamplerCase& c) {
    if (c.pool() < 2) return;
    std::vector<int> small(static_cast<std::size_t>(c.pool())), large = small;
    double small_draws = 0, large_draws = 0;
    for (const Subset& subset : draws(c.variables, c.kind, c.max_size, 4000, 2)) {
      const std::size_t drawn = subset.size() - (c.leaf() ? 1 : 0);
      const bool is_large = 2 * drawn > static_cast<std::size_t>(c.pool());
      (is_large ? large_draws : small_draws) += static_cast<double>(drawn);
      for (std::size_t i = 0; i < drawn; ++i) ++(is_large ? large : small).at(static_cast<std::size_t>(subset[i]));
    }
    // Negatively dependent within a subset, so the bound is on the safe side.
    if (small_draws > 5 * c.pool()) {
      EXPECT_TRUE(equally_likely(small));
    }
    if (large_draws > 5 * c.pool()) {
      EXPECT_TRUE(equally_likely(large));
    }
  });
}

// Each subset has chance 1/sizes/(pool choose size).
void expect_every_subset_equally_likely(int variables, SubsetKind kind, int max_size) {
  std::map<std::size_t, std::map<Subset, int>> counts;
  for (const Subset& subset : draws(variables, kind, max_size, 30000, 3)) ++counts[subset.size()][subset];
  const SamplerCase c{variables, kind, max_size};
  EXPECT_EQ(static_cast<int>(counts.size()), max_size - c.least() + 1);
  for (const auto& [size, subsets] : counts) {
    const int drawn = static_cast<int>(size) - (c.leaf() ? 1 : 0);
    double expected = 1;
    for (int i = 0; i < drawn; ++i) expected *= static_cast<double>(c.pool() - i) / (i + 1);
    EXPECT_EQ(static_cast<double>(subsets.size()), std::round(expected)) << "all of size " << drawn;
    std::vector<int> cells;
    for (const auto& [subset, count] : subsets) cells.push_back(count);
    if (cells.size() > 1) {
      EXPECT_TRUE(equally_likely(cells)) << "size " << drawn << " of " << c.pool();
    }
  }
}

TEST(SubsetSampler, EverySubsetOfASizeIsEquallyLikely) {
  for (const int d : {2, 3, 5, 6, 8}) {
    for (const int max_size : {1, d / 2, d - 1}) {
      expect_every_subset_equally_likely(d, SubsetKind::leaf, max_size);
      expect_every_subset_equally_likely(d, SubsetKind::non_leaf, max_size);
    }
    expect_every_subset_equally_likely(d, SubsetKind::non_leaf, d);
  }
}

TEST(SubsetSampler, AllVariablesCanBeDrawn) {
  for (const int d : {1, 2, 64, 65, 128, 130}) {
    Subset all(static_cast<std::size_t>(d));
    std::iota(all.begin(), all.end(), 0);
    for (const SubsetKind kind : {SubsetKind::leaf, SubsetKind::non_leaf}) {
      const int most = kind == SubsetKind::leaf ? d - 1 : d;
      const auto subsets = draws(d, kind, most, 200 * d);
      EXPECT_NE(std::ranges::find(subsets, all), subsets.end()) << d;
    }
  }
}

TEST(SubsetSampler, OneVariable) {
  for (const Subset& subset : draws(1, SubsetKind::leaf, 0, 10)) EXPECT_THAT(subset, ElementsAre(0));
  for (const Subset& subset : draws(1, SubsetKind::non_leaf, 1, 10)) EXPECT_THAT(subset, ElementsAre(0));
}

// Nothing is carried over: a draw is a function of the stream alone, whoever draws it into whatever.
TEST(SubsetSampler, IsNamedByTheStream) {
  EXPECT_EQ(draws(30, SubsetKind::leaf, 20, 100, 4), draws(30, SubsetKind::leaf, 20, 100, 4));
  EXPECT_NE(draws(30, SubsetKind::leaf, 20, 100, 4), draws(30, SubsetKind::leaf, 20, 100, 5));
  SubsetSampler used(130, SubsetKind::leaf, 129), fresh(130, SubsetKind::leaf, 129);
  Random other(Key{6}), a(Key{7}), b(Key{7});
  Subset subset = {5, 3, 999}, expected;
  for (int i = 0; i < 50; ++i) used.draw(other, subset);
  used.draw(a, subset);
  fresh.draw(b, expected);
  EXPECT_EQ(subset, expected);
}

// Columns 0 | 1 2 3 | 4 5 | 6: all subsets that 400 draws give.
std::set<Subset> whole_variables(int max_size, int most_columns) {
  SubsetSampler sampler({0, 1, 4, 6}, 7, SubsetKind::leaf, max_size, most_columns);
  Random random(Key{4});
  std::set<Subset> seen;
  for (int i = 0; i < 400; ++i) {
    Subset subset;
    sampler.draw(random, subset);
    seen.insert(subset);
  }
  return seen;
}

TEST(SubsetSampler, VariablesOfSeveralColumnsAreDrawnWhole) {
  EXPECT_THAT(whole_variables(20, 7),
              testing::UnorderedElementsAre(ElementsAre(6), ElementsAre(0, 6), ElementsAre(1, 2, 3, 6),
                                            ElementsAre(4, 5, 6), ElementsAre(0, 1, 2, 3, 6), ElementsAre(0, 4, 5, 6),
                                            ElementsAre(1, 2, 3, 4, 5, 6), ElementsAre(0, 1, 2, 3, 4, 5, 6)));
}

TEST(SubsetSampler, SetsThatAreTooWideLoseVariablesButNotTheLeaf) {
  EXPECT_THAT(whole_variables(3, 4),
              testing::UnorderedElementsAre(ElementsAre(6), ElementsAre(0, 6), ElementsAre(1, 2, 3, 6),
                                            ElementsAre(4, 5, 6), ElementsAre(0, 4, 5, 6)));
}

TEST(SubsetSampler, WrongSizesAreRefused) {
  const auto message = [](int variables, SubsetKind kind, int max_size) {
    return message_of<UsageError>([&] { SubsetSampler(variables, kind, max_size); });
  };
  using enum SubsetKind;
  EXPECT_EQ(message(5, leaf, 5), "[flow] subsets of up to 5 of 5 variables; use 0 to 4");
  EXPECT_EQ(message(5, leaf, -1), "[flow] subsets of up to -1 of 5 variables; use 0 to 4");
  EXPECT_EQ(message(5, non_leaf, 6), "[flow] subsets of up to 6 of 5 variables; use 1 to 5");
  EXPECT_EQ(message(5, non_leaf, 0), "[flow] subsets of up to 0 of 5 variables; use 1 to 5");
  EXPECT_EQ(message(1, leaf, 0), "nothing was thrown");
  EXPECT_EQ(message(1, leaf, 1), "[flow] subsets of up to 1 of 1 variables; use 0 to 0");
  EXPECT_NE(message(0, leaf, 0), "nothing was thrown");
  EXPECT_NE(message(0, non_leaf, 1), "nothing was thrown");
  EXPECT_NE(message(-100, leaf, 0), "nothing was thrown");
}

// ---- Batch ----------------------------------------------------------------------------------------------------------

// Defined where u_j = (x_j − E[x_j | earlier x_S]) / σ_j, by solving for the regression.
struct Innovations {
  std::vector<double> values;
  double log_scale = 0;
};

Innovations naive_innovations(const GaussianBase& base, const Subset& subset, const std::vector<float>& row) {
  Innovations result;
  for (std::size_t p = 0; p < subset.size(); ++p) {
    const std::vector<int> earlier(subset.begin(), subset.begin() + static_cast<std::ptrdiff_t>(p));
    const int j = subset[p];
    double mean = base.mean()[j], variance = base.covariance()(j, j);
    if (p > 0) {
      Vector centred(static_cast<Index>(p));
      for (std::size_t q = 0; q < p; ++q) {
        centred[static_cast<Index>(q)] =
            static_cast<double>(row[static_cast<std::size_t>(earlier[q])]) - base.mean()[earlier[q]];
      }
      const Matrix covariance = base.covariance()(earlier, earlier);
      const Vector with = base.covariance()(earlier, j);
      const Vector weights = covariance.ldlt().solve(with);
      mean += weights.dot(centred);
      variance -= weights.dot(with);
    }
    result.values.push_back((static_cast<double>(row[static_cast<std::size_t>(j)]) - mean) / std::sqrt(variance));
    result.log_scale += std::log(variance) / 2;
  }
  return result;
}

// Correlations that are neither weak nor near 1.
GaussianBase random_base(Random& random, int variables) {
  Matrix factor(variables, variables);
  Vector mean(variables);
  for (double& value : factor.reshaped()) value = random.normal();
  for (double& value : mean) value = random.normal();
  const Matrix covariance = factor * factor.transpose() + Matrix::Identity(variables, variables);
  return {mean, covariance};
}

struct Row {
  Subset subset;
  std::vector<float> values;
};

Batch batch_of(const Shape& shape, const std::vector<Row>& rows) {
  Batch batch(shape);
  for (const Row& row : rows) batch.add(row.subset, row.values.data());
  batch.finish();
  return batch;
}

std::vector<Row> random_rows(Random& random, const Shape& shape, int count) {
  std::vector<Row> rows(static_cast<std::size_t>(count));
  for (Row& row : rows) {
    row.subset = random_subset(random, shape, 1);
    for (int j = 0; j < shape.variables; ++j) row.values.push_back(static_cast<float>(random.normal()));
  }
  return rows;
}

// Terms with the given key, for each key, in ascending order.
void expect_list(const std::vector<int>& keys, int distinct, const std::vector<int>& sorted,
                 const std::vector<int>& start) {
  std::vector<int> expected_sorted, expected_start = {0};
  for (int key = 0; key < distinct; ++key) {
    for (std::size_t t = 0; t < keys.size(); ++t) {
      if (keys[t] == key) expected_sorted.push_back(static_cast<int>(t));
    }
    expected_start.push_back(static_cast<int>(expected_sorted.size()));
  }
  RC_ASSERT(sorted == expected_sorted);
  RC_ASSERT(start == expected_start);
}

void expect_naive(const Batch& batch, const Shape& shape, const std::vector<Row>& rows) {
  std::vector<int> row_start = {0}, row, variable, rank;
  std::vector<float> value;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<int> ranks = ranks_of(shape, rows[i].subset);
    for (std::size_t p = 0; p < rows[i].subset.size(); ++p) {
      const int j = rows[i].subset[p];
      row.push_back(static_cast<int>(i));
      variable.push_back(j);
      rank.push_back(p < ranks.size() ? ranks[p] : -1);
      value.push_back(rows[i].values[static_cast<std::size_t>(j)]);
    }
    row_start.push_back(static_cast<int>(row.size()));
  }
  RC_ASSERT(batch.shape == shape);
  RC_ASSERT(batch.rows() == static_cast<int>(rows.size()));
  RC_ASSERT(batch.terms() == static_cast<int>(row.size()));
  RC_ASSERT(batch.row_start == row_start);
  RC_ASSERT(batch.row == row);
  RC_ASSERT(batch.variable == variable);
  RC_ASSERT(batch.rank == rank);
  RC_ASSERT(batch.value == value);
  expect_list(variable, shape.variables, batch.by_variable, batch.var_start);
  expect_list(rank, shape.ranks, batch.by_rank, batch.rank_start);
}

TEST(Batch, ListsAreThoseOfANaiveRecomputation) {
  EXPECT_TRUE(rc::check("any shape, rows and subsets, also in a batch used before", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, random.coin() ? 12 : 150);
    const auto rows = random_rows(random, shape, between(random, 0, 40));
    Batch batch = batch_of(shape, random_rows(random, shape, between(random, 0, 40)));
    batch.clear();
    RC_ASSERT(batch.rows() == 0);
    RC_ASSERT(batch.terms() == 0);
    for (const Row& row : rows) batch.add(row.subset, row.values.data());
    batch.finish();
    expect_naive(batch, shape, rows);
  }));
}

TEST(Batch, InnovationsAreTheValuesWithoutABase) {
  const Shape shape{5, 6, 4, 20, 4};
  Random random(Key{9});
  const auto rows = random_rows(random, shape, 10);
  const Batch none = batch_of(shape, rows);
  EXPECT_EQ(none.innovation, none.value);
  EXPECT_EQ(none.log_scale, 0);
  const GaussianBase empty;
  Batch batch(shape, &empty);
  for (const Row& row : rows) batch.add(row.subset, row.values.data());
  EXPECT_EQ(batch.innovation, none.value);
  EXPECT_EQ(batch.log_scale, 0);
}

TEST(Batch, InnovationsOfABase) {
  EXPECT_TRUE(rc::check("what the earlier variables of the subset leave over, in standard deviations", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, 9);
    const GaussianBase base = random_base(random, shape.variables);
    Batch batch(shape, &base);
    for (int use = 0; use < 2; ++use) {  // the second time in a batch used before
      const auto rows = random_rows(random, shape, between(random, 0, 10));
      batch.clear();
      for (const Row& row : rows) batch.add(row.subset, row.values.data());
      batch.finish();
      std::vector<double> expected;
      double log_scale = 0;
      for (const Row& row : rows) {
        const Innovations of_row = naive_innovations(base, row.subset, row.values);
        expected.insert(expected.end(), of_row.values.begin(), of_row.values.end());
        log_scale += of_row.log_scale;
      }
      RC_ASSERT(batch.innovation.size() == expected.size());
      for (std::size_t t = 0; t < expected.size(); ++t) {
        RC_ASSERT(std::abs(static_cast<double>(batch.innovation[t]) - expected[t]) <=
                  1e-6 * (1 + std::abs(expected[t])));
      }
      RC_ASSERT(std::abs(batch.log_scale - log_scale) <= 1e-9 * (1 + std::abs(log_scale)));
    }
  }));
}

TEST(Batch, ByHand) {
  const Shape shape{4, 6, 3, 20, 4};
  const Batch batch = batch_of(shape, {{{0, 2, 3}, {1, 2, 3, 4}}, {{3}, {5, 6, 7, 8}}, {{2, 3}, {9, 10, 11, 12}}});
  EXPECT_THAT(batch.row_start, ElementsAre(0, 3, 4, 6));
  EXPECT_THAT(batch.row, ElementsAre(0, 0, 0, 1, 2, 2));
  EXPECT_THAT(batch.variable, ElementsAre(0, 2, 3, 3, 2, 3));
  EXPECT_THAT(batch.rank, ElementsAre(0, 2, -1, -1, 2, -1));
  EXPECT_THAT(batch.value, ElementsAre(1, 3, 4, 8, 11, 12));
  EXPECT_THAT(batch.by_variable, ElementsAre(0, 1, 4, 2, 3, 5));
  EXPECT_THAT(batch.var_start, ElementsAre(0, 1, 1, 3, 6));
  EXPECT_THAT(batch.by_rank, ElementsAre(0, 1, 4));
  EXPECT_THAT(batch.rank_start, ElementsAre(0, 1, 1, 3));
}

TEST(Batch, OneVariableHasNoRanks) {
  const Batch batch = batch_of({1, 6, 0, 20, 4}, {{{0}, {1}}, {{0}, {2}}});
  EXPECT_THAT(batch.rank, ElementsAre(-1, -1));
  EXPECT_THAT(batch.by_variable, ElementsAre(0, 1));
  EXPECT_THAT(batch.var_start, ElementsAre(0, 2));
  EXPECT_TRUE(batch.by_rank.empty());
  EXPECT_THAT(batch.rank_start, ElementsAre(0));
}

// Only the values of the subset are taken, and finishing twice is finishing once.
TEST(Batch, GrowsAfterFinish) {
  const Shape shape{4, 6, 3, 20, 4};
  Random random(Key{8});
  const auto rows = random_rows(random, shape, 9);
  Batch batch = batch_of(shape, {rows.begin(), rows.begin() + 4});
  for (auto row = rows.begin() + 4; row != rows.end(); ++row) batch.add(row->subset, row->values.data());
  batch.finish();
  batch.finish();
  const Batch whole = batch_of(shape, rows);
  EXPECT_EQ(batch.by_variable, whole.by_variable);
  EXPECT_EQ(batch.by_rank, whole.by_rank);
  EXPECT_EQ(batch.var_start, whole.var_start);
  EXPECT_EQ(batch.rank_start, whole.rank_start);
  EXPECT_EQ(batch.value, whole.value);
}

}  // namespace
}  // namespace fansite::flow
