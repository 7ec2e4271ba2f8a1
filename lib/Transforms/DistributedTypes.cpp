//===- DistributedTypes.cpp - Tensor types that carry layouts -------------===//

#include "tile/Transforms/DistributedTypes.h"

using namespace mlir;
using namespace tile;

LinearLayout tile::getLayout(RankedTensorType type) {
  return cast<LayoutAttr>(type.getEncoding()).toLinearLayout(type.getShape());
}

RankedTensorType tile::withLayout(RankedTensorType type,
                                  const LinearLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               LayoutAttr::get(type.getContext(), layout));
}

bool tile::isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<FToFOp>(op);
}
