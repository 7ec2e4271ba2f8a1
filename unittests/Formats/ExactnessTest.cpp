//===- ExactnessTest.cpp - Scaled values that bf16 and f16 hold exactly ---===//
//
// Where a target has no block-scaled instruction, operands are multiplied by
// their scales in bf16 or f16. That is right only because no product rounds;
// these tests look at every code with every scale.
//
//===----------------------------------------------------------------------===//

#include "tile/Formats/ElementFormat.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace tile;

namespace {

bool isExact(ElementFormat format, double value) {
  return decode(format, encode(format, value)) == value;
}

/// Whether `target` holds every finite code of `element` times the scale.
bool isExactForAllCodes(ElementFormat target, ElementFormat element,
                        double scale) {
  for (uint32_t code = 0; code < 1u << getFormatInfo(element).bits; ++code) {
    double value = decode(element, code);
    if (std::isfinite(value) && !isExact(target, value * scale))
      return false;
  }
  return true;
}

/// Checks that the E8M0 bytes for which everything is exact are `first` to
/// `last`, and no others.
void checkE8M0Range(ElementFormat target, ElementFormat element, uint32_t first,
                    uint32_t last) {
  for (uint32_t byte = 0; byte < 0xFF; ++byte)
    EXPECT_EQ(isExactForAllCodes(target, element,
                                 decode(ElementFormat::F8E8M0FNU, byte)),
              first <= byte && byte <= last)
        << getFormatInfo(element).name.str() << " in "
        << getFormatInfo(target).name.str() << ", scale byte " << byte;
}

TEST(ExactnessTest, EveryFp4ByE4M3ProductIsExactInBf16AndF16) {
  for (uint32_t byte = 0; byte < 0x7F; ++byte) {
    double scale = decode(ElementFormat::F8E4M3FN, byte);
    for (uint32_t code = 0; code < 16; ++code) {
      double product = decode(ElementFormat::F4E2M1FN, code) * scale;
      EXPECT_TRUE(isExact(ElementFormat::BF16, product)) << code << " " << byte;
      EXPECT_TRUE(isExact(ElementFormat::F16, product)) << code << " " << byte;
    }
  }
}

TEST(ExactnessTest, Fp4ByE4M3ProductsNeedSixBits) {
  // So that one more scale of E4M3 would not fit bf16: the limit is real.
  unsigned most = 0;
  for (uint32_t byte = 1; byte < 0x7F; ++byte)
    for (uint32_t code = 1; code < 8; ++code) {
      int exponent;
      double significand = std::frexp(decode(ElementFormat::F8E4M3FN, byte) *
                                          decode(ElementFormat::F4E2M1FN, code),
                                      &exponent);
      unsigned bits = 0;
      for (; significand != std::floor(significand); ++bits)
        significand *= 2;
      most = std::max(most, bits);
    }
  EXPECT_EQ(most, 6u);
}

TEST(ExactnessTest, E8M0ScaledProductsAreExactInBf16WithinTheStatedBytes) {
  checkE8M0Range(ElementFormat::BF16, ElementFormat::F4E2M1FN, 0, 252);
  checkE8M0Range(ElementFormat::BF16, ElementFormat::F8E4M3FN, 3, 246);
  checkE8M0Range(ElementFormat::BF16, ElementFormat::F8E5M2, 10, 239);
}

TEST(ExactnessTest, E8M0ScaledProductsAreExactInF16WithinTheStatedBytes) {
  checkE8M0Range(ElementFormat::F16, ElementFormat::F4E2M1FN, 104, 140);
  checkE8M0Range(ElementFormat::F16, ElementFormat::F8E4M3FN, 112, 134);
  checkE8M0Range(ElementFormat::F16, ElementFormat::F8E5M2, 119, 127);
}

TEST(ExactnessTest, EveryScaledValueIsExactInF32BelowItsOverflow) {
  for (ElementFormat element : {ElementFormat::F4E2M1FN,
                                ElementFormat::F8E4M3FN, ElementFormat::F8E5M2})
    for (uint32_t byte = 0; byte < 0xFF; ++byte)
      for (uint32_t code = 0; code < 1u << getFormatInfo(element).bits;
           ++code) {
        double value = decode(element, code);
        double product = value * decode(ElementFormat::F8E8M0FNU, byte);
        if (std::isfinite(value) && std::fabs(product) < 0x1p128) {
          EXPECT_TRUE(isExact(ElementFormat::F32, product));
        }
      }
}

} // namespace
