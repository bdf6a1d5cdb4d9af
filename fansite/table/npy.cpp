// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/text.h"
#include "fansite/table/detail/zip.h"

namespace fansite {
namespace {

// ---- The header of an array -----------------------------------------------------------------------------------------

struct NpyHeader {
  char byte_order = '<', kind = 'f';
  int item_size = 8;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;
};

/// Reads the one Python literal that a header is: a dict with the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        set_type(header);
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.fortran_order = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = extents();
      } else {
        malformed();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty() || !has_descr || !has_order || !has_shape) malformed();
    return header;
  }

 private:
  [[noreturn]] void malformed() const {
    throw DataError(
        fmt::format("[load_npy] {}: the array's header is damaged. Save it again with numpy.save.", where_));
  }

  void skip_space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n' || text_[0] == '\t')) text_.remove_prefix(1);
  }

  bool accept(char c) {
    skip_space();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) malformed();
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::string_view quoted() {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) malformed();
    const std::size_t close = text_.find(text_[0], 1);
    if (close == std::string_view::npos) malformed();
    const std::string_view content = text_.substr(1, close - 1);
    text_.remove_prefix(close + 1);
    return content;
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) malformed();
    return false;
  }

  std::vector<std::int64_t> extents() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t extent = 0;
      const auto [after, code] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (code != std::errc{} || extent < 0) malformed();
      text_.remove_prefix(static_cast<std::size_t>(after - text_.data()));
      accept_word("L");  // Python 2 wrote its long integers so
      shape.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  /// Moves past the list that describes records, which we only need to recognise.
  void skip_list() {
    int depth = 0;
    do {
      skip_space();
      if (text_.empty()) malformed();
      const char c = text_[0];
      if (c == '\'' || c == '"') {
        quoted();
        continue;
      }
      depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      text_.remove_prefix(1);
    } while (depth > 0);
  }

  /// For example '<f8'. Only the form is judged here: an archive may hold arrays of text that nobody asks for.
  void set_type(NpyHeader& header) {
    skip_space();
    if (text_.starts_with('[')) {
      header.kind = 'V';
      skip_list();
      return;
    }
    const std::string_view type = quoted();
    if (type.size() < 2) malformed();
    const bool ordered = std::string_view("<>|=").find(type[0]) != std::string_view::npos;
    header.byte_order = ordered ? type[0] : '=';
    const std::string_view rest = type.substr(ordered ? 1 : 0);
    header.kind = rest[0];
    header.item_size = 0;
    const char* end = rest.data() + rest.size();
    const bool number = std::string_view("bfiu").find(header.kind) != std::string_view::npos;
    // Other kinds may go on, as '<M8[ns]' does.
    if (std::from_chars(rest.data() + 1, end, header.item_size).ptr != end && number) malformed();
  }

  std::string_view text_;
  const std::string& where_;
};

NpyHeader parse_header(std::string_view bytes, const std::string& where) {
  check_data(bytes.starts_with("\x93NUMPY"), "[load_npy] {} is not a NumPy array. Save it with numpy.save.", where);
  const auto truncated = [&] {
    return fmt::format("[load_npy] {} is truncated in its header. Copy or save it again.", where);
  };
  if (bytes.size() < 10) throw DataError(truncated());
  const auto version = static_cast<unsigned char>(bytes[6]);
  check_data(version >= 1 && version <= 3, "[load_npy] {}: .npy format {} is unknown. Save it with numpy.save.", where,
             version);
  const std::size_t offset = version == 1 ? 10 : 12;
  if (bytes.size() < offset) throw DataError(truncated());
  const std::size_t length = version == 1 ? little<std::uint16_t>(bytes, 8) : little<std::uint32_t>(bytes, 8);
  if (bytes.size() - offset < length) throw DataError(truncated());
  NpyHeader header = HeaderParser(bytes.substr(offset, length), where).parse();
  header.data_offset = offset + length;
  return header;
}

// ---- The cells of an array ------------------------------------------------------------------------------------------

struct Half {
  std::uint16_t bits;
};

struct Boolean {
  std::uint8_t bits;
};

template <class T>
double to_double(T value) {
  return static_cast<double>(value);
}

double to_double(Boolean value) { return value.bits != 0 ? 1.0 : 0.0; }

double to_double(Half value) {
  const int exponent = (value.bits >> 10) & 31, mantissa = value.bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// One cell, wherever it lies: the bytes of a file are not aligned.
template <class T, bool kSwap>
double cell(const char* at) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, at, sizeof(T));
  if constexpr (kSwap) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return to_double(value);
}

