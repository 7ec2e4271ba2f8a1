//===- AssignLayouts.cpp - A layout for every tile ------------------------===//
//
// This file implements the pass that decides which lane and register of which
// warp holds each element of every tile of a kernel. Multiplies dictate; loops
// carry what the multiplies inside them want; the rest follows its operands.
//
//===----------------------------------------------------------------------===//

#include "NumWarps.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Transforms/DistributedTypes.h"
#include "tile/Transforms/Divisibility.h"
#include "tile/Transforms/MmaPlan.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static RankedTensorType getTile(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// Whether any layout of `value` costs the same, so that it should follow its
/// users.
static bool isLayoutFree(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::ConstantOp, tensor::SplatOp, IotaOp,
                         BroadcastOp>(op);
}

namespace {

/// Assigns layouts in one kernel, in program order.
class LayoutAssigner {
public:
  LayoutAssigner(func::FuncOp kernel, unsigned numWarps)
      : kernel(kernel), numWarps(numWarps), builder(kernel.getContext()) {}

  LogicalResult run() {
    if (failed(checkWarps()))
      return failure();
    visitBlock(kernel.getBody().front());
    return checkRegisters();
  }

private:
  using Visited = SmallPtrSet<void *, 16>;

  LinearLayout getLayout(Value value) {
    return tile::getLayout(getTile(value));
  }

  void setLayout(Value value, const LinearLayout &layout) {
    value.setType(withLayout(getTile(value), layout));
  }

  LinearLayout getBlocked(RankedTensorType type,
                          std::optional<unsigned> keepInWarp = std::nullopt) {
    return getBlockedLayout(type.getShape(),
                            getElementBits(type.getElementType()), numWarps,
                            keepInWarp);
  }

  /// What a load from tensor memory gives. With fewer than 128 rows, which
  /// lanes would read as they are, the tile passes through shared memory and is
  /// spread over the whole block.
  LinearLayout getLoadLayout(LoadTensorMemoryOp op) {
    ArrayRef<int64_t> shape = op.getType().getShape();
    return shape.end()[-2] < TensorMemoryType::kLanes
               ? getBlocked(op.getType())
               : getTensorMemoryLayout(shape, numWarps);
  }

  /// Makes `operand` have `layout`, by a conversion before its owner if it has
  /// another one.
  void require(OpOperand &operand, const LinearLayout &layout) {
    RankedTensorType type = withLayout(getTile(operand.get()), layout);
    if (operand.get().getType() == type)
      return;
    builder.setInsertionPoint(operand.getOwner());
    operand.set(ConvertLayoutOp::create(builder, operand.getOwner()->getLoc(),
                                        type, operand.get()));
  }

  /// The layout that a multiply imposes on `value`, directly or through
  /// element-wise operations, permutations and loops; nullopt if none does.
  std::optional<LinearLayout> findAnchor(Value value, Visited &visited);
  std::optional<LinearLayout> findAnchor(Value value) {
    Visited visited;
    return findAnchor(value, visited);
  }

  void visitBlock(Block &block) {
    // Conversions that are inserted on the way stand before the operation that
    // is being visited.
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op);
  }
  void visit(Operation *op);
  void visitElementwise(Operation *op);
  void visitBits(Operation *op);
  void visitFor(scf::ForOp op);
  void visitIf(scf::IfOp op);
  void visitWhile(scf::WhileOp op);
  template <typename MmaOp>
  MmaPlan visitMma(MmaOp op);
  /// Tensor memory takes four warps.
  LogicalResult checkWarps();
  LogicalResult checkRegisters();

  func::FuncOp kernel;
  unsigned numWarps;
  OpBuilder builder;
};

} // namespace

//===----------------------------------------------------------------------===//
// What users want
//===----------------------------------------------------------------------===//

