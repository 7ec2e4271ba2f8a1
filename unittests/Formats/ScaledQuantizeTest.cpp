//===- ScaledQuantizeTest.cpp - Quantisation in blocks --------------------===//

#include "tile/Formats/ScaledQuantize.h"

#include "tile/Formats/Float4.h"
#include "tile/Formats/ScaleStorage.h"

#include "TestUtils.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tile;
using namespace tile::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

constexpr ElementFormat e2m1 = ElementFormat::F4E2M1FN;
constexpr ElementFormat e4m3 = ElementFormat::F8E4M3FN;
constexpr ElementFormat e5m2 = ElementFormat::F8E5M2;

/// Values of both signs between 2^-5 and 2^3.
std::vector<float> makeValues(int64_t count, uint32_t seed = 0) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t h = hash(static_cast<uint32_t>(i) + seed * 0x10000000);
    values[i] = floatOf((h & 0x807FFFFF) | (122 + h / 0x800000 % 8) << 23);
  }
  return values;
}

/// Largest magnitude of one block.
double getMax(const std::vector<float> &values, int64_t columns, int64_t row,
              int64_t begin, int64_t blockSize) {
  double max = 0;
  for (int64_t k = begin; k < std::min(begin + blockSize, columns); ++k)
    max = std::max(max, std::fabs(double(values[row * columns + k])));
  return max;
}

//===----------------------------------------------------------------------===//
// NVFP4
//===----------------------------------------------------------------------===//

TEST(ScaledQuantizeTest, Nvfp4HasTheDocumentedSizes) {
  QuantizedMatrix matrix =
      get(quantizeNvfp4(makeValues(2048 * 2048), 2048, 2048));
  EXPECT_EQ(matrix.codes.size(), 2048u * 1024);
  EXPECT_EQ(matrix.scales.size(), 2048u * 128);
  EXPECT_EQ(matrix.getRowBytes(), 1024);
  EXPECT_EQ(matrix.getScaleColumns(), 128);
  EXPECT_FALSE(verifyQuantized(matrix));
}

TEST(ScaledQuantizeTest, PackedColumnsAreNotTakenForValues) {
  // The packed extent of 64 values is 32.
  EXPECT_MESSAGE(quantizeNvfp4(makeValues(4 * 64), 4, 32),
                 "expects 4x32 values, but got 256");
}

TEST(ScaledQuantizeTest, CodesAreComputedWithTheStoredScale) {
  // 1.3 / 6 = 0.21667 is stored as 0.21875. 0.0544 is a quarter of neither, and
  // on different sides of the two.
  std::vector<float> values(16, 0.0f);
  values[0] = 1.3f;
  values[5] = 0.0544f;
  values[6] = 0.0550f;
  QuantizedMatrix matrix = get(quantizeNvfp4(values, 1, 16));
  EXPECT_EQ(decodeUE4M3(matrix.scales[0]), 0.21875);
  EXPECT_EQ(matrix.getCode(0, 0), 0x7);
  EXPECT_EQ(matrix.getCode(0, 5), 0x0);
  EXPECT_EQ(matrix.getCode(0, 6), 0x1);
}

TEST(ScaledQuantizeTest, EveryNvfp4CodeIsTheNearestToItsValue) {
  const int64_t rows = 64, columns = 96;
  std::vector<float> values = makeValues(rows * columns);
  for (float globalScale : {1.0f, computeGlobalScale(values)}) {
    QuantizedMatrix matrix =
        get(quantizeNvfp4(values, rows, columns, globalScale));
    EXPECT_EQ(matrix.saturatedBlocks, 0);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t k = 0; k < columns; ++k) {
        double value = values[row * columns + k];
        double error = std::fabs(matrix.getValue(row, k) - value);
        double scale =
            decodeUE4M3(matrix.scales[row * 6 + k / 16]) * double(globalScale);
        for (uint32_t code = 0; code < 16; ++code)
          ASSERT_LE(error, std::fabs(decode(e2m1, code) * scale - value));
      }
  }
}