/// C order: blocks of rows side by side, and within one, tiles of 16 columns, so that a tile's source and target stay
/// in cache and each column is written in runs.
template <class T, bool kSwap>
void copy_rows(const char* data, Matrix& values) {
  constexpr Index kBlock = 64, kTile = 16;
  const Index rows = values.rows(), columns = values.cols();
  parallel_for((rows + kBlock - 1) / kBlock, [&](std::ptrdiff_t block) {
    const Index first = block * kBlock, last = std::min(first + kBlock, rows);
    for (Index tile = 0; tile < columns; tile += kTile) {
      for (Index column = tile; column < std::min(tile + kTile, columns); ++column) {
        double* out = values.data() + column * rows;
        for (Index row = first; row < last; ++row) {
          out[row] = cell<T, kSwap>(data + static_cast<std::size_t>(row * columns + column) * sizeof(T));
        }
      }
    }
  });
}

/// Fortran order is ours: one run from end to end.
template <class T, bool kSwap>
void copy_run(const char* data, Matrix& values) {
  constexpr Index kRun = Index{1} << 16;
  const Index size = values.size();
  parallel_for((size + kRun - 1) / kRun, [&](std::ptrdiff_t run) {
    for (Index i = run * kRun; i < std::min((run + 1) * kRun, size); ++i) {
      values.data()[i] = cell<T, kSwap>(data + static_cast<std::size_t>(i) * sizeof(T));
    }
  });
}

using CopyCells = void (*)(const char*, Matrix&);

template <class T>
CopyCells copier(bool swap, bool by_rows) {
  if (swap) return by_rows ? copy_rows<T, true> : copy_run<T, true>;
  return by_rows ? copy_rows<T, false> : copy_run<T, false>;
}

/// The copier for the header's type, or null if it is not a type of number we read.
CopyCells copier_for(const NpyHeader& header, bool by_rows) {
  const bool swap = header.byte_order == '>';
  const int size = header.item_size;
  switch (header.kind) {
    case 'b':
      return size == 1 ? copier<Boolean>(swap, by_rows) : nullptr;
    case 'f':
      return size == 2   ? copier<Half>(swap, by_rows)
             : size == 4 ? copier<float>(swap, by_rows)
             : size == 8 ? copier<double>(swap, by_rows)
                         : nullptr;
    case 'i':
      return size == 1   ? copier<std::int8_t>(swap, by_rows)
             : size == 2 ? copier<std::int16_t>(swap, by_rows)
             : size == 4 ? copier<std::int32_t>(swap, by_rows)
             : size == 8 ? copier<std::int64_t>(swap, by_rows)
                         : nullptr;
    case 'u':
      return size == 1   ? copier<std::uint8_t>(swap, by_rows)
             : size == 2 ? copier<std::uint16_t>(swap, by_rows)
             : size == 4 ? copier<std::uint32_t>(swap, by_rows)
             : size == 8 ? copier<std::uint64_t>(swap, by_rows)
                         : nullptr;
    default:
      return nullptr;
  }
}

std::string type_in_words(const NpyHeader& header) {
  switch (header.kind) {
    case 'U':
    case 'S':
      return "text";
    case 'O':
      return "Python objects";
    case 'V':
      return "records of several fields";
    case 'c':
      return "complex numbers";
    case 'M':
    case 'm':
      return "dates or times";
    default:
      return fmt::format("cells of type '{}{}'", excerpt({&header.kind, 1}), header.item_size);
  }
}

/// Longest start of a file that a header is looked for in.
constexpr std::uint64_t kHeaderLimit = std::uint64_t{1} << 17;

/// Extents of a table that is known to be there.
struct Layout {
  Index rows, columns;
};

/// Checks what the header promises against a file of `file_size` bytes, before any memory is asked for.
Layout check_layout(const NpyHeader& header, std::uint64_t file_size, const std::string& where) {
  const std::size_t dimensions = header.shape.size();
  check_data(dimensions == 1 || dimensions == 2,
             "[load_npy] {}: the array has {} dimensions. Save a 2-D array, rows by variables.", where, dimensions);
  const std::int64_t rows = header.shape[0], columns = dimensions == 2 ? header.shape[1] : 1;
  check_data(rows > 0 && columns > 0, "[load_npy] {}: the array is empty, {} × {}. Save one with rows and columns.",
             where, rows, columns);
  check_data(copier_for(header, true) != nullptr,
             "[load_npy] {}: the array holds {}. Save it as float64, as with array.astype(float).", where,
             type_in_words(header));
  std::int64_t promised = 0;
  const bool overflow = __builtin_mul_overflow(rows, columns, &promised) ||
                        __builtin_mul_overflow(promised, static_cast<std::int64_t>(header.item_size), &promised);
  const std::uint64_t present = file_size - std::min<std::uint64_t>(header.data_offset, file_size);
  check_data(
      !overflow && static_cast<std::uint64_t>(promised) <= present,
      "[load_npy] {} is truncated: its header promises {} × {} cells of {} bytes, and {} bytes are there. Copy or "
      "save it again.",
      where, rows, columns, header.item_size, present);
  check_data(static_cast<std::uint64_t>(promised) == present,
             "[load_npy] {}: {} bytes follow the array. Save one array per file, or several with numpy.savez.", where,
             present - static_cast<std::uint64_t>(promised));
  check_data(columns <= std::numeric_limits<int>::max(), "[load_npy] {}: {} columns are too many. Is it transposed?",
             where, columns);
  return {rows, columns};
}

}  // namespace

