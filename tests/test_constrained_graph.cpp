// SPDX-License-Identifier: Apache-2.0
//
// Boundaries that satisfy prior knowledge, in every kind of search.
#include "fansite/causal/constrained_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fansite/base/error.h"
#include "fansite/run/boundaries.h"
#include "fansite/simulate/simulate.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Kind = Statement::Kind;

// x0 → x2 ← x1, x2 → x3, and x4 apart.
Dataset collider_table(Index rows = 1000) {
  Random random(Key{1});
  Dataset data;
  data.names = {"x0", "x1", "x2", "x3", "x4"};
  data.values.resize(rows, 5);
  for (Index i = 0; i < rows; ++i) {
    const double x0 = random.normal(), x1 = random.normal();
    const double x2 = x0 + x1 + random.normal();
    data.values.row(i) << x0, x1, x2, 0.8 * x2 + random.normal(), random.normal();
  }
  return data;
}

Knowledge known(const Dataset& data, std::vector<Statement> statements) { return {data.names, std::move(statements)}; }

BoundariesParams gaussian(StopRule stop = StopRule::calibrated, Symmetry rule = Symmetry::or_) {
  BoundariesParams params;
  params.fansite().estimator = "gaussian";
  params.fansite().search.stop = stop;
  params.fansite().search.rule = rule;
  return params;
}

BoundariesParams small_flow() {
  BoundariesParams params;
  params.fansite().estimator = "flow";
  params.fansite().folds = 2;
  params.fansite().repeats = 1;
  params.fansite().steps = 300;
  return params;
}

BoundariesResult find(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params) {
  NoProgress silent;
  return markov_boundaries(data, knowledge, params, silent);
}

const Boundary& boundary_of(const BoundariesResult& result, int target) {
  return result.found.boundaries[static_cast<std::size_t>(target)];
}

TEST(Constraints, APairOutOfEachOthersBoundaryIsNeitherInNorANearMiss) {
  const Dataset data = collider_table();
  const Knowledge knowledge = known(data, {{Kind::not_in_boundary, 2, 3}});
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    for (const Symmetry rule : {Symmetry::or_, Symmetry::and_, Symmetry::none}) {
      const BoundariesResult free = find(data, Knowledge(), gaussian(stop, rule));
      ASSERT_THAT(boundary_of(free, 2).member_indices(), Contains(3));
      const BoundariesResult result = find(data, knowledge, gaussian(stop, rule));
      EXPECT_THAT(boundary_of(result, 2).member_indices(), Not(Contains(3)));
      EXPECT_THAT(boundary_of(result, 3).member_indices(), Not(Contains(2)));
      for (const NearMiss& miss : boundary_of(result, 2).near_misses) EXPECT_NE(miss.candidate.variable, 3);
      for (const int parent : {0, 1}) EXPECT_THAT(boundary_of(result, 2).member_indices(), Contains(parent));
    }
  }
}

TEST(Constraints, AKnownMemberIsInAndSaysSo) {
  const Dataset data = collider_table();
  const Knowledge knowledge = known(data, {{Kind::require, 4, 0}});
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    for (const Symmetry rule : {Symmetry::or_, Symmetry::and_, Symmetry::none}) {
      const BoundariesResult free = find(data, Knowledge(), gaussian(stop, rule));
      ASSERT_THAT(boundary_of(free, 4).member_indices(), IsEmpty());
      const BoundariesResult result = find(data, knowledge, gaussian(stop, rule));
      ASSERT_EQ(boundary_of(result, 4).member_indices(), std::vector<int>({0}));
      ASSERT_EQ(boundary_of(result, 0).members.front().variable, 4);  // known before anything is searched
      for (const Boundary& boundary : result.found.boundaries) {
        for (const Member& member : boundary.members) {
          EXPECT_EQ(member.by_knowledge, boundary.target + member.variable == 4 && member.variable != 2);
          EXPECT_FALSE(member.by_symmetry && member.by_knowledge);
          EXPECT_EQ(std::isnan(member.q_value), member.by_knowledge);
          if (member.by_knowledge) {
            EXPECT_GT(member.p_value, 0.001);  // what the data say: nothing
            EXPECT_LT(member.gain, 0.01);
          }
        }
      }
    }
  }
}

