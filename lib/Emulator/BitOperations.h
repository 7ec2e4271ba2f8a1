//===- BitOperations.h - What the bit operations share ----------*- C++ -*-===//
//
// Most bit operations only move bits to other places, so that an unwritten bit
// of an operand makes known bits of the result unwritten: what is unwritten
// moves as the value does.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_BITOPERATIONS_H
#define TILE_LIB_EMULATOR_BITOPERATIONS_H

#include "ElementWise.h"

namespace tile::emulator {

/// The bits of `slot` in `lane` that have not been written.
template <typename T>
inline T getUnwritten(const Lanes &lanes, Slot slot, unsigned lane) {
  return static_cast<T>(~getWritten<T>(lanes, slot, lane));
}

/// Whether all of the 32-bit value of `slot` in `lane` is written.
inline bool isWritten(const Lanes &lanes, Slot slot, unsigned lane) {
  return getUnwritten<uint32_t>(lanes, slot, lane) == 0;
}

/// The lanes in which one of three operands has an unwritten bit.
inline uint32_t getUndefined(const Instruction &i, const Lanes &lanes) {
  return lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b) |
         lanes.undefinedAt(i.c);
}

/// Shifts by any amount; that of all bits or more leaves only signs.
struct ShiftRight {
  template <typename T>
  T operator()(T a, uint32_t amount) const {
    constexpr unsigned bits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (amount >= bits ? bits - 1 : amount));
    T shifted = static_cast<T>(a >> (amount & (bits - 1)));
    return amount >= bits ? T(0) : shifted;
  }
};

/// Registers the instructions of BitFields.cpp.
void registerBitFields(InstructionTable &table);
/// Decodes `prmt`; Permute.cpp.
llvm::Error decodePermute(Decoder &decoder);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_BITOPERATIONS_H
