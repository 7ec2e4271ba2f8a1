//===- TensorCoreTest.cpp - Every shape of mma.sync -----------------------===//

#include "TensorCoreHarness.h"

#include <algorithm>

using namespace tile;
using namespace tile::emulator;

namespace {

struct Atom {
  const char *shape;
  unsigned rows, k;
  const char *typeA, *typeB, *typeC;
  const char *kind = "";
  const char *suffix = "";
  const char *target = "sm_120a";
};

std::ostream &operator<<(std::ostream &os, const Atom &atom) {
  return os << atom.shape << "." << atom.kind << atom.typeC << "." << atom.typeA
            << "." << atom.typeB << atom.suffix << " on " << atom.target;
}

MmaTest makeTest(const Atom &atom, uint64_t seed) {
  MmaTest test;
  test.rows = atom.rows;
  test.k = atom.k;
  test.typeA = atom.typeA;
  test.typeB = atom.typeB;
  test.typeC = atom.typeC;
  test.target = atom.target;
  std::string saturate =
      atom.suffix == std::string(".satfinite") ? ".satfinite" : "";
  test.opcode = std::string(atom.shape) + ".row.col." + atom.kind;
  if (!saturate.empty())
    test.opcode.replace(test.opcode.size() - 1, 1, saturate + ".");
  test.opcode +=
      test.typeC + "." + test.typeA + "." + test.typeB + "." + test.typeC;
  if (saturate.empty())
    test.opcode += atom.suffix;
  test.fill(seed);
  return test;
}

uint64_t getExpected(const MmaTest &test, unsigned m, unsigned n) {
  double exact = test.getExact(m, n);
  if (test.typeC == "f32")
    return encode(ElementFormat::F32, exact);
  if (test.typeC == "f16")
    return encode(ElementFormat::F16, exact, Rounding::NearestEven, false);
  if (test.typeC == "s32")
    return static_cast<uint32_t>(static_cast<int64_t>(exact));
  uint64_t bits;
  std::memcpy(&bits, &exact, 8);
  return bits;
}

void expectExact(MmaTest &test, const Atom &atom) {
  std::vector<uint64_t> d = test.run();
  ASSERT_EQ(test.error, "") << atom;
  unsigned wrong = 0;
  for (unsigned m = 0; m != test.rows; ++m)
    for (unsigned n = 0; n != 8; ++n)
      if (d[m * 8 + n] != getExpected(test, m, n) && ++wrong < 4)
        ADD_FAILURE() << atom << " (" << m << ", " << n << "): expected "
                      << getExpected(test, m, n) << ", got " << d[m * 8 + n];
  EXPECT_EQ(wrong, 0u) << atom;
}

const Atom atoms[] = {
    {"m16n8k8", 16, 8, "f16", "f16", "f32", "", "", "sm_75"},
    {"m16n8k8", 16, 8, "f16", "f16", "f16", "", "", "sm_80"},
    {"m16n8k16", 16, 16, "f16", "f16", "f32", "", "", "sm_80"},
    {"m16n8k16", 16, 16, "f16", "f16", "f16", "", "", "sm_80"},
    {"m16n8k8", 16, 8, "bf16", "bf16", "f32", "", "", "sm_80"},
    {"m16n8k16", 16, 16, "bf16", "bf16", "f32", "", "", "sm_80"},
    {"m16n8k4", 16, 4, "tf32", "tf32", "f32", "", "", "sm_80"},
    {"m16n8k8", 16, 8, "tf32", "tf32", "f32", "", "", "sm_80"},
    {"m16n8k16", 16, 16, "e4m3", "e4m3", "f32", "", "", "sm_89"},
    {"m16n8k16", 16, 16, "e5m2", "e4m3", "f16", "", "", "sm_89"},
    {"m16n8k32", 16, 32, "e4m3", "e4m3", "f32", "", "", "sm_89"},
    {"m16n8k32", 16, 32, "e4m3", "e5m2", "f32", "", "", "sm_90"},
    {"m16n8k32", 16, 32, "e5m2", "e4m3", "f32", "", "", "sm_120"},
    {"m16n8k32", 16, 32, "e5m2", "e5m2", "f32", "", "", "sm_89"},
    {"m16n8k32", 16, 32, "e5m2", "e4m3", "f16", "", "", "sm_89"},
    {"m8n8k16", 8, 16, "s8", "s8", "s32", "", "", "sm_75"},
    {"m16n8k16", 16, 16, "s8", "u8", "s32", "", "", "sm_80"},
    {"m16n8k32", 16, 32, "s8", "s8", "s32", "", "", "sm_80"},
    {"m16n8k32", 16, 32, "u8", "s8", "s32", "", "", "sm_80"},
    {"m16n8k32", 16, 32, "u8", "u8", "s32", "", ".satfinite", "sm_80"},
    {"m8n8k32", 8, 32, "s4", "u4", "s32", "", "", "sm_75"},
    {"m16n8k32", 16, 32, "u4", "s4", "s32", "", "", "sm_80"},
    {"m16n8k64", 16, 64, "s4", "s4", "s32", "", ".satfinite", "sm_80"},
    {"m16n8k64", 16, 64, "u4", "u4", "s32", "", "", "sm_80"},
    {"m8n8k128", 8, 128, "b1", "b1", "s32", "", ".and.popc", "sm_80"},
    {"m16n8k128", 16, 128, "b1", "b1", "s32", "", ".and.popc", "sm_80"},
    {"m16n8k256", 16, 256, "b1", "b1", "s32", "", ".and.popc", "sm_80"},
    {"m8n8k4", 8, 4, "f64", "f64", "f64", "", "", "sm_80"},
    {"m16n8k4", 16, 4, "f64", "f64", "f64", "", ".rn", "sm_90"},
    {"m16n8k8", 16, 8, "f64", "f64", "f64", "", "", "sm_90"},
    {"m16n8k16", 16, 16, "f64", "f64", "f64", "", ".rz", "sm_90"},
};

TEST(TensorCoreTest, EveryShapeFollowsItsTable) {
  for (const Atom &atom : atoms)
    for (uint64_t seed = 1; seed != 3; ++seed) {
      MmaTest test = makeTest(atom, seed);
      expectExact(test, atom);
    }
}

TEST(TensorCoreTest, EveryPairOfContainersMultiplies) {
  const char *types[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};
  for (const char *typeA : types)
    for (const char *typeB : types)
      for (const char *typeC : {"f32", "f16"}) {
        Atom atom = {"m16n8k32", 16, 32, typeA, typeB, typeC, "kind::f8f6f4."};
        MmaTest test = makeTest(atom, 3);
        expectExact(test, atom);
      }
}

TEST(TensorCoreTest, XorCountsDifferentBits) {
  Atom atom = {"m16n8k256", 16, 256,         "b1",   "b1",
               "s32",       "", ".xor.popc", "sm_80"};
  MmaTest test = makeTest(atom, 4);
  std::vector<uint64_t> d = test.run();
  ASSERT_EQ(test.error, "");
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned n = 0; n != 8; ++n) {
      int64_t sum = static_cast<int32_t>(test.c[m * 8 + n]);
      for (unsigned k = 0; k != 256; ++k)
        sum += test.a[m * 256 + k] != test.b[k * 8 + n];
      EXPECT_EQ(static_cast<int32_t>(d[m * 8 + n]), sum);
    }
}

