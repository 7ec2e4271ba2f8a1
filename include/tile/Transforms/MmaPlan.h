//===- MmaPlan.h - How one multiply uses its atom ---------------*- C++ -*-===//
//
// A multiply of tiles is many tensor-core instructions. The plan says how they
// divide the tile among warps, which layouts the operands, scales and
// accumulator need for that, and how scales take part. Layout assignment and
// distribution compute the same plan from the annotated operation.
//
// K order. The multiply sums over K, so K may be permuted as long as both
// operands (and their scales) agree. For 16-bit instructions every lane owns
// eight consecutive values of a window of K: one word of FP4, two of FP8, four
// of bf16. Lanes t = 0..3 of a quad own k = 8t … 8t + 7 of a 32-value window.
// What the instruction takes for its k = 2t and 2t + 1 may therefore be values
// 0 and 4 of the lane: that pair falls out of a word of FP4 by one shift and
// two masks. Instructions that take FP8 or FP4 as they are stored take the K
// order of memory: four bytes 4t … 4t + 3 of each 16. Where both operands are
// FP8 and decoded, lanes own k = 4t … 4t + 3 and 16 + 4t … 16 + 4t + 3, since
// `ldmatrix` gives just that.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_MMAPLAN_H
#define TILE_TRANSFORMS_MMAPLAN_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/LinearLayout.h"
#include "tile/Target/MmaAtoms.h"

namespace tile {

/// How the scales of a multiply reach the result.
enum class ScaleMethod : uint8_t {
  None,        ///< no scales
  Native,      ///< by the instruction
  NativeTwice, ///< by an instruction over 32 values issued twice, with
               ///< alternate groups of 16 masked to zero
  Operands,    ///< multiplied into the decoded operand, exactly
  Sums,        ///< multiplied into the partial sum of each group
};

/// Which values of a lane's eight form the pairs of a 16-bit register.
enum class PairOrder : uint8_t {
  Natural,     ///< register i: values 2i and 2i + 1
  Interleaved, ///< register i: values i and i + 4
};

struct MmaPlan {
  const MmaAtom *atom = nullptr;
  ScaleMethod method = ScaleMethod::None;
  PairOrder order = PairOrder::Natural;
  ElementFormat lhsFormat, rhsFormat;
  std::optional<ElementFormat> lhsScaleFormat, rhsScaleFormat;
  unsigned blockSize = 0; ///< V; 0 without scales
  int exponent = 0;       ///< The sum is added times 2^exponent.
  /// Extents of the multiply; batch is 1 for a 2-D one.
  int64_t batch, m, n, k;
  /// K values that one step over the operands covers: 32, or 64 for FP4
  /// instructions. Several 16-bit instructions make one step.
  unsigned window;
  /// Layouts of the operands as they are stored (packed), of the scales (empty
  /// space where there is none) and of the accumulator.
  LinearLayout lhs, rhs, acc, lhsScale, rhsScale;
  /// The instruction's fragments under that K order, for one window:
  /// `{register, lane}` to `{d1: k, d0: m}` and `{d1: n, d0: k}`. The register
  /// axis runs over the elements of one instruction, then over the
  /// instructions of the window.
  LinearLayout lhsWindow, rhsWindow;

  /// What the first lane owns of the K of a window, ascending.
  llvm::SmallVector<uint32_t, 8> getLaneK() const;
  /// Instructions per window.
  unsigned atomsPerWindow() const { return window / atom->k; }
  /// Whether an operand is decoded for the instruction.
  bool decodes() const;
};

/// The instruction that `tile-legalize-scaled-mma` gave to a multiply, which
/// warps issue: multiplies of tensor memory are other operations by now. Null
/// after an error.
const MmaAtom *getWarpAtom(mlir::Operation *op);

/// Plans an annotated `tile.mmaf` or `tile.mmaf_scaled` for a block of
/// `numWarps` warps. Requires: the op has `path` and `atom`, and the atom
/// fits its types. With `k`, plans the same multiply of so many values of K,
/// which are a multiple of its block size.
MmaPlan planMma(MmaFOp op, unsigned numWarps,
                std::optional<int64_t> k = std::nullopt);
MmaPlan planMma(MmaFScaledOp op, unsigned numWarps,
                std::optional<int64_t> k = std::nullopt);

/// What an FP4 value times its E4M3 scale carries as bf16 where the decoding
/// does not correct the exponent: value and scale times 2^-126 and 2^118.
constexpr int kDecodedExponent = -8;

/// The power of two that a multiply's sum carries if its operands are decoded
/// without correcting their exponents; nullopt where that cannot be.
std::optional<int> getDecodedExponent(MmaFScaledOp op);

/// Whether `tile`, which is FP4 in pairs, should come from shared memory with a
/// byte for each value: every use ends, with nothing but relabelling on the
/// way, in a multiply whose instruction takes FP4 in 8-bit containers, and the
/// layout is what `ldmatrix` expands into. False before layouts are assigned.
bool takesContainers(mlir::Value tile);

/// Number of warps that suits a block whose largest multiply is M by N.
unsigned chooseNumWarps(int64_t batch, int64_t m, int64_t n);

} // namespace tile

#endif // TILE_TRANSFORMS_MMAPLAN_H
