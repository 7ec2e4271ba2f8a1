//===- KernelImpl.h - A kernel, its module and its variants -----*- C++ -*-===//

#ifndef TILE_LIB_RUNTIME_KERNELIMPL_H
#define TILE_LIB_RUNTIME_KERNELIMPL_H

#include "CodeCache.h"
#include "CompiledCode.h"
#include "DeviceImpl.h"
#include "Gate.h"
#include "tile/Formats/SymbolicExtent.h"
#include "tile/Runtime/Compiler.h"

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

namespace tile::runtime {

struct CodeStore;
class ReferenceKernel;

/// What a variant may count on beyond what the kernel promises: a divisor for
/// each extent and each stride of each array argument, in this order.
using Divisors = std::vector<uint8_t>;

class KernelImpl : public std::enable_shared_from_this<KernelImpl> {
public:
  KernelImpl(std::shared_ptr<CodeStore> store, CacheKey key,
             CompileOptions options, KernelDescription description,
             std::shared_ptr<const CompiledCode> base);
  ~KernelImpl();

  const KernelDescription &getDescription() const { return description; }
  const CompileOptions &getOptions() const { return options; }
  /// The variant that counts on nothing but the kernel's promises.
  const std::shared_ptr<const CompiledCode> &getBase() const { return base; }

  /// The tensor maps that it takes, as callers see them.
  const std::vector<TensorMap> &getTensorMaps() const { return tensorMaps; }

  /// What the values of a launch allow beyond the kernel's promises.
  Divisors getDivisors(const std::vector<CheckedArgument> &arguments) const;
  /// The variant for `divisors`; compiled at the first call.
  Expected<std::shared_ptr<const CompiledCode>>
  getVariant(const Divisors &divisors);
  unsigned getNumVariants() const;

  /// The assembled form of a variant, by ptxas.
  Expected<std::shared_ptr<const CompiledCode::Assembled>>
  assemble(const CompiledCode &code) const;

  /// What errors call argument `index`: `argument 3 (z)`.
  const std::string &getArgumentName(size_t index) const {
    return argumentNames[index];
  }

  /// The kernel as the reference device runs it; made at the first call.
  Expected<std::shared_ptr<ReferenceKernel>> getReference();

  /// Checks the arguments of a launch on `device`; null: on none that is known.
  Expected<std::vector<CheckedArgument>>
  check(const std::vector<Argument> &arguments, DeviceImpl *device,
        const LaunchOptions &options) const;

private:
  using Variant = MadeOnce<std::shared_ptr<const CompiledCode>>;

  Expected<std::shared_ptr<const CompiledCode>>
  makeVariant(const Divisors &divisors);

  std::shared_ptr<CodeStore> store;
  CacheKey key;
  CompileOptions options;
  KernelDescription description;
  /// What errors call each argument: `argument 3 (z)`. A launch makes no text.
  std::vector<std::string> argumentNames;
  std::vector<std::vector<SymbolicExtent>> extentRules;
  std::shared_ptr<const CompiledCode> base;
  std::vector<TensorMap> tensorMaps;
  mutable Shielded<std::shared_mutex> variantsMutex;
  std::map<Divisors, std::shared_ptr<Variant>> variants;
  MadeOnce<std::shared_ptr<ReferenceKernel>> reference;
};

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_KERNELIMPL_H
