//===- PackedConversionsTest.cpp - cvt of pairs and fours -----------------===//
//
// Every code of the narrow formats, and f32, f16 and bf16 at the values,
// middles and limits of each, against tables of the formats' values.
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"
#include "FloatReference.h"

using namespace tile::emulator;
using namespace tile::emulator::reference;

namespace {

struct NarrowType {
  const char *name;
  const Format &format;
  unsigned stride; ///< Bits from one value of a pair to the next.
};
const NarrowType kNarrow[] = {{"e4m3", e4m3(), 8},
                              {"e5m2", e5m2(), 8},
                              {"e2m3", e2m3(), 8},
                              {"e3m2", e3m2(), 8},
                              {"e2m1", e2m1(), 4}};
const ElementTarget kBlackwell{"sm_120a", "9.2"};

/// `opcode` with operands; e2m1x2 lives in .b8 registers, which a test's arrays
/// are not.
std::string toNarrow(const NarrowType &type, const std::string &opcode,
                     const std::string &operands) {
  if (type.stride == 8)
    return opcode + " %d, " + operands + ";";
  return ".reg .b8 %t; " + opcode + " %t, " + operands + "; cvt.u16.u8 %d, %t;";
}
std::string fromNarrow(const NarrowType &type, const std::string &opcode) {
  if (type.stride == 8)
    return opcode + " %d, %a;";
  return ".reg .b8 %t; cvt.u8.u16 %t, %a; " + opcode + " %d, %t;";
}

/// The values in another order, for the other half of a pair.
std::vector<uint64_t> rotate(std::vector<uint64_t> values) {
  std::rotate(values.begin(), values.begin() + values.size() / 3, values.end());
  return values;
}

uint64_t clampNegative(const Format &format, uint64_t code, bool relu) {
  return relu && (code & format.sign) ? 0 : code;
}

} // namespace

TEST(PackedConversions, NarrowPairsOfF32) {
  for (const NarrowType &type : kNarrow) {
    std::vector<uint64_t> a = makeFloats(type.format), b = rotate(a);
    for (bool relu : {false, true}) {
      std::string opcode = std::string("cvt.rn.satfinite") +
                           (relu ? ".relu." : ".") + type.name + "x2.f32";
      std::vector<uint64_t> out = runElements(toNarrow(type, opcode, "%a, %b"),
                                              {{4, a}, {4, b}}, 2, kBlackwell);
      for (size_t i = 0; i != a.size(); ++i) {
        auto encode = [&](uint64_t code) {
          return clampNegative(
              type.format,
              type.format.encode(asFloat(code), Mode::NearestEven, true), relu);
        };
        ASSERT_EQ(out[i], encode(a[i]) << type.stride | encode(b[i]))
            << opcode << " of " << asFloat(a[i]) << ", " << asFloat(b[i]);
      }
    }
  }
}

TEST(PackedConversions, NarrowPairsOfHalves) {
  std::vector<uint64_t> pairs;
  for (unsigned code = 0; code != 65536; ++code)
    pairs.push_back(code << 16 | (code * 40503u + 1) % 65536);
  for (const NarrowType &type : kNarrow)
    for (const char *source : {"f16", "bf16"}) {
      const Format &from = source[0] == 'f' ? f16() : bf16();
      std::string opcode =
          std::string("cvt.rn.satfinite.") + type.name + "x2." + source + "x2";
      std::vector<uint64_t> out = runElements(toNarrow(type, opcode, "%a"),
                                              {{4, pairs}}, 2, kBlackwell);
      for (size_t i = 0; i != pairs.size(); ++i) {
        auto encode = [&](uint64_t code) {
          double value = from.toDouble(code & 0xFFFF);
          return type.format.encode(value, Mode::NearestEven, true);
        };
        ASSERT_EQ(out[i],
                  encode(pairs[i] >> 16) << type.stride | encode(pairs[i]))
            << opcode << " of " << std::hex << pairs[i];
      }
    }
}

