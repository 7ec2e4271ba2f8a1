//===- SchedulerBarriers.cpp - Instructions of several lanes --------------===//

#include "BarrierOperation.h"
#include "Scheduler.h"
#include "Trace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile::emulator;
using llvm::Twine;

void WarpScheduler::separate(Split &split, uint32_t active) {
  if (active == split.mask)
    return;
  // Both parts meet again where the whole would have.
  addSplit(split.mask & ~active, split.position + 1, split.frame, split.record);
  split.mask = active;
}

uint32_t WarpScheduler::gather(Split &split, uint32_t required) {
  uint32_t lanes = split.mask;
  for (const std::unique_ptr<Split> &other : warp.splits)
    if ((other->mask & required) && other->wait == Wait::Collective &&
        other->position == split.position && other->frame == split.frame)
      lanes |= other->mask;
  if ((required & ~lanes) == 0)
    return lanes;
  split.wait = Wait::Collective;
  split.required = required;
  return 0;
}

void WarpScheduler::pass(Split &split, uint32_t executed) {
  uint32_t position = split.position;
  ++split.position;
  for (const std::unique_ptr<Split> &other : warp.splits) {
    if (other.get() == &split || !(other->mask & executed) ||
        other->wait != Wait::Collective || other->position != position ||
        other->frame != split.frame)
      continue;
    other->wait = Wait::None;
    ++other->position;
    if (other->record != split.record)
      continue;
    split.mask |= other->mask;
    other->mask = 0;
  }
}

bool WarpScheduler::arrive(Split &split, const Instruction &instruction,
                           uint32_t active) {
  const auto &operation =
      *static_cast<const BarrierOperation *>(instruction.data);
  if (active != split.mask)
    separate(split, active);
  uint32_t lanes = split.mask;
  if (operation.aligned) {
    lanes = gather(split, warp.live);
    if (!lanes)
      return false;
  }
  unsigned first = static_cast<unsigned>(__builtin_ctz(lanes));
  Frame &frame = *split.frame;
  Lanes view{frame.registers, frame.written, frame.undefined.data(),
             lanes,           &warp,         &split};
  for (Slot slot : {instruction.a, instruction.b, instruction.c})
    if (slot != kNoSlot &&
        !warp.checkDefined(instruction, view, slot, "a barrier"))
      return false;
  unsigned number = view.read<uint32_t>(instruction.a)[first];
  if (number >= kNumBarriers) {
    warp.fault(instruction, first, Check::IllegalOperand,
               "expects a barrier from 0 to " + Twine(kNumBarriers - 1) +
                   ", but got " + Twine(number));
    return false;
  }
  unsigned expected = 0;
  if (instruction.b != kNoSlot) {
    expected = view.read<uint32_t>(instruction.b)[first];
    unsigned all = block.getNumWarps() * kLanes;
    if (expected == 0 || expected % kLanes || expected > all) {
      warp.fault(instruction, first, Check::IllegalOperand,
                 "expects a multiple of 32 from 32 to " + Twine(all) +
                     " threads at a barrier, but got " + Twine(expected));
      return false;
    }
  }
  BlockBarrier &barrier = block.barriers[number];
  if (barrier.arrived && barrier.expected != expected) {
    auto describe = [](unsigned count) {
      return count ? std::to_string(count) + " threads"
                   : std::string("all threads");
    };
    warp.fault(instruction, first, Check::Synchronization,
               "barrier " + Twine(number) + " is in use for " +
                   describe(barrier.expected) + ", but is now asked for " +
                   describe(expected));
    return false;
  }
  uint32_t before = barrier.lanes[warp.index];
  if (before & lanes) {
    warp.fault(instruction, first, Check::Synchronization,
               "lanes " + formatLanes(before & lanes) + " come to barrier " +
                   Twine(number) + " a second time before it is complete");
    return false;
  }
  barrier.expected = expected;
  barrier.arrived += operation.aligned
                         ? kLanes
                         : static_cast<unsigned>(__builtin_popcount(lanes));
  barrier.lanes[warp.index] |= operation.aligned ? kAllLanes : lanes;
  if (expected && barrier.arrived > expected) {
    warp.fault(instruction, first, Check::Synchronization,
               "barrier " + Twine(number) + " is for " + Twine(expected) +
                   " threads, but " + Twine(barrier.arrived) + " come");
    return false;
  }
  if (operation.kind >= BarrierOperation::Popc) {
    barrier.kind = operation.kind;
    barrier.count += static_cast<unsigned>(
        __builtin_popcount(view.mask(instruction.c) & lanes));
    barrier.voters += static_cast<unsigned>(__builtin_popcount(lanes));
  }
  block.shared.release(warp.index, barrier.clock);
  block.noteProgress();
  if (operation.kind == BarrierOperation::Arrive) {
    pass(split, lanes);
    checkBarriers(block);
    return true;
  }
  for (const std::unique_ptr<Split> &other : warp.splits)
    if (other.get() == &split ||
        (operation.aligned && other->mask && other->wait == Wait::Collective &&
         other->position == split.position && other->frame == split.frame)) {
      other->wait = Wait::Barrier;
      other->barrier = number;
    }
  checkBarriers(block);
  return split.wait == Wait::None;
}

void WarpScheduler::checkBarriers(Block &block) {
  for (unsigned number = 0; number != kNumBarriers; ++number) {
    BlockBarrier &barrier = block.barriers[number];
    if (!barrier.arrived)
      continue;
    if (barrier.expected) {
      if (barrier.arrived < barrier.expected)
        continue;
    } else if (llvm::any_of(block.warps, [&](const auto &warp) {
                 return warp->live & ~barrier.lanes[warp->index];
               })) {
      continue;
    }
    for (const std::unique_ptr<Warp> &warp : block.warps) {
      bool waited = false;
      for (const std::unique_ptr<Split> &split : warp->splits) {
        if (!split->mask || split->wait != Wait::Barrier ||
            split->barrier != number)
          continue;
        waited = true;
        const Instruction &instruction =
            split->frame->code->code[split->position];
        const auto &operation =
            *static_cast<const BarrierOperation *>(instruction.data);
        Frame &frame = *split->frame;
        Lanes lanes{frame.registers, frame.written, frame.undefined.data(),
                    split->mask,     warp.get(),    split.get()};
        if (operation.kind == BarrierOperation::Popc) {
          uint32_t counts[kLanes];
          llvm::fill(counts, barrier.count);
          store(lanes, instruction.d, counts);
          define(lanes, instruction.d);
        } else if (operation.kind == BarrierOperation::And ||
                   operation.kind == BarrierOperation::Or) {
          bool value = operation.kind == BarrierOperation::And
                           ? barrier.count == barrier.voters
                           : barrier.count != 0;
          storePredicate(lanes, instruction.d, value ? kAllLanes : 0, 0);
        }
        split->wait = Wait::None;
        ++split->position;
      }
      if (waited)
        block.shared.acquire(warp->index, barrier.clock);
    }
    BlockBarrier fresh;
    fresh.lanes.assign(block.warps.size(), 0);
    barrier = std::move(fresh);
  }
}
