// SPDX-License-Identifier: Apache-2.0
//
// Which nodes a subset uses, against the authors' ranks and the formula, and the packed weights: every parameter that a
// subset can use has a place of its own.
#include "fansite/entropy/flow/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "fansite/base/error.h"
#include "fansite/entropy/flow/weights.h"
#include "golden.h"
#include "properties.h"
#include "support.h"

namespace fansite::flow {
namespace {

using testing::ElementsAre;

Shape compact(int variables, int ranks) {
  Shape shape;
  shape.variables = variables;
  shape.ranks = ranks;
  return shape;
}

TEST(LargestSet, IsAllOthersOrLeavesRoomForTheTargetAndOneMore) {
  EXPECT_EQ(largest_set(compact(1, 0)), 0);
  EXPECT_EQ(largest_set(compact(2, 1)), 1);
  EXPECT_EQ(largest_set(compact(3, 1)), 0);
  EXPECT_EQ(largest_set(paper_shape(99)), 98);
  EXPECT_EQ(largest_set(paper_shape(100)), 59);
}

// Every subset that the shape allows.
template <class Visit>
void for_each_subset(const Shape& shape, Visit&& visit) {
  for (unsigned mask = 1; mask < 1u << shape.variables; ++mask) {
    Subset subset;
    for (int j = 0; j < shape.variables; ++j) {
      if ((mask >> j & 1u) != 0) subset.push_back(j);
    }
    if (static_cast<int>(subset.size()) <= shape.ranks + 1) visit(subset);
  }
}

// Every shape of up to 8 variables, as far as ranks are concerned.
template <class Visit>
void for_each_small_shape(Visit&& visit) {
  for (int d = 1; d <= 8; ++d) {
    for (int ranks = std::min(1, d - 1); ranks < d; ++ranks) visit(compact(d, ranks));
  }
}

// ---- Ranks ----------------------------------------------------------------------------------------------------------

// As spec/fans.md section 1 has it, from 1: ⌈R·i/(d−1)⌉, then r_p ← max over q≤p of (r_q − q) + p, then
// r_p ← min(r_p, min(r_last, R) − (number of ranks after p)).
std::vector<int> ranks_by_formula(const Shape& shape, const Subset& subset) {
  const std::size_t count = subset.size() - 1;
  std::vector<int> base, left, right;
  for (std::size_t p = 0; p < count; ++p) {
    base.push_back(static_cast<int>(std::ceil(double(shape.ranks) * (subset[p] + 1) / (shape.variables - 1))));
  }
  for (std::size_t p = 0; p < count; ++p) {
    int largest = base[0];
    for (std::size_t q = 0; q <= p; ++q) largest = std::max(largest, base[q] - static_cast<int>(q));
    left.push_back(largest + static_cast<int>(p));
  }
  for (std::size_t p = 0; p < count; ++p) {
    const int after = static_cast<int>(count - 1 - p);
    right.push_back(std::min(left[p], std::min(left.back(), shape.ranks) - after) - 1);
  }
  return right;
}

class GoldenRanks : public GoldenTest {};

TEST_P(GoldenRanks, EqualTheAuthors) {
  for (std::size_t i = 0; i < golden.subsets.size(); ++i) {
    const Subset& subset = golden.subsets[i];
    std::vector<int> expected(static_cast<std::size_t>(golden.shape.variables));  // 0: no rank
    const auto ranks = ranks_of(golden.shape, subset);
    for (std::size_t p = 0; p < ranks.size(); ++p) expected[static_cast<std::size_t>(subset[p])] = ranks[p] + 1;
    EXPECT_EQ(golden.rank_per_variable[i], expected) << "row " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenRanks, golden_files(), golden_name);

TEST(Ranks, ExampleOfThePaper) {
  // R = 6, d−1 = 12: variables 1, 2, 3, 11, 12 start at [1,1,2,6,6] → [1,2,3,6,7] → [1,2,3,5,6]; 13 is the last.
  EXPECT_THAT(ranks_of(compact(13, 6), Subset{0, 1, 2, 10, 11, 12}), ElementsAre(0, 1, 2, 4, 5));
}

TEST(Ranks, EveryRankIsUsedWhenThereIsOneForEach) {
  EXPECT_THAT(ranks_of(compact(12, 3), Subset{0, 1, 2, 3}), ElementsAre(0, 1, 2));
  EXPECT_THAT(ranks_of(compact(12, 3), Subset{8, 9, 10, 11}), ElementsAre(0, 1, 2));
}

TEST(Ranks, OneVariableHasNone) {
  EXPECT_TRUE(ranks_of(compact(1, 0), Subset{0}).empty());
  EXPECT_TRUE(ranks_of(compact(12, 3), Subset{7}).empty());
}

// In the compact version a member can lower the ranks of those before it, so a subset's terms are not those of its
// prefixes: nobody may cache them by prefix alone.
TEST(Ranks, DependOnLaterMembersInTheCompactVersion) {
  EXPECT_THAT(ranks_of(compact(12, 5), Subset{9, 10}), ElementsAre(4));
  EXPECT_THAT(ranks_of(compact(12, 5), Subset{9, 10, 11}), ElementsAre(3, 4));
}

TEST(Ranks, Properties) {
  EXPECT_TRUE(rc::check("increasing, within bounds, as the formula says", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, 300);
    const Layout layout(shape);
    const Subset subset = random_subset(random, shape, 1);
    const auto ranks = ranks_of(shape, subset);
    RC_ASSERT(ranks.size() == subset.size() - 1);
    RC_ASSERT(ranks == ranks_by_formula(shape, subset));
    for (std::size_t p = 0; p < ranks.size(); ++p) {
      RC_ASSERT(ranks[p] >= (p == 0 ? 0 : ranks[p - 1] + 1));
      RC_ASSERT(ranks[p] <= std::min(subset[p], shape.ranks - 1));
      if (shape.full()) RC_ASSERT(ranks[p] == subset[p]);
      RC_ASSERT(subset[p] < layout.inputs(ranks[p]));
      RC_ASSERT(ranks[p] < layout.fan_in(subset[p + 1]));
    }
  }));
}

TEST(Ranks, TooLargeSubsetsAreRefused) {
  EXPECT_EQ(message_of<UsageError>([] {
              ranks_of(compact(12, 3), Subset{0, 1, 2, 3, 4});
            }),
            "[flow] a subset of 5 variables; a flow with 3 ranks allows 4");
  EXPECT_EQ(message_of<UsageError>([] { ranks_of(compact(12, 3), Subset{}); }), "[flow] the empty subset has no ranks");
}

// ---- Shapes ---------------------------------------------------------------------------------------------------------

TEST(PaperShape, IsThePapers) {
  struct Case {
    int variables, max_size, ranks, outputs;
  };
  for (const Case& c :
       {Case{1, 0, 0, 20}, Case{2, 1, 1, 20}, Case{10, 9, 9, 20}, Case{20, 19, 19, 20}, Case{25, 20, 24, 20},
        Case{30, 20, 29, 20}, Case{99, 20, 98, 20}, Case{100, 30, 60, 16}, Case{1000, 30, 60, 16}}) {
    EXPECT_EQ(paper_max_size(c.variables), c.max_size) << c.variables;
    EXPECT_EQ(paper_shape(c.variables), (Shape{c.variables, 6, c.ranks, c.outputs, 4})) << c.variables;
    EXPECT_EQ(paper_shape(c.variables).full(), c.variables < 100);
    EXPECT_NO_THROW(validate(paper_shape(c.variables)));
  }
  EXPECT_EQ(message_of<UsageError>([] { paper_shape(0); }), "[flow] a flow needs at least one variable, got 0");
}

TEST(Validate, SaysWhatIsWrong) {
  const auto message = [](const Shape& shape) { return message_of<UsageError>([&] { validate(shape); }); };
  EXPECT_EQ(message({0, 6, 0, 20, 4}), "[flow] a flow needs at least one variable, got 0");
  EXPECT_EQ(message({5, 0, 4, 20, 4}), "[flow] 0 blocks; use 1 to 1024");
  EXPECT_EQ(message({5, 1025, 4, 20, 4}), "[flow] 1025 blocks; use 1 to 1024");
  EXPECT_EQ(message({5, 6, 4, 0, 4}), "[flow] 0 outputs per variable; use 1 to 1024");
  EXPECT_EQ(message({5, 6, 4, 20, 17}), "[flow] 17 sigmoids; use 1 to 16");
  EXPECT_EQ(message({5, 6, 0, 20, 4}), "[flow] 0 ranks for 5 variables; use 1 to 4");
  EXPECT_EQ(message({5, 6, 5, 20, 4}), "[flow] 5 ranks for 5 variables; use 1 to 4");
  EXPECT_EQ(message({1, 6, 1, 20, 4}), "[flow] 1 ranks for 1 variables; use 0 to 0");
  EXPECT_EQ(message({5, 6, 4, 20, 4}), "nothing was thrown");
  EXPECT_THROW(zero_parameters({5, 6, 5, 20, 4}), UsageError);
}

// ---- Packed weights -------------------------------------------------------------------------------------------------

// 0 for the entries that the layout leaves out.
Parameters where_it_exists(const Layout& layout, const Parameters& parameters) {
  const Shape& shape = layout.shape;
  Parameters p = parameters;
  for (int b = 0; b < shape.blocks; ++b) {
    for (int r = 0; r < shape.ranks; ++r) {
      const Index node = Index{b} * shape.ranks + r;
      for (int i = layout.inputs(r); i < shape.variables; ++i) p.w1(node, i) = 0;
      for (int j = 0; j < shape.variables; ++j) {
        if (r >= layout.fan_in(j)) p.w2.block(Index{j} * shape.outputs, node, shape.outputs, 1).setZero();
      }
    }
  }
  return p;
}

TEST(Layout, HasExactlyThePairsThatSubsetsUse) {
  for_each_small_shape([](const Shape& shape) {
    const Layout layout(shape);
    std::set<std::pair<int, int>> used_w1, used_w2, w1, w2;  // (rank, variable)
    for_each_subset(shape, [&](const Subset& subset) {
      const auto ranks = ranks_of(shape, subset);
      for (std::size_t p = 0; p < ranks.size(); ++p) {
        for (std::size_t q = 0; q <= p; ++q) used_w1.emplace(ranks[p], subset[q]);
        for (std::size_t q = p + 1; q < subset.size(); ++q) used_w2.emplace(ranks[p], subset[q]);
      }
    });
    for (int r = 0; r < shape.ranks; ++r) {
      for (int i = 0; i < layout.inputs(r); ++i) w1.emplace(r, i);
    }
    for (int j = 0; j < shape.variables; ++j) {
      for (int r = 0; r < layout.fan_in(j); ++r) w2.emplace(r, j);
    }
    EXPECT_EQ(w1, used_w1) << "d " << shape.variables << " R " << shape.ranks;
    EXPECT_EQ(w2, used_w2) << "d " << shape.variables << " R " << shape.ranks;
  });
}

TEST(Weights, ComeBackInSinglePrecision) {
  EXPECT_TRUE(rc::check("unpack(pack(p)) is p rounded where an entry exists, 0 elsewhere", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Shape shape = random_shape(random, 12);
    const Parameters parameters = random_parameters(shape, random);
    const Weights weights = pack(parameters);
    RC_ASSERT(weights.shape() == shape);
    const Parameters expected = where_it_exists(weights.layout, parameters), back = unpack(weights);
    RC_ASSERT(back.shape == shape);
    for (std::size_t t = 0; t < 8; ++t) {
      const auto from = tensors(expected)[t].values, to = tensors(back)[t].values;
      RC_ASSERT(from.size() == to.size());
      for (std::size_t i = 0; i < from.size(); ++i) {
        RC_ASSERT(to[i] == static_cast<double>(static_cast<float>(from[i])));
      }
    }
  }));
}