TEST(TensorCoreTest, HardwareModeIsExactWhereNothingIsLost) {
  // Small codes need fewer bits than any model keeps, but FP8 on sm_89.
  for (const Atom &atom : atoms) {
    if (atom.typeA[0] == 'e' && atom.target == std::string("sm_89"))
      continue;
    MmaTest test = makeTest(atom, 5);
    if (test.typeC == "f16")
      continue;
    if (test.typeA == "bf16")
      for (std::vector<uint64_t> *codes : {&test.a, &test.b})
        for (uint64_t &code : *codes)
          code &= 0xFFF0;
    test.options.accumulate = Accumulate::Hardware;
    expectExact(test, atom);
  }
}

TEST(TensorCoreTest, SwappedLanesChangeTheResult) {
  for (const Atom &atom : atoms) {
    MmaTest test = makeTest(atom, 6);
    std::vector<uint64_t> d = test.run();
    for (unsigned distance : {1u, 2u, 4u, 8u, 16u}) {
      std::string lane = std::to_string(distance);
      std::string type = test.typeA == "f64" ? ""
                                             : "shfl.sync.bfly.b32 %a0, "
                                               "%a0, " +
                                                   lane + ", 31, -1;\n";
      if (type.empty())
        continue;
      EXPECT_NE(test.run(type), d) << atom << ", lanes " << lane << " apart";
      EXPECT_EQ(test.error, "");
    }
  }
}

