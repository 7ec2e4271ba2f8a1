//===- NumWarps.cpp - How many warps and stages a kernel gets -------------===//

#include "NumWarps.h"

#include "mlir/IR/BuiltinTypes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Transforms/MmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

LogicalResult tile::checkNumWarps(Operation *op, unsigned numWarps) {
  if (numWarps && (!llvm::isPowerOf2_32(numWarps) || numWarps > 32))
    return op->emitError()
           << "expects num-warps to be a power of two from 1 to 32, but got "
           << numWarps;
  return success();
}

/// The number of warps for a kernel that leaves it open.
static unsigned chooseForKernel(func::FuncOp kernel) {
  unsigned warps = 0;
  int64_t largest = 1;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
        largest = std::max(largest, type.getNumElements());
        if (isa<MmaFOp, MmaFScaledOp>(op))
          warps = std::max(
              warps, chooseNumWarps(
                         type.getRank() == 3 ? type.getDimSize(0) : 1,
                         type.getShape().end()[-2], type.getShape().back()));
      }
  });
  // Without a multiply: at least four elements per lane, at most 16 warps.
  if (!warps)
    warps = std::clamp<int64_t>(llvm::PowerOf2Ceil(largest / (32 * 8)), 1, 16);
  // All that a block may have, where the largest tile would not fit otherwise.
  bool fits = uint64_t(largest) / (32 * warps) <= kMaxWordsPerLane;
  return fits ? warps : 32;
}

unsigned tile::getNumWarps(func::FuncOp kernel, unsigned numWarps) {
  if (auto attr = kernel->getAttrOfType<IntegerAttr>("tile.num_warps"))
    return static_cast<unsigned>(attr.getInt());
  return numWarps ? numWarps : chooseForKernel(kernel);
}

LogicalResult tile::checkNumStages(Operation *op, unsigned numStages) {
  if (numStages > kMaxStages)
    return op->emitError() << "expects num-stages to be at most " << kMaxStages
                           << ", but got " << numStages;
  return success();
}

unsigned tile::getNumStages(func::FuncOp kernel, unsigned numStages) {
  if (auto attr = kernel->getAttrOfType<IntegerAttr>("tile.num_stages"))
    return static_cast<unsigned>(attr.getInt());
  return numStages;
}
