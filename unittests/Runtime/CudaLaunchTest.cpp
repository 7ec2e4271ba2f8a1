//===- CudaLaunchTest.cpp - Load and launch kernels on a GPU --------------===//

#include "CudaFixture.h"
#include "DeviceImpl.h"
#include "KernelImpl.h"
#include "tile/Codegen/Ptxas.h"

#include <atomic>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

class CudaLaunchTest : public CudaTest {
protected:
  Kernel kernel = compileKernelText(kAxpy, "sm_90a");
};

/// A launch of `kernel` with a code of the test's own.
LaunchRequest makeRequest(const Kernel &kernel, const AxpyArrays &arrays,
                          std::shared_ptr<const CompiledCode> code) {
  LaunchRequest request;
  request.kernel = kernel.getImpl();
  request.code = std::move(code);
  request.grid = {32};
  for (const Buffer *buffer : {&arrays.zs, &arrays.xs, &arrays.ys}) {
    CheckedArgument argument;
    argument.array = buffer->getRef();
    request.arguments.push_back(std::move(argument));
  }
  request.arguments.emplace_back();
  return request;
}

std::shared_ptr<CompiledCode> copyCode(const Kernel &kernel) {
  const CompiledCode &base = *kernel.getImpl()->getBase();
  auto code = std::make_shared<CompiledCode>();
  code->target = base.target;
  code->entry = base.entry;
  code->ptx = base.ptx;
  code->blockThreads = base.blockThreads;
  code->sharedBytes = base.sharedBytes;
  return code;
}

TEST_F(CudaLaunchTest, Synchronous) {
  AxpyArrays arrays(getDevice());
  ASSERT_TRUE(bool(kernel.launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                 arrays.ys, -1.5f)));
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, -1.5f));
  // The default stream, and threads along x.
  const std::string log = fake.getLog();
  EXPECT_NE(log.find("cuLaunchKernel 32,1,1 " +
                     std::to_string(kernel.getBlockThreads()) + ",1,1 " +
                     std::to_string(kernel.getSharedBytes()) + " default"),
            std::string::npos)
      << log;
}

TEST_F(CudaLaunchTest, ParametersOfStridedArrays) {
  // Rows of 8 in rows of 24 and 40.
  Device device = getDevice();
  std::vector<float> wide = makeFloats(64 * 24, 5);
  Expected<Buffer> x =
      Buffer::copyOf(device, ElementType::F32, {64, 24}, wide.data());
  Expected<Buffer> z = Buffer::allocate(device, ElementType::F32, {64, 40});
  AxpyArrays arrays(device);
  ASSERT_TRUE(x && z);
  TensorRef xRef(x->getData(), ElementType::F32, {64, 8}, {24, 1},
                 device.getPlace());
  TensorRef zRef(z->getData(), ElementType::F32, {64, 8}, {40, 1},
                 device.getPlace());
  ASSERT_TRUE(bool(kernel.launch(device, {32}, zRef, xRef, arrays.ys, 3.0f)));
  std::vector<float> result(64 * 40);
  ASSERT_TRUE(bool(z->copyToHost(result.data())));
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 8; ++j)
      ASSERT_EQ(result[i * 40 + j], wide[i * 24 + j] * 3 + arrays.y[i * 8 + j])
          << i << ", " << j;
}

TEST_F(CudaLaunchTest, LoadedOnceForManyThreads) {
  AxpyArrays arrays(getDevice());
  std::vector<std::thread> threads;
  std::atomic<int> numDone{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      Expected<Stream> stream = Stream::create(getDevice());
      for (int i = 0; i < 25; ++i)
        numDone += bool(kernel.launchAsync(*stream, {1}, arrays.zs, arrays.xs,
                                           arrays.ys, 2.0f));
      numDone += bool(stream->synchronize());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(numDone, 8 * 26);
  EXPECT_EQ(fake.count("launches"), 200);
  EXPECT_EQ(fake.countCalls("cuModuleLoadDataEx"), 1);
  // Another GPU has another context.
  AxpyArrays others(getDevice(2));
  ASSERT_TRUE(bool(kernel.launch(getDevice(2), {32}, others.zs, others.xs,
                                 others.ys, 2.0f)));
  EXPECT_EQ(fake.countCalls("cuModuleLoadDataEx"), 2);
  EXPECT_EQ(others.read(), getAxpy(others.x, others.y, 2));
}

TEST_F(CudaLaunchTest, UnloadedWithTheKernel) {
  {
    Kernel other = compileKernelText(kAxpy, "sm_90a");
    AxpyArrays arrays(getDevice());
    ASSERT_TRUE(bool(other.launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                  arrays.ys, 2.0f)));
    EXPECT_EQ(fake.count("modules"), 1);
  }
  EXPECT_EQ(fake.count("modules"), 0);
}

