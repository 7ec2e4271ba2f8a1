//===- ScaledQuantize.cpp - Quantisation in blocks ------------------------===//

#include "tile/Formats/ScaledQuantize.h"

#include "tile/Formats/Float4.h"
#include "tile/Formats/ScaleStorage.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tile;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

static Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static std::string print(float value) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format("%.9g", value);
  return result;
}

//===----------------------------------------------------------------------===//
// QuantizedMatrix
//===----------------------------------------------------------------------===//

int64_t QuantizedMatrix::getRowBytes() const {
  return element == ElementFormat::F4E2M1FN ? columns / 2 + columns % 2
                                            : columns;
}

int64_t QuantizedMatrix::getScaleColumns() const {
  return columns / blockSize + (columns % blockSize != 0);
}

uint8_t QuantizedMatrix::getCode(int64_t row, int64_t column) const {
  if (element != ElementFormat::F4E2M1FN)
    return codes[row * columns + column];
  Float4x2 pair = Float4x2::fromBits(codes[row * getRowBytes() + column / 2]);
  return column % 2 ? pair.high() : pair.low();
}

/// The value of a scale byte as tensor cores read it.
static double decodeScale(ElementFormat format, uint8_t byte) {
  return format == ElementFormat::F8E4M3FN ? decodeUE4M3(byte)
                                           : decode(format, byte);
}

double QuantizedMatrix::getValue(int64_t row, int64_t column) const {
  uint8_t scaleByte = scales[row * getScaleColumns() + column / blockSize];
  return decode(element, getCode(row, column)) * decodeScale(scale, scaleByte) *
         globalScale;
}

static Error checkShape(int64_t rows, int64_t columns, uint64_t actual,
                        llvm::StringRef what) {
  if (rows < 0 || columns < 0)
    return makeError("expects extents that are not negative, but got " +
                     Twine(rows) + "x" + Twine(columns));
  std::optional<int64_t> expected = llvm::checkedMul(rows, columns);
  if (!expected || static_cast<uint64_t>(*expected) != actual)
    return makeError("expects " + Twine(rows) + "x" + Twine(columns) + " " +
                     what + ", but got " + Twine(actual));
  return Error::success();
}

static Error checkFormats(ElementFormat element, ElementFormat scale,
                          int64_t blockSize) {
  if (isLegalBlockScale(element, scale, blockSize))
    return Error::success();
  return makeError(
      "expects f4E2M1FN with f8E4M3FN scales over 16 values, f4E2M1FN with "
      "f8E8M0FNU scales over 16 or 32, or f8E4M3FN or f8E5M2 with f8E8M0FNU "
      "scales over 32, but got " +
      getFormatInfo(element).name + " with " + getFormatInfo(scale).name +
      " scales over " + Twine(blockSize));
}

static Error checkGlobalScale(float globalScale) {
  if (std::isfinite(globalScale) && globalScale > 0)
    return Error::success();
  return makeError("expects a finite, positive global scale, but got " +
                   print(globalScale));
}

Error tile::verifyQuantized(const QuantizedMatrix &matrix) {
  if (Error error =
          checkFormats(matrix.element, matrix.scale, matrix.blockSize))
    return error;
  if (Error error = checkShape(matrix.rows, matrix.getRowBytes(),
                               matrix.codes.size(), "bytes of codes"))
    return error;
  if (Error error = checkShape(matrix.rows, matrix.getScaleColumns(),
                               matrix.scales.size(), "scales"))
    return error;
  return checkGlobalScale(matrix.globalScale);
}

//===----------------------------------------------------------------------===//
// What all formats share
//===----------------------------------------------------------------------===//

namespace {

/// A block's scale, as stored.
struct BlockScale {
  uint8_t byte;
  bool saturated;
};

} // namespace

/// Largest magnitude of `values`; NaN or infinity where one of them is that.
static float computeMax(ArrayRef<float> values) {
  float max = 0;
  for (float value : values) {
    if (std::isnan(value))
      return value;
    max = std::max(max, std::fabs(value));
  }
  return max;
}

