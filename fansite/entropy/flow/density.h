// SPDX-License-Identifier: Apache-2.0
//
// The density of many subsets over many rows, what the search asks of a trained network. Vectorised over rows, threads
// over subsets and blocks of rows; what subsets share, a prefix of their variables, is computed once. So ask for many
// subsets at a time.
#pragma once

#include <memory>
#include <span>

#include "fansite/entropy/flow/base.h"
#include "fansite/entropy/flow/subset_density.h"
#include "fansite/entropy/flow/weights.h"

namespace fansite::flow {

struct FoldedNetwork;

class Density final : public SubsetDensity {
 public:
  explicit Density(const Weights& weights, const GaussianBase& base = {});
  explicit Density(std::shared_ptr<const FoldedNetwork> network);
  /// The base alone, without a network.
  explicit Density(const GaussianBase& base);
  ~Density() override;
  Density(Density&&) noexcept;
  Density& operator=(Density&&) noexcept;

  const Shape& shape() const;
  int variables() const override { return shape().variables; }
  /// R+1.
  int largest_subset() const override { return shape().ranks + 1; }

  /// To 1e-5 or so. Any outlier has a finite density.
  void log_density(const CellColumns& rows, std::span<const Subset> subsets, Eigen::Ref<Eigen::MatrixXf> out) const;
  Eigen::MatrixXf log_density(const CellColumns& rows, std::span<const Subset> subsets) const override;
  /// What lies before a variable in the network's order is not computed again for each of its values, so m²
  /// combinations of two cost a third of m² rows or so.
  Eigen::MatrixXf log_density(const CellColumns& rows, const Subset& subset,
                              std::span<const Trial> trials) const override;

 private:
  std::shared_ptr<const FoldedNetwork> folded_;
};

}  // namespace fansite::flow
