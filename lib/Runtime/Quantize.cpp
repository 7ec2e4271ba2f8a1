//===- Quantize.cpp - Codes and scales of host arrays ---------------------===//

#include "tile/Runtime/Quantize.h"

#include "tile/Formats/ScaledQuantize.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tile::runtime {

static Error makeError(std::string message) {
  return Error(ErrorCode::InvalidArgument, std::move(message));
}

static Error makeError(llvm::Error error) {
  return makeError(llvm::toString(std::move(error)));
}

/// The format of an element, or of each of a pair.
static ElementFormat getFormat(ElementType type) {
  if (type == ElementType::F4E2M1FNx2)
    return ElementFormat::F4E2M1FN;
  // Where there is none, one that `verifyQuantized` knows no triple with.
  return findFormat(getElementTypeName(type)).value_or(ElementFormat::F32);
}

static ExponentRule getRule(ScaleRule rule) {
  switch (rule) {
  case ScaleRule::Floor:
    return ExponentRule::Floor;
  case ScaleRule::Ceil:
    return ExponentRule::Ceil;
  case ScaleRule::Even:
    return ExponentRule::Even;
  }
  return ExponentRule::Floor;
}

int64_t QuantizedArray::getCodeColumns() const {
  return element == ElementType::F4E2M1FNx2 ? columns / 2 + columns % 2
                                            : columns;
}

int64_t QuantizedArray::getScaleColumns() const {
  return blockSize > 0 ? columns / blockSize + (columns % blockSize != 0) : 0;
}

TensorRef QuantizedArray::getCodesRef() const {
  const void *data = codes.data();
  return TensorRef(data, element, {rows, getCodeColumns()});
}

TensorRef QuantizedArray::getScalesRef() const {
  const void *data = scales.data();
  return TensorRef(data, scale, {rows, getScaleColumns()});
}

Expected<QuantizedArray> describeFormat(std::string_view format,
                                        ElementType element) {
  QuantizedArray array;
  if (format == "nvfp4")
    return array;
  array.scale = ElementType::F8E8M0FNU;
  array.blockSize = 32;
  if (format == "mxfp4")
    return array;
  if (format != "mxfp8")
    return makeError("expects a format of nvfp4, mxfp4 or mxfp8, but got '" +
                     std::string(format) + "'");
  if (element != ElementType::F8E4M3FN && element != ElementType::F8E5M2)
    return makeError(std::string("mxfp8 expects an element type of f8E4M3FN or "
                                 "f8E5M2, but got ") +
                     getElementTypeName(element));
  array.element = element;
  return array;
}

static Expected<QuantizedArray> convert(llvm::Expected<QuantizedMatrix> matrix,
                                        QuantizedArray array) {
  if (!matrix)
    return makeError(matrix.takeError());
  array.rows = matrix->rows;
  array.columns = matrix->columns;
  array.codes = std::move(matrix->codes);
  array.scales = std::move(matrix->scales);
  array.globalScale = matrix->globalScale;
  array.saturatedBlocks = matrix->saturatedBlocks;
  return array;
}

/// Checks that an array of f32 of this shape has a size.
static Status checkShape(int64_t rows, int64_t columns) {
  if (rows < 0 || columns < 0)
    return makeError("expects extents that are not negative, but got " +
                     std::to_string(rows) + "x" + std::to_string(columns));
  std::optional<int64_t> size = llvm::checkedMul(rows, columns);
  if (!size || *size > INT64_MAX / int64_t(sizeof(float)))
    return makeError("expects an array of less than 2^63 bytes, but got " +
                     std::to_string(rows) + "x" + std::to_string(columns));
  return {};
}

Expected<QuantizedArray> quantize(std::string_view format, const float *values,
                                  int64_t rows, int64_t columns,
                                  const QuantizeOptions &options) {
  Expected<QuantizedArray> array = describeFormat(format, options.element);
  if (!array)
    return array;
  if (Status status = checkShape(rows, columns); !status)
    return std::move(status).error();
  int64_t size = rows * columns;
  if (!values && size)
    return makeError("expects an array of values, but got a null pointer");

  llvm::ArrayRef<float> all(values, size);
  if (format != "nvfp4") {
    if (options.twoLevel || options.globalScale != 1.0f)
      return makeError(std::string(format) +
                       " has no global scale; only nvfp4 has one");
    return convert(tile::quantizeMx(all, rows, columns,
                                    getFormat(array->element),
                                    getRule(options.rule), array->blockSize),
                   *array);
  }
  if (options.twoLevel && options.globalScale != 1.0f)
    return makeError("expects either two levels, whose global scale follows "
                     "from the values, or a global scale, but got both");
  float globalScale =
      options.twoLevel ? tile::computeGlobalScale(all) : options.globalScale;
  return convert(tile::quantizeNvfp4(all, rows, columns, globalScale), *array);
}

Expected<std::vector<float>> dequantize(const QuantizedArray &array) {
  if (array.blockSize <= 0)
    return makeError("expects a block size of at least 1, but got " +
                     std::to_string(array.blockSize));
  QuantizedMatrix matrix;
  matrix.element = getFormat(array.element);
  matrix.scale = getFormat(array.scale);
  matrix.blockSize = array.blockSize;
  matrix.rows = array.rows;
  matrix.columns = array.columns;
  matrix.codes = array.codes;
  matrix.scales = array.scales;
  matrix.globalScale = array.globalScale;
  llvm::Expected<std::vector<float>> values = tile::dequantize(matrix);
  if (!values)
    return makeError(values.takeError());
  return std::move(*values);
}

Expected<std::vector<float>> dequantize(std::string_view format,
                                        const uint8_t *codes,
                                        const uint8_t *scales, int64_t rows,
                                        int64_t columns, float globalScale,
                                        ElementType element) {
  Expected<QuantizedArray> array = describeFormat(format, element);
  if (!array)
    return std::move(array).error();
  if (Status status = checkShape(rows, columns); !status)
    return std::move(status).error();
  array->rows = rows;
  array->columns = columns;
  array->globalScale = globalScale;
  int64_t numCodes = rows * array->getCodeColumns();
  int64_t numScales = rows * array->getScaleColumns();
  if ((numCodes && !codes) || (numScales && !scales))
    return makeError("expects codes and scales, but got a null pointer");
  array->codes.assign(codes, codes + numCodes);
  array->scales.assign(scales, scales + numScales);
  return dequantize(*array);
}

} // namespace tile::runtime
