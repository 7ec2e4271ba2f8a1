//===- HalfArithmeticTest.cpp - f16, bf16 and their pairs -----------------===//
//
// The witness is quadruple precision with an exact error term, rounded by
// search in a table of the format's values.
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"
#include "FloatReference.h"

using namespace tile::emulator;
using namespace tile::emulator::reference;

namespace {

struct HalfType {
  const char *name;
  const Format &format;
  unsigned mantissaBits;
  uint64_t one;
};
const HalfType kTypes[] = {{"f16", f16(), 10, 0x3C00},
                           {"bf16", bf16(), 7, 0x3F80}};

/// Codes at random, half of them close to each other in exponent and short in
/// mantissa, so that sums cancel and products tie.
std::vector<uint64_t> makeCodes(const HalfType &type, unsigned seed,
                                unsigned count) {
  std::vector<uint64_t> codes;
  uint64_t exponentField = 1u << type.mantissaBits;
  for (unsigned i = 0; i != count; ++i) {
    uint64_t random = hash(seed * 104729ull + i);
    uint64_t code = random & 0xFFFF;
    if (random >> 60 < 8)
      code = (code & 0x8000) |
             (((type.one & 0x7FFF) / exponentField - 3 + random % 6) *
                  exponentField +
              (code & (exponentField - 1)));
    if ((random >> 56 & 3) == 0)
      code &= ~uint64_t(0x1F);
    if ((random >> 54 & 3) == 0 && random >> 60 >= 8)
      code &= 0x8000 | (exponentField * 2 - 1); // Around the subnormals.
    codes.push_back(code);
  }
  return codes;
}

/// a * b + c, rounded once. Zero and special results are IEEE 754's.
uint64_t fuse(const Format &format, uint64_t a, uint64_t b, uint64_t c) {
  double x = format.toDouble(a), y = format.toDouble(b), z = format.toDouble(c);
  double plain = x * y + z; // Right where it is zero, infinite or NaN.
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
    return format.encode(plain, Mode::NearestEven, false);
  Quad product = Quad(x) * Quad(y), sum = product + Quad(z);
  Quad part = sum - product;
  Quad error = (product - (sum - part)) + (Quad(z) - part);
  if (sum == 0)
    return std::signbit(plain) ? format.sign : 0;
  return format.encode(sum, error, Mode::NearestEven, false);
}

uint64_t negate(const Format &format, uint64_t code) {
  return code ^ format.sign;
}

uint64_t compute(const HalfType &type, const std::string &name, uint64_t a,
                 uint64_t b, uint64_t c) {
  const Format &format = type.format;
  if (name == "add")
    return fuse(format, a, type.one, b);
  if (name == "sub")
    return fuse(format, a, type.one, negate(format, b));
  if (name == "mul") {
    // Adding a zero of the product's sign changes nothing.
    return fuse(format, a, b, (a ^ b) & format.sign);
  }
  return fuse(format, a, b, c);
}

uint64_t flush(const HalfType &type, uint64_t code) {
  return code >> type.mantissaBits & (0x7FFF >> type.mantissaBits)
             ? code
             : code & 0x8000;
}

std::string makeText(const std::string &opcode, unsigned sources) {
  static const char *operands[] = {"%a", "%b", "%c"};
  std::string text = opcode + " %d";
  for (unsigned i = 0; i != sources; ++i)
    text += std::string(", ") + operands[i];
  return text + ";";
}

/// Pairs of consecutive elements.
std::vector<uint64_t> packPairs(const std::vector<uint64_t> &codes) {
  std::vector<uint64_t> pairs;
  for (size_t i = 0; i + 1 < codes.size(); i += 2)
    pairs.push_back(codes[i + 1] << 16 | codes[i]);
  return pairs;
}

std::vector<uint64_t> makeAllCodes() {
  std::vector<uint64_t> codes(65536);
  for (unsigned i = 0; i != codes.size(); ++i)
    codes[i] = i;
  return codes;
}

/// Runs the scalar and the packed form, which must agree, and returns the
/// scalar's results.
std::vector<uint64_t> runBoth(const std::string &prefix,
                              const std::string &type, unsigned sources,
                              const std::vector<uint64_t> (&codes)[3]) {
  std::vector<ElementInput> scalar, packed;
  for (unsigned k = 0; k != sources; ++k) {
    scalar.push_back({2, codes[k]});
    packed.push_back({4, packPairs(codes[k])});
  }
  std::vector<uint64_t> out =
      runElements(makeText(prefix + "." + type, sources), scalar, 2);
  EXPECT_EQ(
      runElements(makeText(prefix + "." + type + "x2", sources), packed, 4),
      packPairs(out))
      << prefix;
  return out;
}

} // namespace

