//===- CudaFixture.h - GPUs of the tests' driver ----------------*- C++ -*-===//

#ifndef TILE_UNITTESTS_RUNTIME_CUDAFIXTURE_H
#define TILE_UNITTESTS_RUNTIME_CUDAFIXTURE_H

#include "FakeCuda.h"
#include "Kernels.h"
#include "tile/Runtime/Runtime.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>
#include <map>

namespace tile::runtime::test {

/// The functions of FakeCuda.h, of the library that the runtime loads.
struct FakeCuda {
  static constexpr const char *kObjects[] = {"memory", "modules", "streams",
                                             "events"};

  FakeCuda() {
    setenv("TILE_CUDA_LIBRARY", TILE_FAKE_CUDA, 1);
    void *library = dlopen(TILE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      ADD_FAILURE() << dlerror();
      std::abort();
    }
#define TILE_FIND(NAME, SYMBOL)                                                \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, SYMBOL))
    TILE_FIND(reset, "fakeCudaReset");
    TILE_FIND(setDevices, "fakeCudaSetDevices");
    TILE_FIND(fail, "fakeCudaFail");
    TILE_FIND(hasFailed, "fakeCudaHasFailed");
    TILE_FIND(hold, "fakeCudaHold");
    TILE_FIND(getLog, "fakeCudaLog");
    TILE_FIND(countAll, "fakeCudaCount");
    TILE_FIND(registerHost, "fakeCudaRegisterHost");
    TILE_FIND(pushForeign, "fakeCudaPushForeign");
    TILE_FIND(getCurrent, "fakeCudaGetCurrent");
    TILE_FIND(capture, "fakeCudaCapture");
    TILE_FIND(makeForeignStream, "fakeCudaMakeForeignStream");
#undef TILE_FIND
    for (const char *what : kObjects)
      before[what] = countAll(what);
  }

  /// Objects that earlier tests have lost do not count.
  int64_t count(const std::string &what) const {
    auto found = before.find(what);
    return countAll(what.c_str()) - (found == before.end() ? 0 : found->second);
  }

  /// How often the log has a call of this function.
  int countCalls(const std::string &symbol) const {
    llvm::SmallVector<llvm::StringRef> lines;
    const std::string log = getLog();
    llvm::StringRef(log).split(lines, '\n');
    int number = 0;
    for (llvm::StringRef line : lines)
      number += line.split(' ').first == symbol;
    return number;
  }

  std::map<std::string, int64_t> before;
  decltype(fakeCudaReset) *reset;
  decltype(fakeCudaSetDevices) *setDevices;
  decltype(fakeCudaFail) *fail;
  decltype(fakeCudaHasFailed) *hasFailed;
  decltype(fakeCudaHold) *hold;
  decltype(fakeCudaLog) *getLog;
  decltype(fakeCudaCount) *countAll;
  decltype(fakeCudaRegisterHost) *registerHost;
  decltype(fakeCudaPushForeign) *pushForeign;
  decltype(fakeCudaGetCurrent) *getCurrent;
  decltype(fakeCudaCapture) *capture;
  decltype(fakeCudaMakeForeignStream) *makeForeignStream;
};

/// Starts without calls, failures and work.
class CudaTest : public ::testing::Test {
protected:
  /// Two that are alike for most, one of every kind after that.
  static constexpr const char *kDevices = "9.0,12.0,9.0,7.5,13.0,8.0,10.0";

  CudaTest() {
    fake.setDevices(kDevices);
    fake.reset();
  }
  ~CudaTest() override {
    EXPECT_EQ(fake.count("violations"), 0);
    EXPECT_EQ(fake.getCurrent(), nullptr);
    // What streams that are gone have left is complete now.
    fake.reset();
    fake.setDevices(kDevices);
    for (int ordinal = 0; ordinal < 3; ++ordinal)
      EXPECT_TRUE(bool(getDevice(ordinal).synchronize()));
    for (const char *what : {"memory", "events"})
      EXPECT_TRUE(mayLeak || fake.count(what) == 0)
          << fake.count(what) << " " << what;
  }

  /// A GPU that is there.
  static Device getDevice(int ordinal = 0) {
    Expected<Device> device = Device::cuda(ordinal);
    if (!device) {
      ADD_FAILURE() << device.error().str();
      std::abort();
    }
    return *device;
  }

  FakeCuda fake;
  /// Whether the test destroys objects in a way that loses them.
  bool mayLeak = false;
};

/// Checks a failure.
#define EXPECT_ERROR(RESULT, CODE, MESSAGE)                                    \
  do {                                                                         \
    auto &&checkedResult = (RESULT);                                           \
    ASSERT_FALSE(bool(checkedResult));                                         \
    EXPECT_EQ(checkedResult.error().getCode(), ErrorCode::CODE);               \
    EXPECT_EQ(checkedResult.error().getMessage(), MESSAGE);                    \
  } while (false)

} // namespace tile::runtime::test

#endif // TILE_UNITTESTS_RUNTIME_CUDAFIXTURE_H