TEST(PackedConversions, WidenEveryCode) {
  std::vector<uint64_t> codes;
  for (unsigned code = 0; code != 65536; ++code)
    codes.push_back(code);
  for (const NarrowType &type : kNarrow)
    for (const char *target : {"f16", "bf16"})
      for (bool relu : {false, true}) {
        const Format &to = target[0] == 'f' ? f16() : bf16();
        uint64_t mask = type.format.sign * 2 - 1;
        std::string opcode = std::string("cvt.rn") + (relu ? ".relu." : ".") +
                             target + "x2." + type.name + "x2";
        std::vector<uint64_t> out =
            runElements(fromNarrow(type, opcode), {{2, codes}}, 4, kBlackwell);
        for (size_t i = 0; i != codes.size(); ++i) {
          auto widen = [&](uint64_t code) {
            double value = type.format.toDouble(code & mask);
            return clampNegative(to, to.encode(value, Mode::NearestEven, false),
                                 relu);
          };
          ASSERT_EQ(out[i],
                    widen(codes[i] >> type.stride) << 16 | widen(codes[i]))
              << opcode << " of " << std::hex << codes[i];
        }
      }
}

TEST(PackedConversions, PairHalves) {
  for (const char *name : {"f16", "bf16"}) {
    const Format &format = name[0] == 'f' ? f16() : bf16();
    std::vector<uint64_t> a = makeFloats(format, 2), b = rotate(a);
    for (const char *modifiers :
         {"rn", "rz", "rn.relu", "rz.satfinite", "rn.relu.satfinite"}) {
      std::string text = modifiers;
      Mode mode = text[1] == 'n' ? Mode::NearestEven : Mode::Zero;
      bool relu = text.find("relu") != std::string::npos;
      bool saturate = text.find("satfinite") != std::string::npos;
      std::vector<uint64_t> out =
          runElements("cvt." + text + "." + name + "x2.f32 %d, %a, %b;",
                      {{4, a}, {4, b}}, 4);
      for (size_t i = 0; i != a.size(); ++i) {
        auto encode = [&](uint64_t code) {
          return clampNegative(
              format, format.encode(asFloat(code), mode, saturate), relu);
        };
        ASSERT_EQ(out[i], encode(a[i]) << 16 | encode(b[i]))
            << text << "." << name << " of " << asFloat(a[i]) << ", "
            << asFloat(b[i]);
      }
    }
  }
}

TEST(PackedConversions, FollowUnwrittenHalves) {
  // A compiler converts one value as the lower half of a pair, and gives any
  // register for the upper one.
  const std::string declare = ".reg .b32 %junk, %w; .reg .b16 %h, %l;\n";
  for (const char *type : {"f16x2", "bf16x2"}) {
    const std::string cvt = "cvt.rn." + std::string(type) + ".f32 %w, ";
    const uint64_t one = type[0] == 'f' ? 0x3C00 : 0x3F80;
    EXPECT_EQ(runElements(declare + cvt +
                              "%junk, %a; mov.b32 {%l, _}, %w; "
                              "cvt.u32.u16 %d, %l;",
                          {{4, {0x3F800000}}}, 4)[0],
              one);
    EXPECT_EQ(runElements(declare + cvt +
                              "%a, %junk; mov.b32 {_, %h}, %w; "
                              "cvt.u32.u16 %d, %h;",
                          {{4, {0x3F800000}}}, 4)[0],
              one);
    for (const char *use :
         {"%junk, %a; mov.b32 {_, %h}, %w; cvt.u32.u16 %d, %h;",
          "%a, %junk; mov.b32 {%h, _}, %w; cvt.u32.u16 %d, %h;",
          "%junk, %a; mov.b32 %d, %w;"})
      EXPECT_NE(getError(declare + cvt + use, {4}, 4), "") << use;
  }
}