std::optional<LinearLayout> LayoutAssigner::findAnchor(Value value,
                                                       Visited &visited) {
  if (!getTile(value) || !visited.insert(value.getAsOpaquePointer()).second)
    return std::nullopt;
  if (auto mma = value.getDefiningOp<MmaFOp>())
    return planMma(mma, numWarps).acc;
  if (auto mma = value.getDefiningOp<MmaFScaledOp>())
    return planMma(mma, numWarps).acc;
  if (auto load = value.getDefiningOp<LoadTensorMemoryOp>())
    return getLoadLayout(load);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    unsigned index = use.getOperandNumber();
    std::optional<LinearLayout> anchor;
    auto fromMma = [&](const MmaPlan &plan) -> std::optional<LinearLayout> {
      if (index == 0)
        return plan.lhs;
      if (index == 1)
        return plan.rhs;
      if (index == 2)
        return plan.acc;
      return std::nullopt;
    };
    if (auto mma = dyn_cast<MmaFOp>(user)) {
      anchor = fromMma(planMma(mma, numWarps));
    } else if (auto mma = dyn_cast<MmaFScaledOp>(user)) {
      anchor = fromMma(planMma(mma, numWarps));
    } else if (isa<StoreTensorMemoryOp>(user)) {
      anchor = getTensorMemoryLayout(getTile(value).getShape(), numWarps);
    } else if (isElementwise(user) && user->getNumResults() == 1) {
      anchor = findAnchor(user->getResult(0), visited);
    } else if (auto permute = dyn_cast<PermuteOp>(user)) {
      anchor = findAnchor(permute.getResult(), visited);
      if (anchor)
        anchor = inversePermuteLayout(*anchor, permute.getPermutation());
    } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use))
        anchor = findAnchor(argument, visited);
      if (!anchor)
        if (OpResult result = loop.getTiedLoopResult(&use))
          anchor = findAnchor(result, visited);
    } else if (isa<scf::YieldOp>(user)) {
      Operation *parent = user->getParentOp();
      if (isa<scf::ForOp, scf::IfOp>(parent))
        anchor = findAnchor(parent->getResult(index), visited);
    }
    if (anchor)
      return anchor;
  }
  // A value carried around a loop is what the loop yields.
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      if (OpOperand *yielded = loop.getTiedLoopYieldedValue(argument))
        return findAnchor(yielded->get(), visited);
  if (auto permute = value.getDefiningOp<PermuteOp>())
    if (auto anchor = findAnchor(permute.getSource(), visited))
      return permuteLayout(*anchor, permute.getPermutation());
  if (Operation *op = value.getDefiningOp())
    if (isElementwise(op))
      for (Value operand : op->getOperands())
        if (auto anchor = findAnchor(operand, visited))
          return anchor;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What memory wants
//===----------------------------------------------------------------------===//

/// Bytes that the memory system moves at once.
static constexpr unsigned kSectorBytes = 32;

/// Sectors that one store of a warp touches, beside the fewest that could hold
/// its bytes, where each lane stores `vector` elements that lie side by side in
/// dimension `dim`.
static std::pair<unsigned, unsigned> countSectors(const LinearLayout &layout,
                                                  unsigned dim, unsigned vector,
                                                  unsigned elementBytes) {
  const Space &tile = layout.getCodomain();
  std::string axis = "d" + std::to_string(dim);
  // What of a position tells elements of a sector apart is dropped.
  unsigned inSector =
      std::min(tile.bitsOf(axis),
               llvm::Log2_32(std::max(1u, kSectorBytes / elementBytes)));
  uint32_t mask = ((uint32_t(1) << inSector) - 1) << *tile.offsetOf(axis);
  SmallVector<uint32_t> elements, sectors;
  auto add = [](SmallVectorImpl<uint32_t> &basis, uint32_t column) {
    for (uint32_t known : basis)
      column = std::min(column, column ^ known);
    if (column)
      basis.push_back(column);
  };
  for (uint32_t column : layout.getColumns("lane")) {
    add(elements, column);
    add(sectors, column & ~mask);
  }
  // A vector of 32 bytes or more would lie in several; there is none.
  unsigned bytes = vector * elementBytes << elements.size();
  return {1u << sectors.size(), llvm::divideCeil(bytes, kSectorBytes)};
}

