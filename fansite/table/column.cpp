// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/column.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace fansite {

ColumnKind recognised_kind(const Eigen::Ref<const Vector>& values) {
  // Ten levels hold no more than ln 10 nats each, however many rows there are; networks would learn ten spikes by
  // heart. One row in twenty among repeated values is what rounding to four digits leaves in a thousand rows.
  constexpr std::size_t kFewLevels = 10;
  constexpr double kNearlyAll = 0.95, kHardlyAny = 0.05, kLargestAtom = 0.01;
  std::vector<double> sorted;
  for (const double value : values) {
    if (!std::isnan(value)) sorted.push_back(value + 0.0);  // −0 and 0 are equal
  }
  std::sort(sorted.begin(), sorted.end());
  std::size_t distinct = 0, repeated = 0, most = 0;
  for (std::size_t first = 0, end; first < sorted.size(); first = end) {
    end = first + 1;
    while (end < sorted.size() && sorted[end] == sorted[first]) ++end;
    ++distinct;
    if (end - first > 1) repeated += end - first;
    most = std::max(most, end - first);
  }
  const auto rows = static_cast<double>(sorted.size());
  const bool few = distinct <= kFewLevels && repeated > 0;
  if (few || static_cast<double>(repeated) >= kNearlyAll * rows) return ColumnKind::ordered;
  const bool no_atom = static_cast<double>(most) <= std::max(2.0, kLargestAtom * rows);
  return no_atom && static_cast<double>(repeated) <= kHardlyAny * rows ? ColumnKind::continuous : ColumnKind::atoms;
}

std::size_t distinct_values(const Eigen::Ref<const Vector>& values) {
  std::set<double> distinct;
  for (const double value : values) {
    if (!std::isnan(value)) distinct.insert(value);
  }
  return distinct.size();
}

}  // namespace fansite
