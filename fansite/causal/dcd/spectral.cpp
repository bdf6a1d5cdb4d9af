// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/spectral.h"

#include <cmath>
#include <numeric>

#include "fansite/base/error.h"

namespace fansite::causal {
namespace {

constexpr double kEverywhere = 1e-6;  // added to every entry, so that all variables reach each other
constexpr double kLeast = 1e-6;       // added to u·v, which is tiny for long chains

}  // namespace

SpectralPenalty::SpectralPenalty(const AllowedPairs& pairs, int iterations) : iterations_(iterations) {
  check(iterations >= 0, "[spectral] {} power iterations; use 0 or more", iterations);
  const auto d = static_cast<std::size_t>(pairs.variables);
  by_child_.start = pairs.start;
  by_parent_.start.assign(d + 1, 0);
  for (const int parent : pairs.parent) ++by_parent_.start[static_cast<std::size_t>(parent) + 1];
  std::partial_sum(by_parent_.start.begin(), by_parent_.start.end(), by_parent_.start.begin());
  std::vector<Index> next(by_parent_.start.begin(), by_parent_.start.end() - 1);
  by_parent_.entries.resize(pairs.parent.size());
  for (std::size_t e = 0; e < pairs.parent.size(); ++e) {
    const Index place = next[static_cast<std::size_t>(pairs.parent[e])]++;
    by_child_.entries.push_back({pairs.parent[e], 0});
    by_parent_.entries[static_cast<std::size_t>(place)] = {pairs.child[e], 0};
    place_of_.push_back(place);
  }
  left_.assign(d, 1 / std::sqrt(static_cast<double>(d)));
  right_ = next_left_ = next_right_ = left_;
  finish();
}

void SpectralPenalty::update(std::span<const double> weights) {
  take(weights);
  iterate_left();
  iterate_right();
  finish();
}

void SpectralPenalty::take(std::span<const double> weights) {
  for (std::size_t e = 0; e < place_of_.size(); ++e) {
    const double weight = std::isfinite(weights[e]) ? weights[e] : 0;
    by_child_.entries[e].weight = weight;
    by_parent_.entries[static_cast<std::size_t>(place_of_[e])].weight = weight;
  }
}

void SpectralPenalty::iterate_left() { iterate(by_child_, iterations_, left_, next_left_); }
void SpectralPenalty::iterate_right() { iterate(by_parent_, iterations_, right_, next_right_); }

void SpectralPenalty::iterate(const Rows& matrix, int iterations, std::vector<double>& vector,
                              std::vector<double>& next) {
  for (int i = 0; i < iterations; ++i) {
    // (A + c 11ᵀ) x = A x + c (Σ x) 1
    const double everywhere = kEverywhere * std::accumulate(vector.begin(), vector.end(), 0.0);
    double square = 0;
    for (std::size_t row = 0; row < vector.size(); ++row) {
      double sum = everywhere;
      for (Index k = matrix.start[row]; k < matrix.start[row + 1]; ++k) {
        const Entry& entry = matrix.entries[static_cast<std::size_t>(k)];
        sum += entry.weight * vector[static_cast<std::size_t>(entry.from)];
      }
      next[row] = sum;
      square += sum * sum;
    }
    const double scale = 1 / std::sqrt(square);  // the vector is positive, and so is what 1e-6 makes of it
    for (double& x : next) x *= scale;
    vector.swap(next);
  }
}

void SpectralPenalty::finish() {
  scale_ = 1 / (std::inner_product(left_.begin(), left_.end(), right_.begin(), 0.0) + kLeast);
}

double SpectralPenalty::value() const {
  double sum = 0;
  for (std::size_t j = 0; j < left_.size(); ++j) {
    for (Index k = by_child_.start[j]; k < by_child_.start[j + 1]; ++k) {
      const Entry& entry = by_child_.entries[static_cast<std::size_t>(k)];
      sum += slope(entry.from, static_cast<int>(j)) * entry.weight;
    }
  }
  return sum;
}

void SpectralPenalty::restore(const State& state) {
  check(state.left.size() == left_.size() && state.right.size() == right_.size(),
        "[spectral] the state to continue from is of {} variables, not {}", state.left.size(), left_.size());
  left_ = state.left;
  right_ = state.right;
  finish();
}

}  // namespace fansite::causal
