//===- TensorBoxes.h - A box of a tensor, row by row ------------*- C++ -*-===//
//
// Where the bytes of one box are: in global memory by the tensor's strides, in
// shared memory row by row, the innermost dimension side by side, with gaps and
// swizzle. Knows nothing of instructions.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORBOXES_H
#define TILE_LIB_EMULATOR_TENSORBOXES_H

#include "tile/Emulator/TensorMap.h"

#include <string>

namespace tile::emulator {

/// The shared address to which a swizzle moves the byte at `address`.
uint32_t swizzleAddress(TensorMap::Swizzle swizzle, uint32_t address);

/// One row of a box in global memory.
struct TensorRow {
  /// The bytes of the row that are within the tensor, counted from its first
  /// one without gaps; none where both are equal.
  uint32_t begin = 0, end = 0;
  /// Of the byte `begin` in global memory; the last address where it would be
  /// none at all.
  uint64_t address = 0;
};

/// The box of a map at some coordinates.
class TensorBox {
public:
  /// Requires: a valid map. `coordinates` has one number per dimension; those
  /// of four rows, after the first one, where `isFourRows` (`tile::gather4` and
  /// `tile::scatter4`).
  TensorBox(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates,
            bool isFourRows);

  /// What of the box is not modelled or not allowed, in words, or empty:
  /// "expects …, but got …".
  std::string findProblem(bool isStore) const;

  uint64_t getNumRows() const { return numRows; }
  /// Bytes of a row, without gaps and with them. Both fit a row of 2048 bytes.
  uint32_t getRowBytes() const { return rowBytes; }
  uint32_t getSharedRowBytes() const { return sharedRowBytes; }
  static constexpr uint32_t kLargestRow = 2048;

  /// What an mbarrier counts: the whole box without gaps.
  uint64_t getTransactionBytes() const { return rowBytes * numRows; }
  /// What the box takes of shared memory.
  uint64_t getSharedBytes() const { return sharedRowBytes * numRows; }

  TensorRow getRow(uint32_t row) const;

  /// Writes what elements outside the tensor have to a row.
  void fill(uint8_t *row) const;
  /// Copies a row without gaps to shared memory, where the box begins at
  /// address `base` of the memory at `bytes`. `written` are its written bits;
  /// gaps become unwritten.
  void scatter(const uint8_t *row, uint32_t index, uint32_t base,
               uint8_t *bytes, uint8_t *written) const;
  /// The way back, of the bytes and of the written bits.
  void gather(uint8_t *row, uint8_t *rowWritten, uint32_t index, uint32_t base,
              const uint8_t *bytes, const uint8_t *written) const;
  /// The shared address of byte `place` of a row without gaps.
  uint32_t getSharedAddress(uint32_t index, uint32_t place,
                            uint32_t base) const;

private:
  /// Calls `piece(place, address, bytes)` for the pieces of a row that stay
  /// together.
  template <typename Function>
  void forPieces(uint32_t index, uint32_t base, Function piece) const;

  const TensorMap &map;
  llvm::ArrayRef<int32_t> coordinates;
  bool isFourRows;
  uint64_t numRows = 1;                 ///< At most 256^4.
  uint32_t counts[TensorMap::kMaxRank]; ///< Elements copied.
  uint32_t rowBytes, sharedRowBytes;
  uint32_t pieceBytes; ///< Of 16 bytes of shared memory, those before the gap.
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORBOXES_H
