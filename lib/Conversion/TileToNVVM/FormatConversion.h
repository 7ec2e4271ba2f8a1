//===- FormatConversion.h - Codes to values and back, in registers -*- C++
//-*-===//
//
// The instruction sequences that decode FP4, FP8 and E8M0 codes and encode f32,
// bit for bit what `tile::decode` and `tile::encode` (tile/Formats) do on the
// host. They use operations of every target, and others on demand.
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

/// Which instructions decoding may use beside those of every target.
struct DecodeOptions {
  enum class Cvt : uint8_t {
    Never,
    WhereShorter, ///< Where it takes fewer instructions.
    Always,       ///< Wherever it gives what is asked for.
  };
  bool fp8 = false;     ///< `cvt` from f8E4M3FN to f16.
  bool e8m0 = false;    ///< `cvt` from f8E8M0FNU to bf16.
  bool bf16 = false;    ///< `cvt` from f4E2M1FN and f8E4M3FN to bf16.
  Cvt fp4 = Cvt::Never; ///< `cvt` from f4E2M1FN to f16.
};

/// What becomes of the power of two between a code's bits in the place of wider
/// ones and its value.
enum class Bias : uint8_t {
  Undone, ///< Results are the values.
  Kept,   ///< Results are the values times 2^`getKeptBias`: no multiplication.
};

/// The exponent of the power of two in results with `Bias::Kept`: -126 for FP4
/// to bf16, -14 for FP4 to f16, and 0 for other formats, whose decoding undoes
/// it always.
int getKeptBias(ElementFormat format, ElementFormat multiplicand);

/// Whether results with `Bias::Undone` take fewer instructions than those with
/// `Bias::Kept`: one instruction converts.
bool isUndoneShorter(ElementFormat format, ElementFormat multiplicand,
                     const DecodeOptions &options);

/// The order in which to decode FP4 and the operand of format `other` that it
/// is multiplied with, where a thread has so many words of both.
PairOrder choosePairOrder(unsigned fp4Words, unsigned otherWords,
                          ElementFormat other, ElementFormat multiplicand,
                          const DecodeOptions &options);

/// The type of two values in a register; `format` is bf16 or f16.
mlir::VectorType getPairType(Emitter &emit, ElementFormat format);

/// Decodes the eight values of `words` (one word of FP4, two of FP8 or E8M0,
/// four of a 16-bit format) to pairs of `multiplicand`, which is bf16 or f16;
/// register i of the result holds the pair that `order` says. Exact; NaN and
/// infinity stay what they are. A 16-bit format must be `multiplicand` itself,
/// and E8M0 has bf16 in natural order only.
std::array<mlir::Value, 4> decodeToPairs(Emitter &emit, ElementFormat format,
                                         llvm::ArrayRef<mlir::Value> words,
                                         ElementFormat multiplicand,
                                         PairOrder order,
                                         Bias bias = Bias::Undone,
                                         const DecodeOptions &options = {});

/// A code of 8 bits: byte `byte` of an i32. The other bytes may hold anything.
struct ScaleCode {
  mlir::Value word;
  unsigned byte = 0;
};

/// The largest exponent that `decodeScalePairs` takes: 119 for f8E4M3FN to
/// bf16, 7 to f16, and 0 for E8M0.
int getLargestScaleExponent(ElementFormat scale, ElementFormat multiplicand);

/// Whether `decodeScalePairs` converts by one instruction, for which codes in
/// adjacent bytes of one word are best.
bool convertsScales(ElementFormat scale, ElementFormat multiplicand,
                    const DecodeOptions &options);

/// Decodes two scales: each of the results is one scale times 2^`exponent` in
/// both halves of a register of `multiplicand`. Exact where the format can hold
/// it; a NaN scale gives NaN. The sign of an f8E4M3FN scale is ignored. Two
/// codes cost what one does, and less where they are bytes 0 and 2, or 1 and 3,
/// of one word.
///
/// Hoisting: with FP4 values whose bias is kept (times 2^-126) and exponent
/// 118, the products in bf16 are the scaled values times 2^-8, exactly.
///
/// Requires: -8 <= exponent <= `getLargestScaleExponent`; for E8M0, 0.
std::array<mlir::Value, 2> decodeScalePairs(Emitter &emit, ElementFormat scale,
                                            ScaleCode first, ScaleCode second,
                                            ElementFormat multiplicand,
                                            int exponent = 0,
                                            const DecodeOptions &options = {});

/// One scale in the low 8 bits of `code`, as `decodeScalePairs` does two.
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
