//===- BulkCopiesTest.cpp - cp.async.bulk ---------------------------------===//

#include "MemoryHarness.h"

using namespace tile::emulator;

namespace {

const std::string kTile =
    ".shared .align 128 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n"
    "mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 16, %r1;\n"
    "mov.u32 %r20, bar; setp.eq.u32 %q0, %t, 0;\n"
    "mad.wide.u32 %d1, %t, 16, %p1;\n"
    "@%q0 mbarrier.init.shared.b64 [%r20], 1;\n"
    "@%q0 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
const std::string kLoad =
    "@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 1024;\n"
    "@%q0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r1], [%p0], 1024, [%r20];\n";
const std::string kWait =
    "WAIT:\nmbarrier.try_wait.parity.shared.b64 %q1, [%r20], 0;\n"
    "@!%q1 bra WAIT;\n";
const std::string kStoreOwn = "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];\n"
                              "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};\n";
const std::string kFill = "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%t16];\n"
                          "st.shared.v4.b32 [%r2], {%r4, %r5, %r6, %r7};\n";
const std::string kFence = "fence.proxy.async.shared::cta;\n";
const std::string kStore =
    "@%q0 cp.async.bulk.global.shared::cta.bulk_group [%p1], [%r1], 1024;\n"
    "@%q0 cp.async.bulk.commit_group;\n";
const std::string kStoreWait = "@%q0 cp.async.bulk.wait_group.read 0;\n";

Outcome run(const std::string &body, std::vector<uint8_t> &in,
            std::vector<uint8_t> &out, unsigned threads = 64) {
  return runKernel(kTile + body, {&in, &out}, withThreads(threads));
}

TEST(BulkCopiesTest, LoadsThroughAnMbarrier) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  EXPECT_FINE(run(kLoad + kWait + kStoreOwn, in, out));
  EXPECT_EQ(out, in);
  // The expectation may come after the copy.
  std::fill(out.begin(), out.end(), 0);
  EXPECT_FINE(
      run("@%q0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
          "[%r1], [%p0], 1024, [%r20];\n"
          "@%q0 mbarrier.expect_tx.shared.b64 [%r20], 1024;\n"
          "@%q0 mbarrier.arrive.shared.b64 _, [%r20];\n" +
              kWait + kStoreOwn,
          in, out));
  EXPECT_EQ(out, in);
}

TEST(BulkCopiesTest, FindsAMissingWait) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  expectCheck(run(kLoad + kStoreOwn, in, out, 32), Check::AsyncRace,
              "cp.async.bulk");
  expectCheck(run(kLoad + "bar.sync 0;\n" + kStoreOwn, in, out),
              Check::AsyncRace);
  // One warp waits, and the other one does not.
  const std::string skip =
      "bar.sync 0; setp.eq.u32 %q2, %w, 1; @%q2 bra SKIP;\n" + kWait +
      "SKIP:\n";
  expectCheck(run(kLoad + skip + kStoreOwn, in, out), Check::AsyncRace);
  EXPECT_FINE(run(kLoad + skip + "bar.sync 0;\n" + kStoreOwn, in, out));
  // Too few bytes are expected: the copies end the phase with less than none.
  expectCheck(run("@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 2048;\n"
                  "@%q0 cp.async.bulk.shared::cluster.global."
                  "mbarrier::complete_tx::bytes [%r1], [%p0], 1024, [%r20];\n" +
                      kWait,
                  in, out),
              Check::Deadlock, "1024 bytes to come");
}

TEST(BulkCopiesTest, StoresThroughGroups) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  EXPECT_FINE(
      run(kFill + kFence + "bar.sync 0;\n" + kStore + kStoreWait, in, out));
  EXPECT_EQ(out, in);
}

