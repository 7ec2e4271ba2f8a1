//===- Divisibility.h - What divides the numbers of a kernel ----*- C++ -*-===//
//
// Wide accesses rest on extents, strides and offsets that are known to be
// multiples of something: from static types, from the caller's promises on the
// arguments, from `tile.assume`, and from arithmetic on these.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_DIVISIBILITY_H
#define TILE_TRANSFORMS_DIVISIBILITY_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tile {

/// What is known to divide an integer or index of a kernel; 0 for zero itself.
uint64_t getDivisor(mlir::Value value);

/// Whether `unit` divides every number that `divisor` divides.
inline bool divides(uint64_t unit, uint64_t divisor) {
  return divisor % unit == 0;
}

/// What is known to divide the extents, strides and offset of a memref, in
/// elements; 0 for a number that is zero.
struct MemRefDivisors {
  llvm::SmallVector<uint64_t> sizes, strides;
  uint64_t offset = 0;

  /// Whether pieces of `unit` elements along `dim`, whose stride is 1, are
  /// aligned and lie inside or outside the memref as a whole.
  bool allowsPieces(unsigned dim, uint64_t unit) const;
};

/// The divisors of a kernel's argument, of a view with unit steps of one, or of
/// a cast of these; nullopt for another memref.
std::optional<MemRefDivisors> getMemRefDivisors(mlir::Value memref);

} // namespace tile

#endif // TILE_TRANSFORMS_DIVISIBILITY_H
