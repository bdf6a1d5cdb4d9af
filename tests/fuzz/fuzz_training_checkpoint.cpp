// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as the networks of a search for a graph or throw a DataError; what parses is written and parsed
// again to the same bytes.
#include "container_input.h"
#include "fansite/causal/dcd/detail/training_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite::causal;
  const auto write = [](const TrainingCheckpoint& value) { return to_bytes(value); };
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& input : {raw, mended(raw)}) round_trip(input, parse_training_checkpoint, write);
  return 0;
}