/// The layout in which a tile should be stored, or nullopt for the one that it
/// has. Multiplies leave few bytes of a row in the lanes of a warp; where what
/// is known of the memref allows wide stores, rows are put together first, once
/// and not in every iteration of a loop.
static std::optional<LinearLayout> getStoreLayout(StoreOp op,
                                                  unsigned numWarps) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  auto memref = cast<MemRefType>(op.getTarget().getType());
  std::optional<MemRefDivisors> divisors = getMemRefDivisors(op.getTarget());
  if (!divisors || op->getParentOfType<LoopLikeOpInterface>())
    return std::nullopt;
  auto [strides, offset] = memref.getStridesAndOffset();
  unsigned dim = tile.getRank();
  while (dim > 0 && (strides[dim - 1] != 1 || tile.getDimSize(dim - 1) == 1))
    --dim;
  if (dim-- == 0)
    return std::nullopt;
  unsigned bytes = std::max(1u, getElementBits(tile.getElementType()) / 8);
  auto widest = [&](unsigned run) {
    unsigned vector = std::min(run, 16 / bytes);
    while (vector > 1 && !divisors->allowsPieces(dim, vector))
      vector /= 2;
    return vector;
  };
  unsigned vector = widest(tile.getDimSize(dim));
  if (vector == 1)
    return std::nullopt;

  LinearLayout layout = tile::getLayout(tile);
  auto [touched, needed] =
      countSectors(layout, dim, widest(getRun(layout, dim)), bytes);
  // Rows of the tile along `dim`, whichever dimension that is.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, dim));
  llvm::append_range(order, llvm::seq<int64_t>(dim + 1, tile.getRank()));
  order.push_back(dim);
  SmallVector<int64_t> shape;
  for (int64_t from : order)
    shape.push_back(tile.getDimSize(from));
  LinearLayout rows = inversePermuteLayout(
      getBlockedLayout(shape, 128 / vector, numWarps), order);
  auto [rowsTouched, rowsNeeded] =
      countSectors(rows, dim, widest(getRun(rows, dim)), bytes);
  // Worth a way through shared memory: half of the traffic or less.
  if (touched * rowsNeeded < 2 * needed * rowsTouched)
    return std::nullopt;
  return rows;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void LayoutAssigner::visitElementwise(Operation *op) {
  std::optional<LinearLayout> layout;
  for (Value operand : op->getOperands())
    if (getTile(operand) && !isLayoutFree(operand)) {
      layout = getLayout(operand);
      break;
    }
  if (!layout)
    layout = findAnchor(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands()) {
    if (!getTile(operand.get()))
      continue;
    if (!layout)
      layout = getLayout(operand.get());
    require(operand, *layout);
  }
  for (Value result : op->getResults())
    setLayout(result, *layout);
}

/// `tile.unpack` and `tile.pack`: a lane must hold all bytes of a value.
void LayoutAssigner::visitBits(Operation *op) {
  OpOperand &source = op->getOpOperand(0);
  RankedTensorType resultType = getTile(op->getResult(0));
  unsigned sourceBits = getElementBits(getTile(source.get()).getElementType());
  unsigned resultBits = getElementBits(resultType.getElementType());
  std::optional<LinearLayout> layout =
      unpackLayout(getLayout(source.get()), sourceBits, resultBits);
  if (!layout) {
    layout = getBlocked(resultType);
    require(source, *unpackLayout(*layout, resultBits, sourceBits));
  }
  setLayout(op->getResult(0), *layout);
}

template <typename MmaOp>
MmaPlan LayoutAssigner::visitMma(MmaOp op) {
  MmaPlan plan = planMma(op, numWarps);
  require(op.getLhsMutable(), plan.lhs);
  require(op.getRhsMutable(), plan.rhs);
  require(op.getAccMutable(), plan.acc);
  setLayout(op.getResult(), plan.acc);
  return plan;
}

