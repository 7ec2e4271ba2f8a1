//===- Codes.cpp - Number formats as the PTX ISA states them --------------===//

#include "Codes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <array>
#include <cmath>
#include <limits>

using namespace tile;
using namespace tile::lane;

namespace {
/// The fields of a signed binary format.
struct Fields {
  int bits;
  int mantissa;
  int bias;
  double max;
};
} // namespace

static Fields getFields(Code code) {
  switch (code) {
  case Code::E2M1:
    return {4, 1, 1, 6.0};
  case Code::E4M3:
  case Code::UE4M3:
    return {8, 3, 7, 448.0};
  case Code::E5M2:
    return {8, 2, 15, 57344.0};
  case Code::F16:
    return {16, 10, 15, 65504.0};
  case Code::BF16:
    return {16, 7, 127, std::ldexp(255.0, 120)};
  case Code::F32:
  case Code::UE8M0:
    break;
  }
  return {32, 23, 127, std::numeric_limits<float>::max()};
}

std::optional<Code> lane::findCode(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Code>>(name)
      .Case("e2m1", Code::E2M1)
      .Case("e4m3", Code::E4M3)
      .Case("e5m2", Code::E5M2)
      .Case("ue8m0", Code::UE8M0)
      .Case("ue4m3", Code::UE4M3)
      .Case("f16", Code::F16)
      .Case("bf16", Code::BF16)
      .Case("f32", Code::F32)
      .Default(std::nullopt);
}

/// The value of a code by its fields.
static double decodeFields(Code code, uint32_t bits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  switch (code) {
  case Code::F32:
    return llvm::bit_cast<float>(bits);
  case Code::BF16:
    return llvm::bit_cast<float>(bits << 16);
  case Code::UE8M0:
    bits &= 0xFF;
    return bits == 0xFF ? nan : std::ldexp(1.0, int(bits) - 127);
  case Code::UE4M3:
    return decodeFields(Code::E4M3, bits & 0x7F);
  default:
    break;
  }
  Fields f = getFields(code);
  int exponentBits = f.bits - 1 - f.mantissa;
  int mantissa = bits & ((1u << f.mantissa) - 1);
  int exponent = (bits >> f.mantissa) & ((1u << exponentBits) - 1);
  int top = (1 << exponentBits) - 1;
  double sign = (bits >> (f.bits - 1)) & 1 ? -1.0 : 1.0;
  // E4M3 gives up one code for NaN and has no infinity; E2M1 has neither.
  if (code == Code::E4M3 && (bits & 0x7F) == 0x7F)
    return nan;
  if ((code == Code::E5M2 || code == Code::F16) && exponent == top)
    return mantissa ? nan : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), 1 - f.bias - f.mantissa);
  return sign * std::ldexp(double(mantissa + (1 << f.mantissa)),
                           exponent - f.bias - f.mantissa);
}

double lane::decode(Code code, uint32_t bits) {
  if (code == Code::F16 || code == Code::BF16 || code == Code::F32)
    return decodeFields(code, bits);
  // A multiply decodes a thousand codes.
  static const auto tables = [] {
    std::array<std::array<double, 256>, 5> result;
    for (Code small :
         {Code::E2M1, Code::E4M3, Code::E5M2, Code::UE8M0, Code::UE4M3})
      for (uint32_t i = 0; i < 256; ++i)
        result[size_t(small)][i] = decodeFields(small, i);
    return result;
  }();
  return tables[size_t(code)][bits & 0xFF];
}

uint32_t lane::encode(Code code, double value) {
  Fields f = getFields(code);
  bool isSmall = f.bits < 16;
  if (std::isnan(value)) {
    if (code == Code::E2M1)
      return 7;
    return code == Code::F32 ? 0x7FFFFFFF : (1u << (f.bits - 1)) - 1;
  }
  uint32_t sign = std::signbit(value) ? 1u << (f.bits - 1) : 0;
  double magnitude = std::fabs(value);
  int minExponent = 1 - f.bias;
  // Every value below the smallest normal one has the spacing of the latter.
  int exponent = minExponent;
  if (magnitude != 0 && !std::isinf(magnitude))
    exponent = std::max(std::ilogb(magnitude), minExponent);
  // The default rounding of `nearbyint` is to nearest even.
  double rounded = magnitude;
  if (!std::isinf(magnitude))
    rounded =
        std::ldexp(std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent)),
                   exponent - f.mantissa);
  if (rounded > f.max) {
    if (!isSmall)
      return sign | (((1u << (f.bits - 1 - f.mantissa)) - 1) << f.mantissa);
    rounded = f.max;
  }
  if (rounded < std::ldexp(1.0, minExponent))
    return sign | uint32_t(std::ldexp(rounded, f.mantissa - minExponent));
  exponent = std::ilogb(rounded);
  uint32_t significand = uint32_t(std::ldexp(rounded, f.mantissa - exponent));
  return sign | (uint32_t(exponent + f.bias) << f.mantissa) |
         (significand - (1u << f.mantissa));
}

uint32_t lane::encodeUE8M0(double value, bool up, bool saturate) {
  if (std::isnan(value))
    return 0xFF;
  double magnitude = std::fabs(value);
  if (magnitude <= std::ldexp(1.0, -127))
    return 0;
  if (std::isinf(magnitude))
    return saturate ? 0xFE : 0xFF;
  int exponent = std::ilogb(magnitude);
  if (up && magnitude > std::ldexp(1.0, exponent))
    ++exponent;
  if (exponent > 127)
    return saturate ? 0xFE : 0xFF;
  return uint32_t(std::max(exponent + 127, 0));
}

uint32_t lane::fusedMultiplyAdd(Code code, uint32_t a, uint32_t b, uint32_t c) {
  // The product is exact in double. The sum may not be, and rounding it twice
  // could go wrong at a tie: keep the lost part as a sticky last bit (rounding
  // to odd), which leaves the second rounding correct.
  double product = decode(code, a) * decode(code, b);
  double addend = decode(code, c);
  double sum = product + addend;
  if (std::isfinite(sum)) {
    double part = sum - product;
    double error = (product - (sum - part)) + (addend - part);
    uint64_t bits = llvm::bit_cast<uint64_t>(sum);
    if (error != 0 && !(bits & 1)) {
      bool away = (error > 0) == (sum > 0);
      sum = llvm::bit_cast<double>(away ? bits + 1 : bits - 1);
    }
  }
  return encode(code, sum);
}
