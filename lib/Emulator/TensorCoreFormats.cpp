//===- TensorCoreFormats.cpp - Numbers in tensor cores --------------------===//

#include "TensorCoreFormats.h"
#include "SmallFloat.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

using namespace tile::emulator;

namespace {
struct FormatRow {
  Type type;
  const NumberFormat &format;
};
} // namespace

// In the order of the enumeration.
static constexpr FormatRow formats[kNumTensorFormats] = {
    {Type::E2M1, kE2M1}, {Type::E2M3, kE2M3}, {Type::E3M2, kE3M2},
    {Type::E4M3, kE4M3}, {Type::E5M2, kE5M2}, {Type::F16, kF16},
    {Type::BF16, kBF16}, {Type::TF32, kTF32},
};

const NumberFormat &tile::emulator::getNumberFormat(TensorFormat format) {
  return formats[static_cast<unsigned>(format)].format;
}

std::optional<TensorFormat> tile::emulator::findTensorFormat(Type type) {
  for (unsigned i = 0; i != kNumTensorFormats; ++i)
    if (formats[i].type == type)
      return static_cast<TensorFormat>(i);
  return std::nullopt;
}

SplitValue tile::emulator::splitCode(TensorFormat format, uint32_t code) {
  switch (format) {
  case TensorFormat::E5M2:
    return splitIEEE<5, 2>(code);
  case TensorFormat::F16:
    return splitIEEE<5, 10>(code);
  case TensorFormat::BF16:
    return splitIEEE<8, 7>(code);
  case TensorFormat::TF32:
    return splitIEEE<8, 10>(code);
  default:
    break;
  }
  const NumberFormat &info = getNumberFormat(format);
  code &= static_cast<uint32_t>(2 * info.signBit() - 1);
  if (info.nan && info.isNaN(code))
    return {0, kNaNExponent};
  uint32_t magnitude = static_cast<uint32_t>(info.magnitude(code));
  if (magnitude == 0)
    return {};
  uint32_t leading = uint32_t(1) << info.mantissaBits;
  uint32_t exponent = magnitude >> info.mantissaBits;
  int32_t significand = static_cast<int32_t>((magnitude & (leading - 1)) |
                                             (exponent ? leading : 0));
  return {info.isNegative(code) ? -significand : significand,
          static_cast<int32_t>(exponent ? exponent : 1) - info.bias};
}

double tile::emulator::decodeCode(TensorFormat format, uint32_t code) {
  const NumberFormat &info = getNumberFormat(format);
  SplitValue value = splitCode(format, code);
  switch (value.exponent) {
  case kInfinityExponent:
    return std::numeric_limits<double>::infinity();
  case kNegativeInfinityExponent:
    return -std::numeric_limits<double>::infinity();
  case kNaNExponent:
    return std::numeric_limits<double>::quiet_NaN();
  case kZeroExponent:
    return info.isNegative(code) ? -0.0 : 0.0;
  }
  return std::ldexp(static_cast<double>(value.significand),
                    value.exponent - static_cast<int>(info.mantissaBits));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Where a code stands in its 8-bit container.
static unsigned getContainerShift(TensorFormat format) {
  return format == TensorFormat::E2M1 ? 2 : 0;
}

static ContainerTable makeContainerTable(TensorFormat format) {
  ContainerTable table;
  const NumberFormat &info = getNumberFormat(format);
  unsigned shift = getContainerShift(format);
  uint32_t mask = (uint32_t(1) << info.bits) - 1;
  for (uint32_t byte = 0; byte != 256; ++byte) {
    uint32_t code = byte >> shift & mask;
    table.values[byte] = decodeCode(format, code);
    table.floats[byte] = static_cast<float>(table.values[byte]);
    SplitValue value = splitCode(format, code);
    table.significands[byte] = value.significand;
    table.exponents[byte] = value.exponent;
  }
  table.padding = ~(mask << shift) & 0xFF;
  table.padding *= 0x01010101;
  return table;
}

const ContainerTable &tile::emulator::getContainerTable(TensorFormat format) {
  assert(getNumberFormat(format).bits <= 8 && "too wide for a container");
  static const ContainerTable tables[] = {
      makeContainerTable(TensorFormat::E2M1),
      makeContainerTable(TensorFormat::E2M3),
      makeContainerTable(TensorFormat::E3M2),
      makeContainerTable(TensorFormat::E4M3),
      makeContainerTable(TensorFormat::E5M2),
  };
  return tables[static_cast<unsigned>(format)];
}

const PairTable &tile::emulator::getPairTable() {
  static const PairTable table = [] {
    PairTable pairs;
    for (uint32_t byte = 0; byte != 256; ++byte)
      for (unsigned half = 0; half != 2; ++half)
        pairs.values[byte][half] = static_cast<float>(
            decodeCode(TensorFormat::E2M1, byte >> (4 * half) & 0xF));
    return pairs;
  }();
  return table;
}

static ScaleTable makeScaleTable(bool isUE4M3) {
  ScaleTable table;
  for (uint32_t code = 0; code != 256; ++code) {
    if (isUE4M3) {
      table.values[code] = decodeCode(TensorFormat::E4M3, code & 0x7F);
      table.splits[code] = splitCode(TensorFormat::E4M3, code & 0x7F);
      continue;
    }
    bool isNaN = code == 0xFF;
    int exponent = static_cast<int>(code) - 127;
    table.values[code] = isNaN ? std::numeric_limits<double>::quiet_NaN()
                               : std::ldexp(1, exponent);
    table.splits[code] =
        isNaN ? SplitValue{0, kNaNExponent} : SplitValue{8, exponent};
  }
  return table;
}

const ScaleTable &tile::emulator::getScaleTable(bool isUE4M3) {
  static const ScaleTable ue8m0 = makeScaleTable(false);
  static const ScaleTable ue4m3 = makeScaleTable(true);
  return isUE4M3 ? ue4m3 : ue8m0;
}

static HalfTable makeHalfTable(TensorFormat format) {
  HalfTable table;
  for (uint32_t code = 0; code != 256; ++code)
    table.values[code] =
        splitCode(TensorFormat::F16, roundToF16(decodeCode(format, code)));
  return table;
}

const HalfTable &tile::emulator::getHalfTable(TensorFormat format) {
  static const HalfTable e4m3 = makeHalfTable(TensorFormat::E4M3);
  static const HalfTable e5m2 = makeHalfTable(TensorFormat::E5M2);
  return format == TensorFormat::E4M3 ? e4m3 : e5m2;
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

uint16_t tile::emulator::roundToF16(double value) {
  if (value != value)
    return 0x7FFF;
  uint64_t bits = toBits(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  double magnitude = std::fabs(value);
  // Half way between the largest f16 and the next power of two, and above.
  if (magnitude >= 65520)
    return sign | 0x7C00;
  // Adding a number whose last place is that of the result rounds to it, to
  // nearest even, once. The last place of subnormal numbers is 2^-24.
  int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
  if (exponent < -14)
    exponent = -14;
  double rounder =
      toDouble(static_cast<uint64_t>(exponent - 10 + 52 + 1023) << 52);
  double sum = magnitude + rounder;
  // The count of last places, which carries into the exponent by itself.
  uint64_t places = toBits(sum) - toBits(rounder);
  return static_cast<uint16_t>(
      sign | (static_cast<uint64_t>(exponent + 14) * 1024 + places));
}