TEST(BulkCopiesTest, FindsAMissingProxyFence) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  expectCheck(run(kFill + "bar.sync 0;\n" + kStore + kStoreWait, in, out),
              Check::ProxyFence, "st.shared.v4.b32");
  // A fence of the thread that copies publishes what the barrier told it.
  EXPECT_FINE(
      run(kFill + "bar.sync 0;\n" + kFence + kStore + kStoreWait, in, out));
  // One before the stores does not.
  expectCheck(
      run(kFence + kFill + "bar.sync 0;\n" + kStore + kStoreWait, in, out),
      Check::ProxyFence);
  // And no fence replaces the barrier.
  expectCheck(run(kFill + kFence + kStore + kStoreWait, in, out),
              Check::SharedRace);
  // What a bulk copy wrote, a bulk copy may read.
  EXPECT_FINE(run(kLoad + kWait + kStore + kStoreWait, in, out));
  // Stores that a bulk copy writes over.
  expectCheck(run(kFill + "bar.sync 0;\n" + kLoad, in, out), Check::ProxyFence);
  EXPECT_FINE(run(kFill + kFence + "bar.sync 0;\n" + kLoad, in, out));
}

TEST(BulkCopiesTest, FindsMemoryThatIsUsedTooEarly) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  const std::string begin = kFill + kFence + "bar.sync 0;\n" + kStore;
  const std::string again = "@%q0 st.shared.b32 [%r1], 0;\n";
  expectCheck(run(begin + again + kStoreWait, in, out), Check::AsyncRace,
              "reads it asynchronously");
  EXPECT_FINE(run(begin + kStoreWait + again, in, out));
  // Reading it meanwhile is fine.
  EXPECT_FINE(run(begin + "ld.shared.b32 %r4, [%r2];\n" + kStoreWait, in, out));
  expectCheck(run(begin, in, out), Check::AsyncRace, "the block ends");
  // The stores of a group arrive with the wait that is not .read.
  const std::string look = "@%q0 ld.global.b32 %r8, [%p1];\n"
                           "@%q0 st.global.b32 [%p1+4096], %r8;\n";
  for (bool readOnly : {true, false}) {
    std::vector<uint8_t> larger(8192);
    EXPECT_FINE(run(
        begin + (readOnly ? kStoreWait : "@%q0 cp.async.bulk.wait_group 0;\n") +
            look,
        in, larger));
    EXPECT_EQ(std::equal(in.begin(), in.begin() + 4, larger.begin() + 4096),
              !readOnly);
    EXPECT_TRUE(std::equal(in.begin(), in.end(), larger.begin()));
  }
}

TEST(BulkCopiesTest, ChecksOperands) {
  std::vector<uint8_t> in = makeBytes(1024), out(1024);
  auto load = [](const char *to, const char *from, const char *size,
                 const char *mbarrier = "%r20") {
    return std::string("@%q0 cp.async.bulk.shared::cluster.global."
                       "mbarrier::complete_tx::bytes [") +
           to + "], [" + from + "], " + size + ", [" + mbarrier + "];\n";
  };
  expectCheck(run(load("%r1", "%p0", "24"), in, out), Check::IllegalOperand,
              "multiple of 16 bytes, but got 24");
  expectCheck(run(load("%r1+8", "%p0", "16"), in, out), Check::Misaligned);
  expectCheck(run(load("%r1", "%p0+8", "16"), in, out), Check::Misaligned);
  expectCheck(run(load("%r1", "%p0", "1040"), in, out), Check::OutOfBounds);
  expectCheck(run(load("%r1", "%p0", "16384"), in, out), Check::OutOfBounds);
  expectCheck(run(load("%r1", "%p0", "16", "%r1"), in, out),
              Check::Synchronization, "none has been initialized");
  expectCheck(run("@%q0 cp.async.bulk.global.shared::cta.bulk_group [%p1], "
                  "[%r1], 16;\n",
                  in, out),
              Check::Uninitialized);
}

TEST(BulkCopiesTest, Reduces) {
  std::vector<uint8_t> in = makeBytes(1024), out = makeBytes(1024, 2);
  std::vector<uint32_t> before = fromBytes<uint32_t>(out);
  EXPECT_FINE(
      run(kFill + kFence +
              "bar.sync 0;\n@%q0 cp.reduce.async.bulk.global.shared::cta."
              "bulk_group.add.u32 [%p1], [%r1], 1024;\n"
              "@%q0 cp.async.bulk.commit_group;\n" +
              kStoreWait,
          in, out));
  std::vector<uint32_t> after = fromBytes<uint32_t>(out);
  std::vector<uint32_t> source = fromBytes<uint32_t>(in);
  for (size_t i = 0; i != after.size(); ++i)
    EXPECT_EQ(after[i], before[i] + source[i]);
}

} // namespace
