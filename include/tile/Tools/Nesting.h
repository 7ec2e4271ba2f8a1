//===- Nesting.h - How deep a kernel's text nests ---------------*- C++ -*-===//

#ifndef TILE_TOOLS_NESTING_H
#define TILE_TOOLS_NESTING_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace tile {

/// Brackets within brackets that a kernel's text may have.
constexpr unsigned kMaxNesting = 256;

/// Operators that one expression in a kernel's text may have.
constexpr unsigned kMaxOperators = 1024;

/// Returns an error, `NAME:LINE:COLUMN: error: …`, if MLIR text nests deeper
/// than `kMaxNesting` or chains more than `kMaxOperators` operators. MLIR calls
/// itself for each level, so that a text which is deep enough would end the
/// process. Bytecode passes; `checkBytecode` looks at that.
llvm::Error checkNesting(llvm::MemoryBufferRef buffer);

} // namespace tile

#endif // TILE_TOOLS_NESTING_H