TEST(HalfArithmetic, RoundsOnce) {
  for (const HalfType &type : kTypes)
    for (const char *name : {"add", "sub", "mul", "fma"}) {
      bool isFma = std::string(name) == "fma";
      std::vector<uint64_t> codes[3];
      for (unsigned k = 0; k != 3; ++k)
        codes[k] = makeCodes(type, k, 1u << 17);
      std::vector<uint64_t> out =
          runBoth(std::string(name) + ".rn", type.name, isFma ? 3 : 2, codes);
      unsigned failures = 0;
      for (size_t i = 0; i != out.size() && failures < 5; ++i) {
        uint64_t expected =
            compute(type, name, codes[0][i], codes[1][i], codes[2][i]);
        EXPECT_EQ(out[i], expected)
            << name << "." << type.name << std::hex << " of " << codes[0][i]
            << ", " << codes[1][i] << ", " << codes[2][i];
        failures += out[i] != expected;
      }
    }
}

TEST(HalfArithmetic, FmaDoesNotRoundTwice) {
  // (1 + 2^-10) * (1 - 2^-10) + 2050 falls short of the tie 2051 by 2^-20, for
  // which f32 has no room.
  std::vector<ElementInput> inputs = {
      {2, {0x3C01}}, {2, {0x3BFE}}, {2, {0x6801}}};
  EXPECT_EQ(runElements("fma.rn.f16 %d, %a, %b, %c;", inputs, 2)[0], 0x6801u);
  // bf16: 1.0078125 * 1.5 is a tie, and a least addend of either sign decides
  // it; 2^64 * 2^64 - 2^127, whose product f32 has
  // not; and a product that f32 would round up to a tie.
  inputs = {{2, {0x3F81, 0x3F81, 0x5F80, 0x1FFF}},
            {2, {0x3FC0, 0x3FC0, 0x5F80, 0x1C80}},
            {2, {0x0001, 0x8001, 0xFF00, 0x0001}}};
  std::vector<uint64_t> expected;
  for (unsigned i = 0; i != 4; ++i)
    expected.push_back(fuse(bf16(), inputs[0].values[i], inputs[1].values[i],
                            inputs[2].values[i]));
  EXPECT_EQ(expected[0], 0x3FC2u); // 1.51171875 is the tie.
  EXPECT_EQ(expected[1], 0x3FC1u);
  EXPECT_EQ(expected[2], 0x7F00u);
  // Each alone, as one of them sends a whole warp another way.
  for (unsigned i = 0; i != 4; ++i)
    EXPECT_EQ(runElements("fma.rn.bf16 %d, %a, %b, %c;",
                          {{2, {inputs[0].values[i]}},
                           {2, {inputs[1].values[i]}},
                           {2, {inputs[2].values[i]}}},
                          2)[0],
              expected[i]);
}

TEST(HalfArithmetic, ModifiesResults) {
  const HalfType &type = kTypes[0];
  std::vector<uint64_t> codes[3];
  for (unsigned k = 0; k != 3; ++k)
    codes[k] = makeCodes(type, k + 30, 20000);
  auto expectAll = [&](const char *opcode, const char *typeName,
                       unsigned sources, auto expected) {
    std::vector<uint64_t> out = runBoth(opcode, typeName, sources, codes);
    for (size_t i = 0; i != out.size(); ++i)
      ASSERT_EQ(out[i], expected(codes[0][i], codes[1][i], codes[2][i]))
          << opcode << std::hex << " of " << codes[0][i] << ", " << codes[1][i]
          << ", " << codes[2][i];
  };
  auto saturate = [&](uint64_t code) -> uint64_t {
    if (type.format.isNaN(code) || code & 0x8000)
      return 0;
    return std::min(code, type.one);
  };
  expectAll("add.ftz", "f16", 2, [&](uint64_t a, uint64_t b, uint64_t) {
    return flush(type, compute(type, "add", flush(type, a), flush(type, b), 0));
  });
  expectAll("mul.sat", "f16", 2, [&](uint64_t a, uint64_t b, uint64_t) {
    return saturate(compute(type, "mul", a, b, 0));
  });
  expectAll(
      "fma.rn.ftz.sat", "f16", 3, [&](uint64_t a, uint64_t b, uint64_t c) {
        return flush(type, saturate(compute(type, "fma", flush(type, a),
                                            flush(type, b), flush(type, c))));
      });
  expectAll("fma.rn.relu", "f16", 3, [&](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t code = compute(type, "fma", a, b, c);
    return code & 0x8000 ? 0 : code;
  });
  expectAll("fma.rn.relu", "bf16", 3, [&](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t code = compute(kTypes[1], "fma", a, b, c);
    return code & 0x8000 ? 0 : code;
  });
}

