//===- Memory.h - The emulated device's global memory -----------*- C++ -*-===//
//
// A 64-bit address space in which every buffer has a region of its own, far
// larger than the buffer: an access past an end, however far, hits no other
// buffer and names the one it missed. The bytes are the caller's own memory.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_EMULATOR_MEMORY_H
#define TILE_EMULATOR_MEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tile::emulator {

/// One buffer: a named range of addresses and the host bytes behind it.
struct Allocation {
  std::string name;
  uint64_t address = 0; ///< Of the first byte; aligned to 256 unless asked.
  uint64_t size = 0;    ///< In bytes, exact.
  uint8_t *bytes = nullptr;
  bool readOnly = false;
  bool live = false;
};

/// Buffers of one device. Mapping and unmapping are thread-safe; a buffer must
/// stay mapped while a kernel uses it.
class Memory {
public:
  enum class Access : uint8_t { ReadWrite, ReadOnly };

  /// log2 of the bytes of a region, one per buffer.
  static constexpr unsigned kRegionBits = 36;
  /// Offset of a buffer in its region, so that addresses below it are its own.
  static constexpr uint64_t kRegionBase = uint64_t(1) << 35;
  /// The first region of buffers; those below belong to modules.
  static constexpr uint64_t kFirstRegion = uint64_t(1) << 20;

  /// Makes host memory visible and returns its device address, which is
  /// `alignment`-aligned and no more than that. `bytes` must outlive the
  /// mapping. Errors: larger than 2^35 bytes, alignment not a power of two up
  /// to 4096.
  llvm::Expected<uint64_t> map(llvm::StringRef name,
                               llvm::MutableArrayRef<uint8_t> bytes,
                               Access access, uint64_t alignment = 256);
  /// Makes the buffer at `address` invisible; an error where there is none.
  llvm::Error unmap(uint64_t address);

  /// The buffer in whose region `address` lies, alive or not, or nullptr. Takes
  /// no lock. The region of a buffer that was unmapped is left alone for as
  /// long as possible, so that a stale address still names the buffer that it
  /// meant.
  const Allocation *find(uint64_t address) const {
    // An address below the first region wraps to one that is far too large.
    uint64_t region = (address >> kRegionBits) - kFirstRegion;
    if (region >= numRegions.load(std::memory_order_acquire))
      return nullptr;
    return &chunks[region / kChunkRegions][region % kChunkRegions];
  }

  /// A copy of the description of every mapped buffer, by address.
  std::vector<Allocation> getAllocations() const;

private:
  static constexpr uint64_t kChunkRegions = 1024;
  static constexpr uint64_t kMaxRegions = uint64_t(1) << 20;

  // Chunks never move, so that `find` may run while others are added.
  std::array<std::unique_ptr<Allocation[]>, kMaxRegions / kChunkRegions> chunks;
  std::atomic<uint64_t> numRegions{0};
  std::deque<uint64_t> freeRegions; ///< Oldest first.
  mutable std::mutex mutex;
};

} // namespace tile::emulator

#endif // TILE_EMULATOR_MEMORY_H
