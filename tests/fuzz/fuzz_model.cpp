// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as a model or a checkpoint or throw a DataError; what parses is written and parsed again to the same
// bytes.
#include "container_input.h"
#include "fansite/entropy/flow/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite::flow;
  const auto write = [](const auto& value) { return to_bytes(value); };
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& input : {raw, mended(raw)}) {
    round_trip(input, parse_model, write);
    round_trip(input, parse_checkpoint, write);
  }
  return 0;
}