TEST(PackedConversions, RoundToTF32) {
  std::vector<uint64_t> a = makeFloats(tf32(), 61);
  struct Case {
    const char *modifiers;
    Mode mode;
    bool saturate, relu;
  };
  for (const Case &test :
       {Case{"rna", Mode::NearestAway, false, false},
        Case{"rn", Mode::NearestEven, false, false},
        Case{"rz.relu", Mode::Zero, false, true},
        Case{"rna.satfinite", Mode::NearestAway, true, false},
        Case{"rn.satfinite", Mode::NearestEven, true, false}}) {
    std::vector<uint64_t> out =
        runElements(std::string("cvt.") + test.modifiers + ".tf32.f32 %d, %a;",
                    {{4, a}}, 4, kBlackwell);
    for (size_t i = 0; i != a.size(); ++i) {
      float value = asFloat(a[i]);
      uint64_t code = tf32().encode(value, test.mode, test.saturate);
      uint64_t expected = std::isnan(value)
                              ? 0x7FFFFFFF
                              : clampNegative(tf32(), code, test.relu) << 13;
      ASSERT_EQ(out[i], expected) << test.modifiers << " of " << value;
    }
  }
}

TEST(PackedConversions, TakeExponents) {
  std::vector<uint64_t> a;
  for (uint64_t exponent = 0; exponent != 256; ++exponent)
    for (uint64_t mantissa :
         {0u, 1u, 0x3FFFFFu, 0x400000u, 0x400001u, 0x7FFFFFu})
      for (uint64_t sign : {0u, 0x80000000u})
        a.push_back(sign | exponent << 23 | mantissa);
  std::vector<uint64_t> b = rotate(a), pairs;
  for (uint64_t code = 0; code != 65536; ++code)
    pairs.push_back(code << 16 | (code * 40503 + 1) % 65536);
  for (bool up : {false, true})
    for (bool saturate : {false, true}) {
      auto encode = [&](float value) -> uint64_t {
        if (std::isnan(value))
          return 0xFF;
        double magnitude = std::fabs(double(value));
        // The least code whose value is not below, or the last not above.
        for (int code = 0; code != 255; ++code) {
          if (up && std::ldexp(1.0, code - 127) >= magnitude)
            return static_cast<uint64_t>(code);
          if (!up && std::ldexp(1.0, code - 126) > magnitude)
            return static_cast<uint64_t>(code);
        }
        return saturate ? 0xFE : 0xFF;
      };
      std::string opcode = std::string("cvt.") + (up ? "rp" : "rz") +
                           (saturate ? ".satfinite" : "") + ".ue8m0x2.";
      std::vector<uint64_t> out = runElements(opcode + "f32 %d, %a, %b;",
                                              {{4, a}, {4, b}}, 2, kBlackwell);
      for (size_t i = 0; i != a.size(); ++i)
        ASSERT_EQ(out[i], encode(asFloat(a[i])) << 8 | encode(asFloat(b[i])))
            << opcode << " of " << asFloat(a[i]) << ", " << asFloat(b[i]);
      out = runElements(opcode + "bf16x2 %d, %a;", {{4, pairs}}, 2, kBlackwell);
      for (size_t i = 0; i != pairs.size(); ++i)
        ASSERT_EQ(out[i], encode(asFloat(pairs[i] & 0xFFFF0000)) << 8 |
                              encode(asFloat(pairs[i] << 16)))
            << opcode << std::hex << pairs[i];
    }
  std::vector<uint64_t> codes;
  for (unsigned code = 0; code != 256; ++code)
    codes.push_back(code << 8 | (255 - code));
  std::vector<uint64_t> out =
      runElements("cvt.rn.bf16x2.ue8m0x2 %d, %a;", {{2, codes}}, 4, kBlackwell);
  for (unsigned code = 0; code != 256; ++code) {
    auto widen = [](unsigned scale) -> uint64_t {
      return scale == 255 ? 0x7FFF
                          : bf16().encode(std::ldexp(1.0, int(scale) - 127),
                                          Mode::NearestEven, false);
    };
    ASSERT_EQ(out[code], widen(code) << 16 | widen(255 - code));
  }
}

