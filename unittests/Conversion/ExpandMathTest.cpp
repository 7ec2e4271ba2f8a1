//===- ExpandMathTest.cpp - Accuracy of expanded functions ----------------===//
//
// Every function of docs/numerics.md against the host's f64 library, over all
// exponents of f32 and over all f16 and bf16 numbers. Approximate instructions
// take part three times: exact, and off by the largest error either way.
//
//===----------------------------------------------------------------------===//

#include "HostFunctions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <string>
#include <vector>

using namespace tile;

namespace {

constexpr double bound = 0x1p-20;

uint32_t hash(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ (x >> 16);
}

/// Every sign and exponent with its edges and 2,048 hashed fractions, and the
/// neighbourhoods of numbers where an expansion changes its method.
const std::vector<float> &getSamples() {
  static const std::vector<float> samples = [] {
    std::vector<float> result;
    for (uint32_t top = 0; top < 512; ++top) {
      for (uint32_t fraction :
           {0u, 1u, 2u, 0x3504f3u, 0x3504f4u, 0x400000u, 0x7ffffeu, 0x7fffffu})
        result.push_back(llvm::bit_cast<float>(top << 23 | fraction));
      for (uint32_t i = 0; i < 2048; ++i)
        result.push_back(llvm::bit_cast<float>(
            top << 23 | (hash(top << 11 | i) & 0x7fffff)));
    }
    for (float center : {1.0f, 0.6f, 0.91f, 4.0f, 0.70710677f, 1.4142135f,
                         88.72284f, -87.33655f, -103.97208f, 128.0f, -126.0f,
                         -149.0f, 1.5707964f, 3.1415927f, 9.010913f, 256.0f})
      for (int i = -2000; i <= 2000; ++i)
        for (uint32_t sign : {0u, 0x80000000u})
          result.push_back(llvm::bit_cast<float>(
              (llvm::bit_cast<uint32_t>(center) + i) ^ sign));
    for (uint32_t i = 0; i < 1 << 18; ++i)
      result.push_back(std::ldexp(float(int32_t(hash(i))), -23));
    return result;
  }();
  return samples;
}

using Reference = double (*)(double);

struct FunctionCase {
  const char *name;
  Reference reference;
  bool isAbsolute = false;
};

const FunctionCase functions[] = {
    {"exp", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"sin", [](double x) { return std::sin(x); }, true},
    {"cos", [](double x) { return std::cos(x); }, true},
};

std::string getName(const testing::TestParamInfo<FunctionCase> &info) {
  return info.param.name;
}

class ExpandMathTest : public testing::TestWithParam<FunctionCase> {
protected:
  void TearDown() override { HostFunctions::approximation = 0; }

