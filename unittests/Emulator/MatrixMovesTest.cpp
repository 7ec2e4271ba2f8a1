//===- MatrixMovesTest.cpp - ldmatrix, stmatrix and movmatrix -------------===//
//
// Expected values come from the ISA's fragment figures: lane L holds columns of
// row L / 4, four bytes from byte 4 * (L % 4) on, or with .trans elements of
// column L / 4.
//
//===----------------------------------------------------------------------===//

#include "MemoryHarness.h"

using namespace tile::emulator;

namespace {

/// 512 bytes of %p0 come into the tile; row i of 16 bytes is stored at slot
/// i ^ 5, so that rows do not stand side by side. %r2 is the row of the lane.
const std::string kFill =
    ".shared .align 128 .b8 tile[1024];\nmov.u32 %r1, tile;\n"
    "xor.b32 %r2, %t, 5; mad.lo.u32 %r2, %r2, 16, %r1;\n"
    "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%t16];\n"
    "st.shared.v4.b32 [%r2], {%r4, %r5, %r6, %r7};\n"
    "mad.wide.u32 %d1, %t, 16, %p1;\n";

/// Runs an ldmatrix into %r10 … and returns the registers by lane.
std::vector<uint32_t> load(const std::string &instruction, unsigned registers,
                           const std::vector<uint8_t> &rows) {
  static const char *const lists[] = {"", "{%r10}", "{%r10, %r11}", "",
                                      "{%r10, %r11, %r12, %r13}"};
  std::vector<uint8_t> in = rows, out(512);
  Outcome outcome =
      runKernel(kFill +
                    "mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; "
                    "mov.b32 %r13, 0;\nldmatrix.sync.aligned." +
                    instruction + " " + lists[registers] +
                    ", [%r2];\n"
                    "st.global.v4.b32 [%d1], {%r10, %r11, %r12, %r13};\n",
                {&in, &out}, {}, "sm_120a");
  EXPECT_FINE(outcome);
  return fromBytes<uint32_t>(out);
}

/// Expects element `e` of register `r` of each lane, `bits` wide.
template <typename F>
void expectElements(const std::vector<uint32_t> &words, unsigned registers,
                    unsigned bits, F element) {
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned r = 0; r != registers; ++r)
      for (unsigned e = 0; e != 32 / bits; ++e)
        ASSERT_EQ(words[lane * 4 + r] >> e * bits & ((1u << bits) - 1),
                  element(lane / 4, lane % 4, r, e))
            << "lane " << lane << " register " << r << " element " << e;
}

TEST(MatrixMovesTest, LoadsHalves) {
  std::vector<uint8_t> rows = makeBytes(512);
  auto half = [&](unsigned row, unsigned column) -> uint32_t {
    return rows[row * 16 + 2 * column] | rows[row * 16 + 2 * column + 1] << 8;
  };
  for (unsigned number : {1u, 2u, 4u}) {
    std::string x = std::to_string(number);
    expectElements(load("m8n8.x" + x + ".shared.b16", number, rows), number, 16,
                   [&](unsigned g, unsigned t, unsigned r, unsigned e) {
                     return half(8 * r + g, 2 * t + e);
                   });
    expectElements(load("m8n8.x" + x + ".trans.shared.b16", number, rows),
                   number, 16,
                   [&](unsigned g, unsigned t, unsigned r, unsigned e) {
                     return half(8 * r + 2 * t + e, g);
                   });
  }
}

TEST(MatrixMovesTest, LoadsBytesTransposed) {
  std::vector<uint8_t> rows = makeBytes(512);
  for (unsigned number : {1u, 2u})
    expectElements(
        load("m16n16.x" + std::to_string(number) + ".trans.shared.b8",
             2 * number, rows),
        2 * number, 8, [&](unsigned g, unsigned t, unsigned r, unsigned e) {
          return rows[(16 * (r / 2) + 4 * t + e) * 16 + g + 8 * (r % 2)];
        });
}

