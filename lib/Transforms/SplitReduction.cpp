//===- SplitReduction.cpp - K divided among the warps of a block ----------===//
//
// This file implements the pass that gives each warp a part of K where a tile
// has too few rows and columns to give each warp some of those. A part of K is
// a batch: the multiply becomes a batched one, the plan of which gives batches
// to warps first, and the batches are added after the loop.
//
//===----------------------------------------------------------------------===//

#include "NumWarps.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/MmaAtoms.h"
#include "tile/Transforms/MmaPlan.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILESPLITREDUCTION
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Instructions per step of K below which a warp has too little of M and N: its
/// operands are then read, and decoded, for hardly more than one use.
static constexpr int64_t kMinAtomsPerWarp = 4;

static RankedTensorType getTile(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The loop that carries the sums of `op`, if they start from zero and nothing
/// else in the loop touches them. Null otherwise.
template <typename MmaOp>
static scf::ForOp findLoop(MmaOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getAcc());
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!argument || !loop || argument.getOwner() != loop.getBody() ||
      !argument.hasOneUse() || !op.getResult().hasOneUse())
    return {};
  OpOperand *yielded = loop.getTiedLoopYieldedValue(argument);
  if (!yielded || yielded->get() != op.getResult())
    return {};
  return matchPattern(loop.getTiedLoopInit(argument)->get(), m_PosZeroFloat())
             ? loop
             : scf::ForOp();
}

/// Number of parts of K for a multiply of M by N by K in a block of `warps`
/// warps; 1 where dividing does not pay. Requires: all powers of two.
static int64_t chooseParts(const MmaAtom &atom, int64_t batch, int64_t m,
                           int64_t n, int64_t k, int64_t warps) {
  // The sides may be exchanged later.
  auto count = [&](int64_t rows, int64_t columns) {
    return llvm::divideCeil(rows, atom.m) * llvm::divideCeil(columns, atom.n);
  };
  int64_t atoms = batch * std::min(count(m, n), count(n, m));
  int64_t busy = std::max<int64_t>(1, atoms / kMinAtomsPerWarp);
  // A part is at least one step, see MmaPlan.
  int64_t steps = k / std::max<int64_t>(32, atom.k);
  return std::max<int64_t>(1, std::min(warps / busy, steps));
}

/// `value` with its dimension `dim`, which is K or K in groups, divided into
/// `parts` that become the batches, or more of them.
static Value divide(OpBuilder &builder, Location loc, Value value, unsigned dim,
                    int64_t parts) {
  RankedTensorType type = getTile(value);
  // [..., K, ...] to [..., parts, K / parts, ...].
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  shape.insert(shape.begin() + dim, parts);
  value = ReshapeOp::create(builder, loc, type.clone(shape), value);
  // The parts go in front of the rows.
  unsigned front = type.getRank() - 2;
  if (dim != front) {
    SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq<int64_t>(shape.size()));
    std::swap(permutation[front], permutation[dim]);
    shape = applyPermutation(shape, permutation);
    value =
        PermuteOp::create(builder, loc, type.clone(shape), value, permutation);
  }
  if (front) {
    // [batches, parts, ...] to [batches * parts, ...].
    shape[1] *= shape[0];
    shape.erase(shape.begin());
    value = ReshapeOp::create(builder, loc, type.clone(shape), value);
  }
  return value;
}

namespace {

struct SplitReduction
    : public tile::impl::TileSplitReductionBase<SplitReduction> {
  using Base::Base;

  void runOnOperation() override;
  /// Divides `op`, if that pays. Returns whether it did.
  template <typename MmaOp>
  bool split(MmaOp op, const MmaAtom &atom, unsigned warps);
};

} // namespace

template <typename MmaOp>
bool SplitReduction::split(MmaOp op, const MmaAtom &atom, unsigned warps) {
  RankedTensorType sums = op.getAcc().getType();
  const unsigned rank = sums.getRank();
  int64_t parts = chooseParts(atom, rank == 3 ? sums.getDimSize(0) : 1,
                              sums.getShape().end()[-2], sums.getShape().back(),
                              op.getLhs().getType().getShape().back(), warps);
  if (parts == 1)
    return false;
  auto function = op->template getParentOfType<func::FuncOp>();
  auto options = remark::RemarkOpts::name("split-reduction")
                     .category(getArgument())
                     .function(function.getName());
  scf::ForOp loop = findLoop(op);
  if (!loop) {
    remark::missed(op.getLoc(), options) << remark::reason(
        "the sums are not carried by the loop alone, from zero");
    return false;
  }
  remark::passed(op.getLoc(), options)
      << remark::metric("parts", parts) << remark::metric("warps", warps)
      << remark::reason("M and N are too small for all warps");

  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto argument = cast<BlockArgument>(op.getAcc());
  OpResult result = loop.getTiedLoopResult(loop.getTiedLoopInit(argument));
  SmallVector<int64_t> shape(sums.getShape());
  if (rank == 2)
    shape.insert(shape.begin(), parts);
  else
    shape[0] *= parts;
  RankedTensorType partial = sums.clone(shape);

  SmallVector<Value> operands = {
      divide(builder, loc, op.getLhs(), rank - 1, parts),
      divide(builder, loc, op.getRhs(), rank - 2, parts), argument};
  if constexpr (std::is_same_v<MmaOp, MmaFScaledOp>) {
    if (Value scale = op.getLhsScale())
      operands.push_back(divide(builder, loc, scale, rank - 1, parts));
    if (Value scale = op.getRhsScale())
      operands.push_back(divide(builder, loc, scale, rank - 2, parts));
  }
  builder.setInsertionPoint(loop);
  Value zeros = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(partial, builder.getF32FloatAttr(0)));
  loop.getTiedLoopInit(argument)->set(zeros);
  argument.setType(partial);
  op->setOperands(operands);
  op.getResult().setType(partial);
  result.setType(partial);

  builder.setInsertionPointAfter(loop);
  SmallVector<Operation *> added;
  Value total = result;
  if (rank == 3) {
    // [batches * parts, ...] to [batches, parts, ...].
    shape[0] = parts;
    shape.insert(shape.begin(), sums.getDimSize(0));
    total = ReshapeOp::create(builder, loc, sums.clone(shape), total);
    added.push_back(total.getDefiningOp());
  }
  total =
      ReduceOp::create(builder, loc, sums, ReduceKind::Add, total, rank - 2);
  added.push_back(total.getDefiningOp());
  result.replaceUsesWithIf(total, [&](OpOperand &use) {
    return !llvm::is_contained(added, use.getOwner());
  });
  ++numSplit;
  return true;
}

void SplitReduction::runOnOperation() {
  if (failed(checkNumWarps(getOperation(), numWarps)))
    return signalPassFailure();
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    if (!kernel->hasAttr("tile.kernel") || kernel.isExternal())
      continue;
    const unsigned warps = getNumWarps(kernel, numWarps);
    SmallVector<Operation *> multiplies;
    kernel.walk([&](Operation *op) {
      if (isa<MmaFOp, MmaFScaledOp>(op))
        multiplies.push_back(op);
    });
    bool changed = false;
    for (Operation *op : multiplies) {
      const MmaAtom *atom = getWarpAtom(op);
      if (!atom)
        return signalPassFailure();
      changed |=
          llvm::TypeSwitch<Operation *, bool>(op).Case<MmaFOp, MmaFScaledOp>(
              [&](auto op) { return split(op, *atom, warps); });
    }
    // The number of warps that is chosen later must be the one chosen here.
    if (changed)
      kernel->setAttr("tile.num_warps",
                      Builder(&getContext()).getI32IntegerAttr(warps));
  }
}
