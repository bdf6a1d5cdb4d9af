// SPDX-License-Identifier: Apache-2.0
//
// Ascending lists of variables and of lines, which the sources of knowledge.h share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "fansite/base/sets.h"

namespace fansite::knowledge_lists {

inline std::size_t at(int variable) { return static_cast<std::size_t>(variable); }

inline Pair ordered(int i, int j) { return {std::min(i, j), std::max(i, j)}; }

inline bool has(const std::vector<int>& ascending, int value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

inline void insert(std::vector<int>& ascending, int value) {
  const auto place = std::lower_bound(ascending.begin(), ascending.end(), value);
  if (place == ascending.end() || *place != value) ascending.insert(place, value);
}

inline void merge(std::vector<int>& ascending, const std::vector<int>& more) {
  std::vector<int> merged;
  std::set_union(ascending.begin(), ascending.end(), more.begin(), more.end(), std::back_inserter(merged));
  ascending = std::move(merged);
}

/// "line 7", "lines 2, 5 and 9"; of many, the first few.
inline std::string lines_text(const std::vector<int>& lines) {
  constexpr std::size_t kShown = 6;
  if (lines.size() == 1) return fmt::format("line {}", lines[0]);
  std::string text = "lines ";
  const std::size_t shown = std::min(lines.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == lines.size() ? " and " : ", ";
    text += fmt::format("{}", lines[i]);
  }
  if (lines.size() > shown) text += fmt::format(" and {} more", lines.size() - shown);
  return text;
}

}  // namespace fansite::knowledge_lists
