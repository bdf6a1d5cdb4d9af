// SPDX-License-Identifier: Apache-2.0
//
// fansite/data.h: tables.
#include "fansite/table/dataset.h"

#include "src/bindings.h"

namespace fansite::python {
namespace {

template <class Scalar>
void def_from_array(nb::class_<Dataset>& dataset) {
  using Array = nb::ndarray<const Scalar, nb::ndim<2>, nb::device::cpu>;
  using Column = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
  dataset.def_static(
      "from_array",
      [](const Array& values, std::vector<std::string> names, const std::optional<Column>& last) {
        const nb::gil_scoped_release free;
        const auto table = viewed(values);
        Matrix copy(table.rows(), table.cols() + (last ? 1 : 0));
        copy.leftCols(table.cols()) = table.template cast<double>();
        if (last) copy.rightCols(1) = Vector::Map(last->data(), table.rows());
        return Dataset{std::move(names), std::move(copy)};
      },
      "values"_a, "names"_a, "last"_a = nb::none(),
      "Rows by variables, with any strides, and one more column as long; copied once.");
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<Dataset> dataset(m, "Dataset", "A table with named columns.");
  def_from_array<double>(dataset);
  def_from_array<float>(dataset);
  dataset.def_ro("names", &Dataset::names)
      .def_prop_ro("rows", &Dataset::rows)
      .def_ro("dropped_rows", &Dataset::dropped_rows)
      .def_prop_ro(
          "values", [](const Dataset& self) { return to_numpy<double>(self.values); }, nb::rv_policy::move)
      .def(
          "drop_missing", [](const Dataset& self) { return drop_missing(self); },
          "The table without its rows that have a missing cell.")
      .def("require_complete", &require_complete, "A ValueError that counts the missing cells, if there are any.");
  m.def("default_names", &default_names, "variables"_a, "x1, x2, ..., for tables without names.");
}

}  // namespace fansite::python
