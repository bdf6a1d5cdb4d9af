// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/row_means.h"

#include <algorithm>
#include <cmath>

namespace fansite {

RowMeans::RowMeans(const Dataset& data) : weights_(data.weights), groups_(data.groups), units_(data.rows()) {
  if (!groups_.empty()) units_ = *std::max_element(groups_.begin(), groups_.end()) + 1;
}

EntropyEstimate RowMeans::mean(const Eigen::ArrayXd& values) const {
  EntropyEstimate estimate;
  double weight_sum = 0, sum = 0;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const double weight = weights_.size() > 0 ? weights_[i] : 1.0;
    weight_sum += weight;
    sum += weight * values[i];
    ++estimate.rows;
  }
  if (estimate.rows == 0) {
    estimate.value = std::numeric_limits<double>::quiet_NaN();
    return estimate;
  }
  estimate.value = sum / weight_sum;
  Eigen::ArrayXd deviations = Eigen::ArrayXd::Zero(units_);
  std::vector<char> held(static_cast<std::size_t>(units_), 0);
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const Index unit = groups_.empty() ? i : groups_[static_cast<std::size_t>(i)];
    deviations[unit] += (weights_.size() > 0 ? weights_[i] : 1.0) * (values[i] - estimate.value);
    held[static_cast<std::size_t>(unit)] = 1;
  }
  const auto n = static_cast<double>(std::count(held.begin(), held.end(), 1));
  if (n > 1) estimate.standard_error = std::sqrt(deviations.square().sum() * n / (n - 1)) / weight_sum;
  return estimate;
}

Eigen::ArrayXf RowMeans::by_unit(const Eigen::ArrayXf& values) const {
  Eigen::ArrayXf result = Eigen::ArrayXf::Zero(units_);
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const Index unit = groups_.empty() ? i : groups_[static_cast<std::size_t>(i)];
    result[unit] += (weights_.size() > 0 ? static_cast<float>(weights_[i]) : 1.0f) * values[i];
  }
  return result;
}

}  // namespace fansite
