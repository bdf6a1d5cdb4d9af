// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/row_means.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace fansite {

RowMeans::RowMeans(const Dataset& data)
    : weights_(data.weights), groups_(data.groups), units_(data.rows()), inflation_(1 / std::sqrt(data.row_worth)) {
  if (!groups_.empty()) units_ = *std::max_element(groups_.begin(), groups_.end()) + 1;
}

RowMeans::RowMeans(const Dataset& data, const std::vector<int>& row_of) : RowMeans(data) {
  std::vector<int> versions(static_cast<std::size_t>(data.rows()), 0);
  for (const int row : row_of) ++versions[static_cast<std::size_t>(row)];
  Vector weights(static_cast<Index>(row_of.size()));
  std::vector<int> groups;
  for (std::size_t i = 0; i < row_of.size(); ++i) {
    const auto row = static_cast<std::size_t>(row_of[i]);
    const double weight = data.weights.size() > 0 ? data.weights[row_of[i]] : 1.0;
    weights[static_cast<Index>(i)] = weight / versions[row];
    groups.push_back(data.groups.empty() ? row_of[i] : data.groups[row]);
  }
  weights_ = std::move(weights);
  groups_ = std::move(groups);
  row_of_ = row_of;
}

RowMeans RowMeans::of_rows(const std::vector<int>& rows) const {
  RowMeans some = *this;
  if (weights_.size() > 0) some.weights_ = Vector(weights_(rows));
  some.row_of_.clear();
  some.groups_.clear();
  std::map<int, int> unit;
  for (const int row : rows) {
    const auto at = static_cast<std::size_t>(row);
    if (!row_of_.empty()) some.row_of_.push_back(row_of_[at]);
    if (!groups_.empty()) {
      some.groups_.push_back(unit.try_emplace(groups_[at], static_cast<int>(unit.size())).first->second);
    }
  }
  some.units_ = static_cast<Index>(groups_.empty() ? rows.size() : unit.size());
  return some;
}

EntropyEstimate RowMeans::mean(const Eigen::ArrayXd& values) const {
  EntropyEstimate estimate;
  double weight_sum = 0, sum = 0;
  int last_row = -1;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const double weight = weights_.size() > 0 ? weights_[i] : 1.0;
    weight_sum += weight;
    sum += weight * values[i];
    const auto at = static_cast<std::size_t>(i);
    const bool counted = !row_of_.empty() && row_of_[at] == last_row;
    if (!counted) ++estimate.rows;
    if (!row_of_.empty()) last_row = row_of_[at];
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
  if (n > 1) estimate.standard_error = inflation_ * std::sqrt(deviations.square().sum() * n / (n - 1)) / weight_sum;
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
