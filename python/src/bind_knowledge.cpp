// SPDX-License-Identifier: Apache-2.0
//
// fansite/knowledge.h: what is known beforehand.
#include "fansite/graph/knowledge.h"

#include "src/bindings.h"

namespace fansite::python {

void bind_knowledge(nb::module_& m) {
  nb::class_<Knowledge>(m, "Knowledge", "What is known beforehand; columns by number.")
      .def(nb::init<>())
      .def_static("parse", &Knowledge::parse, "text"_a, "file"_a, "names"_a,
                  "The lines of docs/knowledge.md; errors name `file`.")
      .def("allows", &Knowledge::allows, "cause"_a, "effect"_a)
      .def("requires_edge", &Knowledge::requires_edge, "cause"_a, "effect"_a)
      .def("in_boundary", &Knowledge::in_boundary, "i"_a, "j"_a)
      .def("out_of_boundary", &Knowledge::out_of_boundary, "i"_a, "j"_a)
      .def(
          "violations",
          [](const Knowledge& self, const ByteArray& directed, const ByteArray& undirected) {
            return self.violations(copied<unsigned char>(directed), copied<unsigned char>(undirected));
          },
          "directed"_a, "undirected"_a)
      .def("to_text", &Knowledge::to_text);
  m.def("load_knowledge", &load_knowledge, "path"_a, "names"_a, "Reads a file of knowledge.");
}

}  // namespace fansite::python
