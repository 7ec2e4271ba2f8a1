//===- GlobalAccess.h - Global memory as a kernel sees it -------*- C++ -*-===//
//
// Turns device addresses into host memory, or says what is wrong with them: no
// buffer there, past an end, misaligned, read-only. Finds two blocks that store
// different values to one element.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_GLOBALACCESS_H
#define TILE_LIB_EMULATOR_GLOBALACCESS_H

#include "tile/Emulator/Memory.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tile::emulator {

/// The global memory of one launch: the caller's buffers and the variables of
/// the module, with who wrote what.
class GlobalSpace {
public:
  /// `variables[i]` lies in region `kFirstModuleRegion + i` (Program.h).
  GlobalSpace(const Memory &memory, const std::vector<Allocation> &variables,
              bool checkWriters);
  ~GlobalSpace();

  /// The allocation in whose region `address` is, or nullptr.
  const Allocation *find(uint64_t address) const;

  /// Who last stored to each aligned word of four bytes, and what; see
  /// GlobalAccess.cpp. Made on the first store. Null where writers are not
  /// checked.
  std::atomic<uint64_t> *getWriters(const Allocation &allocation);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
  friend class GlobalAccess;
};

/// One block's view.
class GlobalAccess {
public:
  GlobalAccess(GlobalSpace &space, uint64_t block)
      : space(space), block(block) {}

  /// What is wrong with an access, in words, and where.
  struct Problem {
    enum Kind : uint8_t { None, OutOfBounds, Misaligned, ReadOnly } kind = None;
    std::string message;
    std::string buffer;
  };

  /// A buffer's range of addresses and the host memory behind it.
  struct Window {
    uint64_t first = 0, size = 0;
    uint8_t *host = nullptr;
    bool readOnly = true;
    std::atomic<uint64_t> *writers = nullptr; ///< Once there was a store.
    const Allocation *allocation = nullptr;
  };

  /// The window of the buffer in whose region `address` is; an empty one where
  /// there is no buffer. Valid until the next call.
  Window &getWindow(uint64_t address) {
    Window &window = windows[address >> Memory::kRegionBits & (kWindows - 1)];
    if (address - window.first < window.size)
      return window;
    return findWindow(address, window);
  }

  /// Host memory for `bytes` bytes at `address`, a multiple of `alignment`, or
  /// nullptr.
  uint8_t *resolve(uint64_t address, uint64_t bytes, uint64_t alignment,
                   bool isStore) {
    Window &window = getWindow(address);
    uint64_t offset = address - window.first;
    if (offset < window.size && bytes <= window.size - offset &&
        !(isStore && window.readOnly) && (address & (alignment - 1)) == 0)
      return window.host + offset;
    return nullptr;
  }
  /// Why `resolve` returned nullptr: "16 bytes at offset 4088 of buffer 'x',
  /// which has 4096 bytes".
  Problem explain(uint64_t address, uint64_t bytes, uint64_t alignment,
                  bool isStore) const;
  /// "offset 16 of buffer 'x'", for any address.
  std::string describe(uint64_t address) const;
  /// The name of the buffer in whose region `address` is, or empty.
  std::string getBufferName(uint64_t address) const;

  /// Notes a plain store of `bytes` bytes with values `value`, all inside one
  /// buffer that may be written, and returns false where another block has
  /// stored a different value there; `other` is then that block.
  bool noteStore(uint64_t address, const uint8_t *value, uint64_t bytes,
                 uint64_t &other);
  /// Whether any block has stored to one of `bytes` bytes, all inside one
  /// buffer. False where writers are not checked.
  bool hasStores(uint64_t address, uint64_t bytes);

private:
  static constexpr unsigned kWindows = 8;

  Window &findWindow(uint64_t address, Window &window);
  bool noteWord(std::atomic<uint64_t> &cell, uint64_t key, unsigned mask,
                uint32_t value, uint64_t &other);
  bool noteMixed(std::atomic<uint64_t> &cell, uint64_t key, unsigned mask,
                 uint32_t value, uint64_t &other);

  GlobalSpace &space;
  uint64_t block;
  Window windows[kWindows];
  Window none;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_GLOBALACCESS_H
