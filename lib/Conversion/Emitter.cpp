//===- Emitter.cpp - Scalar code of one thread ----------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

Value Emitter::intrinsic(StringRef name, Type type, ValueRange operands) {
  return create<LLVM::CallIntrinsicOp>(type, builder.getStringAttr(name),
                                       operands);
}

Value Emitter::constant(Type type, int64_t value) {
  if (type.isIndex())
    return create<arith::ConstantOp>(builder.getIndexAttr(value));
  // The low bits of the number: `1` is a legal i1.
  APInt bits = APInt(64, value).sextOrTrunc(type.getIntOrFloatBitWidth());
  return create<arith::ConstantOp>(builder.getIntegerAttr(type, bits));
}

Value Emitter::f32(double value) {
  return create<arith::ConstantOp>(builder.getF32FloatAttr(value));
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
Value Emitter::shl(Value a, Value amount) {
  return builder.createOrFold<arith::ShLIOp>(loc, a, amount);
}
Value Emitter::lshr(Value a, Value amount) {
  return builder.createOrFold<arith::ShRUIOp>(loc, a, amount);
}
Value Emitter::ashr(Value a, Value amount) {
  return builder.createOrFold<arith::ShRSIOp>(loc, a, amount);
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

Value Emitter::fadd(Value a, Value b) {
  return builder.createOrFold<arith::AddFOp>(loc, a, b);
}
Value Emitter::fsub(Value a, Value b) {
  return builder.createOrFold<arith::SubFOp>(loc, a, b);
}
Value Emitter::fmul(Value a, Value b) {
  return builder.createOrFold<arith::MulFOp>(loc, a, b);
}
Value Emitter::fma(Value a, Value b, Value c) {
  return create<LLVM::FMAOp>(a.getType(), a, b, c);
}
Value Emitter::fabs(Value a) { return create<LLVM::FAbsOp>(a.getType(), a); }
Value Emitter::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpFOp>(loc, predicate, a, b);
}
Value Emitter::polynomial(Value x, ArrayRef<float> coefficients) {
  Value sum = f32(coefficients.back());
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, f32(coefficient));
  return sum;
}
Value Emitter::extendToF32(Value a) {
  return a.getType().isF32() ? a : create<arith::ExtFOp>(f32(), a);
}
Value Emitter::truncateF32(Type type, Value a) {
  return type.isF32() ? a : create<arith::TruncFOp>(type, a);
}

Value Emitter::bitcast(Type type, Value a) {
  if (a.getType() == type)
    return a;
  if (isa<VectorType>(type) || isa<VectorType>(a.getType()))
    return LLVM::BitcastOp::create(builder, loc, type, a);
  return builder.createOrFold<arith::BitcastOp>(loc, type, a);
}
Value Emitter::toInteger(Type integer, Value scalar) {
  Type type = scalar.getType();
  if (type.isIndex())
    return builder.createOrFold<arith::IndexCastOp>(loc, integer, scalar);
  Type ownWidth = builder.getIntegerType(type.getIntOrFloatBitWidth());
  return zext(integer, bitcast(ownWidth, scalar));
}
Value Emitter::fromInteger(Type type, Value integer) {
  if (type.isIndex())
    return builder.createOrFold<arith::IndexCastOp>(loc, type, integer);
  Type ownWidth = builder.getIntegerType(type.getIntOrFloatBitWidth());
  return bitcast(type, trunc(ownWidth, integer));
}
void Emitter::guarded(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(builder, loc, TypeRange(), condition,
                                  /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}
Value Emitter::prmt(Value a, Value b, uint32_t selector) {
  return NVVM::PermuteOp::create(builder, loc, i32(), a, b, i32(selector),
                                 NVVM::PermuteMode::DEFAULT);
}
Value Emitter::threadId() {
  return NVVM::ThreadIdXOp::create(builder, loc, i32());
}
