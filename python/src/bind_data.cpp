// SPDX-License-Identifier: Apache-2.0
//
// fansite/table/dataset.h: tables, what their columns are, and what users say of them.
#include "fansite/table/dataset.h"

#include "fansite/base/text.h"
#include "fansite/report/inspect_json.h"
#include "fansite/report/inspect_text.h"
#include "fansite/report/verify.h"
#include "fansite/table/labels.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {
namespace {

using OneColumn = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

template <class Scalar>
void def_from_array(nb::class_<Dataset>& dataset) {
  using Array = nb::ndarray<const Scalar, nb::ndim<2>, nb::device::cpu>;
  dataset.def_static(
      "from_array",
      [](const Array& values, std::vector<std::string> names) {
        const nb::gil_scoped_release free;
        return Dataset{std::move(names), copied<double>(values)};
      },
      "values"_a, "names"_a, "Rows by variables, with any strides; copied once.");
}

// ---- Roles ----------------------------------------------------------------------------------------------------------

Roles from_roles(const TableRoles& roles) {
  NamedKinds kinds;
  for (const auto& [column, kind] : roles.kinds) kinds.emplace_back(column, name(kind));
  return {kinds, roles.context, roles.weight, roles.group, roles.drop, roles.only};
}

Labels origin_of(const std::string& word) {
  return word == "declared" ? Labels::declared : word == "category" ? Labels::category : Labels::text;
}

// ---- Pickles --------------------------------------------------------------------------------------------------------

using ColumnState = std::tuple<std::string, std::vector<std::string>, bool>;  // kind or "", levels, context
// Values, names, rows left out, columns, weights, groups, roles.
using State = std::tuple<DoubleArray, std::vector<std::string>, Index, std::vector<ColumnState>, std::vector<double>,
                         std::vector<int>, Roles>;

nb::tuple state_of(const Dataset& data) {
  std::vector<ColumnState> columns;
  for (const Column& column : data.columns) {
    columns.emplace_back(column.kind ? name(*column.kind) : "", column.levels, column.context);
  }
  return nb::make_tuple(to_numpy<double>(data.values), data.names, data.dropped_rows, columns,
                        std::vector<double>(data.weights.begin(), data.weights.end()), data.groups,
                        from_roles(data.roles));
}

Dataset data_of(const State& state) {
  const auto& [values, names, dropped, columns, weights, groups, roles] = state;
  Dataset data{names, copied<double>(values), dropped};
  for (const auto& [kind, levels, context] : columns) {
    Column& column = data.columns.emplace_back(Column{.levels = levels, .context = context});
    if (!kind.empty()) column.kind = parse<ColumnKind>(kind, "kinds");
  }
  data.weights = Vector::Map(weights.data(), static_cast<Index>(weights.size()));
  data.groups = groups;
  data.roles = to_roles(roles);
  return data;
}

}  // namespace

TableRoles to_roles(const Roles& from) {
  const auto& [kinds, context, weight, group, drop, only] = from;
  TableRoles roles{{}, context, weight, group, drop, only};
  for (const auto& [column, kind] : kinds) roles.kinds.emplace_back(column, parse<ColumnKind>(kind, "kinds"));
  return roles;
}

void bind_data(nb::module_& m) {
  nb::class_<Dataset> dataset(m, "Dataset", "A table with named columns.");
  def_from_array<double>(dataset);
  def_from_array<float>(dataset);
  dataset.def_ro("names", &Dataset::names)
      .def_prop_ro("rows", &Dataset::rows)
      .def_ro("dropped_rows", &Dataset::dropped_rows)
      .def_prop_ro(
          "hash", [](const Dataset& self) { return fmt::format("{:016x}", hash_of(self)); }, "data_hash of results.")
      .def_prop_ro(
          "values", [](const Dataset& self) { return to_numpy<double>(self.values); }, nb::rv_policy::move)
      .def(
          "append",
          [](Dataset& self, const std::string& name, const OneColumn& values) {
            self.names.push_back(name);
            self.values.conservativeResize(Eigen::NoChange, self.values.cols() + 1);
            self.values.rightCols(1) = Vector::Map(values.data(), self.rows());
            if (!self.columns.empty()) self.columns.emplace_back();
          },
          "name"_a, "values"_a, "One more column, as long as the others.")
      .def(
          "label",
          [](Dataset& self, int column, const std::vector<std::string>& labels, const std::string& origin) {
            label_column(self, column, labels, origin_of(origin));
          },
          "column"_a, "labels"_a, "origin"_a,
          "Values that are indices into labels become levels; origin: 'text', 'category' or 'declared'.")
      .def(
          "with_roles",
          [](Dataset self, const Roles& roles) {
            const TableRoles said = to_roles(roles);
            self.roles.drop = said.drop;  // they are gone, so that nothing looks for them
            self.roles.only = said.only;
            return with_roles(std::move(self), said);
          },
          "roles"_a, "The table with what is said of it. Columns that drop and only leave out must be gone already.")
      .def(
          "drop_missing", [](const Dataset& self) { return drop_missing(self); },
          "The table without its rows that have a missing cell.")
      .def("require_complete", &require_complete, "A ValueError that counts the missing cells, if there are any.")
      .def("__getstate__", &state_of, nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def("__setstate__", [](Dataset& self, const State& state) { new (&self) Dataset(data_of(state)); });
  m.def("default_names", &default_names, "variables"_a, "x1, x2, ..., for tables without names.");
  m.def(
      "left_out",
      [](const Names& names, const Roles& roles) {
        const std::vector<char> out = left_out(names, to_roles(roles));
        return std::vector<bool>(out.begin(), out.end());
      },
      "names"_a, "roles"_a, "Whether drop or only leaves out each of the columns called so.");
  m.def("nearest_name", &nearest_name, "name"_a, "candidates"_a,
        "The candidate nearest to a name, or '' if none is near.");
  m.def(
      "load",
      [](const std::string& path, const std::string& missing, const Roles& roles, const Running& running) {
        Dataset data;
        run(running, [&](Progress& progress) {
          data = load(path,
                      {.missing = parse<Missing>(missing, "missing"), .roles = to_roles(roles), .progress = &progress});
        });
        return data;
      },
      "path"_a, "missing"_a, "roles"_a, "running"_a, "A file, as the command line reads it.");
  m.def(
      "inspect",
      [](const Dataset& data, const Running& running) {
        std::pair<std::string, std::string> result;
        run(running, [&](Progress&) {
          const TableSummary summary = summarise(data, TableFacts(data));
          result = {to_json(summary), to_text(summary)};
        });
        return result;
      },
      "data"_a, "running"_a, "What a table is, as JSON and in lines for people.");
  m.def(
      "saved_roles", [](const std::string& json) { return from_roles(saved_roles(json, "the result")); }, "result"_a,
      "What a result says of its table's columns.");
}

}  // namespace fansite::python
