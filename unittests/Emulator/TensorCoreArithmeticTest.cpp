//===- TensorCoreArithmeticTest.cpp - Sums of tensor cores by hand --------===//
//
// Examples small enough to work out on paper. Powers of two make it plain what
// a step keeps: a term is lost where it lies below the last fraction bit that
// the largest exponent leaves.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreArithmetic.h"
#include "tile/Formats/ElementFormat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <vector>

using namespace tile;
using namespace tile::emulator;

namespace {

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

uint64_t hash(uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCD;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53;
  return x ^ x >> 33;
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

struct FormatPair {
  TensorFormat format;
  ElementFormat element;
};

TEST(TensorCoreFormatsTest, CodesHaveTheValuesOfTheirFormats) {
  const FormatPair pairs[] = {{TensorFormat::E2M1, ElementFormat::F4E2M1FN},
                              {TensorFormat::E4M3, ElementFormat::F8E4M3FN},
                              {TensorFormat::E5M2, ElementFormat::F8E5M2},
                              {TensorFormat::F16, ElementFormat::F16},
                              {TensorFormat::BF16, ElementFormat::BF16}};
  for (const FormatPair &pair : pairs)
    for (uint32_t code = 0; code >> getFormatInfo(pair.element).bits == 0;
         ++code) {
      double expected = decode(pair.element, code);
      double value = decodeCode(pair.format, code);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(value)) << code;
        continue;
      }
      EXPECT_EQ(value, expected) << code;
      EXPECT_EQ(std::signbit(value), std::signbit(expected)) << code;
    }
}

TEST(TensorCoreFormatsTest, SixBitCodesHaveTheValuesOfTheirFormats) {
  // OCP MX: e2m3 has bias 1 and counts in eighths, e3m2 has bias 3 and counts
  // in sixteenths; neither has a code that is no number.
  for (uint32_t code = 0; code != 64; ++code) {
    double sign = code & 32 ? -1 : 1;
    unsigned e = code >> 3 & 3, m = code & 7;
    EXPECT_EQ(decodeCode(TensorFormat::E2M3, code),
              sign * (e ? (8 + m) * (1u << (e - 1)) : m) / 8);
    e = code >> 2 & 7;
    m = code & 3;
    EXPECT_EQ(decodeCode(TensorFormat::E3M2, code),
              sign * (e ? (4 + m) * (1u << (e - 1)) : m) / 16);
  }
  EXPECT_EQ(decodeCode(TensorFormat::E2M3, 31), 7.5);
  EXPECT_EQ(decodeCode(TensorFormat::E3M2, 31), 28);
}

TEST(TensorCoreFormatsTest, ContainersHoldCodesWhereTheIsaPutsThem) {
  EXPECT_EQ(getContainerTable(TensorFormat::E2M1).values[0x7 << 2], 6);
  EXPECT_EQ(getContainerTable(TensorFormat::E2M1).values[0x9 << 2], -0.5);
  EXPECT_EQ(getContainerTable(TensorFormat::E2M1).padding, 0xC3C3C3C3);
  EXPECT_EQ(getContainerTable(TensorFormat::E2M3).values[0x3F], -7.5);
  EXPECT_EQ(getContainerTable(TensorFormat::E3M2).padding, 0xC0C0C0C0);
  EXPECT_EQ(getContainerTable(TensorFormat::E4M3).values[0xFE], -448);
  EXPECT_EQ(getContainerTable(TensorFormat::E4M3).padding, 0u);
  EXPECT_EQ(getPairTable().values[0x1A][0], -1);
  EXPECT_EQ(getPairTable().values[0x1A][1], 0.5);
}

