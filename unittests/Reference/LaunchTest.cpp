//===- LaunchTest.cpp - Grids, arguments, programs that conflict ----------===//

#include "Fixture.h"

using namespace tile::reference;

namespace {

class LaunchTest : public ReferenceTest {
protected:
  /// Four floats at an address that is a multiple of 16.
  std::vector<float> values = std::vector<float>(64, 0.0f);
};

TEST_F(LaunchTest, ProgramsKnowTheirPlaceInTheGrid) {
  std::vector<int32_t> out(4 * 3 * 2, -1);
  std::string text =
      "func.func @f(%out: memref<?x?x?xi32>) attributes {tile.kernel} {"
      "  %x = tile.program_id 0"
      "  %y = tile.program_id 1"
      "  %z = tile.program_id 2"
      "  %nx = tile.num_programs 0"
      "  %ny = tile.num_programs 1"
      "  %nz = tile.num_programs 2"
      "  %a = arith.muli %z, %ny : index"
      "  %b = arith.addi %a, %y : index"
      "  %c = arith.muli %b, %nx : index"
      "  %d = arith.addi %c, %x : index"
      "  %c100 = arith.constant 100 : index"
      "  %e = arith.muli %nz, %c100 : index"
      "  %f = arith.addi %d, %e : index"
      "  %i = arith.index_cast %f : index to i32"
      "  %t = tensor.splat %i : tensor<1x1x1xi32>"
      "  tile.store %t, %out[%z, %y, %x] : tensor<1x1x1xi32>,"
      "    memref<?x?x?xi32>"
      "  return }";
  for (unsigned threads : {1u, 2u, 7u}) {
    out.assign(out.size(), -1);
    ASSERT_EQ(launch(text, {{4, 3, 2}}, {makeBuffer(out, {2, 3, 4})}, threads),
              "success");
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(out[i], static_cast<int32_t>(200 + i));
  }
}

TEST_F(LaunchTest, CountsTheElementsThatNoProgramWrote) {
  // Rows of 3 in an array whose rows are 8 apart: 2 of the 5 rows stay.
  std::string text =
      "func.func @f(%z: memref<?x?xf32>, %x: memref<?xf32>, %v: f32)"
      "    attributes {tile.kernel} {"
      "  %c0 = arith.constant 0 : index"
      "  %i = tile.program_id 0"
      "  %t = tensor.splat %v : tensor<1x4xf32>"
      "  tile.store %t, %z[%i, %c0] : tensor<1x4xf32>, memref<?x?xf32>"
      "  return }";
  std::vector<float> input(16, 0.0f);
  Buffer z = makeBuffer(values, {5, 3});
  z.strides = {8, 1};
  llvm::Expected<Kernel> kernel = Kernel::prepare(parse(text));
  ASSERT_TRUE(bool(kernel));
  llvm::SmallVector<int64_t> unwritten;
  for (auto [programs, expected] : {std::pair(1, 12), {3, 6}, {5, 0}, {9, 0}}) {
    LaunchOptions options;
    options.threads = 2;
    options.unwritten = &unwritten;
    EXPECT_EQ(getMessage(kernel->launch(
                  {{programs, 1, 1}},
                  {z, makeBuffer(input, {16}, /*readOnly=*/true), Scalar{1}},
                  options)),
              "success");
    EXPECT_EQ(unwritten, (llvm::SmallVector<int64_t>{expected, 0, 0}));
  }
}

TEST_F(LaunchTest, TheGridHasTheLimitsOfAGpu) {
  std::string text = "func.func @f() attributes {tile.kernel} { return }";
  EXPECT_EQ(launch(text, {{0, 1, 1}}, {}),
            "grid: expects dimension 0 to be from 1 to 2147483647, but got 0");
  EXPECT_EQ(launch(text, {{1, 65536, 1}}, {}),
            "grid: expects dimension 1 to be from 1 to 65535, but got 65536");
  EXPECT_EQ(launch(text, {{1, 1, -1}}, {}),
            "grid: expects dimension 2 to be from 1 to 65535, but got -1");
  EXPECT_EQ(launch(text, {{int64_t(1) << 31, 1, 1}}, {}),
            "grid: expects dimension 0 to be from 1 to 2147483647, but got "
            "2147483648");
}

TEST_F(LaunchTest, AHugeGridStopsAtTheFirstFault) {
  std::string text = "func.func @f() attributes {tile.kernel} {"
                     "  %x = tile.program_id 0"
                     "  %y = tile.assume %x {max = 41 : i64} : index"
                     "  return }";
  for (unsigned threads : {1u, 5u})
    EXPECT_EQ(
        launch(text, {{2147483647, 65535, 65535}}, {}, threads),
        "'tile.assume' op expects at most 41, but got 42, in tile program "
        "(42, 0, 0)");
}

//===----------------------------------------------------------------------===//
// Programs that write the same element
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, TwoWritersOfOneElementAreAnErrorOnAnyNumberOfThreads) {
  // Program p writes elements 8p to 8p + 15: neighbours overlap in the last
  // eight, with the same value.
  std::string text =
      "func.func @f(%out: memref<?x8xf32>) attributes {tile.kernel} {"
      "  %c0 = arith.constant 0 : index"
      "  %c1 = arith.constant 1 : index"
      "  %p = tile.program_id 0"
      "  %q = arith.addi %p, %c1 : index"
      "  %t = arith.constant dense<1.0> : tensor<1x8xf32>"
      "  tile.store %t, %out[%q, %c0] : tensor<1x8xf32>, memref<?x8xf32>"
      "  tile.store %t, %out[%p, %c0] : tensor<1x8xf32>, memref<?x8xf32>"
      "  return }";
  std::vector<float> out(8 * 33);
  for (unsigned threads : {1u, 2u, 3u, 8u})
    for (int repeat = 0; repeat < 5; ++repeat)
      EXPECT_EQ(launch(text, {{32, 1, 1}}, {makeBuffer(out, {33, 8})}, threads),
                "tile programs (0, 0, 0) and (1, 0, 0) both write element "
                "[1, 0] of argument 0");
}

