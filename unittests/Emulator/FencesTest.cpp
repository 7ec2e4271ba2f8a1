//===- FencesTest.cpp - fence and membar ----------------------------------===//
//
// What proxy fences do is tested with the copies that need them
// (BulkCopiesTest); here is what is accepted.
//
//===----------------------------------------------------------------------===//

#include "MemoryHarness.h"

using namespace tile::emulator;

namespace {

TEST(FencesTest, AcceptsEveryForm) {
  std::vector<uint8_t> map(128);
  for (const char *fence :
       {"membar.cta",
        "membar.gl",
        "membar.sys",
        "membar.proxy.alias",
        "fence.cta",
        "fence.sc.gpu",
        "fence.acq_rel.sys",
        "fence.acquire.gpu",
        "fence.release.cluster",
        "fence.acquire.sync_restrict::shared::cluster.cluster",
        "fence.release.sync_restrict::shared::cta.cluster",
        "fence.mbarrier_init.release.cluster",
        "fence.proxy.alias",
        "fence.proxy.async",
        "fence.proxy.async.global",
        "fence.proxy.async.shared::cta",
        "fence.proxy.async.shared::cluster",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster."
        "cluster",
        "fence.proxy.tensormap::generic.release.gpu",
        "fence.proxy.tensormap::generic.acquire.gpu [%p0], 128"})
    EXPECT_FINE(runKernel(std::string(fence) + ";", {&map}));
}

TEST(FencesTest, RunsTheBarrierOfACluster) {
  const std::string store = ".shared .align 4 .b8 tile[512];\n"
                            "mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 4, %r1;\n"
                            "st.shared.b32 [%r2], %t;\n";
  const std::string load = "xor.b32 %r3, %t, 32; mad.lo.u32 %r3, %r3, 4, %r1;\n"
                           "ld.shared.b32 %r4, [%r3];\n";
  const std::string arrive = "barrier.cluster.arrive.release.aligned;\n";
  const std::string wait = "barrier.cluster.wait.acquire.aligned;\n";
  auto run = [](const std::string &body) {
    LaunchOptions options = withThreads(64);
    options.stepLimit = 100000;
    return runKernel(body, {}, options);
  };
  EXPECT_FINE(run(store + arrive + wait + load + arrive + wait +
                  "st.shared.b32 [%r2], 1;\n"));
  expectCheck(run(store + arrive + load + wait), Check::SharedRace);
  expectCheck(run(store + "barrier.cluster.arrive.relaxed;\n" + wait + load),
              Check::SharedRace);
  expectCheck(run(wait), Check::Synchronization, "an arrival before it");
  expectCheck(run(arrive + arrive), Check::Synchronization, "a wait after");
  // Threads that have exited are not waited for; those that hang are named.
  const std::string leave = "setp.eq.u32 %q0, %w, 1;\n@%q0 exit;\n";
  EXPECT_FINE(run(leave + arrive + wait));
  expectCheck(
      run("setp.eq.u32 %q0, %w, 1;\nHANG:\n@%q0 bra HANG;\n" + arrive + wait),
      Check::StepLimit);
}

TEST(FencesTest, RejectsOthers) {
  auto expectError = [](const char *fence, const char *words,
                        const char *target = "sm_90a") {
    Outcome outcome = runKernel(std::string(fence) + ";", {}, {}, target);
    EXPECT_FALSE(outcome.check.has_value());
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  };
  expectError("fence.sc", "expects a scope");
  expectError("fence.proxy.sideways", "expects .alias");
  expectError("fence.acquire.gpu", "sm_90", "sm_80");
  expectError("fence.proxy.async", "sm_90", "sm_80");
  expectError("fence.release.sync_restrict::shared::cluster.cluster",
              "sync_restrict");
  expectError("fence.proxy.tensormap::generic.acquire.gpu [%d0], 64",
              "expects a size of 128");
  expectError("membar.gpu", "expects .cta, .gl or .sys");
}

} // namespace
