//===- TensorDescriptors.h - Descriptors of tcgen05 -------------*- C++ -*-===//
//
// The 64-bit descriptors of matrices in shared memory and the 32-bit ones of
// multiplies (PTX ISA, section "Matrix Descriptors").
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORDESCRIPTORS_H
#define TILE_LIB_EMULATOR_TENSORDESCRIPTORS_H

#include "TensorCoreFormats.h"
#include "llvm/Support/Error.h"

namespace tile::emulator {

/// Shared memory is addressed by units of so many bytes, which swizzles move
/// whole.
constexpr unsigned kChunkBytes = 16;

/// A matrix in shared memory: where its chunks of 16 bytes are.
struct SharedMatrix {
  enum class Swizzle : uint8_t {
    None = 0,
    Bytes128Atom32 = 1,
    Bytes128 = 2,
    Bytes64 = 4,
    Bytes32 = 6,
  };

  uint32_t start = 0;
  uint32_t leading = 0; ///< "Leading dimension byte offset".
  uint32_t stride = 0;  ///< "Stride dimension byte offset".
  Swizzle swizzle = Swizzle::None;

  static llvm::Expected<SharedMatrix> decode(uint64_t descriptor);

  /// Bytes that a swizzled row of a pattern has.
  unsigned getSpan() const;
  /// Chunk `chunk` of row `row`, where a chunk lies along K.
  uint32_t getKMajor(unsigned row, unsigned chunk) const;
  /// Chunk `chunk` of column `k`, where a chunk lies along M or N.
  uint32_t getMNMajor(unsigned k, unsigned chunk) const;

private:
  uint32_t applySwizzle(uint32_t address) const;
};

/// `.kind` of a multiply.
enum class TensorKind : uint8_t { F16, F8F6F4, MXF8F6F4, MXF4, MXF4NVF4 };
llvm::StringRef getTensorKindName(TensorKind kind);
inline bool hasBlockScale(TensorKind kind) {
  return kind >= TensorKind::MXF8F6F4;
}
/// Bytes of K of one multiply, whatever the kind.
constexpr unsigned kTensorStepBytes = 32;

/// What an instruction descriptor says.
struct TensorShape {
  unsigned m = 0, n = 0, k = 0;
  TensorFormat formatA = TensorFormat::F16, formatB = TensorFormat::F16;
  bool isHalfResult = false; ///< D is f16, else f32.
  bool negateA = false, negateB = false;
  bool isMMajor = false, isNMajor = false;
  /// Scales per row and column of one multiply; 0: none.
  unsigned blocks = 0;
  bool isUE4M3 = false;
  /// The first byte of a word of scales.
  unsigned scaleA = 0, scaleB = 0;
};

/// `block` is the block size of the scales, or 0.
llvm::Expected<TensorShape> decodeTensorShape(TensorKind kind, unsigned block,
                                              uint32_t descriptor);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORDESCRIPTORS_H
