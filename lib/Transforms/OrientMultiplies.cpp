//===- OrientMultiplies.cpp - Which operand is the M side -----------------===//
//
// The two sides of an instruction differ: the M side has 16 rows, the N side 8
// columns, and the fragment of the M side stays in registers while those of the
// N side pass by. This file implements the pass that gives each operand of a
// multiply the side that suits it. A multiply whose operands change sides is
// transposed, with permutations around it that move no data: they end up in the
// layouts.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/MmaAtoms.h"
#include "tile/Transforms/MmaPlan.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEORIENTMULTIPLIES
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The operand that goes to the M side, and why.
struct Role {
  bool swaps = false;
  StringRef reason;
};

} // namespace

/// The atom that computes what `atom` does with its operands exchanged; null
/// where the table has none.
static const MmaAtom *findExchanged(const MmaAtom &atom) {
  for (const MmaAtom &other : getMmaAtoms())
    if (other.lhsFormat == atom.rhsFormat &&
        other.rhsFormat == atom.lhsFormat &&
        other.lhsContainerBits == atom.rhsContainerBits &&
        other.rhsContainerBits == atom.lhsContainerBits && other.m == atom.m &&
        other.n == atom.n && other.k == atom.k &&
        other.scaleFormat == atom.scaleFormat &&
        other.blockSize == atom.blockSize && other.kind == atom.kind &&
        other.emission == atom.emission && other.capability == atom.capability)
      return &other;
  return nullptr;
}

/// Decides for a multiply of M by N. An operand is decoded if the instruction
/// does not take it as it is stored.
static Role chooseRole(const MmaAtom &atom, int64_t m, int64_t n,
                       bool decodesLhs, bool decodesRhs) {
  // What the instructions compute, rows and columns that nobody wants included.
  auto cover = [&](int64_t rows, int64_t columns) {
    return llvm::alignTo(rows, atom.m) * llvm::alignTo(columns, atom.n);
  };
  uint64_t straight = cover(m, n), exchanged = cover(n, m);
  if (exchanged < straight)
    return {true, "M has fewer rows than the instruction, N has not"};
  if (decodesRhs && !decodesLhs) {
    if (exchanged > straight)
      return {false, "N has fewer rows than the instruction, M has not"};
    return {true, "rhs is decoded, lhs is not"};
  }
  if (decodesLhs && !decodesRhs)
    return {false, "lhs is decoded, rhs is not"};
  return {false, "the sides are alike"};
}

/// Exchanges the last two dimensions of `value`. A permutation that it comes
/// from is undone rather than followed by another one.
static Value transpose(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  std::swap(permutation.end()[-1], permutation.end()[-2]);
  RankedTensorType result =
      type.clone(applyPermutation(type.getShape(), permutation));
  if (auto inner = value.getDefiningOp<PermuteOp>()) {
    value = inner.getSource();
    permutation = applyPermutation(inner.getPermutation(), permutation);
  }
  return builder.createOrFold<PermuteOp>(loc, result, value, permutation);
}

namespace {

struct OrientMultiplies
    : public tile::impl::TileOrientMultipliesBase<OrientMultiplies> {
  using Base::Base;

  void runOnOperation() override;
  template <typename MmaOp>
  LogicalResult orient(MmaOp op);
};

} // namespace

template <typename MmaOp>
LogicalResult OrientMultiplies::orient(MmaOp op) {
  const MmaAtom *atom = getWarpAtom(op);
  if (!atom)
    return failure();
  auto isDecoded = [](Value operand, ElementFormat multiplicand) {
    return getElementFormat(getElementTypeOrSelf(operand.getType())) !=
           multiplicand;
  };
  ArrayRef<int64_t> extents = op.getAcc().getType().getShape();
  Role role = chooseRole(*atom, extents.end()[-2], extents.back(),
                         isDecoded(op.getLhs(), atom->lhsFormat),
                         isDecoded(op.getRhs(), atom->rhsFormat));
  const MmaAtom *exchanged = role.swaps ? findExchanged(*atom) : nullptr;
  if (role.swaps && !exchanged)
    role = {false, "no instruction takes the operands in the other order"};

  auto function = op->template getParentOfType<func::FuncOp>();
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("operand-roles")
                       .category(getArgument())
                       .function(function ? function.getName() : ""))
      << remark::metric("m-side", role.swaps ? "rhs" : "lhs")
      << remark::reason("{0}", role.reason);
  if (!role.swaps)
    return success();

  OpBuilder builder(op);
  auto turn = [&](Value value) {
    return value ? transpose(builder, op.getLoc(), value) : Value();
  };
  SmallVector<Value> operands = {turn(op.getRhs()), turn(op.getLhs()),
                                 turn(op.getAcc())};
  if constexpr (std::is_same_v<MmaOp, MmaFScaledOp>)
    for (Value scale : {turn(op.getRhsScale()), turn(op.getLhsScale())})
      if (scale)
        operands.push_back(scale);
  auto multiply = cast<MmaOp>(builder.clone(*op));
  multiply->setOperands(operands);
  multiply.getResult().setType(multiply.getAcc().getType());
  multiply.setAtom(exchanged->name);
  op.replaceAllUsesWith(turn(multiply.getResult()));
  op.erase();
  ++numExchanged;
  return success();
}

void OrientMultiplies::runOnOperation() {
  SmallVector<Operation *> multiplies;
  getOperation()->walk([&](Operation *op) {
    if (isa<MmaFOp, MmaFScaledOp>(op))
      multiplies.push_back(op);
  });
  for (Operation *op : multiplies) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<MmaFOp, MmaFScaledOp>([&](auto op) { return orient(op); });
    if (failed(result))
      return signalPassFailure();
  }
}
