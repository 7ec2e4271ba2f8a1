//===- DeviceTest.cpp - Where kernels run ---------------------------------===//

#include "tile/Runtime/Device.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace tile::runtime;

namespace {

TEST(DeviceTest, TargetOfComputeCapability) {
  const struct {
    int major, minor;
    const char *target;
  } rows[] = {
      {8, 0, "sm_80"},    {8, 6, "sm_86"},    {8, 7, "sm_87"},
      {8, 8, "sm_88"},    {8, 9, "sm_89"},    {9, 0, "sm_90a"},
      {10, 0, "sm_100a"}, {10, 3, "sm_103a"}, {11, 0, "sm_110a"},
      {12, 0, "sm_120f"}, {12, 1, "sm_120f"}, {12, 9, "sm_120f"},
  };
  for (auto &row : rows) {
    Expected<std::string> target =
        getTargetOfComputeCapability(row.major, row.minor);
    ASSERT_TRUE(bool(target)) << target.error().str();
    EXPECT_EQ(*target, row.target);
  }
}

TEST(DeviceTest, ComputeCapabilityWithoutTarget) {
  Expected<std::string> old = getTargetOfComputeCapability(7, 5);
  ASSERT_FALSE(bool(old));
  EXPECT_EQ(old.error().getCode(), ErrorCode::Unavailable);
  EXPECT_EQ(old.error().getMessage().find(
                "compute capability 7.5: unknown target 'sm_75'; sm_80 is the "
                "lowest; known targets are sm_80, "),
            0u);
  for (auto [major, minor] : {std::pair{8, 4}, {9, 1}, {10, 1}, {13, 0}}) {
    Expected<std::string> target = getTargetOfComputeCapability(major, minor);
    ASSERT_FALSE(bool(target)) << *target;
    EXPECT_EQ(target.error().getCode(), ErrorCode::NotFound);
    EXPECT_NE(target.error().getMessage().find("known targets are sm_80"),
              std::string::npos);
  }
}

TEST(DeviceTest, NamesAndTargets) {
  Device reference = Device::reference();
  EXPECT_EQ(reference.getKind(), Device::Kind::Reference);
  EXPECT_EQ(reference.getName(), "reference");
  EXPECT_EQ(reference.getTarget(), "");
  EXPECT_EQ(reference.getPlace().str(), "host memory");

  Expected<Device> plain = Device::emulator();
  Expected<Device> targeted = Device::emulator("sm_120a");
  ASSERT_TRUE(plain && targeted);
  EXPECT_EQ(plain->getKind(), Device::Kind::Emulator);
  EXPECT_EQ(plain->getName(), "emulator");
  EXPECT_EQ(plain->getTarget(), "");
  EXPECT_EQ(targeted->getName(), "emulator (sm_120a)");
  EXPECT_EQ(targeted->getTarget(), "sm_120a");
  EXPECT_EQ((MemoryPlace{MemoryPlace::Kind::Cuda, 3}).str(),
            "memory of cuda:3");
}

TEST(DeviceTest, Equality) {
  EXPECT_TRUE(Device::reference() == Device::reference());
  EXPECT_TRUE(*Device::emulator("sm_90a") == *Device::emulator("sm_90a"));
  EXPECT_FALSE(*Device::emulator("sm_90a") == *Device::emulator("sm_90"));
  EXPECT_FALSE(*Device::emulator() == Device::reference());
}

TEST(DeviceTest, UnknownTarget) {
  Expected<Device> device = Device::emulator("sm_12");
  ASSERT_FALSE(bool(device));
  EXPECT_EQ(device.error().getCode(), ErrorCode::NotFound);
  EXPECT_EQ(device.error().getMessage().find(
                "unknown target 'sm_12'; known targets are sm_80, "),
            0u);
}

TEST(DeviceTest, NoDriver) {
  ASSERT_EQ(setenv("TILE_CUDA_LIBRARY", "/nowhere/libcuda.so", 1), 0);
  Expected<Device> device = Device::cuda(0);
  ASSERT_FALSE(bool(device));
  EXPECT_EQ(device.error().getCode(), ErrorCode::Unavailable);
  EXPECT_EQ(device.error().getMessage(),
            "cannot load the CUDA driver '/nowhere/libcuda.so' that "
            "TILE_CUDA_LIBRARY names: /nowhere/libcuda.so: cannot open shared "
            "object file: No such file or directory");
  EXPECT_TRUE(Device::best() == Device::reference());
  unsetenv("TILE_CUDA_LIBRARY");
}

TEST(DeviceTest, NotADriver) {
  // A library that is always there and has none of the functions.
  ASSERT_EQ(setenv("TILE_CUDA_LIBRARY", "libm.so.6", 1), 0);
  Expected<Device> device = Device::cuda(0);
  ASSERT_FALSE(bool(device));
  EXPECT_EQ(device.error().getCode(), ErrorCode::Unavailable);
  EXPECT_EQ(device.error().getMessage(),
            "the CUDA driver 'libm.so.6' has no function 'cuInit'; it is too "
            "old");
  unsetenv("TILE_CUDA_LIBRARY");
}

} // namespace
