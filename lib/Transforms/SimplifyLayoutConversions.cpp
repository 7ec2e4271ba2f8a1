//===- SimplifyLayoutConversions.cpp - Move conversions to free places ----===//
//
// This file implements the pass that pushes `tile.convert_layout` towards the
// operations that make a tile, so that they make it in the wanted layout. What
// is left afterwards is real movement between lanes.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Transforms/DistributedTypes.h"
#include "tile/Transforms/TileLayouts.h"

namespace tile {
#define GEN_PASS_DEF_TILESIMPLIFYLAYOUTCONVERSIONS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Whether `value` can be made in any layout without moving data between lanes.
/// `depth` bounds the chain that is copied.
static bool isFreelyConvertible(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 12)
    return false;
  if (isa<arith::ConstantOp, tensor::SplatOp, IotaOp>(op))
    return true;
  // Duplicating memory traffic is not free.
  if (isa<LoadOp>(op))
    return value.hasOneUse();
  if (isa<PermuteOp, ReshapeOp, BroadcastOp, ConvertLayoutOp>(op))
    return isFreelyConvertible(op->getOperand(0), depth + 1);
  if (isElementwise(op) && value.hasOneUse())
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isa<RankedTensorType>(operand.getType()) ||
             isFreelyConvertible(operand, depth + 1);
    });
  return false;
}

namespace {

/// `convert_layout(op(x))` to `op(convert_layout(x))`.
struct PushConversion : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    auto encoding = dyn_cast_if_present<LayoutAttr>(type.getEncoding());
    Operation *source = op.getSource().getDefiningOp();
    if (op.getSource().getType() == type) {
      rewriter.replaceOp(op, op.getSource());
      return success();
    }
    if (!encoding || !source)
      return failure();
    LinearLayout layout = getLayout(type);

    /// Replaces `op` by a copy of `source` of its type whose operands are
    /// `operands`, at the place of `source`.
    auto replaceByCopy = [&](ValueRange operands) {
      Operation *copy = rewriter.clone(*source);
      copy->setOperands(operands);
      copy->getResult(0).setType(type);
      rewriter.replaceOp(op, copy->getResults());
    };
    auto convert = [&](Value value, const LinearLayout &to) -> Value {
      return rewriter.createOrFold<ConvertLayoutOp>(
          op.getLoc(), withLayout(cast<RankedTensorType>(value.getType()), to),
          value);
    };

    rewriter.setInsertionPoint(source);
    if (auto inner = dyn_cast<ConvertLayoutOp>(source)) {
      rewriter.replaceOp(op, convert(inner.getSource(), layout));
      return success();
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(source)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, cast<TypedAttr>(DenseElementsAttr::getFromRawBuffer(
                  type, value.getRawData())));
      return success();
    }
    if (isa<tensor::SplatOp, IotaOp>(source)) {
      replaceByCopy(source->getOperands());
      return success();
    }
    if (isa<LoadOp>(source)) {
      if (!source->getResult(0).hasOneUse())
        return failure();
      replaceByCopy(source->getOperands());
      return success();
    }
    if (auto permute = dyn_cast<PermuteOp>(source)) {
      replaceByCopy(
          convert(permute.getSource(),
                  inversePermuteLayout(layout, permute.getPermutation())));
      return success();
    }
    if (auto reshape = dyn_cast<ReshapeOp>(source)) {
      replaceByCopy(convert(
          reshape.getSource(),
          reshapeLayout(layout, reshape.getSource().getType().getShape())));
      return success();
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(source)) {
      replaceByCopy(convert(
          broadcast.getSource(),
          projectLayout(layout, broadcast.getSource().getType().getShape())));
      return success();
    }
    if (isa<UnpackOp, PackOp>(source)) {
      auto from = cast<RankedTensorType>(source->getOperand(0).getType());
      std::optional<LinearLayout> wanted =
          unpackLayout(layout, getElementBits(type.getElementType()),
                       getElementBits(from.getElementType()));
      if (!wanted)
        return failure();
      replaceByCopy(convert(source->getOperand(0), *wanted));
      return success();
    }
    if (isElementwise(source) && source->getNumResults() == 1 &&
        isFreelyConvertible(op.getSource())) {
      SmallVector<Value> operands;
      for (Value operand : source->getOperands())
        operands.push_back(isa<RankedTensorType>(operand.getType())
                               ? convert(operand, layout)
                               : operand);
      replaceByCopy(operands);
      return success();
    }
    return failure();
  }
};

struct SimplifyLayoutConversions
    : public tile::impl::TileSimplifyLayoutConversionsBase<
          SimplifyLayoutConversions> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PushConversion>(&getContext());
    GreedyRewriteConfig config;
    // Constant folding would undo the choice of layouts of constants.
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
  }
};

} // namespace
