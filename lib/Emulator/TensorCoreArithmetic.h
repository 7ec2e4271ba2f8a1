//===- TensorCoreArithmetic.h - How tensor cores multiply -------*- C++ -*-===//
//
// D = A * B + C on decoded operands, without knowing where they came from: the
// same functions serve every instruction and shape. B and the accumulators are
// panels of eight columns.
//
// Exact mode adds products in f64 and leaves the one rounding to the caller.
// Hardware mode is the published model of NVIDIA's tensor cores (Xie et al.,
// "MMA-Sim", arXiv 2511.10909): a step of the sum aligns its products and the
// accumulator to the largest exponent among them, cuts off what lies below a
// fixed number of fraction bits, adds the rest exactly, and cuts the sum to the
// result's width. TensorCoreModels.cpp has the numbers of each target.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORCOREARITHMETIC_H
#define TILE_LIB_EMULATOR_TENSORCOREARITHMETIC_H

#include "TensorCoreFormats.h"

#include <cstdint>

namespace tile::emulator {

/// Columns of a panel of B, C and D.
constexpr unsigned kPanelColumns = 8;

//===----------------------------------------------------------------------===//
// Exact mode
//===----------------------------------------------------------------------===//

/// Decoded operands. `T` is double, or float where all sums of products within
/// a block of scales (or over K where there are none) are exact in it.
template <typename T>
struct ExactOperands {
  unsigned rows = 0;    ///< A multiple of 4.
  unsigned k = 0;       ///< A multiple of `blocks`.
  const T *a = nullptr; ///< [rows][k]
  /// Elements from one row of A to the next; 0: k.
  unsigned strideA = 0;
  const T *b = nullptr; ///< [k][8]
  /// Scales per row of A and column of B; 0: none.
  unsigned blocks = 0;
  const double *scaleA = nullptr; ///< [rows][blocks]
  const double *scaleB = nullptr; ///< [blocks][8]
};

/// Adds A * B to `accumulators`, [rows][8]: the products of a block in the
/// order of K, times its scales; the blocks in order; the accumulator last.
/// Every operation is one of IEEE 754 in f64.
void multiplyExact(const ExactOperands<double> &operands, double *accumulators);
void multiplyExact(const ExactOperands<float> &operands, double *accumulators);

//===----------------------------------------------------------------------===//
// Hardware mode
//===----------------------------------------------------------------------===//

/// What decides how a target adds.
enum class TensorInput : uint8_t {
  F16,
  BF16,
  TF32,
  FP8,    ///< Both operands e4m3 or e5m2, no scales.
  Narrow, ///< 8-bit containers with another format or with scales.
  FP4,    ///< Packed e2m1 with scales.
};

/// One row of the table of models.
struct TensorModel {
  enum class Method : uint8_t {
    Fused,
    /// FP8 by way of f16: the bytes 0 and 1 of every register, then the bytes 2
    /// and 3, each as a fused f16 multiply with `step`; C is added last, by an
    /// ordinary rounded addition.
    Halves,
    /// Sums of 16 products are exact, and are the terms of a fused sum.
    GroupSums,
  };
  Method method = Method::Fused;
  /// K of one fused sum; a longer K is several sums in a row.
  unsigned step = 0;
  /// Fraction bits kept of each term, relative to the largest exponent.
  unsigned fractionBits = 0;
  /// Fraction bits that an f32 result keeps.
  unsigned resultBits = 23;
};

/// The model of a target, "sm_120a" being 120. Targets that no publication
/// models get the row of the nearest older one; see the table.
TensorModel getTensorModel(unsigned architecture, TensorInput input);

/// The type of accumulators and results.
enum class TensorResult : uint8_t { F32, F16 };

/// Operands as significands and exponents; see SplitValue.
struct SplitOperands {
  unsigned rows = 0;
  unsigned k = 0;
  const int32_t *significandsA = nullptr; ///< [rows][k]
  const int32_t *exponentsA = nullptr;
  const int32_t *significandsB = nullptr; ///< [k][8]
  const int32_t *exponentsB = nullptr;
  /// Mantissa bits of A's and B's formats together.
  unsigned mantissaBits = 0;
  /// Exponents of one scale per row and column, or null: powers of two, or
  /// kNaNExponent.
  const int32_t *scaleExponentsA = nullptr; ///< [rows]
  const int32_t *scaleExponentsB = nullptr; ///< [8]
};

/// Adds A * B to the accumulators, bits of f32 or f16, [rows][8], by `model`,
/// whose method is Fused.
void multiplyFused(const SplitOperands &operands, const TensorModel &model,
                   TensorResult result, uint32_t *accumulators);

/// As above for Halves. The operands are f16 (mantissaBits 20) made from FP8;
/// `k` counts bytes and is a multiple of 4; no scales. At most 16 rows and a K
/// of 64.
void multiplyHalves(const SplitOperands &operands, const TensorModel &model,
                    TensorResult result, uint32_t *accumulators);

/// A scale of the GroupSums method: significand times 2^(exponent - 3).
using SplitScale = SplitValue;

/// Operands of GroupSums.
struct GroupOperands {
  unsigned rows = 0;        ///< A multiple of 4, at most 16.
  unsigned k = 0;           ///< A multiple of 16, at most 64.
  const float *a = nullptr; ///< [rows][k], values of e2m1.
  const float *b = nullptr; ///< [k][8]
  unsigned blocks = 0;      ///< Scales per row and column, 1 to k / 16.
  const SplitScale *scaleA = nullptr; ///< [rows][blocks]
  const SplitScale *scaleB = nullptr; ///< [blocks][8]
};

/// As above for GroupSums; accumulators are f32.
void multiplyGroupSums(const GroupOperands &operands, const TensorModel &model,
                       uint32_t *accumulators);

/// The bits of `sum` times 2^`exponent`: an f32 with `resultBits` fraction
/// bits, cut toward zero, or an f16, rounded to nearest even. A sum of zero is
/// +0; what is too large is infinity.
uint32_t roundFusedSum(int64_t sum, int exponent, TensorResult result,
                       unsigned resultBits = 23);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORCOREARITHMETIC_H
