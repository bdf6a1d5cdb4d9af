// SPDX-License-Identifier: Apache-2.0
//
// Searches by additive noise that are interrupted and continued: the same bits in every field as straight through, and
// less work. Files that are damaged, of something else or nowhere to be written give one sentence and do no harm.
#include "fansite/causal/detail/score_file.h"

#include "checkpoint_examples.h"
#include "fansite/base/parallel.h"
#include "fansite/causal/detail/graph_search.h"
#include "fansite/entropy/flow/model_file.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

// ---- Bytes ----------------------------------------------------------------------------------------------------------

ScoreCheckpoint random_scores(Random& random) {
  const int d = 2 + static_cast<int>(random.below(300));
  ScoreCheckpoint checkpoint{{random.below(1000), d, random.bits(), ""}, {}};
  auto& [means, rows] = checkpoint.state;
  const std::size_t length = random.below(5);
  for (std::uint32_t n = random.below(30); n > 0; --n) {
    std::vector<int> order = random.permutation(d);
    const auto parents = random.below(static_cast<std::uint32_t>(d));
    const auto children = 1 + random.below(static_cast<std::uint32_t>(d) - parents);
    ScoreGroup group{{order.begin(), order.begin() + parents},
                     {order.begin() + parents, order.begin() + parents + children}};
    std::sort(group.parents.begin(), group.parents.end());
    auto& scores = means[group];
    scores.clear();
    for (std::uint32_t c = 0; c < children; ++c) scores.push_back(random.coin() ? random.normal() / 3 : kNaN);
    group.children.resize(1);
    rows[group].assign(length, static_cast<float>(random.normal()));
  }
  return checkpoint;
}

std::string error_of(std::string_view bytes) {
  return message_of<DataError>([&] { parse_score_checkpoint(bytes, "x.graph"); });
}

TEST(Bytes, EveryBitComesBack) {
  EXPECT_TRUE(rc::check("to_bytes(parse(bytes)) == bytes", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const ScoreCheckpoint checkpoint = random_scores(random);
    const std::string bytes = to_bytes(checkpoint);
    const ScoreCheckpoint back = parse_score_checkpoint(bytes, "x");
    RC_ASSERT(back.identity == checkpoint.identity);
    RC_ASSERT(to_bytes(back) == bytes);
  }));
  EXPECT_EQ(to_bytes(small_scores()).substr(0, 16), std::string("FANSITE\x1a\x03\0\0\0\x03\0\0\0", 16));
}

TEST(Bytes, ScoresComeBackAsTheyWere) {
  const ScoreCheckpoint saved = small_scores(), back = parse_score_checkpoint(to_bytes(saved), "x");
  EXPECT_EQ(back.identity, saved.identity);
  EXPECT_EQ(back.state.means, saved.state.means);
  EXPECT_EQ(back.state.rows, saved.state.rows);
  EXPECT_TRUE(std::signbit(back.state.means.begin()->second[1]));
}

TEST(Bytes, DamageAtAnyPlaceIsNoticed) { expect_damage_noticed(to_bytes(small_scores()), error_of); }

TEST(Bytes, OtherFilesAreNamed) {
  EXPECT_THAT(error_of("a,b\n1,2\n"), HasSubstr("looks like a table of data, not a checkpoint"));
  EXPECT_THAT(error_of("hello"), HasSubstr("not a checkpoint that fansite has written"));
  std::string other = to_bytes(small_scores());
  EXPECT_THAT(message_of<DataError>([&] { flow::parse_model(other, "x"); }),
              HasSubstr("search for a graph, not a trained mod"));
  EXPECT_THAT(message_of<DataError>([&] { flow::parse_checkpoint(other, "x"); }),
              HasSubstr("this is the checkpoint of a search for a graph, not the checkpoint of a training"));
  other[12] = 1;
  EXPECT_THAT(error_of(other), HasSubstr("this is a trained model, not the checkpoint of a search for a graph"));
  other[12] = 2;
  EXPECT_THAT(
      error_of(other),
      HasSubstr("this is the checkpoint of a training that has not ended, not the checkpoint of a search for a graph"));
  other[12] = 4;
  EXPECT_THAT(error_of(other), HasSubstr("this is the checkpoint of a search for boundaries, not the checkpoint of"));
  other[12] = 5;
  EXPECT_THAT(error_of(other), HasSubstr("damaged"));
  other[8] = 4;
  EXPECT_THAT(error_of(other), HasSubstr("Update fansite"));
  EXPECT_THAT(error_of(to_bytes(small_networks())), HasSubstr("names another state"));
}

