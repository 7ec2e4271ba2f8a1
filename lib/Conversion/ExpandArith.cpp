//===- ExpandArith.cpp - Scalar arithmetic as the contract defines it -----===//
//
// The part of the pass tile-expand-math for `arith`. Most operations are one
// PTX instruction and stay. Rewritten are those that LLVM's NVPTX back end gets
// wrong, and those that `arith` leaves undefined for some operands, where the
// optimizer could use that against code which never looks at the result: a tile
// computes the elements outside a mask too.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace tile;

using IPredicate = arith::CmpIPredicate;

static void replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

/// Bits of an integer or of an index.
static unsigned getWidth(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

static std::optional<APInt> getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Division of integers
//===----------------------------------------------------------------------===//

/// A divisor for which the division is defined: `divisor`, or 1 where that is
/// zero or the quotient does not fit. LLVM takes an undefined division as a
/// proof that it is never reached.
static Value getSafeDivisor(ScalarBuilder &b, Value dividend, Value divisor,
                            bool isSigned) {
  Type type = divisor.getType();
  if (std::optional<APInt> constant = getConstant(divisor))
    if (!constant->isZero() && !(isSigned && constant->isAllOnes()))
      return divisor;
  Value isUnsafe =
      b.cmpI(IPredicate::eq, divisor, b.constant(type, int64_t(0)));
  if (isSigned) {
    int64_t least = APInt::getSignedMinValue(getWidth(type)).getSExtValue();
    Value isMinusOne =
        b.cmpI(IPredicate::eq, divisor, b.constant(type, int64_t(-1)));
    Value isLeast = b.cmpI(IPredicate::eq, dividend, b.constant(type, least));
    isUnsafe = b.orI(isUnsafe, b.andI(isMinusOne, isLeast));
  }
  return b.select(isUnsafe, b.constant(type, int64_t(1)), divisor);
}

/// divsi, divui, remsi, remui.
template <typename OpT>
static LogicalResult expandDivision(OpT op, bool isSigned) {
  ScalarBuilder b(op);
  op.getRhsMutable().assign(
      getSafeDivisor(b, op.getLhs(), op.getRhs(), isSigned));
  return success();
}

/// The quotient toward zero, corrected by `step` where the remainder is not
/// zero and, for signed numbers, the exact quotient is on that side of it.
template <typename DivOp, typename RemOp>
static LogicalResult expandRoundedDivision(Operation *op, bool isSigned,
                                           int64_t step) {
  ScalarBuilder b(op);
  Value dividend = op->getOperand(0);
  Value divisor = getSafeDivisor(b, dividend, op->getOperand(1), isSigned);
  Type type = divisor.getType();
  Value zero = b.constant(type, int64_t(0));
  Value quotient = b.create<DivOp>(dividend, divisor);
  Value remainder = b.create<RemOp>(dividend, divisor);
  Value isCorrected = b.cmpI(IPredicate::ne, remainder, zero);
  if (isSigned) {
    // The remainder has the sign of the dividend.
    Value signs = b.xorI(remainder, divisor);
    isCorrected =
        b.andI(isCorrected, b.cmpI(step < 0 ? IPredicate::slt : IPredicate::sge,
                                   signs, zero));
  }
  Value corrected = b.addI(quotient, b.constant(type, step));
  replace(op, b.select(isCorrected, corrected, quotient));
  return success();
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// A shift by the width or more moves every bit out.
template <typename OpT>
static LogicalResult expandShift(OpT op) {
  Type type = op.getType();
  const unsigned width = getWidth(type);
  std::optional<APInt> amount = getConstant(op.getRhs());
  if (amount && amount->ult(width))
    return success();
  ScalarBuilder b(op);
  if constexpr (std::is_same_v<OpT, arith::ShRSIOp>) {
    // The sign stays, as after a shift by one bit less than the width.
    Value last = b.constant(type, int64_t(width - 1));
    op.getRhsMutable().assign(b.create<arith::MinUIOp>(op.getRhs(), last));
  } else if (!llvm::isUIntN(width, width)) {
    // An i1 cannot hold its own width.
    Value isZero =
        b.cmpI(IPredicate::eq, op.getRhs(), b.constant(type, int64_t(0)));
    replace(op, b.select(isZero, op.getLhs(), b.constant(type, int64_t(0))));
  } else {
    Value shifted = b.create<OpT>(op.getLhs(), op.getRhs());
    Value isInside =
        b.cmpI(IPredicate::ult, op.getRhs(), b.constant(type, int64_t(width)));
    replace(op, b.select(isInside, shifted, b.constant(type, int64_t(0))));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// fptosi, fptoui: toward zero; the nearest integer of the type where the
/// number does not fit, 0 for NaN. The back end tests the *bits* for zero where
/// the result is i1, and `cvt` makes 2^63 of a NaN where it has 64 bits.
static LogicalResult expandFloatToInteger(Operation *op, bool isSigned) {
  Type from = op->getOperand(0).getType();
  Type to = op->getResult(0).getType();
  if (from.isF64())
    return success();
  ScalarBuilder b(op);
  Value x = b.extendToF32(op->getOperand(0));
  const unsigned width = getWidth(to);
  if (width > 32) {
    replace(op, b.intrinsic(isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat",
                            to, x));
    return success();
  }
  // One `cvt.rzi`, which saturates.
  Value integer = b.intrinsic(
      isSigned ? "llvm.nvvm.f2i.rz" : "llvm.nvvm.f2ui.rz", b.getInteger(32), x);
  if (width < 32) {
    if (isSigned) {
      Value most = b.i32(APInt::getSignedMaxValue(width).getSExtValue());
      Value least = b.i32(APInt::getSignedMinValue(width).getSExtValue());
      integer = b.create<arith::MaxSIOp>(
          b.create<arith::MinSIOp>(integer, most), least);
    } else {
      Value most = b.i32(APInt::getMaxValue(width).getZExtValue());
      integer = b.create<arith::MinUIOp>(integer, most);
    }
    integer = b.create<arith::TruncIOp>(to, integer);
  }
  replace(op, integer);
  return success();
}

/// sitofp, uitofp to bf16. Below sm_90 the back end goes through f32 and rounds
/// twice; from sm_90 on it makes +1 of a signed i1.
static LogicalResult expandIntegerToBF16(Operation *op, bool isSigned) {
  Type type = op->getOperand(0).getType();
  const unsigned width = type.getIntOrFloatBitWidth();
  if (!op->getResult(0).getType().isBF16() || width == 8 || width == 16 ||
      width > 64)
    return success();
  ScalarBuilder b(op);
  Value x = op->getOperand(0);
  if (width != 32 && width != 64) {
    type = b.getInteger(width < 32 ? 32 : 64);
    x = isSigned ? b.create<arith::ExtSIOp>(type, x)
                 : b.create<arith::ExtUIOp>(type, x);
  }
  if (width > 24) {
    // Make the number fit f32's 24 digits without changing how it rounds to 8:
    // clear the bits that are too many, and set the last one kept if any was
    // set ("rounding to odd"). For a negative number the same holds in two's
    // complement; its magnitude, less one, has as many digits.
    const int64_t bits = type.getIntOrFloatBitWidth();
    Value magnitude =
        isSigned ? b.xorI(x, b.shiftRightSigned(x, b.constant(type, bits - 1)))
                 : x;
    Value zeros = b.create<LLVM::CountLeadingZerosOp>(type, magnitude,
                                                      /*is_zero_poison=*/false);
    Value excess =
        b.create<arith::MaxSIOp>(b.subI(b.constant(type, bits - 24), zeros),
                                 b.constant(type, int64_t(0)));
    Value one = b.constant(type, int64_t(1));
    Value mask = b.subI(b.shiftLeft(one, excess), one);
    // The sum carries into the last bit kept iff a bit below it is set.
    Value sticky = b.addI(b.andI(x, mask), mask);
    Value inverse = b.xorI(mask, b.constant(type, int64_t(-1)));
    x = b.andI(b.orI(x, sticky), inverse);
  }
  Type bf16 = op->getResult(0).getType();
  replace(op, isSigned ? b.create<arith::SIToFPOp>(bf16, x)
                       : b.create<arith::UIToFPOp>(bf16, x));
  return success();
}

/// truncf to nearest even, which is what it does without a rounding mode. The
/// back end ignores every other mode.
static LogicalResult expandTruncF(arith::TruncFOp op) {
  std::optional<arith::RoundingMode> mode = op.getRoundingmode();
  if (!mode)
    return success();
  if (*mode != arith::RoundingMode::to_nearest_even)
    return op.emitOpError("with rounding mode ")
           << arith::stringifyRoundingMode(*mode)
           << " is not lowered; expected to_nearest_even";
  op.removeRoundingmodeAttr();
  return success();
}

//===----------------------------------------------------------------------===//
// Remainder of floats
//===----------------------------------------------------------------------===//

/// The remainder of `remainder` * 2^`count` by `divisor`, all i32 and the
/// divisor below 2^24, eight bits at a time.
static Value shiftedRemainder(ScalarBuilder &b, Value remainder, Value count,
                              Value divisor) {
  Type i32 = b.getInteger(32);
  auto loop = scf::WhileOp::create(
      b.getBuilder(), b.getLoc(), TypeRange{i32, i32},
      ValueRange{remainder, count},
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        Value zero = arith::ConstantOp::create(builder, loc,
                                               builder.getI32IntegerAttr(0));
        Value isLeft =
            arith::CmpIOp::create(builder, loc, IPredicate::sgt, args[1], zero);
        scf::ConditionOp::create(builder, loc, isLeft, args);
      },
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        Value eight = arith::ConstantOp::create(builder, loc,
                                                builder.getI32IntegerAttr(8));
        Value step = arith::MinSIOp::create(builder, loc, args[1], eight);
        Value shifted = arith::ShLIOp::create(builder, loc, args[0], step);
        Value next = arith::RemUIOp::create(builder, loc, shifted, divisor);
        Value left = arith::SubIOp::create(builder, loc, args[1], step);
        scf::YieldOp::create(builder, loc, ValueRange{next, left});
      });
  return loop.getResult(0);
}

/// remf is C's fmod, which is exact. The back end subtracts a rounded quotient
/// and is off by any multiple of the divisor.
static LogicalResult expandRemF(arith::RemFOp op) {
  Type type = op.getType();
  if (type.isF64())
    return op.emitOpError("on ")
           << type << " is not lowered; expected f32, f16 or bf16";
  ScalarBuilder b(op);
  Type i32 = b.getInteger(32);
  Value x = b.extendToF32(op.getLhs());
  Value xBits = b.bitcast(i32, x);
  Value yBits = b.bitcast(i32, b.extendToF32(op.getRhs()));
  Value xMagnitude = b.andI(xBits, b.i32(0x7fffffff));
  Value yMagnitude = b.andI(yBits, b.i32(0x7fffffff));

  // NaN where x is infinite or NaN, or y is zero or NaN.
  Value isZeroDivisor = b.cmpI(IPredicate::eq, yMagnitude, b.i32(0));
  Value isUnboundedX = b.cmpI(IPredicate::sge, xMagnitude, b.i32(0x7f800000));
  Value isNaNDivisor = b.cmpI(IPredicate::sgt, yMagnitude, b.i32(0x7f800000));
  Value isInvalid = b.orI(b.orI(isZeroDivisor, isUnboundedX), isNaNDivisor);
  // x where |x| < |y|, y infinite included.
  Value isBelow = b.cmpI(IPredicate::slt, xMagnitude, yMagnitude);
  Value isSpecial = b.orI(isInvalid, isBelow);

  // Each number is an integer times 2^(exponent - 150), subnormal ones too.
  auto getExponent = [&](Value bits) {
    return b.create<arith::MaxSIOp>(b.shiftRight(bits, b.i32(23)), b.i32(1));
  };
  auto getInteger = [&](Value bits, Value exponent) {
    return b.subI(bits, b.shiftLeft(b.subI(exponent, b.i32(1)), b.i32(23)));
  };
  Value xExponent = getExponent(xMagnitude),
        yExponent = getExponent(yMagnitude);
  Value dividend = getInteger(xMagnitude, xExponent);
  Value divisor =
      b.select(isSpecial, b.i32(1), getInteger(yMagnitude, yExponent));
  Value count = b.select(isSpecial, b.i32(0), b.subI(xExponent, yExponent));
  Value remainder = shiftedRemainder(
      b, b.create<arith::RemUIOp>(dividend, divisor), count, divisor);

  // The remainder times 2^(yExponent - 150), in two exact steps, since neither
  // 2^-149 nor the remainder times 2^127 is a normal number.
  Value scaled =
      b.mulF(b.create<arith::UIToFPOp>(b.getF32(), remainder), b.f32(0x1p-23));
  Value power = b.bitcast(b.getF32(), b.shiftLeft(yExponent, b.i32(23)));
  Value sign = b.andI(xBits, b.i32(0x80000000));
  Value bits = b.orI(b.bitcast(i32, b.mulF(scaled, power)), sign);
  Value value = b.select(isBelow, x, b.bitcast(b.getF32(), bits));
  value = b.select(isInvalid, b.f32(std::numeric_limits<double>::quiet_NaN()),
                   value);
  // The remainder of two f16 or bf16 numbers is one too.
  replace(op, b.truncateF32(type, value));
  return success();
}

LogicalResult tile::expandArith(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](arith::DivSIOp op) { return expandDivision(op, true); })
      .Case([](arith::DivUIOp op) { return expandDivision(op, false); })
      .Case([](arith::RemSIOp op) { return expandDivision(op, true); })
      .Case([](arith::RemUIOp op) { return expandDivision(op, false); })
      .Case([](arith::CeilDivSIOp op) {
        return expandRoundedDivision<arith::DivSIOp, arith::RemSIOp>(op, true,
                                                                     1);
      })
      .Case([](arith::CeilDivUIOp op) {
        return expandRoundedDivision<arith::DivUIOp, arith::RemUIOp>(op, false,
                                                                     1);
      })
      .Case([](arith::FloorDivSIOp op) {
        return expandRoundedDivision<arith::DivSIOp, arith::RemSIOp>(op, true,
                                                                     -1);
      })
      .Case([](arith::ShLIOp op) { return expandShift(op); })
      .Case([](arith::ShRSIOp op) { return expandShift(op); })
      .Case([](arith::ShRUIOp op) { return expandShift(op); })
      .Case([](arith::FPToSIOp op) { return expandFloatToInteger(op, true); })
      .Case([](arith::FPToUIOp op) { return expandFloatToInteger(op, false); })
      .Case([](arith::SIToFPOp op) { return expandIntegerToBF16(op, true); })
      .Case([](arith::UIToFPOp op) { return expandIntegerToBF16(op, false); })
      .Case([](arith::TruncFOp op) { return expandTruncF(op); })
      .Case([](arith::RemFOp op) { return expandRemF(op); })
      .Default([](Operation *) { return success(); });
}
