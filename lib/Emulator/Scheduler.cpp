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
