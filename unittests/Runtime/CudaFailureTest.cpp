//===- CudaFailureTest.cpp - Every call of the driver fails once ----------===//
//
// One program that uses everything, run again and again: each time another call
// of the driver fails. The failure must come back as an error that names the
// call and the code, and everything must be freed.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

/// Uses everything on one GPU; stops at the first error and returns it.
Status runProgram(const Device &device, const Kernel &kernel) {
  const std::vector<float> x = makeFloats(512, 1), y = makeFloats(512, 2);
  auto copy = [&](const std::vector<float> &data) {
    return Buffer::copyOf(device, ElementType::F32, {64, 8}, data.data());
  };
  Expected<Buffer> zs = Buffer::allocate(device, ElementType::F32, {64, 8});
  if (!zs)
    return std::move(zs).error();
  if (Status done = zs->fill(0x11); !done)
    return done;
  Expected<Buffer> xs = copy(x), ys = copy(y);
  if (!xs)
    return std::move(xs).error();
  if (!ys)
    return std::move(ys).error();
  Expected<Stream> own = Stream::create(device);
  if (!own)
    return std::move(own).error();
  Expected<Stream> stream = Stream::borrow(device, own->getNativeHandle());
  if (!stream)
    return std::move(stream).error();
  Expected<Event> start = stream->record();
  if (!start)
    return std::move(start).error();
  Expected<Event> event =
      kernel.launchAsync(*stream, {32}, *zs, *xs, *ys, 2.0f);
  if (!event)
    return std::move(event).error();
  if (Status done = own->wait(*event); !done)
    return done;
  std::vector<float> z(512);
  if (Status done = zs->copyToHost(z.data(), *own); !done)
    return done;
  if (Status done = xs->copyFromHost(y.data(), *own); !done)
    return done;
  if (Expected<bool> isComplete = event->isComplete(); !isComplete)
    return std::move(isComplete).error();
  if (Status done = event->synchronize(); !done)
    return done;
  if (Expected<float> elapsed = event->getElapsedMs(*start); !elapsed)
    return std::move(elapsed).error();
  if (Status done = stream->synchronize(); !done)
    return done;
  if (Status done = zs->copyToHost(z.data()); !done)
    return done;

  // Arrays of the host.
  alignas(16) float host[512];
  std::copy(x.begin(), x.end(), host);
  TensorRef array(static_cast<void *>(host), ElementType::F32, {64, 8});
  LaunchOptions options;
  options.copyHostArrays = true;
  if (Status done =
          kernel.launchList(device, {32}, {*zs, array, *ys, 2.0f}, options);
      !done)
    return done;
  if (Status done =
          kernel.launchList(device, {32}, {array, array, *ys, 2.0f}, options);
      !done)
    return done;
  return device.synchronize();
}

/// What the opening of a device calls.
constexpr const char *kSymbols[] = {
    "cuDeviceGetCount",         "cuDeviceGet",
    "cuDeviceGetName",          "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
};
/// What the program calls.
constexpr const char *kProgramSymbols[] = {
    "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",    "cuCtxSynchronize",
    "cuMemAlloc_v2",       "cuMemcpyHtoDAsync_v2",  "cuMemcpyDtoHAsync_v2",
    "cuMemsetD8Async",     "cuPointerGetAttribute", "cuModuleLoadDataEx",
    "cuModuleGetFunction", "cuLaunchKernel",        "cuStreamCreate",
    "cuStreamSynchronize", "cuStreamGetCtx",        "cuStreamWaitEvent",
    "cuStreamIsCapturing", "cuEventCreate",         "cuEventRecord",
    "cuEventQuery",        "cuEventSynchronize",    "cuEventElapsedTime",
};
/// What the end of an object calls: nobody hears of a failure.
constexpr const char *kEndSymbols[] = {
    "cuMemFree_v2",
    "cuModuleUnload",
    "cuStreamDestroy_v2",
    "cuEventDestroy_v2",
};

/// What the error calls a function: without the version of its symbol.
std::string getName(llvm::StringRef symbol) {
  symbol.consume_back("_v2");
  return symbol.str();
}

class CudaFailureTest : public CudaTest {
protected:
  std::vector<int64_t> countObjects() const {
    std::vector<int64_t> numbers;
    for (const char *what : {"memory", "modules", "streams", "events"})
      numbers.push_back(fake.count(what));
    return numbers;
  }
};

