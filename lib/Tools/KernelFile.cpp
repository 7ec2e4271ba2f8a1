//===- KernelFile.cpp - A kernel file, parsed -----------------------------===//

#include "tile/Tools/KernelFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/Tools/Files.h"
#include "tile/Tools/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

static bool isKernel(func::FuncOp function) {
  return function->hasAttr("tile.kernel");
}

KernelFile::KernelFile() = default;
KernelFile::~KernelFile() = default;

Expected<std::unique_ptr<KernelFile>>
KernelFile::parse(StringRef path, const TemplateConstants &constants,
                  const DialectRegistry &registry, bool remarks) {
  std::unique_ptr<KernelFile> file(new KernelFile);
  file->path = path.str();
  if (Error error = addKernelFile(file->sources, path, constants, registry))
    return std::move(error);
  file->context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  file->handler = std::make_unique<SourceMgrDiagnosticHandler>(
      file->sources, file->context.get());
  if (failed(setUpDiagnostics(*file->context, remarks)))
    return ReportedError::get();
  file->module = parseSourceFile<ModuleOp>(file->sources, file->context.get());
  if (!file->module)
    return ReportedError::get();
  return std::move(file);
}

Expected<func::FuncOp> KernelFile::findKernel(StringRef entry) {
  SmallVector<func::FuncOp> kernels;
  for (auto function : module->getOps<func::FuncOp>())
    if (isKernel(function))
      kernels.push_back(function);
  auto listNames = [&] {
    std::string names;
    for (func::FuncOp kernel : kernels)
      names += (names.empty() ? "'" : ", '") + kernel.getName().str() + "'";
    return names;
  };
  if (kernels.empty())
    return createStringError(path + ": expects a kernel, a func.func with "
                                    "'tile.kernel', but got none");
  func::FuncOp *found = kernels.begin();
  if (!entry.empty()) {
    found = llvm::find_if(kernels, [&](func::FuncOp kernel) {
      return kernel.getName() == entry;
    });
    if (found == kernels.end())
      return createStringError("--entry=" + entry + ": " + path +
                               " has no such kernel, but " + listNames());
  } else if (kernels.size() > 1) {
    return createStringError(
        path + " has several kernels; choose one with --entry: " + listNames());
  }
  const llvm::MemoryBuffer &buffer =
      *sources.getMemoryBuffer(sources.getMainFileID());
  nameArguments(*found, buffer.getBuffer(), buffer.getBufferIdentifier());
  return *found;
}

void tile::eraseKernelsExcept(ModuleOp module, func::FuncOp kernel) {
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (isKernel(function) && function != kernel)
      function.erase();
  // The inliner would drop a private function that nobody calls.
  kernel.setPublic();
}

void tile::nameArguments(func::FuncOp kernel, StringRef text, StringRef name) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(
                                 text, name, /*RequiresNullTerminator=*/false),
                             llvm::SMLoc());
  for (BlockArgument argument : kernel.getArguments()) {
    auto location = dyn_cast<FileLineColLoc>(argument.getLoc());
    if (!location || location.getFilename() != name)
      continue;
    llvm::SMLoc at = sources.FindLocForLineAndColumn(
        sources.getMainFileID(), location.getLine(), location.getColumn());
    if (!at.isValid())
      continue;
    StringRef rest(at.getPointer(), text.end() - at.getPointer());
    if (!rest.consume_front("%"))
      continue; // Bytecode, or a text that was generated from another one.
    StringRef argumentName = rest.take_while([](char c) {
      return llvm::isAlnum(c) || StringRef("_$.-").contains(c);
    });
    argument.setLoc(NameLoc::get(
        StringAttr::get(kernel.getContext(), argumentName), location));
  }
}