TEST(PackedConversions, RoundStochastically) {
  const ElementTarget target{"sm_100a", "8.7"};
  // A value a fraction of the way between two codes goes up for as many of the
  // random numbers.
  struct Case {
    const char *opcode;
    uint64_t low, high; ///< Codes.
    float value;
    double fraction;
    unsigned shift; ///< Of the random bits in their register.
    unsigned bits;  ///< How many there are.
    unsigned part;  ///< Where the code is in the result.
  };
  const Case cases[] = {
      // 1 + 5/16 of 2^-10 in f16, above; 1 + 3/4 of 2^-7 in bf16, below.
      {"cvt.rs.f16x2.f32 %d, %a, %b, %c;", 0x3C00, 0x3C01, 1 + 5 * 0x1p-14f,
       5 / 16.0, 16, 13, 16},
      {"cvt.rs.bf16x2.f32 %d, %b, %a, %c;", 0x3F80, 0x3F81, 1 + 3 * 0x1p-9f,
       3 / 4.0, 0, 16, 0},
      {"cvt.rs.satfinite.e4m3x4.f32 %d, {%a, %b, %b, %b}, %c;", 0x38, 0x39,
       1 + 0x1p-5f, 1 / 4.0, 16, 16, 24},
      {"cvt.rs.satfinite.e5m2x4.f32 %d, {%b, %b, %b, %a}, %c;", 0x3C, 0x3D,
       1 + 0x1p-3f, 1 / 2.0, 0, 16, 0},
      {"cvt.rs.satfinite.e2m3x4.f32 %d, {%b, %b, %a, %b}, %c;", 0x08, 0x09,
       1 + 7 * 0x1p-6f, 7 / 8.0, 0, 16, 8},
      {"cvt.rs.satfinite.e3m2x4.f32 %d, {%b, %a, %b, %b}, %c;", 0x0C, 0x0D,
       1 + 0x1p-5f, 1 / 8.0, 16, 16, 16},
      // A subnormal: 0.25 * 0.5.
      {"cvt.rs.satfinite.e2m1x4.f32 %t, {%b, %b, %b, %a}, %c;", 0, 1, 0.125f,
       1 / 4.0, 0, 8, 0},
      {"cvt.rs.satfinite.e2m1x4.f32 %t, {%a, %b, %b, %b}, %c;", 6, 7, 5.0f,
       1 / 2.0, 24, 8, 12},
      {"cvt.rs.satfinite.e2m1x4.f32 %t, {%b, %a, %b, %b}, %c;", 6, 7, 5.0f,
       1 / 2.0, 8, 8, 8},
      {"cvt.rs.satfinite.e2m1x4.f32 %t, {%b, %b, %a, %b}, %c;", 6, 7, 5.0f,
       1 / 2.0, 16, 8, 4},
  };
  for (const Case &test : cases) {
    std::vector<uint64_t> random, value, zero;
    unsigned count = 1u << test.bits;
    for (unsigned i = 0; i != count; ++i) {
      random.push_back(uint64_t(i) << test.shift);
      value.push_back(codeOf(test.value));
      zero.push_back(0);
    }
    std::string body = test.opcode;
    if (body.find("%t") != std::string::npos)
      body = ".reg .b16 %t; " + body + " cvt.u32.u16 %d, %t;";
    std::vector<uint64_t> out =
        runElements(body, {{4, value}, {4, zero}, {4, random}}, 4, target);
    unsigned ups = 0;
    for (unsigned i = 0; i != count; ++i) {
      uint64_t low = test.low << test.part, high = test.high << test.part;
      ASSERT_TRUE(out[i] == low || out[i] == high)
          << test.opcode << std::hex << " " << out[i];
      ups += out[i] == high;
    }
    EXPECT_EQ(ups, test.fraction * count) << test.opcode;
    EXPECT_EQ(out[0], test.low << test.part) << test.opcode;
    EXPECT_EQ(out[count - 1], test.high << test.part) << test.opcode;
  }
  // Overflow, NaN, signs.
  std::vector<ElementInput> inputs = {
      {4, {codeOf(7.0f), 0x7FC00000, codeOf(-7.0f), 0xFF800000}},
      {4, {0, 0, 0, 0}},
      {4, {0xFFFFFFFF, 0, 0, 0}}};
  EXPECT_EQ(runElements(".reg .b16 %t; cvt.rs.satfinite.e2m1x4.f32 %t, "
                        "{%a, %b, %b, %b}, %c; cvt.u32.u16 %d, %t;",
                        inputs, 4, target),
            (std::vector<uint64_t>{0x7000, 0x7000, 0xF000, 0xF000}));
  EXPECT_EQ(runElements("cvt.rs.relu.satfinite.e4m3x4.f32 %d, "
                        "{%a, %b, %b, %b}, %c;",
                        inputs, 4, target),
            (std::vector<uint64_t>{0x4E000000, 0x7F000000, 0, 0}));
  EXPECT_EQ(runElements("cvt.rs.f16x2.f32 %d, %a, %b, %c;",
                        {{4, {codeOf(1e6f), codeOf(65519.0f)}},
                         {4, {0, 0}},
                         {4, {0, 0xFFFFFFFF}}},
                        4, target),
            (std::vector<uint64_t>{0x7C000000, 0x7C000000}));
}

