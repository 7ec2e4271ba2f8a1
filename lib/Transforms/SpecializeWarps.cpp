//===- SpecializeWarps.cpp - Copies and multiplies in warps of their own --===//
//
// This file implements the pass that lets copies and multiplies of a loop run
// at the same time, in warps of their own, over a ring of slots.
//
// Copies arrive late. What a thread copied is seen by the tensor core only
// after the thread has waited for it, so it arrives for iteration i when it has
// begun the copies of iteration i + lag. Those wait until the multiplies of
// iteration i + lag - slots are done: with a lag of slots - 2 one multiply may
// still run while the next is handed over.
//
//===----------------------------------------------------------------------===//

#include "NumWarps.h"
#include "SharedMemoryBudget.h"
#include "TensorMultiplies.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TargetInfo.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILESPECIALIZEWARPS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// A loop that copies, waits, multiplies and waits.
struct SerialLoop {
  scf::ForOp loop;
  SmallVector<CopyAsyncOp> copies;
  SmallVector<Operation *> multiplies; ///< And copies of scales.
  CommitMultipliesOp commit;
  InitBarriersOp init;   ///< Of what `commit` arrives at, in front of the loop.
  InvalBarriersOp inval; ///< Behind the loop.

  /// What has a slot for each stage.
  llvm::SetVector<Value> buffers, memories;

  int64_t getStageBytes() const {
    int64_t bytes = 0;
    for (Value buffer : buffers)
      bytes += cast<BufferType>(buffer.getType()).getSlotStride();
    return bytes;
  }
  int64_t getStageColumns() const {
    int64_t columns = 0;
    for (Value memory : memories)
      columns += cast<TensorMemoryType>(memory.getType()).getSlotColumns();
    return columns;
  }
};

/// Emits the two roles in the place of a loop.
class RoleBuilder {
public:
  RoleBuilder(SerialLoop &serial, unsigned slots, unsigned copiers)
      : serial(serial), loop(serial.loop), loc(loop.getLoc()), builder(loop),
        slots(slots), copiers(copiers) {}

  void run();

private:
  /// A slot and the parity of its phase, which go round.
  struct Place {
    Value slot, parity; ///< i32
  };

  Value number(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value toIndex(Value slot) {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        slot);
  }
  Value advance(Value slot, Value *parity);
  /// Emits a loop over the iterations that carries `inits`; `body` gets its
  /// variable and what it carries, and returns what is carried on.
  ValueRange
  emitLoop(ValueRange inits,
           llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// Emits what `values` are computed by in the loop.
  void cloneSlice(ValueRange values, IRMapping &mapping);
  /// Arrives at `slot` with all but `pending` groups of copies, if `predicate`
  /// holds for the iterations so far and `pending`; returns the slot of the
  /// next arrival.
  Value arriveAt(Value slot, unsigned pending, arith::CmpIPredicate predicate,
                 Value count);
  void emitCopiers();
  void emitIssuer();

  SerialLoop &serial;
  scf::ForOp loop;
  Location loc;
  OpBuilder builder;
  const unsigned slots, copiers;
  Value full, empty;
};

struct SpecializeWarps
    : public tile::impl::TileSpecializeWarpsBase<SpecializeWarps> {
  using Base::Base;

  void runOnOperation() override;
  LogicalResult specialize(func::FuncOp kernel, const TargetInfo &info);
};

} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The only user of `barriers` of type OpT in the block of `loop`.
template <typename OpT>
static OpT findUser(Value barriers, scf::ForOp loop) {
  OpT found;
  for (Operation *user : barriers.getUsers())
    if (auto op = dyn_cast<OpT>(user);
        op && op->getBlock() == loop->getBlock()) {
      // Of several loops one after the other, the nearest.
      const bool isBefore = std::is_same_v<OpT, InitBarriersOp>;
      if (isBefore != op->isBeforeInBlock(loop))
        continue;
      if (!found || found->isBeforeInBlock(op) == isBefore)
        found = op;
    }
  return found;
}

