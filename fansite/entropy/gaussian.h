// SPDX-License-Identifier: Apache-2.0
//
// Entropies of linear Gaussian data, in closed form from the covariance: H(T|S) = ½ (1 + ln 2π + ln σ²_{T|S}).
#pragma once

#include <memory>
#include <utility>

#include "fansite/entropy/entropy.h"
#include "fansite/entropy/estimators.h"
#include "fansite/table/covariance.h"

namespace fansite {

/// Forward selection keeps the rows of an incremental Cholesky factor over all candidates, so that a step of a set of
/// size k costs k·d multiply-adds and no determinant; shrinking downdates the Cholesky factor of the members alone.
/// A candidate whose variance given S is below `kDetermined` of its own adds nothing and is passed over: collinear and
/// duplicated columns and more columns than rows are safe.
class GaussianEstimator final : public SearchEstimator {
 public:
  /// Share of a column's variance under which it counts as determined by others (R² above 1 − 1e-12).
  static constexpr double kDetermined = 1e-12;

  explicit GaussianEstimator(Covariance covariance)
      : GaussianEstimator(std::make_shared<const Covariance>(std::move(covariance))) {}
  explicit GaussianEstimator(std::shared_ptr<const Covariance> covariance)
      : held_(std::move(covariance)), covariance_(*held_) {}

  std::string_view name() const override { return "gaussian"; }
  int variables() const override { return covariance_.variables(); }
  Index rows() const override { return covariance_.rows; }
  const Covariance& covariance() const { return covariance_; }

  using EntropyEstimator::conditional_entropy;
  std::vector<EntropyEstimate> conditional_entropy(std::span<const EntropyQuery> queries) const override;
  using EntropyEstimator::mutual_information;
  std::vector<EntropyEstimate> mutual_information(std::span<const InformationQuery> queries) const override;

  bool held_out() const override { return false; }
  /// Exact for Gaussian noise: with r the partial correlation, e^{2·gain} − 1 = r²/(1 − r²), and (N − |S| − 2) times
  /// that has the F(1, N − |S| − 2) distribution under the null; for large N it is the χ²₁ distribution of 2N·gain.
  double p_value(double gain, int given) const override;
  /// Both sides' tests combined with the weights of greatest power (docs/method.md, "Two tests of one fact").
  PairEvidence pair_evidence(const PairQuery& query) const override;
  bool informative(int variable) const override { return covariance_.scale(variable) > 0; }
  std::unique_ptr<Frontier> open(std::span<const int> targets, const Candidates& candidates,
                                 const Progress& progress) const override;
  int frontier_size() const override { return 1; }
  int largest_set() const override;

 private:
  std::shared_ptr<const Covariance> held_;
  const Covariance& covariance_;
};

EstimatorMethod gaussian_estimator();

}  // namespace fansite
