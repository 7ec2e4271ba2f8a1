//===- KernelLibraryTest.cpp - Kernels that are ready to use --------------===//
//
// Every kernel of the library on the devices of the CPU. Sums of the linear
// layers are exact in f32, so that results must be equal; quantisers give the
// bytes of tile/Formats.
//
//===----------------------------------------------------------------------===//

#include "tile/Runtime/KernelLibrary.h"

#include "tile/Formats/ElementFormat.h"
#include "tile/Formats/ScaledQuantize.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace tile::runtime;
using tile::ElementFormat;

namespace {

/// A hash that no swap of positions or arrays leaves unchanged.
uint64_t hash(uint64_t position, uint64_t salt) {
  uint64_t x = position * 0x9E3779B97F4A7C15 + salt * 7919 + 13;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9;
  return x ^ x >> 32;
}

Compiler makeCompiler() {
  CacheOptions cache;
  cache.useDisk = false;
  return Compiler(cache);
}

/// The devices of the CPU, and targets that multiply in different ways.
std::vector<Device> getDevices() {
  std::vector<Device> devices = {Device::reference()};
  for (const char *target : {"sm_80", "sm_89", "sm_90a", "sm_120a"})
    devices.push_back(*Device::emulator(target));
  return devices;
}

ElementFormat getFormat(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return ElementFormat::BF16;
  case ElementType::F16:
    return ElementFormat::F16;
  case ElementType::F8E4M3FN:
    return ElementFormat::F8E4M3FN;
  case ElementType::F8E5M2:
    return ElementFormat::F8E5M2;
  case ElementType::F8E8M0FNU:
    return ElementFormat::F8E8M0FNU;
  case ElementType::F4E2M1FNx2:
    return ElementFormat::F4E2M1FN;
  default:
    return ElementFormat::F32;
  }
}

/// An array, filled with the codes of values or written by a kernel.
struct Array {
  ElementType type;
  int64_t rows, columns; ///< In elements; a pair is one.
  std::vector<uint8_t> bytes;

  Array(ElementType type, int64_t rows, int64_t columns)
      : type(type), rows(rows), columns(columns),
        bytes(rows * columns * getElementBytes(type), 0xFF) {}

  TensorRef ref() { return TensorRef(bytes.data(), type, {rows, columns}); }

  uint32_t getCode(int64_t row, int64_t column) const {
    if (type == ElementType::F4E2M1FNx2)
      return bytes[row * columns + column / 2] >> (column % 2 * 4) & 15;
    uint32_t code = 0;
    unsigned size = getElementBytes(type);
    std::memcpy(&code, &bytes[(row * columns + column) * size], size);
    return code;
  }
  void setCode(int64_t row, int64_t column, uint32_t code) {
    if (type == ElementType::F4E2M1FNx2) {
      uint8_t &pair = bytes[row * columns + column / 2];
      unsigned shift = column % 2 * 4;
      pair = static_cast<uint8_t>((pair & ~(15 << shift)) | code << shift);
      return;
    }
    unsigned size = getElementBytes(type);
    std::memcpy(&bytes[(row * columns + column) * size], &code, size);
  }
  double getValue(int64_t row, int64_t column) const {
    return tile::decode(getFormat(type), getCode(row, column));
  }
};

// Values whose products and sums are exact in f32.

double chooseValue(int64_t position, uint64_t salt) {
  static const double values[] = {0, 0.5, -0.5, 1, -1, 1.5, 2, -3};
  return values[hash(position, salt) % 8];
}

double chooseScale(int64_t position, uint64_t salt) {
  static const double values[] = {0.5, 1, 2, 4};
  return values[hash(position, salt) % 4];
}

