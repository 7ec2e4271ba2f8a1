//===- ConversionsTest.cpp - cvt of one value -----------------------------===//
//
// Conversions between integers, and between integers and floats, against
// 128-bit integers and quadruple precision; between floats against a table of
// each format's values, or the host in its rounding modes.
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"
#include "FloatReference.h"

#include <cfenv>

using namespace tile::emulator;
using namespace tile::emulator::reference;

namespace {

__extension__ typedef __int128 Wide;

struct IntegerType {
  const char *name;
  unsigned bits;
  bool isSigned;

  unsigned bytes() const { return bits == 8 ? 2 : bits / 8; }
  Wide min() const { return isSigned ? -(Wide(1) << (bits - 1)) : 0; }
  Wide max() const { return (Wide(1) << (isSigned ? bits - 1 : bits)) - 1; }
  /// The value of the lowest bits of `code`.
  Wide decode(uint64_t code) const {
    Wide value =
        bits == 64 ? Wide(code) : Wide(code & ((uint64_t(1) << bits) - 1));
    return isSigned && value > max() ? value - (Wide(1) << bits) : value;
  }
};

const IntegerType kIntegers[] = {{"u8", 8, false},   {"s8", 8, true},
                                 {"u16", 16, false}, {"s16", 16, true},
                                 {"u32", 32, false}, {"s32", 32, true},
                                 {"u64", 64, false}, {"s64", 64, true}};

uint64_t truncate(Wide value, unsigned bytes) {
  uint64_t bits = static_cast<uint64_t>(value);
  return bytes == 8 ? bits : bits & ((uint64_t(1) << (bytes * 8)) - 1);
}

/// Codes of registers: edges of every width, and any.
std::vector<uint64_t> makeIntegers(unsigned bytes, unsigned count) {
  std::vector<uint64_t> codes;
  for (unsigned bit = 0; bit != 64; ++bit)
    for (int delta = -1; delta <= 1; ++delta) {
      uint64_t code = (uint64_t(1) << bit) + static_cast<uint64_t>(delta);
      codes.push_back(code);
      codes.push_back(0 - code);
    }
  for (unsigned i = 0; i != count; ++i)
    codes.push_back(hash(i) >> (hash(i + 5) % 64));
  for (uint64_t &code : codes)
    code = truncate(Wide(code), bytes);
  return codes;
}

struct Rounding {
  const char *name;
  Mode mode;
  int host;
};
const Rounding kRoundings[] = {{"rn", Mode::NearestEven, FE_TONEAREST},
                               {"rz", Mode::Zero, FE_TOWARDZERO},
                               {"rm", Mode::Down, FE_DOWNWARD},
                               {"rp", Mode::Up, FE_UPWARD}};

struct FloatType {
  const char *name;
  unsigned bytes;
};
const FloatType kFloats[] = {{"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};

double decodeFloat(const std::string &type, uint64_t code) {
  return type == "f16"    ? f16().toDouble(code)
         : type == "bf16" ? bf16().toDouble(code)
         : type == "f32"  ? asFloat(code)
                          : asDouble(code);
}

/// f64 values around everything that matters to f16, bf16, f32 and integers.
std::vector<uint64_t> makeDoubles() {
  std::vector<uint64_t> codes;
  auto add = [&](double value) {
    for (double near : {value, std::nextafter(value, INFINITY),
                        std::nextafter(value, -INFINITY)}) {
      codes.push_back(codeOf(near));
      codes.push_back(codeOf(-near));
    }
  };
  for (int exponent = -155; exponent <= 130; ++exponent)
    for (double mantissa : {1.0, 1.5, 1.0 + 0x1p-11, 1.0 + 0x1p-8,
                            1.0 + 0x1p-24, 2 - 0x1p-11, 2 - 0x1p-24})
      add(std::ldexp(mantissa, exponent));
  for (double value : {0.5, 1.5, 2.5, 127.5, 128.5, 255.5, 32767.5, 65535.5,
                       2147483647.5, 4294967295.5, 65504.0, 65520.0})
    add(value);
  for (unsigned i = 0; i != 3000; ++i) {
    codes.push_back(hash(i));
    codes.push_back(hash(i) % (uint64_t(400) << 52) + (uint64_t(823) << 52));
  }
  for (uint64_t code : {0x7FF0000000000000ull, 0x7FF8000000000001ull, 0ull,
                        1ull, 0x7FEFFFFFFFFFFFFFull}) {
    codes.push_back(code);
    codes.push_back(code | 0x8000000000000000);
  }
  return codes;
}

/// Inputs of a float type.
std::vector<uint64_t> makeFloatInputs(const std::string &type) {
  if (type == "f64")
    return makeDoubles();
  if (type == "f32") {
    std::vector<uint64_t> codes = makeFloats(f16(), 7);
    for (uint64_t code : makeDoubles())
      codes.push_back(codeOf(static_cast<float>(asDouble(code))));
    return codes;
  }
  std::vector<uint64_t> codes(65536);
  for (unsigned i = 0; i != codes.size(); ++i)
    codes[i] = i;
  return codes;
}

} // namespace

TEST(Conversions, ExtendAndChopIntegers) {
  for (const IntegerType &to : kIntegers)
    for (const IntegerType &from : kIntegers)
      for (unsigned fromBytes : {2u, 4u, 8u})
        for (unsigned toBytes : {2u, 4u, 8u}) {
          if (fromBytes < from.bytes() || toBytes < to.bytes())
            continue;
          std::vector<uint64_t> codes = makeIntegers(fromBytes, 100);
          std::string pair = std::string(to.name) + "." + from.name;
          std::vector<uint64_t> out = runElements(
              "cvt." + pair + " %d, %a;", {{fromBytes, codes}}, toBytes);
          for (size_t i = 0; i != codes.size(); ++i) {
            Wide value = from.decode(codes[i]);
            Wide expected = to.decode(truncate(value, 8));
            ASSERT_EQ(out[i], truncate(expected, toBytes))
                << pair << " of " << codes[i] << " in " << fromBytes << " to "
                << toBytes << " bytes";
          }
        }
}

TEST(Conversions, SaturateIntegers) {
  for (const IntegerType &to : kIntegers)
    for (const IntegerType &from : kIntegers) {
      std::string body =
          std::string("cvt.sat.") + to.name + "." + from.name + " %d, %a;";
      if (to.min() <= from.min() && to.max() >= from.max()) {
        EXPECT_NE(getError(body, {from.bytes()}, to.bytes()), "") << body;
        continue;
      }
      std::vector<uint64_t> codes = makeIntegers(from.bytes(), 100);
      std::vector<uint64_t> out =
          runElements(body, {{from.bytes(), codes}}, to.bytes());
      for (size_t i = 0; i != codes.size(); ++i) {
        Wide value = std::clamp(from.decode(codes[i]), to.min(), to.max());
        ASSERT_EQ(out[i], truncate(value, to.bytes())) << body << codes[i];
      }
    }
}

TEST(Conversions, RoundIntegersToFloats) {
  for (const FloatType &to : kFloats)
    for (const IntegerType &from : kIntegers) {
      std::vector<uint64_t> codes = makeIntegers(from.bytes(), 2000);
      for (const Rounding &rounding : kRoundings) {
        std::string body = std::string("cvt.") + rounding.name + "." + to.name +
                           "." + from.name + " %d, %a;";
        std::vector<uint64_t> out =
            runElements(body, {{from.bytes(), codes}}, to.bytes);
        for (size_t i = 0; i != codes.size(); ++i) {
          Wide value = from.decode(codes[i]);
          uint64_t expected;
          if (to.bytes == 2) {
            const Format &format = to.name[0] == 'b' ? bf16() : f16();
            expected = format.encode(Quad(value), 0, rounding.mode, false);
          } else {
            // 64 bits of long double hold the integer.
            volatile long double exact = static_cast<long double>(value);
            std::fesetround(rounding.host);
            volatile float narrow = static_cast<float>(exact);
            volatile double wide = static_cast<double>(exact);
            std::fesetround(FE_TONEAREST);
            expected =
                to.bytes == 4 ? codeOf(float(narrow)) : codeOf(double(wide));
          }
          ASSERT_EQ(out[i], expected) << body << " " << codes[i];
        }
      }
    }
}

TEST(Conversions, RoundFloatsToIntegers) {
  struct IntegerRounding {
    const char *name;
    double (*round)(double);
  };
  const IntegerRounding roundings[] = {
      {"rni",
       [](double value) {
         double down = std::floor(value), part = value - down;
         bool odd = std::fmod(down, 2) != 0;
         return part > 0.5 || (part == 0.5 && odd) ? down + 1 : down;
       }},
      {"rzi",
       [](double value) {
         return value < 0 ? std::ceil(value) : std::floor(value);
       }},
      {"rmi", [](double value) { return std::floor(value); }},
      {"rpi", [](double value) { return std::ceil(value); }}};
  for (const FloatType &from : kFloats) {
    std::vector<uint64_t> codes = makeFloatInputs(from.name);
    for (const IntegerType &to : kIntegers)
      for (const IntegerRounding &rounding : roundings) {
        std::string body = std::string("cvt.") + rounding.name + "." + to.name +
                           "." + from.name + " %d, %a;";
        std::vector<uint64_t> out =
            runElements(body, {{from.bytes, codes}}, to.bytes());
        for (size_t i = 0; i != codes.size(); ++i) {
          double value = decodeFloat(from.name, codes[i]);
          uint64_t expected;
          if (std::isnan(value)) {
            bool isWide = from.bytes == 8 || to.bits == 64;
            Wide nan = isWide ? Wide(1) << (to.bits - 1) : 0;
            expected =
                truncate(to.decode(static_cast<uint64_t>(nan)), to.bytes());
          } else {
            double rounded = rounding.round(value);
            Wide integer = rounded >= 0x1p65    ? Wide(1) << 65
                           : rounded <= -0x1p65 ? -(Wide(1) << 65)
                                                : static_cast<Wide>(rounded);
            expected =
                truncate(std::clamp(integer, to.min(), to.max()), to.bytes());
          }
          ASSERT_EQ(out[i], expected) << body << " " << value;
        }
      }
  }
}

TEST(Conversions, RoundFloatsToIntegralFloats) {
  for (const FloatType &type : kFloats) {
    std::vector<uint64_t> codes = makeFloatInputs(type.name);
    std::string pair = std::string(".") + type.name + "." + type.name;
    std::vector<uint64_t> nearest = runElements(
        "cvt.rni" + pair + " %d, %a;", {{type.bytes, codes}}, type.bytes);
    std::vector<uint64_t> up = runElements("cvt.rpi" + pair + " %d, %a;",
                                           {{type.bytes, codes}}, type.bytes);
    for (size_t i = 0; i != codes.size(); ++i) {
      double value = decodeFloat(type.name, codes[i]);
      double got = decodeFloat(type.name, nearest[i]);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(got));
        continue;
      }
      ASSERT_EQ(got, std::nearbyint(value)) << pair;
      ASSERT_EQ(std::signbit(got), std::signbit(value)) << pair;
      ASSERT_EQ(decodeFloat(type.name, up[i]), std::ceil(value)) << pair;
    }
  }
}

