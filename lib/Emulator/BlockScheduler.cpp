//===- BlockScheduler.cpp - Turns of the warps of a block -----------------===//

#include "Scheduler.h"
#include "Trace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile::emulator;
using llvm::Twine;

/// Instructions after its last poll with which a split still counts as polling.
static constexpr uint64_t kPollLoop = 1 << 12;

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
                     ": " + formatStatement(*instruction.statement)
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
