//===- TensorCoreHardware.cpp - Sums as tensor cores make them ------------===//

#include "SmallFloat.h"
#include "TensorCoreArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

using namespace tile::emulator;

// Eight columns, and the same in an array.
typedef int32_t Int8 __attribute__((vector_size(32)));
typedef int32_t Int8InMemory
    __attribute__((vector_size(32), aligned(4), may_alias));

/// Exponent of the smallest normal f32, which a zero term counts as having.
static constexpr int32_t kMinF32Exponent = -126;

/// Rows of a panel that needs room of its own.
static constexpr unsigned kMaxRows = 16;

static constexpr uint32_t kCanonicalNaN16 = 0x7FFF;

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

static SplitValue splitAccumulator(uint32_t bits, TensorResult result) {
  return result == TensorResult::F32 ? splitF32(bits) : splitIEEE<5, 10>(bits);
}

static unsigned getMantissaBits(TensorResult result) {
  return result == TensorResult::F32 ? 23 : 10;
}

static int32_t getAlignmentExponent(const SplitValue &accumulator) {
  return accumulator.significand ? accumulator.exponent : kMinF32Exponent;
}

uint32_t tile::emulator::roundFusedSum(int64_t sum, int exponent,
                                       TensorResult result,
                                       unsigned resultBits) {
  if (sum == 0)
    return 0;
  if (result == TensorResult::F16)
    // A sum has fewer than 53 bits, so that this is exact.
    return roundToF16(static_cast<double>(sum) *
                      toDouble(static_cast<uint64_t>(exponent + 1023) << 52));

  uint32_t sign = sum < 0 ? 0x80000000 : 0;
  uint64_t magnitude =
      sum < 0 ? -static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum);
  int leading = static_cast<int>(llvm::Log2_64(magnitude)) + exponent;
  if (leading > 127)
    return sign | 0x7F800000;
  // Cut to the places of an f32, then to those that are kept.
  int last = std::max(leading, kMinF32Exponent) - 23;
  int drop = last - exponent;
  if (drop >= 64)
    return sign;
  uint32_t significand =
      static_cast<uint32_t>(drop >= 0 ? magnitude >> drop : magnitude << -drop);
  significand &= ~uint32_t(0) << (23 - resultBits);
  // The leading one of a normal number carries into the exponent's field.
  uint32_t field = leading < kMinF32Exponent
                       ? 0
                       : static_cast<uint32_t>(leading - kMinF32Exponent);
  return sign | ((field << 23) + significand);
}

namespace {

/// What infinities and NaN among the terms of one sum make of it.
class SpecialTerms {
public:
  void addNaN() { nan = true; }
  void add(int32_t exponent) {
    nan |= exponent == kNaNExponent;
    positive |= exponent == kInfinityExponent;
    negative |= exponent == kNegativeInfinityExponent;
  }
  void addProduct(int32_t significandA, int32_t exponentA, int32_t significandB,
                  int32_t exponentB) {
    if (exponentA < kFirstSpecialExponent && exponentB < kFirstSpecialExponent)
      return;
    if (exponentA == kNaNExponent || exponentB == kNaNExponent ||
        exponentA == kZeroExponent || exponentB == kZeroExponent) {
      nan = true;
      return;
    }
    bool negativeA = significandA < 0 || exponentA == kNegativeInfinityExponent;
    bool negativeB = significandB < 0 || exponentB == kNegativeInfinityExponent;
    (negativeA != negativeB ? negative : positive) = true;
  }

