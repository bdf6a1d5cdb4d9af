// SPDX-License-Identifier: Apache-2.0
//
// A parse of CSV under way: what the first row has settled, and the pieces that the rest is parsed in.
#pragma once

#include <string>
#include <vector>

#include "fansite/table/detail/csv_cells.h"

namespace fansite::csv {

struct Chunk {
  Span text;  // whole lines
  Index lines = 0, rows = 0;
  Index first_line = 0, first_row = 0;
  bool parsed = true;  // every line holds plain numbers, one for each column
};

struct Table {
  std::string where;
  char separator = ',';
  std::vector<std::string> names;
  Index padding = 0;  // columns without a name after the last
  Span body{nullptr, nullptr};
  Index header_lines = 0;
  std::vector<char> left_out;  // per column; empty: none is
  Index columns() const { return static_cast<Index>(names.size()); }
  bool is_left_out(std::size_t column) const { return !left_out.empty() && left_out[column] != 0; }
  /// Whether a line that begins with # is a comment (csv.h).
  bool is_comment(Span line) const;
  bool counts(Span line) const {
    if (line.begin != line.end && *line.begin == '#' && is_comment(line)) return false;
    return columns() == 1 || !is_blank_line(line, separator);
  }
};

/// Calls visit(column, cell) for each cell of a line; returns their number.
template <class Visit>
Index each_cell(Span line, char separator, const Visit& visit) {
  Index column = 0;
  for (const char* p = line.begin;; ++p) {
    const Cell cell = cell_at(p, line.end, separator);
    visit(column++, cell);
    p = cell.after;
    if (p == line.end) return column;
  }
}

inline std::string unescaped(std::string_view text) {
  std::string name;
  name.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    name += text[i];
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
  }
  return name;
}

}  // namespace fansite::csv
