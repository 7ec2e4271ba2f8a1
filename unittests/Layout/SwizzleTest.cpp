//===- SwizzleTest.cpp - Swizzles against tables and conflict counts ------===//

#include "RandomLayouts.h"

#include "tile/Layout/Swizzle.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <map>

using namespace tile;

namespace {

const Space offsets{{"offset", 12}};

LinearLayout getLanes(std::vector<uint32_t> columns) {
  return LinearLayout({{"lane", unsigned(columns.size())}}, offsets, columns);
}

//===----------------------------------------------------------------------===//
// The swizzles of the hardware
//===----------------------------------------------------------------------===//

struct HardwareSwizzle {
  const char *name;
  unsigned target, source, count;
  uint32_t (*formula)(uint32_t offset);
};

// The PTX ISA, "swizzling modes" of tensor maps.
const HardwareSwizzle hardwareSwizzles[] = {
    {"32B", 4, 7, 1, [](uint32_t a) { return a ^ (a >> 7 & 1) << 4; }},
    {"64B", 4, 7, 2, [](uint32_t a) { return a ^ (a >> 7 & 3) << 4; }},
    {"128B", 4, 7, 3, [](uint32_t a) { return a ^ (a >> 7 & 7) << 4; }},
    {"128B, 32B atoms", 5, 7, 2,
     [](uint32_t a) { return a ^ (a >> 7 & 3) << 5; }},
    {"128B, 64B atoms", 6, 7, 1,
     [](uint32_t a) { return a ^ (a >> 7 & 1) << 6; }},
};

TEST(XorSwizzleTest, MatchesTheHardware) {
  for (const HardwareSwizzle &s : hardwareSwizzles) {
    SCOPED_TRACE(s.name);
    LinearLayout swizzle = getXorSwizzle(offsets, s.target, s.source, s.count);
    for (uint32_t offset = 0; offset < 4096; ++offset)
      ASSERT_EQ(swizzle(offset), s.formula(offset));
  }
}

TEST(XorSwizzleTest, IsItsOwnInverse) {
  for (const HardwareSwizzle &s : hardwareSwizzles) {
    LinearLayout swizzle = getXorSwizzle(offsets, s.target, s.source, s.count);
    EXPECT_EQ(swizzle.then(swizzle), LinearLayout::identity(offsets)) << s.name;
    EXPECT_EQ(*swizzle.rightInverse(), swizzle) << s.name;
  }
}

TEST(XorSwizzleTest, KeepsTheBytesOfAnAtomTogether) {
  const unsigned atomBytes[] = {16, 16, 16, 32, 64};
  for (auto [s, bytes] : llvm::zip(hardwareSwizzles, atomBytes))
    EXPECT_EQ(getXorSwizzle(offsets, s.target, s.source, s.count).contiguity(),
              bytes)
        << s.name;
}

TEST(XorSwizzleTest, TheSpanOfASwizzleMatchesItsRows) {
  // Rows of 16-byte chunks, read down a column of chunks by eight lanes at a
  // time: the 32, 64 and 128-byte swizzles fit rows of their own length.
  const uint32_t rowBytes[] = {32, 64, 128};
  for (auto [s, row] :
       llvm::zip(llvm::ArrayRef(hardwareSwizzles).take_front(3), rowBytes)) {
    SCOPED_TRACE(s.name);
    LinearLayout read = getLanes({row, 2 * row, 4 * row, 0, 0});
    EXPECT_EQ(countBankConflicts(read, 16), row / 16);
    LinearLayout swizzle = getXorSwizzle(offsets, s.target, s.source, s.count);
    EXPECT_EQ(countBankConflicts(read.then(swizzle), 16), 1u);
  }
}

//===----------------------------------------------------------------------===//
// chooseSwizzle
//===----------------------------------------------------------------------===//

/// The properties that every answer has.
void expectGoodForm(const LinearLayout &swizzle, unsigned wider) {
  ASSERT_TRUE(swizzle.isInjective());
  for (unsigned bit = 0; bit < swizzle.getColumns().size(); ++bit) {
    uint32_t added = swizzle.getColumns()[bit] ^ 1u << bit;
    EXPECT_EQ(added & (std::max(wider, 4u) - 1), 0u);
    EXPECT_LT(added, 128u);
    if (bit < 7) {
      EXPECT_EQ(added, 0u);
    }
  }
}

TEST(ChooseSwizzleTest, Tables) {
  struct Case {
    const char *what;
    std::vector<uint32_t> write, read;
    unsigned writeBytes, readBytes;
    std::string swizzle; ///< As printed, from bit 7 on.
    unsigned writeConflicts, readConflicts;
  };
  const Case cases[] = {
      {"no conflict, no swizzle",
       {4, 8, 16, 32, 64},
       {64, 32, 16, 8, 4},
       4,
       4,
       "(128) (256) (512) (1024) (2048)",
       1,
       1},
      {"transpose of 32x32 f32",
       {4, 8, 16, 32, 64},
       {128, 256, 512, 1024, 2048},
       4,
       4,
       "(132) (264) (528) (1056) (2112)",
       1,
       1},
      {"ldmatrix of 128-byte rows",
       {16, 32, 64, 128, 256},
       {128, 256, 512, 16, 32},
       16,
       16,
       "(144) (288) (576) (1024) (2048)",
       1,
       1},
      {"A fragment by words, rows of 128 bytes",
       {16, 32, 64, 128, 256},
       {4, 8, 128, 256, 512},
       16,
       4,
       "(144) (288) (576) (1024) (2048)",
       1,
       1},
      {"ldmatrix of 64-byte rows",
       {16, 32, 64, 128, 256},
       {64, 128, 256, 16, 32},
       16,
       16,
       "(144) (288) (512) (1024) (2048)",
       1,
       1},
      {"broadcast needs nothing",
       {4, 8, 16, 32, 64},
       {0, 0, 0, 0, 0},
       4,
       4,
       "(128) (256) (512) (1024) (2048)",
       1,
       1},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.what);
    LinearLayout write = getLanes(c.write), read = getLanes(c.read);
    LinearLayout swizzle =
        chooseSwizzle(write, read, c.writeBytes, c.readBytes);
    expectGoodForm(swizzle, std::max(c.writeBytes, c.readBytes));
    EXPECT_EQ(swizzle.toString(),
              "offset: (1) (2) (4) (8) (16) (32) (64) " + c.swizzle + "\n");
    EXPECT_EQ(countBankConflicts(write.then(swizzle), c.writeBytes),
              c.writeConflicts);
    EXPECT_EQ(countBankConflicts(read.then(swizzle), c.readBytes),
              c.readConflicts);
  }
}