TEST(Bytes, WhatContradictsItselfIsRefusedWhateverItsChecksum) {
  const std::string good = to_bytes(small_scores());
  expect_fields_needed(good, error_of);
  const auto with = [&](const char* key, const json& value) {
    return error_of(edited(good, [&](json& header) { header[key] = value; }));
  };
  EXPECT_THAT(with("state", "other"), HasSubstr("names another state"));
  EXPECT_THAT(with("state", "networks"), HasSubstr("damaged"));
  EXPECT_THAT(with("variables", 3), HasSubstr("contradict"));  // one is named that is not there

  const auto refused = [](auto&& change) {
    ScoreCheckpoint checkpoint = small_scores();
    change(checkpoint.state);
    return error_of(to_bytes(checkpoint));
  };
  EXPECT_THAT(refused([](auto& known) { known.means[{{1, 0}, {3}}] = {1}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.means[{{1}, {1}}] = {1}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.means[{{1}, {2, 2}}] = {1, 1}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.means[{{1}, {-1}}] = {1}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.means[{{1}, {4}}] = {1}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.means[{{1}, {}}] = {}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.means[{{1}, {2}}] = {1, 2}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.rows[{{1}, {2}}] = {1, 2}; }), HasSubstr("contradict"));
  EXPECT_THAT(refused([](auto& known) { known.rows[{{1}, {2, 3}}] = {1, 2, 3}; }), HasSubstr("contradict"));
}

// ---- Additive noise -------------------------------------------------------------------------------------------------

using AdditiveNoiseCheckpoint = CheckpointTest;

