//===- TensorMemory.h - The tensor memory of a block ------------*- C++ -*-===//
//
// 128 lanes of 512 columns of 32 bits, given out to a block by columns. Beside
// each word stands which of its bits have been written. Who may touch what when
// is SharedMemory's to say, for which these words are more of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORMEMORY_H
#define TILE_LIB_EMULATOR_TENSORMEMORY_H

#include "Machine.h"

#include <bitset>

namespace tile::emulator {

constexpr unsigned kTensorLanes = 128;
constexpr unsigned kTensorColumns = 512;
/// Lanes that one warp may load and store.
constexpr unsigned kQuadrantLanes = 32;

/// The thread that acts on tensor memory.
struct TensorUser {
  const Instruction &instruction;
  Warp &warp;
  unsigned lane;
  llvm::StringRef verb; ///< "tcgen05.ld", for messages.

  /// Ends the launch; false.
  bool fault(Check check, const llvm::Twine &message,
             std::vector<std::string> notes = {}) const;
};

/// An address: the lane in the upper half, the column in the lower.
struct TensorAddress {
  unsigned lane, column;
  TensorAddress(unsigned lane, unsigned column) : lane(lane), column(column) {}
  explicit TensorAddress(uint32_t bits)
      : lane(bits >> 16), column(bits & 0xFFFF) {}
};

class TensorMemory : public Block::State {
public:
  static constexpr unsigned kKey = 3;

  uint32_t &word(unsigned lane, unsigned column) {
    return words[lane * kTensorColumns + column];
  }
  /// Its bits that have been written.
  uint32_t &written(unsigned lane, unsigned column) {
    return writtenBits[lane * kTensorColumns + column];
  }

  /// `tcgen05.alloc`: the first column, or nullopt after a fault.
  std::optional<unsigned> allocate(const TensorUser &user, uint32_t columns);
  /// `tcgen05.dealloc`. False after a fault.
  bool free(const TensorUser &user, uint32_t address, uint32_t columns);
  /// `tcgen05.relinquish_alloc_permit`.
  void relinquish() { hasRelinquished = true; }

  /// Notes an access to `columns` columns of the lanes `mask` from the lane of
  /// `address` on. Several calls with one `pending` are one access. False after
  /// a fault.
  bool note(const TensorUser &user, bool isStore,
            SharedMemory::TensorAccess access, TensorAddress address,
            uint32_t mask, unsigned columns, SharedMemory::Pending &pending);

  /// A fault where columns have not been given back.
  void finish(Block &block) override;

private:
  struct Allocation {
    const Instruction *instruction;
    Warp *warp;
    unsigned first, columns;
  };

  void makeWords(Block &block);

  std::vector<uint32_t> words, writtenBits;
  uint32_t base = 0; ///< In shared memory's addresses.
  std::vector<Allocation> allocations;
  std::bitset<kTensorColumns> allocated;
  unsigned lastColumns = kTensorColumns; ///< Of the last allocation.
  bool hasRelinquished = false;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORMEMORY_H
