//===- AtomicOperations.h - Read, combine, write back -----------*- C++ -*-===//
//
// The operations of `atom`, `red` and `cp.reduce.async.bulk` on one element.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_ATOMICOPERATIONS_H
#define TILE_LIB_EMULATOR_ATOMICOPERATIONS_H

#include "tile/Emulator/Syntax.h"

#include <cstdint>

namespace tile::emulator {

/// Where the element is; f32 sums flush subnormals in global memory only.
enum class AtomicPlace : uint8_t { Global, Shared };

/// Replaces the element at `memory` by the operation's result with `b` (and
/// `c`, of `cas`) and writes what it was to `old`. In global memory the step is
/// atomic among the threads of the host.
using AtomicOperation = void (*)(uint8_t *memory, const void *b, const void *c,
                                 void *old, AtomicPlace place);

/// The operation `name` ("add", "cas", …) on `type`, or null where there is
/// none.
AtomicOperation findAtomicOperation(llvm::StringRef name, Type type);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ATOMICOPERATIONS_H
