//===- GlobalAccess.cpp - Global memory as a kernel sees it ---------------===//
//
// Who stored what: each aligned word of four bytes has a cell of 64 bits, which
// holds the block that stored to it last, which of the bytes it stored, and
// their values. Cell and value change in one atomic step, so that two blocks on
// two host threads find their conflict whichever comes first. A word to whose
// bytes several blocks have stored is "mixed": its bytes have cells of their
// own in a table under a lock.
//
//===----------------------------------------------------------------------===//

#include "GlobalAccess.h"

#include "Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace tile::emulator {

using llvm::Twine;

/// A cell: block + 1 in bits 63:36, stored bytes in bits 35:32, values below.
static constexpr unsigned kBlockShift = 36, kMaskShift = 32;
/// Number that no block has.
static constexpr uint64_t kMixed = ~uint64_t(0) >> kBlockShift;

struct GlobalSpace::Implementation {
  Implementation(const Memory &memory, const std::vector<Allocation> &variables,
                 bool checkWriters)
      : memory(memory), variables(variables), checkWriters(checkWriters) {}

  const Memory &memory;
  const std::vector<Allocation> &variables;
  bool checkWriters;

  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::mutex mutex;
  llvm::DenseMap<const Allocation *,
                 std::unique_ptr<std::atomic<uint64_t>[], Free>>
      writers;

  /// The bytes of the mixed words: a block's number, 0 for none, and a value.
  struct Bytes {
    uint64_t blocks[4] = {};
    uint8_t values[4] = {};
  };
  static constexpr unsigned kShards = 64;
  struct Shard {
    std::mutex mutex;
    llvm::DenseMap<const void *, Bytes> words;
  } shards[kShards];
};

GlobalSpace::GlobalSpace(const Memory &memory,
                         const std::vector<Allocation> &variables,
                         bool checkWriters)
    : implementation(
          std::make_unique<Implementation>(memory, variables, checkWriters)) {}

GlobalSpace::~GlobalSpace() = default;

const Allocation *GlobalSpace::find(uint64_t address) const {
  uint64_t region = (address >> Memory::kRegionBits) - kFirstModuleRegion;
  if (region < implementation->variables.size())
    return &implementation->variables[region];
  return implementation->memory.find(address);
}

std::atomic<uint64_t> *GlobalSpace::getWriters(const Allocation &allocation) {
  if (!implementation->checkWriters)
    return nullptr;
  std::lock_guard<std::mutex> lock(implementation->mutex);
  auto &table = implementation->writers[&allocation];
  if (!table) {
    // Pages that nobody touches cost nothing. An address need not be a multiple
    // of four, so that a buffer may have a part of a word at both ends.
    void *cells = std::calloc(allocation.size / 4 + 2, sizeof(uint64_t));
    table.reset(static_cast<std::atomic<uint64_t> *>(cells));
  }
  return table.get();
}

GlobalAccess::Window &GlobalAccess::findWindow(uint64_t address,
                                               Window &window) {
  const Allocation *allocation = space.find(address);
  if (!allocation || !allocation->live) {
    none = Window();
    return none;
  }
  window.first = allocation->address;
  window.size = allocation->size;
  window.host = allocation->bytes;
  window.readOnly = allocation->readOnly;
  if (window.allocation != allocation)
    window.writers = nullptr;
  window.allocation = allocation;
  return window;
}

/// "offset 16 of buffer 'x'".
static std::string describeOffset(const Allocation &allocation,
                                  uint64_t address) {
  return ("offset " +
          Twine(static_cast<int64_t>(address - allocation.address)) +
          " of buffer '" + allocation.name + "'")
      .str();
}

std::string GlobalAccess::describe(uint64_t address) const {
  if (const Allocation *allocation = space.find(address))
    return describeOffset(*allocation, address);
  return "address 0x" + llvm::utohexstr(address, /*LowerCase=*/true);
}

std::string GlobalAccess::getBufferName(uint64_t address) const {
  const Allocation *allocation = space.find(address);
  return allocation ? allocation->name : std::string();
}

GlobalAccess::Problem GlobalAccess::explain(uint64_t address, uint64_t bytes,
                                            uint64_t alignment,
                                            bool isStore) const {
  Problem problem;
  std::string what =
      (Twine(bytes) + (bytes == 1 ? " byte" : " bytes") + " at ").str();
  const Allocation *allocation = space.find(address);
  if (!allocation) {
    problem.kind = Problem::OutOfBounds;
    problem.message =
        what + describe(address) +
        (address < (uint64_t(1) << 16) ? ", which is a null pointer's"
                                       : ", where there is no buffer");
    return problem;
  }
  problem.buffer = allocation->name;
  what += describeOffset(*allocation, address);
  uint64_t offset = address - allocation->address;
  if (!allocation->live) {
    problem.kind = Problem::OutOfBounds;
    problem.message = what + ", which is no longer mapped";
  } else if (offset >= allocation->size || bytes > allocation->size - offset) {
    problem.kind = Problem::OutOfBounds;
    problem.message =
        what + ", which has " + std::to_string(allocation->size) + " bytes";
  } else if (address & (alignment - 1)) {
    problem.kind = Problem::Misaligned;
    problem.message =
        what + ", which is not a multiple of " + std::to_string(alignment);
  } else if (isStore && allocation->readOnly) {
    problem.kind = Problem::ReadOnly;
    problem.message = what + ", which is read-only";
  }
  return problem;
}

//===----------------------------------------------------------------------===//
// Writers
//===----------------------------------------------------------------------===//

