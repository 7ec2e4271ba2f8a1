//===- AsyncOperations.h - Copies under way in a block ----------*- C++ -*-===//
//
// The asynchronous operations that a block has begun and not completed: the
// groups of `cp.async`, its arrivals on mbarriers, and bulk copies.
//
// An operation moves its bytes when it begins, but they count as under way
// until its completion is observed, as late as the ISA allows: at the wait for
// its group, or where an mbarrier that it signals is tested. In between, shared
// memory reports whoever touches them. What goes to global memory is kept back
// until then.
//
// Bulk copies are a list of `BulkOperation`s, which say nothing of how the
// bytes were addressed: an operation that reads or writes a box of a tensor
// begins as several ranges (one `SharedMemory::note` continued over all of
// them, one entry of `writes` per row) and completes as any other. The same
// list serves operations of tensor cores that arrive on an mbarrier.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_ASYNCOPERATIONS_H
#define TILE_LIB_EMULATOR_ASYNCOPERATIONS_H

#include "AtomicOperations.h"
#include "Mbarriers.h"
#include "TensorPipeline.h"

#include <deque>

namespace tile::emulator {

/// Bytes that go to global memory when their operation completes.
struct AsyncGlobalWrite {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
  /// Which of each 16 bytes are written (`.cp_mask`).
  uint16_t byteMask = 0xFFFF;
  /// Combines instead of storing, where set: `cp.reduce.async.bulk`.
  AtomicOperation reduction = nullptr;
  unsigned elementBytes = 0;
};

/// One bulk copy of one thread.
struct BulkOperation {
  const Instruction *instruction = nullptr;
  Warp *warp = nullptr;
  unsigned lane = 0;
  /// Completes on an mbarrier, with this many bytes; else in a bulk group.
  bool usesMbarrier = false;
  uint32_t mbarrier = 0;
  uint32_t transactionBytes = 0;
  uint32_t group = 0;
  /// Its accesses to shared memory, while they last.
  SharedMemory::Pending write = SharedMemory::kNotPending;
  SharedMemory::Pending read = SharedMemory::kNotPending;
  std::vector<AsyncGlobalWrite> writes;
};

/// A `cp.async` of one warp.
struct WarpCopy {
  const Instruction *instruction = nullptr;
  uint32_t lanes = 0; ///< Those whose copy is under way.
  uint32_t bytes = 0; ///< Of each lane.
  uint32_t group = 0; ///< Of all lanes.
  uint64_t number = 0;
  SharedMemory::Pending write = SharedMemory::kNotPending;
  uint32_t offsets[kLanes];
};

/// The operations of a block.
class AsyncOperations : public Block::State {
public:
  static constexpr unsigned kKey = 0;

  // --- cp.async
  // ---------------------------------------------------------------

  /// Begins a copy of the lanes `mask`, whose bytes are at `offsets` of shared
  /// memory and noted as `write`.
  void begin(Warp &warp, const Instruction &instruction, uint32_t mask,
             const uint32_t *offsets, uint32_t bytes,
             SharedMemory::Pending write);
  void commitGroup(Warp &warp, uint32_t mask);
  /// Completes all but the newest `count` groups of each lane.
  void waitGroup(Warp &warp, uint32_t mask, uint32_t count);
  /// `cp.async.mbarrier.arrive` of the lanes `mask`.
  void arriveWhenDone(Warp &warp, const Instruction &instruction, uint32_t mask,
                      uint32_t mbarrier);

  // --- Bulk copies
  // ------------------------------------------------------------

  void begin(BulkOperation operation);
  void commitBulkGroup(Warp &warp, uint32_t mask);
  void waitBulkGroup(Warp &warp, uint32_t mask, uint32_t count, bool readsOnly);

  /// What tensor cores do.
  TensorPipeline &getTensorPipeline() { return tensorPipeline; }

  /// Completes what signals the mbarrier at `offset`. False after a fault.
  bool completeOn(Block &block, uint32_t offset);

  /// Completes the rest; a fault where a copy still reads shared memory, which
  /// ends with the block.
  void finish(Block &block) override;

private:
  struct WarpState {
    std::deque<WarpCopy> copies;
    uint32_t committed[kLanes] = {}; ///< Groups so far.
    uint32_t committedBulk[kLanes] = {};
    uint64_t begun = 0; ///< Copies so far.
  };
  struct Arrival {
    const Instruction *instruction;
    Warp *warp;
    uint32_t lanes;
    uint32_t mbarrier;
    uint64_t end; ///< The copies before this number.
  };

  WarpState &getState(Warp &warp);
  bool write(BulkOperation &operation);

  std::map<unsigned, WarpState> warps;
  std::vector<Arrival> arrivals;
  std::vector<BulkOperation> bulk; ///< In the order they began.
  TensorPipeline tensorPipeline;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ASYNCOPERATIONS_H
