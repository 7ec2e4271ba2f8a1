//===- CudaDeviceTest.cpp - GPUs and their memory -------------------------===//

#include "CudaDevice.h"
#include "CudaFixture.h"

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

class CudaDeviceTest : public CudaTest {};

TEST_F(CudaDeviceTest, Open) {
  Device device = getDevice();
  EXPECT_EQ(device.getKind(), Device::Kind::Cuda);
  EXPECT_EQ(device.getName(), "cuda:0 (Fake GPU)");
  EXPECT_EQ(device.getTarget(), "sm_90a");
  EXPECT_EQ(device.getPlace().str(), "memory of cuda:0");
  EXPECT_EQ(getDevice(1).getTarget(), "sm_120f");
  EXPECT_EQ(getDevice(5).getTarget(), "sm_80");
}

TEST_F(CudaDeviceTest, OneObjectAndOneContext) {
  Device device = getDevice(), other = getDevice(1);
  fake.reset();
  EXPECT_TRUE(getDevice() == device);
  EXPECT_FALSE(other == device);
  EXPECT_EQ(other.getPlace().ordinal, 1);
  EXPECT_TRUE(Device::best() == device);
  EXPECT_EQ(fake.countCalls("cuDevicePrimaryCtxRetain"), 0);
}

TEST_F(CudaDeviceTest, NoSuchDevice) {
  EXPECT_ERROR(Device::cuda(7), NotFound,
               "no GPU cuda:7; the CUDA driver finds 7, cuda:0 to cuda:6");
  EXPECT_ERROR(Device::cuda(-1), NotFound,
               "no GPU cuda:-1; the CUDA driver finds 7, cuda:0 to cuda:6");
  fake.setDevices("9.0");
  EXPECT_ERROR(Device::cuda(7), NotFound,
               "no GPU cuda:7; the CUDA driver finds 1, cuda:0");
  fake.setDevices("");
  EXPECT_ERROR(Device::cuda(7), Unavailable, "the CUDA driver finds no GPU");
  EXPECT_TRUE(Device::best() == Device::reference());
}

TEST_F(CudaDeviceTest, TooOldAndTooNew) {
  Expected<Device> old = Device::cuda(3);
  ASSERT_FALSE(bool(old));
  EXPECT_EQ(old.error().getCode(), ErrorCode::Unavailable);
  EXPECT_EQ(old.error().getMessage().find(
                "cuda:3 (Fake GPU): compute capability 7.5: unknown target "
                "'sm_75'; sm_80 is the lowest; known targets are "),
            0u);
  Expected<Device> fresh = Device::cuda(4);
  ASSERT_FALSE(bool(fresh));
  EXPECT_EQ(fresh.error().getCode(), ErrorCode::NotFound);
  EXPECT_EQ(fresh.error().getMessage().find(
                "cuda:4 (Fake GPU): compute capability 13.0: unknown target"),
            0u);
}

TEST_F(CudaDeviceTest, Memory) {
  const std::string data = HashSequence(3).bytes(4096);
  Expected<Buffer> buffer =
      Buffer::copyOf(getDevice(), ElementType::F16, {32, 64}, data.data());
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ(buffer->getRef().place, getDevice().getPlace());
  EXPECT_EQ(fake.count("memory"), 1);
  std::string back(4096, '\0');
  ASSERT_TRUE(bool(buffer->copyToHost(back.data())));
  EXPECT_EQ(back, data);
  ASSERT_TRUE(bool(buffer->fill(0xc3)));
  ASSERT_TRUE(bool(buffer->copyToHost(back.data())));
  EXPECT_EQ(back, std::string(4096, '\xc3'));
  *buffer = Buffer();
  EXPECT_EQ(fake.count("memory"), 0);

  Expected<Buffer> empty =
      Buffer::allocate(getDevice(), ElementType::F16, {0, 64});
  ASSERT_TRUE(bool(empty));
  EXPECT_NE(empty->getData(), nullptr);
}

