//===- StepMultiplies.cpp - Staged multiplies in steps of K ---------------===//
//
// This file implements the pass that divides a multiply of staged operands into
// steps along K, so that a thread holds the fragments of one step and not those
// of a whole slot. It runs after layout assignment: a step is planned like any
// multiply, and its reads get the layouts that the plan asks for.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Transforms/DistributedTypes.h"
#include "tile/Transforms/MmaPlan.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILESTEPMULTIPLIES
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// An operand or scale of a multiply that is read from a slot and relabelled.
struct StagedOperand {
  ReadBufferOp read;
  SmallVector<Operation *> chain; ///< From the read to the multiply.
  unsigned kDim;                  ///< Dimension of K in the multiply.
};

/// One operand of one step, before its layouts are known.
using StepOperand = SmallVector<Value, 4>; ///< The read, then the chain.

struct StepMultiplies
    : public tile::impl::TileStepMultipliesBase<StepMultiplies> {
  using Base::Base;

  void runOnOperation() override;
};

/// Divides one multiply.
template <typename MmaOp>
class Stepper {
public:
  Stepper(MmaOp op, unsigned numWarps) : op(op), numWarps(numWarps) {}

  /// Returns false, changing nothing, if the multiply cannot be divided.
  bool run(bool readAhead);

private:
  Value readStep(OpBuilder &builder, const StagedOperand &operand, Value step);
  SmallVector<Value> readAll(OpBuilder &builder, Value step);
  Value multiply(OpBuilder &builder, ValueRange operands, Value acc);

  MmaOp op;
  unsigned numWarps;
  int64_t k, stepK;
  SmallVector<StagedOperand> operands;  ///< lhs, rhs, then the scales.
  SmallVector<int64_t> extents;         ///< Of each operand along K, per step.
  SmallVector<LinearLayout, 4> layouts; ///< Of each operand, per step.
  Value zero;
};

} // namespace

/// Follows an operand back to a read; nullopt if it comes from elsewhere.
static std::optional<StagedOperand> findRead(Value value, unsigned kDim) {
  StagedOperand operand;
  operand.kDim = kDim;
  while (Operation *op = value.getDefiningOp()) {
    if (auto read = dyn_cast<ReadBufferOp>(op)) {
      if (!read.getIndices().empty())
        return std::nullopt;
      operand.read = read;
      return operand;
    }
    if (!isa<UnpackOp, PermuteOp>(op))
      return std::nullopt;
    operand.chain.insert(operand.chain.begin(), op);
    value = op->getOperand(0);
  }
  return std::nullopt;
}

