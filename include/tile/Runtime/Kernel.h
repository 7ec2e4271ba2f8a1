//===- Kernel.h - A compiled kernel, and its launch -------------*- C++ -*-===//
//
//     Status done = kernel.launch(device, {4, 8}, z, x, y, 0.5f);
//     auto later = kernel.launchAsync(stream, {4, 8}, z, x, y, 0.5f);
//
// Arguments are checked before anything runs, the same way for every device:
// their number, types, ranks, extents, strides, alignment, promises and place.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_KERNEL_H
#define TILE_RUNTIME_KERNEL_H

#include "tile/Runtime/Array.h"
#include "tile/Runtime/Device.h"
#include "tile/Runtime/Error.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace tile::runtime {

class KernelImpl;

/// An extent or stride that is known only at the launch.
constexpr int64_t kDynamic = INT64_MIN;

/// One argument of a kernel.
struct Parameter {
  std::string name;     ///< As in the kernel's text, or "argument2".
  std::string mlirType; ///< "memref<?x?xf32, strided<[?, 1]>>", "f32", …
  bool isArray = false;
  ElementType type = ElementType::F32;

  // What follows is of arrays.
  std::vector<int64_t> shape;          ///< Extents, or kDynamic.
  std::vector<int64_t> strides;        ///< In elements, or kDynamic.
  std::vector<int64_t> shapeDivisors;  ///< Promised; 1 for no promise.
  std::vector<int64_t> strideDivisors; ///< Promised; 1 for no promise.
  /// What `tile.extents` says of each extent: "M", "K/16", …, or empty.
  std::vector<std::string> extents;
  bool isRead = false;    ///< Whether the kernel may read it.
  bool isWritten = false; ///< Whether the kernel may write it.
};

/// Something the compiler found worth saying. docs/performance.md says what
/// each name means.
struct Remark {
  enum class Kind : int { Passed = 0, Missed = 1, Failed = 2, Analysis = 3 };
  struct Field {
    std::string key, value;
  };

  Kind kind = Kind::Analysis;
  std::string name;     ///< "scaled-mma", "stage-load", "cache", …
  std::string category; ///< The pass.
  std::string function;
  SourceLocation location;
  std::vector<Field> fields; ///< "Reason", "path", "target", …

  /// The value of a field, or empty.
  std::string get(const std::string &key) const;
  /// `FILE:LINE:COLUMN: remark: [Passed] NAME | KEY=VALUE, …`.
  std::string str() const;
};

/// How one multiply of a kernel is computed.
struct Multiply {
  bool isNative = false; ///< Block scales go to the tensor core.
  std::string atom;      ///< The instruction: "m16n8k64.mxf4nvf4.4x.…".
  std::string reason;
  SourceLocation location;
};

/// A tensor map that the PTX takes as a further parameter: 128 bytes, aligned
/// to 64, behind those of the arguments. A launch makes them; who launches the
/// PTX on their own encodes them, see docs/spec.md.
struct TensorMap {
  unsigned parameter = 0; ///< Of the PTX entry.
  unsigned argument = 0;  ///< An array, among the kernel's parameters.
  /// Dimensions of the array as the map has them, outermost first.
  std::vector<unsigned> dims;
  std::vector<unsigned> box; ///< Elements of `type` along each of `dims`.
  unsigned swizzle = 0;      ///< 0, 32, 64 or 128 bytes.
  std::string type;          ///< "u8", "u16", "b4x16" or "b4x16_p64".
  std::string fill;          ///< "zero".
};

/// What a block takes of a multiprocessor, as ptxas reports it.
struct Resources {
  unsigned registers = 0;       ///< Per thread.
  unsigned spillStoreBytes = 0; ///< Per thread.
  unsigned spillLoadBytes = 0;  ///< Per thread.
  unsigned stackBytes = 0;      ///< Per thread.
  unsigned staticSharedBytes = 0;
  unsigned dynamicSharedBytes = 0;
  unsigned threads = 0; ///< Of a block.
};

/// A kernel at one step of its lowering.
struct Stage {
  std::string name; ///< "source", "layouts", "nvvm", "llvm", "ptx".
  std::string text;
};

/// The number of tile programs along each dimension: from 1 to 2^31 - 1, 65535
/// and 65535.
struct Grid {
  Grid(int64_t x = 1, int64_t y = 1, int64_t z = 1) : x(x), y(y), z(z) {}
  int64_t x, y, z;
};

