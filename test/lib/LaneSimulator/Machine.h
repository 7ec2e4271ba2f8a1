//===- Machine.h - Lanes, warps, blocks and their memory --------*- C++ -*-===//
//
// What a compiled kernel calls while it runs, and the scheduler of its threads.
// Private to the lane simulator.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LANESIMULATOR_MACHINE_H
#define TILE_TEST_LANESIMULATOR_MACHINE_H

#include "Fiber.h"
#include "LaneSimulator.h"

#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <optional>
#include <vector>

namespace tile {
namespace lane {

class Machine;
struct Lane;
struct CallSite;

/// All lanes of a warp that take part in one call.
struct WarpCall {
  Machine &machine;
  const CallSite &site;
  uint32_t members;             ///< Bit i: lane i takes part.
  std::array<Lane *, 32> lanes; ///< Null where the warp has no such lane.

  bool has(unsigned lane) const { return members >> lane & 1; }
  uint64_t getArg(unsigned lane, unsigned index) const;
  void setResult(unsigned lane, unsigned index, uint64_t value) const;
};

/// What an intrinsic does. Exactly one of the two functions is set, or the kind
/// is Barrier, which the scheduler does itself.
struct Operation {
  enum class Kind { Lane, Warp, Barrier };
  enum class Reduction { None, Popc, And, Or };

  Kind kind = Kind::Lane;
  std::function<llvm::Error(Machine &, Lane &, const uint64_t *, uint64_t *)>
      laneFunction;
  std::function<llvm::Error(WarpCall &)> warpFunction;
  /// Warp: the argument that holds the mask of members; all 32 without one.
  std::optional<unsigned> maskArg;
  /// Barrier: whether a thread count is given, whether it only announces
  /// itself, whether all lanes of a warp must be at the same instruction.
  bool hasCount = false;
  bool isArrive = false;
  bool isAligned = false;
  Reduction reduction = Reduction::None;
};

/// The operation of the intrinsic `name`, or nullopt. `operandTypes` of an
/// overloaded one follow from its name.
std::optional<Operation> findOperation(llvm::StringRef name);
/// The part of `findOperation` for what a warp does together.
std::optional<Operation> findWarpOperation(llvm::StringRef name);
/// The part of `findOperation` for `cp.async`.
std::optional<Operation> findAsyncCopy(llvm::StringRef name);
/// The same for the text of inline assembly.
std::optional<Operation> findAsyncCopyAssembly(llvm::StringRef text);

/// The same for assembly that only computes: conversions of a pair of codes to
/// bf16, and the choice of bits of two words.
std::optional<Operation> findPureAssembly(llvm::StringRef text);

/// One call of an intrinsic in the module.
struct CallSite {
  std::string name;  ///< The intrinsic.
  std::string where; ///< Function and instruction, for messages.
  Operation operation;
  uint64_t count = 0;
};

/// One load or store in the module.
struct AccessSite {
  std::string where;
  bool isStore = false;
  bool isAtomic = false;
  uint64_t alignment = 1;
};

/// A copy that `cp.async` has begun.
struct AsyncCopy {
  uint64_t to = 0;
  uint64_t from = 0;
  unsigned size = 0;
  unsigned sourceSize = 0; ///< The bytes behind these become zero.
  std::array<uint8_t, 16> bytes{};
};

/// One thread of the running block.
struct Lane {
  enum class State { Ready, AtWarp, AtBarrier, Done };

