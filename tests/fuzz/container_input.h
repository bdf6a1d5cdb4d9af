// SPDX-License-Identifier: Apache-2.0
//
// Inputs for parsers of containers (fansite/io/container.h). The checksum would keep almost every mutation out, so each
// is tried a second time with length and checksum put right.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

inline void require(bool ok) {
  if (!ok) std::abort();
}

/// Bytes that parse are written and parsed again to the same bytes; others give a DataError.
template <class Parse, class Write>
void round_trip(const std::string& bytes, const Parse& parse, const Write& write) {
  try {
    const std::string written = write(parse(bytes, "fuzz"));
    require(write(parse(written, "again")) == written);
  } catch (const fansite::DataError& error) {
    require(fansite::is_utf8(error.what()));
  }
}

inline void put_number(std::string& bytes, std::size_t at, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(number >> 8 * i);
}

/// The header taken to end at the last brace, filled up with blanks as the writer does, and the checksum renewed.
inline std::string mended(std::string bytes) {
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