TEST_F(AdditiveNoiseCheckpoint, ContinuesWithTheSameBitsAndLessWork) {
  const ThreadLimit one(1);  // so that the same regressions come first
  const Matrix values = curved_chain(120, 6, 1);
  Limited whole;
  const AdditiveNoiseResult straight = find(values, rough(), whole);
  ASSERT_GE(straight.edges.size(), 4u);
  ASSERT_GT(whole.asked, 80);
  long before = whole.asked;
  for (const long limit : {3L, 10L, 40L, whole.asked - 1}) {
    fs::remove(path);
    Limited some(limit), rest;
    EXPECT_THROW(find(values, rough(path), some), Interrupted);
    ASSERT_TRUE(fs::exists(path)) << limit;
    expect_same(find(values, rough(path), rest), straight);
    EXPECT_LT(rest.asked, before) << limit;
    EXPECT_GE(rest.asked, whole.asked - limit);
    before = rest.asked + 1;
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(AdditiveNoiseCheckpoint, ManyInterruptionsAndOtherNumbersOfThreadsChangeNothing) {
  const Matrix values = curved_chain(120, 7, 2);
  const AdditiveNoiseResult straight = find(values, rough());
  int sessions = 0;
  for (bool done = false; !done; ++sessions) {
    ASSERT_LT(sessions, 100);
    const ThreadLimit limit(1 + sessions % 2);
    Limited some(50);
    try {
      expect_same(find(values, rough(path), some), straight);
      done = true;
    } catch (const Interrupted&) {
    }
  }
  EXPECT_GE(sessions, 3);
}

TEST_F(AdditiveNoiseCheckpoint, WithoutInterruptionItChangesNothingAndServesTheNextSearch) {
  const Matrix values = curved_chain(120, 5, 3);
  Limited first, second;
  expect_same(find(values, rough(path), first), find(values, rough()));
  const std::string kept = content(path);
  expect_same(find(values, rough(path), second), find(values, rough()));
  EXPECT_LT(second.asked, first.asked);
  EXPECT_EQ(content(path), kept);
}

// Each scale of the columns has a file of its own.
TEST_F(AdditiveNoiseCheckpoint, SearchesOnEveryScaleContinue) {
  const Matrix values = curved_chain(120, 5, 9).array().exp().square();
  for (const NoiseScale scale : {NoiseScale::normal_scores, NoiseScale::automatic}) {
    AdditiveNoiseParams params = rough();
    params.scale = scale;
    Limited whole;
    const AdditiveNoiseResult straight = find(values, params, whole);
    params.checkpoint = path;
    for (const long limit : {10L, whole.asked / 2, whole.asked * 3 / 4, whole.asked - 2}) {
      Limited some(limit), rest;
      EXPECT_THROW(find(values, params, some), Interrupted);
      check_checkpoint(values, params);
      expect_same(find(values, params, rest), straight);
      EXPECT_LT(rest.asked, whole.asked);
      fs::remove(params.checkpoint);
      fs::remove(params.checkpoint + ".scores");
      EXPECT_EQ(files(), 0u);
    }
  }
}

// Penalties and constraints choose among graphs; scores know nothing of them, and stay what they would be without a
// file.
TEST_F(AdditiveNoiseCheckpoint, ServesOtherChoicesAmongTheSameScores) {
  const Matrix values = curved_chain(120, 6, 4);
  find(values, rough(path));
  AdditiveNoiseParams params = rough();
  params.penalty = 4;
  params.max_parents = 1;
  params.confidence = 1;
  const AdditiveNoiseResult straight = find(values, params);
  params.checkpoint = path;
  expect_same(find(values, params), straight);
  GraphConstraints constraints;
  constraints.allowed = all_pairs(6);
  constraints.allowed.row(5).setZero();
  constraints.required = {{2, 1}};
  NoProgress silent;
  expect_same(find_additive_noise_graph(values, constraints, params, silent), find_additive_noise_graph(
                                                                                  values, constraints,
                                                                                  [&] {
                                                                                    auto p = params;
                                                                                    p.checkpoint = "";
                                                                                    return p;
                                                                                  }(),
                                                                                  silent));
}

TEST_F(AdditiveNoiseCheckpoint, OfAnotherTableOrOtherSettingsIsRefusedAndKept) {
  const Matrix values = curved_chain(60, 4, 5);
  find(values, rough(path));
  const std::string kept = content(path);
  const auto refusal = [&](const Matrix& table, auto&& change) {
    AdditiveNoiseParams params = rough(path);
    change(params);
    const std::string early = message_of<UsageError>([&] { check_checkpoint(table, params); });
    EXPECT_EQ(message_of<UsageError>([&] { find(table, params); }), early);
    EXPECT_EQ(content(path), kept);
    return early;
  };
  const auto nothing = [](auto&) {};
  EXPECT_EQ(refusal(values, nothing), "nothing was thrown");
  Matrix other = values;
  other(7, 2) = std::nextafter(other(7, 2), 10);
  for (const Matrix& table : {other, Matrix(values.topRows(59)), Matrix(values.leftCols(3))}) {
    EXPECT_EQ(refusal(table, nothing),
              "[checkpoint] " + path + " is the checkpoint of another table; delete it or choose another path");
  }
  const auto settings = HasSubstr("[checkpoint] " + path + " is the checkpoint of a search with other settings");
  EXPECT_THAT(refusal(values, [](auto& p) { p.seed = 4; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.noise = NoiseDistribution::gaussian; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.max_rows = 50; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.regression.max_landmarks = 11; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.regression.landmarks = 9; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.regression.landmarks_per_parent = 3; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.regression.widths = {std::nextafter(1.0, 2)}; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.regression.ridges = {0.3}; }), settings);
  EXPECT_EQ(refusal(values, [](auto& p) { p.max_rows = 0; }), "nothing was thrown");  // all rows, as before
}

TEST_F(AdditiveNoiseCheckpoint, DamageAndForeignFilesAreNamedAndKept) {
  const Matrix values = curved_chain(60, 4, 6);
  find(values, rough(path));
  const std::string good = content(path);
  for (const std::string& bytes : {good.substr(0, good.size() / 2), good + "x", std::string(),
                                   std::string("a,b\n1,2\n"), to_bytes(small_networks()).replace(40, 1, "?")}) {
    put(path, bytes);
    EXPECT_THAT(message_of<DataError>([&] { find(values, rough(path)); }), HasSubstr("[load_checkpoint] " + path));
    EXPECT_EQ(content(path), bytes);
  }
}

TEST_F(AdditiveNoiseCheckpoint, APlaceThatCannotBeWrittenIsKnownBeforeTheWork) {
  const Matrix values = curved_chain(60, 4, 7);
  for (const std::string& place : {path + "/no/such/place", fs::temp_directory_path().string()}) {
    Limited progress;
    EXPECT_THAT(message_of<UsageError>([&] { find(values, rough(place), progress); }), HasSubstr(place));
    EXPECT_THAT(message_of<UsageError>([&] { check_checkpoint(values, rough(place)); }), HasSubstr(place));
    EXPECT_EQ(progress.asked, 0);
  }
}

TEST(LocalScores, AnInterruptionLeavesNoScoreThatWasNotComputed) {
  const ThreadLimit one(1);
  const Regression regression(standardised(curved_chain(60, 4, 8)), rough().regression, Key{1});
  LocalScores scores(regression, NoiseDistribution::any), whole(regression, NoiseDistribution::any);
  const std::vector<LocalScores::Query> queries = {{0, {}}, {1, {0}}, {2, {0}}, {1, {0}}, {3, {1, 2}}};
  NoProgress silent;
  whole.prepare(queries, silent);
  Limited some(2);
  EXPECT_THROW(scores.prepare(queries, some), Interrupted);
  EXPECT_EQ(scores.fits(), 0);
  EXPECT_THROW(scores(0, {}), std::out_of_range);
  scores.prepare(queries, silent);
  EXPECT_EQ(scores.fits(), 4);
  for (const auto& [child, parents] : queries) EXPECT_EQ(scores(child, parents), whole(child, parents));
}

}  // namespace
}  // namespace fansite::causal
