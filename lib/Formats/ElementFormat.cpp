//===- ElementFormat.cpp - The number formats of elements and scales ------===//

#include "tile/Formats/ElementFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

using namespace tile;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

// Sources: OCP Microscaling Formats v1.0 (FP4, FP8, E8M0), IEEE 754 (f16, f32).
static constexpr FormatInfo formats[] = {
    // clang-format off
    // format                   name         ptxName bits exp man bias  sign   inf    NaN    zero   max
    {ElementFormat::F4E2M1FN,  {"f4E2M1FN"},  {"e2m1"},  4, 2,  1,   1, true,  false, false, true,  6.0},
    {ElementFormat::F8E4M3FN,  {"f8E4M3FN"},  {"e4m3"},  8, 4,  3,   7, true,  false, true,  true,  448.0},
    {ElementFormat::F8E5M2,    {"f8E5M2"},    {"e5m2"},  8, 5,  2,  15, true,  true,  true,  true,  57344.0},
    {ElementFormat::F8E8M0FNU, {"f8E8M0FNU"}, {"ue8m0"}, 8, 8,  0, 127, false, false, true,  false, 0x1p127},
    {ElementFormat::BF16,      {"bf16"},      {"bf16"}, 16, 8,  7, 127, true,  true,  true,  true,  0x1.FEp127},
    {ElementFormat::F16,       {"f16"},       {"f16"},  16, 5, 10,  15, true,  true,  true,  true,  65504.0},
    {ElementFormat::F32,       {"f32"},       {"f32"},  32, 8, 23, 127, true,  true,  true,  true,  0x1.FFFFFEp127},
    // clang-format on
};

llvm::ArrayRef<FormatInfo> tile::getFormats() { return formats; }

const FormatInfo &tile::getFormatInfo(ElementFormat format) {
  const FormatInfo &info = formats[static_cast<unsigned>(format)];
  assert(info.format == format && "table is not in the order of the enum");
  return info;
}

std::optional<ElementFormat> tile::findFormat(llvm::StringRef name) {
  for (const FormatInfo &info : formats)
    if (info.name == name)
      return info.format;
  return std::nullopt;
}

bool tile::isLegalBlockScale(ElementFormat element, ElementFormat scale,
                             int64_t blockSize) {
  struct Triple {
    ElementFormat element, scale;
    int64_t blockSize;
  };
  static constexpr Triple legal[] = {
      {ElementFormat::F8E4M3FN, ElementFormat::F8E8M0FNU, 32},
      {ElementFormat::F8E5M2, ElementFormat::F8E8M0FNU, 32},
      {ElementFormat::F4E2M1FN, ElementFormat::F8E8M0FNU, 32},
      {ElementFormat::F4E2M1FN, ElementFormat::F8E8M0FNU, 16},
      {ElementFormat::F4E2M1FN, ElementFormat::F8E4M3FN, 16},
  };
  return llvm::any_of(legal, [&](const Triple &triple) {
    return triple.element == element && triple.scale == scale &&
           triple.blockSize == blockSize;
  });
}

//===----------------------------------------------------------------------===//
// Decode
//===----------------------------------------------------------------------===//