static std::optional<SerialLoop> match(scf::ForOp loop) {
  SerialLoop serial;
  serial.loop = loop;
  bool isCommitted = false, isCopied = false, isFinished = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isFinished)
      continue;
    if (auto copy = dyn_cast<CopyAsyncOp>(op)) {
      if (isCommitted || copy.getPredicate() ||
          getConstantIntValue(copy.getSlot()) != 0)
        return std::nullopt;
      serial.copies.push_back(copy);
      serial.buffers.insert(copy.getBuffer());
    } else if (isa<CommitCopiesOp>(op)) {
      if (isCommitted)
        return std::nullopt;
      isCommitted = true;
    } else if (auto wait = dyn_cast<WaitCopiesOp>(op)) {
      if (!isCommitted || isCopied || wait.getPending() != 0)
        return std::nullopt;
      isCopied = true;
    } else if (isa<CopyScalesOp, MultiplyAsyncOp>(op)) {
      if (!isCopied || serial.commit)
        return std::nullopt;
      serial.multiplies.push_back(&op);
      if (auto scales = dyn_cast<CopyScalesOp>(op))
        serial.memories.insert(scales.getMemory());
    } else if (auto commit = dyn_cast<CommitMultipliesOp>(op)) {
      if (serial.commit)
        return std::nullopt;
      serial.commit = commit;
    } else if (auto wait = dyn_cast<WaitBarrierOp>(op)) {
      if (!serial.commit || wait.getBarriers() != serial.commit.getBarriers())
        return std::nullopt;
      isFinished = true;
    } else if (op.getNumRegions() ||
               !(isPure(&op) || isa<memref::LoadOp>(op))) {
      return std::nullopt;
    }
  }
  if (!isFinished || serial.copies.empty() ||
      loop.getNumRegionIterArgs() != 1 || !loop.getResult(0).use_empty())
    return std::nullopt;
  // Everything that is multiplied has been copied in the iteration.
  for (Operation *op : serial.multiplies)
    for (Value operand : op->getOperands()) {
      if (isa<BufferType>(operand.getType()) &&
          !serial.buffers.contains(operand))
        return std::nullopt;
      if (auto memory = dyn_cast<TensorMemoryType>(operand.getType());
          memory && memory.holdsScales() && !serial.memories.contains(operand))
        return std::nullopt;
    }
  serial.init = findUser<InitBarriersOp>(serial.commit.getBarriers(), loop);
  serial.inval = findUser<InvalBarriersOp>(serial.commit.getBarriers(), loop);
  if (!serial.init || !serial.inval)
    return std::nullopt;
  return serial;
}

//===----------------------------------------------------------------------===//
// The roles
//===----------------------------------------------------------------------===//

Value RoleBuilder::advance(Value slot, Value *parity) {
  Value next = arith::AddIOp::create(builder, loc, slot, number(1));
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      next, number(slots));
  if (parity) {
    Value flipped = arith::XOrIOp::create(builder, loc, *parity, number(1));
    *parity = arith::SelectOp::create(builder, loc, wraps, flipped, *parity);
  }
  return arith::SelectOp::create(builder, loc, wraps, number(0), next);
}

ValueRange RoleBuilder::emitLoop(
    ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto result = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits);
  result.setUnsignedCmp(loop.getUnsignedCmp());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(result.getBody());
  SmallVector<Value> carried(result.getRegionIterArgs());
  SmallVector<Value> next = body(result.getInductionVar(), carried);
  scf::YieldOp::create(builder, loc, next);
  return result.getResults();
}

void RoleBuilder::cloneSlice(ValueRange values, IRMapping &mapping) {
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (mapping.contains(value) || !op || !loop->isProperAncestor(op))
      continue;
    cloneSlice(op->getOperands(), mapping);
    builder.clone(*op, mapping);
  }
}

Value RoleBuilder::arriveAt(Value slot, unsigned pending,
                            arith::CmpIPredicate predicate, Value count) {
  Value exists =
      arith::CmpIOp::create(builder, loc, predicate, count, number(pending));
  auto branch = scf::IfOp::create(builder, loc, TypeRange{slot.getType()},
                                  exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ArriveCopiesOp::create(builder, loc, full, toIndex(slot), pending);
  scf::YieldOp::create(builder, loc, advance(slot, nullptr));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, slot);
  return branch.getResult(0);
}

