//===- Scheduler.h - Runs the splits of one warp ----------------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_SCHEDULER_H
#define TILE_LIB_EMULATOR_SCHEDULER_H

#include "Machine.h"

namespace tile::emulator {

/// Runs one warp for a while. Splits that end are left with an empty mask and
/// removed when the turn is over.
class WarpScheduler {
public:
  explicit WarpScheduler(Warp &warp)
      : warp(warp), block(warp.block), launch(block.launch) {}

  /// Runs about `budget` instructions, or until no split can go on.
  void run(uint64_t budget);
  /// Whether a split of the warp could run.
  static bool canRun(const Warp &warp);
  /// Lets lanes that wait for others at a meeting point go on without them,
  /// unless some lanes wait at a warp-wide instruction; for when no thread of
  /// the block can go on. Returns whether there are such lanes.
  bool releaseStuck();
  /// Lets every thread of a barrier go on if all have come; called when threads
  /// come or exit.
  static void checkBarriers(Block &block);

private:
  void runSplit(Split &split, uint64_t budget);
  template <bool collects>
  void runSplit(Split &split, uint64_t budget);
  Split &addSplit(uint32_t mask, uint32_t position, Frame *frame,
                  Convergence *record);

  /// Makes the lanes of the split meet at `position` of its frame.
  void willMeet(Split &split, uint32_t position);
  /// The split has reached the meeting point of its record. Returns whether it
  /// goes on, with all lanes that have met.
  bool meet(Split &split);
  /// Removes the record if its lanes have all come or gone; what has come goes
  /// on as a new split.
  void settle(Convergence *record);
  void erase(Convergence *record);
  void diverge(Split &split, const Instruction &branch, uint32_t taken);
  bool branchByTable(Split &split, const Instruction &branch, uint32_t active);
  bool call(Split &split, const Instruction &instruction, uint32_t active);
  /// Lanes leave the function.
  void leave(Split &split, uint32_t active);
  /// Hands the results of a call to the caller for some of its lanes; returns
  /// the position after the call.
  uint32_t returnTo(Frame &frame, uint32_t lanes);
  /// All lanes of a call have returned: back to the caller.
  void endCall(Convergence *record, uint32_t lanes, Split &split);
  void exit(Split &split, uint32_t active);
  /// Separates the lanes that take part in an instruction from those whose
  /// guard is false, which go on.
  void separate(Split &split, uint32_t active);
  /// The lanes of all splits that wait at the instruction of `split`, if these
  /// are all that are required; else 0, and the split waits.
  uint32_t gather(Split &split, uint32_t required);
  /// Lets the splits at the instruction of `split` whose lanes have executed it
  /// go on past it, merged with it where they belong together.
  void pass(Split &split, uint32_t executed);
  bool arrive(Split &split, const Instruction &instruction, uint32_t active);
  /// Lets lanes that wait for this split go on without it, for what it waits
  /// for may be theirs to do.
  void releaseWaiting(Split &split);
  void trace(const Instruction &instruction, const Lanes &lanes);

  Warp &warp;
  Block &block;
  Launch &launch;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SCHEDULER_H
