//===- KernelFile.h - A kernel file, parsed ---------------------*- C++ -*-===//

#ifndef TILE_TOOLS_KERNELFILE_H
#define TILE_TOOLS_KERNELFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tile/Tools/Template.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <string>

namespace mlir {
class DialectRegistry;
class MLIRContext;
class SourceMgrDiagnosticHandler;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace tile {

/// The module of a kernel file with all that its diagnostics need. Diagnostics
/// of its context are printed to the standard error while this object lives.
class KernelFile {
public:
  /// Reads a kernel file, puts the constants in for its `${NAME}` and parses it
  /// in a context of its own. `remarks`: print every remark. What MLIR has
  /// printed is a `ReportedError`.
  static llvm::Expected<std::unique_ptr<KernelFile>>
  parse(llvm::StringRef path, const TemplateConstants &constants,
        const mlir::DialectRegistry &registry, bool remarks);
  ~KernelFile();

  mlir::ModuleOp getModule() { return *module; }

  /// Finds the kernel named `entry`, or the only one where `entry` is empty,
  /// and gives its arguments the names that they have in the text, as
  /// `NameLoc`: MLIR itself forgets names, and errors should use them.
  llvm::Expected<mlir::func::FuncOp> findKernel(llvm::StringRef entry);

private:
  KernelFile();

  std::string path;
  llvm::SourceMgr sources;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Gives the arguments of a kernel of the file `name`, whose text is `text`,
/// the names that they have there, as `NameLoc`. Where they have none, as in
/// bytecode, they stay as they are.
void nameArguments(mlir::func::FuncOp kernel, llvm::StringRef text,
                   llvm::StringRef name);

/// Erases every kernel of a module but `kernel`: the others need not compile.
void eraseKernelsExcept(mlir::ModuleOp module, mlir::func::FuncOp kernel);

} // namespace tile

#endif // TILE_TOOLS_KERNELFILE_H
