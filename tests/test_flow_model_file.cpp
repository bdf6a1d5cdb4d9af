// SPDX-License-Identifier: Apache-2.0
//
// Model files: every bit comes back, the bytes are the same everywhere, and nothing that is wrong with a file does
// more harm than a DataError.
#include "fansite/entropy/flow/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/random.h"
#include "fansite/base/text.h"
#include "properties.h"
#include "support.h"

namespace fansite::flow {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- Ensembles to save ----------------------------------------------------------------------------------------------

int between(Random& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint32_t>(most - least + 1)));
}

std::vector<float> floats(Random& random, Index count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.normal());
  values.front() = -0.0f;
  values.back() = std::numeric_limits<float>::denorm_min();
  return values;
}

std::vector<float> squares(Random& random, Index count) {
  auto values = floats(random, count);
  for (float& value : values) value *= value;
  return values;
}

std::vector<CurvePoint> curve(Random& random, std::int64_t steps) {
  std::vector<CurvePoint> points;
  for (std::int64_t step = 0; step <= steps; step += between(random, 1, 50)) {
    points.push_back({step, random.coin() ? random.normal() / 3 : kNaN, random.coin() ? 1 / random.normal() : kNaN});
  }
  if (!points.empty()) points.back().held_out = kInfinity;
  return points;
}

Ensemble random_ensemble(Random& random) {
  Ensemble e;
  const int d = between(random, 1, 5);
  e.rows = between(random, 1, 30);
  for (int j = 0; j < d; ++j) e.names.push_back(fmt::format("x{}", j));
  e.names[0] = random.coin() ? "Größe \"1\"\n" : std::string("latin \xE9\0.", 9);
  e.data_hash = (std::uint64_t{random.bits()} << 32) | random.bits();
  EnsembleParams& params = e.params;
  params.folds = between(random, 1, 3);
  params.repeats = between(random, 1, 2);
  params.linear = random.coin();
  params.train.noise = random.coin() ? 0 : 0.125;
  params.transform = static_cast<TransformKind>(between(random, 0, 2));
  params.seed = ~std::uint64_t{0} - random.bits();
  params.shape = {d, between(random, 1, 7), d == 1 ? 0 : between(random, 1, d - 1), between(random, 1, 20),
                  between(random, 1, 5)};
  params.train.steps = 1000;
  params.train.schedule = random.coin() ? Schedule::constant : Schedule::cosine;
  params.train.subsets = random.coin() ? SubsetKind::leaf : SubsetKind::non_leaf;
  params.train.base = random.coin() ? BaseKind::none : BaseKind::gaussian;
  params.train.learning_rate = random.uniform();
  params.train.clip = random.coin() ? kInfinity : 1.0 / 3;
  params.train.patience = between(random, 0, 3);
  Matrix values(e.rows, d);
  for (double& cell : values.reshaped()) cell = random.coin() ? random.normal() : between(random, -2, 2);
  std::vector<ColumnKind> kinds;
  for (int j = 0; j < d; ++j) kinds.push_back(static_cast<ColumnKind>(between(random, 0, 2)));
  e.transforms = fit_transforms(params.transform, values, kinds);
  if (d > 2 && random.coin()) e.factors = {{"f", {"a", "b", "c"}, {0, 2}}};
  for (int fold = 0; params.folds > 1 && params.linear && fold < params.folds; ++fold) {
    e.linear.emplace_back(Vector::Constant(d, random.normal()), Matrix::Identity(d, d));
    e.linear_share.share.assign(static_cast<std::size_t>(d) * LinearShare::kSizes.size(), 0.25f);
  }
  if (params.folds > 1) e.fold_of_row.resize(static_cast<std::size_t>(params.repeats));
  for (auto& folds : e.fold_of_row) {
    for (Index i = 0; i < e.rows; ++i)
      folds.push_back(static_cast<std::uint16_t>(between(random, 0, params.folds - 1)));
  }
  for (int m = 0; m < params.networks(); ++m) {
    Network& network = e.networks.emplace_back();
    network.order = random.permutation(d);
    network.repeat = m / params.folds;
    network.fold = m % params.folds;
    Trained& trained = network.trained;
    trained.weights.layout = Layout(params.shape);
    trained.weights.values = floats(random, trained.weights.layout.size);
    if (params.train.base == BaseKind::gaussian) {
      trained.base = GaussianBase(values.row(0), Matrix::Identity(d, d) + Matrix::Constant(d, d, 0.1));
    }
    trained.steps = between(random, 0, 1000);
    trained.kept_step = between(random, 0, static_cast<int>(trained.steps));
    trained.undone_steps = between(random, 0, static_cast<int>(trained.steps));
    trained.curve = curve(random, trained.steps);
  }
  return e;
}

