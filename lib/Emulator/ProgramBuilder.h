//===- ProgramBuilder.h - Decodes a kernel and what it calls ----*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_PROGRAMBUILDER_H
#define TILE_LIB_EMULATOR_PROGRAMBUILDER_H

#include "Decoder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace tile::emulator {

/// Where a module's variables and functions are in the generic address space.
struct ModuleLayout {
  llvm::DenseMap<const Variable *, uint64_t> variables;
  llvm::DenseMap<const Function *, uint64_t> functions;
};

/// What decoding one function has learnt so far.
struct Decoder::Context {
  Context(const ModuleLayout &layout) : layout(layout) {}

  const ModuleLayout &layout;
  /// Registers by declaration: one slot per element of a vector.
  llvm::DenseMap<const Variable *, llvm::SmallVector<Slot, 1>> registers;
  /// Constants by bits and lane size; special registers by name and lane size.
  std::map<std::pair<uint64_t, unsigned>, Slot> constants;
  std::map<std::pair<unsigned, unsigned>, Slot> specials;
  std::map<uint64_t, Slot> localAddresses;
  /// Offsets of `.local` and `.param` variables in the function's frame.
  llvm::DenseMap<const Variable *, uint32_t> localOffsets;
  /// Offsets of shared variables and of the entry's parameters.
  const llvm::DenseMap<const Variable *, uint32_t> *fixedOffsets = nullptr;
  const llvm::DenseMap<const Function *, Code *> *codes = nullptr;
};

/// Decodes entry `entry`. The error names the first statement that the emulator
/// does not know.
llvm::Expected<std::unique_ptr<Program>>
buildProgram(const SyntaxTree &syntax, const Function &entry,
             const ModuleLayout &layout);

/// Sets `reconvergence` of every branch in `code` to the first instruction of
/// its block's immediate postdominator, or to the end of the code.
void computeReconvergence(Code &code);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_PROGRAMBUILDER_H
