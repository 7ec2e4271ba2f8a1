//===- TensorCoreScaleTest.cpp - mma.sync with block scales ---------------===//

#include "TensorCoreHarness.h"

using namespace tile;
using namespace tile::emulator;

namespace {

struct Kind {
  const char *kind; ///< With its scale_vec, as in the opcode.
  unsigned k, blocks;
  const char *scaleType;
  const char *version = "8.8";
};

const Kind kinds[] = {
    {"kind::mxf8f6f4.block_scale.scale_vec::1X", 32, 1, "ue8m0"},
    {"kind::mxf4.block_scale.scale_vec::2X", 64, 2, "ue8m0"},
    {"kind::mxf4nvf4.block_scale.scale_vec::2X", 64, 2, "ue8m0"},
    {"kind::mxf4nvf4.block_scale.scale_vec::4X", 64, 4, "ue4m3"},
    {"kind::mxf4nvf4.block_scale.scale_vec::4X", 64, 4, "ue8m0", "9.1"},
};

MmaTest makeTest(const Kind &kind, uint64_t seed, const char *typeA = "e2m1",
                 const char *typeB = "e2m1") {
  MmaTest test;
  test.k = kind.k;
  test.typeA = typeA;
  test.typeB = typeB;
  test.typeC = "f32";
  test.isPacked = kind.k == 64;
  test.blocks = kind.blocks;
  test.scaleType = kind.scaleType;
  test.version = kind.version;
  test.opcode = "m16n8k" + std::to_string(kind.k) + ".row.col." + kind.kind +
                ".f32." + typeA + "." + typeB + ".f32." + kind.scaleType;
  test.fill(seed);
  return test;
}

void expectExact(MmaTest &test) {
  std::vector<uint64_t> d = test.run();
  ASSERT_EQ(test.error, "") << test.opcode;
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned n = 0; n != 8; ++n)
      ASSERT_EQ(d[m * 8 + n], encode(ElementFormat::F32, test.getExact(m, n)))
          << test.opcode << " (" << m << ", " << n << ") {" << test.byteA
          << ", " << test.threadA << "}, {" << test.byteB << ", "
          << test.threadB << "}";
}

TEST(TensorCoreScaleTest, EverySelectorOfEveryKind) {
  for (const Kind &kind : kinds)
    for (bool inRegisters : {false, true}) {
      MmaTest test = makeTest(kind, 1);
      test.selectorsInRegisters = inRegisters;
      unsigned step = kind.blocks;
      for (unsigned byteA = 0; byteA < 4; byteA += step)
        for (unsigned byteB = 0; byteB < 4; byteB += step)
          for (unsigned threadA = 0; threadA != 2; ++threadA)
            for (unsigned threadB = 0; threadB != 4; ++threadB) {
              test.byteA = byteA;
              test.byteB = byteB;
              test.threadA = threadA;
              test.threadB = threadB;
              expectExact(test);
            }
    }
}

TEST(TensorCoreScaleTest, EveryPairOfContainers) {
  const char *types[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};
  for (const char *typeA : types)
    for (const char *typeB : types) {
      MmaTest test = makeTest(kinds[0], 2, typeA, typeB);
      test.byteA = 3;
      test.byteB = 1;
      test.threadA = 1;
      test.threadB = 2;
      expectExact(test);
    }
}

TEST(TensorCoreScaleTest, KindsAndDefaultsHaveOtherSpellings) {
  MmaTest test = makeTest(kinds[3], 3);
  std::vector<uint64_t> d = test.run();
  // The kind may stand before the shape, as CUTLASS writes it.
  test.opcode = "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32."
                "e2m1.e2m1.f32.ue4m3";
  EXPECT_EQ(test.run(), d);
  EXPECT_EQ(test.error, "");

  test = makeTest(kinds[1], 4);
  d = test.run();
  test.opcode =
      "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0";
  EXPECT_EQ(test.run(), d);
  EXPECT_EQ(test.error, "");

  test = makeTest(kinds[0], 5);
  d = test.run();
  test.opcode =
      "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0";
  EXPECT_EQ(test.run(), d);
  EXPECT_EQ(test.error, "");
}

