//===- ControlOps.cpp - Loops, branches, calls ----------------------------===//
//
// The operations of `scf` and `func`. A region runs block by block: the
// terminator is read by the operation that holds the region.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::reference;

/// `scf.for`. The compiled loop adds the step and then compares, in the type of
/// the induction variable: one that wraps is below the upper bound again, and
/// the loop goes on.
static LogicalResult computeFor(Program &program, scf::ForOp op) {
  Element element = getElementOf(op.getInductionVar());
  auto read = [&](Value value) -> __int128 {
    uint64_t code = program.getTensor(value).getCode(0);
    if (op.getUnsignedCmp())
      return code;
    return element.decodeSigned(code);
  };
  __int128 lower = read(op.getLowerBound()), upper = read(op.getUpperBound());
  __int128 step = read(op.getStep());
  if (step <= 0)
    return program.fail(op, "expects a positive step, but got " +
                                Twine(static_cast<int64_t>(step)));

  const bool isUnsigned = op.getUnsignedCmp();
  const __int128 limit = (static_cast<__int128>(1)
                          << (isUnsigned ? element.bits : element.bits - 1)) -
                         1;
  auto print = [&](__int128 value) {
    return isUnsigned ? std::to_string(static_cast<uint64_t>(value))
                      : std::to_string(static_cast<int64_t>(value));
  };

  Block &body = *op.getBody();
  program.assign(op.getRegionIterArgs(), op.getInitArgs());
  for (__int128 i = lower; i < upper; i += step) {
    uint64_t code = static_cast<uint64_t>(i) & element.getMask();
    program.set(op.getInductionVar(), Tensor::getScalar(element, code));
    if (failed(program.run(body)))
      return failure();
    program.assign(op.getRegionIterArgs(), body.getTerminator()->getOperands());
    if (i + step > limit)
      return program.fail(op, "expects an induction variable of at most " +
                                  print(limit) + ", but got " + print(i) +
                                  " + " + print(step) +
                                  "; the compiled loop would wrap and go on");
  }
  program.assign(op.getResults(), op.getRegionIterArgs());
  return success();
}

static LogicalResult computeIf(Program &program, scf::IfOp op) {
  Region &region = program.getTensor(op.getCondition()).getCode(0)
                       ? op.getThenRegion()
                       : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(program.run(region.front())))
    return failure();
  program.assign(op.getResults(),
                 region.front().getTerminator()->getOperands());
  return success();
}

static LogicalResult computeWhile(Program &program, scf::WhileOp op) {
  Block &before = *op.getBeforeBody(), &after = *op.getAfterBody();
  program.assign(before.getArguments(), op.getInits());
  while (true) {
    if (failed(program.run(before)))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    if (!program.getTensor(condition.getCondition()).getCode(0)) {
      program.assign(op.getResults(), condition.getArgs());
      return success();
    }
    program.assign(after.getArguments(), condition.getArgs());
    if (failed(program.run(after)))
      return failure();
    program.assign(before.getArguments(), after.getTerminator()->getOperands());
  }
}

/// A call graph has no cycles, so a function is never entered twice at a time
/// and its values need no frame of their own.
static LogicalResult computeCall(Program &program, func::CallOp op) {
  func::FuncOp callee = program.getLaunch().kernel.callees.lookup(op);
  Block &body = callee.getBody().front();
  program.assign(body.getArguments(), op.getOperands());
  if (failed(program.run(body)))
    return failure();
  program.assign(op.getResults(), body.getTerminator()->getOperands());
  return success();
}

/// Terminators are read by their parents.
template <typename OpT>
static LogicalResult computeTerminator(Program &, OpT) {
  return success();
}

void tile::reference::addControlHandlers(HandlerTable &table) {
  addHandler<func::CallOp, computeCall>(table);
  addHandler<func::ReturnOp, computeTerminator>(table);
  addHandler<scf::ConditionOp, computeTerminator>(table);
  addHandler<scf::ForOp, computeFor>(table);
  addHandler<scf::IfOp, computeIf>(table);
  addHandler<scf::WhileOp, computeWhile>(table);
  addHandler<scf::YieldOp, computeTerminator>(table);
}
