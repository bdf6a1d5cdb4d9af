// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace fansite {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn a into b; stops counting above `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    if (*std::min_element(now.begin(), now.end()) > limit) return limit + 1;
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) {
    list += fmt::format("{}'{}'", i > 0 ? ", " : "", excerpt(names[i]));
  }
  if (names.size() > kShown) list += fmt::format(" and {} more", names.size() - kShown);
  return list;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  // A third of the letters may be wrong; case never counts. One or two letters leave no room for a guess.
  const std::string wanted = lower_case(name);
  std::size_t limit = wanted.size() / 3;
  std::string nearest;
  bool found = false;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower_case(candidate), limit);
    if (distance > limit || (found && distance == limit)) continue;
    nearest = candidate;
    limit = distance;
    found = true;
  }
  return nearest;
}

}  // namespace fansite