Training::State random_state(Random& random, const Ensemble& e) {
  const Index size = Layout(e.params.shape).size;
  Training::State s;
  s.learner = {floats(random, size), floats(random, size), squares(random, size), between(random, 0, 100)};
  s.backup = {floats(random, size), floats(random, size), squares(random, size), between(random, 0, 100)};
  if (random.coin()) s.best = floats(random, size);
  s.step = between(random, 100, 1000);
  s.kept_step = between(random, 0, 100);
  s.undone = between(random, 50, 100);
  s.undone_in_a_row = between(random, 0, 19);
  s.best_loss = random.coin() ? kInfinity : random.normal();
  s.loss_sum = 1e17 * random.normal();
  s.loss_count = between(random, 0, 99);
  s.stopped = random.coin();
  s.curve = curve(random, s.step);
  s.waited = between(random, 0, static_cast<int>(s.curve.size()));
  return s;
}

Checkpoint random_checkpoint(Random& random) {
  Checkpoint checkpoint{random_ensemble(random), {}};
  for (Network& network : checkpoint.ensemble.networks) {
    checkpoint.under_way.emplace_back();
    const int progress = between(random, 0, 2);  // not begun, under way, finished
    if (progress < 2) network.trained = {};
    if (progress == 1) checkpoint.under_way.back() = random_state(random, checkpoint.ensemble);
  }
  return checkpoint;
}

/// One network of one variable.
Ensemble small_ensemble() {
  Ensemble e;
  e.names = {"a"};
  e.rows = 2;
  e.data_hash = 0xABC;
  e.params.folds = e.params.repeats = 1;
  e.params.shape = {1, 1, 0, 1, 1};
  e.params.transform = TransformKind::rank;
  // Everything by name: another default of the library is not another file.
  e.params.train = {.steps = 1000,
                    .batch = 32,
                    .max_size = 0,
                    .subsets = SubsetKind::leaf,
                    .base = BaseKind::none,
                    .schedule = Schedule::cosine,
                    .learning_rate = 0.002,
                    .clip = 5,
                    .held_out = 0.1,
                    .patience = 0,
                    .evaluate_every = 250};
  e.transforms = fit_transforms(TransformKind::rank, Matrix{{1.0}, {-2.5}});
  Network& network = e.networks.emplace_back();
  network.order = {0};
  network.trained.weights.layout = Layout(e.params.shape);
  network.trained.weights.values.assign(static_cast<std::size_t>(network.trained.weights.layout.size), 1.5f);
  return e;
}

Checkpoint small_checkpoint() {
  Checkpoint checkpoint{small_ensemble(), {}};
  Training::State& state = checkpoint.under_way.emplace_back().emplace();
  const auto size = checkpoint.ensemble.networks[0].trained.weights.values.size();
  checkpoint.ensemble.networks[0].trained = {};
  for (auto* learner : {&state.learner, &state.backup}) {
    *learner = {std::vector(size, 1.0f), std::vector(size, 2.0f), std::vector(size, 3.0f), 0};
  }
  return checkpoint;
}

/// Two repeats of two folds, three columns.
Ensemble folded_ensemble() {
  Ensemble e = small_ensemble();
  e.names = {"a", "b", "c"};
  e.params.folds = e.params.repeats = 2;
  e.params.shape = {3, 2, 2, 3, 1};
  e.params.train.base = BaseKind::gaussian;
  e.transforms.resize(3, e.transforms[0]);
  e.fold_of_row = {{0, 1}, {1, 0}};
  e.networks[0].order = {2, 0, 1};
  e.networks[0].trained.weights.layout = Layout(e.params.shape);
  e.networks[0].trained.weights.values.assign(static_cast<std::size_t>(Layout(e.params.shape).size), 0.5f);
  e.networks[0].trained.base = GaussianBase(Vector::Zero(3), Matrix::Identity(3, 3));
  e.networks[0].trained.steps = 20;
  e.networks[0].trained.curve = {{10, 1.5, kNaN}, {20, 1.25, 2}};
  e.networks.resize(4, e.networks[0]);
  for (int m = 0; m < 4; ++m) {
    e.networks[static_cast<std::size_t>(m)].repeat = m / 2;
    e.networks[static_cast<std::size_t>(m)].fold = m % 2;
  }
  return e;
}

// ---- Comparing, bit by bit ------------------------------------------------------------------------------------------

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool same(const std::vector<CurvePoint>& a, const std::vector<CurvePoint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const CurvePoint& p, const CurvePoint& q) {
    return p.step == q.step && same(p.training, q.training) && same(p.held_out, q.held_out);
  });
}

bool same(const ColumnTransform& a, const ColumnTransform& b) {
  return a.kind == b.kind && same(a.shift, b.shift) && same(a.scale, b.scale) && same(a.log_slope, b.log_slope) &&
         same(a.x, b.x) && same(a.z, b.z);
}

