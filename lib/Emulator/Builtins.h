//===- Builtins.h - Functions that the device brings along ------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_BUILTINS_H
#define TILE_LIB_EMULATOR_BUILTINS_H

#include "Program.h"
#include "llvm/ADT/StringRef.h"

namespace tile::emulator {

/// What executes a call of the function that CUDA calls `name` (`vprintf`,
/// `__assertfail`) with so many arguments, or null.
void (*findBuiltin(llvm::StringRef name,
                   unsigned numArguments))(const Instruction &,
                                           const CallData &, Lanes &);

/// Executes a call of a builtin.
void executeBuiltin(const Instruction &instruction, Lanes &lanes);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_BUILTINS_H
