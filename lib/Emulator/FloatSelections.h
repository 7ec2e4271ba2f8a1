//===- FloatSelections.h - Minimum and maximum of any format ----*- C++ -*-===//
//
// min and max on codes, which order like sign-magnitude integers: -0 < +0, and
// every NaN lies beyond the infinities.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_FLOATSELECTIONS_H
#define TILE_LIB_EMULATOR_FLOATSELECTIONS_H

#include "Decoder.h"

#include <type_traits>

namespace tile::emulator {

/// The lesser or greater of the codes `a` and `b` of a format as wide as the
/// signed integer `S`, whose infinity is `infinity`. A NaN gives way to a
/// number, or with PropagateNaN makes the result `nan`; two NaNs always do.
/// XorSignAbs compares magnitudes, and a number gets the signs' XOR.
template <typename S, bool IsMax, bool PropagateNaN, bool XorSignAbs,
          typename U = std::make_unsigned_t<S>>
inline U selectExtreme(U a, U b, uint64_t infinityCode, uint64_t nanCode) {
  constexpr U sign = static_cast<U>(U(1) << (sizeof(U) * 8 - 1));
  const U infinity = static_cast<U>(infinityCode);
  const U nan = static_cast<U>(nanCode);
  const U signs = static_cast<U>((a ^ b) & sign);
  const bool aIsNaN = static_cast<U>(a & ~sign) > infinity;
  const bool bIsNaN = static_cast<U>(b & ~sign) > infinity;
  if constexpr (XorSignAbs) {
    a = static_cast<U>(a & ~sign);
    b = static_cast<U>(b & ~sign);
  }
  // Two's complement order: negative magnitudes reversed.
  const S x = static_cast<S>(a & sign ? a ^ static_cast<U>(~sign) : a);
  const S y = static_cast<S>(b & sign ? b ^ static_cast<U>(~sign) : b);
  U result = (IsMax ? x > y : x < y) ? a : b;
  result = aIsNaN ? b : bIsNaN ? a : result;
  if constexpr (XorSignAbs)
    result = static_cast<U>((result & ~sign) | signs);
  const bool isNaN = PropagateNaN ? aIsNaN || bIsNaN : aIsNaN && bIsNaN;
  return isNaN ? nan : result;
}

/// The f32 and f64 instructions that round nothing; called by
/// registerFloatArithmetic.
void registerFloatSelections(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_FLOATSELECTIONS_H
