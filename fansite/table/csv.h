// SPDX-License-Identifier: Apache-2.0
//
// Text separated by commas, semicolons, tabs or blanks, to a Dataset and back without losing a bit.
//
// What is read: a header of names (quoted with "" escapes, separators and line breaks inside quotes), then rows of
// cells, with LF or CRLF line ends, a byte-order mark skipped and blanks around cells trimmed. Empty cells, ?, -, .,
// NA, N/A, NaN, null and none in any case, and the errors of spreadsheets (#N/A, #DIV/0! …) are missing; in a column of
// + and - both are levels. Blank lines are skipped, except that inside a table of one column, where a blank line cannot
// be told from an empty cell, it is a missing cell; blank lines at the end never count, nor do rows there that hold
// nothing but separators, nor columns without name and cells after the last. A line break inside a quoted cell is legal
// in the header only.
//
// Blanks separate where the first row holds none of the others, and the rows below have as many words, two or more, or
// one more (a row name, which is refused); several count as one. Lines that begin with # are comments, but for rows
// whose first cell is an error such as #N/A, and the last comment above the first row, which is the header if it has as
// many cells, two or more, and either no blank follows its # or that row holds a number: so NumPy and bioinformaticians
// write it. A line in the middle that has as many cells as a row, and no blank or number after its #, is refused: it
// may be either.
//
// A column whose cells are text is nominal. Decimal commas, thousands separators and percent signs are read where a
// whole column has them (detail/csv_text.h has the rules).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/file.h"
#include "fansite/table/dataset.h"

namespace fansite {

struct CsvOptions {
  bool header = true;                    ///< the first row holds the names; otherwise they are x1, x2, …
  char separator = '\0';                 ///< ',', ';', tab or blanks; '\0' recognises it by the first rows
  bool text = true;                      ///< a column of text is nominal; else it is refused
  std::vector<std::string> labels = {};  ///< columns of labels, whatever they look like; unknown names are ignored
  /// Given the names, which columns are left out: what they hold is not looked at, and is missing or numbers. May
  /// throw.
  std::function<std::vector<char>(const std::vector<std::string>&)> left_out = {};
  std::size_t chunk_bytes = std::size_t{1} << 20;  ///< text parsed as one piece of parallel work
};

/// A DataError if nothing that begins like this is CSV: zero bytes, packed or UTF-16 text, a first line without an
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
