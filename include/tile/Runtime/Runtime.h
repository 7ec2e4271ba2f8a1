//===- Runtime.h - All of the embedded compiler -----------------*- C++ -*-===//
//
// Compile a kernel, launch it: docs/jit.md. Needs no header of MLIR or LLVM;
// `KernelBuilder.h`, for those who do have them, is not included here.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_RUNTIME_H
#define TILE_RUNTIME_RUNTIME_H

#include "tile/Runtime/Array.h"
#include "tile/Runtime/Compiler.h"
#include "tile/Runtime/Device.h"
#include "tile/Runtime/Error.h"
#include "tile/Runtime/Kernel.h"
#include "tile/Runtime/KernelLibrary.h"
#include "tile/Runtime/Quantize.h"

#endif // TILE_RUNTIME_RUNTIME_H