TEST(ScaledQuantizeTest, RoundTripsKeepTheErrorOfTheFormat) {
  for (int64_t rows : {1, 7, 16, 32, 100, 384, 512, 1024})
    for (int64_t columns : {64, 256, 2048}) {
      std::vector<float> values =
          makeValues(rows * columns, static_cast<uint32_t>(rows));
      float globalScale = computeGlobalScale(values);
      QuantizedMatrix matrix =
          get(quantizeNvfp4(values, rows, columns, globalScale));
      std::vector<float> back = get(dequantize(matrix));
      ASSERT_EQ(back.size(), values.size());
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t begin = 0; begin < columns; begin += 16) {
          ASSERT_NE(matrix.scales[row * columns / 16 + begin / 16], 0);
          // Half the largest step of E2M1, 1, times the scale, which is at most
          // 1/16 above max / 6.
          double bound =
              getMax(values, columns, row, begin, 16) / 6 * (1 + 1.0 / 16);
          for (int64_t k = row * columns + begin;
               k < row * columns + begin + 16; ++k)
            ASSERT_LE(std::fabs(double(back[k]) - values[k]), bound);
        }
    }
}

TEST(ScaledQuantizeTest, OneLevelCountsTheBlocksThatClip) {
  std::vector<float> values = makeValues(64);
  values[3] = 5376.0f;
  values[40] = -2688.0f; // The largest that fits.
  QuantizedMatrix matrix = get(quantizeNvfp4(values, 1, 64));
  EXPECT_EQ(matrix.saturatedBlocks, 1);
  EXPECT_EQ(matrix.scales[0], 0x7E);
  EXPECT_EQ(matrix.getValue(0, 3), 2688.0);
  EXPECT_EQ(matrix.getValue(0, 40), -2688.0);
  values[40] = std::nextafter(2688.0f, infinity);
  EXPECT_EQ(get(quantizeNvfp4(values, 1, 64)).saturatedBlocks, 2);
}

TEST(ScaledQuantizeTest, TwoLevelsReproduceWhatOneLevelClips) {
  std::vector<float> values = makeValues(64);
  values[3] = 5376.0f;
  float globalScale = computeGlobalScale(values);
  EXPECT_EQ(globalScale, 2.0f);
  QuantizedMatrix matrix = get(quantizeNvfp4(values, 1, 64, globalScale));
  EXPECT_EQ(matrix.saturatedBlocks, 0);
  EXPECT_EQ(matrix.getValue(0, 3), 5376.0);
}

TEST(ScaledQuantizeTest, TheComputedGlobalScaleNeverClips) {
  for (uint32_t i = 0; i < 20000; ++i) {
    float max = floatOf(hash(i) & 0x7FFFFFFF);
    if (i % 4 == 0)
      max = floatOf(hash(i) % 0x00800000); // Subnormal
    if (!std::isfinite(max) || max == 0)
      continue;
    float globalScale = computeGlobalScale({max});
    ASSERT_GT(globalScale, 0);
    QuantizedMatrix matrix = get(quantizeNvfp4({max}, 1, 1, globalScale));
    ASSERT_EQ(matrix.saturatedBlocks, 0) << max;
    ASSERT_NEAR(matrix.getValue(0, 0) / max, 1, 0x1p-4 + 0x1p-20) << max;
  }
}