/// `columns` counts values.
Array makeOperand(ElementType type, int64_t rows, int64_t columns,
                  uint64_t salt) {
  Array array(type, rows,
              type == ElementType::F4E2M1FNx2 ? columns / 2 : columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      array.setCode(row, column,
                    tile::encode(getFormat(type),
                                 chooseValue(row * columns + column, salt)));
  return array;
}

Array makeScales(ElementType type, int64_t rows, int64_t columns,
                 uint64_t salt) {
  Array array(type, rows, columns);
  tile::Rounding rounding = type == ElementType::F8E8M0FNU
                                ? tile::Rounding::TowardZero
                                : tile::Rounding::NearestEven;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      array.setCode(row, column,
                    tile::encode(getFormat(type),
                                 chooseScale(row * columns + column, salt),
                                 rounding));
  return array;
}

/// Runs a linear layer and compares.
void checkLinear(const KernelLibrary &library, const Device &device,
                 const std::string &name, const LinearProblem &problem) {
  SCOPED_TRACE(
      name + " on " + device.getName() + ", m=" + std::to_string(problem.m) +
      " n=" + std::to_string(problem.n) + " k=" + std::to_string(problem.k) +
      " output=" + getElementTypeName(problem.output) +
      (problem.alphaPerColumn ? ", alpha per column" : ""));
  CompileOptions options;
  options.device = device;
  Expected<ReadyKernel> ready = library.linear(name, problem, options);
  ASSERT_TRUE(ready) << ready.error().str();

  bool isFp8 = name == "mxfp8_linear", isW4A16 = name == "w4a16_linear";
  bool hasE4M3Scales = name == "nvfp4_linear" || (isW4A16 && !problem.mxScales);
  int64_t block = hasE4M3Scales ? 16 : 32;
  ElementType scaleType =
      hasE4M3Scales ? ElementType::F8E4M3FN : ElementType::F8E8M0FNU;
  Array x = makeOperand(isFp8 || isW4A16 ? problem.x : ElementType::F4E2M1FNx2,
                        problem.m, problem.k, 1);
  Array y = makeOperand(isFp8 ? problem.y : ElementType::F4E2M1FNx2, problem.n,
                        problem.k, 2);
  Array xs = makeScales(scaleType, problem.m, problem.k / block, 3);
  Array ys = makeScales(scaleType, problem.n, problem.k / block, 4);
  std::vector<float> alphas(problem.n, 0.375f);
  if (problem.alphaPerColumn)
    for (int64_t column = 0; column < problem.n; ++column)
      alphas[column] = float(hash(column, 5) % 7) / 4 - 0.5f;
  Array z(problem.output, problem.m, problem.n);

  std::vector<Argument> arguments = {z.ref(), x.ref(), y.ref()};
  if (!isW4A16)
    arguments.push_back(xs.ref());
  arguments.push_back(ys.ref());
  if (problem.alphaPerColumn)
    arguments.push_back(
        TensorRef(alphas.data(), ElementType::F32, {problem.n}));
  else
    arguments.push_back(0.375f);
  Status done = ready->kernel.launchList(device, ready->grid, arguments);
  ASSERT_TRUE(done) << done.error().str();

  for (int64_t i = 0; i < problem.m; ++i)
    for (int64_t j = 0; j < problem.n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < problem.k; ++k)
        sum += x.getValue(i, k) * y.getValue(j, k) *
               (isW4A16 ? 1.0 : xs.getValue(i, k / block)) *
               ys.getValue(j, k / block);
      float scaled = static_cast<float>(sum * alphas[j]);
      ASSERT_EQ(z.getCode(i, j),
                tile::encode(getFormat(problem.output), scaled))
          << "row " << i << ", column " << j;
    }
}

class LinearTest : public testing::TestWithParam<const char *> {};

TEST_P(LinearTest, AgreesOnEveryDevice) {
  std::string name = GetParam();
  KernelLibrary library(makeCompiler());
  // Output and form of alpha change with the shape and the device.
  struct Shape {
    int64_t m, n, k;
  };
  const Shape shapes[] = {{1, 8, 64}, {7, 33, 96}, {16, 160, 480}};
  const ElementType outputs[] = {ElementType::F32, ElementType::BF16,
                                 ElementType::F16};
  unsigned number = 0;
  for (const Device &device : getDevices())
    for (const Shape &shape : shapes) {
      LinearProblem problem;
      problem.m = shape.m, problem.n = shape.n, problem.k = shape.k;
      problem.output = outputs[number / 2 % 3];
      problem.alphaPerColumn = number % 2;
      problem.mxScales = name == "w4a16_linear" && number / 3 % 2;
      if (name == "w4a16_linear")
        problem.x = number / 2 % 2 ? ElementType::BF16 : ElementType::F16;
      else if (number / 3 % 2)
        problem.x = ElementType::F8E5M2;
      checkLinear(library, device, name, problem);
      ++number;
    }
}

// A pipeline of several steps, and rows that end within a tile.
TEST_P(LinearTest, LongRowsOfARaggedProblem) {
  std::string name = GetParam();
  LinearProblem problem;
  problem.m = 100, problem.n = 40, problem.k = 1056;
  problem.alphaPerColumn = true;
  problem.output = ElementType::BF16;
  if (name == "w4a16_linear")
    problem.x = ElementType::BF16;
  KernelLibrary library(makeCompiler());
  checkLinear(library, *Device::emulator("sm_80"), name, problem);
  checkLinear(library, *Device::emulator("sm_120a"), name, problem);
}