TEST(TensorCoreTest, IntegersWrapOrSaturate) {
  for (bool saturate : {false, true})
    for (bool negative : {false, true}) {
      Atom atom = {"m16n8k32", 16,    32, "s8",
                   "s8",       "s32", "", saturate ? ".satfinite" : ""};
      MmaTest test = makeTest(atom, 7);
      for (uint64_t &code : test.a)
        code = 0x80; // -128
      for (uint64_t &code : test.b)
        code = negative ? 0x7F : 0x80;
      int64_t product = negative ? -128 * 127 : 128 * 128;
      int32_t limit = negative ? INT32_MIN : INT32_MAX;
      for (size_t i = 0; i != test.c.size(); ++i)
        test.c[i] = static_cast<uint32_t>(
            limit + (negative ? 1 : -1) * static_cast<int>(i) * 8000);
      std::vector<uint64_t> d = test.run();
      ASSERT_EQ(test.error, "");
      for (size_t i = 0; i != d.size(); ++i) {
        int64_t sum = static_cast<int32_t>(test.c[i]) + 32 * product;
        if (saturate)
          sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        EXPECT_EQ(d[i], static_cast<uint32_t>(sum)) << i;
      }
    }
}

TEST(TensorCoreTest, F64RoundsEveryStep) {
  Atom atom = {"m8n8k4", 8, 4, "f64", "f64", "f64", "", "", "sm_90"};
  struct {
    const char *rounding;
    double expected;
  } cases[] = {
      {"", 1}, {".rn", 1}, {".rz", 1}, {".rm", 1}, {".rp", 1 + 0x1p-51}};
  for (const auto &item : cases) {
    atom.suffix = item.rounding;
    MmaTest test = makeTest(atom, 1);
    auto bitsOf = [](double value) {
      uint64_t bits;
      std::memcpy(&bits, &value, 8);
      return bits;
    };
    std::fill(test.a.begin(), test.a.end(), 0);
    std::fill(test.b.begin(), test.b.end(), 0);
    // 1 + 2^-54 + 2^-54: each step rounds by itself.
    test.c[0] = bitsOf(1);
    test.a[0] = test.a[1] = bitsOf(0x1p-54);
    test.b[0] = test.b[8] = bitsOf(1);
    std::vector<uint64_t> d = test.run();
    ASSERT_EQ(test.error, "");
    EXPECT_EQ(decodeElement("f64", d[0]), item.expected) << item.rounding;
  }
}

TEST(TensorCoreTest, SpecialValuesAreThoseOfIEEE) {
  for (Accumulate mode : {Accumulate::Exact, Accumulate::Hardware}) {
    Atom atom = {"m16n8k16", 16, 16, "f16", "f16", "f32", "", "", "sm_90"};
    MmaTest test = makeTest(atom, 8);
    test.options.accumulate = mode;
    constexpr uint64_t inf = 0x7C00, nan = 0x7E01, one = 0x3C00;
    for (unsigned n = 0; n != 8; ++n)
      for (unsigned k = 0; k != 16; ++k)
        test.b[k * 8 + n] = n == 1 ? 0 : one;
    test.a[3 * 16 + 5] = inf;
    test.a[4 * 16 + 5] = 0x8000 | inf;
    test.a[5 * 16 + 15] = nan;
    test.a[6 * 16 + 0] = inf;
    test.a[6 * 16 + 9] = 0x8000 | inf;
    test.c[7 * 8 + 2] = 0xFF800000;
    std::vector<uint64_t> d = test.run();
    ASSERT_EQ(test.error, "");
    EXPECT_EQ(d[3 * 8 + 0], 0x7F800000u);
    EXPECT_EQ(d[3 * 8 + 1], 0x7FFFFFFFu); // Infinity times zero.
    EXPECT_EQ(d[4 * 8 + 0], 0xFF800000u);
    EXPECT_EQ(d[5 * 8 + 1], 0x7FFFFFFFu);
    EXPECT_EQ(d[6 * 8 + 3], 0x7FFFFFFFu);
    EXPECT_EQ(d[7 * 8 + 2], 0xFF800000u);
    EXPECT_EQ(d[2 * 8 + 0], getExpected(test, 2, 0));
    EXPECT_EQ(d[7 * 8 + 3], getExpected(test, 7, 3));
  }
}

