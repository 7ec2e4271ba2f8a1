//===- ScaleLayout.h - The order of scale bytes -----------------*- C++ -*-===//
//
// A matrix of R rows (M or N) and K columns has R x C block scales, C = ceil(K
// / V). This file says where the scale of row r and column c is in memory.
// Nothing in a buffer tells its layout: it is always named.
//
// Golden offsets of the 128x4 order: (1,0) 16, (32,0) 4, (127,3) 511; with C =
// 8 also (5,2) 82, (0,4) 512, (128,0) 1024.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_FORMATS_SCALELAYOUT_H
#define TILE_FORMATS_SCALELAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tile {

/// An order of scale bytes, one byte per scale.
enum class ScaleLayout : uint8_t {
  /// Row-major R x C.
  Linear,
  /// Blocks of 128 rows by 4 columns, 512 bytes each, row-major among
  /// themselves; within a block, row r and column c are at
  /// `r % 32 * 16 + r / 32 * 4 + c`. The order of `tcgen05` scale operands,
  /// cuBLAS
  /// and cuDNN ("F8_128x4"), CUTLASS and torch ("SWIZZLE_32_4_4").
  Swizzled128x4,
  /// Blocks of 8 rows by 4 columns, 32 bytes each, row-major among themselves
  /// and
  /// within. TensorRT-LLM's order for few rows.
  Swizzled8x4,
};

/// "linear", "swizzled_128x4" or "swizzled_8x4".
llvm::StringRef getScaleLayoutName(ScaleLayout layout);
/// The layout of that name, or nullopt.
std::optional<ScaleLayout> findScaleLayout(llvm::StringRef name);

/// The bytes that `rows` x `columns` scales occupy, padding of ragged blocks
/// included. An error where an extent is negative or the result does not fit in
/// 63 bits.
llvm::Expected<int64_t> getScaleAllocation(ScaleLayout layout, int64_t rows,
                                           int64_t columns);

/// The offset in bytes of the scale of (`row`, `column`) in an array with
/// `columns` columns of scales. It does not depend on the number of rows.
/// Requires: `row >= 0`, `0 <= column < columns`.
int64_t getScaleOffset(ScaleLayout layout, int64_t columns, int64_t row,
                       int64_t column);

/// Moves `rows` x `columns` scales from one layout to another. Padding of the
/// source is not looked at; padding of the result is 0x00. An error where
/// `bytes` does not have the size of `from`.
llvm::Expected<std::vector<uint8_t>>
convertScaleLayout(llvm::ArrayRef<uint8_t> bytes, int64_t rows, int64_t columns,
                   ScaleLayout from, ScaleLayout to);

} // namespace tile

#endif // TILE_FORMATS_SCALELAYOUT_H
