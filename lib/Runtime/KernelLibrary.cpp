//===- KernelLibrary.cpp - Kernels that are ready to use ------------------===//

#include "tile/Runtime/KernelLibrary.h"

#include "KernelChoice.h"
#include "tile/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

using namespace tile::runtime;

namespace {

/// A template of share/tile/kernels.
struct KernelText {
  llvm::StringLiteral name;
  llvm::StringLiteral text;
};

} // namespace

static constexpr KernelText kernelTexts[] = {
#include "KernelTexts.inc"
};

std::vector<std::string> KernelLibrary::getNames() {
  std::vector<std::string> names;
  for (const KernelText &kernel : kernelTexts)
    names.push_back(kernel.name.str());
  return names;
}

Expected<std::string> KernelLibrary::getText(const std::string &name) {
  for (const KernelText &kernel : kernelTexts)
    if (kernel.name == name)
      return kernel.text.str();
  return Error(ErrorCode::NotFound, "no kernel '" + name +
                                        "' in the kernel library; known are " +
                                        llvm::join(getNames(), ", "));
}

/// The target that `options` name; null where they name none.
static Expected<const tile::TargetInfo *>
getTargetInfo(const CompileOptions &options) {
  std::string target = options.target;
  if (target.empty() && options.device)
    target = options.device->getTarget();
  if (target.empty())
    return static_cast<const tile::TargetInfo *>(nullptr);
  llvm::Expected<const tile::TargetInfo *> info = tile::findTarget(target);
  if (!info)
    return Error(ErrorCode::NotFound, llvm::toString(info.takeError()));
  return *info;
}

/// Checks that nothing is given that the library chooses.
static Status checkOptions(const std::string &name,
                           const CompileOptions &options) {
  auto refuse = [&](const char *field, const std::string &found) -> Status {
    return Error(ErrorCode::InvalidArgument,
                 name + ": expects no " + field +
                     ", which the kernel library chooses, but got '" + found +
                     "'");
  };
  if (!options.constants.empty())
    return refuse("constants", options.constants.begin()->first);
  if (!options.bindings.empty())
    return refuse("bindings", options.bindings.begin()->first);
  if (!options.shapes.empty())
    return refuse("shapes", options.shapes.begin()->first);
  if (!options.entry.empty() && options.entry != name)
    return refuse("entry", options.entry);
  return {};
}

/// Compiles the kernel of a choice.
static Expected<ReadyKernel> compileChoice(const Compiler &compiler,
                                           const std::string &name,
                                           KernelChoice choice,
                                           CompileOptions options) {
  Expected<std::string> text = KernelLibrary::getText(name);
  if (!text)
    return std::move(text).error();
  options.entry = name;
  options.constants = std::move(choice.constants);
  // The problem is known now, and with it all that a variant could count on.
  options.specialize = false;
  if (options.numWarps == 0)
    options.numWarps = choice.numWarps;
  Expected<Kernel> kernel = compiler.compile(*text, options, name + ".mlir");
  if (!kernel)
    return std::move(kernel).error();
  return ReadyKernel{*std::move(kernel), choice.grid};
}

Expected<ReadyKernel> KernelLibrary::linear(const std::string &name,
                                            const LinearProblem &problem,
                                            CompileOptions options) const {
  if (Status status = checkOptions(name, options); !status)
    return status.error();
  Expected<const tile::TargetInfo *> target = getTargetInfo(options);
  if (!target)
    return std::move(target).error();
  const tile::TargetInfo *info = *target;
  // Fewer warps than four have no use for tensor memory.
  const bool hasTensorMemory = info && info->has(tile::Capability::Tcgen05) &&
                               options.mmaPath != "expand" &&
                               (options.numWarps == 0 || options.numWarps >= 4);
  Expected<KernelChoice> choice = chooseLinear(
      name, problem, info ? info->maxSharedBytes : kLeastSharedBytes,
      hasTensorMemory);
  if (!choice)
    return std::move(choice).error();
  return compileChoice(compiler, name, *std::move(choice), std::move(options));
}

Expected<ReadyKernel> KernelLibrary::quantize(const std::string &name,
                                              const QuantizeProblem &problem,
                                              CompileOptions options) const {
  if (Status status = checkOptions(name, options); !status)
    return status.error();
  Expected<KernelChoice> choice = chooseQuantize(name, problem);
  if (!choice)
    return std::move(choice).error();
  return compileChoice(compiler, name, *std::move(choice), std::move(options));
}
