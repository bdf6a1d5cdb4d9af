// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as the checkpoint of a search for a graph or throw a DataError; what parses is written and parsed
// again to the same bytes. The checksum would keep almost every mutation out, so each input is tried a second time with
// length and checksum put right.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "fansite/dag/checkpoint.h"
#include "fansite/error.h"
#include "fansite/io/text.h"

namespace {

using namespace fansite;

void require(bool ok) {
  if (!ok) std::abort();
}

void try_to_parse(std::string_view bytes) {
  try {
    const std::string written = dag::to_bytes(dag::parse_graph_checkpoint(bytes, "fuzz"));
    require(dag::to_bytes(dag::parse_graph_checkpoint(written, "again")) == written);
  } catch (const DataError& error) {
    require(is_utf8(error.what()));
  }
}

void put_number(std::string& bytes, std::size_t at, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(number >> 8 * i);
}

/// The header taken to end at the last brace, filled up with blanks as the writer does, and the checksum renewed.
std::string mended(std::string bytes) {
  const std::size_t brace = bytes.rfind('}');
  if (bytes.size() < 28 || brace == std::string::npos || brace < 24) return bytes;
  const std::size_t length = (brace + 1 - 24 + 7) / 8 * 8, after = bytes.find_first_not_of(' ', brace + 1);
  const std::string numbers = after == std::string::npos ? std::string(4, '\0') : bytes.substr(after);
  bytes.resize(brace + 1);
  bytes.resize(24 + length, ' ');
  bytes += numbers;
  put_number(bytes, 16, length, 8);
  const std::size_t end = bytes.size() - 4;
  put_number(bytes, end, ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), end), 4);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& input : {raw, mended(raw)}) try_to_parse(input);
  return 0;
}
