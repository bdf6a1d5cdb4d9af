// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/row_draws.h"

#include <algorithm>
#include <cmath>

namespace fansite::flow {

std::vector<int> hold_out(std::vector<int>& rows, double share, Key key) {
  const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows.size())));
  if (share == 0 || rows.size() < 2) return {};
  const std::size_t count = std::clamp<std::size_t>(wanted, 1, rows.size() - 1);
  const std::vector<int> order = Random(key).permutation(static_cast<int>(rows.size()));
  std::vector<int> kept, held;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (i < count ? held : kept).push_back(rows[static_cast<std::size_t>(order[i])]);
  }
  rows = std::move(kept);
  std::sort(rows.begin(), rows.end());
  return held;
}

std::vector<int> by_weight(const std::vector<int>& shuffled, const std::vector<int>& rows, const Vector& weights,
                           Random& random) {
  const auto weight = [&](int place) { return weights[rows[static_cast<std::size_t>(place)]]; };
  double sum = 0;
  for (const int place : shuffled) sum += weight(place);
  const double step = sum / static_cast<double>(shuffled.size());
  double next = random.uniform() * step, passed = 0;
  std::vector<int> result;
  for (const int place : shuffled) {
    for (passed += weight(place); next < passed && result.size() < shuffled.size(); next += step) {
      result.push_back(place);
    }
  }
  while (result.size() < shuffled.size()) result.push_back(shuffled.back());  // rounding of the sums
  return result;
}

}  // namespace fansite::flow
