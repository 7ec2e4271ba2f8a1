//===- MemoryTest.cpp - Loads, stores, views ------------------------------===//

#include "Fixture.h"

#include <set>

using namespace tile::reference;

namespace {

class MemoryTest : public ReferenceTest {};

/// Loads the tile at (i, j) of `in` and stores it as tile (0, 0) of `out`.
std::string copyTile(const std::string &tile) {
  return "func.func @f(%out: memref<?x?xi32>, %in: memref<?x?xi32,"
         " strided<[?, 1]>>, %i: index, %j: index) attributes {tile.kernel} {"
         "  %c0 = arith.constant 0 : index"
         "  %t = tile.load %in[%i, %j] : memref<?x?xi32, strided<[?, 1]>> -> " +
         tile + "  tile.store %t, %out[%c0, %c0] : " + tile +
         ", memref<?x?xi32> return }";
}

TEST_F(MemoryTest, OutsideElementsReadAsZeroAtEveryEdge) {
  // An array of 5 x 7 in rows of 9, with poison wherever no element is.
  constexpr int64_t rows = 5, columns = 7, pitch = 9;
  std::vector<int32_t> in(rows * pitch, -1);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      in[i * pitch + j] = static_cast<int32_t>(100 * i + j + 1);
  Buffer source = makeBuffer(in, {rows, columns}, /*readOnly=*/true);
  source.strides = {pitch, 1};
  for (int64_t i : {int64_t(-1), int64_t(0), int64_t(1), int64_t(2), INT64_MAX,
                    INT64_MIN, INT64_MAX / 4 + 1})
    for (int64_t j : {int64_t(-1), int64_t(0), int64_t(1), int64_t(2),
                      INT64_MAX, INT64_MIN, INT64_MAX / 4 + 1}) {
      std::vector<int32_t> out(16, -2);
      ASSERT_EQ(launch(copyTile("tensor<4x4xi32>"), {},
                       {makeBuffer(out, {4, 4}), source,
                        Scalar{static_cast<uint64_t>(i)},
                        Scalar{static_cast<uint64_t>(j)}}),
                "success");
      for (int64_t r = 0; r < 4; ++r)
        for (int64_t c = 0; c < 4; ++c) {
          bool near = i >= -1 && i <= 2 && j >= -1 && j <= 2;
          int64_t row = near ? i * 4 + r : -1, column = near ? j * 4 + c : -1;
          bool inside =
              row >= 0 && row < rows && column >= 0 && column < columns;
          EXPECT_EQ(out[r * 4 + c], inside ? 100 * row + column + 1 : 0);
        }
    }
}

TEST_F(MemoryTest, OutsideElementsAreNotWritten) {
  // 3 x 3 elements in rows of 4, inside a larger allocation.
  std::vector<int32_t> out(32, 77), in(16);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int32_t>(i + 1);
  Buffer target = makeBuffer(out, {3, 3});
  target.strides = {4, 1};
  ASSERT_EQ(launch("func.func @f(%out: memref<?x?xi32, strided<[?, 1]>>,"
                   "    %in: memref<4x4xi32>) attributes {tile.kernel} {"
                   "  %c0 = arith.constant 0 : index"
                   "  %t = tile.load %in[%c0, %c0] : memref<4x4xi32>"
                   "    -> tensor<4x4xi32>"
                   "  tile.store %t, %out[%c0, %c0] : tensor<4x4xi32>,"
                   "    memref<?x?xi32, strided<[?, 1]>> return }",
                   {}, {target, makeBuffer(in, {4, 4}, true)}),
            "success");
  for (int64_t i = 0; i < 32; ++i) {
    bool inside = i / 4 < 3 && i % 4 < 3;
    EXPECT_EQ(out[i], inside ? i + 1 : 77) << i;
  }
}

TEST_F(MemoryTest, EmptyArraysReadAsZero) {
  std::vector<int32_t> out(16, -2), none;
  ASSERT_EQ(launch(copyTile("tensor<4x4xi32>"), {},
                   {makeBuffer(out, {4, 4}), makeBuffer(none, {0, 7}, true),
                    Scalar{0}, Scalar{0}}),
            "success");
  EXPECT_EQ(out, std::vector<int32_t>(16, 0));
}

TEST_F(MemoryTest, PairsOfFp4AreBytes) {
  // A copy of a 32 x 64 FP4 tile touches 32 x 32 bytes and no more.
  std::vector<uint8_t> in(1024 + 64), out(1024 + 64, 0xEE);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint8_t>(hashOf(i));
  ASSERT_EQ(
      launch(
          "func.func @f(%out: memref<32x32x!tile.f4E2M1FNx2>,"
          "    %in: memref<32x32x!tile.f4E2M1FNx2>) attributes {tile.kernel} {"
          "  %c0 = arith.constant 0 : index"
          "  %t = tile.load %in[%c0, %c0] : memref<32x32x!tile.f4E2M1FNx2>"
          "    -> tensor<32x32x!tile.f4E2M1FNx2>"
          "  %u = tile.unpack %t : tensor<32x32x!tile.f4E2M1FNx2>"
          "    -> tensor<32x64xf4E2M1FN>"
          "  %p = tile.pack %u : tensor<32x64xf4E2M1FN>"
          "    -> tensor<32x32x!tile.f4E2M1FNx2>"
          "  tile.store %p, %out[%c0, %c0] : tensor<32x32x!tile.f4E2M1FNx2>,"
          "    memref<32x32x!tile.f4E2M1FNx2> return }",
          {}, {makeBuffer(out, {32, 32}), makeBuffer(in, {32, 32}, true)}),
      "success");
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], i < 1024 ? in[i] : 0xEE) << i;
}

