// SPDX-License-Identifier: Apache-2.0
//
// The module fansite._core: the library as Python sees it. What users see is python/fansite.
#include <cerrno>
#include <exception>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/version.h"
#include "src/bindings.h"

namespace {

namespace nb = nanobind;

// What Python itself raises for a path.
PyObject* exception_of(const fansite::PathError& error) {
  switch (error.code) {
    case ENOENT:
      return PyExc_FileNotFoundError;
    case ENOTDIR:
      return PyExc_NotADirectoryError;
    case EISDIR:
      return PyExc_IsADirectoryError;
    case EACCES:
    case EPERM:
      return PyExc_PermissionError;
    default:
      return PyExc_OSError;
  }
}

// A sentence of the library in Python's words: options are arguments there, rows have labels (fansite/_words.py).
void set_error(PyObject* type, const char* sentence) {
  const nb::object in_python = nb::module_::import_("fansite._words").attr("in_python");
  PyErr_SetObject(type, in_python(sentence).ptr());
}

// The sentence of the command line as the exception that Python has for it.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const fansite::PathError& error) {
    set_error(exception_of(error), error.what());
  } catch (const fansite::UsageError& error) {
    set_error(PyExc_ValueError, error.what());
  } catch (const fansite::DataError& error) {
    set_error(PyExc_ValueError, error.what());
  } catch (const fansite::IoError& error) {
    set_error(PyExc_OSError, error.what());
  } catch (const fansite::Interrupted& error) {
    set_error(PyExc_KeyboardInterrupt, error.what());
  } catch (const fansite::Error& error) {
    set_error(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The C++ library; use the package fansite, which is built on this.";
  m.attr("__version__") = FANSITE_VERSION;
  nb::register_exception_translator(translate);
  fansite::python::bind_parallel(m);
  fansite::python::bind_data(m);
  fansite::python::bind_arrow(m);
  fansite::python::bind_graph(m);
  fansite::python::bind_simulate(m);
  fansite::python::bind_metrics(m);
  fansite::python::bind_knowledge(m);
  fansite::python::bind_methods(m);
  fansite::python::bind_entropy(m);
  fansite::python::bind_boundaries(m);
  fansite::python::bind_causal_graph(m);
  fansite::python::bind_compare(m);
  fansite::python::bind_report(m);
}
