// SPDX-License-Identifier: Apache-2.0
//
// A graph method in one source: every link points from the column that comes first in the table.
#include "fansite/causal/methods.h"

namespace fansite {
namespace {

struct ColumnOrderParams {
  bool backwards = false;  ///< from the later column
  static const Description& description();
};

const Description& ColumnOrderParams::description() {
  static const Description list =
      Describe<ColumnOrderParams>().field("backwards", &ColumnOrderParams::backwards, "from the later column").done();
  return list;
}

GraphAnswer column_order(const GraphProblem& problem, const Parameters& parameters) {
  GraphAnswer answer;
  answer.graph = {ByteMatrix(problem.links.triangularView<Eigen::StrictlyUpper>()),
                  ByteMatrix::Zero(problem.links.rows(), problem.links.cols())};
  if (parameters.as<ColumnOrderParams>().backwards) answer.graph.directed.transposeInPlace();
  answer.weights = answer.graph.directed.cast<double>();
  answer.how = "columns in the table's order";
  return answer;
}

const bool added = [] {
  GraphMethod row;
  row.name = "column-order";
  row.summary = "every link points from the column that comes first";
  row.citation = "an example of CONTRIBUTING.md";
  row.can.needs_boundaries = true;
  row.parameters = ColumnOrderParams();
  row.run = column_order;
  graph_methods().add(std::move(row));
  return true;
}();

}  // namespace
}  // namespace fansite