static RankedTensorType getTile(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// What `op` needs of its source for a result of `layout` whose dimension
/// `kDim` has `extent`: the source's layout, K dimension and extent.
struct SourceStep {
  LinearLayout layout;
  unsigned kDim;
  int64_t extent;
};

static std::optional<SourceStep> getSourceStep(Operation *op,
                                               const SourceStep &result) {
  if (auto permute = dyn_cast<PermuteOp>(op))
    return SourceStep{
        inversePermuteLayout(result.layout, permute.getPermutation()),
        static_cast<unsigned>(permute.getPermutation()[result.kDim]),
        result.extent};
  unsigned from = getElementBits(getTile(op->getOperand(0)).getElementType());
  unsigned to = getElementBits(getTile(op->getResult(0)).getElementType());
  int64_t extent = result.extent;
  if (result.kDim + 1 == getTile(op->getResult(0)).getRank()) {
    if (extent * to % from)
      return std::nullopt;
    extent = extent * to / from;
  }
  std::optional<LinearLayout> layout = unpackLayout(result.layout, to, from);
  if (!layout)
    return std::nullopt;
  return SourceStep{*layout, result.kDim, extent};
}

/// `value`'s type with `extent` along `dim`, distributed by `layout`.
static RankedTensorType getStepType(Value value, unsigned dim, int64_t extent,
                                    const LinearLayout &layout) {
  SmallVector<int64_t> shape(getTile(value).getShape());
  shape[dim] = extent;
  return withLayout(
      RankedTensorType::get(shape, getTile(value).getElementType()), layout);
}

template <typename MmaOp>
Value Stepper<MmaOp>::readStep(OpBuilder &builder, const StagedOperand &operand,
                               Value step) {
  // From the multiply back to the read, then forward again.
  size_t index = &operand - operands.begin();
  SmallVector<SourceStep, 4> steps = {
      {layouts[index], operand.kDim, extents[index]}};
  for (Operation *op : llvm::reverse(operand.chain))
    steps.push_back(*getSourceStep(op, steps.back()));
  SourceStep first = steps.pop_back_val();
  ReadBufferOp read = operand.read;
  SmallVector<Value> indices(read.getType().getRank(), zero);
  indices[first.kDim] = step;
  Value value = ReadBufferOp::create(
      builder, read.getLoc(),
      getStepType(read, first.kDim, first.extent, first.layout),
      read.getBuffer(), read.getSlot(), indices);
  for (Operation *op : operand.chain) {
    SourceStep result = steps.pop_back_val();
    IRMapping mapping;
    mapping.map(op->getOperand(0), value);
    Operation *clone = builder.clone(*op, mapping);
    clone->getResult(0).setType(getStepType(op->getResult(0), result.kDim,
                                            result.extent, result.layout));
    value = clone->getResult(0);
  }
  return value;
}

template <typename MmaOp>
SmallVector<Value> Stepper<MmaOp>::readAll(OpBuilder &builder, Value step) {
  SmallVector<Value> values;
  for (const StagedOperand &operand : operands)
    values.push_back(readStep(builder, operand, step));
  return values;
}

template <typename MmaOp>
Value Stepper<MmaOp>::multiply(OpBuilder &builder, ValueRange values,
                               Value acc) {
  // The accumulator is the third operand.
  SmallVector<Value> all = {values[0], values[1], acc};
  llvm::append_range(all, values.drop_front(2));
  Operation *clone = builder.clone(*op);
  clone->setOperands(all);
  return clone->getResult(0);
}

template <typename MmaOp>
bool Stepper<MmaOp>::run(bool readAhead) {
  MmaPlan plan = planMma(op, numWarps);
  k = plan.k;
  stepK = plan.window;
  // Block-scaled instructions pick the scales of their step from words that
  // have those of several.
  if (k <= stepK || plan.atom->isBlockScaled())
    return false;
  unsigned rank = getTile(op.getLhs()).getRank();
  auto add = [&](Value value, bool isLhs) {
    unsigned kDim = isLhs ? rank - 1 : rank - 2;
    std::optional<StagedOperand> operand = findRead(value, kDim);
    if (!operand)
      return false;
    extents.push_back(getTile(value).getDimSize(kDim) * stepK / k);
    operands.push_back(std::move(*operand));
    return true;
  };
  if (!add(op.getLhs(), true) || !add(op.getRhs(), false))
    return false;
  Value lhsScale, rhsScale;
  if constexpr (std::is_same_v<MmaOp, MmaFScaledOp>) {
    lhsScale = op.getLhsScale();
    rhsScale = op.getRhsScale();
    if ((lhsScale && !add(lhsScale, true)) ||
        (rhsScale && !add(rhsScale, false)))
      return false;
  }
  if (llvm::is_contained(extents, 0))
    return false;

  MmaPlan step = planMma(op, numWarps, stepK);
  layouts = {step.lhs, step.rhs};
  if (lhsScale)
    layouts.push_back(step.lhsScale);
  if (rhsScale)
    layouts.push_back(step.rhsScale);
  for (auto [index, operand] : llvm::enumerate(operands)) {
    SourceStep source{layouts[index], operand.kDim, extents[index]};
    for (Operation *link : llvm::reverse(operand.chain)) {
      std::optional<SourceStep> next = getSourceStep(link, source);
      if (!next)
        return false;
      source = std::move(*next);
    }
  }

  OpBuilder builder(op);
  Location loc = op.getLoc();
  const int64_t steps = k / stepK;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  zero = constant(0);
  Value acc = op.getAcc();
  const bool decodes = step.decodes();
  if (!decodes) {
    SmallVector<SmallVector<Value>> values(steps);
    values[0] = readAll(builder, zero);
    for (int64_t j = 0; j < steps; ++j) {
      if (!readAhead && j)
        values[j] = readAll(builder, constant(j));
      if (readAhead && j + 1 < steps)
        values[j + 1] = readAll(builder, constant(j + 1));
      acc = multiply(builder, values[j], acc);
    }
  } else {
    SmallVector<Value> inits = {acc};
    if (readAhead)
      llvm::append_range(inits, readAll(builder, zero));
    auto loop = scf::ForOp::create(builder, loc, zero,
                                   constant(readAhead ? steps - 1 : steps),
                                   constant(1), inits);
    {
      OpBuilder::InsertionGuard guard(builder);
      Block *body = loop.getBody();
      if (!body->empty())
        body->back().erase();
      builder.setInsertionPointToStart(body);
      ValueRange carried = loop.getRegionIterArgs();
      SmallVector<Value> yielded;
      if (readAhead) {
        Value next = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                           loop.getStep());
        SmallVector<Value> ahead = readAll(builder, next);
        yielded.push_back(
            multiply(builder, carried.drop_front(), carried.front()));
        llvm::append_range(yielded, ahead);
      } else {
        yielded.push_back(multiply(builder,
                                   readAll(builder, loop.getInductionVar()),
                                   carried.front()));
      }
      scf::YieldOp::create(builder, loc, yielded);
    }
    acc = loop.getResult(0);
    if (readAhead)
      acc = multiply(builder, loop.getResults().drop_front(), acc);
  }
  op.getResult().replaceAllUsesWith(acc);
  op.erase();
  // Operands may share what they are made of.
  llvm::SetVector<Operation *> sources;
  for (StagedOperand &operand : operands) {
    sources.insert(operand.read);
    sources.insert(operand.chain.begin(), operand.chain.end());
  }
  for (Operation *source : llvm::reverse(sources))
    if (source->use_empty())
      source->erase();
  return true;
}

