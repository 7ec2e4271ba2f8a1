//===- Machine.h - Warps, blocks and the launch that runs them --*- C++ -*-===//
//
// A launch runs its blocks, each on one host thread; a block runs its warps in
// turn; a warp runs its splits. A split is a set of lanes of one warp that are
// at the same instruction of the same frame. Where a branch sends lanes two
// ways, the split becomes two, and a convergence record says where, and for
// whom, they meet again: at the immediate postdominator of the branch. Every
// split gets its turn, so a lane that waits for another one's flag does not
// starve it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_MACHINE_H
#define TILE_LIB_EMULATOR_MACHINE_H

#include "GlobalAccess.h"
#include "Lanes.h"
#include "Program.h"
#include "SharedMemory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Memory.h"

#include <memory>
#include <vector>

namespace tile::emulator {

class Block;
class Launch;

/// Bytes that are zero until written; many of them take memory only then.
class ZeroedBytes {
public:
  explicit ZeroedBytes(size_t size = 0);
  ~ZeroedBytes();
  ZeroedBytes(ZeroedBytes &&other) { *this = std::move(other); }
  ZeroedBytes &operator=(ZeroedBytes &&other) {
    std::swap(bytes, other.bytes);
    std::swap(mapped, other.mapped);
    return *this;
  }
  uint8_t *data() const { return bytes; }

private:
  uint8_t *bytes = nullptr;
  llvm::sys::MemoryBlock mapped; ///< Where the bytes are pages of their own.
};

/// The registers of one call of a function by one warp.
struct Frame {
  explicit Frame(const Code &code);
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;

  const Code *code;
  uint8_t *registers; ///< Values; zero until written, as `written` is.
  uint8_t *written;
  std::vector<uint32_t> undefined;
  uint32_t localBase = 0; ///< Of this call in each thread's local memory.
  Frame *caller = nullptr;
  const Instruction *call = nullptr; ///< In the caller.

private:
  ZeroedBytes memory;
};

/// Writes constants, special registers and addresses into a new frame of
/// `warp`.
void fillFrame(Frame &frame, const Warp &warp);

/// Lanes that will meet at `position` of `frame`.
struct Convergence {
  uint32_t position = 0;
  Frame *frame = nullptr;
  uint32_t expected = 0; ///< Lanes that are still to come or have come.
  uint32_t arrived = 0;
  Convergence *parent = nullptr;
};
/// The position of a record at which calls return.
constexpr uint32_t kAtReturn = ~uint32_t(0);

/// Why a split does not run.
enum class Wait : uint8_t {
  None,
  Collective, ///< At a warp-wide instruction, for the other lanes.
  Barrier,    ///< At a barrier, for other warps.
};

struct Split {
  uint32_t mask = 0;
  uint32_t position = 0;
  Frame *frame = nullptr;
  Convergence *record = nullptr;
  Wait wait = Wait::None;
  unsigned barrier = 0;  ///< Wait::Barrier: which.
  uint32_t required = 0; ///< Wait::Collective: the lanes that must come.
  /// Polls in a row that failed while nothing else in the block happened.
  unsigned failedPolls = 0;
  uint64_t pollProgress = 0;
  std::string poll; ///< What it waits for, once that looks like for ever.
  bool endedByPoll = false; ///< Its last turn.
  uint64_t sincePoll = 0;   ///< Instructions since the last poll.
  /// Instructions since it has been waited for, or since lanes that wait for it
  /// were last let go.
  uint64_t steps = 0;
};

/// A warp, as instructions see it.
class Warp {
public:
  Warp(Block &block, unsigned index);
  ~Warp();

  Block &getBlock() const { return block; }
  /// Position in the block.
  unsigned getIndex() const { return index; }
  /// Lanes that exist: the last warp of a block may have fewer than 32.
  uint32_t getLanes() const { return lanes; }
  /// Lanes that have not exited.
  uint32_t getLiveLanes() const { return live; }
  /// The thread of a lane in its block.
  Dim3 getThread(unsigned lane) const;

  /// Ends the launch: `lane` of this warp failed `check` at `instruction`. The
  /// first fault of a block is kept. Execution stops after the instruction.
  void fault(const Instruction &instruction, unsigned lane, Check check,
             const llvm::Twine &message,
             std::optional<uint64_t> address = std::nullopt,
             llvm::StringRef buffer = "", std::vector<std::string> notes = {});

  /// An error if any active lane of `slot` is unwritten: "… reaches `what`".
  /// Returns whether all is well.
  bool checkDefined(const Instruction &instruction, const Lanes &lanes,
                    Slot slot, llvm::StringRef what);

  /// Local memory of one thread: values and, beside them, whether a byte has
  /// been written (0xFF) or in part. Grows with calls.
  uint8_t *getLocal(unsigned lane) {
    return local.data() + size_t(lane) * localStride;
  }
  uint8_t *getLocalWritten(unsigned lane) {
    return localWritten.data() + size_t(lane) * localStride;
  }
  uint32_t getLocalSize() const { return localStride; }