  /// The sum's bits, if it is not a number.
  bool get(TensorResult result, uint32_t &bits) const {
    bool isF32 = result == TensorResult::F32;
    if (nan || (positive && negative))
      bits = isF32 ? kCanonicalNaN32 : kCanonicalNaN16;
    else if (positive)
      bits = isF32 ? 0x7F800000 : 0x7C00;
    else if (negative)
      bits = isF32 ? 0xFF800000 : 0xFC00;
    else
      return false;
    return true;
  }

private:
  bool nan = false, positive = false, negative = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Fused sums
//===----------------------------------------------------------------------===//

/// Products whose sum of aligned terms fits in 32 bits: each is less than 4
/// times 2^25.
static constexpr unsigned kNarrowSum = 16;

/// One row's products of K from `first` to `last`.
struct FusedRow {
  const int32_t *significandsA, *exponentsA; ///< Of the row.
  const int32_t *significandsB, *exponentsB; ///< Of the panel.
  unsigned first, last;
};

/// The largest exponent of a product, per column.
__attribute__((always_inline)) static inline void
findLargestExponents(const FusedRow &row, int32_t *largest) {
  Int8 maximum = Int8{} + 2 * kZeroExponent;
  for (unsigned k = row.first; k != row.last; ++k) {
    Int8 exponents = *reinterpret_cast<const Int8InMemory *>(
                         row.exponentsB + k * kPanelColumns) +
                     row.exponentsA[k];
    maximum = exponents > maximum ? exponents : maximum;
  }
  *reinterpret_cast<Int8InMemory *>(largest) = maximum;
}

/// The sum of the products, per column, in units of 2^-`fractionBits` relative
/// to the exponent `alignment`, each cut toward zero. `left` is what a product
/// has fewer of fraction bits.
__attribute__((always_inline)) static inline void
addAlignedProducts(const FusedRow &row, unsigned left,
                   const int32_t *alignments, int64_t *sums) {
  Int8 alignment = *reinterpret_cast<const Int8InMemory *>(alignments);
  for (unsigned n = 0; n != kPanelColumns; ++n)
    sums[n] = 0;
  for (unsigned first = row.first; first < row.last; first += kNarrowSum) {
    Int8 sum = {};
    for (unsigned k = first; k != std::min(row.last, first + kNarrowSum); ++k) {
      Int8 exponents = *reinterpret_cast<const Int8InMemory *>(
          row.exponentsB + k * kPanelColumns);
      Int8 products = *reinterpret_cast<const Int8InMemory *>(
                          row.significandsB + k * kPanelColumns) *
                      row.significandsA[k];
      Int8 signs = products >> 31;
      Int8 magnitudes = ((products ^ signs) - signs) << left;
      Int8 shifts = alignment - (exponents + row.exponentsA[k]);
      shifts = shifts > 31 ? 31 : shifts;
      // Columns with infinities or NaN have no meaning here.
      shifts = shifts < 0 ? 0 : shifts;
      magnitudes >>= shifts;
      sum += (magnitudes ^ signs) - signs;
    }
    for (unsigned n = 0; n != kPanelColumns; ++n)
      sums[n] += sum[n];
  }
}

__attribute__((always_inline)) static inline void
multiplyFusedBody(const SplitOperands &operands, const TensorModel &model,
                  TensorResult result, uint32_t *accumulators) {
  unsigned k = operands.k;
  bool isScaled = operands.scaleExponentsA;
  const unsigned left = model.fractionBits - operands.mantissaBits;
  // Whether a row or column has a number that is none, in any step.
  bool isSpecialColumn[kPanelColumns] = {};
  for (unsigned i = 0; i != k * kPanelColumns; ++i)
    isSpecialColumn[i % kPanelColumns] |=
        operands.exponentsB[i] >= kFirstSpecialExponent;

  for (unsigned m = 0; m != operands.rows; ++m) {
    FusedRow row = {operands.significandsA + m * k,
                    operands.exponentsA + m * k,
                    operands.significandsB,
                    operands.exponentsB,
                    0,
                    0};
    bool isSpecialRow = false;
    for (unsigned i = 0; i != k; ++i)
      isSpecialRow |= row.exponentsA[i] >= kFirstSpecialExponent;

    uint32_t *c = accumulators + m * kPanelColumns;
    for (unsigned first = 0; first < k; first += model.step) {
      row.first = first;
      row.last = std::min(k, first + model.step);
      alignas(32) int32_t alignments[kPanelColumns];
      findLargestExponents(row, alignments);

      SplitValue values[kPanelColumns];
      int32_t largest[kPanelColumns];
      for (unsigned n = 0; n != kPanelColumns; ++n) {
        int32_t scale =
            isScaled ? operands.scaleExponentsA[m] + operands.scaleExponentsB[n]
                     : 0;
        values[n] = splitAccumulator(c[n], result);
        largest[n] =
            std::max(alignments[n] + scale, getAlignmentExponent(values[n]));
        alignments[n] = largest[n] - scale;
      }

      int64_t sums[kPanelColumns];
      addAlignedProducts(row, left, alignments, sums);

      for (unsigned n = 0; n != kPanelColumns; ++n) {
        bool isSpecialScale =
            isScaled && (operands.scaleExponentsA[m] == kNaNExponent ||
                         operands.scaleExponentsB[n] == kNaNExponent);
        if (isSpecialRow || isSpecialColumn[n] || isSpecialScale ||
            values[n].exponent >= kFirstSpecialExponent) {
          SpecialTerms special;
          special.add(values[n].exponent);
          if (isSpecialScale)
            special.addNaN();
          for (unsigned i = row.first; i != row.last; ++i)
            special.addProduct(row.significandsA[i], row.exponentsA[i],
                               row.significandsB[i * kPanelColumns + n],
                               row.exponentsB[i * kPanelColumns + n]);
          if (special.get(result, c[n]))
            continue;
        }
        // The accumulator is a term like the others, with its own width.
        int64_t magnitude = std::abs(values[n].significand);
        int right = largest[n] - getAlignmentExponent(values[n]) +
                    static_cast<int>(getMantissaBits(result)) -
                    static_cast<int>(model.fractionBits);
        magnitude =
            right <= 0 ? magnitude << -right : magnitude >> std::min(right, 63);
        int64_t sum =
            sums[n] + (values[n].significand < 0 ? -magnitude : magnitude);
        c[n] = roundFusedSum(sum,
                             largest[n] - static_cast<int>(model.fractionBits),
                             result, model.resultBits);
      }
    }
  }
}

// As for exact sums: shifts by a vector need more than every machine has.
#if defined(__x86_64__) && defined(__GNUC__)
#define TILE_HAS_AVX2 1
__attribute__((target("avx2"))) static void
multiplyFusedAvx2(const SplitOperands &operands, const TensorModel &model,
                  TensorResult result, uint32_t *accumulators) {
  multiplyFusedBody(operands, model, result, accumulators);
}
#else
#define TILE_HAS_AVX2 0
#endif

void tile::emulator::multiplyFused(const SplitOperands &operands,
                                   const TensorModel &model,
                                   TensorResult result,
                                   uint32_t *accumulators) {
  assert(model.fractionBits >= operands.mantissaBits &&
         "products would lose bits before they are aligned");
#if TILE_HAS_AVX2
  if (__builtin_cpu_supports("avx2"))
    return multiplyFusedAvx2(operands, model, result, accumulators);
#endif
  multiplyFusedBody(operands, model, result, accumulators);
}

//===----------------------------------------------------------------------===//
// FP8 by way of f16
//===----------------------------------------------------------------------===//

void tile::emulator::multiplyHalves(const SplitOperands &operands,
                                    const TensorModel &model,
                                    TensorResult result,
                                    uint32_t *accumulators) {
  constexpr unsigned kMaxHalf = 32;
  unsigned k = operands.k, half = k / 2;
  assert(half <= kMaxHalf && operands.rows <= kMaxRows && "panel too large");
  alignas(64) int32_t significandsA[kMaxRows * kMaxHalf];
  alignas(64) int32_t exponentsA[kMaxRows * kMaxHalf];
  alignas(64) int32_t significandsB[kMaxHalf * kPanelColumns];
  alignas(64) int32_t exponentsB[kMaxHalf * kPanelColumns];
  SplitOperands part = operands;
  part.k = half;
  part.significandsA = significandsA;
  part.exponentsA = exponentsA;
  part.significandsB = significandsB;
  part.exponentsB = exponentsB;

  unsigned numElements = operands.rows * kPanelColumns;
  uint32_t sums[kMaxRows * kPanelColumns] = {};
  for (unsigned which = 0; which != 2; ++which) {
    for (unsigned i = 0; i != half; ++i) {
      unsigned from = i / 2 * 4 + which * 2 + i % 2;
      for (unsigned m = 0; m != operands.rows; ++m) {
        significandsA[m * half + i] = operands.significandsA[m * k + from];
        exponentsA[m * half + i] = operands.exponentsA[m * k + from];
      }
      std::memcpy(significandsB + i * kPanelColumns,
                  operands.significandsB + from * kPanelColumns,
                  kPanelColumns * sizeof(int32_t));
      std::memcpy(exponentsB + i * kPanelColumns,
                  operands.exponentsB + from * kPanelColumns,
                  kPanelColumns * sizeof(int32_t));
    }
    multiplyFused(part, model, result, sums);
  }
  for (unsigned i = 0; i != numElements; ++i) {
    if (result == TensorResult::F32)
      accumulators[i] = roundToF32(
          static_cast<double>(toFloat(accumulators[i]) + toFloat(sums[i])));
    else
      // The sum of two f16 is exact in f64.
      accumulators[i] =
          roundToF16(decodeCode(TensorFormat::F16, accumulators[i]) +
                     decodeCode(TensorFormat::F16, sums[i]));
  }
}

//===----------------------------------------------------------------------===//
// Sums of groups
//===----------------------------------------------------------------------===//

void tile::emulator::multiplyGroupSums(const GroupOperands &operands,
                                       const TensorModel &model,
                                       uint32_t *accumulators) {
  constexpr unsigned kGroup = 16, kMaxGroups = 4;
  // A product of two e2m1 is a multiple of 1/4; of two scales' significands,
  // one of 1/64.
  constexpr unsigned kTermFractionBits = 2 + 3 + 3;
  unsigned k = operands.k, numGroups = k / kGroup;
  unsigned groupsPerBlock = numGroups / operands.blocks;
  assert(numGroups <= kMaxGroups && operands.rows <= kMaxRows &&
         model.fractionBits >= 23 && "unsupported shape");
  const unsigned left = model.fractionBits - kTermFractionBits;

  alignas(64) double groups[kMaxGroups][kMaxRows * kPanelColumns] = {};
  for (unsigned group = 0; group != numGroups; ++group) {
    ExactOperands<float> exact;
    exact.rows = operands.rows;
    exact.k = kGroup;
    exact.a = operands.a + group * kGroup;
    exact.strideA = k;
    exact.b = operands.b + group * kGroup * kPanelColumns;
    multiplyExact(exact, groups[group]);
  }

  for (unsigned m = 0; m != operands.rows; ++m) {
    for (unsigned n = 0; n != kPanelColumns; ++n) {
      uint32_t &c = accumulators[m * kPanelColumns + n];
      SplitValue accumulator = splitF32(c);
      SpecialTerms special;
      special.add(accumulator.exponent);
      int64_t terms[kMaxGroups];
      int32_t exponents[kMaxGroups];
      int32_t largest = getAlignmentExponent(accumulator);
      for (unsigned group = 0; group != numGroups; ++group) {
        unsigned block = group / groupsPerBlock;
        const SplitScale &scaleA = operands.scaleA[m * operands.blocks + block];
        const SplitScale &scaleB = operands.scaleB[block * kPanelColumns + n];
        // Either one, even where all data are zero.
        if (scaleA.exponent == kNaNExponent || scaleB.exponent == kNaNExponent)
          special.addNaN();
        terms[group] =
            static_cast<int64_t>(groups[group][m * kPanelColumns + n] * 4) *
            scaleA.significand * scaleB.significand;
        exponents[group] = scaleA.exponent + scaleB.exponent;
        if (terms[group])
          largest = std::max(largest, exponents[group]);
      }
      if (special.get(TensorResult::F32, c))
        continue;

      int64_t sum = 0;
      auto add = [&](int64_t value, unsigned shift, int32_t exponent) {
        int64_t magnitude = std::abs(value) << shift;
        magnitude >>= std::min(largest - exponent, 63);
        sum += value < 0 ? -magnitude : magnitude;
      };
      for (unsigned group = 0; group != numGroups; ++group)
        if (terms[group])
          add(terms[group], left, exponents[group]);
      add(accumulator.significand, model.fractionBits - 23,
          getAlignmentExponent(accumulator));
      c = roundFusedSum(sum, largest - static_cast<int>(model.fractionBits),
                        TensorResult::F32, model.resultBits);
    }
  }
}
