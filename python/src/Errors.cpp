//===- Errors.cpp - Errors as exceptions ----------------------------------===//

#include "Common.h"

#include <map>

using namespace tile;
using namespace tile::python;

nb::handle tile::python::getHelper(const char *module, const char *name) {
  // Never destroyed: the interpreter is gone when static objects are.
  static auto *helpers =
      new std::map<std::pair<std::string, std::string>, nb::object>;
  nb::object &helper = (*helpers)[{module, name}];
  if (!helper.is_valid())
    helper =
        nb::module_::import_((std::string("tile_compiler.") + module).c_str())
            .attr(name);
  return helper;
}

void tile::python::raise(const runtime::Error &error) {
  nb::list diagnostics;
  for (const runtime::Diagnostic &diagnostic : error.getDiagnostics())
    diagnostics.append(diagnostic);
  nb::object exception = getHelper("_errors", "make_error")(
      runtime::getErrorCodeName(error.getCode()), error.getMessage().c_str(),
      diagnostics);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())),
                  exception.ptr());
  throw nb::python_error();
}

void tile::python::raise(runtime::ErrorCode code, const std::string &message) {
  raise(runtime::Error(code, message));
}
