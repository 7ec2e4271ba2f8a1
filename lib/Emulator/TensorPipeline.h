//===- TensorPipeline.h - What tensor cores do meanwhile --------*- C++ -*-===//
//
// The operations of `tcgen05` whose end an mbarrier tells: mma and cp. They
// move their bytes when they are issued, but count as under way until a
// `tcgen05.commit` of the thread that issued them is observed: as late as the
// ISA allows.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORPIPELINE_H
#define TILE_LIB_EMULATOR_TENSORPIPELINE_H

#include "Machine.h"

#include <deque>
#include <map>

namespace tile::emulator {

class TensorPipeline {
public:
  /// The thread has issued an operation with these accesses.
  void begin(Warp &warp, unsigned lane,
             llvm::ArrayRef<SharedMemory::Pending> accesses);
  /// What the thread has issued so far arrives on `mbarrier` once it is done.
  void commit(Warp &warp, unsigned lane, const Instruction &instruction,
              uint32_t mbarrier);
  /// Completes what signals the mbarrier at `offset`. False after a fault.
  bool completeOn(Block &block, uint32_t offset);

private:
  struct Commit {
    const Instruction *instruction = nullptr;
    uint32_t mbarrier = 0;
    uint64_t end = 0;   ///< The accesses before this number.
    uint32_t clock = 0; ///< Of `Thread::done`, once they are complete.
    /// What the thread had done and known: its operations began after that.
    SyncObject before;
  };
  struct Thread {
    Warp *warp = nullptr;
    std::deque<SharedMemory::Pending> accesses;
    uint64_t begun = 0; ///< Accesses so far.
    std::deque<Commit> commits;
    /// What is complete; accesses complete in the order of their issue.
    SyncObject done;
  };

  void completeUntil(SharedMemory &shared, Thread &thread, uint64_t end);

  std::map<std::pair<unsigned, unsigned>, Thread> threads; ///< Warp and lane.
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORPIPELINE_H
