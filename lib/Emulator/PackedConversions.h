//===- PackedConversions.h - Executors of packed cvt ------------*- C++ -*-===//
//
// The interface between those who decode a packed cvt and those who execute it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_PACKEDCONVERSIONS_H
#define TILE_LIB_EMULATOR_PACKEDCONVERSIONS_H

#include "Conversions.h"

namespace tile::emulator {

/// A packed type: `count` values of `format`, each in `partBits`.
struct PackedType {
  const NumberFormat *format = nullptr; ///< Null for ue8m0.
  unsigned count = 0;
  unsigned partBits = 0;
  bool isScale = false; ///< ue8m0.

  bool isHalf() const { return format == &kF16 || format == &kBF16; }
  bool isFP8() const { return format == &kE4M3 || format == &kE5M2; }
  /// FP6, FP4 and ue8m0 exist on some targets only.
  bool needsFamily() const { return count && !isHalf() && !isFP8(); }
  unsigned getBits() const { return count * partBits; }
};

/// What an executor needs beside its operands: `Instruction::data`, except for
/// chooseWidening's.
struct PackedConversion {
  PackedType to, from;
  unsigned toBytes = 0, fromBytes = 0; ///< Of registers.
  RoundingMode mode = RoundingMode::NearestEven;
  bool relu = false, satfinite = false;
};

/// Two f32 (d, a, b) to a half pair, to nearest even.
Execute chooseHalfPair(const PackedType &to, bool relu);
/// As above in any mode, with .satfinite and .relu.
void executeHalfPairDirected(const Instruction &instruction, Lanes &lanes);
/// One f32 to tf32.
void executeTF32(const Instruction &instruction, Lanes &lanes);
/// Two f32 (d, a, b), or a half pair (d, a), to FP8, FP6 or FP4.
Execute chooseNarrow(const PackedType &to, bool fromHalves, bool relu);
/// FP8, FP6 or FP4 to a half pair; `data` is a makeWideningTable.
Execute chooseWidening(const PackedType &from);
const void *makeWideningTable(Program &program,
                              const PackedConversion &conversion);
/// Two f32 (d, a, b), or a bf16 pair (d, a, a), to ue8m0; and back.
void executeToScales(const Instruction &instruction, Lanes &lanes);
void executeFromScales(const Instruction &instruction, Lanes &lanes);
/// .rs; `operands` are the values, lowest part first, and the random bits.
void executeStochastic(const Instruction &instruction, Lanes &lanes);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_PACKEDCONVERSIONS_H
