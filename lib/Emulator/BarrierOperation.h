//===- BarrierOperation.h - What `bar` and `barrier` ask for ----*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_BARRIEROPERATION_H
#define TILE_LIB_EMULATOR_BARRIEROPERATION_H

#include "Program.h"

namespace tile::emulator {

/// `Instruction::data` of Flow::Barrier. `Instruction::a` is the barrier's
/// number, `b` the number of threads or kNoSlot, `c` the predicate and `d` the
/// result of a reduction.
struct BarrierOperation {
  enum Kind : uint8_t { Sync, Arrive, Popc, And, Or } kind = Sync;
  /// All lanes of the warp come together, and count as a whole warp.
  bool aligned = true;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_BARRIEROPERATION_H
