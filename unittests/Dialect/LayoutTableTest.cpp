//===- LayoutTableTest.cpp - Layouts as tables of text --------------------===//

#include "tile/Dialect/Tile/IR/LayoutTable.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

namespace {

class LayoutTableTest : public ::testing::Test {
protected:
  LayoutTableTest() { context.loadDialect<TileDialect>(); }

  /// The table of a layout that is written as in IR.
  std::string print(const std::string &layout, ArrayRef<int64_t> shape) {
    auto attr = dyn_cast_or_null<LayoutAttr>(
        parseAttribute("#tile.layout<" + layout + ">", &context));
    EXPECT_TRUE(attr) << layout;
    std::string text;
    llvm::raw_string_ostream os(text);
    if (attr)
      printLayoutTable(os, attr, shape);
    return text;
  }

  MLIRContext context;
};

TEST_F(LayoutTableTest, AMatrixIsATableOfLanesAndRegisters) {
  // The top left quarter of the m16n8 accumulator, whose other lanes hold it
  // again: lane t has row t/4.
  EXPECT_EQ(print("register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], "
                  "[2, 0], [0, 0]], warp = []",
                  {4, 8}),
            "4x8 tile: 1 warp, 32 lanes, 2 registers\n"
            "replicas: lane^16\n"
            "cell: lane:register\n"
            "0 |  0:0  0:1  1:0  1:1  2:0  2:1  3:0  3:1\n"
            "1 |  4:0  4:1  5:0  5:1  6:0  6:1  7:0  7:1\n"
            "2 |  8:0  8:1  9:0  9:1 10:0 10:1 11:0 11:1\n"
            "3 | 12:0 12:1 13:0 13:1 14:0 14:1 15:0 15:1\n");
}

TEST_F(LayoutTableTest, WarpsComeFirstInACell) {
  EXPECT_EQ(print("register = [], lane = [[1, 0], [0, 0], [0, 0], [0, 0], "
                  "[0, 0]], warp = [[0, 1], [2, 0]]",
                  {4, 2}),
            "4x2 tile: 4 warps, 32 lanes, 1 register\n"
            "replicas: lane^2, lane^4, lane^8, lane^16\n"
            "cell: warp.lane:register\n"
            "0 | 0.0:0 1.0:0\n"
            "1 | 0.1:0 1.1:0\n"
            "2 | 2.0:0 3.0:0\n"
            "3 | 2.1:0 3.1:0\n");
}

TEST_F(LayoutTableTest, AReplicaMayMoveInSeveralAxes) {
  // Lane bit 4 undoes register bit 0.
  EXPECT_EQ(print("register = [[0, 1]], lane = [[0, 2], [1, 0], [2, 0], "
                  "[4, 0], [0, 1]], warp = []",
                  {8, 4}),
            "8x4 tile: 1 warp, 32 lanes, 2 registers\n"
            "replicas: register^1+lane^16\n"
            "cell: lane:register\n"
            "0 |  0:0  0:1  1:0  1:1\n"
            "1 |  2:0  2:1  3:0  3:1\n"
            "2 |  4:0  4:1  5:0  5:1\n"
            "3 |  6:0  6:1  7:0  7:1\n"
            "4 |  8:0  8:1  9:0  9:1\n"
            "5 | 10:0 10:1 11:0 11:1\n"
            "6 | 12:0 12:1 13:0 13:1\n"
            "7 | 14:0 14:1 15:0 15:1\n");
}

TEST_F(LayoutTableTest, OtherRanksListTheCoordinateOfEachBit) {
  std::string text = print(
      "register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []", {64});
  EXPECT_EQ(text.find("64 tile: 1 warp, 32 lanes, 2 registers\n"), 0u) << text;
  EXPECT_NE(text.find("register: (32)"), std::string::npos) << text;
  EXPECT_NE(text.find("lane: (1) (2) (4) (8) (16)"), std::string::npos) << text;
}

TEST_F(LayoutTableTest, AScalarIsHeldByEveryLane) {
  std::string text =
      print("register = [], lane = [[], [], [], [], []], warp = []", {});
  EXPECT_EQ(text.find("scalar tile: 1 warp, 32 lanes, 1 register\n"
                      "replicas: lane^1, lane^2, lane^4, lane^8, lane^16\n"),
            0u)
      << text;
}

} // namespace