TEST(TensorCoreFormatsTest, SubnormalsKeepTheExponentOfNormals) {
  // e4m3 0x01 is 2^-9: significand 1 of 3 mantissa bits, exponent -6.
  SplitValue value = splitCode(TensorFormat::E4M3, 0x81);
  EXPECT_EQ(value.significand, -1);
  EXPECT_EQ(value.exponent, -6);
  value = splitCode(TensorFormat::E4M3, 0x38);
  EXPECT_EQ(value.significand, 8);
  EXPECT_EQ(value.exponent, 0);
  EXPECT_EQ(splitCode(TensorFormat::E5M2, 0xFC).exponent,
            kNegativeInfinityExponent);
  EXPECT_EQ(splitCode(TensorFormat::E5M2, 0x7D).exponent, kNaNExponent);
  EXPECT_EQ(splitF32(0x00000001).exponent, -126);
}

TEST(TensorCoreFormatsTest, RoundsToF16Once) {
  auto expectSame = [](double value) {
    EXPECT_EQ(roundToF16(value), encode(ElementFormat::F16, value)) << value;
  };
  for (double value :
       {0.0, -0.0, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1.000001p-25, 0x1p-14,
        0x1.FFCp-15, 0x1.FFEp-15, 65504.0, 65519.0, 65520.0, 1e10,
        double(INFINITY), 1 + 0x1p-11, 1 + 0x1.8p-10,
        // Rounding by way of f32 would make this a tie.
        1 + 0x1p-11 + 0x1p-40}) {
    expectSame(value);
    expectSame(-value);
  }
  for (uint64_t i = 0; i != 20000; ++i) {
    uint64_t bits = hash(i);
    double value = std::ldexp(static_cast<double>(bits >> 11) - 0x1p52,
                              static_cast<int>(bits % 48) - 80);
    expectSame(value);
  }
  EXPECT_EQ(roundToF16(-NAN), 0x7FFF);
  EXPECT_EQ(roundToF32(-NAN), 0x7FFFFFFFu);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

TEST(TensorCoreHardwareTest, ResultsAreCutTowardZero) {
  constexpr TensorResult f32 = TensorResult::F32, f16 = TensorResult::F16;
  // 1 + 2^-23 + 2^-24 in units of 2^-24.
  EXPECT_EQ(roundFusedSum((1 << 24) + 3, -24, f32), 0x3F800001u);
  EXPECT_EQ(roundFusedSum(-(1 << 24) - 3, -24, f32), 0xBF800001u);
  EXPECT_EQ(roundFusedSum((1 << 24) + (1 << 11) + 1, -24, f32, 13),
            0x3F800400u);
  EXPECT_EQ(roundFusedSum((1 << 24) + (1 << 11) - 1, -24, f32, 13),
            0x3F800000u);
  EXPECT_EQ(roundFusedSum(0, -24, f32), 0u);
  // Subnormal results keep what 2^-149 holds.
  EXPECT_EQ(roundFusedSum(3, -150, f32), 1u);
  EXPECT_EQ(roundFusedSum(-1, -150, f32), 0x80000000u);
  EXPECT_EQ(roundFusedSum(int64_t(1) << 40, 87, f32), 0x7F000000u);
  EXPECT_EQ(roundFusedSum(-(int64_t(1) << 40), 88, f32), 0xFF800000u);
  // f16 is rounded to nearest even.
  EXPECT_EQ(roundFusedSum((1 << 11) + 1, -11, f16), 0x3C00u);
  EXPECT_EQ(roundFusedSum((1 << 11) + 3, -11, f16), 0x3C02u);
}

//===----------------------------------------------------------------------===//
// Fused sums
//===----------------------------------------------------------------------===//

/// One row and column of a multiply: pairs of factors, zero where not given.
struct Fused {
  unsigned architecture;
  TensorInput input;
  TensorFormat format;
  ElementFormat element;
  unsigned k;

  struct Product {
    unsigned k;
    double a, b;
  };

  uint32_t run(uint32_t c, std::vector<Product> products,
               TensorResult result = TensorResult::F32) const {
    // Column 5 of row 2, so that a wrong index finds zeros.
    constexpr unsigned kRows = 4, kRow = 2, kColumn = 5;
    std::vector<int32_t> sa(kRows * k), ea(kRows * k, kZeroExponent);
    std::vector<int32_t> sb(k * 8), eb(k * 8, kZeroExponent);
    for (const Product &product : products) {
      SplitValue a = splitCode(format, encode(element, product.a));
      SplitValue b = splitCode(format, encode(element, product.b));
      sa[kRow * k + product.k] = a.significand;
      ea[kRow * k + product.k] = a.exponent;
      sb[product.k * 8 + kColumn] = b.significand;
      eb[product.k * 8 + kColumn] = b.exponent;
    }
    SplitOperands operands;
    operands.rows = kRows;
    operands.k = k;
    operands.significandsA = sa.data();
    operands.exponentsA = ea.data();
    operands.significandsB = sb.data();
    operands.exponentsB = eb.data();
    operands.mantissaBits = 2 * getNumberFormat(format).mantissaBits;
    std::vector<uint32_t> accumulators(kRows * 8, 0x3F000000);
    accumulators[kRow * 8 + kColumn] = c;
    TensorModel model = getTensorModel(architecture, input);
    if (model.method == TensorModel::Method::Halves)
      multiplyHalves(operands, model, result, accumulators.data());
    else
      multiplyFused(operands, model, result, accumulators.data());
    if (result == TensorResult::F32) {
      EXPECT_EQ(accumulators[0], 0x3F000000u);
    }
    return accumulators[kRow * 8 + kColumn];
  }
};

Fused f16On(unsigned architecture) {
  return {architecture, TensorInput::F16, TensorFormat::F16, ElementFormat::F16,
          16};
}

TEST(TensorCoreHardwareTest, TermsBelowTheLastBitAreLost) {
  const uint32_t minusOne = bitsOf(-1);
  // Beside 1, sm_80 keeps 24 bits and sm_90 25.
  EXPECT_EQ(f16On(80).run(minusOne, {{0, 1, 1}, {1, 0x1p-12, 0x1p-12}}),
            bitsOf(0x1p-24f));
  EXPECT_EQ(f16On(80).run(minusOne, {{0, 1, 1}, {1, 0x1p-12, 0x1p-13}}), 0u);
  EXPECT_EQ(f16On(90).run(minusOne, {{0, 1, 1}, {1, 0x1p-12, 0x1p-13}}),
            bitsOf(0x1p-25f));
  EXPECT_EQ(f16On(90).run(minusOne, {{0, 1, 1}, {1, 0x1p-13, 0x1p-13}}), 0u);
  EXPECT_EQ(f16On(120).run(minusOne, {{0, 1, 1}, {1, 0x1p-13, 0x1p-13}}), 0u);
  // Cut toward zero, whatever the sign: not 1 minus a bit.
  EXPECT_EQ(f16On(80).run(bitsOf(1), {{1, -0x1p-12, 0x1p-13}}), bitsOf(1));
  // The largest exponent may be that of C.
  EXPECT_EQ(f16On(80).run(bitsOf(0x1p24f), {{0, 1.5, 1}}), bitsOf(0x1p24f));
  EXPECT_EQ(f16On(80).run(bitsOf(0x1p23f), {{0, 1.75, 1}}),
            bitsOf(0x1p23f + 1));
}

TEST(TensorCoreHardwareTest, AmpereAddsInStepsOfEight) {
  const uint32_t minusOne = bitsOf(-1);
  // C and the first step cancel, and the second step starts from zero.
  EXPECT_EQ(f16On(80).run(minusOne, {{0, 1, 1}, {8, 0x1p-12, 0x1p-14}}),
            bitsOf(0x1p-26f));
  EXPECT_EQ(f16On(89).run(minusOne, {{7, 1, 1}, {15, 0x1p-12, 0x1p-14}}),
            bitsOf(0x1p-26f));
  // In the other order it is lost before C cancels.
  EXPECT_EQ(f16On(80).run(minusOne, {{0, 0x1p-12, 0x1p-14}, {8, 1, 1}}), 0u);
  // sm_90 adds all sixteen at once.
  EXPECT_EQ(f16On(90).run(minusOne, {{0, 1, 1}, {8, 0x1p-12, 0x1p-14}}), 0u);
  // Between its steps an f16 accumulator is rounded to f16.
  EXPECT_EQ(
      f16On(80).run(0, {{0, 2048, 1}, {1, 1, 1}, {8, 1, 1}}, TensorResult::F16),
      encode(ElementFormat::F16, 2048));
  EXPECT_EQ(
      f16On(90).run(0, {{0, 2048, 1}, {1, 1, 1}, {8, 1, 1}}, TensorResult::F16),
      encode(ElementFormat::F16, 2050));
}

TEST(TensorCoreHardwareTest, ProductsAreNotNormalized) {
  // 1.5 * 1.5 = 2.25 counts as having exponent 0, so that 2^-24 survives.
  EXPECT_EQ(
      f16On(80).run(0, {{0, 1.5, 1.5}, {1, -1.5, 1.5}, {2, 0x1p-12, 0x1p-12}}),
      bitsOf(0x1p-24f));
  // A subnormal f16 counts as having exponent -14, so that C = 2^-40 is lost.
  EXPECT_EQ(f16On(80).run(bitsOf(0x1p-40f), {{3, 0x1p-24, 1}}),
            bitsOf(0x1p-24f));
  EXPECT_EQ(f16On(80).run(bitsOf(0x1p-40f), {{3, 0x1p-14, 0x1p-10}}),
            bitsOf(0x1p-24f + 0x1p-40f));
}

TEST(TensorCoreHardwareTest, ZeroesDoNotHideSmallTerms) {
  EXPECT_EQ(f16On(80).run(bitsOf(0x1p-120f), {{0, 0, 65504}}),
            bitsOf(0x1p-120f));
  EXPECT_EQ(f16On(80).run(0x00000001, {}), 1u);
  EXPECT_EQ(f16On(80).run(0x80000000, {}), 0u);
}

TEST(TensorCoreHardwareTest, Tf32TakesFourAtATimeOnAmpere) {
  Fused ampere = {80, TensorInput::TF32, TensorFormat::BF16,
                  ElementFormat::BF16, 8};
  ampere.input = TensorInput::TF32;
  Fused hopper = ampere;
  hopper.architecture = 90;
  EXPECT_EQ(ampere.run(bitsOf(-1), {{0, 1, 1}, {4, 0x1p-15, 0x1p-15}}),
            bitsOf(0x1p-30f));
  EXPECT_EQ(ampere.run(bitsOf(-1), {{0, 1, 1}, {3, 0x1p-15, 0x1p-15}}), 0u);
  EXPECT_EQ(hopper.run(bitsOf(-1), {{0, 1, 1}, {4, 0x1p-15, 0x1p-15}}), 0u);
}

TEST(TensorCoreHardwareTest, AdaKeepsThirteenBitsOfFP8) {
  Fused ada = {89, TensorInput::FP8, TensorFormat::E4M3,
               ElementFormat::F8E4M3FN, 32};
  EXPECT_EQ(ada.run(0, {{0, 1, 1}, {1, 0x1p-6, 0x1p-7}}), bitsOf(1 + 0x1p-13f));
  EXPECT_EQ(ada.run(0, {{0, 1, 1}, {1, 0x1p-7, 0x1p-7}}), bitsOf(1));
  // C as well, even where there is nothing to add.
  EXPECT_EQ(ada.run(0x3F8007FF, {}), 0x3F800400u);
  // Two steps of sixteen.
  EXPECT_EQ(ada.run(bitsOf(-1), {{0, 1, 1}, {16, 0x1p-9, 0x1p-9}}),
            bitsOf(0x1p-18f));
  EXPECT_EQ(ada.run(bitsOf(-1), {{0, 1, 1}, {15, 0x1p-9, 0x1p-9}}), 0u);
  Fused blackwell = ada;
  blackwell.architecture = 120;
  EXPECT_EQ(blackwell.run(bitsOf(-1), {{0, 1, 1}, {15, 0x1p-9, 0x1p-9}}),
            bitsOf(0x1p-18f));
}

TEST(TensorCoreHardwareTest, HopperMultipliesFP8AsF16) {
  Fused hopper = {90, TensorInput::FP8, TensorFormat::F16, ElementFormat::F16,
                  32};
  // C is added last, and rounded to nearest: 2^25 + 3 is nearer to 2^25 + 4.
  EXPECT_EQ(hopper.run(bitsOf(0x1p25f), {{0, 1, 1}, {1, 2, 1}}),
            bitsOf(0x1p25f + 4));
  Fused blackwell = hopper;
  blackwell.architecture = 120;
  EXPECT_EQ(blackwell.run(bitsOf(0x1p25f), {{0, 1, 1}, {1, 2, 1}}),
            bitsOf(0x1p25f));
  // The bytes 0 and 1 of each register come first, over all of K.
  EXPECT_EQ(hopper.run(0, {{0, 32768, 32768}, {29, -32768, 32768}, {2, 1, 1}}),
            bitsOf(1));
  EXPECT_EQ(hopper.run(0, {{0, 32768, 32768}, {1, 1, 1}, {2, -32768, 32768}}),
            0u);
  EXPECT_EQ(hopper.run(0, {{2, 32768, 32768}, {3, -32768, 32768}, {4, 1, 1}}),
            0u);
  // f16: the halves and the sum with C are rounded to f16, each once.
  EXPECT_EQ(hopper.run(encode(ElementFormat::F16, 2048),
                       {{0, 0.5, 1}, {2, 0.625, 1}}, TensorResult::F16),
            encode(ElementFormat::F16, 2050));
}

TEST(TensorCoreHardwareTest, InfinitiesAndNaNAreThoseOfIEEE) {
  Fused bf16 = {90, TensorInput::BF16, TensorFormat::BF16, ElementFormat::BF16,
                16};
  const double inf = INFINITY;
  EXPECT_EQ(bf16.run(0, {{3, inf, -2}}), 0xFF800000u);
  EXPECT_EQ(bf16.run(0, {{3, inf, 2}, {9, -inf, 1}}), 0x7FFFFFFFu);
  EXPECT_EQ(bf16.run(0, {{3, inf, 0}}), 0x7FFFFFFFu);
  EXPECT_EQ(bf16.run(0, {{3, NAN, 0}}), 0x7FFFFFFFu);
  EXPECT_EQ(bf16.run(0xFF800000, {{3, 1, 1}}), 0xFF800000u);
  EXPECT_EQ(bf16.run(0xFF800000, {{3, inf, 1}}), 0x7FFFFFFFu);
  EXPECT_EQ(bf16.run(0xFFC00000, {{3, 1, 1}}), 0x7FFFFFFFu);
  // Too large for f32.
  EXPECT_EQ(bf16.run(0, {{3, 0x1p127, 2}}), 0x7F800000u);
  EXPECT_EQ(bf16.run(0, {{3, 0x1p127, 1}, {4, 0x1p126, 1}}),
            bitsOf(0x1.8p127f));
  Fused ampere = bf16;
  ampere.architecture = 80;
  // An infinity of the first step stays.
  EXPECT_EQ(ampere.run(0, {{3, 0x1p127, 2}, {8, -0x1p127, 2}}), 0x7F800000u);
}

TEST(TensorCoreHardwareTest, WideSumsDoNotOverflow) {
  // Sixteen of the largest products of f16 significands.
  std::vector<Fused::Product> products;
  for (unsigned k = 0; k != 16; ++k)
    products.push_back({k, 0x1.FFCp0, 0x1.FFCp0});
  float exact = static_cast<float>(16 * 0x1.FFCp0 * 0x1.FFCp0);
  EXPECT_EQ(f16On(90).run(0, products), bitsOf(exact));
  for (Fused::Product &product : products)
    product.a = -product.a;
  EXPECT_EQ(f16On(90).run(0, products), bitsOf(-exact));
}

//===----------------------------------------------------------------------===//
// Group sums
//===----------------------------------------------------------------------===//

/// One row and column of m16n8k64 with scales.
struct Groups {
  unsigned blocks = 4;
  std::vector<float> a = std::vector<float>(64), b = std::vector<float>(64);
  /// Power of two of each block's scale of A; those of B are 1.
  std::vector<int32_t> exponents = {0, 0, 0, 0};
  int32_t significand = 8; ///< Of the scales of A: 8 is 1.

  uint32_t run(uint32_t c) const {
    constexpr unsigned kRow = 2, kColumn = 5, kRows = 4;
    std::vector<float> panelA(kRows * 64), panelB(64 * 8);
    for (unsigned k = 0; k != 64; ++k) {
      panelA[kRow * 64 + k] = a[k];
      panelB[k * 8 + kColumn] = b[k];
    }
    std::vector<SplitScale> scaleA(kRows * blocks, {8, 0});
    std::vector<SplitScale> scaleB(blocks * 8, {8, 0});
    for (unsigned block = 0; block != blocks; ++block)
      scaleA[kRow * blocks + block] = {significand, exponents[block]};
    GroupOperands operands;
    operands.rows = kRows;
    operands.k = 64;
    operands.a = panelA.data();
    operands.b = panelB.data();
    operands.blocks = blocks;
    operands.scaleA = scaleA.data();
    operands.scaleB = scaleB.data();
    std::vector<uint32_t> accumulators(kRows * 8);
    accumulators[kRow * 8 + kColumn] = c;
    multiplyGroupSums(operands, getTensorModel(120, TensorInput::FP4),
                      accumulators.data());
    return accumulators[kRow * 8 + kColumn];
  }
};

TEST(TensorCoreHardwareTest, GroupSumsKeepThirtyFiveBits) {
  Groups groups;
  groups.a[0] = groups.b[0] = 1;
  groups.a[16] = groups.b[16] = 0.5;
  groups.exponents[1] = -33;
  EXPECT_EQ(groups.run(bitsOf(-1)), bitsOf(0x1p-35f));
  groups.exponents[1] = -34;
  EXPECT_EQ(groups.run(bitsOf(-1)), 0u);
  // 16 products of 6 by 6 count as having the exponent of their scale.
  for (unsigned k = 0; k != 16; ++k) {
    groups.a[k] = groups.b[k] = groups.b[32 + k] = 6;
    groups.a[32 + k] = -6;
  }
  groups.exponents[1] = -33;
  EXPECT_EQ(groups.run(0), bitsOf(0x1p-35f));
  // A C as large takes the largest exponent to 9.
  for (unsigned k = 0; k != 16; ++k)
    groups.a[32 + k] = 0;
  EXPECT_EQ(groups.run(bitsOf(-576)), 0u);
  // Within a group nothing is lost.
  Groups inner;
  inner.a[0] = inner.b[0] = 6;
  inner.a[1] = -6;
  inner.b[1] = 6;
  inner.a[2] = inner.b[2] = 0.5;
  inner.exponents[0] = -126;
  EXPECT_EQ(inner.run(0), 0x00200000u); // 2^-128.
}

TEST(TensorCoreHardwareTest, GroupsAreSixteenWideForBlocksOf32) {
  Groups groups;
  groups.blocks = 2;
  groups.a[0] = groups.b[0] = 1;
  groups.a[32] = groups.b[32] = groups.a[48] = groups.b[48] = 0.5;
  groups.exponents[1] = -34;
  // Each half of the block has 2^-36 and is cut by itself.
  EXPECT_EQ(groups.run(bitsOf(-1)), 0u);
  groups.a[33] = groups.b[33] = 0.5;
  EXPECT_EQ(groups.run(bitsOf(-1)), bitsOf(0x1p-35f));
}

TEST(TensorCoreHardwareTest, ScalesOfGroupsMultiply) {
  Groups groups;
  groups.a[20] = 3;
  groups.b[20] = 1.5;
  groups.significand = 13;
  groups.exponents[1] = 4;
  EXPECT_EQ(groups.run(bitsOf(0.25)), bitsOf(4.5f * 26 + 0.25f));
  groups.significand = 0;
  groups.exponents[1] = kZeroExponent;
  EXPECT_EQ(groups.run(bitsOf(0.25)), bitsOf(0.25));
  // NaN, even where the block has only zeros.
  groups.significand = 8;
  groups.exponents[1] = 0;
  groups.exponents[3] = kNaNExponent;
  EXPECT_EQ(groups.run(bitsOf(0.25)), 0x7FFFFFFFu);
  groups.exponents[3] = 0;
  EXPECT_EQ(groups.run(0x7F800000), 0x7F800000u);
  EXPECT_EQ(groups.run(0xFFFFFFFF), 0x7FFFFFFFu);
}

TEST(TensorCoreHardwareTest, LargeScalesOverZeroesDoNotHideC) {
  Groups groups;
  groups.exponents = {127, 127, 127, 127};
  EXPECT_EQ(groups.run(bitsOf(3)), bitsOf(3));
}

//===----------------------------------------------------------------------===//
// Exact sums
//===----------------------------------------------------------------------===//

TEST(TensorCoreExactTest, AddsCLast) {
  // 2^53 + 1 - 2^53 in the order of K is 0; C comes after the products.
  alignas(64) double a[4 * 3] = {}, b[3 * 8] = {}, c[4 * 8] = {};
  a[0] = 0x1p53;
  a[1] = 1;
  a[2] = -0x1p53;
  b[0] = b[8] = b[16] = 1;
  c[0] = 0.5;
  c[9] = -0.0;
  ExactOperands<double> operands;
  operands.rows = 4;
  operands.k = 3;
  operands.a = a;
  operands.b = b;
  multiplyExact(operands, c);
  EXPECT_EQ(c[0], 0.5);
  EXPECT_FALSE(std::signbit(c[9]));
}

TEST(TensorCoreExactTest, ScalesApplyByBlock) {
  alignas(64) float a[4 * 8], b[8 * 8];
  alignas(64) double c[4 * 8], scaleA[4 * 2], scaleB[2 * 8];
  auto small = [](uint64_t i) {
    return static_cast<float>(static_cast<int>(hash(i) % 15) - 7);
  };
  for (unsigned i = 0; i != 32; ++i)
    a[i] = small(i), c[i] = small(100 + i);
  for (unsigned i = 0; i != 64; ++i)
    b[i] = small(200 + i);
  for (unsigned i = 0; i != 8; ++i)
    scaleA[i] = std::ldexp(1, i);
  for (unsigned i = 0; i != 16; ++i)
    scaleB[i] = i + 1;
  double expected[32];
  for (unsigned m = 0; m != 4; ++m)
    for (unsigned n = 0; n != 8; ++n) {
      double &sum = expected[m * 8 + n] = c[m * 8 + n];
      for (unsigned k = 0; k != 8; ++k)
        sum += a[m * 8 + k] * b[k * 8 + n] * scaleA[m * 2 + k / 4] *
               scaleB[k / 4 * 8 + n];
    }
  ExactOperands<float> operands;
  operands.rows = 4;
  operands.k = 8;
  operands.a = a;
  operands.b = b;
  operands.blocks = 2;
  operands.scaleA = scaleA;
  operands.scaleB = scaleB;
  multiplyExact(operands, c);
  for (unsigned i = 0; i != 32; ++i)
    EXPECT_EQ(c[i], expected[i]) << i;
}

} // namespace
