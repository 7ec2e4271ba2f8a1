//===- AsyncCopies.h - What copies of all kinds share -----------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_ASYNCCOPIES_H
#define TILE_LIB_EMULATOR_ASYNCCOPIES_H

#include "Decoder.h"

namespace tile::emulator {

/// Operand `i`, a constant number of groups.
llvm::Expected<uint32_t> takeGroupCount(Decoder &decoder, unsigned i);

/// `cp.async.bulk` and `cp.reduce.async.bulk`; called by `registerAsyncCopies`.
void registerBulkCopies(InstructionTable &table);
/// `cp.async.bulk.tensor` and its like; called by `registerAsyncCopies`.
void registerTensorCopies(InstructionTable &table);
/// `tensormap.replace` and its like; called by `registerAsyncCopies`.
void registerTensorMapUpdates(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ASYNCCOPIES_H
