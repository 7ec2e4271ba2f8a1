//===- SharedMemoryBudget.h - Room for buffers ------------------*- C++ -*-===//

#ifndef TILE_LIB_TRANSFORMS_SHAREDMEMORYBUDGET_H
#define TILE_LIB_TRANSFORMS_SHAREDMEMORYBUDGET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tile/Target/TargetInfo.h"

namespace tile {

/// Bytes of shared memory that `kernel` may give to buffers: what the target
/// has less what the operations in loops may need to move elements between
/// lanes. What stands outside loops shares its memory with the buffers.
int64_t getBufferBudget(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace tile

#endif // TILE_LIB_TRANSFORMS_SHAREDMEMORYBUDGET_H
