//===- SharedMemory.h - Shared memory and who may touch it ------*- C++ -*-===//
//
// The bytes of a block's shared memory, which of them have been written, and a
// happens-before check: two accesses to one byte by different warps, one of
// them a store, need a barrier (or an mbarrier, or an atomic with release and
// acquire) between them; data of an asynchronous copy need its wait; what the
// async proxy reads needs a proxy fence. Order is kept as a vector clock per
// warp, one component per warp of the block.
//
// Tensor memory follows the same rules with its own fences: what the operations
// of tensor cores do is ordered across warps by barriers only together with
// `tcgen05.fence`. Its words are more places behind those of shared memory.
//
// Every access of a warp's instruction between two releases of the warp is one
// `Record`. Each aligned word of four bytes remembers the record of its last
// store and the records of the reads since then that are not ordered among each
// other: one record, or a set of them that equal words share. A word whose
// bytes differ is split into four.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_SHAREDMEMORY_H
#define TILE_LIB_EMULATOR_SHAREDMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile::emulator {

struct Instruction;

/// A vector clock: for each warp, how far its work is known. With it travels
/// what a proxy fence has published, and what `tcgen05.fence` has put before
/// the barriers that follow it. Components beyond the warps belong to
/// objects that asynchronous copies complete on.
struct VectorClock {
  llvm::SmallVector<uint32_t, 8> known;     ///< By component.
  llvm::SmallVector<uint32_t, 8> published; ///< Of it, to the async proxy.
  llvm::SmallVector<uint32_t, 8> fenced;    ///< Of it, on tensor memory.

  void join(const VectorClock &other);
  uint32_t getKnown(unsigned component) const {
    return component < known.size() ? known[component] : 0;
  }
  uint32_t getPublished(unsigned component) const {
    return component < published.size() ? published[component] : 0;
  }
  uint32_t getFenced(unsigned component) const {
    return component < fenced.size() ? fenced[component] : 0;
  }
};

/// Something that orders warps: a barrier, an mbarrier's phase, an atomic's
/// location.
struct SyncObject {
  VectorClock clock;
  /// The component of the clock that counts what asynchronous copies completed
  /// here; given on the first completion.
  uint32_t component = ~uint32_t(0);
  /// What relaxed arrivals tell; `tcgen05.fence` makes an order of it.
  VectorClock relaxed;
};

/// One block's shared memory.
class SharedMemory {
public:
  SharedMemory(uint32_t bytes, unsigned numWarps);

  uint32_t getSize() const { return static_cast<uint32_t>(bytes.size()); }
  uint8_t *getBytes() { return bytes.data(); }
  /// The bits of each byte that have been written: 0xFF where all have.
  uint8_t *getWritten() { return written.data(); }

  // --- Order ----------------------------------------------------------------

  /// What `warp` did so far happens before whatever acquires `object` later.
  void release(unsigned warp, SyncObject &object);
  /// What was released to `object` happens before what `warp` does next.
  void acquire(unsigned warp, const SyncObject &object);
  /// As these two for relaxed operations, which order nothing without a
  /// `tcgen05.fence`.
  void releaseRelaxed(unsigned warp, SyncObject &object);
  void acquireRelaxed(unsigned warp, const SyncObject &object);
  /// `fence.proxy.async` by `warp`.
  void fenceProxy(unsigned warp);
  /// `tcgen05.fence::before_thread_sync` and `::after_thread_sync` by `warp`.
  void fenceBeforeSync(unsigned warp);
  void fenceAfterSync(unsigned warp);
  /// As `acquire` and `release` for the locations `addresses[lane]` of the
  /// lanes in `mask`. Locations are told apart as well as a table of bounded
  /// size allows: two that share an entry order more than they should, so that
  /// a race may go unnoticed but none is invented.
  void acquireLocations(unsigned warp, uint32_t mask,
                        const uint64_t *addresses);
  void releaseLocations(unsigned warp, uint32_t mask,
                        const uint64_t *addresses);

