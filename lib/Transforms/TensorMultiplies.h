//===- TensorMultiplies.h - Loops for tensor memory -------------*- C++ -*-===//
//
// Which multiplies can be computed in tensor memory, and how: asked by the pass
// that chooses instructions and by the one that rewrites the loops.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_TRANSFORMS_TENSORMULTIPLIES_H
#define TILE_LIB_TRANSFORMS_TENSORMULTIPLIES_H

#include "ResultSlices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TensorOperands.h"

#include <optional>
#include <string>

namespace tile {

/// What `tile.mmaf` or `tile.mmaf_scaled` asks of the instruction table.
MmaQuery getMmaQuery(mlir::Operation *op);

/// An operand or scale of a multiply: what is loaded, and where it goes.
struct StagedOperand {
  LoadOp load; ///< Null for a scale that there is none of.
  /// The buffer, with one slot, for what one part along N loads.
  BufferType buffer;
  /// The dimension of the load that the parts along N divide.
  std::optional<unsigned> dividedDim;
  /// Whether the copies leave bytes of a slot alone that are read.
  bool isPadded = false;
  /// Scales: the slot in tensor memory.
  TensorMemoryType memory;
};

/// How one multiply of a loop is computed in tensor memory. The M side is `lhs`
/// unless the sides are exchanged.
struct TensorMultiply {
  mlir::Operation *op = nullptr;
  const MmaAtom *atom = nullptr; ///< For the sides as they are exchanged.
  unsigned carried = 0;          ///< The loop carries the sums there.
  bool exchanged = false;        ///< Whether `rhs` is the M side.
  StagedOperand mSide, nSide, mScale, nScale;
  OperandMajor mMajor = OperandMajor::K, nMajor = OperandMajor::K;
  /// Extents of the sums, and of those of one part as the instruction takes
  /// them.
  int64_t batch = 1, m = 0, n = 0;
  int64_t paddedM = 0, paddedN = 0, paddedK = 0;
  TensorMemoryType sums; ///< One slot.
  /// Whether what is added to is constant zero.
  bool startsAtZero = false;
};

/// A loop all of whose multiplies go to tensor memory.
struct TensorLoop {
  mlir::scf::ForOp loop;
  llvm::SmallVector<TensorMultiply, 1> multiplies;
  /// Parts along N, each with a loop of its own; a power of two. More than one
  /// only where there is one multiply.
  int64_t parts = 1;
  /// What is done with the result of the only multiply, where there are parts.
  std::optional<ResultUses> uses;
  int64_t sharedBytes = 0;  ///< Of one stage.
  int64_t sumColumns = 0;   ///< Of tensor memory, for sums.
  int64_t scaleColumns = 0; ///< Of tensor memory, for the scales of one stage.
};

/// What is left for a loop.
struct TensorBudget {
  int64_t sharedBytes = 0;
  int64_t columns = TensorMemoryType::kColumns;
};

/// Bytes of shared memory that `kernel` may give to buffers of such loops.
int64_t getTensorBufferBudget(mlir::func::FuncOp kernel,
                              const TargetInfo &target);

/// Analyses each loop of `kernel` that has a multiply in it, for a block of
/// `numWarps` warps (0: chosen later; `tile.num_warps` wins), inner loops
/// first. `take` gets the loop and, where tensor memory cannot compute all of
/// its multiplies, nullopt and the reason in a few words.
void matchTensorLoops(
    mlir::func::FuncOp kernel, const TargetInfo &target, unsigned numWarps,
    llvm::function_ref<void(mlir::scf::ForOp, std::optional<TensorLoop>,
                            llvm::StringRef)>
        take);

} // namespace tile

#endif // TILE_LIB_TRANSFORMS_TENSORMULTIPLIES_H
