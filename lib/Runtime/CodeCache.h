//===- CodeCache.h - Compiled code that processes share ---------*- C++ -*-===//
//
// A folder of files, one per entry, each named by the hash of everything that
// its contents depend on. Files appear whole, by renaming, and carry a hash of
// their own, so that whatever a crash, a full disk or another program did to
// one is seen and the entry made anew.
//
// Entries become code that runs, so only files are read that nobody else could
// have written: those that belong to this user or to root, and that neither
// group nor others may write. The folder may be anybody's: in one that several
// users write to, each makes entries of their own, and the last one stays.
//
// Size: a compiler that has written a sixteenth of what the folder may take
// removes the files used least recently until fifteen sixteenths are left, or
// less where the disk is nearly full. Reading an entry counts as a use.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_CODECACHE_H
#define TILE_LIB_RUNTIME_CODECACHE_H

#include "Gate.h"
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
#include <system_error>

namespace tile::runtime {

/// The hash of what an entry depends on.
struct CacheKey {
  std::array<uint8_t, 32> bytes = {};

  bool operator<(const CacheKey &other) const { return bytes < other.bytes; }
  bool operator==(const CacheKey &other) const { return bytes == other.bytes; }
  /// In hexadecimal.
  std::string str() const;
};

/// Hashes a list of fields. Their kinds and lengths take part, so that no two
/// lists give the same key by running into each other.
class CacheKeyBuilder {
public:
  CacheKeyBuilder &add(llvm::StringRef field);
  CacheKeyBuilder &add(uint64_t number);
  CacheKey get();

private:
  llvm::BLAKE3 hasher;
};

/// What identifies the code of this library, of LLVM and of MLIR: their
/// versions, and the build-ids of the objects that hold them. Changes with
/// every build whose output may differ.
const std::string &getBuildFingerprint();

/// The folder of a compiler. Thread-safe, and safe for many processes.
class CodeCache {
public:
  /// Resolves the folder. Nothing is created before the first write.
  explicit CodeCache(const CacheOptions &options);

  /// Absolute; empty where no folder is used.
  const std::string &getDirectory() const { return directory; }

  /// The entry, or nullopt where there is none, or it is damaged or somebody
  /// else could have written it; such a one is counted and removed. Marks the
  /// entry as used.
  std::optional<std::string> read(const CacheKey &key);

  /// Writes an entry, all of it or none, and prunes the folder now and then. An
  /// error (Io) names the path and says why it could not; no file is left then.
  /// Success without a file where the options or the environment want no
  /// folder.
  Status write(const CacheKey &key, llvm::StringRef contents);

  /// Entries that `read` refused.
  uint64_t getRejected() const { return rejected; }
  uint64_t getWriteFailures() const { return writeFailures; }

private:
  std::string getPath(const CacheKey &key) const;
  /// Writes a file beside its name, and gives it that name.
  std::error_code writeFile(const std::string &path,
                            llvm::ArrayRef<llvm::StringRef> pieces,
                            const char *&step) const;
  /// Removes the files used least recently, and those that writers abandoned.
  /// Does nothing while another thread is at it.
  void prune();

  std::string directory;
  /// Why there is no folder although one is wanted.
  std::string problem;
  uint64_t maxBytes = 0;
  std::atomic<uint64_t> rejected{0};
  std::atomic<uint64_t> writeFailures{0};
  std::atomic<uint64_t> bytesSincePruning{0};
  PerProcess<std::mutex> pruningMutex;
};

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_CODECACHE_H
