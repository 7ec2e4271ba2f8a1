//===- HostStreamTest.cpp - Streams of the devices of the CPU -------------===//

#include "Kernels.h"
#include "tile/Runtime/Runtime.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

/// The devices, and a target for each.
class HostStreamTest : public ::testing::TestWithParam<bool> {
protected:
  Device device = GetParam() ? *Device::emulator("sm_80") : Device::reference();
};

INSTANTIATE_TEST_SUITE_P(Devices, HostStreamTest, ::testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "Emulator" : "Reference";
                         });

TEST_P(HostStreamTest, LaunchesInOrder) {
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  AxpyArrays arrays(device);
  Expected<Stream> stream = Stream::create(device);
  ASSERT_TRUE(bool(stream));
  EXPECT_TRUE(stream->getDevice() == device);
  EXPECT_EQ(stream->getNativeHandle(), nullptr);
  // z = 2x + y, then z = 3z + y.
  Expected<Event> first =
      kernel.launchAsync(*stream, {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f);
  Expected<Event> second =
      kernel.launchAsync(*stream, {32}, arrays.zs, arrays.zs, arrays.ys, 3.0f);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(bool(second->synchronize()));
  Expected<bool> isComplete = first->isComplete();
  ASSERT_TRUE(bool(isComplete));
  EXPECT_TRUE(*isComplete);
  EXPECT_EQ(arrays.read(),
            getAxpy(getAxpy(arrays.x, arrays.y, 2), arrays.y, 3));
  Expected<float> elapsed = second->getElapsedMs(*first);
  ASSERT_TRUE(bool(elapsed));
  EXPECT_GT(*elapsed, 0);
  EXPECT_EQ(*first->getElapsedMs(*first), 0);
}

TEST_P(HostStreamTest, WaitsForAnotherStream) {
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  for (int round = 0; round < 20; ++round) {
    AxpyArrays arrays(device, 10 + round);
    Expected<Stream> one = Stream::create(device), two = Stream::create(device);
    ASSERT_TRUE(one && two);
    ASSERT_TRUE(bool(
        kernel.launchAsync(*one, {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f)));
    Expected<Event> event = one->record();
    ASSERT_TRUE(bool(event));
    ASSERT_TRUE(bool(two->wait(*event)));
    ASSERT_TRUE(bool(kernel.launchAsync(*two, {32}, arrays.zs, arrays.zs,
                                        arrays.ys, -3.0f)));
    ASSERT_TRUE(bool(two->synchronize()));
    EXPECT_EQ(arrays.read(),
              getAxpy(getAxpy(arrays.x, arrays.y, 2), arrays.y, -3));
  }
}

TEST_P(HostStreamTest, WorkOutlivesTheHandle) {
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  AxpyArrays arrays(device);
  std::optional<Event> last;
  {
    Expected<Stream> stream = Stream::create(device);
    ASSERT_TRUE(bool(stream));
    for (int i = 0; i < 8; ++i) {
      Expected<Event> event = kernel.launchAsync(
          *stream, {32}, arrays.zs, arrays.xs, arrays.ys, 1.0f * i);
      ASSERT_TRUE(bool(event));
      last = *event;
    }
  }
  EXPECT_TRUE(bool(last->synchronize()));
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, 7));
}

TEST_P(HostStreamTest, DeviceWaitsForEveryStream) {
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  AxpyArrays one(device, 1), two(device, 7);
  {
    Expected<Stream> a = Stream::create(device), b = Stream::create(device);
    ASSERT_TRUE(a && b);
    ASSERT_TRUE(
        bool(kernel.launchAsync(*a, {32}, one.zs, one.xs, one.ys, 2.0f)));
    ASSERT_TRUE(
        bool(kernel.launchAsync(*b, {32}, two.zs, two.xs, two.ys, 3.0f)));
    ASSERT_TRUE(bool(device.synchronize()));
  }
  EXPECT_EQ(one.read(), getAxpy(one.x, one.y, 2));
  EXPECT_EQ(two.read(), getAxpy(two.x, two.y, 3));
}

