// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/robustness.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fansite/table/scores.h"

namespace fansite {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostColumns = 500;
constexpr Index kMostRows = 5000;
// Of the variance; few measurements are better than that (a reliability of 0.9).
constexpr double kUsualNoise = 0.1;

// Correlations of normal scores of the columns that are numbers.
struct Correlations {
  std::vector<int> place;  // of each column of the table, or −1
  Matrix values;
  double rows = 0;

  Correlations(const Dataset& data, const TableFacts& facts) : place(facts.kinds.size(), -1) {
    std::vector<Index> first(static_cast<std::size_t>(std::min(data.rows(), kMostRows)));
    std::iota(first.begin(), first.end(), Index{0});
    const auto [scores, there, owner] = column_scores(data, facts, first, kMostColumns);
    for (std::size_t k = 0; k < owner.size(); ++k) {
      const auto column = static_cast<std::size_t>(owner[k]);
      if (facts.kinds[column] != ColumnKind::nominal) place[column] = static_cast<int>(k);
    }
    values = (scores.transpose() * scores).cwiseQuotient((there.transpose() * there).cwiseMax(1));
    rows = static_cast<double>(first.size());
  }

  // Of these variables, if all have a place.
  bool of(const std::vector<int>& variables, Matrix& result) const {
    std::vector<int> places;
    for (const int variable : variables) {
      places.push_back(place[static_cast<std::size_t>(variable)]);
      if (places.back() < 0) return false;
    }
    result = values(places, places);
    return true;
  }
};

double partial_covariance(const MatrixView& correlation, double noise, bool& possible) {
  const Index others = correlation.rows() - 2;
  if (others == 0) return correlation(0, 1);
  Matrix left = correlation.bottomRightCorner(others, others);
  left.diagonal().array() -= noise;
  const Eigen::LLT<Matrix> factor(left);
  possible = factor.info() == Eigen::Success;
  if (!possible) return 0;
  const Vector a = correlation.block(2, 0, others, 1), b = correlation.block(2, 1, others, 1);
  return correlation(0, 1) - a.dot(factor.solve(b));
}

// The target, the member and then the other members.
std::vector<int> variables_about(const Boundary& boundary, const Member& member) {
  std::vector<int> variables = {boundary.target, member.variable};
  for (const Member& other : boundary.members) {
    if (other.variable != member.variable) variables.push_back(other.variable);
  }
  return variables;
}

}  // namespace

double robustness_to_hidden_cause(double information) {
  const double f2 = std::expm1(2 * std::max(information, 0.0));
  if (!std::isfinite(f2)) return 1;
  return 2 / (1 + std::sqrt(1 + 4 / f2));  // the same, exact for large and small f²
}

double robustness_to_noise(const MatrixView& correlation) {
  bool possible = true;
  const double now = partial_covariance(correlation, 0, possible);
  for (int percent = 1; possible && percent < 100; ++percent) {
    const double noise = percent / 100.0;
    const double then = partial_covariance(correlation, noise, possible);
    if (possible && then * now <= 0) return noise;
  }
  return kNone;
}

double robustness_to_noise_in_one(const MatrixView& correlation) {
  const Index others = correlation.rows() - 2;
  double least = std::numeric_limits<double>::infinity();
  if (others == 0) return least;
  const Eigen::LLT<Matrix> factor(correlation.bottomRightCorner(others, others));
  if (factor.info() != Eigen::Success) return 0;  // one is another already
  const Matrix inverse = factor.solve(Matrix::Identity(others, others));
  const Matrix weights = inverse * correlation.bottomLeftCorner(others, 2);
  const Matrix left = correlation.topLeftCorner(2, 2) - correlation.topRightCorner(2, others) * weights;
  for (Index k = 0; k < others; ++k) {
    const double a = weights(k, 0), b = weights(k, 1), p = inverse(k, k);
    const double covariance = left(0, 1) / (a * b + left(0, 1) * p);  // where it becomes 0
    if (covariance >= 0 && covariance * p < 1) least = std::min(least, covariance);
    for (const Index end : {Index{0}, Index{1}}) {
      const double weight = weights(k, end), variance = std::max(left(end, end), 0.0);
      if (weight != 0) least = std::min(least, variance / (weight * weight + variance * p));
    }
  }
  return least;
}

int mark_close(const Dataset& data, const TableFacts& facts, Boundaries& found) {
  const Correlations correlations(data, facts);
  std::vector<Member*> close;
  std::size_t all = 0;
  for (Boundary& boundary : found.boundaries) {
    all += boundary.members.size();
    for (Member& member : boundary.members) {
      Matrix correlation;
      if (!correlations.of(variables_about(boundary, member), correlation)) continue;
      if (robustness_to_noise_in_one(correlation) < kUsualNoise) close.push_back(&member);
    }
  }
  if (2 * close.size() <= all) return 0;
  for (Member* member : close) member->fragile = true;
  return static_cast<int>(close.size());
}

void add_robustness(const Dataset& data, const TableFacts& facts, Boundaries& found) {
  const Correlations correlations(data, facts);
  for (Boundary& boundary : found.boundaries) {
    for (std::size_t k = 0; k < boundary.members.size(); ++k) {
      Member& member = boundary.members[k];
      member.robustness.hidden_cause = robustness_to_hidden_cause(member.unique);
      Matrix correlation;
      if (!correlations.of(variables_about(boundary, member), correlation)) continue;
      bool possible = true;
      const double left = partial_covariance(correlation, 0, possible);
      if (!possible || std::abs(left) * std::sqrt(correlations.rows) < 2) continue;  // nothing that a line would show
      member.robustness.measurement_noise = robustness_to_noise(correlation);
    }
  }
}

double typical_strength(const Boundaries& found) {
  std::vector<double> strengths;
  for (const Boundary& boundary : found.boundaries) {
    for (const Member& member : boundary.members) strengths.push_back(-std::expm1(-2 * std::max(member.unique, 0.0)));
  }
  if (strengths.empty()) return 0;
  const auto middle = strengths.begin() + static_cast<std::ptrdiff_t>(strengths.size() / 2);
  std::nth_element(strengths.begin(), middle, strengths.end());
  return *middle;
}

void mark_weak(Boundaries& found) {
  const double typical = typical_strength(found);
  for (Boundary& boundary : found.boundaries) {
    for (Member& member : boundary.members) {
      const Robustness& robustness = member.robustness;  // NaN: nothing of the kind explains it away
      const bool weak = robustness.hidden_cause < typical || robustness.measurement_noise < kUsualNoise;
      member.fragile = member.fragile || weak;
    }
  }
}

}  // namespace fansite
