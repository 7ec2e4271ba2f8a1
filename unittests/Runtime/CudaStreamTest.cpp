//===- CudaStreamTest.cpp - Streams and events of a GPU -------------------===//

#include "CudaFixture.h"

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

class CudaStreamTest : public CudaTest {
protected:
  Stream createStream(int ordinal = 0) {
    Expected<Stream> stream = Stream::create(getDevice(ordinal));
    if (!stream) {
      ADD_FAILURE() << stream.error().str();
      std::abort();
    }
    return *stream;
  }

  /// Calls that wait, or that may.
  int countWaits() const {
    return fake.countCalls("cuStreamSynchronize") +
           fake.countCalls("cuEventSynchronize") +
           fake.countCalls("cuCtxSynchronize") +
           fake.countCalls("cuMemFree_v2");
  }

  Kernel kernel = compileKernelText(kAxpy, "sm_90a");
};

TEST_F(CudaStreamTest, LaunchesDoNotWait) {
  Stream stream = createStream();
  AxpyArrays arrays(getDevice());
  fake.reset();
  fake.hold(1);
  Expected<Event> first =
      kernel.launchAsync(stream, {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f);
  Expected<Event> second =
      kernel.launchAsync(stream, {32}, arrays.zs, arrays.zs, arrays.ys, 3.0f);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(countWaits(), 0);
  EXPECT_EQ(fake.countCalls("cuLaunchKernel"), 2);
  EXPECT_EQ(fake.countCalls("cuEventRecord"), 2);
  Expected<bool> isComplete = second->isComplete();
  ASSERT_TRUE(bool(isComplete));
  EXPECT_FALSE(*isComplete);
  EXPECT_ERROR(second->getElapsedMs(*first), InvalidArgument,
               "expects events that have come; synchronize first");
  ASSERT_TRUE(bool(second->synchronize()));
  EXPECT_TRUE(*second->isComplete());
  Expected<float> elapsed = second->getElapsedMs(*first);
  ASSERT_TRUE(bool(elapsed));
  EXPECT_GT(*elapsed, 0);
  EXPECT_EQ(arrays.read(),
            getAxpy(getAxpy(arrays.x, arrays.y, 2), arrays.y, 3));
}

TEST_F(CudaStreamTest, MemoryOutlivesItsBuffer) {
  Stream stream = createStream();
  fake.hold(1);
  std::optional<Event> event;
  {
    AxpyArrays arrays(getDevice());
    fake.reset();
    fake.hold(1);
    Expected<Event> launched =
        kernel.launchAsync(stream, {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f);
    ASSERT_TRUE(bool(launched));
    event = *launched;
  }
  // The arrays are gone, and their memory is there as long as it is used.
  EXPECT_EQ(fake.count("memory"), 3);
  EXPECT_EQ(countWaits(), 0);
  Expected<Event> marked = stream.record();
  ASSERT_TRUE(bool(marked));
  EXPECT_EQ(fake.count("memory"), 3);
  fake.hold(0);
  // Dropped at the next call, but freeing may wait for the whole GPU: that is
  // left to calls which may wait.
  const int64_t events = fake.count("events");
  ASSERT_TRUE(bool(stream.record()));
  EXPECT_LE(fake.count("events"), events);
  EXPECT_EQ(countWaits(), 0);
  EXPECT_EQ(fake.count("memory"), 3);
  ASSERT_TRUE(bool(Buffer::allocate(getDevice(), ElementType::I8, {1})));
  EXPECT_EQ(fake.count("memory"), 0);
}

TEST_F(CudaStreamTest, WorkOutlivesTheHandle) {
  {
    fake.hold(1);
    Stream stream = createStream();
    AxpyArrays arrays(getDevice());
    // What the copies to the device did is not of interest.
    fake.reset();
    fake.hold(1);
    ASSERT_TRUE(bool(kernel.launchAsync(stream, {32}, arrays.zs, arrays.xs,
                                        arrays.ys, 2.0f)));
  }
  EXPECT_EQ(fake.count("streams"), 0);
  EXPECT_EQ(fake.count("memory"), 3);
  EXPECT_EQ(countWaits(), 0);
  EXPECT_EQ(fake.count("violations"), 0);
  ASSERT_TRUE(bool(getDevice().synchronize()));
  EXPECT_EQ(fake.count("memory"), 0);
}

TEST_F(CudaStreamTest, KernelOutlivesItsHandle) {
  Stream stream = createStream();
  AxpyArrays arrays(getDevice());
  fake.hold(1);
  {
    Kernel other = compileKernelText(kAxpy, "sm_90a");
    ASSERT_TRUE(bool(other.launchAsync(stream, {32}, arrays.zs, arrays.xs,
                                       arrays.ys, 2.0f)));
  }
  EXPECT_EQ(fake.count("modules"), 1);
  ASSERT_TRUE(bool(stream.synchronize()));
  EXPECT_EQ(fake.count("modules"), 0);
}

TEST_F(CudaStreamTest, ManyLaunchesLeaveNothing) {
  Stream stream = createStream();
  AxpyArrays arrays(getDevice());
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(bool(kernel.launchAsync(stream, {1}, arrays.zs, arrays.xs,
                                        arrays.ys, 2.0f)));
    ASSERT_LE(fake.count("events"), 2);
    if (i % 1000 == 0)
      fake.reset();
  }
}

TEST_F(CudaStreamTest, WaitsForAnEvent) {
  Stream one = createStream(), two = createStream();
  Expected<Event> event = one.record();
  ASSERT_TRUE(bool(event));
  EXPECT_TRUE(bool(two.wait(*event)));
  EXPECT_EQ(fake.countCalls("cuStreamWaitEvent"), 1);
  Expected<Event> other = createStream(2).record();
  ASSERT_TRUE(bool(other));
  EXPECT_ERROR(two.wait(*other), InvalidArgument,
               "expects an event of cuda:0 (Fake GPU), but got one of cuda:2 "
               "(Fake GPU)");
  EXPECT_FALSE(bool(event->getElapsedMs(*other)));
}

TEST_F(CudaStreamTest, OfTheCaller) {
  Stream own = createStream();
  void *handle = own.getNativeHandle();
  ASSERT_NE(handle, nullptr);
  AxpyArrays arrays(getDevice());
  {
    Expected<Stream> borrowed = Stream::borrow(getDevice(), handle);
    ASSERT_TRUE(bool(borrowed));
    EXPECT_EQ(borrowed->getNativeHandle(), handle);
    EXPECT_TRUE(borrowed->getDevice() == getDevice());
    ASSERT_TRUE(bool(kernel.launchAsync(*borrowed, {32}, arrays.zs, arrays.xs,
                                        arrays.ys, 2.0f)));
    ASSERT_TRUE(bool(borrowed->synchronize()));
  }
  // It is still there.
  EXPECT_EQ(fake.count("streams"), 1);
  EXPECT_TRUE(bool(own.synchronize()));
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, 2));
  // Ours does not wait for the default stream.
  EXPECT_NE(std::string(fake.getLog()).find("cuStreamCreate 1\n"),
            std::string::npos);
}