TEST(MatrixMovesTest, ExpandsNarrowElements) {
  std::vector<uint8_t> rows = makeBytes(512);
  auto nibble = [&](unsigned row, unsigned column) -> uint32_t {
    return rows[row * 16 + column / 2] >> 4 * (column % 2) & 15;
  };
  auto six = [&](unsigned row, unsigned column) -> uint32_t {
    uint32_t value = 0;
    for (unsigned i = 0; i != 6; ++i) {
      unsigned bit = 6 * column + i;
      value |= uint32_t(rows[row * 16 + bit / 8] >> bit % 8 & 1) << i;
    }
    return value;
  };
  auto expectBoth = [&](const char *format, auto element) {
    expectElements(
        load(std::string("m8n16.x4.shared.b8x16.") + format, 4, rows), 4, 8,
        [&](unsigned g, unsigned t, unsigned r, unsigned e) {
          return element(8 * r + g, 4 * t + e);
        });
    expectElements(
        load(std::string("m16n16.x2.trans.shared.b8x16.") + format, 4, rows), 4,
        8, [&](unsigned g, unsigned t, unsigned r, unsigned e) {
          return element(16 * (r / 2) + 4 * t + e, g + 8 * (r % 2));
        });
  };
  expectBoth("b4x16_p64", nibble);
  expectBoth("b6x16_p32", six);
}

TEST(MatrixMovesTest, StoresWhatItLoads) {
  std::vector<uint8_t> in = makeBytes(512), out(512);
  for (const char *form : {"m8n8.x4.shared.b16", "m8n8.x4.trans.shared.b16"}) {
    std::fill(out.begin(), out.end(), 0);
    EXPECT_FINE(runKernel(kFill + "ldmatrix.sync.aligned." + form +
                              " {%r10, %r11, %r12, %r13}, [%r2];\n"
                              "stmatrix.sync.aligned." +
                              form +
                              " [%r2+512], {%r10, %r11, %r12, %r13};\n"
                              "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, "
                              "[%r2+512];\n"
                              "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};\n",
                          {&in, &out}));
    EXPECT_EQ(out, in);
  }
  // Bytes: register i of lane L holds what goes to matrix i.
  EXPECT_FINE(runKernel(kFill +
                            "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 "
                            "[%r2+512], {%r4, %r5, %r6, %r7};\n"
                            "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, "
                            "[%r2+512];\n"
                            "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};",
                        {&in, &out}));
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned r = 0; r != 4; ++r)
      for (unsigned e = 0; e != 4; ++e)
        EXPECT_EQ(
            out[(8 * r + 2 * (lane % 4) + e % 2) * 16 + lane / 4 + 8 * (e / 2)],
            in[lane * 16 + 4 * r + e]);
}

TEST(MatrixMovesTest, TransposesInRegisters) {
  std::vector<uint8_t> in = makeBytes(128), out(128);
  EXPECT_FINE(runKernel("ld.global.b32 %r0, [%t4];\n"
                        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;\n"
                        "mad.wide.u32 %d0, %t, 4, %p1;\n"
                        "st.global.b32 [%d0], %r1;",
                        {&in, &out}));
  std::vector<uint16_t> before = fromBytes<uint16_t>(in);
  std::vector<uint16_t> after = fromBytes<uint16_t>(out);
  for (unsigned row = 0; row != 8; ++row)
    for (unsigned column = 0; column != 8; ++column)
      EXPECT_EQ(after[row * 8 + column], before[column * 8 + row]);
}

TEST(MatrixMovesTest, CarriesUnwrittenBits) {
  std::vector<uint8_t> out(128);
  // Rows of which the first half is written: lanes with t < 2 have those.
  const std::string body =
      ".shared .align 128 .b8 tile[128];\nmov.u32 %r1, tile;\n"
      "and.b32 %r2, %t, 7; mad.lo.u32 %r2, %r2, 16, %r1;\n"
      "setp.lt.u32 %q0, %t, 8; @%q0 st.shared.b64 [%r2], 77;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];\n"
      "and.b32 %r4, %t, 3; setp.lt.u32 %q1, %r4, ";
  EXPECT_FINE(runKernel(body + "2; @%q1 st.global.b32 [%t4], %r3;", {&out}));
  expectCheck(runKernel(body + "3; @%q1 st.global.b32 [%t4], %r3;", {&out}),
              Check::Uninitialized, "thread: 2,0,0");
}

