// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/roles.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "properties.h"

namespace fansite::causal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Pairs = std::vector<std::pair<int, int>>;

PartialDag graph(int nodes, const Pairs& directed, const Pairs& undirected = {}) {
  PartialDag result{ByteMatrix::Zero(nodes, nodes), ByteMatrix::Zero(nodes, nodes)};
  for (const auto& [i, j] : directed) result.directed(i, j) = 1;
  for (const auto& [i, j] : undirected) result.undirected(i, j) = result.undirected(j, i) = 1;
  return result;
}

/// "1 parent", "3 spouse through 2 4", …
std::vector<std::string> told(const PartialDag& graph, int target) {
  std::vector<std::string> lines;
  for (const RoleOf& found : roles(graph, target)) {
    std::string& line = lines.emplace_back(fmt::format("{} {}", found.variable, name(found.role)));
    if (!found.through.empty()) line += " through";
    for (const int child : found.through) line += fmt::format(" {}", child);
  }
  return lines;
}

TEST(Roles, AParentPointsHereAndAChildIsPointedAt) {
  const PartialDag chain = graph(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_THAT(told(chain, 1), ElementsAre("0 parent", "2 child"));
  EXPECT_THAT(told(chain, 0), ElementsAre("1 child"));  // not the child's child
  EXPECT_THAT(told(chain, 3), ElementsAre("2 parent"));
}

TEST(Roles, AnotherParentOfAChildIsASpouseThroughIt) {
  const PartialDag collider = graph(4, {{0, 1}, {2, 1}, {1, 3}});
  EXPECT_THAT(told(collider, 0), ElementsAre("1 child", "2 spouse through 1"));
  EXPECT_THAT(told(collider, 2), ElementsAre("0 spouse through 1", "1 child"));
  EXPECT_THAT(told(collider, 1), ElementsAre("0 parent", "2 parent", "3 child"));
}

TEST(Roles, ASpouseNamesAllTheCommonChildrenInOrder) {
  const PartialDag several = graph(6, {{5, 4}, {5, 1}, {5, 2}, {0, 4}, {0, 2}, {0, 3}, {3, 1}});
  EXPECT_THAT(told(several, 5),
              ElementsAre("0 spouse through 2 4", "1 child", "2 child", "3 spouse through 1", "4 child"));
  EXPECT_THAT(told(several, 0), ElementsAre("2 child", "3 child", "4 child", "5 spouse through 2 4"));
}

TEST(Roles, ANeighbourThatIsASpouseTooIsToldAsANeighbour) {
  const PartialDag triangle = graph(3, {{0, 1}, {0, 2}, {1, 2}});
  EXPECT_THAT(told(triangle, 0), ElementsAre("1 child", "2 child"));
  EXPECT_THAT(told(triangle, 1), ElementsAre("0 parent", "2 child"));
  EXPECT_THAT(told(graph(3, {{0, 2}, {1, 2}}, {{0, 1}}), 0), ElementsAre("1 undecided", "2 child"));
}

TEST(Roles, ANeighbourOfUnknownDirectionIsUndecidedAndMakesNoSpouses) {
  const PartialDag open = graph(4, {{2, 1}, {3, 0}}, {{0, 1}});
  EXPECT_THAT(told(open, 0), ElementsAre("1 undecided", "3 parent"));
  EXPECT_THAT(told(open, 1), ElementsAre("0 undecided", "2 parent"));
  EXPECT_THAT(told(open, 2), ElementsAre("1 child"));
}

TEST(Roles, AVariableApartHasNone) {
  EXPECT_THAT(told(graph(3, {{0, 1}}), 2), IsEmpty());
  EXPECT_THAT(told(graph(1, {}), 0), IsEmpty());
}

TEST(RolesProperties, OfADirectedGraphAreItsMarkovBoundaries) {
  EXPECT_TRUE(rc::check("the variables listed are the Markov boundary, each in the role that the graph gives it", [] {
    const int nodes = *rc::gen::resize(100, rc::gen::inRange(1, 9));
    const std::vector<int> place =
        *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(nodes), rc::gen::inRange(0, 1000));
    ByteMatrix adjacency = ByteMatrix::Zero(nodes, nodes);
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < nodes; ++j) {
        const auto of_i = std::pair(place[static_cast<std::size_t>(i)], i);
        const auto of_j = std::pair(place[static_cast<std::size_t>(j)], j);
        if (of_i < of_j) adjacency(i, j) = *rc::gen::weightedElement<unsigned char>({{2, 0}, {1, 1}});
      }
    }
    const Dag dag(adjacency);
    const PartialDag partial{adjacency, ByteMatrix::Zero(nodes, nodes)};
    for (int target = 0; target < nodes; ++target) {
      std::vector<int> listed;
      for (const RoleOf& found : roles(partial, target)) {
        listed.push_back(found.variable);
        RC_ASSERT((found.role == Role::parent) == dag.has_edge(found.variable, target));
        RC_ASSERT((found.role == Role::child) == dag.has_edge(target, found.variable));
        RC_ASSERT((found.role == Role::spouse) == !found.through.empty());
        for (const int child : found.through) {
          RC_ASSERT(dag.has_edge(target, child) && dag.has_edge(found.variable, child));
        }
      }
      RC_ASSERT(listed == dag.markov_boundary(target));
    }
  }));
}

}  // namespace
}  // namespace fansite::causal
