//===- ScalarBuilder.cpp - Straight-line code on scalars ------------------===//

#include "ExpandMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tile;

Value ScalarBuilder::constant(Type type, double value) {
  return create<arith::ConstantOp>(builder.getFloatAttr(type, value));
}
Value ScalarBuilder::constant(Type type, int64_t value) {
  if (type.isIndex())
    return create<arith::ConstantOp>(builder.getIndexAttr(value));
  // The low bits of the number: `1` is a legal i1.
  APInt bits = APInt(64, value).sextOrTrunc(type.getIntOrFloatBitWidth());
  return create<arith::ConstantOp>(builder.getIntegerAttr(type, bits));
}

Value ScalarBuilder::addF(Value a, Value b) {
  return create<arith::AddFOp>(a, b);
}
Value ScalarBuilder::subF(Value a, Value b) {
  return create<arith::SubFOp>(a, b);
}
Value ScalarBuilder::mulF(Value a, Value b) {
  return create<arith::MulFOp>(a, b);
}
Value ScalarBuilder::fma(Value a, Value b, Value c) {
  return create<LLVM::FMAOp>(a.getType(), a, b, c);
}
Value ScalarBuilder::polynomial(Value x, ArrayRef<float> coefficients) {
  Value sum = constant(x.getType(), double(coefficients.back()));
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, constant(x.getType(), double(coefficient)));
  return sum;
}
Value ScalarBuilder::absF(Value a) {
  return create<LLVM::FAbsOp>(a.getType(), a);
}
Value ScalarBuilder::cmpF(arith::CmpFPredicate predicate, Value a, Value b) {
  return create<arith::CmpFOp>(predicate, a, b);
}

Value ScalarBuilder::addI(Value a, Value b) {
  return create<arith::AddIOp>(a, b);
}
Value ScalarBuilder::subI(Value a, Value b) {
  return create<arith::SubIOp>(a, b);
}
Value ScalarBuilder::andI(Value a, Value b) {
  return create<arith::AndIOp>(a, b);
}
Value ScalarBuilder::orI(Value a, Value b) {
  return create<arith::OrIOp>(a, b);
}
Value ScalarBuilder::xorI(Value a, Value b) {
  return create<arith::XOrIOp>(a, b);
}
Value ScalarBuilder::shiftLeft(Value a, Value b) {
  return create<arith::ShLIOp>(a, b);
}
Value ScalarBuilder::shiftRight(Value a, Value b) {
  return create<arith::ShRUIOp>(a, b);
}
Value ScalarBuilder::shiftRightSigned(Value a, Value b) {
  return create<arith::ShRSIOp>(a, b);
}
Value ScalarBuilder::cmpI(arith::CmpIPredicate predicate, Value a, Value b) {
  return create<arith::CmpIOp>(predicate, a, b);
}

Value ScalarBuilder::select(Value condition, Value yes, Value no) {
  return create<arith::SelectOp>(condition, yes, no);
}
Value ScalarBuilder::bitcast(Type type, Value a) {
  return create<arith::BitcastOp>(type, a);
}
Value ScalarBuilder::extendToF32(Value a) {
  if (a.getType().isF32())
    return a;
  return create<arith::ExtFOp>(getF32(), a);
}
Value ScalarBuilder::truncateF32(Type type, Value a) {
  if (type.isF32())
    return a;
  return create<arith::TruncFOp>(type, a);
}
Value ScalarBuilder::intrinsic(StringRef name, Type type, ValueRange operands) {
  return create<LLVM::CallIntrinsicOp>(type, builder.getStringAttr(name),
                                       operands);
}
