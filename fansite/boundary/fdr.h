// SPDX-License-Identifier: Apache-2.0
//
// What an FDR level admits. The Gaussian estimator's p-values are decided by admissible_in_two_stages, those of tests
// on held-out rows by q_values (docs/method.md, "Deciding" and "Deciding with flows").
#pragma once

#include <cstddef>
#include <vector>

namespace fansite {

/// How many of the smallest p-values to admit, out of so many hypotheses; about hypotheses·p₍ₖ₎ of the first k are
/// false. As many as satisfy both:
///  1. at most the share fdr of them is false (Benjamini–Hochberg), and
///  2. k − E[false]/(4·fdr) is as large as it gets, to within ¾; of such lists the shortest. So many certain members
///     never pay for some that are almost surely false, and a lone one must pass fdr/hypotheses.
/// With no true hypothesis at all nothing is admitted with probability 1 − fdr. `sorted` ascends; the rest are near 1.
std::size_t admissible(const std::vector<double>& sorted, double hypotheses, double fdr);

/// The same in two stages (Benjamini, Krieger & Yekutieli 2006): what the first admits is not among the nulls that the
/// second pays for.
std::size_t admissible_in_two_stages(const std::vector<double>& sorted, double hypotheses, double fdr);

/// How many of the smallest p-values Benjamini–Hochberg admits, out of so many hypotheses; the rest are 1.
std::size_t benjamini_hochberg(const std::vector<double>& sorted, double hypotheses, double fdr);

/// How many nulls the second of two stages pays for: all hypotheses but those that the first admits. Half of what is
/// proposed is true, and one stage realised a third of the FDR level.
double nulls(const std::vector<double>& sorted, double hypotheses, double fdr);

/// For each of these p-values, which ascend, the smallest FDR level at which Benjamini–Hochberg admits it.
std::vector<double> q_values(const std::vector<double>& sorted, double hypotheses);

}  // namespace fansite
