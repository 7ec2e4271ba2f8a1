//===- Tcgen05.h - What the tcgen05 instructions share ----------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_TCGEN05_H
#define TILE_LIB_EMULATOR_TCGEN05_H

#include "Decoder.h"
#include "TensorDescriptors.h"
#include "TensorMemory.h"

namespace tile::emulator {

// --- Decoding ---------------------------------------------------------------

/// An error unless the target has tensor memory.
llvm::Error checkTensorTarget(Decoder &decoder);
/// Takes `.cta_group::1`.
llvm::Error takeBlockGroup(Decoder &decoder);
/// Operand `i`, an address in tensor memory in brackets.
llvm::Expected<AddressOperand> takeTensorAddress(Decoder &decoder, unsigned i);

// --- Execution --------------------------------------------------------------

/// Notes reads through the async proxy of `size` bytes at each of `addresses`
/// of shared memory. False after a fault.
bool noteMatrixReads(const TensorUser &user,
                     llvm::SmallVectorImpl<uint32_t> &addresses, uint32_t size,
                     SharedMemory::Pending &pending);

/// A multiply as decoded.
struct TensorMultiply {
  TensorKind kind = TensorKind::F16;
  unsigned block = 0; ///< Block size of the scales, or 0.
  AddressOperand d, a, scaleA, scaleB;
  bool isAInTensor = false;
  Slot descriptorA = kNoSlot, descriptorB = kNoSlot, shape = kNoSlot;
  /// `disable-output-lane`, or empty.
  llvm::SmallVector<Slot, 4> disabled;
  Slot enableInput = kNoSlot; ///< A predicate.
  unsigned inputScale = 0;    ///< `scale-input-d`
};
void executeTensorMultiply(const Instruction &instruction, Lanes &lanes);

// The parts of the family.
void registerTcgen05Moves(InstructionTable &table);
void registerTcgen05Copy(InstructionTable &table);
void registerTcgen05Multiply(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TCGEN05_H
