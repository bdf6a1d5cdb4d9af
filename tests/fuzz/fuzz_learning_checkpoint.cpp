// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as what a method has learnt so far or throw a DataError; what parses is written and parsed again to
// the same bytes.
#include "container_input.h"
#include "fansite/causal/neural/detail/learning_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite::causal;
  const auto write = [](const LearningCheckpoint& value) { return to_bytes(value); };
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& input : {raw, mended(raw)}) round_trip(input, parse_learning_checkpoint, write);
  return 0;
}
