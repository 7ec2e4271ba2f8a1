//===- Quantize.cpp - C API: codes and scales of host arrays --------------===//

#include "Handles.h"

using namespace tile;
using namespace tile::capi;

void tileQuantizeOptionsInit(TileQuantizeOptions *options, size_t size) {
  runtime::QuantizeOptions source;
  TileQuantizeOptions defaults = {};
  defaults.globalScale = source.globalScale;
  defaults.rule = static_cast<TileScaleRule>(source.rule);
  defaults.element = static_cast<TileElementType>(source.element);
  defaults.twoLevel = source.twoLevel;
  initialize(options, defaults, size);
}

TileError *tileQuantize(const char *format, const float *values, int64_t rows,
                        int64_t columns, const TileQuantizeOptions *options,
                        TileQuantizedArray **array) {
  if (!format)
    return makeNullError("a format");
  if (!array)
    return makeNullError("a place for the array");
  runtime::QuantizeOptions value;
  if (options) {
    if (TileError *error = checkSize(*options, "TileQuantizeOptions"))
      return error;
    if (TileError *error = checkElementType(options->element, "codes"))
      return error;
    const int rule = getNumber(options->rule);
    if (rule < TILE_SCALE_RULE_FLOOR || rule > TILE_SCALE_RULE_EVEN)
      return makeError("expects a scale rule from 0 to 2, but got " +
                       std::to_string(rule));
    value.twoLevel = options->twoLevel;
    value.globalScale = options->globalScale;
    value.rule = static_cast<runtime::ScaleRule>(rule);
    value.element = getElementType(options->element);
  }
  runtime::Expected<runtime::QuantizedArray> made =
      runtime::quantize(format, values, rows, columns, value);
  if (!made)
    return makeError(std::move(made).error());
  *array = new TileQuantizedArray(std::move(*made));
  return nullptr;
}

static TileError *give(const runtime::TensorRef &array, TileTensor *out) {
  if (!out)
    return makeNullError("a place for the array");
  if (TileError *error = checkSize(*out, "TileTensor"))
    return error;
  write(out, describeTensor(array));
  return nullptr;
}

TileError *tileQuantizedArrayGetCodes(const TileQuantizedArray *array,
                                      TileTensor *codes) {
  if (!array)
    return makeNullError("a quantised array");
  return give(array->codes, codes);
}

TileError *tileQuantizedArrayGetScales(const TileQuantizedArray *array,
                                       TileTensor *scales) {
  if (!array)
    return makeNullError("a quantised array");
  return give(array->scales, scales);
}

float tileQuantizedArrayGetGlobalScale(const TileQuantizedArray *array) {
  return array ? array->array.globalScale : 0.0f;
}

int64_t
tileQuantizedArrayGetNumSaturatedBlocks(const TileQuantizedArray *array) {
  return array ? array->array.saturatedBlocks : 0;
}

void tileQuantizedArrayDestroy(TileQuantizedArray *array) { delete array; }

TileError *tileDequantize(const char *format, TileElementType element,
                          const uint8_t *codes, const uint8_t *scales,
                          int64_t rows, int64_t columns, float globalScale,
                          float *values) {
  if (!format)
    return makeNullError("a format");
  if (TileError *error = checkElementType(element, "codes"))
    return error;
  runtime::Expected<std::vector<float>> result =
      runtime::dequantize(format, codes, scales, rows, columns, globalScale,
                          getElementType(element));
  if (!result)
    return makeError(std::move(result).error());
  if (result->empty())
    return nullptr;
  if (!values)
    return makeNullError("a place for the values");
  std::copy(result->begin(), result->end(), values);
  return nullptr;
}
