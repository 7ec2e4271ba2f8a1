//===- CompilerTest.cpp - What a compiler remembers -----------------------===//

#include "Gate.h"
#include "RuntimeFixture.h"

#include <atomic>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

class CompilerTest : public RuntimeTest {
protected:
  /// Compiles a kernel that is `number`'s own.
  static Expected<Kernel> compile(const Compiler &compiler, int number = 0) {
    CompileOptions options;
    options.target = "sm_80";
    return compiler.compile(kScaleKernel, options,
                            "scale" + std::to_string(number) + ".mlir");
  }
  /// Files of the cache.
  std::vector<std::filesystem::path> listEntries() const {
    std::vector<std::filesystem::path> paths;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder / "cache"))
      if (entry.path().extension() == ".code")
        paths.push_back(entry.path());
    return paths;
  }
  static Status launch(const Kernel &kernel, const Device &device) {
    std::vector<float> x(16 * 32, 2.0f), z(16 * 32);
    Status status = kernel.launch(
        device, 1, TensorRef(z.data(), ElementType::F32, {16, 32}),
        TensorRef(x.data(), ElementType::F32, {16, 32}), 3.0f, 1);
    EXPECT_EQ(z, std::vector<float>(16 * 32, status ? 7.0f : 0.0f));
    return status;
  }
};

TEST_F(CompilerTest, RemembersInMemoryAndOnDisk) {
  Compiler compiler = makeCompiler();
  Expected<Kernel> first = compile(compiler), second = compile(compiler);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->getImpl(), second->getImpl());
  CacheStatistics statistics = compiler.getCacheStatistics();
  EXPECT_EQ(statistics.compilations, 1u);
  EXPECT_EQ(statistics.memoryHits, 1u);
  EXPECT_EQ(statistics.diskHits, 0u);
  EXPECT_EQ(statistics.kernels, 1u);

  Compiler other = makeCompiler();
  Expected<Kernel> third = compile(other);
  ASSERT_TRUE(bool(third));
  statistics = other.getCacheStatistics();
  EXPECT_EQ(statistics.compilations, 0u);
  EXPECT_EQ(statistics.diskHits, 1u);
  EXPECT_EQ(third->getPtx(), first->getPtx());
  EXPECT_EQ(third->getRemarks().size(), first->getRemarks().size());
  EXPECT_EQ(third->getParameters()[1].mlirType,
            first->getParameters()[1].mlirType);
  for (const Device &device : {Device::reference(), *Device::emulator()})
    EXPECT_EQ(getMessage(launch(*third, device)), "success");
  // So are variants.
  EXPECT_EQ(getMessage(launch(*first, *Device::emulator())), "success");
  EXPECT_EQ(compiler.getCacheStatistics().diskHits, 1u);
}

TEST_F(CompilerTest, KeysHaveEverythingThatMatters) {
  Compiler compiler = makeCompiler();
  CompileOptions options = getLinearOptions();
  uint64_t expected = 0;
  auto check = [&](const CompileOptions &options, const char *text,
                   const char *name, bool isNew) {
    expected += isNew;
    Expected<Kernel> kernel = compiler.compile(text, options, name);
    ASSERT_TRUE(bool(kernel)) << kernel.error().str();
    EXPECT_EQ(compiler.getCacheStatistics().compilations, expected);
  };
  check(options, kLinearKernel, "k", true);
  check(options, kLinearKernel, "k", false);
  check(options, kLinearKernel, "l", true); // diagnostics have it
  auto change = [&](auto apply) {
    CompileOptions changed = options;
    apply(changed);
    check(changed, kLinearKernel, "k", true);
    check(changed, kLinearKernel, "k", false);
  };
  change([](CompileOptions &o) { o.target = "sm_80"; });
  change([](CompileOptions &o) { o.constants["BM"] = "32"; });
  change([](CompileOptions &o) { o.shapes["z"] = {kDynamic, 16}; });
  change([](CompileOptions &o) { o.numWarps = 2; });
  change([](CompileOptions &o) { o.numStages = 2; });
  change([](CompileOptions &o) { o.groupPrograms = 0; });
  change([](CompileOptions &o) { o.mmaPath = "expand"; });
  change([](CompileOptions &o) { o.fp4Cvt = "software"; });
  change([](CompileOptions &o) { o.unpackAhead = "0"; });
  change([](CompileOptions &o) { o.ptxVersion = 90; });
  change([](CompileOptions &o) { o.lineInfo = true; });
  change([](CompileOptions &o) { o.specialize = false; });
  std::string spaced = std::string(kLinearKernel) + "\n";
  check(options, spaced.c_str(), "k", true);
}

