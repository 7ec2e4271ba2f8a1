//===- TensorPipeline.cpp - What tensor cores do meanwhile ----------------===//

#include "TensorPipeline.h"

#include "Mbarriers.h"

namespace tile::emulator {

void TensorPipeline::begin(Warp &warp, unsigned lane,
                           llvm::ArrayRef<SharedMemory::Pending> accesses) {
  Thread &thread = threads[{warp.getIndex(), lane}];
  thread.warp = &warp;
  thread.accesses.insert(thread.accesses.end(), accesses.begin(),
                         accesses.end());
  thread.begun += accesses.size();
}

void TensorPipeline::commit(Warp &warp, unsigned lane,
                            const Instruction &instruction, uint32_t mbarrier) {
  Thread &thread = threads[{warp.getIndex(), lane}];
  thread.warp = &warp;
  Commit &commit = thread.commits.emplace_back();
  commit.instruction = &instruction;
  commit.mbarrier = mbarrier;
  commit.end = thread.begun;
  SharedMemory &shared = warp.getBlock().getShared();
  shared.fenceBeforeSync(warp.getIndex());
  shared.release(warp.getIndex(), commit.before);
}

void TensorPipeline::completeUntil(SharedMemory &shared, Thread &thread,
                                   uint64_t end) {
  while (thread.begun - thread.accesses.size() < end) {
    shared.complete(thread.accesses.front(), thread.done);
    thread.accesses.pop_front();
  }
}

bool TensorPipeline::completeOn(Block &block, uint32_t offset) {
  SharedMemory &shared = block.getShared();
  MbarrierTable &table = block.getState<MbarrierTable>();
  for (auto &[key, thread] : threads) {
    auto last =
        llvm::find_if(llvm::reverse(thread.commits), [&](const Commit &commit) {
          return commit.mbarrier == offset;
        }).base();
    // Commits on other mbarriers before these are over as well, though nobody
    // has looked yet.
    for (auto commit = thread.commits.begin(); commit != last; ++commit) {
      completeUntil(shared, thread, commit->end);
      if (thread.done.component != ~uint32_t(0) && !commit->clock)
        commit->clock = thread.done.clock.getKnown(thread.done.component);
    }
    for (auto commit = thread.commits.begin(); commit != last; ++commit) {
      if (commit->mbarrier != offset)
        continue;
      MbarrierUser user = {*commit->instruction, *thread.warp, key.second};
      Mbarrier *mbarrier = table.get(user, offset);
      if (!mbarrier)
        return false;
      mbarrier->released.clock.join(commit->before.clock);
      if (commit->clock) {
        VectorClock told;
        told.known.resize(thread.done.component + 1, 0);
        told.known[thread.done.component] = commit->clock;
        mbarrier->released.clock.join(told);
      }
      if (!table.arrive(user, *mbarrier, 1, /*drops=*/false,
                        /*mayComplete=*/true))
        return false;
    }
    thread.commits.erase(std::remove_if(thread.commits.begin(), last,
                                        [&](const Commit &commit) {
                                          return commit.mbarrier == offset;
                                        }),
                         last);
  }
  return true;
}

} // namespace tile::emulator
