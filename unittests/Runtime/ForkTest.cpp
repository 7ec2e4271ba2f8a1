//===- ForkTest.cpp - Processes that are forked while threads work --------===//

#include "RuntimeFixture.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Runtime/KernelBuilder.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

class ForkTest : public RuntimeTest {
protected:
  /// Forks a process that runs `body`, for which it has some seconds.
  template <typename Body>
  static pid_t startChild(Body body) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      std::_Exit(body() ? 0 : 1);
    }
    return child;
  }

  /// Waits for such a process.
  static testing::AssertionResult hasSucceeded(pid_t child) {
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child)
      return testing::AssertionFailure() << "no child: " << errno;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      return testing::AssertionFailure() << "the child did not end";
    if (WIFSIGNALED(status))
      return testing::AssertionFailure()
             << "the child ended by signal " << WTERMSIG(status);
    if (WEXITSTATUS(status))
      return testing::AssertionFailure() << "the child failed";
    return testing::AssertionSuccess();
  }

  template <typename Body>
  static testing::AssertionResult succeedsInChild(Body body) {
    return hasSucceeded(startChild(std::move(body)));
  }

  /// Forks several such processes, a moment apart.
  template <typename Body>
  static void expectSuccessInChildren(Body body) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(700));
      children.push_back(startChild(body));
    }
    for (pid_t child : children)
      EXPECT_TRUE(hasSucceeded(child));
  }

  static bool runScale(const Kernel &kernel, const Device &device) {
    std::vector<float> x(16 * 32, 3.0f), z(16 * 32);
    Status done = kernel.launch(
        device, 1, TensorRef(z.data(), ElementType::F32, {16, 32}),
        TensorRef(x.data(), ElementType::F32, {16, 32}), 2.0f, 1);
    return done && z[511] == 7.0f;
  }

  /// Whether emulator and reference agree on what `kernel` of `kLinearKernel`
  /// computes.
  static bool runLinear(const Kernel &kernel) {
    LinearData onEmulator(16, 16, 128), onReference(16, 16, 128);
    Status emulated = kernel.launchList(
        *Device::emulator(), onEmulator.getGrid(), onEmulator.getArguments());
    Status referred = kernel.launchList(
        Device::reference(), onReference.getGrid(), onReference.getArguments());
    return emulated && referred && onEmulator.z == onReference.z;
  }

  /// A compiler that remembers nothing.
  static Compiler makeForgetful() {
    CacheOptions options;
    options.maxKernels = 0;
    options.useDisk = false;
    return Compiler(options);
  }
};

TEST_F(ForkTest, CompilesWhatAThreadOfTheParentCompiles) {
  // No folder, so that everybody compiles.
  CacheOptions memory;
  memory.useDisk = false;
  Compiler compiler(memory);
  CompileOptions options = getLinearOptions();
  // The child is forked while another thread compiles the same kernel: it must
  // not wait for that.
  std::atomic<bool> isCompiling{false}, mayGoOn{false};
  options.constants["BM"] = "32";
  std::thread thread([&] {
    for (int i = 0; i < 3 || !mayGoOn; ++i) {
      isCompiling = true;
      EXPECT_TRUE(bool(compiler.compile(kLinearKernel, options)));
      compiler.clearMemory();
    }
  });
  while (!isCompiling)
    std::this_thread::yield();
  for (int i = 0; i < 2; ++i)
    expectSuccessInChildren(
        [&] { return bool(compiler.compile(kLinearKernel, options)); });
  mayGoOn = true;
  thread.join();
}

