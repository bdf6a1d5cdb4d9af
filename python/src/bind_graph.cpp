// SPDX-License-Identifier: Apache-2.0
//
// fansite/graph.h: graphs. A[i][j] = 1 means i -> j.
#include "fansite/graph/dag.h"

#include "src/bindings.h"

namespace fansite::python {

void bind_graph(nb::module_& m) {
  nb::class_<Dag>(m, "Dag", "A directed acyclic graph; A[i][j] != 0 means i -> j.")
      .def(
          "__init__", [](Dag* self, const ByteArray& adjacency) { new (self) Dag(copied<unsigned char>(adjacency)); },
          "adjacency"_a)
      .def("markov_boundary", &Dag::markov_boundary, "node"_a,
           "Parents, children and the children's other parents, ascending.")
      .def(
          "moral_graph", [](const Dag& self) { return to_numpy<unsigned char>(self.moral_graph()); },
          "Pairs with one in the other's boundary, a symmetric 0/1 matrix.")
      .def_prop_ro("topological_order", &Dag::topological_order);
  m.def(
      "to_dot",
      [](const ByteArray& adjacency, const std::vector<std::string>& names, bool directed) {
        return to_dot(copied<unsigned char>(adjacency), names, directed);
      },
      "adjacency"_a, "names"_a, "directed"_a, "A graph in Graphviz's language.");
  m.def(
      "to_dot",
      [](const ByteArray& directed, const ByteArray& undirected, const std::vector<std::string>& names,
         const std::vector<std::pair<int, int>>& hidden_causes) {
        return to_dot(copied<unsigned char>(directed), copied<unsigned char>(undirected), names, hidden_causes);
      },
      "directed"_a, "undirected"_a, "names"_a, "hidden_causes"_a,
      "A graph with edges of open direction, and pairs with a hidden cause, in Graphviz's language.");
}

}  // namespace fansite::python