/// Ones, and scales 1 + m of row m, 1 + n of column n, from the lanes that the
/// ISA names; NaN everywhere else.
MmaTest makeLaneTest(const std::array<unsigned, 4> &factors) {
  MmaTest test = makeTest(kinds[3], 1);
  std::fill(test.a.begin(), test.a.end(), 2); // 1.0
  std::fill(test.b.begin(), test.b.end(), 2);
  std::fill(test.c.begin(), test.c.end(), 0);
  test.scaleA.fill(0x7F7F7F7F);
  test.scaleB.fill(0x7F7F7F7F);
  auto scales = [&](unsigned value, bool hasFactors) {
    uint32_t word = 0;
    for (unsigned j = 0; j != 4; ++j)
      word |= encode(ElementFormat::F8E4M3FN,
                     value * (hasFactors ? factors[j] : 1u))
              << 8 * j;
    return word;
  };
  for (unsigned m = 0; m != 16; ++m)
    test.scaleA[4 * (m % 8) + m / 8] = scales(m + 1, true);
  for (unsigned n = 0; n != 8; ++n)
    test.scaleB[4 * n] = scales(n + 1, false);
  return test;
}

TEST(TensorCoreScaleTest, OneLaneSuppliesEachScale) {
  MmaTest test = makeLaneTest({1, 1, 1, 1});
  std::vector<uint64_t> d = test.run();
  ASSERT_EQ(test.error, "");
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned n = 0; n != 8; ++n)
      EXPECT_EQ(decodeElement("f32", d[m * 8 + n]), 64.0 * (m + 1) * (n + 1));
}

TEST(TensorCoreScaleTest, LowBytesScaleLowK) {
  MmaTest test = makeLaneTest({1, 2, 4, 8});
  std::vector<uint64_t> d = test.run();
  ASSERT_EQ(test.error, "");
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned n = 0; n != 8; ++n)
      EXPECT_EQ(decodeElement("f32", d[m * 8 + n]),
                16.0 * 15 * (m + 1) * (n + 1));
  // Only the first block of K.
  for (unsigned m = 0; m != 16; ++m)
    std::fill(test.a.begin() + m * 64 + 16, test.a.begin() + m * 64 + 64, 0);
  d = test.run();
  for (unsigned m = 0; m != 16; ++m)
    EXPECT_EQ(decodeElement("f32", d[m * 8 + 2]), 16.0 * (m + 1) * 3);
}

TEST(TensorCoreScaleTest, NaNScalesPoisonRowsAndColumns) {
  for (Accumulate mode : {Accumulate::Exact, Accumulate::Hardware})
    for (const Kind &kind : kinds) {
      MmaTest test = makeTest(kind, 6);
      test.options.accumulate = mode;
      // All data are zero: 0 times NaN is NaN.
      std::fill(test.a.begin(), test.a.end(), 0);
      bool isUE4M3 = test.scaleType == "ue4m3";
      unsigned last = 8 * (kind.blocks - 1);
      uint32_t nan = isUE4M3 ? 0x7F : 0xFF;
      // Row 11 and column 5.
      uint32_t &row = test.scaleA[4 * 3 + 1], &column = test.scaleB[4 * 5];
      row = (row & ~(0xFFu << last)) | nan << last;
      column = (column & ~0xFFu) | nan;
      std::vector<uint64_t> d = test.run();
      ASSERT_EQ(test.error, "");
      for (unsigned m = 0; m != 16; ++m)
        for (unsigned n = 0; n != 8; ++n)
          EXPECT_EQ(d[m * 8 + n],
                    m == 11 || n == 5 ? 0x7FFFFFFFu : test.c[m * 8 + n])
              << test.opcode << " " << m << " " << n;
    }
}

TEST(TensorCoreScaleTest, SignOfUE4M3DoesNotCount) {
  for (Accumulate mode : {Accumulate::Exact, Accumulate::Hardware}) {
    MmaTest test = makeTest(kinds[3], 7);
    test.options.accumulate = mode;
    std::vector<uint64_t> d = test.run();
    test.scaleA[0] |= 0x80808080;
    test.scaleB[8] |= 0x00800000;
    EXPECT_EQ(test.run(), d);
    test.scaleA[4] |= 0xFF;
    d = test.run();
    EXPECT_EQ(d[1 * 8 + 6], 0x7FFFFFFFu);
    // A scale of zero does scale by zero.
    for (unsigned lane = 0; lane != 32; ++lane)
      test.scaleA[lane] = lane % 2 ? 0 : 0x80808080;
    d = test.run();
    for (unsigned i = 0; i != 128; ++i)
      EXPECT_EQ(d[i], test.c[i]);
    EXPECT_EQ(test.error, "");
  }
}