/// Fills `matrix`, whose formats and global scale are set. `computeScale` gives
/// the scale of a block from its largest magnitude, which is finite.
template <typename ComputeScale>
static Expected<QuantizedMatrix>
quantizeBlocks(ArrayRef<float> values, int64_t rows, int64_t columns,
               QuantizedMatrix matrix, ComputeScale computeScale) {
  if (Error error = checkShape(rows, columns, values.size(), "values"))
    return std::move(error);
  matrix.rows = rows;
  matrix.columns = columns;
  // An array without columns may claim any number of rows.
  if (values.empty())
    return matrix;

  const bool isFp4 = matrix.element == ElementFormat::F4E2M1FN;
  const uint8_t nanByte =
      matrix.scale == ElementFormat::F8E8M0FNU ? 0xFF : 0x7F;
  const int64_t rowBytes = matrix.getRowBytes();
  matrix.codes.assign(rows * rowBytes, 0);
  matrix.scales.reserve(rows * matrix.getScaleColumns());

  for (int64_t row = 0; row < rows; ++row) {
    ArrayRef<float> rowValues = values.slice(row * columns, columns);
    uint8_t *rowCodes = matrix.codes.data() + row * rowBytes;
    for (int64_t begin = 0; begin < columns; begin += matrix.blockSize) {
      ArrayRef<float> block =
          rowValues.slice(begin, std::min(matrix.blockSize, columns - begin));
      float max = computeMax(block);
      if (!std::isfinite(max)) {
        matrix.scales.push_back(nanByte);
        continue;
      }
      BlockScale blockScale = computeScale(max);
      matrix.scales.push_back(blockScale.byte);
      matrix.saturatedBlocks += blockScale.saturated;
      // Exact: at most 4 significant bits times 24.
      double divisor = decodeScale(matrix.scale, blockScale.byte) *
                       double(matrix.globalScale);
      if (divisor == 0)
        continue;
      for (size_t i = 0; i < block.size(); ++i) {
        // The quotient in double rounds to the same code as the exact one: a
        // quotient of 24 by 28 bits is never closer than 2^-33, relatively, to
        // the middle of two codes without being that middle.
        uint32_t code = encode(matrix.element, double(block[i]) / divisor);
        int64_t k = begin + static_cast<int64_t>(i);
        if (isFp4)
          rowCodes[k / 2] |= static_cast<uint8_t>(code << (k % 2 * 4));
        else
          rowCodes[k] = static_cast<uint8_t>(code);
      }
    }
  }
  return matrix;
}

//===----------------------------------------------------------------------===//
// NVFP4
//===----------------------------------------------------------------------===//

Expected<float> tile::getMultiplier(float stored, GlobalScaleKind kind) {
  if (Error error = checkGlobalScale(stored))
    return std::move(error);
  float multiplier = kind == GlobalScaleKind::Divisor ? 1.0f / stored : stored;
  if (!std::isfinite(multiplier) || multiplier == 0)
    return makeError("expects a global scale with a finite, positive "
                     "reciprocal, but got " +
                     print(stored));
  return multiplier;
}

float tile::computeGlobalScale(ArrayRef<float> values) {
  float max = 0;
  for (float value : values)
    if (std::isfinite(value))
      max = std::max(max, std::fabs(value));
  if (max == 0)
    return 1.0f;
  float scale = max / nvfp4Max;
  // A subnormal quotient has few bits, and one rounded down could clip.
  if (scale < std::numeric_limits<float>::min() &&
      double(scale) * nvfp4Max < double(max))
    scale = std::nextafter(scale, 1.0f);
  return scale;
}