  /// Instructions issued before the warp's turn began: `%clock`.
  uint64_t getIssued() const { return issued; }
  InstructionCounters &getCounters(const Instruction &instruction);
  /// Whether memory traffic is to be counted.
  bool collectsStatistics() const;

private:
  friend class Block;
  friend class WarpScheduler;

  Block &block;
  unsigned index;
  uint32_t lanes, live;
  std::vector<std::unique_ptr<Split>> splits;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::unique_ptr<Convergence>> records;
  ZeroedBytes local, localWritten;
  uint32_t localStride = 0;
  unsigned nextSplit = 0;
  uint64_t issued = 0;   ///< Steps of the scheduler.
  uint64_t executed = 0; ///< Instructions as statistics count them.
  /// Instructions that lanes wait for others at a place where they have done so
  /// for long.
  llvm::DenseMap<std::pair<const Code *, uint32_t>, uint64_t> patience;
};

/// One hardware barrier of a block.
struct BlockBarrier {
  /// Threads that it is for, or 0 for all that have not exited.
  unsigned expected = 0;
  unsigned arrived = 0;                 ///< Threads that have come; 0: unused.
  llvm::SmallVector<uint32_t, 8> lanes; ///< By warp: those that have come.
  unsigned kind = 0;   ///< BarrierOperation::Kind of the first that waits.
  uint32_t count = 0;  ///< `bar.red`: threads whose predicate is true,
  uint32_t voters = 0; ///< and threads that gave one.
  SyncObject clock;
};

constexpr unsigned kNumBarriers = 16;
/// So many polls in a row that failed are called a deadlock once every other
/// thread of the block waits as well.
constexpr unsigned kHopelessPolls = 64;

/// A block, as instructions see it.
class Block {
public:
  Block(Launch &launch, uint64_t index);
  ~Block();

  Launch &getLaunch() const { return launch; }
  const Program &getProgram() const;
  /// Position in the grid.
  Dim3 getPosition() const { return position; }
  uint64_t getIndex() const { return index; }

  SharedMemory &getShared() { return shared; }
  /// The view of global memory, with the block's part of its checks.
  GlobalAccess &getGlobal() { return global; }
  llvm::ArrayRef<uint8_t> getParameters() const;
  unsigned getNumWarps() const { return static_cast<unsigned>(warps.size()); }
  const Warp &getWarp(unsigned i) const { return *warps[i]; }

  /// Says that something another warp may wait for has happened: polls that
  /// fail without it are a deadlock.
  void noteProgress() { ++progress; }
  /// Called by a poll (`mbarrier.try_wait`) that failed: the split goes on, but
  /// others run first. `what` describes what it waits for, for the deadlock
  /// report; it is called only then.
  void notePoll(Lanes &lanes, const Instruction &instruction,
                llvm::function_ref<std::string()> what);
  /// Instructions issued by all warps before this turn: `%globaltimer`.
  uint64_t getSteps() const { return steps; }
  bool hasFault() const { return fault != nullptr; }
  std::unique_ptr<Fault> takeFault() { return std::move(fault); }

  /// Runs about `budget` warp instructions and returns whether the block has
  /// ended, by itself or by a fault.
  bool run(uint64_t budget);
  /// Adds the counters of instructions to these; before `run`.
  void countIn(std::vector<InstructionCounters> &into) { counters = &into; }
  /// Instructions issued by each warp.
  llvm::SmallVector<uint64_t> getIssued() const;

  /// Whatever instruction families keep per block.
  struct State {
    virtual ~State() = default;
    /// Called when all threads of the block have exited.
    virtual void finish(Block &) {}
  };
  /// The state of type `T` (a class derived from State, default
  /// constructible), made on first use. `T::kKey` is its index, below 8.
  template <typename T>
  T &getState() {
    std::unique_ptr<State> &state = states[T::kKey];
    if (!state)
      state = std::make_unique<T>();
    return static_cast<T &>(*state);
  }

private:
  friend class Warp;
  friend class WarpScheduler;

  bool isStuck() const;
  void reportStuck();
  void finish();

  Launch &launch;
  uint64_t index;
  Dim3 position;
  SharedMemory shared;
  GlobalAccess global;
  std::vector<std::unique_ptr<Warp>> warps;
  BlockBarrier barriers[kNumBarriers];
  std::unique_ptr<State> states[8];
  std::unique_ptr<Fault> fault;
  uint64_t progress = 0;
  uint64_t steps = 0;
  uint64_t random; ///< State of the generator of Schedule::Random.
  bool finished = false;
  std::vector<InstructionCounters> *counters = nullptr;
};

/// What all blocks of a launch share.
class Launch {
public:
  const Program *program = nullptr;
  const LaunchOptions *options = nullptr;
  Dim3 grid, block;
  unsigned numThreads = 0;  ///< Of a block.
  uint32_t sharedBytes = 0; ///< End of shared memory, reserved bytes included.
  std::vector<uint8_t> parameters;
  GlobalSpace *global = nullptr;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_MACHINE_H
