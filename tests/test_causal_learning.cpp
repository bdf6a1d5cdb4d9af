// SPDX-License-Identifier: Apache-2.0
//
// What methods that learn weights share: the table, states and their files, runs that are interrupted and continued,
// and the graph that weights make.
#include "fansite/causal/neural/learning.h"

#include "checkpoint_examples.h"
#include "fansite/causal/neural/detail/learning_file.h"
#include "learning_examples.h"
#include "properties.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;

// ---- The table and the graph ----------------------------------------------------------------------------------------

TEST(LearningTable, ColumnsAreScaledAsAsked) {
  Matrix values(4, 2);
  values << 1, 5, 2, 5, 3, 5, 6, 5;
  EXPECT_EQ(scaled(values, Columns::as_they_are), values);
  EXPECT_TRUE(scaled(values, Columns::centred).col(0).isApprox(Vector{{-2, -1, 0, 3}}));
  const Matrix standard = scaled(values, Columns::standardised);
  EXPECT_NEAR(standard.col(0).squaredNorm() / 3, 1, 1e-15);
  EXPECT_TRUE(standard.col(1).isZero());
}

TEST(LearningTable, ColumnsThatTakeNoPartAreLeftOut) {
  Dataset data = linear_chain(20, 1);
  data.values.col(1).setConstant(4);
  NoProgress silent;
  const Context context(data, {}, {}, silent);
  const LearningTable table = learning_table(context, Columns::as_they_are, "m");
  EXPECT_THAT(table.columns, testing::ElementsAre(0, 2));
  EXPECT_EQ(table.table_columns, 3);
  Matrix weights(2, 2);
  weights << 0, -0.7, 0.2, 0;
  const GraphAnswer answer = weighted_answer(table, weights, 0.3, "m");
  EXPECT_EQ(answer.graph.directed.cast<int>().sum(), 1);
  EXPECT_EQ(answer.graph.directed(0, 2), 1);
  EXPECT_EQ(answer.weights(0, 2), -0.7);
  EXPECT_EQ(answer.weights(2, 0), 0.2);
  EXPECT_TRUE(answer.warnings.empty());
}

TEST(WeightedAnswer, SaysWhatACycleCost) {
  const LearningTable table{Matrix::Zero(3, 2), {0, 1}, 2};
  Matrix weights(2, 2);
  weights << 0, 0.5, 0.6, 0;
  const GraphAnswer answer = weighted_answer(table, weights, 0.3, "m");
  EXPECT_EQ(answer.graph.directed(1, 0), 1);
  EXPECT_EQ(answer.graph.directed(0, 1), 0);
  EXPECT_THAT(answer.warnings, testing::ElementsAre(HasSubstr("1 of 2 weights at or above 0.3 would close a cycle")));
  weights(0, 1) = kNaN;
  EXPECT_THAT(message_of<DataError>([&] { weighted_answer(table, weights, 0.3, "m"); }), HasSubstr("[m] weights"));
}

// ---- States ---------------------------------------------------------------------------------------------------------

LearningCheckpoint some_checkpoint(Random& random) {
  LearningCheckpoint checkpoint{{20, 3, random.bits(), "any \"words\", größer"}, {}};
  const std::array<double, 6> odd = {kNaN, kInfinity, -kInfinity, -0.0, 5e-324, 1};
  for (std::uint32_t k = random.below(6); k > 0; --k) checkpoint.state.numbers.push_back(odd[random.below(6)]);
  for (std::uint32_t k = random.below(5); k > 0; --k) {
    checkpoint.state.vectors.emplace_back(random.below(30), odd[random.below(6)]);
  }
  return checkpoint;
}

std::string error_of(std::string_view bytes) {
  return message_of<DataError>([&] { parse_learning_checkpoint(bytes, "x.graph"); });
}

TEST(LearningFile, EveryBitComesBack) {
  EXPECT_TRUE(rc::check("to_bytes(parse(bytes)) == bytes", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const LearningCheckpoint checkpoint = some_checkpoint(random);
    const std::string bytes = to_bytes(checkpoint);
    const LearningCheckpoint back = parse_learning_checkpoint(bytes, "x");
    RC_ASSERT(back.identity == checkpoint.identity);
    RC_ASSERT(to_bytes(back) == bytes);
  }));
}

