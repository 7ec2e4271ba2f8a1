//===- SpecialFunctionsTest.cpp - Approximations of f32 and f64 -----------===//
//
// Each function over many values against long double, within the bound that
// the PTX ISA states, and its table of special values.
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"
#include "FloatReference.h"

using namespace tile::emulator;
using namespace tile::emulator::reference;

namespace {

const uint64_t kNaN = 0x7FFFFFFF, kInfinity = 0x7F800000;
const uint64_t kMinusInfinity = 0xFF800000, kMinusZero = 0x80000000;
const uint64_t kOne = 0x3F800000, kMinusOne = 0xBF800000;

/// Positive finite values over all exponents.
std::vector<uint64_t> makePositive(unsigned count) {
  std::vector<uint64_t> codes;
  for (unsigned i = 0; i != count; ++i)
    codes.push_back(hash(i) % 0x7F800000);
  return codes;
}

/// Values evenly over [low, high).
std::vector<uint64_t> makeRange(double low, double high, unsigned count) {
  std::vector<uint64_t> codes;
  for (unsigned i = 0; i != count; ++i)
    codes.push_back(codeOf(static_cast<float>(
        low + (high - low) * static_cast<double>(hash(i) >> 11) * 0x1p-53)));
  return codes;
}

/// The distance of `code` from `expected` in units in the last place of the
/// f32 nearest to it.
double getUlps(uint64_t code, long double expected) {
  float nearest = static_cast<float>(expected);
  float got = asFloat(code);
  if (std::isinf(nearest) || std::isinf(got))
    return nearest == got ? 0 : 1e9;
  float magnitude = std::fabs(nearest);
  long double unit = std::nextafter(magnitude, INFINITY) - magnitude;
  if (std::isinf(static_cast<float>(unit)))
    unit = 0x1p104L;
  return static_cast<double>(std::fabs(got - expected) / unit);
}

std::vector<uint64_t> run(const std::string &opcode,
                          const std::vector<uint64_t> &codes) {
  return runElements(opcode + " %d, %a;", {{4, codes}}, 4);
}

} // namespace

TEST(SpecialFunctions, StayWithinTheBounds) {
  std::vector<uint64_t> positive = makePositive(50000);
  std::vector<uint64_t> rcp = run("rcp.approx.f32", positive);
  std::vector<uint64_t> sqrt = run("sqrt.approx.f32", positive);
  std::vector<uint64_t> rsqrt = run("rsqrt.approx.f32", positive);
  std::vector<uint64_t> lg2 = run("lg2.approx.f32", positive);
  std::vector<uint64_t> tanh = run("tanh.approx.f32", positive);
  for (size_t i = 0; i != positive.size(); ++i) {
    float value = asFloat(positive[i]);
    long double x = value;
    ASSERT_LE(getUlps(rcp[i], 1 / x), 1) << value;
    auto relative = [&](uint64_t code, long double expected) {
      return std::fabs(asFloat(code) - expected) / std::fabs(expected);
    };
    ASSERT_LE(relative(sqrt[i], std::sqrt(x)), 0x1p-23L) << value;
    ASSERT_LE(relative(rsqrt[i], 1 / std::sqrt(x)), std::exp2(-22.9L)) << value;
    if (x > 0.5L && x < 2)
      ASSERT_LE(std::fabs(asFloat(lg2[i]) - std::log2(x)), 0x1p-22L) << value;
    else
      ASSERT_LE(relative(lg2[i], std::log2(x)), 0x1p-22L) << value;
    if (positive[i] >= 0x00800000)
      ASSERT_LE(relative(tanh[i], std::tanh(x)), 0x1p-11L) << value;
    else
      ASSERT_EQ(tanh[i], positive[i]);
  }
  std::vector<uint64_t> exponents = makeRange(-160, 130, 50000);
  std::vector<uint64_t> ex2 = run("ex2.approx.f32", exponents);
  for (size_t i = 0; i != exponents.size(); ++i)
    ASSERT_LE(getUlps(ex2[i], std::exp2(static_cast<long double>(
                                  asFloat(exponents[i])))),
              2)
        << asFloat(exponents[i]);
  const double pi = 3.14159265358979323846;
  for (bool near : {true, false}) {
    double limit = near ? 2 * pi : 100 * pi;
    long double bound = near ? std::exp2(-20.5L) : std::exp2(-14.7L);
    std::vector<uint64_t> angles = makeRange(-limit, limit, 50000);
    std::vector<uint64_t> sin = run("sin.approx.f32", angles);
    std::vector<uint64_t> cos = run("cos.approx.f32", angles);
    for (size_t i = 0; i != angles.size(); ++i) {
      long double x = asFloat(angles[i]);
      ASSERT_LE(std::fabs(asFloat(sin[i]) - std::sin(x)), bound);
      ASSERT_LE(std::fabs(asFloat(cos[i]) - std::cos(x)), bound);
    }
  }
}

