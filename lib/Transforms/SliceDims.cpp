//===- SliceDims.cpp - How operations divide tiles ------------------------===//

#include "SliceDims.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

RankedTensorType tile::getTileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

RankedTensorType tile::getSliceType(RankedTensorType type, unsigned dim,
                                    int64_t parts) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  return type.clone(shape);
}

static bool isElementwise(Operation *op) {
  return isa<FToFOp>(op) || (op->hasTrait<OpTrait::Elementwise>() &&
                             isPure(op) && op->getNumRegions() == 0);
}

/// Where the upper bits of dimension `dim` are after a reshape, if they are the
/// upper bits of one dimension there.
static SliceDim getReshapedDim(ArrayRef<int64_t> from, unsigned dim,
                               ArrayRef<int64_t> to, int64_t parts) {
  const int64_t outer = ShapedType::getNumElements(from.take_front(dim));
  int64_t product = 1;
  for (auto [i, extent] : llvm::enumerate(to)) {
    // Extents of 1 in between divide nothing.
    if (product == outer && extent > 1)
      return extent >= parts ? SliceDim(i) : std::nullopt;
    product *= extent;
  }
  return std::nullopt;
}

SliceDim tile::getResultSliceDim(Operation *op, unsigned dim, int64_t parts) {
  if (isElementwise(op) || isa<BroadcastOp, StoreOp, ScatterOp>(op))
    return dim;
  if (auto permute = dyn_cast<PermuteOp>(op))
    return llvm::find(permute.getPermutation(), dim) -
           permute.getPermutation().begin();
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return getReshapedDim(getTileType(reshape.getSource()).getShape(), dim,
                          reshape.getType().getShape(), parts);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    const auto reduced = static_cast<unsigned>(reduce.getDim());
    return dim == reduced ? std::nullopt : SliceDim(dim - (dim > reduced));
  }
  if (isa<UnpackOp, PackOp>(op) &&
      getTileType(op->getResult(0)).getDimSize(dim) >= parts)
    return dim;
  return std::nullopt;
}

std::optional<SmallVector<SliceDim>>
tile::getOperandSliceDims(Operation *op, unsigned dim, int64_t parts) {
  SmallVector<SliceDim> dims(op->getNumOperands());
  if (isElementwise(op)) {
    for (auto [operand, operandDim] : llvm::zip(op->getOperands(), dims))
      if (getTileType(operand))
        operandDim = dim;
    return dims;
  }
  if (isa<BroadcastOp, ScatterOp>(op)) {
    // What has extent 1 is the same for all.
    for (auto [operand, operandDim] : llvm::zip(op->getOperands(), dims))
      if (RankedTensorType type = getTileType(operand);
          type && type.getDimSize(dim) > 1)
        operandDim = dim;
    return dims;
  }
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    dims[0] = static_cast<unsigned>(permute.getPermutation()[dim]);
    return dims;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    dims[0] =
        getReshapedDim(reshape.getType().getShape(), dim,
                       getTileType(reshape.getSource()).getShape(), parts);
    return dims[0] ? std::optional(dims) : std::nullopt;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    dims[0] = dim + (dim >= static_cast<unsigned>(reduce.getDim()));
    return dims;
  }
  if (isa<UnpackOp, PackOp>(op)) {
    dims[0] = dim;
    return getTileType(op->getOperand(0)).getDimSize(dim) >= parts
               ? std::optional(dims)
               : std::nullopt;
  }
  if (isa<StoreOp>(op)) {
    dims[0] = dim;
    return dims;
  }
  if (isa<LoadOp, LoadTensorMemoryOp, IotaOp, tensor::SplatOp>(op))
    return dims;
  if (DenseElementsAttr elements;
      matchPattern(op, m_Constant(&elements)) && elements.isSplat())
    return dims;
  return std::nullopt;
}
