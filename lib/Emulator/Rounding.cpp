//===- Rounding.cpp - Exact arithmetic, rounded once ----------------------===//

#include "Rounding.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>

using namespace tile::emulator;

//===----------------------------------------------------------------------===//
// Exact numbers
//===----------------------------------------------------------------------===//

/// Position of the highest set bit. Requires: not zero.
static int highestBit(WideInteger value) {
  uint64_t high = static_cast<uint64_t>(value >> 64);
  return high ? 127 - llvm::countl_zero(high)
              : 63 - llvm::countl_zero(static_cast<uint64_t>(value));
}

/// `value >> shift`, with the lowest bit set if a set bit is lost.
static WideInteger shiftSticky(WideInteger value, int shift) {
  if (shift == 0)
    return value;
  if (shift > 127)
    return value != 0;
  WideInteger lost = value & ((WideInteger(1) << shift) - 1);
  return value >> shift | (lost != 0);
}

/// Moves the highest bit to `position`, upward. Requires: not zero, and the
/// highest bit not above `position`.
static void normalize(Exact &value, int position) {
  int shift = position - highestBit(value.significand);
  value.significand <<= shift;
  value.exponent -= shift;
}

Exact tile::emulator::unpack(const NumberFormat &format, uint64_t code) {
  uint64_t magnitude = format.magnitude(code);
  uint64_t mantissa = magnitude & ((uint64_t(1) << format.mantissaBits) - 1);
  int field = static_cast<int>(magnitude >> format.mantissaBits);
  Exact result;
  result.negative = format.isNegative(code);
  if (field)
    mantissa |= uint64_t(1) << format.mantissaBits;
  result.significand = mantissa;
  result.exponent =
      std::max(field, 1) - format.bias - static_cast<int>(format.mantissaBits);
  return result;
}

Exact tile::emulator::unpack(double value) {
  return unpack(kF64, llvm::bit_cast<uint64_t>(value));
}

Exact tile::emulator::unpackInteger(bool negative, uint64_t magnitude) {
  Exact result;
  result.negative = negative;
  result.significand = magnitude;
  return result;
}

/// Whether a magnitude goes up to the next, given that the bits beyond it are
/// `half` of a unit or more, that they are not just half, and not zero.
static bool roundsUp(RoundingMode mode, bool negative, bool odd, bool half,
                     bool beyondHalf, bool inexact) {
  switch (mode) {
  case RoundingMode::NearestEven:
    return half && (beyondHalf || odd);
  case RoundingMode::NearestAway:
    return half;
  case RoundingMode::TowardZero:
    return false;
  case RoundingMode::Downward:
    return inexact && negative;
  case RoundingMode::Upward:
    return inexact && !negative;
  }
  return false;
}

/// What lies beyond the largest finite value.
static uint64_t overflowCode(const NumberFormat &format, RoundingMode mode,
                             bool negative, bool saturate) {
  bool towardFinite = mode == RoundingMode::TowardZero ||
                      (mode == RoundingMode::Downward && !negative) ||
                      (mode == RoundingMode::Upward && negative);
  bool finite = saturate || !format.infinity || towardFinite;
  return (negative ? format.signBit() : 0) |
         (finite ? format.maxFinite : format.infinity);
}

/// How a number meets a format: the unit of the result's last bit is
/// 2^(value.exponent + shift), and `base` is the exponent field in place, less
/// the hidden bit, which the shifted significand brings along.
struct Placement {
  int shift;
  uint64_t base;
};

static Placement place(const NumberFormat &format, const Exact &value) {
  int minExponent = 1 - format.bias;
  int exponent =
      std::max(highestBit(value.significand) + value.exponent, minExponent);
  int unit = exponent - static_cast<int>(format.mantissaBits);
  return {unit - value.exponent, static_cast<uint64_t>(exponent - minExponent)
                                     << format.mantissaBits};
}

