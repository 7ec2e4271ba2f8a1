//===- ScaleLayouts.h - Orders of scale bytes in memory ---------*- C++ -*-===//
//
// Block scales reach a kernel in one of three orders, one byte per scale. With
// `r` the row (M or N) and `c` the column (K / V) of a scale:
//
//     linear   row-major
//     128x4    512-byte blocks of 128 rows and 4 columns; inside a block
//              r % 32 * 16 + r / 32 * 4 + c
//     8x4      32-byte blocks of 8 rows and 4 columns, row-major inside
//
// Blocks follow one another along the columns first. In a 128x4 block the
// sixteen bytes at 16 * i hold rows i, i + 32, i + 64, i + 96: what one copy to
// tensor memory hands to lane i of the four warps.
//
// Each order is a linear layout from the byte offset to the scale, so that a
// load of scales needs no code of its own: the layout says which bytes a lane
// can take at once, and reading a 128x4 array as its shape 32x4x4, permuted and
// reshaped, gives the same layout (docs/layouts.md).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_SCALELAYOUTS_H
#define TILE_LAYOUT_SCALELAYOUTS_H

#include "tile/Layout/LinearLayout.h"

namespace tile {

/// The order of scale bytes in memory.
enum class ScaleOrder : uint8_t { Linear, Blocked128x4, Blocked8x4 };

/// Returns the shape {rows, columns} of one block: {128, 4}, {8, 4}, and {1, 1}
/// for the linear order, which has none.
std::pair<int64_t, int64_t> getScaleBlockShape(ScaleOrder order);

/// Returns the map `{offset}` -> `{d1: column, d0: row}` of one block; the
/// linear order has a block of one byte.
LinearLayout getScaleBlock(ScaleOrder order);

/// Returns the map `{offset}` -> `{d1: column, d0: row}` of a whole array of
/// `rows` by `columns` scales, whole blocks of it.
/// Requires powers of two that are multiples of the block shape.
LinearLayout getScaleArray(ScaleOrder order, int64_t rows, int64_t columns);

} // namespace tile

#endif // TILE_LAYOUT_SCALELAYOUTS_H
