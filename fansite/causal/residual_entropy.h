// SPDX-License-Identifier: Apache-2.0
//
// How surprising residuals are under a distribution learnt from the others, in nats; the mean is the entropy of the
// noise.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"
#include "fansite/causal/graph_rows.h"

namespace fansite::causal {

enum class NoiseDistribution {
  any,      ///< by a kernel estimate of the density
  gaussian  ///< by a normal distribution
};
constexpr auto enum_names(NoiseDistribution) {
  return std::to_array<EnumName<NoiseDistribution>>(
      {{NoiseDistribution::any, "any"}, {NoiseDistribution::gaussian, "gaussian"}});
}

/// −ln p(e_i) for each residual, p estimated without it. Scaling the residuals by c adds ln c. Residuals of a spread
/// below 1e-6 are taken for that wide: a relation without noise. `weights`: of the residuals, with mean 1; empty: 1.
Vector surprisals(const Eigen::Ref<const Vector>& residuals, NoiseDistribution distribution,
                  const Vector& weights = {});

/// The same where the noise of rows of the same group (of the discrete parents' levels) may have a distribution of its
/// own: p = w p_group + (1 − w) p_all, w = n / (n + κ) with n rows in the group. The κ with the least mean is taken,
/// infinite (one distribution for all) among them. `counts`: how much the rows tell; what is a group's own is learnt
/// outside a row's block, and n counts the rows there.
Vector surprisals(const Eigen::Ref<const Vector>& residuals, NoiseDistribution distribution,
                  const std::vector<int>& groups, const GraphRows& counts = {});

}  // namespace fansite::causal
