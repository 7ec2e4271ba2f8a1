//===- FloatReference.h - Formats and rounding, by table --------*- C++ -*-===//
//
// A second opinion on number formats: the magnitudes of a format stand in a
// table of quadruple-precision numbers, and rounding is a search between two
// neighbours. Nothing here shares code or method with what it checks.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_FLOATREFERENCE_H
#define TILE_UNITTESTS_EMULATOR_FLOATREFERENCE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tile::emulator::reference {

__extension__ typedef __float128 Quad;

/// A well-mixed function of `i`.
inline uint64_t hash(uint64_t i) {
  i += 0x9E3779B97F4A7C15;
  i = (i ^ i >> 30) * 0xBF58476D1CE4E5B9;
  i = (i ^ i >> 27) * 0x94D049BB133111EB;
  return i ^ i >> 31;
}

inline float asFloat(uint64_t code) {
  uint32_t bits = static_cast<uint32_t>(code);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline double asDouble(uint64_t code) {
  double value;
  std::memcpy(&value, &code, 8);
  return value;
}
inline uint64_t codeOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline uint64_t codeOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

/// 2^exponent by repeated multiplication: exact.
inline Quad power(int exponent) {
  Quad result = 1, factor = exponent < 0 ? Quad(0.5) : Quad(2);
  for (int i = 0; i != std::abs(exponent); ++i)
    result *= factor;
  return result;
}

enum class Mode { NearestEven, NearestAway, Zero, Down, Up };

/// A format of at most 19 bits.
class Format {
public:
  Format(unsigned exponentBits, unsigned mantissaBits, int bias,
         unsigned numFinite, bool hasInfinity, uint64_t nan)
      : numFinite(numFinite), hasInfinity(hasInfinity), nan(nan),
        sign(uint64_t(1) << (exponentBits + mantissaBits)) {
    unsigned steps = 1u << mantissaBits;
    // One more than there are: the next value if the exponent went on.
    for (unsigned code = 0; code <= numFinite; ++code) {
      unsigned exponent = code / steps, mantissa = code % steps;
      magnitudes.push_back(
          exponent ? Quad(steps + mantissa) *
                         power(int(exponent) - bias - int(mantissaBits))
                   : Quad(mantissa) * power(1 - bias - int(mantissaBits)));
    }
  }

  bool isNaN(uint64_t code) const {
    uint64_t magnitude = code & (sign - 1);
    return magnitude > numFinite - 1 + (hasInfinity ? 1 : 0);
  }
  bool isInfinity(uint64_t code) const {
    return hasInfinity && (code & (sign - 1)) == numFinite;
  }
  /// The value of a finite code.
  Quad decode(uint64_t code) const {
    Quad magnitude = magnitudes[code & (sign - 1)];
    return code & sign ? -magnitude : magnitude;
  }

  /// `value` plus an `error` too small to change it, which only says on which
  /// side of a tie or a representable value the number lies.
  uint64_t encode(Quad value, Quad error, Mode mode, bool saturate) const {
    bool negative = value < 0 || (value == 0 && error < 0);
    if (negative) {
      value = -value;
      error = -error;
      mode = mode == Mode::Down ? Mode::Up
             : mode == Mode::Up ? Mode::Down
                                : mode;
    }
    uint64_t signBit = negative ? sign : 0;
    uint64_t overflow =
        saturate || !hasInfinity || mode == Mode::Zero || mode == Mode::Down
            ? numFinite - 1
            : numFinite;
    // The last magnitude that is not above the number.
    auto above = std::upper_bound(magnitudes.begin(), magnitudes.end(), value);
    uint64_t code = static_cast<uint64_t>(above - magnitudes.begin()) - 1;
    if (magnitudes[code] == value && error < 0)
      --code; // Requires: value is not 0, which `negative` has seen to.
    if (code >= numFinite)
      return signBit | overflow;
    Quad low = magnitudes[code], high = magnitudes[code + 1];
    bool exact = value == low && error == 0;
    Quad middle = (low + high) / 2;
    int side = value > middle   ? 1
               : value < middle ? -1
               : error > 0      ? 1
               : error < 0      ? -1
                                : 0;
    bool up = false;
    if (!exact)
      switch (mode) {
      case Mode::NearestEven:
        up = side > 0 || (side == 0 && (code & 1));
        break;
      case Mode::NearestAway:
        up = side >= 0;
        break;
      case Mode::Zero:
      case Mode::Down:
        break;
      case Mode::Up:
        up = true;
        break;
      }
    code += up;
    if (code >= numFinite) {
      // Rounding to nearest overflows to infinity even with .rn; toward the
      // finite side it has not come here.
      return signBit | overflow;
    }
    return signBit | code;
  }

  /// The code of any double, NaN included: a format without NaN gives its
  /// largest positive value.
  uint64_t encode(double value, Mode mode, bool saturate) const {
    if (std::isnan(value))
      return nan ? nan : numFinite - 1;
    if (std::isinf(value))
      return (value < 0 ? sign : 0) |
             (saturate || !hasInfinity ? numFinite - 1 : numFinite);
    uint64_t code = encode(Quad(value), 0, mode, saturate);
    return std::signbit(value) ? code | sign : code;
  }

  double toDouble(uint64_t code) const {
    if (isNaN(code))
      return std::nan("");
    if (isInfinity(code))
      return code & sign ? -HUGE_VAL : HUGE_VAL;
    return code & sign ? -static_cast<double>(magnitudes[code & (sign - 1)])
                       : static_cast<double>(magnitudes[code]);
  }

  unsigned numFinite; ///< Codes of finite magnitudes.
  bool hasInfinity;
  uint64_t nan;  ///< Canonical.
  uint64_t sign; ///< The sign bit.

private:
  std::vector<Quad> magnitudes;
};

inline const Format &f16() {
  static const Format format(5, 10, 15, 0x7C00, true, 0x7FFF);
  return format;
}
inline const Format &bf16() {
  static const Format format(8, 7, 127, 0x7F80, true, 0x7FFF);
  return format;
}
inline const Format &tf32() {
  static const Format format(8, 10, 127, 0x3FC00, true, 0x3FFFF);
  return format;
}
inline const Format &e4m3() {
  static const Format format(4, 3, 7, 0x7F, false, 0x7F);
  return format;
}
inline const Format &e5m2() {
  static const Format format(5, 2, 15, 0x7C, true, 0x7F);
  return format;
}
inline const Format &e2m3() {
  static const Format format(2, 3, 1, 0x20, false, 0);
  return format;
}
inline const Format &e3m2() {
  static const Format format(3, 2, 3, 0x20, false, 0);
  return format;
}
inline const Format &e2m1() {
  static const Format format(2, 1, 1, 0x8, false, 0);
  return format;
}

/// f32 values worth trying on a conversion to `format`: its values, the middles
/// between them and the f32 beside each of those, of both signs; then the
/// limits of f32, and a few thousand by hash.
inline std::vector<uint64_t> makeFloats(const Format &format,
                                        unsigned stride = 1) {
  std::vector<uint64_t> codes;
  auto add = [&](float value) {
    for (float near : {value, std::nextafter(value, INFINITY),
                       std::nextafter(value, -INFINITY)}) {
      codes.push_back(codeOf(near));
      codes.push_back(codeOf(-near));
    }
  };
  for (unsigned code = 0; code + 1 < format.numFinite; code += stride) {
    double low = format.toDouble(code), high = format.toDouble(code + 1);
    add(static_cast<float>(low));
    add(static_cast<float>((low + high) / 2));
  }
  double max = format.toDouble(format.numFinite - 1);
  double previous = format.toDouble(format.numFinite - 2);
  add(static_cast<float>(max));
  add(static_cast<float>(max + (max - previous) / 2));
  add(static_cast<float>(max + (max - previous)));
  for (uint64_t code :
       {0x0ull, 0x1ull, 0x2ull, 0x7FFFFFull, 0x800000ull, 0x7F7FFFFFull,
        0x7F800000ull, 0x7F800001ull, 0x7FC00000ull, 0x7FFFFFFFull}) {
    codes.push_back(code);
    codes.push_back(code | 0x80000000);
  }
  for (unsigned i = 0; i != 4000; ++i)
    codes.push_back(hash(i) & 0xFFFFFFFF);
  return codes;
}

} // namespace tile::emulator::reference

#endif // TILE_UNITTESTS_EMULATOR_FLOATREFERENCE_H
