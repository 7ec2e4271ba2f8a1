//===- ResultSlices.h - A result a few columns at a time --------*- C++ -*-===//
//
// What a kernel does with a value element by element, up to its stores, can be
// done for a slice of it at a time.
//
// A tile program reads and writes memory in program order, and arguments may
// share memory. Slice j is used after slice j - 1 has been stored, so this is
// what keeps the order:
//
//   - Stores whose order could be seen are not mixed: they belong to different
//     rounds, and a round begins when all slices of the one before it are
//     stored. Stores of one round write the same place: the same tile of the
//     same memref, divided alike.
//   - A load is divided only where no slice of it can see a store that the
//   whole
//     would not see: it reads the very place that its round writes, as in
//     `z += x`, and no earlier round has written in between. What one argument
//     holds another one may overwrite, so any other load stays whole, in front
//     of all stores. Of a small tile, such as a vector along the columns,
//     slices are then taken from registers; a large one is a reason to refuse.
//   - What stays behind, between the first of the stores and the last, neither
//     writes memory nor reads it.
//
// An example with two rounds, since `codes` may overlap `scales`:
//
//     %scale = f(%sums)                       for j: store f(slice j)
//     tile.store %scale, %scales[%m, %n]  =>  for j: store g(slice j, f(slice
//     j)) %code = g(%sums, %scale) tile.store %code, %codes[%m, %n]
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_TRANSFORMS_RESULTSLICES_H
#define TILE_LIB_TRANSFORMS_RESULTSLICES_H

// A pass that emits slices depends on the tensor dialect.
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <optional>
#include <string>
#include <vector>

namespace tile {

/// The operations that use a tile, up to stores, and what else they need, if
/// all of it can be done for slices of the tile along one dimension.
class ResultUses {
public:
  /// Collects the uses of `value`, to be divided into `parts` slices (a power
  /// of two) along dimension `dim`. nullopt where something does not allow it;
  /// then `reason` says what, in one line that names the operation.
  static std::optional<ResultUses> find(mlir::Value value, unsigned dim,
                                        int64_t parts, std::string &reason);

  /// How often all slices must be gone through, in turn; at least once.
  unsigned getNumRounds() const { return static_cast<unsigned>(rounds.size()); }

  /// Emits the uses of slice number `index` (of type index), which is `slice`,
  /// in one of the rounds. All slices of a round come before the next round,
  /// all of them behind `getLast()`.
  void emit(mlir::OpBuilder &builder, mlir::Value slice, mlir::Value index,
            unsigned round = 0) const;

  /// Erases the collected operations that nothing else uses.
  void erase();

  /// Whether `op` is one of the operations that depend on the value.
  bool contains(mlir::Operation *op) const { return dims.contains(op); }

  /// The last of the operations: slices may be emitted behind it.
  mlir::Operation *getLast() const { return operations.back(); }

private:
  /// A tile divided along a dimension.
  using Form = std::pair<mlir::Value, unsigned>;

  /// Stores that may be mixed, and what they need.
  struct Round {
    /// Those of the operations below that the stores need, and the stores.
    llvm::SmallVector<mlir::Operation *> operations;
    /// Divided tiles that do not depend on the value, and whether their slices
    /// are taken from the whole; otherwise what defines them is done in slices.
    llvm::MapVector<Form, bool> forms;
  };

  class Finder;
  class Emitter;

  mlir::Value value;
  unsigned dim = 0;
  int64_t parts = 1;
  /// The operations that depend on the value, in the order of the program.
  llvm::SmallVector<mlir::Operation *> operations;
  /// The dimension along which the results of each, or what it stores, are
  /// divided.
  llvm::DenseMap<mlir::Operation *, unsigned> dims;
  std::vector<Round> rounds;
};

} // namespace tile

#endif // TILE_LIB_TRANSFORMS_RESULTSLICES_H
