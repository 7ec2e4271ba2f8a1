//===- TensorCoreExecute.cpp - mma.sync over a warp -----------------------===//

#include "Machine.h"
#include "SmallFloat.h"
#include "TensorCoreFragments.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Twine;

// Panels for the largest K of each width of elements.
static constexpr unsigned kMaxRows = 16, kMaxK = 64;
static constexpr unsigned kMaxA = kMaxRows * kMaxK;
static constexpr unsigned kMaxB = kMaxK * kPanelColumns;
static constexpr unsigned kMaxC = kMaxRows * kPanelColumns;

bool tile::emulator::checkWholeWarp(const Instruction &instruction,
                                    const Lanes &lanes) {
  if (lanes.active == kAllLanes)
    return true;
  unsigned lane = static_cast<unsigned>(__builtin_ctz(~lanes.active));
  lanes.warp->fault(instruction,
                    static_cast<unsigned>(__builtin_ctz(lanes.active)),
                    Check::Divergence,
                    "expects all 32 lanes of the warp, but lane " +
                        Twine(lane) + " does not take part");
  return false;
}

static bool isHardware(const Lanes &lanes) {
  return lanes.warp->getBlock().getLaunch().options->accumulate ==
         Accumulate::Hardware;
}

//===----------------------------------------------------------------------===//
// Multiplicands in floating point
//===----------------------------------------------------------------------===//

/// Bits beside the codes in 8-bit containers must be zero.
static bool checkPadding(const Instruction &instruction, const Lanes &lanes,
                         ArrayRef<Slot> registers, TensorFormat format,
                         llvm::StringRef name) {
  uint32_t padding = getContainerTable(format).padding;
  if (!padding)
    return true;
  for (Slot slot : registers) {
    const uint32_t *words = lanes.read<uint32_t>(slot);
    uint32_t any = 0;
    for (unsigned lane = 0; lane != kLanes; ++lane)
      any |= words[lane];
    if (!(any & padding))
      continue;
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      uint32_t bits =
          words[lane] & padding & getWritten<uint32_t>(lanes, slot, lane);
      if (!bits)
        continue;
      bool isE2M1 = format == TensorFormat::E2M1;
      lanes.warp->fault(instruction, lane, Check::IllegalOperand,
                        "expects zero in bits " +
                            Twine(isE2M1 ? "7:6 and 1:0" : "7:6") +
                            " of every byte of " + name + ", which holds " +
                            (isE2M1 ? "e2m1" : "6-bit") + " codes, but got 0x" +
                            llvm::utohexstr(words[lane], false, 8));
      return false;
    }
  }
  return true;
}

/// The value of the f16 in the low half of `word`. A float never is subnormal
/// on the way, which would cost the host a hundred cycles.
static float decodeF16(uint32_t word) {
  uint32_t magnitude = (word & 0x7FFF) << 13;
  uint32_t sign = (word & 0x8000) << 16;
  uint32_t subnormal =
      toBits(static_cast<float>(static_cast<int32_t>(word & 0x3FF)) * 0x1p-24f);
  constexpr uint32_t rebias = (127 - 15) << 23;
  uint32_t normal = magnitude + rebias;
  uint32_t special = magnitude + 2 * rebias;
  uint32_t bits = magnitude < 0x00800000   ? subnormal
                  : magnitude < 0x0F800000 ? normal
                                           : special;
  return toFloat(sign | bits);
}

