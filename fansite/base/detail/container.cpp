// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/detail/container.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

constexpr std::string_view kMagic("FANSITE\x1a", 8);
constexpr std::uint32_t kVersion = 3;  // 1 had other names of fields, 2 knew numbers only
constexpr std::size_t kPreamble = 24, kChecksum = 4;
// Parsed JSON can take 35 times the memory of its text. A header has about 60 bytes for each column and each point of a
// curve and 4 for each place of an order: 10 000 columns and 20 networks make 2 MB.
constexpr std::size_t kLongestHeader = std::size_t{1} << 26;

std::size_t whole_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

std::uint32_t checksum(std::uint32_t before, std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// ---- Numbers, byte by byte; compilers make one move of each of these loops ------------------------------------------

template <class Bits>
void put(char* to, Bits bits) {
  for (std::size_t i = 0; i < sizeof bits; ++i) to[i] = static_cast<char>(static_cast<unsigned char>(bits >> 8 * i));
}

template <class Bits>
Bits get(const char* from) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) bits |= std::uint64_t{static_cast<unsigned char>(from[i])} << 8 * i;
  return static_cast<Bits>(bits);
}

template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

template <class T>
constexpr std::string_view type_of() {
  if (std::is_floating_point_v<T>) return sizeof(T) == 8 ? "f64" : "f32";
  return sizeof(T) == 4 ? "u32" : "u16";
}

std::size_t width_of(std::string_view type) {
  return type == "f64" ? 8 : type == "f32" || type == "u32" ? 4 : type == "u16" ? 2 : 0;
}

}  // namespace

// ---- Complaints -----------------------------------------------------------------------------------------------------

namespace {

std::string_view remedy(FileKind kind) {
  switch (kind) {
    case FileKind::model:
      return "Copy it again or train again.";
    case FileKind::checkpoint:
      return "Delete it to train from the start.";
    case FileKind::graph_checkpoint:
    case FileKind::search_checkpoint:
      break;
  }
  return "Delete it to search from the start.";
}

std::string_view name(FileKind kind) {
  switch (kind) {
    case FileKind::model:
      return "a trained model";
    case FileKind::checkpoint:
      return "the checkpoint of a training that has not ended";
    case FileKind::graph_checkpoint:
      return "the checkpoint of a search for a graph";
    case FileKind::search_checkpoint:
      break;
  }
  return "the checkpoint of a search for boundaries";
}

// What a file turns out to be where another kind was wanted, and what to do.
std::string misplaced(FileKind wanted, FileKind found) {
  const bool promising = wanted == FileKind::model && found == FileKind::checkpoint;
  return fmt::format("this is {}, not {}. {}", name(found), name(wanted),
                     promising                   ? "Continue that training; at its end it gives the model."
                     : wanted == FileKind::model ? "Give the path of a model."
                                                 : "Give the checkpoint another path.");
}

}  // namespace

void Source::fail(std::string_view what) const {
  throw DataError(fmt::format("[{}] {}: {}", kind == FileKind::model ? "load_model" : "load_checkpoint", name, what));
}

void Source::damaged(std::string_view what) const {
  fail(fmt::format("the file is damaged, {}. {}", what, remedy(kind)));
}

void Source::cut_short() const { fail(fmt::format("the file is cut short, its end is missing. {}", remedy(kind))); }

// ---- Writing --------------------------------------------------------------------------------------------------------

namespace {

template <class T>
void write_numbers(std::span<const T> values, const Sink& sink) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;  // a whole number of words
  std::string bytes;
  for (; !values.empty(); values = values.subspan(std::min(kAtOnce, values.size()))) {
    const std::size_t count = std::min(kAtOnce, values.size());
    bytes.assign(whole_words(count * sizeof(T)), '\0');
    for (std::size_t i = 0; i < count; ++i) put(&bytes[i * sizeof(T)], std::bit_cast<BitsOf<T>>(values[i]));
    sink(bytes);
  }
}

}  // namespace

void write_container(FileKind kind, OrderedJson header, std::span<const Block> blocks, const Sink& sink) {
  OrderedJson list = OrderedJson::array();
  for (const Block& block : blocks) {
    const auto entry = [&]<class T>(std::span<const T> values) {
      list.push_back({{"name", block.name}, {"type", type_of<T>()}, {"count", values.size()}});
    };
    std::visit(entry, block.values);
  }
  header["blocks"] = std::move(list);
  std::string text = header.dump();
  text.append(whole_words(text.size()) - text.size(), ' ');  // the blocks begin at a multiple of 8
  check(text.size() <= kLongestHeader,
        "[save] the header would have {} bytes, more than the {} that can be read again. Use fewer networks.",
        text.size(), kLongestHeader);

  std::uint32_t sum = 0;
  const Sink summed = [&](std::string_view bytes) {
    sum = checksum(sum, bytes);
    sink(bytes);
  };
  std::string preamble(kMagic);
  preamble.resize(kPreamble);
  put(&preamble[8], kVersion);
  put(&preamble[12], static_cast<std::uint32_t>(kind));
  put(&preamble[16], std::uint64_t{text.size()});
  summed(preamble);
  summed(text);
  for (const Block& block : blocks) std::visit([&](auto values) { write_numbers(values, summed); }, block.values);
  std::array<char, kChecksum> end{};
  put(end.data(), sum);
  sink({end.data(), end.size()});
}