  // --- Accesses -------------------------------------------------------------

  enum class Access : uint8_t {
    Read,
    Write,
    /// Volatile, relaxed, acquire and release accesses and atomics: no race
    /// with each other.
    StrongRead,
    StrongWrite,
    /// Through the async proxy: `cp.async.bulk` from shared memory.
    ProxyRead,
    /// `cp.async`: nobody may touch the bytes until it is completed.
    AsyncWrite,
    /// `cp.async.bulk` into shared memory; as above, through the async proxy.
    ProxyWrite,
    /// By an operation on tensor memory; see TensorAccess.
    TensorRead,
    TensorWrite,
  };

  /// Which operations on tensor memory execute in the order in which they were
  /// issued.
  struct TensorAccess {
    enum Use : uint8_t {
      Other,      ///< `tcgen05.ld`, `tcgen05.st`: in no order with others.
      Copy,       ///< `tcgen05.cp`
      Operand,    ///< An `mma` reads it: after the copies issued before.
      Accumulate, ///< An `mma` adds to it: after those with its accumulator.
      /// Not an asynchronous operation: needs no fences.
      Synchronous,
    };
    Use use = Other;
    /// Tells accumulators apart by their place and shape.
    uint32_t accumulator = 0;
  };

  /// The other access of a race, in words for a note.
  struct Conflict {
    /// Fence: a `tcgen05.fence` is missing.
    enum Kind : uint8_t { Race, Async, Proxy, Fence } kind = Race;
    std::string message; ///< "warp 2 stored it at line 40: st.shared.b32 …"
    uint32_t address = 0;
    unsigned lane = 0; ///< Of the access that found it.
  };

  /// An access that is not complete yet.
  using Pending = uint32_t;
  static constexpr Pending kNotPending = ~Pending(0);

  /// Notes an access by `warp` at `instruction` to `size` bytes at
  /// `addresses[lane]` for each lane in `mask`, and returns the first conflict.
  /// The bytes must lie within the memory, which does not hold what is stored
  /// yet.
  ///
  /// `values`, where given, are what a Write stores, `size` bytes per lane: a
  /// store of what the memory holds already does no harm, in whatever order,
  /// and compilers let warps that have the same data store it each.
  std::optional<Conflict> note(Access access, unsigned warp, uint32_t mask,
                               const uint32_t *addresses, uint32_t size,
                               const Instruction &instruction,
                               const uint8_t *values = nullptr) {
    Pending pending = kNotPending;
    return note(access, warp, mask, addresses, size, instruction, values,
                pending);
  }
  /// As above; `pending` names the access afterwards, where it is one that is
  /// completed later (ProxyRead, AsyncWrite, ProxyWrite). A call that is given
  /// the name of an access continues that one.
  std::optional<Conflict> note(Access access, unsigned warp, uint32_t mask,
                               const uint32_t *addresses, uint32_t size,
                               const Instruction &instruction,
                               const uint8_t *values, Pending &pending) {
    return note(access, warp, mask, addresses, size, instruction, values,
                pending, TensorAccess());
  }
  /// As above for tensor memory (TensorRead, TensorWrite). The addresses are
  /// those of shared memory that begin at `getTensorBase`.
  std::optional<Conflict> note(Access access, unsigned warp, uint32_t mask,
                               const uint32_t *addresses, uint32_t size,
                               const Instruction &instruction,
                               const uint8_t *values, Pending &pending,
                               TensorAccess tensor);
  /// Where the words of tensor memory begin; the first call makes room for
  /// `bytes` of them.
  uint32_t getTensorBase(uint32_t bytes);
  /// Forgets what was done to words of tensor memory.
  void forgetRange(uint32_t address, uint32_t size);
  /// Lets operations on tensor memory go without `tcgen05.fence`, and lets all
  /// copies and multiplies execute as they were issued.
  void allowLooseTensorOrder() { isStrict = false; }