/// One argument of a launch: an array or a number. An integer is an argument
/// for any integer type that holds it and, where the kernel takes a float, for
/// that; a float is rounded to the kernel's type.
class Argument {
public:
  Argument(const TensorRef &array) : value(array) {}
  /// `memory` is let go, on any thread, when the launch is complete.
  Argument(const TensorRef &array, std::shared_ptr<void> memory)
      : value(array), memory(std::move(memory)) {}
  Argument(const Buffer &buffer)
      : value(buffer.getRef()), memory(buffer.memory) {}
  Argument(bool number) : value(static_cast<int64_t>(number)) {}
  Argument(float number) : value(static_cast<double>(number)) {}
  Argument(double number) : value(number) {}
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T> &&
                                                    !std::is_same_v<T, bool>>>
  Argument(T number)
      : value(static_cast<int64_t>(number)),
        isLarge(std::is_unsigned_v<T> &&
                static_cast<uint64_t>(number) > uint64_t(INT64_MAX)) {}

  const TensorRef *getArray() const { return std::get_if<TensorRef>(&value); }
  const int64_t *getInteger() const { return std::get_if<int64_t>(&value); }
  const double *getFloat() const { return std::get_if<double>(&value); }
  /// Whether the integer is one above 2^63 - 1, held as its two's complement.
  bool isLargeInteger() const { return isLarge; }
  /// Keeps the memory of a buffer, or of the caller's, alive.
  const std::shared_ptr<void> &getMemory() const { return memory; }

private:
  std::variant<TensorRef, int64_t, double> value;
  std::shared_ptr<void> memory;
  bool isLarge = false;
};

/// How a launch is made.
struct LaunchOptions {
  /// A GPU: copies arrays in host memory to the device, and those that the
  /// kernel writes back, before the launch returns; without it they are an
  /// error. An asynchronous launch takes no such arrays.
  bool copyHostArrays = false;
  /// The CPU devices: threads; 0: one per CPU.
  unsigned hostThreads = 0;
  /// The emulator: "exact" or "hardware", see docs/emulator.md.
  std::string accumulate = "exact";
  /// The emulator: runs warps in a random order from this seed, to find races.
  /// 0: in order.
  uint64_t scheduleSeed = 0;
  /// The CPU devices: set by another thread to end the launch with the error
  /// Cancelled. What arrays hold after that is not specified.
  const std::atomic<bool> *cancel = nullptr;
  /// The CPU devices: called now and then with the number of programs done,
  /// from any thread, one call at a time.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

/// A kernel of a module, compiled for a target. A handle: copies share the
/// kernel, and threads may use it at once.
class Kernel {
public:
  /// The name of its function.
  const std::string &getEntry() const;
  const std::string &getTarget() const;
  /// Its arguments, without those that were bound at compile time.
  const std::vector<Parameter> &getParameters() const;

  /// The PTX that runs where no argument allows more than is promised.
  const std::string &getPtx() const;
  /// Threads of a block, along x, and bytes of dynamic shared memory: with the
  /// PTX and docs/spec.md, all that a launch of one's own needs.
  unsigned getBlockThreads() const;
  unsigned getSharedBytes() const;
  /// The tensor maps that the PTX takes: see `CompileOptions::tma`.
  const std::vector<TensorMap> &getTensorMaps() const;
  /// That PTX, assembled. Needs ptxas; the first call runs it.
  Expected<std::string> getCubin() const;
  /// What ptxas says of it. Needs ptxas; the first call runs it.
  Expected<Resources> getResources() const;
  const std::vector<Remark> &getRemarks() const;
  /// Every multiply, in the order of the kernel.
  const std::vector<Multiply> &getMultiplies() const;
  /// The kernel after each step of its lowering. Compiles it anew.
  Expected<std::vector<Stage>> getStages() const;

  /// The number of variants compiled so far, this one included: see
  /// `CompileOptions::specialize`.
  unsigned getNumVariants() const;
  /// The PTX that a launch with these arguments on a device of this target
  /// runs. Compiles it where no launch has.
  Expected<std::string> getPtxFor(const std::vector<Argument> &arguments) const;

  /// Launches the kernel and waits for it. On a GPU it goes to the default
  /// stream.
  template <typename... Arguments>
  Status launch(const Device &device, Grid grid,
                const Arguments &...arguments) const {
    return launchList(device, grid, {Argument(arguments)...});
  }
  Status launchList(const Device &device, Grid grid,
                    const std::vector<Argument> &arguments,
                    const LaunchOptions &options = {}) const;

  /// Gives a launch to a stream and returns. Arguments are checked before that;
  /// an error of the run itself is that of the event. Memory that is not a
  /// `Buffer`'s must live until then.
  template <typename... Arguments>
  Expected<Event> launchAsync(const Stream &stream, Grid grid,
                              const Arguments &...arguments) const {
    return launchAsyncList(stream, grid, {Argument(arguments)...});
  }
  Expected<Event> launchAsyncList(const Stream &stream, Grid grid,
                                  const std::vector<Argument> &arguments,
                                  const LaunchOptions &options = {}) const;

  explicit Kernel(std::shared_ptr<KernelImpl> impl) : impl(std::move(impl)) {}
  const std::shared_ptr<KernelImpl> &getImpl() const { return impl; }

private:
  std::shared_ptr<KernelImpl> impl;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_KERNEL_H
