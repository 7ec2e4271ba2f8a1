//===- StageLoads.cpp - Operands on their way through shared memory -------===//
//
// This file implements the pass that gives the operands of multiplies in loops
// a way through shared memory: each byte is fetched once by the block, in wide
// pieces, and read from there by the lanes that need it. The copies stand at
// the start of the iteration that uses them; `tile-pipeline-loops` moves them
// ahead. What no iteration changes is fetched once, in front of the loop.
//
//===----------------------------------------------------------------------===//

#include "SharedMemoryBudget.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TargetInfo.h"
#include "tile/Transforms/DistributedTypes.h"
#include "tile/Transforms/Divisibility.h"
#include "tile/Transforms/MmaPlan.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILESTAGELOADS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Whether every use of a tile ends as operand or scale of a multiply, with
/// nothing but relabelling on the way.
static bool feedsMultiply(Value tile) {
  if (tile.use_empty())
    return false;
  return llvm::all_of(tile.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    // The accumulator is the third operand.
    if (isa<MmaFOp, MmaFScaledOp>(user))
      return use.getOperandNumber() != 2;
    return isa<UnpackOp, PermuteOp, ReshapeOp>(user) &&
           feedsMultiply(user->getResult(0));
  });
}

/// A buffer of one slot for what `load` loads.
static BufferType getBufferType(LoadOp load) {
  RankedTensorType tile = load.getType();
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, tile.getShape());
  return BufferType::get(load.getContext(), shape, tile.getElementType(),
                         takesContainers(load));
}

/// Why a tile cannot be copied asynchronously, or an empty string: every piece
/// of at least four bytes must be aligned, and inside or outside the memref as
/// a whole.
static std::string checkPieces(LoadOp load) {
  auto type = cast<MemRefType>(load.getSource().getType());
  std::optional<MemRefDivisors> divisors = getMemRefDivisors(load.getSource());
  if (!divisors)
    return "the memref is no argument of the kernel or view of one";
  unsigned bytes = getElementBits(type.getElementType()) / 8;
  uint64_t unit = std::max(1u, 4 / bytes); // elements
  ArrayRef<int64_t> shape = load.getType().getShape();
  auto [strides, offset] = type.getStridesAndOffset();
  for (unsigned dim = type.getRank(); dim-- > 0;) {
    if (strides[dim] != 1 || shape[dim] == 1)
      continue;
    if (!divides(unit, shape[dim]))
      return "its rows have less than four bytes";
    if (!divisors->allowsPieces(dim, unit))
      return "extents, strides and offsets are not known to be multiples of " +
             std::to_string(unit) + " elements";
    return "";
  }
  return "no dimension of it has stride 1";
}

/// Collects what of the loop's body the indices of `load` are computed by.
/// Returns false if that cannot be repeated for another iteration.
static bool collectIndexSlice(Value value, scf::ForOp loop,
                              llvm::SetVector<Operation *> &slice) {
  if (value == loop.getInductionVar())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != loop.getBody();
  Operation *op = value.getDefiningOp();
  if (!loop->isProperAncestor(op))
    return true;
  // It will be computed for iterations that there are none of; a number that is
  // loaded, as the place of a page is from a table, only where there is one.
  if (op->getBlock() != loop.getBody() || op->getNumRegions() ||
      !(isPure(op) || isa<memref::LoadOp>(op)))
    return false;
  for (Value operand : op->getOperands())
    if (!collectIndexSlice(operand, loop, slice))
      return false;
  slice.insert(op);
  return true;
}

/// 32-bit words of tiles that a loop may hold in registers of a lane all the
/// time, so that they are not loaded again.
static constexpr uint64_t kMaxHeldWords = 32;

/// 32-bit words that a lane holds of a tile; none of what has no layout yet.
static uint64_t getWordsPerLane(Value value) {
  auto tile = cast<RankedTensorType>(value.getType());
  if (!isa_and_nonnull<LayoutAttr>(tile.getEncoding()))
    return 0;
  uint64_t elements = uint64_t(1)
                      << getLayout(tile).getDomain().bitsOf("register");
  return llvm::divideCeil(elements * getElementBits(tile.getElementType()), 32);
}

