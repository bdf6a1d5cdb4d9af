// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fansite/boundary/baselines/order.h"

namespace fansite {
namespace {

using List = std::vector<int>;

TEST(MemberOrder, PysetIsCPythons) {
  EXPECT_EQ(pyset_order({9, 1, 20, 3}), (List{9, 3, 20, 1}));
  EXPECT_EQ(pyset_order({17, 9, 1, 25, 3}), (List{1, 3, 9, 17, 25}));
  EXPECT_EQ(pyset_order({}), List{});
  // of CPython 3.11: list(set([64, 32, 16, 8, 0])), of as many as 19 numbers, and of numbers beyond the table
  EXPECT_EQ(pyset_order({64, 32, 16, 8, 0}), (List{64, 32, 0, 8, 16}));
  EXPECT_EQ(pyset_order({99, 3, 57, 41, 25, 73, 9, 1, 89, 33, 65, 17, 97, 2, 66, 34, 98, 5, 90}),
            (List{1, 2, 3, 5, 9, 17, 25, 33, 34, 41, 57, 65, 66, 73, 89, 90, 97, 98, 99}));
  EXPECT_EQ(pyset_order({4999, 1234, 8, 16, 24, 777}), (List{4999, 8, 777, 16, 1234, 24}));
}

TEST(MemberOrder, IndexIsAscendingAndKeptIsKept) {
  EXPECT_EQ(in_order({3, 1, 2}, MemberOrder::kept), (List{3, 1, 2}));
  EXPECT_EQ(in_order({3, 1, 2}, MemberOrder::index), (List{1, 2, 3}));
  EXPECT_EQ(in_order({9, 1, 20, 3}, MemberOrder::pyset), (List{9, 3, 20, 1}));
}

}  // namespace
}  // namespace fansite
