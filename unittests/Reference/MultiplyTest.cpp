//===- MultiplyTest.cpp - mmaf and mmaf_scaled ----------------------------===//
//
// The expected sums are computed here in another way: each product in integers
// or in long double, with tables of the formats' values.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace tile::reference;
using tile::ElementFormat;

namespace {

class MultiplyTest : public ReferenceTest {
protected:
  static std::string shape(llvm::ArrayRef<int64_t> extents,
                           const std::string &type) {
    std::string text = "tensor<";
    for (int64_t extent : extents)
      text += std::to_string(extent) + "x";
    return text + type + ">";
  }

  static std::string mmaf(const std::string &a, const std::string &b,
                          const std::string &c) {
    return "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c +
           " { %r = tile.mmaf %a, %b, %c : " + a + ", " + b + ", " + c +
           " return %r : " + c + " }";
  }

  /// `scales` are the types of the scale operands.
  static std::string scaled(const std::string &a, const std::string &b,
                            const std::string &c,
                            llvm::ArrayRef<std::string> scales) {
    std::string arguments, names, types;
    for (size_t i = 0; i < scales.size(); ++i) {
      arguments += ", %s" + std::to_string(i) + ": " + scales[i];
      names += ", %s" + std::to_string(i);
      types += ", " + scales[i];
    }
    return "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c + arguments +
           ") -> " + c + " { %r = tile.mmaf_scaled %a, %b, %c" + names + " : " +
           a + ", " + b + ", " + c + types + " return %r : " + c + " }";
  }

  Tensor makeHashed(const std::string &type, llvm::ArrayRef<int64_t> extents,
                    uint64_t salt, llvm::ArrayRef<uint64_t> choices = {}) {
    Tensor tensor(getElement(type), extents);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      uint64_t hash = hashOf(i, salt);
      tensor.setCode(i, choices.empty() ? hash & tensor.getElement().getMask()
                                        : choices[hash % choices.size()]);
    }
    return tensor;
  }
  Tensor makeFilled(const std::string &type, llvm::ArrayRef<int64_t> extents,
                    uint64_t code) {
    return makeHashed(type, extents, 0, code);
  }

  /// acc + sum of the terms; exact where every term is a multiple of 2^-40 and
  /// no partial sum needs more than 64 bits, as in the data below.
  static void expectProduct(const Tensor &result, const Tensor &a,
                            const Tensor &b, const Tensor &c, const Tensor *sa,
                            const Tensor *sb) {
    llvm::ArrayRef<int64_t> shapeA = a.getShape(), shapeB = b.getShape();
    const int64_t m = shapeA.end()[-2], k = shapeA.end()[-1];
    const int64_t n = shapeB.end()[-1];
    const int64_t batch = shapeA.size() == 3 ? shapeA[0] : 1;
    for (int64_t p = 0; p < batch; ++p)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          int64_t at = (p * m + i) * n + j;
          long double sum = c.getFloat(at);
          for (int64_t x = 0; x < k; ++x) {
            long double left = a.getFloat((p * m + i) * k + x);
            long double right = b.getFloat((p * k + x) * n + j);
            if (sa) {
              int64_t groups = sa->getShape().end()[-1];
              left *= sa->getFloat((p * m + i) * groups + x * groups / k);
            }
            if (sb) {
              int64_t groups = sb->getShape().end()[-2];
              right *= sb->getFloat((p * groups + x * groups / k) * n + j);
            }
            sum += left * right;
          }
          ASSERT_EQ(result.getFloat(at), double(float(sum)))
              << "element " << at;
        }
  }
};

const std::vector<uint64_t> e4m3Scales = {0x38, 0x3C, 0x40, 0x44};
const std::vector<uint64_t> e8m0Scales = {0x7D, 0x7F, 0x80, 0x82};
// Values of FP8 with few bits apart, so that sums stay exact.
const std::vector<uint64_t> e4m3Values = {0x00, 0x30, 0xB4, 0x38, 0x3E, 0xC5};
const std::vector<uint64_t> e5m2Values = {0x00, 0x38, 0xBA, 0x3C, 0x3F, 0xC2};