namespace {

struct StageLoads : public tile::impl::TileStageLoadsBase<StageLoads> {
  using Base::Base;

  void runOnOperation() override;
  /// Moves in front of a loop what is the same in every iteration: positions,
  /// views, and loads of tiles that registers can hold.
  void hoist(scf::ForOp loop);
  /// Copies what the same place of memory gives to every iteration to a buffer
  /// of its own, once, and reads it from there.
  void stageOnce(ArrayRef<LoadOp> loads, scf::ForOp loop, bool loopWaits);
  /// Stages what it can of one loop. `room` is the shared memory left.
  void stage(scf::ForOp loop, func::FuncOp kernel, int64_t &room);
};

} // namespace

/// Whether anything in the loop writes to global memory.
static bool writesMemory(scf::ForOp loop) {
  return loop
      .walk([](Operation *op) {
        return isa<StoreOp, ScatterOp>(op) ? WalkResult::interrupt()
                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

void StageLoads::hoist(scf::ForOp loop) {
  const bool writes = writesMemory(loop);
  uint64_t words = 0;
  auto hold = [&](Value value) {
    uint64_t more = getWordsPerLane(value);
    if (words + more > kMaxHeldWords)
      return false;
    words += more;
    return true;
  };
  moveLoopInvariantCode(
      loop.getLoopRegions(),
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [&](Operation *op, Region *) {
        // Outside reads as zero, so that a load is right without an iteration.
        if (auto load = dyn_cast<LoadOp>(op)) {
          bool staged =
              feedsMultiply(load.getResult()) && checkPieces(load).empty();
          return !writes && !staged && hold(load.getResult());
        }
        if (!isPure(op))
          return false;
        if (isa<ConvertLayoutOp>(op))
          return hold(op->getResult(0));
        return isa<PermuteOp, ReshapeOp, UnpackOp, PackOp>(op) ||
               llvm::none_of(op->getResultTypes(),
                             llvm::IsaPred<RankedTensorType>);
      },
      [&](Operation *op, Region *) {
        if (isa<LoadOp>(op))
          ++numHoisted;
        loop.moveOutOfLoop(op);
      });
}

void StageLoads::stageOnce(ArrayRef<LoadOp> loads, scf::ForOp loop,
                           bool loopWaits) {
  for (LoadOp load : loads) {
    // As far out as it stays the same.
    scf::ForOp target = loop;
    for (auto outer = loop->getParentOfType<scf::ForOp>(); outer;
         outer = outer->getParentOfType<scf::ForOp>()) {
      if (target->getParentOp() != outer || writesMemory(outer) ||
          !llvm::all_of(load->getOperands(), [&](Value operand) {
            return outer.isDefinedOutsideOfLoop(operand);
          }))
        break;
      target = outer;
    }
    Location loc = load.getLoc();
    OpBuilder builder(target);
    Value slot = arith::ConstantIndexOp::create(builder, loc, 0);
    Value buffer = AllocBufferOp::create(builder, loc, getBufferType(load));
    // Somebody may still read the slot of the last time that the loop ran.
    if (target->getParentOfType<LoopLikeOpInterface>())
      BarrierOp::create(builder, loc);
    // The loop's own waits cover it, since its copies come later; but without
    // an iteration nobody would wait.
    const bool covered = loopWaits && target == loop;
    Value exists;
    if (covered)
      exists = arith::CmpIOp::create(
          builder, loc,
          loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                : arith::CmpIPredicate::slt,
          loop.getLowerBound(), loop.getUpperBound());
    CopyAsyncOp::create(builder, loc, load.getSource(), load.getIndices(),
                        buffer, slot, exists, DenseI64ArrayAttr());
    CommitCopiesOp::create(builder, loc);
    if (!covered)
      WaitCopiesOp::create(builder, loc, 0);
    builder.setInsertionPoint(load);
    Value read = ReadBufferOp::create(builder, loc, load.getType(), buffer,
                                      slot, ValueRange());
    load.replaceAllUsesWith(read);
    load.erase();
  }
  numStaged += loads.size();
}

void StageLoads::stage(scf::ForOp loop, func::FuncOp kernel, int64_t &room) {
  SmallVector<LoadOp> loads, fixed;
  llvm::SetVector<Operation *> slice;
  for (LoadOp load : loop.getBody()->getOps<LoadOp>()) {
    if (!feedsMultiply(load.getResult()))
      continue;
    auto refuse = [&](StringRef reason) {
      remark::missed(load.getLoc(), remark::RemarkOpts::name("stage-load")
                                        .category("tile-stage-loads")
                                        .function(kernel.getName()))
          << remark::reason("{0}", reason);
    };
    if (writesMemory(loop)) {
      refuse("the loop writes memory");
      continue;
    }
    if (std::string reason = checkPieces(load); !reason.empty()) {
      refuse(reason);
      continue;
    }
    llvm::SetVector<Operation *> ofLoad;
    bool repeats = true;
    for (Value operand : load->getOperands())
      repeats &= collectIndexSlice(operand, loop, ofLoad);
    if (!repeats) {
      refuse("its position depends on more than the iteration");
      continue;
    }
    int64_t bytes = getBufferType(load).getSlotStride();
    if (bytes > room) {
      refuse("shared memory has no room for it");
      continue;
    }
    room -= bytes;
    if (llvm::all_of(load->getOperands(), [&](Value operand) {
          return loop.isDefinedOutsideOfLoop(operand);
        })) {
      fixed.push_back(load);
      continue;
    }
    slice.insert(ofLoad.begin(), ofLoad.end());
    loads.push_back(load);
  }
  stageOnce(fixed, loop, /*loopWaits=*/!loads.empty());
  if (loads.empty())
    return;

  // Slice, barrier, copies, wait, reads, and then the rest of the body.
  Operation *first = &loop.getBody()->front();
  OpBuilder builder(first);
  Operation *start = BarrierOp::create(builder, loop.getLoc());
  for (Operation *op : slice)
    op->moveBefore(start);
  OpBuilder before(loop);
  builder.setInsertionPointAfter(start);
  Value slot = arith::ConstantIndexOp::create(before, loop.getLoc(), 0);
  SmallVector<Value> buffers;
  for (LoadOp load : loads) {
    Value buffer =
        AllocBufferOp::create(before, load.getLoc(), getBufferType(load));
    SmallVector<int64_t> moving;
    for (auto [dim, index] : llvm::enumerate(load.getIndices()))
      if (!loop.isDefinedOutsideOfLoop(index))
        moving.push_back(static_cast<int64_t>(dim));
    CopyAsyncOp::create(builder, load.getLoc(), load.getSource(),
                        load.getIndices(), buffer, slot, Value(),
                        builder.getDenseI64ArrayAttr(moving));
    buffers.push_back(buffer);
  }
  CommitCopiesOp::create(builder, loop.getLoc());
  WaitCopiesOp::create(builder, loop.getLoc(), 0);
  for (auto [load, buffer] : llvm::zip_equal(loads, buffers)) {
    Value read = ReadBufferOp::create(builder, load.getLoc(), load.getType(),
                                      buffer, slot, ValueRange());
    load.getResult().replaceAllUsesWith(read);
  }
  for (LoadOp load : loads)
    load.erase();
  numStaged += loads.size();
}

void StageLoads::runOnOperation() {
  llvm::Expected<const TargetInfo *> info = findTarget(target);
  if (!info) {
    getOperation().emitError() << llvm::toString(info.takeError());
    return signalPassFailure();
  }
  if (!(*info)->has(Capability::CpAsync))
    return;
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    int64_t room = getBufferBudget(kernel, **info);
    kernel.walk([&](AllocBufferOp op) {
      BufferType type = op.getResult().getType();
      room -= type.getSlotStride() * type.getNumSlots();
    });
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    // Inner loops come first.
    for (scf::ForOp loop : loops)
      hoist(loop);
    for (scf::ForOp loop : loops)
      stage(loop, kernel, room);
  }
}
