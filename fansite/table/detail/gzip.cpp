// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/detail/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/progress.h"

namespace fansite {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 16;
// Tables of text shrink to a third or a tenth, those of little but zeros to a hundredth; what is made to fill memory to
// a thousandth.
constexpr std::size_t kFreely = std::size_t{1} << 28, kMostPerByte = 250;

class Inflater {
 public:
  enum class End { none, of_member, damaged };

  explicit Inflater(std::string_view packed) : packed_(packed) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) {
      throw IoError("[gunzip] zlib could not start. Free some memory.");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t fed() const { return fed_; }
  bool all_fed() const { return fed_ == packed_.size(); }

  /// Appends at most one step's bytes to `text`.
  End step(std::string& text) {
    const std::size_t before = text.size(), feed = std::min(packed_.size() - fed_, kStep);
    text.resize(before + kStep);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data() + fed_));
    stream_.avail_in = static_cast<uInt>(feed);
    stream_.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream_.avail_out = static_cast<uInt>(kStep);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    fed_ += feed - stream_.avail_in;
    text.resize(before + kStep - stream_.avail_out);
    if (status == Z_STREAM_END) return End::of_member;
    return status == Z_OK || status == Z_BUF_ERROR ? End::none : End::damaged;
  }

  /// Of what follows a member: another, or nothing but the zeros that tapes and disks end in.
  bool begin_next() {
    const std::string_view rest = packed_.substr(fed_);
    if (rest.find_first_not_of('\0') == std::string_view::npos) return false;
    inflateReset(&stream_);
    return true;
  }

 private:
  std::string_view packed_;
  std::size_t fed_ = 0;
  z_stream stream_{};
};

}  // namespace

std::string gunzip_beginning(std::string_view beginning, std::size_t limit) {
  Inflater inflater(beginning);
  std::string text;
  while (text.size() < limit) {
    const std::size_t before = text.size(), fed = inflater.fed();
    if (inflater.step(text) != Inflater::End::none || (text.size() == before && inflater.fed() == fed)) break;
  }
  text.resize(std::min(text.size(), limit));
  return text;
}

std::string gunzip(std::string_view packed, const std::string& where, const std::function<void(std::string_view)>& look,
                   const Progress* progress) {
  Inflater inflater(packed);
  std::string text;
  std::size_t next_look = kStep;
  for (;;) {
    if (progress != nullptr) throw_if_interrupted(*progress);
    const std::size_t before = text.size(), fed = inflater.fed();
    const Inflater::End end = inflater.step(text);
    check_data(end != Inflater::End::damaged, "[gunzip] {} is damaged and cannot be unpacked. Copy or pack it again.",
               where);
    check_data(text.size() <= kFreely || text.size() / kMostPerByte <= inflater.fed(),
               "[gunzip] {} unpacks to more than {} times its size, as no table does. If it is one, unpack it first.",
               where, kMostPerByte);
    if (look && text.size() >= next_look) {
      look(text);
      while (next_look <= text.size()) next_look *= 2;
    }
    if (end == Inflater::End::of_member) {
      if (!inflater.begin_next()) return text;
      continue;
    }
    check_data(text.size() > before || inflater.fed() > fed || !inflater.all_fed(),
               "[gunzip] {} ends before its packed text does: it was cut short. Copy or pack it again.", where);
  }
}

}  // namespace fansite
