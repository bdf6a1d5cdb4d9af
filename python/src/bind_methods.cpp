// SPDX-License-Identifier: Apache-2.0
//
// fansite/context/method.h: the lists of methods, and parameters from Python's values.
#include <nanobind/stl/variant.h>

#include "fansite/report/methods_json.h"
#include "src/bindings.h"

namespace fansite::python {
namespace {

Value to_value(const std::string& name, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) {
    std::int64_t whole = 0;
    if (nb::try_cast(value, whole)) return whole;
    std::uint64_t natural = 0;
    if (nb::try_cast(value, natural)) return natural;
    throw ParameterError(name, "the number is too large; use one below 2^64");
  }
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  std::vector<double> numbers;
  if (nb::try_cast(value, numbers)) return numbers;
  std::vector<std::string> names;
  if (nb::try_cast(value, names)) return names;
  throw ParameterError(name, "the value is neither a number nor a word, nor a list of either");
}

}  // namespace

void assign(Parameters& parameters, const nb::dict& values) {
  for (const auto& [key, value] : values) {
    const std::string name = nb::cast<std::string>(key);
    parameters.set(name, to_value(name, value));
  }
}

nb::dict to_dict(const Parameters& parameters) {
  nb::dict values;
  for (const Description::Field& field : parameters.fields()) {
    values[field.name.c_str()] = nb::cast(parameters.get(field.name));
  }
  return values;
}

void bind_methods(nb::module_& m) {
  m.def("methods", &methods_json, "Every method and estimator with its parameters, as JSON.");
}

}  // namespace fansite::python