Expected<QuantizedMatrix> tile::quantizeNvfp4(ArrayRef<float> values,
                                              int64_t rows, int64_t columns,
                                              float globalScale) {
  if (Error error = checkGlobalScale(globalScale))
    return std::move(error);
  QuantizedMatrix matrix;
  matrix.element = ElementFormat::F4E2M1FN;
  matrix.scale = ElementFormat::F8E4M3FN;
  matrix.blockSize = 16;
  matrix.globalScale = globalScale;
  // A global scale that was computed has itself been rounded, by one part in
  // 2^24: a block at the maximum must not count as clipped for that.
  const double limit = globalScale == 1.0f ? 448.0 : 448.0 * (1 + 0x1p-23);
  const double unit = 6.0 * double(globalScale);
  return quantizeBlocks(values, rows, columns, std::move(matrix),
                        [&](float max) -> BlockScale {
                          double quotient = double(max) / unit;
                          return {encodeUE4M3(quotient), quotient > limit};
                        });
}

//===----------------------------------------------------------------------===//
// MX formats
//===----------------------------------------------------------------------===//

llvm::StringRef tile::getExponentRuleName(ExponentRule rule) {
  switch (rule) {
  case ExponentRule::Floor:
    return "floor";
  case ExponentRule::Ceil:
    return "ceil";
  case ExponentRule::Even:
    return "even";
  }
  llvm_unreachable("unknown exponent rule");
}

std::optional<ExponentRule> tile::findExponentRule(llvm::StringRef name) {
  for (ExponentRule rule :
       {ExponentRule::Floor, ExponentRule::Ceil, ExponentRule::Even})
    if (getExponentRuleName(rule) == name)
      return rule;
  return std::nullopt;
}

/// The exponent that `rule` gives for a block with largest magnitude `max`,
/// which is finite and not 0.
static int computeExponent(float max, const FormatInfo &element,
                           ExponentRule rule) {
  // In double every f32 is normal, so that ilogb is exact for subnormals too.
  double value = max;
  int exponent = std::ilogb(value);
  int elementMax = std::ilogb(element.max);
  switch (rule) {
  case ExponentRule::Floor:
    return exponent - elementMax;
  case ExponentRule::Ceil: {
    // Compare significands: log2 of a rounded quotient could miss by one.
    double significand = std::scalbn(value, -exponent);
    double maxSignificand = std::scalbn(element.max, -elementMax);
    return exponent - elementMax + (significand > maxSignificand);
  }
  case ExponentRule::Even: {
    // Rounding changes the exponent where it carries out of the significand;
    // the tie at the top has an odd neighbour below, so it carries.
    double significand = std::scalbn(value, -exponent);
    double carries = 2 - std::scalbn(1.0, -int(element.mantissaBits) - 1);
    return exponent - elementMax + (significand >= carries);
  }
  }
  llvm_unreachable("unknown exponent rule");
}

Expected<QuantizedMatrix>
tile::quantizeMx(ArrayRef<float> values, int64_t rows, int64_t columns,
                 ElementFormat element, ExponentRule rule, int64_t blockSize) {
  if (Error error = checkFormats(element, ElementFormat::F8E8M0FNU, blockSize))
    return std::move(error);
  QuantizedMatrix matrix;
  matrix.element = element;
  matrix.scale = ElementFormat::F8E8M0FNU;
  matrix.blockSize = blockSize;
  const FormatInfo &info = getFormatInfo(element);
  return quantizeBlocks(
      values, rows, columns, std::move(matrix), [&](float max) -> BlockScale {
        if (max == 0)
          return {0, false};
        int exponent = std::clamp(computeExponent(max, info, rule), -127, 127);
        return {static_cast<uint8_t>(exponent + 127),
                double(max) > std::scalbn(info.max, exponent)};
      });
}

//===----------------------------------------------------------------------===//
// Dequantisation
//===----------------------------------------------------------------------===//

Expected<std::vector<float>> tile::dequantize(const QuantizedMatrix &matrix) {
  if (Error error = verifyQuantized(matrix))
    return std::move(error);
  std::vector<float> values;
  if (matrix.columns == 0)
    return values;
  values.reserve(matrix.rows * matrix.columns);
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t column = 0; column < matrix.columns; ++column)
      values.push_back(static_cast<float>(matrix.getValue(row, column)));
  return values;
}
