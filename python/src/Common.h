//===- Common.h - What the parts of the Python module share -----*- C++ -*-===//
//
// The module is thin: tile_compiler/*.py gives functions their arguments and
// their documentation. Here arrays become `TensorRef`s, errors become
// exceptions, and long calls stay open to Ctrl-C.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_PYTHON_COMMON_H
#define TILE_PYTHON_COMMON_H

#include "tile/Runtime/Runtime.h"

// Casts need these in every file, or they look for a bound class instead.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tile::python {

namespace nb = nanobind;

//===----------------------------------------------------------------------===//
// Errors.cpp
//===----------------------------------------------------------------------===//

/// Raises the exception for an error.
[[noreturn]] void raise(const runtime::Error &error);
[[noreturn]] void raise(runtime::ErrorCode code, const std::string &message);

/// The value, or the exception for the error in its place.
template <typename T>
T take(runtime::Expected<T> value) {
  if (!value)
    raise(value.error());
  return std::move(*value);
}
inline void take(runtime::Status status) {
  if (!status)
    raise(status.error());
}

/// A function of one of the package's own modules; looked up once.
nb::handle getHelper(const char *module, const char *name);

//===----------------------------------------------------------------------===//
// Interrupt.cpp
//===----------------------------------------------------------------------===//

/// Finds the main thread. Called once, when the module is imported: the GIL may
/// change hands meanwhile, which the guard of a static variable does not
/// survive.
void initializeInterrupt();

/// What a call that may take long does between two looks at the signals.
struct Watch {
  /// Set where the caller has had enough; `work` looks at it.
  std::atomic<bool> cancel{false};
  /// Called with the GIL every now and then, and once at the end; what it
  /// raises ends the work.
  std::function<void()> poll;
};

/// Runs `work` without the GIL. On the main thread signals are handled
/// meanwhile: where a handler raises, such as that of Ctrl-C, `watch.cancel` is
/// set, and the exception leaves this function once `work` has returned.
void runLong(const std::function<void()> &work, Watch &watch);

/// The same for work that nothing can end, such as waiting for a GPU: where a
/// handler raises, its exception leaves this function at once. `work` must own
/// all that it needs, since it then goes on.
void waitLong(std::function<void()> work);

/// Who is told how far a call has come: nobody, a line on stderr, or a function
/// of the caller's.
class Progress {
public:
  /// `object`: None or False, True, or a callable. `unit` is what a line
  /// counts: "programs", or "" for seconds.
  Progress(nb::handle object, const char *unit);
  /// Ends the line.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  explicit operator bool() const { return function.is_valid(); }

  template <typename... Arguments>
  void operator()(Arguments... arguments) const {
    function(arguments...);
  }

private:
  nb::object function;
  bool isLine = false;
};

//===----------------------------------------------------------------------===//
// Arrays.cpp
//===----------------------------------------------------------------------===//

/// Keeps a Python object until the last copy is gone, on whichever thread, with
/// or without the GIL.
std::shared_ptr<void> keepAlive(nb::object object);

/// Turns an object into an argument. `what` says in errors which one it is.
/// `isArray`: whether the kernel wants an array there, so that one without
/// dimensions is not taken for a number.
runtime::Argument getArgument(nb::handle object, const std::string &what,
                              bool isArray);

/// An array, or nullopt where the object is none.
std::optional<runtime::TensorRef>
getArray(nb::handle object, const std::string &what, nb::object &owner);

/// An object that gives an array of `owner`'s to others by DLPack.
nb::object getDlpack(nb::handle owner, const runtime::TensorRef &array);

//===----------------------------------------------------------------------===//
// Parts of the module
//===----------------------------------------------------------------------===//

void bindDevices(nb::module_ &module);
void bindKernels(nb::module_ &module);
void bindFormats(nb::module_ &module);

/// The stream that an object means: a `Stream`, an address, or a stream of
/// PyTorch or of anything with `__cuda_stream__`.
runtime::Stream getStream(nb::handle object,
                          const std::optional<runtime::Device> &device);

} // namespace tile::python

#endif // TILE_PYTHON_COMMON_H
