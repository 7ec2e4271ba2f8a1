//===- FormatConversion.h - Codes to values and back, in registers -*- C++
//-*-===//
//
// The instruction sequences that decode FP4, FP8 and E8M0 codes and encode f32,
// bit for bit what `tile::decode` and `tile::encode` (tile/Formats) do on the
// host. They use integer and f32 operations of every target.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_CONVERSION_TILETONVVM_FORMATCONVERSION_H
#define TILE_LIB_CONVERSION_TILETONVVM_FORMATCONVERSION_H

#include "../Emitter.h"
#include "tile/Formats/ElementFormat.h"
#include "tile/Transforms/MmaPlan.h"

#include <array>

namespace tile {

/// Returns the f32 value of a code in the low bits of an i32 (upper bits zero).
/// f16 and bf16 codes included. Exact.
mlir::Value decodeToF32(Emitter &emit, ElementFormat format, mlir::Value code);

/// Returns the code of an f32 as an i32 with upper bits zero; see
/// `tile::encode`.
mlir::Value encodeFromF32(Emitter &emit, ElementFormat format,
                          mlir::Value value, Rounding rounding, bool saturate);

/// Decodes the eight values of `words` (one word of FP4, two of FP8, four of a
/// 16-bit format) to pairs of `multiplicand`, which is bf16 or f16; register i
/// of the result holds the pair that `order` says. Exact; NaN and infinity stay
/// what they are. A 16-bit format must be `multiplicand` itself.
std::array<mlir::Value, 4> decodeToPairs(Emitter &emit, ElementFormat format,
                                         llvm::ArrayRef<mlir::Value> words,
                                         ElementFormat multiplicand,
                                         PairOrder order);

/// Returns a scale, a code in the low bits of an i32, twice: both halves of a
/// register of `multiplicand`. Exact where the format can hold it; a NaN scale
/// gives NaN. The sign of an f8E4M3FN scale is ignored.
mlir::Value decodeScalePair(Emitter &emit, ElementFormat scale,
                            mlir::Value code, ElementFormat multiplicand);

/// Multiplies two registers of pairs of `format`, rounding once per element.
mlir::Value multiplyPairs(Emitter &emit, ElementFormat format, mlir::Value a,
                          mlir::Value b);

/// Returns the four FP4 codes in bits 15..0 of `half` as the bytes of a word in
/// the 8-bit container of mxf8f6f4: code in bits 5..2.
mlir::Value spreadToContainers(Emitter &emit, mlir::Value half);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVVM_FORMATCONVERSION_H
