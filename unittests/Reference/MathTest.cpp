//===- MathTest.cpp - Element-wise functions ------------------------------===//

#include "Fixture.h"

#include "llvm/ADT/APFloat.h"

using namespace tile::reference;
using llvm::APFloat;

namespace {

class MathTest : public ReferenceTest {
protected:
  static std::string unary(const std::string &op, const std::string &type) {
    return "func.func @f(%a: " + type + ") -> " + type + " { %r = math." + op +
           " %a : " + type + " return %r : " + type + " }";
  }
  std::vector<double> compute(const std::string &op, const std::string &type,
                              llvm::ArrayRef<double> values) {
    const auto count = static_cast<int64_t>(values.size());
    return getFloats(evaluate(
        unary(op, "tensor<" + std::to_string(count) + "x" + type + ">"),
        {makeFloats(type, {count}, values)}));
  }
};

TEST_F(MathTest, RoundingsGoWhereTheirNamesSay) {
  const std::vector<double> values = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.75};
  EXPECT_EQ(compute("floor", "f32", values),
            (std::vector<double>{-3, -2, -1, 0, 1, 2, 2}));
  EXPECT_EQ(compute("ceil", "f16", values),
            (std::vector<double>{-2, -1, 0, 1, 2, 3, 3}));
  EXPECT_EQ(compute("trunc", "bf16", values),
            (std::vector<double>{-2, -1, 0, 0, 1, 2, 2}));
  EXPECT_EQ(compute("roundeven", "f32", values),
            (std::vector<double>{-2, -2, 0, 0, 2, 2, 3}));
  EXPECT_TRUE(std::signbit(compute("roundeven", "f32", {-0.25})[0]));
  EXPECT_TRUE(std::isnan(compute("roundeven", "f32", {quietNaN})[0]));
  EXPECT_EQ(compute("roundeven", "f64", {0x1p52 + 1})[0], 0x1p52 + 1);
}

TEST_F(MathTest, AbsClearsTheSignOfNaNToo) {
  EXPECT_EQ(
      getCodes(evaluate(unary("absf", "tensor<3xf16>"),
                        {makeCodes("f16", {3}, {0xFE01, 0x8000, 0x3C00})})),
      (std::vector<uint64_t>{0x7E01, 0, 0x3C00}));
}

TEST_F(MathTest, SquareRootsAreCorrectlyRounded) {
  // Squares of f32 neighbours of 1: the root in f64 is close to a tie.
  EXPECT_EQ(compute("sqrt", "f32", {2.0})[0], double(std::sqrt(2.0f)));
  EXPECT_EQ(compute("sqrt", "f32", {0x1p-149})[0],
            double(std::sqrt(0x1p-149f)));
  EXPECT_TRUE(std::isnan(compute("sqrt", "f32", {-1.0})[0]));
  EXPECT_TRUE(std::signbit(compute("sqrt", "f32", {-0.0})[0]));
  EXPECT_EQ(compute("rsqrt", "f32", {0.0, 4.0}),
            (std::vector<double>{infinity, 0.5}));
}

TEST_F(MathTest, FunctionsMeetTheirSpecialValues) {
  EXPECT_EQ(compute("exp", "f32", {0, -infinity, infinity}),
            (std::vector<double>{1, 0, infinity}));
  EXPECT_EQ(compute("exp2", "f32", {10, -149, -151, 128}),
            (std::vector<double>{1024, 0x1p-149, 0, infinity}));
  EXPECT_EQ(compute("log", "f32", {1, 0}), (std::vector<double>{0, -infinity}));
  EXPECT_EQ(compute("log2", "f32", {8, 0x1p-149}),
            (std::vector<double>{3, -149}));
  EXPECT_EQ(compute("tanh", "f32", {0, infinity, -infinity}),
            (std::vector<double>{0, 1, -1}));
  EXPECT_EQ(compute("erf", "f32", {0, infinity}), (std::vector<double>{0, 1}));
  EXPECT_EQ(compute("sin", "f32", {0}), (std::vector<double>{0}));
  EXPECT_EQ(compute("cos", "f32", {0}), (std::vector<double>{1}));
  for (std::string op :
       {"exp", "exp2", "log", "log2", "tanh", "erf", "sin", "cos", "rsqrt"})
    EXPECT_TRUE(std::isnan(compute(op, "f16", {quietNaN})[0])) << op;
}

TEST_F(MathTest, FunctionsAreTheNearestValues) {
  for (int i = 0; i < 100; ++i) {
    float x = static_cast<float>(hashOf(i) % 100000) / 8192.0f + 0x1p-10f;
    EXPECT_EQ(compute("exp", "f32", {x})[0],
              double(float(std::exp(double(x)))));
    EXPECT_EQ(compute("sin", "f32", {x})[0],
              double(float(std::sin(double(x)))));
    EXPECT_EQ(compute("log2", "f32", {x})[0],
              double(float(std::log2(double(x)))));
  }
}

