//===- Builtins.h - Functions that the device brings along ------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_BUILTINS_H
#define TILE_LIB_EMULATOR_BUILTINS_H

#include "Program.h"
#include "llvm/ADT/StringRef.h"

namespace tile::emulator {

/// A function that CUDA calls `vprintf` or `__assertfail`.
struct Builtin {
  llvm::StringRef name;
  void (*execute)(const Instruction &, const CallData &, Lanes &);
  /// Bytes of each argument, and of the result that a call may take, or 0.
  llvm::ArrayRef<uint8_t> argumentBytes;
  uint8_t resultBytes;
};

/// The builtin of that name, or null.
const Builtin *findBuiltin(llvm::StringRef name);

/// Executes a call of a builtin.
void executeBuiltin(const Instruction &instruction, Lanes &lanes);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_BUILTINS_H
