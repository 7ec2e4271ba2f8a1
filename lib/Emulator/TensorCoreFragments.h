//===- TensorCoreFragments.h - Matrices in a warp's registers ---*- C++ -*-===//
//
// One rule covers the fragments of every shape of mma.sync (PTX ISA, sections
// "Matrix Fragments for mma.m8n8k4 with .f64" to "mma.m16n8k256"). With g =
// lane / 4, t = lane % 4, and e elements in a register, element j of register r
// is
//
//   A: row g + 8 * (r % 2), column e * t + j + 4 * e * (r / 2)
//   B: row e * t + j + 4 * e * r, column g
//   C: element i in row g + 8 * (i / 2), column 2 * t + i % 2
//
// where a matrix of 8 rows has one register of A and elements 0 and 1 of C. An
// f16 C has two elements in a register, the first in the low half.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORCOREFRAGMENTS_H
#define TILE_LIB_EMULATOR_TENSORCOREFRAGMENTS_H

#include "Lanes.h"
#include "TensorCore.h"

namespace tile::emulator {

/// Reads A into [rows][k]: `decode(word, to)` turns a register into its
/// `kElements` elements.
template <unsigned kElements, typename Word, typename T, typename F>
inline void readFragmentA(const Lanes &lanes, llvm::ArrayRef<Slot> registers,
                          unsigned k, T *to, F decode) {
  for (unsigned r = 0; r != registers.size(); ++r) {
    const Word *words = lanes.read<Word>(registers[r]);
    T *part = to + r % 2 * 8 * k + r / 2 * 4 * kElements;
    for (unsigned lane = 0; lane != kLanes; ++lane)
      decode(words[lane], part + lane / 4 * k + lane % 4 * kElements);
  }
}

/// Reads B into [k][8].
template <unsigned kElements, typename Word, typename T, typename F>
inline void readFragmentB(const Lanes &lanes, llvm::ArrayRef<Slot> registers,
                          T *to, F decode) {
  for (unsigned r = 0; r != registers.size(); ++r) {
    const Word *words = lanes.read<Word>(registers[r]);
    T *part = to + r * 4 * kElements * kPanelColumns;
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      T values[kElements];
      decode(words[lane], values);
      T *column = part + lane % 4 * kElements * kPanelColumns + lane / 4;
      for (unsigned j = 0; j != kElements; ++j)
        column[j * kPanelColumns] = values[j];
    }
  }
}

/// Position of element `i` of C or D in `lane`, in [rows][8].
inline unsigned getAccumulatorIndex(unsigned i, unsigned lane) {
  return (lane / 4 + i / 2 * 8) * kPanelColumns + lane % 4 * 2 + i % 2;
}

/// Reads C, one element in a register.
template <typename Word, typename T, typename F>
inline void readAccumulators(const Lanes &lanes, llvm::ArrayRef<Slot> registers,
                             T *to, F decode) {
  for (unsigned i = 0; i != registers.size(); ++i) {
    const Word *words = lanes.read<Word>(registers[i]);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      to[getAccumulatorIndex(i, lane)] = decode(words[lane]);
  }
}

/// Writes D, one element in a register.
template <typename Word, typename T, typename F>
inline void writeAccumulators(const Lanes &lanes,
                              llvm::ArrayRef<Slot> registers, const T *from,
                              F encode) {
  for (unsigned i = 0; i != registers.size(); ++i) {
    Word *words = lanes.get<Word>(registers[i]);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      words[lane] = encode(from[getAccumulatorIndex(i, lane)]);
  }
}

/// As above for f16, two elements in a register. The functions take and give
/// the bits of one.
template <typename T, typename F>
inline void readHalfAccumulators(const Lanes &lanes,
                                 llvm::ArrayRef<Slot> registers, T *to,
                                 F decode) {
  for (unsigned r = 0; r != registers.size(); ++r) {
    const uint32_t *words = lanes.read<uint32_t>(registers[r]);
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      unsigned index = getAccumulatorIndex(2 * r, lane);
      to[index] = decode(static_cast<uint16_t>(words[lane]));
      to[index + 1] = decode(static_cast<uint16_t>(words[lane] >> 16));
    }
  }
}
template <typename T, typename F>
inline void writeHalfAccumulators(const Lanes &lanes,
                                  llvm::ArrayRef<Slot> registers, const T *from,
                                  F encode) {
  for (unsigned r = 0; r != registers.size(); ++r) {
    uint32_t *words = lanes.get<uint32_t>(registers[r]);
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      unsigned index = getAccumulatorIndex(2 * r, lane);
      uint32_t low = encode(from[index]), high = encode(from[index + 1]);
      words[lane] = (low & 0xFFFF) | high << 16;
    }
  }
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Whose registers hold the scales, and which bytes of them.
struct ScaleSelectors {
  unsigned byteA = 0, threadA = 0, byteB = 0, threadB = 0;

  /// The lane that supplies row `m` of A or column `n` of B (PTX ISA, section
  /// "Block Scaling for mma.sync").
  unsigned getLaneA(unsigned m) const {
    return 4 * (m % 8) + 2 * threadA + m / 8;
  }
  unsigned getLaneB(unsigned n) const { return 4 * n + threadB; }
};

/// Reads and checks the selectors; false after a fault.
bool readSelectors(const Instruction &instruction, const Lanes &lanes,
                   const MmaData &data, const MmaOperands &operands,
                   ScaleSelectors &selectors);

/// Calls `f(row of A, block, byte)` and `g(column of B, block, byte)` for each
/// scale.
template <typename F, typename G>
inline void forScales(const Lanes &lanes, const MmaData &data,
                      const MmaOperands &operands,
                      const ScaleSelectors &selectors, F f, G g) {
  const uint32_t *a = lanes.read<uint32_t>(operands.scales[MmaOperands::DataA]);
  const uint32_t *b = lanes.read<uint32_t>(operands.scales[MmaOperands::DataB]);
  for (unsigned block = 0; block != data.blocks; ++block) {
    for (unsigned m = 0; m != data.rows; ++m)
      f(m, block,
        a[selectors.getLaneA(m)] >> 8 * (selectors.byteA + block) & 0xFF);
    for (unsigned n = 0; n != kPanelColumns; ++n)
      g(n, block,
        b[selectors.getLaneB(n)] >> 8 * (selectors.byteB + block) & 0xFF);
  }
}

//===----------------------------------------------------------------------===//
// Unwritten values
//===----------------------------------------------------------------------===//

/// Which bits of D are written, decided before D is: D may be A, B or C.
class MmaWrittenBits {
public:
  /// `selectors` where there are scales.
  MmaWrittenBits(const Lanes &lanes, const MmaData &data,
                 const MmaOperands &operands, const ScaleSelectors *selectors);

  /// Sets them; after D is written.
  template <typename Word>
  void apply(Lanes &lanes, const MmaData &data,
             const MmaOperands &operands) const {
    if (isWritten) {
      for (Slot slot : operands.d)
        define(lanes, slot);
      return;
    }
    for (unsigned r = 0; r != operands.d.size(); ++r)
      for (unsigned lane = 0; lane != kLanes; ++lane)
        setWritten<Word>(lanes, operands.d[r], lane,
                         static_cast<Word>(written[r][lane]));
  }

private:
  bool isWritten = true; ///< All of it.
  uint64_t written[4][kLanes];
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORCOREFRAGMENTS_H
