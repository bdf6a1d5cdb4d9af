// SPDX-License-Identifier: Apache-2.0
//
// fansite/metrics.h: how near an answer is to a known truth.
#include "fansite/graph/metrics.h"

#include "src/bindings.h"

namespace fansite::python {

void bind_metrics(nb::module_& m) {
  nb::class_<BoundaryScore>(m, "BoundaryScore", "Scores of one boundary, or means over many.")
      .def_ro("ndcg", &BoundaryScore::ndcg)
      .def_ro("average_precision", &BoundaryScore::average_precision)
      .def_ro("f1", &BoundaryScore::f1)
      .def_ro("precision", &BoundaryScore::precision)
      .def_ro("recall", &BoundaryScore::recall);
  nb::class_<BoundariesScore>(m, "BoundariesScore", "Scores of many boundaries.")
      .def_ro("mean", &BoundariesScore::mean)
      .def_ro("targets", &BoundariesScore::targets)
      .def_ro("false_discovery_rate", &BoundariesScore::false_discovery_rate);
  nb::class_<GraphScore>(m, "GraphScore", "Scores of a directed graph.")
      .def_ro("shd", &GraphScore::shd)
      .def_ro("extra", &GraphScore::extra)
      .def_ro("missing", &GraphScore::missing)
      .def_ro("reversed", &GraphScore::reversed)
      .def_ro("undecided", &GraphScore::undecided)
      .def_ro("skeleton_f1", &GraphScore::skeleton_f1)
      .def_ro("direction_accuracy", &GraphScore::direction_accuracy)
      .def_ro("auc_roc", &GraphScore::auc_roc)
      .def_ro("auc_pr", &GraphScore::auc_pr);
  nb::class_<CurveAreas>(m, "CurveAreas", "Areas under the curves of scores of edges.")
      .def_ro("auc_roc", &CurveAreas::auc_roc)
      .def_ro("auc_pr", &CurveAreas::auc_pr);
  m.def("score_boundary", &score_boundary, "predicted"_a, "truth"_a, "One boundary, in order of strength.");
  m.def("score_boundaries", &score_boundaries, "predicted"_a, "truth"_a, "Boundaries of the same targets.");
  m.def(
      "score_graph",
      [](const ByteArray& estimate, const ByteArray& truth) {
        return score_graph(copied<unsigned char>(estimate), copied<unsigned char>(truth));
      },
      "estimate"_a, "truth"_a, "A graph; an edge in both directions is undecided.");
  m.def(
      "curve_areas",
      [](const DoubleArray& scores, const ByteArray& truth) {
        return curve_areas(copied<double>(scores), copied<unsigned char>(truth));
      },
      "scores"_a, "truth"_a, "Real-valued scores of edges.");
}

}  // namespace fansite::python
