//===- TensorOperandsTest.cpp - Operands of tcgen05 -----------------------===//
//
// What instructions and descriptors may say, and what unwritten operands do.
//
//===----------------------------------------------------------------------===//

#include "TensorMemoryHarness.h"

using namespace tile::emulator;

namespace {

/// `%da` describes small matrices at the start of shared memory.
Outcome run(const std::string &body, unsigned stored = 32,
            uint32_t mask = ~0u) {
  TensorImage tensor;
  return runTensor("add.s64 %da, %sd, 0x400000080000;\n" + body,
                   makeBytes(kTestShared), tensor, getTensorOptions(), mask,
                   kTestColumns, stored);
}

std::string multiply(const std::string &kind, uint64_t shape,
                     const std::string &d = "%tm", const std::string &a = "%da",
                     const std::string &scales = "[%tm+256], [%tm+288], ") {
  bool isScaled = kind.find("block_scale") != std::string::npos;
  return "@%one tcgen05.mma.cta_group::1.kind::" + kind + " [" + d + "], " + a +
         ", %da, " + hex(shape) + ", " + (isScaled ? scales : "") + "0;\n";
}
const std::string kNVFP4 = "mxf4nvf4.block_scale.block16",
                  kMXFP4 = "mxf4.block_scale", kMXFP8 = "mxf8f6f4.block_scale";
// N = 16.
constexpr uint32_t kShapeNVFP4 = 0x08040480, kShapeMXFP4 = 0x08840480,
                   kShapeMXFP8 = 0x08840000, kShapeF16 = 0x08040010,
                   kShapeF8 = 0x08040010;

TEST(TensorOperandsTest, InstructionDescriptors) {
  struct {
    const std::string &kind;
    uint32_t shape, flipped;
    const char *words;
  } const cases[] = {
      {kNVFP4, kShapeNVFP4, 1u << 0, "bits 1:0, 3 and 6"},
      {kNVFP4, kShapeNVFP4, 1u << 1, "bits 1:0, 3 and 6"},
      {kNVFP4, kShapeNVFP4, 1u << 2, "sparse"},
      {kNVFP4, kShapeNVFP4, 1u << 3, "bits 1:0, 3 and 6"},
      {kNVFP4, kShapeNVFP4, 1u << 4, "scale factor ids of 0"},
      {kNVFP4, kShapeNVFP4, 2u << 4, "scale factor ids of 0"},
      {kNVFP4, kShapeNVFP4, 1u << 6, "bits 1:0, 3 and 6"},
      {kNVFP4, kShapeNVFP4, 1u << 7, "a type of A in bits 9:7, but got 0"},
      {kNVFP4, kShapeNVFP4, 2u << 7, "a type of A in bits 9:7, but got 3"},
      {kNVFP4, kShapeNVFP4, 1u << 10, "a type of B in bits 12:10, but got 0"},
      {kNVFP4, kShapeNVFP4, 1u << 12, "a type of B in bits 12:10, but got 5"},
      {kNVFP4, kShapeNVFP4, 1u << 15, "major in K"},
      {kNVFP4, kShapeNVFP4, 1u << 16, "major in K"},
      {kNVFP4, kShapeNVFP4, 2u << 17, "N = 8 to 256 in bits 22:17, but got 0"},
      {kNVFP4, kShapeNVFP4, 0x21u << 17, "but got 280"},
      {kNVFP4, kShapeNVFP4, 1u << 24, "bits 26:24"},
      {kNVFP4, kShapeNVFP4, 1u << 27, "M = 128"},
      {kNVFP4, kShapeNVFP4, 3u << 27, "M = 128"},
      {kNVFP4, kShapeNVFP4, 1u << 29, "scale factor ids of 0"},
      {kNVFP4, kShapeNVFP4, 1u << 31, "K = 96"},
      {kMXFP4, kShapeMXFP4, 1u << 23, "ue8m0"},
      {kMXFP4, kShapeMXFP4, 1u << 4, "0 or 2"},
      {kMXFP4, kShapeMXFP4, 1u << 29, "0 or 2"},
      {kMXFP8, kShapeMXFP8, 1u << 23, "ue8m0"},
      {kMXFP8, kShapeMXFP8, 2u << 7, "a type of A in bits 9:7, but got 2"},
      {kMXFP8, kShapeMXFP8, 6u << 10, "a type of B in bits 12:10, but got 6"},
      {kMXFP8, kShapeMXFP8, 3u << 7 | 1u << 15, "fewer than 8 bits"},
      {kMXFP8, kShapeMXFP8, 5u << 10 | 1u << 16, "fewer than 8 bits"},
      {kMXFP8, kShapeMXFP8, 3u << 17 | 1u << 16, "a multiple of 16 as N"},
      {kMXFP8, kShapeMXFP8, 1u << 31, "0 in bit 31"},
      {"f16", kShapeF16, 3u << 4, "type of D in bits 5:4, but got 2"},
      {"f16", kShapeF16, 1u << 7, "one type of A and B"},
      {"f16", kShapeF16, 1u << 4 | 1u << 7 | 1u << 10, "f32 as type of D"},
      {"f16", kShapeF16, 2u << 7, "a type of A in bits 9:7, but got 2"},
      {"f16", kShapeF16, 1u << 23, "bits 23 and 29"},
      {"f16", kShapeF16, 1u << 29, "bits 23 and 29"},
      {"f16", kShapeF16, 0xAu << 24, "M = 64 or 128"},
      {"f16", kShapeF16, 0x18u << 24, "M = 64 or 128"},
      {"f16", kShapeF16, 1u << 30, ".ws"},
      {"f8f6f4", kShapeF8, 2u << 10, "a type of B"},
      {"f8f6f4", kShapeF8, 4u << 10 | 1u << 16, "fewer than 8 bits"},
  };
  for (const auto &test : cases) {
    SCOPED_TRACE(test.kind + " " + hex(test.shape ^ test.flipped));
    expectCheck(run(multiply(test.kind, test.shape ^ test.flipped)),
                Check::IllegalOperand, test.words);
  }
  EXPECT_FINE(run(multiply(kNVFP4, kShapeNVFP4)));
  EXPECT_FINE(run(multiply(kMXFP4, kShapeMXFP4)));
  EXPECT_FINE(run(multiply(kMXFP8, kShapeMXFP8)));
  EXPECT_FINE(run(multiply("f16", kShapeF16)));
  EXPECT_FINE(run(multiply("f8f6f4", kShapeF8)));
}

TEST(TensorOperandsTest, MatrixDescriptors) {
  auto use = [&](uint64_t flipped, bool isCopy = false) {
    std::string text = "xor.b64 %da, %da, " + hex(flipped) + ";\n";
    return run(text +
               (isCopy ? "@%one tcgen05.cp.cta_group::1.128x256b [%tm], %da;\n"
                       : multiply("f16", kShapeF16)));
  };
  for (bool isCopy : {false, true}) {
    expectCheck(use(uint64_t(1) << 46, isCopy), Check::IllegalOperand,
                "1 in bits 48:46, but got 0");
    expectCheck(use(uint64_t(1) << 47, isCopy), Check::IllegalOperand,
                "1 in bits 48:46");
    expectCheck(use(uint64_t(1) << 14, isCopy), Check::IllegalOperand,
                "bits 15:14");
    expectCheck(use(uint64_t(1) << 31, isCopy), Check::IllegalOperand, "31:30");
    for (unsigned bit : {49, 50, 51})
      for (uint64_t swizzle : {1, 2, 4, 6})
        expectCheck(use(uint64_t(1) << bit | swizzle << 61, isCopy),
                    Check::IllegalOperand, "base offset");
    EXPECT_FINE(use(uint64_t(7) << 49, isCopy));
    expectCheck(use(uint64_t(1) << 52, isCopy), Check::IllegalOperand,
                "relative leading dimension");
    for (unsigned bit : {53, 60})
      expectCheck(use(uint64_t(1) << bit, isCopy), Check::IllegalOperand,
                  "0 in bits 60:53");
    for (uint64_t swizzle : {3, 5, 7})
      expectCheck(use(swizzle << 61, isCopy), Check::IllegalOperand,
                  "a swizzle of 0, 1, 2, 4 or 6");
    for (uint64_t swizzle : {0, 1, 2, 4, 6})
      EXPECT_FINE(use(swizzle << 61, isCopy));
    // The end of shared memory, and below its start.
    expectCheck(use(uint64_t(0x1000) << 32, isCopy), Check::OutOfBounds,
                "but shared memory is 0x400 to");
    expectCheck(run("mov.b64 %da, 0x400000080000;\n" +
                    (isCopy ? "@%one tcgen05.cp.cta_group::1.128x256b [%tm], "
                              "%da;\n"
                            : multiply("f16", kShapeF16))),
                Check::OutOfBounds, "reads a matrix at shared addresses 0x0");
  }
  expectCheck(run("or.b64 %da, %da, 0x2000000000000000;\n" +
                  multiply("f16", kShapeF16 | 1u << 15)),
              Check::IllegalOperand, "atoms of 32 bytes");
}

TEST(TensorOperandsTest, Addresses) {
  expectCheck(run(multiply("f16", kShapeF16, "%tm+0x100000")),
              Check::IllegalOperand, "lane 0 in the address of D");
  const uint32_t half = kShapeF16 ^ 0xCu << 24; // M = 64.
  EXPECT_FINE(run(multiply("f16", half, "%tm+0x100000")));
  expectCheck(run(multiply("f16", half, "%tm+0x80000")), Check::IllegalOperand,
              "lane 0 or 16");
  EXPECT_FINE(run(multiply("f16", half, "%tm+0x100000", "[%tm+0x100040]")));
  expectCheck(run(multiply("f16", half, "%tm+0x100000", "[%tm+0x40]")),
              Check::IllegalOperand, "lane 16, as of D");
  expectCheck(run(multiply("f16", kShapeF16, "%tm+500")), Check::OutOfBounds,
              "columns below 512");
  EXPECT_FINE(run(multiply("f16", kShapeF16, "%tm+496")));
  expectCheck(run(multiply("f16", kShapeF16 | 1u << 15, "%tm", "[%tm+64]")),
              Check::IllegalOperand, "an A in tensor memory that is major");
  expectCheck(run(multiply("f8f6f4", kShapeF8 | 5u << 7, "%tm", "[%tm+64]")),
              Check::IllegalOperand, "is not modelled");
  expectCheck(run(multiply(kNVFP4, kShapeNVFP4, "%tm", "%da",
                           "[%tm+0x200100], [%tm+256], ")),
              Check::IllegalOperand,
              "lane 0 in the address of the scales of A");
  expectCheck(run(multiply(kNVFP4, kShapeNVFP4, "%tm", "%da",
                           "[%tm+256], [%tm+0x200100], ")),
              Check::IllegalOperand, "the scales of B");
  EXPECT_FINE(run(
      multiply(kNVFP4, kShapeNVFP4, "%tm", "%da", "[%tm+508], [%tm+511], ")));
  expectCheck(run(multiply(kNVFP4, kShapeNVFP4, "%tm", "%da",
                           "[%tm+509], [%tm+508], ")),
              Check::OutOfBounds);
  expectCheck(run("@%one tcgen05.cp.cta_group::1.128x128b [%tm+0x100000], "
                  "%da;\n"),
              Check::IllegalOperand, "lane 0 in the address");
  expectCheck(run("@%one tcgen05.cp.cta_group::1.4x256b [%tm+0x200000], "
                  "%da;\n"),
              Check::IllegalOperand, "lane 0 to 31");
}

/// One word of `column` in lane 32 * quadrant + 3.
std::string setWord(unsigned quadrant, unsigned column, uint32_t word) {
  return "setp.eq.u32 %z5, %w, " + std::to_string(quadrant) +
         ";\nmov.u32 %u1, 0;\nsetp.eq.u32 %z6, %l, 3;\n@%z6 mov.u32 %u1, " +
         hex(word) + ";\nadd.u32 %c, %tm, " + hex(quadrant << 21 | column) +
         ";\n@%z5 tcgen05.st.sync.aligned.32x32b.x1.b32 [%c], {%u1};\n" +
         waitTensorStores() + syncTensor();
}

TEST(TensorOperandsTest, ScalesAreAlikeInTheQuadrants) {
  for (unsigned quadrant = 0; quadrant != 4; ++quadrant) {
    const std::string differ = setWord(quadrant, 257, 0x200);
    expectCheck(run(differ + multiply(kNVFP4, kShapeNVFP4)),
                Check::IllegalOperand,
                "the scales of A alike in the four quadrants of lanes, but "
                "column 257");
    // Bytes that are not used do not matter.
    EXPECT_FINE(run(differ + multiply(kMXFP8, kShapeMXFP8)));
    expectCheck(run(differ + multiply(kMXFP8, kShapeMXFP8 | 1u << 29)),
                Check::IllegalOperand);
    expectCheck(run(setWord(quadrant, 288, 0x10000) +
                    multiply(kMXFP8, kShapeMXFP8 | 2u << 4)),
                Check::IllegalOperand, "the scales of B");
    // Nor do rows beyond N.
    EXPECT_FINE(run(setWord(quadrant, 289, 0x10000) +
                    multiply(kMXFP8, kShapeMXFP8 | 2u << 4)));
  }
}

TEST(TensorOperandsTest, NaNScales) {
  // A NaN makes its row NaN, whatever the data.
  TensorImage tensor;
  for (unsigned lane = 5; lane < 128; lane += 32)
    tensor.at(lane, 257) = 0x7F0000;
  EXPECT_FINE(runTensor("add.s64 %da, %sd, 0x400000080000;\n" +
                            multiply(kNVFP4, kShapeNVFP4),
                        std::vector<uint8_t>(kTestShared), tensor));
  for (unsigned m = 0; m != 128; ++m)
    for (unsigned n = 0; n != 16; ++n)
      EXPECT_EQ(tensor.at(m, n), m == 37 ? 0x7FFFFFFFu : 0u);
}

TEST(TensorOperandsTest, UnwrittenOperands) {
  LaunchOptions options = getTensorOptions();
  options.sharedBytes = kTestShared + 8192;
  auto use = [&](const std::string &body, unsigned stored,
                 unsigned initialized = kTestColumns) {
    TensorImage tensor;
    return runTensor("add.s64 %da, %sd, 0x400000080000;\n" + body,
                     makeBytes(kTestShared), tensor, options, ~0u, initialized,
                     stored);
  };
  // The last 8 rows of B are where nothing is written.
  const std::string beyond =
      "add.s64 %db, %sd, " +
      hex(uint64_t(1) << 46 | uint64_t((kTestShared - 128) / 16) << 32 |
          uint64_t(16) << 16) +
      ";\n@%one tcgen05.mma.cta_group::1.kind::f16 [%tm], %da, %db, " +
      hex(kShapeF16) + ", 0;\n";
  expectCheck(use(beyond, 32), Check::Uninitialized);
  // What is added to garbage stays so, and what replaces it does not.
  const std::string repair =
      "@%one tcgen05.mma.cta_group::1.kind::f16 [%tm], %da, %db, " +
      hex(kShapeF16) + ", 1;\n";
  expectCheck(use(beyond + repair, 32), Check::Uninitialized);
  const std::string whole =
      "@%one tcgen05.mma.cta_group::1.kind::f16 [%tm], %da, %da, " +
      hex(kShapeF16) + ", 0;\n";
  EXPECT_FINE(use(beyond + whole, 32));
  // An accumulator that nobody wrote.
  expectCheck(use("@%one tcgen05.mma.cta_group::1.kind::f16 [%tm+32], %da, "
                  "%da, 0x08080010, 1;\n",
                  64, 32),
              Check::Uninitialized);
  EXPECT_FINE(use("@%one tcgen05.mma.cta_group::1.kind::f16 [%tm+32], %da, "
                  "%da, 0x08080010, 0;\n",
                  64, 32));
  // Scales that nobody wrote.
  expectCheck(
      use(multiply(kNVFP4, kShapeNVFP4, "%tm", "%da", "[%tm+256], [%tm+288], "),
          32, 288),
      Check::Uninitialized);
  EXPECT_FINE(
      use(multiply(kNVFP4, kShapeNVFP4, "%tm", "%da", "[%tm+256], [%tm+284], "),
          32, 288));
  // An unwritten word in place of an operand.
  for (llvm::StringRef operand : {"%da", "0x8040010", "[%tm]"}) {
    std::string text = multiply("f16", kShapeF16);
    size_t at = text.find(operand.str());
    ASSERT_NE(at, std::string::npos);
    text.replace(at, operand.size(),
                 operand == "%da"     ? "%d19"
                 : operand == "[%tm]" ? "[%u99]"
                                      : "%u99");
    expectCheck(use(text, 32), Check::Uninitialized);
  }
}

TEST(TensorOperandsTest, EveryLaneIssues) {
  // Without a guard each lane of the warp multiplies.
  TensorImage tensor;
  std::vector<uint8_t> ones(kTestShared);
  for (unsigned i = 0; i != kTestShared; i += 2)
    ones[i + 1] = 0x3C; // f16: 1.
  const std::string text =
      "setp.lt.u32 %z5, %t, 3;\nadd.s64 %da, %sd, 0x400000080000;\n@%z5 "
      "tcgen05.mma.cta_group::1.kind::f16 [%tm], %da, %da, 0x08040010, 1;\n"
      "@%z5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
      "b64 [%u50];\n";
  EXPECT_FINE(runTensor(".shared .align 8 .b64 three;\nmov.u32 %u50, three;\n"
                        "@%one mbarrier.init.shared.b64 [%u50], 3;\n"
                        "bar.sync 0;\n" +
                            text +
                            "THREE:\nmbarrier.try_wait.parity.shared.b64 %z3, "
                            "[%u50], 0;\n@!%z3 bra THREE;\n",
                        ones, tensor));
  EXPECT_EQ(tensor.at(7, 3), 0x42400000u); // 3 times 16.
}

TEST(TensorOperandsTest, Forms) {
  auto decode = [&](const std::string &text, llvm::StringRef target) {
    return runKernel(".shared .align 8 .b64 bar; .shared .b32 base;\n"
                     ".reg .b32 %u<8>; .reg .b64 %da, %db; .reg .pred %none;\n"
                     "setp.eq.u32 %none, %t, 99;\n@%none bra.uni END;\n"
                     "bra.uni END;\n" +
                         text + "\nEND:\n",
                     {}, withThreads(32), target);
  };
  // As ptxas has it.
  const char *const good[] = {
      "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%da], %u1;",
      "tcgen05.alloc.sync.aligned.cta_group::1.shared::cta.b32 [base], 32;",
      "tcgen05.ld.sync.aligned.16x32bx2.x1.pack::16b.b32 {%u1}, [%u2], 2;",
      "tcgen05.mma.cta_group::1.kind::f16 [%u1], %da, %db, %u3, {%u4, %u5, "
      "%u6, %u7}, %none, 3;",
      "tcgen05.mma.cta_group::1.kind::f16 [%u1], [%u2], %db, %u3, !%none;",
      "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%u1], %da, %db, "
      "%u3, [%u4], [%u5], %none;",
      "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X."
      "collector::a::fill [%u1], [%u2], %db, %u3, [%u4], [%u5], %none;",
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%da];",
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster."
      "shared::cluster.b64 [%u1], 1;",
      "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%u1], %da;",
  };
  for (const char *text : good)
    for (llvm::StringRef target : {"sm_100a", "sm_103a"}) {
      SCOPED_TRACE(text);
      EXPECT_FINE(decode(text, target));
    }
  struct {
    const char *text, *words;
    const char *target = "sm_100a";
  } const bad[] = {
      {"tcgen05.fence::after_thread_sync;", "expects a target", "sm_100"},
      {"tcgen05.fence::after_thread_sync;", "expects a target", "sm_120a"},
      {"tcgen05.fence::after_thread_sync;", "expects a target", "sm_90a"},
      {"tcgen05.wait::ld;", ".sync.aligned"},
      {"tcgen05.shift.cta_group::1.down [%u1];", "tcgen05.shift"},
      {"tcgen05.alloc.cta_group::2.sync.aligned.b32 [%da], 32;",
       ".cta_group::2 is not modelled"},
      {"tcgen05.alloc.sync.aligned.b32 [%da], 32;", ".cta_group::1"},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 %u1, [%u2];",
       "registers in braces"},
      {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%u1}, [%u2];", "2 elements"},
      {"tcgen05.ld.sync.aligned.16x256b.x64.b32 {%u1}, [%u2];",
       "at most 128 registers"},
      {"tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%u1}, [%u2];", "operands"},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%u1}, [%da];", "of 32 bits"},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%u1}, [base];",
       "an address in tensor memory"},
      {"tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%u1, %u2}, %u3, [%u4];",
       "tcgen05.ld.red is not modelled"},
      {"tcgen05.st.sync.aligned.32x32b.x1.pack::16b.b32 [%u2], {%u1};",
       "pack::16b"},
      {"tcgen05.cp.cta_group::1.32x128b [%u1], %da;", ".32x128b.warpx4"},
      {"tcgen05.cp.cta_group::1.128x128b.warpx4 [%u1], %da;", ".128x128b"},
      {"tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64 [%u1], %da;",
       "not modelled"},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 "
       "[%u1];",
       "shared::cta"},
      {"tcgen05.commit.cta_group::1.shared::cluster.b64 [%u1];",
       "mbarrier::arrive::one"},
      {"tcgen05.mma.ws.cta_group::1.kind::f16 [%u1], %da, %db, %u3, %none;",
       "tcgen05.mma.ws is not modelled"},
      {"tcgen05.mma.sp.cta_group::1.kind::f16 [%u1], %da, %db, [%u2], %u3, "
       "%none;",
       "tcgen05.mma.sp is not modelled"},
      {"tcgen05.mma.cta_group::2.kind::f16 [%u1], %da, %db, %u3, %none;",
       ".cta_group::2 is not modelled"},
      {"tcgen05.mma.cta_group::1.kind::tf32 [%u1], %da, %db, %u3, %none;",
       "kind::tf32 is not modelled"},
      {"tcgen05.mma.cta_group::1.kind::i8 [%u1], %da, %db, %u3, %none;",
       "kind::i8 is not modelled"},
      {"tcgen05.mma.cta_group::1.kind::f16.ashift [%u1], [%u2], %db, %u3, "
       "%none;",
       ".ashift is not modelled"},
      {"tcgen05.mma.cta_group::1.kind::f8f6f4 [%u1], %da, %db, %u3, %none, 2;",
       "scale-input-d expects .kind::f16"},
      {"tcgen05.mma.cta_group::1.kind::f16 [%u1], %da, %db, %u3, %none, 2;",
       "scale-input-d expects", "sm_110a"},
      {"tcgen05.mma.cta_group::1.kind::f16 [%u1], %da, %db, %u3, %none, 16;",
       "0 to 15"},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%u1], %da, %db, %u3, [%u4], "
       "[%u5], %none;",
       "block_scale"},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block16 [%u1], "
       "%da, %db, %u3, [%u4], [%u5], %none;",
       ".block32 or .scale_vec::1X"},
      {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%u1], "
       "%da, %db, %u3, [%u4], [%u5], %none;",
       ".block32 or .scale_vec::2X"},
      {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%u1], %da, %db, "
       "%u3, [%u4], [%u5], %none;",
       ".block16 (.scale_vec::4X)"},
      {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X "
       "[%u1], %da, %db, %u3, [%u4], [%u5], %none;",
       "a target of one chip", "sm_100f"},
      {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%u1], %da, %db, %u3, "
       "[%u4], [%u5], {%u4, %u5, %u6, %u7}, %none;",
       "operands"},
      {"tcgen05.mma.cta_group::1.kind::f16.block_scale [%u1], %da, %db, %u3, "
       "%none;",
       "block_scale"},
  };
  for (const auto &test : bad) {
    SCOPED_TRACE(test.text);
    Outcome outcome = decode(test.text, test.target);
    EXPECT_FALSE(outcome.check.has_value());
    EXPECT_NE(outcome.text.find(test.words), std::string::npos) << outcome.text;
  }
}

} // namespace
