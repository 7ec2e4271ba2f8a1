//===- Emitter.cpp - Scalar code of one thread ----------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace tile;

Value Emitter::constant(Type type, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

Value Emitter::f32Bits(uint32_t bits) {
  APFloat value(APFloat::IEEEsingle(), APInt(32, bits));
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(f32(), value));
}

Value Emitter::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}
Value Emitter::sub(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}
Value Emitter::mul(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}
Value Emitter::bitAnd(Value a, Value b) {
  return builder.createOrFold<arith::AndIOp>(loc, a, b);
}
Value Emitter::bitAnd(Value a, uint32_t b) {
  return bitAnd(a, constant(a.getType(), static_cast<int32_t>(b)));
}
Value Emitter::bitOr(Value a, Value b) {
  return builder.createOrFold<arith::OrIOp>(loc, a, b);
}
Value Emitter::bitOr(Value a, uint32_t b) {
  return bitOr(a, constant(a.getType(), static_cast<int32_t>(b)));
}
Value Emitter::bitXor(Value a, Value b) {
  return builder.createOrFold<arith::XOrIOp>(loc, a, b);
}
Value Emitter::shl(Value a, unsigned amount) {
  if (amount == 0)
    return a;
  return builder.createOrFold<arith::ShLIOp>(loc, a,
                                             constant(a.getType(), amount));
}
Value Emitter::lshr(Value a, unsigned amount) {
  if (amount == 0)
    return a;
  return builder.createOrFold<arith::ShRUIOp>(loc, a,
                                              constant(a.getType(), amount));
}
Value Emitter::zext(Type type, Value a) {
  if (a.getType() == type)
    return a;
  return builder.createOrFold<arith::ExtUIOp>(loc, type, a);
}
Value Emitter::trunc(Type type, Value a) {
  if (a.getType() == type)
    return a;
  return builder.createOrFold<arith::TruncIOp>(loc, type, a);
}
Value Emitter::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
}
Value Emitter::isZero(Value a) {
  return compare(arith::CmpIPredicate::eq, a, constant(a.getType(), 0));
}
Value Emitter::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}
Value Emitter::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return bitAnd(a, b);
}
Value Emitter::fmul(Value a, Value b) {
  return builder.createOrFold<arith::MulFOp>(loc, a, b);
}
Value Emitter::fadd(Value a, Value b) {
  return builder.createOrFold<arith::AddFOp>(loc, a, b);
}
Value Emitter::bitcast(Type type, Value a) {
  if (a.getType() == type)
    return a;
  if (isa<VectorType>(type) || isa<VectorType>(a.getType()))
    return LLVM::BitcastOp::create(builder, loc, type, a);
  return builder.createOrFold<arith::BitcastOp>(loc, type, a);
}
Value Emitter::prmt(Value a, Value b, uint32_t selector) {
  return NVVM::PermuteOp::create(builder, loc, i32(), a, b, i32(selector),
                                 NVVM::PermuteMode::DEFAULT);
}
Value Emitter::threadId() {
  return NVVM::ThreadIdXOp::create(builder, loc, i32());
}
