//===- LoadsAndStoresTest.cpp - ld, st and their checks -------------------===//

#include "MemoryHarness.h"

#include "llvm/Support/raw_ostream.h"

using namespace tile::emulator;

namespace {

TEST(LoadsAndStoresTest, CopiesEveryTypeAndVector) {
  struct Form {
    const char *declaration, *suffix, *registers;
    unsigned bytes;
  };
  const Form forms[] = {
      {".reg .b16 %x;", "b8", "%x", 1},
      {".reg .b32 %x;", "u8", "%x", 1},
      {".reg .b16 %x;", "b16", "%x", 2},
      {".reg .b32 %x;", "s32", "%x", 4},
      {".reg .f32 %x;", "f32", "%x", 4},
      {".reg .b64 %x;", "b64", "%x", 8},
      {".reg .f64 %x;", "f64", "%x", 8},
      {".reg .b128 %x;", "b128", "%x", 16},
      {".reg .b16 %x<2>;", "v2.b8", "{%x0, %x1}", 2},
      {".reg .b16 %x<4>;", "v4.b8", "{%x0, %x1, %x2, %x3}", 4},
      {".reg .b16 %x<4>;", "v4.u16", "{%x0, %x1, %x2, %x3}", 8},
      {".reg .b32 %x<2>;", "v2.b32", "{%x0, %x1}", 8},
      {".reg .b32 %x<4>;", "v4.b32", "{%x0, %x1, %x2, %x3}", 16},
      {".reg .v4 .f32 %x;", "v4.f32", "%x", 16},
      {".reg .b64 %x<2>;", "v2.b64", "{%x0, %x1}", 16},
      {".reg .b32 %x<8>;", "v8.b32", "{%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7}", 32},
      {".reg .b64 %x<4>;", "v4.b64", "{%x0, %x1, %x2, %x3}", 32},
  };
  for (const Form &form : forms) {
    // Side by side, and with the lanes' order reversed.
    for (bool reversed : {false, true}) {
      std::vector<uint8_t> in = makeBytes(32 * form.bytes), out(in.size());
      std::string body = std::string(form.declaration) + "\nmov.u32 %r0, %t;";
      if (reversed)
        body += "sub.u32 %r0, 31, %t;";
      body += "mad.wide.u32 %d0, %r0, " + std::to_string(form.bytes) +
              ", %p0; mad.wide.u32 %d1, %t, " + std::to_string(form.bytes) +
              ", %p1;\nld.global." + form.suffix + " " + form.registers +
              ", [%d0];\nst.global." + form.suffix + " [%d1], " +
              form.registers + ";\n";
      Outcome outcome = runKernel(body, {&in, &out});
      ASSERT_EQ(outcome.text, "") << body;
      for (unsigned lane = 0; lane != 32; ++lane)
        for (unsigned i = 0; i != form.bytes; ++i)
          EXPECT_EQ(out[lane * form.bytes + i],
                    in[(reversed ? 31 - lane : lane) * form.bytes + i])
              << form.suffix;
    }
  }
}

TEST(LoadsAndStoresTest, ExtendsIntoWiderRegisters) {
  std::vector<uint8_t> in = makeBytes(128), out(32 * 32);
  Outcome outcome = runKernel(
      "mad.wide.u32 %d31, %t, 32, %p1;\n"
      "ld.global.s8 %r0, [%t4]; ld.global.u8 %r1, [%t4];\n"
      "ld.global.s16 %d0, [%t4]; ld.global.u16 %d1, [%t4];\n"
      "ld.global.s8 %h0, [%t4]; cvt.s32.s16 %r2, %h0;\n"
      "st.global.v2.b32 [%d31], {%r0, %r1};\n"
      "st.global.v2.b64 [%d31+16], {%d0, %d1}; st.global.b32 [%d31+8], %r2;\n"
      "st.global.b32 [%d31+12], %d0;",
      {&in, &out});
  EXPECT_FINE(outcome);
  std::vector<int32_t> words = fromBytes<int32_t>(out);
  std::vector<int64_t> longs = fromBytes<int64_t>(out);
  for (unsigned lane = 0; lane != 32; ++lane) {
    int16_t half;
    std::memcpy(&half, &in[lane * 4], 2);
    EXPECT_EQ(words[lane * 8], int8_t(in[lane * 4]));
    EXPECT_EQ(words[lane * 8 + 1], in[lane * 4]);
    EXPECT_EQ(words[lane * 8 + 2], int8_t(in[lane * 4]));
    EXPECT_EQ(words[lane * 8 + 3], half);
    EXPECT_EQ(longs[lane * 4 + 2], half);
    EXPECT_EQ(longs[lane * 4 + 3], uint16_t(half));
  }
}

TEST(LoadsAndStoresTest, ReadsAndWritesEverySpace) {
  std::vector<uint8_t> in = makeBytes(128), out(128);
  // Through shared, local and global variables, directly and generically.
  Outcome outcome = runKernel(
      ".shared .align 16 .b8 tile[256]; .local .align 8 .b8 stack[16];\n"
      "ld.global.b32 %r0, [%t4];\n"
      "mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1;\n"
      "st.shared.b32 [%r1], %r0; cvt.u64.u32 %d0, %r1;\n"
      "cvta.shared.u64 %d0, %d0; ld.b32 %r2, [%d0];\n"
      "st.local.b32 [stack+4], %r2; mov.u64 %d1, stack;\n"
      "cvta.local.u64 %d1, %d1; ld.volatile.b32 %r3, [%d1+4];\n"
      "mul.wide.u32 %d2, %t, 4; mov.u64 %d3, variable;\n"
      "add.u64 %d3, %d3, %d2; st.b32 [%d3], %r3;\n"
      "ld.global.nc.L1::no_allocate.b32 %r4, [%d3];\n"
      "ld.const.b32 %r5, [table+4]; add.u32 %r4, %r4, %r5;\n"
      "add.u64 %d4, %p1, %d2; st.global.cs.b32 [%d4], %r4;",
      {&in, &out}, {}, "sm_90a",
      ".global .align 4 .b8 variable[128];\n"
      ".const .align 4 .b32 table[2] = {7, 9};\n");
  EXPECT_FINE(outcome);
  std::vector<uint32_t> expected = fromBytes<uint32_t>(in);
  for (uint32_t &value : expected)
    value += 9;
  EXPECT_EQ(fromBytes<uint32_t>(out), expected);
}

TEST(LoadsAndStoresTest, ReadsParameters) {
  std::vector<uint8_t> out(256);
  Outcome outcome = runKernel("ld.param.u64 %d0, [a0]; ld.param::entry.v2.u32 "
                              "{%r0, %r1}, [a0];\n"
                              "mov.u64 %d1, a0; cvt.u32.u64 %r2, %d1;\n"
                              "ld.param.u32 %r3, [%d1+4];\n"
                              "mad.wide.u32 %d2, %t, 8, %p0;\n"
                              "st.global.v2.b32 [%d2], {%r0, %r3};",
                              {&out});
  EXPECT_FINE(outcome);
  std::vector<uint64_t> values = fromBytes<uint64_t>(out);
  for (uint64_t value : values)
    EXPECT_EQ(value, values[0]);
  EXPECT_GE(values[0], uint64_t(1) << 36);
}

TEST(LoadsAndStoresTest, ReadsParametersOfFunctions) {
  // By name and through a register; the result by name.
  std::vector<uint8_t> out(128);
  Outcome outcome = runKernel(
      "{ .param .align 8 .b8 pair[8]; .param .b32 sum;\n"
      "st.param.b32 [pair], %t; st.param.b32 [pair+4], 100;\n"
      "call (sum), add, (pair); ld.param.b32 %r0, [sum]; }\n"
      "st.global.b32 [%t4], %r0;",
      {&out}, {}, "sm_90a",
      ".func (.param .b32 sum) add(.param .align 8 .b8 pair[8])\n{\n"
      ".reg .b32 %a, %b; .reg .b64 %p;\nld.param.b32 %a, [pair];\n"
      "mov.b64 %p, pair; ld.param.b32 %b, [%p+4];\nadd.u32 %a, %a, %b;\n"
      "st.param.b32 [sum], %a;\nret;\n}\n");
  EXPECT_FINE(outcome);
  std::vector<uint32_t> values = fromBytes<uint32_t>(out);
  for (unsigned lane = 0; lane != 32; ++lane)
    EXPECT_EQ(values[lane], 100 + lane);
}

TEST(LoadsAndStoresTest, FindsAccessesOutOfBounds) {
  std::vector<uint8_t> in(128), out(128);
  Outcome outcome = runKernel("ld.global.b32 %r0, [%t4+4];", {&in});
  expectCheck(outcome, Check::OutOfBounds,
              "load of 4 bytes at offset 128 of buffer 'b0', which has 128 "
              "bytes");
  EXPECT_EQ(outcome.buffer, "b0");
  EXPECT_EQ(outcome.thread->x, 31u);
  expectCheck(runKernel("st.global.v4.b32 [%t16+-16], {%t, %t, %t, "
                        "%t};",
                        {&in}),
              Check::OutOfBounds, "offset -16 of buffer 'b0'");
  // Only where the predicate holds.
  EXPECT_FINE(runKernel("setp.lt.u32 %q0, %t, 31;\n"
                        "@%q0 ld.global.b32 %r0, [%t4+4];",
                        {&in}));
  expectCheck(runKernel("mov.u64 %d0, 0; ld.global.b32 %r0, [%d0];", {}),
              Check::OutOfBounds, "null pointer");
  expectCheck(runKernel("mov.u64 %d0, 0; ld.b32 %r0, [%d0+8];", {}),
              Check::OutOfBounds, "null pointer");
  expectCheck(runKernel("shl.b64 %d0, %p0, 8; st.global.b32 [%d0], %t;", {&in}),
              Check::OutOfBounds, "no buffer");
  const char *shared = ".shared .align 16 .b8 tile[64];\nmov.u32 %r1, tile;";
  expectCheck(
      runKernel(std::string(shared) + "ld.shared.b32 %r0, [%r1+64];", {}),
      Check::OutOfBounds, "past the end of shared memory");
  expectCheck(
      runKernel(std::string(shared) + "st.shared.b32 [%r1+-4], %t;", {}),
      Check::OutOfBounds, "below the kernel's shared memory");
  expectCheck(runKernel("mov.u32 %r1, 0; st.shared.b32 [%r1], %t;", {}),
              Check::OutOfBounds, "below the kernel's shared memory");
  expectCheck(runKernel(".local .align 4 .b8 stack[8];\n"
                        "mov.u64 %d0, stack; st.local.b32 [%d0+4096], %t;",
                        {}),
              Check::OutOfBounds, "local address");
}

TEST(LoadsAndStoresTest, FindsMisalignedAccesses) {
  std::vector<uint8_t> in(1024);
  expectCheck(runKernel("ld.global.v2.b32 {%r0, %r1}, [%t4];", {&in}),
              Check::Misaligned,
              "offset 4 of buffer 'b0', which is not a "
              "multiple of 8");
  EXPECT_FINE(runKernel("ld.global.v2.b32 {%r0, %r1}, [%t16+8];", {&in}));
  expectCheck(runKernel(".shared .align 16 .b8 tile[64];\n"
                        "mov.u32 %r1, tile; st.shared.b16 [%r1+3], 0;",
                        {}),
              Check::Misaligned, "offset 3 of 'tile'");
}

TEST(LoadsAndStoresTest, FindsStoresToReadOnlyBuffers) {
  llvm::Expected<std::unique_ptr<Module>> module = Module::load(
      makeKernel(".param .u64 a", ".reg .b64 %p; ld.param.u64 %p, [a];\n"
                                  "st.global.b32 [%p], 1; ret;"),
      "k.ptx");
  ASSERT_TRUE(static_cast<bool>(module));
  Memory memory;
  std::vector<uint8_t> bytes(16);
  uint64_t address =
      llvm::cantFail(memory.map("x", bytes, Memory::Access::ReadOnly));
  LaunchOptions options;
  options.block = Dim3{1, 1, 1};
  llvm::Expected<LaunchResult> result = (*module)->launch(
      "k", memory, {{reinterpret_cast<uint8_t *>(&address), 8}}, options);
  ASSERT_FALSE(static_cast<bool>(result));
  std::string text = llvm::toString(result.takeError());
  EXPECT_NE(text.find("store of 4 bytes at offset 0 of buffer 'x', which is "
                      "read-only"),
            std::string::npos)
      << text;
}

TEST(LoadsAndStoresTest, FindsUnwrittenValues) {
  std::vector<uint8_t> out(128);
  const char *setup = ".shared .align 16 .b8 tile[128]; .reg .b32 %never;\n"
                      "mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1;\n";
  expectCheck(
      runKernel(std::string(setup) + "st.global.b32 [%t4], %never;", {&out}),
      Check::Uninitialized, "store of 4 bytes at offset 0 of buffer");
  expectCheck(
      runKernel(".reg .b64 %never; ld.global.b32 %r0, [%never];", {&out}),
      Check::Uninitialized, "address");
  // Unwritten data may go through shared memory, but not out.
  EXPECT_FINE(runKernel(std::string(setup) + "st.shared.b32 [%r1], %never;\n"
                                             "ld.shared.b32 %r2, [%r1];",
                        {&out}));
  expectCheck(runKernel(std::string(setup) + "st.shared.b32 [%r1], %never;\n"
                                             "ld.shared.b32 %r2, [%r1];\n"
                                             "st.global.b32 [%t4], %r2;",
                        {&out}),
              Check::Uninitialized);
  expectCheck(runKernel(std::string(setup) + "ld.shared.b32 %r2, [%r1];\n"
                                             "st.global.b32 [%t4], %r2;",
                        {&out}),
              Check::Uninitialized);
  // Of a word half of which is written, that half may go out.
  EXPECT_FINE(runKernel(std::string(setup) + "st.shared.b16 [%r1], %t;\n"
                                             "ld.shared.b32 %r2, [%r1];\n"
                                             "st.global.b16 [%t4], %r2;",
                        {&out}));
  expectCheck(runKernel(std::string(setup) + "st.shared.b16 [%r1], %t;\n"
                                             "ld.shared.b32 %r2, [%r1];\n"
                                             "st.global.b32 [%t4], %r2;",
                        {&out}),
              Check::Uninitialized);
  // Extension writes the upper bits.
  EXPECT_FINE(runKernel(std::string(setup) + "st.shared.b8 [%r1], %t;\n"
                                             "ld.shared.s8 %r2, [%r1];\n"
                                             "st.global.b32 [%t4], %r2;",
                        {&out}));
  // Local memory remembers as well.
  expectCheck(runKernel(".local .align 4 .b8 stack[8];\n"
                        "st.local.b32 [stack], %t;\n"
                        "ld.local.v2.b32 {%r0, %r1}, [stack];\n"
                        "st.global.b32 [%t4], %r1;",
                        {&out}),
              Check::Uninitialized);
  EXPECT_FINE(runKernel(".local .align 4 .b8 stack[8];\n"
                        "st.local.b32 [stack], %t;\n"
                        "ld.local.v2.b32 {%r0, %r1}, [stack];\n"
                        "st.global.b32 [%t4], %r0;",
                        {&out}));
}

TEST(LoadsAndStoresTest, FindsLanesThatStoreDifferentValuesToOnePlace) {
  std::vector<uint8_t> out(128);
  expectCheck(runKernel("st.global.b32 [%p0], %t;", {&out}), Check::WriteWrite,
              "lanes 0 and 1 of one store");
  EXPECT_FINE(runKernel("st.global.b32 [%p0], 5;", {&out}));
  LaunchOptions allowed;
  allowed.allowWriteWrite = true;
  EXPECT_FINE(runKernel("st.global.b32 [%p0], %t;", {&out}, allowed));
  const char *shared = ".shared .align 16 .b8 tile[128];\nmov.u32 %r1, tile;\n"
                       "and.b32 %r2, %t, 15; mad.lo.u32 %r1, %r2, 4, %r1;";
  expectCheck(runKernel(std::string(shared) + "st.shared.b32 [%r1], %t;", {}),
              Check::SharedRace, "lanes 0 and 16");
  EXPECT_FINE(runKernel(std::string(shared) + "st.shared.b32 [%r1], %r2;", {}));
}

TEST(LoadsAndStoresTest, FindsBlocksThatStoreDifferentValues) {
  std::vector<uint8_t> out(256);
  LaunchOptions options;
  options.grid = {2, 1, 1};
  const char *body = "mov.u32 %r0, %ctaid.x; mov.u32 %r1, 3;\n";
  Outcome outcome = runKernel(std::string(body) + "st.global.b32 [%t4], %r0;",
                              {&out}, options);
  expectCheck(outcome, Check::WriteWrite, "offset 0 of buffer 'b0'");
  EXPECT_NE(outcome.text.find("block (0, 0, 0)"), std::string::npos)
      << outcome.text;
  EXPECT_FINE(runKernel(std::string(body) + "st.global.b32 [%t4], %r1;", {&out},
                        options));
  options.allowWriteWrite = true;
  EXPECT_FINE(runKernel(std::string(body) + "st.global.b32 [%t4], %r0;", {&out},
                        options));
  options.allowWriteWrite = false;
  // Two blocks in one word: different bytes, then one byte in common.
  EXPECT_FINE(runKernel(std::string(body) + "mad.wide.u32 %d0, %r0, 2, %t4;\n"
                                            "st.global.b16 [%d0], %r0;",
                        {&out}, options));
  expectCheck(runKernel(std::string(body) + "mad.wide.u32 %d0, %r0, 2, %t4;\n"
                                            "st.global.b16 [%d0], %r0;\n"
                                            "st.global.b8 [%t4+1], %r0;",
                        {&out}, options),
              Check::WriteWrite);
  EXPECT_FINE(runKernel(std::string(body) + "mad.wide.u32 %d0, %r0, 2, %t4;\n"
                                            "st.global.b16 [%d0], %r0;\n"
                                            "st.global.b8 [%t4+1], 0;",
                        {&out}, options));
  // A word of one block that another one stores a byte of.
  expectCheck(runKernel(std::string(body) + "setp.eq.u32 %q0, %r0, 0;\n"
                                            "@%q0 st.global.b32 [%t4], 1027;\n"
                                            "@!%q0 st.global.b8 [%t4+1], 5;",
                        {&out}, options),
              Check::WriteWrite);
  EXPECT_FINE(runKernel(std::string(body) + "setp.eq.u32 %q0, %r0, 0;\n"
                                            "@%q0 st.global.b32 [%t4], 1027;\n"
                                            "@!%q0 st.global.b8 [%t4+1], 4;",
                        {&out}, options));
}

TEST(LoadsAndStoresTest, RejectsWhatTheIsaDoesNotKnow) {
  std::vector<uint8_t> out(256);
  auto getError = [&](const char *body, const char *target = "sm_90a") {
    Outcome outcome = runKernel(body, {&out}, {}, target);
    EXPECT_FALSE(outcome.check.has_value()) << outcome.text;
    return outcome.text;
  };
  auto expectError = [&](const char *body, const char *words,
                         const char *target = "sm_90a") {
    std::string text = getError(body, target);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expectError("ld.global.f16 %h0, [%p0];", "expects a type of");
  expectError("ld.relaxed.b32 %r0, [%p0];", "expects a scope");
  expectError("ld.relaxed.volatile.cta.b32 %r0, [%p0];", "but got both");
  expectError("ld.global.relaxed.gpu.ca.b32 %r0, [%p0];", "no cache operation");
  expectError("ld.shared.nc.b32 %r0, [%p0];", "expects .nc with .global");
  expectError("ld.shared.v4.b64 {%d0, %d1, %d2, %d3}, [%p0];",
              "expects a vector of at most 16 bytes", "sm_100a");
  expectError("ld.global.v4.b64 {%d0, %d1, %d2, %d3}, [%p0];", "sm_100");
  expectError("ld.global.v2.b128 {%d0, %d1}, [%p0];",
              "expects a vector of at most 16 bytes");
  expectError("st.const.b32 [%p0], %r0;", "may be stored to");
  expectError(".shared .b32 s; ld.global.b32 %r0, [s];", "'s' is in .shared");
  expectError("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 "
              "[%r0], %r1, [%r2];",
              "'st.async' is not supported");
  expectError("ld.global.sideways.b32 %r0, [%p0];", "sideways");
}

TEST(LoadsAndStoresTest, SkipsElementsOfWideStores) {
  std::vector<uint8_t> out = makeBytes(1024), before = out;
  EXPECT_FINE(runKernel("mad.wide.u32 %d0, %t, 32, %p0;\n"
                        "st.global.v8.b32 [%d0], {%t, _, %t, _, _, _, _, "
                        "%t};",
                        {&out}));
  std::vector<uint32_t> now = fromBytes<uint32_t>(out);
  std::vector<uint32_t> then = fromBytes<uint32_t>(before);
  for (unsigned i = 0; i != 256; ++i)
    EXPECT_EQ(now[i], i % 8 == 0 || i % 8 == 2 || i % 8 == 7 ? i / 8 : then[i]);
}

TEST(LoadsAndStoresTest, CountsSectorsAndBankConflicts) {
  std::vector<uint8_t> in(32 * 128);
  LaunchOptions options;
  options.collectStatistics = true;
  auto count = [&](const char *body) {
    Outcome outcome = runKernel(body, {&in}, options);
    EXPECT_FINE(outcome);
    return outcome.statistics.total;
  };
  Counters row = count("ld.global.b32 %r0, [%t4];");
  EXPECT_EQ(row.globalLoadBytes, 128u);
  EXPECT_EQ(row.globalLoadSectors, 4u);
  Counters column = count("mad.wide.u32 %d0, %t, 128, %p0;\n"
                          "ld.global.b32 %r0, [%d0];");
  EXPECT_EQ(column.globalLoadSectors, 32u);
  const char *shared =
      ".shared .align 16 .b8 tile[8192];\nmov.u32 %r1, tile;\n";
  auto countShared = [&](std::string body) {
    return count((shared + body).c_str());
  };
  Counters words = countShared("mad.lo.u32 %r1, %t, 4, %r1;\n"
                               "st.shared.b32 [%r1], %t;");
  EXPECT_EQ(words.sharedWavefronts, 1u);
  Counters conflicts = countShared("mad.lo.u32 %r1, %t, 128, %r1;\n"
                                   "st.shared.b32 [%r1], %t;");
  EXPECT_EQ(conflicts.sharedWavefronts, 32u);
  EXPECT_EQ(conflicts.sharedIdealWavefronts, 1u);
  Counters broadcast = countShared("ld.shared.b32 %r2, [%r1];");
  EXPECT_EQ(broadcast.sharedWavefronts, 1u);
  Counters wide = countShared("mad.lo.u32 %r1, %t, 16, %r1;\n"
                              "st.shared.v4.b32 [%r1], {%t, %t, %t, "
                              "%t};");
  EXPECT_EQ(wide.sharedWavefronts, 4u);
  EXPECT_EQ(wide.sharedIdealWavefronts, 4u);
  // Rows of 64 bytes: the quarter warps meet in half of the banks.
  Counters rows = countShared("mad.lo.u32 %r1, %t, 64, %r1;\n"
                              "st.shared.v4.b32 [%r1], {%t, %t, %t, "
                              "%t};");
  EXPECT_EQ(rows.sharedWavefronts, 16u);
}

TEST(LoadsAndStoresTest, PrintsWatchedAccesses) {
  std::vector<uint8_t> out(256);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  LaunchOptions options;
  options.trace.os = &os;
  options.trace.watchBytes = 4;
  // The first buffer of a fresh address space.
  Memory memory;
  options.trace.watch =
      llvm::cantFail(memory.map("b0", out, Memory::Access::ReadWrite)) + 12;
  EXPECT_FINE(runKernel("st.global.b32 [%t4], %t; ld.global.b32 %r0, "
                        "[%t4+4];",
                        {&out}, options));
  EXPECT_NE(printed.find("offset 12 of buffer 'b0': store of 4 bytes, "
                         "0x00000003, by thread (3, 0, 0)"),
            std::string::npos)
      << printed;
  EXPECT_NE(printed.find("load of 4 bytes, 0x00000003, by thread (2, 0, 0)"),
            std::string::npos)
      << printed;
  EXPECT_EQ(printed.find("thread (4"), std::string::npos) << printed;
}

} // namespace
