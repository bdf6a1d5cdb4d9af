// SPDX-License-Identifier: Apache-2.0
//
// What NAF, BNAF and ACE have in common: a network over rows that each come with a subset of the variables, its
// parameters in one piece, a loss with its gradient, and the density of every subset once it is trained.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fansite/base/random.h"
#include "fansite/entropy/flow/subset_density.h"
#include "fansite/entropy/neural/products.h"

namespace fansite::neural {

template <class Real>
struct SubsetBatch {
  Rows<Real> values;    ///< n×d, 0 where a cell is absent
  Rows<Real> mask;      ///< n×d, 1 for the variables of each row's subset, none of them absent
  Rows<Real> present;   ///< n×d, 0 where a cell is absent
  Key key;              ///< of the random choices of a loss that makes some
  double progress = 1;  ///< how far training has come, in steps; a loss may begin gently

  Index rows() const { return values.rows(); }
};

/// Which subsets a step draws.
enum class Draws {
  densities,  ///< those whose density is learnt: leaf or not (flow/batch.h)
  conditions  ///< those that others are given: n of all variables, n uniform on 0..M
};

template <class Real>  // float to train, double to hold gradients against
class SubsetNetwork {
 public:
  virtual ~SubsetNetwork() = default;
  virtual int variables() const = 0;
  virtual std::size_t size() const = 0;
  /// Trainable numbers as their authors count them.
  virtual std::int64_t published_size() const { return static_cast<std::int64_t>(size()); }
  virtual Draws draws() const { return Draws::densities; }
  virtual void start(Key key, std::span<Real> parameters) const = 0;
  /// Mean over rows; the gradient is overwritten, or not wanted if empty.
  virtual double loss(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
                      std::span<Real> gradient) const = 0;
  virtual std::unique_ptr<const flow::SubsetDensity> density(std::span<const Real> parameters) const = 0;
};

/// Densities are computed for so many rows at a time, the last ones with others of zeros: products then have sizes that
/// depend on the subset alone, and a row the same bits whatever its company.
inline constexpr Index kRowsAtOnce = 64;

/// Calls of `piece(subset, first row, rows)` over all subsets and pieces of kRowsAtOnce rows, in parallel.
void for_pieces(Index subsets, Index rows, const std::function<void(Index, Index, Index)>& piece);

/// The cells of a subset in so many rows, zeros below them up to kRowsAtOnce; absent ones are 0, and their rows marked.
template <class Real>
Rows<Real> gathered(const flow::CellColumns& rows, const flow::Subset& subset, Index first, Index count,
                    std::vector<char>& absent);

}  // namespace fansite::neural
