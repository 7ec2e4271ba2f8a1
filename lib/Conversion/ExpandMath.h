//===- ExpandMath.h - What ExpandMath.cpp and ExpandArith.cpp share -------===//

#ifndef TILE_LIB_CONVERSION_EXPANDMATH_H
#define TILE_LIB_CONVERSION_EXPANDMATH_H

#include "Emitter.h"

namespace tile {

/// Rewrites an operation of `arith` on scalars that the NVPTX back end gets
/// wrong or leaves undefined, and erases it; others stay. Fails, after an
/// error, where there is no lowering.
mlir::LogicalResult expandArith(mlir::Operation *op);

} // namespace tile

#endif // TILE_LIB_CONVERSION_EXPANDMATH_H
