// SPDX-License-Identifier: Apache-2.0
//
// Tables from the Arrow C stream interface (polars, pyarrow, DuckDB and others), without any of them installed here.
// The three structures are the interface itself: https://arrow.apache.org/docs/format/CDataInterface.html
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/table/labels.h"
#include "src/bindings.h"

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace fansite::python {
namespace {

// Released when it goes out of scope, as the interface asks of a consumer.
template <class Structure>
struct Received : Structure {
  Received() : Structure{} {}
  ~Received() {
    if (this->release != nullptr) this->release(this);
  }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
};

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool bit(const void* bits, std::int64_t i) { return (static_cast<const std::uint8_t*>(bits)[i / 8] >> (i % 8)) & 1; }

template <class Number>
void copy_numbers(const ArrowArray& from, std::int64_t first, std::int64_t count, double* to) {
  const auto* numbers = static_cast<const Number*>(from.buffers[1]) + first;
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(numbers[i]);
}

void copy_booleans(const ArrowArray& from, std::int64_t first, std::int64_t count, double* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = bit(from.buffers[1], first + i) ? 1 : 0;
}

using Copy = void (*)(const ArrowArray&, std::int64_t, std::int64_t, double*);

// By the interface's one letter for a type; null for what is no number.
Copy copy_of(std::string_view format) {
  if (format.size() != 1) return nullptr;
  switch (format[0]) {
    case 'b':
      return copy_booleans;
    case 'c':
      return copy_numbers<std::int8_t>;
    case 'C':
      return copy_numbers<std::uint8_t>;
    case 's':
      return copy_numbers<std::int16_t>;
    case 'S':
      return copy_numbers<std::uint16_t>;
    case 'i':
      return copy_numbers<std::int32_t>;
    case 'I':
      return copy_numbers<std::uint32_t>;
    case 'l':
      return copy_numbers<std::int64_t>;
    case 'L':
      return copy_numbers<std::uint64_t>;
    case 'f':
      return copy_numbers<float>;
    case 'g':
      return copy_numbers<double>;
    default:
      return nullptr;
  }
}

// Missing cells become NaN.
void copy_column(const ArrowArray& column, std::int64_t offset, std::int64_t rows, Copy copy, double* to) {
  const std::int64_t first = column.offset + offset;
  copy(column, first, rows, to);
  if (column.null_count == 0 || column.buffers[0] == nullptr) return;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (!bit(column.buffers[0], first + i)) to[i] = kMissing;
  }
}

// ---- Text -----------------------------------------------------------------------------------------------------------

bool is_present(const ArrowArray& column, std::int64_t i) {
  return column.null_count == 0 || column.buffers[0] == nullptr || bit(column.buffers[0], i);
}

using Text = std::string_view (*)(const ArrowArray&, std::int64_t);

// Characters of all cells, one after the other, and where each begins.
template <class Offset>
std::string_view text_by_offsets(const ArrowArray& from, std::int64_t i) {
  const auto* offsets = static_cast<const Offset*>(from.buffers[1]) + i;
  return {static_cast<const char*>(from.buffers[2]) + offsets[0], static_cast<std::size_t>(offsets[1] - offsets[0])};
}

// 16 bytes a cell: the length, and 12 characters or the place of more.
std::string_view text_by_view(const ArrowArray& from, std::int64_t i) {
  const auto* cell = static_cast<const char*>(from.buffers[1]) + 16 * i;
  std::int32_t length, buffer, place;
  std::memcpy(&length, cell, 4);
  if (length <= 12) return {cell + 4, static_cast<std::size_t>(length)};
  std::memcpy(&buffer, cell + 8, 4);
  std::memcpy(&place, cell + 12, 4);
  return {static_cast<const char*>(from.buffers[2 + buffer]) + place, static_cast<std::size_t>(length)};
}

Text text_of(std::string_view format) {
  if (format == "u") return text_by_offsets<std::int32_t>;
  if (format == "U") return text_by_offsets<std::int64_t>;
  return format == "vu" ? text_by_view : nullptr;
}

// ---- Columns --------------------------------------------------------------------------------------------------------

// How the cells of a column are read: numbers, text, or indices into a dictionary of either.
struct Reader {
  Copy copy = nullptr;        // numbers, or indices
  Text text = nullptr;        // of cells, or of the dictionary
  Copy dictionary = nullptr;  // numbers of the dictionary
  bool encoded = false, ordered = false, nothing = false;
  std::vector<std::string> labels = {};  // in the order of the dictionary, or as they come
  std::unordered_map<std::string, double> code_of = {};

  double code(std::string_view label) {
    const auto [entry, fresh] = code_of.try_emplace(std::string(label), static_cast<double>(labels.size()));
    if (fresh) labels.push_back(entry->first);
    return entry->second;
  }
};

Reader reader_of(const ArrowSchema& column, const std::string& name) {
  const std::string_view format = column.format;
  Reader reader;
  reader.nothing = format == "n";
  reader.encoded = column.dictionary != nullptr;
  reader.ordered = reader.encoded && (column.flags & 1) != 0;  // ARROW_FLAG_DICTIONARY_ORDERED
  reader.copy = copy_of(format);
  reader.text = text_of(reader.encoded ? column.dictionary->format : format);
  if (reader.encoded) reader.dictionary = copy_of(column.dictionary->format);
  check_data(format.empty() || format[0] != 't',
             "[table] column '{}' holds dates or times (Arrow type '{}'). Give a number, for example days since the "
             "first, or leave the column out (--drop {}).",
             excerpt(name), column.format, excerpt(name));
  const bool known = reader.encoded ? reader.text != nullptr || reader.dictionary != nullptr
                                    : reader.nothing || reader.copy != nullptr || reader.text != nullptr;
  check_data(
      known,
      "[table] column '{}' holds neither numbers nor text (Arrow type '{}'). Leave it out with --drop {}, or turn it "
      "into numbers.",
      excerpt(name), reader.encoded ? column.dictionary->format : column.format, excerpt(name));
  return reader;
}

// What the indices into a dictionary stand for: its numbers, or codes of its texts, which parts of a table may number
// differently.
std::vector<double> meanings(Reader& reader, const ArrowArray& dictionary, const std::string& name) {
  const std::int64_t size = dictionary.length;
  std::vector<double> meaning(static_cast<std::size_t>(size));
  if (reader.text == nullptr) {
    copy_column(dictionary, 0, size, reader.dictionary, meaning.data());
    // An order of its own: the places count, not the numbers.
    if (reader.ordered && !std::is_sorted(meaning.begin(), meaning.end())) std::iota(meaning.begin(), meaning.end(), 0);
    return meaning;
  }
  const std::size_t before = reader.labels.size();
  for (std::int64_t i = 0; i < size; ++i) {
    const bool present = is_present(dictionary, dictionary.offset + i);
    double& value = meaning[static_cast<std::size_t>(i)];
    value = present ? reader.code(reader.text(dictionary, dictionary.offset + i)) : kMissing;
    check_data(!reader.ordered || before == 0 || !present || value == static_cast<double>(i),
               "[table] parts of the ordered column '{}' order their levels differently. Give it in one part.",
               excerpt(name));
  }
  return meaning;
}

void read_column(Reader& reader, const ArrowArray& column, std::int64_t offset, std::int64_t rows,
                 const std::string& name, double* to) {
  if (reader.nothing) {
    std::fill(to, to + rows, kMissing);
  } else if (reader.encoded) {
    const std::vector<double> meaning = meanings(reader, *column.dictionary, name);
    copy_column(column, offset, rows, reader.copy, to);
    for (std::int64_t i = 0; i < rows; ++i) {
      if (!std::isnan(to[i])) to[i] = meaning.at(static_cast<std::size_t>(to[i]));
    }
  } else if (reader.text != nullptr) {
    const std::int64_t first = column.offset + offset;
    for (std::int64_t i = 0; i < rows; ++i) {
      to[i] = is_present(column, first + i) ? reader.code(reader.text(column, first + i)) : kMissing;
    }
  } else {
    copy_column(column, offset, rows, reader.copy, to);
  }
}

void check_stream(int code, ArrowArrayStream& stream) {
  const char* reason = code != 0 && stream.get_last_error != nullptr ? stream.get_last_error(&stream) : nullptr;
  check_data(code == 0, "[table] the table cannot be read: {}", reason != nullptr ? reason : "no reason is given");
}

// Texts become levels, and dictionaries say what kind their columns are, unless the user says it.
NamedKinds label_columns(Dataset& data, std::vector<Reader>& readers, const Names& labels, const Names& declared) {
  const auto is_in = [](const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  NamedKinds kinds;
  for (std::size_t j = 0; j < readers.size(); ++j) {
    const std::string& name = data.names[j];
    const Reader& reader = readers[j];
    const bool nominal = is_in(labels, name);
    if (reader.ordered && !nominal) {
      if (!is_in(declared, name)) kinds.emplace_back(name, "ordered");
    } else if (reader.text != nullptr) {
      label_column(data, static_cast<int>(j), reader.labels,
                   nominal          ? Labels::declared
                   : reader.encoded ? Labels::category
                                    : Labels::text);
    } else if (reader.encoded && !is_in(declared, name)) {
      kinds.emplace_back(name, "nominal");
    }
  }
  return kinds;
}

// Columns that are left out may hold anything: they are not looked at.
std::pair<Dataset, NamedKinds> read(ArrowArrayStream& stream, const Names& labels, const Names& declared,
                                    const TableRoles& roles) {
  Received<ArrowSchema> schema;
  check_stream(stream.get_schema(&stream, &schema), stream);
  check_data(std::string_view(schema.format) == "+s",
             "[table] a single column came instead of a table. Give a data frame.");
  Names names;
  for (std::int64_t j = 0; j < schema.n_children; ++j) {
    const char* name = schema.children[j]->name;
    names.emplace_back(name != nullptr ? name : "");
  }
  const std::vector<char> out = left_out(names, roles);
  Dataset data;
  std::vector<Reader> readers;
  std::vector<std::size_t> places;  // of the columns that stay, in the stream
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (out[j] != 0) continue;
    data.names.push_back(names[j]);
    readers.push_back(reader_of(*schema.children[j], names[j]));
    places.push_back(j);
  }
  std::vector<std::unique_ptr<Received<ArrowArray>>> chunks;
  std::int64_t rows = 0;
  for (;;) {
    auto chunk = std::make_unique<Received<ArrowArray>>();
    check_stream(stream.get_next(&stream, chunk.get()), stream);
    if (chunk->release == nullptr) break;
    rows += chunk->length;
    chunks.push_back(std::move(chunk));
  }
  data.values.resize(static_cast<Index>(rows), static_cast<Index>(readers.size()));
  Index row = 0;
  for (const auto& chunk : chunks) {
    for (std::size_t j = 0; j < readers.size() && chunk->length > 0; ++j) {
      read_column(readers[j], *chunk->children[places[j]], chunk->offset, chunk->length, data.names[j],
                  data.values.col(static_cast<Index>(j)).data() + row);
    }
    row += static_cast<Index>(chunk->length);
  }
  NamedKinds kinds = label_columns(data, readers, labels, declared);
  return {std::move(data), std::move(kinds)};
}

}  // namespace

void bind_arrow(nb::module_& m) {
  m.def(
      "from_arrow",
      [](const nb::object& table, const Names& labels, const Names& declared, const Roles& roles) {
        const nb::capsule capsule = nb::cast<nb::capsule>(table.attr("__arrow_c_stream__")());
        auto* stream = static_cast<ArrowArrayStream*>(capsule.data("arrow_array_stream"));
        return read(*stream, labels, declared, to_roles(roles));  // the capsule releases it
      },
      "table"_a, "labels"_a, "declared"_a, "roles"_a,
      "The columns of anything with __arrow_c_stream__, copied once, and the kinds that their types tell. Columns "
      "named in labels are levels whatever they hold; of those in declared the kind is known. What drop and only of "
      "roles leave out is not looked at.");
}

}  // namespace fansite::python
