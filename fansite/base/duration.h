// SPDX-License-Identifier: Apache-2.0
//
// Lengths of time as people write and read them.
#pragma once

#include <string>
#include <string_view>

namespace fansite {

/// "90", "90s", "10m", "1.5h", "1h30m": seconds. A ParameterError that names `parameter` for anything else, and for 0
/// or less.
double parse_duration(std::string_view text, std::string_view parameter);

/// "0.4 s", "45 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace fansite