TEST_F(ForkTest, LaunchesWhileThreadsOfTheParentCompileAndLaunch) {
  // What they launch has never been launched before, so that the first forks
  // meet all that is made once; in between they launch what the children do.
  Compiler compiler = makeForgetful();
  Expected<Kernel> shared = compiler.compile(kLinearKernel, getLinearOptions());
  ASSERT_TRUE(bool(shared));
  std::atomic<bool> mayEnd{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!mayEnd) {
        EXPECT_TRUE(runLinear(*shared));
        Expected<Kernel> own =
            compiler.compile(kLinearKernel, getLinearOptions());
        EXPECT_TRUE(own && runLinear(*own));
      }
    });
  for (int i = 0; i < 2; ++i)
    expectSuccessInChildren([&] { return runLinear(*shared); });
  mayEnd = true;
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(ForkTest, GoesOnInBothProcessesAfterAForkInAHook) {
  // The thread itself is in the middle of a compilation.
  Compiler compiler = makeCompiler();
  CompileOptions options = getLinearOptions();
  pid_t child = -1;
  options.onStage = [&](const Stage &) {
    if (child < 0) {
      child = ::fork();
      if (child == 0)
        ::alarm(20);
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  Expected<Kernel> kernel = compiler.compile(kLinearKernel, options);
  const bool succeeds = kernel && runLinear(*kernel);
  if (child == 0)
    std::_Exit(succeeds ? 0 : 1);
  EXPECT_TRUE(succeeds);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

TEST_F(ForkTest, DoesNotWaitForAHookThatWaitsForTheFork) {
  // As in Python, where the thread that forks holds what the hook needs.
  Compiler compiler = makeCompiler();
  CompileOptions options = getLinearOptions();
  std::atomic<bool> isInHook{false}, hasForked{false};
  options.onStage = [&](const Stage &) {
    isInHook = true;
    while (!hasForked)
      std::this_thread::yield();
  };
  std::thread thread(
      [&] { EXPECT_TRUE(bool(compiler.compile(kLinearKernel, options))); });
  while (!isInHook)
    std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  options.onStage = nullptr;
  EXPECT_TRUE(succeedsInChild(
      [&] { return bool(compiler.compile(kLinearKernel, options)); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  hasForked = true;
  thread.join();
}

TEST_F(ForkTest, TakesTurnsWithCompilations) {
  // Bytecode is tried in a fork, so that each of these compilations forks too.
  // Nobody waits for somebody who waits, and nobody is kept out for good, even
  // by a thread that does nothing but fork.
  constexpr int kThreads = 2;
  mlir::MLIRContext contexts[kThreads];
  mlir::OwningOpRef<mlir::ModuleOp> modules[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    KernelBuilder builder(contexts[i], "copy");
    mlir::Value z = builder.addArray("z", builder.getF32Type(), {kDynamic});
    mlir::Value x = builder.addArray("x", builder.getF32Type(), {kDynamic});
    mlir::Value program = builder.programId(0);
    builder.store(builder.load(x, {program}, {32}), z, {program});
    modules[i] = builder.finish();
  }
  Compiler compiler = makeForgetful();
  CompileOptions options;
  options.target = "sm_80";
  std::atomic<int> numEnded{0};
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  for (mlir::OwningOpRef<mlir::ModuleOp> &module : modules)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(bool(compile(compiler, *module, options)));
      ++numEnded;
    });
  int numForks = 0;
  for (; numEnded < kThreads; ++numForks)
    ASSERT_TRUE(succeedsInChild([] { return true; }));
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GE(numForks, 5);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

TEST_F(ForkTest, LaunchesOnStreamsOfItsOwn) {
  CompileOptions options;
  options.target = "sm_80";
  Compiler compiler = makeCompiler();
  Expected<Kernel> kernel = compiler.compile(kScaleKernel, options);
  Expected<Kernel> endless = compiler.compile(kEndlessKernel, options);
  ASSERT_TRUE(kernel && endless);
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    Expected<Stream> stream = Stream::create(device);
    ASSERT_TRUE(bool(stream));
    std::vector<int32_t> z(16);
    std::atomic<bool> stop{false};
    LaunchOptions launch;
    launch.cancel = &stop;
    Expected<Event> event = endless->launchAsyncList(
        *stream, 1, {TensorRef(z.data(), ElementType::I32, {16})}, launch);
    ASSERT_TRUE(bool(event));
    EXPECT_TRUE(succeedsInChild([&] {
      const std::string foreign =
          "the stream belongs to the process that this one was forked from; "
          "create another";
      Expected<Stream> own = Stream::create(device);
      return getMessage(stream->synchronize()) == foreign &&
             getMessage(event->synchronize()) == foreign &&
             getMessage(stream->record()) == foreign && own && own->record() &&
             own->synchronize() && device.synchronize() &&
             runScale(*kernel, device);
    }));
    stop = true;
    EXPECT_FALSE(bool(event->synchronize()));
  }
}

#ifndef __SANITIZE_ADDRESS__ // What the parent's threads hold looks lost here.
TEST_F(ForkTest, EndsAtOnceWhileTheParentRuns) {
  CompileOptions options;
  options.target = "sm_80";
  Expected<Kernel> kernel = makeCompiler().compile(kEndlessKernel, options);
  ASSERT_TRUE(bool(kernel));
  Expected<Stream> stream = Stream::create(Device::reference());
  ASSERT_TRUE(bool(stream));
  std::vector<int32_t> z(16);
  std::atomic<bool> stop{false};
  LaunchOptions launch;
  launch.cancel = &stop;
  Expected<Event> event = kernel->launchAsyncList(
      *stream, 1, {TensorRef(z.data(), ElementType::I32, {16})}, launch);
  ASSERT_TRUE(bool(event));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = ::fork();
  if (child == 0)
    std::exit(0); // what runs at the end of a process, runs
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  stop = true;
  EXPECT_FALSE(bool(event->synchronize()));
}
#endif

} // namespace