TEST(PackedConversions, RefuseWhatTheISAHasNot) {
  auto message = [](const std::string &body, std::vector<unsigned> bytes,
                    unsigned outBytes, ElementTarget target) {
    return getError(body, bytes, outBytes, target);
  };
  const std::string toE2M1 = ".reg .b8 %t; cvt.rn.satfinite.e2m1x2.f32 %t, %a, "
                             "%a; cvt.u16.u8 %d, %t;";
  for (const char *target : {"sm_90a", "sm_100", "sm_120"})
    EXPECT_NE(message(toE2M1, {4}, 2, {target, "8.8"})
                  .find(std::string("'cvt.e2m1x2.f32' needs sm_100, 103, 110, "
                                    "120 or 121 with 'a' or 'f', but the "
                                    "module's target is ") +
                        target),
              std::string::npos)
        << target;
  for (const char *target :
       {"sm_100a", "sm_100f", "sm_103a", "sm_120f", "sm_121a"})
    EXPECT_EQ(message(toE2M1, {4}, 2, {target, "8.8"}), "") << target;
  EXPECT_NE(message("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %a;", {4}, 2,
                    {"sm_80", "8.0"})
                .find("needs sm_89"),
            std::string::npos);
  EXPECT_NE(message("cvt.rn.satfinite.e2m3x2.f16x2 %d, %a;", {4}, 2,
                    {"sm_120a", "8.8"})
                .find("needs .version 9.1, but the module has 8.8"),
            std::string::npos);
  EXPECT_NE(message("cvt.rn.bf16x2.e4m3x2 %d, %a;", {2}, 4, {"sm_120a", "9.1"})
                .find("needs .version 9.2"),
            std::string::npos);
  EXPECT_NE(message("cvt.rn.e4m3x2.f32 %d, %a, %a;", {4}, 2, {})
                .find("'cvt.e4m3x2.f32' expects .satfinite"),
            std::string::npos);
  EXPECT_NE(message("cvt.rz.satfinite.e4m3x2.f32 %d, %a, %a;", {4}, 2, {})
                .find("'cvt.e4m3x2.f32' expects .rn, but got .rz"),
            std::string::npos);
  EXPECT_NE(message("cvt.rn.satfinite.ue8m0x2.f32 %d, %a, %a;", {4}, 2,
                    {"sm_120a", "8.8"})
                .find("expects .rz or .rp, but got .rn"),
            std::string::npos);
  EXPECT_NE(message("cvt.rs.satfinite.e4m3x4.f32 %d, {%a, %a, %a, %a}, %a;",
                    {4}, 4, {"sm_120a", "8.8"})
                .find("needs sm_100a or sm_103a"),
            std::string::npos);
  EXPECT_NE(message("cvt.rn.f16x2.f32 %d, %a;", {4}, 4, {}), "");
  EXPECT_NE(message("cvt.rm.f16x2.f32 %d, %a, %a;", {4}, 4, {}), "");
  EXPECT_NE(message("cvt.rn.f16x2.f16x2 %d, %a;", {4}, 4, {}), "");
  EXPECT_NE(message("cvt.rn.satfinite.tf32.f32 %d, %a;", {4}, 4, {}), "");
}
