// SPDX-License-Identifier: Apache-2.0
//
// Differentiable searches that are interrupted and continued: the same bits in every field as straight through, and
// less work. Files that are damaged, of something else or nowhere to be written give one sentence and do no harm.
#include "fansite/causal/dcd/detail/training_file.h"

#include "checkpoint_examples.h"
#include "fansite/base/parallel.h"
#include "properties.h"
#include "support.h"

namespace fansite::causal {
namespace {

using testing::HasSubstr;
using State = DifferentiableTraining::State;

// ---- Bytes ----------------------------------------------------------------------------------------------------------

TrainingCheckpoint random_networks(Random& random) {
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

std::string error_of(std::string_view bytes) {
  return message_of<DataError>([&] { parse_training_checkpoint(bytes, "x.graph"); });
}

TEST(Bytes, EveryBitComesBack) {
  EXPECT_TRUE(rc::check("to_bytes(parse(bytes)) == bytes", [] {
    Random random(Key{*rc::gen::arbitrary<std::uint64_t>()});
    const TrainingCheckpoint checkpoint = random_networks(random);
    const std::string bytes = to_bytes(checkpoint);
    const TrainingCheckpoint back = parse_training_checkpoint(bytes, "x");
    RC_ASSERT(back.identity == checkpoint.identity);
    RC_ASSERT(to_bytes(back) == bytes);
  }));
  EXPECT_EQ(to_bytes(small_networks()).substr(0, 16), std::string("FANSITE\x1a\x03\0\0\0\x03\0\0\0", 16));
}

TEST(Bytes, DamageAtAnyPlaceIsNoticed) { expect_damage_noticed(to_bytes(small_networks()), error_of); }

TEST(Bytes, OtherFilesAreNamed) {
  EXPECT_THAT(error_of("a,b\n1,2\n"), HasSubstr("looks like a table of data, not a checkpoint"));
  EXPECT_THAT(error_of("hello"), HasSubstr("not a checkpoint that fansite has written"));
  EXPECT_THAT(error_of(to_bytes(small_scores())), HasSubstr("names another state"));
}

TEST(Bytes, WhatContradictsItselfIsRefusedWhateverItsChecksum) {
  const std::string good = to_bytes(small_networks());
  expect_fields_needed(good, error_of);
  const auto with = [&](const char* key, const json& value) {
    return error_of(edited(good, [&](json& header) { header[key] = value; }));
  };
  EXPECT_THAT(with("state", "other"), HasSubstr("names another state"));
  EXPECT_THAT(with("state", "scores"), HasSubstr("damaged"));
  EXPECT_THAT(with("variables", 3), HasSubstr("contradict"));
  EXPECT_THAT(with("variables", 60000), HasSubstr("contradict"));
  EXPECT_THAT(with("stage", 1), HasSubstr("contradict"));
  EXPECT_THAT(with("stage", 3), HasSubstr("'stage'"));
  EXPECT_THAT(with("gamma_index", 7), HasSubstr("'gamma_index'"));
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

  TrainingCheckpoint checkpoint = parse_training_checkpoint(kept, path);
  State& state = checkpoint.state;
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

}  // namespace
}  // namespace fansite::causal
