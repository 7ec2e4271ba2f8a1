//===- MemoryAccess.h - From address operands to host memory ----*- C++ -*-===//
//
// What all instructions that touch memory share: the words of a state space,
// the addresses of the lanes, the host memory behind them, and the checks and
// counters of an access.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_MEMORYACCESS_H
#define TILE_LIB_EMULATOR_MEMORYACCESS_H

#include "Decoder.h"
#include "Machine.h"

namespace tile::emulator {

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// An address operand and the space that it is in. `space` is Generic, Global
/// (constant variables too: their addresses are generic ones), Shared, Local,
/// or Parameter for the parameters of the kernel.
struct MemoryOperand {
  AddressOperand address;
  StateSpace space = StateSpace::Generic;
  /// Constant variables may not be stored to.
  bool isConstant = false;
};

/// Takes the word of a state space: "shared", "shared::cta", "param::func", ….
/// Generic where there is none. The sub-qualifier, with two words of one space
/// the first, goes to `qualifier`.
StateSpace takeSpace(Decoder &decoder, llvm::StringRef *qualifier = nullptr);

/// Operand `i` as an address in `space`, which the opcode names; Generic takes
/// the space of the variable that the operand names, if it does.
llvm::Expected<MemoryOperand> takeMemoryOperand(Decoder &decoder, unsigned i,
                                                StateSpace space);

/// Takes ".relaxed.gpu", ".acquire.cta", ".volatile", ".weak", …. An error
/// where the words do not go together.
struct Ordering {
  /// `weak`, `volatile`, `relaxed`, `acquire`, `release`, `acq_rel`, or empty.
  llvm::StringRef semantics;
  llvm::StringRef scope;
  /// Volatile, relaxed, acquire, release.
  bool isStrong() const { return !semantics.empty() && semantics != "weak"; }
};
llvm::Expected<Ordering>
takeOrdering(Decoder &decoder, llvm::ArrayRef<llvm::StringRef> semantics);

/// Takes the hints of caches: "L1::evict_first", "L2::128B", "L2::cache_hint".
/// Returns whether a cache policy follows as last operand.
bool takeCacheHints(Decoder &decoder);
/// Checks operand `i`, a cache policy of 64 bits, which has no effect.
llvm::Error checkCachePolicy(Decoder &decoder, unsigned i);

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// The addresses of the active lanes; those of others are unspecified. False
/// after a fault: an address that has not been written.
bool evaluate(const Instruction &instruction, Lanes &lanes,
              const AddressOperand &address, uint64_t (&addresses)[kLanes]);

/// How one instruction accesses memory.
struct AccessKind {
  llvm::StringRef verb; ///< "load", "store", … for messages.
  unsigned bytes = 0;
  unsigned alignment = 1;
  SharedMemory::Access shared = SharedMemory::Access::Read;
  bool isStore = false;
  /// Orders the warps that access one location: see SharedMemory.
  bool acquires = false, releases = false;
};

/// Host memory of an access, by lane.
struct Resolved {
  uint8_t *bytes[kLanes];
  /// The written bits of the bytes; only for the lanes in `tracked`.
  uint8_t *written[kLanes];
  uint32_t tracked = 0;
  uint32_t global = 0; ///< Lanes whose memory is global.
  uint32_t shared = 0; ///< Lanes whose memory is shared.
};

/// Finds the host memory of the active lanes and makes all checks that need no
/// values: bounds, alignment, read-only, races in shared memory. Counts the
/// traffic, and orders warps where the access does. Inactive lanes get memory
/// that may be read. `values`, where given, are what a plain store stores,
/// `kind.bytes` bytes per lane. False after a fault.
bool resolve(const Instruction &instruction, Lanes &lanes, StateSpace space,
             const uint64_t (&addresses)[kLanes], const AccessKind &kind,
             Resolved &resolved, const uint8_t *values = nullptr);

/// Addresses of the lanes in `mask` in shared memory, given directly or through
/// the generic window, with bounds and alignment checked; no race check, no
/// counting. False after a fault.
bool resolveShared(const Instruction &instruction, Lanes &lanes, uint32_t mask,
                   StateSpace space, const uint64_t (&addresses)[kLanes],
                   uint64_t bytes, unsigned alignment, llvm::StringRef verb,
                   uint32_t (&offsets)[kLanes]);

/// Finds the shared memory of lanes that are all active and whose accesses
/// stand side by side from `address` on, with what `resolve` does for them.
/// Null where that has to look lane by lane, or after a fault.
uint8_t *resolveSharedRow(const Instruction &instruction, Lanes &lanes,
                          uint64_t address, const AccessKind &kind,
                          const uint8_t *values = nullptr);

/// Copies 1, 2, 4, 8, 16 or 32 bytes.
inline void copyBytes(uint8_t *to, const uint8_t *from, unsigned bytes) {
  switch (bytes) {
  case 1:
    *to = *from;
    break;
  case 2:
    std::memcpy(to, from, 2);
    break;
  case 4:
    std::memcpy(to, from, 4);
    break;
  case 8:
    std::memcpy(to, from, 8);
    break;
  case 16:
    std::memcpy(to, from, 16);
    break;
  default:
    std::memcpy(to, from, 32);
    break;
  }
}

/// Whether all bits of `bytes` bytes have been written.
inline bool areWritten(const uint8_t *written, uint64_t bytes) {
  uint64_t all = ~uint64_t(0);
  for (; bytes >= 8; bytes -= 8, written += 8) {
    uint64_t word;
    std::memcpy(&word, written, 8);
    all &= word;
  }
  for (; bytes; --bytes, ++written)
    all &= *written | ~uint64_t(0xFF);
  return all == ~uint64_t(0);
}

/// As `SharedMemory::note`, with the fault. False after one.
bool noteShared(const Instruction &instruction, Lanes &lanes,
                SharedMemory::Access access, uint32_t mask,
                const uint32_t *offsets, uint32_t bytes, llvm::StringRef verb,
                const uint8_t *values, SharedMemory::Pending &pending);
bool noteShared(const Instruction &instruction, Lanes &lanes,
                SharedMemory::Access access, uint32_t mask,
                const uint32_t *offsets, uint32_t bytes, llvm::StringRef verb,
                const uint8_t *values = nullptr);

/// Reports what is wrong with an access to global memory.
void faultGlobal(const Instruction &instruction, Warp &warp, unsigned lane,
                 uint64_t address, uint64_t bytes, unsigned alignment,
                 bool isStore, llvm::StringRef verb);
/// "shared address 0x480 (offset 16 of 'tile', 512 bytes)".
std::string describeShared(const Program &program, uint32_t offset);

/// Checks a plain store of `bytes` bytes of `values` to global memory against
/// other blocks, and counts it as progress. False after a fault.
bool noteGlobalStore(const Instruction &instruction, Warp &warp, unsigned lane,
                     uint64_t address, const uint8_t *values, uint64_t bytes);

/// Prints the access of `lane` where somebody watches its bytes.
void watch(const Instruction &instruction, Warp &warp, unsigned lane,
           uint64_t address, uint64_t bytes, llvm::StringRef verb,
           const uint8_t *values);
/// Whether anybody watches.
inline bool isWatched(const Warp &warp) {
  return warp.getBlock().getLaunch().options->trace.watchBytes != 0;
}

/// Distinct sectors of 32 bytes among the lanes in `mask`.
unsigned countSectors(uint32_t mask, const uint64_t *addresses, unsigned bytes);
/// Wavefronts of an access to shared memory, and the least that so many lanes
/// need: accesses of 8 bytes are served half a warp at a time, those of 16
/// bytes a quarter.
struct Wavefronts {
  unsigned actual = 0, ideal = 0;
};
Wavefronts countWavefronts(uint32_t mask, const uint32_t *offsets,
                           unsigned bytes);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_MEMORYACCESS_H