bool same(const Network& a, const Network& b) {
  const Trained &s = a.trained, &t = b.trained;
  return a.order == b.order && a.repeat == b.repeat && a.fold == b.fold && s.base == t.base &&
         s.weights.shape() == t.weights.shape() && s.weights.layout.size == t.weights.layout.size &&
         s.weights.layout.w2_blocks == t.weights.layout.w2_blocks && same(s.weights.values, t.weights.values) &&
         same(s.curve, t.curve) && s.steps == t.steps && s.kept_step == t.kept_step && s.undone_steps == t.undone_steps;
}

bool same(const Ensemble& a, const Ensemble& b) {
  const auto all = [](const auto& v, const auto& w) {
    return std::equal(v.begin(), v.end(), w.begin(), w.end(), [](const auto& x, const auto& y) { return same(x, y); });
  };
  return a.names == b.names && a.rows == b.rows && a.data_hash == b.data_hash && a.params == b.params &&
         a.fold_of_row == b.fold_of_row && all(a.transforms, b.transforms) && all(a.networks, b.networks);
}

bool same(const Learner::State& a, const Learner::State& b) {
  return same(a.weights, b.weights) && same(a.mean, b.mean) && same(a.square, b.square) && a.steps == b.steps;
}

bool same(const Training::State& a, const Training::State& b) {
  return same(a.learner, b.learner) && same(a.backup, b.backup) && same(a.best, b.best) && same(a.curve, b.curve) &&
         a.step == b.step && a.kept_step == b.kept_step && a.undone == b.undone &&
         a.undone_in_a_row == b.undone_in_a_row && a.waited == b.waited && same(a.best_loss, b.best_loss) &&
         same(a.loss_sum, b.loss_sum) && a.loss_count == b.loss_count && a.stopped == b.stopped;
}

bool same(const Checkpoint& a, const Checkpoint& b) {
  return same(a.ensemble, b.ensemble) && std::equal(a.under_way.begin(), a.under_way.end(), b.under_way.begin(),
                                                    b.under_way.end(), [](const auto& x, const auto& y) {
                                                      return x.has_value() == y.has_value() && (!x || same(*x, *y));
                                                    });
}

// ---- Bytes to tamper with -------------------------------------------------------------------------------------------

std::string model_error(std::string_view bytes) {
  return message_of<DataError>([&] { parse_model(bytes, "x.fansite"); });
}
std::string checkpoint_error(std::string_view bytes) {
  return message_of<DataError>([&] { parse_checkpoint(bytes, "x.part"); });
}

template <class T>
std::string little_endian(T number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> 8 * i);
  return bytes;
}

/// The bytes with the checksum that they should have.
std::string sealed(std::string bytes) {
  bytes.resize(bytes.size() - 4);
  const auto sum = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return bytes + little_endian(static_cast<std::uint32_t>(sum));
}

std::size_t header_length(const std::string& bytes) {
  std::uint64_t length;
  std::memcpy(&length, &bytes[16], sizeof length);
  return length;
}

/// The bytes with another header, its length and the checksum put right.
std::string with_header(const std::string& bytes, std::string text) {
  text.append((8 - text.size() % 8) % 8, ' ');
  return sealed(bytes.substr(0, 16) + little_endian(std::uint64_t{text.size()}) + text +
                bytes.substr(24 + header_length(bytes)));
}

template <class Edit>
std::string edited(const std::string& bytes, Edit&& edit) {
  json header = json::parse(bytes.substr(24, header_length(bytes)));
  edit(header);
  return with_header(bytes, header.dump());
}

/// The bytes with `patch` at the place where the n-th block begins.
std::string with_number(std::string bytes, std::size_t n, const std::string& patch) {
  std::size_t offset = 24 + header_length(bytes);
  const json header = json::parse(bytes.substr(24, header_length(bytes)));
  for (std::size_t i = 0; i < n; ++i) {
    const auto& block = header["blocks"][i];
    const std::size_t width = block["type"] == "f64" ? 8 : block["type"] == "f32" ? 4 : 2;
    offset += (block["count"].get<std::size_t>() * width + 7) / 8 * 8;
  }
  bytes.replace(offset, patch.size(), patch);
  return sealed(bytes);
}

// ---- Round trips ----------------------------------------------------------------------------------------------------

TEST(ModelFileProperty, EveryBitOfAModelComesBack) {
  EXPECT_TRUE(rc::check("parse_model(to_bytes(e)) == e", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Ensemble e = random_ensemble(random);
    const std::string bytes = to_bytes(e);
    const Ensemble back = parse_model(bytes, "x.fansite");
    RC_ASSERT(same(e, back));
    RC_ASSERT(to_bytes(back) == bytes);
  }));
}

TEST(ModelFileProperty, EveryBitOfACheckpointComesBack) {
  EXPECT_TRUE(rc::check("parse_checkpoint(to_bytes(c)) == c", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const Checkpoint checkpoint = random_checkpoint(random);
    const std::string bytes = to_bytes(checkpoint);
    const Checkpoint back = parse_checkpoint(bytes, "x.part");
    RC_ASSERT(same(checkpoint, back));
    RC_ASSERT(to_bytes(back) == bytes);
  }));
}

