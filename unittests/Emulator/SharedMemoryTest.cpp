//===- SharedMemoryTest.cpp - Races in shared memory ----------------------===//
//
// Each kernel that must be reported has a near twin that must not.
//
//===----------------------------------------------------------------------===//

#include "MemoryHarness.h"

using namespace tile::emulator;

namespace {

/// `tile`, whose address is in %r1, and in %r2 the thread's own word of it.
const std::string kTile = ".shared .align 16 .b8 tile[4096];\n"
                          "mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 4, %r1;\n";

Outcome run(const std::string &body, unsigned threads = 64) {
  return runKernel(kTile + body, {}, withThreads(threads));
}

/// As above with each seed of a few random schedules; the first fault.
Outcome runRandomly(const std::string &body, unsigned threads) {
  for (uint64_t seed = 0; seed != 8; ++seed) {
    LaunchOptions options = withThreads(threads);
    options.schedule = Schedule::Random;
    options.seed = seed;
    Outcome outcome = runKernel(kTile + body, {}, options);
    if (!outcome.isFine())
      return outcome;
  }
  return {};
}

TEST(SharedMemoryTest, FindsAReadOfWhatAnotherWarpStores) {
  const std::string store = "st.shared.b32 [%r2], %t;\n";
  // The word of the thread 32 further on, which wraps around.
  const std::string load = "xor.b32 %r3, %t, 32; mad.lo.u32 %r3, %r3, 4, %r1;\n"
                           "ld.shared.b32 %r4, [%r3];\n";
  Outcome race = run(store + load);
  expectCheck(race, Check::SharedRace, "note: warp 0 read it at line 14");
  EXPECT_NE(race.text.find("'tile'"), std::string::npos) << race.text;
  EXPECT_FINE(run(store + "bar.sync 0;\n" + load));
  // One warp is in order with itself.
  EXPECT_FINE(run(store + "ld.shared.b32 %r4, [%r2];", 64));
  EXPECT_FINE(run(store + "xor.b32 %r3, %t, 16;\n"
                          "mad.lo.u32 %r3, %r3, 4, %r1;\n"
                          "ld.shared.b32 %r4, [%r3];"));
}

TEST(SharedMemoryTest, FindsAStoreOverWhatAnotherWarpReads) {
  const std::string body = "st.shared.b32 [%r2], %t; bar.sync 0;\n"
                           "ld.shared.b32 %r4, [%r1];\n";
  const std::string store = "setp.eq.u32 %q0, %t, 0;\n"
                            "@%q0 st.shared.b32 [%r1], 5;\n";
  expectCheck(runRandomly(body + store, 96), Check::SharedRace);
  EXPECT_FINE(runRandomly(body + "bar.sync 0;\n" + store, 96));
}

TEST(SharedMemoryTest, RemembersEveryReader) {
  // Warps 1, 2 and 3 read; warp 0 waits for two of them only.
  auto body = [](const char *threads, const char *arrivals) {
    return std::string("st.shared.b32 [%r2], %t; bar.sync 0;\n"
                       "setp.eq.u32 %q0, %w, 0; setp.le.u32 %q1, %w, ") +
           arrivals +
           ";\n@%q0 bra WRITE;\nld.shared.b32 %r4, [%r1];\n"
           "@%q1 bar.arrive 1, " +
           threads + ";\nbra END;\nWRITE:\nbar.sync 1, " + threads +
           ";\nst.shared.b32 [%r1], 1;\nEND:\n";
  };
  expectCheck(run(body("96", "2"), 128), Check::SharedRace, "warp 3");
  EXPECT_FINE(run(body("128", "3"), 128));
}

TEST(SharedMemoryTest, TellsBytesApart) {
  // Two warps store to bytes side by side, then read their own.
  EXPECT_FINE(run("mad.lo.u32 %r2, %l, 2, %r1; add.u32 %r2, %r2, %w;\n"
                  "st.shared.b8 [%r2], %t; ld.shared.b8 %h0, [%r2];"));
  expectCheck(run("mad.lo.u32 %r2, %l, 2, %r1; add.u32 %r3, %r2, %w;\n"
                  "st.shared.b8 [%r3], %t; ld.shared.b16 %h0, [%r2];"),
              Check::SharedRace);
  EXPECT_FINE(run("mad.lo.u32 %r2, %l, 2, %r1; add.u32 %r3, %r2, %w;\n"
                  "st.shared.b8 [%r3], %t; bar.sync 0;\n"
                  "ld.shared.b16 %h0, [%r2]; bar.sync 0;\n"
                  "mad.lo.u32 %r4, %t, 4, %r1; st.shared.b32 [%r4], %t;\n"
                  "bar.sync 0; ld.shared.v4.b8 {%h0, %h1, %h2, %h3}, [%r4];"));
}

TEST(SharedMemoryTest, AcceptsFlagsInSharedMemory) {
  // Warp 0 stores data and raises a flag, warp 1 waits for the flag.
  auto body = [](const std::string &raise, const std::string &look) {
    return "setp.eq.u32 %q0, %t, 0; @%q0 st.shared.b32 [%r1+2048], 0;\n"
           "bar.sync 0; setp.eq.u32 %q1, %w, 1; @%q1 bra WAIT;\n"
           "st.shared.b32 [%r2], 7;\n" +
           raise + "bra END;\nWAIT:\n" + look +
           " setp.eq.u32 %q2, %r5, 0; @%q2 bra WAIT;\n"
           "ld.shared.b32 %r6, [%r1];\nEND:\n";
  };
  EXPECT_FINE(run(body("fence.acq_rel.cta;\n"
                       "@%q0 st.relaxed.cta.shared.b32 [%r1+2048], 1;\n",
                       "ld.acquire.cta.shared.b32 %r5, [%r1+2048];")));
  EXPECT_FINE(run(body("@%q0 atom.shared.exch.b32 %r7, [%r1+2048], 1;\n",
                       "atom.shared.or.b32 %r5, [%r1+2048], 0;")));
  EXPECT_FINE(run(body("@%q0 st.volatile.shared.b32 [%r1+2048], 1;\n",
                       "ld.volatile.shared.b32 %r5, [%r1+2048];")));
  // A flag that is stored plainly is itself a race.
  expectCheck(run(body("@%q0 st.shared.b32 [%r1+2048], 1;\n",
                       "ld.volatile.shared.b32 %r5, [%r1+2048];")),
              Check::SharedRace);
}

TEST(SharedMemoryTest, AcceptsFlagsInGlobalMemory) {
  std::vector<uint8_t> flags(64);
  auto body = [](const std::string &raise) {
    return kTile +
           "setp.eq.u32 %q0, %t, 0; setp.eq.u32 %q1, %w, 1;\n"
           "@%q1 bra WAIT;\nst.shared.b32 [%r2], 7;\n" +
           raise +
           "bra END;\nWAIT:\n"
           "ld.acquire.gpu.global.b32 %r5, [%p0];\n"
           "setp.eq.u32 %q2, %r5, 0; @%q2 bra WAIT;\n"
           "ld.shared.b32 %r6, [%r1];\nEND:\n";
  };
  EXPECT_FINE(runKernel(body("@%q0 st.release.gpu.global.b32 [%p0], 1;\n"),
                        {&flags}, withThreads(64)));
  std::fill(flags.begin(), flags.end(), 0);
  expectCheck(runKernel(body("@%q0 st.global.b32 [%p0], 1;\n"), {&flags},
                        withThreads(64)),
              Check::SharedRace);
}

TEST(SharedMemoryTest, AcceptsAtomicsOfSeveralWarps) {
  const std::string zero = "setp.eq.u32 %q0, %t, 0;\n"
                           "@%q0 st.shared.b32 [%r1], 0;\n";
  const std::string add = "red.shared.add.u32 [%r1], 1;\n";
  EXPECT_FINE(run(zero + "bar.sync 0;\n" + add));
  expectCheck(run(zero + add), Check::SharedRace);
  expectCheck(run(zero + "bar.sync 0;\n" + add +
                  "setp.eq.u32 %q1, %t, 32; @%q1 st.shared.b32 [%r1], 0;"),
              Check::SharedRace);
}

TEST(SharedMemoryTest, AcceptsStoresOfOneValue) {
  // Both warps store the same words and read them back at once.
  const std::string place = "mad.lo.u32 %r2, %l, 4, %r1;\n";
  const std::string store = "st.shared.b32 [%r2], %l;\n";
  EXPECT_FINE(run(place + store));
  EXPECT_FINE(run(place + store + "ld.shared.b32 %r4, [%r2];"));
  EXPECT_FINE(run(place + "st.shared.b8 [%r2], %l;\n"
                          "ld.shared.b8 %h0, [%r2];"));
  expectCheck(run(place + "st.shared.b32 [%r2], %t;"), Check::SharedRace);
  expectCheck(run(place + "st.shared.b8 [%r2], %t;"), Check::SharedRace);
  // A third one has stored nothing.
  const std::string skip =
      "setp.eq.u32 %q0, %w, 2; @%q0 bra SKIP;\n" + store + "SKIP:\n";
  const std::string load = "ld.shared.b32 %r4, [%r2];\n";
  expectCheck(run(place + skip + load, 96), Check::SharedRace);
  EXPECT_FINE(run(place + skip + "bar.sync 0;\n" + load, 96));
  // Another value later needs an order with all that stored.
  const std::string later = "setp.eq.u32 %q1, %t, 0;\n"
                            "@%q1 st.shared.b32 [%r2], 99;\n";
  expectCheck(run(place + store + "bar.warp.sync -1;\n" + later +
                  "setp.eq.u32 %q2, %t, 32;\n"
                  "@%q2 st.shared.b32 [%r2], 98;\n"),
              Check::SharedRace);
  EXPECT_FINE(run(place + store + "bar.sync 0;\n" + later));
}

TEST(SharedMemoryTest, SurvivesManyBarriers) {
  // Enough accesses that the history is compacted.
  const std::string loop =
      "mov.u32 %r5, 0;\nLOOP:\n"
      "st.shared.b32 [%r2], %r5; bar.sync 0;\n"
      "xor.b32 %r3, %t, 32; mad.lo.u32 %r3, %r3, 4, %r1;\n"
      "ld.shared.b32 %r4, [%r3]; ld.shared.b32 %r6, [%r1];\n"
      "ld.shared.b8 %h0, [%r3];\n";
  const std::string next = "add.u32 %r5, %r5, 1;\n"
                           "setp.lt.u32 %q0, %r5, 40000; @%q0 bra LOOP;\n";
  EXPECT_FINE(run(loop + "bar.sync 0;\n" + next));
  // At the very last turn, one barrier is missing.
  expectCheck(run(loop +
                  "setp.eq.u32 %q1, %r5, 39998; @%q1 bra SKIP;\n"
                  "bar.sync 0;\nSKIP:\n" +
                  next),
              Check::SharedRace);
}

} // namespace