TEST(Conversions, RoundFloatsToFloats) {
  for (const FloatType &to : kFloats)
    for (const FloatType &from : kFloats) {
      std::string toName = to.name, fromName = from.name;
      if (toName == fromName)
        continue;
      bool widens = (toName == "f64") || (toName == "f32" && from.bytes == 2);
      std::vector<uint64_t> codes = makeFloatInputs(from.name);
      for (const Rounding &rounding : kRoundings) {
        bool isDirected =
            rounding.mode == Mode::Down || rounding.mode == Mode::Up;
        if (isDirected && toName == "bf16" && fromName == "f32")
          continue;
        if (widens && rounding.mode != Mode::NearestEven)
          continue;
        std::string body = "cvt" +
                           (widens ? "" : "." + std::string(rounding.name)) +
                           "." + toName + "." + fromName + " %d, %a;";
        std::vector<uint64_t> out =
            runElements(body, {{from.bytes, codes}}, to.bytes);
        for (size_t i = 0; i != codes.size(); ++i) {
          double value = decodeFloat(fromName, codes[i]);
          uint64_t expected;
          if (toName == "f64") {
            if (std::isnan(value)) {
              ASSERT_TRUE(std::isnan(asDouble(out[i])));
              continue;
            }
            expected = codeOf(value);
          } else if (toName == "f32") {
            volatile double exact = value;
            std::fesetround(rounding.host);
            volatile float narrow = static_cast<float>(exact);
            std::fesetround(FE_TONEAREST);
            expected = std::isnan(value) ? 0x7FFFFFFF : codeOf(float(narrow));
          } else {
            const Format &format = toName == "f16" ? f16() : bf16();
            expected = format.encode(value, rounding.mode, false);
          }
          ASSERT_EQ(out[i], expected) << body << " " << std::hex << codes[i];
        }
      }
    }
}