TEST_F(LaunchTest, TheFirstTwoOfManyWritersAreNamed) {
  // Later programs write first: earlier ones count for a while before.
  std::string text =
      "func.func @f(%out: memref<1xf32>) attributes {tile.kernel} {"
      "  %c0 = arith.constant 0 : index"
      "  %c1 = arith.constant 1 : index"
      "  %c9999 = arith.constant 9999 : index"
      "  %p = tile.program_id 0"
      "  %n = tile.num_programs 0"
      "  %left = arith.subi %n, %p : index"
      "  %end = arith.muli %left, %c9999 : index"
      "  %count = scf.for %i = %c0 to %end step %c1 iter_args(%a = %c0)"
      "      -> (index) {"
      "    %b = arith.addi %a, %c1 : index"
      "    scf.yield %b : index"
      "  }"
      "  %t = arith.constant dense<1.0> : tensor<1xf32>"
      "  tile.store %t, %out[%c0] : tensor<1xf32>, memref<1xf32>"
      "  return }";
  std::vector<float> out(4);
  Buffer target = makeBuffer(out, {1});
  for (unsigned threads : {1u, 2u, 8u})
    EXPECT_EQ(launch(text, {{8, 1, 1}}, {target}, threads),
              "tile programs (0, 0, 0) and (1, 0, 0) both write element [0] of "
              "argument 0");
}

TEST_F(LaunchTest, OneProgramMayWriteAnElementTwice) {
  std::string text =
      "func.func @f(%out: memref<8xf32>) attributes {tile.kernel} {"
      "  %c0 = arith.constant 0 : index"
      "  %s = arith.constant dense<1.0> : tensor<8xf32>"
      "  %t = arith.constant dense<2.0> : tensor<8xf32>"
      "  tile.store %s, %out[%c0] : tensor<8xf32>, memref<8xf32>"
      "  tile.store %t, %out[%c0] : tensor<8xf32>, memref<8xf32>"
      "  return }";
  std::vector<float> out(8);
  EXPECT_EQ(launch(text, {}, {makeBuffer(out, {8})}), "success");
  EXPECT_EQ(out, std::vector<float>(8, 2.0f));
}

