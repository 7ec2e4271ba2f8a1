//===- Buffer.h - Memory that kernels read and write ------------*- C++ -*-===//

#ifndef TILE_REFERENCE_BUFFER_H
#define TILE_REFERENCE_BUFFER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>

namespace tile::reference {

/// An array in the caller's memory. Its elements are little-endian; a pair of
/// FP4 values is one element of one byte.
///
/// Bytes of the allocation that no element covers (gaps between rows, the rest
/// of a larger array) are neither read nor written.
struct Buffer {
  uint8_t *data = nullptr; ///< The element at index 0, …, 0.
  int64_t capacity = 0;    ///< Bytes from `data` on that are ours to touch.
  unsigned elementBytes = 1;
  llvm::SmallVector<int64_t, 4> shape;   ///< In elements.
  llvm::SmallVector<int64_t, 4> strides; ///< In elements; none is negative.
  bool readOnly = false;                 ///< A store by the kernel is an error.
  std::string origin; ///< Where it comes from, for errors: a file, or empty.

  /// A row-major array without gaps.
  static Buffer getContiguous(uint8_t *data, int64_t capacity,
                              unsigned elementBytes,
                              llvm::ArrayRef<int64_t> shape,
                              bool readOnly = false);
};

} // namespace tile::reference

#endif // TILE_REFERENCE_BUFFER_H
