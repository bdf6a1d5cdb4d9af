// SPDX-License-Identifier: Apache-2.0
//
// What the binding files share. One file per header of the library; each adds its nouns to the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"
#include "fansite/table/roles.h"

namespace fansite::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_parallel(nb::module_& m);
void bind_data(nb::module_& m);
void bind_arrow(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_simulate(nb::module_& m);
void bind_metrics(nb::module_& m);
void bind_knowledge(nb::module_& m);
void bind_methods(nb::module_& m);
void bind_entropy(nb::module_& m);
void bind_boundaries(nb::module_& m);
void bind_causal_graph(nb::module_& m);
void bind_compare(nb::module_& m);
void bind_report(nb::module_& m);

/// Parameters by their names.
using Options = nb::typed<nb::dict, nb::str, nb::object>;

/// Sets parameters by their names. A ParameterError for a name that there is not, or a value that it cannot have.
void assign(Parameters& parameters, const nb::dict& values);
nb::dict to_dict(const Parameters& parameters);
template <Described P>
P assigned(const Options& values) {
  Parameters parameters{P()};
  assign(parameters, values);
  return parameters.as<P>();
}

/// What is said of a table, as Python has it: kinds by name, context, weight, group, drop, only.
using Names = std::vector<std::string>;
using NamedKinds = std::vector<std::pair<std::string, std::string>>;
using Roles = std::tuple<NamedKinds, Names, std::string, std::string, Names, Names>;

/// A ParameterError for a kind that there is not.
TableRoles to_roles(const Roles& from);

/// Matrices come in with any strides and are copied once; they go out without a copy.
using ByteArray = nb::ndarray<const unsigned char, nb::ndim<2>, nb::device::cpu>;
using DoubleArray = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

template <class Array>
auto viewed(const Array& array) {
  using Source = Eigen::Matrix<std::remove_const_t<typename Array::Scalar>, Eigen::Dynamic, Eigen::Dynamic>;
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const auto rows = static_cast<Index>(array.shape(0)), columns = static_cast<Index>(array.shape(1));
  const Strides strides(static_cast<Index>(array.stride(1)), static_cast<Index>(array.stride(0)));
  return Eigen::Map<const Source, Eigen::Unaligned, Strides>(array.data(), rows, columns, strides);
}

template <class Scalar, class Array>
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> copied(const Array& array) {
  return viewed(array).template cast<Scalar>();
}

template <class Scalar>
auto to_numpy(Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> matrix) {
  using Owned = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  auto owned = std::make_unique<Owned>(std::move(matrix));
  const auto rows = static_cast<std::size_t>(owned->rows()), columns = static_cast<std::size_t>(owned->cols());
  Scalar* data = owned->data();
  const nb::capsule owner(owned.release(), [](void* pointer) noexcept { delete static_cast<Owned*>(pointer); });
  return nb::ndarray<nb::numpy, Scalar, nb::ndim<2>, nb::f_contig>(data, {rows, columns}, owner,
                                                                   {1, static_cast<std::int64_t>(rows)});
}

}  // namespace fansite::python
