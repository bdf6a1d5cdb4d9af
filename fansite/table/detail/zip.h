// SPDX-License-Identifier: Apache-2.0
//
// Zip archives, as far as .npz files need them: stored and deflated members, zip64. Nothing an
// archive says is believed before it is checked against the bytes that are there.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

namespace fansite {

static_assert(std::endian::native == std::endian::little, "files are read on little-endian machines only");

/// A little-endian integer of a file, at a place known to be inside it.
template <class T>
T little(std::string_view bytes, std::uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Inflates the first `limit` bytes; nothing if the stream is damaged. The buffer grows with what really comes out, so
/// a member that lies about its size cannot make us ask for memory that the packed bytes do not fill.
inline std::optional<std::string> inflate_raw(std::string_view packed, std::uint64_t limit) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw IoError("[load_npz] zlib could not start. Free some memory.");
  struct Guard {
    z_stream* stream;
    ~Guard() { inflateEnd(stream); }
  } guard{&stream};

  constexpr std::size_t kStep = std::size_t{1} << 30;  // zlib counts in 32 bits
  std::string out;
  std::size_t used = 0, fed = 0;
  while (used < limit) {
    if (used == out.size()) {
      const std::size_t larger = used == 0 ? std::max<std::size_t>(1 << 16, 4 * packed.size()) : 2 * used;
      out.resize(static_cast<std::size_t>(std::min<std::uint64_t>(limit, larger)));
    }
    const std::size_t feed = std::min(packed.size() - fed, kStep), room = std::min(out.size() - used, kStep);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + fed));
    stream.avail_in = static_cast<uInt>(feed);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    fed += feed - stream.avail_in;
    used += room - stream.avail_out;
    if (status == Z_STREAM_END) break;
    if (status != Z_OK) return std::nullopt;  // also when the packed bytes end early
  }
  out.resize(used);
  return out;
}

class ZipArchive {
 public:
  struct Member {
    std::string name;
    unsigned method = 0, flags = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed_size = 0, size = 0, header_offset = 0;
  };

