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

#include "SharedMemoryBudget.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Recognizes a staged loop that has not been pipelined.
static std::optional<StagedLoop> match(scf::ForOp loop) {
  StagedLoop result;
  result.loop = loop;
  for (Operation &op : *loop.getBody()) {
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      if (result.barrier)
        return std::nullopt;
      result.barrier = barrier;
    } else if (auto copy = dyn_cast<CopyAsyncOp>(op)) {
      result.copies.push_back(copy);
    } else if (auto commit = dyn_cast<CommitCopiesOp>(op)) {
      result.commit = commit;
    } else if (auto wait = dyn_cast<WaitCopiesOp>(op)) {
      result.wait = wait;
    } else if (auto read = dyn_cast<ReadBufferOp>(op)) {
      result.reads.push_back(read);
    } else if (!result.barrier) {
      result.slice.push_back(&op);
    }
  }
  if (!result.barrier || result.copies.empty() || !result.commit ||
      !result.wait || result.wait.getPending() != 0)
    return std::nullopt;
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
  /// Copies what the iteration at `position` needs, if there is one.
  auto copyAhead = [&](Value position, Value slot) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), position);
    Value exists =
        arith::CmpIOp::create(builder, loc,
                              loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                    : arith::CmpIPredicate::slt,
                              position, loop.getUpperBound());
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

  Type inductionType = loop.getInductionVar().getType();
  auto ahead = [&](Value from, unsigned iterations) -> Value {
    if (iterations == 0)
      return from;
    Value count = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(inductionType, iterations));
    Value distance = arith::MulIOp::create(builder, loc, loop.getStep(), count);
    return arith::AddIOp::create(builder, loc, from, distance);
  };
  for (unsigned s = 0; s + 1 < stages; ++s)
    copyAhead(ahead(loop.getLowerBound(), s), constant(s));

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
  copyAhead(ahead(piped.getInductionVar(), stages - 1), toFill);

  IRMapping mapping;
  mapping.map(loop.getInductionVar(), piped.getInductionVar());
  for (auto [from, to] :
       llvm::zip(loop.getRegionIterArgs(), piped.getRegionIterArgs()))
    mapping.map(from, to);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<BarrierOp, CopyAsyncOp, CommitCopiesOp, WaitCopiesOp>(op))
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
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    unsigned asked = numStages;
    if (auto attr = kernel->getAttrOfType<IntegerAttr>("tile.num_stages"))
      asked = attr.getInt();
    SmallVector<StagedLoop> loops;
    kernel.walk([&](scf::ForOp loop) {
      if (std::optional<StagedLoop> staged = match(loop))
        loops.push_back(std::move(*staged));
    });
    if (loops.empty() && asked > 1)
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
      budget -= op.getResult().getType().getSlotStride();
    });
    budget += all;
    for (StagedLoop &staged : loops) {
      unsigned most = static_cast<unsigned>(budget / all);
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
