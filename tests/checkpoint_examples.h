// SPDX-License-Identifier: Apache-2.0
//
// Searches for graphs that are interrupted and continued, for the tests of the files that they continue from.
#pragma once

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
#include <string>
#include <vector>

#include "fansite/base/random.h"
#include "fansite/causal/additive_noise.h"
#include "fansite/causal/dcd/detail/training_file.h"
#include "fansite/causal/detail/score_file.h"

namespace fansite::causal {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 0 → 1 → 2 → …, curved, and some noise beside it.
inline Matrix curved_chain(Index rows, Index columns, std::uint64_t seed) {
  Random random(Key{seed});
  Matrix values(rows, columns);
  for (auto row : values.rowwise()) {
    for (Index j = 0; j < columns; ++j) row[j] = (j == 0 ? 0 : std::sin(2 * row[j - 1])) + 0.4 * random.normal();
  }
  return values;
}

inline ByteMatrix all_pairs(Index variables) {
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
inline AdditiveNoiseParams rough(const std::string& checkpoint = {}) {
  AdditiveNoiseParams params;
  params.scale = NoiseScale::original;
  params.regression.landmarks = params.regression.max_landmarks = 10;
  params.regression.widths = {1};
  params.regression.ridges = {0.3, 1};
  params.seed = 3;
  params.checkpoint = checkpoint;
  return params;
}

inline DifferentiableParams short_training(const std::string& checkpoint = {}) {
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

inline AdditiveNoiseResult find(const Matrix& values, const AdditiveNoiseParams& params, Progress& progress) {
  GraphConstraints constraints;
  constraints.allowed = all_pairs(values.cols());
  return find_additive_noise_graph(values, constraints, params, progress);
}

inline AdditiveNoiseResult find(const Matrix& values, const AdditiveNoiseParams& params) {
  NoProgress silent;
  return find(values, params, silent);
}

// ---- The same bits ------------------------------------------------------------------------------------------------

inline bool same(const Evidence& a, const Evidence& b) {
  return a.value == b.value && a.standard_error == b.standard_error && a.stability == b.stability;
}

inline void expect_same(const std::vector<GraphEdge>& a, const std::vector<GraphEdge>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t e = 0; e < a.size(); ++e) {
    EXPECT_EQ(a[e].from, b[e].from);
    EXPECT_EQ(a[e].to, b[e].to);
    EXPECT_TRUE(same(a[e].existence, b[e].existence)) << e;
    EXPECT_TRUE(same(a[e].direction, b[e].direction)) << e;
    EXPECT_EQ(a[e].by, b[e].by);
  }
}

inline void expect_same(const AdditivityTest& a, const AdditivityTest& b) {
  EXPECT_EQ(a.p_value, b.p_value);
  EXPECT_EQ(a.child, b.child);
  EXPECT_EQ(a.parent, b.parent);
  EXPECT_EQ(a.additive, b.additive);
}

inline void expect_same(const AdditiveNoiseResult& a, const AdditiveNoiseResult& b) {
  EXPECT_EQ(a.dag.adjacency(), b.dag.adjacency());
  EXPECT_EQ(a.partial.directed, b.partial.directed);
  EXPECT_EQ(a.partial.undirected, b.partial.undirected);
  expect_same(a.edges, b.edges);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.scale, b.scale);
  expect_same(a.additivity, b.additivity);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.fits, b.fits);
  EXPECT_EQ(a.rows, b.rows);
}

inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

inline void expect_same(const StageReport& a, const StageReport& b) {
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.stopped_early, b.stopped_early);
  EXPECT_TRUE(same_bits(a.validation_loss, b.validation_loss)) << a.validation_loss << " " << b.validation_loss;
  EXPECT_EQ(a.gamma, b.gamma);
}

inline void expect_same(const DifferentiableResult& a, const DifferentiableResult& b) {
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.mask, b.mask);
  EXPECT_EQ(a.dag, b.dag);
  expect_same(a.first, b.first);
  expect_same(a.second, b.second);
  EXPECT_EQ(a.warnings, b.warnings);
}

// ---- Bytes ----------------------------------------------------------------------------------------------------------

inline ScoreCheckpoint small_scores() {
  ScoreCheckpoint checkpoint{{100, 4, 0xFEDCBA9876543210u, "some"}, {}};
  auto& [means, rows] = checkpoint.state;
  means[{{}, {2, 0, 1, 3}}] = {1.5, -0.0, 1e-310, 0.1};
  means[{{0, 2}, {3}}] = {-2};
  means[{{0, 3}, {2, 1}}] = {1, 2};
  rows[{{}, {1}}] = {0.5f, -1, 1e-40f};
  rows[{{0, 2}, {1}}] = {3, 0.1f, -0.0f};
  return checkpoint;
}

inline TrainingCheckpoint small_networks() {
  const auto params = short_training();
  DifferentiableTraining training(curved_chain(20, 2, 1), ByteMatrix::Ones(2, 2), params);
  training.advance(6);
  return {{20, 2, 7, "others"}, training.state()};
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

/// Any bit that flips and any end that is missing is noticed.
template <class ErrorOf>
void expect_damage_noticed(const std::string& good, const ErrorOf& error_of) {
  using testing::HasSubstr;
  ASSERT_EQ(error_of(good), "nothing was thrown");
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      EXPECT_THAT(error_of(bytes), HasSubstr("[load_checkpoint] x.graph: ")) << i;
    }
    EXPECT_THAT(error_of(good.substr(0, i)), testing::AllOf(HasSubstr("cut short"), HasSubstr("Delete it to search")))
        << i;
  }
  EXPECT_THAT(error_of(good + "more"), HasSubstr("damaged"));
}

/// A header without one of its fields, or with an odd value there, is refused although its checksum is right.
template <class ErrorOf>
void expect_fields_needed(const std::string& good, const ErrorOf& error_of) {
  using testing::HasSubstr;
  EXPECT_EQ(error_of(edited(good, [](json&) {})), "nothing was thrown");
  std::vector<std::string> names;
  edited(good, [&](const json& header) {
    for (const auto& [key, value] : header.items()) names.push_back(key);
  });
  for (const std::string& name : names) {
    EXPECT_THAT(error_of(edited(good, [&](json& header) { header.erase(name); })),
                testing::AnyOf(HasSubstr("no '" + name + "'"), HasSubstr("no list of '" + name + "'")));
    for (const json& odd : {json(-1), json(1.5), json(nullptr), json(std::numeric_limits<std::uint64_t>::max())}) {
      EXPECT_THAT(error_of(edited(good, [&](json& header) { header[name] = odd; })), HasSubstr("damaged")) << name;
    }
  }
}

}  // namespace fansite::causal