  /// Reads the directory; `bytes` must outlive the archive, `where` names it in messages.
  ZipArchive(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {
    const std::string_view directory = find_directory();
    for (std::uint64_t at = 0; at < directory.size();) at = read_entry(directory, at);
  }

  const std::vector<Member>& members() const { return members_; }

  /// The first `limit` bytes of a member; the checksum is verified when that is all of it. `buffer` holds what had to
  /// be inflated and must outlive the view.
  std::string_view unpack(const Member& member, std::uint64_t limit, std::string& buffer) const {
    const auto what = [&] { return fmt::format("[load_npz] {}, member '{}'", where_, excerpt(member.name)); };
    check_data((member.flags & 1) == 0, "{} is encrypted. Save it without a password.", what());
    check_data(member.method == kStored || member.method == kDeflated,
               "{} is packed by zip method {}. Save it with numpy.savez or numpy.savez_compressed.", what(),
               member.method);
    const std::string_view source = packed(member);
    const bool whole = member.size <= limit;
    const std::uint64_t wanted = whole ? member.size : limit;
    std::string_view content = source.substr(0, wanted);
    bool sizes_agree = member.method == kDeflated || member.packed_size == member.size;
    if (member.method == kDeflated) {
      // When all is wanted, ask for one byte more, to notice a stream that goes on past its promise.
      auto inflated =
          inflate_raw(source, whole && wanted < std::numeric_limits<std::uint64_t>::max() ? wanted + 1 : wanted);
      check_data(inflated.has_value(), "{} is damaged and cannot be unpacked. Copy or save it again.", what());
      buffer = std::move(*inflated);
      content = buffer;
    }
    sizes_agree = sizes_agree && content.size() == wanted;
    check_data(sizes_agree, "{} has another size than the archive says. Copy or save it again.", what());
    if (whole) {
      const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
      check_data(crc == member.crc, "{} is damaged: its checksum does not match. Copy or save it again.", what());
    }
    return content;
  }

 private:
  static constexpr unsigned kStored = 0, kDeflated = 8;
  static constexpr std::uint32_t kLocalMark = 0x04034b50, kEntryMark = 0x02014b50, kEndMark = 0x06054b50;
  static constexpr std::uint32_t kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50;
  static constexpr std::uint64_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;

  DataError damaged() const {
    return DataError(fmt::format("[load_npz] {} is truncated or not an .npz archive. Copy or save it again.", where_));
  }

  static bool inside(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }

  /// The end record stands at the very end, but for a comment of at most 65535 bytes.
  std::uint64_t find_end() const {
    if (bytes_.size() < kEndSize) throw damaged();
    const std::uint64_t last = bytes_.size() - kEndSize;
    for (std::uint64_t comment = 0; comment <= std::min<std::uint64_t>(last, 65535); ++comment) {
      const std::uint64_t at = last - comment;
      if (little<std::uint32_t>(bytes_, at) == kEndMark && little<std::uint16_t>(bytes_, at + 20) == comment) return at;
    }
    throw damaged();
  }

  std::string_view find_directory() const {
    const std::uint64_t end = find_end();
    std::uint64_t size = little<std::uint32_t>(bytes_, end + 12), offset = little<std::uint32_t>(bytes_, end + 16);
    if (end >= kLocator64Size && little<std::uint32_t>(bytes_, end - kLocator64Size) == kLocator64Mark) {
      const auto end64 = little<std::uint64_t>(bytes_, end - kLocator64Size + 8);
      if (!inside(bytes_, end64, kEnd64Size) || little<std::uint32_t>(bytes_, end64) != kEnd64Mark) throw damaged();
      size = little<std::uint64_t>(bytes_, end64 + 40);
      offset = little<std::uint64_t>(bytes_, end64 + 48);
    }
    if (!inside(bytes_, offset, size)) throw damaged();
    return bytes_.substr(offset, size);
  }

  /// Adds the entry at `at` and returns where the next begins.
  std::uint64_t read_entry(std::string_view directory, std::uint64_t at) {
    if (!inside(directory, at, kEntrySize) || little<std::uint32_t>(directory, at) != kEntryMark) throw damaged();
    const std::uint64_t name_size = little<std::uint16_t>(directory, at + 28);
    const std::uint64_t extra_size = little<std::uint16_t>(directory, at + 30);
    const std::uint64_t comment_size = little<std::uint16_t>(directory, at + 32);
    if (!inside(directory, at + kEntrySize, name_size + extra_size + comment_size)) throw damaged();
    Member member;
    member.name = std::string(directory.substr(at + kEntrySize, name_size));
    member.flags = little<std::uint16_t>(directory, at + 8);
    member.method = little<std::uint16_t>(directory, at + 10);
    member.crc = little<std::uint32_t>(directory, at + 16);
    member.packed_size = little<std::uint32_t>(directory, at + 20);
    member.size = little<std::uint32_t>(directory, at + 24);
    member.header_offset = little<std::uint32_t>(directory, at + 42);
    widen(directory.substr(at + kEntrySize + name_size, extra_size),
          {&member.size, &member.packed_size, &member.header_offset});
    members_.push_back(std::move(member));
    return at + kEntrySize + name_size + extra_size + comment_size;
  }

  /// What does not fit 32 bits stands in the zip64 extra field: in this order, and only what is needed.
  void widen(std::string_view extra, std::initializer_list<std::uint64_t*> fields) const {
    while (extra.size() >= 4) {
      const auto id = little<std::uint16_t>(extra, 0);
      const std::size_t size = little<std::uint16_t>(extra, 2);
      if (extra.size() - 4 < size) throw damaged();
      std::string_view content = extra.substr(4, size);
      extra.remove_prefix(4 + size);
      if (id != 1) continue;
      for (std::uint64_t* field : fields) {
        if (*field != 0xFFFFFFFFu) continue;
        if (content.size() < 8) throw damaged();
        *field = little<std::uint64_t>(content, 0);
        content.remove_prefix(8);
      }
    }
  }

  /// The archive's bytes of a member, still packed.
  std::string_view packed(const Member& member) const {
    const std::uint64_t header = member.header_offset;
    if (!inside(bytes_, header, kLocalSize) || little<std::uint32_t>(bytes_, header) != kLocalMark) throw damaged();
    // The lengths of name and extra field here may differ from the directory's.
    const std::uint64_t begin =
        header + kLocalSize + little<std::uint16_t>(bytes_, header + 26) + little<std::uint16_t>(bytes_, header + 28);
    if (!inside(bytes_, begin, member.packed_size)) throw damaged();
    return bytes_.substr(begin, member.packed_size);
  }

  std::string_view bytes_;
  std::string where_;
  std::vector<Member> members_;
};

}  // namespace fansite