TEST(Weights, EveryParameterHasAPlaceOfItsOwn) {
  EXPECT_TRUE(rc::check("as many places differ from zero as there are parameters; the rest is padding", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    Parameters parameters = zero_parameters(random_shape(random, 12));
    for (const auto& tensor : tensors(parameters)) std::ranges::fill(tensor.values, 1.0);
    const Weights weights = pack(parameters);
    const Parameters existing = where_it_exists(weights.layout, parameters);
    double count = 0, used = 0;
    for (const auto& tensor : tensors(existing)) {
      for (const double value : tensor.values) count += value;
    }
    for (const float value : weights.values) {
      RC_ASSERT(value == 0.0f || value == 1.0f);
      used += static_cast<double>(value);
    }
    RC_ASSERT(used == count);
    RC_ASSERT(static_cast<Index>(weights.values.size()) == weights.layout.size);
  }));
}

TEST(Weights, BlocksStartAtWholeVectors) {
  EXPECT_TRUE(rc::check("tensors and blocks", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Layout layout(random_shape(random, 40));
    std::vector<Index> starts = {layout.w1, layout.s1, layout.b1, layout.w2,   layout.s2,
                                 layout.b2, layout.v,  layout.c,  layout.size, layout.w2_block};
    starts.insert(starts.end(), layout.w1_rows.begin(), layout.w1_rows.end());
    starts.insert(starts.end(), layout.w2_blocks.begin(), layout.w2_blocks.end());
    for (const Index start : starts) RC_ASSERT(start % Layout::kChunk == 0);
  }));
}

}  // namespace
}  // namespace fansite::flow