TEST(ScaledQuantizeTest, ZerosHaveZeroScalesAndCodes) {
  std::vector<float> values(32, 0.0f);
  EXPECT_EQ(computeGlobalScale(values), 1.0f);
  QuantizedMatrix matrix = get(quantizeNvfp4(values, 1, 32));
  EXPECT_EQ(matrix.scales, (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(matrix.codes, std::vector<uint8_t>(16, 0));
  EXPECT_EQ(get(dequantize(matrix)), values);
}

TEST(ScaledQuantizeTest, AZeroBlockBesideATinyMaximumGetsNoNaNScale) {
  std::vector<float> values(32, 0.0f);
  values[20] = 0x1p-140f;
  QuantizedMatrix matrix =
      get(quantizeNvfp4(values, 1, 32, computeGlobalScale(values)));
  EXPECT_TRUE(findNaNScales(matrix.scales, matrix.scale).empty());
  EXPECT_LE(matrix.scales[0], 0x7E);
  std::vector<float> back = get(dequantize(matrix));
  for (int k = 0; k < 16; ++k)
    EXPECT_EQ(back[k], 0.0f);
  EXPECT_GT(back[20], 0.0f);
}

TEST(ScaledQuantizeTest, AScaleThatRoundsToZeroMakesItsBlockZero) {
  // 2^-11 * 6 over 6 is below half of E4M3's smallest value, 2^-9.
  std::vector<float> values(16, 6 * 0x1p-11f);
  QuantizedMatrix matrix = get(quantizeNvfp4(values, 1, 16));
  EXPECT_EQ(matrix.scales[0], 0);
  EXPECT_EQ(matrix.codes, std::vector<uint8_t>(8, 0));
}

TEST(ScaledQuantizeTest, MultiplierAndDivisorAreReciprocal) {
  std::vector<float> values = makeValues(64);
  values[11] = 10.0f;
  float multiplier = computeGlobalScale(values);
  EXPECT_NEAR(multiplier, 0.0037202, 1e-7);
  float divisor = 268.8f; // What compressed-tensors stores.
  float imported = get(getMultiplier(divisor, GlobalScaleKind::Divisor));
  EXPECT_NEAR(imported, multiplier, multiplier * 0x1p-22);
  // What we write is a multiplier: reading it again does not invert it.
  EXPECT_EQ(get(getMultiplier(multiplier, GlobalScaleKind::Multiplier)),
            multiplier);

  QuantizedMatrix a = get(quantizeNvfp4(values, 1, 64, multiplier));
  QuantizedMatrix b = get(quantizeNvfp4(values, 1, 64, imported));
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_EQ(a.scales, b.scales);
}

TEST(ScaledQuantizeTest, BadGlobalScalesAreErrors) {
  for (float scale : {0.0f, -1.0f, nan, infinity}) {
    EXPECT_MESSAGE(quantizeNvfp4(makeValues(16), 1, 16, scale),
                   "expects a finite, positive global scale, but got");
    EXPECT_MESSAGE(getMultiplier(scale, GlobalScaleKind::Multiplier),
                   "finite, positive");
  }
  EXPECT_MESSAGE(getMultiplier(0x1p-149f, GlobalScaleKind::Divisor),
                 "reciprocal");
}

//===----------------------------------------------------------------------===//
// MX formats
//===----------------------------------------------------------------------===//

/// The scale byte of a block with one value.
unsigned getScaleByte(float max, ElementFormat element, ExponentRule rule) {
  return get(quantizeMx({max}, 1, 1, element, rule)).scales[0];
}

TEST(ScaledQuantizeTest, TheFloorRuleTakesTheExponentOfTheMaximum) {
  EXPECT_EQ(getScaleByte(2.7f, e2m1, ExponentRule::Floor), 126u);
  EXPECT_EQ(getScaleByte(5.5f, e2m1, ExponentRule::Floor), 127u);
  EXPECT_EQ(getScaleByte(1.2f, e2m1, ExponentRule::Floor), 125u);
}

TEST(ScaledQuantizeTest, TheRulesDifferWhereTheFloorRuleClips) {
  auto getValue = [](ExponentRule rule) {
    return get(quantizeMx({957.0f}, 1, 1, e4m3, rule)).getValue(0, 0);
  };
  EXPECT_EQ(getValue(ExponentRule::Floor), 896);
  EXPECT_EQ(getValue(ExponentRule::Ceil), 960);
  EXPECT_EQ(getValue(ExponentRule::Even), 896);
  // 7 lies between 6 * 2^0 and 4 * 2^1; its two significant bits round to 8.
  EXPECT_EQ(getScaleByte(7.0f, e2m1, ExponentRule::Floor), 127u);
  EXPECT_EQ(getScaleByte(7.0f, e2m1, ExponentRule::Even), 128u);
  EXPECT_EQ(getScaleByte(6.99f, e2m1, ExponentRule::Even), 127u);
  EXPECT_EQ(getScaleByte(6.99f, e2m1, ExponentRule::Ceil), 128u);
  EXPECT_EQ(getScaleByte(6.0f, e2m1, ExponentRule::Ceil), 127u);
}

TEST(ScaledQuantizeTest, ExponentsOfEveryRuleMatchTheirDefinition) {
  for (ElementFormat element : {e2m1, e4m3, e5m2}) {
    const FormatInfo &info = getFormatInfo(element);
    for (uint32_t i = 0; i < 50000; ++i) {
      uint32_t bits = hash(i) & 0x7FFFFFFF;
      if (i % 3 == 0)
        bits &= 0x7FF00000; // Few significant bits: ties and exact maxima.
      float max = floatOf(bits);
      if (!std::isfinite(max) || max == 0)
        continue;
      auto clampByte = [](int exponent) {
        return static_cast<unsigned>(std::clamp(exponent, -127, 127) + 127);
      };
      int emax = std::ilogb(info.max);
      ASSERT_EQ(getScaleByte(max, element, ExponentRule::Floor),
                clampByte(std::ilogb(double(max)) - emax));
      // The smallest power of two that brings the value into range.
      int ceil = -300;
      while (double(max) > std::ldexp(info.max, ceil))
        ++ceil;
      ASSERT_EQ(getScaleByte(max, element, ExponentRule::Ceil),
                clampByte(ceil));
      // Round to the element's significant bits by adding half of the last one.
      int exponent = std::ilogb(double(max));
      double half = std::ldexp(1.0, exponent - int(info.mantissaBits) - 1);
      ASSERT_EQ(getScaleByte(max, element, ExponentRule::Even),
                clampByte(std::ilogb(double(max) + half) - emax));
    }
  }
}

TEST(ScaledQuantizeTest, OnlyTheCeilRuleNeverClips) {
  const int64_t rows = 64, columns = 128;
  std::vector<float> values = makeValues(rows * columns);
  for (ElementFormat element : {e2m1, e4m3, e5m2}) {
    int64_t clipped[3] = {};
    for (ExponentRule rule :
         {ExponentRule::Floor, ExponentRule::Even, ExponentRule::Ceil}) {
      QuantizedMatrix matrix =
          get(quantizeMx(values, rows, columns, element, rule));
      int64_t expected = 0;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t block = 0; block < 4; ++block) {
          double scale =
              decode(ElementFormat::F8E8M0FNU, matrix.scales[row * 4 + block]);
          expected += getMax(values, columns, row, block * 32, 32) >
                      getFormatInfo(element).max * scale;
        }
      EXPECT_EQ(matrix.saturatedBlocks, expected);
      clipped[static_cast<int>(rule)] = expected;
    }
    EXPECT_EQ(clipped[static_cast<int>(ExponentRule::Ceil)], 0);
    EXPECT_GT(clipped[static_cast<int>(ExponentRule::Floor)], 0);
    EXPECT_LE(clipped[static_cast<int>(ExponentRule::Even)],
              clipped[static_cast<int>(ExponentRule::Floor)]);
  }
}

TEST(ScaledQuantizeTest, EveryMxCodeIsTheNearestToItsValue) {
  const int64_t rows = 16, columns = 96;
  std::vector<float> values = makeValues(rows * columns);
  for (ElementFormat element : {e2m1, e4m3, e5m2}) {
    QuantizedMatrix matrix =
        get(quantizeMx(values, rows, columns, element, ExponentRule::Floor));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t k = 0; k < columns; ++k) {
        double value = values[row * columns + k];
        double error = std::fabs(matrix.getValue(row, k) - value);
        double scale =
            decode(ElementFormat::F8E8M0FNU, matrix.scales[row * 3 + k / 32]);
        for (uint32_t code = 0; code < 1u << getFormatInfo(element).bits;
             ++code) {
          double other = decode(element, code) * scale;
          if (std::isfinite(other)) {
            ASSERT_LE(error, std::fabs(other - value));
          }
        }
      }
  }
}