/// Returns 2^exponent; `exponent` must be that of a normal double.
static double powerOfTwo(int exponent) {
  assert(exponent >= -1022 && exponent <= 1023 && "not a normal double");
  return llvm::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

double tile::decode(ElementFormat format, uint32_t code) {
  // A float converts to double exactly, subnormals and infinities included.
  if (format == ElementFormat::F32)
    return llvm::bit_cast<float>(code);

  if (format == ElementFormat::F8E8M0FNU) {
    uint32_t byte = code & 0xFF;
    return byte == 0xFF ? std::numeric_limits<double>::quiet_NaN()
                        : powerOfTwo(static_cast<int>(byte) - 127);
  }

  const FormatInfo &info = getFormatInfo(format);
  uint32_t mantissa = code & ((1u << info.mantissaBits) - 1);
  uint32_t maxExponent = (1u << info.exponentBits) - 1;
  uint32_t exponent = (code >> info.mantissaBits) & maxExponent;
  bool negative = (code >> (info.bits - 1)) & 1;

  if (exponent == maxExponent) {
    if (info.hasInfinity) {
      if (mantissa)
        return std::numeric_limits<double>::quiet_NaN();
      double infinity = std::numeric_limits<double>::infinity();
      return negative ? -infinity : infinity;
    }
    // The "FN" formats spend one mantissa of the top exponent on NaN, if that.
    if (info.hasNaN && mantissa == (1u << info.mantissaBits) - 1)
      return std::numeric_limits<double>::quiet_NaN();
  }

  int bias = info.bias, mantissaBits = static_cast<int>(info.mantissaBits);
  double magnitude =
      exponent == 0
          ? mantissa * powerOfTwo(1 - bias - mantissaBits)
          : (mantissa + (1u << mantissaBits)) *
                powerOfTwo(static_cast<int>(exponent) - bias - mantissaBits);
  return negative ? -magnitude : magnitude;
}

//===----------------------------------------------------------------------===//
// Encode
//===----------------------------------------------------------------------===//

/// Returns `value >> shift`, rounded to nearest even.
static uint64_t shiftNearestEven(uint64_t value, unsigned shift) {
  if (shift == 0)
    return value;
  // `value` has 53 bits: beyond that it is less than one half.
  if (shift > 54)
    return 0;
  uint64_t quotient = value >> shift;
  uint64_t remainder = value & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  bool up = remainder > half || (remainder == half && (quotient & 1));
  return quotient + up;
}

static uint32_t encodeScale(double magnitude, Rounding rounding,
                            bool saturate) {
  assert(rounding != Rounding::NearestEven &&
         "f8E8M0FNU names toward zero or upward");
  if (std::isnan(magnitude))
    return 0xFF;
  const uint32_t overflow = saturate ? 0xFE : 0xFF;
  if (std::isinf(magnitude))
    return overflow;
  // Zero has no code, and nothing lies below 2^-127.
  if (magnitude <= 0x1p-127)
    return 0;
  int exponent = std::ilogb(magnitude);
  if (rounding == Rounding::Upward && magnitude > std::ldexp(1.0, exponent))
    ++exponent;
  return exponent > 127 ? overflow : static_cast<uint32_t>(exponent + 127);
}

uint32_t tile::encode(ElementFormat format, double value, Rounding rounding,
                      bool saturate) {
  if (format == ElementFormat::F8E8M0FNU)
    return encodeScale(std::fabs(value), rounding, saturate);
  assert(rounding == Rounding::NearestEven &&
         "only f8E8M0FNU names a rounding");

  const FormatInfo &info = getFormatInfo(format);
  const uint32_t signBit = 1u << (info.bits - 1);
  // PTX cvt: the canonical NaN has every bit but the sign set; a format without
  // NaN takes the largest positive value, which has the same bits.
  if (std::isnan(value))
    return signBit - 1;
  const uint32_t sign = std::signbit(value) ? signBit : 0;
  const unsigned mantissaBits = info.mantissaBits;

  // Codes of one sign are ordered as their values. The largest finite one is
  // just below infinity; E4M3 ends with one NaN, and E2M1 with nothing.
  const uint32_t maxCode =
      info.hasInfinity ? (((1u << info.exponentBits) - 1) << mantissaBits) - 1
                       : signBit - 1 - (info.hasNaN ? 1 : 0);
  // Only FP8 and FP4 saturate; see the header.
  const bool clamps = info.bits == 4 || (info.bits == 8 && saturate);
  // Without a clamp E4M3, which has no infinity, gives its NaN; canonical ones
  // are positive.
  const uint32_t overflow = clamps             ? sign | maxCode
                            : info.hasInfinity ? sign | (maxCode + 1)
                                               : signBit - 1;

  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return overflow;
  if (magnitude < std::numeric_limits<double>::min())
    return sign; // Zero, or a subnormal double, far below every format.

  const uint64_t bits = llvm::bit_cast<uint64_t>(magnitude);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  const uint64_t significand =
      (bits & ((uint64_t(1) << 52) - 1)) | (uint64_t(1) << 52);
  // Below the normal range the unit in the last place stays that of the
  // smallest normal exponent, so more bits are shifted out.
  const int minExponent = 1 - info.bias;
  const int unit = std::max(exponent, minExponent);
  const uint64_t rounded = shiftNearestEven(
      significand, 52 - mantissaBits + static_cast<unsigned>(unit - exponent));
  // `rounded` includes the hidden bit, which adds one to the exponent field: a
  // subnormal thus has field 0, and a carry out of the mantissa is right too.
  const uint64_t code =
      rounded + (static_cast<uint64_t>(unit - minExponent) << mantissaBits);
  return code <= maxCode ? sign | static_cast<uint32_t>(code) : overflow;
}
