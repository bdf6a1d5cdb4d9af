// SPDX-License-Identifier: Apache-2.0
//
// DAT-Moral, the first step of DAT: a network for each variable predicts its mean and variance from all others, with a
// penalty on its first layer's weights. Two variables are linked if the squares of the weights between them, of both
// networks together, are above a threshold; the larger they are, the earlier a member comes.
#pragma once

#include <vector>

#include "fansite/boundary/methods.h"
#include "fansite/causal/neural/dropout_network.h"
#include "fansite/causal/neural/regressor_params.h"
#include "fansite/causal/neural/row_batches.h"

namespace fansite {

struct DatMoralParams {
  causal::RegressorParams networks;
  double l1 = 1e-2;         ///< of the first layer's absolute weights, in units of the error
  double threshold = 8e-3;  ///< members have larger scores

  static const Description& description();
};

/// With e = x − f of a variable x and a network's outputs f and g, the mean over rows of e² + (e² − g)², where the
/// second e² counts as given. The gradient of that + l1·error·Σ|W|, the error as a factor also as given, is the
/// network's afterwards.
template <class Real>
double moral_error(causal::DropoutNetwork<Real>& network, typename causal::DropoutNetwork<Real>::View inputs,
                   const Eigen::Ref<const Eigen::Matrix<Real, 1, Eigen::Dynamic>>& variable, double l1, Random& masks);

/// Σ_k W(k, i)² of the network of `target` after so many steps, for every variable i; 0 for itself. Empty if time runs
/// out first.
std::vector<double> moral_importances(const causal::RowBatches& table, int target, const DatMoralParams& params,
                                      int steps, Key key, Progress& progress);

BoundaryMethod dat_moral_method();

}  // namespace fansite
