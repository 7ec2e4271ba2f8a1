//===- Tensor.h - Values of the reference device ----------------*- C++ -*-===//
//
// What the interpreter computes with: tiles and scalars of every element type,
// held as codes (bit patterns) and decoded only where an operation asks for a
// value. Moving data therefore never changes a bit, NaN payloads included.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_REFERENCE_TENSOR_H
#define TILE_REFERENCE_TENSOR_H

#include "mlir/IR/Types.h"
#include "tile/Formats/ElementFormat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>

namespace tile::reference {

/// An element type: how wide a code is, how it is stored, what it means.
struct Element {
  enum class Kind : uint8_t {
    Integer, ///< iN of up to 64 bits, and index with 64
    Float,   ///< one of the formats, or f64
    Pair,    ///< !tile.f4E2M1FNx2: bits without a value
  };

  Kind kind = Kind::Integer;
  /// Bits of a code; the rest of its storage is zero.
  unsigned bits = 64;
  /// Bytes that a code takes in a tensor, and in memory: 1, 2, 4 or 8.
  unsigned bytes = 8;
  /// The format of a float; nullopt stands for f64.
  std::optional<ElementFormat> format;

  /// Describes `type`, or returns nullopt if kernels cannot compute with it.
  static std::optional<Element> get(mlir::Type type);

  bool isInteger() const { return kind == Kind::Integer; }
  bool isFloat() const { return kind == Kind::Float; }

  /// All bits of a code.
  uint64_t getMask() const { return ~uint64_t(0) >> (64 - bits); }
  /// The value of an integer code, sign-extended.
  int64_t decodeSigned(uint64_t code) const {
    return static_cast<int64_t>(code << (64 - bits)) >> (64 - bits);
  }
  /// The value of a float code; exact.
  double decode(uint64_t code) const;
  /// The code of the float nearest to `value`, ties to even, by the rules of
  /// `tile::encode`. Requires: not f8E8M0FNU.
  uint64_t encode(double value) const;
};

/// A tile, or, with rank 0, a scalar. Copies share their elements, so a tensor
/// is filled before it is copied and never written afterwards.
class Tensor {
public:
  /// The scalar i64 0.
  Tensor() = default;
  /// A tensor of zero codes.
  Tensor(Element element, llvm::ArrayRef<int64_t> shape);
  static Tensor getScalar(Element element, uint64_t code);

  const Element &getElement() const { return element; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  /// Number of elements; they are in row-major order.
  int64_t size() const { return count; }

  uint64_t getCode(int64_t i) const;
  double getFloat(int64_t i) const { return element.decode(getCode(i)); }
  int64_t getSigned(int64_t i) const {
    return element.decodeSigned(getCode(i));
  }
  /// Requires: nothing but this tensor shares the elements, and `code` has no
  /// bits outside the element's mask.
  void setCode(int64_t i, uint64_t code);

  /// The elements' bytes, `size() * element.bytes` of them, little-endian.
  const uint8_t *data() const {
    return heap ? heap.get() : reinterpret_cast<const uint8_t *>(&local);
  }
  /// As `data`. Requires: nothing but this tensor shares the elements.
  uint8_t *mutableData() {
    assert((!heap || heap.use_count() == 1) && "elements are shared");
    return heap ? heap.get() : reinterpret_cast<uint8_t *>(&local);
  }

  /// The same elements in another shape of as many elements.
  Tensor getReshaped(llvm::ArrayRef<int64_t> newShape) const;

private:
  Element element;
  llvm::SmallVector<int64_t, 4> shape;
  int64_t count = 1;
  std::shared_ptr<uint8_t[]> heap; ///< Null if the elements fit in `local`.
  uint64_t local = 0;
};

/// The distance, in elements, between neighbours along each dimension of a
/// row-major array.
llvm::SmallVector<int64_t, 4> getRowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace tile::reference

#endif // TILE_REFERENCE_TENSOR_H
