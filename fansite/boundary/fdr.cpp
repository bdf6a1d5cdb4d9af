// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/fdr.h"

#include <algorithm>

namespace fansite {

std::size_t admissible(const std::vector<double>& sorted, double hypotheses, double fdr) {
  const auto expected_false = [&](std::size_t k) { return k == 0 ? 0.0 : hypotheses * sorted[k - 1]; };
  const auto net = [&](std::size_t k) { return static_cast<double>(k) - expected_false(k) / (4.0 * fdr); };
  std::size_t controlled = 0;  // Benjamini–Hochberg
  double best = 0.0;
  for (std::size_t k = 1; k <= sorted.size(); ++k) {
    if (expected_false(k) <= fdr * static_cast<double>(k)) controlled = k;
    best = std::max(best, net(k));
  }
  std::size_t shortest = 0;
  while (net(shortest) < best - 0.75) ++shortest;
  std::size_t admitted = std::min(shortest, controlled);
  while (admitted > 0 && expected_false(admitted) > fdr * static_cast<double>(admitted)) --admitted;
  return admitted;
}

std::size_t admissible_in_two_stages(const std::vector<double>& sorted, double hypotheses, double fdr) {
  const std::size_t certain = admissible(sorted, hypotheses, fdr);
  return admissible(sorted, hypotheses - static_cast<double>(certain), fdr);
}

std::size_t benjamini_hochberg(const std::vector<double>& sorted, double hypotheses, double fdr) {
  for (std::size_t k = sorted.size(); k > 0; --k) {
    if (sorted[k - 1] * hypotheses <= fdr * static_cast<double>(k)) return k;
  }
  return 0;
}

double nulls(const std::vector<double>& sorted, double hypotheses, double fdr) {
  return std::max(hypotheses - static_cast<double>(benjamini_hochberg(sorted, hypotheses, fdr)), 1.0);
}

std::vector<double> q_values(const std::vector<double>& sorted, double hypotheses) {
  std::vector<double> result(sorted.size());
  double smallest = 1.0;
  for (std::size_t k = sorted.size(); k > 0; --k) {
    smallest = std::min(smallest, sorted[k - 1] * hypotheses / static_cast<double>(k));
    result[k - 1] = smallest;
  }
  return result;
}

}  // namespace fansite
