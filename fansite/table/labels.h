// SPDX-License-Identifier: Apache-2.0
//
// Columns of text: each label is a level. One rule for files and for data frames says which texts can be no levels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fansite/table/dataset.h"

namespace fansite {

/// Why the text of a column can be no levels that rows share, as a sentence; "": it can. They cannot if half of the
/// cells are dates, if there are more than 20 labels and more than half as many as cells (identifiers, free text), or
/// more than 50. `cells`: those that are not missing, in the order of rows.
std::string why_no_levels(std::string_view name, bool first_column, const std::vector<std::string_view>& cells);

/// Where labels come from decides what is asked of them.
enum class Labels {
  text,      ///< anything: text that is half numbers or more is a mistake
  category,  ///< a type of its own, which says that numbers are labels too
  declared   ///< by the user: all are levels
};

/// A nominal column from one whose values are indices into `labels` (NaN: missing). Levels are the labels that occur,
/// without blanks around them, sorted bytewise, as a CSV of the same table has them; blank ones are missing. A
/// DataError for labels that can be no levels.
void label_column(Dataset& data, int column, const std::vector<std::string>& labels, Labels origin);

}  // namespace fansite
