// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/duration.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "fansite/base/parameters.h"
#include "fansite/base/text.h"

namespace fansite {

double parse_duration(std::string_view text, std::string_view parameter) {
  double total = 0;
  bool good = !text.empty();
  double last_unit = 1e9;  // units must fall: 1h30m, not 30m1h
  for (std::string_view rest = text; good && !rest.empty();) {
    double value = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const char unit = rest.empty() ? 's' : rest.front();
    if (!rest.empty()) rest.remove_prefix(1);
    const double seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    good = code == std::errc{} && value >= 0 && seconds > 0 && seconds < last_unit;
    last_unit = seconds;
    total += value * seconds;
  }
  if (!good || total <= 0 || !std::isfinite(total)) {
    throw ParameterError(std::string(parameter),
                         fmt::format("'{}' is no length of time; write 90s, 10m or 1h30m", excerpt(text)));
  }
  return total;
}

std::string duration_text(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  const auto minutes = std::llround(seconds / 60);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace fansite
