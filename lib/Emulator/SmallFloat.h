//===- SmallFloat.h - f32, f16 and bf16 without branches --------*- C++ -*-===//
//
// The steps that float instructions share, each free of branches, so that a
// loop over lanes becomes vector code.
//
// A result in f16 or bf16 must be rounded once. Rounding to odd makes that
// possible by way of wider formats: a value between two floats becomes the one
// whose last bit is 1, which is never half way between two narrower values, so
// that rounding it to nearest afterwards gives what rounding the exact value
// would (two more bits of precision suffice).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_SMALLFLOAT_H
#define TILE_LIB_EMULATOR_SMALLFLOAT_H

#include "Rounding.h"
#include "llvm/ADT/bit.h"

#include <cmath>

namespace tile::emulator {

constexpr uint32_t kCanonicalNaN32 = 0x7FFFFFFF;

inline uint32_t toBits(float value) { return llvm::bit_cast<uint32_t>(value); }
inline uint64_t toBits(double value) { return llvm::bit_cast<uint64_t>(value); }
inline float toFloat(uint32_t bits) { return llvm::bit_cast<float>(bits); }
inline double toDouble(uint64_t bits) { return llvm::bit_cast<double>(bits); }

/// The value, or the canonical NaN for any NaN.
inline float canonicalize(float value) {
  uint32_t bits = toBits(value);
  return toFloat(value != value ? kCanonicalNaN32 : bits);
}

/// Zero of the same sign for a subnormal: PTX's .ftz.
inline float flushSubnormal(float value) {
  uint32_t bits = toBits(value);
  return toFloat((bits & 0x7F800000) ? bits : bits & 0x80000000);
}

/// To [+0, 1], NaN to +0: PTX's .sat.
inline float saturate(float value) {
  value = value > 0.0f ? value : 0.0f; // False for NaN; -0 becomes +0.
  return value < 1.0f ? value : 1.0f;
}

/// The value of an f16 code; any NaN gives the canonical one.
inline float fromF16(uint16_t code) {
  uint32_t magnitude = uint32_t(code & 0x7FFF) << 13;
  uint32_t sign = uint32_t(code & 0x8000) << 16;
  // The exponent's bias differs by 112; the product is exact, and normal for a
  // subnormal code too.
  uint32_t finite = toBits(toFloat(magnitude) * 0x1p112f);
  uint32_t bits = magnitude > 0x0F800000    ? kCanonicalNaN32
                  : magnitude == 0x0F800000 ? sign | 0x7F800000
                                            : sign | finite;
  return toFloat(bits);
}

/// The value of a bf16 code, NaN payload included.
inline float fromBF16(uint16_t code) { return toFloat(uint32_t(code) << 16); }

/// The code of `value` in a format with fewer bits in both fields than f32, to
/// nearest even: `MantissaBits` and `Bias` are the format's, magnitudes above
/// `Limit` become `Limit` (infinity, or the largest finite one), NaN becomes
/// `NaN`. `SignShift` moves the sign from bit 31 to the format's.
template <unsigned MantissaBits, int Bias, uint32_t Limit, uint32_t NaN,
          unsigned SignShift>
inline uint32_t roundNearest(float value) {
  uint32_t bits = toBits(value);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  uint32_t sign = (bits & 0x80000000) >> SignShift;
  constexpr unsigned shift = 23 - MantissaBits;
  constexpr uint32_t rebias = uint32_t(127 - Bias) << MantissaBits;
  uint32_t normal =
      ((magnitude + ((1u << (shift - 1)) - 1) + ((magnitude >> shift) & 1)) >>
       shift) -
      rebias;
  // Below the normal values the unit is fixed: adding a float whose last bit is
  // that unit rounds to it, and leaves the multiple in the sum's low bits.
  constexpr uint32_t anchor = uint32_t(127 + 24 - Bias - int(MantissaBits))
                              << 23;
  uint32_t subnormal = toBits(toFloat(magnitude) + toFloat(anchor)) - anchor;
  constexpr uint32_t minNormal = uint32_t(128 - Bias) << 23;
  uint32_t code = magnitude < minNormal ? subnormal : normal;
  code = code < Limit ? code : Limit;
  return magnitude > 0x7F800000 ? NaN : sign | code;
}

inline uint16_t toF16(float value) {
  return static_cast<uint16_t>(roundNearest<10, 15, 0x7C00, 0x7FFF, 16>(value));
}

inline uint16_t toBF16(float value) {
  uint32_t bits = toBits(value);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF
                                                                : rounded);
}

/// The sum, rounded to odd; `T` is float or double. Infinities and NaN come out
/// as of a plain sum.
template <typename T>
inline T addToOdd(T a, T b) {
  T sum = a + b;
  // The exact error of the sum (Knuth), whatever the order of magnitudes.
  T bPart = sum - a;
  T error = (a - (sum - bPart)) + (b - bPart);
  auto bits = toBits(sum);
  // Toward the exact sum by one unit, if the last bit is even: away from zero
  // where the error has the sum's sign.
  bool inexact = error > T(0) || error < T(0); // False for NaN.
  bool away = (error < T(0)) == (sum < T(0));
  auto moved = away ? bits + 1 : bits - 1;
  return llvm::bit_cast<T>(inexact && !(bits & 1) ? moved : bits);
}

/// The float that `value` rounds to odd.
inline float narrowToOdd(double value) {
  float nearest = static_cast<float>(value);
  double back = nearest;
  uint32_t bits = toBits(nearest);
  bool inexact = back < value || back > value;
  bool away = std::fabs(value) > std::fabs(back);
  uint32_t moved = away ? bits + 1 : bits - 1;
  return toFloat(inexact && !(bits & 1) ? moved : bits);
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SMALLFLOAT_H
