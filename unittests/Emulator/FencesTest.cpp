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
