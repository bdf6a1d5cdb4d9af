// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/robust_scale.h"

#include <algorithm>
#include <cstddef>

namespace fansite {

double quantile(std::vector<double>& values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

double robust_scale(std::vector<double>& values) {
  const double middle = quantile(values, 0.75) - quantile(values, 0.25);
  if (middle > 0) return middle / 2 / 0.6745;
  return (quantile(values, 0.95) - quantile(values, 0.05)) / 3.29;
}

}  // namespace fansite