TEST_F(CompilerTest, MakesDamagedEntriesAnew) {
  Expected<Kernel> good = compile(makeCompiler());
  ASSERT_TRUE(bool(good));
  std::vector<std::filesystem::path> entries = listEntries();
  ASSERT_EQ(entries.size(), 1u);
  const auto size = std::filesystem::file_size(entries[0]);
  for (uint64_t place : {uint64_t(0), uint64_t(size / 2), uint64_t(size - 1)}) {
    {
      std::fstream file(entries[0], std::ios::in | std::ios::out);
      file.seekg(place);
      char byte = static_cast<char>(file.get());
      file.seekp(place);
      file.put(static_cast<char>(byte ^ 0x20));
    }
    Compiler compiler = makeCompiler();
    Expected<Kernel> kernel = compile(compiler);
    ASSERT_TRUE(bool(kernel)) << kernel.error().str();
    EXPECT_EQ(kernel->getPtx(), good->getPtx());
    EXPECT_EQ(compiler.getCacheStatistics().rejected, 1u);
    EXPECT_EQ(compiler.getCacheStatistics().compilations, 1u);
  }
  EXPECT_EQ(compile(makeCompiler())->getPtx(), good->getPtx());
}

TEST_F(CompilerTest, WorksWithoutAFolder) {
  // A file in the place of the folder: even root cannot write there.
  std::ofstream(folder / "cache") << "not a folder";
  Compiler compiler = makeCompiler();
  Expected<Kernel> kernel = compile(compiler);
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  EXPECT_EQ(getMessage(launch(*kernel, *Device::emulator())), "success");
  const Remark &remark = kernel->getRemarks().back();
  EXPECT_EQ(remark.name, "cache");
  EXPECT_NE(remark.get("Reason").find((folder / "cache").string()),
            std::string::npos)
      << remark.str();
  EXPECT_GE(compiler.getCacheStatistics().writeFailures, 1u);

  CacheOptions options;
  options.useDisk = false;
  Compiler memoryOnly(options);
  EXPECT_EQ(memoryOnly.getCacheDirectory(), "");
  kernel = compile(memoryOnly);
  ASSERT_TRUE(bool(kernel));
  for (const Remark &remark : kernel->getRemarks())
    EXPECT_NE(remark.name, "cache");
}

TEST_F(CompilerTest, ForgetsTheOldestFirst) {
  CacheOptions options;
  options.useDisk = false;
  options.maxKernels = 3;
  Compiler compiler(options);
  for (int number : {0, 1, 2, 0, 3, 0, 1})
    ASSERT_TRUE(bool(compile(compiler, number)));
  // 1 was the oldest when 3 came.
  EXPECT_EQ(compiler.getCacheStatistics().compilations, 5u);
  EXPECT_EQ(compiler.getCacheStatistics().kernels, 3u);
  compiler.clearMemory();
  EXPECT_EQ(compiler.getCacheStatistics().kernels, 0u);
}

TEST_F(CompilerTest, KernelsOutliveTheirCompiler) {
  std::optional<Kernel> kernel;
  {
    Compiler compiler = makeCompiler();
    kernel = *compile(compiler);
  }
  // Compiles a variant.
  EXPECT_EQ(getMessage(launch(*kernel, *Device::emulator())), "success");
  EXPECT_EQ(kernel->getNumVariants(), 2u);
}

