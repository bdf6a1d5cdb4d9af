// SPDX-License-Identifier: Apache-2.0
//
// Cells that a variable might have had in each row, with how likely they are given others: what expectations over its
// conditional distribution are sums over.
#pragma once

#include <span>
#include <vector>

#include "fansite/entropy/flow/ensemble_density.h"

namespace fansite::flow {

struct Nodes {
  std::vector<TrialColumn> columns;  ///< of the variable; one option for each node, then the row's own cell
  Eigen::MatrixXf weights;           ///< rows asked for × nodes, adding up to 1 in each row

  Index count() const { return weights.cols(); }
};

/// Of a variable with up to `most` levels these, each as likely as the mixture of the networks that have not seen the
/// row says; else the (k + ½)/most quantiles, and where one falls into an interval, that. In these rows of the density.
Nodes nodes_of(const EnsembleDensity& density, int variable, std::span<const int> given, std::span<const int> rows,
               int most);

/// A cell of the variable for each of these rows, drawn given others: option 0 of each of its columns. `uniforms`: a
/// random number for each row.
std::vector<TrialColumn> drawn_cells(const EnsembleDensity& density, int variable, std::span<const int> given,
                                     std::span<const int> rows, std::span<const float> uniforms);

}  // namespace fansite::flow
