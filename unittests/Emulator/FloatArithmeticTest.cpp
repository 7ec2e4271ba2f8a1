//===- FloatArithmeticTest.cpp - f32, f32x2 and f64 arithmetic ------------===//
//
// The witness for rounding is the host's own unit, with its rounding mode set.
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"
#include "FloatReference.h"

#include <cfenv>

using namespace tile::emulator;
using namespace tile::emulator::reference;

namespace {

struct Rounding {
  const char *name;
  int host;
};
const Rounding kRoundings[] = {{"rn", FE_TONEAREST},
                               {"rz", FE_TOWARDZERO},
                               {"rm", FE_DOWNWARD},
                               {"rp", FE_UPWARD}};

const uint64_t kNaN32 = 0x7FFFFFFF;

/// Values of f32 at the edges of the format, then close exponents by hash, so
/// that sums cancel and round.
std::vector<uint64_t> makeOperands32(unsigned seed, unsigned count) {
  std::vector<uint64_t> edges = {
      0,          1,          2,          0x7FFFFF,   0x800000,   0x800001,
      0x3F800000, 0x3F800001, 0x3F7FFFFF, 0x40490FDB, 0x7F7FFFFF, 0x7F800000,
      0x33800000, 0x33800001, 0x7F000000, 0x00FFFFFF};
  std::vector<uint64_t> values;
  for (unsigned i = 0; i != count; ++i) {
    uint64_t random = hash(seed * 1000003ull + i);
    uint64_t code;
    switch (random >> 60) {
    case 0:
    case 1:
      code = edges[random % edges.size()];
      break;
    case 2:
    case 3:
    case 4:
      code = random & 0x7FFFFFFF;
      break;
    default:
      code = (100 + random % 50) << 23 | (random >> 8 & 0x7FFFFF);
    }
    // Few mantissa bits make exact results and ties.
    if ((random >> 56 & 3) == 0)
      code &= 0xFFFFF000;
    values.push_back(code | (random >> 50 & 1) << 31);
  }
  return values;
}

std::vector<uint64_t> makeOperands64(unsigned seed, unsigned count) {
  std::vector<uint64_t> edges = {
      0,
      1,
      0xFFFFFFFFFFFFF,
      0x10000000000000,
      0x3FF0000000000000,
      0x3FF0000000000001,
      0x3FEFFFFFFFFFFFFF,
      0x7FEFFFFFFFFFFFFF,
      0x7FF0000000000000,
      0x3CA0000000000000,
      0x3CA0000000000001,
      0x7FE0000000000000,
      0x0020000000000001,
  };
  std::vector<uint64_t> values;
  for (unsigned i = 0; i != count; ++i) {
    uint64_t random = hash(seed * 7919ull + i), more = hash(random);
    uint64_t code;
    switch (random >> 60) {
    case 0:
    case 1:
      code = edges[random % edges.size()];
      break;
    case 2:
    case 3:
    case 4:
      code = more & 0x7FFFFFFFFFFFFFFF;
      break;
    case 5:
      code = (random % 60) << 52 | (more & 0xFFFFFFFFFFFFF);
      break;
    default:
      code = (980 + random % 100) << 52 | (more & 0xFFFFFFFFFFFFF);
    }
    if ((random >> 56 & 3) == 0)
      code &= 0xFFFFFFFFF8000000;
    values.push_back(code | (random >> 50 & 1) << 63);
  }
  return values;
}

/// An operation by the host; volatile operands keep it where the rounding mode
/// is set.
template <typename T>
T computeOnHost(const std::string &name, T x, T y, T z, int mode) {
  volatile T a = x, b = y, c = z, result;
  std::fesetround(mode);
  if (name == "add")
    result = a + b;
  else if (name == "sub")
    result = a - b;
  else if (name == "mul")
    result = a * b;
  else if (name == "div")
    result = a / b;
  else if (name == "rcp")
    result = T(1) / a;
  else if (name == "sqrt")
    result = std::sqrt(T(a));
  else
    result = std::fma(T(a), T(b), T(c));
  std::fesetround(FE_TONEAREST);
  return result;
}

unsigned getNumSources(const std::string &name) {
  return name == "rcp" || name == "sqrt"  ? 1
         : name == "fma" || name == "mad" ? 3
                                          : 2;
}

std::string makeText(const std::string &opcode, unsigned sources) {
  static const char *operands[] = {"%a", "%b", "%c"};
  std::string text = opcode + " %d";
  for (unsigned i = 0; i != sources; ++i)
    text += std::string(", ") + operands[i];
  return text + ";";
}

class FloatArithmetic : public testing::TestWithParam<const char *> {};

} // namespace

