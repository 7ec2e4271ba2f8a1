//===- HoistBias.cpp - One power of two after the loop --------------------===//
//
// This file implements the pass that takes the correction of the exponent out
// of the decoding of every FP4 value: operands are decoded to their value times
// a power of two, the accumulator collects the product of both powers, and one
// multiplication after the loop takes it back. It is exact: the sums have the
// same bits, lower in the range of f32.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Transforms/MmaPlan.h"

namespace tile {
#define GEN_PASS_DEF_TILEHOISTBIAS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Where a sum that starts with the accumulator of `op` is complete, if it
/// starts from zero and nothing but multiplies and loops touches it on the way;
/// null otherwise.
static Value findCompleteSum(MmaFScaledOp op) {
  Value acc = op.getAcc(), sum = op.getResult();
  while (!matchPattern(acc, m_AnyZeroFloat())) {
    auto argument = dyn_cast<BlockArgument>(acc);
    auto loop = argument
                    ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                    : scf::ForOp();
    if (!loop || !acc.hasOneUse() || !sum.hasOneUse())
      return {};
    OpOperand *yielded = loop.getTiedLoopYieldedValue(argument);
    if (!yielded || yielded->get() != sum)
      return {};
    acc = loop.getTiedLoopInit(argument)->get();
    sum = loop.getTiedLoopResult(argument);
  }
  return sum;
}

namespace {
struct HoistBias : public tile::impl::TileHoistBiasBase<HoistBias> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([&](MmaFScaledOp op) {
      std::optional<int> exponent = getDecodedExponent(op);
      if (!exponent || op.getExponent())
        return;
      auto function = op->getParentOfType<func::FuncOp>();
      auto options = remark::RemarkOpts::name("hoist-bias")
                         .category(getArgument())
                         .function(function ? function.getName() : "");
      Value sum = findCompleteSum(op);
      if (!sum) {
        remark::missed(op.getLoc(), options)
            << remark::reason("the sum does not start from zero, or something "
                              "but multiplies and loops uses it on the way");
        return;
      }
      OpBuilder builder(op);
      op.setExponentAttr(builder.getI32IntegerAttr(*exponent));
      builder.setInsertionPointAfterValue(sum);
      auto type = cast<RankedTensorType>(sum.getType());
      Value factor = arith::ConstantOp::create(
          builder, op.getLoc(),
          DenseElementsAttr::get(type, std::ldexp(1.0f, -*exponent)));
      auto scaled = arith::MulFOp::create(builder, op.getLoc(), sum, factor);
      sum.replaceAllUsesExcept(scaled, scaled);
      remark::passed(op.getLoc(), options)
          << remark::metric("exponent", *exponent);
      ++numHoisted;
    });
  }
};
} // namespace
