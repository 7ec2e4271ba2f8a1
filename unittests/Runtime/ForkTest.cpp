//===- ForkTest.cpp - Processes that are forked while threads work --------===//

#include "RuntimeFixture.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

class ForkTest : public RuntimeTest {
protected:
  /// Runs `body` in a forked process, which it must leave in a few seconds.
  template <typename Body>
  static bool succeedsInChild(Body body) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      std::_Exit(body() ? 0 : 1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0;
  }

  static bool runScale(const Kernel &kernel, const Device &device) {
    std::vector<float> x(16 * 32, 3.0f), z(16 * 32);
    Status done = kernel.launch(
        device, 1, TensorRef(z.data(), ElementType::F32, {16, 32}),
        TensorRef(x.data(), ElementType::F32, {16, 32}), 2.0f, 1);
    return done && z[511] == 7.0f;
  }
};

TEST_F(ForkTest, CompilesWhatAThreadOfTheParentCompiles) {
  Compiler compiler = makeCompiler();
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
      std::filesystem::remove_all(folder / "cache");
    }
  });
  while (!isCompiling)
    std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(7));
    EXPECT_TRUE(succeedsInChild(
        [&] { return bool(compiler.compile(kLinearKernel, options)); }));
  }
  mayGoOn = true;
  thread.join();
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
