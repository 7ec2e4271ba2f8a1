//===- Interpreter.h - The reference device ---------------------*- C++ -*-===//
//
// Runs kernels of the tile dialect on the CPU, straight from their definition:
// the executable form of docs/spec.md. It shares no code with any lowering, so
// that the two can be compared.
//
//     auto kernel = Kernel::prepare(func);          // every op is known
//     Buffer z = Buffer::getContiguous(…), x = …;
//     kernel->launch({{4, 8, 1}}, {z, x, Scalar{alpha}});
//
// Loops of a kernel may run for ever (`scf.while`); the interpreter sets no
// limit of its own, but a launch can be cancelled.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_REFERENCE_INTERPRETER_H
#define TILE_REFERENCE_INTERPRETER_H

#include "mlir/IR/Location.h"
#include "tile/Reference/Buffer.h"
#include "tile/Reference/Tensor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace tile::reference {

/// Number of tile programs in each dimension. A launch accepts 1 to 2^31 - 1 by
/// 65535 by 65535, as a GPU does.
struct Grid {
  std::array<int64_t, 3> extents = {1, 1, 1};
};

/// How a launch runs.
struct LaunchOptions {
  /// Threads of this machine; 0: one per CPU. Results do not depend on it.
  unsigned threads = 0;
  /// Set by another thread to end the launch with an error, also in the middle
  /// of a program that loops for ever.
  const std::atomic<bool> *cancel = nullptr;
  /// Called now and then with the programs done so far, from any thread, one
  /// call at a time.
  std::function<void(uint64_t done, uint64_t total)> progress;
  /// Receives, for each argument, how many elements of the array no program
  /// wrote: 0 for a scalar and for a read-only array. May be null.
  llvm::SmallVectorImpl<int64_t> *unwritten = nullptr;
};

/// The code of a scalar argument, in the low bits.
struct Scalar {
  uint64_t code = 0;
};

/// One argument of a kernel: an array for a memref, a code for a scalar.
using Argument = std::variant<Buffer, Scalar>;

/// A mistake of the kernel, at one of its operations: an operation that the
/// reference does not know, an assumption that does not hold, a division by
/// zero, two programs that write the same element, …
class Fault : public llvm::ErrorInfo<Fault> {
public:
  static char ID;

  Fault(mlir::Location location, std::string message)
      : location(location), message(std::move(message)) {}

  mlir::Location getLocation() const { return location; }
  const std::string &getMessage() const { return message; }

  /// Prints `FILE:LINE:COLUMN: error: MESSAGE`.
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  mlir::Location location;
  std::string message;
};

struct PreparedKernel;

/// A kernel that is ready to run. Refers to the function, which must stay as it
/// is while this object lives.
class Kernel {
public:
  /// Checks that every operation and type of `function`, and of the functions
  /// that it calls, is one that a kernel may use. Nothing runs. An error is a
  /// `Fault` at the first operation that is not.
  /// Requires: the function is verified.
  static llvm::Expected<Kernel> prepare(mlir::func::FuncOp function);

  Kernel(Kernel &&);
  Kernel &operator=(Kernel &&);
  ~Kernel();

  /// Checks arguments against the kernel's signature: their number, element
  /// sizes, ranks, static extents and strides, the divisibility that
  /// `tile.shape_divisible_by` and `tile.stride_divisible_by` promise, that
  /// extents agree as `tile.extents` says, 16-byte alignment, and that each
  /// array lies inside its allocation. The error names
  /// the argument, what was expected and what was found.
  llvm::Error checkArguments(llvm::ArrayRef<Argument> arguments) const;

  /// Runs every tile program of `grid`. Checks the arguments first.
  ///
  /// An error while it runs is a `Fault`, the same one whatever the number of
  /// threads: that of the first program, in the order of the grid, that fails.
  /// Arrays may be half written then. Two programs that write one element are
  /// an error even where the values agree. Arrays must not overlap.
  ///
  /// Several threads may launch one kernel at a time.
  llvm::Error launch(const Grid &grid, llvm::ArrayRef<Argument> arguments,
                     const LaunchOptions &options = {}) const;

  /// Calls the function as the only program of a grid and returns its results.
  /// Requires: operands and results are scalars and tiles, and `operands` have
  /// the types of the function's arguments.
  llvm::Expected<std::vector<Tensor>>
  evaluate(llvm::ArrayRef<Tensor> operands) const;

private:
  explicit Kernel(std::unique_ptr<PreparedKernel> prepared);

  std::unique_ptr<PreparedKernel> prepared;
};

/// How errors call argument `index` of `function`: `argument 3 (z)`, with the
/// name where the argument's location is a `NameLoc`.
std::string getArgumentName(mlir::func::FuncOp function, unsigned index);

} // namespace tile::reference

#endif // TILE_REFERENCE_INTERPRETER_H