/// fma must round once: rounding the product, or the sum to f64 and then to the
/// format, gives other bits for some of these.
TEST_F(MathTest, FmaRoundsOnce) {
  for (std::string type : {"f16", "bf16", "f32", "f64"}) {
    const llvm::fltSemantics &semantics =
        llvm::cast<mlir::FloatType>(mlir::parseType(type, &context))
            .getFloatSemantics();
    const Element element = getElement(type);
    const uint64_t one = APFloat(semantics, 1).bitcastToAPInt().getZExtValue();
    const unsigned mantissa = APFloat::semanticsPrecision(semantics) - 1;
    const int64_t count = 20000;
    std::vector<uint64_t> codes[3];
    for (int64_t i = 0; i < count; ++i)
      for (unsigned operand = 0; operand < 3; ++operand) {
        uint64_t hash = hashOf(i, operand);
        // Exponents up to three precisions apart, so that the addend meets
        // every bit of the product and beyond.
        uint64_t exponent = operand == 2 ? hash % (3 * mantissa) : 0;
        uint64_t code = one + (hash >> 16) % (1ull << mantissa) +
                        (hash & 0x8000 ? exponent << mantissa : 0);
        if (operand == 2 && !(hash & 0x8000))
          code = exponent << mantissa < one ? one - (exponent << mantissa) : 1;
        if (hash & 0x4000)
          code |= uint64_t(1) << (element.bits - 1);
        codes[operand].push_back(code & element.getMask());
      }
    std::string tile = "tensor<" + std::to_string(count) + "x" + type + ">";
    Tensor result = evaluate(
        "func.func @f(%a: " + tile + ", %b: " + tile + ", %c: " + tile +
            ") -> " + tile + " { %r = math.fma %a, %b, %c : " + tile +
            " return %r : " + tile + " }",
        {makeCodes(type, {count}, codes[0]), makeCodes(type, {count}, codes[1]),
         makeCodes(type, {count}, codes[2])});
    for (int64_t i = 0; i < count; ++i) {
      auto value = [&](unsigned operand) {
        return APFloat(semantics, llvm::APInt(element.bits, codes[operand][i]));
      };
      APFloat expected = value(0);
      expected.fusedMultiplyAdd(value(1), value(2),
                                APFloat::rmNearestTiesToEven);
      APFloat got(semantics, llvm::APInt(element.bits, result.getCode(i)));
      ASSERT_TRUE(expected.isNaN() ? got.isNaN() : expected.bitwiseIsEqual(got))
          << type << " " << codes[0][i] << " " << codes[1][i] << " "
          << codes[2][i];
    }
  }
}

/// The product is a tie of the format, and the addend is too small for f64 to
/// hold the sum: rounding to f64 first would lose which side of the tie it is.
TEST_F(MathTest, FmaSeesAnAddendBelowTheLastBitOfF64) {
  auto fma = [&](const std::string &type, double a, double b, double c) {
    return evaluate("func.func @f(%a: " + type + ", %b: " + type +
                        ", %c: " + type + ") -> " + type +
                        " { %r = math.fma %a, %b, %c : " + type +
                        " return %r : " + type + " }",
                    {makeFloats(type, {}, a), makeFloats(type, {}, b),
                     makeFloats(type, {}, c)})
        .getFloat(0);
  };
  // (1 + 2^-4)^2 = 1 + 2^-3 + 2^-8, half a unit above an even neighbour.
  EXPECT_EQ(fma("bf16", 1 + 0x1p-4, 1 + 0x1p-4, 0), 1 + 0x1p-3);
  EXPECT_EQ(fma("bf16", 1 + 0x1p-4, 1 + 0x1p-4, 0x1p-100), 1 + 0x1p-3 + 0x1p-7);
  EXPECT_EQ(fma("bf16", -1 - 0x1p-4, 1 + 0x1p-4, -0x1p-100),
            -1 - 0x1p-3 - 0x1p-7);
  // (1 + 2^-12)(1 + 3 * 2^-12), half a unit below an even neighbour.
  double a = 1 + 0x1p-12, b = 1 + 3 * 0x1p-12;
  EXPECT_EQ(fma("f32", a, b, 0), 1 + 0x1p-10 + 0x1p-22);
  EXPECT_EQ(fma("f32", a, b, -0x1p-100), 1 + 0x1p-10 + 0x1p-23);
  EXPECT_EQ(fma("f32", -a, b, 0x1p-100), -1 - 0x1p-10 - 0x1p-23);
}

TEST_F(MathTest, OtherFunctionsAreRefusedBeforeAnythingRuns) {
  for (std::string op : {"cbrt", "tan", "exp", "round"}) {
    std::string expected =
        "'math." + op + "' op is not one that a kernel may use";
    EXPECT_EQ(getError(unary(op, "f32"), {makeFloats("f32", {}, 1.0)}),
              op == "exp" ? "success" : expected);
  }
}

} // namespace
