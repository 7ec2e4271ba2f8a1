//===- Handles.h - What the handles of the C API hold -----------*- C++ -*-===//

#ifndef TILE_LIB_CAPI_HANDLES_H
#define TILE_LIB_CAPI_HANDLES_H

#include "tile-c/Tile.h"
#include "tile/Runtime/Runtime.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

struct TileError {
  explicit TileError(tile::runtime::Error given)
      : error(std::move(given)), text(error.str()) {}

  tile::runtime::Error error;
  std::string text;
};

struct TileText {
  std::string text;
};

struct TileDevice {
  explicit TileDevice(tile::runtime::Device given)
      : device(std::move(given)), name(device.getName()) {}

  tile::runtime::Device device;
  std::string name;
};

struct TileStream {
  tile::runtime::Stream stream;
};

struct TileEvent {
  tile::runtime::Event event;
};

struct TileBuffer {
  tile::runtime::Buffer buffer;
};

struct TileCancelFlag {
  std::atomic<bool> value{false};
};

struct TileCompileOptions {
  tile::runtime::CompileOptions options;
};

struct TileCompiler {
  explicit TileCompiler(tile::runtime::Compiler given)
      : compiler(std::move(given)), directory(compiler.getCacheDirectory()) {}

  tile::runtime::Compiler compiler;
  std::string directory;
};

struct TileKernel {
  tile::runtime::Kernel kernel;
};

struct TileStages {
  std::vector<tile::runtime::Stage> stages;
};

struct TileQuantizedArray {
  explicit TileQuantizedArray(tile::runtime::QuantizedArray given)
      : array(std::move(given)), codes(array.getCodesRef()),
        scales(array.getScalesRef()) {}

  tile::runtime::QuantizedArray array;
  /// Callers hold the shapes of these.
  tile::runtime::TensorRef codes, scales;
};

namespace tile::capi {

/// An error for the caller.
TileError *makeError(runtime::Error error);
TileError *makeError(std::string message);
/// The error of a null pointer where a `what` is needed.
TileError *makeNullError(const char *what);
/// The error of a status, or null.
TileError *makeError(runtime::Status status);

/// The number in an enum that a C program has set. It may be none of the
/// enumerators: C allows that, and C++ does not allow to load it.
template <typename Enum>
int getNumber(const Enum &value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

/// Checks the number of an element type; null where there is such a type.
TileError *checkElementType(const TileElementType &type, const char *what);
inline runtime::ElementType getElementType(const TileElementType &type) {
  return static_cast<runtime::ElementType>(getNumber(type));
}

inline TileString getString(const std::string &text) {
  return {text.c_str(), text.size()};
}

/// Checks that the size that a caller gave a struct is one that a version of
/// the header had: all of them have the fields of the first.
template <typename Struct>
TileError *checkSize(const Struct &value, const char *what) {
  if (value.size >= sizeof(Struct))
    return nullptr;
  return makeError(std::string("expects the size of a ") + what +
                   " to be at least " + std::to_string(sizeof(Struct)) +
                   ", but got " + std::to_string(value.size));
}

/// Writes a struct for the caller, as much of it as he knows. Returns whether
/// the caller had set its size.
template <typename Struct>
bool write(Struct *out, Struct value) {
  if (!out || out->size < sizeof(Struct))
    return false;
  value.size = out->size;
  std::memcpy(static_cast<void *>(out), &value, sizeof(Struct));
  return true;
}

/// Sets a struct to its defaults, as much of it as the caller knows.
template <typename Struct>
void initialize(Struct *out, Struct defaults, size_t size) {
  if (!out || size < sizeof(size_t))
    return;
  std::memset(static_cast<void *>(out), 0, size);
  defaults.size = size;
  std::memcpy(static_cast<void *>(out), &defaults,
              std::min(size, sizeof(Struct)));
}

/// Turns a `TileTensor` into an array; null, or what is wrong with it.
TileError *readTensor(const TileTensor *tensor, runtime::TensorRef &array);
/// Describes an array; its lists stay those of `array`.
TileTensor describeTensor(const runtime::TensorRef &array);

} // namespace tile::capi

#endif // TILE_LIB_CAPI_HANDLES_H
