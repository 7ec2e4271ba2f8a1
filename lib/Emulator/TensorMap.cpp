//===- TensorMap.cpp - Tensors as bulk copies see them --------------------===//

#include "tile/Emulator/TensorMap.h"

#include "TensorMapAccess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

#include <algorithm>

namespace tile::emulator {

using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

struct ElementRow {
  llvm::StringLiteral name;
  unsigned bits;
  bool isFloat;
};

/// By `TensorMap::Element`.
constexpr ElementRow kElements[] = {
    {"u8", 8, false},        {"u16", 16, false},  {"u32", 32, false},
    {"s32", 32, false},      {"u64", 64, false},  {"s64", 64, false},
    {"f16", 16, true},       {"f32", 32, true},   {"f32.ftz", 32, true},
    {"f64", 64, true},       {"bf16", 16, true},  {"tf32", 32, true},
    {"tf32.ftz", 32, true},  {"b4x16", 4, false}, {"b4x16_p64", 4, false},
    {"b6x16_p32", 6, false},
};

struct SwizzleRow {
  llvm::StringLiteral name;
  unsigned span;
};

/// By `TensorMap::Swizzle`.
constexpr SwizzleRow kSwizzles[] = {
    {"none", 0},         {"32", 32},          {"64", 64},
    {"128", 128},        {"128-atom32", 128}, {"128-atom32-flip8", 128},
    {"128-atom64", 128},
};

template <typename Enum, typename Row, size_t kCount>
std::optional<Enum> findRow(const Row (&rows)[kCount], StringRef name) {
  for (size_t i = 0; i != kCount; ++i)
    if (rows[i].name == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

} // namespace

StringRef getTensorElementName(TensorMap::Element element) {
  return kElements[static_cast<size_t>(element)].name;
}

std::optional<TensorMap::Element> findTensorElement(StringRef name) {
  return findRow<TensorMap::Element>(kElements, name);
}

StringRef getTensorSwizzleName(TensorMap::Swizzle swizzle) {
  return kSwizzles[static_cast<size_t>(swizzle)].name;
}

std::optional<TensorMap::Swizzle> findTensorSwizzle(StringRef name) {
  return findRow<TensorMap::Swizzle>(kSwizzles, name);
}

unsigned getTensorSwizzleSpan(TensorMap::Swizzle swizzle) {
  return kSwizzles[static_cast<size_t>(swizzle)].span;
}

unsigned TensorMap::getElementBits() const {
  return kElements[static_cast<size_t>(element)].bits;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static Error invalid(const Twine &field, const Twine &expected,
                     const Twine &found) {
  return createStringError(field + " expects " + expected + ", but got " +
                           found);
}

static std::string getElementOf(StringRef field, unsigned i) {
  return (field + "[" + Twine(i) + "]").str();
}

Error TensorMap::validate() const {
  if (static_cast<size_t>(element) >= std::size(kElements))
    return invalid("element", "a type from 0 to 15", Twine(unsigned(element)));
  if (rank < 1 || rank > kMaxRank)
    return invalid("rank", "1 to 5 dimensions", Twine(rank));
  if (interleave > Interleave::Bytes32)
    return invalid("interleave", "a layout from 0 to 2",
                   Twine(unsigned(interleave)));
  if (static_cast<size_t>(swizzle) >= std::size(kSwizzles))
    return invalid("swizzle", "a mode from 0 to 6", Twine(unsigned(swizzle)));
  if (l2Promotion > L2Promotion::Bytes256)
    return invalid("l2Promotion", "a size from 0 to 3",
                   Twine(unsigned(l2Promotion)));
  if (fill > Fill::NaN)
    return invalid("fill", "0 or 1", Twine(unsigned(fill)));
  const bool isInterleaved = interleave != Interleave::None;
  if (isInterleaved && rank < 3)
    return invalid("rank", "at least 3 dimensions of an interleaved layout",
                   Twine(rank));

  const ElementRow &row = kElements[static_cast<size_t>(element)];
  const std::string type = ("." + row.name).str();
  const bool isPadded =
      element == Element::B4x16P64 || element == Element::B6x16P32;
  const uint64_t alignment =
      isPadded || interleave == Interleave::Bytes32 ? 32 : 16;
  if (address % alignment)
    return invalid("address", "a multiple of " + Twine(alignment),
                   "0x" + llvm::utohexstr(address, /*LowerCase=*/true));
  for (unsigned i = 0; i != rank; ++i)
    if (extents[i] < 1 || extents[i] > uint64_t(1) << 32)
      return invalid(getElementOf("extents", i), "1 to 2^32 elements",
                     Twine(extents[i]));
  const unsigned step = isPadded ? 128 : element == Element::B4x16 ? 2 : 1;
  if (extents[0] % step)
    return invalid("extents[0]", "a multiple of " + Twine(step) + " of " + type,
                   Twine(extents[0]));
  for (unsigned i = 0; i + 1 < rank; ++i)
    if (strides[i] % alignment || strides[i] >= uint64_t(1) << 40)
      return invalid(getElementOf("strides", i),
                     "a multiple of " + Twine(alignment) +
                         " bytes that is less than 2^40",
                     Twine(strides[i]));
  for (unsigned i = 0; i != rank; ++i)
    if (box[i] < 1 || box[i] > 256)
      return invalid(getElementOf("box", i), "1 to 256 elements",
                     Twine(box[i]));
  for (unsigned i = 0; i != rank; ++i)
    if (elementStrides[i] < 1 || elementStrides[i] > 8)
      return invalid(getElementOf("elementStrides", i), "1 to 8",
                     Twine(elementStrides[i]));
  if (isPadded && box[0] != 128)
    return invalid("box[0]", "128 elements of " + type, Twine(box[0]));
  const uint32_t rowBits = box[0] * row.bits;
  if (!isInterleaved && rowBits % 128)
    return invalid("box[0]", "a multiple of 16 bytes",
                   Twine(box[0]) + " elements of " + type);
  const unsigned span = getTensorSwizzleSpan(swizzle);
  if (!isInterleaved && span && rowBits > span * 8)
    return invalid("box[0]",
                   "at most the " + Twine(span) + " bytes of the swizzle",
                   Twine(box[0]) + " elements of " + type);
  if (interleave == Interleave::Bytes32 && swizzle != Swizzle::Bytes32)
    return invalid("swizzle", "32 with an interleaved layout of 32 bytes",
                   getTensorSwizzleName(swizzle));
  if (isPadded) {
    if (element == Element::B6x16P32 && isInterleaved)
      return invalid("interleave", "none of " + type,
                     Twine(unsigned(interleave)));
    const bool isSupported =
        swizzle == Swizzle::None || swizzle == Swizzle::Bytes128 ||
        swizzle == Swizzle::Bytes128Atom32 ||
        (swizzle == Swizzle::Bytes128Atom64 && element == Element::B6x16P32);
    if (!isSupported)
      return invalid(
          "swizzle",
          element == Element::B6x16P32
              ? Twine("none, 128, 128-atom32 or 128-atom64 of " + Twine(type))
              : Twine("none, 128 or 128-atom32 of " + Twine(type)),
          getTensorSwizzleName(swizzle));
  }
  if (fill == Fill::NaN && !row.isFloat)
    return invalid("fill", "zero of " + type + ", which has no NaN", "NaN");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The object
//===----------------------------------------------------------------------===//

namespace {

/// Offsets of the fields. All numbers are little-endian.
constexpr size_t kMagic = 0, kElement = 8, kRank = 9, kInterleave = 10,
                 kSwizzle = 11, kL2Promotion = 12, kFill = 13, kAddress = 16,
                 kExtents = 24, kStrides = 64, kBox = 96, kElementStrides = 106,
                 kChecksum = 120;
constexpr char kMagicText[] = "TensorM1";

/// FNV-1a of what stands before the checksum.
uint64_t getChecksum(ArrayRef<uint8_t> object) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (uint8_t byte : object.take_front(kChecksum))
    hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

} // namespace

TensorMapObject packTensorMap(const TensorMap &map) {
  using namespace llvm::support;
  TensorMapObject object = {};
  std::copy_n(kMagicText, 8, object.begin() + kMagic);
  object[kElement] = static_cast<uint8_t>(map.element);
  object[kRank] = static_cast<uint8_t>(map.rank);
  object[kInterleave] = static_cast<uint8_t>(map.interleave);
  object[kSwizzle] = static_cast<uint8_t>(map.swizzle);
  object[kL2Promotion] = static_cast<uint8_t>(map.l2Promotion);
  object[kFill] = static_cast<uint8_t>(map.fill);
  endian::write64le(&object[kAddress], map.address);
  for (unsigned i = 0; i != TensorMap::kMaxRank; ++i) {
    endian::write64le(&object[kExtents + 8 * i], map.extents[i]);
    endian::write16le(&object[kBox + 2 * i], static_cast<uint16_t>(map.box[i]));
    object[kElementStrides + i] = static_cast<uint8_t>(map.elementStrides[i]);
  }
  for (unsigned i = 0; i + 1 != TensorMap::kMaxRank; ++i)
    endian::write64le(&object[kStrides + 8 * i], map.strides[i]);
  endian::write64le(&object[kChecksum], getChecksum(object));
  return object;
}

/// The map of an object that is one, not checked otherwise.
static Expected<TensorMap> readObject(ArrayRef<uint8_t> object) {
  using namespace llvm::support;
  if (object.size() != kTensorMapBytes ||
      !std::equal(kMagicText, kMagicText + 8, object.begin()) ||
      endian::read64le(&object[kChecksum]) != getChecksum(object))
    return createStringError("is no tensor map");
  TensorMap map;
  map.element = static_cast<TensorMap::Element>(object[kElement]);
  map.rank = object[kRank];
  map.interleave = static_cast<TensorMap::Interleave>(object[kInterleave]);
  map.swizzle = static_cast<TensorMap::Swizzle>(object[kSwizzle]);
  map.l2Promotion = static_cast<TensorMap::L2Promotion>(object[kL2Promotion]);
  map.fill = static_cast<TensorMap::Fill>(object[kFill]);
  map.address = endian::read64le(&object[kAddress]);
  for (unsigned i = 0; i != TensorMap::kMaxRank; ++i) {
    map.extents[i] = endian::read64le(&object[kExtents + 8 * i]);
    map.box[i] = endian::read16le(&object[kBox + 2 * i]);
    map.elementStrides[i] = object[kElementStrides + i];
  }
  for (unsigned i = 0; i + 1 != TensorMap::kMaxRank; ++i)
    map.strides[i] = endian::read64le(&object[kStrides + 8 * i]);
  return map;
}

Expected<TensorMap> unpackTensorMap(ArrayRef<uint8_t> object) {
  if (llvm::any_of(object, [](uint8_t byte) { return byte != 0; }))
    return readObject(object);
  TensorMap map;
  map.extents = {};
  map.box = {};
  map.elementStrides = {};
  return map;
}

Expected<TensorMapObject> TensorMap::encode() const {
  if (Error error = validate())
    return std::move(error);
  return packTensorMap(*this);
}

Expected<TensorMap> TensorMap::decode(ArrayRef<uint8_t> object) {
  Expected<TensorMap> map = readObject(object);
  if (map)
    if (Error error = map->validate())
      return std::move(error);
  return map;
}

} // namespace tile::emulator
