//===- TensorMap.h - Tensors as bulk copies see them ------------*- C++ -*-===//
//
// What a tensor map says: where a tensor lies in global memory, which box of it
// one copy moves, and how the box lies in shared memory. A driver encodes it as
// an opaque object of 128 bytes that a kernel takes as a parameter; the
// emulator has an encoding of its own, since the driver's is not published.
//
//   TensorMap map;
//   map.element = TensorMap::Element::F16;
//   map.rank = 2;
//   map.address = *address;
//   map.extents = {columns, rows};
//   map.strides = {2 * columns};
//   map.box = {64, 128};
//   map.swizzle = TensorMap::Swizzle::Bytes128;
//   Expected<TensorMapObject> object = map.encode();
//
//===----------------------------------------------------------------------===//

#ifndef TILE_EMULATOR_TENSORMAP_H
#define TILE_EMULATOR_TENSORMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>

namespace tile::emulator {

/// The object that a kernel gets.
constexpr uint64_t kTensorMapBytes = 128;
/// What its address must be a multiple of.
constexpr uint64_t kTensorMapAlignment = 64;
using TensorMapObject = std::array<uint8_t, kTensorMapBytes>;

/// A tensor of up to five dimensions, innermost first, and a box of it: what
/// the driver's `cuTensorMapEncodeTiled` takes.
struct TensorMap {
  static constexpr unsigned kMaxRank = 5;

  /// In the order of PTX's `tensormap.replace.elemtype`.
  enum class Element : uint8_t {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F32Ftz,
    F64,
    BF16,
    TF32,
    TF32Ftz,
    B4x16,    ///< Values of 4 bits, packed in both memories.
    B4x16P64, ///< The same, but 8 bytes and a gap of 8 in shared memory.
    B6x16P32, ///< Values of 6 bits; 12 bytes and a gap of 4 in shared memory.
  };
  enum class Interleave : uint8_t { None, Bytes16, Bytes32 };
  /// How the 16-byte pieces of a row change places in shared memory.
  enum class Swizzle : uint8_t {
    None,
    Bytes32,
    Bytes64,
    Bytes128,
    Bytes128Atom32,      ///< Pieces of 32 bytes in 128.
    Bytes128Atom32Flip8, ///< And the halves of 16 bytes, in every other row.
    Bytes128Atom64,      ///< Pieces of 64 bytes in 128.
  };
  enum class L2Promotion : uint8_t { None, Bytes64, Bytes128, Bytes256 };
  /// What a load gives for elements outside the tensor.
  enum class Fill : uint8_t { Zero, NaN };

  Element element = Element::U8;
  unsigned rank = 1;
  /// Of the first element, in global memory.
  uint64_t address = 0;
  /// Of the tensor, in elements.
  std::array<uint64_t, kMaxRank> extents = {1, 1, 1, 1, 1};
  /// Bytes from one element to the next along dimension i + 1; those along
  /// dimension 0 lie side by side.
  std::array<uint64_t, kMaxRank - 1> strides = {};
  /// Of the box, in elements of the tensor.
  std::array<uint32_t, kMaxRank> box = {1, 1, 1, 1, 1};
  /// Every how manieth element of the box is copied; that of dimension 0 has no
  /// effect.
  std::array<uint32_t, kMaxRank> elementStrides = {1, 1, 1, 1, 1};
  Interleave interleave = Interleave::None;
  Swizzle swizzle = Swizzle::None;
  L2Promotion l2Promotion = L2Promotion::None; ///< Without effect here.
  Fill fill = Fill::Zero;

  /// Bits of one element in global memory.
  unsigned getElementBits() const;
  /// Whether elements are smaller than a byte.
  bool isPacked() const { return getElementBits() < 8; }

  /// Checks the rules of the driver. The error names the field: "box[0] expects
  /// a multiple of 16 bytes, but got 24".
  llvm::Error validate() const;
  /// The object of a map that is valid, or the error of `validate`.
  llvm::Expected<TensorMapObject> encode() const;
  /// The valid map of an object. The error says what is wrong with the bytes:
  /// "is no tensor map" or the field that is not valid.
  static llvm::Expected<TensorMap> decode(llvm::ArrayRef<uint8_t> object);
};

/// PTX's name of an element type, without the dot: "b4x16_p64"; and the type of
/// that name, or nullopt.
llvm::StringRef getTensorElementName(TensorMap::Element element);
std::optional<TensorMap::Element> findTensorElement(llvm::StringRef name);

/// "none", "32", "64", "128", "128-atom32", "128-atom32-flip8", "128-atom64";
/// and the swizzle of that name, or nullopt.
llvm::StringRef getTensorSwizzleName(TensorMap::Swizzle swizzle);
std::optional<TensorMap::Swizzle> findTensorSwizzle(llvm::StringRef name);
/// Bytes within which a swizzle moves data, 0 for none.
unsigned getTensorSwizzleSpan(TensorMap::Swizzle swizzle);

} // namespace tile::emulator

#endif // TILE_EMULATOR_TENSORMAP_H