INSTANTIATE_TEST_SUITE_P(Kernels, LinearTest,
                         testing::Values("nvfp4_linear", "mxfp4_linear",
                                         "mxfp8_linear", "w4a16_linear"),
                         [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// Quantisers
//===----------------------------------------------------------------------===//

/// Values of many sizes in blocks of 32: small, subnormal, huge, zero, NaN and
/// infinite.
std::vector<float> makeValues(int64_t rows, int64_t columns) {
  std::vector<float> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t number = hash(i, 8), block = hash(i / 32, 9);
    double value = double(number % 4001) - 2000;
    values[i] = static_cast<float>(std::ldexp(value, int(block % 24) - 20));
    switch (block % 13) {
    case 0:
      values[i] = number % 2 ? 0.0f : -0.0f;
      break;
    case 1:
      values[i] = std::ldexp(static_cast<float>(value), 116);
      break;
    case 2:
      values[i] = std::ldexp(static_cast<float>(value), -149);
      break;
    case 3:
      if (number % 16 == 0)
        values[i] = NAN;
      break;
    case 4:
      if (number % 16 == 0)
        values[i] = number % 32 ? INFINITY : -INFINITY;
      break;
    default:
      break;
    }
  }
  return values;
}

struct Format {
  const char *name;
  ElementType codes;
  bool isNvfp4;
};

const Format formats[] = {
    {"nvfp4", ElementType::F4E2M1FNx2, true},
    {"mxfp4", ElementType::F4E2M1FNx2, false},
    {"mxfp8", ElementType::F8E4M3FN, false},
    {"mxfp8", ElementType::F8E5M2, false},
};

tile::QuantizedMatrix quantizeByFormats(const Format &format,
                                        const std::vector<float> &values,
                                        int64_t rows, int64_t columns,
                                        float globalScale) {
  return llvm::cantFail(
      format.isNvfp4
          ? tile::quantizeNvfp4(values, rows, columns, globalScale)
          : tile::quantizeMx(values, rows, columns, getFormat(format.codes),
                             tile::ExponentRule::Floor));
}

TEST(QuantizeKernel, GivesTheBytesOfTheLibrary) {
  KernelLibrary library(makeCompiler());
  const int64_t m = 13, k = 416;
  for (const Device &device : getDevices())
    for (const Format &format : formats)
      for (ElementType type :
           {ElementType::F32, ElementType::BF16, ElementType::F16}) {
        std::string name = std::string("quantize_") + format.name;
        SCOPED_TRACE(name + " on " + device.getName() + ", of " +
                     getElementTypeName(type));
        QuantizeProblem problem;
        problem.m = m, problem.k = k;
        problem.values = type;
        if (format.codes != ElementType::F4E2M1FNx2)
          problem.codes = format.codes;
        CompileOptions options;
        options.device = device;
        Expected<ReadyKernel> ready = library.quantize(name, problem, options);
        ASSERT_TRUE(ready) << ready.error().str();

        std::vector<float> values = makeValues(m, k);
        Array x(type, m, k);
        for (int64_t i = 0; i < m * k; ++i) {
          x.setCode(i / k, i % k, tile::encode(getFormat(type), values[i]));
          values[i] = static_cast<float>(x.getValue(i / k, i % k));
        }
        float globalScale =
            format.isNvfp4 ? tile::computeGlobalScale(values) : 1.0f;
        tile::QuantizedMatrix expected =
            quantizeByFormats(format, values, m, k, globalScale);
        Array codes(format.codes, m, expected.getRowBytes());
        Array scales(format.isNvfp4 ? ElementType::F8E4M3FN
                                    : ElementType::F8E8M0FNU,
                     m, expected.getScaleColumns());
        std::vector<Argument> arguments = {codes.ref(), scales.ref(), x.ref()};
        if (format.isNvfp4)
          arguments.push_back(globalScale);
        Status done = ready->kernel.launchList(device, ready->grid, arguments);
        ASSERT_TRUE(done) << done.error().str();
        EXPECT_EQ(scales.bytes, expected.scales);
        EXPECT_EQ(codes.bytes, expected.codes);
      }
}

TEST(QuantizeKernel, DequantizesToWhatTheLibraryGives) {
  KernelLibrary library(makeCompiler());
  const int64_t m = 13, k = 416;
  for (const Device &device : getDevices())
    for (const Format &format : formats)
      for (ElementType type :
           {ElementType::F32, ElementType::BF16, ElementType::F16}) {
        SCOPED_TRACE(std::string(format.name) + " on " + device.getName() +
                     ", to " + getElementTypeName(type));
        tile::QuantizedMatrix matrix =
            quantizeByFormats(format, makeValues(m, k), m, k, 0.0123f);
        matrix.globalScale = 0.0123f;
        QuantizeProblem problem;
        problem.m = m, problem.k = k;
        problem.values = type;
        problem.format = format.name;
        if (format.codes != ElementType::F4E2M1FNx2)
          problem.codes = format.codes;
        CompileOptions options;
        options.device = device;
        Expected<ReadyKernel> ready =
            library.quantize("dequantize", problem, options);
        ASSERT_TRUE(ready) << ready.error().str();

        Array codes(format.codes, m, matrix.getRowBytes());
        codes.bytes = matrix.codes;
        Array scales(format.isNvfp4 ? ElementType::F8E4M3FN
                                    : ElementType::F8E8M0FNU,
                     m, matrix.getScaleColumns());
        scales.bytes = matrix.scales;
        Array x(type, m, k);
        Status done =
            ready->kernel.launch(device, ready->grid, x.ref(), codes.ref(),
                                 scales.ref(), matrix.globalScale);
        ASSERT_TRUE(done) << done.error().str();
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < k; ++j) {
            double exact = matrix.getValue(i, j);
            if (std::isnan(exact))
              ASSERT_TRUE(std::isnan(x.getValue(i, j)))
                  << "row " << i << ", column " << j;
            else
              ASSERT_EQ(x.getCode(i, j), tile::encode(getFormat(type), exact))
                  << "row " << i << ", column " << j << ", " << exact;
          }
      }
}

