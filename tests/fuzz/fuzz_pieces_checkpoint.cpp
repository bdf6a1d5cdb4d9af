// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as the checkpoint of work in pieces or throw a DataError; what parses is written and parsed again to
// the same bytes.
#include "container_input.h"
#include "fansite/base/detail/finished_pieces.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite;
  constexpr auto kKind = FileKind::graph_checkpoint;
  const auto parse = [](const std::string& input, const std::string& name) {
    return parse_pieces_checkpoint(input, name, kKind);
  };
  const auto write = [](const PiecesCheckpoint& value) { return to_bytes(value, kKind); };
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& input : {raw, mended(raw)}) round_trip(input, parse, write);
  return 0;
}
