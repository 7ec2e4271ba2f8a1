//===- Emitter.h - Scalar code of one thread --------------------*- C++ -*-===//
//
// Short names for the scalar operations that conversions emit, with folding of
// constants on the way.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_CONVERSION_EMITTER_H
#define TILE_LIB_CONVERSION_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

/// Emits at the insertion point of `builder`, with the location `loc`.
class Emitter {
public:
  Emitter(mlir::OpBuilder builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  /// Emits in front of `op`.
  explicit Emitter(mlir::Operation *op) : builder(op), loc(op->getLoc()) {}

  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::Type i1() { return builder.getI1Type(); }
  mlir::Type i32() { return builder.getI32Type(); }
  mlir::Type i64() { return builder.getI64Type(); }
  mlir::Type f32() { return builder.getF32Type(); }

  mlir::Type integer(unsigned bits) { return builder.getIntegerType(bits); }

  /// Creates any operation and returns its only result.
  template <typename OpT, typename... Args>
  mlir::Value create(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...)->getResult(0);
  }
  /// An LLVM intrinsic by name.
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type type,
                        mlir::ValueRange operands);

  /// The low bits of `value` as an integer or index.
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value i32(int64_t value) { return constant(i32(), value); }
  mlir::Value i64(int64_t value) { return constant(i64(), value); }
  mlir::Value f32(double value);
  /// The f32 with these bits.
  mlir::Value f32Bits(uint32_t bits);

  // Integers of one type.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitAnd(mlir::Value a, uint32_t b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, uint32_t b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  mlir::Value shl(mlir::Value a, unsigned amount);
  mlir::Value lshr(mlir::Value a, unsigned amount);
  mlir::Value shl(mlir::Value a, mlir::Value amount);
  mlir::Value lshr(mlir::Value a, mlir::Value amount);
  mlir::Value ashr(mlir::Value a, mlir::Value amount);
  /// Left for a positive amount, logically right for a negative one.
  mlir::Value shift(mlir::Value a, int amount) {
    return amount >= 0 ? shl(a, amount) : lshr(a, -amount);
  }
  mlir::Value zext(mlir::Type type, mlir::Value a);
  mlir::Value trunc(mlir::Type type, mlir::Value a);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value isZero(mlir::Value a);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Conjunction of two predicates; null stands for true.
  mlir::Value both(mlir::Value a, mlir::Value b);

  // Floats of one type.
  mlir::Value fadd(mlir::Value a, mlir::Value b);
  mlir::Value fsub(mlir::Value a, mlir::Value b);
  mlir::Value fmul(mlir::Value a, mlir::Value b);
  /// a * b + c with one rounding.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value fabs(mlir::Value a);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  /// The polynomial of an f32 with these coefficients, constant term first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> coefficients);
  /// f32 from f16 or bf16; f32 stays.
  mlir::Value extendToF32(mlir::Value a);
  /// f16, bf16 or f32 from f32, with one rounding.
  mlir::Value truncateF32(mlir::Type type, mlir::Value a);

  /// Reinterprets the bits of a scalar or vector.
  mlir::Value bitcast(mlir::Type type, mlir::Value a);
  /// Any scalar as an integer of at least its width, upper bits zero.
  mlir::Value toInteger(mlir::Type integer, mlir::Value scalar);
  /// The inverse: a scalar of `type` from the low bits of an integer.
  mlir::Value fromInteger(mlir::Type type, mlir::Value integer);
  /// `prmt.b32`: byte i of the result is the byte of {b, a} that nibble i of
  /// `selector` names.
  mlir::Value prmt(mlir::Value a, mlir::Value b, uint32_t selector);

  /// Runs `body` in a branch that `condition` guards; null means always.
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);

  mlir::Value threadId();
  mlir::Value laneId() { return bitAnd(threadId(), 31); }
  mlir::Value warpId() { return lshr(threadId(), 5); }
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_EMITTER_H