void RoleBuilder::emitCopiers() {
  const unsigned lag = slots > 2 ? slots - 2 : 0;
  // The next slot to fill, its parity, the next slot to arrive at, and the
  // iterations so far.
  SmallVector<Value> inits = {number(0), number(1), number(0), number(0)};
  if (!lag)
    inits.pop_back_n(2);
  ValueRange results = emitLoop(inits, [&](Value position, ValueRange carried) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), position);
    for (CopyAsyncOp copy : serial.copies) {
      cloneSlice(copy.getSource(), mapping);
      cloneSlice(copy.getIndices(), mapping);
    }
    Value slot = carried[0], parity = carried[1];
    Value place = toIndex(slot);
    WaitBarrierOp::create(builder, loc, empty, place, parity);
    for (CopyAsyncOp copy : serial.copies) {
      SmallVector<Value> indices;
      for (Value index : copy.getIndices())
        indices.push_back(mapping.lookupOrDefault(index));
      CopyAsyncOp::create(
          builder, copy.getLoc(), mapping.lookupOrDefault(copy.getSource()),
          indices, copy.getBuffer(), place, Value(), copy.getMovingAttr());
    }
    CommitCopiesOp::create(builder, loc);
    SmallVector<Value> next;
    if (!lag) {
      ArriveCopiesOp::create(builder, loc, full, place, /*pending=*/0);
    } else {
      Value earlier = carried[2], count = carried[3];
      Value later =
          arriveAt(earlier, /*pending=*/lag, arith::CmpIPredicate::uge, count);
      Value more = arith::AddIOp::create(builder, loc, count, number(1));
      next = {later, more};
    }
    Value nextParity = parity;
    Value nextSlot = advance(slot, &nextParity);
    next.insert(next.begin(), {nextSlot, nextParity});
    return next;
  });
  // The last ones arrive.
  Value slot = results[0], parity = results[1];
  if (lag) {
    Value earlier = results[2], count = results[3];
    for (unsigned pending = lag; pending-- > 0;)
      earlier = arriveAt(earlier, pending, arith::CmpIPredicate::ugt, count);
  }
  // Every arrival has come when the barriers end: one round more, in which a
  // slot that was never filled is empty from the start.
  auto round = scf::ForOp::create(builder, loc, number(0), number(slots),
                                  number(1), ValueRange{slot, parity});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(round.getBody());
  slot = round.getRegionIterArg(0);
  parity = round.getRegionIterArg(1);
  WaitBarrierOp::create(builder, loc, empty, toIndex(slot), parity);
  slot = advance(slot, &parity);
  scf::YieldOp::create(builder, loc, ValueRange{slot, parity});
}

void RoleBuilder::emitIssuer() {
  emitLoop({number(0), number(0)}, [&](Value position, ValueRange carried) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), position);
    Value place = toIndex(carried[0]);
    for (Operation *op : serial.multiplies)
      if (auto multiply = dyn_cast<MultiplyAsyncOp>(op))
        cloneSlice(multiply.getAccumulate(), mapping);
    // Afterwards: the constant that was the slot may be one of these values
    // too.
    for (Operation *op : serial.multiplies)
      for (Value operand : op->getOperands())
        if (operand.getType().isIndex())
          mapping.map(operand, place);
    WaitBarrierOp::create(builder, loc, full, place, carried[1]);
    for (Operation *op : serial.multiplies)
      builder.clone(*op, mapping);
    CommitMultipliesOp::create(builder, loc, empty, place);
    Value parity = carried[1];
    Value slot = advance(carried[0], &parity);
    return SmallVector<Value>{slot, parity};
  });
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  CommitMultipliesOp::create(builder, loc, serial.commit.getBarriers(), first);
}

