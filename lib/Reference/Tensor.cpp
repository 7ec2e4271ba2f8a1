//===- Tensor.cpp - Values of the reference device ------------------------===//

#include "tile/Reference/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Reference/Buffer.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace mlir;
using namespace tile;
using namespace tile::reference;

//===----------------------------------------------------------------------===//
// Element
//===----------------------------------------------------------------------===//

/// Bytes of the smallest power-of-two word that holds `bits`.
static unsigned getStorageBytes(unsigned bits) {
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

std::optional<Element> Element::get(Type type) {
  Element element;
  if (isa<F4E2M1FNx2Type>(type)) {
    element.kind = Kind::Pair;
  } else if (isa<FloatType>(type)) {
    element.kind = Kind::Float;
    element.format = getElementFormat(type);
    if (!element.format && !type.isF64())
      return std::nullopt;
  } else if (!type.isIndex() && !type.isSignlessInteger()) {
    return std::nullopt;
  }
  element.bits = getElementBits(type);
  if (element.bits == 0 || element.bits > 64)
    return std::nullopt;
  element.bytes = getStorageBytes(element.bits);
  return element;
}

/// The values of all codes of a format of at most eight bits.
static const std::array<double, 256> &getValues(ElementFormat format) {
  static const auto tables = [] {
    std::array<std::array<double, 256>, 4> tables;
    for (ElementFormat small :
         {ElementFormat::F4E2M1FN, ElementFormat::F8E4M3FN,
          ElementFormat::F8E5M2, ElementFormat::F8E8M0FNU})
      for (uint32_t code = 0; code < 256; ++code)
        tables[static_cast<unsigned>(small)][code] = tile::decode(small, code);
    return tables;
  }();
  return tables[static_cast<unsigned>(format)];
}

double Element::decode(uint64_t code) const {
  assert(isFloat() && "integers and pairs are not floats");
  if (!format)
    return llvm::bit_cast<double>(code);
  if (*format == ElementFormat::F32)
    return llvm::bit_cast<float>(static_cast<uint32_t>(code));
  if (bits <= 8)
    return getValues(*format)[code & 0xFF];
  return tile::decode(*format, static_cast<uint32_t>(code));
}

uint64_t Element::encode(double value) const {
  assert(isFloat() && "integers and pairs are not floats");
  if (!format)
    return llvm::bit_cast<uint64_t>(value);
  // The conversion of the machine is the one of IEEE 754; NaNs become canonical
  // as in every other format.
  if (*format == ElementFormat::F32 && value == value)
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  return tile::encode(*format, value);
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

Tensor::Tensor(Element element, ArrayRef<int64_t> shape)
    : element(element), shape(shape) {
  for (int64_t extent : shape)
    count *= extent;
  size_t bytes = static_cast<size_t>(count) * element.bytes;
  if (bytes > sizeof(local))
    heap.reset(new uint8_t[bytes]());
}

Tensor Tensor::getScalar(Element element, uint64_t code) {
  Tensor scalar(element, {});
  scalar.local = code;
  return scalar;
}

template <typename Word>
static uint64_t loadWord(const uint8_t *base, int64_t i) {
  Word word;
  std::memcpy(&word, base + i * sizeof(Word), sizeof(Word));
  return word;
}

template <typename Word>
static void storeWord(uint8_t *base, int64_t i, uint64_t code) {
  Word word = static_cast<Word>(code);
  std::memcpy(base + i * sizeof(Word), &word, sizeof(Word));
}

uint64_t Tensor::getCode(int64_t i) const {
  assert(i >= 0 && i < count && "no such element");
  const uint8_t *base = data();
  switch (element.bytes) {
  case 1:
    return base[i];
  case 2:
    return loadWord<uint16_t>(base, i);
  case 4:
    return loadWord<uint32_t>(base, i);
  default:
    return loadWord<uint64_t>(base, i);
  }
}

void Tensor::setCode(int64_t i, uint64_t code) {
  assert(i >= 0 && i < count && "no such element");
  assert((code & ~element.getMask()) == 0 && "code is too wide");
  uint8_t *base = mutableData();
  switch (element.bytes) {
  case 1:
    base[i] = static_cast<uint8_t>(code);
    break;
  case 2:
    storeWord<uint16_t>(base, i, code);
    break;
  case 4:
    storeWord<uint32_t>(base, i, code);
    break;
  default:
    storeWord<uint64_t>(base, i, code);
  }
}

Tensor Tensor::getReshaped(ArrayRef<int64_t> newShape) const {
  Tensor result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}

SmallVector<int64_t, 4>
tile::reference::getRowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    // An empty array has strides too, and other extents that may be huge.
    stride *= std::max<int64_t>(shape[dim], 1);
  }
  return strides;
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

Buffer Buffer::getContiguous(uint8_t *data, int64_t capacity,
                             unsigned elementBytes, ArrayRef<int64_t> shape,
                             bool readOnly) {
  Buffer buffer;
  buffer.data = data;
  buffer.capacity = capacity;
  buffer.elementBytes = elementBytes;
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.strides = getRowMajorStrides(shape);
  buffer.readOnly = readOnly;
  return buffer;
}
