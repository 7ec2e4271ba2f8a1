//===- Program.h - One tile program while it runs ---------------*- C++ -*-===//
//
// The interpreter's own header. A *handler* computes one kind of operation: it
// reads the values of the operands from the program and sets those of the
// results. The table of handlers is also the list of operations that a kernel
// may use; the files *Ops.cpp fill it, one dialect each.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_REFERENCE_PROGRAM_H
#define TILE_LIB_REFERENCE_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "tile/Reference/Interpreter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/Twine.h"

#include <atomic>
#include <mutex>
#include <optional>

namespace tile::reference {

class Program;

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// Computes one operation, or records a fault and returns failure.
using Handler = llvm::LogicalResult (*)(Program &, mlir::Operation *);

using HandlerTable = llvm::DenseMap<mlir::TypeID, Handler>;

/// Adds the handler `compute` of the operation `OpT`.
template <typename OpT, llvm::LogicalResult (*compute)(Program &, OpT)>
void addHandler(HandlerTable &table) {
  table[mlir::TypeID::get<OpT>()] = [](Program &program, mlir::Operation *op) {
    return compute(program, llvm::cast<OpT>(op));
  };
}

void addArithHandlers(HandlerTable &table);
void addControlHandlers(HandlerTable &table);
void addMathHandlers(HandlerTable &table);
void addMemoryHandlers(HandlerTable &table);
void addMultiplyHandlers(HandlerTable &table);
void addTileHandlers(HandlerTable &table);

/// The handlers of every operation that a kernel may use.
const HandlerTable &getHandlers();

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// An array argument during a launch, and who wrote which of its elements.
class Memory {
public:
  Memory(const Buffer &buffer, std::string name);

  const Buffer &getBuffer() const { return buffer; }
  /// Whether the constructor got the memory it needs to track writers.
  bool isValid() const { return buffer.readOnly || writers; }
  /// `argument 3 (z)`.
  const std::string &getName() const { return name; }

  /// The code at `offset` elements from the first. Programs may read what
  /// another one writes; such a kernel has no defined result, but the access
  /// itself is a relaxed atomic one, so that the process stays well defined.
  uint64_t load(int64_t offset) const;
  void store(int64_t offset, uint64_t code);

  /// How many elements no program wrote; 0 for a read-only array. Call when no
  /// program runs.
  int64_t countUnwritten() const;

  /// Notes that the program with linear index `program` writes the element.
  /// Returns the other program if one has written it before.
  std::optional<uint64_t> claim(int64_t offset, uint64_t program);

  /// `[3, 5]`, the index of the element at `offset`.
  std::string getIndexOf(int64_t offset) const;

private:
  struct Free {
    void operator()(uint64_t *words) const { std::free(words); }
  };

  Buffer buffer;
  std::string name;
  /// One more than the lowest program that wrote the element, 0 for none.
  /// Null for read-only arrays. Pages that no program touches cost nothing.
  std::unique_ptr<uint64_t[], Free> writers;
};

/// The value of a memref: an array or a part of one. Every element of a view
/// is an element of the array.
struct View {
  Memory *memory = nullptr;
  int64_t offset = 0; ///< Of the element at index 0, …, 0; in elements.
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<int64_t, 4> strides;
};

/// What an SSA value holds: a tensor, or a view where its type is a memref.
struct RuntimeValue {
  Tensor tensor;
  std::shared_ptr<const View> view;
};

//===----------------------------------------------------------------------===//
// Prepared kernels and launches
//===----------------------------------------------------------------------===//

/// A function that has been checked, with what need not be computed twice.
struct PreparedKernel {
  mlir::func::FuncOp function;
  /// Of every `arith.constant`.
  llvm::DenseMap<mlir::Operation *, Tensor> constants;
  /// Of every `func.call`.
  llvm::DenseMap<mlir::Operation *, mlir::func::FuncOp> callees;
  /// Of every `memref.subview`: the dimensions that its result leaves out.
  llvm::DenseMap<mlir::Operation *, llvm::SmallBitVector> droppedDims;
};

/// What all programs of a launch share.
class LaunchState {
public:
  LaunchState(const PreparedKernel &kernel, const Grid &grid,
              const std::atomic<bool> *cancel)
      : kernel(kernel), grid(grid), cancel(cancel) {}

