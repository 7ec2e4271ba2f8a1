//===- GoldenTest.cpp - Quantisers against the golden tensors -------------===//
//
// The files come from scripts/make-golden.py, which shares no code with the
// library.
//
//===----------------------------------------------------------------------===//

#include "tile/Formats/Npy.h"
#include "tile/Formats/ScaledQuantize.h"

#include "TestUtils.h"

#include <algorithm>

using namespace tile;
using namespace tile::test;

namespace {

struct GoldenCase {
  const char *folder;
  ElementFormat element;
  ElementFormat scale;
  int64_t blockSize;
  bool twoLevel;
};

class GoldenTest : public testing::TestWithParam<GoldenCase> {
protected:
  NpyArray read(const std::string &name, NpyType type,
                llvm::ArrayRef<int64_t> shape) {
    NpyArray array = get(readNpy(std::string(TILE_GOLDEN_DIR) + "/" +
                                 GetParam().folder + "/" + name + ".npy"));
    EXPECT_EQ(array.type, type);
    EXPECT_EQ(llvm::ArrayRef(array.shape), shape);
    return array;
  }

  void SetUp() override {
    const GoldenCase &golden = GetParam();
    expected.element = golden.element;
    expected.scale = golden.scale;
    expected.blockSize = golden.blockSize;
    expected.rows = 16;
    expected.columns = 64;
    input = read("input", NpyType::F32, {16, 64}).getAs<float>().vec();
    values = read("values", NpyType::F32, {16, 64}).getAs<float>().vec();
    expected.codes =
        read("codes", NpyType::U8, {16, expected.getRowBytes()}).bytes;
    expected.scales =
        read("scales", NpyType::U8, {16, 64 / golden.blockSize}).bytes;
    if (golden.twoLevel)
      expected.globalScale =
          read("global_scale", NpyType::F32, {}).getAs<float>()[0];
  }

  std::vector<float> input, values;
  QuantizedMatrix expected;
};

TEST_P(GoldenTest, QuantisesToTheSameBytes) {
  if (HasFailure())
    return;
  const GoldenCase &golden = GetParam();
  EXPECT_EQ(golden.twoLevel ? computeGlobalScale(input) : 1.0f,
            expected.globalScale);
  QuantizedMatrix matrix =
      golden.scale == ElementFormat::F8E4M3FN
          ? get(quantizeNvfp4(input, 16, 64, expected.globalScale))
          : get(quantizeMx(input, 16, 64, golden.element, ExponentRule::Floor,
                           golden.blockSize));
  EXPECT_EQ(matrix.scales, expected.scales);
  EXPECT_EQ(matrix.codes, expected.codes);
}

TEST_P(GoldenTest, DequantisesToTheSameBits) {
  if (HasFailure())
    return;
  std::vector<float> actual = get(dequantize(expected));
  ASSERT_EQ(actual.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(bitsOf(actual[i]), bitsOf(values[i])) << "element " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, GoldenTest,
    testing::Values(GoldenCase{"nvfp4", ElementFormat::F4E2M1FN,
                               ElementFormat::F8E4M3FN, 16, false},
                    GoldenCase{"nvfp4-two-level", ElementFormat::F4E2M1FN,
                               ElementFormat::F8E4M3FN, 16, true},
                    GoldenCase{"mxfp4", ElementFormat::F4E2M1FN,
                               ElementFormat::F8E8M0FNU, 32, false},
                    GoldenCase{"mxfp8-e4m3", ElementFormat::F8E4M3FN,
                               ElementFormat::F8E8M0FNU, 32, false},
                    GoldenCase{"mxfp8-e5m2", ElementFormat::F8E5M2,
                               ElementFormat::F8E8M0FNU, 32, false}),
    [](const testing::TestParamInfo<GoldenCase> &info) {
      std::string name = info.param.folder;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

} // namespace