TEST(Conversions, RoundBetweenHalvesWithoutModifier) {
  std::vector<ElementInput> inputs = {{2, makeFloatInputs("f16")}};
  for (const char *pair : {".bf16.f16 %d, %a;", ".f16.bf16 %d, %a;"})
    EXPECT_EQ(runElements(std::string("cvt") + pair, inputs, 2),
              runElements(std::string("cvt.rn") + pair, inputs, 2));
}

TEST(Conversions, ModifyFloatResults) {
  std::vector<uint64_t> floats = makeFloats(f16(), 3);
  auto expectAll = [&](const std::string &opcode, unsigned bytes,
                       auto expected) {
    std::vector<uint64_t> out =
        runElements(opcode + " %d, %a;", {{4, floats}}, bytes);
    for (size_t i = 0; i != floats.size(); ++i)
      ASSERT_EQ(out[i], expected(asFloat(floats[i])))
          << opcode << " of " << asFloat(floats[i]);
  };
  auto clamp = [](uint64_t code) { return code & 0x8000 ? 0 : code; };
  expectAll("cvt.rn.relu.f16.f32", 2, [&](float value) {
    return clamp(f16().encode(value, Mode::NearestEven, false));
  });
  expectAll("cvt.rz.satfinite.f16.f32", 2,
            [&](float value) { return f16().encode(value, Mode::Zero, true); });
  expectAll("cvt.rn.relu.satfinite.bf16.f32", 2, [&](float value) {
    return clamp(bf16().encode(value, Mode::NearestEven, true));
  });
  expectAll("cvt.rn.sat.f16.f32", 2, [&](float value) -> uint64_t {
    return value > 0
               ? std::min<uint64_t>(
                     f16().encode(value, Mode::NearestEven, false), 0x3C00)
               : 0;
  });
  expectAll("cvt.sat.f32.f32", 4, [&](float value) -> uint64_t {
    return value > 0 ? codeOf(std::min(value, 1.0f)) : 0;
  });
  expectAll("cvt.ftz.f32.f32", 4, [&](float value) -> uint64_t {
    if (std::isnan(value))
      return 0x7FFFFFFF;
    return std::fabs(value) < 0x1p-126f ? codeOf(value) & 0x80000000
                                        : codeOf(value);
  });
  // A subnormal is not above zero once it is flushed.
  EXPECT_EQ(runElements("cvt.rpi.s32.f32 %d, %a;", {{4, {1}}}, 4)[0], 1u);
  EXPECT_EQ(runElements("cvt.rpi.ftz.s32.f32 %d, %a;", {{4, {1}}}, 4)[0], 0u);
  EXPECT_EQ(runElements("cvt.rn.ftz.f32.f64 %d, %a;",
                        {{8, {codeOf(-0x1p-130)}}}, 4)[0],
            0x80000000u);
}

