//===- Scheduler.cpp - Runs the splits of one warp ------------------------===//

#include "Scheduler.h"
#include "BarrierOperation.h"
#include "Trace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile::emulator;
using llvm::Twine;

/// Instructions of one split before another one of its warp has a turn.
static constexpr uint64_t kSplitTurn = 1 << 12;
/// Instructions after which lanes that wait for a split are let go, the first
/// time; and after they have often been let go at the same place, as with a
/// lock that one lane has and the others spin for.
static constexpr uint64_t kPatience = 1 << 18, kLeastPatience = 1 << 12;
/// Instructions after its last poll with which a split still counts as polling.
static constexpr uint64_t kPollLoop = 1 << 12;
/// Calls within calls.
static constexpr size_t kDeepestCall = 4096;

//===----------------------------------------------------------------------===//
// Splits and records
//===----------------------------------------------------------------------===//

Split &WarpScheduler::addSplit(uint32_t mask, uint32_t position, Frame *frame,
                               Convergence *record) {
  auto split = std::make_unique<Split>();
  split->mask = mask;
  split->position = position;
  split->frame = frame;
  split->record = record;
  warp.splits.push_back(std::move(split));
  return *warp.splits.back();
}

void WarpScheduler::erase(Convergence *record) {
  auto it = llvm::find_if(
      warp.records, [&](const auto &owned) { return owned.get() == record; });
  warp.records.erase(it);
}

void WarpScheduler::willMeet(Split &split, uint32_t position) {
  if (split.record && split.record->position == position &&
      split.record->frame == split.frame)
    return;
  auto record = std::make_unique<Convergence>();
  record->position = position;
  record->frame = split.frame;
  record->expected = split.mask;
  record->parent = split.record;
  split.record = record.get();
  warp.records.push_back(std::move(record));
}

bool WarpScheduler::meet(Split &split) {
  Convergence *record = split.record;
  record->arrived |= split.mask;
  if (record->arrived != record->expected) {
    split.mask = 0;
    return false;
  }
  split.mask = record->arrived;
  split.record = record->parent;
  split.steps = 0;
  erase(record);
  return true;
}

void WarpScheduler::settle(Convergence *record) {
  if (record->arrived != record->expected)
    return;
  uint32_t lanes = record->arrived;
  if (record->position == kAtReturn) {
    Split &split = addSplit(lanes, 0, record->frame, record);
    endCall(record, lanes, split);
    return;
  }
  if (lanes)
    addSplit(lanes, record->position, record->frame, record->parent);
  erase(record);
}

void WarpScheduler::diverge(Split &split, const Instruction &branch,
                            uint32_t taken) {
  if (branch.reconvergence != split.frame->code->code.size())
    willMeet(split, branch.reconvergence);
  split.mask &= ~taken;
  addSplit(taken, branch.target, split.frame, split.record);
}

bool WarpScheduler::branchByTable(Split &split, const Instruction &branch,
                                  uint32_t active) {
  const auto &targets =
      *static_cast<const std::vector<uint32_t> *>(branch.data);
  Lanes lanes{split.frame->registers,
              split.frame->written,
              split.frame->undefined.data(),
              active,
              &warp,
              &split};
  if (!warp.checkDefined(branch, lanes, branch.a, "the index of a branch"))
    return false;
  const uint32_t *index = lanes.read<uint32_t>(branch.a);
  bool valid = true;
  forLanes(active, [&](unsigned lane) {
    if (index[lane] < targets.size() || !valid)
      return;
    valid = false;
    warp.fault(branch, lane, Check::IllegalOperand,
               "the index of 'brx.idx' expects a value below " +
                   Twine(targets.size()) + ", but got " + Twine(index[lane]));
  });
  if (!valid)
    return false;
  uint32_t rest = active;
  while (rest) {
    unsigned first = static_cast<unsigned>(__builtin_ctz(rest));
    uint32_t group = 0;
    forLanes(rest, [&](unsigned lane) {
      if (targets[index[lane]] == targets[index[first]])
        group |= uint32_t(1) << lane;
    });
    rest &= ~group;
    if (group == split.mask) {
      split.position = targets[index[first]];
      return true;
    }
    Instruction branchTo = branch;
    branchTo.target = targets[index[first]];
    diverge(split, branchTo, group);
  }
  ++split.position; // The lanes whose guard is false.
  return true;
}