void StepMultiplies::runOnOperation() {
  if (!llvm::is_contained({"auto", "0", "1"}, StringRef(unpackAhead))) {
    getOperation().emitError()
        << "expects unpack-ahead to be auto, 0 or 1, but got '" << unpackAhead
        << "'";
    return signalPassFailure();
  }
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    auto warps = kernel->getAttrOfType<IntegerAttr>("tile.num_warps");
    if (!warps)
      continue;
    SmallVector<Operation *> multiplies;
    kernel.walk([&](Operation *op) {
      if (isa<MmaFOp, MmaFScaledOp>(op) && op->hasAttr("atom"))
        multiplies.push_back(op);
    });
    for (Operation *op : multiplies) {
      if (!getWarpAtom(op))
        return signalPassFailure();
      auto run = [&](auto mma) {
        // FP4 is few words to hold. A step of FP8 has twice as many, which are
        // no longer in the parts that conversions take when a loop carries
        // them.
        MmaPlan plan = planMma(mma, warps.getInt());
        bool ahead = unpackAhead == "auto"
                         ? !plan.decodes() ||
                               plan.lhsFormat == ElementFormat::F4E2M1FN ||
                               plan.rhsFormat == ElementFormat::F4E2M1FN
                         : unpackAhead == "1";
        numStepped += Stepper<decltype(mma)>(mma, warps.getInt()).run(ahead);
      };
      if (auto scaled = dyn_cast<MmaFScaledOp>(op))
        run(scaled);
      else
        run(cast<MmaFOp>(op));
    }
  }
}