uint64_t tile::emulator::pack(const NumberFormat &format, const Exact &value,
                              RoundingMode mode, bool saturate) {
  const uint64_t sign = value.negative ? format.signBit() : 0;
  const WideInteger significand = value.significand;
  if (!significand)
    return sign;

  const Placement placement = place(format, value);
  const int shift = placement.shift;
  uint64_t magnitude;
  if (shift <= 0) {
    magnitude = static_cast<uint64_t>(significand << -shift);
  } else {
    // From 128 on, all of it is less than half a unit: a significand has at
    // most 127 bits.
    bool far = shift > 127;
    magnitude = far ? 0 : static_cast<uint64_t>(significand >> shift);
    WideInteger lost =
        far ? significand : significand & ((WideInteger(1) << shift) - 1);
    bool half = !far && (lost >> (shift - 1));
    bool beyondHalf = half && (lost != WideInteger(1) << (shift - 1));
    magnitude += roundsUp(mode, value.negative, magnitude & 1, half, beyondHalf,
                          lost != 0);
  }
  magnitude += placement.base;
  if (magnitude > format.maxFinite)
    return overflowCode(format, mode, value.negative, saturate);
  return sign | magnitude;
}

/// The code of a NaN or infinity.
static uint64_t packSpecial(const NumberFormat &format, double value,
                            bool saturate) {
  if (std::isnan(value))
    return format.nan ? format.nan : format.maxFinite;
  return overflowCode(format, RoundingMode::NearestEven, std::signbit(value),
                      saturate);
}

uint64_t tile::emulator::pack(const NumberFormat &format, double value,
                              RoundingMode mode, bool saturate) {
  if (!std::isfinite(value))
    return packSpecial(format, value, saturate);
  return pack(format, unpack(value), mode, saturate);
}

uint64_t tile::emulator::packStochastic(const NumberFormat &format,
                                        double value, uint32_t random,
                                        unsigned count, bool saturate) {
  if (!std::isfinite(value))
    return packSpecial(format, value, saturate);
  const Exact exact = unpack(value);
  const uint64_t sign = exact.negative ? format.signBit() : 0;
  if (!exact.significand)
    return sign;
  const Placement placement = place(format, exact);
  uint64_t magnitude;
  if (placement.shift <= 0) {
    magnitude = static_cast<uint64_t>(exact.significand << -placement.shift);
  } else {
    // The highest of the lost bits meets the highest random bit; 53 bits of
    // significand leave room for any number of random bits.
    int shift = placement.shift;
    WideInteger significand = exact.significand;
    int down = std::max(0, shift - 64);
    significand = down > 127 ? 0 : significand >> down;
    shift -= down;
    int up =
        static_cast<int>(count) > shift ? static_cast<int>(count) - shift : 0;
    significand <<= up;
    shift += up;
    WideInteger carry = WideInteger(random)
                        << (shift - static_cast<int>(count));
    magnitude = static_cast<uint64_t>((significand + carry) >> shift);
  }
  magnitude += placement.base;
  if (magnitude > format.maxFinite)
    return overflowCode(format, RoundingMode::NearestEven, exact.negative,
                        saturate);
  return sign | magnitude;
}