TEST(Conversions, TakeWideRegisters) {
  EXPECT_EQ(runElements("cvt.f32.f16 %d, %a;", {{4, {0xABCD3C00}}}, 4)[0],
            0x3F800000u);
  EXPECT_EQ(runElements("cvt.rn.f16.f32 %d, %a;", {{4, {0xBF800000}}}, 4)[0],
            0xBC00u);
  EXPECT_EQ(runElements("cvt.rzi.s16.f32 %d, %a;", {{4, {0xC0000000}}}, 8)[0],
            0xFFFFFFFFFFFFFFFEu);
  EXPECT_EQ(runElements("cvt.rn.f32.s8 %d, %a;", {{8, {0x1234FE}}}, 4)[0],
            0xC0000000u);
  EXPECT_NE(getError("cvt.f32.bf16 %d, %a;", {4}, 4), "");
}

TEST(Conversions, FollowUnwrittenBits) {
  // The upper half of %w is never written.
  const std::string mixed = ".reg .b16 %low, %junk; .reg .b32 %w;\n"
                            "cvt.u16.u32 %low, %a;\n"
                            "mov.b32 %w, {%low, %junk};\n";
  EXPECT_EQ(
      runElements(mixed + "cvt.u32.u16 %d, %w;", {{4, {0x12348765}}}, 4)[0],
      0x8765u);
  EXPECT_EQ(
      runElements(mixed + "cvt.s64.s16 %d, %w;", {{4, {0x12348765}}}, 8)[0],
      0xFFFFFFFFFFFF8765u);
  EXPECT_EQ(
      runElements(mixed + "cvt.u32.u8 %d, %w;", {{4, {0x12348765}}}, 4)[0],
      0x65u);
  EXPECT_EQ(runElements(mixed + "cvt.rn.f32.u16 %d, %w;", {{4, {2}}}, 4)[0],
            0x40000000u);
  EXPECT_EQ(
      runElements(mixed + "cvt.u16.u32 %d, %w;", {{4, {0x12348765}}}, 8)[0],
      0x8765u);
  // The unwritten half survives a widening, and falls to a later narrowing.
  EXPECT_EQ(runElements(mixed + ".reg .b64 %x; cvt.u64.u32 %x, %w;\n"
                                "cvt.u32.u16 %d, %x;",
                        {{4, {0x8765}}}, 4)[0],
            0x8765u);
  for (const char *use :
       {"cvt.u64.u32 %d, %w;", "cvt.s64.s32 %d, %w;", "cvt.rn.f64.s32 %d, %w;",
        "cvt.sat.u32.s32 %t, %w; cvt.u64.u32 %d, %t;",
        // The sign that extends it is not written either.
        "cvt.s64.s32 %d, %w; mov.b64 {_, %t}, %d; cvt.u64.u32 %d, %t;"})
    EXPECT_NE(getError(".reg .b32 %t;" + mixed + use, {4}, 8), "") << use;
}

