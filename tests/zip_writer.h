// SPDX-License-Identifier: Apache-2.0
//
// Builds .npz archives in memory for tests and fuzz seeds, right or deliberately wrong.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "fansite/base/matrix.h"

/// One .npy file with any header text and any cells.
inline std::string npy_file(const std::string& dict, const std::string& cells, int version = 1) {
  std::string text = dict;
  const std::size_t preamble = version == 1 ? 10 : 12;
  text.append(63 - (preamble + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>((text.size() >> (8 * i)) & 255);
  return bytes + text + cells;
}

class ZipWriter {
 public:
  bool zip64 = false;           ///< sizes and offsets in the extra field
  bool lie_about_size = false;  ///< promise a terabyte
  bool break_checksum = false;
  std::uint16_t flags = 0;  ///< 1: encrypted
  int method_written = -1;  ///< another number than the method used

  ZipWriter& add(const std::string& name, const std::string& content, bool deflate = false) {
    const std::string packed = deflate ? deflated(content) : content;
    const auto crc =
        static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size())) ^
        (break_checksum ? 1u : 0u);
    const std::uint64_t size = lie_about_size ? std::uint64_t{1} << 40 : content.size();
    const std::uint64_t offset = bytes_.size();
    const bool wide = zip64 || lie_about_size;

    std::string common;  // the fields that local header and directory share
    put(common, 20, 2);
    put(common, flags, 2);
    put(common, static_cast<std::uint64_t>(method_written >= 0 ? method_written : (deflate ? 8 : 0)), 2);
    put(common, 0, 4);
    put(common, crc, 4);
    put(common, wide ? 0xFFFFFFFFu : packed.size(), 4);
    put(common, wide ? 0xFFFFFFFFu : size, 4);
    put(common, name.size(), 2);
    std::string extra;
    if (wide) {
      put(extra, 1, 2);
      put(extra, 24, 2);
      put(extra, size, 8);
      put(extra, packed.size(), 8);
      put(extra, offset, 8);
    }
    put(common, extra.size(), 2);

    put(bytes_, 0x04034b50, 4);
    bytes_ += common + name + extra + packed;
    put(directory_, 0x02014b50, 4);
    put(directory_, 20, 2);
    directory_ += common;
    put(directory_, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
    put(directory_, wide ? 0xFFFFFFFFu : offset, 4);
    directory_ += name + extra;
    ++entries_;
    return *this;
  }

  std::string finish(const std::string& comment = "") const {
    std::string bytes = bytes_ + directory_;
    if (zip64) {
      const std::uint64_t end64 = bytes.size();
      put(bytes, 0x06064b50, 4);
      put(bytes, 44, 8);
      put(bytes, 45, 2);
      put(bytes, 45, 2);
      put(bytes, 0, 8);
      put(bytes, entries_, 8);
      put(bytes, entries_, 8);
      put(bytes, directory_.size(), 8);
      put(bytes, bytes_.size(), 8);
      put(bytes, 0x07064b50, 4);
      put(bytes, 0, 4);
      put(bytes, end64, 8);
      put(bytes, 1, 4);
    }
    put(bytes, 0x06054b50, 4);
    put(bytes, 0, 4);
    put(bytes, entries_, 2);
    put(bytes, entries_, 2);
    put(bytes, zip64 ? 0xFFFFFFFFu : directory_.size(), 4);
    put(bytes, zip64 ? 0xFFFFFFFFu : bytes_.size(), 4);
    put(bytes, comment.size(), 2);
    return bytes + comment;
  }

 private:
  static void put(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += i < 8 ? static_cast<char>((value >> (8 * i)) & 255) : '\0';
  }

  static std::string deflated(const std::string& content) {
    z_stream stream{};
    if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::runtime_error("zlib");
    std::string packed(deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
  }

  std::string bytes_, directory_;
  std::uint64_t entries_ = 0;
};