  const PreparedKernel &kernel;
  const Grid grid;
  std::vector<std::unique_ptr<Memory>> memories;

  /// Coordinates of a program; the first dimension counts fastest.
  std::array<int64_t, 3> getCoordinates(uint64_t program) const;
  /// `tile program (1, 0, 0)`.
  std::string describe(uint64_t program) const;

  /// Records that `program` failed.
  void recordFault(uint64_t program, mlir::Location location,
                   std::string message);
  /// Records that two programs wrote one element; the later one is to blame.
  void recordConflict(uint64_t first, uint64_t second, const Memory &memory,
                      int64_t offset, mlir::Location location);

  /// Whether `program` comes after one that failed, and so need not run.
  bool isAfterFault(uint64_t program) const {
    return program > firstFailed.load(std::memory_order_relaxed);
  }
  /// Whether no program need go on.
  bool isCancelled() const {
    return cancel && cancel->load(std::memory_order_relaxed);
  }
  /// The error of the first program that failed, or success.
  llvm::Error takeError();

private:
  /// What went wrong first. Programs run in any order, so that a fault is
  /// replaced by those that come before it.
  struct Record {
    uint64_t program = ~uint64_t(0);
    /// Orders the faults of one program: conflicts by array and element, then
    /// the one that ended it.
    std::pair<std::string, int64_t> rank;
    std::optional<mlir::Location> location;
    std::string message;
  };

  void record(Record candidate);

  const std::atomic<bool> *cancel;
  std::mutex mutex;
  Record first;
  std::atomic<uint64_t> firstFailed{~uint64_t(0)};
};

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// One tile program: the values of its SSA names.
class Program {
public:
  Program(LaunchState &launch, uint64_t index) : launch(launch), index(index) {}

  LaunchState &getLaunch() const { return launch; }
  uint64_t getLinearIndex() const { return index; }

  // Values.
  const RuntimeValue &get(mlir::Value value) const;
  const Tensor &getTensor(mlir::Value value) const { return get(value).tensor; }
  const View &getView(mlir::Value value) const { return *get(value).view; }
  /// The value of an integer or index scalar.
  int64_t getSigned(mlir::Value value) const {
    return getTensor(value).getSigned(0);
  }
  llvm::SmallVector<int64_t, 4> getSigned(mlir::ValueRange values) const;

  void set(mlir::Value value, RuntimeValue held) {
    values[value] = std::move(held);
  }
  void set(mlir::Value value, Tensor tensor) {
    values[value] = {std::move(tensor), nullptr};
  }
  void set(mlir::Value value, View view) {
    values[value] = {Tensor(), std::make_shared<const View>(std::move(view))};
  }
  /// Assigns all of `sources` to `targets` at once.
  void assign(mlir::ValueRange targets, mlir::ValueRange sources);

  /// Runs the operations of a block up to its terminator. A failure without a
  /// fault is a launch that was cancelled.
  llvm::LogicalResult run(mlir::Block &block);

  /// Records the fault `'NAME' op MESSAGE` and returns failure.
  llvm::LogicalResult fail(mlir::Operation *op, const llvm::Twine &message);

private:
  LaunchState &launch;
  uint64_t index;
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
};

/// A tensor of zeros of the type of `value`, a tile or scalar.
Tensor makeTensor(mlir::Value value);
/// What the type of `value` holds. Requires: `Element::get` knows it.
Element getElementOf(mlir::Value value);

/// The value of an `arith.constant`, or an error that says what its attribute
/// should be. Requires: kernels may use the attribute's type.
llvm::Expected<Tensor> evaluateConstant(mlir::TypedAttr attribute);

} // namespace tile::reference

#endif // TILE_LIB_REFERENCE_PROGRAM_H