TEST_F(CudaStreamTest, TheDefaultOne) {
  Expected<Stream> stream = Stream::borrow(getDevice(), nullptr);
  ASSERT_TRUE(bool(stream));
  AxpyArrays arrays(getDevice());
  ASSERT_TRUE(bool(kernel.launchAsync(*stream, {32}, arrays.zs, arrays.xs,
                                      arrays.ys, 2.0f)));
  ASSERT_TRUE(bool(stream->synchronize()));
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, 2));
  EXPECT_EQ(fake.countCalls("cuStreamGetCtx"), 0);
}

TEST_F(CudaStreamTest, OfAnotherContext) {
  EXPECT_ERROR(Stream::borrow(getDevice(), fake.makeForeignStream()),
               InvalidArgument,
               "expects a stream of the primary context of cuda:0 (Fake GPU), "
               "but got one of another context");
  int anything = 0;
  EXPECT_ERROR(Stream::borrow(getDevice(), &anything), Driver,
               "cuStreamGetCtx on cuda:0 failed: CUDA_ERROR_INVALID_HANDLE "
               "(invalid resource handle)");
}

TEST_F(CudaStreamTest, WhileAGraphIsCaptured) {
  Stream own = createStream();
  Expected<Stream> stream = Stream::borrow(getDevice(), own.getNativeHandle());
  ASSERT_TRUE(bool(stream));
  AxpyArrays arrays(getDevice());
  // Loaded before, and with something to reap.
  fake.hold(1);
  ASSERT_TRUE(bool(kernel.launchAsync(*stream, {32}, arrays.zs, arrays.xs,
                                      arrays.ys, 2.0f)));
  fake.hold(0);
  fake.capture(own.getNativeHandle(), 1);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(bool(kernel.launchAsync(*stream, {32}, arrays.zs, arrays.zs,
                                        arrays.ys, 2.0f)));
  EXPECT_EQ(fake.count("violations"), 0);
  fake.capture(own.getNativeHandle(), 0);
  ASSERT_TRUE(bool(stream->synchronize()));
  EXPECT_EQ(fake.count("launches"), 4);
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, 2));
}

