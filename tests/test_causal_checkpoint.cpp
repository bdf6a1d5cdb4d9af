// SPDX-License-Identifier: Apache-2.0
//
// Searches for graphs that are interrupted and continued: the same bits in every field as straight through, and less
// work. Checkpoints that are damaged, of something else or nowhere to be written give one sentence and do no harm.
#include "fansite/causal/detail/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/causal/detail/graph_search.h"
#include "fansite/entropy/flow/model_file.h"
#include "fansite/run/causal_graph.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using State = DifferentiableTraining::State;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- Tables, files and interruptions --------------------------------------------------------------------------------

/// 0 → 1 → 2 → …, curved, and some noise beside it.
Matrix curved_chain(Index rows, Index columns, std::uint64_t seed) {
  Random random(Key{seed});
  Matrix values(rows, columns);
  for (auto row : values.rowwise()) {
    for (Index j = 0; j < columns; ++j) row[j] = (j == 0 ? 0 : std::sin(2 * row[j - 1])) + 0.4 * random.normal();
  }
  return values;
}

ByteMatrix all_pairs(Index variables) {
  ByteMatrix pairs = ByteMatrix::Ones(variables, variables);
  pairs.diagonal().setZero();
  return pairs;
}

/// A directory of its own for each test; gone afterwards.
class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fansite_checkpoint.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path = (directory_ / "search.checkpoint").string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put(const std::string& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  std::string path;

 private:
  fs::path directory_;
};

/// Asks to stop from the `limit`-th time on that it is asked. Every regression that is computed asks once.
class Limited final : public Progress {
 public:
  explicit Limited(long limit = std::numeric_limits<long>::max()) : limit_(limit) {}
  void begin(std::string_view stage, long) override {
    ++begun;
    searches += stage == "searching graphs";
  }
  void advance(long) override {}
  bool interrupted() const override { return ++asked >= limit_; }
  mutable std::atomic<long> asked = 0;
  int begun = 0, searches = 0;

 private:
  long limit_;
};

/// Few landmarks and one kernel: only what is kept matters.
AdditiveNoiseParams rough(const std::string& checkpoint = {}) {
  AdditiveNoiseParams params;
  params.scale = NoiseScale::original;
  params.regression.landmarks = params.regression.max_landmarks = 10;
  params.regression.widths = {1};
  params.regression.ridges = {0.3, 1};
  params.seed = 3;
  params.checkpoint = checkpoint;
  return params;
}

DifferentiableParams short_training(const std::string& checkpoint = {}) {
  DifferentiableParams params;
  params.first = {2e-2, 16, 12, 1e-3, 1e-4};
  params.second = {1e-2, 16, 25, 1e-3, 1e-4};
  params.hidden = 3;
  params.mask_threshold = 0.01;
  params.check_every = 5;
  params.seed = 3;
  params.checkpoint = checkpoint;
  return params;
}

AdditiveNoiseResult find(const Matrix& values, const AdditiveNoiseParams& params, Progress& progress) {
  GraphConstraints constraints;
  constraints.allowed = all_pairs(values.cols());
  return find_additive_noise_graph(values, constraints, params, progress);
}

AdditiveNoiseResult find(const Matrix& values, const AdditiveNoiseParams& params) {
  NoProgress silent;
  return find(values, params, silent);
}

bool same(const Evidence& a, const Evidence& b) {
  return a.value == b.value && a.standard_error == b.standard_error && a.stability == b.stability;
}

void expect_same(const AdditiveNoiseResult& a, const AdditiveNoiseResult& b) {
  EXPECT_EQ(a.dag.adjacency(), b.dag.adjacency());
  EXPECT_EQ(a.partial.directed, b.partial.directed);
  EXPECT_EQ(a.partial.undirected, b.partial.undirected);
  ASSERT_EQ(a.edges.size(), b.edges.size());
  for (std::size_t e = 0; e < a.edges.size(); ++e) {
    EXPECT_EQ(a.edges[e].from, b.edges[e].from);
    EXPECT_EQ(a.edges[e].to, b.edges[e].to);
    EXPECT_TRUE(same(a.edges[e].existence, b.edges[e].existence)) << e;
    EXPECT_TRUE(same(a.edges[e].direction, b.edges[e].direction)) << e;
    EXPECT_EQ(a.edges[e].by, b.edges[e].by);
  }
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.additivity.p_value, b.additivity.p_value);
  EXPECT_EQ(a.additivity.child, b.additivity.child);
  EXPECT_EQ(a.additivity.parent, b.additivity.parent);
  EXPECT_EQ(a.additivity.additive, b.additivity.additive);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.fits, b.fits);
  EXPECT_EQ(a.rows, b.rows);
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void expect_same(const StageReport& a, const StageReport& b) {
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.stopped_early, b.stopped_early);
  EXPECT_TRUE(same_bits(a.validation_loss, b.validation_loss)) << a.validation_loss << " " << b.validation_loss;
  EXPECT_EQ(a.gamma, b.gamma);
}

