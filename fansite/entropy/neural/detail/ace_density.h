// SPDX-License-Identifier: Apache-2.0
//
// Densities of a trained ACE: of one variable given others, and of sets by the chain rule.
#pragma once

#include <memory>
#include <vector>

#include "fansite/entropy/neural/detail/ace_networks.h"

namespace fansite::neural {

template <class Real>
class AceDensity final : public flow::SubsetDensity {
 public:
  AceDensity(std::shared_ptr<const AceNetworks<Real>> networks, std::span<const Real> parameters)
      : networks_(std::move(networks)), parameters_(parameters.begin(), parameters.end()) {}

  int variables() const override { return static_cast<int>(networks_->d); }
  int largest_subset() const override { return variables(); }

  using flow::SubsetDensity::log_density;
  Eigen::MatrixXf log_density(const flow::CellColumns& rows, std::span<const flow::Subset> subsets) const override;
  Eigen::MatrixXf log_conditional(const flow::CellColumns& rows,
                                  std::span<const flow::ConditionalSubset> questions) const override;
  /// Options of the given are rows of their own; those of the target share what is given.
  Eigen::MatrixXf log_conditional(const flow::CellColumns& rows, const flow::ConditionalSubset& question,
                                  std::span<const flow::Trial> trials) const override;

 private:
  /// log p(values(i, v) | x row i) is asked for, of kRowsAtOnce rows.
  struct Piece {
    const flow::Subset* given = nullptr;
    int target = 0;
    Rows<Real> x, values;
  };
  /// Several at a time, since the proposal's layers are then read once for all of their rows.
  std::vector<Rows<Real>> answers(std::span<const Piece> pieces) const;
  void hidden_of(const Piece& piece, Eigen::Ref<Rows<Real>> h) const;
  Rows<Real> answer(const Piece& piece, const RowsView<Real>& told) const;
  /// answers() of pieces 0 to count − 1, as `make` makes them, each handed to `take`; in parallel.
  void answer_all(Index count, const std::function<Piece(Index)>& make,
                  const std::function<void(Index, const Rows<Real>&)>& take) const;

  std::shared_ptr<const AceNetworks<Real>> networks_;
  std::vector<Real> parameters_;
  UnsplitBlas unsplit_;
};

}  // namespace fansite::neural
