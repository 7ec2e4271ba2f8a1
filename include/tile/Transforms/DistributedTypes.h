//===- DistributedTypes.h - Tensor types that carry layouts -----*- C++ -*-===//

#ifndef TILE_TRANSFORMS_DISTRIBUTEDTYPES_H
#define TILE_TRANSFORMS_DISTRIBUTEDTYPES_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/LinearLayout.h"

namespace tile {

/// The layout of a distributed tile. Requires: the encoding is a
/// `#tile.layout`.
LinearLayout getLayout(mlir::RankedTensorType type);

/// The same tile, distributed by `layout`.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  const LinearLayout &layout);

/// Whether each element of the results of `op` depends on the elements at its
/// own position in the operands alone.
bool isElementwise(mlir::Operation *op);

} // namespace tile

#endif // TILE_TRANSFORMS_DISTRIBUTEDTYPES_H