void expect_same(const DifferentiableResult& a, const DifferentiableResult& b) {
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.mask, b.mask);
  EXPECT_EQ(a.dag, b.dag);
  expect_same(a.first, b.first);
  expect_same(a.second, b.second);
  EXPECT_EQ(a.warnings, b.warnings);
}

// ---- Bytes ----------------------------------------------------------------------------------------------------------

GraphCheckpoint small_scores() {
  GraphCheckpoint checkpoint{{100, 4, 0xFEDCBA9876543210u, "some"}, KnownScores{}};
  auto& [means, rows] = std::get<KnownScores>(checkpoint.state);
  means[{{}, {2, 0, 1, 3}}] = {1.5, -0.0, 1e-310, 0.1};
  means[{{0, 2}, {3}}] = {-2};
  means[{{0, 3}, {2, 1}}] = {1, 2};
  rows[{{}, {1}}] = {0.5f, -1, 1e-40f};
  rows[{{0, 2}, {1}}] = {3, 0.1f, -0.0f};
  return checkpoint;
}

GraphCheckpoint small_networks() {
  const auto params = short_training();
  DifferentiableTraining training(curved_chain(20, 2, 1), ByteMatrix::Ones(2, 2), params);
  training.advance(6);
  return {{20, 2, 7, "others"}, training.state()};
}

GraphCheckpoint random_networks(Random& random) {
  DifferentiableParams params = short_training();
  params.hidden = 1 + static_cast<int>(random.below(4));
  DifferentiableTraining training(curved_chain(20, 3, random.bits()), params);
  training.advance(static_cast<int>(random.below(45)));
  State state = training.state();
  const auto odd = [&] {
    const std::array<double, 5> values = {kNaN, kInfinity, -kInfinity, -0.0, 5e-324};
    return values[random.below(5)];
  };
  state.parameters.front() = static_cast<float>(odd());
  state.best_loss = odd();
  state.last_loss = odd();
  state.first.validation_loss = odd();
  if (random.coin()) state.frozen_gamma = odd();
  return {{20, 3, random.bits(), "any \"words\", größer"}, std::move(state)};
}

GraphCheckpoint random_scores(Random& random) {
  const int d = 2 + static_cast<int>(random.below(300));
  GraphCheckpoint checkpoint{{random.below(1000), d, random.bits(), ""}, KnownScores{}};
  auto& [means, rows] = std::get<KnownScores>(checkpoint.state);
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
  return message_of<DataError>([&] { parse_graph_checkpoint(bytes, "x.graph"); });
}

/// The bytes with another header, length and checksum put right.
template <class Edit>
std::string edited(const std::string& bytes, Edit&& edit) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[16 + i]);
  json header = json::parse(bytes.substr(24, length));
  edit(header);
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string result = bytes.substr(0, 24) + text + bytes.substr(24 + length, bytes.size() - 28 - length);
  for (std::size_t i = 0; i < 8; ++i) result[16 + i] = static_cast<char>(text.size() >> 8 * i);
  const auto sum = ::crc32_z(0, reinterpret_cast<const Bytef*>(result.data()), result.size());
  for (int i = 0; i < 4; ++i) result += static_cast<char>(sum >> 8 * i);
  return result;
}