TEST_F(LaunchTest, AStoreToAnInputIsAFault) {
  std::string text =
      "func.func @f(%out: memref<?xf32>) attributes {tile.kernel} {"
      "  %p = tile.program_id 0"
      "  %t = arith.constant dense<1.0> : tensor<8xf32>"
      "  tile.store %t, %out[%p] : tensor<8xf32>, memref<?xf32>"
      "  return }";
  EXPECT_EQ(
      launch(text, {{3, 1, 1}}, {makeBuffer(values, {64}, /*readOnly=*/true)}),
      "'tile.store' op writes to argument 0, which is an input, in tile "
      "program (0, 0, 0)");
  EXPECT_EQ(values, std::vector<float>(64, 0.0f));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, ArgumentsAreChecked) {
  auto check = [&](const std::string &parameters,
                   llvm::ArrayRef<Argument> arguments) {
    return launch("func.func @f(" + parameters + ") { return }", {}, arguments);
  };
  Buffer square = makeBuffer(values, {8, 8});
  EXPECT_EQ(check("%a: memref<?x?xf32>", {square}), "success");
  EXPECT_EQ(check("%a: memref<?x?xf32>", {}),
            "kernel 'f': expects 1 argument, but got 0");
  EXPECT_EQ(check("%a: memref<?x?xf32>", {Scalar{1}}),
            "argument 0: expects an array, but got a scalar");
  EXPECT_EQ(check("%a: f32", {square}),
            "argument 0: expects a scalar, but got an array");
  EXPECT_EQ(check("%a: i8", {Scalar{256}}),
            "argument 0: expects a code of 8 bits");
  EXPECT_EQ(check("%a: memref<?x?xf16>", {square}),
            "argument 0: expects elements of 2 bytes (f16), but got 4");
  EXPECT_EQ(check("%a: memref<?xf32>", {square}),
            "argument 0: expects 1 dimension, but got 2");
  EXPECT_EQ(check("%a: memref<8x4xf32, strided<[8, 1]>>", {square}),
            "argument 0: expects extent 1 to be 4, but got 8");
  EXPECT_EQ(check("%a: memref<8x8xf32, strided<[16, 1]>>", {square}),
            "argument 0: expects stride 0 to be 16, but got 8");
  EXPECT_EQ(check("%a: memref<8x8xf32, strided<[8, 1], offset: 4>>", {square}),
            "argument 0: expects a memref that begins at its base pointer, but "
            "its type is 'memref<8x8xf32, strided<[8, 1], offset: 4>>'");
  EXPECT_EQ(
      check("%a: memref<?x?xf32> {tile.shape_divisible_by = array<i64: 1, 16>}",
            {square}),
      "argument 0: expects extent 1 to be a multiple of 16 "
      "('tile.shape_divisible_by'), but got 8");
  EXPECT_EQ(check("%a: memref<?x?xf32, strided<[?, 1]>>"
                  " {tile.stride_divisible_by = array<i64: 16, 1>}",
                  {square}),
            "argument 0: expects stride 0 to be a multiple of 16 "
            "('tile.stride_divisible_by'), but got 8");
  Buffer odd = makeBuffer(values, {2, 2});
  odd.data += 4;
  odd.capacity -= 4;
  EXPECT_EQ(check("%a: memref<?x?xf32>", {odd}),
            "argument 0: expects a base pointer aligned to 16 bytes");
  Buffer large = makeBuffer(values, {8, 8});
  large.capacity -= 1;
  EXPECT_EQ(check("%a: memref<?x?xf32>", {large}),
            "argument 0: expects every element to lie in the 255 bytes of its "
            "allocation");
  Buffer huge = makeBuffer(values, {8, 8});
  huge.shape = {INT64_MAX, INT64_MAX};
  huge.strides = {INT64_MAX, INT64_MAX};
  EXPECT_EQ(check("%a: memref<?x?xf32, strided<[?, ?]>>", {huge}),
            "argument 0: expects every element to lie in the 256 bytes of its "
            "allocation");
  Buffer negative = makeBuffer(values, {8, 8});
  negative.strides = {-8, 1};
  EXPECT_EQ(
      check("%a: memref<?x?xf32, strided<[?, 1]>>", {negative}),
      "argument 0: expects extents and strides that are not negative, but "
      "got extent 8 and stride -8 in dimension 0");
}

TEST_F(LaunchTest, ErrorsUseTheNamesOfArgumentsAndFiles) {
  Buffer buffer = makeBuffer(values, {8, 8});
  buffer.origin = "z.npy";
  EXPECT_EQ(launch("func.func @f(%a: memref<?xf32> loc(\"z\"))"
                   " attributes {tile.kernel} { return }",
                   {}, {buffer}),
            "argument 0 (z) from 'z.npy': expects 1 dimension, but got 2");
}

TEST_F(LaunchTest, KernelsHaveNoResults) {
  EXPECT_EQ(launch("func.func @f() -> i32 { %r = arith.constant 1 : i32"
                   "  return %r : i32 }",
                   {}, {}),
            "kernel 'f': expects no results, but got 1");
}

TEST_F(LaunchTest, AFaultHasThePlaceOfItsOperation) {
  llvm::Expected<Kernel> kernel = Kernel::prepare(
      parse("\n  func.func @f() {\n    %m = memref.alloc() : memref<1xf32>\n"
            "    return\n  }"));
  ASSERT_FALSE(static_cast<bool>(kernel));
  std::string text = llvm::toString(kernel.takeError());
  EXPECT_NE(
      text.find(":3:10: error: 'memref.alloc' op is not one that a kernel "
                "may use"),
      std::string::npos)
      << text;
}

} // namespace
