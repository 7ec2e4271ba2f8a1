//===- CompilerImpl.h - What a compiler remembers ---------------*- C++ -*-===//

#ifndef TILE_LIB_RUNTIME_COMPILERIMPL_H
#define TILE_LIB_RUNTIME_COMPILERIMPL_H

#include "CodeCache.h"
#include "CompiledCode.h"
#include "Gate.h"
#include "tile/Runtime/Compiler.h"
#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace tile::runtime {

class KernelImpl;

/// The folder of a compiler, and what has been counted. Kernels share it, and
/// so may outlive their compiler.
struct CodeStore {
  explicit CodeStore(const CacheOptions &options) : disk(options) {}

  /// Writes an entry. Where that fails, the code works all the same: a remark
  /// of it says so.
  void write(const CacheKey &key, llvm::StringRef contents,
             std::vector<Remark> &remarks);

  CodeCache disk;
  std::atomic<uint64_t> memoryHits{0}, diskHits{0}, compilations{0};
};

class CompilerImpl {
public:
  explicit CompilerImpl(const CacheOptions &options);

  Expected<std::shared_ptr<KernelImpl>> compile(std::string_view text,
                                                CompileOptions options,
                                                const std::string &name);

  CodeStore &getStore() { return *store; }
  CacheStatistics getStatistics() const;
  void clearMemory();

private:
  /// A kernel, and the gate that the first to ask for it holds while it makes
  /// it.
  struct Entry {
    Gate gate;
    std::shared_ptr<KernelImpl> kernel;
    std::list<CacheKey>::iterator age;
  };

  std::shared_ptr<Entry> getEntry(const CacheKey &key);
  void forget(const CacheKey &key, const std::shared_ptr<Entry> &entry);
  Expected<std::shared_ptr<KernelImpl>> make(const CacheKey &key,
                                             std::string_view text,
                                             const CompileOptions &options,
                                             const std::string &name);

  const size_t maxKernels;
  const std::shared_ptr<CodeStore> store;
  mutable Shielded<> mutex; ///< Of the two below.
  std::map<CacheKey, std::shared_ptr<Entry>> entries;
  std::list<CacheKey> ages; ///< The one used last first.
};

/// The error of those who were asked to stop.
Error makeCancelled();

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_COMPILERIMPL_H