/// Reads A and B as values; see ExactOperands.
template <typename T>
static void readValues(const Lanes &lanes, const MmaData &data,
                       const MmaOperands &operands, T *a, T *b) {
  switch (data.elementBits) {
  case 4: {
    const PairTable &table = getPairTable();
    auto decode = [&](uint32_t word, T *to) {
      for (unsigned i = 0; i != 4; ++i)
        for (unsigned j = 0; j != 2; ++j)
          to[2 * i + j] = table.values[word >> 8 * i & 0xFF][j];
    };
    readFragmentA<8, uint32_t>(lanes, operands.a, data.k, a, decode);
    readFragmentB<8, uint32_t>(lanes, operands.b, b, decode);
    return;
  }
  case 8: {
    auto makeDecode = [](TensorFormat format) {
      const T *table;
      if constexpr (std::is_same_v<T, float>)
        table = getContainerTable(format).floats;
      else
        table = getContainerTable(format).values;
      return [table](uint32_t word, T *to) {
        for (unsigned i = 0; i != 4; ++i)
          to[i] = table[word >> 8 * i & 0xFF];
      };
    };
    readFragmentA<4, uint32_t>(lanes, operands.a, data.k, a,
                               makeDecode(data.formatA));
    readFragmentB<4, uint32_t>(lanes, operands.b, b, makeDecode(data.formatB));
    return;
  }
  case 16: {
    auto read = [&](auto decode) {
      readFragmentA<2, uint32_t>(lanes, operands.a, data.k, a, decode);
      readFragmentB<2, uint32_t>(lanes, operands.b, b, decode);
    };
    if (data.formatA == TensorFormat::F16)
      read([](uint32_t word, T *to) {
        to[0] = decodeF16(word);
        to[1] = decodeF16(word >> 16);
      });
    else
      read([](uint32_t word, T *to) {
        to[0] = toFloat(word << 16);
        to[1] = toFloat(word & 0xFFFF0000);
      });
    return;
  }
  default: {
    // The low 13 bits of a tf32 register do not count.
    auto decode = [](uint32_t word, T *to) {
      to[0] = toFloat(word & 0xFFFFE000);
    };
    readFragmentA<1, uint32_t>(lanes, operands.a, data.k, a, decode);
    readFragmentB<1, uint32_t>(lanes, operands.b, b, decode);
  }
  }
}

namespace {

/// Significands and exponents of A and B.
struct SplitPanels {
  alignas(64) int32_t significandsA[kMaxA], exponentsA[kMaxA];
  alignas(64) int32_t significandsB[kMaxB], exponentsB[kMaxB];

  /// Reads both, by `kElements` in a register; `decodeA(word, j)` gives element
  /// j.
  template <unsigned kElements, typename F, typename G>
  void read(const Lanes &lanes, unsigned k, const MmaOperands &operands,
            F decodeA, G decodeB) {
    auto significands = [](auto decode) {
      return [decode](uint32_t word, int32_t *to) {
        for (unsigned j = 0; j != kElements; ++j)
          to[j] = decode(word, j).significand;
      };
    };
    auto exponents = [](auto decode) {
      return [decode](uint32_t word, int32_t *to) {
        for (unsigned j = 0; j != kElements; ++j)
          to[j] = decode(word, j).exponent;
      };
    };
    readFragmentA<kElements, uint32_t>(lanes, operands.a, k, significandsA,
                                       significands(decodeA));
    readFragmentA<kElements, uint32_t>(lanes, operands.a, k, exponentsA,
                                       exponents(decodeA));
    readFragmentB<kElements, uint32_t>(lanes, operands.b, significandsB,
                                       significands(decodeB));
    readFragmentB<kElements, uint32_t>(lanes, operands.b, exponentsB,
                                       exponents(decodeB));
  }
};

} // namespace

static void readSplitValues(const Lanes &lanes, const MmaData &data,
                            const MmaOperands &operands, SplitPanels &panels) {
  if (data.model.method == TensorModel::Method::Halves) {
    auto makeDecode = [](TensorFormat format) {
      const SplitValue *table = getHalfTable(format).values;
      return [table](uint32_t word, unsigned j) {
        return table[word >> 8 * j & 0xFF];
      };
    };
    return panels.read<4>(lanes, data.k, operands, makeDecode(data.formatA),
                          makeDecode(data.formatB));
  }
  switch (data.elementBits) {
  case 8: {
    auto makeDecode = [](TensorFormat format) {
      const ContainerTable *table = &getContainerTable(format);
      return [table](uint32_t word, unsigned j) {
        uint32_t byte = word >> 8 * j & 0xFF;
        return SplitValue{table->significands[byte], table->exponents[byte]};
      };
    };
    return panels.read<4>(lanes, data.k, operands, makeDecode(data.formatA),
                          makeDecode(data.formatB));
  }
  case 16: {
    auto decodeF16 = [](uint32_t word, unsigned j) {
      return splitIEEE<5, 10>(word >> 16 * j);
    };
    auto decodeBF16 = [](uint32_t word, unsigned j) {
      return splitIEEE<8, 7>(word >> 16 * j);
    };
    if (data.formatA == TensorFormat::F16)
      return panels.read<2>(lanes, data.k, operands, decodeF16, decodeF16);
    return panels.read<2>(lanes, data.k, operands, decodeBF16, decodeBF16);
  }
  default: {
    auto decode = [](uint32_t word, unsigned) {
      return splitIEEE<8, 10>(word >> 13);
    };
    return panels.read<1>(lanes, data.k, operands, decode, decode);
  }
  }
}

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

