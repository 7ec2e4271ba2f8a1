//===- StageTensorMultiplies.cpp - Multiplies of one thread ---------------===//
//
// This file implements the pass that takes loops of multiplies to tensor
// memory: what is loaded goes to shared memory in the order that the
// instruction wants, scales go on to tensor memory, and sums stay there until
// the loop is over. Everything happens one after the other.
//
//===----------------------------------------------------------------------===//

#include "NumWarps.h"
#include "TensorMultiplies.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {
#define GEN_PASS_DEF_TILESTAGETENSORMULTIPLIES
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct StageTensorMultiplies
    : public tile::impl::TileStageTensorMultipliesBase<StageTensorMultiplies> {
  using Base::Base;

  void runOnOperation() override;
  LogicalResult stage(func::FuncOp kernel, const TargetInfo &info);
};

/// Rewrites one loop.
class LoopStager {
public:
  explicit LoopStager(TensorLoop &plan)
      : plan(plan), loop(plan.loop), loc(loop.getLoc()), builder(loop) {}

  void run();

private:
  /// What of a load is in shared memory.
  struct Copy {
    StagedOperand operand;
    Value buffer;
  };
  /// Where one multiply has its operands.
  struct Places {
    Value mSide, nSide, mScale, nScale; ///< Buffers.
    Value mScales, nScales, sums;       ///< Tensor memory.
  };

  void allocate();
  Value addCopy(const StagedOperand &operand);
  void emitPart(int64_t part);
  void emitBody(int64_t part, Value parity);
  /// The sums of a multiply, with the sides as the kernel has them.
  Value loadSums(const TensorMultiply &multiply, const Places &places,
                 Value hasIterations);
  void keepSums(int64_t part);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }

  TensorLoop &plan;
  scf::ForOp loop;
  Location loc;
  OpBuilder builder;
  SmallVector<Copy> copies;
  SmallVector<Places> places;
  Value done, slot;
  IRMapping mapping;
};

} // namespace

Value LoopStager::addCopy(const StagedOperand &operand) {
  if (!operand.load)
    return {};
  LoadOp load = operand.load;
  for (Copy &copy : copies)
    if (copy.operand.load == load && copy.operand.buffer == operand.buffer)
      return copy.buffer;
  auto alloc = AllocBufferOp::create(builder, load.getLoc(), operand.buffer);
  alloc.setCleared(operand.isPadded);
  copies.push_back({operand, alloc.getResult()});
  return alloc.getResult();
}

void LoopStager::allocate() {
  auto allocTensorMemory = [&](TensorMemoryType type) -> Value {
    return type ? AllocTensorMemoryOp::create(builder, loc, type).getResult()
                : Value();
  };
  for (const TensorMultiply &multiply : plan.multiplies) {
    Places &place = places.emplace_back();
    place.mSide = addCopy(multiply.mSide);
    place.nSide = addCopy(multiply.nSide);
    place.mScale = addCopy(multiply.mScale);
    place.nScale = addCopy(multiply.nScale);
    place.sums = allocTensorMemory(multiply.sums);
    place.mScales = allocTensorMemory(multiply.mScale.memory);
    place.nScales = allocTensorMemory(multiply.nScale.memory);
  }
  done = AllocBarriersOp::create(builder, loc,
                                 BarriersType::get(builder.getContext(), 1));
  slot = index(0);
}

/// Exchanges the last two dimensions.
static Value transpose(OpBuilder &builder, Location loc, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape()), permutation;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    permutation.push_back(dim);
  std::swap(permutation.end()[-1], permutation.end()[-2]);
  std::swap(shape.end()[-1], shape.end()[-2]);
  return PermuteOp::create(builder, loc,
                           RankedTensorType::get(shape, type.getElementType()),
                           tile, permutation);
}

