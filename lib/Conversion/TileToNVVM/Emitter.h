//===- Emitter.h - Scalar code of one thread --------------------*- C++ -*-===//
//
// Short names for the scalar operations that distribution emits, with folding
// of constants on the way.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_CONVERSION_TILETONVVM_EMITTER_H
#define TILE_LIB_CONVERSION_TILETONVVM_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tile {

/// Emits at the insertion point of `builder`, with the location `loc`.
class Emitter {
public:
  explicit Emitter(mlir::OpBuilder builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::Type i1() { return builder.getI1Type(); }
  mlir::Type i32() { return builder.getI32Type(); }
  mlir::Type i64() { return builder.getI64Type(); }
  mlir::Type f32() { return builder.getF32Type(); }

  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value i32(uint32_t value) {
    return constant(i32(), static_cast<int32_t>(value));
  }
  mlir::Value i64(int64_t value) { return constant(i64(), value); }
  /// The f32 with these bits.
  mlir::Value f32Bits(uint32_t bits);

  // Integers of one type. An operand that is a plain number has the type of the
  // other.
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

  mlir::Value fmul(mlir::Value a, mlir::Value b);
  mlir::Value fadd(mlir::Value a, mlir::Value b);
  /// Reinterprets the bits of a scalar or vector.
  mlir::Value bitcast(mlir::Type type, mlir::Value a);
  /// `prmt.b32`: byte i of the result is the byte of {b, a} that nibble i of
  /// `selector` names.
  mlir::Value prmt(mlir::Value a, mlir::Value b, uint32_t selector);

  mlir::Value threadId();
  mlir::Value laneId() { return bitAnd(threadId(), 31); }
  mlir::Value warpId() { return lshr(threadId(), 5); }
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVVM_EMITTER_H
