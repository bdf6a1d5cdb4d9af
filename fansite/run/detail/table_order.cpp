// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/detail/table_order.h"

#include <algorithm>
#include <tuple>

#include "fansite/table/content_order.h"

namespace fansite {
namespace {

class TableOrder {
 public:
  explicit TableOrder(const std::vector<int>& order) : order_(order), place_(inverse(order)) {}

  void apply(int& variable) const {
    if (variable >= 0) variable = order_[static_cast<std::size_t>(variable)];
  }
  void apply(std::vector<int>& variables) const {
    for (int& variable : variables) apply(variable);
    std::sort(variables.begin(), variables.end());
  }
  template <class Square>
  void apply_to_matrix(Square& matrix) const {
    if (matrix.size() > 0) matrix = Square(matrix(place_, place_));
  }

  void apply(Boundary& boundary) const {
    apply(boundary.target);
    for (Member& member : boundary.members) {
      apply(member.variable);
      for (StandIn& other : member.interchangeable) apply(other.variable);
    }
    for (NearMiss& miss : boundary.near_misses) apply(miss.candidate.variable);
    for (PathStep& step : boundary.path) apply(step.variable);
  }
  void apply(Boundaries& found) const {
    for (Boundary& boundary : found.boundaries) apply(boundary);
    for (auto& [i, j] : found.moral_edges) {
      apply(i);
      apply(j);
      if (i > j) std::swap(i, j);
    }
    std::sort(found.moral_edges.begin(), found.moral_edges.end());
  }
  void apply(LinearityTest& test) const {
    apply(test.target);
    apply(test.other);
    apply(test.pair.first);
    apply(test.pair.second);
    apply(test.normality_target);
  }
  void apply(causal::AdditivityTest& test) const {
    apply(test.child);
    apply(test.parent);
    apply(test.refused);
  }
  void apply(std::vector<causal::HiddenCause>& hidden) const {
    for (causal::HiddenCause& cause : hidden) {
      apply(cause.a);
      apply(cause.b);
      if (cause.a > cause.b) std::swap(cause.a, cause.b);
    }
  }
  void apply(std::vector<causal::GraphEdge>& edges) const {
    for (causal::GraphEdge& edge : edges) {
      apply(edge.from);
      apply(edge.to);
    }
    std::sort(edges.begin(), edges.end(), [](const causal::GraphEdge& x, const causal::GraphEdge& y) {
      return std::tie(x.from, x.to) < std::tie(y.from, y.to);
    });
  }
  void apply(PartialDag& graph) const {
    apply_to_matrix(graph.directed);
    apply_to_matrix(graph.undirected);
  }
  void apply(causal::AdditiveNoiseResult& result) const {
    result.dag = Dag(ByteMatrix(result.dag.adjacency()(place_, place_)));
    apply(result.partial);
    apply(result.edges);
    apply_to_matrix(result.weights);
    apply(result.additivity);
    apply(result.discrete);
    apply(result.hidden_causes);
  }
  void apply(BoundaryAnswer& answer) const {
    apply(answer.found);
    if (answer.linearity) apply(*answer.linearity);
    if (answer.calibration) {
      for (TargetCalibration& target : answer.calibration->targets) apply(target.target);
      std::sort(answer.calibration->targets.begin(), answer.calibration->targets.end(),
                [](const TargetCalibration& x, const TargetCalibration& y) { return x.target < y.target; });
    }
    if (answer.graph) apply(*answer.graph);
  }
  void apply(GraphAnswer& answer) const {
    apply(answer.graph);
    apply_to_matrix(answer.weights);
    apply(answer.edges);
    if (answer.additivity) apply(*answer.additivity);
    if (answer.hidden_causes) apply(*answer.hidden_causes);
  }

 private:
  const std::vector<int>& order_;
  std::vector<int> place_;
};

}  // namespace

void to_table_order(BoundaryAnswer& answer, const std::vector<int>& order) { TableOrder(order).apply(answer); }

void to_table_order(GraphAnswer& answer, const std::vector<int>& order) { TableOrder(order).apply(answer); }

ByteMatrix to_content_order(const ByteMatrix& links, const std::vector<int>& order) { return links(order, order); }

}  // namespace fansite
