//===- TensorOrderTest.cpp - Who may touch tensor memory when -------------===//
//
// Each rule of order with a kernel that breaks it and one that keeps it.
//
//===----------------------------------------------------------------------===//

#include "TensorMemoryHarness.h"

using namespace tile::emulator;

namespace {

constexpr unsigned kMoreShared = 4096;

/// The body between `beginTensorKernel` and `endTensorKernel`, whose memory is
/// all written, with `%da` a descriptor of small matrices.
Outcome run(const std::string &body, bool isLoose = false) {
  std::vector<uint8_t> shared = makeBytes(kTestShared),
                       tensor(kTestLanes * kTestColumns * 4), out(65536);
  LaunchOptions options = getTensorOptions();
  options.allowLooseTensorMemory = isLoose;
  options.sharedBytes = kTestShared + kMoreShared;
  return runKernel(
      beginTensorKernel() +
          ".shared .align 8 .b64 other;\n.reg .b32 %second; .reg .pred %two;\n"
          "mov.u32 %second, other; setp.eq.u32 %two, %t, 32;\n"
          "@%one mbarrier.init.shared.b64 [%second], 1;\n" +
          fillShared() + moveTensor(true, "%p1", "INIT", 0, kTestColumns) +
          waitTensorStores() + syncTensor() +
          "add.s64 %da, %sd, 0x400000080000;\n" + body + endTensorKernel(),
      {&shared, &tensor, &out}, options);
}

/// M = 128, N = 32, f32.
const std::string kShape = "0x08080010";
std::string multiply(const std::string &thread = "%one",
                     const std::string &d = "%tm",
                     const std::string &shape = kShape) {
  return "@" + thread + " tcgen05.mma.cta_group::1.kind::f16 [" + d +
         "], %da, %da, " + shape + ", 1;\n";
}
std::string commit(const std::string &mbarrier = "%bar",
                   const std::string &thread = "%one") {
  return "@" + thread +
         " tcgen05.commit.cta_group::1.mbarrier::arrive::one."
         "shared::cluster.b64 [" +
         mbarrier + "];\n";
}
std::string wait(const std::string &label, const std::string &mbarrier = "%bar",
                 const std::string &semantics = "",
                 const std::string &parity = "0") {
  return label + ":\nmbarrier.try_wait.parity" + semantics +
         ".shared.b64 %z3, [" + mbarrier + "], " + parity + ";\n@!%z3 bra " +
         label + ";\n";
}
const std::string kBefore = "tcgen05.fence::before_thread_sync;\n";
const std::string kAfter = "tcgen05.fence::after_thread_sync;\n";
const std::string kBar = "bar.sync 0;\n";
const std::string kWaitLoad = "tcgen05.wait::ld.sync.aligned;\n";
const std::string kWaitStore = "tcgen05.wait::st.sync.aligned;\n";

/// Each warp its own lanes.
const std::string kOwn =
    "and.b32 %c, %t, 96; shl.b32 %c, %c, 16; add.u32 %c, %c, %tm;\n";
std::string load(const std::string &column = "0") {
  return kOwn + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%u0}, [%c+" + column +
         "];\n";
}
std::string store(const std::string &column = "0") {
  return kOwn + "tcgen05.st.sync.aligned.32x32b.x1.b32 [%c+" + column +
         "], {%t};\n";
}
std::string copyScales(const std::string &thread = "%one",
                       const std::string &column = "256") {
  return "@" + thread + " tcgen05.cp.cta_group::1.32x128b.warpx4 [%tm+" +
         column + "], %da;\n";
}
std::string multiplyScaled(const std::string &thread = "%one") {
  return "@" + thread +
         " tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%tm], "
         "%da, %da, 0x08080480, [%tm+256], [%tm+256], 1;\n";
}
const std::string kDone = commit() + wait("DONE") + kAfter;

TEST(TensorOrderTest, ResultsNeedACommit) {
  EXPECT_FINE(run(multiply() + kDone + load() + kWaitLoad));
  // Which of the two comes first depends on the schedule.
  expectCheck(run(multiply() + load() + kWaitLoad), Check::AsyncRace);
  expectCheck(run(multiply() + kBefore + kBar + kAfter + load() + kWaitLoad),
              Check::AsyncRace, "writes it asynchronously");
  expectCheck(run(multiply() + commit() + kBefore + kBar + kAfter + load()),
              Check::AsyncRace);
  expectCheck(run(multiply() + wait("W") + kAfter + load()), Check::Deadlock,
              "no thread of the block");
  // Elsewhere nobody minds.
  EXPECT_FINE(run(multiply() + load("32") + kWaitLoad + kDone));
  expectCheck(run(multiply() + load("31") + kWaitLoad + kDone),
              Check::AsyncRace);
  // Nor may a store come in between.
  expectCheck(run(multiply() + store() + kWaitStore + kDone), Check::AsyncRace);
  EXPECT_FINE(run(multiply() + kDone + store() + kWaitStore));
  // One warp tells the others.
  const std::string one =
      "setp.ne.u32 %z5, %w, 0;\n@%z5 bra.uni PAST;\n" + wait("W") + "PAST:\n";
  EXPECT_FINE(run(multiply() + commit() + one + kBefore + kBar + kAfter +
                  load() + kWaitLoad));
  expectCheck(run(multiply() + commit() + one + load() + kWaitLoad),
              Check::AsyncRace);
}

TEST(TensorOrderTest, WaitsNeedAFence) {
  const std::string unfenced = multiply() + commit() + wait("W");
  EXPECT_FINE(run(unfenced + kAfter + load() + kWaitLoad));
  expectCheck(run(unfenced + load() + kWaitLoad), Check::AsyncRace,
              "tcgen05.fence::after_thread_sync");
  expectCheck(run(unfenced + kBefore + load() + kWaitLoad), Check::AsyncRace);
  expectCheck(run(multiply() + commit() + kAfter + wait("W") + load()),
              Check::AsyncRace);
  EXPECT_FINE(run(unfenced + load() + kWaitLoad, /*isLoose=*/true));
  // Even so, no wait is no wait.
  expectCheck(run(multiply() + commit() + load(), true), Check::AsyncRace);
  // A relaxed wait orders nothing but by the fence.
  const std::string relaxed =
      multiply() + commit() + wait("W", "%bar", ".relaxed.cluster");
  EXPECT_FINE(run(relaxed + kAfter + load() + kWaitLoad));
  expectCheck(run(relaxed + load() + kWaitLoad), Check::AsyncRace);
}

TEST(TensorOrderTest, StoresNeedAWait) {
  EXPECT_FINE(run(store() + kWaitStore + load() + kWaitLoad));
  expectCheck(run(store() + load() + kWaitLoad), Check::AsyncRace);
  expectCheck(run(store() + kWaitLoad + load()), Check::AsyncRace);
  expectCheck(run(store() + store() + kWaitStore), Check::AsyncRace);
  // To a multiply of another thread.
  const std::string end = multiply() + kDone;
  EXPECT_FINE(run(store() + kWaitStore + kBefore + kBar + kAfter + end));
  expectCheck(run(store() + kBefore + kBar + kAfter + end), Check::AsyncRace);
  expectCheck(run(store() + kWaitStore + kBar + kAfter + end), Check::AsyncRace,
              "before_thread_sync");
  expectCheck(run(kBefore + store() + kWaitStore + kBar + kAfter + end),
              Check::AsyncRace, "before_thread_sync");
  expectCheck(run(store() + kWaitStore + kBefore + kBar + end),
              Check::AsyncRace, "after_thread_sync");
  expectCheck(run(store() + kWaitStore + kBefore + kAfter + end),
              Check::AsyncRace, "no barrier");
  EXPECT_FINE(run(store() + kWaitStore + kBar + end, true));
  // By an mbarrier with relaxed arrivals, as the ISA shows it.
  const std::string arrive =
      "setp.eq.u32 %z5, %t, 96;\n@%z5 mbarrier.arrive.SEM.shared.b64 _, "
      "[%second];\n";
  for (llvm::StringRef semantics : {"relaxed.cluster", "release.cta"}) {
    std::string arrival = arrive;
    arrival.replace(arrival.find("SEM"), 3, semantics);
    const std::string handOver =
        "setp.eq.u32 %z4, %w, 3;\n" + kOwn +
        "@%z4 tcgen05.st.sync.aligned.32x32b.x1.b32 [%c], {%t};\n" + kWaitStore;
    const std::string take =
        wait("W", "%second",
             semantics == "release.cta" ? ".acquire.cta" : ".relaxed.cluster");
    EXPECT_FINE(run(handOver + kBefore + arrival + take + kAfter + end));
    expectCheck(run(handOver + arrival + take + kAfter + end),
                Check::AsyncRace);
    expectCheck(run(handOver + kBefore + arrival + take + end),
                Check::AsyncRace);
  }
}

TEST(TensorOrderTest, LoadsKeepTheirPlace) {
  EXPECT_FINE(run(load() + kWaitLoad + store() + kWaitStore));
  expectCheck(run(load() + store() + kWaitStore), Check::AsyncRace,
              "reads it asynchronously");
  EXPECT_FINE(
      run(load() + kWaitLoad + kBefore + kBar + kAfter + multiply() + kDone));
  expectCheck(run(load() + kBefore + kBar + kAfter + multiply() + kDone),
              Check::AsyncRace);
  // The registers are there as soon as they are used.
  EXPECT_FINE(run(load() +
                  "add.u32 %u1, %u0, 1;\n@%one st.global.b32 [%p2], "
                  "%u1;\n" +
                  kWaitLoad));
  EXPECT_FINE(run(load() + load() + kWaitLoad));
  expectCheck(run(load()), Check::AsyncRace, "tcgen05.dealloc");
}

TEST(TensorOrderTest, MultipliesInOrder) {
  EXPECT_FINE(
      run(multiply() + multiply() + multiply() + kDone + load() + kWaitLoad));
  EXPECT_FINE(run(multiply() + multiply("%one", "%tm+32") + kDone));
  // Another shape, or another place, on some of the columns.
  expectCheck(run(multiply() + multiply("%one", "%tm", "0x08040010") + kDone),
              Check::AsyncRace);
  expectCheck(run(multiply() + multiply("%one", "%tm+16") + kDone),
              Check::AsyncRace);
  EXPECT_FINE(run(multiply() + kDone + multiply("%one", "%tm", "0x08040010") +
                  commit("%second") + wait("V", "%second")));
  // D as A.
  const std::string fromTensor =
      "@%one tcgen05.mma.cta_group::1.kind::f16 [%tm+64], [%tm], %da, " +
      kShape + ", 1;\n";
  expectCheck(run(multiply() + fromTensor + kDone), Check::AsyncRace);
  EXPECT_FINE(run(multiply() + kDone + fromTensor + commit("%second") +
                  wait("V", "%second")));
  // Threads of two warps.
  const std::string both = commit() + commit("%second", "%two") + wait("V") +
                           wait("W", "%second") + kAfter;
  EXPECT_FINE(run(multiply() + kBefore + kBar + kAfter + multiply("%two") +
                  both + load() + kWaitLoad));
  expectCheck(run(multiply() + kBar + multiply("%two") + both),
              Check::AsyncRace, "tcgen05.fence");
  expectCheck(run(multiply() + kBar + kAfter + multiply("%two") + both),
              Check::AsyncRace);
  expectCheck(run(multiply() + multiply("%two") + both), Check::AsyncRace);
}

TEST(TensorOrderTest, CopiesAndMultiplies) {
  EXPECT_FINE(run(copyScales() + multiplyScaled() + kDone));
  const std::string again = commit("%second") + wait("V", "%second");
  expectCheck(run(multiplyScaled() + copyScales() + kDone), Check::AsyncRace,
              "reads it asynchronously");
  expectCheck(run(copyScales() + multiplyScaled() + copyScales() + kDone),
              Check::AsyncRace);
  EXPECT_FINE(run(copyScales() + multiplyScaled() + kDone + copyScales() +
                  multiplyScaled() + again));
  EXPECT_FINE(
      run(copyScales() + multiplyScaled() + copyScales("%one", "264") + kDone));
  // Compilers rely on the order in which one thread issues them.
  EXPECT_FINE(run(copyScales() + multiplyScaled() + copyScales() +
                      multiplyScaled() + multiply("%one", "%tm", "0x08040010") +
                      kDone,
                  /*isLoose=*/true));
  expectCheck(run(multiplyScaled() + copyScales("%two") + kDone, true),
              Check::AsyncRace);
  expectCheck(run(multiplyScaled() + store("256") + kDone, true),
              Check::AsyncRace);
  // To a load it is a commit that counts.
  expectCheck(run(copyScales() + load("256") + kWaitLoad), Check::AsyncRace);
  EXPECT_FINE(run(copyScales() + kDone + load("256") + kWaitLoad));
  expectCheck(run(copyScales() + store("256") + kWaitStore), Check::AsyncRace);
  expectCheck(run(copyScales() + copyScales() + kDone), Check::AsyncRace);
  // From one thread to another.
  const std::string both = commit() + commit("%second", "%two") + wait("V") +
                           wait("W", "%second") + kAfter;
  EXPECT_FINE(run(copyScales() + kBefore + kBar + kAfter +
                  multiplyScaled("%two") + both));
  expectCheck(run(copyScales() + kBar + kAfter + multiplyScaled("%two") + both),
              Check::AsyncRace, "tcgen05.fence");
  expectCheck(run(copyScales() + multiplyScaled("%two") + both),
              Check::AsyncRace);
}

TEST(TensorOrderTest, CommitsTellOfTheirThread) {
  // Thread 32's multiply is none of thread 0's commit.
  expectCheck(run(multiply("%two") + kDone + load() + kWaitLoad),
              Check::AsyncRace);
  EXPECT_FINE(run(multiply("%two") + commit("%bar", "%two") + wait("W") +
                  kAfter + load() + kWaitLoad));
  // A commit tells of all before it, on whichever mbarrier.
  const std::string two =
      multiply() + commit() + multiply("%one", "%tm+32") + commit("%second");
  EXPECT_FINE(run(two + wait("W", "%second") + kAfter + load() + kWaitLoad +
                  load("32") + kWaitLoad + wait("V")));
  EXPECT_FINE(run(two + wait("W") + kAfter + load() + kWaitLoad +
                  wait("V", "%second")));
  expectCheck(run(two + wait("W") + kAfter + load("32") + kWaitLoad),
              Check::AsyncRace);
  // Another warp looks at the second one first.
  const std::string split = "setp.ne.u32 %z5, %w, 0;\n@%z5 bra.uni THEN;\n" +
                            wait("W", "%second") + "bra.uni JOIN;\nTHEN:\n" +
                            wait("V") + "JOIN:\n" + kAfter;
  EXPECT_FINE(run(two + split + load() + kWaitLoad));
  expectCheck(run(two + split + load("32") + kWaitLoad), Check::AsyncRace);
  // Without anything to wait for a commit arrives as well.
  EXPECT_FINE(run(commit() + wait("W")));
  expectCheck(run(commit() + commit() + commit() + wait("W", "%second")),
              Check::Deadlock);
  EXPECT_FINE(run("@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                  "shared::cluster.multicast::cluster.b64 [%bar], 1;\n" +
                  wait("W")));
  expectCheck(run("mov.u16 %h1, 3;\n@%one tcgen05.commit.cta_group::1."
                  "mbarrier::arrive::one.shared::cluster.multicast::cluster."
                  "b64 [%bar], %h1;\n"),
              Check::IllegalOperand, "a mask of 1");
  expectCheck(run("@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                  "shared::cluster.b64 [%sm];\n"),
              Check::Synchronization);
}

TEST(TensorOrderTest, OperandsInSharedMemory) {
  const std::string overwrite = "@%one st.shared.b32 [%sm], 0;\n";
  expectCheck(run(multiply() + overwrite + kDone), Check::AsyncRace,
              "reads it asynchronously");
  EXPECT_FINE(run(multiply() + kDone + overwrite));
  EXPECT_FINE(run(multiply() + commit() + wait("W") + overwrite));
  expectCheck(run(copyScales() + overwrite + kDone), Check::AsyncRace);
  // Reading and other bytes are fine.
  EXPECT_FINE(run(multiply() +
                  "ld.shared.b32 %u0, [%sm];\n"
                  "@%one st.shared.b32 [%sm+4096], 0;\n" +
                  kDone));
  // An asynchronous copy over it.
  const std::string bulk =
      "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%second], 256;\n"
      "@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%sm], [%p0], 256, [%second];\n";
  expectCheck(run(multiply() + bulk + kDone + wait("V", "%second")),
              Check::AsyncRace);
  EXPECT_FINE(run(multiply() + kDone + bulk + wait("V", "%second")));

  // Stores need the proxy fence, and the barrier.
  const std::string fence = "fence.proxy.async.shared::cta;\n";
  const std::string others =
      "setp.eq.u32 %z5, %t, 64;\n@%z5 st.shared.b32 [%sm+16], 0;\n";
  for (const std::string &use : {multiply(), copyScales()}) {
    EXPECT_FINE(run(overwrite + fence + use + kDone));
    expectCheck(run(overwrite + use + kDone), Check::ProxyFence, "st.shared");
    EXPECT_FINE(run(others + fence + kBar + use + kDone));
    EXPECT_FINE(run(others + kBar + fence + use + kDone));
    expectCheck(run(others + kBar + use + kDone), Check::ProxyFence);
    expectCheck(run(others + fence + use + kDone), Check::SharedRace,
                "no barrier");
    // What a bulk copy brought needs its wait alone.
    EXPECT_FINE(run(bulk + wait("V", "%second") + use + kDone));
    expectCheck(run(bulk + use + kDone), Check::AsyncRace,
                "an asynchronous copy is still to finish");
  }
}

TEST(TensorOrderTest, DeallocationComesLast) {
  const std::string free =
      "@%z0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 512;\n@%z0 "
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 512;\n";
  EXPECT_FINE(run(free));
  expectCheck(run(multiply() + free), Check::AsyncRace, "tcgen05.dealloc");
  EXPECT_FINE(run(multiply() + kDone + free));
  expectCheck(run(copyScales() + free), Check::AsyncRace);
  // Other warps' loads need a barrier but no fence.
  expectCheck(run(load() + kWaitLoad + free), Check::AsyncRace);
  EXPECT_FINE(run(load() + kWaitLoad + kBar + free));
}

TEST(TensorOrderTest, RandomSchedules) {
  const std::string good = store() + kWaitStore + kBefore + kBar + kAfter +
                           copyScales() + multiplyScaled() + multiplyScaled() +
                           kDone + load() + kWaitLoad + kBefore + kBar +
                           kAfter + multiply() + commit() +
                           wait("V", "%bar", "", "1");
  std::vector<uint8_t> first;
  for (uint64_t seed = 0; seed != 20; ++seed) {
    std::vector<uint8_t> shared = makeBytes(kTestShared),
                         tensor(kTestLanes * kTestColumns * 4), out(65536);
    LaunchOptions options = getTensorOptions();
    options.schedule = Schedule::Random;
    options.seed = seed;
    EXPECT_FINE(runKernel(beginTensorKernel() + fillShared() +
                              moveTensor(true, "%p1", "INIT", 0, kTestColumns) +
                              waitTensorStores() + syncTensor() +
                              "add.s64 %da, %sd, 0x400000080000;\n" + good +
                              kAfter + load() + kWaitLoad +
                              "mul.wide.u32 %g, %t, 4; add.s64 %g, %g, %p2;\n"
                              "st.global.b32 [%g], %u0;\n" +
                              endTensorKernel(),
                          {&shared, &tensor, &out}, options));
    if (seed == 0)
      first = out;
    EXPECT_EQ(out, first);
  }
}

} // namespace
