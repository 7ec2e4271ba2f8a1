//===- ScaleLayoutTest.cpp - The order of scale bytes ---------------------===//

#include "tile/Formats/ScaleLayout.h"

#include "TestUtils.h"

#include <algorithm>
#include <limits>
#include <set>

using namespace tile;
using namespace tile::test;

namespace {

constexpr ScaleLayout allLayouts[] = {
    ScaleLayout::Linear, ScaleLayout::Swizzled128x4, ScaleLayout::Swizzled8x4};

constexpr int64_t rowCounts[] = {1,   7,   8,   9,   16,  32,  33,
                                 127, 128, 129, 130, 144, 257, 2880};
constexpr int64_t columnCounts[] = {1, 3, 4, 5, 8, 9, 90};

/// Scales, none of which is 0: padding must be told from data.
std::vector<uint8_t> makeScales(int64_t count) {
  std::vector<uint8_t> scales(static_cast<size_t>(count));
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = static_cast<uint8_t>(1 + hash(static_cast<uint32_t>(i)) % 255);
  return scales;
}

TEST(ScaleLayoutTest, OffsetsMatchThePublishedOnes) {
  auto offset = [](int64_t columns, int64_t row, int64_t column) {
    return getScaleOffset(ScaleLayout::Swizzled128x4, columns, row, column);
  };
  EXPECT_EQ(offset(4, 1, 0), 16);
  EXPECT_EQ(offset(4, 32, 0), 4);
  EXPECT_EQ(offset(4, 127, 3), 511);
  EXPECT_EQ(offset(8, 5, 2), 82);
  EXPECT_EQ(offset(8, 0, 4), 512);
  EXPECT_EQ(offset(8, 128, 0), 1024);
  EXPECT_EQ(offset(5, 128, 0), 1024); // Five columns take two blocks.
  EXPECT_EQ(getScaleOffset(ScaleLayout::Swizzled8x4, 4, 1, 2), 6);
  EXPECT_EQ(getScaleOffset(ScaleLayout::Swizzled8x4, 8, 0, 4), 32);
  EXPECT_EQ(getScaleOffset(ScaleLayout::Swizzled8x4, 8, 8, 0), 64);
  EXPECT_EQ(getScaleOffset(ScaleLayout::Linear, 5, 3, 2), 17);
}

TEST(ScaleLayoutTest, TheBlockOf128x4IsTheTransposeOfItsThreeDigits) {
  // cuBLAS: the block as [4][32][4] with the first two axes exchanged.
  int64_t offset = 0;
  for (int64_t low = 0; low < 32; ++low)
    for (int64_t high = 0; high < 4; ++high)
      for (int64_t column = 0; column < 4; ++column)
        EXPECT_EQ(getScaleOffset(ScaleLayout::Swizzled128x4, 4, high * 32 + low,
                                 column),
                  offset++);
}

TEST(ScaleLayoutTest, OffsetsAreDistinctAndInsideTheAllocation) {
  for (ScaleLayout layout : allLayouts)
    for (int64_t rows : {1, 8, 33, 130})
      for (int64_t columns : columnCounts) {
        int64_t size = get(getScaleAllocation(layout, rows, columns));
        std::set<int64_t> seen;
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t column = 0; column < columns; ++column) {
            int64_t offset = getScaleOffset(layout, columns, row, column);
            EXPECT_TRUE(offset >= 0 && offset < size);
            EXPECT_TRUE(seen.insert(offset).second);
          }
      }
}

TEST(ScaleLayoutTest, AllocationRoundsUpToBlocks) {
  EXPECT_EQ(get(getScaleAllocation(ScaleLayout::Swizzled128x4, 130, 5)), 2048);
  EXPECT_EQ(get(getScaleAllocation(ScaleLayout::Swizzled8x4, 9, 5)), 128);
  EXPECT_EQ(get(getScaleAllocation(ScaleLayout::Linear, 9, 5)), 45);
  EXPECT_EQ(get(getScaleAllocation(ScaleLayout::Swizzled128x4, 0, 5)), 0);
  // 64-bit: 2^31 and more.
  EXPECT_EQ(get(getScaleAllocation(ScaleLayout::Swizzled128x4, 1 << 20, 4096)),
            int64_t(1) << 32);
}

