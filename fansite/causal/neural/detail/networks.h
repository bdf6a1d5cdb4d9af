// SPDX-License-Identifier: Apache-2.0
//
// One small network for each variable, all of them at once: what DAGMA and COSMO learn. Variable j is predicted by
//   x̂_j = v_j · sigmoid(Σ_i x_i W_j[i] + b_j) + c_j,
// h hidden units each, in double precision. Whether an edge i → j exists is a matter of the weights W_j[i] alone.
#pragma once

#include <hwy/aligned_allocator.h>

#include <functional>
#include <span>
#include <vector>

#include "fansite/base/matrix.h"

namespace fansite {
class Team;
}

namespace fansite::causal {

/// Where the parameters of d networks lie, one network after the other: W [input][hidden], b [hidden], v [hidden], c.
struct NetworksShape {
  Index variables = 0;
  int hidden = 10;

  Index child_size() const { return (variables + 2) * hidden + 1; }
  Index size() const { return variables * child_size(); }
  Index weights(Index j) const { return j * child_size(); }                ///< W of variable j begins here …
  Index weights_size() const { return variables * hidden; }                ///< … and is so long
  Index biases(Index j) const { return weights(j) + weights_size(); }      ///< b
  Index output_weights(Index j) const { return biases(j) + hidden; }       ///< v
  Index output_bias(Index j) const { return output_weights(j) + hidden; }  ///< c
};

/// Rows of a table as the kernels read them: in blocks, each of them column by column, filled up with zeros.
class NetworkRows {
 public:
  explicit NetworkRows(const MatrixView& values);  ///< all of them, as they come
  NetworkRows(Index rows, Index variables);        ///< zeros
  /// Row k becomes row order[k] of the table; as many as there is room for, or fewer.
  void fill(const MatrixView& values, std::span<const int> order);

  Index rows() const { return rows_; }
  Index blocks() const;
  Index rows_of(Index block) const;
  const double* values(Index block) const;

 private:
  double* place(Index row, Index variable) const;

  Index rows_, variables_, room_;  // room_: blocks that there is memory for
  hwy::AlignedFreeUniquePtr<double[]> values_;
};

/// Squared errors of networks, on several threads; same bits for any number of them.
class SquaredError {
 public:
  /// The team, if there is one, must outlive this.
  SquaredError(const NetworksShape& shape, Team* team);

  /// ½ Σ_{n,j} (x̂_nj − x_nj)², and its gradient unless that is empty. `beside`, if any, is done at the same time.
  double operator()(const NetworkRows& rows, std::span<const double> parameters, std::span<double> gradient,
                    const std::function<void()>& beside = {});

 private:
  void of_children(const NetworkRows& rows, std::span<const double> parameters, std::span<double> gradient, Index first,
                   Index last);

  NetworksShape shape_;
  Team* team_;
  std::vector<double> errors_;  // of each variable
};

/// The same in plain loops: what the fast version is held to.
double squared_error_reference(const NetworksShape& shape, const MatrixView& values, std::span<const double> parameters,
                               std::span<double> gradient);

}  // namespace fansite::causal
