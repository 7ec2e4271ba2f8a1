//===- SharedMemory.h - Shared memory and who may touch it ------*- C++ -*-===//
//
// The bytes of a block's shared memory, which of them have been written, and a
// happens-before check: two accesses to one byte by different warps, one of
// them a store, need a barrier (or an mbarrier, or an atomic with release and
// acquire) between them; data of an asynchronous copy need its wait; what the
// async proxy reads needs a proxy fence. Order is kept as a vector clock per
// warp, one component per warp of the block.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_SHAREDMEMORY_H
#define TILE_LIB_EMULATOR_SHAREDMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile::emulator {

struct Instruction;

/// A vector clock: for each warp, how far its work is known. With it travels
/// what a proxy fence has published.
struct VectorClock {
  llvm::SmallVector<uint32_t, 8> known;     ///< By warp.
  llvm::SmallVector<uint32_t, 8> published; ///< To the async proxy.
  void join(const VectorClock &other);
};

/// Something that orders warps: a barrier, an mbarrier's phase, an atomic's
/// location.
struct SyncObject {
  VectorClock clock;
};

/// One block's shared memory.
class SharedMemory {
public:
  SharedMemory(uint32_t bytes, unsigned numWarps);

  uint32_t getSize() const { return static_cast<uint32_t>(bytes.size()); }
  uint8_t *getBytes() { return bytes.data(); }
  /// 0xFF where all bits of the byte have been written, 0 where none has.
  uint8_t *getWritten() { return written.data(); }

  // --- Order ----------------------------------------------------------------

  /// What `warp` did so far happens before whatever acquires `object` later.
  void release(unsigned warp, SyncObject &object);
  /// What was released to `object` happens before what `warp` does next.
  void acquire(unsigned warp, const SyncObject &object);
  /// `fence.proxy.async` by `warp`.
  void fenceProxy(unsigned warp);

  // --- Accesses -------------------------------------------------------------

  /// The other access of a race, in words for a note.
  struct Conflict {
    enum Kind : uint8_t { Race, Async, Proxy } kind = Race;
    std::string message; ///< "warp 2 stored it at line 40: st.shared.b32 …"
    uint32_t address = 0;
  };
  /// Notes a read or store by `warp` at `instruction` and returns the conflict
  /// where there is one.
  std::optional<Conflict> noteRead(unsigned warp, uint32_t address,
                                   uint32_t size,
                                   const Instruction &instruction);
  std::optional<Conflict> noteWrite(unsigned warp, uint32_t address,
                                    uint32_t size,
                                    const Instruction &instruction);
  /// An atomic conflicts with plain accesses, not with atomics.
  std::optional<Conflict> noteAtomic(unsigned warp, uint32_t address,
                                     uint32_t size,
                                     const Instruction &instruction);
  /// A read through the async proxy (`cp.async.bulk` from shared memory,
  /// tensor-core descriptors), issued by `warp`.
  std::optional<Conflict> noteAsyncRead(unsigned warp, uint32_t address,
                                        uint32_t size,
                                        const Instruction &instruction);
  /// An asynchronous store is under way, issued by `warp`: nobody may touch the
  /// bytes until `completeAsyncWrite`.
  std::optional<Conflict> beginAsyncWrite(unsigned warp, uint32_t address,
                                          uint32_t size,
                                          const Instruction &instruction);
  /// The store is visible to `warp`, as if this one had just done it. With a
  /// `SyncObject` it becomes visible to whoever acquires that one instead.
  void completeAsyncWrite(unsigned warp, uint32_t address, uint32_t size,
                          const Instruction &instruction);
  void completeAsyncWrite(SyncObject &object, uint32_t address, uint32_t size,
                          const Instruction &instruction);

private:
  /// The last store to a byte, and the last reads of it.
  struct Access {
    uint32_t clock = 0;
    uint16_t warp = 0;
    bool isAtomic = false;
    bool isPending = false;
    const Instruction *instruction = nullptr;
  };

  std::vector<uint8_t> bytes, written;
  std::vector<VectorClock> clocks;
  unsigned numWarps;
  std::vector<Access> writers, readers;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SHAREDMEMORY_H
