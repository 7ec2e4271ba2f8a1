//===- BufferVerifiers.h - What operations on slots share -------*- C++ -*-===//

#ifndef TILE_LIB_DIALECT_TILE_IR_BUFFERVERIFIERS_H
#define TILE_LIB_DIALECT_TILE_IR_BUFFERVERIFIERS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The effects of what orders other operations: it reads and writes everything.
void addOrder(llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                  mlir::MemoryEffects::Effect>> &effects);

/// Checks that `slot`, where it is known, is below `slots`; `what` names it.
llvm::LogicalResult verifySlot(mlir::Operation *op, llvm::StringRef what,
                               int64_t slots, mlir::Value slot);

/// Checks that a tile at `indices` of `source` can be copied to `buffer`.
llvm::LogicalResult verifyCopy(mlir::Operation *op, mlir::Value source,
                               mlir::ValueRange indices, BufferType buffer);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_BUFFERVERIFIERS_H
