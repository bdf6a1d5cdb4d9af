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
  Index columns() const { return static_cast<Index>(names.size()); }
  bool counts(Span line) const { return columns() == 1 || !is_blank_line(line, separator); }
};

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
