// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as the checkpoint of a search for boundaries or throw a DataError; what parses is written and parsed
// again to the same bytes.
#include "container_input.h"
#include "fansite/boundary/detail/search_checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite;
  const auto write = [](const SearchCheckpoint& value) { return to_bytes(value); };
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& input : {raw, mended(raw)}) round_trip(input, parse_search_checkpoint, write);
  return 0;
}
