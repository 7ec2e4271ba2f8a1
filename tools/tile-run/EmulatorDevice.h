//===- EmulatorDevice.h - Run a kernel's PTX --------------------*- C++ -*-===//

#ifndef TILE_TOOLS_TILE_RUN_EMULATORDEVICE_H
#define TILE_TOOLS_TILE_RUN_EMULATORDEVICE_H

#include "Arguments.h"

#include "tile/Codegen/Compiler.h"
#include "tile/Tools/EmulatorOptions.h"
#include "llvm/Support/Error.h"

namespace tile {

/// Compiles the module of `kernel`, which is changed in place, and launches the
/// PTX on the emulator. `file` is the kernel's, for messages. What has been
/// printed is a `ReportedError`. Requires: the arguments have been checked, and
/// the compile options are valid.
llvm::Expected<emulator::LaunchResult>
runOnEmulator(mlir::func::FuncOp kernel, llvm::StringRef file,
              const RunArguments &arguments, CompileOptions compileOptions,
              EmulatorOptions emulatorOptions);

} // namespace tile

#endif // TILE_TOOLS_TILE_RUN_EMULATORDEVICE_H