void RoleBuilder::run() {
  for (Value buffer : serial.buffers)
    buffer.setType(cast<BufferType>(buffer.getType()).withNumSlots(slots));
  for (Value memory : serial.memories)
    memory.setType(
        cast<TensorMemoryType>(memory.getType()).withNumSlots(slots));
  auto type = BarriersType::get(builder.getContext(), slots);
  builder.setInsertionPoint(serial.init);
  full = AllocBarriersOp::create(builder, loc, type);
  empty = AllocBarriersOp::create(builder, loc, type);
  InitBarriersOp::create(builder, loc, full, copiers);
  InitBarriersOp::create(builder, loc, empty, 1);
  builder.setInsertionPointAfter(serial.inval);
  InvalBarriersOp::create(builder, loc, full);
  InvalBarriersOp::create(builder, loc, empty);

  builder.setInsertionPoint(loop);
  auto roles = WarpRolesOp::create(builder, loc);
  builder.createBlock(&roles.getCopiers());
  emitCopiers();
  builder.createBlock(&roles.getIssuer());
  emitIssuer();
  builder.setInsertionPoint(loop);
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  WaitBarrierOp::create(builder, loc, serial.commit.getBarriers(), first,
                        number(0));
  loop.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Slots where a kernel leaves the number open.
static constexpr unsigned kDefaultSlots = 4;

LogicalResult SpecializeWarps::specialize(func::FuncOp kernel,
                                          const TargetInfo &info) {
  SmallVector<SerialLoop> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (std::optional<SerialLoop> serial = match(loop))
      loops.push_back(std::move(*serial));
  });
  if (loops.empty())
    return success();
  unsigned warps = numWarps;
  if (auto attr = kernel->getAttrOfType<IntegerAttr>("tile.num_warps"))
    warps = static_cast<unsigned>(attr.getInt());
  if (warps < 4)
    return kernel.emitOpError("expects at least 4 warps for roles, but got ")
           << warps;
  const unsigned asked = getNumStages(kernel, numStages);
  // What the loops share: all that the kernel allocates has a place for its
  // whole run. Parts of one multiply use the same buffers one after the other.
  llvm::SetVector<Value> buffers, memories;
  int64_t bytes = getTensorBufferBudget(kernel, info);
  int64_t columns = TensorMemoryType::kColumns;
  for (const SerialLoop &serial : loops) {
    buffers.insert_range(serial.buffers);
    memories.insert_range(serial.memories);
  }
  int64_t stageBytes = 0, stageColumns = 0;
  kernel.walk([&](AllocBufferOp op) {
    BufferType type = op.getResult().getType();
    (buffers.contains(op.getResult()) ? stageBytes : bytes) +=
        buffers.contains(op.getResult())
            ? type.getSlotStride()
            : -type.getSlotStride() * type.getNumSlots();
  });
  kernel.walk([&](AllocTensorMemoryOp op) {
    TensorMemoryType type = op.getResult().getType();
    (memories.contains(op.getResult()) ? stageColumns : columns) +=
        memories.contains(op.getResult())
            ? type.getSlotColumns()
            : -type.getSlotColumns() * type.getNumSlots();
  });
  int64_t most = stageBytes ? bytes / stageBytes : kMaxStages;
  if (stageColumns)
    most = std::min(most, columns / stageColumns);
  const unsigned wanted = asked ? asked : kDefaultSlots;
  unsigned slots = std::max<int64_t>(1, std::min<int64_t>(wanted, most));
  // No loop fills more slots than it has iterations.
  int64_t trips = 1;
  for (SerialLoop &serial : loops) {
    std::optional<APInt> known = serial.loop.getStaticTripCount();
    trips = std::max<int64_t>(
        trips, known ? std::min<int64_t>(known->getLimitedValue(kMaxStages),
                                         kMaxStages)
                     : kMaxStages);
  }
  slots = std::min<int64_t>(slots, trips);
  for (SerialLoop &serial : loops) {
    remark::RemarkOpts options = remark::RemarkOpts::name("software-pipeline")
                                     .category(getArgument())
                                     .function(kernel.getName());
    Location loc = serial.loop.getLoc();
    auto remark = slots > 1 || asked == 1 || trips == 1
                      ? remark::passed(loc, options)
                      : remark::missed(loc, options);
    remark << remark::metric("num-stages", slots)
           << remark::metric("shared-bytes", slots * serial.getStageBytes())
           << remark::metric("scale-columns", slots * serial.getStageColumns());
    if (slots < wanted && slots < trips)
      remark << remark::metric("wanted-stages", wanted)
             << remark::reason("{0} bytes of shared memory and {1} columns of "
                               "tensor memory hold no more",
                               bytes, columns);
    RoleBuilder(serial, slots, warps / 2 * 32).run();
    ++numSpecialized;
  }
  return success();
}

void SpecializeWarps::runOnOperation() {
  llvm::Expected<const TargetInfo *> info = findTarget(target);
  if (!info) {
    getOperation().emitError() << llvm::toString(info.takeError());
    return signalPassFailure();
  }
  if (failed(checkNumStages(getOperation(), numStages)))
    return signalPassFailure();
  for (auto kernel : getOperation().getOps<func::FuncOp>())
    if (failed(specialize(kernel, **info)))
      return signalPassFailure();
}