TEST(Constraints, WhatIsKnownIsNotPaidFor) {
  // 40 variables of noise and one weak link: among 780 pairs it is within chance, among the one pair left it is not.
  Dataset data;
  Random random(Key{5});
  data.values.resize(500, 40);
  for (Index j = 0; j < 40; ++j) {
    data.names.push_back(fmt::format("x{}", j));
    for (Index i = 0; i < 500; ++i) data.values(i, j) = random.normal();
  }
  data.values.col(1) += 0.1 * data.values.col(0);
  std::vector<Statement> statements;
  for (int i = 0; i < 40; ++i) {
    for (int j = std::max(i + 1, 2); j < 40; ++j) statements.push_back({Kind::not_in_boundary, i, j});
  }
  const BoundariesResult free = find(data, Knowledge(), gaussian());
  const BoundariesResult result = find(data, known(data, statements), gaussian());
  EXPECT_THAT(boundary_of(free, 0).member_indices(), IsEmpty());
  EXPECT_EQ(boundary_of(result, 0).member_indices(), std::vector<int>({1}));
  EXPECT_EQ(boundary_of(result, 1).member_indices(), std::vector<int>({0}));
  EXPECT_DOUBLE_EQ(boundary_of(result, 0).members[0].q_value, boundary_of(result, 0).members[0].p_value);
}

TEST(Constraints, AreSatisfiedByFlowsToo) {
  const Dataset data = collider_table(400);
  const Knowledge knowledge = known(data, {{Kind::not_in_boundary, 2, 3}, {Kind::require, 4, 0}});
  for (const StopRule stop : {StopRule::calibrated, StopRule::paper}) {
    for (const Refine refine : {Refine::none, Refine::graph}) {
      BoundariesParams params = small_flow();
      params.fansite().search.stop = stop;
      params.fansite().refine = refine;
      SCOPED_TRACE(fmt::format("{} {}", name(stop), name(refine)));
      BoundariesResult result;
      ASSERT_NO_THROW(result = find(data, knowledge, params));
      EXPECT_THAT(boundary_of(result, 4).member_indices(), Contains(0));
      EXPECT_THAT(boundary_of(result, 0).member_indices(), Contains(4));
      EXPECT_THAT(boundary_of(result, 2).member_indices(), Not(Contains(3)));
      EXPECT_THAT(boundary_of(result, 3).member_indices(), Not(Contains(2)));
      for (const Member& member : boundary_of(result, 4).members) EXPECT_EQ(member.by_knowledge, member.variable == 0);
      if (stop == StopRule::calibrated) {
        EXPECT_EQ(boundary_of(result, 4).path.front().variable, 0);
        EXPECT_TRUE(std::isnan(boundary_of(result, 4).members.front().stability));
      }
    }
  }
}

TEST(Constraints, OneTargetAloneKnowsWhatTheOtherWasToldOf) {
  const Dataset data = collider_table();
  BoundariesParams params = gaussian();
  params.targets = {"x0"};
  const BoundariesResult result = find(data, known(data, {{Kind::require, 4, 0}}), params);
  EXPECT_THAT(result.found.boundaries.front().member_indices(), Contains(4));
  EXPECT_TRUE(result.found.boundaries.front().members.front().by_knowledge);
}

TEST(Constraints, NothingKnownChangesNothing) {
  SimulateParams simulation;
  simulation.nodes = 15;
  simulation.rows = 400;
  simulation.seed = 3;
  const Dataset data = simulate(simulation).data;
  const BoundariesResult free = find(data, Knowledge(), gaussian());
  // A tier that holds everything says nothing either.
  std::vector<Statement> statements;
  for (int j = 0; j < 15; ++j) statements.push_back({Kind::tier, j, 1});
  const BoundariesResult told = find(data, known(data, statements), gaussian());
  for (std::size_t t = 0; t < free.found.boundaries.size(); ++t) {
    const Boundary &one = free.found.boundaries[t], &other = told.found.boundaries[t];
    ASSERT_EQ(one.member_indices(), other.member_indices());
    for (std::size_t m = 0; m < one.members.size(); ++m) {
      EXPECT_EQ(one.members[m].gain, other.members[m].gain);
      EXPECT_EQ(one.members[m].q_value, other.members[m].q_value);
    }
  }
}

