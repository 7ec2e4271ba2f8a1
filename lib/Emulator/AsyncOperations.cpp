//===- AsyncOperations.cpp - Copies under way in a block ------------------===//

#include "AsyncOperations.h"

#include "MemoryAccess.h"

#include <algorithm>

namespace tile::emulator {

AsyncOperations::WarpState &AsyncOperations::getState(Warp &warp) {
  return warps[warp.getIndex()];
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

void AsyncOperations::begin(Warp &warp, const Instruction &instruction,
                            uint32_t mask, const uint32_t *offsets,
                            uint32_t bytes, SharedMemory::Pending write) {
  WarpState &state = getState(warp);
  WarpCopy &copy = state.copies.emplace_back();
  copy.instruction = &instruction;
  copy.lanes = mask;
  copy.bytes = bytes;
  copy.group = state.committed[__builtin_ctz(mask)];
  copy.number = state.begun++;
  copy.write = write;
  std::copy_n(offsets, kLanes, copy.offsets);
}

void AsyncOperations::commitGroup(Warp &warp, uint32_t mask) {
  WarpState &state = getState(warp);
  forLanes(mask, [&](unsigned lane) { ++state.committed[lane]; });
}

void AsyncOperations::waitGroup(Warp &warp, uint32_t mask, uint32_t count) {
  WarpState &state = getState(warp);
  SharedMemory &shared = warp.getBlock().getShared();
  for (WarpCopy &copy : state.copies) {
    uint32_t done = 0;
    forLanes(copy.lanes & mask, [&](unsigned lane) {
      // Groups before this one are complete.
      uint32_t end =
          state.committed[lane] > count ? state.committed[lane] - count : 0;
      done |= uint32_t(copy.group < end) << lane;
    });
    if (!done)
      continue;
    if (done == copy.lanes) {
      shared.complete(copy.write, warp.getIndex());
    } else {
      forLanes(done, [&](unsigned lane) {
        shared.completePart(copy.write, warp.getIndex(), copy.offsets[lane],
                            copy.bytes);
      });
    }
    copy.lanes &= ~done;
  }
  while (!state.copies.empty() && !state.copies.front().lanes)
    state.copies.pop_front();
}

void AsyncOperations::arriveWhenDone(Warp &warp, const Instruction &instruction,
                                     uint32_t mask, uint32_t mbarrier) {
  arrivals.push_back(
      {&instruction, &warp, mask, mbarrier, getState(warp).begun});
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

void AsyncOperations::begin(BulkOperation operation) {
  if (!operation.usesMbarrier)
    operation.group = getState(*operation.warp).committedBulk[operation.lane];
  bulk.push_back(std::move(operation));
}

void AsyncOperations::commitBulkGroup(Warp &warp, uint32_t mask) {
  WarpState &state = getState(warp);
  forLanes(mask, [&](unsigned lane) { ++state.committedBulk[lane]; });
}

bool AsyncOperations::write(BulkOperation &operation) {
  Warp &warp = *operation.warp;
  GlobalAccess &global = warp.getBlock().getGlobal();
  for (const AsyncGlobalWrite &range : operation.writes) {
    // It was there when the copy began, and stays as long as the kernel runs.
    uint8_t *memory = global.resolve(range.address, range.bytes.size(), 1,
                                     /*isStore=*/true);
    if (!memory)
      continue;
    if (range.reduction) {
      uint8_t old[16];
      for (size_t i = 0; i < range.bytes.size(); i += range.elementBytes)
        range.reduction(memory + i, range.bytes.data() + i, nullptr, old,
                        AtomicPlace::Global);
    } else if (range.byteMask == 0xFFFF) {
      if (!noteGlobalStore(*operation.instruction, warp, operation.lane,
                           range.address, range.bytes.data(),
                           range.bytes.size()))
        return false;
      std::copy(range.bytes.begin(), range.bytes.end(), memory);
    } else {
      for (size_t i = 0; i != range.bytes.size(); ++i) {
        if (!(range.byteMask >> (i % 16) & 1))
          continue;
        if (!noteGlobalStore(*operation.instruction, warp, operation.lane,
                             range.address + i, &range.bytes[i], 1))
          return false;
        memory[i] = range.bytes[i];
      }
    }
    if (isWatched(warp))
      watch(*operation.instruction, warp, operation.lane, range.address,
            range.bytes.size(), "asynchronous store", memory);
  }
  operation.writes.clear();
  warp.getBlock().noteProgress();
  return true;
}

void AsyncOperations::waitBulkGroup(Warp &warp, uint32_t mask, uint32_t count,
                                    bool readsOnly) {
  WarpState &state = getState(warp);
  SharedMemory &shared = warp.getBlock().getShared();
  for (BulkOperation &operation : bulk) {
    if (operation.usesMbarrier || operation.warp != &warp ||
        !(mask >> operation.lane & 1))
      continue;
    uint32_t committed = state.committedBulk[operation.lane];
    if (operation.group >= (committed > count ? committed - count : 0))
      continue;
    if (operation.read != SharedMemory::kNotPending) {
      shared.complete(operation.read, warp.getIndex());
      operation.read = SharedMemory::kNotPending;
    }
    if (readsOnly)
      continue;
    if (!write(operation))
      return;
    operation.warp = nullptr;
  }
  bulk.erase(std::remove_if(bulk.begin(), bulk.end(),
                            [](const BulkOperation &operation) {
                              return !operation.warp;
                            }),
             bulk.end());
}

bool AsyncOperations::completeOn(Block &block, uint32_t offset) {
  SharedMemory &shared = block.getShared();
  MbarrierTable &table = block.getState<MbarrierTable>();
  bool hasBulk = false, hasArrivals = false;
  for (BulkOperation &operation : bulk) {
    if (!operation.usesMbarrier || operation.mbarrier != offset)
      continue;
    hasBulk = true;
    MbarrierUser user = {*operation.instruction, *operation.warp,
                         operation.lane};
    Mbarrier *mbarrier = table.get(user, offset);
    if (!mbarrier)
      return false;
    if (operation.write != SharedMemory::kNotPending)
      shared.complete(operation.write, mbarrier->released);
    if (operation.read != SharedMemory::kNotPending)
      shared.complete(operation.read, mbarrier->released);
    if (!table.addTransactions(user, *mbarrier,
                               -int64_t(operation.transactionBytes)))
      return false;
    operation.warp = nullptr;
  }
  for (Arrival &arrival : arrivals) {
    if (arrival.mbarrier != offset)
      continue;
    hasArrivals = true;
    MbarrierUser user = {*arrival.instruction, *arrival.warp,
                         unsigned(__builtin_ctz(arrival.lanes))};
    Mbarrier *mbarrier = table.get(user, offset);
    if (!mbarrier)
      return false;
    for (WarpCopy &copy : getState(*arrival.warp).copies) {
      uint32_t done = copy.lanes & arrival.lanes;
      if (copy.number >= arrival.end || !done)
        continue;
      if (done == copy.lanes)
        shared.complete(copy.write, mbarrier->released);
      else
        forLanes(done, [&](unsigned lane) {
          shared.completePart(copy.write, mbarrier->released,
                              copy.offsets[lane], copy.bytes);
        });
      copy.lanes &= ~done;
    }
    auto &copies = getState(*arrival.warp).copies;
    while (!copies.empty() && !copies.front().lanes)
      copies.pop_front();
    for (uint32_t lanes = arrival.lanes; lanes; lanes &= lanes - 1) {
      user.lane = static_cast<unsigned>(__builtin_ctz(lanes));
      if (!table.arrive(user, *mbarrier, 1, /*drops=*/false,
                        /*mayComplete=*/true))
        return false;
    }
    arrival.lanes = 0;
  }
  if (hasBulk)
    bulk.erase(std::remove_if(bulk.begin(), bulk.end(),
                              [](const BulkOperation &operation) {
                                return !operation.warp;
                              }),
               bulk.end());
  if (hasArrivals)
    arrivals.erase(
        std::remove_if(arrivals.begin(), arrivals.end(),
                       [](const Arrival &arrival) { return !arrival.lanes; }),
        arrivals.end());
  return tensorPipeline.completeOn(block, offset);
}

void AsyncOperations::finish(Block &) {
  for (BulkOperation &operation : bulk) {
    if (!operation.usesMbarrier &&
        operation.read != SharedMemory::kNotPending) {
      operation.warp->fault(
          *operation.instruction, operation.lane, Check::AsyncRace,
          "the block ends while the copy may still read its shared memory: "
          "nobody has waited for it with cp.async.bulk.wait_group");
      return;
    }
    if (!write(operation))
      return;
  }
  bulk.clear();
}

} // namespace tile::emulator
