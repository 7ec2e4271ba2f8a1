//===- ElementFormatTest.cpp - Codes and values of every format -----------===//
//
// The expected values come from LLVM's APFloat and from the tables of OCP MX
// and of the PTX ISA's `cvt`.
//
//===----------------------------------------------------------------------===//

#include "tile/Formats/ElementFormat.h"

#include "TestUtils.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <cmath>
#include <limits>

using namespace tile;
using namespace tile::test;
using llvm::APFloat;
using llvm::APInt;

namespace {

const llvm::fltSemantics &getSemantics(ElementFormat format) {
  switch (format) {
  case ElementFormat::F4E2M1FN:
    return APFloat::Float4E2M1FN();
  case ElementFormat::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case ElementFormat::F8E5M2:
    return APFloat::Float8E5M2();
  case ElementFormat::F8E8M0FNU:
    return APFloat::Float8E8M0FNU();
  case ElementFormat::BF16:
    return APFloat::BFloat();
  case ElementFormat::F16:
    return APFloat::IEEEhalf();
  case ElementFormat::F32:
    return APFloat::IEEEsingle();
  }
  llvm_unreachable("unknown format");
}

double toDouble(APFloat value) {
  bool lossy;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  EXPECT_FALSE(lossy);
  return value.convertToDouble();
}

/// The code that APFloat and the rules of PTX `cvt` give for `value`.
uint32_t getExpectedCode(ElementFormat format, double value, bool saturate) {
  const FormatInfo &info = getFormatInfo(format);
  uint32_t sign = std::signbit(value) ? 1u << (info.bits - 1) : 0;
  uint32_t canonicalNaN = (1u << (info.bits - 1)) - 1;
  if (std::isnan(value))
    return canonicalNaN; // +6 for f4E2M1FN
  bool clamps = info.bits == 4 || (info.bits == 8 && saturate);
  // Rounding in a format without an upper limit decides what overflows.
  double limit = info.max + std::ldexp(1.0, std::ilogb(info.max) -
                                                int(info.mantissaBits) - 1);
  // The largest code of E4M3 and of E2M1 is an even or odd neighbour of the
  // next value; ties of FP8, bf16 and f16 go up where that code is odd.
  APInt maxCode = APFloat::getLargest(getSemantics(format)).bitcastToAPInt();
  bool overflows =
      maxCode[0] ? std::fabs(value) >= limit : std::fabs(value) > limit;
  if (overflows) {
    if (clamps)
      return sign | static_cast<uint32_t>(maxCode.getZExtValue());
    if (info.hasInfinity)
      return sign | static_cast<uint32_t>(maxCode.getZExtValue() + 1);
    return canonicalNaN;
  }
  if (std::fabs(value) > info.max)
    return sign | static_cast<uint32_t>(maxCode.getZExtValue());
  APFloat result(value);
  bool lossy;
  result.convert(getSemantics(format), APFloat::rmNearestTiesToEven, &lossy);
  return static_cast<uint32_t>(result.bitcastToAPInt().getZExtValue());
}

constexpr ElementFormat roundedFormats[] = {
    ElementFormat::F4E2M1FN, ElementFormat::F8E4M3FN, ElementFormat::F8E5M2,
    ElementFormat::BF16, ElementFormat::F16};

/// Compares both saturation modes of one conversion with APFloat.
void checkConversion(ElementFormat format, double value) {
  for (bool saturate : {true, false})
    ASSERT_EQ(encode(format, value, Rounding::NearestEven, saturate),
              getExpectedCode(format, value, saturate))
        << getFormatInfo(format).name.str() << " of " << value
        << (saturate ? " saturating" : " not saturating");
}

TEST(ElementFormatTest, TheTableAgreesWithApFloat) {
  for (const FormatInfo &info : getFormats()) {
    const llvm::fltSemantics &semantics = getSemantics(info.format);
    SCOPED_TRACE(info.name.str());
    EXPECT_EQ(&getFormatInfo(info.format), &info);
    EXPECT_EQ(findFormat(info.name), info.format);
    EXPECT_EQ(info.bits, APFloat::semanticsSizeInBits(semantics));
    EXPECT_EQ(info.mantissaBits + 1, APFloat::semanticsPrecision(semantics));
    EXPECT_EQ(info.bits, info.hasSign + info.exponentBits + info.mantissaBits);
    EXPECT_EQ(info.hasInfinity, APFloat::semanticsHasInf(semantics));
    EXPECT_EQ(info.hasNaN, APFloat::semanticsHasNaN(semantics));
    EXPECT_EQ(info.hasZero, APFloat::semanticsHasZero(semantics));
    EXPECT_EQ(info.max, toDouble(APFloat::getLargest(semantics)));
  }
  EXPECT_EQ(findFormat("f8E3M4"), std::nullopt);
}

TEST(ElementFormatTest, EveryCodeDecodesAsInApFloat) {
  for (const FormatInfo &info : getFormats()) {
    if (info.bits > 16)
      continue;
    for (uint32_t code = 0; code < 1u << info.bits; ++code) {
      APFloat expected(getSemantics(info.format), APInt(info.bits, code));
      double actual = decode(info.format, code);
      if (expected.isNaN()) {
        ASSERT_TRUE(std::isnan(actual)) << info.name.str() << " " << code;
        continue;
      }
      ASSERT_EQ(actual, toDouble(expected)) << info.name.str() << " " << code;
      ASSERT_EQ(std::signbit(actual), expected.isNegative());
    }
  }
}

TEST(ElementFormatTest, EveryCodeEncodesToItself) {
  for (const FormatInfo &info : getFormats()) {
    if (info.bits > 16)
      continue;
    bool isScale = info.format == ElementFormat::F8E8M0FNU;
    for (uint32_t code = 0; code < 1u << info.bits; ++code) {
      double value = decode(info.format, code);
      if (std::isnan(value))
        continue;
      for (Rounding rounding :
           {isScale ? Rounding::TowardZero : Rounding::NearestEven,
            isScale ? Rounding::Upward : Rounding::NearestEven})
        ASSERT_EQ(encode(info.format, value, rounding, /*saturate=*/false),
                  code)
            << info.name.str();
    }
  }
}

TEST(ElementFormatTest, BitsAboveTheCodeDoNotMatter) {
  for (const FormatInfo &info : getFormats())
    if (info.bits < 32) {
      EXPECT_EQ(decode(info.format, 1),
                decode(info.format, 1 | 5u << info.bits));
    }
}

TEST(ElementFormatTest, F4E2M1FNHasTheValuesOfOcpMx) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t code = 0; code < 8; ++code) {
    EXPECT_EQ(decode(ElementFormat::F4E2M1FN, code), values[code]);
    EXPECT_EQ(decode(ElementFormat::F4E2M1FN, code | 8), -values[code]);
  }
  EXPECT_TRUE(std::signbit(decode(ElementFormat::F4E2M1FN, 8)));
}