  Machine *machine = nullptr;
  unsigned thread = 0; ///< Within the block.
  std::array<unsigned, 3> tid{};
  State state = State::Done;
  CallSite *site = nullptr; ///< While it waits.
  const uint64_t *args = nullptr;
  uint64_t *results = nullptr;
  unsigned barrier = 0; ///< While AtBarrier.
  Fiber fiber;
  std::vector<AsyncCopy> openCopies; ///< Of no group yet.
  std::vector<std::vector<AsyncCopy>> copyGroups;
};

/// A buffer of the launch in guarded memory.
struct Buffer {
  uint64_t base = 0;
  uint64_t size = 0;
  std::string name;
  bool writable = false;
};

/// Who touched a byte of shared memory last.
struct ByteHistory {
  uint32_t writer = ~0u; ///< Thread; all ones: nobody since the block began.
  uint32_t reader = ~0u;
  uint32_t writeBlockEpoch = 0, writeWarpEpoch = 0;
  uint32_t readBlockEpoch = 0, readWarpEpoch = 0;
  bool manyReaders = false; ///< More than one in that epoch.
  bool isInFlight = false;  ///< The writer has yet to wait for its copy.
};

class Machine {
public:
  Machine(const LaneOptions &options, char *shared, uint64_t sharedCapacity)
      : options(options), shared(shared), history(sharedCapacity) {}

  /// Runs one block. `sharedSize` counts static and dynamic memory.
  llvm::Error runBlock(void (*entry)(const uint64_t *),
                       const uint64_t *parameters, uint64_t sharedSize);

  /// The called function of every intrinsic.
  void call(uint32_t site, const uint64_t *args, uint64_t *results);
  /// Comes before every load and store.
  void access(uint64_t address, uint64_t size, uint32_t site);

  /// Whether [address, address + size) may be accessed; used by operations that
  /// touch memory themselves. Shared accesses are also checked for races.
  llvm::Error check(const Lane &lane, uint64_t address, uint64_t size,
                    uint64_t alignment, bool isStore, bool isAtomic = false);
  /// The part of `check` without races: alignment, bounds, read-only buffers.
  llvm::Error checkBounds(const Lane &lane, uint64_t address, uint64_t size,
                          uint64_t alignment, bool isStore) const;
  /// Whether `address` lies where shared memory may be, in use or not.
  bool isShared(uint64_t address) const;

  /// Adds a copy to those of no group. Its destination belongs to `lane` until
  /// that has waited. Fills in `copy.bytes`.
  llvm::Error beginCopy(Lane &lane, AsyncCopy copy);
  /// Makes the copies of no group the newest group, which may be empty.
  void commitCopies(Lane &lane);
  /// Performs the oldest groups until no more than `groupsLeft` remain.
  llvm::Error completeCopies(Lane &lane, unsigned groupsLeft);

  const LaneOptions options;
  std::array<unsigned, 3> grid{}, block{}, blockIndex{};
  std::vector<Buffer> buffers;
  std::vector<CallSite> calls;
  std::vector<AccessSite> accesses;
  StackPool stacks;

private:
  unsigned getNumThreads() const { return block[0] * block[1] * block[2]; }
  /// Whether a copy to the bytes is still awaited.
  llvm::Error checkInFlight(const Lane &lane, uint64_t offset, uint64_t size,
                            bool isStore) const;
  llvm::Error checkRace(const Lane &lane, uint64_t offset, uint64_t size,
                        bool isStore);
  void setInFlight(const AsyncCopy &copy, bool isInFlight);
  std::string describe(const Lane &lane) const;
  std::string describeWaiting() const;
  llvm::Error completeWarp(unsigned warp, bool &progress);
  llvm::Error completeBarrier(unsigned id, bool &progress);
  /// Notes why the run ends, unless that is known already. The caller must
  /// then `stop` with nothing on its frame that owns memory: no frame of the
  /// fiber is ever unwound.
  void note(const std::string &message);
  /// Leaves the running fiber for good.
  void stop();

  /// Threads that have announced themselves at a barrier without waiting.
  struct Arrivals {
    unsigned count = 0;
    unsigned expected = 0;
  };

  char *shared;
  uint64_t sharedSize = 0;
  std::vector<ByteHistory> history;
  uint32_t blockEpoch = 0;
  std::vector<uint32_t> warpEpochs;
  std::array<Arrivals, 16> arrivals{};
  std::vector<std::unique_ptr<Lane>> lanes;
  Lane *current = nullptr;
  std::optional<std::string> failure;
  void (*entry)(const uint64_t *) = nullptr;
  const uint64_t *parameters = nullptr;
};

} // namespace lane
} // namespace tile

#endif // TILE_TEST_LANESIMULATOR_MACHINE_H
