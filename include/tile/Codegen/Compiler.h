//===- Compiler.h - From a tile module to PTX -------------------*- C++ -*-===//
//
// The whole spine as one call, and the pass pipeline that it runs. Tools and
// the embedded compiler use this; nothing here is specific to a command line.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CODEGEN_COMPILER_H
#define TILE_CODEGEN_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Codegen/KernelParameters.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/LogicalResult.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace tile {

/// How far a module is taken, in the order of the spine.
enum class EmitKind {
  Mlir, ///< tile dialect, distributed: every tensor carries its layout
  Nvvm, ///< llvm and nvvm dialects
  Llvm, ///< LLVM IR text
  Ptx,  ///< PTX text
};

/// What a kernel leaves open; its own attributes win.
struct CompileOptions {
  std::string target;           ///< A row of the target table; no default.
  std::string mmaPath = "auto"; ///< "auto", "native" or "expand".
  unsigned numWarps = 0;        ///< 1, 2, 4, …, 32; 0: the compiler chooses.
  unsigned numStages = 0;       ///< 0: the compiler chooses.
  unsigned groupPrograms = 8;   ///< 0 and 1: the order of the hardware.
  std::string fp4Cvt = "auto";  ///< "auto", "hardware" or "software".
  std::string unpackAhead = "auto"; ///< "auto", "0" or "1".
  bool tma = false;                 ///< Copies by tensor maps where possible.
  unsigned ptxVersion = 0; ///< 88 is `.version 8.8`; 0: lowest possible.
  bool lineInfo = false;   ///< `.loc` for the lines of the source.
  std::string dumpStages;  ///< Folder for the IR after each stage, or "".
  /// Called with the name of each stage ("source", "layouts", "nvvm", "llvm",
  /// "ptx") and its text.
  std::function<void(llvm::StringRef name, llvm::StringRef text)> onStage;
  /// Set by another thread to end the compilation between two stages.
  const std::atomic<bool> *cancel = nullptr;
};

/// How to launch one kernel of a compiled module.
struct KernelLaunchInfo {
  std::string entry;
  unsigned blockThreads = 0;                  ///< block = blockThreads,1,1
  unsigned sharedBytes = 0;                   ///< dynamic shared memory
  std::vector<TensorMapParameter> tensorMaps; ///< in order
};

/// What `compile` returns.
struct CompileResult {
  std::string text;                      ///< In the form that EmitKind names.
  std::vector<KernelLaunchInfo> kernels; ///< From Nvvm on.
};

/// Registers everything `compile` needs beyond the dialects of a kernel: the
/// target dialects and their translations to LLVM IR.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Checks options that do not depend on a module: target, path, warps, PTX
/// version. The message names the option and what was expected.
llvm::Error validate(const CompileOptions &options);

/// Appends the passes from a tile module to `kind` (at most Nvvm).
void buildPipeline(mlir::OpPassManager &passes, const CompileOptions &options,
                   EmitKind kind);

/// Compiles `module`, which is changed in place. Failures are diagnostics on
/// the module's context.
llvm::FailureOr<CompileResult> compile(mlir::ModuleOp module, EmitKind kind,
                                       const CompileOptions &options);

/// Registers `tile-to-nvvm` and `tile-to-layouts` as `tile-opt` pipelines.
void registerTilePipelines();

} // namespace tile

#endif // TILE_CODEGEN_COMPILER_H