TEST_P(FloatArithmetic, RoundsF32InEveryMode) {
  std::string name = GetParam();
  unsigned sources = getNumSources(name);
  std::vector<ElementInput> inputs;
  for (unsigned k = 0; k != sources; ++k)
    inputs.push_back({4, makeOperands32(k, 20000)});
  for (const Rounding &rounding : kRoundings) {
    std::vector<uint64_t> out = runElements(
        makeText(name + "." + rounding.name + ".f32", sources), inputs, 4);
    unsigned failures = 0;
    for (size_t i = 0; i != out.size() && failures < 5; ++i) {
      auto operand = [&](unsigned k) {
        return asFloat(k < sources ? inputs[k].values[i] : 0);
      };
      float expected = computeOnHost(name, operand(0), operand(1), operand(2),
                                     rounding.host);
      uint64_t code = std::isnan(expected) ? kNaN32 : codeOf(expected);
      EXPECT_EQ(out[i], code)
          << name << "." << rounding.name << " of " << operand(0) << ", "
          << operand(1) << ", " << operand(2);
      failures += out[i] != code;
    }
  }
}

TEST_P(FloatArithmetic, RoundsF64InEveryMode) {
  std::string name = GetParam();
  unsigned sources = getNumSources(name);
  std::vector<ElementInput> inputs;
  for (unsigned k = 0; k != sources; ++k)
    inputs.push_back({8, makeOperands64(k, 20000)});
  for (const Rounding &rounding : kRoundings) {
    std::vector<uint64_t> out = runElements(
        makeText(name + "." + rounding.name + ".f64", sources), inputs, 8);
    unsigned failures = 0;
    for (size_t i = 0; i != out.size() && failures < 5; ++i) {
      auto operand = [&](unsigned k) {
        return asDouble(k < sources ? inputs[k].values[i] : 0);
      };
      double expected = computeOnHost(name, operand(0), operand(1), operand(2),
                                      rounding.host);
      double got = asDouble(out[i]);
      bool same =
          std::isnan(expected) ? std::isnan(got) : out[i] == codeOf(expected);
      EXPECT_TRUE(same) << name << "." << rounding.name << " of " << operand(0)
                        << ", " << operand(1) << ", " << operand(2) << ": "
                        << got << " is not " << expected;
      failures += !same;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FloatArithmetic,
                         testing::Values("add", "sub", "mul", "div", "rcp",
                                         "sqrt", "fma", "mad"),
                         [](const auto &info) { return info.param; });

TEST(FloatArithmeticTest, PacksTwoF32) {
  ElementTarget target{"sm_100", "8.6"};
  std::vector<uint64_t> low[3], high[3];
  std::vector<ElementInput> inputs;
  for (unsigned k = 0; k != 3; ++k) {
    low[k] = makeOperands32(k + 10, 4000);
    high[k] = makeOperands32(k + 20, 4000);
    inputs.push_back({8, {}});
    for (size_t i = 0; i != low[k].size(); ++i)
      inputs[k].values.push_back(high[k][i] << 32 | low[k][i]);
  }
  for (const char *name : {"add", "sub", "mul", "fma"})
    for (const char *modifiers : {".rn", ".rz.ftz", ".rn.ftz", ".rp"}) {
      std::string opcode = std::string(name) + modifiers;
      unsigned sources = getNumSources(name);
      auto halves = [&](std::vector<uint64_t> *part) {
        std::vector<ElementInput> scalars;
        for (unsigned k = 0; k != sources; ++k)
          scalars.push_back({4, part[k]});
        return runElements(makeText(opcode + ".f32", sources), scalars, 4);
      };
      std::vector<uint64_t> lows = halves(low), highs = halves(high);
      std::vector<ElementInput> pairs(inputs.begin(), inputs.begin() + sources);
      std::vector<uint64_t> out =
          runElements(makeText(opcode + ".f32x2", sources), pairs, 8, target);
      for (size_t i = 0; i != out.size(); ++i)
        ASSERT_EQ(out[i], highs[i] << 32 | lows[i]) << opcode;
    }
}

TEST(FloatArithmeticTest, FlushesSubnormals) {
  // Operands, then results: -min + min, subnormal * 1, min / 2.
  std::vector<ElementInput> inputs = {
      {4, {0x80000001, 0x00400000, 0x00800000, 0x80800000, 0x00FFFFFF}},
      {4, {0x3F800000, 0x3F800000, 0x3F000000, 0x3F000000, 0x3F000000}}};
  for (const char *mode : {"rn", "rz"}) {
    EXPECT_EQ(runElements(std::string("mul.") + mode + ".ftz.f32 %d, %a, %b;",
                          inputs, 4),
              (std::vector<uint64_t>{0x80000000, 0, 0, 0x80000000,
                                     mode[1] == 'n' ? 0x00800000ull : 0ull}));
    EXPECT_EQ(
        runElements(std::string("mul.") + mode + ".f32 %d, %a, %b;", inputs, 4),
        (std::vector<uint64_t>{0x80000001, 0x00400000, 0x00400000, 0x80400000,
                               mode[1] == 'n' ? 0x00800000ull
                                              : 0x007FFFFFull}));
  }
  EXPECT_EQ(runElements("fma.rn.ftz.f32 %d, %a, %b, %a;", inputs, 4)[0],
            0x80000000u);
  EXPECT_EQ(runElements("add.ftz.f32 %d, %a, %b;", inputs, 4)[0], 0x3F800000u);
  EXPECT_EQ(runElements("abs.ftz.f32 %d, %a;", inputs, 4),
            (std::vector<uint64_t>{0, 0, 0x00800000, 0x00800000, 0x00FFFFFF}));
  EXPECT_EQ(runElements("neg.ftz.f32 %d, %a;", inputs, 4),
            (std::vector<uint64_t>{0, 0x80000000, 0x80800000, 0x00800000,
                                   0x80FFFFFF}));
}

TEST(FloatArithmeticTest, Saturates) {
  std::vector<ElementInput> inputs = {
      {4,
       {0x3F000000, 0x40000000, 0xBF800000, 0x7FC00001, 0x80000000, 0x7F800000,
        0xFF800000, 0x3F800000}},
      {4, {0x3E800000, 0, 0, 0, 0x80000000, 0, 0, 0x33000000}}};
  for (const char *mode : {"rn", "rp"}) {
    std::vector<uint64_t> out = runElements(
        std::string("add.") + mode + ".sat.f32 %d, %a, %b;", inputs, 4);
    EXPECT_EQ(out, (std::vector<uint64_t>{0x3F400000, 0x3F800000, 0, 0, 0,
                                          0x3F800000, 0, 0x3F800000}));
  }
  EXPECT_EQ(runElements("fma.rn.sat.f32 %d, %a, %a, %b;", inputs, 4)[2],
            0x3F800000u);
}

TEST(FloatArithmeticTest, KeepsTheNaNOfF64) {
  std::vector<ElementInput> inputs = {
      {8,
       {0x7FF0000000000123, 0x4000000000000000, 0xFFF8000000000007,
        0x7FF0000000000000}},
      {8,
       {0x7FF8000000000456, 0xFFF0000000000789, 0x4000000000000000,
        0xFFF0000000000000}}};
  std::vector<uint64_t> expected = {0x7FF8000000000123, 0xFFF8000000000789,
                                    0xFFF8000000000007, 0xFFF8000000000000};
  for (const char *opcode : {"add.rn.f64", "add.rz.f64"})
    EXPECT_EQ(runElements(std::string(opcode) + " %d, %a, %b;", inputs, 8),
              expected)
        << opcode;
  EXPECT_EQ(runElements("fma.rn.f64 %d, %a, %b, %b;", inputs, 8)[1],
            0xFFF8000000000789u);
  EXPECT_EQ(runElements("sub.rn.f64 %d, %a, %b;", inputs, 8)[1],
            0xFFF8000000000789u);
}

TEST(FloatArithmeticTest, DividesApproximately) {
  // a / b where |b| is beyond 2^126, at it, and elsewhere.
  std::vector<ElementInput> inputs = {
      {4,
       {0x40400000, 0xC0400000, 0x7F800000, 0x40400000, 0x40400000, 0x3F800000,
        0, 0x3F800000}},
      {4,
       {0x7F000000, 0x7EFFFFFF, 0x7F000000, 0x7E800000, 0xFF7FFFFF, 0, 0,
        0x00000001}}};
  EXPECT_EQ(
      runElements("div.approx.f32 %d, %a, %b;", inputs, 4),
      (std::vector<uint64_t>{0, 0x80000000, kNaN32, 0x01400000, 0x80000000,
                             0x7F800000, kNaN32, 0x7F800000}));
  EXPECT_EQ(runElements("div.full.f32 %d, %a, %b;", inputs, 4)[0],
            codeOf(3.0f / 0x1p127f));
  EXPECT_EQ(runElements("div.full.ftz.f32 %d, %a, %b;", inputs, 4)[7],
            0x7F800000u);
}

TEST(FloatArithmeticTest, RefusesWhatTheISAHasNot) {
  auto message = [](const char *body, std::vector<unsigned> bytes,
                    unsigned outBytes, ElementTarget target = {}) {
    return getError(body, bytes, outBytes, target);
  };
  EXPECT_NE(message("fma.f32 %d, %a, %a, %a;", {4}, 4)
                .find("'fma.f32' expects a rounding modifier"),
            std::string::npos);
  EXPECT_NE(message("add.f32x2 %d, %a, %a;", {8}, 8)
                .find("'add.f32x2' needs sm_100 or later, but the module's "
                      "target is sm_90a"),
            std::string::npos);
  EXPECT_NE(message("add.sat.f64 %d, %a, %a;", {8}, 8).find("has no .sat"),
            std::string::npos);
  EXPECT_NE(message("div.rn.sat.f32 %d, %a, %a;", {4}, 4).find("has no .sat"),
            std::string::npos);
  EXPECT_NE(message("add.rn.sideways.f32 %d, %a, %a;", {4}, 4), "");
  EXPECT_NE(message("add.f32 %d, %a, %a, %a;", {4}, 4), "");
  EXPECT_NE(message("add.f32 %d, %a, %a;", {8}, 4), "");
  EXPECT_NE(message("max.f32 %d, %a, %a, %a;", {4}, 4)
                .find("'max' of three operands needs sm_100"),
            std::string::npos);
  EXPECT_NE(message("max.xorsign.f32 %d, %a, %a;", {4}, 4), "");
}

//===----------------------------------------------------------------------===//
// What rounds nothing
//===----------------------------------------------------------------------===//

TEST(FloatSelectionTest, OrdersZerosAndNaNs) {
  const uint64_t one = 0x3F800000, zero = 0, minusZero = 0x80000000;
  const uint64_t nan = 0xFFC00001, infinity = 0x7F800000;
  std::vector<ElementInput> inputs = {
      {4, {zero, minusZero, one, nan, nan, infinity, 0xC0000000, 0x80000001}},
      {4,
       {minusZero, zero, 0xBF800000, one, nan, nan, 0xC0400000, 0x00000001}}};
  EXPECT_EQ(runElements("min.f32 %d, %a, %b;", inputs, 4),
            (std::vector<uint64_t>{minusZero, minusZero, 0xBF800000, one,
                                   kNaN32, infinity, 0xC0400000, 0x80000001}));
  EXPECT_EQ(runElements("max.f32 %d, %a, %b;", inputs, 4),
            (std::vector<uint64_t>{zero, zero, one, one, kNaN32, infinity,
                                   0xC0000000, 0x00000001}));
  EXPECT_EQ(runElements("max.NaN.f32 %d, %a, %b;", inputs, 4),
            (std::vector<uint64_t>{zero, zero, one, kNaN32, kNaN32, kNaN32,
                                   0xC0000000, 0x00000001}));
  EXPECT_EQ(runElements("min.ftz.f32 %d, %a, %b;", inputs, 4)[7], minusZero);
  EXPECT_EQ(runElements("max.ftz.xorsign.abs.f32 %d, %a, %b;", inputs, 4),
            (std::vector<uint64_t>{minusZero, minusZero, 0xBF800000, 0xBF800000,
                                   kNaN32, 0xFF800000, 0x40400000, minusZero}));
  std::vector<ElementInput> three = {{4, {one, nan, 0xC0400000}},
                                     {4, {0x40000000, nan, one}},
                                     {4, {0xC0800000, one, zero}}};
  ElementTarget target{"sm_100", "8.8"};
  EXPECT_EQ(runElements("max.f32 %d, %a, %b, %c;", three, 4, target),
            (std::vector<uint64_t>{0x40000000, one, one}));
  EXPECT_EQ(runElements("min.NaN.f32 %d, %a, %b, %c;", three, 4, target),
            (std::vector<uint64_t>{0xC0800000, kNaN32, 0xC0400000}));
  EXPECT_EQ(runElements("max.abs.f32 %d, %a, %b, %c;", three, 4, target),
            (std::vector<uint64_t>{0x40800000, one, 0x40400000}));
}

TEST(FloatSelectionTest, SelectsF64) {
  std::vector<ElementInput> inputs = {
      {8, {0, 0x8000000000000000, 0x7FF8000000000005, 0xC000000000000000}},
      {8, {0x8000000000000000, 0, 0x3FF0000000000000, 0xC008000000000000}}};
  EXPECT_EQ(runElements("min.f64 %d, %a, %b;", inputs, 8),
            (std::vector<uint64_t>{0x8000000000000000, 0x8000000000000000,
                                   0x3FF0000000000000, 0xC008000000000000}));
  EXPECT_EQ(
      runElements("max.f64 %d, %a, %b;", inputs, 8),
      (std::vector<uint64_t>{0, 0, 0x3FF0000000000000, 0xC000000000000000}));
  EXPECT_EQ(runElements("copysign.f64 %d, %a, %b;", inputs, 8)[3],
            0xC008000000000000u);
  EXPECT_EQ(runElements("neg.f64 %d, %a;", inputs, 8)[3], 0x4000000000000000u);
  EXPECT_EQ(runElements("abs.f64 %d, %a;", inputs, 8)[3], 0x4000000000000000u);
}

TEST(FloatSelectionTest, TestsProperties) {
  std::vector<ElementInput> inputs = {
      {4, {0x80000000, 0x00000001, 0x00800000, 0x7F800000, 0xFF800001}}};
  struct Case {
    const char *name;
    std::vector<uint64_t> expected;
  };
  for (const Case &test :
       {Case{"finite", {1, 1, 1, 0, 0}}, Case{"infinite", {0, 0, 0, 1, 0}},
        Case{"number", {1, 1, 1, 1, 0}}, Case{"notanumber", {0, 0, 0, 0, 1}},
        Case{"normal", {1, 0, 1, 0, 0}}, Case{"subnormal", {0, 1, 0, 0, 0}}})
    EXPECT_EQ(runElements(std::string(".reg .pred %p; testp.") + test.name +
                              ".f32 %p, %a; selp.b32 %d, 1, 0, %p;",
                          inputs, 4),
              test.expected)
        << test.name;
  EXPECT_EQ(runElements("copysign.f32 %d, %a, %a;", inputs, 4),
            inputs[0].values);
}
