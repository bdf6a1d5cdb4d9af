// SPDX-License-Identifier: Apache-2.0
//
// A graph method in one source: every link points from the name that comes first in the alphabet.
#include "fansite/causal/methods.h"

namespace fansite {
namespace {

struct NameOrderParams {
  bool backwards = false;  ///< from the later name
  static const Description& description();
};

const Description& NameOrderParams::description() {
  static const Description list =
      Describe<NameOrderParams>().field("backwards", &NameOrderParams::backwards, "from the later name").done();
  return list;
}

GraphAnswer name_order(const GraphProblem& problem, const Parameters& parameters) {
  const std::vector<std::string>& names = problem.context.data().names;
  GraphAnswer answer;
  answer.graph = {problem.links, ByteMatrix::Zero(problem.links.rows(), problem.links.cols())};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (names[j] <= names[i]) answer.graph.directed(static_cast<Index>(i), static_cast<Index>(j)) = 0;
    }
  }
  if (parameters.as<NameOrderParams>().backwards) answer.graph.directed.transposeInPlace();
  answer.weights = answer.graph.directed.cast<double>();
  answer.how = "names in the order of the alphabet";
  return answer;
}

const bool added = [] {
  GraphMethod row;
  row.name = "name-order";
  row.summary = "every link points from the name that comes first";
  row.citation = "an example of CONTRIBUTING.md";
  row.can.needs_boundaries = true;
  row.parameters = NameOrderParams();
  row.run = name_order;
  graph_methods().add(std::move(row));
  return true;
}();

}  // namespace
}  // namespace fansite