TEST(MatrixMovesTest, ChecksRows) {
  std::vector<uint8_t> in = makeBytes(512), out(512);
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, ";
  auto run = [&](const std::string &body, LaunchOptions options = {}) {
    return runKernel(kFill + body, {&in, &out}, options);
  };
  expectCheck(run(load + "[%r2+8];"), Check::Misaligned);
  expectCheck(run(load + "[%r2+1024];"), Check::OutOfBounds);
  // Lanes that give no row may hold anything.
  EXPECT_FINE(
      run("setp.ge.u32 %q0, %t, 8; @%q0 mov.u32 %r2, 3;\n" + load + "[%r2];"));
  expectCheck(
      run("setp.ge.u32 %q0, %t, 7; @%q0 mov.u32 %r2, 3;\n" + load + "[%r2];"),
      Check::OutOfBounds);
  expectCheck(
      run("setp.ge.u32 %q0, %t, 7; @%q0 bra END;\n" + load + "[%r2];\nEND:\n"),
      Check::Divergence);
  expectCheck(run("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r4};\n"),
              Check::SharedRace, "rows 0 and 1");
  // Rows that another warp stores.
  const std::string barrier = "bar.sync 0;\n";
  const std::string other = "xor.b32 %r3, %t, 37; mad.lo.u32 %r3, %r3, 16, "
                            "%r1;\n" +
                            load + "[%r3];";
  in.resize(1024);
  EXPECT_FINE(run(barrier + other, withThreads(64)));
  expectCheck(run(other, withThreads(64)), Check::SharedRace);
}

TEST(MatrixMovesTest, CountsWavefronts) {
  std::vector<uint8_t> in = makeBytes(512), out(512);
  LaunchOptions options;
  options.collectStatistics = true;
  auto count = [&](const char *stride) {
    Outcome outcome = runKernel(
        std::string(".shared .align 128 .b8 tile[8192];\nmov.u32 %r1, tile;\n"
                    "mad.lo.u32 %r2, %t, ") +
            stride +
            ", %r1;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 "
            "{%r10, %r11, %r12, %r13}, [%r2];\n",
        {&in, &out}, options);
    EXPECT_FINE(outcome);
    return outcome.statistics.total.sharedWavefronts;
  };
  EXPECT_EQ(count("16"), 4u);
  EXPECT_EQ(count("128"), 32u);
  EXPECT_EQ(count("144"), 4u);
  EXPECT_EQ(count("32"), 8u);
}

TEST(MatrixMovesTest, RejectsWhatTheIsaDoesNotKnow) {
  auto expectError = [&](const std::string &body, const char *words,
                         const char *target = "sm_120a") {
    Outcome outcome = runKernel(body, {}, {}, target);
    EXPECT_FALSE(outcome.check.has_value()) << outcome.text;
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  };
  const std::string load = "ldmatrix.sync.aligned.";
  expectError(load + "m8n8.x1.b8 {%r0}, [%r1];", "expects .b16");
  expectError(load + "m16n16.x1.b8 {%r0, %r2}, [%r1];", "expects .trans");
  expectError(load + "m16n16.x4.trans.b8 {%r0}, [%r1];", "expects .x1 or .x2");
  expectError(load + "m8n8.x2.b16 {%r0}, [%r1];", "2");
  expectError(load + "m16n16.x1.trans.b8 {%r0, %r2}, [%r1];", "sm_100a",
              "sm_90a");
  expectError("stmatrix.sync.aligned.m8n8.x1.b16 [%r1], {%r0};", "sm_90",
              "sm_80");
}

} // namespace
