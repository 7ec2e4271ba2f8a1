//===- ScaleStorageTest.cpp - How block scales are stored -----------------===//

#include "tile/Formats/ScaleStorage.h"

#include "TestUtils.h"

#include <cmath>
#include <limits>

using namespace tile;
using namespace tile::test;

namespace {

std::vector<uint8_t> makeAllBytes(unsigned count) {
  std::vector<uint8_t> bytes(count);
  for (unsigned i = 0; i < count; ++i)
    bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

TEST(ScaleStorageTest, EveryE8M0ByteIsAPowerOfTwoInF32) {
  std::vector<float> scales = decodeE8M0(makeAllBytes(256));
  for (unsigned byte = 0; byte < 255; ++byte)
    EXPECT_EQ(scales[byte], std::ldexp(1.0, int(byte) - 127));
  EXPECT_EQ(bitsOf(scales[0]), 0x00400000u); // 2^-127, not zero
  EXPECT_EQ(scales[127], 1.0f);
  EXPECT_TRUE(std::isnan(scales[255]));
}

TEST(ScaleStorageTest, E8M0BytesSurviveF32) {
  std::vector<uint8_t> bytes = makeAllBytes(256);
  EXPECT_EQ(get(encodeE8M0(decodeE8M0(bytes))), bytes);
  EXPECT_EQ(get(encodeE8M0(decodeE8M0(bytes), Rounding::Upward)), bytes);
}

TEST(ScaleStorageTest, MantissaBitsAreAnErrorUnlessARoundingIsNamed) {
  EXPECT_MESSAGE(encodeE8M0({1.0f, 2.0f, 3.0f}),
                 "scale 2: expects a power of two from 2^-127 to 2^127, or a "
                 "named rounding, but got 3");
  EXPECT_MESSAGE(encodeE8M0({std::nextafter(1.0f, 2.0f)}),
                 "but got 1.00000012");
  EXPECT_EQ(get(encodeE8M0({3.0f}, Rounding::TowardZero))[0], 0x80);
  EXPECT_EQ(get(encodeE8M0({3.0f}, Rounding::Upward))[0], 0x81);
  EXPECT_MESSAGE(encodeE8M0({2.0f}, Rounding::NearestEven),
                 "but got nearest even");
}

TEST(ScaleStorageTest, WhatE8M0CannotHoldIsAnErrorWithoutARounding) {
  EXPECT_MESSAGE(encodeE8M0({0.0f}), "but got 0");
  EXPECT_MESSAGE(encodeE8M0({0x1p-128f}), "expects a power of two");
  EXPECT_MESSAGE(encodeE8M0({std::numeric_limits<float>::infinity()}),
                 "but got inf");
  EXPECT_EQ(get(encodeE8M0({0.0f, 0x1p-128f}, Rounding::Upward)),
            (std::vector<uint8_t>{0, 0}));
}

TEST(ScaleStorageTest, NegativeScalesAreAlwaysErrors) {
  EXPECT_MESSAGE(encodeE8M0({1.0f, -2.0f}),
                 "scale 1: expects a scale that is not negative, but got -2");
  EXPECT_MESSAGE(encodeE8M0({-3.0f}, Rounding::Upward), "but got -3");
}

TEST(ScaleStorageTest, Int8ExponentsKeepEveryScaleThatFits) {
  std::vector<uint8_t> bytes = makeAllBytes(255);
  std::vector<int8_t> exponents = get(convertE8M0ToInt8(bytes, 0));
  for (unsigned byte = 0; byte < 255; ++byte)
    EXPECT_EQ(exponents[byte], int(byte) - 127);
  EXPECT_EQ(get(convertInt8ToE8M0(exponents, 0)), bytes);
}

TEST(ScaleStorageTest, ABiasShiftsTheExponent) {
  EXPECT_EQ(get(convertE8M0ToInt8({127, 130}, 10)),
            (std::vector<int8_t>{10, 13}));
  EXPECT_EQ(get(convertInt8ToE8M0({10, 13}, 10)),
            (std::vector<uint8_t>{127, 130}));
  EXPECT_EQ(get(convertE8M0ToInt8({0}, -1)), std::vector<int8_t>{-128});
}

TEST(ScaleStorageTest, Int8ExponentsOutOfRangeAreErrors) {
  EXPECT_MESSAGE(convertE8M0ToInt8({127, 0xFF}, 0),
                 "scale 1: expects a number");
  EXPECT_MESSAGE(convertE8M0ToInt8({254}, 1),
                 "expects an exponent in [-128, 127] with bias 1, but got 128");
  EXPECT_MESSAGE(convertInt8ToE8M0({-128}, 0), "but got 2^-128");
  EXPECT_MESSAGE(convertInt8ToE8M0({100}, -28), "but got 2^128 with bias -28");
  EXPECT_MESSAGE(convertE8M0ToInt8({127}, std::numeric_limits<int>::max()),
                 "but got 2147483647");
}

TEST(ScaleStorageTest, Ue4m3IgnoresTheSign) {
  for (unsigned byte = 0; byte < 128; ++byte) {
    double value = decode(ElementFormat::F8E4M3FN, byte);
    for (unsigned sign : {0u, 0x80u}) {
      double scale = decodeUE4M3(static_cast<uint8_t>(byte | sign));
      EXPECT_TRUE(scale == value || (byte == 0x7F && std::isnan(scale)))
          << byte;
    }
  }
}

TEST(ScaleStorageTest, Ue4m3ClampsAndNeverSetsTheSign) {
  EXPECT_EQ(encodeUE4M3(1e30), 0x7E);
  EXPECT_EQ(encodeUE4M3(-0.0), 0x00);
  EXPECT_EQ(encodeUE4M3(std::numeric_limits<double>::quiet_NaN()), 0x7F);
  for (unsigned byte = 0; byte < 0x7F; ++byte)
    EXPECT_EQ(encodeUE4M3(decodeUE4M3(static_cast<uint8_t>(byte))), byte);
}

TEST(ScaleStorageTest, NaNScalesAreFoundWithTheirIndices) {
  EXPECT_EQ(findNaNScales({0x7F, 0x00, 0xFF, 0x7E}, ElementFormat::F8E4M3FN),
            (std::vector<size_t>{0, 2}));
  EXPECT_EQ(findNaNScales({0x7F, 0x00, 0xFF, 0x7E}, ElementFormat::F8E8M0FNU),
            (std::vector<size_t>{2}));
}

} // namespace
