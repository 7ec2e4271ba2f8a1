//===- ControlTest.cpp - Loops, branches, calls ---------------------------===//

#include "Fixture.h"

using namespace tile::reference;

namespace {

class ControlTest : public ReferenceTest {
protected:
  Tensor makeIndex(int64_t value) {
    return makeCodes("index", {}, static_cast<uint64_t>(value));
  }
};

TEST_F(ControlTest, ForCarriesAndSwapsValues) {
  // Fibonacci: both values move at once.
  std::string text = "func.func @f(%n: index) -> i32 {"
                     "  %c0 = arith.constant 0 : index"
                     "  %c1 = arith.constant 1 : index"
                     "  %zero = arith.constant 0 : i32"
                     "  %one = arith.constant 1 : i32"
                     "  %r:2 = scf.for %i = %c0 to %n step %c1"
                     "      iter_args(%a = %zero, %b = %one) -> (i32, i32) {"
                     "    %s = arith.addi %a, %b : i32"
                     "    scf.yield %b, %s : i32, i32"
                     "  }"
                     "  return %r#0 : i32 }";
  EXPECT_EQ(evaluate(text, makeIndex(10)).getSigned(0), 55);
  EXPECT_EQ(evaluate(text, makeIndex(0)).getSigned(0), 0);
  EXPECT_EQ(evaluate(text, makeIndex(-5)).getSigned(0), 0);
}

TEST_F(ControlTest, AnInductionVariableThatWrapsIsAFault) {
  std::string text = "func.func @f(%from: i8, %to: i8, %by: i8) -> i32 {"
                     "  %zero = arith.constant 0 : i32"
                     "  %one = arith.constant 1 : i32"
                     "  %r = scf.for %i = %from to %to step %by"
                     "      iter_args(%n = %zero) -> (i32) : i8 {"
                     "    %m = arith.addi %n, %one : i32"
                     "    scf.yield %m : i32"
                     "  }"
                     "  return %r : i32 }";
  auto i8 = [&](int64_t value) {
    return makeCodes("i8", {}, static_cast<uint64_t>(value));
  };
  // 87, 107, 127: the last sum is the largest that fits.
  EXPECT_EQ(evaluate(text, {i8(87), i8(127), i8(20)}).getSigned(0), 2);
  EXPECT_EQ(evaluate(text, {i8(-128), i8(100), i8(80)}).getSigned(0), 3);
  EXPECT_EQ(evaluate(text, {i8(127), i8(127), i8(127)}).getSigned(0), 0);
  const std::string fault =
      "'scf.for' op expects an induction variable of at most ";
  const std::string tail = "; the compiled loop would wrap and go on, in tile "
                           "program (0, 0, 0)";
  EXPECT_EQ(getError(text, {i8(88), i8(127), i8(20)}),
            fault + "127, but got 108 + 20" + tail);
  EXPECT_EQ(getError(text, {i8(-128), i8(127), i8(100)}),
            fault + "127, but got 72 + 100" + tail);

  // The same bits, compared as unsigned numbers.
  std::string unsignedText = text;
  unsignedText.replace(text.find("scf.for"), 7, "scf.for unsigned");
  EXPECT_EQ(evaluate(unsignedText, {i8(88), i8(127), i8(20)}).getSigned(0), 2);
  EXPECT_EQ(evaluate(unsignedText, {i8(100), i8(250), i8(155)}).getSigned(0),
            1);
  EXPECT_EQ(getError(unsignedText, {i8(100), i8(250), i8(156)}),
            fault + "255, but got 100 + 156" + tail);
  EXPECT_EQ(getError(text, {i8(0), i8(10), i8(0)}),
            "'scf.for' op expects a positive step, but got 0, in tile program "
            "(0, 0, 0)");
  EXPECT_EQ(getError(text, {i8(0), i8(10), i8(-1)}),
            "'scf.for' op expects a positive step, but got -1, in tile program "
            "(0, 0, 0)");
}

TEST_F(ControlTest, AnIndexThatWrapsIsAFault) {
  std::string text = "func.func @f(%from: index, %to: index, %by: index) {"
                     "  scf.for %i = %from to %to step %by {}"
                     "  return }";
  EXPECT_EQ(getError(text, {makeIndex(INT64_MAX - 5), makeIndex(INT64_MAX),
                            makeIndex(4)}),
            "'scf.for' op expects an induction variable of at most "
            "9223372036854775807, but got 9223372036854775806 + 4; the "
            "compiled loop would wrap and go on, in tile program (0, 0, 0)");
  EXPECT_EQ(getError(text, {makeIndex(INT64_MAX - 5), makeIndex(INT64_MAX),
                            makeIndex(5)}),
            "success");
}

TEST_F(ControlTest, IfChoosesARegion) {
  std::string text = "func.func @f(%c: i1) -> (i32, index) {"
                     "  %a = arith.constant 7 : i32"
                     "  %b = arith.constant 9 : i32"
                     "  %i = arith.constant 1 : index"
                     "  %j = arith.constant 2 : index"
                     "  scf.if %c { %unused = arith.addi %a, %b : i32 }"
                     "  %r:2 = scf.if %c -> (i32, index) {"
                     "    scf.yield %a, %i : i32, index"
                     "  } else { scf.yield %b, %j : i32, index }"
                     "  return %r#0, %r#1 : i32, index }";
  std::vector<Tensor> yes = evaluateAll(text, makeCodes("i1", {}, 1));
  std::vector<Tensor> no = evaluateAll(text, makeCodes("i1", {}, 0));
  EXPECT_EQ(yes[0].getSigned(0), 7);
  EXPECT_EQ(yes[1].getSigned(0), 1);
  EXPECT_EQ(no[0].getSigned(0), 9);
  EXPECT_EQ(no[1].getSigned(0), 2);
}

TEST_F(ControlTest, WhileRunsUntilItsConditionFails) {
  // Greatest common divisor.
  std::string text = "func.func @f(%x: i32, %y: i32) -> i32 {"
                     "  %zero = arith.constant 0 : i32"
                     "  %r:2 = scf.while (%a = %x, %b = %y) : (i32, i32)"
                     "      -> (i32, i32) {"
                     "    %more = arith.cmpi ne, %b, %zero : i32"
                     "    scf.condition(%more) %a, %b : i32, i32"
                     "  } do {"
                     "  ^bb0(%a: i32, %b: i32):"
                     "    %m = arith.remui %a, %b : i32"
                     "    scf.yield %b, %m : i32, i32"
                     "  }"
                     "  return %r#0 : i32 }";
  EXPECT_EQ(
      evaluate(text, {makeCodes("i32", {}, 1071), makeCodes("i32", {}, 462)})
          .getSigned(0),
      21);
}

TEST_F(ControlTest, CallsReturnTheirResults) {
  std::string text = "func.func @f(%x: i32) -> i32 {"
                     "  %a = func.call @twice(%x) : (i32) -> i32"
                     "  %b = func.call @twice(%a) : (i32) -> i32"
                     "  %r = arith.addi %a, %b : i32"
                     "  return %r : i32 }"
                     "func.func private @twice(%x: i32) -> i32 {"
                     "  %r = func.call @add(%x, %x) : (i32, i32) -> i32"
                     "  return %r : i32 }"
                     "func.func private @add(%x: i32, %y: i32) -> i32 {"
                     "  %r = arith.addi %x, %y : i32"
                     "  return %r : i32 }";
  EXPECT_EQ(evaluate(text, makeCodes("i32", {}, 5)).getSigned(0), 30);
}

TEST_F(ControlTest, RecursionIsRefused) {
  EXPECT_EQ(
      getError("func.func @f() { func.call @g() : () -> () return }"
               "func.func private @g() { func.call @h() : () -> () return }"
               "func.func private @h() { func.call @g() : () -> () return }",
               {}),
      "'func.call' op calls '@g' recursively");
}

TEST_F(ControlTest, OnlyPrivateFunctionsWithABodyAreCalled) {
  const std::string tail =
      "' op expects a private function with a body, but got '@g'";
  EXPECT_EQ(getError("func.func @f() { func.call @g() : () -> () return }"
                     "func.func @g() { return }",
                     {}),
            "'func.call" + tail);
  EXPECT_EQ(getError("func.func @f() { func.call @g() : () -> () return }"
                     "func.func private @g()",
                     {}),
            "'func.call" + tail);
}

TEST_F(ControlTest, AnUnknownOpIsNamedBeforeAnythingRuns) {
  // The division by zero comes first in the program, but nothing runs.
  EXPECT_EQ(getError("func.func @f(%t: tensor<4xf32>) -> tensor<2x2xf32> {"
                     "  %zero = arith.constant 0 : i32"
                     "  %bad = arith.divsi %zero, %zero : i32"
                     "  %s = arith.constant dense<2> : tensor<2xindex>"
                     "  %r = tensor.reshape %t(%s)"
                     "    : (tensor<4xf32>, tensor<2xindex>) -> tensor<2x2xf32>"
                     "  return %r : tensor<2x2xf32> }",
                     makeFloats("f32", {4}, {1, 2, 3, 4})),
            "'tensor.reshape' op is not one that a kernel may use");
  // Also in a branch that is never taken, and in a callee.
  EXPECT_EQ(getError("func.func @f() { func.call @g() : () -> () return }"
                     "func.func private @g() {"
                     "  %no = arith.constant false"
                     "  scf.if %no { %m = memref.alloc() : memref<4xf32> }"
                     "  return }",
                     {}),
            "'memref.alloc' op is not one that a kernel may use");
}

TEST_F(ControlTest, TypesThatKernelsCannotUseAreRefused) {
  EXPECT_EQ(getError("func.func @f(%t: tensor<?xf32>) { return }", {}),
            "'func.func' op expects tiles of static shape, but got "
            "'tensor<?xf32>'");
  EXPECT_EQ(getError("func.func @f(%t: i128) { return }", {}),
            "'func.func' op has a value of type 'i128', which a kernel may not "
            "use");
  EXPECT_EQ(
      getError("func.func @f(%t: tensor<65536x65536xf32>) { return }", {}),
      "'func.func' op expects tiles of at most 16777216 elements, but got "
      "'tensor<65536x65536xf32>'");
  EXPECT_EQ(getError("func.func @f(%t: memref<4xi4>) { return }", {}),
            "'func.func' op has a value of type 'memref<4xi4>', which a kernel "
            "may not use");
}

} // namespace