TEST(TensorCoreTest, ExactModeRoundsOnce) {
  // 1 + 1.5 * 2^-23: to even in exact mode, cut in hardware mode.
  Atom atom = {"m16n8k16", 16, 16, "f16", "f16", "f32", "", "", "sm_80"};
  MmaTest test = makeTest(atom, 1);
  std::fill(test.a.begin(), test.a.end(), 0);
  std::fill(test.b.begin(), test.b.end(), 0);
  std::fill(test.c.begin(), test.c.end(), 0);
  auto half = [](double value) { return encode(ElementFormat::F16, value); };
  test.c[9] = 0x3F800000;
  test.a[16 + 2] = half(1.5 * 0x1p-10);
  test.b[2 * 8 + 1] = half(0x1p-13);
  EXPECT_EQ(test.run()[9], 0x3F800002u);
  test.options.accumulate = Accumulate::Hardware;
  EXPECT_EQ(test.run()[9], 0x3F800001u);
  // 2^-25 twice, beside 1 that cancels: the two steps of sm_80.
  test.c[9] = 0xBF800000;
  test.a[16 + 2] = half(1);
  test.b[2 * 8 + 1] = half(1);
  test.a[16 + 3] = test.a[16 + 8] = half(0x1p-12);
  test.b[3 * 8 + 1] = test.b[8 * 8 + 1] = half(0x1p-13);
  EXPECT_EQ(test.run()[9], encode(ElementFormat::F32, 0x1p-25));
  test.options.accumulate = Accumulate::Exact;
  EXPECT_EQ(test.run()[9], encode(ElementFormat::F32, 0x1p-24));
  test.options.accumulate = Accumulate::Hardware;
  test.target = "sm_90";
  EXPECT_EQ(test.run()[9], encode(ElementFormat::F32, 0x1p-24));
  EXPECT_EQ(test.error, "");
}

TEST(TensorCoreTest, HopperMakesSubnormalFP8Normal) {
  // On sm_90 the subnormal e4m3 2^-9 becomes a normal f16, so that beside 2^-9
  // * 2^15 the product 2^-3 * 2^-16 survives. sm_120 multiplies FP8 itself.
  Atom atom = {"m16n8k32", 16, 32, "e4m3", "e5m2", "f32", "", "", "sm_90"};
  MmaTest test = makeTest(atom, 1);
  std::fill(test.a.begin(), test.a.end(), 0);
  std::fill(test.b.begin(), test.b.end(), 0);
  std::fill(test.c.begin(), test.c.end(), 0);
  test.options.accumulate = Accumulate::Hardware;
  auto e5m2 = [](double v) { return encode(ElementFormat::F8E5M2, v); };
  test.a[0] = 0x01;
  test.a[4] = 0x81;
  test.b[0] = test.b[4 * 8] = e5m2(0x1p15);
  test.a[1] = encode(ElementFormat::F8E4M3FN, 0x1p-3);
  test.b[8] = e5m2(0x1p-16);
  EXPECT_EQ(test.run()[0], encode(ElementFormat::F32, 0x1p-19));
  test.target = "sm_120";
  EXPECT_EQ(test.run()[0], 0u);
  EXPECT_EQ(test.error, "");
}

TEST(TensorCoreTest, PaddingOfContainersMustBeZero) {
  struct {
    const char *type;
    uint32_t byte;
    const char *text;
  } cases[] = {{"e2m1", 0x01, "bits 7:6 and 1:0"},
               {"e2m1", 0x80, "e2m1 codes"},
               {"e2m3", 0x40, "bits 7:6 of every byte of operand b"},
               {"e3m2", 0x80, "6-bit codes"}};
  for (const auto &item : cases) {
    Atom atom = {"m16n8k32", 16, 32, "e4m3", item.type, "f32", "kind::f8f6f4."};
    MmaTest test = makeTest(atom, 9);
    uint32_t word = item.byte << 16;
    test.run(".reg .pred %p; setp.eq.u32 %p, %lane, 13; @%p or.b32 %b1, %b1, " +
             std::to_string(word) + ";\n");
    EXPECT_NE(test.error.find(item.text), std::string::npos) << test.error;
  }
}

