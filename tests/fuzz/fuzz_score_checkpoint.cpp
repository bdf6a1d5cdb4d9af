// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as the scores of a search for a graph or throw a DataError; what parses is written and parsed again
// to the same bytes.
#include "container_input.h"
#include "fansite/causal/detail/score_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite::causal;
  const auto write = [](const ScoreCheckpoint& value) { return to_bytes(value); };
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& input : {raw, mended(raw)}) round_trip(input, parse_score_checkpoint, write);
  return 0;
}
