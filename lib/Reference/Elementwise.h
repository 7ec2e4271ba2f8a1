//===- Elementwise.h - Operations on corresponding elements -----*- C++ -*-===//
//
// result[c] = f(x[c], y[c], …), for scalars and tiles alike. Float functions
// take and return f64; the result is rounded once, to the format of the result.
// That is the correctly rounded result of the format where f is exact, and for
// +, -, *, / and the square root of formats up to f32, because f64 has more
// than twice their precision.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_REFERENCE_ELEMENTWISE_H
#define TILE_LIB_REFERENCE_ELEMENTWISE_H

#include "Program.h"

namespace tile::reference {

/// Sets the only result of `op` to the codes that `compute(i)` returns.
template <typename Compute>
llvm::LogicalResult setElements(Program &program, mlir::Operation *op,
                                Compute compute) {
  Tensor result = makeTensor(op->getResult(0));
  for (int64_t i = 0; i < result.size(); ++i)
    result.setCode(i, compute(i));
  program.set(op->getResult(0), std::move(result));
  return llvm::success();
}

template <typename OpT, double (*f)(double)>
llvm::LogicalResult computeFloatUnary(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op->getOperand(0));
  const Element element = getElementOf(op->getResult(0));
  return setElements(
      program, op, [&](int64_t i) { return element.encode(f(x.getFloat(i))); });
}

template <typename OpT, double (*f)(double, double)>
llvm::LogicalResult computeFloatBinary(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op->getOperand(0));
  const Tensor &y = program.getTensor(op->getOperand(1));
  const Element element = getElementOf(op->getResult(0));
  return setElements(program, op, [&](int64_t i) {
    return element.encode(f(x.getFloat(i), y.getFloat(i)));
  });
}

/// `f` takes and returns codes; the result is cut to the type's width.
template <typename OpT, uint64_t (*f)(const Element &, uint64_t, uint64_t)>
llvm::LogicalResult computeIntegerBinary(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op->getOperand(0));
  const Tensor &y = program.getTensor(op->getOperand(1));
  const Element element = x.getElement();
  return setElements(program, op, [&](int64_t i) {
    return f(element, x.getCode(i), y.getCode(i)) & element.getMask();
  });
}

} // namespace tile::reference

#endif // TILE_LIB_REFERENCE_ELEMENTWISE_H