TEST_F(MultiplyTest, EveryScaledTypeTriple) {
  struct Row {
    std::string a, b, scale;
    int64_t v;
  };
  for (const Row &row : {Row{"f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16},
                         Row{"f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16},
                         Row{"f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32},
                         Row{"f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32},
                         Row{"f8E5M2", "f8E5M2", "f8E8M0FNU", 32},
                         Row{"f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32},
                         Row{"f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32},
                         Row{"f4E2M1FN", "f8E5M2", "f8E8M0FNU", 32}}) {
    auto values = [](const std::string &type) -> llvm::ArrayRef<uint64_t> {
      if (type == "f8E4M3FN")
        return e4m3Values;
      if (type == "f8E5M2")
        return e5m2Values;
      return {};
    };
    llvm::ArrayRef<uint64_t> scales =
        row.scale == "f8E4M3FN" ? e4m3Scales : e8m0Scales;
    const int64_t m = 16, n = 8, k = 64, groups = k / row.v;
    Tensor a = makeHashed(row.a, {m, k}, 1, values(row.a));
    Tensor b = makeHashed(row.b, {k, n}, 2, values(row.b));
    Tensor sa = makeHashed(row.scale, {m, groups}, 3, scales);
    Tensor sb = makeHashed(row.scale, {groups, n}, 4, scales);
    Tensor c = makeFloats("f32", {m, n}, std::vector<double>(m * n, 0.25));
    Tensor result = evaluate(
        scaled(shape({m, k}, row.a), shape({k, n}, row.b), shape({m, n}, "f32"),
               {shape({m, groups}, row.scale), shape({groups, n}, row.scale)}),
        {a, b, c, sa, sb});
    expectProduct(result, a, b, c, &sa, &sb);
  }
}

TEST_F(MultiplyTest, TheUnscaledSideHasNoScale) {
  // bf16 by NVFP4 and MXFP4 by f16: no identity scale is invented for the side
  // without one (byte 0 of E8M0 would be 2^-127, not 1).
  const int64_t m = 16, n = 8, k = 64;
  Tensor c = makeFloats("f32", {m, n}, std::vector<double>(m * n, 1.0));
  const std::vector<uint64_t> bf16 = {0x3F80, 0xBFC0, 0x4008, 0x3E00, 0};
  const std::vector<uint64_t> f16 = {0x3C00, 0xBE00, 0x4100, 0x3000, 0};
  {
    Tensor a = makeHashed("bf16", {m, k}, 1, bf16);
    Tensor b = makeHashed("f4E2M1FN", {k, n}, 2);
    Tensor s = makeHashed("f8E4M3FN", {k / 16, n}, 3, e4m3Scales);
    Tensor result =
        evaluate(scaled(shape({m, k}, "bf16"), shape({k, n}, "f4E2M1FN"),
                        shape({m, n}, "f32"), {shape({k / 16, n}, "f8E4M3FN")}),
                 {a, b, c, s});
    expectProduct(result, a, b, c, nullptr, &s);
  }
  {
    Tensor a = makeHashed("f4E2M1FN", {m, k}, 1);
    Tensor b = makeHashed("f16", {k, n}, 2, f16);
    Tensor s = makeHashed("f8E8M0FNU", {m, k / 32}, 3, e8m0Scales);
    Tensor result = evaluate(scaled(shape({m, k}, "f4E2M1FN"),
                                    shape({k, n}, "f16"), shape({m, n}, "f32"),
                                    {shape({m, k / 32}, "f8E8M0FNU")}),
                             {a, b, c, s});
    expectProduct(result, a, b, c, &s, nullptr);
  }
}

TEST_F(MultiplyTest, PlainOperandsAndBatches) {
  const std::vector<uint64_t> bf16 = {0x3F80, 0xBFC0, 0x4008, 0x3E00, 0};
  for (auto [left, right] :
       {std::pair<std::string, std::string>{"bf16", "bf16"},
        {"f8E4M3FN", "f8E4M3FN"},
        {"f8E5M2", "f8E4M3FN"}}) {
    auto values = [&](const std::string &type) -> llvm::ArrayRef<uint64_t> {
      return type == "bf16"       ? bf16
             : type == "f8E4M3FN" ? e4m3Values
                                  : e5m2Values;
    };
    Tensor a = makeHashed(left, {4, 8, 16}, 1, values(left));
    Tensor b = makeHashed(right, {4, 16, 8}, 2, values(right));
    Tensor c = makeFloats("f32", {4, 8, 8}, std::vector<double>(256, -0.5));
    Tensor result =
        evaluate(mmaf(shape({4, 8, 16}, left), shape({4, 16, 8}, right),
                      shape({4, 8, 8}, "f32")),
                 {a, b, c});
    expectProduct(result, a, b, c, nullptr, nullptr);
  }
}

TEST_F(MultiplyTest, ScalesOfABatchStayInTheirBatch) {
  // Batch 0 has scales 1, batch 1 has scales 2 on both sides: 64 and 256.
  Tensor a = makeFilled("f4E2M1FN", {2, 16, 64}, 0x2);
  Tensor b = makeFilled("f4E2M1FN", {2, 64, 16}, 0x2);
  Tensor c = makeFilled("f32", {2, 16, 16}, 0);
  Tensor sa(getElement("f8E4M3FN"), {2, 16, 4});
  Tensor sb(getElement("f8E4M3FN"), {2, 4, 16});
  for (int64_t i = 0; i < 128; ++i) {
    sa.setCode(i, i < 64 ? 0x38 : 0x40);
    sb.setCode(i, i < 64 ? 0x38 : 0x40);
  }
  Tensor result = evaluate(
      scaled(shape({2, 16, 64}, "f4E2M1FN"), shape({2, 64, 16}, "f4E2M1FN"),
             shape({2, 16, 16}, "f32"),
             {shape({2, 16, 4}, "f8E4M3FN"), shape({2, 4, 16}, "f8E4M3FN")}),
      {a, b, c, sa, sb});
  for (int64_t i = 0; i < 512; ++i)
    EXPECT_EQ(result.getFloat(i), i < 256 ? 64 : 256);
}

TEST_F(MultiplyTest, EachRowColumnAndGroupHasItsOwnScale) {
  // Rows scale by m + 1, columns by n + 1, group g by 2^g: 16 values of 1 per
  // group give 16 * 15 * (m + 1) * (n + 1).
  const int64_t m = 16, n = 8, k = 64;
  Tensor a = makeFilled("f4E2M1FN", {m, k}, 0x2);
  Tensor b = makeFilled("f4E2M1FN", {k, n}, 0x2);
  Tensor c = makeFilled("f32", {m, n}, 0);
  std::vector<double> rows, columns;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t g = 0; g < 4; ++g)
      rows.push_back(double(i + 1));
  for (int64_t g = 0; g < 4; ++g)
    for (int64_t j = 0; j < n; ++j)
      columns.push_back(double((j + 1) << g));
  Tensor result =
      evaluate(scaled(shape({m, k}, "f4E2M1FN"), shape({k, n}, "f4E2M1FN"),
                      shape({m, n}, "f32"),
                      {shape({m, 4}, "f8E4M3FN"), shape({4, n}, "f8E4M3FN")}),
               {a, b, c, makeFloats("f8E4M3FN", {m, 4}, rows),
                makeFloats("f8E4M3FN", {4, n}, columns)});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      EXPECT_EQ(result.getFloat(i * n + j), 16 * 15 * (i + 1) * (j + 1));
}

TEST_F(MultiplyTest, NibblesInTheWrongOrderChangeTheSum) {
  // A is 1, 0, 1, 0, …; B is 1, 3, 1, 3, …: 32, or 96 with the pairs of B
  // swapped. With both swapped it is 32 again, so `unpack` has its own tests.
  auto compute = [&](bool swapB) {
    Tensor a(getElement("f4E2M1FN"), {16, 64});
    Tensor b(getElement("f4E2M1FN"), {64, 8});
    for (int64_t i = 0; i < a.size(); ++i)
      a.setCode(i, i % 2 == 0 ? 0x2 : 0x0);
    for (int64_t i = 0; i < b.size(); ++i)
      b.setCode(i, (i / 8 % 2 == 0) != swapB ? 0x2 : 0x5);
    return evaluate(
        scaled(shape({16, 64}, "f4E2M1FN"), shape({64, 8}, "f4E2M1FN"),
               shape({16, 8}, "f32"),
               {shape({16, 4}, "f8E4M3FN"), shape({4, 8}, "f8E4M3FN")}),
        {a, b, makeFilled("f32", {16, 8}, 0),
         makeFilled("f8E4M3FN", {16, 4}, 0x38),
         makeFilled("f8E4M3FN", {4, 8}, 0x38)});
  };
  EXPECT_EQ(compute(false).getFloat(5), 32);
  EXPECT_EQ(compute(true).getFloat(5), 96);
}

TEST_F(MultiplyTest, AScaleKeepsItsMantissa) {
  // An E4M3 scale of 1.5 is 1.5, not the power of two below it.
  Tensor result = evaluate(
      scaled(shape({16, 64}, "f4E2M1FN"), shape({64, 8}, "f4E2M1FN"),
             shape({16, 8}, "f32"),
             {shape({16, 4}, "f8E4M3FN"), shape({4, 8}, "f8E4M3FN")}),
      {makeFilled("f4E2M1FN", {16, 64}, 0x2),
       makeFilled("f4E2M1FN", {64, 8}, 0x2), makeFilled("f32", {16, 8}, 0),
       makeFilled("f8E4M3FN", {16, 4}, 0x3C),
       makeFilled("f8E4M3FN", {4, 8}, 0x38)});
  EXPECT_EQ(result.getFloat(0), 96);
}

TEST_F(MultiplyTest, TheSmallestScaleIsNotZero) {
  // 128 * 2^112 * 256 * 2^-127 = 1.
  const int64_t k = 128;
  Tensor a = makeFloats("bf16", {16, k}, std::vector<double>(16 * k, 0x1p112));
  Tensor b = makeFloats("f8E4M3FN", {k, 8}, std::vector<double>(8 * k, 256));
  std::vector<uint64_t> scales(k / 32 * 8, 0x00);
  // 2^112 * 2^8 * 2^-127 * 2^7 terms = 2^0.
  Tensor result =
      evaluate(scaled(shape({16, k}, "bf16"), shape({k, 8}, "f8E4M3FN"),
                      shape({16, 8}, "f32"), {shape({k / 32, 8}, "f8E8M0FNU")}),
               {a, b, makeFilled("f32", {16, 8}, 0),
                makeCodes("f8E8M0FNU", {k / 32, 8}, scales)});
  for (int64_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(result.getFloat(i), 1);
}

TEST_F(MultiplyTest, ANaNScaleReachesItsRowOrColumnOnlyAndOverZeros) {
  for (auto [type, code, v] :
       {std::tuple<std::string, uint64_t, int64_t>{"f8E8M0FNU", 0xFF, 32},
        {"f8E4M3FN", 0x7F, 16}}) {
    const int64_t m = 16, n = 8, k = 64, groups = k / v;
    Tensor zerosA = makeFilled("f4E2M1FN", {m, k}, 0);
    Tensor zerosB = makeFilled("f4E2M1FN", {k, n}, 0);
    std::vector<uint64_t> sa(m * groups, 0x38), sb(groups * n, 0x38);
    sa[5 * groups + groups - 1] = code;
    sb[0 * n + 3] = code;
    Tensor result = evaluate(
        scaled(shape({m, k}, "f4E2M1FN"), shape({k, n}, "f4E2M1FN"),
               shape({m, n}, "f32"),
               {shape({m, groups}, type), shape({groups, n}, type)}),
        {zerosA, zerosB, makeFilled("f32", {m, n}, 0x3F800000),
         makeCodes(type, {m, groups}, sa), makeCodes(type, {groups, n}, sb)});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        if (i == 5 || j == 3)
          EXPECT_EQ(result.getCode(i * n + j), 0x7FFFFFFFu);
        else
          EXPECT_EQ(result.getFloat(i * n + j), 1);
      }
  }
}

TEST_F(MultiplyTest, ASetSignOfAnE4M3ScaleIsIgnored) {
  auto compute = [&](uint64_t code) {
    return evaluate(
               scaled(shape({16, 16}, "f4E2M1FN"), shape({16, 8}, "f4E2M1FN"),
                      shape({16, 8}, "f32"),
                      {shape({16, 1}, "f8E4M3FN"), shape({1, 8}, "f8E4M3FN")}),
               {makeFilled("f4E2M1FN", {16, 16}, 0x2),
                makeFilled("f4E2M1FN", {16, 8}, 0x3),
                makeFilled("f32", {16, 8}, 0),
                makeFilled("f8E4M3FN", {16, 1}, code),
                makeFilled("f8E4M3FN", {1, 8}, 0x40)})
        .getFloat(0);
  };
  EXPECT_EQ(compute(0x38), 48);
  EXPECT_EQ(compute(0xB8), 48);
  EXPECT_TRUE(std::isnan(compute(0xFF)));
}

TEST_F(MultiplyTest, ScalesMayLeaveTheRangeWhereProductsDoNot) {
  // 448 * 2^127 is beyond f32, but times 2^-127 it is 448.
  Tensor result = evaluate(
      scaled(shape({16, 32}, "f8E4M3FN"), shape({32, 8}, "f8E4M3FN"),
             shape({16, 8}, "f32"),
             {shape({16, 1}, "f8E8M0FNU"), shape({1, 8}, "f8E8M0FNU")}),
      {makeFilled("f8E4M3FN", {16, 32}, 0x7E),
       makeFilled("f8E4M3FN", {32, 8}, 0x38), makeFilled("f32", {16, 8}, 0),
       makeFilled("f8E8M0FNU", {16, 1}, 0xFE),
       makeFilled("f8E8M0FNU", {1, 8}, 0x00)});
  EXPECT_EQ(result.getFloat(0), 14336);
}

TEST_F(MultiplyTest, InfinityAndNaNOperandsFollowIeee) {
  // Row 0 has an infinity, row 1 a NaN, row 2 both infinities, row 3 infinity
  // times zero (column 1 of B is zero).
  std::vector<uint64_t> a(16 * 16, 0x3C), b(16 * 8, 0x3C);
  a[0] = 0x7C;
  a[16] = 0x7E;
  a[32] = 0x7C, a[33] = 0xFC;
  a[48] = 0xFC;
  for (int64_t k = 0; k < 16; ++k)
    b[k * 8 + 1] = 0;
  Tensor result = evaluate(
      mmaf(shape({16, 16}, "f8E5M2"), shape({16, 8}, "f8E5M2"),
           shape({16, 8}, "f32")),
      {makeCodes("f8E5M2", {16, 16}, a), makeCodes("f8E5M2", {16, 8}, b),
       makeFilled("f32", {16, 8}, 0)});
  EXPECT_EQ(result.getFloat(0), infinity);
  EXPECT_TRUE(std::isnan(result.getFloat(1)));
  EXPECT_TRUE(std::isnan(result.getFloat(8)));
  EXPECT_TRUE(std::isnan(result.getFloat(16)));
  EXPECT_EQ(result.getFloat(24), -infinity);
  EXPECT_TRUE(std::isnan(result.getFloat(25)));
  EXPECT_EQ(result.getFloat(32), 16);
}

TEST_F(MultiplyTest, TheSumIsRoundedOnce) {
  // 2^24 + 1 + 1: rounding after every term would lose both ones.
  std::vector<double> a(16 * 16, 0), b(16 * 8, 1);
  a[0] = 0x1p24;
  a[1] = a[2] = 1;
  Tensor result =
      evaluate(mmaf(shape({16, 16}, "bf16"), shape({16, 8}, "bf16"),
                    shape({16, 8}, "f32")),
               {makeFloats("bf16", {16, 16}, a), makeFloats("bf16", {16, 8}, b),
                makeFilled("f32", {16, 8}, 0)});
  EXPECT_EQ(result.getFloat(0), 0x1p24 + 2);
}

} // namespace