TEST(ChooseSwizzleTest, NothingToXorInATileOf128Bytes) {
  Space small{{"offset", 7}};
  LinearLayout lanes({{"lane", 5}}, small, {4, 8, 16, 32, 64});
  EXPECT_EQ(chooseSwizzle(lanes, lanes, 4, 4), LinearLayout::identity(small));
}

/// Returns lanes at distinct bits of the offset, as blocked and fragment
/// layouts give: the low bits are inside the access.
LinearLayout getRandomLanes(Hash &hash, unsigned bytes) {
  std::vector<unsigned> bits;
  for (unsigned bit = 0; bit < 12; ++bit)
    if (1u << bit >= bytes)
      bits.push_back(bit);
  std::vector<uint32_t> columns;
  for (unsigned lane = 0; lane < 5; ++lane) {
    unsigned pick = hash.below(bits.size());
    columns.push_back(1u << bits[pick]);
    bits.erase(bits.begin() + pick);
  }
  return getLanes(columns);
}

/// The fewest conflicts that any swizzle leaves which keeps the low `fixed`
/// bits of an offset in place: lanes that agree in these bits have the other
/// bank bits to differ in.
unsigned getBound(const LinearLayout &lanes, unsigned bytes, unsigned fixed) {
  unsigned lanesTogether = std::min(5u, 7 - llvm::Log2_32(bytes));
  unsigned differ = 0;
  for (uint32_t column : lanes.getColumns().take_front(lanesTogether))
    differ += column >> fixed != 0;
  return 1u << std::max(0, int(differ) - int(7 - fixed));
}

TEST(ChooseSwizzleTest, LeavesTheFewestConflictsForDistinctBits) {
  std::map<unsigned, unsigned> before;
  unsigned missed = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Hash hash(seed);
    unsigned writeBytes = 1u << hash.below(5), readBytes = 1u << hash.below(5);
    LinearLayout write = getRandomLanes(hash, writeBytes);
    LinearLayout read = getRandomLanes(hash, readBytes);
    LinearLayout swizzle = chooseSwizzle(write, read, writeBytes, readBytes);
    expectGoodForm(swizzle, std::max(writeBytes, readBytes));
    unsigned conflicts = countBankConflicts(write.then(swizzle), writeBytes) +
                         countBankConflicts(read.then(swizzle), readBytes);
    unsigned fixed =
        std::max(2u, llvm::Log2_32(std::max(writeBytes, readBytes)));
    missed += conflicts != getBound(write, writeBytes, fixed) +
                               getBound(read, readBytes, fixed);
    ++before[countBankConflicts(write, writeBytes) +
             countBankConflicts(read, readBytes)];
  }
  EXPECT_EQ(missed, 0u);
  // Nearly all of these accesses need a swizzle.
  EXPECT_LT(before[2], 800u);
}

} // namespace