TEST_F(MemoryTest, GatherMasksAndReadsZeroOutside) {
  std::vector<float> in(6 * 4), out(16, -1);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i + 1);
  std::vector<int32_t> rows = {5, -1, 2, 6};
  std::vector<uint8_t> mask = {1, 0, 1, 1};
  ASSERT_EQ(
      launch(
          "func.func @f(%out: memref<4x4xf32>, %in: memref<?x?xf32>,"
          "    %rows: memref<4x1xi32>, %mask: memref<1x4xi8>)"
          "    attributes {tile.kernel} {"
          "  %c0 = arith.constant 0 : index"
          "  %i = tile.load %rows[%c0, %c0] : memref<4x1xi32> ->"
          "    tensor<4x1xi32>"
          "  %b = tile.load %mask[%c0, %c0] : memref<1x4xi8> -> tensor<1x4xi8>"
          "  %m = arith.trunci %b : tensor<1x4xi8> to tensor<1x4xi1>"
          "  %p = tile.broadcast %m : tensor<1x4xi1> -> tensor<4x4xi1>"
          "  %k = tile.iota : tensor<4xi32>"
          "  %j = tile.reshape %k : tensor<4xi32> -> tensor<1x4xi32>"
          "  %t = tile.gather %in[%i, %j] mask %p : memref<?x?xf32>,"
          "    tensor<4x1xi32>, tensor<1x4xi32>, tensor<4x4xi1>"
          "    -> tensor<4x4xf32>"
          "  tile.store %t, %out[%c0, %c0] : tensor<4x4xf32>, memref<4x4xf32>"
          "  return }",
          {},
          {makeBuffer(out, {4, 4}), makeBuffer(in, {6, 4}, true),
           makeBuffer(rows, {4, 1}, true), makeBuffer(mask, {1, 4}, true)}),
      "success");
  EXPECT_EQ(out, (std::vector<float>{21, 0, 23, 24, 0, 0, 0, 0, //
                                     9, 0, 11, 12, 0, 0, 0, 0}));
}

TEST_F(MemoryTest, ScatterMasksAndDropsTheOutside) {
  std::vector<int32_t> out(6 * 4, -1), rows = {5, -1, 2, 6};
  ASSERT_EQ(launch("func.func @f(%out: memref<?x?xi32>, %rows: memref<4x1xi32>)"
                   "    attributes {tile.kernel} {"
                   "  %c0 = arith.constant 0 : index"
                   "  %i = tile.load %rows[%c0, %c0] : memref<4x1xi32> ->"
                   "    tensor<4x1xi32>"
                   "  %k = tile.iota : tensor<4xi32>"
                   "  %j = tile.reshape %k : tensor<4xi32> -> tensor<1x4xi32>"
                   "  %one = arith.constant dense<1> : tensor<1x4xi32>"
                   "  %q = arith.cmpi ne, %j, %one : tensor<1x4xi32>"
                   "  %p = tile.broadcast %q : tensor<1x4xi1> -> tensor<4x4xi1>"
                   "  %n = tile.iota : tensor<16xi32>"
                   "  %v = tile.reshape %n : tensor<16xi32> -> tensor<4x4xi32>"
                   "  tile.scatter %v, %out[%i, %j] mask %p : tensor<4x4xi32>,"
                   "    memref<?x?xi32>, tensor<4x1xi32>, tensor<1x4xi32>,"
                   "    tensor<4x4xi1>"
                   "  return }",
                   {},
                   {makeBuffer(out, {6, 4}), makeBuffer(rows, {4, 1}, true)}),
            "success");
  std::vector<int32_t> expected(24, -1);
  for (int32_t j : {0, 2, 3}) {
    expected[5 * 4 + j] = j;
    expected[2 * 4 + j] = 8 + j;
  }
  EXPECT_EQ(out, expected);
}