TEST(ElementFormatTest, EveryTieOfF4E2M1FNGoesToEven) {
  const double ties[] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0};
  const uint32_t codes[] = {0, 2, 2, 4, 4, 6, 6};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(encode(ElementFormat::F4E2M1FN, ties[i]), codes[i]);
    EXPECT_EQ(encode(ElementFormat::F4E2M1FN, -ties[i]), codes[i] | 8);
  }
}

TEST(ElementFormatTest, F4E2M1FNFollowsCvtAtItsEdges) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (bool saturate : {true, false}) {
    auto encodeFp4 = [&](double value) {
      return encode(ElementFormat::F4E2M1FN, value, Rounding::NearestEven,
                    saturate);
    };
    EXPECT_EQ(encodeFp4(nan), 0x7u);
    EXPECT_EQ(encodeFp4(-nan), 0x7u);
    EXPECT_EQ(encodeFp4(infinity), 0x7u);
    EXPECT_EQ(encodeFp4(-infinity), 0xFu);
    EXPECT_EQ(encodeFp4(1e300), 0x7u);
    EXPECT_EQ(encodeFp4(-0.1), 0x8u);
    EXPECT_EQ(encodeFp4(-0.0), 0x8u);
  }
}

TEST(ElementFormatTest, OverflowOfFp8FollowsTheSaturationMode) {
  struct Case {
    double value;
    uint32_t saturated, unsaturated;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Case e4m3[] = {{464, 0x7E, 0x7E},      {465, 0x7E, 0x7F},
                       {1e10, 0x7E, 0x7F},     {-465, 0xFE, 0x7F},
                       {infinity, 0x7E, 0x7F}, {-infinity, 0xFE, 0x7F},
                       {nan, 0x7F, 0x7F},      {-nan, 0x7F, 0x7F}};
  for (const Case &c : e4m3) {
    EXPECT_EQ(encode(ElementFormat::F8E4M3FN, c.value), c.saturated);
    EXPECT_EQ(
        encode(ElementFormat::F8E4M3FN, c.value, Rounding::NearestEven, false),
        c.unsaturated);
  }
  const Case e5m2[] = {{61439, 0x7B, 0x7B},     {61440, 0x7B, 0x7C},
                       {-1e10, 0xFB, 0xFC},     {infinity, 0x7B, 0x7C},
                       {-infinity, 0xFB, 0xFC}, {nan, 0x7F, 0x7F}};
  for (const Case &c : e5m2) {
    EXPECT_EQ(encode(ElementFormat::F8E5M2, c.value), c.saturated);
    EXPECT_EQ(
        encode(ElementFormat::F8E5M2, c.value, Rounding::NearestEven, false),
        c.unsaturated);
  }
}

TEST(ElementFormatTest, WideFormatsOverflowToInfinityInBothModes) {
  for (bool saturate : {true, false}) {
    auto encodeTo = [&](ElementFormat format, double value) {
      return encode(format, value, Rounding::NearestEven, saturate);
    };
    EXPECT_EQ(encodeTo(ElementFormat::F16, 65519), 0x7BFFu);
    EXPECT_EQ(encodeTo(ElementFormat::F16, 65520), 0x7C00u);
    EXPECT_EQ(encodeTo(ElementFormat::F16, -1e9), 0xFC00u);
    EXPECT_EQ(encodeTo(ElementFormat::BF16, 1e39), 0x7F80u);
    EXPECT_EQ(encodeTo(ElementFormat::F32, -1e39), 0xFF800000u);
    double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(encodeTo(ElementFormat::F16, -nan), 0x7FFFu);
    EXPECT_EQ(encodeTo(ElementFormat::BF16, nan), 0x7FFFu);
    EXPECT_EQ(encodeTo(ElementFormat::F32, nan), 0x7FFFFFFFu);
  }
}

TEST(ElementFormatTest, F8E8M0FNUFollowsCvt) {
  struct Case {
    double value;
    uint32_t down, up;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const Case cases[] = {
      {0, 0x00, 0x00},
      {0x1p-149, 0x00, 0x00},
      {0x1p-127, 0x00, 0x00},
      {0x1.000002p-127, 0x00, 0x01},
      {0x1.FFFFFEp-127, 0x00, 0x01},
      {0x1p-126, 0x01, 0x01},
      {1, 0x7F, 0x7F},
      {-1, 0x7F, 0x7F},
      {1.5, 0x7F, 0x80},
      {0x1.FFFFFEp0, 0x7F, 0x80},
      {-3, 0x80, 0x81},
      {0x1p127, 0xFE, 0xFE},
      {0x1.000002p127, 0xFE, 0xFE},
      {0x1p128, 0xFE, 0xFE},
      {infinity, 0xFE, 0xFE},
      {std::numeric_limits<double>::quiet_NaN(), 0xFF, 0xFF},
  };
  for (const Case &c : cases) {
    EXPECT_EQ(encode(ElementFormat::F8E8M0FNU, c.value, Rounding::TowardZero),
              c.down)
        << c.value;
    EXPECT_EQ(encode(ElementFormat::F8E8M0FNU, c.value, Rounding::Upward), c.up)
        << c.value;
  }
  EXPECT_EQ(encode(ElementFormat::F8E8M0FNU, infinity, Rounding::TowardZero,
                   /*saturate=*/false),
            0xFFu);
  EXPECT_EQ(encode(ElementFormat::F8E8M0FNU, 0x1.8p127, Rounding::Upward,
                   /*saturate=*/false),
            0xFFu);
  EXPECT_EQ(encode(ElementFormat::F8E8M0FNU, 0x1.8p127, Rounding::TowardZero,
                   /*saturate=*/false),
            0xFEu);
}

TEST(ElementFormatTest, F8E8M0FNURoundsAsApFloatWithinItsRange) {
  // Exponents of normal f32 values, so that the result needs no clamp.
  for (uint32_t i = 0; i < 200000; ++i) {
    uint32_t bits = (1 + hash(i) % 253) << 23 | hash(i + 1000000) >> 9;
    if (i % 4 == 0)
      bits &= 0x7F800001; // A power of two, or just above one.
    float value = floatOf(bits);
    for (bool up : {false, true}) {
      APFloat expected(value);
      bool lossy;
      expected.convert(APFloat::Float8E8M0FNU(),
                       up ? APFloat::rmTowardPositive : APFloat::rmTowardZero,
                       &lossy);
      ASSERT_EQ(encode(ElementFormat::F8E8M0FNU, i % 2 ? value : -value,
                       up ? Rounding::Upward : Rounding::TowardZero),
                expected.bitcastToAPInt().getZExtValue())
          << value;
    }
  }
}

TEST(ElementFormatTest, AllSixteenBitInputsConvertAsInApFloat) {
  for (ElementFormat source : {ElementFormat::BF16, ElementFormat::F16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      double value = decode(source, bits);
      for (ElementFormat format : roundedFormats) {
        checkConversion(format, value);
        if (HasFatalFailure())
          return;
      }
    }
}

TEST(ElementFormatTest, AllTiesAndTheirNeighboursConvertAsInApFloat) {
  for (ElementFormat format : roundedFormats) {
    const FormatInfo &info = getFormatInfo(format);
    // One code beyond the largest: the limit of what still rounds down to it.
    for (uint32_t code = 0; code < 1u << (info.bits - 1); ++code) {
      double low = decode(format, code);
      if (!std::isfinite(low))
        break;
      double high = decode(format, code + 1);
      double step = std::isfinite(high) && high > low
                        ? high - low
                        : low - decode(format, code - 1);
      // The middle of two bf16 codes has 9 significant bits, of f16 codes 12:
      // exact in f32, subnormal bf16 ones included.
      double tie = low + step / 2;
      float exact = static_cast<float>(tie);
      ASSERT_EQ(exact, tie);
      uint32_t bits = bitsOf(exact);
      for (float value : {floatOf(bits - 1), exact, floatOf(bits + 1),
                          static_cast<float>(low),
                          floatOf(bitsOf(static_cast<float>(low)) + 1)})
        for (double signedValue : {double(value), -double(value)}) {
          checkConversion(format, signedValue);
          // Closer than any f32: a rounding to f32 in between would show.
          checkConversion(format, std::nextafter(signedValue, 0.0));
          checkConversion(format, std::nextafter(signedValue, 1e9));
          if (HasFatalFailure())
            return;
        }
    }
  }
}

TEST(ElementFormatTest, AnF32SampleConvertsAsInApFloat) {
  for (uint32_t i = 0; i < 400000; ++i) {
    // Half of the sample over all f32, half near the range of the small
    // formats.
    uint32_t bits = hash(i);
    if (i % 2)
      bits = (bits & 0x807FFFFF) | (127 - 18 + hash(i + 7000000) % 36) << 23;
    for (ElementFormat format : roundedFormats) {
      checkConversion(format, floatOf(bits));
      if (HasFatalFailure())
        return;
    }
  }
}

TEST(ElementFormatTest, F32RoundsDoublesLikeTheMachine) {
  for (uint32_t i = 0; i < 400000; ++i) {
    // Exponents around f32's subnormals and overflow, and in between.
    int exponent = i % 3 == 0   ? -155 + int(hash(i) % 40)
                   : i % 3 == 1 ? 120 + int(hash(i) % 12)
                                : -20 + int(hash(i) % 40);
    double value = std::ldexp(1.0 + hash(i + 1) * 0x1p-32 +
                                  (i % 5 ? hash(i + 2) * 0x1p-52 : 0),
                              exponent);
    ASSERT_EQ(encode(ElementFormat::F32, value),
              bitsOf(static_cast<float>(value)));
    ASSERT_EQ(encode(ElementFormat::F32, -value),
              bitsOf(static_cast<float>(-value)));
  }
}

TEST(ElementFormatTest, LegalScalesAreExactlyThoseOfTheTable) {
  int legal = 0;
  for (const FormatInfo &element : getFormats())
    for (const FormatInfo &scale : getFormats())
      for (int64_t blockSize = -32; blockSize <= 64; ++blockSize)
        legal += isLegalBlockScale(element.format, scale.format, blockSize);
  EXPECT_EQ(legal, 5);
  EXPECT_TRUE(
      isLegalBlockScale(ElementFormat::F4E2M1FN, ElementFormat::F8E4M3FN, 16));
  EXPECT_TRUE(
      isLegalBlockScale(ElementFormat::F4E2M1FN, ElementFormat::F8E8M0FNU, 16));
  EXPECT_TRUE(
      isLegalBlockScale(ElementFormat::F4E2M1FN, ElementFormat::F8E8M0FNU, 32));
  EXPECT_TRUE(
      isLegalBlockScale(ElementFormat::F8E4M3FN, ElementFormat::F8E8M0FNU, 32));
  EXPECT_TRUE(
      isLegalBlockScale(ElementFormat::F8E5M2, ElementFormat::F8E8M0FNU, 32));
}

} // namespace
