//===- AsyncCopiesTest.cpp - cp.async and its groups ----------------------===//

#include "MemoryHarness.h"

using namespace tile::emulator;

namespace {

/// %r1 is the tile, %r2 the thread's own 16 bytes of it, %d1 those of %p1.
const std::string kTile = ".shared .align 128 .b8 tile[8192];\n"
                          ".shared .align 8 .b64 bar;\n"
                          "mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 16, %r1;\n"
                          "mov.u32 %r20, bar; setp.eq.u32 %q0, %t, 0;\n"
                          "mad.wide.u32 %d1, %t, 16, %p1;\n";
const std::string kStoreOwn = "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];\n"
                              "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};\n";

Outcome run(const std::string &body, std::vector<uint8_t> &in,
            std::vector<uint8_t> &out, unsigned threads = 32) {
  return runKernel(kTile + body, {&in, &out}, withThreads(threads));
}

TEST(AsyncCopiesTest, CopiesAndFills) {
  std::vector<uint8_t> in = makeBytes(512), out(512);
  EXPECT_FINE(run("cp.async.cg.shared.global.L2::128B [%r2], [%t16], 16;\n"
                  "cp.async.commit_group; cp.async.wait_group 0;\n" +
                      kStoreOwn,
                  in, out));
  EXPECT_EQ(out, in);
  // Lane i takes i % 17 bytes.
  EXPECT_FINE(run("rem.u32 %r3, %t, 17;\n"
                  "cp.async.ca.shared.global [%r2], [%t16], 16, %r3;\n"
                  "cp.async.wait_all;\n" +
                      kStoreOwn,
                  in, out));
  for (unsigned i = 0; i != 512; ++i)
    EXPECT_EQ(out[i], i % 16 < i / 16 % 17 ? in[i] : 0) << i;
  // Odd lanes ignore their source, which need not exist.
  EXPECT_FINE(run("and.b32 %r3, %t, 1; setp.eq.u32 %q1, %r3, 1;\n"
                  "mov.u64 %d0, %t16; @%q1 mov.u64 %d0, 0;\n"
                  "cp.async.cg.shared.global [%r2], [%d0], 16, %q1;\n"
                  "cp.async.wait_all;\n" +
                      kStoreOwn,
                  in, out));
  for (unsigned i = 0; i != 512; ++i)
    EXPECT_EQ(out[i], i / 16 % 2 ? 0 : in[i]) << i;
}

TEST(AsyncCopiesTest, ChecksSizesAndAddresses) {
  std::vector<uint8_t> in = makeBytes(512), out(512);
  expectCheck(run("mov.u32 %r3, 17;\n"
                  "cp.async.cg.shared.global [%r2], [%t16], 16, %r3;",
                  in, out),
              Check::IllegalOperand, "at most 16, but got 17");
  expectCheck(run("cp.async.ca.shared.global [%r2+4], [%t16], 8;", in, out),
              Check::Misaligned);
  expectCheck(run("cp.async.ca.shared.global [%r2], [%t16+4], 8;", in, out),
              Check::Misaligned);
  expectCheck(run("cp.async.cg.shared.global [%r2], [%t16+16], 16;", in, out),
              Check::OutOfBounds, "offset 512 of buffer 'b0'");
  // Of 16 bytes at the end, only those read must exist.
  std::vector<uint8_t> shorter(in.begin(), in.begin() + 505);
  auto body = [](const char *last) {
    return std::string("setp.eq.u32 %q1, %t, 31; selp.u32 %r3, ") + last +
           ", 16, %q1;\ncp.async.cg.shared.global [%r2], [%t16], 16, %r3;\n"
           "cp.async.wait_all;\n";
  };
  EXPECT_FINE(run(body("9"), shorter, out));
  expectCheck(run(body("10"), shorter, out), Check::OutOfBounds);
  Outcome outcome = run("cp.async.cg.shared.global [%r2], [%t16], 8;", in, out);
  EXPECT_NE(outcome.text.find("expects a size of 16 bytes, but got 8"),
            std::string::npos)
      << outcome.text;
}

TEST(AsyncCopiesTest, FindsAMissingWait) {
  std::vector<uint8_t> in = makeBytes(512), out(512);
  const std::string copy = "cp.async.cg.shared.global [%r2], [%t16], 16;\n";
  expectCheck(run(copy + kStoreOwn, in, out), Check::AsyncRace,
              "cp.async.cg.shared.global");
  expectCheck(run(copy + "cp.async.commit_group;\n" + kStoreOwn, in, out),
              Check::AsyncRace);
  expectCheck(
      run(copy + "cp.async.commit_group; cp.async.wait_group 1;\n" + kStoreOwn,
          in, out),
      Check::AsyncRace);
  // A store into it is as wrong, and so is a second copy.
  expectCheck(run(copy + "st.shared.b32 [%r2], %t;", in, out),
              Check::AsyncRace);
  expectCheck(run(copy + copy, in, out), Check::AsyncRace);
  EXPECT_FINE(run(copy + "cp.async.wait_all;\n" + copy, in, out));
  // A copy that was not committed is in no group.
  expectCheck(run(copy + "cp.async.wait_group 0;\n" + kStoreOwn, in, out),
              Check::AsyncRace);
}

TEST(AsyncCopiesTest, WaitsForOldGroupsOnly) {
  std::vector<uint8_t> in = makeBytes(512), out(512);
  const std::string copies =
      "cp.async.cg.shared.global [%r2], [%t16], 16; cp.async.commit_group;\n"
      "cp.async.cg.shared.global [%r2+512], [%t16], 16;\n"
      "cp.async.commit_group; cp.async.wait_group 1;\n";
  EXPECT_FINE(run(copies + kStoreOwn, in, out));
  EXPECT_EQ(out, in);
  expectCheck(run(copies + "add.u32 %r2, %r2, 512;\n" + kStoreOwn, in, out),
              Check::AsyncRace);
  // Lanes that have other groups: the upper half has one more.
  const std::string uneven =
      "setp.ge.u32 %q1, %t, 16;\n"
      "cp.async.cg.shared.global [%r2], [%t16], 16; cp.async.commit_group;\n"
      "@!%q1 bra JOIN;\ncp.async.commit_group;\nJOIN:\n"
      "cp.async.wait_group 1;\n";
  EXPECT_FINE(run(uneven + "@%q1 ld.shared.b32 %r4, [%r2];", in, out));
  expectCheck(run(uneven + "ld.shared.b32 %r4, [%r2];", in, out),
              Check::AsyncRace);
}

TEST(AsyncCopiesTest, ShowsDataToTheWaitingWarpOnly) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  const std::string copy = "cp.async.cg.shared.global [%r2], [%t16], 16;\n"
                           "cp.async.wait_all;\n";
  const std::string load = "xor.b32 %r3, %t, 32;\n"
                           "mad.lo.u32 %r2, %r3, 16, %r1;\n"
                           "ld.shared.b32 %r4, [%r2];\n";
  EXPECT_FINE(run(copy + "bar.sync 0;\n" + load, in, out, 64));
  // In order, warp 0 reads bytes that warp 1 has not begun to write, which warp
  // 1 finds.
  expectCheck(run(copy + load, in, out, 64), Check::SharedRace);
  // A barrier without the wait leaves the copy under way.
  expectCheck(run("cp.async.cg.shared.global [%r2], [%t16], 16;\n"
                  "bar.sync 0;\n" +
                      load,
                  in, out, 64),
              Check::AsyncRace);
}

