//===- PipelineLoops.cpp - Copies of later iterations ahead ---------------===//
//
// This file implements the pass that turns a loop with staged operands into a
// software pipeline of N stages: while iteration i is computed, the copies of
// iterations i + 1 … i + N - 1 are under way, each in a slot of its own.
//
//     for s in 0 … N - 2:  copy(s) to slot s if there is such an iteration
//     for i:
//       wait until the copies of i have arrived; everybody is past i - 1
//       copy(i + N - 1) to the slot of i - 1
//       compute i from its slot
//
// A group is committed also where nothing was copied, so that the number of
// groups behind the one that is waited for is always the same.
//
//===----------------------------------------------------------------------===//

#include "NumWarps.h"
#include "SharedMemoryBudget.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TargetInfo.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEPIPELINELOOPS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// More stages than this hide no more latency.
static constexpr unsigned kDefaultStages = 4;

namespace {

/// A loop as `tile-stage-loads` leaves it.
struct StagedLoop {
  scf::ForOp loop;
  SmallVector<Operation *> slice; ///< What the copies' indices are made of.
  BarrierOp barrier;
  SmallVector<CopyAsyncOp> copies;
  CommitCopiesOp commit;
  WaitCopiesOp wait;
  SmallVector<ReadBufferOp> reads;
};

struct PipelineLoops : public tile::impl::TilePipelineLoopsBase<PipelineLoops> {
  using Base::Base;

  void runOnOperation() override;
  void pipeline(const StagedLoop &staged, unsigned stages);
};

} // namespace

/// Whether `value` is known for any iteration of a staged loop: from outside,
/// or computed in front of the barrier.
static bool isPosition(Value value, const StagedLoop &staged) {
  scf::ForOp loop = staged.loop;
  return loop.isDefinedOutsideOfLoop(value) ||
         value == loop.getInductionVar() ||
         llvm::is_contained(staged.slice, value.getDefiningOp());
}

/// Recognizes a staged loop that has not been pipelined: what stands in front
/// of its one barrier, the copies to slots 0, one commit and one wait, and
/// reads of all that was copied.
static std::optional<StagedLoop> match(scf::ForOp loop) {
  StagedLoop result;
  result.loop = loop;
  for (Operation &op : *loop.getBody()) {
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      if (result.barrier)
        return std::nullopt;
      result.barrier = barrier;
    } else if (auto copy = dyn_cast<CopyAsyncOp>(op)) {
      if (!result.barrier || result.commit || copy.getPredicate())
        return std::nullopt;
      result.copies.push_back(copy);
    } else if (auto commit = dyn_cast<CommitCopiesOp>(op)) {
      if (result.commit)
        return std::nullopt;
      result.commit = commit;
    } else if (auto wait = dyn_cast<WaitCopiesOp>(op)) {
      if (result.wait || !result.commit || wait.getPending() != 0)
        return std::nullopt;
      result.wait = wait;
    } else if (auto read = dyn_cast<ReadBufferOp>(op)) {
      if (!result.wait)
        return std::nullopt;
      result.reads.push_back(read);
    } else if (!result.barrier) {
      if (op.getNumRegions() || !(isPure(&op) || isa<memref::LoadOp>(op)))
        return std::nullopt;
      result.slice.push_back(&op);
    }
  }
  if (result.copies.empty() || !result.wait)
    return std::nullopt;
  for (CopyAsyncOp copy : result.copies) {
    auto reads = llvm::make_filter_range(result.reads, [&](ReadBufferOp read) {
      return read.getBuffer() == copy.getBuffer();
    });
    if (reads.empty() || getConstantIntValue(copy.getSlot()) != 0 ||
        copy.getBuffer().getType().getNumSlots() != 1 ||
        !loop.isDefinedOutsideOfLoop(copy.getBuffer()) ||
        !isPosition(copy.getSource(), result) ||
        !llvm::all_of(copy.getIndices(),
                      [&](Value index) { return isPosition(index, result); }))
      return std::nullopt;
  }
  return result;
}

/// Bytes that one stage of the loop's buffers takes.
static int64_t getStageBytes(const StagedLoop &staged) {
  int64_t bytes = 0;
  for (CopyAsyncOp copy : staged.copies)
    bytes += copy.getBuffer().getType().getSlotStride();
  return bytes;
}

