//===- Error.h - Errors as values -------------------------------*- C++ -*-===//
//
// Nothing in this library throws, and nothing ends the process: what can fail
// returns an `Expected`, which holds a value or an `Error`.
//
//     Expected<Kernel> kernel = compiler.compile(text, options);
//     if (!kernel)
//       return report(kernel.error().str());
//     kernel->launch(…);
//
// An `Error` has a code for programs, one message for people that says what,
// where, what was expected and what came, and the compiler's diagnostics where
// it was the compiler that failed.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_ERROR_H
#define TILE_RUNTIME_ERROR_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tile::runtime {

/// The kind of an error. docs/jit.md has a catalogue with examples of each.
/// The values are part of the C API; new ones are added at the end.
enum class ErrorCode : int {
  InvalidArgument = 1, ///< An option or an argument of a launch is wrong.
  InvalidKernel = 2,   ///< The kernel does not parse, verify or compile.
  NotFound = 3,        ///< No such file, kernel, device or target.
  Unavailable = 4,     ///< No driver, no ptxas, or one that is too old.
  Driver = 5,          ///< A call of the CUDA driver failed.
  Fault = 6,           ///< The kernel did what it must not, on the CPU.
  Cancelled = 7,       ///< The caller asked to stop.
  Io = 8,              ///< A file could not be read or written.
  OutOfMemory = 9,     ///< Memory of the host or of a device.
};

/// "invalid-argument", "invalid-kernel", …
const char *getErrorCodeName(ErrorCode code);

/// A place in a kernel's text. Line and column count from 1; 0: not known.
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  /// `FILE:LINE:COLUMN`, as far as it is known.
  std::string str() const;
};

/// One message of the compiler.
struct Diagnostic {
  enum class Severity : int { Error = 0, Warning = 1, Remark = 2, Note = 3 };

  Severity severity = Severity::Error;
  SourceLocation location;
  std::string message;

  /// `FILE:LINE:COLUMN: error: MESSAGE`.
  std::string str() const;
};

/// What went wrong.
class Error {
public:
  Error(ErrorCode code, std::string message,
        std::vector<Diagnostic> diagnostics = {})
      : code(code), message(std::move(message)),
        diagnostics(std::move(diagnostics)) {}

  ErrorCode getCode() const { return code; }
  /// One sentence, without the diagnostics.
  const std::string &getMessage() const { return message; }
  /// What the compiler said, in its order; empty where it was not asked.
  const std::vector<Diagnostic> &getDiagnostics() const { return diagnostics; }
  /// The message, and each diagnostic on a line of its own.
  std::string str() const;

private:
  ErrorCode code;
  std::string message;
  std::vector<Diagnostic> diagnostics;
};

/// A value, or the error that stands in its place.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  /// Whether there is a value.
  explicit operator bool() const { return content.index() == 0; }

  /// The value. Requires: there is one.
  T &operator*() & { return get(); }
  const T &operator*() const & { return get(); }
  /// By value, so that it outlives a temporary in `for (… : *f())`.
  T operator*() && { return std::move(get()); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &get(); }

  /// The error. Requires: there is one.
  const Error &error() const & {
    assert(!*this && "there is a value, not an error");
    return *std::get_if<1>(&content);
  }
  Error &&error() && {
    assert(!*this && "there is a value, not an error");
    return std::move(*std::get_if<1>(&content));
  }

private:
  T &get() {
    assert(*this && "there is an error, not a value");
    return *std::get_if<0>(&content);
  }
  const T &get() const {
    assert(*this && "there is an error, not a value");
    return *std::get_if<0>(&content);
  }

  std::variant<T, Error> content;
};

/// Success, or an error.
template <>
class [[nodiscard]] Expected<void> {
public:
  Expected() = default;
  Expected(Error error) : content(std::move(error)) {}

  /// Whether there is no error.
  explicit operator bool() const { return !content; }

  /// The error. Requires: there is one.
  const Error &error() const & {
    assert(content && "success has no error");
    return *content;
  }
  Error &&error() && {
    assert(content && "success has no error");
    return std::move(*content);
  }

private:
  std::optional<Error> content;
};

/// What a function returns that has no value.
using Status = Expected<void>;

} // namespace tile::runtime

#endif // TILE_RUNTIME_ERROR_H