TEST(ScaledQuantizeTest, ExtremeMagnitudesClampTheExponent) {
  float max = std::numeric_limits<float>::max();
  EXPECT_EQ(getScaleByte(0x1p-149f, e5m2, ExponentRule::Floor), 0u);
  EXPECT_EQ(getScaleByte(0x1p-120f, e4m3, ExponentRule::Floor), 0u);
  EXPECT_EQ(getScaleByte(0x1p-118f, e4m3, ExponentRule::Floor), 1u);
  EXPECT_EQ(getScaleByte(max, e2m1, ExponentRule::Floor), 252u);
  EXPECT_EQ(getScaleByte(max, e2m1, ExponentRule::Ceil), 253u);
  QuantizedMatrix matrix =
      get(quantizeMx({0x1p-136f, -0x1p-128f}, 1, 2, e4m3, ExponentRule::Floor));
  EXPECT_EQ(get(dequantize(matrix)),
            (std::vector<float>{0x1p-136f, -0x1p-128f}));
}

TEST(ScaledQuantizeTest, AZeroBlockHasTheSmallestMxScale) {
  // Byte 0 is 2^-127 and not 0; the codes make the block zero.
  QuantizedMatrix matrix = get(quantizeMx(std::vector<float>(32, 0.0f), 1, 32,
                                          e4m3, ExponentRule::Ceil));
  EXPECT_EQ(matrix.scales[0], 0x00);
  EXPECT_EQ(get(dequantize(matrix)), std::vector<float>(32, 0.0f));
}

