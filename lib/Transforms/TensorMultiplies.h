//===- TensorMultiplies.h - Loops for tensor memory -------------*- C++ -*-===//
//
// Which multiplies can be computed in tensor memory, and how: asked by the pass
// that chooses instructions and by the one that rewrites the loops.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_TRANSFORMS_TENSORMULTIPLIES_H
#define TILE_LIB_TRANSFORMS_TENSORMULTIPLIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TensorOperands.h"

#include <string>
#include <vector>

namespace tile {

/// An operand or scale of a multiply: what is loaded, and where its values are.
struct LoadedOperand {
  LoadOp load;
  /// From elements of the loaded tile to `{d1: k, d0: row}`, with an axis
  /// `batch` above, in values; pairs go to the first of theirs. For scales k
  /// counts blocks.
  LinearLayout view;
};

/// How one multiply of a loop is computed in tensor memory.
struct TensorMultiply {
  mlir::Operation *op = nullptr;
  const MmaAtom *atom = nullptr; ///< For the sides as they are exchanged.
  unsigned carried = 0;          ///< The loop carries the sums there.
  /// Whether `rhs` is the M side.
  bool exchanged = false;
  /// The M side and the N side, and their scales (no load without).
  LoadedOperand lhs, rhs, lhsScale, rhsScale;
  OperandMajor lhsMajor = OperandMajor::K, rhsMajor = OperandMajor::K;
  /// Extents of the tile, after the exchange, and as padded.
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t paddedM = 0, paddedN = 0, paddedK = 0;
  unsigned blockSize = 0;
};

/// A loop all of whose multiplies go to tensor memory.
struct TensorLoop {
  mlir::scf::ForOp loop;
  std::vector<TensorMultiply> multiplies;
  /// Parts along N, each with a loop of its own; a power of two.
  int64_t parts = 1;
};

/// Analyses the loop of `op`, a multiply for which `atom` is the instruction on
/// a target with tensor memory. nullopt where tensor memory cannot compute it;
/// `reason` says why in a few words.
std::optional<TensorLoop> matchTensorLoop(mlir::Operation *op,
                                          const TargetInfo &target,
                                          unsigned numWarps,
                                          std::string &reason);

} // namespace tile

#endif // TILE_LIB_TRANSFORMS_TENSORMULTIPLIES_H
