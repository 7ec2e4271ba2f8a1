//===- TensorCopies.h - Copies by tensor maps -------------------*- C++ -*-===//
//
// Which tensor map describes the tiles of an array that go to a slot of shared
// memory, and which boxes of it make up a tile. The pass that decides for
// tensor maps and distribution both ask here, so that what one decides the
// other finds.
//
// A box lies in shared memory as the hardware puts it: rows of elements side by
// side, one after the other, and then the 16-byte pieces of each row exchanged
// by a swizzle. That is a linear map of the element's coordinates, as is the
// placement that the multiply dictates, so that the two are compared column by
// column. What is left over, panels and rows beyond 256, are further boxes.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_TENSORCOPIES_H
#define TILE_TRANSFORMS_TENSORCOPIES_H

#include "mlir/IR/Value.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <variant>

namespace tile {

/// How tiles are copied by a tensor map.
struct TensorCopyPlan {
  llvm::StringLiteral type = "u8"; ///< As in `TensorMapParameter`.
  unsigned swizzle = 0;            ///< 0, 32, 64 or 128 bytes.
  /// Dimensions of the array as the map has them, outermost first.
  llvm::SmallVector<unsigned> dims;
  llvm::SmallVector<unsigned> box; ///< Elements of `type` along each of `dims`.
  /// Elements of `type` in one of the array.
  unsigned valuesPerElement = 1;
  /// A box of the tile.
  struct Part {
    /// Its first element, by dimension of the array, in elements of that.
    llvm::SmallVector<int64_t> begin;
    uint32_t offset = 0; ///< Bytes from the slot's first to where it begins.
  };
  llvm::SmallVector<Part> parts;
  int64_t bytes = 0; ///< That all parts bring.

  /// Whether both are copied by one tensor map, if they are of one array.
  bool hasMapOf(const TensorCopyPlan &other) const {
    return type == other.type && swizzle == other.swizzle &&
           dims == other.dims && box == other.box;
  }
};

/// Plans the copies of tiles of `source` to slots of `buffer`; the text says
/// why there is no plan.
std::variant<TensorCopyPlan, std::string> planTensorCopy(mlir::Value source,
                                                         BufferType buffer);

} // namespace tile

#endif // TILE_TRANSFORMS_TENSORCOPIES_H