TEST(ModelFile, AnyBitsOfFiniteWeightsComeBack) {
  Ensemble e = small_ensemble();
  auto& values = e.networks[0].trained.weights.values;
  const float odd[] = {-0.0f, 1e-45f, -1e-40f, std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
  std::copy(std::begin(odd), std::end(odd), values.begin());
  EXPECT_TRUE(same(parse_model(to_bytes(e), "x").networks[0].trained.weights.values, values));
}

TEST(ModelFile, BlocksLargerThanABufferComeBack) {
  Ensemble e = small_ensemble();
  e.rows = 200001;
  e.transforms = fit_transforms(TransformKind::rank, Vector::LinSpaced(e.rows, -1, 1));
  e.params.folds = 3;
  e.fold_of_row = {std::vector<std::uint16_t>(200001, 2)};
  e.fold_of_row[0][200000] = 1;
  e.networks.resize(3, e.networks[0]);
  EXPECT_TRUE(same(parse_model(to_bytes(e), "x"), e));
}

TEST(ModelFile, EveryStateThatATrainingPassesThroughCanBeSaved) {
  Random random(Key{1});
  RowTable table(40, 3);
  for (float& cell : table.reshaped()) cell = static_cast<float>(random.normal());
  std::vector<int> rows(40);
  for (int i = 0; i < 40; ++i) rows[static_cast<std::size_t>(i)] = i;

  Checkpoint checkpoint{folded_ensemble(), std::vector<std::optional<Training::State>>(4)};
  for (Network& network : checkpoint.ensemble.networks) network.trained = {};
  TrainParams& params = checkpoint.ensemble.params.train;
  params.steps = 40;
  params.evaluate_every = 3;
  params.learning_rate = 0.1;
  for (const int patience : {0, 2}) {
    params.patience = patience;
    const Shape& shape = checkpoint.ensemble.params.shape;
    Training whole(table, rows, shape, params, Key{5});
    Training pieces(table, rows, shape, params, Key{5});
    while (!whole.finished()) {
      checkpoint.under_way[2] = pieces.state();
      const Checkpoint back = parse_checkpoint(to_bytes(checkpoint), "x");
      ASSERT_TRUE(same(back, checkpoint)) << whole.steps();
      pieces = Training(table, rows, shape, params, Key{5});
      pieces.restore(*back.under_way[2]);
      pieces.advance(1);
      whole.advance(1);
    }
    Network one, other;
    one.trained = whole.result();
    other.trained = pieces.result();
    EXPECT_TRUE(same(one, other));
    checkpoint.ensemble.networks[1].trained = pieces.result();
    EXPECT_TRUE(same(parse_checkpoint(to_bytes(checkpoint), "x"), checkpoint));
    checkpoint.ensemble.networks[1].trained = {};
  }
}

// ---- The bytes ------------------------------------------------------------------------------------------------------

TEST(ModelFile, TheLayoutIsAsDocumented) {
  const std::string bytes = to_bytes(small_ensemble());
  EXPECT_EQ(bytes.substr(0, 16), std::string("FANSITE\x1a\x03\0\0\0\x01\0\0\0", 16));
  EXPECT_EQ(static_cast<unsigned char>(bytes[16]) + 256u * static_cast<unsigned char>(bytes[17]), header_length(bytes));
  EXPECT_EQ(bytes.substr(18, 6), std::string(6, '\0'));
  const std::string header =
      R"({"variables":["a"],"factors":[],"rows":2,"data_hash":"0000000000000abc","params":{"folds":1,"repeats":1,)"
      R"("linear":true,"transform":"rank","seed":0,"shape":{"variables":1,"blocks":1,"ranks":0,"outputs":1,"sigmoids":1},)"
      R"("train":{"steps":1000,"batch":32,"max_size":0,"subsets":"leaf","base":"none","schedule":"cosine",)"
      R"("learning_rate":0.002,"clip":5.0,"noise":0.0,"held_out":0.1,"patience":0,"evaluate_every":250}},"transforms":[{)";
  EXPECT_EQ(bytes.substr(24, header.size()), header);
  EXPECT_EQ(header_length(bytes) % 8, 0u);
  // −2.5 and 1 as doubles, least significant byte first.
  EXPECT_EQ(bytes.substr(24 + header_length(bytes), 16), std::string("\0\0\0\0\0\0\x04\xC0\0\0\0\0\0\0\xF0\x3F", 16));
  // The last weight, 1.5f, and the checksum.
  EXPECT_EQ(bytes.substr(bytes.size() - 8, 4), std::string("\0\0\xC0\x3F", 4));
  EXPECT_EQ(bytes, sealed(bytes));
  EXPECT_EQ(bytes.size() % 8, 4u);
  EXPECT_EQ(to_bytes(small_checkpoint()).substr(8, 8), std::string("\x03\0\0\0\x02\0\0\0", 8));
}

TEST(ModelFile, TheFoldsAreTwoBytesEachAndPadded) {
  const std::string bytes = to_bytes(folded_ensemble());
  const std::size_t at = 24 + header_length(bytes) + 3 * 2 * 16;
  EXPECT_EQ(bytes.substr(at, 16), std::string("\0\0\1\0\0\0\0\0\1\0\0\0\0\0\0\0", 16));
}

// ---- Files that are wrong -------------------------------------------------------------------------------------------

TEST(ModelFile, EveryTruncationIsRefused) {
  const std::string model = to_bytes(small_ensemble()), checkpoint = to_bytes(small_checkpoint());
  for (std::size_t size = 0; size < model.size(); ++size) {
    EXPECT_THAT(model_error(model.substr(0, size)), HasSubstr("cut short")) << size;
  }
  for (std::size_t size = 0; size < checkpoint.size(); ++size) {
    EXPECT_THAT(checkpoint_error(checkpoint.substr(0, size)), HasSubstr("cut short")) << size;
  }
}

TEST(ModelFile, EveryDamagedByteIsNoticed) {
  const std::string model = to_bytes(small_ensemble()), checkpoint = to_bytes(small_checkpoint());
  for (std::size_t i = 0; i < model.size(); ++i) {
    std::string bytes = model;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    EXPECT_THAT(model_error(bytes), HasSubstr("[load_model] x.fansite: ")) << i;
  }
  for (std::size_t i = 0; i < checkpoint.size(); ++i) {
    std::string bytes = checkpoint;
    bytes[i] = static_cast<char>(bytes[i] + 1);
    EXPECT_THAT(checkpoint_error(bytes), HasSubstr("[load_checkpoint] x.part: ")) << i;
  }
}

TEST(ModelFile, ForeignFilesAreNamed) {
  const std::string model = to_bytes(small_ensemble()), checkpoint = to_bytes(small_checkpoint());
  for (const char* table : {"a,b\n1,2\n", "a;b", "x\ty\r\n", "PK\x03\x04", "\x93NUMPY\x01"}) {
    EXPECT_THAT(model_error(table), HasSubstr("looks like a table of data, not a model")) << table;
  }
  EXPECT_EQ(model_error("\x7F"
                        "ELF"),
            "[load_model] x.fansite: this is something else, not a model that fansite has written. Give the path of "
            "one.");
  EXPECT_THAT(checkpoint_error("hello"), HasSubstr("not a checkpoint that fansite has written"));
  EXPECT_THAT(model_error(checkpoint), HasSubstr("this is the checkpoint of a training that has not ended"));
  EXPECT_THAT(checkpoint_error(model), HasSubstr("this is a trained model, not the checkpoint of a training"));
  std::string newer = model;
  newer[8] = 7;
  EXPECT_EQ(model_error(newer),
            "[load_model] x.fansite: written by a newer fansite, version 7 of the format where this one knows 3. "
            "Update fansite.");
  newer[8] = 1;
  EXPECT_THAT(model_error(newer), HasSubstr("written by an earlier fansite, version 1 of the format"));
  newer[8] = 0;
  EXPECT_THAT(model_error(newer), HasSubstr("damaged, its first bytes"));
}

TEST(ModelFile, DamageIsNamed) {
  std::string bytes = to_bytes(small_ensemble());
  EXPECT_THAT(model_error(bytes + '\0'), HasSubstr("damaged, something is appended"));
  bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
  EXPECT_EQ(model_error(bytes),
            "[load_model] x.fansite: the file is damaged, its checksum does not match. Copy it again or train again.");
  bytes[30] = '\x01';
  EXPECT_THAT(model_error(bytes), HasSubstr("its header cannot be read"));
}

TEST(ModelFile, NumbersThatAreNotFiniteAreRefused) {
  const std::string not_a_number("\0\0\xC0\x7F", 4), infinite("\0\0\x80\xFF", 4);
  const std::string model = to_bytes(small_ensemble()), checkpoint = to_bytes(small_checkpoint());
  EXPECT_THAT(model_error(with_number(model, 4, not_a_number)), HasSubstr("a number of networks/0/weights is not fin"));
  EXPECT_THAT(model_error(with_number(model, 4, infinite)), HasSubstr("is not finite"));
  EXPECT_THAT(model_error(with_number(model, 0, std::string("\0\0\0\0\0\0\xF8\x7F", 8))), HasSubstr("is not finite"));
  EXPECT_THAT(checkpoint_error(with_number(checkpoint, 9, not_a_number)), HasSubstr("learner/mean is not finite"));
  EXPECT_THAT(checkpoint_error(with_number(checkpoint, 10, std::string("\0\0\x80\xBF", 4))),
              HasSubstr("mean of squares is negative"));
}

TEST(ModelFile, HeadersAreCheckedFieldByField) {
  const std::string whole = to_bytes(folded_ensemble());
  EXPECT_EQ(model_error(edited(whole, [](json&) {})), "nothing was thrown");
  const auto error = [&](auto&& edit) { return model_error(edited(whole, edit)); };
  const auto set = [&](const char* pointer, const json& value) {
    return error([&](json& header) { header[json::json_pointer(pointer)] = value; });
  };
  for (const char* key : {"variables", "rows", "data_hash", "params", "transforms", "networks"}) {
    EXPECT_THAT(error([&](json& header) { header.erase(key); }), HasSubstr(fmt::format("has no '{}'", key)));
    EXPECT_THAT(error([&](json& header) { header[key] = nullptr; }), HasSubstr("damaged, ")) << key;
    EXPECT_THAT(error([&](json& header) { header[key] = json::object(); }), HasSubstr("damaged, ")) << key;
    EXPECT_THAT(error([&](json& header) { header[key] = {1}; }), HasSubstr("damaged, ")) << key;
  }
  EXPECT_THAT(set("/variables/1", "a"), HasSubstr("two of its columns have the same name"));
  EXPECT_THAT(set("/variables/1", json{256}), HasSubstr("'variables' in its header"));
  EXPECT_THAT(set("/variables", {"a", "b"}), HasSubstr("3 variables for 2 columns"));
  EXPECT_THAT(set("/variables", json::array()), HasSubstr("no columns"));
  EXPECT_THAT(set("/rows", 3), HasSubstr("a row belongs to no fold"));
  EXPECT_THAT(set("/rows", 0), HasSubstr("no rows"));
  EXPECT_THAT(set("/rows", 1.5), HasSubstr("'rows' in its header is not what it should be"));
  EXPECT_THAT(set("/rows", ~std::uint64_t{0}), HasSubstr("'rows' in its header is not what it should be"));
  for (const char* hash : {"", "-1", "0x12", "12g", "10000000000000000"}) {
    EXPECT_THAT(set("/data_hash", hash), HasSubstr("'data_hash'")) << hash;
  }
  EXPECT_THAT(set("/params/folds", 0), HasSubstr("4 networks for 2 repeats of 0 folds"));
  EXPECT_THAT(set("/params/folds", 1), HasSubstr("4 networks for 2 repeats of 1 folds"));
  EXPECT_THAT(set("/params/repeats", 2147483647), HasSubstr("4 networks for 2147483647 repeats"));
  EXPECT_THAT(set("/params/repeats", 2147483648), HasSubstr("'repeats'"));
  EXPECT_THAT(set("/params/transform", "log"), HasSubstr("'transform'"));
  EXPECT_THAT(set("/params/seed", -1), HasSubstr("'seed'"));
  EXPECT_THAT(set("/params/shape/variables", 4), HasSubstr("4 variables for 3 columns"));
  EXPECT_THAT(set("/params/shape/blocks", 0), HasSubstr("damaged, 0 blocks; use 1 to 1024"));
  EXPECT_THAT(set("/params/shape/blocks", 1024), HasSubstr("networks are larger than the file"));
  EXPECT_THAT(set("/params/shape/blocks", 7), HasSubstr("its weights are not as many"));
  EXPECT_THAT(set("/params/shape/ranks", 3), HasSubstr("3 ranks for 3 variables"));
  EXPECT_THAT(set("/params/train/held_out", nullptr), HasSubstr("its held_out is wrong: nan is out of range"));
  EXPECT_THAT(set("/params/train/clip", "-inf"), HasSubstr("its clip is wrong: -inf is out of range"));
  EXPECT_THAT(set("/params/train/clip", "5"), HasSubstr("'clip'"));
  EXPECT_THAT(set("/params/train/base", "none"), HasSubstr("its Gaussian base is not of its shape"));
  EXPECT_THAT(set("/params/train/base", "linear"), HasSubstr("'base'"));
  EXPECT_THAT(set("/params/train/schedule", true), HasSubstr("'schedule'"));
  EXPECT_THAT(set("/params/train/subsets", "roots"), HasSubstr("'subsets'"));
  EXPECT_THAT(set("/transforms/1/scale", 0), HasSubstr("transform of column 2"));
  EXPECT_THAT(set("/transforms/1/shift", nullptr), HasSubstr("transform of column 2"));
  EXPECT_THAT(set("/transforms/1/log_slope", "inf"), HasSubstr("transform of column 2"));
  EXPECT_THAT(set("/transforms/1/kind", "none"), HasSubstr("the numbers of transforms/2/x are missing"));
  EXPECT_THAT(set("/networks/2/order", {0, 1, 1}), HasSubstr("in network 3: its order"));
  EXPECT_THAT(set("/networks/2/order", {0, 1, 3}), HasSubstr("in network 3: its order"));
  EXPECT_THAT(set("/networks/2/order", {0, 1, -1}), HasSubstr("in network 3: its order"));
  EXPECT_THAT(set("/networks/2/order", {0, 1}), HasSubstr("in network 3: its order"));
  EXPECT_THAT(set("/networks/0/fold", 2), HasSubstr("in network 1: it belongs to no fold"));
  EXPECT_THAT(set("/networks/0/repeat", -1), HasSubstr("in network 1: it belongs to no fold"));
  EXPECT_THAT(set("/networks/0/kept_step", 21), HasSubstr("steps contradict"));
  EXPECT_THAT(set("/networks/0/steps", -1), HasSubstr("steps contradict"));
  EXPECT_THAT(set("/networks/0/curve/1/0", 10), HasSubstr("steps contradict"));
  EXPECT_THAT(set("/networks/0/curve/1", {1, 2}), HasSubstr("'curve'"));
  EXPECT_THAT(set("/blocks/0/name", "y"), HasSubstr("the numbers of transforms/0/x are missing"));
  EXPECT_THAT(set("/blocks/0/type", "f16"), HasSubstr("list of 'blocks'"));
  EXPECT_THAT(set("/blocks/0/count", -1), HasSubstr("list of 'blocks'"));
  EXPECT_THAT(error([](json& header) {
                header["blocks"].push_back({{"name", "z"}, {"type", "f32"}, {"count", 0}});
              }),
              HasSubstr("no place for 'z'"));
}

TEST(ModelFile, NumbersAreChecked) {
  const std::string whole = to_bytes(folded_ensemble());
  const auto number = [](double value) { return little_endian(std::bit_cast<std::uint64_t>(value)); };
  EXPECT_THAT(model_error(with_number(whole, 0, number(1))), HasSubstr("transform of column 1 does not increase"));
  EXPECT_THAT(model_error(with_number(whole, 5, number(9))), HasSubstr("transform of column 2 does not increase"));
  EXPECT_THAT(model_error(with_number(whole, 13, std::string("\2\0", 2))), HasSubstr("a row belongs to no fold"));
  EXPECT_THAT(model_error(with_number(whole, 16, number(0))), HasSubstr("a variance is not positive"));
}

TEST(ModelFile, StatesAreChecked) {
  const std::string whole = to_bytes(small_checkpoint());
  const auto set = [&](const char* pointer, const json& value) {
    return checkpoint_error(edited(whole, [&](json& header) { header[json::json_pointer(pointer)] = value; }));
  };
  EXPECT_THAT(set("/under_way", 3), HasSubstr("'under_way' in its header is not a list"));
  EXPECT_THAT(set("/under_way", json::array()), HasSubstr("no place for 'under_way/0/learner/weights'"));
  EXPECT_THAT(set("/under_way/0/step", 1001), HasSubstr("the state of network 1"));
  EXPECT_THAT(set("/under_way/0/learner_steps", 1), HasSubstr("the state of network 1"));
  EXPECT_THAT(set("/under_way/0/best_loss", nullptr), HasSubstr("the state of network 1"));
  EXPECT_THAT(set("/under_way/0/stopped", 0), HasSubstr("'stopped'"));
  EXPECT_THAT(set("/params/shape/outputs", 17), HasSubstr("the state of network 1"));
}

TEST(ModelFile, ALyingHeaderAllocatesNothing) {
  const std::string whole = to_bytes(folded_ensemble());
  for (const std::uint64_t count : {std::uint64_t{1} << 61, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    EXPECT_THAT(model_error(edited(whole, [&](json& header) { header["blocks"][0]["count"] = count; })),
                HasSubstr("cut short"));
    std::string long_header = whole;
    long_header.replace(16, 8, little_endian(count));
    EXPECT_THAT(model_error(sealed(long_header)), HasSubstr("cut short"));
  }
  // 30 000 names in 200 kB: networks of 10¹⁵ weights, whose layout must not even be added up.
  const std::string wide = edited(to_bytes(small_ensemble()), [](json& header) {
    header["variables"] = json::array();
    for (int i = 0; i < 30000; ++i) header["variables"].push_back(std::to_string(i));
    header["params"]["shape"] = {
        {"variables", 30000}, {"blocks", 1024}, {"ranks", 29999}, {"outputs", 1024}, {"sigmoids", 16}};
  });
  EXPECT_THAT(model_error(wide), HasSubstr("its networks are larger than the file"));
  EXPECT_THAT(model_error(with_header(whole, std::string(std::size_t{1} << 27, ' '))), HasSubstr("header is too long"));
  // Brackets in brackets must not be unwound by recursion.
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 300000; ++i) deep += open;
    EXPECT_THAT(model_error(with_header(whole, deep)), HasSubstr("header cannot be read"));
  }
  const std::string nested = std::string(300000, '[') + std::string(300000, ']');
  EXPECT_THAT(model_error(with_header(whole, "{\"blocks\":" + nested + "}")), HasSubstr("list of 'blocks'"));
}

