//===- TileOpsTest.cpp - Bits, conversions, reductions, shapes ------------===//

#include "Fixture.h"

using namespace tile::reference;

namespace {

class TileOpsTest : public ReferenceTest {
protected:
  /// A function that applies `op`, with text after its operand, to one tile.
  static std::string unary(const std::string &op, const std::string &from,
                           const std::string &to,
                           const std::string &suffix = "") {
    return "func.func @f(%a: " + from + ") -> " + to + " { %r = tile." + op +
           " %a" + suffix + " : " + from + " -> " + to + " return %r : " + to +
           " }";
  }
  std::vector<uint64_t> convert(const std::string &from, const std::string &to,
                                llvm::ArrayRef<uint64_t> codes,
                                const std::string &suffix = "") {
    // Tiles have power-of-two extents.
    std::vector<uint64_t> padded = codes.vec();
    while (padded.size() & (padded.size() - 1))
      padded.push_back(codes[0]);
    std::string extent = std::to_string(padded.size()) + "x";
    std::vector<uint64_t> result = getCodes(evaluate(
        unary("ftof", "tensor<" + extent + from + ">",
              "tensor<" + extent + to + ">", suffix),
        {makeCodes(from, {static_cast<int64_t>(padded.size())}, padded)}));
    result.resize(codes.size());
    return result;
  }
  std::vector<uint64_t> convertFloats(const std::string &to,
                                      llvm::ArrayRef<double> values,
                                      const std::string &suffix = "") {
    std::vector<uint64_t> codes;
    for (double value : values)
      codes.push_back(getElement("f32").encode(value));
    return convert("f32", to, codes, suffix);
  }
};

//===----------------------------------------------------------------------===//
// unpack and pack
//===----------------------------------------------------------------------===//

TEST_F(TileOpsTest, UnpackTakesTheLowNibbleFirst) {
  for (std::string from : {"!tile.f4E2M1FNx2", "i8"}) {
    Tensor bytes = makeCodes(from, {2, 2}, {0x31, 0xF0, 0x9A, 0x25});
    Tensor values = evaluate(
        unary("unpack", "tensor<2x2x" + from + ">", "tensor<2x4xf4E2M1FN>"),
        {bytes});
    EXPECT_EQ(getCodes(values),
              (std::vector<uint64_t>{0x1, 0x3, 0x0, 0xF, 0xA, 0x9, 0x5, 0x2}));
    EXPECT_EQ(values.getShape(), llvm::ArrayRef<int64_t>({2, 4}));
    EXPECT_EQ(getCodes(evaluate(unary("pack", "tensor<2x4xf4E2M1FN>",
                                      "tensor<2x2x" + from + ">"),
                                {values})),
              getCodes(bytes));
  }
}

TEST_F(TileOpsTest, EveryByteSurvivesUnpackAndPack) {
  std::vector<uint64_t> bytes;
  for (uint64_t i = 0; i < 256; ++i)
    bytes.push_back(i * 37 % 256);
  Tensor packed = makeCodes("!tile.f4E2M1FNx2", {256}, bytes);
  Tensor values = evaluate(
      unary("unpack", "tensor<256x!tile.f4E2M1FNx2>", "tensor<512xf4E2M1FN>"),
      {packed});
  for (int64_t i = 0; i < 512; ++i)
    EXPECT_EQ(values.getCode(i), bytes[i / 2] >> (i % 2 * 4) & 0xF);
  EXPECT_EQ(getCodes(evaluate(unary("pack", "tensor<512xf4E2M1FN>",
                                    "tensor<256x!tile.f4E2M1FNx2>"),
                              {values})),
            bytes);
}

TEST_F(TileOpsTest, WiderTypesAreLittleEndianAndKeepNaNPayloads) {
  std::vector<uint64_t> bytes = {0x01, 0x00, 0xA0, 0x7F,
                                 0x12, 0x34, 0x56, 0x78};
  auto unpack = [&](const std::string &type, int64_t count) {
    Tensor values =
        evaluate(unary("unpack", "tensor<8xi8>",
                       "tensor<" + std::to_string(count) + "x" + type + ">"),
                 {makeCodes("i8", {8}, bytes)});
    EXPECT_EQ(
        getCodes(evaluate(
            unary("pack", "tensor<" + std::to_string(count) + "x" + type + ">",
                  "tensor<8xi8>"),
            {values})),
        bytes);
    return getCodes(values);
  };
  EXPECT_EQ(unpack("f32", 2), (std::vector<uint64_t>{0x7FA00001, 0x78563412}));
  EXPECT_EQ(unpack("i32", 2), (std::vector<uint64_t>{0x7FA00001, 0x78563412}));
  EXPECT_EQ(unpack("bf16", 4),
            (std::vector<uint64_t>{0x0001, 0x7FA0, 0x3412, 0x7856}));
  EXPECT_EQ(unpack("f16", 4),
            (std::vector<uint64_t>{0x0001, 0x7FA0, 0x3412, 0x7856}));
  EXPECT_EQ(unpack("i64", 1), (std::vector<uint64_t>{0x785634127FA00001}));
}

//===----------------------------------------------------------------------===//
// ftof
//===----------------------------------------------------------------------===//

TEST_F(TileOpsTest, EveryFp4CodeHasItsValue) {
  std::vector<uint64_t> codes;
  for (uint64_t code = 0; code < 16; ++code)
    codes.push_back(code);
  const std::vector<double> values = {0,    0.5,  1,  1.5,  2,  3,  4,  6,
                                      -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
  for (std::string type : {"f32", "f16", "bf16"}) {
    std::vector<uint64_t> converted = convert("f4E2M1FN", type, codes);
    for (uint64_t code = 0; code < 16; ++code) {
      double value = getElement(type).decode(converted[code]);
      EXPECT_EQ(value, values[code]) << type << " " << code;
      EXPECT_EQ(std::signbit(value), code >= 8) << type << " " << code;
    }
    EXPECT_EQ(convert(type, "f4E2M1FN", converted), codes);
  }
}

TEST_F(TileOpsTest, Fp4TiesGoToEven) {
  EXPECT_EQ(
      convertFloats("f4E2M1FN", {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 7.0}),
      (std::vector<uint64_t>{0, 2, 2, 4, 4, 6, 6, 7}));
  EXPECT_EQ(convertFloats("f4E2M1FN",
                          {-0.25, -0.75, -1.25, -1.75, -2.5, -3.5, -5.0, -7.0}),
            (std::vector<uint64_t>{8, 10, 10, 12, 12, 14, 14, 15}));
  EXPECT_EQ(
      convertFloats("f4E2M1FN", {quietNaN, -quietNaN, infinity, -infinity}),
      (std::vector<uint64_t>{7, 7, 7, 15}));
}

TEST_F(TileOpsTest, Fp8SaturatesUnlessToldOtherwise) {
  const std::vector<double> values = {464, 465, 1e10, infinity, -465, quietNaN};
  EXPECT_EQ(convertFloats("f8E4M3FN", values),
            (std::vector<uint64_t>{0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F}));
  std::vector<uint64_t> wrapped =
      convertFloats("f8E4M3FN", values, " {saturate = false}");
  EXPECT_EQ(wrapped[0], 0x7Eu);
  for (size_t i = 1; i < 6; ++i)
    EXPECT_EQ(wrapped[i] & 0x7F, 0x7Fu) << i;
  EXPECT_EQ(
      convertFloats("f8E5M2", {61440, 1e10, -infinity}, " {saturate = false}"),
      (std::vector<uint64_t>{0x7C, 0x7C, 0xFC}));
  EXPECT_EQ(convertFloats("f8E5M2", {61440, 1e10, -infinity}),
            (std::vector<uint64_t>{0x7B, 0x7B, 0xFB}));
}

TEST_F(TileOpsTest, WideFormatsOverflowToInfinity) {
  EXPECT_EQ(convertFloats("f16", {65519, 65520, -1e10}),
            (std::vector<uint64_t>{0x7BFF, 0x7C00, 0xFC00}));
  EXPECT_EQ(convertFloats("bf16", {3.4e38, -3.4e38}),
            (std::vector<uint64_t>{0x7F80, 0xFF80}));
}

TEST_F(TileOpsTest, ScalesRoundAsTheOpNames) {
  const std::vector<double> values = {1,        1.5,       3,  0,
                                      0x1p-140, 0x1.8p127, -2, quietNaN};
  EXPECT_EQ(convertFloats("f8E8M0FNU", values, " toward_zero"),
            (std::vector<uint64_t>{127, 127, 128, 0, 0, 254, 128, 0xFF}));
  EXPECT_EQ(convertFloats("f8E8M0FNU", values, " upward"),
            (std::vector<uint64_t>{127, 128, 129, 0, 0, 254, 128, 0xFF}));
  EXPECT_EQ(convert("f8E8M0FNU", "f32", {0x00, 0x01, 0x7F, 0xFE, 0xFF}),
            (std::vector<uint64_t>{0x00400000, 0x00800000, 0x3F800000,
                                   0x7F000000, 0x7FFFFFFF}));
  EXPECT_EQ(convert("f8E8M0FNU", "bf16", {0x00, 0xFF}),
            (std::vector<uint64_t>{0x0040, 0x7FFF}));
}

TEST_F(TileOpsTest, EveryFp8CodeKeepsItsKindWhenWidened) {
  for (std::string type : {"f8E4M3FN", "f8E5M2"})
    for (std::string wide : {"f16", "bf16", "f32"}) {
      std::vector<uint64_t> codes;
      for (uint64_t code = 0; code < 256; ++code)
        codes.push_back(code);
      std::vector<uint64_t> widened = convert(type, wide, codes);
      for (uint64_t code = 0; code < 256; ++code) {
        double from = getElement(type).decode(code);
        double to = getElement(wide).decode(widened[code]);
        if (std::isnan(from)) {
          EXPECT_TRUE(std::isnan(to)) << type << " " << code;
        } else {
          EXPECT_EQ(from, to) << type << " " << code;
        }
      }
      // And back: exact, so that saturation and rounding have no say.
      std::vector<uint64_t> narrowed =
          convert(wide, type, widened, " {saturate = false}");
      for (uint64_t code = 0; code < 256; ++code) {
        if (!std::isnan(getElement(type).decode(code))) {
          EXPECT_EQ(narrowed[code], code) << type << " " << code;
        }
      }
    }
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

TEST_F(TileOpsTest, ReduceDropsTheDimensionItNames) {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 2 * 4 * 2; ++i)
    values.push_back(hashOf(i) % 1000);
  Tensor source = makeCodes("i32", {2, 4, 2}, values);
  const std::vector<int64_t> shape = {2, 4, 2};
  for (int64_t dim = 0; dim < 3; ++dim) {
    std::string to = "tensor<";
    std::vector<int64_t> kept;
    for (int64_t d = 0; d < 3; ++d)
      if (d != dim) {
        to += std::to_string(shape[d]) + "x";
        kept.push_back(shape[d]);
      }
    Tensor result =
        evaluate(unary("reduce add", "tensor<2x4x2xi32>", to + "i32>",
                       " [" + std::to_string(dim) + "]"),
                 {source});
    EXPECT_EQ(result.getShape(), llvm::ArrayRef<int64_t>(kept));
    std::vector<uint64_t> expected(result.size());
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 4; ++j)
        for (int64_t k = 0; k < 2; ++k) {
          int64_t at = dim == 0 ? j * 2 + k : dim == 1 ? i * 2 + k : i * 4 + j;
          expected[at] += values[(i * 4 + j) * 2 + k];
        }
    EXPECT_EQ(getCodes(result), expected) << dim;
  }
}

TEST_F(TileOpsTest, ReduceKindsOnIntegersAreSigned) {
  Tensor source = makeCodes("i8", {4}, {0x81, 0x03, 0xFE, 0x05});
  auto reduce = [&](const std::string &kind) {
    return evaluate(
               unary("reduce " + kind, "tensor<4xi8>", "tensor<i8>", " [0]"),
               {source})
        .getCode(0);
  };
  EXPECT_EQ(reduce("add"), 0x87u);
  EXPECT_EQ(reduce("mul"), 0x81u * 3 * 0xFE * 5 % 256);
  EXPECT_EQ(reduce("max"), 0x05u);
  EXPECT_EQ(reduce("min"), 0x81u);
  EXPECT_EQ(reduce("and"), 0x00u);
  EXPECT_EQ(reduce("or"), 0xFFu);
  EXPECT_EQ(reduce("xor"), 0x81u ^ 0x03 ^ 0xFE ^ 0x05);
}

TEST_F(TileOpsTest, MaximumAndMinimumPropagateNaN) {
  Tensor source = makeFloats("f32", {4, 2},
                             {1, quietNaN, -5, 2, 3, -7, 0, 4}); // column 1 NaN
  Tensor max =
      evaluate(unary("reduce max", "tensor<4x2xf32>", "tensor<2xf32>", " [0]"),
               {source});
  Tensor min =
      evaluate(unary("reduce min", "tensor<4x2xf32>", "tensor<2xf32>", " [0]"),
               {source});
  EXPECT_EQ(max.getFloat(0), 3);
  EXPECT_EQ(min.getFloat(0), -5);
  EXPECT_EQ(max.getCode(1), 0x7FFFFFFFu);
  EXPECT_EQ(min.getCode(1), 0x7FFFFFFFu);
}

TEST_F(TileOpsTest, MaximumOfNegativeNarrowFloatsNeedsNoInfinity) {
  EXPECT_EQ(evaluate(unary("reduce max", "tensor<4xf4E2M1FN>",
                           "tensor<f4E2M1FN>", " [0]"),
                     {makeCodes("f4E2M1FN", {4}, {0xF, 0xB, 0x9, 0xE})})
                .getCode(0),
            0x9u);
  EXPECT_EQ(evaluate(unary("reduce max", "tensor<4xf8E4M3FN>",
                           "tensor<f8E4M3FN>", " [0]"),
                     {makeCodes("f8E4M3FN", {4}, {0xFE, 0xC0, 0x81, 0xB8})})
                .getCode(0),
            0x81u);
  EXPECT_EQ(evaluate(unary("reduce min", "tensor<2xf8E8M0FNU>",
                           "tensor<f8E8M0FNU>", " [0]"),
                     {makeCodes("f8E8M0FNU", {2}, {0x80, 0x7F})})
                .getCode(0),
            0x7Fu);
}

TEST_F(TileOpsTest, FloatSumsAreRoundedOnce) {
  EXPECT_EQ(
      evaluate(unary("reduce add", "tensor<4xf16>", "tensor<f16>", " [0]"),
               {makeFloats("f16", {4}, {2048, 1, 1, -0.5})})
          .getFloat(0),
      2050);
  EXPECT_EQ(
      evaluate(unary("reduce mul", "tensor<4xf32>", "tensor<f32>", " [0]"),
               {makeFloats("f32", {4}, {3, -0.5, 7, 2})})
          .getFloat(0),
      -21);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

TEST_F(TileOpsTest, PermuteNamesTheSourceDimensionOfEachResultDimension) {
  std::vector<uint64_t> codes;
  for (uint64_t i = 0; i < 2 * 4 * 8; ++i)
    codes.push_back(hashOf(i) & 0xFF);
  Tensor result = evaluate(
      "func.func @f(%a: tensor<2x4x8xf8E5M2>) -> tensor<8x2x4xf8E5M2> {"
      "  %r = tile.permute %a [2, 0, 1] : tensor<2x4x8xf8E5M2> ->"
      "    tensor<8x2x4xf8E5M2> return %r : tensor<8x2x4xf8E5M2> }",
      {makeCodes("f8E5M2", {2, 4, 8}, codes)});
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 4; ++j)
      for (int64_t k = 0; k < 8; ++k)
        EXPECT_EQ(result.getCode((k * 2 + i) * 4 + j),
                  codes[(i * 4 + j) * 8 + k]);
}

TEST_F(TileOpsTest, ReshapeKeepsRowMajorOrder) {
  Tensor source = makeCodes("f4E2M1FN", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 9});
  Tensor result = evaluate(
      unary("reshape", "tensor<2x4xf4E2M1FN>", "tensor<4x1x2xf4E2M1FN>"),
      {source});
  EXPECT_EQ(result.getShape(), llvm::ArrayRef<int64_t>({4, 1, 2}));
  EXPECT_EQ(getCodes(result), getCodes(source));
}

