//===- MemoryTest.cpp - The emulated device's global memory ---------------===//

#include "tile/Emulator/Memory.h"
#include "gtest/gtest.h"

#include <thread>

using namespace llvm;
using namespace tile::emulator;

namespace {

constexpr auto ReadWrite = Memory::Access::ReadWrite;
constexpr auto ReadOnly = Memory::Access::ReadOnly;

TEST(EmulatorMemoryTest, FindsTheBufferOfAnAddress) {
  Memory memory;
  uint8_t x[100], y[7];
  uint64_t a = cantFail(memory.map("x", x, ReadOnly));
  uint64_t b = cantFail(memory.map("y", y, ReadWrite));
  ASSERT_NE(a, b);
  const Allocation *found = memory.find(a);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "x");
  EXPECT_EQ(found->address, a);
  EXPECT_EQ(found->size, 100u);
  EXPECT_EQ(found->bytes, x);
  EXPECT_TRUE(found->readOnly);
  EXPECT_TRUE(found->live);
  EXPECT_FALSE(memory.find(b)->readOnly);
  EXPECT_EQ(memory.find(b)->size, 7u);
}

TEST(EmulatorMemoryTest, AMissOfAnyDistanceNamesTheBufferThatWasMeant) {
  Memory memory;
  uint8_t x[16], y[16];
  uint64_t a = cantFail(memory.map("x", x, ReadOnly));
  uint64_t b = cantFail(memory.map("y", y, ReadOnly));
  for (int64_t distance : {int64_t(-1), int64_t(-4096), -(int64_t(1) << 34),
                           int64_t(16), int64_t(1) << 20, int64_t(1) << 34}) {
    ASSERT_NE(memory.find(a + distance), nullptr) << distance;
    EXPECT_EQ(memory.find(a + distance)->name, "x") << distance;
    EXPECT_EQ(memory.find(b + distance)->name, "y") << distance;
  }
  for (uint64_t address :
       {uint64_t(0), uint64_t(1) << 35, Memory::kFirstRegion - 1,
        (Memory::kFirstRegion << Memory::kRegionBits) - 1, ~uint64_t(0)})
    EXPECT_EQ(memory.find(address), nullptr) << address;
}

TEST(EmulatorMemoryTest, AlignsAsAskedAndNoBetter) {
  Memory memory;
  uint8_t x[4];
  for (uint64_t alignment = 1; alignment <= 4096; alignment *= 2) {
    uint64_t address = cantFail(memory.map("x", x, ReadOnly, alignment));
    EXPECT_EQ(address % (2 * alignment), alignment);
    EXPECT_EQ(memory.find(address)->address, address);
  }
  EXPECT_EQ(cantFail(memory.map("x", x, ReadOnly)) % 512, 256u);
}

TEST(EmulatorMemoryTest, RefusesWhatItCannotMap) {
  Memory memory;
  uint8_t x[4];
  auto getError = [&](MutableArrayRef<uint8_t> bytes, uint64_t alignment) {
    return toString(memory.map("x", bytes, ReadOnly, alignment).takeError());
  };
  for (uint64_t alignment : {0, 3, 8192})
    EXPECT_EQ(getError(x, alignment),
              "cannot map 'x': expects an alignment that is a power of two up "
              "to 4096, but got " +
                  std::to_string(alignment));
  // Never touched, so it need not exist.
  EXPECT_EQ(getError({x, (size_t(1) << 35) + 1}, 256),
            "cannot map 'x': expects at most 34359738368 bytes, but got "
            "34359738369");
  uint64_t largest = cantFail(
      memory.map("big", {x, size_t(1) << 35}, ReadOnly, /*alignment=*/1));
  EXPECT_EQ(memory.find(largest + (uint64_t(1) << 35))->name, "big");
}

TEST(EmulatorMemoryTest, AnEmptyBufferHasAnAddress) {
  Memory memory;
  uint64_t address = cantFail(memory.map("none", {}, ReadWrite));
  EXPECT_EQ(memory.find(address)->size, 0u);
  cantFail(memory.unmap(address));
}

TEST(EmulatorMemoryTest, UnmapsOnlyWhatIsThere) {
  Memory memory;
  uint8_t x[4];
  uint64_t a = cantFail(memory.map("x", x, ReadWrite));
  EXPECT_EQ(toString(memory.unmap(0x1234)),
            "cannot unmap address 0x1234: no buffer begins there");
  EXPECT_NE(toString(memory.unmap(a + 1)), "");
  cantFail(memory.unmap(a));
  EXPECT_NE(toString(memory.unmap(a)), "");
}

TEST(EmulatorMemoryTest, AStaleAddressNamesTheBufferThatIsGone) {
  Memory memory;
  uint8_t x[4], y[4];
  uint64_t a = cantFail(memory.map("gone", x, ReadWrite));
  cantFail(memory.unmap(a));
  for (int i = 0; i < 1000; ++i)
    cantFail(memory.unmap(cantFail(memory.map("other", y, ReadWrite))));
  ASSERT_NE(memory.find(a), nullptr);
  EXPECT_EQ(memory.find(a)->name, "gone");
  EXPECT_FALSE(memory.find(a)->live);
  EXPECT_EQ(memory.find(a)->bytes, nullptr);
  EXPECT_TRUE(memory.getAllocations().empty());
}

TEST(EmulatorMemoryTest, RegionsComeBackInTheEnd) {
  Memory memory;
  uint8_t x[4];
  uint64_t highest = 0;
  for (int i = 0; i < 20000; ++i) {
    uint64_t address = cantFail(memory.map("x", x, ReadWrite));
    highest = std::max(highest, address);
    ASSERT_EQ(memory.find(address)->bytes, x);
    cantFail(memory.unmap(address));
  }
  EXPECT_LT(highest >> Memory::kRegionBits, Memory::kFirstRegion + 5000);
}

TEST(EmulatorMemoryTest, FindsWhileOthersMap) {
  Memory memory;
  uint8_t x[8];
  uint64_t mine = cantFail(memory.map("mine", x, ReadWrite));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&memory] {
      uint8_t bytes[8];
      for (int i = 0; i < 3000; ++i) {
        uint64_t address = cantFail(memory.map("theirs", bytes, ReadWrite));
        EXPECT_EQ(memory.find(address)->bytes, bytes);
        if (i % 2)
          cantFail(memory.unmap(address));
      }
    });
  for (int i = 0; i < 100000; ++i)
    ASSERT_EQ(memory.find(mine)->bytes, x);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(memory.getAllocations().size(), 1u + 3 * 1500);
}

} // namespace
