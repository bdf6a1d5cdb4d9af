// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/to_dag.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fansite/base/error.h"

namespace fansite::causal {
namespace {

// Who reaches whom in a growing graph, as bits.
class Reachability {
 public:
  explicit Reachability(Index nodes)
      : nodes_(nodes), words_((nodes + 63) / 64), bits_(static_cast<std::size_t>(nodes * words_), 0) {
    for (Index i = 0; i < nodes; ++i) word(i, i) |= bit(i);
  }
  bool reaches(Index from, Index to) const { return (word(from, to) & bit(to)) != 0; }
  // Whoever reaches `from` and not yet `to` reaches all that `to` does; d² such unions at most over all edges.
  void add(Index from, Index to) {
    if (reaches(from, to)) return;
    for (Index i = 0; i < nodes_; ++i) {
      if (!reaches(i, from) || reaches(i, to)) continue;
      for (Index w = 0; w < words_; ++w) {
        bits_[static_cast<std::size_t>(i * words_ + w)] |= bits_[static_cast<std::size_t>(to * words_ + w)];
      }
    }
  }

 private:
  static std::uint64_t bit(Index node) { return std::uint64_t{1} << (node % 64); }
  std::uint64_t& word(Index row, Index node) { return bits_[static_cast<std::size_t>(row * words_ + node / 64)]; }
  std::uint64_t word(Index row, Index node) const { return bits_[static_cast<std::size_t>(row * words_ + node / 64)]; }

  Index nodes_, words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

ByteMatrix to_dag(const Matrix& weights, double threshold) {
  check(weights.rows() == weights.cols(), "[to_dag] weights of {} rows and {} columns; they must be square",
        weights.rows(), weights.cols());
  struct Edge {
    double weight;
    Index from, to;
  };
  std::vector<Edge> edges;
  for (Index i = 0; i < weights.rows(); ++i) {
    for (Index j = 0; j < weights.cols(); ++j) {
      const double weight = std::isnan(weights(i, j)) ? 0 : weights(i, j);
      if (weight >= threshold) edges.push_back({weight, i, j});
    }
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.weight > b.weight; });
  ByteMatrix dag = ByteMatrix::Zero(weights.rows(), weights.cols());
  Reachability reached(weights.rows());
  for (const Edge& edge : edges) {
    if (reached.reaches(edge.to, edge.from)) continue;
    dag(edge.from, edge.to) = 1;
    reached.add(edge.from, edge.to);
  }
  return dag;
}

}  // namespace fansite::causal
