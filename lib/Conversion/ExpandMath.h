//===- ExpandMath.h - What ExpandMath.cpp and ExpandArith.cpp share -------===//

#ifndef TILE_LIB_CONVERSION_EXPANDMATH_H
#define TILE_LIB_CONVERSION_EXPANDMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// Writes straight-line code on scalars in front of one operation. Operands of
/// a binary operation have the same type, and so has the result; a C++ number
/// becomes a constant of that type.
class ScalarBuilder {
public:
  explicit ScalarBuilder(mlir::Operation *op)
      : builder(op), loc(op->getLoc()) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  mlir::Type getF32() { return builder.getF32Type(); }
  mlir::Type getInteger(unsigned bits) { return builder.getIntegerType(bits); }

  /// Creates any operation and returns its only result.
  template <typename OpT, typename... Args>
  mlir::Value create(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...)->getResult(0);
  }

  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value f32(double value) { return constant(getF32(), value); }
  mlir::Value i32(int64_t value) { return constant(getInteger(32), value); }

  mlir::Value addF(mlir::Value a, mlir::Value b);
  mlir::Value subF(mlir::Value a, mlir::Value b);
  mlir::Value mulF(mlir::Value a, mlir::Value b);
  /// a * b + c with one rounding.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// The polynomial with these coefficients, constant term first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> coefficients);
  mlir::Value absF(mlir::Value a);
  mlir::Value cmpF(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                   mlir::Value b);

  mlir::Value addI(mlir::Value a, mlir::Value b);
  mlir::Value subI(mlir::Value a, mlir::Value b);
  mlir::Value andI(mlir::Value a, mlir::Value b);
  mlir::Value orI(mlir::Value a, mlir::Value b);
  mlir::Value xorI(mlir::Value a, mlir::Value b);
  mlir::Value shiftLeft(mlir::Value a, mlir::Value b);
  mlir::Value shiftRight(mlir::Value a, mlir::Value b);
  mlir::Value shiftRightSigned(mlir::Value a, mlir::Value b);
  mlir::Value cmpI(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                   mlir::Value b);

  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  mlir::Value bitcast(mlir::Type type, mlir::Value a);
  /// f32 from f16 or bf16; f32 stays.
  mlir::Value extendToF32(mlir::Value a);
  /// f16, bf16 or f32 from f32, with one rounding.
  mlir::Value truncateF32(mlir::Type type, mlir::Value a);
  /// An LLVM intrinsic by name.
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type type,
                        mlir::ValueRange operands);

private:
  mlir::OpBuilder builder;
  mlir::Location loc;
};

/// Rewrites an operation of `arith` on scalars that the NVPTX back end gets
/// wrong or leaves undefined, and erases it; others stay. Fails, after an
/// error, where there is no lowering.
mlir::LogicalResult expandArith(mlir::Operation *op);

} // namespace tile

#endif // TILE_LIB_CONVERSION_EXPANDMATH_H
