//===- AsyncCopies.h - What copies of all kinds share -----------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_ASYNCCOPIES_H
#define TILE_LIB_EMULATOR_ASYNCCOPIES_H

#include "AsyncOperations.h"
#include "MemoryAccess.h"

namespace tile::emulator {

/// Operand `i`, a constant number of groups.
llvm::Expected<uint32_t> takeGroupCount(Decoder &decoder, unsigned i);

/// Finds the mbarrier that a bulk copy of `lane` signals, at its address in
/// `addresses`, and notes it in `operation`. False after a fault.
bool findSignal(const Instruction &instruction, Lanes &lanes, unsigned lane,
                const MemoryOperand &mbarrier,
                const uint64_t (&addresses)[kLanes], llvm::StringRef verb,
                BulkOperation &operation);

/// `cp.async.bulk` and `cp.reduce.async.bulk`; called by `registerAsyncCopies`.
void registerBulkCopies(InstructionTable &table);
/// `cp.async.bulk.tensor` and its like; called by `registerAsyncCopies`.
void registerTensorCopies(InstructionTable &table);
/// `tensormap.replace` and its like; called by `registerAsyncCopies`.
void registerTensorMapUpdates(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ASYNCCOPIES_H
