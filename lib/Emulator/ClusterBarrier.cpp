//===- ClusterBarrier.cpp - barrier.cluster -------------------------------===//
//
// The barrier of a cluster of one block. Threads that have arrived go on, so
// that a wait cannot be a barrier of the block: it polls until every thread
// that has not exited has arrived.
//
//===----------------------------------------------------------------------===//

#include "ClusterBarrier.h"

#include "Machine.h"

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Twine;

struct ClusterBarrier : public Block::State {
  static constexpr unsigned kKey = 2;

  /// By warp: the lanes that have arrived and not waited.
  llvm::SmallVector<uint32_t, 8> arrived;
  /// By warp: those of them whose phase is complete.
  llvm::SmallVector<uint32_t, 8> released;
  SyncObject current, completed;

  uint32_t &getArrived(Block &block, unsigned warp) {
    arrived.resize(block.getNumWarps(), 0);
    released.resize(block.getNumWarps(), 0);
    return arrived[warp];
  }

  /// Ends the phase if every thread that is left has arrived.
  void endPhase(Block &block) {
    for (unsigned i = 0; i != block.getNumWarps(); ++i)
      if (block.getWarp(i).getLiveLanes() & ~(arrived[i] & ~released[i]))
        return;
    released = arrived;
    completed.clock = current.clock;
    block.noteProgress();
  }

  std::string describe(Block &block) const {
    unsigned missing = 0;
    for (unsigned i = 0; i != block.getNumWarps(); ++i)
      missing += static_cast<unsigned>(__builtin_popcount(
          block.getWarp(i).getLiveLanes() & ~(arrived[i] & ~released[i])));
    return ("barrier of the cluster: " + Twine(missing) +
            " threads have not arrived")
        .str();
  }
};

void fault(const Instruction &instruction, Lanes &lanes, uint32_t culprits,
           const Twine &message) {
  lanes.warp->fault(instruction, static_cast<unsigned>(__builtin_ctz(culprits)),
                    Check::Synchronization, message);
}

void executeArrive(const Instruction &instruction, Lanes &lanes) {
  Block &block = lanes.warp->getBlock();
  unsigned warp = lanes.warp->getIndex();
  ClusterBarrier &barrier = block.getState<ClusterBarrier>();
  uint32_t &arrived = barrier.getArrived(block, warp);
  if (uint32_t twice = arrived & lanes.active)
    return fault(
        instruction, lanes, twice,
        "barrier.cluster.arrive expects a wait after the last arrival");
  // A relaxed arrival orders nothing.
  if (!instruction.immediate)
    block.getShared().release(warp, barrier.current);
  arrived |= lanes.active;
  block.noteProgress();
}

void executeWait(const Instruction &instruction, Lanes &lanes) {
  Block &block = lanes.warp->getBlock();
  unsigned warp = lanes.warp->getIndex();
  ClusterBarrier &barrier = block.getState<ClusterBarrier>();
  uint32_t &arrived = barrier.getArrived(block, warp);
  if (uint32_t absent = lanes.active & ~arrived)
    return fault(instruction, lanes, absent,
                 "barrier.cluster.wait expects an arrival before it");
  barrier.endPhase(block);
  uint32_t done = lanes.active & barrier.released[warp];
  const bool isDone = done == lanes.active;
  if (isDone) {
    block.getShared().acquire(warp, barrier.completed);
    arrived &= ~done;
    barrier.released[warp] &= ~done;
  }
  storePredicate(lanes, instruction.d, isDone ? kAllLanes : 0, 0);
  if (!isDone)
    block.notePoll(lanes, instruction, [&] { return barrier.describe(block); });
}

Error decodeArrive(Decoder &decoder) {
  const bool isRelaxed = decoder.takeAny({"release", "relaxed"}) == "relaxed";
  decoder.take("aligned");
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeArrive, InstructionClass::Barrier).immediate = isRelaxed;
  return Error::success();
}

Error decodeWait(Decoder &decoder) {
  decoder.take("acquire");
  decoder.take("aligned");
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  if (decoder.getStatement().guard)
    return decoder.error("barrier.cluster.wait expects no guard predicate");
  Slot isDone = decoder.scratch(0);
  uint32_t position = static_cast<uint32_t>(decoder.getCode().code.size());
  Instruction &wait = decoder.emit(executeWait, InstructionClass::Barrier);
  wait.flow = Flow::Yield;
  wait.d = isDone;
  Instruction &again = decoder.emitHidden(nullptr);
  again.flow = Flow::Branch;
  again.target = position;
  again.guard = isDone;
  again.guardNegated = true;
  return Error::success();
}

} // namespace

void registerClusterBarrier(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Fences";
  table.add("barrier.cluster.arrive",
            "barrier.cluster.arrive{.release,.relaxed}{.aligned}, in a cluster "
            "of one",
            kGroup, decodeArrive);
  table.add("barrier.cluster.wait",
            "barrier.cluster.wait{.acquire}{.aligned}, in a cluster of one",
            kGroup, decodeWait);
}

} // namespace tile::emulator
