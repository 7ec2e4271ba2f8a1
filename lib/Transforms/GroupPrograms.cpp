//===- GroupPrograms.cpp - An order of tile programs for the cache --------===//
//
// This file implements the pass that lets blocks which run at the same time
// share operands. A GPU starts blocks in the order of their number, x first;
// with one operand chosen by x and the other by y, the blocks under way at a
// time are columns of the result that read all of the one operand and a sliver
// of the other. Here they become groups of G in x and all of y, walked x first:
//
//     grid of 5 x 3, G = 2: the number of the block that has (x, y)
//
//       y \ x   0   1 |  2   3 |  4
//         0     0   1 |  6   7 | 12
//         1     2   3 |  8   9 | 13
//         2     4   5 | 10  11 | 14
//
// That is a permutation of the grid, whatever its extents, and a kernel may not
// depend on the order of its programs.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/IR/Tile.h"

#include <array>

namespace tile {
#define GEN_PASS_DEF_TILEGROUPPROGRAMS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Where grouping pays
//===----------------------------------------------------------------------===//

/// The grid dimensions that the operands of `load` are computed from, a bit for
/// each.
static unsigned getGridDims(Operation *load) {
  unsigned dims = 0;
  SmallPtrSet<void *, 16> visited;
  SmallVector<Value> open(load->getOperands());
  auto followAll = [&](Operation *op) {
    llvm::append_range(open, op->getOperands());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(open, block.getTerminator()->getOperands());
  };
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!visited.insert(value.getAsOpaquePointer()).second)
      continue;
    if (auto id = value.getDefiningOp<ProgramIdOp>()) {
      dims |= 1u << id.getDim();
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      op = argument.getOwner()->getParentOp();
      if (isa<func::FuncOp>(op))
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        llvm::append_range(open,
                           ValueRange{loop.getLowerBound(),
                                      loop.getUpperBound(), loop.getStep()});
        if (OpOperand *init = loop.getTiedLoopInit(argument)) {
          open.push_back(init->get());
          open.push_back(loop.getTiedLoopYieldedValue(argument)->get());
        }
        continue;
      }
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // Not what the other results are made of.
      open.push_back(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)));
      continue;
    }
    followAll(op);
  }
  return dims;
}

namespace {
/// What the loops of a kernel that multiply say about the grid.
struct Sharing {
  bool multiplies = false; ///< There is such a loop.
  bool alongX = false;     ///< It loads what programs of one y share.
  bool alongY = false;     ///< It loads what programs of one x share.
};
} // namespace

static Sharing getSharing(func::FuncOp kernel) {
  Sharing sharing;
  kernel.walk([&](LoopLikeOpInterface loop) {
    bool multiplies = loop->walk([](Operation *op) {
                            return isa<MmaFOp, MmaFScaledOp>(op)
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
    if (!multiplies)
      return;
    sharing.multiplies = true;
    loop->walk([&](Operation *op) {
      if (!isa<LoadOp, GatherOp>(op))
        return;
      unsigned dims = getGridDims(op) & 3;
      sharing.alongX |= dims == 2;
      sharing.alongY |= dims == 1;
    });
  });
  return sharing;
}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

/// Emits the coordinates (x, y) that the block with coordinates `ids` of a grid
/// of `counts` takes over.
static std::array<Value, 2> emitGrouped(ImplicitLocOpBuilder &builder,
                                        ArrayRef<Value> ids,
                                        ArrayRef<Value> counts,
                                        unsigned group) {
  Type index = builder.getIndexType(), i32 = builder.getI32Type();
  // With one group the order is that of the hardware. The division is one of 32
  // bits; a grid with more blocks than these count keeps its order too.
  Value several =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ugt, counts[0],
                            arith::ConstantIndexOp::create(builder, group));
  Value blocks = arith::MulIOp::create(builder, counts[0], counts[1]);
  Value fits = arith::CmpIOp::create(
      builder, arith::CmpIPredicate::ult, blocks,
      arith::ConstantIndexOp::create(builder, int64_t(1) << 32));
  auto branch = scf::IfOp::create(builder, TypeRange{index, index},
                                  arith::AndIOp::create(builder, several, fits),
                                  /*withElseRegion=*/true);

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, ids);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto narrow = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, i32, value);
  };
  auto multiply = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(builder, a, b);
  };
  Value extent = arith::ConstantIntOp::create(builder, i32, group);
  Value x = narrow(ids[0]), y = narrow(ids[1]);
  Value countX = narrow(counts[0]), countY = narrow(counts[1]);
  Value block = arith::AddIOp::create(builder, multiply(y, countX), x);
  Value perGroup = multiply(countY, extent);
  Value ofGroup = arith::DivUIOp::create(builder, block, perGroup);
  Value inGroup =
      arith::SubIOp::create(builder, block, multiply(ofGroup, perGroup));
  // The last group may be narrower.
  Value first = multiply(ofGroup, extent);
  Value width = arith::MinUIOp::create(
      builder, arith::SubIOp::create(builder, countX, first), extent);
  Value newY = arith::DivUIOp::create(builder, inGroup, width);
  Value inRow = arith::SubIOp::create(builder, inGroup, multiply(newY, width));
  Value newX = arith::AddIOp::create(builder, first, inRow);
  auto widen = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, index, value);
  };
  scf::YieldOp::create(builder, ValueRange{widen(newX), widen(newY)});
  return {branch.getResult(0), branch.getResult(1)};
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct GroupPrograms : public tile::impl::TileGroupProgramsBase<GroupPrograms> {
  using Base::Base;

  void runOnOperation() override {
    if (group > kMaxProgramGroup) {
      getOperation().emitError()
          << "expects group to be at most " << kMaxProgramGroup << ", but got "
          << group.getValue();
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr("tile.kernel") && !kernel.isExternal())
        visit(kernel);
  }

  void visit(func::FuncOp kernel) {
    SmallVector<ProgramIdOp> uses[2];
    kernel.walk([&](ProgramIdOp id) {
      if (id.getDim() < 2)
        uses[id.getDim()].push_back(id);
    });
    if (uses[0].empty() || uses[1].empty())
      return;
    unsigned wanted = group;
    auto attr = kernel->getAttrOfType<IntegerAttr>("tile.group_programs");
    if (attr)
      wanted = attr.getInt();
    if (wanted < 2)
      return;
    remark::RemarkOpts options = remark::RemarkOpts::name("group-programs")
                                     .category("tile-group-programs")
                                     .function(kernel.getName());
    Sharing sharing = getSharing(kernel);
    // Who writes the attribute knows better.
    if (!attr && !(sharing.alongX && sharing.alongY)) {
      if (sharing.multiplies)
        remark::missed(kernel.getLoc(), options)
            << remark::reason("no loop loads one operand by program_id 0 alone "
                              "and another by program_id 1 alone");
      return;
    }

    ImplicitLocOpBuilder builder(
        uses[0].front().getLoc(),
        OpBuilder::atBlockBegin(&kernel.getBody().front()));
    SmallVector<Value> ids, counts;
    for (unsigned dim : {0, 1})
      ids.push_back(ProgramIdOp::create(builder, dim));
    for (unsigned dim : {0, 1})
      counts.push_back(NumProgramsOp::create(builder, dim));
    std::array<Value, 2> grouped = emitGrouped(builder, ids, counts, wanted);
    for (unsigned dim : {0, 1})
      for (ProgramIdOp id : uses[dim]) {
        id.getResult().replaceAllUsesWith(grouped[dim]);
        id.erase();
      }
    remark::passed(kernel.getLoc(), options) << remark::metric("group", wanted);
    ++numGrouped;
  }
};
} // namespace