TEST(TensorCoreScaleTest, ExtremesOfUE8M0) {
  for (Accumulate mode : {Accumulate::Exact, Accumulate::Hardware})
    for (const Kind &kind : kinds) {
      if (kind.scaleType == std::string("ue4m3"))
        continue;
      MmaTest test = makeTest(kind, 8);
      test.options.accumulate = mode;
      std::fill(test.a.begin(), test.a.end(), 0);
      std::fill(test.b.begin(), test.b.end(), 0);
      std::fill(test.c.begin(), test.c.end(), 0);
      test.a[0] = test.b[0] = 5; // 3.0
      // 2^-127 * 2^127, 2^-127 * 2^-16 (a subnormal), 2^127 twice.
      uint32_t pairs[][3] = {{0x00, 0xFE, 0x41100000},
                             {0x00, 0x6F, 0x00000240},
                             {0x00, 0x00, 0},
                             {0xFE, 0xFE, 0x7F800000}};
      for (const auto &pair : pairs) {
        test.scaleA.fill(pair[0] * 0x01010101);
        test.scaleB.fill(pair[1] * 0x01010101);
        std::vector<uint64_t> d = test.run();
        ASSERT_EQ(test.error, "");
        EXPECT_EQ(d[0], pair[2]) << test.opcode;
        EXPECT_EQ(d[1], 0u);
      }
      // Zeros under a large scale leave C alone.
      test.a[0] = 0;
      test.c[0] = 0x3F800001;
      EXPECT_EQ(test.run()[0], 0x3F800001u) << test.opcode;
    }
}

TEST(TensorCoreScaleTest, HardwareKeeps35BitsOfFP4) {
  MmaTest test = makeTest(kinds[4], 9);
  std::fill(test.a.begin(), test.a.end(), 0);
  std::fill(test.b.begin(), test.b.end(), 0);
  test.c[0] = 0xBF800000; // -1
  test.a[0] = test.b[0] = 2;
  test.a[16] = test.b[16 * 8] = 1; // 0.25
  test.scaleB.fill(0x7F7F7F7F);
  test.scaleA.fill(0x7F7F007F | (127 - 33) << 8);
  for (auto [exponent, expected] :
       {std::pair<uint32_t, double>{33, 0x1p-35}, {34, 0.0}}) {
    test.scaleA.fill(0x7F7F007F | (127 - exponent) << 8);
    test.options.accumulate = Accumulate::Hardware;
    EXPECT_EQ(test.run()[0], encode(ElementFormat::F32, expected));
    test.options.accumulate = Accumulate::Exact;
    EXPECT_EQ(test.run()[0],
              encode(ElementFormat::F32, std::ldexp(0.25, -int(exponent))));
    EXPECT_EQ(test.error, "");
  }
}

TEST(TensorCoreScaleTest, HardwareAddsScalesToExponents) {
  // Beside a product with exponent 0 and scales 2^20 * 2^-3, C keeps no more
  // than 25 bits below 2^17.
  MmaTest test = makeTest(kinds[0], 10, "e4m3", "e4m3");
  std::fill(test.a.begin(), test.a.end(), 0);
  std::fill(test.b.begin(), test.b.end(), 0);
  test.a[0] = test.b[0] = test.b[8] = 0x38;
  test.a[1] = 0xB8; // 1 - 1
  test.scaleA.fill((127 + 20) * 0x01010101u);
  test.scaleB.fill((127 - 3) * 0x01010101u);
  test.options.accumulate = Accumulate::Hardware;
  test.c[0] = encode(ElementFormat::F32, 0x1p-8 + 0x1p-9);
  EXPECT_EQ(test.run()[0], encode(ElementFormat::F32, 0x1p-8));
  test.options.accumulate = Accumulate::Exact;
  EXPECT_EQ(test.run()[0], test.c[0]);
}