TEST_F(CudaLaunchTest, TargetThatTheDeviceCannotRun) {
  AxpyArrays arrays(getDevice(1));
  EXPECT_ERROR(
      kernel.launch(getDevice(1), {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f),
      InvalidArgument,
      "kernel 'axpy' is compiled for sm_90a, which cuda:1 (Fake GPU) "
      "of compute capability 12.0 cannot run; its target is sm_120f");
  EXPECT_EQ(fake.countCalls("cuModuleLoadDataEx"), 0);
}

/// The machine code of ptxas would be for another generation; the PTX is not.
TEST_F(CudaLaunchTest, DriverAssemblesForLaterGpus) {
  AxpyArrays arrays(getDevice());
  Kernel portable = compileKernelText(kAxpy, "sm_80", Assembler::Auto);
  ASSERT_TRUE(bool(portable.launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                   arrays.ys, 2.0f)));
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, 2));
  Kernel assembled = compileKernelText(kAxpy, "sm_80", Assembler::Ptxas);
  EXPECT_ERROR(assembled.launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                arrays.ys, 2.0f),
               InvalidArgument,
               "kernel 'axpy' is compiled for sm_80, which cuda:0 (Fake GPU) "
               "of compute capability 9.0 cannot run; its target is sm_90a");
}

TEST_F(CudaLaunchTest, SharedMemory) {
  AxpyArrays arrays(getDevice());
  const struct {
    unsigned bytes;
    const char *call; ///< What must be in the log, or null.
  } rows[] = {{48 * 1024, nullptr},
              {48 * 1024 + 16, "cuFuncSetAttribute 8 49168\n"},
              {227 * 1024, "cuFuncSetAttribute 8 232448\n"}};
  for (auto &row : rows) {
    fake.reset();
    auto code = copyCode(kernel);
    code->sharedBytes = row.bytes;
    ASSERT_TRUE(
        bool(getDevice().getImpl()->launch(makeRequest(kernel, arrays, code))));
    const std::string log = fake.getLog();
    if (row.call)
      EXPECT_NE(log.find(row.call), std::string::npos) << log;
    else
      EXPECT_EQ(fake.countCalls("cuFuncSetAttribute"), 0);
  }
  auto code = copyCode(kernel);
  code->sharedBytes = 227 * 1024 + 1;
  EXPECT_ERROR(getDevice().getImpl()->launch(makeRequest(kernel, arrays, code)),
               InvalidArgument,
               "kernel 'axpy' needs 232449 bytes of shared memory for a block, "
               "but cuda:0 (Fake GPU) has 232448");
}

TEST_F(CudaLaunchTest, PtxThatTheDriverRefuses) {
  AxpyArrays arrays(getDevice());
  auto code = copyCode(kernel);
  code->ptx = ".version 8.8\n.target sm_90a\n.address_size 64\nnonsense\n";
  Status status =
      getDevice().getImpl()->launch(makeRequest(kernel, arrays, code));
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().getCode(), ErrorCode::Driver);
  EXPECT_EQ(status.error().getMessage().find(
                "cuModuleLoadDataEx of kernel 'axpy' on cuda:0 failed: "
                "CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed); the "
                "driver says: ptx:4:1: error: "),
            0u)
      << status.error().getMessage();
}

TEST_F(CudaLaunchTest, DriverThatIsTooOld) {
  AxpyArrays arrays(getDevice());
  fake.fail("cuModuleLoadDataEx", 222, 1);
  EXPECT_ERROR(
      kernel.launch(getDevice(), {32}, arrays.zs, arrays.xs, arrays.ys, 2.0f),
      Unavailable,
      "cuModuleLoadDataEx of kernel 'axpy' on cuda:0 failed: "
      "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (the provided PTX was "
      "compiled with an unsupported toolchain.); the driver is that "
      "of CUDA 12.4, which is too old for this PTX");
}