TEST(ModelFileProperty, MutatedHeadersParseOrThrowDataError) {
  const std::string model = to_bytes(folded_ensemble()), checkpoint = to_bytes(small_checkpoint());
  EXPECT_TRUE(rc::check("no mutation does anything but parse or throw a DataError", [&] {
    std::string bytes = *rc::gen::element(model, checkpoint);
    const int mutations = *rc::gen::inRange(1, 6);
    for (int i = 0; i < mutations; ++i) {
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] =
          *rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element('0', '9', '-', '[', ']', ',', '"', 'e'));
    }
    RC_ASSERT(is_utf8(model_error(sealed(bytes))) && is_utf8(checkpoint_error(sealed(bytes))));
  }));
}

// ---- Values that are wrong ------------------------------------------------------------------------------------------

TEST(ModelFile, OnlyTrainedEnsemblesAreSaved) {
  const auto error = [](auto&& spoil) {
    Ensemble e = folded_ensemble();
    spoil(e);
    return message_of<UsageError>([&] { to_bytes(e); });
  };
  EXPECT_EQ(error([](Ensemble&) {}), "nothing was thrown");
  EXPECT_EQ(
      error([](Ensemble& e) { e.networks[1].trained.weights.values[7] = std::numeric_limits<float>::infinity(); }),
      "[save_model] this is not what a training gives, in network 2: a weight is not finite. Train it again.");
  EXPECT_THAT(error([](Ensemble& e) { e.networks[1].trained = {}; }), HasSubstr("in network 2: its weights"));
  EXPECT_THAT(error([](Ensemble& e) { e.networks.pop_back(); }), HasSubstr("3 networks for 2 repeats of 2 folds"));
  EXPECT_THAT(error([](Ensemble& e) { e.networks[0].trained.base = {}; }), HasSubstr("Gaussian base"));
  EXPECT_THAT(error([](Ensemble& e) { e.fold_of_row.pop_back(); }), HasSubstr("division of the rows"));
  EXPECT_THAT(error([](Ensemble& e) { e.transforms.pop_back(); }), HasSubstr("one transform for each column"));
  EXPECT_THAT(error([](Ensemble& e) { e.params.shape = {}; }), HasSubstr("0 variables for 3 columns"));
  Checkpoint checkpoint = small_checkpoint();
  checkpoint.under_way[0]->learner.mean.pop_back();
  EXPECT_THAT(message_of<UsageError>([&] { to_bytes(checkpoint); }), HasSubstr("[save_checkpoint]"));
  checkpoint.under_way.clear();
  EXPECT_THAT(message_of<UsageError>([&] { to_bytes(checkpoint); }), HasSubstr("one state for each network"));
}