void LayoutAssigner::visitFor(scf::ForOp op) {
  for (OpOperand &init : op.getInitArgsMutable()) {
    if (!getTile(init.get()))
      continue;
    BlockArgument argument = op.getTiedLoopRegionIterArg(&init);
    OpResult result = op.getTiedLoopResult(&init);
    std::optional<LinearLayout> layout = findAnchor(argument);
    if (!layout)
      layout = findAnchor(result);
    if (!layout)
      layout = getLayout(init.get());
    require(init, *layout);
    setLayout(argument, *layout);
    setLayout(result, *layout);
  }
  visitBlock(*op.getBody());
  for (auto [operand, result] : llvm::zip(
           op.getBody()->getTerminator()->getOpOperands(), op.getResults()))
    if (getTile(result))
      require(operand, getLayout(result));
}

void LayoutAssigner::visitIf(scf::IfOp op) {
  for (Region &region : op->getRegions())
    if (!region.empty())
      visitBlock(region.front());
  for (OpResult result : op.getResults()) {
    if (!getTile(result))
      continue;
    unsigned index = result.getResultNumber();
    OpOperand &thenValue = op.thenYield()->getOpOperand(index);
    OpOperand &elseValue = op.elseYield()->getOpOperand(index);
    std::optional<LinearLayout> layout = findAnchor(result);
    if (!layout)
      layout = getLayout(isLayoutFree(thenValue.get()) ? elseValue.get()
                                                       : thenValue.get());
    require(thenValue, *layout);
    require(elseValue, *layout);
    setLayout(result, *layout);
  }
}

void LayoutAssigner::visitWhile(scf::WhileOp op) {
  for (auto [init, argument] :
       llvm::zip(op.getInitsMutable(), op.getBeforeArguments()))
    if (getTile(argument))
      setLayout(argument, getLayout(init.get()));
  visitBlock(op.getBefore().front());
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [forwarded, argument, result] :
       llvm::zip(condition.getArgs(), op.getAfterArguments(), op.getResults()))
    if (getTile(result)) {
      setLayout(argument, getLayout(forwarded));
      setLayout(result, getLayout(forwarded));
    }
  visitBlock(op.getAfter().front());
  for (auto [operand, argument] :
       llvm::zip(op.getYieldOp()->getOpOperands(), op.getBeforeArguments()))
    if (getTile(argument))
      require(operand, getLayout(argument));
}