TEST(HalfArithmetic, ChangesSigns) {
  std::vector<uint64_t> codes[3] = {makeAllCodes(), {}, {}};
  for (const HalfType &type : kTypes) {
    std::vector<uint64_t> negated = runBoth("neg", type.name, 1, codes);
    std::vector<uint64_t> absolute = runBoth("abs", type.name, 1, codes);
    for (unsigned code = 0; code != 65536; ++code) {
      ASSERT_EQ(negated[code], code ^ 0x8000);
      ASSERT_EQ(absolute[code], code & 0x7FFF);
    }
  }
  std::vector<uint64_t> flushed = runBoth("neg.ftz", "f16", 1, codes);
  for (unsigned code = 0; code != 65536; ++code)
    ASSERT_EQ(flushed[code], flush(kTypes[0], code) ^ 0x8000);
}

TEST(HalfArithmetic, SelectsExtremes) {
  for (const HalfType &type : kTypes) {
    const Format &format = type.format;
    std::vector<uint64_t> codes[3] = {
        makeCodes(type, 50, 60000), makeCodes(type, 51, 60000), {}};
    // Zeros of both signs and NaNs against everything.
    for (unsigned i = 0; i != 2000; ++i)
      codes[0][i * 7] = i % 4 == 0   ? 0
                        : i % 4 == 1 ? 0x8000
                        : i % 4 == 2 ? 0x7FFF
                                     : 0xFFC1;
    for (unsigned i = 0; i != 1000; ++i)
      codes[1][i * 14] = i % 2 ? 0x8000 : 0x7FC1;
    for (bool isMax : {false, true})
      for (bool nan : {false, true})
        for (bool xorSign : {false, true}) {
          std::string opcode = isMax ? "max" : "min";
          opcode += nan ? ".NaN" : "";
          opcode += xorSign ? ".xorsign.abs" : "";
          std::vector<uint64_t> out = runBoth(opcode, type.name, 2, codes);
          for (size_t i = 0; i != out.size(); ++i) {
            uint64_t a = codes[0][i], b = codes[1][i];
            uint64_t sign = (a ^ b) & 0x8000;
            if (xorSign) {
              a &= 0x7FFF;
              b &= 0x7FFF;
            }
            double x = format.toDouble(a), y = format.toDouble(b);
            bool aIsLess = x < y || (x == y && (a & 0x8000) > (b & 0x8000));
            uint64_t expected = aIsLess != isMax ? a : b;
            bool isNaN = false;
            if (std::isnan(x) || std::isnan(y)) {
              isNaN = nan || (std::isnan(x) && std::isnan(y));
              expected = isNaN ? 0x7FFF : std::isnan(x) ? b : a;
            }
            if (xorSign && !isNaN)
              expected = (expected & 0x7FFF) | sign;
            ASSERT_EQ(out[i], expected) << opcode << std::hex << " of "
                                        << codes[0][i] << ", " << codes[1][i];
          }
        }
  }
}

