//===- SliceDims.h - How operations divide tiles ----------------*- C++ -*-===//
//
// A tile that is divided into `parts` slices along a dimension has, in slice j,
// the elements whose index there has j as its upper bits. The functions follow
// these bits through operations: [128, 64] in four slices along dimension 1 is
// [64, 128] along 0 after a permutation, and [128, 4, 16] along 1 after a
// reshape.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_TRANSFORMS_SLICEDIMS_H
#define TILE_LIB_TRANSFORMS_SLICEDIMS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace tile {

/// The dimension along which a tile is divided; none where every slice has all
/// of it.
using SliceDim = std::optional<unsigned>;

/// The type of a tile; null for anything else.
mlir::RankedTensorType getTileType(mlir::Value value);

/// The type of one slice.
mlir::RankedTensorType getSliceType(mlir::RankedTensorType type, unsigned dim,
                                    int64_t parts);

/// How the results of `op`, or what it stores, are divided where one of its
/// operands is along `dim`; none where a slice of them needs more than a slice.
SliceDim getResultSliceDim(mlir::Operation *op, unsigned dim, int64_t parts);

/// How the operands of `op` are divided where its results, or what it stores,
/// are along `dim`. nullopt where a slice of it cannot be computed from slices.
std::optional<llvm::SmallVector<SliceDim>>
getOperandSliceDims(mlir::Operation *op, unsigned dim, int64_t parts);

} // namespace tile

#endif // TILE_LIB_TRANSFORMS_SLICEDIMS_H