TEST(ScaleLayoutTest, EveryLayoutConvertsToEveryOtherAndBack) {
  for (int64_t rows : rowCounts)
    for (int64_t columns : columnCounts) {
      std::vector<uint8_t> linear = makeScales(rows * columns);
      for (ScaleLayout layout : allLayouts)
        for (ScaleLayout other : allLayouts) {
          std::vector<uint8_t> a = get(convertScaleLayout(
              linear, rows, columns, ScaleLayout::Linear, layout));
          std::vector<uint8_t> b =
              get(convertScaleLayout(a, rows, columns, layout, other));
          EXPECT_EQ(get(convertScaleLayout(b, rows, columns, other,
                                           ScaleLayout::Linear)),
                    linear);
        }
    }
}

TEST(ScaleLayoutTest, PaddingIsWrittenAsZero) {
  for (ScaleLayout layout :
       {ScaleLayout::Swizzled128x4, ScaleLayout::Swizzled8x4}) {
    std::vector<uint8_t> swizzled = get(convertScaleLayout(
        makeScales(130 * 5), 130, 5, ScaleLayout::Linear, layout));
    int64_t zeros = std::count(swizzled.begin(), swizzled.end(), 0);
    EXPECT_EQ(zeros, int64_t(swizzled.size()) - 130 * 5);
  }
}

TEST(ScaleLayoutTest, PaddingIsNotRead) {
  std::vector<uint8_t> linear = makeScales(33 * 5);
  std::vector<uint8_t> swizzled = get(convertScaleLayout(
      linear, 33, 5, ScaleLayout::Linear, ScaleLayout::Swizzled128x4));
  for (uint8_t &byte : swizzled)
    if (byte == 0)
      byte = 0xFF;
  EXPECT_EQ(get(convertScaleLayout(swizzled, 33, 5, ScaleLayout::Swizzled128x4,
                                   ScaleLayout::Linear)),
            linear);
  std::vector<uint8_t> small = get(convertScaleLayout(
      swizzled, 33, 5, ScaleLayout::Swizzled128x4, ScaleLayout::Swizzled8x4));
  EXPECT_EQ(std::count(small.begin(), small.end(), 0),
            int64_t(small.size()) - 33 * 5);
}

TEST(ScaleLayoutTest, SwizzlingTwiceIsNotTheIdentity) {
  std::vector<uint8_t> linear = makeScales(128 * 4);
  std::vector<uint8_t> once = get(convertScaleLayout(
      linear, 128, 4, ScaleLayout::Linear, ScaleLayout::Swizzled128x4));
  EXPECT_NE(once, linear);
  EXPECT_NE(get(convertScaleLayout(once, 128, 4, ScaleLayout::Linear,
                                   ScaleLayout::Swizzled128x4)),
            once);
}

TEST(ScaleLayoutTest, WrongSizesAreErrors) {
  EXPECT_MESSAGE(convertScaleLayout(makeScales(650), 130, 5,
                                    ScaleLayout::Swizzled128x4,
                                    ScaleLayout::Linear),
                 "expects 2048 bytes for 130x5 scales in the layout "
                 "'swizzled_128x4', but got 650");
  EXPECT_MESSAGE(getScaleAllocation(ScaleLayout::Linear, -1, 4),
                 "but got -1x4 scales");
  EXPECT_MESSAGE(getScaleAllocation(ScaleLayout::Linear, int64_t(1) << 40,
                                    int64_t(1) << 40),
                 "expects fewer than 2^63 bytes");
  EXPECT_MESSAGE(getScaleAllocation(ScaleLayout::Swizzled128x4,
                                    std::numeric_limits<int64_t>::max(), 1),
                 "expects fewer than 2^63 bytes");
  EXPECT_TRUE(
      get(convertScaleLayout({}, std::numeric_limits<int64_t>::max(), 0,
                             ScaleLayout::Linear, ScaleLayout::Swizzled128x4))
          .empty());
}

TEST(ScaleLayoutTest, NamesFindTheirLayouts) {
  for (ScaleLayout layout : allLayouts)
    EXPECT_EQ(findScaleLayout(getScaleLayoutName(layout)), layout);
  EXPECT_EQ(findScaleLayout("128x4"), std::nullopt);
}

} // namespace