void LoopStager::emitBody(int64_t part, Value parity) {
  // What positions are computed by.
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isa<LoadOp, MmaFOp, MmaFScaledOp, UnpackOp, PermuteOp, ReshapeOp>(op))
      builder.clone(op, mapping);
  for (const Copy &copy : copies) {
    LoadOp load = copy.operand.load;
    SmallVector<Value> indices;
    SmallVector<int64_t> moving;
    for (auto [dim, position] : llvm::enumerate(load.getIndices())) {
      Value mapped = mapping.lookupOrDefault(position);
      if (copy.operand.dividedDim == dim) {
        mapped = arith::MulIOp::create(builder, loc, mapped, index(plan.parts));
        mapped = arith::AddIOp::create(builder, loc, mapped, index(part));
      }
      indices.push_back(mapped);
      if (!loop.isDefinedOutsideOfLoop(position))
        moving.push_back(static_cast<int64_t>(dim));
    }
    CopyAsyncOp::create(builder, load.getLoc(),
                        mapping.lookupOrDefault(load.getSource()), indices,
                        copy.buffer, slot, Value(),
                        builder.getDenseI64ArrayAttr(moving));
  }
  CommitCopiesOp::create(builder, loc);
  WaitCopiesOp::create(builder, loc, /*pending=*/0, /*async_proxy=*/true);

  Value again;
  for (auto [multiply, place] : llvm::zip_equal(plan.multiplies, places)) {
    Location at = multiply.op->getLoc();
    if (place.mScales) {
      CopyScalesOp::create(builder, at, place.mScale, slot, place.mScales,
                           slot);
      CopyScalesOp::create(builder, at, place.nScale, slot, place.nScales,
                           slot);
    }
    Value accumulate;
    if (!multiply.startsAtZero)
      accumulate = arith::ConstantIntOp::create(builder, loc, 1, 1);
    else if (again)
      accumulate = again;
    else
      accumulate = again = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ne,
          mapping.lookup(loop.getInductionVar()), loop.getLowerBound());
    Value scaleSlot = place.mScales ? slot : Value();
    auto multiplyAsync = MultiplyAsyncOp::create(
        builder, at, place.mSide, slot, place.nSide, slot, place.sums,
        place.mScales, scaleSlot, place.nScales, scaleSlot, accumulate,
        builder.getDenseI64ArrayAttr({multiply.batch, multiply.paddedM,
                                      multiply.paddedN, multiply.paddedK}),
        builder.getStringAttr(multiply.atom->name));
    multiplyAsync.setLhsMnMajor(multiply.mMajor == OperandMajor::MN);
    multiplyAsync.setRhsMnMajor(multiply.nMajor == OperandMajor::MN);
  }
  CommitMultipliesOp::create(builder, loc, done, slot);
  WaitBarrierOp::create(builder, loc, done, slot, parity);
}

Value LoopStager::loadSums(const TensorMultiply &multiply, const Places &place,
                           Value hasIterations) {
  SmallVector<int64_t> shape;
  auto sums = cast<RankedTensorType>(multiply.op->getResult(0).getType());
  if (sums.getRank() == 3)
    shape.push_back(multiply.batch);
  shape.append({multiply.m, multiply.n / plan.parts});
  auto type = RankedTensorType::get(shape, sums.getElementType());
  // Tensor memory has no dimension for a batch of one.
  const bool dropsBatch = sums.getRank() == 3 && multiply.batch == 1;
  auto loaded = dropsBatch ? RankedTensorType::get(type.getShape().drop_front(),
                                                   type.getElementType())
                           : type;
  Value value = LoadTensorMemoryOp::create(
      builder, multiply.op->getLoc(), loaded, place.sums, ValueRange(),
      multiply.startsAtZero ? hasIterations : Value());
  if (dropsBatch)
    value = ReshapeOp::create(builder, multiply.op->getLoc(), type, value);
  return multiply.exchanged ? transpose(builder, multiply.op->getLoc(), value)
                            : value;
}

void LoopStager::keepSums(int64_t part) {
  Value hasIterations =
      arith::CmpIOp::create(builder, loc,
                            loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                            loop.getLowerBound(), loop.getUpperBound());
  for (auto [multiply, place] : llvm::zip_equal(plan.multiplies, places)) {
    Value sums = loadSums(multiply, place, hasIterations);
    if (plan.parts > 1)
      plan.uses->emit(builder, sums, index(part));
    else
      loop.getResult(multiply.carried).replaceAllUsesWith(sums);
  }
}

void LoopStager::emitPart(int64_t part) {
  InitBarriersOp::create(builder, loc, done, /*arrivals=*/1);
  for (auto [multiply, place] : llvm::zip_equal(plan.multiplies, places)) {
    if (multiply.startsAtZero)
      continue;
    Value init = loop.getInitArgs()[multiply.carried];
    // Sums in parts start at a constant.
    DenseElementsAttr elements;
    if (plan.parts > 1 && matchPattern(init, m_Constant(&elements))) {
      SmallVector<int64_t> shape(elements.getType().getShape());
      shape.end()[multiply.exchanged ? -2 : -1] /= plan.parts;
      init =
          arith::ConstantOp::create(builder, loc,
                                    elements.resizeSplat(RankedTensorType::get(
                                        shape, elements.getElementType())));
    }
    if (multiply.exchanged)
      init = transpose(builder, loc, init);
    auto type = cast<RankedTensorType>(init.getType());
    if (type.getRank() == 3 && multiply.batch == 1)
      init =
          ReshapeOp::create(builder, loc,
                            RankedTensorType::get(type.getShape().drop_front(),
                                                  type.getElementType()),
                            init);
    StoreTensorMemoryOp::create(builder, loc, init, place.sums);
  }
  BarrierOp::create(builder, loc);
  auto staged = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(),
                                   ValueRange{number(0)});
  staged.setUnsignedCmp(loop.getUnsignedCmp());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(staged.getBody());
    mapping.clear();
    mapping.map(loop.getInductionVar(), staged.getInductionVar());
    Value parity = staged.getRegionIterArg(0);
    emitBody(part, parity);
    Value next = arith::XOrIOp::create(builder, loc, parity, number(1));
    scf::YieldOp::create(builder, loc, next);
  }
  BarrierOp::create(builder, loc);
  InvalBarriersOp::create(builder, loc, done);
}

