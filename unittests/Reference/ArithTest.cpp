//===- ArithTest.cpp - Element-wise arithmetic ----------------------------===//

#include "Fixture.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

using namespace tile::reference;
using llvm::APFloat;

namespace {

/// A function of two arguments of `type` that returns `op` of them.
std::string binary(const std::string &op, const std::string &type) {
  return "func.func @f(%a: " + type + ", %b: " + type + ") -> " + type +
         " { %r = " + op + " %a, %b : " + type + " return %r : " + type + " }";
}

std::string cast(const std::string &op, const std::string &from,
                 const std::string &to) {
  return "func.func @f(%a: " + from + ") -> " + to + " { %r = " + op +
         " %a : " + from + " to " + to + " return %r : " + to + " }";
}

class ArithTest : public ReferenceTest {
protected:
  int64_t computeInteger(const std::string &op, const std::string &type,
                         int64_t a, int64_t b) {
    Tensor x = makeCodes(type, {}, static_cast<uint64_t>(a));
    Tensor y = makeCodes(type, {}, static_cast<uint64_t>(b));
    return evaluate(binary(op, type), {x, y}).getSigned(0);
  }
  double computeFloat(const std::string &op, const std::string &type, double a,
                      double b) {
    return evaluate(binary(op, type),
                    {makeFloats(type, {}, a), makeFloats(type, {}, b)})
        .getFloat(0);
  }
};

TEST_F(ArithTest, IntegersWrapAtTheirWidth) {
  EXPECT_EQ(computeInteger("arith.addi", "i8", 127, 1), -128);
  EXPECT_EQ(computeInteger("arith.subi", "i8", -128, 1), 127);
  EXPECT_EQ(computeInteger("arith.muli", "i16", 300, 300), 90000 - 65536);
  EXPECT_EQ(computeInteger("arith.addi", "i1", 1, 1), 0);
  EXPECT_EQ(computeInteger("arith.muli", "i64", INT64_MAX, 2), -2);
  EXPECT_EQ(computeInteger("arith.addi", "index", INT64_MAX, 1), INT64_MIN);
}

TEST_F(ArithTest, DivisionsRoundAsTheirNamesSay) {
  EXPECT_EQ(computeInteger("arith.divsi", "i32", -7, 2), -3);
  EXPECT_EQ(computeInteger("arith.remsi", "i32", -7, 2), -1);
  EXPECT_EQ(computeInteger("arith.floordivsi", "i32", -7, 2), -4);
  EXPECT_EQ(computeInteger("arith.ceildivsi", "i32", -7, 2), -3);
  EXPECT_EQ(computeInteger("arith.ceildivsi", "i32", 7, 2), 4);
  EXPECT_EQ(computeInteger("arith.ceildivsi", "i32", 7, -2), -3);
  EXPECT_EQ(computeInteger("arith.divui", "i8", -1, 2), 127);
  EXPECT_EQ(computeInteger("arith.remui", "i8", -1, 16), 15);
  EXPECT_EQ(computeInteger("arith.ceildivui", "index", 33, 32), 2);
  EXPECT_EQ(computeInteger("arith.ceildivui", "i64", -1, 1), -1);
  EXPECT_EQ(computeInteger("arith.ceildivui", "index", 0, 32), 0);
}

TEST_F(ArithTest, DivisionByZeroIsAFaultAndNotASignal) {
  for (std::string op : {"divsi", "divui", "remsi", "remui", "ceildivsi",
                         "ceildivui", "floordivsi"}) {
    std::string text = binary("arith." + op, "i32");
    Tensor a = makeCodes("i32", {}, 6), b = makeCodes("i32", {}, 0);
    EXPECT_EQ(getError(text, {a, b}), "'arith." + op +
                                          "' op divides by zero, in tile "
                                          "program (0, 0, 0)");
  }
}

TEST_F(ArithTest, ATileDividesByOneWhereItsDivisorIsZero) {
  Tensor a = makeCodes("i32", {2}, {7, 6}), b = makeCodes("i32", {2}, {2, 0});
  Tensor quotients = evaluate(binary("arith.divsi", "tensor<2xi32>"), {a, b});
  EXPECT_EQ(quotients.getCode(0), 3u);
  EXPECT_EQ(quotients.getCode(1), 6u);
  EXPECT_EQ(evaluate(binary("arith.remui", "tensor<2xi32>"), {a, b}).getCode(1),
            0u);
  Tensor least = makeCodes("i8", {1}, {0x80}),
         minus = makeCodes("i8", {1}, {0xFF});
  EXPECT_EQ(evaluate(binary("arith.divsi", "tensor<1xi8>"), {least, minus})
                .getCode(0),
            0x80u);
}

TEST_F(ArithTest, TheQuotientThatDoesNotFitIsAFault) {
  for (std::string type : {"i8", "i32", "i64"}) {
    Tensor min =
        makeCodes(type, {}, uint64_t(1) << (getElement(type).bits - 1));
    Tensor minusOne = makeCodes(type, {}, ~uint64_t(0));
    EXPECT_EQ(getError(binary("arith.divsi", type), {min, minusOne}),
              "'arith.divsi' op has a quotient that does not fit, in tile "
              "program (0, 0, 0)");
    EXPECT_EQ(evaluate(binary("arith.remsi", type), {min, minusOne}).getCode(0),
              0u);
  }
}

TEST_F(ArithTest, ShiftsByTheWidthMoveEveryBitOut) {
  EXPECT_EQ(computeInteger("arith.shli", "i8", 1, 7), -128);
  EXPECT_EQ(computeInteger("arith.shli", "i8", 1, 8), 0);
  EXPECT_EQ(computeInteger("arith.shrui", "i8", -128, 7), 1);
  EXPECT_EQ(computeInteger("arith.shrui", "i64", -1, 64), 0);
  EXPECT_EQ(computeInteger("arith.shrsi", "i8", -128, 3), -16);
  EXPECT_EQ(computeInteger("arith.shrsi", "i32", -5, 40), -1);
}

TEST_F(ArithTest, MinimumAndMaximumKnowTheSign) {
  EXPECT_EQ(computeInteger("arith.maxsi", "i8", -1, 1), 1);
  EXPECT_EQ(computeInteger("arith.maxui", "i8", -1, 1), -1);
  EXPECT_EQ(computeInteger("arith.minsi", "i8", -1, 1), -1);
  EXPECT_EQ(computeInteger("arith.minui", "i8", -1, 1), 1);
}

TEST_F(ArithTest, ComparisonsKnowTheSign) {
  auto compare = [&](const std::string &predicate, uint64_t a, uint64_t b) {
    std::string text = "func.func @f(%a: i8, %b: i8) -> i1 { %r = arith.cmpi " +
                       predicate + ", %a, %b : i8 return %r : i1 }";
    return evaluate(text, {makeCodes("i8", {}, a), makeCodes("i8", {}, b)})
               .getCode(0) != 0;
  };
  struct Row {
    const char *predicate;
    bool less, equal, greater; // -1 against 1, 1 against 1, 1 against -1
  };
  for (Row row :
       {Row{"eq", false, true, false}, Row{"ne", true, false, true},
        Row{"slt", true, false, false}, Row{"sle", true, true, false},
        Row{"sgt", false, false, true}, Row{"sge", false, true, true},
        Row{"ult", false, false, true}, Row{"ule", false, true, true},
        Row{"ugt", true, false, false}, Row{"uge", true, true, false}}) {
    EXPECT_EQ(compare(row.predicate, 0xFF, 1), row.less) << row.predicate;
    EXPECT_EQ(compare(row.predicate, 1, 1), row.equal) << row.predicate;
    EXPECT_EQ(compare(row.predicate, 1, 0xFF), row.greater) << row.predicate;
  }
}

TEST_F(ArithTest, ExtendedOperationsGiveTheHighHalf) {
  auto both = [&](const std::string &op, const std::string &second, uint64_t a,
                  uint64_t b) {
    std::string text = "func.func @f(%a: i64, %b: i64) -> (i64, " + second +
                       ") { %r, %s = arith." + op + " %a, %b : i64" +
                       (second == "i1" ? ", i1" : "") +
                       " return %r, %s : i64, " + second + " }";
    std::vector<Tensor> results =
        evaluateAll(text, {makeCodes("i64", {}, a), makeCodes("i64", {}, b)});
    return std::make_pair(results[0].getCode(0), results[1].getCode(0));
  };
  EXPECT_EQ(both("addui_extended", "i1", ~0ull, 2),
            std::make_pair(uint64_t(1), uint64_t(1)));
  EXPECT_EQ(both("mului_extended", "i64", ~0ull, 3),
            std::make_pair(~uint64_t(2), uint64_t(2)));
  EXPECT_EQ(both("mulsi_extended", "i64", ~0ull, 3),
            std::make_pair(~uint64_t(2), ~uint64_t(0)));
}

/// Every result must be what APFloat gives: an implementation of IEEE 754 that
/// shares nothing with the machine's.
class ArithFloatTest : public ArithTest,
                       public ::testing::WithParamInterface<const char *> {
protected:
  const llvm::fltSemantics &getSemantics() {
    return llvm::cast<mlir::FloatType>(mlir::parseType(GetParam(), &context))
        .getFloatSemantics();
  }
  /// All special values, and codes from everywhere.
  std::vector<uint64_t> getSamples(uint64_t salt, size_t count) {
    unsigned bits = getElement(GetParam()).bits;
    uint64_t mask = getElement(GetParam()).getMask();
    const llvm::fltSemantics &semantics = getSemantics();
    std::vector<uint64_t> codes;
    for (const APFloat &value :
         {APFloat::getZero(semantics), APFloat::getZero(semantics, true),
          APFloat::getInf(semantics), APFloat::getInf(semantics, true),
          APFloat::getNaN(semantics), APFloat::getLargest(semantics),
          APFloat::getSmallest(semantics),
          APFloat::getSmallest(semantics, true),
          APFloat::getSmallestNormalized(semantics), APFloat(semantics, 1)})
      codes.push_back(value.bitcastToAPInt().getZExtValue());
    // Half of them near one, so that sums do not drown one operand.
    uint64_t one = APFloat(semantics, 1).bitcastToAPInt().getZExtValue();
    while (codes.size() < count) {
      uint64_t hash = hashOf(codes.size(), salt);
      codes.push_back(
          (codes.size() % 2 ? hash : one + hash % (1ull << (bits - 5))) & mask);
    }
    return codes;
  }
};

TEST_P(ArithFloatTest, EveryOperationRoundsOnceToNearestEven) {
  using Combine = APFloat::opStatus (*)(APFloat &, const APFloat &);
  struct Row {
    const char *op;
    Combine combine;
  };
  auto even = APFloat::rmNearestTiesToEven;
  (void)even;
  const Row rows[] = {
      {"arith.addf",
       [](APFloat &a, const APFloat &b) {
         return a.add(b, APFloat::rmNearestTiesToEven);
       }},
      {"arith.subf",
       [](APFloat &a, const APFloat &b) {
         return a.subtract(b, APFloat::rmNearestTiesToEven);
       }},
      {"arith.mulf",
       [](APFloat &a, const APFloat &b) {
         return a.multiply(b, APFloat::rmNearestTiesToEven);
       }},
      {"arith.divf",
       [](APFloat &a, const APFloat &b) {
         return a.divide(b, APFloat::rmNearestTiesToEven);
       }},
      {"arith.remf", [](APFloat &a, const APFloat &b) { return a.mod(b); }},
  };
  const std::string type = GetParam();
  const llvm::fltSemantics &semantics = getSemantics();
  const unsigned bits = getElement(type).bits;
  // Every special value meets every other one, then pairs of samples.
  std::vector<uint64_t> a, b;
  std::vector<uint64_t> left = getSamples(1, 3000), right = getSamples(2, 3000);
  for (size_t i = 0; i < 10; ++i)
    for (size_t j = 0; j < 10; ++j) {
      a.push_back(left[i]);
      b.push_back(right[j]);
    }
  a.insert(a.end(), left.begin(), left.end());
  b.insert(b.end(), right.begin(), right.end());
  const int64_t count = static_cast<int64_t>(a.size());
  for (const Row &row : rows) {
    std::string tile = "tensor<" + std::to_string(count) + "x" + type + ">";
    Tensor result =
        evaluate(binary(row.op, tile),
                 {makeCodes(type, {count}, a), makeCodes(type, {count}, b)});
    for (int64_t i = 0; i < count; ++i) {
      APFloat expected(semantics, llvm::APInt(bits, a[i]));
      APFloat second(semantics, llvm::APInt(bits, b[i]));
      row.combine(expected, second);
      APFloat got(semantics, llvm::APInt(bits, result.getCode(i)));
      if (expected.isNaN())
        EXPECT_TRUE(got.isNaN()) << row.op << " " << a[i] << " " << b[i];
      else
        EXPECT_TRUE(expected.bitwiseIsEqual(got))
            << row.op << " " << a[i] << " " << b[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ArithFloatTest,
                         ::testing::Values("f16", "bf16", "f32", "f64"));

TEST_F(ArithTest, MaximumPropagatesNaNAndOrdersZeros) {
  EXPECT_TRUE(std::isnan(computeFloat("arith.maximumf", "f32", quietNaN, 1)));
  EXPECT_TRUE(std::isnan(computeFloat("arith.minimumf", "f32", 1, quietNaN)));
  EXPECT_EQ(computeFloat("arith.maxnumf", "f32", quietNaN, 1), 1);
  EXPECT_EQ(computeFloat("arith.minnumf", "f32", 1, quietNaN), 1);
  EXPECT_FALSE(std::signbit(computeFloat("arith.maximumf", "f16", -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(computeFloat("arith.minimumf", "f16", 0.0, -0.0)));
  EXPECT_EQ(computeFloat("arith.maximumf", "bf16", -3, -2), -2);
  EXPECT_EQ(computeFloat("arith.minnumf", "bf16", -3, -2), -3);
}

TEST_F(ArithTest, NegationFlipsTheSignOfNaNToo) {
  Tensor x = makeCodes("f32", {4}, {0x7FC01234, 0x80000000, 0, 0x3F800000});
  EXPECT_EQ(getCodes(evaluate("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32>"
                              "{ %r = arith.negf %a : tensor<4xf32>"
                              "  return %r : tensor<4xf32> }",
                              {x})),
            (std::vector<uint64_t>{0xFFC01234, 0, 0x80000000, 0xBF800000}));
}

TEST_F(ArithTest, FloatComparisonsKnowUnordered) {
  auto compare = [&](const std::string &predicate, double a, double b) {
    std::string text =
        "func.func @f(%a: f16, %b: f16) -> i1 { %r = arith.cmpf " + predicate +
        ", %a, %b : f16 return %r : i1 }";
    return evaluate(text, {makeFloats("f16", {}, a), makeFloats("f16", {}, b)})
               .getCode(0) != 0;
  };
  struct Row {
    const char *predicate;
    bool less, equal, greater, unordered;
  };
  for (Row row : {Row{"false", false, false, false, false},
                  Row{"oeq", false, true, false, false},
                  Row{"ogt", false, false, true, false},
                  Row{"oge", false, true, true, false},
                  Row{"olt", true, false, false, false},
                  Row{"ole", true, true, false, false},
                  Row{"one", true, false, true, false},
                  Row{"ord", true, true, true, false},
                  Row{"ueq", false, true, false, true},
                  Row{"ugt", false, false, true, true},
                  Row{"uge", false, true, true, true},
                  Row{"ult", true, false, false, true},
                  Row{"ule", true, true, false, true},
                  Row{"une", true, false, true, true},
                  Row{"uno", false, false, false, true},
                  Row{"true", true, true, true, true}}) {
    EXPECT_EQ(compare(row.predicate, 1, 2), row.less) << row.predicate;
    EXPECT_EQ(compare(row.predicate, -0.0, 0.0), row.equal) << row.predicate;
    EXPECT_EQ(compare(row.predicate, 2, 1), row.greater) << row.predicate;
    EXPECT_EQ(compare(row.predicate, quietNaN, 1), row.unordered)
        << row.predicate;
    EXPECT_EQ(compare(row.predicate, 1, quietNaN), row.unordered)
        << row.predicate;
  }
}

TEST_F(ArithTest, IntegerCastsCutOrExtend) {
  auto convert = [&](const std::string &op, const std::string &from,
                     const std::string &to, uint64_t code) {
    return evaluate(cast(op, from, to), {makeCodes(from, {}, code)}).getCode(0);
  };
  EXPECT_EQ(convert("arith.extsi", "i8", "i32", 0x80), 0xFFFFFF80u);
  EXPECT_EQ(convert("arith.extui", "i8", "i32", 0x80), 0x80u);
  EXPECT_EQ(convert("arith.extsi", "i1", "i8", 1), 0xFFu);
  EXPECT_EQ(convert("arith.trunci", "i32", "i8", 0x1234), 0x34u);
  EXPECT_EQ(convert("arith.index_cast", "i32", "index", 0x80000000),
            0xFFFFFFFF80000000u);
  EXPECT_EQ(convert("arith.index_castui", "i32", "index", 0x80000000),
            0x80000000u);
  EXPECT_EQ(convert("arith.index_cast", "index", "i32", 0x123456789),
            0x23456789u);
  EXPECT_EQ(convert("arith.bitcast", "f32", "i32", 0x7FA00001), 0x7FA00001u);
  EXPECT_EQ(convert("arith.bitcast", "i8", "f8E4M3FN", 0x7F), 0x7Fu);
}

TEST_F(ArithTest, IntegersRoundToFloatsOnce) {
  // 2^53 + 2^29 + 1 lies just above a tie of f32; rounding to f64 first would
  // lose the 1 and then round the tie to even, downwards.
  const uint64_t code = (1ull << 53) + (1ull << 29) + 1;
  EXPECT_EQ(
      evaluate(cast("arith.sitofp", "i64", "f32"), {makeCodes("i64", {}, code)})
          .getFloat(0),
      0x1p53 + 0x1p30);
  EXPECT_EQ(evaluate(cast("arith.uitofp", "i64", "f32"),
                     {makeCodes("i64", {}, ~uint64_t(0))})
                .getFloat(0),
            0x1p64);
  EXPECT_EQ(evaluate(cast("arith.sitofp", "i64", "f32"),
                     {makeCodes("i64", {}, uint64_t(1) << 63)})
                .getFloat(0),
            -0x1p63);
  EXPECT_EQ(evaluate(cast("arith.sitofp", "i32", "f16"),
                     {makeCodes("i32", {}, uint64_t(2049))})
                .getFloat(0),
            2048);
  EXPECT_EQ(evaluate(cast("arith.uitofp", "i32", "f16"),
                     {makeCodes("i32", {}, uint64_t(70000))})
                .getFloat(0),
            infinity);
}

TEST_F(ArithTest, FloatsBecomeTheNearestIntegerTowardZero) {
  auto convert = [&](const std::string &op, const std::string &to,
                     double value) {
    return evaluate(cast(op, "f32", to), {makeFloats("f32", {}, value)})
        .getSigned(0);
  };
  EXPECT_EQ(convert("arith.fptosi", "i32", -2.75), -2);
  EXPECT_EQ(convert("arith.fptosi", "i8", 300), 127);
  EXPECT_EQ(convert("arith.fptosi", "i8", -300), -128);
  EXPECT_EQ(convert("arith.fptosi", "i64", infinity), INT64_MAX);
  EXPECT_EQ(convert("arith.fptosi", "i64", -infinity), INT64_MIN);
  EXPECT_EQ(convert("arith.fptosi", "i32", quietNaN), 0);
  EXPECT_EQ(convert("arith.fptoui", "i8", 200), -56);
  EXPECT_EQ(convert("arith.fptoui", "i8", -1), 0);
}

TEST_F(ArithTest, TruncationRoundsToNearestEven) {
  auto convert = [&](const std::string &to, double value) {
    return evaluate(cast("arith.truncf", "f32", to),
                    {makeFloats("f32", {}, value)})
        .getFloat(0);
  };
  EXPECT_EQ(convert("f16", 2049), 2048);
  EXPECT_EQ(convert("f16", 2051), 2052);
  EXPECT_EQ(convert("f16", 65520), infinity);
  EXPECT_EQ(convert("bf16", 257), 256);
  EXPECT_EQ(convert("bf16", 259), 260);
  EXPECT_EQ(evaluate(cast("arith.extf", "bf16", "f32"),
                     {makeFloats("bf16", {}, 0x1p-133)})
                .getFloat(0),
            0x1p-133);
}

TEST_F(ArithTest, SelectMovesCodesUnchanged) {
  // FP8 codes include NaNs, which must not become canonical.
  Tensor mask = makeCodes("i1", {4}, {1, 0, 1, 0});
  Tensor yes = makeCodes("f8E5M2", {4}, {0x7D, 0x01, 0xFF, 0x03});
  Tensor no = makeCodes("f8E5M2", {4}, {0x11, 0xFE, 0x33, 0x80});
  EXPECT_EQ(
      getCodes(evaluate(
          "func.func @f(%m: tensor<4xi1>, %a: tensor<4xf8E5M2>,"
          "             %b: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {"
          "  %r = arith.select %m, %a, %b : tensor<4xi1>, tensor<4xf8E5M2>"
          "  return %r : tensor<4xf8E5M2> }",
          {mask, yes, no})),
      (std::vector<uint64_t>{0x7D, 0xFE, 0xFF, 0x80}));
}

TEST_F(ArithTest, ConstantsOfEveryTypeKeepTheirCodes) {
  struct Row {
    const char *type, *value;
    uint64_t code;
  };
  for (Row row :
       {Row{"f8E4M3FN", "1.19", 0x3A}, Row{"f8E4M3FN", "1.0625", 0x38},
        Row{"f8E4M3FN", "0.0030", 0x02}, Row{"f8E5M2", "-1.5", 0xBE},
        Row{"f4E2M1FN", "-0.0", 0x8}, Row{"f4E2M1FN", "6.0", 0x7},
        Row{"f8E8M0FNU", "0.5", 0x7E}, Row{"bf16", "-2.0", 0xC000},
        Row{"f16", "0x7C01", 0x7C01}, Row{"f32", "1.0", 0x3F800000},
        Row{"f64", "1.0", 0x3FF0000000000000}, Row{"i1", "1", 1},
        Row{"i8", "-1", 0xFF}, Row{"i64", "-1", ~uint64_t(0)},
        Row{"index", "-2", ~uint64_t(1)}}) {
    std::string type = row.type, value = row.value;
    std::string number = type == "i1" ? "true" : value + " : " + type;
    EXPECT_EQ(evaluate("func.func @f() -> " + type + " { %r = arith.constant " +
                           number + " return %r : " + type + " }",
                       {})
                  .getCode(0),
              row.code)
        << type;
    // A splat and a list, in tiles.
    std::string tile = "tensor<2x" + type + ">";
    std::string zero = getElement(type).isFloat()
                           ? (type == "f8E8M0FNU" ? "1.0" : "0.0")
                           : "0";
    for (const std::string &elements :
         {value, "[" + value + ", " + zero + "]"}) {
      Tensor result = evaluate(
          "func.func @f() -> " + tile + " { %r = arith.constant dense<" +
              elements + "> : " + tile + " return %r : " + tile + " }",
          {});
      EXPECT_EQ(result.getCode(0), row.code) << type << " " << elements;
      EXPECT_EQ(result.getCode(1) == row.code, elements == value) << type;
    }
  }
}

TEST_F(ArithTest, ArithmeticOnFp8IsRefused) {
  EXPECT_EQ(getError(binary("arith.addf", "tensor<4xf8E4M3FN>"), {}),
            "'arith.addf' op has no meaning for 'f8E4M3FN'; convert with "
            "'tile.ftof'");
  EXPECT_EQ(getError(cast("arith.extf", "f4E2M1FN", "f32"), {}),
            "'arith.extf' op has no meaning for 'f4E2M1FN'; convert with "
            "'tile.ftof'");
}

TEST_F(ArithTest, OtherRoundingModesAreRefused) {
  EXPECT_EQ(getError("func.func @f(%a: f32) -> f16 {"
                     "  %r = arith.truncf %a upward : f32 to f16"
                     "  return %r : f16 }",
                     {}),
            "'arith.truncf' op expects rounding to nearest even, but got "
            "'upward'");
}

/// A function that returns a constant of `type`, whose resource `r` has the
/// bytes `hex`.
std::string makeResource(const std::string &type, const std::string &hex) {
  // The blob begins with its alignment.
  return "func.func @f() -> " + type + " {" +
         "  %r = arith.constant dense_resource<r> : " + type +
         "  return %r : " + type + " }" +
         "{-# dialect_resources: { builtin: { r: \"0x01000000" + hex +
         "\" } } #-}";
}

TEST_F(ArithTest, ResourcesHoldTheBytesOfEveryElementType) {
  using Codes = std::vector<uint64_t>;
  const std::string hex = "31A70846F9025BCE";
  const Codes bytes = {0x31, 0xA7, 0x08, 0x46, 0xF9, 0x02, 0x5B, 0xCE};
  for (const char *type :
       {"!tile.f4E2M1FNx2", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "i8"})
    EXPECT_EQ(
        getCodes(evaluate(
            makeResource("tensor<2x4x" + std::string(type) + ">", hex), {})),
        bytes)
        << type;
  for (const char *type : {"f16", "bf16", "i16"})
    EXPECT_EQ(
        getCodes(evaluate(
            makeResource("tensor<4x" + std::string(type) + ">", hex), {})),
        (Codes{0xA731, 0x4608, 0x02F9, 0xCE5B}))
        << type;
  for (const char *type : {"f32", "i32"})
    EXPECT_EQ(
        getCodes(evaluate(
            makeResource("tensor<2x" + std::string(type) + ">", hex), {})),
        (Codes{0x4608A731, 0xCE5B02F9}))
        << type;
  for (const char *type : {"i64", "index", "f64"})
    EXPECT_EQ(
        getCodes(evaluate(
            makeResource("tensor<1x" + std::string(type) + ">", hex), {})),
        (Codes{0xCE5B02F94608A731}))
        << type;
  // One byte per element; what is above the code does not count.
  EXPECT_EQ(getCodes(evaluate(makeResource("tensor<8xf4E2M1FN>", hex), {})),
            (Codes{1, 7, 8, 6, 9, 2, 11, 14}));
  EXPECT_EQ(getCodes(evaluate(makeResource("tensor<8xi1>", hex), {})),
            (Codes{1, 1, 0, 0, 1, 0, 1, 0}));
}

TEST_F(ArithTest, ResourcesOfAnotherSizeAreRefused) {
  EXPECT_EQ(getError(makeResource("tensor<4x!tile.f4E2M1FNx2>", "31A708"), {}),
            "'arith.constant' op expects a resource of 4 bytes, but got 3");
  EXPECT_EQ(getError(makeResource("tensor<2xf16>", "31A7084602"), {}),
            "'arith.constant' op expects a resource of 4 bytes, but got 5");
  EXPECT_EQ(getError("func.func @f() -> tensor<1xi8> {"
                     "  %r = arith.constant dense_resource<absent> :"
                     "    tensor<1xi8>"
                     "  return %r : tensor<1xi8> }",
                     {}),
            "'arith.constant' op expects a resource of 1 byte, but got none");
}

TEST_F(ArithTest, SparseConstantsAreRefused) {
  EXPECT_EQ(getError("func.func @f() -> tensor<4xf32> {"
                     "  %r = arith.constant sparse<[[1]], [2.0]> :"
                     "    tensor<4xf32>"
                     "  return %r : tensor<4xf32> }",
                     {}),
            "'arith.constant' op expects a number, 'dense<…>' or "
            "'dense_resource<…>'");
}

} // namespace
