//===- ScaleStorage.cpp - How block scales are stored ---------------------===//

#include "tile/Formats/ScaleStorage.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cmath>

using namespace tile;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

static Error makeError(size_t index, const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "scale " + Twine(index) + ": " + message);
}

/// `value` in as many digits as tell it from its neighbours.
static std::string print(float value) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format("%.9g", value);
  return result;
}

std::vector<float> tile::decodeE8M0(ArrayRef<uint8_t> bytes) {
  std::vector<float> scales;
  scales.reserve(bytes.size());
  for (uint8_t byte : bytes)
    scales.push_back(
        static_cast<float>(decode(ElementFormat::F8E8M0FNU, byte)));
  return scales;
}

Expected<std::vector<uint8_t>>
tile::encodeE8M0(ArrayRef<float> scales, std::optional<Rounding> rounding) {
  if (rounding == Rounding::NearestEven)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "expects rounding toward zero or upward for f8E8M0FNU, but got nearest "
        "even");
  std::vector<uint8_t> bytes;
  bytes.reserve(scales.size());
  for (auto [index, scale] : llvm::enumerate(scales)) {
    if (scale < 0)
      return makeError(index, "expects a scale that is not negative, but got " +
                                  print(scale));
    uint8_t byte = static_cast<uint8_t>(
        encode(ElementFormat::F8E8M0FNU, scale,
               rounding.value_or(Rounding::TowardZero), /*saturate=*/true));
    if (!rounding && !std::isnan(scale) &&
        decode(ElementFormat::F8E8M0FNU, byte) != scale)
      return makeError(index, "expects a power of two from 2^-127 to 2^127, or "
                              "a named rounding, but got " +
                                  print(scale));
    bytes.push_back(byte);
  }
  return bytes;
}

Expected<std::vector<int8_t>> tile::convertE8M0ToInt8(ArrayRef<uint8_t> bytes,
                                                      int bias) {
  std::vector<int8_t> exponents;
  exponents.reserve(bytes.size());
  for (auto [index, byte] : llvm::enumerate(bytes)) {
    if (byte == 0xFF)
      return makeError(index, "expects a number, but got the NaN byte 0xFF, "
                              "which has no exponent");
    int64_t exponent = int64_t(byte) - 127 + bias;
    if (exponent < -128 || exponent > 127)
      return makeError(index, "expects an exponent in [-128, 127] with bias " +
                                  Twine(bias) + ", but got " + Twine(exponent));
    exponents.push_back(static_cast<int8_t>(exponent));
  }
  return exponents;
}

Expected<std::vector<uint8_t>>
tile::convertInt8ToE8M0(ArrayRef<int8_t> exponents, int bias) {
  std::vector<uint8_t> bytes;
  bytes.reserve(exponents.size());
  for (auto [index, exponent] : llvm::enumerate(exponents)) {
    int64_t log2 = int64_t(exponent) - bias;
    if (log2 < -127 || log2 > 127)
      return makeError(index,
                       "expects a scale from 2^-127 to 2^127, but got 2^" +
                           Twine(log2) + " with bias " + Twine(bias));
    bytes.push_back(static_cast<uint8_t>(log2 + 127));
  }
  return bytes;
}

double tile::decodeUE4M3(uint8_t byte) {
  return decode(ElementFormat::F8E4M3FN, byte & 0x7F);
}

uint8_t tile::encodeUE4M3(double scale) {
  assert(!(scale < 0) && "a scale is not negative");
  return static_cast<uint8_t>(
      encode(ElementFormat::F8E4M3FN, std::fabs(scale)));
}

std::vector<size_t> tile::findNaNScales(ArrayRef<uint8_t> bytes,
                                        ElementFormat format) {
  std::vector<size_t> indices;
  for (auto [index, byte] : llvm::enumerate(bytes))
    if (std::isnan(decode(format, byte)))
      indices.push_back(index);
  return indices;
}