/// The bits of a word that the bytes in `mask` have.
static uint32_t expandMask(unsigned mask) {
  return (mask & 1 ? 0xFFu : 0) | (mask & 2 ? 0xFF00u : 0) |
         (mask & 4 ? 0xFF0000u : 0) | (mask & 8 ? 0xFF000000u : 0);
}

bool GlobalAccess::noteMixed(std::atomic<uint64_t> &cell, uint64_t key,
                             unsigned mask, uint32_t value, uint64_t &other) {
  auto &shard = space.implementation
                    ->shards[reinterpret_cast<uintptr_t>(&cell) / sizeof(cell) %
                             GlobalSpace::Implementation::kShards];
  std::lock_guard<std::mutex> lock(shard.mutex);
  auto &bytes = shard.words[&cell];
  // Another thread may still store to the cell; it becomes mixed only here.
  uint64_t old =
      cell.exchange(kMixed << kBlockShift, std::memory_order_relaxed);
  uint64_t oldKey = old >> kBlockShift;
  if (oldKey != kMixed && oldKey != 0)
    for (unsigned i = 0; i != 4; ++i)
      if (old >> kMaskShift >> i & 1) {
        bytes.blocks[i] = oldKey;
        bytes.values[i] = static_cast<uint8_t>(old >> 8 * i);
      }
  for (unsigned i = 0; i != 4; ++i) {
    if (!(mask >> i & 1))
      continue;
    uint8_t byte = static_cast<uint8_t>(value >> 8 * i);
    if (bytes.blocks[i] && bytes.blocks[i] != key && bytes.values[i] != byte) {
      other = bytes.blocks[i] - 1;
      return false;
    }
    bytes.blocks[i] = key;
    bytes.values[i] = byte;
  }
  return true;
}

bool GlobalAccess::noteWord(std::atomic<uint64_t> &cell, uint64_t key,
                            unsigned mask, uint32_t value, uint64_t &other) {
  value &= expandMask(mask);
  uint64_t old = cell.load(std::memory_order_relaxed);
  while (true) {
    uint64_t oldKey = old >> kBlockShift;
    unsigned oldMask = static_cast<unsigned>(old >> kMaskShift) & 15;
    uint32_t oldValue = static_cast<uint32_t>(old);
    uint64_t next;
    if (oldKey == 0 || oldKey == key) {
      next = key << kBlockShift | uint64_t(oldMask | mask) << kMaskShift |
             (oldValue & ~expandMask(mask)) | value;
    } else if (oldKey == kMixed) {
      return noteMixed(cell, key, mask, value, other);
    } else {
      if ((oldValue ^ value) & expandMask(oldMask & mask)) {
        other = oldKey - 1;
        return false;
      }
      // Equal bytes may be called either block's.
      if ((oldMask & ~mask) == 0)
        next = key << kBlockShift | uint64_t(mask) << kMaskShift | value;
      else if ((mask & ~oldMask) == 0)
        return true;
      else
        return noteMixed(cell, key, mask, value, other);
    }
    if (next == old ||
        cell.compare_exchange_weak(old, next, std::memory_order_relaxed))
      return true;
  }
}

bool GlobalAccess::noteStore(uint64_t address, const uint8_t *value,
                             uint64_t bytes, uint64_t &other) {
  Window &window = getWindow(address);
  if (!window.writers) {
    if (!window.allocation || !space.implementation->checkWriters)
      return true;
    window.writers = space.getWriters(*window.allocation);
    if (!window.writers)
      return true;
  }
  // Grids have less than 2^28 blocks in practice; further ones are not told
  // apart from the first.
  uint64_t key = block % (kMixed - 1) + 1;
  std::atomic<uint64_t> *cell =
      window.writers + ((address >> 2) - (window.first >> 2));
  // Whole words that this block has stored before with these values, or that
  // nobody has stored.
  const uint64_t owner = key << kBlockShift | uint64_t(15) << kMaskShift;
  if ((address & 3) == 0)
    for (; bytes >= 4; ++cell, address += 4, value += 4, bytes -= 4) {
      uint32_t word;
      std::memcpy(&word, value, 4);
      uint64_t old = cell->load(std::memory_order_relaxed);
      if (old != (owner | word) &&
          (old != 0 || !cell->compare_exchange_strong(
                           old, owner | word, std::memory_order_relaxed)) &&
          !noteWord(*cell, key, 15, word, other))
        return false;
    }
  while (bytes) {
    unsigned first = address & 3;
    unsigned count =
        bytes < 4 - first ? static_cast<unsigned>(bytes) : 4 - first;
    uint32_t word = 0;
    std::memcpy(reinterpret_cast<uint8_t *>(&word) + first, value, count);
    if (!noteWord(*cell, key, ((1u << count) - 1) << first, word, other))
      return false;
    ++cell;
    address += count;
    value += count;
    bytes -= count;
  }
  return true;
}

bool GlobalAccess::hasStores(uint64_t address, uint64_t bytes) {
  Window &window = getWindow(address);
  if (!window.writers && window.allocation)
    window.writers = space.getWriters(*window.allocation);
  if (!window.writers)
    return false;
  const uint64_t first = (address >> 2) - (window.first >> 2);
  const uint64_t last = ((address + bytes - 1) >> 2) - (window.first >> 2);
  for (uint64_t cell = first; cell <= last; ++cell)
    if (window.writers[cell].load(std::memory_order_relaxed))
      return true;
  return false;
}

} // namespace tile::emulator