TEST_F(TileOpsTest, BroadcastRepeatsExtentsOfOne) {
  Tensor result =
      evaluate(unary("broadcast", "tensor<2x1x2xi16>", "tensor<2x4x2xi16>"),
               {makeCodes("i16", {2, 1, 2}, {10, 11, 12, 13})});
  EXPECT_EQ(getCodes(result),
            (std::vector<uint64_t>{10, 11, 10, 11, 10, 11, 10, 11, 12, 13, 12,
                                   13, 12, 13, 12, 13}));
}

TEST_F(TileOpsTest, IotaCounts) {
  EXPECT_EQ(getCodes(evaluate("func.func @f() -> tensor<8xi32> {"
                              "  %r = tile.iota : tensor<8xi32>"
                              "  return %r : tensor<8xi32> }",
                              {})),
            (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(TileOpsTest, SplatAndExtract) {
  Tensor result =
      evaluate("func.func @f(%t: tensor<2x4xbf16>, %i: index, %j: index)"
               "    -> tensor<2x2xbf16> {"
               "  %e = tensor.extract %t[%i, %j] : tensor<2x4xbf16>"
               "  %r = tensor.splat %e : tensor<2x2xbf16>"
               "  return %r : tensor<2x2xbf16> }",
               {makeCodes("bf16", {2, 4}, {0, 1, 2, 3, 4, 5, 6, 0x7FA1}),
                makeCodes("index", {}, 1), makeCodes("index", {}, 3)});
  EXPECT_EQ(getCodes(result), (std::vector<uint64_t>(4, 0x7FA1)));
}

TEST_F(TileOpsTest, ExtractOutsideIsAFault) {
  std::string text = "func.func @f(%t: tensor<4xf32>, %i: index) -> f32 {"
                     "  %e = tensor.extract %t[%i] : tensor<4xf32>"
                     "  return %e : f32 }";
  Tensor tile = makeFloats("f32", {4}, {1, 2, 3, 4});
  for (int64_t index : {int64_t(-1), int64_t(4), INT64_MIN})
    EXPECT_EQ(
        getError(text,
                 {tile, makeCodes("index", {}, static_cast<uint64_t>(index))}),
        "'tensor.extract' op expects index 0 to be from 0 to 3, but got " +
            std::to_string(index) + ", in tile program (0, 0, 0)");
}

//===----------------------------------------------------------------------===//
// assume
//===----------------------------------------------------------------------===//

TEST_F(TileOpsTest, AssumptionsAreChecked) {
  auto assume = [&](int64_t value) {
    return getError("func.func @f(%i: index) -> index {"
                    "  %r = tile.assume %i {divisible_by = 16 : i64,"
                    "    min = -16 : i64, max = 4095 : i64} : index"
                    "  return %r : index }",
                    makeCodes("index", {}, static_cast<uint64_t>(value)));
  };
  EXPECT_EQ(assume(32), "success");
  EXPECT_EQ(assume(-16), "success");
  EXPECT_EQ(assume(24),
            "'tile.assume' op expects a multiple of 16, but got 24, "
            "in tile program (0, 0, 0)");
  EXPECT_EQ(assume(-32), "'tile.assume' op expects at least -16, but got -32, "
                         "in tile program (0, 0, 0)");
  EXPECT_EQ(assume(4096),
            "'tile.assume' op expects at most 4095, but got 4096, "
            "in tile program (0, 0, 0)");
}

} // namespace
