//===- Compiler.h - From a kernel's text to something to launch -*- C++ -*-===//
//
//     Compiler compiler;
//     CompileOptions options;
//     options.target = "sm_120a";
//     options.constants = {{"BM", "64"}, {"BN", "64"}, {"BK", "128"}};
//     Expected<Kernel> kernel = compiler.compile(text, options);
//
// A compiler remembers what it has compiled, in memory and in a folder that
// processes share. One is enough for a process; threads may use it at once, and
// those that ask for the same kernel at the same time wait for one compilation.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_COMPILER_H
#define TILE_RUNTIME_COMPILER_H

#include "tile/Runtime/Device.h"
#include "tile/Runtime/Error.h"
#include "tile/Runtime/Kernel.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

class CompilerImpl;

/// The version of this library: "0.1.0".
const char *getVersion();

/// Every target that there is, oldest first: "sm_80", …
std::vector<std::string> getTargets();

/// Who turns PTX into machine code for a GPU.
enum class Assembler : int {
  Auto = 0,  ///< ptxas where it is found and knows the target, else the driver.
  Ptxas = 1, ///< ptxas; an error where there is none.
  Driver = 2, ///< The driver, when a kernel is loaded.
};

/// What a kernel is compiled for, and what its text leaves open. Attributes of
/// the kernel win over these.
struct CompileOptions {
  /// A row of docs/targets.md, such as "sm_120f". Left empty: that of `device`.
  std::string target;
  std::optional<Device> device;
  /// The kernel's function; may be empty where the module has only one kernel.
  std::string entry;

  /// Values for each `${NAME}` of the text: "128", "f32", …
  std::map<std::string, std::string> constants;
  /// Values for integer arguments, by name. A launch leaves these arguments
  /// out.
  std::map<std::string, int64_t> bindings;
  /// Extents of array arguments, by name; kDynamic for those that stay open. A
  /// launch checks them, and what follows of them is compiled in.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Compiles a variant at the first launch whose extents and strides allow
  /// wider accesses than the kernel promises: multiples of 16 and, of strides
  /// and of extents along rows, of smaller powers of two.
  bool specialize = true;

  unsigned numWarps = 0;        ///< 1, 2, 4, …, 32; 0: the compiler chooses.
  unsigned numStages = 0;       ///< 1 to 8; 0: the compiler chooses.
  unsigned groupPrograms = 8;   ///< 0 and 1: the order of the hardware.
  std::string mmaPath = "auto"; ///< "auto", "native" or "expand".
  std::string fp4Cvt = "auto";  ///< "auto", "hardware" or "software".
  std::string unpackAhead = "auto"; ///< "auto", "0" or "1".
  /// Copies whole tiles by tensor maps where the target, the kernel and its
  /// promises allow it. A launch encodes them.
  bool tma = false;
  unsigned ptxVersion = 0; ///< 88 is `.version 8.8`; 0: the lowest.
  bool lineInfo = false;   ///< `.loc` for the lines of the source.

  Assembler assembler = Assembler::Auto;
  /// Path of ptxas; empty: the search of docs/targets.md.
  std::string ptxas;

  /// Called with the kernel after each step. What is compiled with this set
  /// does not come from a cache.
  std::function<void(const Stage &)> onStage;
  /// Set by another thread to end a compilation, between its steps, with the
  /// error Cancelled.
  const std::atomic<bool> *cancel = nullptr;
};

/// How a compiler remembers.
struct CacheOptions {
  /// The folder; empty: the environment's TILE_CACHE_DIR, else
  /// XDG_CACHE_HOME/tile, else HOME/.cache/tile.
  std::string directory;
  /// Whether to use a folder at all. The environment's TILE_CACHE_DISABLE, set
  /// to anything but 0 and nothing, says no for every compiler.
  bool useDisk = true;
  /// What the folder may take; the entries used least recently go first. 0: no
  /// folder is used.
  uint64_t maxDiskBytes = uint64_t(1) << 30;
  /// Kernels kept in memory; those used least recently go first. 0: none.
  size_t maxKernels = 1024;
};

/// What the cache of one compiler did.
struct CacheStatistics {
  uint64_t memoryHits = 0;
  uint64_t diskHits = 0;
  uint64_t compilations = 0; ///< Of kernels and variants.
  uint64_t rejected = 0;     ///< Entries that were damaged and made anew.
  uint64_t writeFailures = 0;
  size_t kernels = 0; ///< In memory now.
};

/// Compiles kernels and remembers them. A handle: copies share the cache.
class Compiler {
public:
  explicit Compiler(const CacheOptions &options = {});

  /// The compiler that every part of a process can share.
  static Compiler &getDefault();

  /// Compiles a kernel of a module, MLIR text or bytecode. `name` stands for it
  /// in messages.
  Expected<Kernel> compile(std::string_view text, const CompileOptions &options,
                           const std::string &name = "<kernel>") const;
  /// The same for a file.
  Expected<Kernel> compileFile(const std::string &path,
                               const CompileOptions &options) const;

  /// Where entries go, or empty where no folder is used.
  std::string getCacheDirectory() const;
  CacheStatistics getCacheStatistics() const;
  /// Forgets what is in memory. Kernels that are in use stay as they are.
  void clearMemory() const;

  const std::shared_ptr<CompilerImpl> &getImpl() const { return impl; }

private:
  std::shared_ptr<CompilerImpl> impl;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_COMPILER_H