//===----------------------------------------------------------------------===//
// What is wrong
//===----------------------------------------------------------------------===//

TEST(KernelLibrary, GivesTexts) {
  std::vector<std::string> names = {
      "nvfp4_linear",   "mxfp4_linear",   "mxfp8_linear",   "w4a16_linear",
      "quantize_nvfp4", "quantize_mxfp4", "quantize_mxfp8", "dequantize"};
  EXPECT_EQ(KernelLibrary::getNames(), names);
  for (const std::string &name : names) {
    Expected<std::string> text = KernelLibrary::getText(name);
    ASSERT_TRUE(text);
    EXPECT_NE(text->find("func.func @" + name + "("), std::string::npos);
  }
  Expected<std::string> text = KernelLibrary::getText("linear");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().getCode(), ErrorCode::NotFound);
  EXPECT_EQ(text.error().str(),
            "no kernel 'linear' in the kernel library; known are "
            "nvfp4_linear, mxfp4_linear, mxfp8_linear, w4a16_linear, "
            "quantize_nvfp4, quantize_mxfp4, quantize_mxfp8, dequantize");
}

TEST(KernelLibrary, RefusesOptionsThatItChooses) {
  KernelLibrary library(makeCompiler());
  LinearProblem problem;
  problem.m = 16, problem.n = 16, problem.k = 64;
  auto getError = [&](const CompileOptions &options) {
    Expected<ReadyKernel> ready =
        library.linear("nvfp4_linear", problem, options);
    return ready ? std::string("none") : ready.error().str();
  };
  CompileOptions options;
  options.target = "sm_80";
  options.constants = {{"BM", "64"}};
  EXPECT_EQ(getError(options), "nvfp4_linear: expects no constants, which the "
                               "kernel library chooses, but got 'BM'");
  options.constants.clear();
  options.shapes = {{"x", {16, 32}}};
  EXPECT_EQ(getError(options), "nvfp4_linear: expects no shapes, which the "
                               "kernel library chooses, but got 'x'");
  options.shapes.clear();
  options.entry = "kernel";
  EXPECT_EQ(getError(options), "nvfp4_linear: expects no entry, which the "
                               "kernel library chooses, but got 'kernel'");
  options.entry.clear();
  options.target = "sm_7";
  EXPECT_EQ(getError(options).find("unknown target 'sm_7'"), 0u);
  options.target = "sm_80";
  options.numWarps = 2;
  EXPECT_EQ(getError(options), "none");
}

TEST(KernelLibrary, FindsScalesOfAnotherProblem) {
  KernelLibrary library(makeCompiler());
  LinearProblem problem;
  problem.m = 16, problem.n = 16, problem.k = 64;
  CompileOptions options;
  options.device = Device::reference();
  Expected<ReadyKernel> ready =
      library.linear("nvfp4_linear", problem, options);
  ASSERT_TRUE(ready) << ready.error().str();
  Array x = makeOperand(ElementType::F4E2M1FNx2, 16, 64, 1);
  Array xs = makeScales(ElementType::F8E4M3FN, 16, 4, 2);
  Array ys = makeScales(ElementType::F8E4M3FN, 16, 8, 3);
  Array z(ElementType::F32, 16, 16);
  Status done =
      ready->kernel.launch(Device::reference(), ready->grid, z.ref(), x.ref(),
                           x.ref(), xs.ref(), ys.ref(), 1.0f);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().getCode(), ErrorCode::InvalidArgument);
  EXPECT_NE(
      done.error().str().find("argument 4 (ys): expects extent 1 to be 4"),
      std::string::npos)
      << done.error().str();
}

} // namespace