TEST(ScaledQuantizeTest, Mxfp4AlsoTakesBlocksOf16) {
  QuantizedMatrix matrix =
      get(quantizeMx(makeValues(2 * 48), 2, 48, e2m1, ExponentRule::Even, 16));
  EXPECT_EQ(matrix.scales.size(), 6u);
  EXPECT_FALSE(verifyQuantized(matrix));
}

TEST(ScaledQuantizeTest, FormatsOutsideTheTableAreErrors) {
  std::vector<float> values = makeValues(32);
  EXPECT_MESSAGE(quantizeMx(values, 1, 32, e4m3, ExponentRule::Floor, 16),
                 "but got f8E4M3FN with f8E8M0FNU scales over 16");
  EXPECT_MESSAGE(
      quantizeMx(values, 1, 32, ElementFormat::BF16, ExponentRule::Floor),
      "but got bf16 with");
  EXPECT_MESSAGE(quantizeMx(values, 1, 32, e2m1, ExponentRule::Floor, 0),
                 "scales over 0");
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

TEST(ScaledQuantizeTest, NaNAndInfinityPoisonTheirBlockAlone) {
  for (float bad : {nan, infinity, -infinity}) {
    std::vector<float> values = makeValues(128);
    values[37] = bad;
    for (ElementFormat element : {e2m1, e4m3, e5m2}) {
      QuantizedMatrix matrix =
          get(quantizeMx(values, 1, 128, element, ExponentRule::Floor));
      EXPECT_EQ(matrix.scales[1], 0xFF);
      std::vector<float> back = get(dequantize(matrix));
      for (int k = 0; k < 128; ++k)
        EXPECT_EQ(std::isnan(back[k]), k / 32 == 1) << k;
    }
    // The global scale does not see it.
    float globalScale = computeGlobalScale(values);
    EXPECT_TRUE(std::isfinite(globalScale));
    QuantizedMatrix matrix = get(quantizeNvfp4(values, 1, 128, globalScale));
    EXPECT_EQ(matrix.scales[2], 0x7F);
    std::vector<float> back = get(dequantize(matrix));
    for (int k = 0; k < 128; ++k)
      EXPECT_EQ(std::isnan(back[k]), k / 16 == 2) << k;
  }
}

TEST(ScaledQuantizeTest, AShortLastBlockHasItsOwnScale) {
  for (int64_t columns : {1, 15, 17, 31, 33, 63, 2879}) {
    std::vector<float> values = makeValues(3 * columns);
    QuantizedMatrix nvfp4 = get(quantizeNvfp4(values, 3, columns));
    QuantizedMatrix mx =
        get(quantizeMx(values, 3, columns, e4m3, ExponentRule::Ceil));
    EXPECT_EQ(int64_t(nvfp4.scales.size()), 3 * ((columns + 15) / 16));
    EXPECT_EQ(int64_t(nvfp4.codes.size()), 3 * ((columns + 1) / 2));
    EXPECT_EQ(int64_t(mx.scales.size()), 3 * ((columns + 31) / 32));
    EXPECT_FALSE(verifyQuantized(nvfp4));
    EXPECT_FALSE(verifyQuantized(mx));
    // A row does not depend on its neighbours.
    for (int64_t row = 0; row < 3; ++row) {
      std::vector<float> one(values.begin() + row * columns,
                             values.begin() + (row + 1) * columns);
      QuantizedMatrix alone = get(quantizeNvfp4(one, 1, columns));
      for (int64_t k = 0; k < columns; ++k)
        EXPECT_EQ(alone.getValue(0, k), nvfp4.getValue(row, k));
    }
    // The padding of an odd row is zero.
    if (columns % 2) {
      EXPECT_EQ(Float4x2::fromBits(nvfp4.codes[columns / 2]).high(), 0);
    }
  }
}

TEST(ScaledQuantizeTest, DequantisedValuesQuantiseToThemselves) {
  std::vector<float> values = makeValues(16 * 64);
  for (ElementFormat element : {e2m1, e4m3, e5m2}) {
    QuantizedMatrix once =
        get(quantizeMx(values, 16, 64, element, ExponentRule::Ceil));
    std::vector<float> back = get(dequantize(once));
    QuantizedMatrix twice =
        get(quantizeMx(back, 16, 64, element, ExponentRule::Ceil));
    EXPECT_EQ(get(dequantize(twice)), back);
  }
}

TEST(ScaledQuantizeTest, EmptyMatricesAreLegal) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{0, 64}, {5, 0}}) {
    QuantizedMatrix matrix = get(quantizeNvfp4({}, rows, columns));
    EXPECT_FALSE(verifyQuantized(matrix));
    EXPECT_TRUE(get(dequantize(matrix)).empty());
  }
  EXPECT_TRUE(
      get(dequantize(get(quantizeMx({}, std::numeric_limits<int64_t>::max(), 0,
                                    e4m3, ExponentRule::Floor))))
          .empty());
}

