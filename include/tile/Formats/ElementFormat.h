//===- ElementFormat.h - Formats of elements and scales ---------*- C++ -*-===//
//
// One table of the number formats that tiles and scales use: how many bits,
// where the fields are, which special values exist. Everything else that must
// know a format (codecs, instruction table, verifier, interpreter) asks here.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_FORMATS_ELEMENTFORMAT_H
#define TILE_FORMATS_ELEMENTFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tile {

/// A floating-point format, named as MLIR names its type.
enum class ElementFormat : uint8_t {
  F4E2M1FN,
  F8E4M3FN,
  F8E5M2,
  F8E8M0FNU,
  BF16,
  F16,
  F32,
};

/// What a format's bits mean.
struct FormatInfo {
  ElementFormat format;
  llvm::StringLiteral name;    ///< MLIR's spelling, e.g. "f8E4M3FN".
  llvm::StringLiteral ptxName; ///< PTX's spelling, e.g. "e4m3".
  unsigned bits;
  unsigned exponentBits;
  unsigned mantissaBits;
  int bias;
  bool hasSign;
  bool hasInfinity;
  bool hasNaN;
  bool hasZero; ///< f8E8M0FNU has none: byte 0 is 2^-127.
  double max;   ///< Largest finite value.
};

/// Every format, in the order of the enumeration.
llvm::ArrayRef<FormatInfo> getFormats();
const FormatInfo &getFormatInfo(ElementFormat format);
/// The format that MLIR spells `name`, or nullopt.
std::optional<ElementFormat> findFormat(llvm::StringRef name);

/// How `encode` rounds a value that the format cannot hold.
enum class Rounding : uint8_t {
  NearestEven,
  TowardZero, ///< f8E8M0FNU only
  Upward,     ///< f8E8M0FNU only: away from zero, on the absolute value
};

/// Returns the value of the code in the low bits of `code`; NaN and infinity as
/// themselves. Every value of every format is exact in `double`.
double decode(ElementFormat format, uint32_t code);

/// Returns the code of `value`, rounded once, by the rules of PTX `cvt` (PTX
/// ISA, section "Data Movement and Conversion Instructions: cvt").
///
/// `saturate`: overflow and infinity become the largest finite value of the
/// sign. Without it FP8 formats give infinity where they have it, else NaN;
/// f4E2M1FN always saturates and turns NaN into +6; f16, bf16 and f32 give
/// infinity with or without it. f8E8M0FNU takes the absolute value; zero and
/// whatever is below 2^-127 give byte 0, NaN gives 0xFF, and so does overflow
/// without `saturate`. A NaN result is the format's canonical one (0x7F for
/// FP8, 0x7FFF for f16 and bf16, 0x7FFFFFFF for f32).
///
/// Requires: f8E8M0FNU with TowardZero or Upward, every other format with
/// NearestEven.
uint32_t encode(ElementFormat format, double value,
                Rounding rounding = Rounding::NearestEven,
                bool saturate = true);

/// Whether operands of format `element` may carry block scales of format
/// `scale` over `blockSize` values each; the one table of legal triples.
bool isLegalBlockScale(ElementFormat element, ElementFormat scale,
                       int64_t blockSize);

} // namespace tile

#endif // TILE_FORMATS_ELEMENTFORMAT_H
