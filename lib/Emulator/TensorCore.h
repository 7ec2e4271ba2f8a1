//===- TensorCore.h - mma.sync as decoded -----------------------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_TENSORCORE_H
#define TILE_LIB_EMULATOR_TENSORCORE_H

#include "Program.h"
#include "Rounding.h"
#include "TensorCoreArithmetic.h"

namespace tile::emulator {

/// What an mma.sync does, beside its registers. All have 8 columns.
struct MmaData {
  unsigned rows = 16; ///< M: 8 or 16.
  unsigned k = 0;
  /// Bits of an element of A and B in its register: 64 for f64, 32 for tf32, 8
  /// for the containers of f8f6f4.
  unsigned elementBits = 0;

  // Registers; those of D are those of C.
  unsigned numA = 0, numB = 0, numC = 0;

  // Floating point.
  TensorFormat formatA = TensorFormat::F16, formatB = TensorFormat::F16;
  TensorResult result = TensorResult::F32;
  TensorInput input = TensorInput::F16;
  TensorModel model;
  /// Whether all sums of products are exact in f32.
  bool isNarrow = false;
  RoundingMode rounding = RoundingMode::NearestEven; ///< f64 only.

  // Integers.
  bool signedA = false, signedB = false;
  bool saturate = false;
  bool isXor = false; ///< b1: xor, else and.

  // Block scales; 0 blocks: none.
  unsigned blocks = 0;  ///< Scales of a row of A or column of B.
  bool isUE4M3 = false; ///< Else ue8m0.
};

/// The registers of an instruction: slices of `Instruction::operands`.
struct MmaOperands {
  /// With block scales: b32 registers with scales, and 16-bit selectors.
  enum Scale : unsigned {
    DataA,
    ByteA,
    ThreadA,
    DataB,
    ByteB,
    ThreadB,
    NumScaleOperands,
  };

  MmaOperands(const MmaData &data, llvm::ArrayRef<Slot> operands)
      : d(operands.take_front(data.numC)),
        a(operands.slice(data.numC, data.numA)),
        b(operands.slice(data.numC + data.numA, data.numB)),
        c(operands.slice(data.numC + data.numA + data.numB, data.numC)),
        scales(operands.drop_front(2 * data.numC + data.numA + data.numB)) {}

  llvm::ArrayRef<Slot> d, a, b, c;
  llvm::ArrayRef<Slot> scales; ///< Empty, or indexed by `Scale`.
};

/// The legal values of `byte-id` where a register supplies `blocks` scales (PTX
/// ISA, table "Valid values for various selector components").
inline bool isLegalByteSelector(unsigned blocks, uint64_t value) {
  return value < 4 && value % blocks == 0;
}
/// The same in words: "0 or 2".
inline const char *getLegalByteSelectors(unsigned blocks) {
  return blocks == 1 ? "0 to 3" : blocks == 2 ? "0 or 2" : "0";
}
/// How many values `thread-id-a` and `thread-id-b` have.
constexpr unsigned kNumThreadSelectorsA = 2, kNumThreadSelectorsB = 4;

// The executors. `Instruction::data` is an MmaData.
void executeMmaFloat(const Instruction &instruction, Lanes &lanes);
void executeMmaDouble(const Instruction &instruction, Lanes &lanes);
void executeMmaInteger(const Instruction &instruction, Lanes &lanes);
void executeMmaBits(const Instruction &instruction, Lanes &lanes);

/// A matrix is spread over all lanes of the warp: a fault where one does not
/// take part.
bool checkWholeWarp(const Instruction &instruction, const Lanes &lanes);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORCORE_H