void WarpScheduler::releaseWaiting(Split &split) {
  bool waits = false, released = false;
  for (Convergence *record = split.record; record; record = record->parent) {
    if (record->position == kAtReturn || !record->arrived)
      continue;
    waits = true;
    uint64_t &patience =
        warp.patience
            .try_emplace({record->frame->code, record->position}, kPatience)
            .first->second;
    if (split.steps <= patience)
      continue;
    patience = std::max(patience / 8, kLeastPatience);
    released = true;
    uint32_t lanes = record->arrived;
    record->expected &= ~lanes;
    record->arrived = 0;
    addSplit(lanes, record->position, record->frame, record->parent);
  }
  if (!waits || released)
    split.steps = 0;
}

bool WarpScheduler::releaseStuck() {
  // Who waits at a warp-wide instruction expects lanes that cannot come.
  if (llvm::any_of(warp.splits, [](const std::unique_ptr<Split> &split) {
        return split->mask && split->wait == Wait::Collective;
      }))
    return false;
  bool released = false;
  for (const std::unique_ptr<Convergence> &record : warp.records) {
    uint32_t lanes = record->arrived;
    if (!lanes)
      continue;
    released = true;
    record->expected &= ~lanes;
    record->arrived = 0;
    Frame *frame = record->frame;
    if (record->position == kAtReturn)
      addSplit(lanes, returnTo(*frame, lanes), frame->caller, record->parent);
    else
      addSplit(lanes, record->position, frame, record->parent);
  }
  return released;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Copies the active lanes of one parameter or result between two frames.
static void copyOperand(Warp &warp, uint32_t lanes, const Frame &from,
                        const CallOperand &source, Frame &to,
                        const CallOperand &target) {
  if (source.slot != kNoSlot && target.slot != kNoSlot && !source.bytes &&
      !target.bytes) { // A predicate is one mask.
    auto copy = [&](uint32_t fromMask, uint32_t &toMask) {
      toMask = (toMask & ~lanes) | (fromMask & lanes);
    };
    uint32_t value, result;
    std::memcpy(&value, from.registers + source.slot, sizeof(value));
    std::memcpy(&result, to.registers + target.slot, sizeof(result));
    copy(value, result);
    std::memcpy(to.registers + target.slot, &result, sizeof(result));
    copy(from.undefined[source.slot >> 6], to.undefined[target.slot >> 6]);
    return;
  }
  const uint32_t bytes = std::min(source.bytes, target.bytes);
  llvm::SmallVector<uint8_t, 256> value(bytes), written(bytes);
  forLanes(lanes, [&](unsigned lane) {
    if (source.slot == kNoSlot) {
      std::memcpy(value.data(),
                  warp.getLocal(lane) + from.localBase + source.offset, bytes);
      std::memcpy(written.data(),
                  warp.getLocalWritten(lane) + from.localBase + source.offset,
                  bytes);
    } else {
      size_t offset = source.slot + size_t(lane) * source.bytes;
      std::memcpy(value.data(), from.registers + offset, bytes);
      if (from.undefined[source.slot >> 6] >> lane & 1)
        std::memcpy(written.data(), from.written + offset, bytes);
      else
        std::memset(written.data(), 0xFF, bytes);
    }
    if (target.slot == kNoSlot) {
      std::memcpy(warp.getLocal(lane) + to.localBase + target.offset,
                  value.data(), bytes);
      std::memcpy(warp.getLocalWritten(lane) + to.localBase + target.offset,
                  written.data(), bytes);
      return;
    }
    size_t offset = target.slot + size_t(lane) * target.bytes;
    std::memcpy(to.registers + offset, value.data(), bytes);
    std::memcpy(to.written + offset, written.data(), bytes);
    uint32_t bit = uint32_t(1) << lane;
    uint32_t &undefined = to.undefined[target.slot >> 6];
    if (llvm::all_of(written, [](uint8_t byte) { return byte == 0xFF; }))
      undefined &= ~bit;
    else
      undefined |= bit;
  });
}

/// Whether what a call gives and takes is of the sizes that a function expects.
static bool matches(llvm::ArrayRef<CallOperand> given,
                    llvm::ArrayRef<CallOperand> expected) {
  return given.size() == expected.size() &&
         llvm::all_of(llvm::zip(given, expected), [](const auto &pair) {
           const auto &[a, b] = pair;
           return a.isConstant ? b.bytes && b.bytes <= a.bytes
                               : a.bytes == b.bytes;
         });
}

bool WarpScheduler::call(Split &split, const Instruction &instruction,
                         uint32_t active) {
  const CallData &data = *static_cast<const CallData *>(instruction.data);
  const Code *callee = data.callee;
  Frame &caller = *split.frame;
  if (active != split.mask)
    separate(split, active);
  if (!callee) {
    Lanes lanes{caller.registers, caller.written, caller.undefined.data(),
                active,           &warp,          &split};
    if (!warp.checkDefined(instruction, lanes, instruction.a,
                           "the address of a call"))
      return false;
    // Lanes that call another function wait for their own turn here.
    const uint64_t *address = lanes.read<uint64_t>(instruction.a);
    unsigned first = static_cast<unsigned>(__builtin_ctz(active));
    uint32_t same = 0;
    forLanes(active, [&](unsigned lane) {
      if (address[lane] == address[first])
        same |= uint32_t(1) << lane;
    });
    const auto &functions = launch.program->functionAddresses;
    auto found = functions.find(address[first]);
    callee = found == functions.end() ? nullptr : found->second;
    if (!callee || callee->function->isEntry ||
        !matches(data.arguments, callee->parameters) ||
        !matches(data.results, callee->results)) {
      warp.fault(instruction, first, Check::IllegalOperand,
                 callee ? "the called function has other parameters than the "
                          "call"
                        : "the address of a call is no device function's",
                 address[first]);
      return false;
    }
    if (same != active) {
      willMeet(split, split.position + 1);
      addSplit(active & ~same, split.position, &caller, split.record);
      split.mask = active = same;
    }
  }
  uint32_t base = caller.localBase + caller.code->localBytes;
  uint64_t end = uint64_t(base) + callee->localBytes;
  uint64_t registers = callee->frameBytes;
  for (const std::unique_ptr<Frame> &frame : warp.frames)
    registers += frame->code->frameBytes;
  if (end > kLargestLocal || registers > kLargestFrames ||
      warp.frames.size() >= kDeepestCall) {
    warp.fault(instruction, static_cast<unsigned>(__builtin_ctz(active)),
               Check::OutOfBounds,
               "calls are nested too deeply: " + Twine(warp.frames.size()) +
                   " deep, with " + Twine(end) + " bytes of local memory and " +
                   Twine(registers) + " bytes of registers");
    return false;
  }
  if (end > warp.localStride) {
    uint32_t stride = static_cast<uint32_t>(std::max<uint64_t>(end, 256) * 2);
    auto grow = [&](ZeroedBytes &bytes) {
      ZeroedBytes larger(size_t(stride) * kLanes);
      for (unsigned lane = 0; lane != kLanes; ++lane)
        std::copy_n(bytes.data() + size_t(lane) * warp.localStride,
                    warp.localStride, larger.data() + size_t(lane) * stride);
      bytes = std::move(larger);
    };
    grow(warp.local);
    grow(warp.localWritten);
    warp.localStride = stride;
  }
  if (callee->localBytes)
    forLanes(active, [&](unsigned lane) {
      std::memset(warp.getLocalWritten(lane) + base, 0, callee->localBytes);
    });
  auto frame = std::make_unique<Frame>(*callee);
  frame->localBase = base;
  frame->caller = &caller;
  frame->call = &instruction;
  fillFrame(*frame, warp);
  for (auto [argument, parameter] :
       llvm::zip(data.arguments, callee->parameters))
    copyOperand(warp, active, caller, argument, *frame, parameter);
  auto record = std::make_unique<Convergence>();
  record->position = kAtReturn;
  record->frame = frame.get();
  record->expected = split.mask;
  record->parent = split.record;
  split.record = record.get();
  warp.records.push_back(std::move(record));
  split.frame = frame.get();
  split.position = 0;
  warp.frames.push_back(std::move(frame));
  return true;
}

uint32_t WarpScheduler::returnTo(Frame &frame, uint32_t lanes) {
  Frame &caller = *frame.caller;
  const CallData &data = *static_cast<const CallData *>(frame.call->data);
  for (auto [source, target] : llvm::zip(frame.code->results, data.results))
    copyOperand(warp, lanes, frame, source, caller, target);
  return static_cast<uint32_t>(frame.call - caller.code->code.data()) + 1;
}

void WarpScheduler::endCall(Convergence *record, uint32_t lanes, Split &split) {
  Frame *frame = record->frame;
  split.mask = lanes;
  split.position = returnTo(*frame, lanes);
  split.frame = frame->caller;
  split.record = record->parent;
  erase(record);
  auto it = llvm::find_if(
      warp.frames, [&](const auto &owned) { return owned.get() == frame; });
  warp.frames.erase(it);
}

void WarpScheduler::leave(Split &split, uint32_t active) {
  uint32_t rest = split.mask & ~active;
  // Lanes that return past a meeting point are not waited for there.
  Convergence *record = split.record;
  while (record->position != kAtReturn) {
    Convergence *parent = record->parent;
    record->expected &= ~active;
    settle(record);
    record = parent;
  }
  record->arrived |= active;
  split.mask = rest;
  if (rest) {
    ++split.position;
    return;
  }
  if (record->arrived == record->expected)
    endCall(record, record->arrived, split);
}

void WarpScheduler::exit(Split &split, uint32_t active) {
  warp.live &= ~active;
  split.mask &= ~active;
  ++split.position;
  Convergence *record = split.record;
  while (record) {
    Convergence *parent = record->parent;
    record->expected &= ~active;
    settle(record);
    record = parent;
  }
  // Who waits for these lanes by a member mask waits no longer.
  for (const std::unique_ptr<Split> &other : warp.splits)
    if (other->mask && other->wait == Wait::Collective)
      other->wait = Wait::None;
  block.noteProgress();
  checkBarriers(block);
}

//===----------------------------------------------------------------------===//
// Instructions of several lanes
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

bool WarpScheduler::canRun(const Warp &warp) {
  return llvm::any_of(warp.splits, [](const std::unique_ptr<Split> &split) {
    return split->mask && split->wait == Wait::None;
  });
}

template <bool collects>
void WarpScheduler::runSplit(Split &split, uint64_t budget) {
  split.endedByPoll = false;
  const bool traces = launch.options->trace.enabled;
  uint64_t left = budget;
  // Leaves with the counts that the loop has kept.
  auto finish = [&] {
    uint64_t steps = budget - left;
    warp.issued += steps;
    block.steps += steps;
    split.steps += steps;
    split.sincePoll += steps;
  };
  while (true) {
    Frame &frame = *split.frame;
    const Instruction *code = frame.code->code.data();
    Lanes lanes{frame.registers, frame.written, frame.undefined.data(), 0,
                &warp,           &split};
    uint32_t position = split.position;
    // Until the split's frame or record changes.
    for (bool same = true; same;) {
      const Instruction &instruction = code[position];
      if (instruction.isMeetingPoint && split.record &&
          split.record->position == position && split.record->frame == &frame) {
        split.position = position;
        if (!meet(split))
          return finish();
        continue;
      }
      if (left == 0) {
        split.position = position;
        return finish();
      }
      --left;
      uint32_t active = split.mask;
      if (instruction.guard != kNoSlot) {
        if (uint32_t undefined =
                lanes.undefinedAt(instruction.guard) & active) {
          warp.fault(instruction,
                     static_cast<unsigned>(__builtin_ctz(undefined)),
                     Check::Uninitialized,
                     instruction.flow == Flow::Branch
                         ? "an unwritten value decides a branch"
                         : "an unwritten value reaches a guard predicate");
          return finish();
        }
        uint32_t guard = lanes.mask(instruction.guard);
        active &= instruction.guardNegated ? ~guard : guard;
      }
      if constexpr (collects) {
        if (active && !instruction.isHidden) {
          InstructionCounters &counters = (*block.counters)[instruction.index];
          ++counters.issued;
          counters.threads += static_cast<unsigned>(__builtin_popcount(active));
          counters.divergent += active != warp.live;
          ++warp.executed;
        }
      }
      if (instruction.flow == Flow::Next) {
        if (active) {
          lanes.active = active;
          instruction.execute(instruction, lanes);
          if (traces)
            trace(instruction, lanes);
          if (block.fault)
            return finish();
        }
        ++position;
        continue;
      }
      if (!active) {
        ++position;
        continue;
      }
      split.position = position;
      switch (instruction.flow) {
      case Flow::Next:
        break;
      case Flow::Branch:
        if (active == split.mask) {
          position = instruction.target;
        } else {
          ++position;
          split.position = position;
          diverge(split, instruction, active);
        }
        if (traces) {
          lanes.active = active;
          trace(instruction, lanes);
        }
        break;
      case Flow::BranchTable:
        if (!branchByTable(split, instruction, active))
          return finish();
        position = split.position;
        break;
      case Flow::Call:
        if (!call(split, instruction, active))
          return finish();
        same = false;
        break;
      case Flow::Return:
        if (traces) {
          lanes.active = active;
          trace(instruction, lanes);
        }
        if (frame.caller) {
          leave(split, active);
        } else {
          exit(split, active);
        }
        if (!split.mask)
          return finish();
        same = false;
        break;
      case Flow::Exit:
        if (traces) {
          lanes.active = active;
          trace(instruction, lanes);
        }
        exit(split, active);
        if (!split.mask)
          return finish();
        position = split.position;
        break;
      case Flow::Collective: {
        uint32_t required = warp.lanes;
        if (instruction.members != kNoSlot) {
          lanes.active = active;
          if (!warp.checkDefined(instruction, lanes, instruction.members,
                                 "a member mask"))
            return finish();
          const uint32_t *masks = lanes.read<uint32_t>(instruction.members);
          uint32_t members = masks[__builtin_ctz(active)];
          required = members & warp.live;
          if (required != active) {
            // Several masks: if one of them names lanes that are not here, the
            // lanes of each go their own way from here on.
            uint32_t others = 0, missing = 0;
            forLanes(active, [&](unsigned lane) {
              if (masks[lane] != members)
                others |= uint32_t(1) << lane;
              missing |= masks[lane] & warp.live & ~active;
            });
            if (others && missing) {
              separate(split, active);
              addSplit(others, position, &frame, split.record);
              split.mask = active = active & ~others;
            }
          }
        }
        if (required & ~active) {
          separate(split, active);
          active = gather(split, required);
          if (!active)
            return finish();
          lanes.active = active;
          instruction.execute(instruction, lanes);
          pass(split, active);
          position = split.position;
        } else {
          lanes.active = active;
          instruction.execute(instruction, lanes);
          ++position;
        }
        if (traces)
          trace(instruction, lanes);
        if (block.fault)
          return finish();
        break;
      }
      case Flow::Barrier:
        if (!arrive(split, instruction, active))
          return finish();
        position = split.position;
        break;
      case Flow::Yield:
        lanes.active = active;
        instruction.execute(instruction, lanes);
        if (traces)
          trace(instruction, lanes);
        split.position = position + 1;
        return finish();
      }
    }
  }
}

void WarpScheduler::runSplit(Split &split, uint64_t budget) {
  if (launch.options->collectStatistics)
    runSplit<true>(split, budget);
  else
    runSplit<false>(split, budget);
  if (split.mask && split.steps > kLeastPatience)
    releaseWaiting(split);
}

void WarpScheduler::run(uint64_t budget) {
  // One more than the limit allows shows that there is more to do.
  uint64_t left = launch.options->stepLimit - block.steps;
  if (left < budget)
    budget = left + 1;
  uint64_t end = warp.issued + budget;
  while (!block.fault && warp.issued < end) {
    Split *next = nullptr;
    const size_t count = warp.splits.size();
    for (size_t i = 0; i != count && !next; ++i) {
      Split &split = *warp.splits[(warp.nextSplit + i) % count];
      if (!split.mask || split.wait != Wait::None)
        continue;
      next = &split;
      warp.nextSplit = static_cast<unsigned>((warp.nextSplit + i + 1) % count);
    }
    if (!next)
      break;
    runSplit(*next, std::min(kSplitTurn, end - warp.issued));
    bool polled = next->mask && next->endedByPoll;
    if (warp.splits.size() > 1) {
      llvm::erase_if(warp.splits,
                     [](const auto &split) { return split->mask == 0; });
      if (!warp.splits.empty())
        warp.nextSplit %= warp.splits.size();
    }
    // Whatever it waits for is likely another warp's to do.
    if (polled)
      break;
  }
}

void WarpScheduler::trace(const Instruction &instruction, const Lanes &lanes) {
  const TraceOptions &options = launch.options->trace;
  const Dim3 &position = block.position;
  if (instruction.isHidden || warp.index != options.warp ||
      position.x != options.block.x || position.y != options.block.y ||
      position.z != options.block.z)
    return;
  printTrace(options, instruction, lanes, *lanes.split->frame->code);
}

//===----------------------------------------------------------------------===//
// A block
//===----------------------------------------------------------------------===//

bool Block::run(uint64_t budget) {
  const LaunchOptions &options = *launch.options;
  const bool isRandom = options.schedule == Schedule::Random;
  const uint64_t end = steps + budget;
  // xorshift64*: any sequence will do that depends on the seed alone.
  auto next = [this] {
    random ^= random >> 12;
    random ^= random << 25;
    random ^= random >> 27;
    return random * 0x2545F4914F6CDD1Du >> 33;
  };
  if (random == 0)
    random = 1;
  constexpr uint64_t kWarpTurn = 1 << 14;
  while (!fault && !finished) {
    bool ran = false;
    for (size_t i = 0;
         i != warps.size() && !fault && steps <= options.stepLimit; ++i) {
      Warp &warp = *warps[isRandom ? next() % warps.size() : i];
      if (!WarpScheduler::canRun(warp))
        continue;
      ran = true;
      WarpScheduler(warp).run(isRandom ? 1 + next() % 64 : kWarpTurn);
    }
    if (fault)
      break;
    if (llvm::all_of(warps, [](const auto &warp) { return warp->live == 0; })) {
      finish();
      break;
    }
    if (steps > options.stepLimit) {
      for (const std::unique_ptr<Warp> &warp : warps)
        for (const std::unique_ptr<Split> &split : warp->splits)
          if (split->mask)
            warp->fault(split->frame->code->code[split->position],
                        static_cast<unsigned>(__builtin_ctz(split->mask)),
                        Check::StepLimit,
                        "the block has executed " + Twine(steps) +
                            " warp instructions, more than the limit of " +
                            Twine(options.stepLimit));
      break;
    }
    const bool waits = !ran && llvm::none_of(warps, [](const auto &warp) {
      return WarpScheduler::canRun(*warp);
    });
    if (waits || isStuck()) {
      // What they wait for may be for lanes to do that have come to where
      // these would meet.
      bool released = false;
      for (const std::unique_ptr<Warp> &warp : warps)
        released |= WarpScheduler(*warp).releaseStuck();
      if (released)
        continue;
      reportStuck();
      break;
    }
    if (steps >= end)
      return false;
  }
  return true;
}

bool Block::isStuck() const {
  bool polls = false;
  for (const std::unique_ptr<Warp> &warp : warps)
    for (const std::unique_ptr<Split> &split : warp->splits) {
      if (!split->mask || split->wait != Wait::None)
        continue;
      if (split->failedPolls < kHopelessPolls ||
          split->pollProgress != progress || split->sincePoll > kPollLoop)
        return false;
      polls = true;
    }
  return polls;
}

void Block::reportStuck() {
  // A warp-wide instruction that some lanes cannot reach is the cause, whatever
  // else waits for that warp.
  std::vector<std::string> notes;
  Warp *culprit = nullptr;
  const Split *at = nullptr;
  auto lineOf = [](const Instruction &instruction) {
    return instruction.statement
               ? "line " +
                     std::to_string(instruction.statement->location.line) +
                     ": " + instruction.statement->text.str()
               : std::string("the end");
  };
  for (const std::unique_ptr<Warp> &warp : warps) {
    uint32_t waiting = 0;
    for (const std::unique_ptr<Split> &split : warp->splits) {
      if (!split->mask)
        continue;
      waiting |= split->mask;
      const Instruction &instruction =
          split->frame->code->code[split->position];
      std::string note = "warp " + std::to_string(warp->index) + ", lanes " +
                         formatLanes(split->mask) + " ";
      if (split->wait == Wait::Barrier) {
        const BlockBarrier &barrier = barriers[split->barrier];
        note += "wait at barrier " + std::to_string(split->barrier) +
                ", to which " + std::to_string(barrier.arrived) +
                " threads have come, " + lineOf(instruction);
      } else if (split->wait == Wait::Collective) {
        note += "wait for lanes " +
                formatLanes(split->required & ~split->mask) + ", " +
                lineOf(instruction);
        if (!at || at->wait != Wait::Collective) {
          culprit = warp.get();
          at = split.get();
        }
      } else {
        note += "wait for " + split->poll + ", " + lineOf(instruction);
      }
      if (!at) {
        culprit = warp.get();
        at = split.get();
      }
      notes.push_back(note);
    }
    for (const std::unique_ptr<Convergence> &record : warp->records)
      if (uint32_t lanes = record->arrived) {
        const Code &code = *record->frame->code;
        notes.push_back("warp " + std::to_string(warp->index) + ", lanes " +
                        formatLanes(lanes) + " wait for the others, " +
                        (record->position < code.code.size()
                             ? lineOf(code.code[record->position])
                             : "the end of " + code.function->name.str()));
      }
    if (uint32_t gone = warp->lanes & ~warp->live)
      notes.push_back("warp " + std::to_string(warp->index) + ", lanes " +
                      formatLanes(gone) + " have exited");
  }
  if (!at) {
    warps.front()->fault(launch.program->codes.front()->code.front(), 0,
                         Check::Deadlock, "no thread of the block can go on",
                         std::nullopt, "", std::move(notes));
    return;
  }
  const Instruction &instruction = at->frame->code->code[at->position];
  unsigned lane = static_cast<unsigned>(__builtin_ctz(at->mask));
  if (at->wait == Wait::Collective) {
    uint32_t missing = at->required & ~at->mask;
    culprit->fault(instruction, lane, Check::Divergence,
                   "lanes " + formatLanes(at->mask) +
                       " execute it, but it expects lanes " +
                       formatLanes(missing) + " as well, which cannot reach it",
                   std::nullopt, "", std::move(notes));
    return;
  }
  culprit->fault(instruction, lane, Check::Deadlock,
                 "no thread of the block can go on", std::nullopt, "",
                 std::move(notes));
}
