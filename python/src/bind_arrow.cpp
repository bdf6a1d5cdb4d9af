// SPDX-License-Identifier: Apache-2.0
//
// Tables from the Arrow C stream interface (polars, pyarrow, DuckDB and others), without any of them installed here.
// The three structures are the interface itself: https://arrow.apache.org/docs/format/CDataInterface.html
#include <cmath>
#include <cstdint>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/table/dataset.h"
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
    if (!bit(column.buffers[0], first + i)) to[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

void check_stream(int code, ArrowArrayStream& stream) {
  const char* reason = code != 0 && stream.get_last_error != nullptr ? stream.get_last_error(&stream) : nullptr;
  check_data(code == 0, "[table] the table cannot be read: {}", reason != nullptr ? reason : "no reason is given");
}

Dataset read(ArrowArrayStream& stream) {
  Received<ArrowSchema> schema;
  check_stream(stream.get_schema(&stream, &schema), stream);
  check_data(std::string_view(schema.format) == "+s",
             "[table] a single column came instead of a table. Give a data frame.");
  Dataset data;
  std::vector<Copy> copies;
  for (std::int64_t j = 0; j < schema.n_children; ++j) {
    const ArrowSchema& column = *schema.children[j];
    data.names.emplace_back(column.name != nullptr ? column.name : "");
    copies.push_back(column.dictionary == nullptr ? copy_of(column.format) : nullptr);
    check_data(copies.back() != nullptr,
               "[table] column '{}' holds no numbers (Arrow type '{}'). Drop it, or turn it into numbers.",
               excerpt(data.names.back()), column.format);
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
  data.values.resize(static_cast<Index>(rows), static_cast<Index>(copies.size()));
  Index row = 0;
  for (const auto& chunk : chunks) {
    for (std::size_t j = 0; j < copies.size() && chunk->length > 0; ++j) {
      copy_column(*chunk->children[j], chunk->offset, chunk->length, copies[j],
                  data.values.col(static_cast<Index>(j)).data() + row);
    }
    row += static_cast<Index>(chunk->length);
  }
  return data;
}

}  // namespace

void bind_arrow(nb::module_& m) {
  m.def(
      "from_arrow",
      [](const nb::object& table) {
        const nb::capsule capsule = nb::cast<nb::capsule>(table.attr("__arrow_c_stream__")());
        auto* stream = static_cast<ArrowArrayStream*>(capsule.data("arrow_array_stream"));
        return read(*stream);  // the capsule releases it
      },
      "table"_a, "The columns of anything with __arrow_c_stream__, copied once.");
}

}  // namespace fansite::python