void LoopStager::run() {
  // Parts are emitted behind all that uses the sums needs.
  if (plan.parts > 1)
    builder.setInsertionPointAfter(plan.uses->getLast());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop);
    allocate();
  }
  for (int64_t part = 0; part < plan.parts; ++part) {
    emitPart(part);
    keepSums(part);
  }
  if (plan.parts > 1)
    plan.uses->erase();
  loop.erase();
}

/// The number of warps of a kernel whose multiplies go to tensor memory: as
/// many as read the sums of a large tile without holding too many.
static unsigned chooseTensorWarps(func::FuncOp kernel, unsigned numWarps,
                                  ArrayRef<TensorLoop> loops) {
  if (numWarps || kernel->hasAttr("tile.num_warps"))
    return getNumWarps(kernel, numWarps);
  unsigned warps = 4;
  for (const TensorLoop &loop : loops)
    for (const TensorMultiply &multiply : loop.multiplies)
      if (multiply.batch * multiply.m * multiply.n >= 128 * 128)
        warps = 8;
  return warps;
}

LogicalResult StageTensorMultiplies::stage(func::FuncOp kernel,
                                           const TargetInfo &info) {
  auto isTensor = [](Operation &op) {
    if (!isa<MmaFOp, MmaFScaledOp>(op))
      return false;
    auto name = op.getAttrOfType<StringAttr>("atom");
    const MmaAtom *atom = name ? findMmaAtom(name.getValue()) : nullptr;
    return atom && atom->issuer == MmaIssuer::Thread;
  };
  SmallVector<TensorLoop, 1> loops;
  LogicalResult result = success();
  matchTensorLoops(
      kernel, info, numWarps,
      [&](scf::ForOp loop, std::optional<TensorLoop> match, StringRef reason) {
        if (llvm::none_of(*loop.getBody(), isTensor))
          return;
        if (match)
          loops.push_back(std::move(*match));
        else
          result = loop.emitOpError(
                       "has multiplies that tensor memory cannot compute: ")
                   << reason;
      });
  if (failed(result) || loops.empty())
    return result;
  const unsigned warps = chooseTensorWarps(kernel, numWarps, loops);
  for (TensorLoop &loop : loops) {
    for (const TensorMultiply &multiply : loop.multiplies) {
      auto remark = remark::passed(multiply.op->getLoc(),
                                   remark::RemarkOpts::name("tensor-memory")
                                       .category(getArgument())
                                       .function(kernel.getName()));
      remark << remark::metric("m-side", multiply.exchanged ? "rhs" : "lhs")
             << remark::metric("m", multiply.paddedM)
             << remark::metric("n", multiply.paddedN)
             << remark::metric("k", multiply.paddedK)
             << remark::metric("parts", loop.parts)
             << remark::metric("sum-columns", multiply.sums.getSlotColumns());
      if (loop.parts > 1)
        remark << remark::reason(
            "sums and scales exceed tensor or shared memory: one loop for each "
            "part along N");
    }
    ++numStaged;
    if (loop.parts > 1)
      numParts += loop.parts;
    LoopStager(loop).run();
  }
  kernel->setAttr("tile.num_warps",
                  Builder(&getContext()).getI32IntegerAttr(warps));
  return success();
}

void StageTensorMultiplies::runOnOperation() {
  llvm::Expected<const TargetInfo *> info = findTarget(target);
  if (!info) {
    getOperation().emitError() << llvm::toString(info.takeError());
    return signalPassFailure();
  }
  if (!(*info)->has(Capability::Tcgen05))
    return;
  for (auto kernel : getOperation().getOps<func::FuncOp>())
    if (failed(checkNumWarps(kernel, numWarps)) ||
        failed(stage(kernel, **info)))
      return signalPassFailure();
}
