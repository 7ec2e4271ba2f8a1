//===- TileLayouts.h - Layouts of tiles over a block ------------*- C++ -*-===//
//
// Builds and transforms distributed layouts: maps from `{register, lane, warp}`
// to a tile (`Space::ofTile`). `register` counts elements that one thread
// holds; elements narrower than 32 bits share 32-bit words, lowest register
// first. Layout assignment and distribution both use these, so that what one
// decides the other finds.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_TILELAYOUTS_H
#define TILE_TRANSFORMS_TILELAYOUTS_H

#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace tile {

/// Number of bits of a lane's index in its warp.
constexpr unsigned kLaneBits = 5;

/// Returns the layout with the given columns (packed points of the tile).
LinearLayout makeDistributedLayout(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<uint32_t> registers,
                                   llvm::ArrayRef<uint32_t> lanes,
                                   llvm::ArrayRef<uint32_t> warps);

/// Coalesced rows: up to `mostBytes` of consecutive elements per lane, then
/// lanes, then warps, then registers, all in row-major order. A tile smaller
/// than the block is replicated. No warp bit moves along dimension
/// `keepInWarp`, if one is given.
LinearLayout getBlockedLayout(llvm::ArrayRef<int64_t> shape,
                              unsigned elementBits, unsigned numWarps,
                              std::optional<unsigned> keepInWarp = std::nullopt,
                              unsigned mostBytes = 16);

/// How a block of at least four warps reads a tile of f32 from tensor memory:
/// a lane has a row, registers the columns, a warp 32 of 128 rows, and further
/// warps divide columns. A tile of fewer than 128 rows is replicated, but lanes
/// and warps without a row of their own read something else.
LinearLayout getTensorMemoryLayout(llvm::ArrayRef<int64_t> shape,
                                   unsigned numWarps);

/// The layout of `tile.unpack`'s result, from `sourceBits` to `resultBits` per
/// element, or nullopt if the bytes of one result element are not in
/// consecutive registers of one lane.
std::optional<LinearLayout> unpackLayout(const LinearLayout &source,
                                         unsigned sourceBits,
                                         unsigned resultBits);

/// The layout of an operation's source for a result of `layout`, and the
/// reverse; `tile.pack` is `tile.unpack` with the types exchanged.
inline std::optional<LinearLayout> packLayout(const LinearLayout &source,
                                              unsigned sourceBits,
                                              unsigned resultBits) {
  return unpackLayout(source, sourceBits, resultBits);
}

/// The layout of the source of `tile.permute` whose result has `result`.
LinearLayout inversePermuteLayout(const LinearLayout &result,
                                  llvm::ArrayRef<int64_t> permutation);
/// The layout of the result of `tile.permute`.
LinearLayout permuteLayout(const LinearLayout &source,
                           llvm::ArrayRef<int64_t> permutation);

/// The same points of a row-major reshape to `shape`.
LinearLayout reshapeLayout(const LinearLayout &source,
                           llvm::ArrayRef<int64_t> shape);

/// The layout of a tile of `shape` (each extent that of the result or 1) whose
/// element at a point is the one that belongs to the result's element at that
/// point: coordinates of extent-1 dimensions vanish. Registers stay aligned
/// with those of `result`.
LinearLayout projectLayout(const LinearLayout &result,
                           llvm::ArrayRef<int64_t> shape);

/// The layout of the result of `tile.reduce` along `dim`: the dimension goes,
/// and so do registers that then hold copies.
LinearLayout reduceLayout(const LinearLayout &source, unsigned dim);

/// Whether every column of `layout` moves along one dimension only, and no warp
/// bit moves along `dim`: what a reduction in one warp needs.
bool canReduceInWarp(const LinearLayout &layout, unsigned dim);

/// Elements side by side in dimension `dim` that the low registers of a lane
/// hold, in order; a power of two.
unsigned getRun(const LinearLayout &layout, unsigned dim);

/// Returns `layout` without register bits whose column is zero.
LinearLayout dropZeroRegisters(const LinearLayout &layout);

/// The shape of the tile that `layout` maps to.
llvm::SmallVector<int64_t> getTileShape(const LinearLayout &layout);

} // namespace tile

#endif // TILE_TRANSFORMS_TILELAYOUTS_H