// ---- Reading --------------------------------------------------------------------------------------------------------

namespace {

bool looks_like_a_table(std::string_view bytes) {
  if (bytes.starts_with("\x93NUMPY") || bytes.starts_with("PK")) return true;
  const std::string_view line = bytes.substr(0, std::min<std::size_t>(bytes.find_first_of("\r\n"), 4096));
  return line.find_first_of(",;\t") != std::string_view::npos &&
         std::none_of(line.begin(), line.end(), [](char c) { return c >= '\0' && c < ' ' && c != '\t'; });
}

}  // namespace

// The header comes before the checksum, because only its list of blocks can tell a file that is cut short from one that
// is damaged.
Contents::Contents(std::string_view bytes, const Source& source) : bytes_(bytes), source_(source) {
  check_preamble();
  const auto length = get<std::uint64_t>(&bytes[16]);
  if (length > bytes.size() - kPreamble - kChecksum) source.cut_short();
  if (length > kLongestHeader) source.damaged("its header is too long");
  const std::string_view text = bytes.substr(kPreamble, static_cast<std::size_t>(length));
  header_ = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!header_.is_object()) source.damaged("its header cannot be read");
  list_blocks(whole_words(kPreamble + text.size()));
  const std::size_t end = bytes.size() - kChecksum;
  if (checksum(0, bytes.substr(0, end)) != get<std::uint32_t>(&bytes[end])) {
    source.damaged("its checksum does not match");
  }
}

void Contents::check_preamble() const {
  if (kMagic.starts_with(bytes_.substr(0, kMagic.size())) && bytes_.size() < kPreamble + kChecksum) source_.cut_short();
  if (!bytes_.starts_with(kMagic)) {
    source_.fail(fmt::format("{}, not a {} that fansite has written. Give the path of one.",
                             looks_like_a_table(bytes_) ? "this looks like a table of data" : "this is something else",
                             source_.kind == FileKind::model ? "model" : "checkpoint"));
  }
  const auto version = get<std::uint32_t>(&bytes_[8]), kind = get<std::uint32_t>(&bytes_[12]);
  if (version > kVersion) {
    source_.fail(
        fmt::format("written by a newer fansite, version {} of the format where this one knows {}. Update fansite.",
                    version, kVersion));
  }
  if (version == 0 || kind == 0 || kind > 4) source_.damaged("its first bytes make no sense");
  if (version < kVersion) {
    source_.fail(
        fmt::format("written by an earlier fansite, version {} of the format where this one knows {}. Make it anew.",
                    version, kVersion));
  }
  if (kind != static_cast<std::uint32_t>(source_.kind)) source_.fail(misplaced(source_.kind, FileKind{kind}));
}

// Every byte of the file must be accounted for, so that no count can be larger than what is there.
void Contents::list_blocks(std::size_t offset) {
  const auto list = header_.find("blocks");
  if (list == header_.end() || !list->is_array()) source_.damaged("its header has no list of 'blocks'");
  for (const Json& entry : *list) {
    const bool good = entry.is_object() && entry.size() == 3 && entry.contains("name") && entry["name"].is_string() &&
                      entry.contains("type") && entry["type"].is_string() && entry.contains("count") &&
                      entry["count"].is_number_unsigned();
    const std::size_t width = good ? width_of(entry["type"].get_ref<const std::string&>()) : 0;
    if (width == 0) source_.damaged("its list of 'blocks' cannot be read");
    const auto count = entry["count"].get<std::uint64_t>();
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / width) source_.cut_short();
    blocks_.push_back({entry["name"], entry["type"], static_cast<std::size_t>(count), offset});
    offset += whole_words(blocks_.back().count * width);
  }
  if (offset + kChecksum > bytes_.size()) source_.cut_short();
  if (offset + kChecksum < bytes_.size()) source_.damaged("something is appended to it");
}

template <class T>
std::vector<T> Contents::take(std::string_view name, Allow allow) {
  if (next_ == blocks_.size() || blocks_[next_].name != name || blocks_[next_].type != type_of<T>()) {
    source_.damaged(fmt::format("the numbers of {} are missing", name));
  }
  const Place& place = blocks_[next_++];
  std::vector<T> values(place.count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::bit_cast<T>(get<BitsOf<T>>(&bytes_[place.offset + i * sizeof(T)]));
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (allow == Allow::finite &&
        !std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); })) {
      source_.damaged(fmt::format("a number of {} is not finite", name));
    }
  }
  return values;
}

template std::vector<float> Contents::take<float>(std::string_view name, Allow allow);
template std::vector<double> Contents::take<double>(std::string_view name, Allow allow);
template std::vector<std::uint16_t> Contents::take<std::uint16_t>(std::string_view name, Allow allow);
template std::vector<std::uint32_t> Contents::take<std::uint32_t>(std::string_view name, Allow allow);

void Contents::end() const {
  if (next_ != blocks_.size())
    source_.damaged(fmt::format("its header has no place for '{}'", excerpt(blocks_[next_].name)));
}

}  // namespace fansite