TEST(Conversions, PackIntegers) {
  std::vector<ElementInput> inputs = {
      {4, {5, 0xFFFFFFFF, 70000, 0x80000000}},
      {4, {0xFFFFFF00, 300, 0xFFFF0000, 7}},
      {4, {0x11223344, 0, 0xFFFFFFFF, 0x00000003}}};
  std::vector<ElementInput> two = {inputs[0], inputs[1]};
  EXPECT_EQ(
      runElements("cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", inputs, 4),
      (std::vector<uint64_t>{0x33440500, 0x000000FF, 0xFFFFFF00, 0x00030007}));
  EXPECT_EQ(
      runElements("cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;", inputs, 4),
      (std::vector<uint64_t>{0x33440580, 0x0000FF7F, 0xFFFF7F80, 0x00038007}));
  EXPECT_EQ(
      runElements("cvt.pack.sat.s4.s32.b32 %d, %a, %b, %c;", inputs, 4),
      (std::vector<uint64_t>{0x22334458, 0x000000F7, 0xFFFFFF78, 0x00000387}));
  EXPECT_EQ(
      runElements("cvt.pack.sat.u2.s32.b32 %d, %a, %b, %c;", inputs, 4)[0],
      0x1223344Cu);
  EXPECT_EQ(
      runElements("cvt.pack.sat.s16.s32 %d, %a, %b;", two, 4),
      (std::vector<uint64_t>{0x0005FF00, 0xFFFF012C, 0x7FFF8000, 0x80000007}));
  EXPECT_EQ(
      runElements("cvt.pack.sat.u16.s32 %d, %a, %b;", two, 4),
      (std::vector<uint64_t>{0x00050000, 0x0000012C, 0xFFFF0000, 0x00000007}));
}

TEST(Conversions, RefuseWhatTheISAHasNot) {
  auto message = [](const char *body, unsigned a, unsigned d,
                    ElementTarget target = {}) {
    return getError(body, {a}, d, target);
  };
  EXPECT_NE(message("cvt.s32.f32 %d, %a;", 4, 4)
                .find("'cvt.s32.f32' expects an integer rounding: .rni, .rzi, "
                      ".rmi or .rpi"),
            std::string::npos);
  EXPECT_NE(message("cvt.f32.s32 %d, %a;", 4, 4)
                .find("'cvt.f32.s32' expects a rounding: .rn, .rz, .rm or .rp"),
            std::string::npos);
  EXPECT_NE(message("cvt.f16.f32 %d, %a;", 4, 2), "");
  EXPECT_NE(message("cvt.rn.f64.f32 %d, %a;", 4, 8), "");
  EXPECT_NE(message("cvt.rni.f16.f32 %d, %a;", 4, 2), "");
  EXPECT_NE(message("cvt.rn.u32.u16 %d, %a;", 2, 4), "");
  EXPECT_NE(message("cvt.ftz.rn.f16.f64 %d, %a;", 8, 2), "");
  EXPECT_NE(message("cvt.rm.bf16.f32 %d, %a;", 4, 2), "");
  EXPECT_NE(message("cvt.rn.relu.f16.f64 %d, %a;", 8, 2), "");
  EXPECT_NE(message("cvt.rn.sat.bf16.f32 %d, %a;", 4, 2), "");
  EXPECT_NE(message("cvt.rn.bf16.f16 %d, %a;", 2, 2, {"sm_80", "8.0"})
                .find("'cvt.bf16.f16' needs sm_90 or later, but the module's "
                      "target is sm_80"),
            std::string::npos);
  EXPECT_EQ(message("cvt.rn.bf16.f32 %d, %a;", 4, 2, {"sm_80", "8.0"}), "");
  EXPECT_NE(message("cvt.b32.u16 %d, %a;", 2, 4), "");
  EXPECT_NE(message("cvt.u32 %d, %a;", 4, 4), "");
}
