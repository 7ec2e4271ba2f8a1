//===- WarpTest.cpp - Collectives, memory and errors of the simulator -----===//

#include "Harness.h"

#include <cmath>

using namespace tile;
using namespace tile::test;

namespace {

std::vector<uint32_t> getHashes(size_t count) {
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = hash(i, 11);
  return values;
}

const char *barrier =
    "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)"
    "\n";
const char *syncAll =
    "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

/// Every thread writes its word to shared memory and reads that of thread
/// t xor `distance`, with `between` in the middle.
std::string getExchange(unsigned distance, const std::string &between,
                        const std::string &declarations = barrier) {
  return getKernel(
      "i32", "i32",
      "  %v = load i32, ptr addrspace(1) %pi\n"
      "  %s = getelementptr i32, ptr addrspace(3) @smem, i32 %t\n"
      "  store i32 %v, ptr addrspace(3) %s\n" +
          between + "  %u = xor i32 %t, " + std::to_string(distance) +
          "\n  %q = getelementptr i32, ptr addrspace(3) @smem, i32 %u\n"
          "  %r = load i32, ptr addrspace(3) %q\n"
          "  store i32 %r, ptr addrspace(1) %po\n",
      declarations);
}

TEST(LaneSimulatorWarp, ShufflesInEveryMode) {
  struct Case {
    const char *mode;
    unsigned clamp;
    int (*source)(int lane, int b);
  };
  std::vector<uint32_t> in = getHashes(32);
  for (const Case &c :
       {Case{"bfly", 31, [](int lane, int b) { return lane ^ b; }},
        Case{"idx", 31, [](int, int b) { return b; }},
        Case{"up", 0, [](int lane, int b) { return lane - b; }},
        Case{"down", 31, [](int lane, int b) { return lane + b; }},
        // Segments of eight lanes.
        Case{"down", 0x181F,
             [](int lane, int b) { return lane % 8 + b < 8 ? lane + b : -1; }}})
    for (int b : {1, 5, 16, 31}) {
      SCOPED_TRACE(c.mode);
      std::string name =
          std::string("{i32, i1} @llvm.nvvm.shfl.sync.") + c.mode + ".i32p";
      std::vector<uint32_t> out(64);
      Outcome outcome = run(
          getKernel("i32", "[2 x i32]",
                    "  %v = load i32, ptr addrspace(1) %pi\n  %r = call " +
                        name + "(i32 -1, i32 %v, i32 " + std::to_string(b) +
                        ", i32 " + std::to_string(c.clamp) +
                        ")\n  %d = extractvalue {i32, i1} %r, 0\n"
                        "  %p = extractvalue {i32, i1} %r, 1\n"
                        "  %z = zext i1 %p to i32\n"
                        "  store i32 %d, ptr addrspace(1) %po\n"
                        "  %po1 = getelementptr i32, ptr addrspace(1) %po, i32 "
                        "1\n  store i32 %z, ptr addrspace(1) %po1\n",
                    "declare " + name + "(i32, i32, i32, i32)\n"),
          in, out);
      ASSERT_EQ(outcome.message, "");
      for (int lane = 0; lane < 32; ++lane) {
        int source = c.source(lane, b);
        bool isInside = source >= 0 && source < 32;
        EXPECT_EQ(out[2 * lane], in[isInside ? source : lane]);
        EXPECT_EQ(out[2 * lane + 1], isInside);
      }
    }
}

TEST(LaneSimulatorWarp, ExchangesThroughSharedMemoryInAnyOrder) {
  std::vector<uint32_t> in = getHashes(256), out(256);
  for (uint64_t seed : {0, 1, 2}) {
    LaneOptions options;
    options.scheduleSeed = seed;
    ASSERT_EQ(
        run(getExchange(77, syncAll), in, out, 256, 1024, options).message, "");
    for (unsigned i = 0; i < 256; ++i)
      EXPECT_EQ(out[i], in[i ^ 77]);
  }
}

TEST(LaneSimulatorWarp, ReportsAMissingBarrier) {
  std::vector<uint32_t> in = getHashes(64), out(64);
  // The order of threads makes this exchange work by chance.
  EXPECT_TRUE(contains(run(getExchange(32, ""), in, out, 64, 256).message,
                       "is not ordered after the"));
  // A barrier of the warp orders its lanes, but not those of another.
  std::string warpSync = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n";
  std::string declaration = "declare void @llvm.nvvm.bar.warp.sync(i32)\n";
  EXPECT_EQ(
      run(getExchange(5, warpSync, declaration), in, out, 64, 256).message, "");
  EXPECT_TRUE(contains(
      run(getExchange(32, warpSync, declaration), in, out, 64, 256).message,
      "is not ordered after"));
}

TEST(LaneSimulatorWarp, ReportsAStoreOverWhatOthersRead) {
  std::vector<uint32_t> in = getHashes(64), out(64);
  // After the exchange, every thread overwrites its word at once.
  std::string text = getExchange(3, syncAll);
  std::string again = "  store i32 0, ptr addrspace(3) %s\n  ret void";
  text.replace(text.find("  ret void"), 10, again);
  EXPECT_TRUE(contains(run(text, in, out, 64, 256).message,
                       "is not ordered after the"));
}

TEST(LaneSimulatorWarp, CountsAcrossTheBlock) {
  std::vector<uint32_t> in = getHashes(96), out(96);
  unsigned expected = 0;
  for (uint32_t value : in)
    expected += value & 1;
  std::string name = "i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all";
  ASSERT_EQ(run(getKernel("i32", "i32",
                          "  %v = load i32, ptr addrspace(1) %pi\n"
                          "  %b = trunc i32 %v to i1\n  %r = call " +
                              name +
                              "(i32 1, i1 %b)\n"
                              "  store i32 %r, ptr addrspace(1) %po\n",
                          "declare " + name + "(i32, i1)\n"),
                in, out, 96)
                .message,
            "");
  for (uint32_t value : out)
    EXPECT_EQ(value, expected);
}

TEST(LaneSimulatorWarp, ReportsWhoWaitsForWhom) {
  std::vector<uint32_t> in = getHashes(64), out(64);
  std::string text =
      getKernel("i32", "i32",
                "  %c = icmp ult i32 %t, 40\n"
                "  br i1 %c, label %yes, label %no\nyes:\n" +
                    std::string(syncAll) + "  br label %no\nno:\n",
                barrier);
  std::string message = run(text, in, out, 64).message;
  EXPECT_TRUE(contains(message, "no thread of block (0,0,0) can go on"));
  EXPECT_TRUE(contains(message, "threads 0-39 wait at llvm.nvvm.barrier.cta"));
  EXPECT_TRUE(contains(message, "threads 40-63 returned"));
}

TEST(LaneSimulatorMemory, SharedMemoryStartsPoisonedInEveryBlock) {
  std::string text = getHeader() +
                     "@fixed = internal addrspace(3) global [4 x i32] poison\n"
                     "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                     "define ptx_kernel void @k(ptr addrspace(1) %out) {\n"
                     "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                     "  %p = getelementptr [2 x i32], ptr addrspace(1) %out, "
                     "i32 %b\n"
                     "  %q = getelementptr i32, ptr addrspace(1) %p, i32 1\n"
                     "  %v = load i32, ptr addrspace(3) @smem\n"
                     "  %w = load i32, ptr addrspace(3) @fixed\n"
                     "  store i32 %v, ptr addrspace(1) %p\n"
                     "  store i32 %w, ptr addrspace(1) %q\n"
                     "  store i32 7, ptr addrspace(3) @smem\n"
                     "  store i32 8, ptr addrspace(3) @fixed\n"
                     "  ret void\n}\n";
  auto simulator = LaneSimulator::parse(text, "test.ll");
  ASSERT_TRUE(bool(simulator)) << llvm::toString(simulator.takeError());
  std::vector<uint32_t> out(4);
  llvm::Error error =
      (*simulator)
          ->launch("k", {2, 1, 1}, {1, 1, 1}, 16,
                   {LaneArgument::getBuffer(asBytes(out), "out", true)});
  ASSERT_EQ(llvm::toString(std::move(error)), "");
  EXPECT_EQ(out, std::vector<uint32_t>(4, 0xFFFFFFFF));
}

TEST(LaneSimulatorMemory, ReportsAccessesOutsideABuffer) {
  auto getMessage = [&](unsigned inWords, unsigned outWords) {
    std::vector<uint32_t> in = getHashes(inWords), out(outWords);
    return run(getKernel("i32", "i32",
                         "  %v = load i32, ptr addrspace(1) %pi\n"
                         "  store i32 %v, ptr addrspace(1) %po\n"),
               in, out)
        .message;
  };
  EXPECT_EQ(getMessage(32, 32), "");
  EXPECT_TRUE(contains(getMessage(31, 32),
                       "load of 4 bytes by thread 31 of block (0,0,0) at "
                       "offset 124 of in, which has 124 bytes"));
  EXPECT_TRUE(contains(getMessage(32, 20),
                       "store of 4 bytes by thread 20 of block (0,0,0) at "
                       "offset 80 of out, which has 80 bytes"));
  // The instruction is named.
  EXPECT_TRUE(contains(getMessage(32, 20), "in k: store i32 %v"));
}

TEST(LaneSimulatorMemory, ReportsWhatAGpuWouldNotDo) {
  std::vector<uint32_t> in = getHashes(64), out(64);
  EXPECT_TRUE(contains(
      run(getKernel("i32", "i32", "  store i32 1, ptr addrspace(1) %pi\n"), in,
          out)
          .message,
      "of in, which is an input"));
  EXPECT_TRUE(contains(
      run(getKernel("i32", "i32",
                    "  %v = load <2 x i32>, ptr addrspace(1) %pi, align 8\n"),
          in, out)
          .message,
      "is not a multiple of the alignment 8"));
  // The ABI promises 16 bytes, so 32 is too much for the first element even.
  EXPECT_TRUE(contains(
      run(getKernel("[8 x i32]", "i32",
                    "  %v = load <8 x i32>, ptr addrspace(1) %in, align 32\n"),
          in, out, 1)
          .message,
      "is not a multiple of the alignment 32"));
  EXPECT_TRUE(contains(
      run(getKernel("i32", "i32", "  store i32 1, ptr addrspace(3) @smem\n"),
          in, out, 1, 2)
          .message,
      "offset 0 of shared memory, which has 2 bytes"));
}

TEST(LaneSimulatorMemory, RefusesWhatItDoesNotKnow) {
  std::vector<uint32_t> in(32), out(32);
  auto getMessage = [&](const std::string &body, const std::string &decl) {
    return run(getKernel("i32", "i32", body, decl), in, out).message;
  };
  EXPECT_TRUE(contains(
      getMessage("  %x = call i32 asm \"mov.u32 $0, %smid;\", \"=r\"()\n", ""),
      "inline assembly cannot be simulated: \"mov.u32 $0, %smid;\""));
  EXPECT_TRUE(
      contains(getMessage("  %x = call i32 @llvm.nvvm.read.ptx.sreg.smid()\n",
                          "declare i32 @llvm.nvvm.read.ptx.sreg.smid()\n"),
               "intrinsic 'llvm.nvvm.read.ptx.sreg.smid' cannot be simulated"));
  for (const char *name :
       {"fence.sc.cluster", "fence.mbarrier_init.release.cluster",
        "fence.acquire.sync_restrict.space.cluster.scope.cluster",
        "cp.async.bulk.commit.group", "wgmma.fence.sync.aligned"}) {
    std::string call = std::string("void @llvm.nvvm.") + name + "()\n";
    EXPECT_TRUE(contains(getMessage("  call " + call, "declare " + call),
                         std::string("intrinsic 'llvm.nvvm.") + name +
                             "' cannot be simulated\n  in k: call void"));
  }
  EXPECT_TRUE(contains(getMessage("  %x = call float @__nv_expf(float 1.0)\n",
                                  "declare float @__nv_expf(float)\n"),
                       "function '__nv_expf' is not defined"));
  auto simulator = LaneSimulator::parse(getKernel("i32", "i32", ""), "test.ll");
  ASSERT_TRUE(bool(simulator)) << llvm::toString(simulator.takeError());
  EXPECT_TRUE(contains(
      llvm::toString((*simulator)->launch("x", {1, 1, 1}, {1, 1, 1}, 0, {})),
      "no kernel 'x'; kernels are k"));
  EXPECT_TRUE(contains(
      llvm::toString((*simulator)->launch("k", {1, 1, 1}, {1, 1, 1}, 0, {})),
      "kernel 'k' has 2 parameters, but got 0"));
  EXPECT_TRUE(
      contains(llvm::toString((*simulator)
                                  ->launch("k", {1, 1, 1}, {1025, 1, 1}, 0,
                                           {LaneArgument::getScalar(0),
                                            LaneArgument::getScalar(0)})),
               "1 to 1024 threads"));
  std::vector<uint8_t> none;
  EXPECT_TRUE(contains(
      llvm::toString(
          LaneSimulator::parse("define void @k( {", "bad.ll").takeError()),
      "bad.ll:1"));
}

} // namespace
