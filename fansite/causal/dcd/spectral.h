// SPDX-License-Identifier: Apache-2.0
//
// The spectral acyclicity penalty of SDCD (Nazaret et al., ICML 2024, section 4): a smooth stand-in for the spectral
// radius of the weights, which is 0 exactly for acyclic graphs. Power iterations go on from where the last ones ended,
// as training changes the weights by little between two calls.
#pragma once

#include <span>
#include <vector>

#include "fansite/causal/dcd/pairs.h"

namespace fansite::causal {

/// hdag(A) = Σ G∘A with G = u vᵀ / (u·v + 1e-6), where u and v come from power iterations on Aᵀ and A, 1e-6 added to
/// every entry, diagonal included. G counts as constant: it is the penalty's slope. One iteration costs O(pairs + d).
/// On periodic or acyclic weights u and v need not converge, so that hdag is not the spectral radius; the published
/// method is so.
class SpectralPenalty {
 public:
  /// u = v = 1/√d in every place. `iterations` are of each update.
  SpectralPenalty(const AllowedPairs& pairs, int iterations);

  /// Improves u and v for the weights, one per pair; what is not finite counts as 0.
  void update(std::span<const double> weights);

  /// The same in parts, of which the middle two may run side by side.
  void take(std::span<const double> weights);
  void iterate_left();   ///< u
  void iterate_right();  ///< v
  void finish();

  double slope(int parent, int child) const {  ///< G[parent][child], for any two variables
    return left_[static_cast<std::size_t>(parent)] * right_[static_cast<std::size_t>(child)] * scale_;
  }
  double value() const;  ///< hdag of the weights of the last update

  /// All that an update leaves for the next one.
  struct State {
    std::vector<double> left, right;
    bool operator==(const State&) const = default;
  };
  State state() const { return {left_, right_}; }
  void restore(const State& state);

 private:
  struct Entry {
    int from;
    double weight;
  };
  // A sparse matrix row by row.
  struct Rows {
    std::vector<Index> start;
    std::vector<Entry> entries;
  };
  static void iterate(const Rows& matrix, int iterations, std::vector<double>& vector, std::vector<double>& next);

  int iterations_;
  Rows by_child_, by_parent_;         // Aᵀ, A
  std::vector<Index> place_of_;       // of pair e in by_parent_
  std::vector<double> left_, right_;  // u, v
  std::vector<double> next_left_, next_right_;
  double scale_ = 0;  // 1 / (u·v + 1e-6)
};

}  // namespace fansite::causal