TEST_F(CudaFailureTest, Opening) {
  std::string devices = kDevices;
  int ordinal = 7;
  for (const char *symbol : kSymbols) {
    for (int nth = 1;; ++nth) {
      // A GPU that has not been opened.
      devices += ",9.0";
      fake.setDevices(devices.c_str());
      fake.reset();
      const int64_t contexts = fake.count("contexts");
      fake.fail(symbol, 999, nth);
      Expected<Device> device = Device::cuda(ordinal++);
      if (!fake.hasFailed()) {
        EXPECT_TRUE(bool(device));
        EXPECT_GT(nth, 1) << symbol;
        break;
      }
      ASSERT_FALSE(bool(device)) << symbol;
      EXPECT_EQ(device.error().getCode(), ErrorCode::Driver);
      EXPECT_EQ(device.error().getMessage().find(symbol), 0u)
          << device.error().getMessage();
      EXPECT_NE(device.error().getMessage().find(
                    " failed: CUDA_ERROR_UNKNOWN (unknown error)"),
                std::string::npos)
          << device.error().getMessage();
      EXPECT_EQ(fake.count("contexts"), contexts);
    }
  }
}

/// Both with work that is complete at once and with work that never is.
TEST_F(CudaFailureTest, Using) {
  Device device = getDevice();
  mayLeak = true;
  for (int hold : {0, 1}) {
    for (const char *symbol : kProgramSymbols) {
      for (int nth = 1; nth < 1000; ++nth) {
        SCOPED_TRACE(symbol + (" " + std::to_string(nth)));
        // Anew, so that it is loaded in every run.
        std::optional<Kernel> kernel = compileKernelText(kAxpy, "sm_90a");
        fake.reset();
        fake.hold(hold);
        const std::vector<int64_t> before = countObjects();
        fake.fail(symbol, 999, nth);
        Status status = runProgram(device, *kernel);
        const bool hasFailed = fake.hasFailed();
        const int64_t violations = fake.count("violations");
        // One that has not happened must not happen below.
        fake.fail(symbol, 0, 0);
        if (!hasFailed) {
          EXPECT_TRUE(bool(status)) << status.error().str();
          EXPECT_GT(nth, 1);
        } else if (status) {
          // The end of an object: there is nobody to tell.
          EXPECT_TRUE(llvm::StringRef(symbol).starts_with("cuCtxP"));
          EXPECT_GT(nth, 1);
        } else {
          const std::string message = status.error().getMessage();
          EXPECT_NE(message.find(getName(symbol)), std::string::npos)
              << message;
          EXPECT_NE(message.find(" failed: CUDA_ERROR_UNKNOWN (unknown error)"),
                    std::string::npos)
              << message;
          EXPECT_EQ(status.error().getCode(), ErrorCode::Driver);
        }
        EXPECT_EQ(violations, 0);
        EXPECT_EQ(fake.getCurrent(), nullptr);
        kernel.reset();
        fake.hold(0);
        ASSERT_TRUE(bool(device.synchronize()));
        // An object that cannot make its context current cannot be freed.
        if (llvm::StringRef(symbol) != "cuCtxPushCurrent_v2" || !status) {
          EXPECT_EQ(countObjects(), before);
        }
        if (!hasFailed || HasFailure())
          break;
      }
    }
  }
}

TEST_F(CudaFailureTest, Ending) {
  Device device = getDevice();
  for (const char *symbol : kEndSymbols) {
    SCOPED_TRACE(symbol);
    std::optional<Kernel> kernel = compileKernelText(kAxpy, "sm_90a");
    fake.reset();
    const std::vector<int64_t> before = countObjects();
    fake.fail(symbol, 999, 1);
    EXPECT_TRUE(bool(runProgram(device, *kernel)));
    kernel.reset();
    EXPECT_TRUE(fake.hasFailed());
    EXPECT_EQ(fake.getCurrent(), nullptr);
    ASSERT_TRUE(bool(device.synchronize()));
    EXPECT_EQ(countObjects(), before);
  }
}

/// A code that this driver has no name for.
TEST_F(CudaFailureTest, CodeWithoutName) {
  fake.fail("cuMemAlloc_v2", 12345, 1);
  EXPECT_ERROR(Buffer::allocate(getDevice(), ElementType::F32, {1}), Driver,
               "cannot allocate 4 bytes: cuMemAlloc on cuda:0 failed: CUDA "
               "error 12345");
}

} // namespace