template <typename T>
static void multiplyExactly(const Lanes &lanes, const MmaData &data,
                            const MmaOperands &operands,
                            const ScaleSelectors &selectors,
                            double *accumulators) {
  alignas(64) T a[kMaxA];
  alignas(64) T b[kMaxB];
  readValues(lanes, data, operands, a, b);
  ExactOperands<T> exact;
  exact.rows = data.rows;
  exact.k = data.k;
  exact.a = a;
  exact.b = b;
  exact.blocks = data.blocks;
  double scaleA[kMaxRows * 4];
  alignas(64) double scaleB[4 * kPanelColumns];
  if (data.blocks) {
    const double *table = getScaleTable(data.isUE4M3).values;
    forScales(
        lanes, data, operands, selectors,
        [&](unsigned m, unsigned block, uint32_t byte) {
          scaleA[m * data.blocks + block] = table[byte];
        },
        [&](unsigned n, unsigned block, uint32_t byte) {
          scaleB[block * kPanelColumns + n] = table[byte];
        });
    exact.scaleA = scaleA;
    exact.scaleB = scaleB;
  }
  multiplyExact(exact, accumulators);
}

static void executeExact(const Lanes &lanes, const MmaData &data,
                         const MmaOperands &operands,
                         const ScaleSelectors &selectors) {
  alignas(64) double accumulators[kMaxC];
  bool isHalf = data.result == TensorResult::F16;
  if (isHalf)
    readHalfAccumulators(lanes, operands.c, accumulators, decodeF16);
  else
    readAccumulators<float>(lanes, operands.c, accumulators,
                            [](float c) -> double { return c; });
  if (data.isNarrow)
    multiplyExactly<float>(lanes, data, operands, selectors, accumulators);
  else
    multiplyExactly<double>(lanes, data, operands, selectors, accumulators);
  if (isHalf)
    writeHalfAccumulators(lanes, operands.d, accumulators, roundToF16);
  else
    writeAccumulators<uint32_t>(lanes, operands.d, accumulators, roundToF32);
}

static void multiplyAsHardware(const Lanes &lanes, const MmaData &data,
                               const MmaOperands &operands,
                               const ScaleSelectors &selectors,
                               uint32_t *accumulators) {
  const SplitScale *table = getScaleTable(data.isUE4M3).splits;
  if (data.model.method == TensorModel::Method::GroupSums) {
    alignas(64) float a[kMaxA];
    alignas(64) float b[kMaxB];
    readValues(lanes, data, operands, a, b);
    SplitScale scaleA[kMaxRows * 4], scaleB[4 * kPanelColumns];
    forScales(
        lanes, data, operands, selectors,
        [&](unsigned m, unsigned block, uint32_t byte) {
          scaleA[m * data.blocks + block] = table[byte];
        },
        [&](unsigned n, unsigned block, uint32_t byte) {
          scaleB[block * kPanelColumns + n] = table[byte];
        });
    GroupOperands groups;
    groups.rows = data.rows;
    groups.k = data.k;
    groups.a = a;
    groups.b = b;
    groups.blocks = data.blocks;
    groups.scaleA = scaleA;
    groups.scaleB = scaleB;
    return multiplyGroupSums(groups, data.model, accumulators);
  }

  SplitPanels panels;
  readSplitValues(lanes, data, operands, panels);
  SplitOperands split;
  split.rows = data.rows;
  split.k = data.k;
  split.significandsA = panels.significandsA;
  split.exponentsA = panels.exponentsA;
  split.significandsB = panels.significandsB;
  split.exponentsB = panels.exponentsB;
  if (data.model.method == TensorModel::Method::Halves) {
    split.mantissaBits = 2 * kF16.mantissaBits;
    return multiplyHalves(split, data.model, data.result, accumulators);
  }
  split.mantissaBits = getNumberFormat(data.formatA).mantissaBits +
                       getNumberFormat(data.formatB).mantissaBits;
  int32_t scaleA[kMaxRows], scaleB[kPanelColumns];
  if (data.blocks) {
    forScales(
        lanes, data, operands, selectors,
        [&](unsigned m, unsigned, uint32_t byte) {
          scaleA[m] = table[byte].exponent;
        },
        [&](unsigned n, unsigned, uint32_t byte) {
          scaleB[n] = table[byte].exponent;
        });
    split.scaleExponentsA = scaleA;
    split.scaleExponentsB = scaleB;
  }
  multiplyFused(split, data.model, data.result, accumulators);
}

