//===- Rounding.h - Number formats and exact arithmetic ---------*- C++ -*-===//
//
// Every number format that an instruction reads or writes, and arithmetic on
// their codes in integers: each operation is computed exactly and rounded once,
// in any of PTX's rounding modes, without regard to what the host's floating
// point does. It serves directed rounding and all conversions that have no
// faster way.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_ROUNDING_H
#define TILE_LIB_EMULATOR_ROUNDING_H

#include <cstdint>

namespace tile::emulator {

/// PTX's floating-point rounding modifiers.
enum class RoundingMode : uint8_t {
  NearestEven, ///< .rn
  TowardZero,  ///< .rz
  Downward,    ///< .rm
  Upward,      ///< .rp
  NearestAway, ///< .rna: nearest, ties away from zero.
};

/// A binary floating-point format. A code is a sign bit above a magnitude;
/// magnitudes are ordered as their values.
struct NumberFormat {
  unsigned bits; ///< With the sign.
  unsigned mantissaBits;
  int bias;
  uint64_t maxFinite; ///< Magnitude of the largest finite value.
  uint64_t infinity;  ///< Magnitude, or 0 where there is none.
  uint64_t nan;       ///< PTX's canonical NaN, or 0 where there is none.

  constexpr uint64_t signBit() const { return uint64_t(1) << (bits - 1); }
  constexpr uint64_t magnitude(uint64_t code) const {
    return code & (signBit() - 1);
  }
  constexpr bool isNegative(uint64_t code) const { return code & signBit(); }
  /// Formats without infinity have one NaN, the largest magnitude, or none.
  constexpr bool isNaN(uint64_t code) const {
    return magnitude(code) > (infinity ? infinity : maxFinite);
  }
  constexpr bool isInfinity(uint64_t code) const {
    return infinity && magnitude(code) == infinity;
  }
  /// Zero or subnormal.
  constexpr bool isBelowNormal(uint64_t code) const {
    return magnitude(code) >> mantissaBits == 0;
  }
};

// PTX ISA, "Alternate Floating-Point Data Formats", and IEEE 754. The NaN that
// an f64 instruction makes where no operand is one is that of CUDA's
// math_constants.h; it is not in the PTX ISA.
inline constexpr NumberFormat kE2M1 = {4, 1, 1, 0x7, 0, 0};
inline constexpr NumberFormat kE2M3 = {6, 3, 1, 0x1F, 0, 0};
inline constexpr NumberFormat kE3M2 = {6, 2, 3, 0x1F, 0, 0};
inline constexpr NumberFormat kE4M3 = {8, 3, 7, 0x7E, 0, 0x7F};
inline constexpr NumberFormat kE5M2 = {8, 2, 15, 0x7B, 0x7C, 0x7F};
inline constexpr NumberFormat kF16 = {16, 10, 15, 0x7BFF, 0x7C00, 0x7FFF};
inline constexpr NumberFormat kBF16 = {16, 7, 127, 0x7F7F, 0x7F80, 0x7FFF};
/// tf32 without the 13 low bits that its register has beside it.
inline constexpr NumberFormat kTF32 = {19, 10, 127, 0x3FBFF, 0x3FC00, 0x3FFFF};
inline constexpr NumberFormat kF32 = {32,         23,         127,
                                      0x7F7FFFFF, 0x7F800000, 0x7FFFFFFF};
inline constexpr NumberFormat kF64 = {
    64, 52, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF8000000000000,
};

__extension__ typedef unsigned __int128 WideInteger;

/// A finite number: `significand * 2^exponent`. Where it stands for one that is
/// not exact, the significand's lowest bit is 1 and the number lies strictly
/// between the even neighbours; with at least two bits more than the result
/// has, rounding it gives what rounding the exact number would.
struct Exact {
  bool negative = false;
  int exponent = 0;
  WideInteger significand = 0;
};

/// The value of `code`, which is neither infinity nor NaN.
Exact unpack(const NumberFormat &format, uint64_t code);
/// The value of a finite double or integer.
Exact unpack(double value);
Exact unpackInteger(bool negative, uint64_t magnitude);

/// The code of `value`, rounded once. Overflow gives infinity or the largest
/// finite value as IEEE 754 has it for `mode`; a format without infinity, or
/// `saturate`, gives the largest finite value.
uint64_t pack(const NumberFormat &format, const Exact &value, RoundingMode mode,
              bool saturate = false);

/// The code of any double: NaN becomes the canonical one, or the largest
/// positive value where the format has none. Infinity stays, or becomes the
/// largest finite value of its sign with `saturate`.
uint64_t pack(const NumberFormat &format, double value, RoundingMode mode,
              bool saturate = false);

/// As above, by stochastic rounding (PTX ISA, "cvt", .rs): the `count` random
/// bits are added to the bits that the result has no room for, highest to
/// highest, and the carry says whether the magnitude goes up.
uint64_t packStochastic(const NumberFormat &format, double value,
                        uint32_t random, unsigned count, bool saturate);

/// The value of any code as a double, which holds every value of every format.
double toDouble(const NumberFormat &format, uint64_t code);

// Arithmetic on codes of formats with infinity and NaN (f16, bf16, f32, f64),
// rounded once. An invalid operation gives the canonical NaN. A NaN operand
// gives the canonical NaN, and for f64 the first such operand, quiet.
uint64_t addCodes(const NumberFormat &format, uint64_t a, uint64_t b,
                  RoundingMode mode);
uint64_t multiplyCodes(const NumberFormat &format, uint64_t a, uint64_t b,
                       RoundingMode mode);
/// a * b + c.
uint64_t fuseCodes(const NumberFormat &format, uint64_t a, uint64_t b,
                   uint64_t c, RoundingMode mode);
uint64_t divideCodes(const NumberFormat &format, uint64_t a, uint64_t b,
                     RoundingMode mode);
uint64_t squareRootCode(const NumberFormat &format, uint64_t a,
                        RoundingMode mode);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ROUNDING_H