TEST_F(MemoryTest, DimAndScalarLoadReadTheArray) {
  std::vector<int32_t> table = {3, 1, 4, 1, 5, 9}, out(2, -1);
  std::string text =
      "func.func @f(%out: memref<2xi32>, %table: memref<?x?xi32>, %i: index)"
      "    attributes {tile.kernel} {"
      "  %c0 = arith.constant 0 : index"
      "  %c1 = arith.constant 1 : index"
      "  %d = memref.dim %table, %c1 : memref<?x?xi32>"
      "  %n = arith.index_cast %d : index to i32"
      "  %e = memref.load %table[%i, %c1] : memref<?x?xi32>"
      "  %s = tensor.splat %e : tensor<1xi32>"
      "  %t = tensor.splat %n : tensor<1xi32>"
      "  tile.store %s, %out[%c0] : tensor<1xi32>, memref<2xi32>"
      "  tile.store %t, %out[%c1] : tensor<1xi32>, memref<2xi32>"
      "  return }";
  std::vector<Argument> arguments = {
      makeBuffer(out, {2}), makeBuffer(table, {3, 2}, true), Scalar{2}};
  ASSERT_EQ(launch(text, {}, arguments), "success");
  EXPECT_EQ(out, (std::vector<int32_t>{9, 2}));
  arguments[2] = Scalar{3};
  EXPECT_EQ(launch(text, {}, arguments),
            "'memref.load' op expects index 0 of argument 1 to be from 0 to 2, "
            "but got 3, in tile program (0, 0, 0)");
}

TEST_F(MemoryTest, SubviewsHaveBoundsOfTheirOwn) {
  // A page of 3 rows in an array of 8: the row after the page reads as zero
  // although the array has it. The rank-reducing view is one row.
  std::vector<int32_t> in(8 * 4), out(16, -1), row(4, -1);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int32_t>(i + 1);
  std::string text =
      "func.func @f(%out: memref<4x4xi32>, %row: memref<4xi32>,"
      "    %in: memref<?x4xi32>, %at: index, %n: index)"
      "    attributes {tile.kernel} {"
      "  %c0 = arith.constant 0 : index"
      "  %page = memref.subview %in[%at, 0] [%n, 4] [1, 1] : memref<?x4xi32>"
      "    to memref<?x4xi32, strided<[4, 1], offset: ?>>"
      "  %t = tile.load %page[%c0, %c0]"
      "    : memref<?x4xi32, strided<[4, 1], offset: ?>> -> tensor<4x4xi32>"
      "  tile.store %t, %out[%c0, %c0] : tensor<4x4xi32>, memref<4x4xi32>"
      "  %one = memref.subview %page[1, 0] [1, 4] [1, 1]"
      "    : memref<?x4xi32, strided<[4, 1], offset: ?>>"
      "    to memref<4xi32, strided<[1], offset: ?>>"
      "  %r = tile.load %one[%c0] : memref<4xi32, strided<[1], offset: ?>>"
      "    -> tensor<4xi32>"
      "  tile.store %r, %row[%c0] : tensor<4xi32>, memref<4xi32>"
      "  return }";
  std::vector<Argument> arguments = {
      makeBuffer(out, {4, 4}), makeBuffer(row, {4}),
      makeBuffer(in, {8, 4}, true), Scalar{2}, Scalar{3}};
  ASSERT_EQ(launch(text, {}, arguments), "success");
  EXPECT_EQ(out, (std::vector<int32_t>{9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                                       19, 20, 0, 0, 0, 0}));
  EXPECT_EQ(row, (std::vector<int32_t>{13, 14, 15, 16}));
  arguments[3] = Scalar{6};
  EXPECT_EQ(
      launch(text, {}, arguments),
      "'memref.subview' op expects a part of dimension 0 of argument 2, "
      "which has 8 elements, but got 3 from 6, in tile program (0, 0, 0)");
  arguments[3] = Scalar{~uint64_t(0)};
  EXPECT_EQ(launch(text, {}, arguments),
            "'memref.subview' op expects a part of dimension 0 of argument 2, "
            "which has 8 elements, but got 3 from -1, in tile program (0, 0, "
            "0)");
}

} // namespace
