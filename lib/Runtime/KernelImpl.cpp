//===- KernelImpl.cpp - A kernel, its module and its variants -------------===//

#include "KernelImpl.h"

#include "CompilerImpl.h"
#include "Frontend.h"
#include "tile/Codegen/Ptxas.h"
#include "llvm/Support/Error.h"

#include <cstdlib>

using namespace tile::runtime;

/// Variants of one kernel. Extents that are all over the place would make more;
/// launches that come later then run the code that fits every one.
static constexpr size_t kMaxVariants = 64;

KernelImpl::KernelImpl(std::shared_ptr<CodeStore> store, CacheKey key,
                       CompileOptions options, KernelDescription description,
                       std::shared_ptr<const CompiledCode> base)
    : store(std::move(store)), key(key), options(std::move(options)),
      description(std::move(description)), base(std::move(base)) {
  // These are the caller's, and end with its call.
  this->options.cancel = nullptr;
  this->options.onStage = nullptr;
  for (const Parameter &parameter : this->description.parameters) {
    argumentNames.push_back("argument " + std::to_string(argumentNames.size()) +
                            " (" + parameter.name + ")");
    std::vector<SymbolicExtent> &rules = extentRules.emplace_back();
    for (const std::string &text : parameter.extents)
      rules.push_back(SymbolicExtent::parse(text).value_or(SymbolicExtent()));
  }
  for (const TensorMapParameter &map : this->base->tensorMaps)
    tensorMaps.push_back({map.parameter, map.argument, map.dims, map.box,
                          map.swizzle, map.type, map.fill});
}

KernelImpl::~KernelImpl() = default;

unsigned KernelImpl::getNumVariants() const {
  std::shared_lock lock(variantsMutex);
  return 1 + static_cast<unsigned>(variants.size());
}

Expected<std::shared_ptr<const CompiledCode>>
KernelImpl::getVariant(const Divisors &divisors) {
  if (divisors.empty())
    return base;
  std::shared_ptr<Variant> variant;
  {
    std::shared_lock lock(variantsMutex);
    if (auto it = variants.find(divisors); it != variants.end())
      variant = it->second;
  }
  if (!variant) {
    std::unique_lock lock(variantsMutex);
    if (variants.size() >= kMaxVariants && !variants.count(divisors))
      return base;
    std::shared_ptr<Variant> &slot = variants[divisors];
    if (!slot)
      slot = std::make_shared<Variant>();
    variant = slot;
  }
  return variant->get([&] { return makeVariant(divisors); });
}

Expected<std::shared_ptr<const CompiledCode>>
KernelImpl::makeVariant(const Divisors &divisors) {
  CacheKeyBuilder builder;
  builder.add(key.str()).add("variant");
  for (uint8_t divisor : divisors)
    builder.add(divisor);
  const CacheKey variantKey = builder.get();
  if (std::optional<std::string> entry = store->disk.read(variantKey)) {
    if (auto code = deserializeCode(*entry);
        code && fits(**code, description)) {
      ++store->diskHits;
      return std::shared_ptr<const CompiledCode>(std::move(*code));
    }
  }
  auto code = compileKernel(description, divisors, options);
  if (!code)
    return std::move(code).error();
  ++store->compilations;
  store->write(variantKey, serialize(**code), (*code)->remarks);
  return std::shared_ptr<const CompiledCode>(std::move(*code));
}

Expected<std::shared_ptr<ReferenceKernel>> KernelImpl::getReference() {
  return reference.get([&] { return prepareReference(description); });
}

//===----------------------------------------------------------------------===//
// ptxas
//===----------------------------------------------------------------------===//

namespace {
/// The assemblers that have been found, by what was looked for.
struct FoundPtxas {
  static FoundPtxas &get() {
    ForkShield shield;
    static auto *found = new FoundPtxas;
    return *found;
  }

  Gate gate;
  std::map<std::string, tile::Ptxas> assemblers;
};
} // namespace

/// The assembler that `option` and the environment name. Finding it runs it,
/// so that each is found once.
static Expected<tile::Ptxas> findPtxas(const std::string &option) {
  FoundPtxas &found = FoundPtxas::get();
  std::string search = option;
  for (const char *name : {"TILE_PTXAS", "PATH", "CUDA_HOME"}) {
    const char *value = std::getenv(name);
    search += '\n';
    search += value ? value : "";
  }
  GateScope scope(found.gate, /*cancel=*/nullptr);
  if (auto it = found.assemblers.find(search); it != found.assemblers.end())
    return it->second;
  llvm::Expected<tile::Ptxas> ptxas = tile::Ptxas::require(option);
  if (!ptxas)
    return Error(ErrorCode::Unavailable, llvm::toString(ptxas.takeError()));
  ForkShield shield;
  return found.assemblers.emplace(std::move(search), std::move(*ptxas))
      .first->second;
}

Expected<std::shared_ptr<const CompiledCode::Assembled>>
KernelImpl::assemble(const CompiledCode &code) const {
  return code.getAssembled([&]() -> Expected<CompiledCode::Assembled> {
    Expected<tile::Ptxas> ptxas = findPtxas(options.ptxas);
    if (!ptxas)
      return std::move(ptxas).error();
    const CacheKey cubinKey = CacheKeyBuilder()
                                  .add(getBuildFingerprint())
                                  .add("cubin")
                                  .add(ptxas->getVersionText())
                                  .add(code.target)
                                  .add(code.entry)
                                  .add(code.ptx)
                                  .get();
    if (std::optional<std::string> entry = store->disk.read(cubinKey))
      if (auto assembled = deserializeAssembled(*entry)) {
        ++store->diskHits;
        return std::move(*assembled);
      }
    llvm::Expected<tile::PtxasResult> result =
        ptxas->assemble(code.ptx, code.target, description.name);
    if (!result)
      return Error(ErrorCode::Unavailable, llvm::toString(result.takeError()));
    CompiledCode::Assembled assembled;
    assembled.cubin = std::move(result->cubin);
    for (const tile::KernelResources &kernel : result->kernels) {
      if (kernel.entry != code.entry)
        continue;
      assembled.resources.registers = kernel.registers;
      assembled.resources.spillStoreBytes = kernel.spillStoreBytes;
      assembled.resources.spillLoadBytes = kernel.spillLoadBytes;
      assembled.resources.stackBytes = kernel.stackBytes;
      assembled.resources.staticSharedBytes = kernel.sharedBytes;
    }
    assembled.resources.dynamicSharedBytes = code.sharedBytes;
    assembled.resources.threads = code.blockThreads;
    // What cannot be kept is made anew by the next process.
    (void)static_cast<bool>(store->disk.write(cubinKey, serialize(assembled)));
    return assembled;
  });
}
