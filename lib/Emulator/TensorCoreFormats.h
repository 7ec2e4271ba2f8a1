//===- TensorCoreFormats.h - Numbers in tensor cores ------------*- C++ -*-===//
//
// What the codes in a multiplicand mean, in the two forms in which the tensor
// cores' arithmetic wants them: as a value, and as the significand and exponent
// that a multiplier sees. And the roundings of results.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORCOREFORMATS_H
#define TILE_LIB_EMULATOR_TENSORCOREFORMATS_H

#include "Rounding.h"
#include "SmallFloat.h"
#include "tile/Emulator/Syntax.h"

#include <cstdint>
#include <optional>

namespace tile::emulator {

/// A floating-point format of multiplicands.
enum class TensorFormat : uint8_t {
  E2M1,
  E2M3,
  E3M2,
  E4M3,
  E5M2,
  F16,
  BF16,
  TF32, ///< 19 bits: the upper ones of a 32-bit register.
};
constexpr unsigned kNumTensorFormats =
    static_cast<unsigned>(TensorFormat::TF32) + 1;

/// What a format's bits mean. That of tf32 has no low bits.
const NumberFormat &getNumberFormat(TensorFormat format);
/// The format of PTX's type, or nullopt.
std::optional<TensorFormat> findTensorFormat(Type type);

/// Exponents that stand for what has none. They are so far from those of
/// numbers that sums of two, with scales, still are.
constexpr int32_t kZeroExponent = -(1 << 16);
constexpr int32_t kFirstSpecialExponent = 1 << 16;
constexpr int32_t kInfinityExponent = kFirstSpecialExponent;
constexpr int32_t kNegativeInfinityExponent = kFirstSpecialExponent + 1;
constexpr int32_t kNaNExponent = kFirstSpecialExponent + 2;

/// A number as a multiplier sees it: significand times 2^(exponent - mantissa
/// bits of its format). Normal numbers have their leading one at the mantissa's
/// width, subnormal ones below, with the exponent of the smallest normal one.
/// Zero, infinities and NaN have significand 0 and an exponent from above.
struct SplitValue {
  int32_t significand = 0;
  int32_t exponent = kZeroExponent;
};

/// The number that the low bits of `code` stand for.
SplitValue splitCode(TensorFormat format, uint32_t code);
/// The same as a value; exact.
double decodeCode(TensorFormat format, uint32_t code);

/// As splitCode, without branches, for a format of IEEE 754's kind with
/// `ExponentBits` and `MantissaBits`.
template <unsigned ExponentBits, unsigned MantissaBits>
inline SplitValue splitIEEE(uint32_t code) {
  constexpr uint32_t leading = uint32_t(1) << MantissaBits;
  constexpr uint32_t largest = (uint32_t(1) << ExponentBits) - 1;
  constexpr int32_t bias = static_cast<int32_t>(largest >> 1);
  uint32_t mantissa = code & (leading - 1);
  uint32_t field = code >> MantissaBits & largest;
  bool negative = code >> (ExponentBits + MantissaBits) & 1;
  int32_t significand =
      static_cast<int32_t>(field ? mantissa | leading : mantissa);
  int32_t exponent = static_cast<int32_t>(field ? field : 1) - bias;
  int32_t special = mantissa   ? kNaNExponent
                    : negative ? kNegativeInfinityExponent
                               : kInfinityExponent;
  exponent = significand == 0 ? kZeroExponent : exponent;
  exponent = field == largest ? special : exponent;
  significand = field == largest ? 0 : significand;
  return {negative ? -significand : significand, exponent};
}

/// An f32 given by its bits.
inline SplitValue splitF32(uint32_t bits) { return splitIEEE<8, 23>(bits); }

/// The 256 bytes of a register that holds 8-bit containers, decoded. FP8 fills
/// the byte, the 6-bit formats its low six bits, e2m1 the four in the middle
/// (PTX ISA, section "Multiply-and-Accumulate Instruction: mma").
struct ContainerTable {
  double values[256];
  float floats[256]; ///< As exact as `values`.
  int32_t significands[256];
  int32_t exponents[256];
  /// The bits of each byte of a register that must be zero.
  uint32_t padding;
};
/// Requires: a format of at most 8 bits.
const ContainerTable &getContainerTable(TensorFormat format);

/// Pairs of e2m1 codes, the low half of a byte first.
struct PairTable {
  float values[256][2];
};
const PairTable &getPairTable();

/// The 256 codes of a type of block scales. ue8m0 is a power of two; the sign
/// bit of ue4m3 does not count. The largest code of both is NaN.
struct ScaleTable {
  double values[256];
  /// As values, with 3 mantissa bits.
  SplitValue splits[256];
};
const ScaleTable &getScaleTable(bool isUE4M3);

/// The 256 codes of an FP8 format after conversion to f16, which makes numbers
/// normal that were subnormal.
struct HalfTable {
  SplitValue values[256];
};
/// Requires: e4m3 or e5m2.
const HalfTable &getHalfTable(TensorFormat format);

/// Bits of `value`, rounded to nearest even; NaN is 0x7FFFFFFF.
inline uint32_t roundToF32(double value) {
  return toBits(canonicalize(static_cast<float>(value)));
}
/// Bits of `value`, rounded once to nearest even; NaN is 0x7FFF.
uint16_t roundToF16(double value);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORCOREFORMATS_H