void LayoutAssigner::visit(Operation *op) {
  auto setFree = [&](Value result) {
    std::optional<LinearLayout> anchor = findAnchor(result);
    setLayout(result, anchor ? *anchor : getBlocked(getTile(result)));
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp op) { visitFor(op); })
      .Case([&](scf::IfOp op) { visitIf(op); })
      .Case([&](scf::WhileOp op) { visitWhile(op); })
      .Case([&](arith::ConstantOp op) {
        if (!getTile(op))
          return;
        setFree(op);
        auto value = cast<DenseElementsAttr>(op.getValue());
        op.setValueAttr(cast<TypedAttr>(DenseElementsAttr::getFromRawBuffer(
            getTile(op), value.getRawData())));
      })
      .Case<tensor::SplatOp, IotaOp>(
          [&](Operation *op) { setFree(op->getResult(0)); })
      .Case([&](LoadOp op) { setLayout(op, getBlocked(getTile(op))); })
      .Case([&](LoadTensorMemoryOp op) { setLayout(op, getLoadLayout(op)); })
      .Case([&](StoreTensorMemoryOp op) {
        require(
            op.getValueMutable(),
            getTensorMemoryLayout(getTile(op.getValue()).getShape(), numWarps));
      })
      .Case([&](GatherOp op) {
        LinearLayout layout = getBlocked(getTile(op));
        for (OpOperand &index : op.getIndicesMutable())
          require(index,
                  projectLayout(layout, getTile(index.get()).getShape()));
        for (OpOperand &mask : op.getMaskMutable())
          require(mask, layout);
        setLayout(op, layout);
      })
      .Case([&](ScatterOp op) {
        LinearLayout layout = getLayout(op.getValue());
        for (OpOperand &index : op.getIndicesMutable())
          require(index,
                  projectLayout(layout, getTile(index.get()).getShape()));
        for (OpOperand &mask : op.getMaskMutable())
          require(mask, layout);
      })
      .Case([&](StoreOp op) {
        if (auto layout = getStoreLayout(op, numWarps))
          require(op.getValueMutable(), *layout);
      })
      .Case<UnpackOp, PackOp>([&](Operation *op) { visitBits(op); })
      .Case([&](PermuteOp op) {
        setLayout(
            op, permuteLayout(getLayout(op.getSource()), op.getPermutation()));
      })
      .Case([&](ReshapeOp op) {
        // The layout of a tile of rank 0 does not count the warps that have it.
        bool hasRank = getTile(op.getSource()).getRank() > 0;
        setLayout(op, hasRank ? reshapeLayout(getLayout(op.getSource()),
                                              getTile(op).getShape())
                              : getBlocked(getTile(op)));
      })
      .Case([&](BroadcastOp op) {
        setFree(op);
        require(
            op.getSourceMutable(),
            projectLayout(getLayout(op), getTile(op.getSource()).getShape()));
      })
      .Case([&](ReduceOp op) {
        unsigned dim = op.getDim();
        LinearLayout layout = getLayout(op.getSource());
        if (!canReduceInWarp(layout, dim)) {
          layout = getBlocked(getTile(op.getSource()), dim);
          require(op.getSourceMutable(), layout);
        }
        setLayout(op, reduceLayout(layout, dim));
      })
      .Case([&](MmaFOp op) { visitMma(op); })
      .Case([&](MmaFScaledOp op) {
        MmaPlan plan = visitMma(op);
        unsigned next = 0;
        MutableOperandRange scales = op.getScalesMutable();
        if (op.getLhsScale())
          require(scales[next++], plan.lhsScale);
        if (op.getRhsScale())
          require(scales[next++], plan.rhsScale);
      })
      .Default([&](Operation *op) {
        if (isElementwise(op) && op->getNumResults() &&
            getTile(op->getResult(0)))
          visitElementwise(op);
      });
}

LogicalResult LayoutAssigner::checkWarps() {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (numWarps >= 4 || !isa<LoadTensorMemoryOp, StoreTensorMemoryOp>(op))
      return WalkResult::advance();
    op->emitOpError("expects at least four warps, but got ") << numWarps;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult LayoutAssigner::checkRegisters() {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      RankedTensorType type = getTile(value);
      if (!type)
        continue;
      if (!isa_and_nonnull<LayoutAttr>(type.getEncoding())) {
        op->emitOpError("has no rule for the layout of its result");
        return WalkResult::interrupt();
      }
      uint64_t elements = uint64_t(1)
                          << getLayout(value).getDomain().bitsOf("register");
      uint64_t words = llvm::divideCeil(
          elements * getElementBits(type.getElementType()), 32);
      if (words > kMaxWordsPerLane) {
        op->emitOpError("expects a tile of at most ")
            << kMaxWordsPerLane << " 32-bit words per lane, but got " << words
            << " with " << numWarps << (numWarps == 1 ? " warp" : " warps");
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct AssignLayouts : public tile::impl::TileAssignLayoutsBase<AssignLayouts> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(checkNumWarps(getOperation(), numWarps)))
      return signalPassFailure();
    WalkResult annotated = getOperation()->walk([&](Operation *op) {
      if (!isa<MmaFOp, MmaFScaledOp>(op))
        return WalkResult::advance();
      return getWarpAtom(op) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (annotated.wasInterrupted())
      return signalPassFailure();

    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr("tile.kernel") || kernel.isExternal())
        continue;
      unsigned warps = getNumWarps(kernel, numWarps);
      kernel->setAttr("tile.num_warps",
                      Builder(&getContext()).getI32IntegerAttr(warps));
      if (failed(LayoutAssigner(kernel, warps).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
