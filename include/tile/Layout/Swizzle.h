//===- Swizzle.h - Choosing a shared-memory swizzle -------------*- C++ -*-===//
//
// A tile that changes its layout through shared memory is written by one map
// from lanes to byte offsets and read by another. Both cannot be made straight
// rows at once, but a bank conflict is a rank (see `countBankConflicts`), and
// the rank can be raised on both sides by adding high bits of the offset to the
// bits that select the bank.
//
// Example: a 32x32 tile of f32 is written by rows and read by columns.
//
//     write  lane -> 4, 8, 16, 32, 64             32 banks: no conflict
//     read   lane -> 128, 256, 512, 1024, 2048    one bank: 32-way
//
// Adding offset bits 7..11 to bits 2..6 leaves the write alone, whose offsets
// have none of these bits, and turns the read into 132, 264, 528, 1056, 2112:
// one bank per lane. No padding is needed and the address is one xor more.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_SWIZZLE_H
#define TILE_LAYOUT_SWIZZLE_H

#include "tile/Layout/LinearLayout.h"

namespace tile {

/// Returns the map of a space of byte offsets to itself that xors the bits
/// `[source, source + count)` of the offset into `[target, target + count)`.
/// Requires `target + count <= source` and a single axis with more than
/// `source + count - 1` bits. The map is its own inverse.
///
/// The swizzles of TMA and of the shared-memory descriptors are
/// `(target, source, count)` = (4, 7, 1) for 32 bytes, (4, 7, 2) for 64 and
/// (4, 7, 3) for 128.
LinearLayout getXorSwizzle(const Space &offsets, unsigned target,
                           unsigned source, unsigned count);

/// Returns a swizzle of byte offsets that makes the sum of the bank conflicts
/// of a write and of a read small.
///
/// `writeLaneToOffset` and `readLaneToOffset` map `{lane: 5}` to the same space
/// of one axis; each lane accesses `writeBytes` or `readBytes` (see
/// `countBankConflicts`). The result maps that space to itself: apply it to
/// every offset on both sides, `offset.then(swizzle)`.
///
/// The result is one-to-one, xors only bits 7 and above into bank bits (below
/// 7), and leaves the bits inside the wider access alone, so vectors stay whole
/// and in order. Candidates, of which the first of the best is taken:
///   1. the identity;
///   2. `getXorSwizzle` for every window of bank bits and every source above
///      them, coarse windows first, so that 16-byte rows stay whole (as
///      `ldmatrix` needs) where that costs nothing;
///   3. the best of these with single bits added, one at a time, while that
///      lowers the sum.
LinearLayout chooseSwizzle(const LinearLayout &writeLaneToOffset,
                           const LinearLayout &readLaneToOffset,
                           unsigned writeBytes, unsigned readBytes);

} // namespace tile

#endif // TILE_LAYOUT_SWIZZLE_H
