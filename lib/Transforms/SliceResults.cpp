//===- SliceResults.cpp - Sums a few columns at a time --------------------===//
//
// This file implements the pass that uses sums of tensor memory in slices. The
// sums of a whole tile take more registers than a thread has, and all it does
// with most of them is to hold them until their turn comes.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "NumWarps.h"
#include "ResultSlices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tile {
#define GEN_PASS_DEF_TILESLICERESULTS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Sums of a slice that a thread holds, and the fewest columns of a slice: each
/// lane has a row and stores what is next to each other in it.
static constexpr int64_t kSliceRegisters = 32, kMinColumns = 8;

namespace {
struct SliceResults : public tile::impl::TileSliceResultsBase<SliceResults> {
  using Base::Base;

  void runOnOperation() override;
  /// Returns false, changing nothing, if the sums stay whole.
  bool slice(LoadTensorMemoryOp load, unsigned warps);
};
} // namespace

/// Replaces the uses of `load` by loops over slices along dimension `dim`.
static void emitLoops(LoadTensorMemoryOp load, unsigned dim, int64_t parts,
                      ResultUses &uses) {
  const Location loc = load.getLoc();
  SmallVector<int64_t> shape(load.getType().getShape());
  shape[dim] /= parts;
  OpBuilder builder(load.getContext());
  builder.setInsertionPointAfter(uses.getLast());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value end = arith::ConstantIndexOp::create(builder, loc, parts);
  for (unsigned round = 0; round < uses.getNumRounds(); ++round) {
    auto loop = scf::ForOp::create(builder, loc, zero, end, one);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> indices(shape.size(), zero);
    indices[dim] = loop.getInductionVar();
    Value slice = LoadTensorMemoryOp::create(
        builder, loc, load.getType().clone(shape), load.getMemory(), indices,
        load.getPredicate());
    uses.emit(builder, slice, loop.getInductionVar(), round);
  }
}

bool SliceResults::slice(LoadTensorMemoryOp load, unsigned warps) {
  auto function = load->getParentOfType<func::FuncOp>();
  auto options = remark::RemarkOpts::name("slice-results")
                     .category(getArgument())
                     .function(function.getName());
  RankedTensorType type = load.getType();
  const unsigned dim = type.getRank() - 1;
  const int64_t registers = type.getNumElements() / (int64_t(32) * warps);
  const int64_t most =
      std::min(registers / kSliceRegisters, type.getDimSize(dim) / kMinColumns);
  if (registers <= kSliceRegisters)
    return false;
  if (most < 2) {
    remark::missed(load.getLoc(), options)
        << remark::reason("it has too few columns")
        << remark::metric("registers", registers);
    return false;
  }
  // Groups of columns that share something may allow fewer, wider slices.
  std::string reason, first;
  for (int64_t parts = most; parts > 1; parts /= 2) {
    std::optional<ResultUses> uses = ResultUses::find(load, dim, parts, reason);
    if (parts == most)
      first = reason;
    if (!uses)
      continue;
    const unsigned rounds = uses->getNumRounds();
    emitLoops(load, dim, parts, *uses);
    uses->erase();
    remark::passed(load.getLoc(), options)
        << remark::metric("slices", parts) << remark::metric("rounds", rounds);
    load.erase();
    return true;
  }
  remark::missed(load.getLoc(), options)
      << remark::reason("{0}", first) << remark::metric("registers", registers);
  return false;
}

void SliceResults::runOnOperation() {
  if (failed(checkNumWarps(getOperation(), numWarps)))
    return signalPassFailure();
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    // The last first: sums that are used together with later ones are sliced
    // with them, and then gone.
    llvm::SmallPtrSet<Operation *, 4> seen;
    while (true) {
      LoadTensorMemoryOp next;
      kernel.walk([&](LoadTensorMemoryOp load) {
        if (load.getIndices().empty() && !seen.contains(load))
          next = load;
      });
      if (!next)
        break;
      // What one round has made is not looked at again: it has indices.
      seen.insert(next);
      if (slice(next, getNumWarps(kernel, numWarps)))
        ++numSliced;
    }
  }
}