void PipelineLoops::pipeline(const StagedLoop &staged, unsigned stages) {
  scf::ForOp loop = staged.loop;
  Location loc = loop.getLoc();
  OpBuilder builder(loop);

  // A slot for each stage.
  for (CopyAsyncOp copy : staged.copies) {
    auto buffer = copy.getBuffer();
    buffer.setType(buffer.getType().withNumSlots(stages));
  }

  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Type inductionType = loop.getInductionVar().getType();
  auto widen = [&](Value value) -> Value {
    Type wide = builder.getI64Type();
    if (loop.getUnsignedCmp())
      return arith::ExtUIOp::create(builder, loc, wide, value);
    return arith::ExtSIOp::create(builder, loc, wide, value);
  };
  /// The position `iterations` further than `from`, in the type of `from`.
  auto ahead = [&](Value from, unsigned iterations) -> Value {
    if (iterations == 0)
      return from;
    Value step = loop.getStep();
    if (step.getType() != from.getType())
      step = widen(step);
    Value count = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(from.getType(), iterations));
    Value distance = arith::MulIOp::create(builder, loc, step, count);
    return arith::AddIOp::create(builder, loc, from, distance);
  };
  /// Copies what the iteration needs that is `iterations` further than `from`,
  /// if there is one.
  auto copyAhead = [&](Value from, unsigned iterations, Value slot) {
    Value position = ahead(from, iterations);
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), position);
    // A narrow position that no iteration has may wrap round to one below the
    // bound.
    Value reached = position, bound = loop.getUpperBound();
    if (inductionType.isInteger() &&
        inductionType.getIntOrFloatBitWidth() < 64) {
      reached = ahead(widen(from), iterations);
      bound = widen(bound);
    }
    Value exists =
        arith::CmpIOp::create(builder, loc,
                              loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                    : arith::CmpIPredicate::slt,
                              reached, bound);
    for (Operation *op : staged.slice) {
      if (!isa<memref::LoadOp>(op)) {
        builder.clone(*op, mapping);
        continue;
      }
      // Its memory has no element for an iteration that there is none of.
      Type type = op->getResult(0).getType();
      auto branch = scf::IfOp::create(builder, loc, type, exists,
                                      /*withElseRegion=*/true);
      OpBuilder inside = branch.getThenBodyBuilder();
      Operation *load = inside.clone(*op, mapping);
      scf::YieldOp::create(inside, loc, load->getResults());
      OpBuilder outside = branch.getElseBodyBuilder();
      Value none =
          arith::ConstantOp::create(outside, loc, outside.getZeroAttr(type));
      scf::YieldOp::create(outside, loc, none);
      mapping.map(op->getResult(0), branch.getResult(0));
    }
    for (CopyAsyncOp copy : staged.copies) {
      SmallVector<Value> indices;
      for (Value index : copy.getIndices())
        indices.push_back(mapping.lookupOrDefault(index));
      CopyAsyncOp::create(builder, copy.getLoc(),
                          mapping.lookupOrDefault(copy.getSource()), indices,
                          copy.getBuffer(), slot, exists, copy.getMovingAttr());
    }
    CommitCopiesOp::create(builder, loc);
  };

  for (unsigned s = 0; s + 1 < stages; ++s)
    copyAhead(loop.getLowerBound(), s, constant(s));

  // The slots to read and to fill go round: what one iteration has read, the
  // next one fills. 32 bits are one register.
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  SmallVector<Value> inits(loop.getInitArgs());
  Value one = number(1), count = number(stages);
  inits.push_back(number(0));
  inits.push_back(number(stages - 1));
  auto piped = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  piped.setUnsignedCmp(loop.getUnsignedCmp());
  Block *body = piped.getBody();
  builder.setInsertionPointToStart(body);
  auto getSlot = [&](Value slot) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        slot);
  };
  Value numberToRead = body->getArgument(body->getNumArguments() - 2);
  Value toRead = getSlot(numberToRead);
  Value toFill = getSlot(body->getArgument(body->getNumArguments() - 1));
  WaitCopiesOp::create(builder, loc, stages - 2);
  copyAhead(piped.getInductionVar(), stages - 1, toFill);

  IRMapping mapping;
  mapping.map(loop.getInductionVar(), piped.getInductionVar());
  for (auto [from, to] :
       llvm::zip(loop.getRegionIterArgs(), piped.getRegionIterArgs()))
    mapping.map(from, to);
  for (Operation &op : loop.getBody()->without_terminator()) {
    // What belongs to loops inside stays.
    if (&op == staged.barrier || &op == staged.commit || &op == staged.wait ||
        llvm::is_contained(staged.copies, &op))
      continue;
    Operation *clone = builder.clone(op, mapping);
    // Buffers that are filled once keep their slot.
    if (auto read = dyn_cast<ReadBufferOp>(clone))
      if (llvm::any_of(staged.copies, [&](CopyAsyncOp copy) {
            return copy.getBuffer() == read.getBuffer();
          }))
        read.getSlotMutable().assign(toRead);
  }
  Value next = arith::AddIOp::create(builder, loc, numberToRead, one);
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      next, count);
  next = arith::SelectOp::create(builder, loc, wraps, number(0), next);
  SmallVector<Value> yielded;
  for (Value value : loop.getYieldedValues())
    yielded.push_back(mapping.lookupOrDefault(value));
  yielded.push_back(next);
  yielded.push_back(numberToRead);
  if (!body->empty() && isa<scf::YieldOp>(body->back()))
    body->back().erase();
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc, yielded);
  // Copies of iterations that there are none of may still write zeros, and
  // somebody may still read the last slots.
  builder.setInsertionPointAfter(piped);
  WaitCopiesOp::create(builder, loc, 0);
  for (auto [from, to] : llvm::zip(loop.getResults(), piped.getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
  ++numPipelined;
}

void PipelineLoops::runOnOperation() {
  llvm::Expected<const TargetInfo *> info = findTarget(target);
  if (!info) {
    getOperation().emitError() << llvm::toString(info.takeError());
    return signalPassFailure();
  }
  if (failed(checkNumStages(getOperation(), numStages)))
    return signalPassFailure();
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    const unsigned asked = getNumStages(kernel, numStages);
    SmallVector<StagedLoop> loops;
    kernel.walk([&](scf::ForOp loop) {
      if (std::optional<StagedLoop> staged = match(loop))
        loops.push_back(std::move(*staged));
    });
    // Those of warps in roles have their stages already.
    const bool hasRoles =
        kernel.walk([](WarpRolesOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (loops.empty() && asked > 1 && !hasRoles)
      remark::missed(kernel.getLoc(),
                     remark::RemarkOpts::name("software-pipeline")
                         .category("tile-pipeline-loops")
                         .function(kernel.getName()))
          << remark::reason("no loop has staged operands; num-stages has no "
                            "effect")
          << remark::metric("num-stages", asked);
    // Buffers live for the whole kernel, so loops share what there is.
    int64_t budget = getBufferBudget(kernel, **info), all = 0;
    for (const StagedLoop &staged : loops)
      all += getStageBytes(staged);
    // What is there besides has been filled before the loops.
    kernel.walk([&](AllocBufferOp op) {
      BufferType type = op.getResult().getType();
      budget -= type.getSlotStride() * type.getNumSlots();
    });
    budget += all;
    for (StagedLoop &staged : loops) {
      unsigned most = static_cast<unsigned>(std::max<int64_t>(0, budget) / all);
      unsigned stages = asked ? asked : kDefaultStages;
      bool fits = stages <= most;
      if (!fits)
        stages = std::max(1u, most);
      remark::RemarkOpts options = remark::RemarkOpts::name("software-pipeline")
                                       .category("tile-pipeline-loops")
                                       .function(kernel.getName());
      Location loc = staged.loop.getLoc();
      // One stage is no pipeline.
      auto remark = stages > 1 || asked == 1 ? remark::passed(loc, options)
                                             : remark::missed(loc, options);
      remark << remark::metric("num-stages", stages)
             << remark::metric("shared-bytes", stages * getStageBytes(staged));
      if (!fits)
        remark << remark::metric("wanted-stages",
                                 asked ? asked : kDefaultStages)
               << remark::reason("{0} bytes of shared memory hold no more",
                                 budget);
      if (stages > 1)
        pipeline(staged, stages);
    }
  }
}