TEST(SpecialFunctions, FollowTheTables) {
  // -Inf, -normal, -subnormal, -0, +0, +subnormal, +Inf, NaN.
  const std::vector<uint64_t> inputs = {kMinusInfinity, 0xC0800000, 0x80000001,
                                        kMinusZero,     0,          1,
                                        kInfinity,      0xFFC00001};
  struct Row {
    const char *opcode;
    std::vector<uint64_t> expected;
  };
  const Row rows[] = {
      {"rcp.approx.ftz.f32",
       {kMinusZero, 0xBE800000, kMinusInfinity, kMinusInfinity, kInfinity,
        kInfinity, 0, kNaN}},
      {"rcp.approx.f32",
       {kMinusZero, 0xBE800000, kMinusInfinity, kMinusInfinity, kInfinity,
        kInfinity, 0, kNaN}},
      {"sqrt.approx.ftz.f32",
       {kNaN, kNaN, kMinusZero, kMinusZero, 0, 0, kInfinity, kNaN}},
      {"rsqrt.approx.ftz.f32",
       {kNaN, kNaN, kMinusInfinity, kMinusInfinity, kInfinity, kInfinity, 0,
        kNaN}},
      {"rsqrt.approx.f32",
       {kNaN, kNaN, kNaN, kMinusInfinity, kInfinity, 0x64B504F3, 0, kNaN}},
      {"lg2.approx.ftz.f32",
       {kNaN, kNaN, kMinusInfinity, kMinusInfinity, kMinusInfinity,
        kMinusInfinity, kInfinity, kNaN}},
      {"lg2.approx.f32",
       {kNaN, kNaN, kNaN, kMinusInfinity, kMinusInfinity, 0xC3150000, kInfinity,
        kNaN}},
      {"ex2.approx.ftz.f32",
       {0, 0x3D800000, kOne, kOne, kOne, kOne, kInfinity, kNaN}},
      {"sin.approx.ftz.f32",
       {kNaN, codeOf(static_cast<float>(std::sin(-4.0))), kMinusZero,
        kMinusZero, 0, 0, kNaN, kNaN}},
      {"cos.approx.ftz.f32",
       {kNaN, codeOf(static_cast<float>(std::cos(-4.0))), kOne, kOne, kOne,
        kOne, kNaN, kNaN}},
      {"tanh.approx.f32",
       {kMinusOne, codeOf(static_cast<float>(std::tanh(-4.0))), 0x80000001,
        kMinusZero, 0, 1, kOne, kNaN}},
  };
  for (const Row &row : rows)
    EXPECT_EQ(run(row.opcode, inputs), row.expected) << row.opcode;
  // Results that are subnormal.
  EXPECT_EQ(run("ex2.approx.ftz.f32", {codeOf(-130.0f)})[0], 0u);
  EXPECT_EQ(run("ex2.approx.f32", {codeOf(-130.0f)})[0], 0x00080000u);
  EXPECT_EQ(run("rcp.approx.ftz.f32", {codeOf(-0x1p127f)})[0], kMinusZero);
}

TEST(SpecialFunctions, ApproximateF64) {
  const uint64_t nan = 0x7FFFFFFF00000000, infinity = 0x7FF0000000000000;
  const uint64_t minus = 0x8000000000000000;
  const std::vector<uint64_t> inputs = {infinity | minus,
                                        0x8000000100000000,
                                        minus,
                                        0,
                                        0x0000000100000000,
                                        infinity,
                                        0x7FF8000000000001,
                                        0x4010000000000000};
  EXPECT_EQ(
      runElements("rcp.approx.ftz.f64 %d, %a;", {{8, inputs}}, 8),
      (std::vector<uint64_t>{minus, infinity | minus, infinity | minus,
                             infinity, infinity, 0, nan, 0x3FD0000000000000}));
  EXPECT_EQ(
      runElements("rsqrt.approx.ftz.f64 %d, %a;", {{8, inputs}}, 8),
      (std::vector<uint64_t>{nan, infinity | minus, infinity | minus, infinity,
                             infinity, 0, nan, 0x3FE0000000000000}));
  // Subnormal results.
  EXPECT_EQ(runElements("rcp.approx.ftz.f64 %d, %a;",
                        {{8, {0x7FE0000100000000, 0xFFE8000000000000}}}, 8),
            (std::vector<uint64_t>{0, minus}));
  std::vector<uint64_t> values;
  for (unsigned i = 0; i != 20000; ++i)
    values.push_back((0x100 + hash(i) % 0x600) << 52 |
                     (hash(i + 1) & 0xFFFFFFFFFFFFF));
  std::vector<uint64_t> rcp =
      runElements("rcp.approx.ftz.f64 %d, %a;", {{8, values}}, 8);
  std::vector<uint64_t> gross =
      runElements("rsqrt.approx.ftz.f64 %d, %a;", {{8, values}}, 8);
  std::vector<uint64_t> rsqrt =
      runElements("rsqrt.approx.f64 %d, %a;", {{8, values}}, 8);
  for (size_t i = 0; i != values.size(); ++i) {
    long double upper = asDouble(values[i] & 0xFFFFFFFF00000000);
    long double whole = asDouble(values[i]);
    ASSERT_EQ(rcp[i] & 0xFFFFFFFF, 0u);
    ASSERT_EQ(gross[i] & 0xFFFFFFFF, 0u);
    ASSERT_LE(std::fabs(asDouble(rcp[i]) * upper - 1), 0x1p-20L);
    ASSERT_LE(std::fabs(asDouble(gross[i]) * std::sqrt(upper) - 1), 0x1p-20L);
    ASSERT_LE(std::fabs(asDouble(rsqrt[i]) * std::sqrt(whole) - 1), 0x1p-52L);
  }
}

TEST(SpecialFunctions, RefuseWhatTheISAHasNot) {
  EXPECT_NE(getError("ex2.f32 %d, %a;", {4}, 4).find("'ex2' expects .approx"),
            std::string::npos);
  EXPECT_NE(getError("rcp.approx.f64 %d, %a;", {8}, 8).find("expects .ftz"),
            std::string::npos);
  EXPECT_NE(getError("tanh.approx.ftz.f32 %d, %a;", {4}, 4), "");
  EXPECT_NE(getError("sin.approx.f64 %d, %a;", {8}, 8), "");
  EXPECT_NE(getError("rcp.f32 %d, %a;", {4}, 4), "");
  EXPECT_NE(getError("lg2.approx.sat.f32 %d, %a;", {4}, 4), "");
}