static void executeHardware(const Lanes &lanes, const MmaData &data,
                            const MmaOperands &operands,
                            const ScaleSelectors &selectors) {
  uint32_t accumulators[kMaxC];
  auto same = [](uint32_t bits) { return bits; };
  bool isHalf = data.result == TensorResult::F16;
  if (isHalf)
    readHalfAccumulators(lanes, operands.c, accumulators, same);
  else
    readAccumulators<uint32_t>(lanes, operands.c, accumulators, same);
  multiplyAsHardware(lanes, data, operands, selectors, accumulators);
  if (isHalf)
    writeHalfAccumulators(lanes, operands.d, accumulators, same);
  else
    writeAccumulators<uint32_t>(lanes, operands.d, accumulators, same);
}

void tile::emulator::executeMmaFloat(const Instruction &instruction,
                                     Lanes &lanes) {
  const MmaData &data = *static_cast<const MmaData *>(instruction.data);
  MmaOperands operands(data, instruction.operands);
  if (!checkWholeWarp(instruction, lanes))
    return;
  if (data.elementBits == 8 && (!checkPadding(instruction, lanes, operands.a,
                                              data.formatA, "operand a") ||
                                !checkPadding(instruction, lanes, operands.b,
                                              data.formatB, "operand b")))
    return;
  ScaleSelectors selectors;
  if (data.blocks &&
      !readSelectors(instruction, lanes, data, operands, selectors))
    return;
  MmaWrittenBits written(lanes, data, operands,
                         data.blocks ? &selectors : nullptr);
  if (isHardware(lanes))
    executeHardware(lanes, data, operands, selectors);
  else
    executeExact(lanes, data, operands, selectors);
  written.apply<uint32_t>(lanes, data, operands);
}

