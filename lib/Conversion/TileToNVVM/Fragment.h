//===- Fragment.h - What one thread holds of a tile -------------*- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_TILETONVVM_FRAGMENT_H
#define TILE_LIB_CONVERSION_TILETONVVM_FRAGMENT_H

#include "../Emitter.h"
#include "tile/Layout/LinearLayout.h"

namespace tile {

/// The elements of a distributed tile in one thread, in the order of the
/// layout's `register` axis.
///
/// Elements of 4, 8 and 16 bits share i32 words, lowest register in the lowest
/// bits; where a thread has less than a word, the upper bits are undefined.
/// Wider elements, and i1, are one value each, of their own scalar type.
///
/// FP4 on its way to an instruction that takes it in bytes may have containers:
/// then each value, or each half of a pair, has the low bits of a byte of its
/// own, whose other bits are zero, and there are twice as many words.
struct Fragment {
  mlir::Type elementType;
  LinearLayout layout;
  llvm::SmallVector<mlir::Value> values;
  bool hasContainers = false;

  unsigned numRegisters() const {
    return 1u << layout.getDomain().bitsOf("register");
  }
  bool isPacked() const { return isPacked(elementType); }
  /// Elements per value: 8, 4 or 2 for a packed type, else 1.
  unsigned perValue() const { return perValue(elementType); }

  static bool isPacked(mlir::Type elementType);
  static unsigned perValue(mlir::Type elementType);
  /// The number of values of a thread that holds `registers` elements.
  static unsigned numValues(mlir::Type elementType, unsigned registers);
  /// The type of each value.
  static mlir::Type valueType(mlir::Type elementType);

  /// The bits of the element in register `r`, as an i32 with upper bits zero.
  /// Requires: packed.
  mlir::Value getBits(Emitter &emit, unsigned r) const;
  /// The element in register `r` as a scalar: its own type, or the iN with its
  /// bits for formats narrower than 16 bits.
  mlir::Value getScalar(Emitter &emit, unsigned r) const;

  /// Builds a fragment from the bits of each element (i32, upper bits zero).
  static Fragment fromBits(Emitter &emit, mlir::Type elementType,
                           const LinearLayout &layout,
                           llvm::ArrayRef<mlir::Value> bits);
  /// Builds a fragment from scalars as `getScalar` gives them.
  static Fragment fromScalars(Emitter &emit, mlir::Type elementType,
                              const LinearLayout &layout,
                              llvm::ArrayRef<mlir::Value> scalars);
};

/// The scalar type in which an element takes part in arithmetic: its own, or
/// the iN of its bits for formats narrower than 16 bits.
mlir::Type getScalarType(mlir::Type elementType);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVVM_FRAGMENT_H