TEST(Bytes, EveryBitComesBack) {
  EXPECT_TRUE(rc::check("to_bytes(parse(bytes)) == bytes", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const GraphCheckpoint checkpoint = random.coin() ? random_scores(random) : random_networks(random);
    const std::string bytes = to_bytes(checkpoint);
    const GraphCheckpoint back = parse_graph_checkpoint(bytes, "x");
    RC_ASSERT(back.identity == checkpoint.identity);
    RC_ASSERT(back.state.index() == checkpoint.state.index());
    RC_ASSERT(to_bytes(back) == bytes);
  }));
  EXPECT_EQ(to_bytes(small_scores()).substr(0, 16), std::string("FANSITE\x1a\x01\0\0\0\x03\0\0\0", 16));
}

TEST(Bytes, ScoresComeBackAsTheyWere) {
  const GraphCheckpoint saved = small_scores(), back = parse_graph_checkpoint(to_bytes(saved), "x");
  EXPECT_EQ(back.identity, saved.identity);
  const auto& [means, rows] = std::get<KnownScores>(back.state);
  EXPECT_EQ(means, std::get<KnownScores>(saved.state).means);
  EXPECT_EQ(rows, std::get<KnownScores>(saved.state).rows);
  EXPECT_TRUE(std::signbit(means.begin()->second[1]));
}

TEST(Bytes, DamageAtAnyPlaceIsNoticed) {
  for (const std::string& good : {to_bytes(small_scores()), to_bytes(small_networks())}) {
    ASSERT_EQ(error_of(good), "nothing was thrown");
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (const int flip : {1, 0x80, 0xFF}) {
        std::string bytes = good;
        bytes[i] = static_cast<char>(bytes[i] ^ flip);
        EXPECT_THAT(error_of(bytes), HasSubstr("[load_checkpoint] x.graph: ")) << i;
      }
      EXPECT_THAT(error_of(good.substr(0, i)), AllOf(HasSubstr("cut short"), HasSubstr("Delete it to search"))) << i;
    }
    EXPECT_THAT(error_of(good + "more"), HasSubstr("damaged"));
  }
}

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
  other[8] = 2;
  EXPECT_THAT(error_of(other), HasSubstr("Update fansite"));
}

