// SPDX-License-Identifier: Apache-2.0
//
// Entropies from an ensemble of flows: H(T|S) = −mean over rows of log p(x_T|x_S).
#pragma once

#include <string>
#include <vector>

#include "fansite/data.h"
#include "fansite/entropy.h"
#include "fansite/flow/ensemble.h"

namespace fansite {

/// The columns a flow can learn: not constant, no copy of an earlier one.
Dataset learnable_columns(const Dataset& data);

/// Each row is judged by the members that have not seen it, if there are such, so that what a network has learnt by
/// heart does not count. Entropies are on the columns' original scale where that is defined (see original_scale).
class FlowEstimator final : public EntropyEstimator {
 public:
  /// `ensemble` was trained on this table's learnable columns, or on those of another with the same names; a UsageError
  /// names a column that it does not know.
  FlowEstimator(const Dataset& data, const flow::Ensemble& ensemble);

  std::string_view name() const override { return "flow"; }
  int variables() const override { return static_cast<int>(column_.size()); }
  Index rows() const override { return density_.rows(); }
  /// False if the members judge rows that they were trained on: entropies are then too low.
  bool out_of_sample() const { return density_.out_of_sample(); }
  /// The most variables that one query may name, target and given together.
  int largest_subset() const { return density_.largest_subset(); }
  /// Whether H of this target is on the scale of its column. If not, because it holds too many equal values, it is on
  /// the scale of its normal scores; informations are the same on both.
  bool original_scale(int target) const;

  using EntropyEstimator::conditional_entropy;
  std::vector<EntropyEstimate> conditional_entropy(std::span<const EntropyQuery> queries) const override;
  using EntropyEstimator::mutual_information;
  std::vector<EntropyEstimate> mutual_information(std::span<const InformationQuery> queries) const override;

 private:
  /// A query in the ensemble's columns: constants say nothing, a copy is its original.
  struct Reduced {
    EntropyQuery query;
    bool determined = false;  // the target is constant, or among the given
  };
  Reduced reduce(const EntropyQuery& query) const;

  std::vector<int> column_;  // per variable of the table: the ensemble's column, −1 for a constant
  std::vector<double> log_slope_;
  flow::EnsembleDensity density_;
};

}  // namespace fansite
