// SPDX-License-Identifier: Apache-2.0
//
// Comma-, semicolon- and tab-separated text, to a Dataset and back without losing a bit.
//
// What is read: a header of names (quoted with "" escapes, separators and line breaks inside quotes), then rows of
// cells, with LF or CRLF line ends, a byte-order mark skipped and blanks around cells trimmed. Empty cells, ?, -, .,
// NA, N/A, NaN, null and none in any case, and the errors of spreadsheets (#N/A, #DIV/0! …) are missing. Blank lines
// are skipped, except that inside a table of one column, where a blank line cannot be told from an empty cell, it is a
// missing cell; blank lines at the end never count, nor do rows there that hold nothing but separators, nor columns
// without name and cells after the last. A line break inside a quoted cell is legal in the header only.
//
// A column whose cells are text is nominal. Decimal commas, thousands separators and percent signs are read where a
// whole column has them (detail/csv_text.h has the rules).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/file.h"
#include "fansite/table/dataset.h"

namespace fansite {

struct CsvOptions {
  bool header = true;                    ///< the first row holds the names; otherwise they are x1, x2, …
  char separator = '\0';                 ///< ',', ';' or tab; '\0' takes the most frequent of them in the first row
  bool text = true;                      ///< a column of text is nominal; else it is refused
  std::vector<std::string> labels = {};  ///< columns of labels, whatever they look like; unknown names are ignored
  std::size_t chunk_bytes = std::size_t{1} << 20;  ///< text parsed as one piece of parallel work
};

/// A DataError if nothing that begins like this is CSV: zero bytes, compressed or UTF-16 text, a first line without an
/// end. For files of which only that much has been read; parse_csv asks it too.
void check_beginning(std::string_view beginning, const std::string& where);

/// Parses text; `where` names it in messages. Of several errors the earliest in the file is thrown, as a DataError.
Dataset parse_csv(std::string_view text, const std::string& where, const CsvOptions& options = {});

/// The table as text: shortest decimals that read back to the same bits, labels of nominal columns, quotes where
/// needed, missing cells empty (`""` at the start of a row without any other, which would be lost).
std::string to_csv(const Dataset& data, char separator = ',');

/// The same, written piece by piece, so that the text is never held whole.
void write_csv(const Dataset& data, OutputFile& file, char separator = ',');

}  // namespace fansite