TEST(HalfArithmetic, ApproximatesWithinBounds) {
  std::vector<uint64_t> codes[3] = {makeAllCodes(), {}, {}};
  for (const HalfType &type : kTypes) {
    const Format &format = type.format;
    bool isF16 = type.one == 0x3C00;
    std::vector<uint64_t> tanh = runBoth("tanh.approx", type.name, 1, codes);
    std::vector<uint64_t> exp =
        runBoth(isF16 ? "ex2.approx" : "ex2.approx.ftz", type.name, 1, codes);
    for (unsigned code = 0; code != 65536; ++code) {
      double value = format.toDouble(code);
      if (std::isnan(value)) {
        ASSERT_EQ(tanh[code], 0x7FFFu);
        ASSERT_EQ(exp[code], 0x7FFFu);
        continue;
      }
      ASSERT_LE(std::fabs(format.toDouble(tanh[code]) - std::tanh(value)),
                isF16 ? std::exp2(-10.987) : 0x1p-8);
      ASSERT_EQ(tanh[code] & 0x8000, code & 0x8000);
      double expected = std::exp2(value), got = format.toDouble(exp[code]);
      double least = isF16 ? 0x1p-14 : 0x1p-126;
      double max = format.toDouble(format.numFinite - 1);
      if (std::isinf(got))
        ASSERT_GT(expected, max);
      else if (expected >= least)
        ASSERT_LE(std::fabs(got - expected),
                  expected * (isF16 ? std::exp2(-9.9) : 0x1p-7));
      else
        ASSERT_LE(std::fabs(got - expected), isF16 ? 0x1p-25 : least);
    }
  }
}

TEST(HalfArithmetic, MixesPrecisions) {
  ElementTarget target{"sm_100", "8.6"};
  std::vector<ElementInput> inputs = {{2, {}}, {2, {}}, {4, {}}};
  for (unsigned i = 0; i != 20000; ++i) {
    inputs[0].values.push_back(makeCodes(kTypes[0], i, 1)[0] & 0xBFFF);
    inputs[1].values.push_back(hash(i) & 0xBFFF);
    inputs[2].values.push_back(codeOf(
        static_cast<float>(static_cast<int64_t>(hash(i + 77))) * 0x1p-62f));
  }
  std::vector<ElementInput> two = {inputs[0], inputs[2]};
  for (const HalfType &type : kTypes) {
    std::string name = type.name;
    std::vector<uint64_t> fma = runElements(
        "fma.rn.f32." + name + " %d, %a, %b, %c;", inputs, 4, target);
    std::vector<uint64_t> sum =
        runElements("add.f32." + name + " %d, %a, %b;", two, 4, target);
    std::vector<uint64_t> difference =
        runElements("sub.sat.f32." + name + " %d, %a, %b;", two, 4, target);
    for (size_t i = 0; i != fma.size(); ++i) {
      double a = type.format.toDouble(inputs[0].values[i]);
      double b = type.format.toDouble(inputs[1].values[i]);
      float x = static_cast<float>(a), y = static_cast<float>(b);
      float c = asFloat(inputs[2].values[i]);
      float expected = std::fma(x, y, c);
      ASSERT_EQ(fma[i], std::isnan(expected) ? 0x7FFFFFFF : codeOf(expected));
      ASSERT_EQ(sum[i], std::isnan(x) ? 0x7FFFFFFF : codeOf(x + c));
      float clamped = x - c;
      clamped = clamped > 0 ? std::min(clamped, 1.0f) : 0;
      ASSERT_EQ(difference[i], codeOf(clamped));
    }
  }
  EXPECT_EQ(runElements("add.rp.f32.f16 %d, %a, %b;",
                        {{2, {0x0001}}, {4, {0x3F800000}}}, 4, target)[0],
            0x3F800001u);
}

TEST(HalfArithmetic, RefusesWhatTheISAHasNot) {
  EXPECT_NE(
      getError("add.bf16 %d, %a, %a;", {2}, 2, {"sm_80", "8.0"})
          .find("'add.bf16' needs sm_90 or later, but the module's target "
                "is sm_80"),
      std::string::npos);
  EXPECT_EQ(getError("fma.rn.bf16 %d, %a, %a, %a;", {2}, 2, {"sm_80", "8.0"}),
            "");
  EXPECT_NE(getError("add.sat.bf16 %d, %a, %a;", {2}, 2), "");
  EXPECT_NE(getError("add.rz.f16 %d, %a, %a;", {2}, 2), "");
  EXPECT_NE(getError("fma.f16 %d, %a, %a, %a;", {2}, 2), "");
  EXPECT_NE(getError("fma.rn.oob.f16 %d, %a, %a, %a;", {2}, 2), "");
  EXPECT_NE(getError("min.abs.f16 %d, %a, %a;", {2}, 2), "");
  EXPECT_NE(getError("ex2.approx.bf16 %d, %a;", {2}, 2), "");
  EXPECT_NE(getError("add.f32.f16 %d, %a, %b;", {2, 4}, 4), "");
}