TEST(ScaledQuantizeTest, ShapesThatDoNotFitAreErrors) {
  EXPECT_MESSAGE(quantizeNvfp4(makeValues(15), 1, 16),
                 "expects 1x16 values, but got 15");
  EXPECT_MESSAGE(quantizeNvfp4(makeValues(16), -1, -16),
                 "expects extents that are not negative");
  EXPECT_MESSAGE(quantizeNvfp4({}, int64_t(1) << 40, int64_t(1) << 40),
                 "values, but got 0");

  QuantizedMatrix matrix = get(quantizeNvfp4(makeValues(64), 2, 32));
  matrix.scales.pop_back();
  EXPECT_MESSAGE(dequantize(matrix), "expects 2x2 scales, but got 3");
  matrix = get(quantizeNvfp4(makeValues(64), 2, 32));
  matrix.codes.push_back(0);
  EXPECT_MESSAGE(dequantize(matrix), "expects 2x16 bytes of codes, but got 33");
  matrix = get(quantizeNvfp4(makeValues(64), 2, 32));
  matrix.blockSize = 0;
  EXPECT_MESSAGE(dequantize(matrix), "scales over 0");
}

TEST(ScaledQuantizeTest, RuleNamesFindTheirRules) {
  for (ExponentRule rule :
       {ExponentRule::Floor, ExponentRule::Ceil, ExponentRule::Even})
    EXPECT_EQ(findExponentRule(getExponentRuleName(rule)), rule);
  EXPECT_EQ(findExponentRule("round"), std::nullopt);
}

} // namespace