NpyArray parse_npy(std::string_view bytes, const std::string& where) {
  const NpyHeader header = parse_header(bytes, where);
  const Layout layout = check_layout(header, bytes.size(), where);
  NpyArray array{header.shape, Matrix(layout.rows, layout.columns)};
  prefer_large_pages(array.values.data(), static_cast<std::size_t>(array.values.size()) * sizeof(double));
  copier_for(header, !header.fortran_order && layout.columns > 1)(bytes.data() + header.data_offset, array.values);
  return array;
}

// ---- Writing --------------------------------------------------------------------------------------------------------

namespace {

std::string npy_header(const MatrixView& values) {
  std::string text =
      fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, {}), }}", values.rows(), values.cols());
  // The cells must begin at a multiple of 64 bytes: 10 bytes of preamble, the text, blanks, a line end.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 255);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::string_view column_bytes(const MatrixView& values, Index column) {
  return {reinterpret_cast<const char*>(values.col(column).data()),
          static_cast<std::size_t>(values.rows()) * sizeof(double)};
}

}  // namespace

std::string to_npy(const MatrixView& values) {
  std::string bytes = npy_header(values);
  bytes.reserve(bytes.size() + static_cast<std::size_t>(values.size()) * sizeof(double));
  for (Index column = 0; column < values.cols(); ++column) bytes += column_bytes(values, column);
  return bytes;
}

void write_npy(const MatrixView& values, OutputFile& file) {
  file.write(npy_header(values));
  for (Index column = 0; column < values.cols(); ++column) file.write(column_bytes(values, column));
}

// ---- Archives -------------------------------------------------------------------------------------------------------

NpzFile::NpzFile(std::string_view bytes, std::string where)
    : where_(std::move(where)), archive_(std::make_unique<const ZipArchive>(bytes, where_)) {
  const auto& members = archive_->members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].name.ends_with(".npy")) continue;
    names_.push_back(members[i].name.substr(0, members[i].name.size() - 4));
    member_of_name_.push_back(i);
  }
}

NpzFile::~NpzFile() = default;

bool NpzFile::has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::string NpzFile::listing() const {
  constexpr std::size_t kShown = 10;
  std::string list = names_.empty() ? "no arrays" : "";
  for (std::size_t i = 0; i < names_.size() && i < kShown; ++i) {
    list += fmt::format("{}'{}'", i == 0 ? "" : ", ", excerpt(names_[i]));
  }
  if (names_.size() > kShown) list += fmt::format(" and {} more", names_.size() - kShown);
  return list;
}

NpyArray NpzFile::read(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  check_data(found != names_.end(), "[load_npz] {} has no array '{}', only {}. Name one of those.", where_,
             excerpt(name), listing());
  const auto& member = archive_->members()[member_of_name_[static_cast<std::size_t>(found - names_.begin())]];
  const std::string place = fmt::format("{}, array '{}'", where_, excerpt(name));
  std::string buffer;
  // The header first: what it says must fit what the archive says before the rest is worth unpacking.
  const NpyHeader header = parse_header(archive_->unpack(member, kHeaderLimit, buffer), place);
  check_layout(header, member.size, place);
  return parse_npy(archive_->unpack(member, std::numeric_limits<std::uint64_t>::max(), buffer), place);
}

std::string NpzFile::data_name() const {
  for (const char* usual : {"data", "X"}) {
    if (has(usual)) return usual;
  }
  std::vector<std::string> tables;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::string buffer;
    const auto start = archive_->unpack(archive_->members()[member_of_name_[i]], kHeaderLimit, buffer);
    const NpyHeader header = parse_header(start, fmt::format("{}, array '{}'", where_, excerpt(names_[i])));
    if (header.shape.size() == 2) tables.push_back(names_[i]);
  }
  check_data(tables.size() == 1,
             "[load_npz] {} holds {}: none is called 'data' or 'X', and {} are 2-D. Save the table as 'data'.", where_,
             listing(), tables.size());
  return tables[0];
}

Matrix load_npz_array(const std::string& path, const std::string& name) {
  const FileView file(path);
  return NpzFile(file.bytes(), path).read(name).values;
}

std::vector<std::string> npz_names(const std::string& path) {
  const FileView file(path);
  return NpzFile(file.bytes(), path).names();
}

}  // namespace fansite
