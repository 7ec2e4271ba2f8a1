//===- CudaDevice.h - Run a kernel on a GPU ---------------------*- C++ -*-===//

#ifndef TILE_TOOLS_TILE_RUN_CUDADEVICE_H
#define TILE_TOOLS_TILE_RUN_CUDADEVICE_H

#include "Arguments.h"

#include "tile/Codegen/Compiler.h"
#include "tile/Tools/Template.h"
#include "llvm/Support/Error.h"

#include <array>
#include <string>

namespace tile {

/// A kernel of a file, as the command line names it.
struct CudaRequest {
  std::string file;
  TemplateConstants constants;
  CompileOptions compile; ///< Without a target: that of the GPU.
  std::array<unsigned, 3> grid = {1, 1, 1};
  bool remarks = false; ///< Print what the compiler found worth saying.
};

/// Compiles a kernel of the file, launches it on the first GPU and copies what
/// it writes back. `kernel` is that kernel, parsed; its module may be changed
/// in place. What has been printed is a `ReportedError`. Requires: the
/// arguments have been checked.
llvm::Error runOnCuda(mlir::func::FuncOp kernel, const CudaRequest &request,
                      const RunArguments &arguments);

} // namespace tile

#endif // TILE_TOOLS_TILE_RUN_CUDADEVICE_H
