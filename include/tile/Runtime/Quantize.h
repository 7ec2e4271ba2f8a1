//===- Quantize.h - Codes and scales of host arrays -------------*- C++ -*-===//
//
// Turns a matrix of f32 into what the linear kernels read, and back, on the
// CPU:
//
//     Expected<QuantizedArray> w = quantize("nvfp4", weights, n, k);
//     kernel.launch(device, grid, z, x, w->getCodesRef(), xs,
//                   w->getScalesRef(), alpha * w->globalScale);
//
//   format   codes                  scale      values per scale
//   nvfp4    f4E2M1FNx2             f8E4M3FN   16
//   mxfp4    f4E2M1FNx2             f8E8M0FNU  32
//   mxfp8    f8E4M3FN or f8E5M2     f8E8M0FNU  32
//
// A value is code * scale * globalScale; a code is the value divided by its
// scale as stored, rounded once to nearest even. The last block of a row may be
// short.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_QUANTIZE_H
#define TILE_RUNTIME_QUANTIZE_H

#include "tile/Runtime/Array.h"
#include "tile/Runtime/Error.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// How the exponent of an E8M0 scale follows from the largest magnitude b of
/// its block. The values are part of the C API.
enum class ScaleRule : int {
  Floor = 0, ///< floor(log2 b) less that of the largest code: OCP MX v1.0.
  Ceil = 1,  ///< The smallest scale that clips nothing.
  Even = 2,  ///< As Floor, of b rounded to the precision of a code.
};

/// What a format leaves open.
struct QuantizeOptions {
  /// nvfp4: derives the global scale from the largest magnitude, so that no
  /// block is out of the reach of its scale. Without it the global scale is
  /// `globalScale`.
  bool twoLevel = false;
  /// nvfp4: the factor of the whole matrix; finite and positive.
  float globalScale = 1.0f;
  /// mxfp4, mxfp8.
  ScaleRule rule = ScaleRule::Floor;
  /// mxfp8: F8E4M3FN or F8E5M2.
  ElementType element = ElementType::F8E4M3FN;
};

/// A matrix of codes with block scales, in host memory.
struct QuantizedArray {
  ElementType element = ElementType::F4E2M1FNx2;
  ElementType scale = ElementType::F8E4M3FN;
  int64_t blockSize = 16; ///< Values per scale.
  int64_t rows = 0;
  int64_t columns = 0; ///< Values, not pairs.
  /// `rows` times `getCodeColumns` bytes.
  std::vector<uint8_t> codes;
  /// `rows` times `getScaleColumns` bytes.
  std::vector<uint8_t> scales;
  float globalScale = 1.0f;
  /// Blocks with a value that was clipped.
  int64_t saturatedBlocks = 0;

  /// Bytes of a row of codes: pairs are rounded up.
  int64_t getCodeColumns() const;
  int64_t getScaleColumns() const;
  /// The arrays as arguments of a launch; they borrow this object's memory.
  TensorRef getCodesRef() const;
  TensorRef getScalesRef() const;
};

/// The element and scale types and the block size of a format: of "nvfp4",
/// "mxfp4" or "mxfp8", the last with `element`. An error that lists them.
Expected<QuantizedArray>
describeFormat(std::string_view format,
               ElementType element = ElementType::F8E4M3FN);

/// Quantises `values`, row-major without gaps.
Expected<QuantizedArray> quantize(std::string_view format, const float *values,
                                  int64_t rows, int64_t columns,
                                  const QuantizeOptions &options = {});

/// The values, row-major, each rounded once to f32. An error where the arrays
/// do not fit the shape.
Expected<std::vector<float>> dequantize(const QuantizedArray &array);
/// The same of arrays as `quantize` makes them, given by their addresses.
Expected<std::vector<float>>
dequantize(std::string_view format, const uint8_t *codes, const uint8_t *scales,
           int64_t rows, int64_t columns, float globalScale = 1.0f,
           ElementType element = ElementType::F8E4M3FN);

} // namespace tile::runtime

#endif // TILE_RUNTIME_QUANTIZE_H
