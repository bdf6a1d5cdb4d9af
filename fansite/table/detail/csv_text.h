// SPDX-License-Identifier: Apache-2.0
//
// The body of a CSV that holds more than plain numbers. Slower than the way for numbers, and taken when that has met a
// line that it cannot parse.
//
// What a column is, by its cells that are not missing:
//   numbers    all are, in one notation (csv_numbers.h)
//   an error   at least half are, in the notation that most have: the rest are mistakes
//   text       else: levels 0 … K−1, the labels sorted bytewise
// Text is refused where it cannot be a level that rows share: dates; more than 20 labels and more than half as many as
// rows, which are identifiers; more than 50 labels. The caller's options can say that it is.
#pragma once

#include <vector>

#include "fansite/table/csv.h"
#include "fansite/table/detail/csv_body.h"

namespace fansite::csv {

/// Throws the DataError of the first line with too few or too many cells, or a quote that is not closed.
void check_lines(const Table& table, const std::vector<Chunk>& chunks);

/// The chunks' rows are counted. Of several errors that of the first line is thrown, broken lines before wrong cells.
Dataset parse_text(Table table, const std::vector<Chunk>& chunks, const CsvOptions& options);

}  // namespace fansite::csv