  /// The access is over, as if `warp` had just done it; the name is free.
  void complete(Pending pending, unsigned warp);
  /// The access is over for whoever acquires `object`; the name is free.
  void complete(Pending pending, SyncObject &object);
  /// The store is over for `size` bytes at `address` only; the name stays.
  void completePart(Pending pending, unsigned warp, uint32_t address,
                    uint32_t size);
  void completePart(Pending pending, SyncObject &object, uint32_t address,
                    uint32_t size);
  /// Forgets the name of an access all of whose bytes have been completed.
  void forget(Pending pending);

private:
  template <Access kAccess>
  friend class AccessChecker;

  /// What one instruction of one warp did between two releases of that warp.
  struct Record {
    enum Flag : uint8_t {
      Strong = 1,
      IsPending = 2,
      Async = 4,
      Proxy = 8,
      Store = 16,
      Tensor = 32,
    };

    const Instruction *instruction = nullptr;
    uint32_t clock = 0;
    uint16_t component = 0; ///< Whose clock it is.
    uint8_t warp = 0;
    uint8_t flags = 0;
    TensorAccess tensor;
    uint32_t issued = 0; ///< The clock of `warp` when it began.
    bool has(Flag flag) const { return flags & flag; }
  };

  /// A word's or byte's last store and the reads since: numbers of records, or
  /// 0. Among the readers are also stores before a strong one that it does not
  /// stand for, and further stores of the value that the last store stored. A
  /// reader with `kSet` is a number of `sets`; a writer with `kSplit` is a
  /// number of `splits`, and the word's reader means nothing.
  static constexpr uint32_t kSet = uint32_t(1) << 31;
  static constexpr uint32_t kSplit = uint32_t(1) << 31;
  struct SplitWord {
    uint32_t writers[4];
    uint32_t readers[4];
  };

  uint32_t getRecord(unsigned warp, const Instruction &instruction,
                     uint8_t flags);
  uint32_t addRecord(unsigned warp, const Instruction &instruction,
                     uint8_t flags);
  SplitWord &split(uint32_t word);
  void unsplit(uint32_t word);
  /// The set of readers that `record` makes of `old`.
  uint32_t addReader(uint32_t old, uint32_t record);
  bool isOrdered(const Record &record, unsigned warp) const {
    return !record.has(Record::IsPending) &&
           (record.component == warp ||
            record.clock <= clocks[warp].getKnown(record.component));
  }
  bool isOrderedForAll(const Record &record) const;
  void tick(unsigned warp);
  uint32_t tickComponent(SyncObject &object);
  void replaceWriter(uint32_t from, uint32_t to, uint32_t address,
                     uint32_t size);
  SyncObject &getLocation(uint64_t address);
  /// Drops the records and sets that no word refers to.
  void compact();
  /// Forgets all accesses: what happens where a clock overflows.
  void reset();

  std::vector<uint8_t> bytes, written;
  unsigned numWarps;
  std::vector<VectorClock> clocks;
  /// What each warp's operations on tensor memory are ordered after, and what
  /// only a fence will tell them.
  std::vector<VectorClock> tensorClocks, relaxedClocks;
  bool isStrict = true;
  uint32_t tensorBase = 0; ///< 0: no tensor memory.
  /// Of the components beyond the warps.
  std::vector<uint32_t> componentClocks;

  std::vector<uint32_t> writers, readers; ///< By word.
  std::vector<SplitWord> splits;
  std::vector<uint32_t> freeSplits;
  std::vector<Record> records; ///< The first one is nobody's.
  std::vector<llvm::SmallVector<uint32_t, 4>> sets;
  /// Results of `addReader`, by its arguments.
  llvm::DenseMap<uint64_t, uint32_t> transitions;
  /// Recent records, by warp and instruction.
  std::vector<uint32_t> recent;
  std::vector<uint32_t> pendings; ///< Records, by `Pending`.
  std::vector<Pending> freePendings;
  std::vector<SyncObject> locations;
  size_t recordLimit, setLimit;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SHAREDMEMORY_H