TEST_F(CudaDeviceTest, OutOfMemory) {
  EXPECT_ERROR(
      Buffer::allocate(getDevice(), ElementType::F32, {int64_t(1) << 40}),
      OutOfMemory,
      "cannot allocate 4398046511104 bytes: cuMemAlloc on cuda:0 failed: "
      "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

TEST_F(CudaDeviceTest, TheCallersContextStays) {
  void *foreign = fake.pushForeign();
  {
    AxpyArrays arrays(getDevice());
    Kernel kernel = compileKernelText(kAxpy, "sm_90a");
    Expected<Stream> stream = Stream::create(getDevice());
    ASSERT_TRUE(bool(stream));
    EXPECT_EQ(fake.getCurrent(), foreign);
    Expected<Event> event = kernel.launchAsync(*stream, {32}, arrays.zs,
                                               arrays.xs, arrays.ys, 2.0f);
    ASSERT_TRUE(bool(event));
    EXPECT_EQ(fake.getCurrent(), foreign);
    ASSERT_TRUE(bool(event->synchronize()));
    EXPECT_TRUE(bool(stream->synchronize()));
    EXPECT_EQ(fake.getCurrent(), foreign);
    // Errors put it back too.
    fake.fail("cuLaunchKernel", 1, 1);
    EXPECT_FALSE(bool(kernel.launchAsync(*stream, {32}, arrays.zs, arrays.xs,
                                         arrays.ys, 2.0f)));
    EXPECT_EQ(fake.getCurrent(), foreign);
  }
  EXPECT_EQ(fake.getCurrent(), foreign);
  fake.reset();
}

TEST_F(CudaDeviceTest, MemoryThatIsNotTheDevices) {
  Kernel kernel = compileKernelText(kAxpy, "sm_90a");
  AxpyArrays arrays(getDevice());
  AxpyArrays others(getDevice(1));
  alignas(16) float host[512] = {};
  TensorRef claimed(host, ElementType::F32, {64, 8}, {},
                    getDevice().getPlace());
  EXPECT_ERROR(
      kernel.launch(getDevice(), {32}, arrays.zs, claimed, arrays.ys, 2.0f),
      InvalidArgument,
      "argument 1 (x): expects memory of cuda:0, but got an address "
      "that the driver does not know");
  // Page-locked memory is known, and is the host's.
  fake.registerHost(host, 0);
  EXPECT_ERROR(
      kernel.launch(getDevice(), {32}, arrays.zs, claimed, arrays.ys, 2.0f),
      InvalidArgument,
      "argument 1 (x): expects memory of cuda:0, but got host memory");
  fake.registerHost(host, -1);
  // Another GPU's, said so or not.
  Status said =
      kernel.launch(getDevice(), {32}, arrays.zs, others.xs, arrays.ys, 2.0f);
  ASSERT_FALSE(bool(said));
  EXPECT_EQ(said.error().getCode(), ErrorCode::InvalidArgument);
  TensorRef moved = others.xs.getRef();
  moved.place = getDevice().getPlace();
  EXPECT_ERROR(
      kernel.launch(getDevice(), {32}, arrays.zs, moved, arrays.ys, 2.0f),
      InvalidArgument,
      "argument 1 (x): expects memory of cuda:0, but got memory of cuda:1");
  EXPECT_EQ(fake.count("launches"), 0);
}

TEST_F(CudaDeviceTest, ManagedMemory) {
  alignas(16) float host[512] = {};
  fake.registerHost(host, 1);
  TensorRef array(host, ElementType::F32, {64, 8}, {}, getDevice().getPlace());
  EXPECT_TRUE(bool(getDevice().getImpl()->checkArray(array, "argument 0")));
}

TEST(CudaTargetTest, CanAssemble) {
  // What runs, and what is for every later GPU.
  EXPECT_TRUE(canAssemble("sm_80", 8, 0));
  EXPECT_TRUE(canAssemble("sm_80", 9, 0));
  EXPECT_TRUE(canAssemble("sm_89", 12, 1));
  EXPECT_TRUE(canAssemble("sm_100f", 10, 3));
  EXPECT_FALSE(canAssemble("sm_90", 8, 9));
  EXPECT_FALSE(canAssemble("sm_90a", 10, 0));
  EXPECT_FALSE(canAssemble("sm_100f", 12, 0));
  EXPECT_FALSE(canAssemble("sm_", 12, 0));
}

TEST(CudaTargetTest, CanRun) {
  const struct {
    const char *target;
    int major, minor;
    bool expected;
  } rows[] = {
      {"sm_80", 8, 0, true},     {"sm_80", 8, 9, true},
      {"sm_89", 8, 6, false},    {"sm_80", 9, 0, false},
      {"sm_90", 9, 0, true},     {"sm_90a", 9, 0, true},
      {"sm_90a", 8, 9, false},   {"sm_100a", 10, 0, true},
      {"sm_100a", 10, 3, false}, {"sm_100f", 10, 3, true},
      {"sm_103f", 10, 0, false}, {"sm_100", 10, 3, true},
      {"sm_120f", 12, 1, true},  {"sm_120a", 12, 1, false},
      {"sm_120a", 9, 0, false},  {"sm_120", 12, 0, true},
      {"sm_121", 12, 0, false},  {"sm_110a", 11, 0, true},
      {"", 9, 0, false},         {"sm_90x", 9, 0, false},
  };
  for (auto &row : rows)
    EXPECT_EQ(canRun(row.target, row.major, row.minor), row.expected)
        << row.target << " on " << row.major << "." << row.minor;
}

/// Run in a process of its own, in which no driver has been loaded.
TEST(CudaInitTest, Fails) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run = [] {
    FakeCuda fake;
    fake.fail("cuInit", 100, 1);
    Expected<Device> device = Device::cuda(0);
    const bool isRight =
        !device && device.error().getCode() == ErrorCode::Unavailable &&
        device.error().getMessage() ==
            "cuInit failed: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is "
            "detected)";
    // The next try succeeds.
    std::exit(isRight && Device::cuda(0) ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

/// A GPU that is too old does not hide the next one.
TEST(CudaInitTest, BestPassesOver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run = [] {
    FakeCuda fake;
    fake.setDevices("7.5,12.1");
    std::exit(Device::best().getName() == "cuda:1 (Fake GPU)" ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

} // namespace
