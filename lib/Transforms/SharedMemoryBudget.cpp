//===- SharedMemoryBudget.cpp - Room for buffers --------------------------===//

#include "SharedMemoryBudget.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/IR/Tile.h"

#include <algorithm>

using namespace mlir;
using namespace tile;

/// What moves between threads in rounds takes less, but is slow.
static constexpr int64_t kRoundBytes = 16384;

int64_t tile::getBufferBudget(func::FuncOp kernel, const TargetInfo &target) {
  int64_t scratch = 0;
  kernel.walk([&](LoadTensorMemoryOp load) {
    // Fewer rows than lanes go through shared memory.
    RankedTensorType type = load.getType();
    if (load->getParentOfType<LoopLikeOpInterface>() &&
        type.getShape().end()[-2] < TensorMemoryType::kLanes)
      scratch = std::max(
          scratch, std::min(kRoundBytes, type.getNumElements() * int64_t(4)));
  });
  kernel.walk([&](Operation *op) {
    if (!isa<ConvertLayoutOp, ReduceOp, tensor::ExtractOp>(op) ||
        !op->getParentOfType<LoopLikeOpInterface>())
      return;
    auto tile = cast<RankedTensorType>(op->getOperand(0).getType());
    int64_t bits = std::max<int64_t>(8, getElementBits(tile.getElementType()));
    scratch = std::max(scratch, tile.getNumElements() * bits / 8);
  });
  return std::max<int64_t>(0, int64_t(target.maxSharedBytes) - scratch);
}
