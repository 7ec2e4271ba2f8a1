//===- Conversions.h - What the forms of cvt share --------------*- C++ -*-===//
//
// cvt has two halves: conversions of one value (Conversions.cpp) and of pairs
// and fours into or out of packed types (PackedConversions.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_CONVERSIONS_H
#define TILE_LIB_EMULATOR_CONVERSIONS_H

#include "FloatDecoding.h"
#include "Lanes.h"

namespace tile::emulator {

/// The lanes among `undefined` whose register at `slot` has an unwritten bit
/// among its lowest `bits`.
uint32_t getUndefinedLanes(const Lanes &lanes, Slot slot, unsigned laneBytes,
                           unsigned bits);

/// Stores the low bytes of `values` to the active lanes of a register of
/// `laneBytes`, and marks those in `undefined` as unwritten.
void storeLow(Lanes &lanes, Slot slot, unsigned laneBytes,
              const uint64_t (&values)[kLanes], uint32_t undefined);

/// Decodes a cvt whose destination `d` or source `a` is tf32 or packed; the
/// types have been taken from the words.
llvm::Error decodePackedConversion(Decoder &decoder, Type d, Type a);

/// Decodes cvt.pack.
llvm::Error decodeIntegerPack(Decoder &decoder);

/// The lowest `bits`, 1 to 64.
inline uint64_t lowMask(unsigned bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_CONVERSIONS_H