double tile::emulator::toDouble(const NumberFormat &format, uint64_t code) {
  bool negative = format.isNegative(code);
  if (format.isNaN(code))
    return llvm::bit_cast<double>(uint64_t(0x7FF8000000000000));
  if (format.isInfinity(code))
    return negative ? -HUGE_VAL : HUGE_VAL;
  return llvm::bit_cast<double>(
      pack(kF64, unpack(format, code), RoundingMode::NearestEven));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The sum; `mode` decides the sign of an exact zero.
static Exact add(Exact a, Exact b, RoundingMode mode) {
  if (!a.significand && !b.significand) {
    if (a.negative != b.negative)
      a.negative = mode == RoundingMode::Downward;
    return a;
  }
  if (!a.significand)
    return b;
  if (!b.significand)
    return a;
  // One bit is left for the carry. A product has at most 106 bits, so that
  // those that alignment loses are at least 20 below the result's last.
  normalize(a, 126);
  normalize(b, 126);
  if (a.exponent < b.exponent)
    std::swap(a, b);
  b.significand = shiftSticky(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative) {
    a.significand += b.significand;
    return a;
  }
  if (a.significand == b.significand) {
    a.significand = 0;
    a.negative = mode == RoundingMode::Downward;
    return a;
  }
  if (a.significand < b.significand) {
    a.significand = b.significand - a.significand;
    a.negative = b.negative;
    return a;
  }
  a.significand -= b.significand;
  return a;
}

static Exact multiply(const Exact &a, const Exact &b) {
  Exact result;
  result.negative = a.negative != b.negative;
  result.exponent = a.exponent + b.exponent;
  result.significand = a.significand * b.significand;
  return result;
}

/// Only f64 instructions keep the payload of a NaN (PTX ISA, "Floating Point
/// Instructions").
static uint64_t propagateNaN(const NumberFormat &format, uint64_t code) {
  if (format.bits != 64)
    return format.nan;
  return code | uint64_t(1) << (format.mantissaBits - 1);
}

uint64_t tile::emulator::addCodes(const NumberFormat &format, uint64_t a,
                                  uint64_t b, RoundingMode mode) {
  for (uint64_t code : {a, b})
    if (format.isNaN(code))
      return propagateNaN(format, code);
  if (format.isInfinity(a))
    return format.isInfinity(b) && a != b ? format.nan : a;
  if (format.isInfinity(b))
    return b;
  return pack(format, add(unpack(format, a), unpack(format, b), mode), mode);
}

uint64_t tile::emulator::multiplyCodes(const NumberFormat &format, uint64_t a,
                                       uint64_t b, RoundingMode mode) {
  for (uint64_t code : {a, b})
    if (format.isNaN(code))
      return propagateNaN(format, code);
  const uint64_t sign = (a ^ b) & format.signBit();
  if (format.isInfinity(a) || format.isInfinity(b))
    return !format.magnitude(a) || !format.magnitude(b)
               ? format.nan
               : sign | format.infinity;
  return pack(format, multiply(unpack(format, a), unpack(format, b)), mode);
}

uint64_t tile::emulator::fuseCodes(const NumberFormat &format, uint64_t a,
                                   uint64_t b, uint64_t c, RoundingMode mode) {
  for (uint64_t code : {a, b, c})
    if (format.isNaN(code))
      return propagateNaN(format, code);
  const uint64_t sign = (a ^ b) & format.signBit();
  if (format.isInfinity(a) || format.isInfinity(b)) {
    if (!format.magnitude(a) || !format.magnitude(b))
      return format.nan;
    uint64_t product = sign | format.infinity;
    return format.isInfinity(c) && c != product ? format.nan : product;
  }
  if (format.isInfinity(c))
    return c;
  return pack(format,
              add(multiply(unpack(format, a), unpack(format, b)),
                  unpack(format, c), mode),
              mode);
}

uint64_t tile::emulator::divideCodes(const NumberFormat &format, uint64_t a,
                                     uint64_t b, RoundingMode mode) {
  for (uint64_t code : {a, b})
    if (format.isNaN(code))
      return propagateNaN(format, code);
  const uint64_t sign = (a ^ b) & format.signBit();
  if (format.isInfinity(a))
    return format.isInfinity(b) ? format.nan : sign | format.infinity;
  if (format.isInfinity(b))
    return sign;
  if (!format.magnitude(b))
    return format.magnitude(a) ? sign | format.infinity : format.nan;
  if (!format.magnitude(a))
    return sign;
  Exact dividend = unpack(format, a), divisor = unpack(format, b);
  // 126 bits by 53 bits give 73 bits or more.
  normalize(dividend, 125);
  normalize(divisor, 52);
  Exact quotient;
  quotient.negative = sign != 0;
  quotient.exponent = dividend.exponent - divisor.exponent;
  quotient.significand = dividend.significand / divisor.significand;
  if (quotient.significand * divisor.significand != dividend.significand)
    quotient.significand |= 1;
  return pack(format, quotient, mode);
}

uint64_t tile::emulator::squareRootCode(const NumberFormat &format, uint64_t a,
                                        RoundingMode mode) {
  if (format.isNaN(a))
    return propagateNaN(format, a);
  if (!format.magnitude(a))
    return a;
  if (format.isNegative(a))
    return format.nan;
  if (format.isInfinity(a))
    return a;
  Exact radicand = unpack(format, a);
  normalize(radicand, 125);
  if (radicand.exponent & 1) {
    radicand.significand <<= 1;
    --radicand.exponent;
  }
  // Bit by bit: 64 bits of root.
  WideInteger root = 0, rest = radicand.significand;
  for (int bit = 63; bit >= 0; --bit) {
    WideInteger step = (root << 1 | WideInteger(1) << bit) << bit;
    if (rest >= step) {
      rest -= step;
      root |= WideInteger(1) << bit;
    }
  }
  Exact result;
  result.exponent = radicand.exponent / 2;
  result.significand = root | (rest != 0);
  return pack(format, result, mode);
}