  /// What a result may be off by before it is rounded to its type.
  double getTolerance(double expected) const {
    return GetParam().isAbsolute ? bound : bound * std::fabs(expected);
  }
};

bool isSpecial(double expected) {
  return expected == 0 || std::isnan(expected) || std::isinf(expected);
}

bool isSame(double expected, double actual) {
  if (std::isnan(expected))
    return std::isnan(actual);
  return expected == actual && std::signbit(expected) == std::signbit(actual);
}

TEST_P(ExpandMathTest, F32IsInsideTheBound) {
  const FunctionCase &function = GetParam();
  HostFunctions host(std::string("func.func @f(%x: f32) -> f32 {\n"
                                 "  %y = math.") +
                     function.name +
                     " %x : f32\n"
                     "  return %y : f32\n"
                     "}\n");
  auto *f = host.get<float(float)>("f");
  ASSERT_TRUE(f);
  double worst = 0;
  for (double approximation : {0.0, 1.0, -1.0}) {
    HostFunctions::approximation = approximation;
    for (float x : getSamples()) {
      double expected = function.reference(x);
      float actual = f(x);
      if (function.isAbsolute && std::fabs(x) > 256) {
        ASSERT_TRUE(std::isnan(actual) || std::fabs(actual) <= 1)
            << x << " gives " << actual;
        ASSERT_EQ(std::isnan(expected), std::isnan(actual)) << x;
        continue;
      }
      if (isSpecial(expected)) {
        ASSERT_TRUE(isSame(expected, actual))
            << x << ": " << expected << " but " << actual;
        continue;
      }
      ASSERT_FALSE(std::isnan(actual)) << x << ": " << expected;
      // Beyond f32 infinity is as good as 2^128.
      double value =
          std::isinf(actual)
              ? std::copysign(std::fmax(0x1p128, std::fabs(expected)), actual)
              : actual;
      double error = std::fabs(value - expected);
      // Half a unit of the subnormal numbers: the rounding of the result.
      ASSERT_LE(error, getTolerance(expected) + 0x1p-150)
          << std::hexfloat << x << ": " << expected << " but " << actual;
      if (function.isAbsolute)
        worst = std::fmax(worst, error);
      else if (std::fabs(expected) >= 0x1p-126)
        worst = std::fmax(worst, error / std::fabs(expected));
    }
  }
  RecordProperty("log2-of-worst-error", std::to_string(std::log2(worst)));
}

/// The 16-bit results between which the contract leaves the choice.
void checkNarrow(const FunctionCase &function, llvm::StringRef type,
                 double (*decode)(unsigned), unsigned (*encode)(double)) {
  HostFunctions host(llvm::formatv(R"(
    func.func @f(%bits: i32) -> i32 {{
      %narrow = arith.trunci %bits : i32 to i16
      %x = arith.bitcast %narrow : i16 to {0}
      %y = math.{1} %x : {0}
      %result = arith.bitcast %y : {0} to i16
      %wide = arith.extui %result : i16 to i32
      return %wide : i32
    })",
                                   type, function.name)
                         .str());
  auto *f = host.get<uint32_t(uint32_t)>("f");
  ASSERT_TRUE(f);
  for (double approximation : {0.0, 1.0, -1.0}) {
    HostFunctions::approximation = approximation;
    for (unsigned bits = 0; bits < 1 << 16; ++bits) {
      double x = decode(bits), actual = decode(f(bits));
      double expected = function.reference(x);
      if (function.isAbsolute && std::fabs(x) > 256)
        continue;
      if (isSpecial(expected)) {
        ASSERT_TRUE(isSame(expected, actual))
            << x << ": " << expected << " but " << actual;
        continue;
      }
      double tolerance =
          function.isAbsolute ? bound : bound * std::fabs(expected);
      ASSERT_LE(decode(encode(expected - tolerance)), actual)
          << x << ": " << expected << " but " << actual;
      ASSERT_GE(decode(encode(expected + tolerance)), actual)
          << x << ": " << expected << " but " << actual;
    }
  }
}

TEST_P(ExpandMathTest, F16IsRoundedOnce) {
  checkNarrow(GetParam(), "f16", fromHalf, roundToHalf);
}

TEST_P(ExpandMathTest, BF16IsRoundedOnce) {
  checkNarrow(GetParam(), "bf16", fromBFloat, roundToBFloat);
}

INSTANTIATE_TEST_SUITE_P(Functions, ExpandMathTest,
                         testing::ValuesIn(functions), getName);

TEST(ExpandMathExactTest, FmaRoundsOnce) {
  HostFunctions host(R"(
    func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
      %y = math.fma %a, %b, %c : f32
      return %y : f32
    })");
  auto *f = host.get<float(float, float, float)>("f");
  ASSERT_TRUE(f);
  // The product is 1 - 2^-46; rounded before the sum it would be 1.
  EXPECT_EQ(f(1 + 0x1p-23f, 1 - 0x1p-23f, -1), -0x1p-46f);
  for (uint32_t i = 0; i < 100000; ++i) {
    float a = llvm::bit_cast<float>(hash(3 * i));
    float b = llvm::bit_cast<float>(hash(3 * i + 1));
    float c = llvm::bit_cast<float>(hash(3 * i + 2));
    ASSERT_TRUE(isSame(std::fma(a, b, c), f(a, b, c)));
  }
}

TEST(ExpandMathExactTest, RoundingFunctionsKeepZerosAndTies) {
  struct {
    const char *name;
    float (*reference)(float);
  } cases[] = {
      {"absf", [](float x) { return std::fabs(x); }},
      {"ceil", [](float x) { return std::ceil(x); }},
      {"floor", [](float x) { return std::floor(x); }},
      {"roundeven", [](float x) { return std::nearbyint(x); }},
      {"sqrt", [](float x) { return std::sqrt(x); }},
      {"trunc", [](float x) { return std::trunc(x); }},
  };
  for (auto &function : cases) {
    HostFunctions host(llvm::formatv(R"(
      func.func @f(%x: f32) -> f32 {{
        %y = math.{0} %x : f32
        return %y : f32
      })",
                                     function.name)
                           .str());
    auto *f = host.get<float(float)>("f");
    ASSERT_TRUE(f);
    for (float x : getSamples())
      ASSERT_TRUE(isSame(function.reference(x), f(x)))
          << function.name << " of " << x << " is " << f(x);
  }
}

} // namespace