// ---- Paths ----------------------------------------------------------------------------------------------------------

class ModelPaths : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fansite_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  auto entries() const { return std::distance(fs::directory_iterator(directory_), fs::directory_iterator()); }

 private:
  fs::path directory_;
};

TEST_F(ModelPaths, FilesHoldTheBytesWhoeverSavesThem) {
  const Ensemble e = folded_ensemble();
  save_model(e, path("a.fansite"));
  save_model(e, path("b.fansite"));
  EXPECT_EQ(FileView(path("a.fansite")).bytes(), to_bytes(e));
  EXPECT_EQ(FileView(path("b.fansite")).bytes(), to_bytes(e));
  EXPECT_TRUE(same(load_model(path("a.fansite")), e));
  save_checkpoint(small_checkpoint(), path("a.fansite"));  // replaces it
  EXPECT_TRUE(same(load_checkpoint(path("a.fansite")), small_checkpoint()));
  EXPECT_THAT(message_of<DataError>([&] { load_model(path("a.fansite")); }),
              HasSubstr("/a.fansite: this is the check"));
  EXPECT_EQ(entries(), 2);
}

TEST_F(ModelPaths, AFailedSaveLeavesTheOldFile) {
  save_model(small_ensemble(), path("a.fansite"));
  Ensemble spoilt = small_ensemble();
  spoilt.networks[0].trained.weights.values[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(save_model(spoilt, path("a.fansite")), UsageError);
  EXPECT_TRUE(same(load_model(path("a.fansite")), small_ensemble()));
  EXPECT_EQ(entries(), 1);
}

TEST_F(ModelPaths, PathsThatCannotBeUsed) {
  EXPECT_THROW(load_model(path("missing.fansite")), UsageError);
  EXPECT_THROW(load_checkpoint(path("")), UsageError);  // the directory
  EXPECT_THROW(save_model(small_ensemble(), path("no/such/place.fansite")), UsageError);
  EXPECT_THROW(save_checkpoint(small_checkpoint(), path("")), UsageError);
  EXPECT_EQ(entries(), 0);
  if (fs::exists("/dev/full")) {
    EXPECT_THROW(save_model(folded_ensemble(), "/dev/full"), IoError);
    EXPECT_THROW(save_checkpoint(small_checkpoint(), "/dev/full"), IoError);
  }
}

}  // namespace
}  // namespace fansite::flow
