//===- NumWarps.h - How many warps and stages a kernel gets -----*- C++ -*-===//

#ifndef TILE_LIB_TRANSFORMS_NUMWARPS_H
#define TILE_LIB_TRANSFORMS_NUMWARPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile {

/// Most 32-bit words of one tile that a lane may hold. Beyond it the back end
/// would spill everything and take minutes.
inline constexpr uint64_t kMaxWordsPerLane = 1024;

/// Fails, with a diagnostic on `op`, unless `numWarps` is 0 or what the option
/// `num-warps` may be.
mlir::LogicalResult checkNumWarps(mlir::Operation *op, unsigned numWarps);

/// The number of warps of `kernel`: its `tile.num_warps`, else `numWarps`, else
/// (if that is 0) what suits its multiplies.
unsigned getNumWarps(mlir::func::FuncOp kernel, unsigned numWarps);

/// The same for `num-stages`.
mlir::LogicalResult checkNumStages(mlir::Operation *op, unsigned numStages);

/// The number of stages that is asked for: the kernel's `tile.num_stages`, else
/// `numStages`; 0 for any.
unsigned getNumStages(mlir::func::FuncOp kernel, unsigned numStages);

} // namespace tile

#endif // TILE_LIB_TRANSFORMS_NUMWARPS_H