TEST_F(CompilerTest, FailuresAreNotRemembered) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(bool(compiler.compile("nonsense", options, "k.mlir")));
  EXPECT_EQ(compiler.getCacheStatistics().kernels, 0u);
  EXPECT_EQ(compiler.getCacheStatistics().compilations, 0u);
}

//===----------------------------------------------------------------------===//
// Many threads
//===----------------------------------------------------------------------===//

TEST_F(CompilerTest, OneKeyIsCompiledOnce) {
  Compiler compiler = makeCompiler();
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<KernelImpl>> kernels(8);
  for (size_t i = 0; i < kernels.size(); ++i)
    threads.emplace_back([&, i] {
      Expected<Kernel> kernel = compile(compiler);
      ASSERT_TRUE(bool(kernel)) << kernel.error().str();
      // Every launch wants the same variant.
      EXPECT_EQ(getMessage(launch(*kernel, *Device::emulator())), "success");
      EXPECT_EQ(getMessage(launch(*kernel, Device::reference())), "success");
      kernels[i] = kernel->getImpl();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(std::set(kernels.begin(), kernels.end()).size(), 1u);
  EXPECT_EQ(compiler.getCacheStatistics().compilations, 2u);
}

TEST_F(CompilerTest, DifferentKeysAreCompiledAtOnce) {
  Compiler compiler = makeCompiler();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 4; ++j) {
        Expected<Kernel> kernel = compile(compiler, (i + j) % 4);
        ASSERT_TRUE(bool(kernel)) << kernel.error().str();
        EXPECT_EQ(getMessage(launch(*kernel, *Device::emulator())), "success");
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(compiler.getCacheStatistics().compilations, 8u);
}

TEST(GateTest, WaitingCanBeStopped) {
  Gate gate;
  ASSERT_TRUE(gate.enter(nullptr));
  std::atomic<bool> stop{false};
  std::atomic<int> result{-1};
  std::thread waiting([&] { result = gate.enter(&stop); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(result, -1);
  stop = true;
  waiting.join();
  EXPECT_EQ(result, 0);
  // Nothing is left of it: the gate is free once the holder has gone.
  gate.leave();
  EXPECT_TRUE(static_cast<bool>(GateScope(gate, &stop)));
  EXPECT_TRUE(gate.enter(nullptr));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

#ifndef __SANITIZE_ADDRESS__ // It keeps what is freed for a while.
/// Resident memory of this process, in bytes.
size_t getResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(CompilerTest, ManyLaunchesLeaveMemoryFlat) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  std::vector<float> x(16 * 32, 2.0f), z(16 * 32);
  const TensorRef source(x.data(), ElementType::F32, {16, 32});
  const TensorRef target(z.data(), ElementType::F32, {16, 32});
  LaunchOptions launchOptions;
  launchOptions.hostThreads = 1;
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    Expected<Stream> stream = Stream::create(device);
    ASSERT_TRUE(bool(stream));
    auto run = [&](int count) {
      for (int i = 0; i < count; ++i) {
        Expected<Kernel> kernel = compiler.compile(kScaleKernel, options, "k");
        ASSERT_TRUE(bool(kernel));
        if (i % 2) {
          ASSERT_TRUE(bool(kernel->launchList(
              device, 1, {target, source, 3.0f, 1}, launchOptions)));
        } else {
          Expected<Event> event = kernel->launchAsyncList(
              *stream, 1, {target, source, 3.0f, 1}, launchOptions);
          ASSERT_TRUE(event && event->synchronize());
        }
      }
    };
    run(500);
    const size_t before = getResidentBytes();
    run(10000);
    const size_t after = getResidentBytes();
    EXPECT_LT(after, before + (size_t(4) << 20)) << device.getName();
  }
}
#endif

} // namespace
