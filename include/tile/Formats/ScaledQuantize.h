//===- ScaledQuantize.h - Quantisation in blocks ----------------*- C++ -*-===//
//
// Turns matrices of f32 into codes with one scale per block of V consecutive
// values of a row, and back:
//
//     values[r][k]  ~  code[r][k] * scale[r][k / V] * globalScale
//
//   format    element             scale      V   globalScale
//   NVFP4     f4E2M1FN            f8E4M3FN   16  1 (one level) or amax / 2688
//   MXFP4     f4E2M1FN            f8E8M0FNU  32  1
//   MXFP8     f8E4M3FN or f8E5M2  f8E8M0FNU  32  1
//
// Every code is the value divided by the scale *as stored*, rounded once to
// nearest even; dividing by the scale before its own rounding is a different
// and worse quantiser. K need not be a multiple of V: the last block of a row
// is then short, and a row has ceil(K / V) scales.
//
// A block with a NaN or an infinity has no finite scale: its scale is NaN (0xFF
// for E8M0, 0x7F for E4M3) and its codes are 0, so that it reads as NaN.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_FORMATS_SCALEDQUANTIZE_H
#define TILE_FORMATS_SCALEDQUANTIZE_H

#include "tile/Formats/ElementFormat.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tile {

/// A matrix of codes with block scales.
struct QuantizedMatrix {
  ElementFormat element = ElementFormat::F4E2M1FN;
  ElementFormat scale = ElementFormat::F8E4M3FN;
  int64_t blockSize = 16; ///< V, values per scale.
  int64_t rows = 0;
  int64_t columns = 0; ///< K, in values.

  /// FP8: `rows` x K codes. FP4: `rows` x ceil(K / 2) pairs, the value with the
  /// even index in the low half; with an odd K the last high half is 0.
  std::vector<uint8_t> codes;
  /// `rows` x ceil(K / V) scales, row-major (`ScaleLayout::Linear`).
  std::vector<uint8_t> scales;
  /// The factor of the whole matrix, as a multiplier.
  float globalScale = 1.0f;
  /// How many blocks hold a value that lies beyond what their scale can reach
  /// and was clipped. NVFP4: the scale itself was clamped to 448. MX: the
  /// exponent rule leaves the largest value above the largest code.
  int64_t saturatedBlocks = 0;

  /// Codes bytes and scales per row.
  int64_t getRowBytes() const;
  int64_t getScaleColumns() const;

  /// The code of one value, in the low bits.
  uint8_t getCode(int64_t row, int64_t column) const;
  /// The value of one element, exact: code, scale and global scale have 30
  /// significant bits at most.
  double getValue(int64_t row, int64_t column) const;
};

/// Checks that the parts of `matrix` fit together: a legal triple of formats
/// and block size, array sizes that agree with the shape.
llvm::Error verifyQuantized(const QuantizedMatrix &matrix);

//===----------------------------------------------------------------------===//
// NVFP4
//===----------------------------------------------------------------------===//

/// The largest value that NVFP4 holds with global scale 1: 6 * 448.
inline constexpr float nvfp4Max = 2688.0f;

/// Which of two reciprocal conventions a stored global scale follows. Nothing
/// in a file says so but its format: ModelOpt stores the multiplier,
/// compressed- tensors the divisor.
enum class GlobalScaleKind : uint8_t {
  Multiplier, ///< g = amax / 2688; value = code * scale * g
  Divisor,    ///< G = 2688 / amax; value = code * scale / G
};

/// The multiplier of a stored global scale. An error where it is not finite and
/// positive, or its reciprocal is not.
llvm::Expected<float> getMultiplier(float stored, GlobalScaleKind kind);

/// The multiplier for a matrix: its largest finite magnitude over 2688, in f32,
/// never so small that a block would clip. 1 where that magnitude is 0.
float computeGlobalScale(llvm::ArrayRef<float> values);

/// Quantises `values`, row-major [`rows`, `columns`], to NVFP4.
///
/// One level: `globalScale` 1. Blocks with a magnitude above 2688 clip; the
/// result counts them. Two levels: `globalScale` from `computeGlobalScale` or
/// from calibration.
///
/// The scale of a block with largest magnitude b is b / (6 * globalScale)
/// rounded to nearest even and clamped to 448. Where it rounds to 0 the codes
/// are 0. The divisions are exact before rounding.
///
/// An error where the shape and the number of values disagree, or the global
/// scale is not finite and positive.
llvm::Expected<QuantizedMatrix> quantizeNvfp4(llvm::ArrayRef<float> values,
                                              int64_t rows, int64_t columns,
                                              float globalScale = 1.0f);

//===----------------------------------------------------------------------===//
// MX formats
//===----------------------------------------------------------------------===//

/// How the exponent of a block's scale follows from its largest magnitude b.
/// `emax` is the exponent of the element format's largest value: 2 for
/// f4E2M1FN, 8 for f8E4M3FN, 15 for f8E5M2. The result is clamped to [-127,
/// 127]; a block of zeros has the smallest scale, 0x00.
///
/// Example: 957 in an f8E4M3FN block becomes 896 with `Floor` and `Even` (scale
/// 2^1, 478.5 clips to 448) and 960 with `Ceil` (scale 2^2).
enum class ExponentRule : uint8_t {
  /// floor(log2 b) - emax: OCP MX v1.0, section 6.3. Clips where b / 2^e is
  /// above
  /// the largest code, a quarter of all exponent positions for f4E2M1FN.
  Floor,
  /// ceil(log2(b / max)): the smallest scale that clips nothing ("RCEIL").
  Ceil,
  /// floor(log2 b') - emax, where b' is b rounded to nearest even in the
  /// element
  /// format's number of significant bits. Clips less than `Floor`.
  Even,
};

/// "floor", "ceil" or "even".
llvm::StringRef getExponentRuleName(ExponentRule rule);
std::optional<ExponentRule> findExponentRule(llvm::StringRef name);

/// Quantises `values`, row-major [`rows`, `columns`], to an MX format. MXFP4 is
/// `element` f4E2M1FN, MXFP8 is f8E4M3FN or f8E5M2. An error where the shape
/// and the number of values disagree, or `isLegalBlockScale` does not know the
/// element format with f8E8M0FNU scales over `blockSize` values.
llvm::Expected<QuantizedMatrix>
quantizeMx(llvm::ArrayRef<float> values, int64_t rows, int64_t columns,
           ElementFormat element, ExponentRule rule, int64_t blockSize = 32);

//===----------------------------------------------------------------------===//
// Dequantisation
//===----------------------------------------------------------------------===//

/// The values of `matrix`, row-major, each rounded once to f32. Without a
/// global scale nothing rounds. An error where `verifyQuantized` finds one.
llvm::Expected<std::vector<float>> dequantize(const QuantizedMatrix &matrix);

} // namespace tile

#endif // TILE_FORMATS_SCALEDQUANTIZE_H