void tile::emulator::executeMmaDouble(const Instruction &instruction,
                                      Lanes &lanes) {
  const MmaData &data = *static_cast<const MmaData *>(instruction.data);
  MmaOperands operands(data, instruction.operands);
  if (!checkWholeWarp(instruction, lanes))
    return;
  MmaWrittenBits written(lanes, data, operands, nullptr);
  constexpr unsigned kMaxDoubleK = 16;
  double a[kMaxRows * kMaxDoubleK], b[kMaxDoubleK * kPanelColumns];
  double accumulators[kMaxC];
  auto copy = [](double value, double *to) { *to = value; };
  auto same = [](double value) { return value; };
  readFragmentA<1, double>(lanes, operands.a, data.k, a, copy);
  readFragmentB<1, double>(lanes, operands.b, b, copy);
  readAccumulators<double>(lanes, operands.c, accumulators, same);
  // A chain of fused multiply-adds in the order of K.
  for (unsigned m = 0; m != data.rows; ++m)
    for (unsigned k = 0; k != data.k; ++k)
      for (unsigned n = 0; n != kPanelColumns; ++n) {
        double x = a[m * data.k + k], y = b[k * kPanelColumns + n];
        double &sum = accumulators[m * kPanelColumns + n];
        sum = data.rounding == RoundingMode::NearestEven
                  ? std::fma(x, y, sum)
                  : toDouble(fuseCodes(kF64, toBits(x), toBits(y), toBits(sum),
                                       data.rounding));
      }
  writeAccumulators<double>(lanes, operands.d, accumulators, same);
  written.apply<uint64_t>(lanes, data, operands);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Adds the exact `sums` to C: the result wraps or saturates once.
template <typename T>
static void addIntegers(const Lanes &lanes, const MmaData &data,
                        const MmaOperands &operands, const T *sums) {
  int32_t accumulators[kMaxC];
  readAccumulators<int32_t>(lanes, operands.c, accumulators,
                            [](int32_t c) { return c; });
  for (unsigned i = 0; i != data.rows * kPanelColumns; ++i) {
    int64_t sum = accumulators[i] + static_cast<int64_t>(sums[i]);
    if (data.saturate)
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    accumulators[i] = static_cast<int32_t>(static_cast<uint32_t>(sum));
  }
  writeAccumulators<int32_t>(lanes, operands.d, accumulators,
                             [](int32_t d) { return d; });
}

/// Element j of a register of 8- or 4-bit integers.
template <unsigned kBits, bool kIsSigned>
static float getInteger(uint32_t word, unsigned j) {
  uint32_t shifted = word << (32 - kBits * (j + 1));
  return static_cast<float>(
      kIsSigned ? static_cast<int32_t>(shifted) >> (32 - kBits)
                : static_cast<int32_t>(shifted >> (32 - kBits)));
}

template <unsigned kBits>
static void readIntegers(const Lanes &lanes, const MmaData &data,
                         const MmaOperands &operands, float *a, float *b) {
  constexpr unsigned kElements = 32 / kBits;
  auto read = [&](bool isSigned, auto readFragment) {
    if (isSigned)
      readFragment([](uint32_t word, float *to) {
        for (unsigned j = 0; j != kElements; ++j)
          to[j] = getInteger<kBits, true>(word, j);
      });
    else
      readFragment([](uint32_t word, float *to) {
        for (unsigned j = 0; j != kElements; ++j)
          to[j] = getInteger<kBits, false>(word, j);
      });
  };
  read(data.signedA, [&](auto decode) {
    readFragmentA<kElements, uint32_t>(lanes, operands.a, data.k, a, decode);
  });
  read(data.signedB, [&](auto decode) {
    readFragmentB<kElements, uint32_t>(lanes, operands.b, b, decode);
  });
}

void tile::emulator::executeMmaInteger(const Instruction &instruction,
                                       Lanes &lanes) {
  const MmaData &data = *static_cast<const MmaData *>(instruction.data);
  MmaOperands operands(data, instruction.operands);
  if (!checkWholeWarp(instruction, lanes))
    return;
  MmaWrittenBits written(lanes, data, operands, nullptr);
  // 32 products of 8 bits, or 64 of 4, are far below 2^24: exact in f32.
  alignas(64) float a[kMaxA];
  alignas(64) float b[kMaxB];
  if (data.elementBits == 8)
    readIntegers<8>(lanes, data, operands, a, b);
  else
    readIntegers<4>(lanes, data, operands, a, b);
  ExactOperands<float> exact;
  exact.rows = data.rows;
  exact.k = data.k;
  exact.a = a;
  exact.b = b;
  alignas(64) double sums[kMaxC] = {};
  multiplyExact(exact, sums);
  addIntegers(lanes, data, operands, sums);
  written.apply<uint32_t>(lanes, data, operands);
}

void tile::emulator::executeMmaBits(const Instruction &instruction,
                                    Lanes &lanes) {
  const MmaData &data = *static_cast<const MmaData *>(instruction.data);
  MmaOperands operands(data, instruction.operands);
  if (!checkWholeWarp(instruction, lanes))
    return;
  MmaWrittenBits written(lanes, data, operands, nullptr);
  // A register of 32 bits is one element of a matrix of words.
  constexpr unsigned kMaxWords = 8;
  uint32_t a[kMaxRows * kMaxWords], b[kMaxWords * kPanelColumns];
  unsigned words = data.k / 32;
  auto copy = [](uint32_t word, uint32_t *to) { *to = word; };
  readFragmentA<1, uint32_t>(lanes, operands.a, words, a, copy);
  readFragmentB<1, uint32_t>(lanes, operands.b, b, copy);
  int32_t sums[kMaxC] = {};
  for (unsigned m = 0; m != data.rows; ++m)
    for (unsigned k = 0; k != words; ++k)
      for (unsigned n = 0; n != kPanelColumns; ++n) {
        uint32_t x = a[m * words + k], y = b[k * kPanelColumns + n];
        sums[m * kPanelColumns + n] +=
            __builtin_popcount(data.isXor ? x ^ y : x & y);
      }
  addIntegers(lanes, data, operands, sums);
  written.apply<uint32_t>(lanes, data, operands);
}