TEST(Constraints, RefusesToLearnOfColumnsThatSayNothing) {
  Dataset data = collider_table(100);
  data.values.col(3) = data.values.col(0);
  data.values.col(4).setConstant(2);
  const auto complaint = [&](std::vector<Statement> statements) {
    return message_of<DataError>([&] { find(data, known(data, std::move(statements)), gaussian()); });
  };
  EXPECT_THAT(complaint({{Kind::require, 3, 2}}), HasSubstr("'x3' is a copy of 'x0'; say it of that one"));
  EXPECT_THAT(complaint({{Kind::in_boundary, 1, 4}}), HasSubstr("'x4' is constant"));
  // What is not is no trouble.
  EXPECT_NO_THROW(find(data, known(data, {{Kind::forbid, 3, 2}, {Kind::forbid, 4, 1}}), gaussian()));
  // Knowledge of another table.
  EXPECT_THROW(find(data, Knowledge({"a", "b"}, {{Kind::forbid, 0, 1}}), gaussian()), UsageError);
}

TEST(Constraints, MoreKnownMembersThanRowsAllowAreRefused) {
  SimulateParams simulation;
  simulation.nodes = 10;
  simulation.rows = 8;
  const Dataset data = simulate(simulation).data;
  std::vector<Statement> statements;
  for (int parent = 0; parent < 9; ++parent) statements.push_back({Kind::require, parent, 9});
  EXPECT_THAT(message_of<UsageError>([&] { find(data, known(data, statements), gaussian()); }),
              HasSubstr("9 variables are known to be in one boundary, but 8 rows and the gaussian estimator allow 5"));
}

// Whatever is stated and not contradictory is satisfied; markov_boundaries verifies it and throws else.
TEST(Constraints, HoldsForAnyKnowledge) {
  EXPECT_TRUE(rc::check("any knowledge is satisfied", [] {
    SimulateParams simulation;
    simulation.nodes = *rc::gen::inRange(3, 9);
    simulation.degree = 1;
    simulation.rows = 60;
    simulation.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    const Dataset data = simulate(simulation).data;
    const auto variable = rc::gen::inRange(0, simulation.nodes);
    std::vector<Statement> statements;
    const int count = *rc::gen::inRange(0, 6);
    for (int s = 0; s < count; ++s) {
      const Kind kind = *rc::gen::element(Kind::forbid, Kind::require, Kind::require_link, Kind::root, Kind::sink,
                                          Kind::in_boundary, Kind::not_in_boundary);
      const int a = *variable, b = *variable;
      if (a == b) continue;
      statements.push_back({kind, a, kind == Kind::root || kind == Kind::sink ? Statement::kAny : b});
    }
    Knowledge knowledge;
    try {
      knowledge = Knowledge(data.names, statements);
    } catch (const DataError&) {
      RC_DISCARD("contradictory");
    }
    BoundariesParams params = gaussian(*rc::gen::element(StopRule::calibrated, StopRule::paper),
                                       *rc::gen::element(Symmetry::or_, Symmetry::and_, Symmetry::none));
    const BoundariesResult result = find(data, knowledge, params);
    for (const Boundary& boundary : result.found.boundaries) {
      const std::vector<int> known_here =
          knowledge.empty() ? std::vector<int>() : knowledge.known_boundary(boundary.target);
      for (const Member& member : boundary.members) {
        RC_ASSERT(knowledge.empty() || !knowledge.out_of_boundary(boundary.target, member.variable));
        RC_ASSERT(member.by_knowledge ==
                  (std::find(known_here.begin(), known_here.end(), member.variable) != known_here.end()));
      }
      for (const int z : known_here)
        RC_ASSERT(boundary.members.size() > 0 && [&] {
          const std::vector<int> members = boundary.member_indices();
          return std::find(members.begin(), members.end(), z) != members.end();
        }());
    }
  }));
}

}  // namespace
}  // namespace fansite
