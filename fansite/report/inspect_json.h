// SPDX-License-Identifier: Apache-2.0
//
// What a table is, as JSON (docs/formats.md).
#pragma once

#include <string>
#include <string_view>

#include "fansite/table/summary.h"

namespace fansite {

inline constexpr std::string_view kInspectFormat = "fansite.inspect/2";

/// One column a line.
std::string to_json(const TableSummary& summary);

}  // namespace fansite