TEST(Bytes, WhatContradictsItselfIsRefusedWhateverItsChecksum) {
  const std::string scores = to_bytes(small_scores()), networks = to_bytes(small_networks());
  EXPECT_EQ(error_of(edited(scores, [](json&) {})), "nothing was thrown");
  for (const std::string& good : {scores, networks}) {
    std::vector<std::string> names;
    edited(good, [&](const json& header) {
      for (const auto& [key, value] : header.items()) names.push_back(key);
    });
    for (const std::string& name : names) {
      EXPECT_THAT(error_of(edited(good, [&](json& header) { header.erase(name); })),
                  AnyOf(HasSubstr("no '" + name + "'"), HasSubstr("no list of '" + name + "'")));
      for (const json& odd : {json(-1), json(1.5), json(nullptr), json(std::numeric_limits<std::uint64_t>::max())}) {
        EXPECT_THAT(error_of(edited(good, [&](json& header) { header[name] = odd; })), HasSubstr("damaged")) << name;
      }
    }
  }
  const auto with = [&](const std::string& bytes, const char* key, const json& value) {
    return error_of(edited(bytes, [&](json& header) { header[key] = value; }));
  };
  EXPECT_THAT(with(scores, "state", "other"), HasSubstr("names no state"));
  EXPECT_THAT(with(scores, "state", "networks"), HasSubstr("damaged"));
  EXPECT_THAT(with(networks, "state", "scores"), HasSubstr("damaged"));
  EXPECT_THAT(with(scores, "variables", 3), HasSubstr("contradict"));  // one is named that is not there
  EXPECT_THAT(with(networks, "variables", 3), HasSubstr("contradict"));
  EXPECT_THAT(with(networks, "variables", 60000), HasSubstr("contradict"));
  EXPECT_THAT(with(networks, "stage", 1), HasSubstr("contradict"));
  EXPECT_THAT(with(networks, "stage", 3), HasSubstr("'stage'"));
  EXPECT_THAT(with(networks, "gamma_index", 7), HasSubstr("'gamma_index'"));

  const auto refused = [](auto&& change) {
    GraphCheckpoint checkpoint = small_scores();
    change(std::get<KnownScores>(checkpoint.state));
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
    Limited some(90);
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

// ---- Networks -------------------------------------------------------------------------------------------------------

using NetworksCheckpoint = CheckpointTest;

DifferentiableResult train(const Matrix& values, bool both_stages, const DifferentiableParams& params,
                           Progress& progress) {
  return both_stages ? sdcd(values, params, progress) : fansite_dcd(values, all_pairs(values.cols()), params, progress);
}

TEST_F(NetworksCheckpoint, ContinueWithTheSameBitsAndLessWork) {
  const Matrix values = curved_chain(60, 4, 1);
  for (const bool both : {true, false}) {
    Limited whole;
    const DifferentiableResult straight = train(values, both, short_training(), whole);
    ASSERT_EQ(whole.asked, both ? 37 : 25);
    for (const long limit : {1, 2, 12, 13, 14, 20, 25}) {
      fs::remove(path);
      Limited some(limit), rest;
      EXPECT_THROW(train(values, both, short_training(path), some), Interrupted);
      const ThreadLimit one(1);
      expect_same(train(values, both, short_training(path), rest), straight);
      EXPECT_EQ(rest.asked, whole.asked - (limit - 1));
    }
    fs::remove(path);
  }
}

TEST_F(NetworksCheckpoint, NetworksThatAreBeyondSavingAreSavedAsTheyAre) {
  Matrix values = curved_chain(60, 3, 2);
  values.col(1) *= 1e30;
  NoProgress silent;
  const DifferentiableResult straight = train(values, false, short_training(), silent);
  ASSERT_THAT(straight.warnings, testing::Contains(HasSubstr("not numbers")));
  Limited some(15);
  EXPECT_THROW(train(values, false, short_training(path), some), Interrupted);
  expect_same(train(values, false, short_training(path), silent), straight);
}

TEST_F(NetworksCheckpoint, OfSomethingElseAreRefusedAndKept) {
  const Matrix values = curved_chain(60, 4, 3);
  Limited some(5);
  EXPECT_THROW(train(values, false, short_training(path), some), Interrupted);
  const std::string kept = content(path);
  NoProgress silent;
  const auto refusal = [&](const Matrix& table, auto&& change) {
    DifferentiableParams params = short_training(path);
    change(params);
    const std::string early = message_of<UsageError>([&] { check_checkpoint(table, params); });
    EXPECT_EQ(message_of<UsageError>([&] { train(table, false, params, silent); }), early);
    EXPECT_EQ(content(path), kept);
    return early;
  };
  EXPECT_THAT(refusal(values.topRows(59), [](auto&) {}), HasSubstr("another table"));
  const auto settings = HasSubstr("[checkpoint] " + path + " is the checkpoint of a search with other settings");
  EXPECT_THAT(refusal(values, [](auto& p) { p.seed = 4; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.hidden = 4; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.second.max_epochs = 26; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.second.learning_rate *= 2; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.standardise = true; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.threshold = 0.2; }), settings);
  EXPECT_THAT(refusal(values, [](auto& p) { p.corrections.keep_best = true; }), settings);
  EXPECT_THAT(message_of<UsageError>([&] { train(values, true, short_training(path), silent); }), settings);
  EXPECT_THAT(message_of<UsageError>([&] { find(values, rough(path)); }), settings);
  ByteMatrix mask = all_pairs(4);
  mask(0, 3) = 0;
  EXPECT_THAT(message_of<UsageError>([&] { fansite_dcd(values, mask, short_training(path), silent); }),
              HasSubstr("[dag] " + path + " is the checkpoint of a search among other links"));
  EXPECT_EQ(content(path), kept);

  GraphCheckpoint checkpoint = parse_graph_checkpoint(kept, path);
  State& state = std::get<State>(checkpoint.state);
  for (auto* part : {&state.parameters, &state.mean, &state.square, &state.best}) part->resize(part->size() + 8);
  if (state.best.size() == 8) state.best.clear();
  put(path, to_bytes(checkpoint));
  EXPECT_THAT(message_of<DataError>([&] { train(values, false, short_training(path), silent); }),
              HasSubstr("the file is damaged, its networks are of another shape. Delete it"));
  put(path, kept.substr(0, kept.size() - 9));
  EXPECT_THAT(message_of<DataError>([&] { train(values, false, short_training(path), silent); }),
              HasSubstr("cut short"));
  EXPECT_THAT(message_of<UsageError>([&] { train(values, false, short_training(path + "/no/such/place"), silent); }),
              HasSubstr("no/such/place"));
}

// ---- From a table to a graph ----------------------------------------------------------------------------------------

class GraphCheckpointTest : public CheckpointTest {
 protected:
  GraphCheckpointTest() : data{{"a", "b", "c", "d", "e"}, curved_chain(120, 5, 1)} {
    params.additive_noise = rough();
    params.differentiable = short_training();
    params.boundaries.estimator = EstimatorKind::gaussian;
    params.seed = 3;
    links = all_pairs(5);
  }
  CausalGraphResult search(const std::string& checkpoint, Progress& progress, const ByteMatrix* among) {
    CausalGraphParams complete = params;
    complete.checkpoint = checkpoint;
    return causal_graph(data, among, knowledge, complete, progress);
  }
  static void expect_same_graphs(const CausalGraphResult& a, const CausalGraphResult& b) {
    EXPECT_EQ(a.graph.directed, b.graph.directed);
    EXPECT_EQ(a.graph.undirected, b.graph.undirected);
    EXPECT_EQ(a.weights, b.weights);
    EXPECT_EQ(a.links, b.links);
    EXPECT_EQ(a.warnings, b.warnings);
    if (a.additive_noise) expect_same(*a.additive_noise, *b.additive_noise);
    if (a.differentiable) expect_same(*a.differentiable, *b.differentiable);
  }

  Dataset data;
  Knowledge knowledge;
  CausalGraphParams params;
  ByteMatrix links;
};

TEST_F(GraphCheckpointTest, EveryMethodContinuesAndTidiesUp) {
  NoProgress silent;
  for (const GraphMethod method : {GraphMethod::additive_noise, GraphMethod::differentiable, GraphMethod::sdcd}) {
    params.method = method;
    const CausalGraphResult straight = search("", silent, &links);
    EXPECT_EQ(files(), 0u);
    Limited some(20);
    EXPECT_THROW(search(path, some, &links), Interrupted);
    EXPECT_TRUE(fs::exists(path + ".graph"));
    EXPECT_EQ(files(), 1u);
    expect_same_graphs(search(path, silent, &links), straight);
    EXPECT_EQ(files(), 0u);
  }
}

// What is known may take several searches, one after the other in the same file.
TEST_F(GraphCheckpointTest, SearchesThatKnowledgeMakesContinueToo) {
  knowledge = Knowledge::parse("in-boundary a e\nforbid a -- e\nforbid a -> b\n", "k", data.names);
  Limited whole;
  NoProgress silent;
  const CausalGraphResult straight = search("", whole, &links);
  EXPECT_GE(whole.searches, 2);
  for (const long limit : {10L, whole.asked / 2, whole.asked * 3 / 4, whole.asked - 2}) {
    Limited some(limit);
    try {  // the second search finds scores of the first, so it may well end
      search(path, some, &links);
    } catch (const Interrupted&) {
      EXPECT_TRUE(fs::exists(path + ".graph"));
    }
    expect_same_graphs(search(path, silent, &links), straight);
    EXPECT_EQ(files(), 0u);
  }
}

TEST_F(GraphCheckpointTest, WhatIsWrongWithItIsKnownBeforeBoundariesAreSought) {
  const auto refusal = [&](const std::string& checkpoint) {
    Limited progress;
    std::string message = "nothing was thrown";
    try {
      search(checkpoint, progress, nullptr);
    } catch (const UsageError& error) {
      message = error.what();
    } catch (const DataError& error) {
      message = error.what();
    }
    EXPECT_EQ(progress.begun, 0) << checkpoint;
    return message;
  };
  EXPECT_THAT(refusal(path + "/no/such/place"), HasSubstr("no/such/place"));
  for (const GraphMethod method : {GraphMethod::additive_noise, GraphMethod::differentiable}) {
    params.method = method;
    put(path + ".graph", "something else");
    EXPECT_THAT(refusal(path), HasSubstr(path + ".graph: "));
    put(path + ".graph", to_bytes(small_scores()));
    EXPECT_THAT(refusal(path), HasSubstr(path + ".graph is the checkpoint of another table"));
  }
  fs::remove(path + ".graph");
  EXPECT_EQ(files(), 0u);
  NoProgress silent;
  search(path, silent, nullptr);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace fansite::causal
