//===- ScaleStorage.h - How block scales are stored -------------*- C++ -*-===//
//
// MX scales are powers of two, and files keep them as E8M0 bytes, as f32 values
// or as int8 exponents. NVFP4 scales are E4M3 bytes read without their sign.
// The conversions here never lose anything silently.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_FORMATS_SCALESTORAGE_H
#define TILE_FORMATS_SCALESTORAGE_H

#include "tile/Formats/ElementFormat.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tile {

//===----------------------------------------------------------------------===//
// f8E8M0FNU: byte b stands for 2^(b - 127), 0xFF for NaN
//===----------------------------------------------------------------------===//

/// The f32 values of E8M0 bytes. All are exact: 0x00 is the subnormal 2^-127,
/// and 0xFF is NaN.
std::vector<float> decodeE8M0(llvm::ArrayRef<uint8_t> bytes);

/// The E8M0 bytes of f32 scales; NaN becomes 0xFF.
///
/// Without `rounding` every scale must be NaN or a power of two from 2^-127 to
/// 2^127. Anything else, zero and negative values included, is an error that
/// names the index: keeping only the exponent would scale the block wrongly by
/// up to two. With `rounding` (`TowardZero` or `Upward`) the rules of `encode`
/// for f8E8M0FNU hold, saturating; a negative scale is still an error.
llvm::Expected<std::vector<uint8_t>>
encodeE8M0(llvm::ArrayRef<float> scales,
           std::optional<Rounding> rounding = std::nullopt);

/// E8M0 bytes as int8 exponents with another bias: `n = log2(scale) + bias`, so
/// that bias 0 stores the logarithm itself. An error where a result is outside
/// [-128, 127] or a byte is NaN, which has no exponent.
llvm::Expected<std::vector<int8_t>>
convertE8M0ToInt8(llvm::ArrayRef<uint8_t> bytes, int bias);

/// The inverse: the E8M0 bytes of `2^(n - bias)`. An error where that is
/// outside 2^-127 to 2^127.
llvm::Expected<std::vector<uint8_t>>
convertInt8ToE8M0(llvm::ArrayRef<int8_t> exponents, int bias);

//===----------------------------------------------------------------------===//
// UE4M3: f8E4M3FN read as a scale
//===----------------------------------------------------------------------===//

/// The value of an E4M3 byte as tensor cores read a scale: bit 7 is not part of
/// it, so 0xB8 is 1 like 0x38, and 0x7F and 0xFF are NaN. PTX asks for bit 7 to
/// be clear; `encodeUE4M3` never sets it.
double decodeUE4M3(uint8_t byte);

/// The E4M3 byte of a scale, rounded to nearest even and clamped to 448; NaN
/// gives 0x7F.
/// Requires: `scale` is not negative.
uint8_t encodeUE4M3(double scale);

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The indices of scales that are NaN, in order. `format` is f8E8M0FNU or
/// f8E4M3FN. A file that was written without clamping shows up here.
std::vector<size_t> findNaNScales(llvm::ArrayRef<uint8_t> bytes,
                                  ElementFormat format);

} // namespace tile

#endif // TILE_FORMATS_SCALESTORAGE_H
