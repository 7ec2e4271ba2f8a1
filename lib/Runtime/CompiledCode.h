//===- CompiledCode.h - What one compilation leaves -------------*- C++ -*-===//

#ifndef TILE_LIB_RUNTIME_COMPILEDCODE_H
#define TILE_LIB_RUNTIME_COMPILEDCODE_H

#include "Gate.h"
#include "tile/Codegen/KernelParameters.h"
#include "tile/Runtime/Kernel.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tile::runtime {

/// One variant of a kernel as PTX. Constant once it is made, but for what
/// devices attach to it.
struct CompiledCode {
  std::string target;
  std::string entry;
  std::string ptx;
  unsigned blockThreads = 0;                  ///< block = blockThreads,1,1
  unsigned sharedBytes = 0;                   ///< dynamic shared memory
  std::vector<TensorMapParameter> tensorMaps; ///< in order
  std::vector<Remark> remarks;
  std::vector<Multiply> multiplies;

  /// The assembled form, where a launch or a caller has asked for it.
  struct Assembled {
    std::string cubin;
    Resources resources;
  };

  /// Returns the assembled form, which `make` makes at the first call that
  /// succeeds. Thread-safe; others wait.
  Expected<std::shared_ptr<const Assembled>>
  getAssembled(const std::function<Expected<Assembled>()> &make) const;

  /// Returns what a device keeps with this code, such as a loaded module;
  /// `load` makes it at the first call that succeeds. `device` tells devices
  /// apart. It is destroyed with the code. Thread-safe; others wait.
  Expected<std::shared_ptr<void>>
  getLoaded(const void *device,
            const std::function<Expected<std::shared_ptr<void>>()> &load) const;

private:
  mutable MadeOnce<std::shared_ptr<const Assembled>> assembled;
  mutable Shielded<> loadMutex; ///< Of the map, not of its elements.
  /// For each device: one GPU does not wait until another has loaded.
  mutable std::map<const void *, MadeOnce<std::shared_ptr<void>>> loaded;
};

/// All that is known of a kernel without its module.
struct KernelDescription {
  std::string name;   ///< What stands for the text in messages.
  std::string entry;  ///< The function.
  std::string target; ///< As the options have it.
  std::vector<Parameter> parameters;
  /// The parameters of the PTX entry, in terms of `parameters`.
  std::vector<KernelParameter> abi;
  /// The module with bindings and shapes put in, as MLIR bytecode.
  std::string module;
};

/// Whether the tensor maps of `code` are such as a kernel with this description
/// can have.
bool fits(const CompiledCode &code, const KernelDescription &description);

/// The forms on disk. Any text that these functions did not write, in this
/// version, reads as nullopt or as an object that they could have written:
/// enumerators exist, each array has as many strides as extents, and `abi` and
/// the tensor maps of a kernel name parameters and dimensions that there are.
std::string serialize(const CompiledCode &code);
std::string serialize(const CompiledCode::Assembled &assembled);
std::string serialize(const KernelDescription &description,
                      const CompiledCode &code);
std::optional<std::shared_ptr<CompiledCode>>
deserializeCode(llvm::StringRef text);
std::optional<CompiledCode::Assembled>
deserializeAssembled(llvm::StringRef text);
std::optional<std::pair<KernelDescription, std::shared_ptr<CompiledCode>>>
deserializeKernel(llvm::StringRef text);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_COMPILEDCODE_H