TEST(TensorCoreScaleTest, IllegalSelectorsFault) {
  struct {
    unsigned kind, byteA, threadA, byteB, threadB;
    const char *text;
  } cases[] = {{0, 4, 0, 0, 0, "byte-id-a 0 to 3, but got 4"},
               {1, 1, 0, 0, 0, "byte-id-a 0 or 2, but got 1"},
               {2, 0, 0, 3, 0, "byte-id-b 0 or 2, but got 3"},
               {3, 0, 0, 2, 0, "byte-id-b 0, but got 2"},
               {3, 0, 2, 0, 0, "thread-id-a 0 or 1, but got 2"},
               {3, 0, 0, 0, 4, "thread-id-b 0 to 3, but got 4"},
               {0, 0, 0, 0x100, 0, "byte-id-b 0 to 3, but got 256"}};
  for (const auto &item : cases) {
    MmaTest test = makeTest(kinds[item.kind], 11);
    test.selectorsInRegisters = true;
    test.byteA = item.byteA;
    test.threadA = item.threadA;
    test.byteB = item.byteB;
    test.threadB = item.threadB;
    test.run();
    EXPECT_NE(test.error.find(item.text), std::string::npos) << test.error;
    // A constant is an error before anything runs.
    test.selectorsInRegisters = false;
    test.run();
    EXPECT_NE(test.error.find("-id-"), std::string::npos) << test.error;
    EXPECT_NE(test.error.find("scale_vec"), std::string::npos) << test.error;
  }
  MmaTest test = makeTest(kinds[0], 11);
  test.selectorsInRegisters = true;
  test.run("cvt.u16.u32 %s3, %lane; and.b16 %s3, %s3, 1;\n");
  EXPECT_NE(test.error.find("the same thread-id-b in all lanes"),
            std::string::npos)
      << test.error;
}

TEST(TensorCoreScaleTest, OtherLanesAndBytesMayBeUnwritten) {
  // 2X takes two bytes of each register.
  MmaTest test = makeTest(kinds[2], 12);
  test.byteA = 2;
  test.threadA = 1;
  test.byteB = 0;
  test.threadB = 3;
  std::vector<uint64_t> expected = test.run();
  ASSERT_EQ(test.error, "");
  // Registers of which only the selected halves of the supplying lanes have
  // been written.
  const std::string prefix =
      ".reg .b16 %lo, %hi, %u; .reg .b32 %ua, %ub, %t; .reg .pred %p, %q;\n"
      "and.b32 %t, %lane, 3;\n";
  const std::string suffix = "mov.b32 {%lo, %hi}, %sa; "
                             "@%p mov.b32 %ua, {%u, %hi};\n"
                             "mov.b32 {%lo, %hi}, %sb; "
                             "@%q mov.b32 %ub, {%lo, %u};\n";
  auto runWith = [&](const std::string &predicates) {
    // The edit ends with an mma of its own; the one of the body reads D.
    MmaTest edited = test;
    std::string text = prefix + predicates + suffix;
    std::string body = edited.getBody(text);
    for (const char *name : {"%sa, {", "%sb, {"}) {
      size_t at = body.find(name, body.find("mma.sync"));
      body.replace(at, 3, name == std::string("%sa, {") ? "%ua" : "%ub");
    }
    unsigned inBytes = 0;
    std::vector<uint8_t> in = edited.getInput(inBytes);
    std::string error;
    std::vector<uint8_t> out =
        runLanes(body, in, inBytes, 16, error, "sm_120a");
    if (error.empty()) {
      EXPECT_EQ(edited.gather(out, 16), expected);
    }
    return error;
  };
  EXPECT_EQ(runWith("setp.ge.u32 %p, %t, 2; setp.eq.u32 %q, %t, 3;\n"), "");
  // A supplying lane without its scale.
  EXPECT_NE(runWith("setp.eq.u32 %p, %t, 2; setp.eq.u32 %q, %t, 3;\n"), "");
  EXPECT_NE(runWith("setp.ge.u32 %p, %t, 2; setp.eq.u32 %q, %lane, 31;\n"), "");
}

} // namespace