TEST(LearningFile, DamageAtAnyPlaceIsNoticed) {
  Random random(Key{1});
  expect_damage_noticed(to_bytes(some_checkpoint(random)), error_of);
  EXPECT_THAT(error_of("hello"), HasSubstr("not a checkpoint that fansite has written"));
  EXPECT_THAT(error_of(to_bytes(small_scores())), HasSubstr("names another state"));
}

TEST(StateReader, RefusesOtherShapes) {
  const LearningState state{{2, 0.5, -1}, {{1, 2}}};
  StateReader reader(state);
  EXPECT_EQ(reader.count(2), 2);
  EXPECT_THROW(reader.count(9), UsageError);  // 0.5 is no count
  EXPECT_THROW(reader.count(9), UsageError);  // nor is −1
  EXPECT_THROW(reader.number(), UsageError);
  EXPECT_THROW(reader.end(), UsageError);
  EXPECT_THROW(reader.vector(3), UsageError);
  EXPECT_EQ(reader.vector(2).size(), 2u);
  reader.end();
  StateReader again(state);
  EXPECT_THROW(again.count(1), UsageError);
}

// ---- Interrupted and continued --------------------------------------------------------------------------------------

class LearningCheckpointTest : public CheckpointTest {
 protected:
  CausalGraphResult run(const std::string& method, const Options& options, const std::string& checkpoint,
                        Progress& progress) {
    RunParams params;
    params.checkpoint = checkpoint;
    params.seed = 3;
    return learnt(method, options, data, progress, params);
  }
  Dataset data = simulate_linear(5, 1.5, 120, 3).data;
};

const std::vector<std::pair<std::string, Options>> kMethods = {
    {"dagma", {{"iterations", std::int64_t{150}}, {"last_iterations", std::int64_t{200}}}},
    {"dagma",
     {{"relations", std::string("linear")}, {"iterations", std::int64_t{150}}, {"last_iterations", std::int64_t{200}}}},
    {"notears", {}},
    {"cosmo", {{"epochs", std::int64_t{12}}}},
    {"cosmo", {{"relations", std::string("linear")}, {"epochs", std::int64_t{12}}}}};

TEST_F(LearningCheckpointTest, GoesOnWithTheSameBits) {
  NoProgress silent;
  for (const auto& [method, options] : kMethods) {
    SCOPED_TRACE(method);
    const CausalGraphResult straight = run(method, options, "", silent);
    for (const long limit : {1L, 4L, 7L}) {
      Limited some(limit);
      try {
        run(method, options, path, some);
      } catch (const Interrupted&) {
        EXPECT_TRUE(fs::exists(path + ".graph"));
      }
      const CausalGraphResult continued = run(method, options, path, silent);
      EXPECT_EQ(continued.weights, straight.weights);
      EXPECT_EQ(continued.details, straight.details);
      EXPECT_EQ(continued.graph.directed, straight.graph.directed);
      EXPECT_EQ(files(), 0u);
    }
  }
}

// What time cut short stays, and goes on with more time.
TEST_F(LearningCheckpointTest, GoesOnAfterTimeRanOut) {
  NoProgress silent;
  for (const auto& [method, options] : kMethods) {
    SCOPED_TRACE(method);
    RunsOut soon(3);
    EXPECT_NE(run(method, options, path, soon).unfinished, "");
    EXPECT_EQ(files(), 1u);
    EXPECT_EQ(run(method, options, path, silent).weights, run(method, options, "", silent).weights);
    EXPECT_EQ(files(), 0u);
  }
}

TEST_F(LearningCheckpointTest, OfOtherSettingsIsRefused) {
  NoProgress silent;
  Limited some(3);
  const auto& [method, options] = kMethods.front();
  EXPECT_THROW(run(method, options, path, some), Interrupted);
  Options other = options;
  other.emplace_back("l1", 0.5);
  EXPECT_THAT(message_of<UsageError>([&] { run(method, other, path, silent); }), HasSubstr("other settings"));
  EXPECT_THAT(message_of<UsageError>([&] { run("notears", {}, path, silent); }), HasSubstr("other settings"));
  data.values(0, 0) += 1;
  EXPECT_THAT(message_of<UsageError>([&] { run(method, options, path, silent); }), HasSubstr("another table"));
  put(path + ".graph", "something else");
  EXPECT_THAT(message_of<DataError>([&] { run(method, options, path, silent); }), HasSubstr(path + ".graph"));
}

}  // namespace
}  // namespace fansite::causal
