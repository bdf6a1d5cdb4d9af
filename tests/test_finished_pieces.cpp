// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/detail/finished_pieces.h"

#include "checkpoint_examples.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;
using FinishedPiecesTest = causal::CheckpointTest;
constexpr FileKind kKind = FileKind::graph_checkpoint;

PiecesCheckpoint example() {
  return {{100, 4, 0xFEDCBA9876543210u, "some"}, {0xABCDEFu, 5, 2, {{0, {1.5, -0.0}}, {3, {1e-310, -7}}}}};
}

TEST_F(FinishedPiecesTest, ComeBackFromBytesAsTheyWere) {
  const PiecesCheckpoint saved = example();
  for (const FileKind kind : {FileKind::graph_checkpoint, FileKind::search_checkpoint}) {
    const PiecesCheckpoint read = parse_pieces_checkpoint(to_bytes(saved, kind), "file", kind);
    EXPECT_EQ(read.identity, saved.identity);
    EXPECT_EQ(read.state, saved.state);
  }
}

TEST_F(FinishedPiecesTest, DamageIsNoticed) {
  const auto error_of = [](const std::string& bytes) {
    return message_of<DataError>([&] { parse_pieces_checkpoint(bytes, "x.graph", kKind); });
  };
  const std::string good = to_bytes(example(), kKind);
  causal::expect_damage_noticed(good, error_of);
  causal::expect_fields_needed(good, error_of);
}

TEST_F(FinishedPiecesTest, WhatContradictsItselfIsRefused) {
  const auto error_of = [](const PiecesState& state) {
    const std::string bytes = to_bytes({example().identity, state}, kKind);
    return message_of<DataError>([&] { parse_pieces_checkpoint(bytes, "x.graph", kKind); });
  };
  PiecesState wrong = example().state;
  wrong.pieces = 3;  // there is one at place 3
  EXPECT_THAT(error_of(wrong), HasSubstr("its pieces contradict each other"));
  wrong = example().state;
  wrong.answers[3] = {1};
  EXPECT_THAT(error_of(wrong), HasSubstr("its pieces contradict each other"));
  wrong = example().state;
  wrong.answers[1] = {std::nan(""), 0};
  EXPECT_THAT(error_of(wrong), HasSubstr("damaged"));
}

TEST_F(FinishedPiecesTest, AFileKeepsThemForTheSameWorkAlone) {
  const StateIdentity identity{10, 2, 7, "settings"};
  {
    FinishedPieces pieces(kKind, path, identity);
    pieces.begin(1, 3, 2);
    EXPECT_EQ(pieces.find(1), std::nullopt);
    pieces.add(1, {4, 5});
    pieces.write();
  }
  FinishedPieces again(kKind, path, identity);
  again.begin(1, 3, 2);
  EXPECT_EQ(again.find(1), (std::vector<double>{4, 5}));
  EXPECT_EQ(again.find(0), std::nullopt);

  const auto begin = [&](const StateIdentity& other, std::uint64_t problem, int count) {
    FinishedPieces(kKind, path, other).begin(problem, count, 2);
  };
  EXPECT_THAT(message_of<UsageError>([&] { begin({10, 2, 8, "settings"}, 1, 3); }), HasSubstr("another table"));
  EXPECT_THAT(message_of<UsageError>([&] { begin({10, 2, 7, "others"}, 1, 3); }), HasSubstr("other settings"));
  EXPECT_THAT(message_of<UsageError>([&] { begin(identity, 2, 3); }), HasSubstr("is of other links; delete it"));
  EXPECT_THAT(message_of<DataError>([&] { begin(identity, 1, 4); }), HasSubstr("cannot have found"));
}

TEST_F(FinishedPiecesTest, TheFileOfAnotherSearchIsNotTheirs) {
  put(path, to_bytes(causal::small_networks()));
  EXPECT_THAT(message_of<UsageError>([&] { FinishedPieces(kKind, path, causal::small_networks().identity); }),
              HasSubstr("other settings"));
}

}  // namespace
}  // namespace fansite
