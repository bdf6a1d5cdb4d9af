// SPDX-License-Identifier: Apache-2.0
//
// Any bytes unpack or throw a DataError; a beginning of them unpacks to a beginning.
#include <cstdint>
#include <string>

#include "fansite/table/detail/gzip.h"
#include "text_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view packed(reinterpret_cast<const char*>(bytes), size);
  const std::string beginning = fansite::gunzip_beginning(packed, 100);
  require(beginning.size() <= 100);
  read([&] {
    const std::string text = fansite::gunzip(packed, "fuzz");
    require(std::string_view(text).starts_with(beginning));
  });
  return 0;
}
