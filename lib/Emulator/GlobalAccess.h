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
  GlobalSpace(const Memory &memory,
              const std::vector<Allocation> &variables, bool checkWriters);
  ~GlobalSpace();

  /// The allocation in whose region `address` is, or nullptr.
  const Allocation *find(uint64_t address) const;

  /// Who last stored to each byte: block + 1, or 0. Made on the first store.
  uint32_t *getWriters(const Allocation &allocation);

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

  /// Host memory for `bytes` bytes at `address`, or nullptr. Fast where the
  /// address is in the buffer of the last call.
  uint8_t *resolve(uint64_t address, unsigned bytes, bool isStore) {
    uint64_t offset = address - first;
    if (offset < size && bytes <= size - offset && !(isStore && readOnly) &&
        (address & (bytes - 1)) == 0)
      return host + offset;
    return resolveSlowly(address, bytes, bytes, isStore);
  }
  /// As above for sizes that are no power of two or need less alignment.
  uint8_t *resolveSlowly(uint64_t address, uint64_t bytes, unsigned alignment,
                         bool isStore);
  /// Why `resolve` returned nullptr: "16 bytes at offset 4088 of buffer 'x',
  /// which has 4096 bytes".
  Problem explain(uint64_t address, uint64_t bytes, unsigned alignment,
                  bool isStore) const;

  /// Notes a plain store of `bytes` bytes at `host` (from `resolve`) and
  /// returns false where another block has stored a different value there;
  /// `other` is then that block. Called before the bytes change.
  bool noteStore(uint64_t address, const uint8_t *host, const uint8_t *value,
                 unsigned bytes, uint64_t &other);

private:
  GlobalSpace &space;
  uint64_t block;
  uint64_t first = 0, size = 0;
  uint8_t *host = nullptr;
  bool readOnly = true;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_GLOBALACCESS_H
