// SPDX-License-Identifier: Apache-2.0
//
// What a table is, in lines for people: what `fansite inspect` and Python print.
#pragma once

#include <string>

#include "fansite/table/summary.h"

namespace fansite {

/// At most 80 characters a line.
std::string to_text(const TableSummary& summary);

}  // namespace fansite
