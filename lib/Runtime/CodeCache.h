//===- CodeCache.h - Compiled code that processes share ---------*- C++ -*-===//
//
// A folder of files, one per entry, each named by the hash of everything that
// its contents depend on. Files appear whole, by renaming, and carry a hash of
// their own, so that whatever a crash, a full disk or another program did to
// one is seen and the entry made anew. LLVM's cache pruning keeps the folder
// within its size.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_CODECACHE_H
#define TILE_LIB_RUNTIME_CODECACHE_H

#include "tile/Runtime/Compiler.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace tile::runtime {

/// The hash of what an entry depends on.
struct CacheKey {
  std::array<uint8_t, 32> bytes = {};

  bool operator<(const CacheKey &other) const { return bytes < other.bytes; }
  bool operator==(const CacheKey &other) const { return bytes == other.bytes; }
  /// In hexadecimal.
  std::string str() const;
};

/// Hashes a list of fields. Their lengths take part, so that no two lists give
/// the same key by running into each other.
class CacheKeyBuilder {
public:
  CacheKeyBuilder &add(llvm::StringRef field);
  CacheKeyBuilder &add(uint64_t number);
  CacheKey get();

private:
  llvm::BLAKE3 hasher;
};

/// What identifies the code of this library and of LLVM: the hash changes with
/// every build whose output may differ.
const std::string &getBuildFingerprint();

/// The folder of a compiler. Thread-safe, and safe for many processes.
class CodeCache {
public:
  /// Resolves the folder. Nothing is created before the first write.
  explicit CodeCache(const CacheOptions &options);

  /// Empty where no folder is used.
  const std::string &getDirectory() const { return directory; }

  /// The entry, or nullopt where there is none or it is damaged; a damaged one
  /// is counted and removed. Marks the entry as used.
  std::optional<std::string> read(const CacheKey &key);

  /// Writes an entry, all of it or none, and prunes the folder now and then. An
  /// error says why it could not; nothing else changes then.
  Status write(const CacheKey &key, llvm::StringRef contents);

  uint64_t getRejected() const { return rejected; }
  uint64_t getWriteFailures() const { return writeFailures; }

private:
  std::string getPath(const CacheKey &key) const;

  std::string directory;
  uint64_t maxBytes = 0;
  std::atomic<uint64_t> rejected{0};
  std::atomic<uint64_t> writeFailures{0};
  std::atomic<uint64_t> bytesSincePruning{0};
  std::mutex pruningMutex;
};

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_CODECACHE_H