TEST_F(CudaLaunchTest, AssemblerThatIsNotThere) {
  AxpyArrays arrays(getDevice());
  CacheOptions cache;
  cache.useDisk = false;
  CompileOptions options;
  options.target = "sm_90a";
  options.ptxas = "/nowhere/ptxas";
  Expected<Kernel> automatic = Compiler(cache).compile(kAxpy, options);
  options.assembler = Assembler::Ptxas;
  Expected<Kernel> demanding = Compiler(cache).compile(kAxpy, options);
  ASSERT_TRUE(automatic && demanding);

  // The driver takes the PTX, and an error of it says what was tried before.
  fake.fail("cuModuleLoadDataEx", 200, 1);
  Status failed = automatic->launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                    arrays.ys, 2.0f);
  ASSERT_FALSE(bool(failed));
  EXPECT_NE(failed.error().getMessage().find(
                "CUDA_ERROR_INVALID_IMAGE (device kernel image is invalid); "
                "ptxas was not used: "),
            std::string::npos)
      << failed.error().getMessage();
  EXPECT_TRUE(bool(automatic->launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                     arrays.ys, 2.0f)));
  EXPECT_EQ(arrays.read(), getAxpy(arrays.x, arrays.y, 2));

  fake.reset();
  Status refused = demanding->launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                     arrays.ys, 2.0f);
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.error().getCode(), ErrorCode::Unavailable);
  EXPECT_NE(refused.error().getMessage().find("/nowhere/ptxas"),
            std::string::npos);
  EXPECT_EQ(fake.countCalls("cuModuleLoadDataEx"), 0);
}

TEST_F(CudaLaunchTest, Cubin) {
  llvm::Expected<std::optional<tile::Ptxas>> ptxas = tile::Ptxas::find();
  ASSERT_TRUE(bool(ptxas)) << llvm::toString(ptxas.takeError());
  if (!*ptxas)
    GTEST_SKIP() << "no ptxas";
  Kernel assembled = compileKernelText(kAxpy, "sm_90a", Assembler::Auto);
  Expected<std::string> cubin = assembled.getCubin();
  ASSERT_TRUE(bool(cubin)) << cubin.error().str();
  AxpyArrays arrays(getDevice());
  fake.reset();
  EXPECT_TRUE(bool(assembled.launch(getDevice(), {32}, arrays.zs, arrays.xs,
                                    arrays.ys, 2.0f)));
  EXPECT_NE(std::string(fake.getLog()).find("cuModuleLoadDataEx cubin\n"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Arrays in host memory
//===----------------------------------------------------------------------===//

/// Arrays of a launch of `kAxpy` over 64 rows, aligned as kernels want them.
struct HostMemory {
  HostMemory() {
    std::vector<float> numbers = makeFloats(64 * 24, 21);
    std::copy(numbers.begin(), numbers.end(), wide);
    numbers = makeFloats(512, 22);
    std::copy(numbers.begin(), numbers.end(), y);
    numbers = makeFloats(64 * 40, 23);
    std::copy(numbers.begin(), numbers.end(), z);
  }

  /// Rows of 8 in rows of 24 and 40.
  TensorRef getX() const {
    return TensorRef(static_cast<const void *>(wide), ElementType::F32, {64, 8},
                     {24, 1});
  }
  TensorRef getY() const {
    return TensorRef(static_cast<const void *>(y), ElementType::F32, {64, 8});
  }
  TensorRef getZ() {
    return TensorRef(static_cast<void *>(z), ElementType::F32, {64, 8},
                     {40, 1});
  }

  alignas(16) float wide[64 * 24];
  alignas(16) float y[512];
  alignas(16) float z[64 * 40];
};

class CudaHostArraysTest : public CudaLaunchTest {
protected:
  CudaHostArraysTest() { options.copyHostArrays = true; }
  LaunchOptions options;
};

TEST_F(CudaHostArraysTest, OnlyWhereAskedFor) {
  HostMemory host;
  Status status = kernel.launch(getDevice(), {32}, host.getZ(), host.getX(),
                                host.getY(), 2.0f);
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().getCode(), ErrorCode::InvalidArgument);
  EXPECT_EQ(fake.count("launches"), 0);
  Expected<Stream> stream = Stream::create(getDevice());
  ASSERT_TRUE(bool(stream));
  EXPECT_FALSE(bool(kernel.launchAsyncList(
      *stream, {32}, {host.getZ(), host.getX(), host.getY(), 2.0f}, options)));
}

TEST_F(CudaHostArraysTest, CopiesBothWaysAndKeepsGaps) {
  HostMemory host;
  const std::vector<float> before(host.z, host.z + 64 * 40);
  const std::vector<float> wide(host.wide, host.wide + 64 * 24);
  ASSERT_TRUE(bool(kernel.launchList(
      getDevice(), {32}, {host.getZ(), host.getX(), host.getY(), 2.0f},
      options)));
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 40; ++j)
      ASSERT_EQ(host.z[i * 40 + j],
                j < 8 ? host.wide[i * 24 + j] * 2 + host.y[i * 8 + j]
                      : before[i * 40 + j])
          << i << ", " << j;
  EXPECT_EQ(std::vector<float>(host.wide, host.wide + 64 * 24), wide);
  // What is only read does not come back, and nothing is left.
  EXPECT_EQ(fake.countCalls("cuMemcpyHtoDAsync_v2"), 3);
  EXPECT_EQ(fake.countCalls("cuMemcpyDtoHAsync_v2"), 1);
  EXPECT_EQ(fake.count("memory"), 0);
}

TEST_F(CudaHostArraysTest, BesideDeviceArrays) {
  HostMemory host;
  AxpyArrays arrays(getDevice());
  ASSERT_TRUE(bool(kernel.launchList(
      getDevice(), {32}, {arrays.zs, host.getX(), arrays.ys, 2.0f}, options)));
  std::vector<float> z = arrays.read();
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 8; ++j)
      ASSERT_EQ(z[i * 8 + j], host.wide[i * 24 + j] * 2 + arrays.y[i * 8 + j]);
}