TEST(AsyncCopiesTest, ArrivesOnMbarriers) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  auto body = [](const char *count, const char *form, const char *extra) {
    return std::string("@%q0 mbarrier.init.shared.b64 [%r20], ") + count +
           ";\nbar.sync 0;\n"
           "cp.async.cg.shared.global [%r2], [%t16], 16;\n"
           "cp.async.mbarrier.arrive" +
           form + ".shared.b64 [%r20];\n" + extra +
           "WAIT:\nmbarrier.test_wait.parity.shared.b64 %q1, [%r20], 0;\n"
           "@!%q1 bra WAIT;\nxor.b32 %r3, %t, 32;\n"
           "mad.lo.u32 %r2, %r3, 16, %r1;\n" +
           kStoreOwn;
  };
  EXPECT_FINE(run(body("64", ".noinc", ""), in, out, 64));
  EXPECT_EQ(std::vector<uint8_t>(out.begin(), out.begin() + 512),
            std::vector<uint8_t>(in.begin() + 512, in.end()));
  EXPECT_FINE(run(body("64", "", "mbarrier.arrive.shared.b64 %d5, [%r20];\n"),
                  in, out, 64));
  // Without .noinc the arrivals of the copies count for nothing.
  expectCheck(run(body("64", "", ""), in, out, 64), Check::Deadlock,
              "64 of 64 arrivals pending");
}

} // namespace
