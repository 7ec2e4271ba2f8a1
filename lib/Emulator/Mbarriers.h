//===- Mbarriers.h - The mbarriers of a block -------------------*- C++ -*-===//
//
// The state machine of PTX's mbarrier objects. An object is known by its place
// in shared memory, whose eight bytes hold its counts in an encoding of our
// own; what does not fit there (who released what) is kept beside them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_MBARRIERS_H
#define TILE_LIB_EMULATOR_MBARRIERS_H

#include "Machine.h"

#include <map>

namespace tile::emulator {

struct Mbarrier {
  /// The most arrivals, and the largest magnitude of the transaction count.
  static constexpr uint32_t kMaxCount = (1 << 20) - 1;

  uint32_t offset = 0; ///< In shared memory.
  bool isValid = false;
  uint32_t phase = 0;
  uint32_t expected = 0; ///< Arrivals of each following phase.
  uint32_t pending = 0;  ///< Arrivals that the current phase waits for.
  int32_t transactions = 0;
  /// What arrivals have released, and what they had at the end of the last
  /// phase that is complete.
  SyncObject released, completed;

  /// "mbarrier at shared 0x480: phase 0, 3 of 4 arrivals pending, 1024 bytes to
  /// come".
  std::string describe() const;
};

/// The thread that acts on an mbarrier.
struct MbarrierUser {
  const Instruction &instruction;
  Warp &warp;
  unsigned lane;
};

/// The mbarriers of a block.
class MbarrierTable : public Block::State {
public:
  static constexpr unsigned kKey = 1;

  /// `mbarrier.init` and `mbarrier.inval`. False after a fault.
  bool init(const MbarrierUser &user, uint32_t offset, uint32_t count);
  bool invalidate(const MbarrierUser &user, uint32_t offset);
  /// The valid object at `offset`, or null after a fault.
  Mbarrier *get(const MbarrierUser &user, uint32_t offset);

  /// The arrive-on operation; `drops` lowers the expected count as well. False
  /// after a fault.
  bool arrive(const MbarrierUser &user, Mbarrier &mbarrier, uint32_t count,
              bool drops, bool mayComplete);
  /// Raises the pending count by 1: `cp.async.mbarrier.arrive`.
  bool addPending(const MbarrierUser &user, Mbarrier &mbarrier);
  /// The expect-tx operation, or complete-tx with a negative count.
  bool addTransactions(const MbarrierUser &user, Mbarrier &mbarrier,
                       int64_t bytes);

private:
  bool endPhase(const MbarrierUser &user, Mbarrier &mbarrier, bool mayComplete);
  void write(const MbarrierUser &user, const Mbarrier &mbarrier);

  std::map<uint32_t, Mbarrier> mbarriers; ///< By offset; addresses stay.
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_MBARRIERS_H