TEST_F(CudaStreamTest, Copies) {
  Stream stream = createStream();
  const std::string data = HashSequence(9).bytes(4096);
  std::string back(4096, '\0');
  Expected<Buffer> buffer =
      Buffer::allocate(getDevice(), ElementType::I8, {4096});
  ASSERT_TRUE(bool(buffer));
  ASSERT_TRUE(bool(buffer->copyFromHost(data.data(), stream)));
  ASSERT_TRUE(bool(buffer->copyToHost(back.data(), stream)));
  EXPECT_EQ(fake.countCalls("cuStreamSynchronize"), 0);
  ASSERT_TRUE(bool(stream.synchronize()));
  EXPECT_EQ(back, data);
  Expected<Stream> host = Stream::create(Device::reference());
  ASSERT_TRUE(bool(host));
  EXPECT_ERROR(
      buffer->copyToHost(back.data(), *host), InvalidArgument,
      "expects a stream of cuda:0 (Fake GPU), but got one of reference");
  EXPECT_ERROR(buffer->copyFromHost(data.data(), createStream(1)),
               InvalidArgument,
               "expects a stream of cuda:0 (Fake GPU), but got one of cuda:1 "
               "(Fake GPU)");
}

TEST_F(CudaStreamTest, FaultOfAKernel) {
  Stream stream = createStream();
  AxpyArrays arrays(getDevice());
  // Twice the rows that there are.
  TensorRef large(arrays.xs.getData(), ElementType::F32, {128, 8}, {},
                  getDevice().getPlace());
  Expected<Event> event =
      kernel.launchAsync(stream, {64}, arrays.zs, large, arrays.ys, 2.0f);
  ASSERT_TRUE(bool(event)) << event.error().str();
  EXPECT_ERROR(event->synchronize(), Driver,
               "cuEventSynchronize after kernel 'axpy' on cuda:0 failed: "
               "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
               "encountered)");
  // It stays.
  EXPECT_FALSE(bool(event->isComplete()));
  EXPECT_FALSE(bool(stream.synchronize()));
  EXPECT_FALSE(bool(
      kernel.launchAsync(stream, {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f)));
  EXPECT_FALSE(bool(
      kernel.launch(getDevice(), {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f)));
  EXPECT_FALSE(bool(getDevice().synchronize()));
  fake.reset();
}

} // namespace
