//===- AtomicsTest.cpp - atom and red -------------------------------------===//

#include "MemoryHarness.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tile::emulator;

namespace {

/// The old values of 64 threads, each with its own element of `bytes` bytes at
/// %d0 and operand at %d1; the result goes to %d2.
struct Elements {
  std::vector<uint8_t> memory, operands, results;
  Outcome outcome;
};
Elements run(const std::string &body, unsigned bytes) {
  Elements elements;
  elements.memory = makeBytes(64 * bytes, 3);
  elements.operands = makeBytes(64 * bytes, 4);
  elements.results.resize(64 * bytes);
  std::string size = std::to_string(bytes);
  elements.outcome =
      runKernel(".reg .b64 %x, %y, %z; .reg .b128 %xx, %yy, %zz;\n"
                "mad.wide.u32 %d0, %t, " +
                    size + ", %p0; mad.wide.u32 %d1, %t, " + size +
                    ", %p1; mad.wide.u32 %d2, %t, " + size + ", %p2;\n" + body,
                {&elements.memory, &elements.operands, &elements.results},
                withThreads(64));
  return elements;
}

template <typename T, typename F>
void expectInteger(const char *name, F operation) {
  const std::string bits = std::to_string(sizeof(T) * 8);
  const char *reg = sizeof(T) == 8 ? "%d" : "%r";
  std::string body = "ld.global.b" + bits + " " + reg +
                     "8, [%d1];\natom.global." + name + " " + reg +
                     "9, [%d0], " + reg + "8;\nst.global.b" + bits +
                     " [%d2], " + reg + "9;\n";
  Elements elements = run(body, sizeof(T));
  EXPECT_FINE(elements.outcome);
  std::vector<T> before = fromBytes<T>(makeBytes(64 * sizeof(T), 3));
  std::vector<T> operands = fromBytes<T>(elements.operands);
  EXPECT_EQ(fromBytes<T>(elements.results), before) << name;
  std::vector<T> expected;
  for (size_t i = 0; i != before.size(); ++i)
    expected.push_back(static_cast<T>(operation(before[i], operands[i])));
  EXPECT_EQ(fromBytes<T>(elements.memory), expected) << name;
}

TEST(AtomicsTest, GoOnInAForkedProcess) {
  // The host has no instruction for these; launches take turns. A child takes
  // none with the threads of its parent.
  auto exchange = [] {
    return run("ld.global.b128 %yy, [%d1];\n"
               "atom.global.exch.b128 %zz, [%d0], %yy;\n"
               "st.global.b128 [%d2], %zz;",
               16);
  };
  const Elements expected = exchange();
  EXPECT_FINE(expected.outcome);
  std::atomic<bool> mayEnd{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!mayEnd)
        EXPECT_EQ(exchange().memory, expected.memory);
    });
  for (int i = 0; i < 200; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      const Elements elements = exchange();
      std::_Exit(elements.memory == expected.memory &&
                         elements.results == expected.results
                     ? 0
                     : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_FALSE(WIFSIGNALED(status)) << "the child did not end";
    EXPECT_EQ(status, 0);
  }
  mayEnd = true;
  for (std::thread &thread : threads)
    thread.join();
}

