//===- ResultSlices.h - A result a few columns at a time --------*- C++ -*-===//
//
// What a kernel does with a value element by element, up to its stores, can be
// done for a slice of it at a time.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_TRANSFORMS_RESULTSLICES_H
#define TILE_LIB_TRANSFORMS_RESULTSLICES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace tile {

/// The operations that use a tile, up to stores, and what else they need, if
/// all of it can be done for slices of the tile along one dimension.
class ResultUses {
public:
  /// Collects the uses of `value`, to be divided into `parts` slices (a power of
  /// two) along dimension `dim`. nullopt where something does not allow it; then
  /// `reason` says what, in one line that names the operation.
  static std::optional<ResultUses> find(mlir::Value value, unsigned dim,
                                        int64_t parts, std::string &reason);

  /// Emits the uses of slice number `index` (of type index), which is `slice`.
  void emit(mlir::OpBuilder &builder, mlir::Value slice,
            mlir::Value index) const;

  /// Erases the collected operations that nothing else uses.
  void erase();

  /// The last of the operations: slices may be emitted behind it.
  mlir::Operation *getLast() const;

private:
  mlir::Value value;
  int64_t parts = 1;
  /// The operations that depend on the value, in the order of the program.
  llvm::SmallVector<mlir::Operation *> operations;
  /// The dimension along which each tile that is concerned is divided; none for
  /// those of which every slice has all.
  llvm::DenseMap<mlir::Value, std::optional<unsigned>> dims;
};

} // namespace tile

#endif // TILE_LIB_TRANSFORMS_RESULTSLICES_H