TEST(TensorCoreTest, RegistersMayOverlap) {
  // D is C, shifted by one register, or B.
  Atom atom = {"m16n8k16", 16, 16, "f16", "f16", "f32", "", "", "sm_80"};
  MmaTest test = makeTest(atom, 10);
  std::vector<uint64_t> expected = test.run();
  std::string opcode = "mma.sync.aligned." + test.opcode;
  EXPECT_EQ(
      test.run(opcode +
               " {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, "
               "%b1}, {%c0, %c1, %c2, %c3};\n" +
               opcode +
               " {%d0, %d1, %d2, %d3}, {0, 0, 0, 0}, {%b0, %b1}, "
               "{%c0, %c1, %c2, %c3};\n" +
               "mov.b32 %c0, %d0; mov.b32 %c1, %d1; mov.b32 %c2, %d2; mov.b32 "
               "%c3, %d3; mov.b32 %b0, 0; mov.b32 %b1, 0;\n"),
      expected);
  EXPECT_EQ(test.error, "");
  EXPECT_EQ(
      test.run(opcode +
               " {%b1, %c0, %c1, %c2}, {%a0, %a1, %a2, %a3}, {%b0, "
               "%b1}, {%c0, %c1, %c2, %c3};\n" +
               "mov.b32 %c3, %c2; mov.b32 %c2, %c1; mov.b32 %c1, %c0; mov.b32 "
               "%c0, %b1; mov.b32 %b0, 0; mov.b32 %b1, 0;\n"),
      expected);
  EXPECT_EQ(test.error, "");
}

TEST(TensorCoreTest, AllLanesTakePart) {
  Atom atom = {"m16n8k16", 16, 16, "f16", "f16", "f32", "", "", "sm_80"};
  MmaTest test = makeTest(atom, 11);
  test.run(".reg .pred %p; setp.eq.u32 %p, %lane, 7; @%p ret;\n");
  EXPECT_NE(test.error, "");
}

//===----------------------------------------------------------------------===//
// Unwritten operands
//===----------------------------------------------------------------------===//

TEST(TensorCoreTest, UnwrittenElementsReachTheirRowsAndColumns) {
  Atom atom = {"m16n8k16", 16, 16, "f16", "f16", "f32", "", "", "sm_80"};
  MmaTest test = makeTest(atom, 12);
  // A register that lane 6 never writes: row 1 (a0), 9 (a1), or column 1 (b0).
  // Stores only of lanes that do not see it.
  struct {
    const char *name;
    const char *lanes; ///< A predicate of lanes whose d0 is written.
    bool isWritten;
  } cases[] = {{"%a0", "setp.ne.u32 %q, %group, 1;", true},
               {"%a0", "setp.eq.u32 %q, %group, 1;", false},
               {"%a1", "setp.eq.u32 %q, %group, 1;", true},
               {"%b0", "setp.ne.u32 %q, %quad, 0;", true},
               {"%b0", "setp.eq.u32 %q, %quad, 3;", true},
               {"%c0", "setp.ne.u32 %q, %lane, 6;", true},
               {"%c0", "setp.eq.u32 %q, %lane, 6;", false}};
  for (const auto &item : cases) {
    std::string body =
        test.getBody(".reg .pred %p, %q; .reg .b32 %u, %group, %quad;\n"
                     "shr.u32 %group, %lane, 2; and.b32 %quad, %lane, 3;\n"
                     "setp.ne.u32 %p, %lane, 6; @%p mov.b32 %u, " +
                     std::string(item.name) + "; " + item.lanes + "\n");
    size_t mma = body.find("mma.sync");
    size_t use = body.find(item.name, mma);
    body.replace(use, 3, "%u");
    body.erase(body.find("st.global"));
    body += "@%q st.global.b32 [%out], %d0;\n";
    std::string error;
    std::vector<uint8_t> in(32 * 128);
    runLanes(body, in, 128, 16, error, "sm_80");
    EXPECT_EQ(error.empty(), item.isWritten)
        << item.name << " " << item.lanes << " " << error;
  }
}

} // namespace