TEST_P(HostStreamTest, ManyThreadsOnOneStream) {
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  Expected<Stream> stream = Stream::create(device);
  ASSERT_TRUE(bool(stream));
  std::vector<std::thread> threads;
  std::atomic<int> numRight{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        AxpyArrays arrays(device, 100 * t + i);
        Expected<Event> event = kernel.launchAsync(
            *stream, {32}, arrays.zs, arrays.xs, arrays.ys, 1.0f * t);
        if (event && event->synchronize())
          numRight += arrays.read() == getAxpy(arrays.x, arrays.y, t);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(numRight, 40);
}

TEST(HostStreamErrorTest, FirstErrorStays) {
  Device device = Device::reference();
  Kernel division = compileKernelText(kDivision, "sm_80");
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  AxpyArrays arrays(device);
  ASSERT_TRUE(bool(arrays.zs.fill(0)));
  Expected<Stream> stream = Stream::create(device);
  ASSERT_TRUE(bool(stream));
  Expected<Event> before = stream->record();
  Expected<Event> failed = division.launchAsync(*stream, {3});
  Expected<Event> after =
      kernel.launchAsync(*stream, {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f);
  ASSERT_TRUE(before && failed && after);
  EXPECT_TRUE(bool(before->synchronize()));
  Status status = failed->synchronize();
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().getCode(), ErrorCode::Fault);
  EXPECT_NE(status.error().str().find("divides by zero"), std::string::npos)
      << status.error().str();
  // What follows is not run, and says why.
  Status later = after->synchronize();
  ASSERT_FALSE(bool(later));
  EXPECT_EQ(later.error().str(), status.error().str());
  EXPECT_FALSE(bool(after->isComplete()));
  EXPECT_FALSE(bool(after->getElapsedMs(*before)));
  EXPECT_FALSE(bool(stream->synchronize()));
  EXPECT_EQ(arrays.read(), std::vector<float>(512, 0.0f));

  // A stream that waits for it fails too; others do not.
  Expected<Stream> waiting = Stream::create(device),
                   other = Stream::create(device);
  ASSERT_TRUE(waiting && other);
  ASSERT_TRUE(bool(waiting->wait(*failed)));
  EXPECT_FALSE(bool(waiting->synchronize()));
  EXPECT_TRUE(bool(other->synchronize()));
}

TEST(HostStreamErrorTest, EventOfAnotherDevice) {
  Expected<Stream> one = Stream::create(Device::reference());
  Expected<Stream> two = Stream::create(*Device::emulator("sm_80"));
  ASSERT_TRUE(one && two);
  Expected<Event> first = one->record(), second = two->record();
  ASSERT_TRUE(first && second);
  Status status = one->wait(*second);
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().getCode(), ErrorCode::InvalidArgument);
  EXPECT_EQ(status.error().getMessage(),
            "expects an event of reference, but got one of emulator (sm_80)");
  EXPECT_FALSE(bool(first->getElapsedMs(*second)));
}

TEST(HostStreamErrorTest, Borrow) {
  int anything = 0;
  Expected<Stream> stream = Stream::borrow(Device::reference(), &anything);
  ASSERT_FALSE(bool(stream));
  EXPECT_EQ(stream.error().getCode(), ErrorCode::InvalidArgument);
  EXPECT_EQ(stream.error().getMessage(),
            "expects a GPU to borrow a stream of, but got reference");
}

/// A launch whose progress is a hook into the stream's thread.
TEST(HostStreamErrorTest, DestroyedFromItsOwnThread) {
  Device device = Device::reference();
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  AxpyArrays arrays(device);
  auto stream = std::make_shared<std::optional<Stream>>(
      std::move(*Stream::create(device)));
  std::atomic<bool> mayGoOn{false};
  Status waited;
  LaunchOptions options;
  options.hostThreads = 1;
  options.progress = [&, stream](uint64_t, uint64_t) {
    while (!mayGoOn)
      std::this_thread::yield();
    if (*stream)
      waited = (*stream)->synchronize();
    stream->reset();
  };
  Expected<Event> event = kernel.launchAsyncList(
      **stream, {32}, {arrays.zs, arrays.xs, arrays.ys, 2.0f}, options);
  ASSERT_TRUE(bool(event));
  mayGoOn = true;
  EXPECT_TRUE(bool(event->synchronize()));
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, 2));
  EXPECT_FALSE(stream->has_value());
  ASSERT_FALSE(bool(waited));
  EXPECT_EQ(waited.error().getMessage(),
            "a stream's own work cannot wait for the stream");
}

TEST(HostStreamErrorTest, TheProcessEndsWithWorkInTheQueue) {
  auto end = [] {
    Device device = Device::reference();
    Kernel kernel = compileKernelText(kAxpy, "sm_80");
    AxpyArrays arrays(device);
    Expected<Stream> stream = Stream::create(device);
    for (int i = 0; i < 1000; ++i)
      (void)static_cast<bool>(kernel.launchAsync(*stream, {32}, arrays.zs,
                                                 arrays.xs, arrays.ys, 2.0f));
    std::exit(7);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(7), "");
}

TEST(HostStreamErrorTest, NotComeYet) {
  Device device = Device::reference();
  Kernel kernel = compileKernelText(kAxpy, "sm_80");
  AxpyArrays arrays(device);
  Expected<Stream> stream = Stream::create(device);
  ASSERT_TRUE(bool(stream));
  std::atomic<bool> mayGoOn{false};
  LaunchOptions options;
  options.progress = [&](uint64_t, uint64_t) {
    while (!mayGoOn)
      std::this_thread::yield();
  };
  Expected<Event> start = stream->record();
  Expected<Event> event = kernel.launchAsyncList(
      *stream, {32}, {arrays.zs, arrays.xs, arrays.ys, 2.0f}, options);
  ASSERT_TRUE(start && event);
  Expected<bool> isComplete = event->isComplete();
  ASSERT_TRUE(bool(isComplete));
  EXPECT_FALSE(*isComplete);
  Expected<float> elapsed = event->getElapsedMs(*start);
  ASSERT_FALSE(bool(elapsed));
  EXPECT_EQ(elapsed.error().getMessage(),
            "expects events that have come; synchronize first");
  mayGoOn = true;
  EXPECT_TRUE(bool(event->synchronize()));
  EXPECT_TRUE(bool(event->getElapsedMs(*start)));
}

} // namespace