TEST_F(CudaHostArraysTest, OneCopyForArraysThatOverlap) {
  // z is x, and y begins 16 rows into it: row i of y is row i + 16 of x.
  alignas(16) float memory[96 * 8];
  std::vector<float> numbers = makeFloats(96 * 8, 31);
  std::copy(numbers.begin(), numbers.end(), memory);
  TensorRef x(static_cast<void *>(memory), ElementType::F32, {64, 8});
  TensorRef y(static_cast<void *>(memory + 32 * 8), ElementType::F32, {64, 8});
  // Program 0 alone, so that nothing is read after it was written.
  ASSERT_TRUE(
      bool(kernel.launchList(getDevice(), {1}, {x, x, y, 2.0f}, options)));
  for (int i = 0; i < 96 * 8; ++i)
    ASSERT_EQ(memory[i],
              i < 16 ? numbers[i] * 2 + numbers[32 * 8 + i] : numbers[i])
        << i;
  EXPECT_EQ(fake.countCalls("cuMemAlloc_v2"), 1);
  EXPECT_EQ(fake.countCalls("cuMemcpyHtoDAsync_v2"), 1);
}

TEST_F(CudaHostArraysTest, CopyThatDoesNotFit) {
  HostMemory host;
  fake.fail("cuMemAlloc_v2", 2, 2);
  Status failed =
      kernel.launchList(getDevice(), {32},
                        {host.getZ(), host.getX(), host.getY(), 2.0f}, options);
  ASSERT_FALSE(bool(failed));
  EXPECT_EQ(failed.error().getCode(), ErrorCode::OutOfMemory);
  EXPECT_NE(failed.error().getMessage().find(
                "cuMemAlloc on cuda:0 failed: CUDA_ERROR_OUT_OF_MEMORY (out of "
                "memory); it is for a copy of an array in host memory for "
                "kernel 'axpy'"),
            std::string::npos)
      << failed.error().getMessage();
  EXPECT_EQ(fake.count("memory"), 0);
  EXPECT_EQ(fake.count("launches"), 0);
}

} // namespace
