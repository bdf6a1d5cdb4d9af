// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/stability.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "fansite/base/parallel.h"
#include "fansite/base/resample.h"
#include "fansite/base/sets.h"
#include "fansite/independence/fisher_z.h"

namespace fansite {
namespace {

constexpr double kMostWork = 2e7;  // rows × pairs: about a second

using PairOfVariables = std::pair<int, int>;

// Each pair that is to be judged, and the smaller of the boundaries that it is in, without the two.
std::map<PairOfVariables, std::vector<int>> pairs_to_judge(const Boundaries& found) {
  std::map<PairOfVariables, std::vector<int>> pairs;
  for (const Boundary& boundary : found.boundaries) {
    const std::vector<int> members = boundary.member_indices();
    for (const Member& member : boundary.members) {
      if (!std::isnan(member.stability) || member.by_knowledge) continue;
      std::vector<int> given = members;
      std::erase(given, member.variable);
      const auto key = std::minmax(boundary.target, member.variable);
      const auto [at, added] = pairs.try_emplace(key, given);
      if (!added && given.size() < at->second.size()) at->second = std::move(given);
    }
  }
  return pairs;
}

// Resamples × rows: how often each row is drawn; rows of a group together.
Matrix resampled_weights(const Dataset& data) {
  const Index units = data.groups.empty() ? data.rows() : 1 + *std::max_element(data.groups.begin(), data.groups.end());
  const Eigen::MatrixXf drawn = resampling_weights(units);
  Matrix weights(kResamples, data.rows());
  for (Index i = 0; i < data.rows(); ++i) {
    const double own = data.weights.size() > 0 ? data.weights[i] : 1.0;
    const Index unit = data.groups.empty() ? i : data.groups[static_cast<std::size_t>(i)];
    weights.col(i) = own * drawn.row(unit).transpose().cast<double>();
  }
  return weights;
}

class Resamples {
 public:
  Resamples(const Dataset& data, const Covariance& covariance)
      : data_(data), covariance_(covariance), weights_(resampled_weights(data)) {}

  // In how many the partial correlation of a and b is significant.
  double share_admitted(PairOfVariables pair, const std::vector<int>& given, double threshold) const {
    const double freedom = static_cast<double>(covariance_.rows) - static_cast<double>(given.size()) - 3;
    if (!(freedom > 0)) return std::numeric_limits<double>::quiet_NaN();
    const Vector a = left_over(pair.first, given), b = left_over(pair.second, given);
    Matrix products(data_.rows(), 3);
    products << a.cwiseProduct(b), a.cwiseAbs2(), b.cwiseAbs2();
    const Matrix sums = weights_ * products;
    int admitted = 0;
    for (Index r = 0; r < kResamples; ++r) {
      const double squares = sums(r, 1) * sums(r, 2);
      const double correlation = squares > 0 ? sums(r, 0) / std::sqrt(squares) : 0;
      if (fisher_z_p_value(correlation, freedom) <= threshold) ++admitted;
    }
    return admitted / static_cast<double>(kResamples);
  }

 private:
  Vector standardised(int column) const {
    return (data_.values.col(column).array() - covariance_.mean[column]) / covariance_.scale[column];
  }
  Vector left_over(int variable, const std::vector<int>& given) const {
    Vector left = standardised(variable);
    if (given.empty()) return left;
    const Vector slopes = Matrix(covariance_.correlation(given, given))
                              .ldlt()
                              .solve(Vector(covariance_.correlation.col(variable)(given)));
    for (std::size_t k = 0; k < given.size(); ++k) left -= slopes[static_cast<Index>(k)] * standardised(given[k]);
    return left;
  }

  const Dataset& data_;
  const Covariance& covariance_;
  Matrix weights_;
};

bool is_plain(const Dataset& data) {
  const bool plain = std::all_of(data.columns.begin(), data.columns.end(), [](const Column& column) {
    return !column.context && column.kind != ColumnKind::nominal;
  });
  return plain && !data.values.hasNaN();
}

}  // namespace

void add_stability(const Dataset& data, const Covariance& covariance, Boundaries& found) {
  const std::map<PairOfVariables, std::vector<int>> pairs = pairs_to_judge(found);
  const double work = static_cast<double>(pairs.size()) * static_cast<double>(data.rows());
  if (!found.threshold || pairs.empty() || work > kMostWork || !is_plain(data)) return;
  const Resamples resamples(data, covariance);
  std::vector<std::pair<PairOfVariables, double>> shares;
  for (const auto& [pair, given] : pairs) shares.emplace_back(pair, 0);
  parallel_for(static_cast<Index>(shares.size()), [&](Index i) {
    auto& [pair, share] = shares[static_cast<std::size_t>(i)];
    share = resamples.share_admitted(pair, pairs.at(pair), *found.threshold);
  });
  const std::map<PairOfVariables, double> share_of(shares.begin(), shares.end());
  for (Boundary& boundary : found.boundaries) {
    for (Member& member : boundary.members) {
      const auto share = share_of.find(std::minmax(boundary.target, member.variable));
      if (share != share_of.end() && std::isnan(member.stability)) member.stability = share->second;
    }
  }
}

}  // namespace fansite
