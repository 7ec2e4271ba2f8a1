//===- MbarriersTest.cpp - mbarrier objects -------------------------------===//

#include "MemoryHarness.h"

using namespace tile::emulator;

namespace {

const std::string kSetup =
    ".shared .align 16 .b8 tile[4096];\n.shared .align 8 .b64 bar[2];\n"
    "mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 4, %r1;\n"
    "mov.u32 %r20, bar; setp.eq.u32 %q0, %t, 0;\n";

std::string init(const char *count) {
  return std::string("@%q0 mbarrier.init.shared.b64 [%r20], ") + count +
         ";\nbar.sync 0;\n";
}

Outcome run(const std::string &body, unsigned threads = 64) {
  return runKernel(kSetup + body, {}, withThreads(threads));
}

TEST(MbarriersTest, OrdersWarps) {
  const std::string store = "st.shared.b32 [%r2], %t;\n";
  const std::string load = "xor.b32 %r3, %t, 32; mad.lo.u32 %r3, %r3, 4, %r1;\n"
                           "ld.shared.b32 %r4, [%r3];\n";
  const std::string arrive = "mbarrier.arrive.shared.b64 %d5, [%r20];\n";
  const std::string wait =
      "WAIT:\nmbarrier.test_wait.shared.b64 %q1, [%r20], %d5;\n"
      "@!%q1 bra WAIT;\n";
  EXPECT_FINE(run(init("64") + store + arrive + wait + load));
  // The store comes too late for the arrival.
  expectCheck(run(init("64") + arrive + store + wait + load),
              Check::SharedRace);
  // Relaxed ones order nothing.
  expectCheck(run(init("64") + store +
                  "mbarrier.arrive.relaxed.cta.shared.b64 %d5, [%r20];\n" +
                  wait + load),
              Check::SharedRace);
  expectCheck(run(init("64") + store + arrive +
                  "WAIT:\nmbarrier.try_wait.relaxed.cta.shared.b64 %q1, "
                  "[%r20], %d5;\n@!%q1 bra WAIT;\n" +
                  load),
              Check::SharedRace);
}

TEST(MbarriersTest, GoesThroughPhases) {
  // Four turns of a two-warp ping-pong over one word, by parity.
  const std::string body =
      init("2") +
      "mov.u32 %r5, 0; mov.u32 %r6, 0;\n"
      "setp.eq.u32 %q2, %l, 0;\nLOOP:\n"
      "xor.b32 %r7, %r5, %w; and.b32 %r7, %r7, 1;\n"
      "setp.eq.u32 %q3, %r7, 0; and.pred %q3, %q3, %q2;\n"
      "@%q3 st.shared.b32 [%r1], %r5;\n"
      "@%q2 mbarrier.arrive.shared.b64 _, [%r20];\n"
      "WAIT:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q1, "
      "[%r20], %r6, 1000;\n@!%q1 bra WAIT;\n"
      "xor.b32 %r6, %r6, 1; add.u32 %r5, %r5, 1;\n"
      "setp.lt.u32 %q4, %r5, 4; @%q4 bra LOOP;\n";
  EXPECT_FINE(run(body));
}

TEST(MbarriersTest, GivesStatesAndCounts) {
  std::vector<uint8_t> out(128);
  Outcome outcome = runKernel(
      kSetup + init("5") +
          "@!%q0 bra END;\n"
          "mbarrier.test_wait.parity.shared.b64 %q1, [%r20], 1;\n"
          "selp.u32 %r10, 1, 0, %q1;\n"
          "mbarrier.arrive.noComplete.shared.b64 %d2, [%r20], 2;\n"
          "mbarrier.pending_count.b64 %r11, %d2;\n"
          "mbarrier.arrive_drop.shared.b64 %d3, [%r20];\n"
          "mbarrier.pending_count.b64 %r12, %d3;\n"
          "mbarrier.test_wait.shared.b64 %q1, [%r20], %d3;\n"
          "selp.u32 %r13, 1, 0, %q1;\n"
          "mbarrier.arrive.shared.b64 %d4, [%r20], 2;\n"
          "mbarrier.test_wait.shared.b64 %q1, [%r20], %d3;\n"
          "selp.u32 %r14, 1, 0, %q1;\n"
          // One has dropped out: four are left.
          "mbarrier.arrive.shared.b64 %d5, [%r20];\n"
          "mbarrier.pending_count.b64 %r15, %d5;\n"
          "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r20], 64;\n"
          "mbarrier.arrive.shared.b64 %d6, [%r20], 3;\n"
          "mbarrier.test_wait.shared.b64 %q1, [%r20], %d6;\n"
          "selp.u32 %r16, 1, 0, %q1;\n"
          "mbarrier.complete_tx.shared.b64 [%r20], 64;\n"
          "mbarrier.test_wait.shared.b64 %q1, [%r20], %d6;\n"
          "selp.u32 %r17, 1, 0, %q1;\n"
          "st.global.v4.b32 [%p0], {%r10, %r11, %r12, %r13};\n"
          "st.global.v4.b32 [%p0+16], {%r14, %r15, %r16, %r17};\nEND:\n",
      {&out}, withThreads(32));
  EXPECT_FINE(outcome);
  std::vector<uint32_t> values = fromBytes<uint32_t>(out);
  values.resize(8);
  EXPECT_EQ(values, (std::vector<uint32_t>{1, 5, 3, 0, 1, 4, 0, 1}));
}

TEST(MbarriersTest, WorksThroughGenericAddresses) {
  EXPECT_FINE(run("cvt.u64.u32 %d7, %r20; cvta.shared.u64 %d7, %d7;\n"
                  "@%q0 mbarrier.init.b64 [%d7], 64;\nbar.sync 0;\n"
                  "mbarrier.arrive.b64 %d5, [%d7];\n"
                  "WAIT:\nmbarrier.try_wait.b64 %q1, [%d7], %d5;\n"
                  "@!%q1 bra WAIT;\n"));
}

TEST(MbarriersTest, FindsMisuse) {
  const std::string arrive = "mbarrier.arrive.shared.b64 _, [%r20];\n";
  expectCheck(run(arrive), Check::Synchronization,
              "none has been initialized there");
  EXPECT_FINE(run(init("64") + arrive));
  expectCheck(
      run(init("1") + "@%q0 mbarrier.arrive.shared.b64 _, [%r20], 2;\n"),
      Check::Synchronization, "more arrivals than expected: 2");
  expectCheck(run(init("0")), Check::Synchronization,
              "count of 1 to 1048575, but got 0");
  expectCheck(run(init("1048576")), Check::Synchronization, "but got 1048576");
  expectCheck(run(init("4") + init("4")), Check::Synchronization,
              "has not been invalidated");
  EXPECT_FINE(
      run(init("4") + "@%q0 mbarrier.inval.shared.b64 [%r20];\n" + init("4")));
  expectCheck(run(init("64") +
                  "@%q0 mbarrier.inval.shared.b64 [%r20];\n"
                  "bar.sync 0;\n" +
                  arrive),
              Check::Synchronization, "invalidated");
  expectCheck(
      run(init("64") + "@%q0 st.shared.b64 [%r20], 0;\nbar.sync 0;\n" + arrive),
      Check::Synchronization, "overwritten");
  expectCheck(run("@%q0 mbarrier.init.shared.b64 [%r20], 64;\n" + arrive),
              Check::SharedRace);
  expectCheck(run(init("1") +
                  "@%q0 mbarrier.arrive.noComplete.shared.b64 %d5, [%r20], "
                  "1;\n"),
              Check::Synchronization, ".noComplete");
  expectCheck(run(init("1") + "@%q0 mbarrier.expect_tx.shared.b64 [%r20], "
                              "1048575;\n@%q0 mbarrier.expect_tx.shared.b64 "
                              "[%r20], 1;\n"),
              Check::Synchronization, "but got 1048576");
  expectCheck(run(init("1") + "mbarrier.test_wait.parity.shared.b64 %q1, "
                              "[%r20], 2;\n"),
              Check::IllegalOperand, "expects 0 or 1, but got 2");
  expectCheck(run(init("1") +
                  "@!%q0 bra END;\nmbarrier.arrive.shared.b64 %d5, [%r20];\n" +
                  arrive +
                  "mbarrier.test_wait.shared.b64 %q1, [%r20], %d5;\n"
                  "END:\n"),
              Check::Synchronization, "current or the preceding phase");
  expectCheck(run("@%q0 mbarrier.init.shared.b64 [%r20+4], 1;\n"),
              Check::Misaligned);
}

TEST(MbarriersTest, ReportsDeadlocks) {
  const std::string wait = "WAIT:\nmbarrier.try_wait.parity.shared.b64 %q1, "
                           "[%r20], 0;\n@!%q1 bra WAIT;\n";
  Outcome outcome =
      run(init("65") + "mbarrier.arrive.shared.b64 _, [%r20];\n" + wait);
  expectCheck(outcome, Check::Deadlock, "phase 0, 1 of 65 arrivals pending");
  // A wait for the preceding phase of a fresh mbarrier returns at once.
  EXPECT_FINE(run(init("65") + "mbarrier.try_wait.parity.shared.b64 %q1, "
                               "[%r20], 1;\n@!%q1 trap;\n"));
}

TEST(MbarriersTest, KnowsWhatTargetsHave) {
  auto expectError = [&](const std::string &body, const char *words) {
    Outcome outcome = runKernel(kSetup + body, {}, withThreads(32), "sm_80");
    EXPECT_FALSE(outcome.check.has_value()) << outcome.text;
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  };
  expectError("mbarrier.try_wait.parity.shared.b64 %q1, [%r20], 1;", "sm_90");
  expectError("mbarrier.arrive.shared.b64 %d5, [%r20], 2;", ".noComplete");
  expectError("mbarrier.expect_tx.shared.b64 [%r20], 2;", "sm_90");
  expectError("mbarrier.arrive.shared.b32 %d5, [%r20];", "expects .b64");
  EXPECT_FINE(runKernel(kSetup + init("2") +
                            "@%q0 mbarrier.arrive.noComplete.shared.b64 %d5, "
                            "[%r20], 1;\n",
                        {}, withThreads(32), "sm_80"));
}

} // namespace
