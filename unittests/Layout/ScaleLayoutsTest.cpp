//===- ScaleLayoutsTest.cpp - Orders of scale bytes against formulas ------===//

#include "RandomLayouts.h"

#include "tile/Layout/ScaleLayouts.h"
#include "gtest/gtest.h"

using namespace tile;

namespace {

/// The offset of a scale in the 128x4 order, as cuBLAS documents it.
int64_t getOffset128x4(int64_t r, int64_t c, int64_t columns) {
  return (r / 128 * ((columns + 3) / 4) + c / 4) * 512 + r % 32 * 16 +
         r % 128 / 32 * 4 + c % 4;
}

/// The offset of a scale in the 8x4 order.
int64_t getOffset8x4(int64_t r, int64_t c, int64_t columns) {
  return (r / 8 * ((columns + 3) / 4) + c / 4) * 32 + r % 8 * 4 + c % 4;
}

int64_t getOffsetLinear(int64_t r, int64_t c, int64_t columns) {
  return r * columns + c;
}

struct Order {
  const char *name;
  ScaleOrder order;
  int64_t (*offset)(int64_t r, int64_t c, int64_t columns);
};
const Order orders[] = {
    {"linear", ScaleOrder::Linear, getOffsetLinear},
    {"128x4", ScaleOrder::Blocked128x4, getOffset128x4},
    {"8x4", ScaleOrder::Blocked8x4, getOffset8x4},
};

TEST(ScaleLayoutsTest, TheFormulasGiveThePublishedOffsets) {
  EXPECT_EQ(getOffset128x4(1, 0, 4), 16);
  EXPECT_EQ(getOffset128x4(32, 0, 4), 4);
  EXPECT_EQ(getOffset128x4(127, 3, 4), 511);
  EXPECT_EQ(getOffset128x4(5, 2, 8), 82);
  EXPECT_EQ(getOffset128x4(0, 4, 8), 512);
  EXPECT_EQ(getOffset128x4(128, 0, 8), 1024);
}

TEST(ScaleLayoutsTest, BlocksPrintAsTables) {
  EXPECT_EQ(
      getScaleBlock(ScaleOrder::Blocked128x4).toString(),
      "offset: (0,1) (0,2) (32,0) (64,0) (1,0) (2,0) (4,0) (8,0) (16,0)\n");
  EXPECT_EQ(getScaleBlock(ScaleOrder::Blocked8x4).toString(),
            "offset: (0,1) (0,2) (1,0) (2,0) (4,0)\n");
  EXPECT_EQ(getScaleBlock(ScaleOrder::Linear).toString(), "offset:\n");
}

TEST(ScaleLayoutsTest, BlocksHaveTheirShape) {
  for (const Order &order : orders) {
    SCOPED_TRACE(order.name);
    auto [rows, columns] = getScaleBlockShape(order.order);
    LinearLayout block = getScaleBlock(order.order);
    EXPECT_EQ(block.getCodomain(), Space::ofTile({rows, columns}));
    EXPECT_EQ(block, getScaleArray(order.order, rows, columns));
  }
}

TEST(ScaleLayoutsTest, ArraysMatchTheFormulas) {
  for (const Order &order : orders)
    for (int64_t rows : {8, 128, 256, 512})
      for (int64_t columns : {4, 8, 32}) {
        auto [blockRows, blockColumns] = getScaleBlockShape(order.order);
        if (rows % blockRows != 0)
          continue;
        SCOPED_TRACE(testing::Message()
                     << order.name << " of " << rows << "x" << columns);
        LinearLayout array = getScaleArray(order.order, rows, columns);
        ASSERT_TRUE(array.isInjective() && array.isSurjective());
        ASSERT_EQ(array.getCodomain(), Space::ofTile({rows, columns}));
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c)
            ASSERT_EQ(array(order.offset(r, c, columns)), r * columns + c);
      }
}

TEST(ScaleLayoutsTest, TheKernelsRouteGivesTheSameLayout) {
  // A kernel sees 128x4 scales as the tile 1xCx32x4x4 in memory order, permutes
  // it by [0, 3, 2, 1, 4] and reshapes it to 128x4C.
  for (int64_t blocks : {1, 2, 8}) {
    Space memory = Space::ofTile({1, blocks, 32, 4, 4});
    LinearLayout route = LinearLayout::identity(memory)
                             .reshapeDomain({{"offset", memory.bits()}})
                             .permuteTile({0, 3, 2, 1, 4})
                             .reshapeCodomain(Space::ofTile({128, 4 * blocks}));
    EXPECT_EQ(route, getScaleArray(ScaleOrder::Blocked128x4, 128, 4 * blocks));
  }
}

TEST(ScaleLayoutsTest, TheKernelsRouteOf8x4) {
  for (int64_t rowBlocks : {1, 4})
    for (int64_t blocks : {1, 2, 8}) {
      Space memory = Space::ofTile({rowBlocks, blocks, 8, 4});
      LinearLayout route =
          LinearLayout::identity(memory)
              .reshapeDomain({{"offset", memory.bits()}})
              .permuteTile({0, 2, 1, 3})
              .reshapeCodomain(Space::ofTile({8 * rowBlocks, 4 * blocks}));
      EXPECT_EQ(route, getScaleArray(ScaleOrder::Blocked8x4, 8 * rowBlocks,
                                     4 * blocks));
    }
}

TEST(ScaleLayoutsTest, AnotherPermutationGivesAnotherLayout) {
  Space memory = Space::ofTile({1, 2, 32, 4, 4});
  LinearLayout route = LinearLayout::identity(memory)
                           .reshapeDomain({{"offset", memory.bits()}})
                           .permuteTile({0, 2, 3, 1, 4})
                           .reshapeCodomain(Space::ofTile({128, 8}));
  EXPECT_NE(route, getScaleArray(ScaleOrder::Blocked128x4, 128, 8));
}

TEST(ScaleLayoutsTest, OneLoadGivesALaneItsFourScales) {
  // The scales of A for .scale_vec::4X: {register: byte, lane} -> {group, row}
  // of the first 16 rows of a block. Read through the order of the bytes, the
  // four scales of a lane are one aligned 32-bit word.
  LinearLayout fragment({{"register", 2}, {"lane", 5}}, Space::ofTile({128, 4}),
                        {1, 2, 8 * 4, 0, 1 * 4, 2 * 4, 4 * 4});
  for (ScaleOrder order :
       {ScaleOrder::Linear, ScaleOrder::Blocked128x4, ScaleOrder::Blocked8x4}) {
    auto toOffset = getScaleArray(order, 128, 4).rightInverse();
    ASSERT_TRUE(toOffset);
    EXPECT_EQ(fragment.then(*toOffset).contiguity(), 4u);
  }
}

TEST(ScaleLayoutsTest, A128x4BlockFeedsTensorMemoryByRowsOf16Bytes) {
  // 16 bytes at 16 * i hold rows i, i + 32, i + 64 and i + 96.
  LinearLayout block = getScaleBlock(ScaleOrder::Blocked128x4);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t quadrant = 0; quadrant < 4; ++quadrant)
      for (uint32_t group = 0; group < 4; ++group)
        EXPECT_EQ(block(16 * lane + 4 * quadrant + group),
                  (lane + 32 * quadrant) * 4 + group);
}

} // namespace
