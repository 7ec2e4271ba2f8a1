//===- TensorBoxes.cpp - A box of a tensor, row by row --------------------===//

#include "TensorBoxes.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cstring>

namespace tile::emulator {

using llvm::ArrayRef;
using llvm::Twine;

/// Bits [to, to + count) of `address`, each changed by the bit `distance` above
/// it.
static uint32_t flipBits(uint32_t address, unsigned to, unsigned count,
                         unsigned distance) {
  const uint32_t mask = ((1u << count) - 1) << to;
  return address ^ (address >> distance & mask);
}

uint32_t swizzleAddress(TensorMap::Swizzle swizzle, uint32_t address) {
  switch (swizzle) {
  case TensorMap::Swizzle::None:
    return address;
  case TensorMap::Swizzle::Bytes32:
    return flipBits(address, 4, 1, 3);
  case TensorMap::Swizzle::Bytes64:
    return flipBits(address, 4, 2, 3);
  case TensorMap::Swizzle::Bytes128:
    return flipBits(address, 4, 3, 3);
  case TensorMap::Swizzle::Bytes128Atom32:
    return flipBits(address, 5, 2, 2);
  case TensorMap::Swizzle::Bytes128Atom32Flip8:
    return flipBits(flipBits(address, 5, 2, 2), 3, 1, 4);
  case TensorMap::Swizzle::Bytes128Atom64:
    return flipBits(address, 6, 1, 1);
  }
  return address;
}

TensorBox::TensorBox(const TensorMap &map, ArrayRef<int32_t> coordinates,
                     bool isFourRows)
    : map(map), coordinates(coordinates), isFourRows(isFourRows) {
  std::fill_n(counts, TensorMap::kMaxRank, 1);
  counts[0] = map.box[0];
  for (unsigned i = 1; i < map.rank; ++i)
    counts[i] = isFourRows ? 4
                           : (map.box[i] + map.elementStrides[i] - 1) /
                                 map.elementStrides[i];
  rowBytes = counts[0] * map.getElementBits() / 8;
  pieceBytes = map.element == TensorMap::Element::B4x16P64   ? 8
               : map.element == TensorMap::Element::B6x16P32 ? 12
                                                             : 16;
  sharedRowBytes = rowBytes / pieceBytes * 16;
  for (unsigned i = 1; i < map.rank; ++i)
    numRows *= counts[i];
}

std::string TensorBox::findProblem(bool isStore) const {
  using Element = TensorMap::Element;
  const std::string type = ("." + getTensorElementName(map.element)).str();
  if (map.interleave != TensorMap::Interleave::None)
    return "does not know interleaved layouts";
  if (map.element == Element::F32Ftz || map.element == Element::TF32 ||
      map.element == Element::TF32Ftz)
    return "does not know what becomes of " + type;
  const unsigned span = getTensorSwizzleSpan(map.swizzle);
  if (span && sharedRowBytes != span)
    return ("expects rows of " + Twine(span) + " bytes with a swizzle of " +
            Twine(span) + ", but got a box with rows of " +
            Twine(sharedRowBytes) +
            ": no manual says how far apart shorter ones are")
        .str();
  if (isFourRows && (map.rank != 2 || map.box[1] != 1))
    return ("expects a map of 2 dimensions with a box of one row, but got " +
            (map.rank != 2 ? Twine(map.rank) + " dimensions"
                           : "a box of " + Twine(map.box[1]) + " rows"))
        .str();
  const bool isPadded = pieceBytes != 16;
  if (isStore && map.element == Element::B4x16P64)
    return "expects a type that can be stored, but got " + type;
  if (!isStore && isPadded && map.swizzle == TensorMap::Swizzle::Bytes128Atom64)
    return "expects a swizzle of 128-atom64 only of stores of " + type;
  const int step = isPadded ? 128 : map.element == Element::B4x16 ? 2 : 1;
  if (coordinates[0] % step)
    return ("expects a first coordinate that is a multiple of " + Twine(step) +
            " of " + type + ", but got " + Twine(coordinates[0]))
        .str();
  return "";
}

TensorRow TensorBox::getRow(uint32_t row) const {
  TensorRow result;
  uint64_t address = map.address;
  bool isWrong = false;
  // Adds to the address what may be too far away for any.
  auto add = [&](uint64_t index, uint64_t stride) {
    uint64_t distance = 0;
    isWrong |= __builtin_mul_overflow(index, stride, &distance) ||
               __builtin_add_overflow(address, distance, &address);
  };
  for (unsigned i = 1; i < map.rank; ++i) {
    const uint32_t place = row % counts[i];
    row /= counts[i];
    const int64_t index =
        isFourRows ? coordinates[1 + place]
                   : coordinates[i] + int64_t(place) * map.elementStrides[i];
    if (index < 0 || static_cast<uint64_t>(index) >= map.extents[i])
      return result;
    add(static_cast<uint64_t>(index), map.strides[i - 1]);
  }
  const int64_t first = coordinates[0];
  const int64_t extent = static_cast<int64_t>(map.extents[0]);
  const int64_t begin = std::max<int64_t>(-first, 0);
  const int64_t end = std::min<int64_t>(extent - first, counts[0]);
  if (begin >= end)
    return result;
  const unsigned bits = map.getElementBits();
  result.begin = static_cast<uint32_t>(begin * bits / 8);
  result.end = static_cast<uint32_t>(end * bits / 8);
  add(static_cast<uint64_t>(first + begin) * bits / 8, 1);
  result.address = isWrong ? ~uint64_t(0) : address;
  return result;
}

void TensorBox::fill(uint8_t *row) const {
  std::memset(row, 0, rowBytes);
  if (map.fill == TensorMap::Fill::Zero)
    return;
  // All ones but the sign, little-endian.
  const unsigned bytes = map.getElementBits() / 8;
  for (uint32_t i = 0; i != rowBytes; ++i)
    row[i] = i % bytes == bytes - 1 ? 0x7F : 0xFF;
}

template <typename Function>
void TensorBox::forPieces(uint32_t index, uint32_t base, Function piece) const {
  const uint32_t first = base + index * sharedRowBytes;
  if (map.swizzle == TensorMap::Swizzle::None && pieceBytes == 16)
    return piece(0u, first, rowBytes);
  const bool isFlipped = map.swizzle == TensorMap::Swizzle::Bytes128Atom32Flip8;
  const uint32_t bytes = isFlipped ? 8 : pieceBytes;
  for (uint32_t place = 0, address = first; place != rowBytes;
       place += bytes, address += isFlipped ? 8 : 16)
    piece(place, swizzleAddress(map.swizzle, address), bytes);
}

void TensorBox::scatter(const uint8_t *row, uint32_t index, uint32_t base,
                        uint8_t *bytes, uint8_t *written) const {
  if (pieceBytes != 16)
    std::memset(written + base + index * sharedRowBytes, 0, sharedRowBytes);
  forPieces(index, base, [&](uint32_t place, uint32_t address, uint32_t size) {
    std::memcpy(bytes + address, row + place, size);
    std::memset(written + address, 0xFF, size);
  });
}

void TensorBox::gather(uint8_t *row, uint8_t *rowWritten, uint32_t index,
                       uint32_t base, const uint8_t *bytes,
                       const uint8_t *written) const {
  forPieces(index, base, [&](uint32_t place, uint32_t address, uint32_t size) {
    std::memcpy(row + place, bytes + address, size);
    std::memcpy(rowWritten + place, written + address, size);
  });
}

uint32_t TensorBox::getSharedAddress(uint32_t index, uint32_t place,
                                     uint32_t base) const {
  uint32_t result = 0;
  forPieces(index, base, [&](uint32_t first, uint32_t address, uint32_t size) {
    if (place >= first && place - first < size)
      result = address + (place - first);
  });
  return result;
}

} // namespace tile::emulator