TEST(AtomicsTest, CombinesIntegers) {
  auto add = [](auto a, auto b) { return a + b; };
  auto min = [](auto a, auto b) { return a < b ? a : b; };
  auto max = [](auto a, auto b) { return a < b ? b : a; };
  auto second = [](auto, auto b) { return b; };
  expectInteger<uint32_t>("add.u32", add);
  expectInteger<uint32_t>("add.s32", add);
  expectInteger<uint64_t>("add.u64", add);
  expectInteger<uint32_t>("min.u32", min);
  expectInteger<int32_t>("min.s32", min);
  expectInteger<uint64_t>("max.u64", max);
  expectInteger<int64_t>("max.s64", max);
  expectInteger<uint32_t>("and.b32", [](auto a, auto b) { return a & b; });
  expectInteger<uint64_t>("or.b64", [](auto a, auto b) { return a | b; });
  expectInteger<uint32_t>("xor.b32", [](auto a, auto b) { return a ^ b; });
  expectInteger<uint32_t>("exch.b32", second);
  expectInteger<uint64_t>("exch.b64", second);
  expectInteger<uint32_t>(
      "inc.u32", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
  expectInteger<uint32_t>("dec.u32", [](uint32_t a, uint32_t b) {
    return a == 0 || a > b ? b : a - 1;
  });
}

TEST(AtomicsTest, ComparesAndSwaps) {
  // Even threads expect what is there.
  Elements elements =
      run("ld.global.b64 %x, [%d0]; and.b32 %r0, %t, 1; cvt.u64.u32 %y, %r0;\n"
          "add.u64 %x, %x, %y; ld.global.b64 %z, [%d1];\n"
          "atom.relaxed.gpu.global.cas.b64 %y, [%d0], %x, %z;\n"
          "st.global.b64 [%d2], %y;",
          8);
  EXPECT_FINE(elements.outcome);
  std::vector<uint64_t> before = fromBytes<uint64_t>(makeBytes(512, 3));
  std::vector<uint64_t> after = fromBytes<uint64_t>(elements.memory);
  std::vector<uint64_t> operands = fromBytes<uint64_t>(elements.operands);
  EXPECT_EQ(fromBytes<uint64_t>(elements.results), before);
  for (unsigned i = 0; i != 64; ++i)
    EXPECT_EQ(after[i], i % 2 ? before[i] : operands[i]);

  Elements wide = run("ld.global.b128 %xx, [%d0]; ld.global.b128 %yy, [%d1];\n"
                      "atom.global.cas.b128 %zz, [%d0], %xx, %yy;\n"
                      "st.global.b128 [%d2], %zz;",
                      16);
  EXPECT_FINE(wide.outcome);
  EXPECT_EQ(wide.memory, wide.operands);
  EXPECT_EQ(wide.results, makeBytes(1024, 3));
}

TEST(AtomicsTest, AddsFloats) {
  std::vector<float> values = {1.5f, -2.25f, 1e-40f, 3e38f};
  std::vector<uint8_t> memory = toBytes(values);
  // Subnormals are flushed in global memory,
  EXPECT_FINE(runKernel("setp.lt.u32 %q0, %t, 4;\n"
                        "mov.f32 %f0, 0f00000000;\n"
                        "@%q0 red.global.add.f32 [%t4], %f0;",
                        {&memory}));
  EXPECT_EQ(fromBytes<float>(memory),
            (std::vector<float>{1.5f, -2.25f, 0.0f, 3e38f}));
  // but not in shared memory.
  memory = toBytes(values);
  EXPECT_FINE(runKernel(".shared .align 4 .b8 tile[16]; mov.u32 %r1, tile;\n"
                        "mad.lo.u32 %r1, %t, 4, %r1; setp.ge.u32 %q0, %t, 4;\n"
                        "@%q0 bra END; ld.global.f32 %f0, [%t4];\n"
                        "st.shared.f32 [%r1], %f0;\n"
                        "atom.shared.add.f32 %f1, [%r1], %f0;\n"
                        "ld.shared.f32 %f2, [%r1]; st.global.f32 [%t4], %f2;\n"
                        "END:",
                        {&memory}));
  EXPECT_EQ(fromBytes<float>(memory),
            (std::vector<float>{3.0f, -4.5f, 1e-40f + 1e-40f, INFINITY}));
  // Halves, alone and in vectors: 1 + 2 = 3 in the first element only.
  std::vector<uint8_t> halves = toBytes(
      std::vector<uint16_t>{0x3C00, 0x4000, 0xBC00, 0x0001, 0, 0, 0, 0});
  EXPECT_FINE(runKernel("setp.ne.u32 %q0, %t, 0; @%q0 bra END;\n"
                        "mov.b16 %h0, 0x4000; mov.b16 %h1, 0x0002;\n"
                        "atom.global.add.noftz.f16 %h2, [%p0], %h0;\n"
                        "red.global.v4.f16.max.noftz [%p0], {%h2, %h2, %h2, "
                        "%h1};\n"
                        "mov.b32 %r0, 0x40003C00;\n"
                        "red.global.add.noftz.bf16x2 [%p0+8], %r0;\nEND:",
                        {&halves}));
  EXPECT_EQ(fromBytes<uint16_t>(halves),
            (std::vector<uint16_t>{0x4200, 0x4000, 0x3C00, 0x0002, 0x3C00,
                                   0x4000, 0, 0}));
}

TEST(AtomicsTest, CountsOverLanesWarpsAndBlocks) {
  std::vector<uint8_t> counter(8);
  LaunchOptions options = withThreads(96);
  options.grid = {7, 1, 1};
  EXPECT_FINE(runKernel("red.global.add.u32 [%p0], 3;\n"
                        ".shared .b32 sum;\nsetp.eq.u32 %q0, %t, 0;\n"
                        "@%q0 st.shared.b32 [sum], 0;\nbar.sync 0;\n"
                        "atom.shared.add.u32 %r0, [sum], %t;\nbar.sync 0;\n"
                        "@%q0 ld.shared.b32 %r1, [sum];\n"
                        "@%q0 atom.global.max.u32 %r2, [%p0+4], %r1;",
                        {&counter}, options));
  EXPECT_EQ(fromBytes<uint32_t>(counter),
            (std::vector<uint32_t>{3 * 96 * 7, 95 * 96 / 2}));
}

TEST(AtomicsTest, ChecksMemoryAndValues) {
  std::vector<uint8_t> memory(128);
  expectCheck(runKernel("red.global.add.u32 [%t4+4], 1;", {&memory}),
              Check::OutOfBounds);
  expectCheck(runKernel("red.global.add.u64 [%t4], 1;", {&memory}),
              Check::Misaligned);
  expectCheck(runKernel(".reg .b32 %never; red.global.add.u32 [%p0], %never;",
                        {&memory}),
              Check::Uninitialized);
  // A counter in shared memory that nobody has set.
  expectCheck(runKernel(".shared .b32 sum; atom.shared.add.u32 %r0, [sum], 1;\n"
                        "st.global.b32 [%t4], %r0;",
                        {&memory}),
              Check::Uninitialized);
  EXPECT_FINE(runKernel(".shared .b32 sum; st.shared.b32 [sum], 0;\n"
                        "atom.shared.add.u32 %r0, [sum], 1;\n"
                        "st.global.b32 [%t4], %r0;",
                        {&memory}));
}

TEST(AtomicsTest, RejectsWhatTheIsaDoesNotKnow) {
  std::vector<uint8_t> memory(128);
  auto expectError = [&](const char *body, const char *words,
                         const char *target = "sm_90a") {
    Outcome outcome = runKernel(body, {&memory}, {}, target);
    EXPECT_FALSE(outcome.check.has_value()) << outcome.text;
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  };
  expectError("red.global.inc.s32 [%p0], 1;", ".inc is not defined on .s32");
  expectError("red.global.exch.b32 [%p0], 1;", "expects one of");
  expectError("red.global.add.f16 [%p0], %h0;", "expects .noftz");
  expectError("red.global.add.noftz.u32 [%p0], 1;", "expects .noftz");
  expectError("red.global.max.noftz.f16 [%p0], %h0;", "expects a vector");
  expectError("red.global.add.v2.f32 [%p0], {%f0, %f1};", "sm_90", "sm_80");
  expectError("red.local.add.u32 [%p0], 1;", "global or shared memory");
}

} // namespace
