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
static Value getSafeDivisor(Emitter &emit, Value dividend, Value divisor,
                            bool isSigned) {
  Type type = divisor.getType();
  if (std::optional<APInt> constant = getConstant(divisor))
    if (!constant->isZero() && !(isSigned && constant->isAllOnes()))
      return divisor;
  Value isUnsafe =
      emit.compare(IPredicate::eq, divisor, emit.constant(type, 0));
  if (isSigned) {
    int64_t least = APInt::getSignedMinValue(getWidth(type)).getSExtValue();
    Value isMinusOne =
        emit.compare(IPredicate::eq, divisor, emit.constant(type, -1));
    Value isLeast =
        emit.compare(IPredicate::eq, dividend, emit.constant(type, least));
    isUnsafe = emit.bitOr(isUnsafe, emit.bitAnd(isMinusOne, isLeast));
  }
  return emit.select(isUnsafe, emit.constant(type, 1), divisor);
}

/// divsi, divui, remsi, remui.
template <typename OpT>
static LogicalResult expandDivision(OpT op, bool isSigned) {
  Emitter emit(op);
  op.getRhsMutable().assign(
      getSafeDivisor(emit, op.getLhs(), op.getRhs(), isSigned));
  return success();
}

/// The quotient toward zero, corrected by `step` where the remainder is not
/// zero and, for signed numbers, the exact quotient is on that side of it.
template <typename DivOp, typename RemOp>
static LogicalResult expandRoundedDivision(Operation *op, bool isSigned,
                                           int64_t step) {
  Emitter emit(op);
  Value dividend = op->getOperand(0);
  Value divisor = getSafeDivisor(emit, dividend, op->getOperand(1), isSigned);
  Type type = divisor.getType();
  Value zero = emit.constant(type, 0);
  Value quotient = emit.create<DivOp>(dividend, divisor);
  Value remainder = emit.create<RemOp>(dividend, divisor);
  Value isCorrected = emit.compare(IPredicate::ne, remainder, zero);
  if (isSigned) {
    // The remainder has the sign of the dividend.
    Value signs = emit.bitXor(remainder, divisor);
    isCorrected = emit.bitAnd(
        isCorrected, emit.compare(step < 0 ? IPredicate::slt : IPredicate::sge,
                                  signs, zero));
  }
  Value corrected = emit.add(quotient, emit.constant(type, step));
  replace(op, emit.select(isCorrected, corrected, quotient));
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
  Emitter emit(op);
  if constexpr (std::is_same_v<OpT, arith::ShRSIOp>) {
    // The sign stays, as after a shift by one bit less than the width.
    Value last = emit.constant(type, int64_t(width - 1));
    op.getRhsMutable().assign(emit.create<arith::MinUIOp>(op.getRhs(), last));
  } else if (!llvm::isUIntN(width, width)) {
    // An i1 cannot hold its own width.
    Value isZero =
        emit.compare(IPredicate::eq, op.getRhs(), emit.constant(type, 0));
    replace(op, emit.select(isZero, op.getLhs(), emit.constant(type, 0)));
  } else {
    Value shifted = emit.create<OpT>(op.getLhs(), op.getRhs());
    Value isInside = emit.compare(IPredicate::ult, op.getRhs(),
                                  emit.constant(type, int64_t(width)));
    replace(op, emit.select(isInside, shifted, emit.constant(type, 0)));
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
  Emitter emit(op);
  Value x = emit.extendToF32(op->getOperand(0));
  const unsigned width = getWidth(to);
  if (width > 32) {
    replace(op, emit.intrinsic(isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat",
                               to, x));
    return success();
  }
  // One `cvt.rzi`, which saturates.
  Value integer = emit.intrinsic(
      isSigned ? "llvm.nvvm.f2i.rz" : "llvm.nvvm.f2ui.rz", emit.i32(), x);
  if (width < 32) {
    if (isSigned) {
      Value most = emit.i32(APInt::getSignedMaxValue(width).getSExtValue());
      Value least = emit.i32(APInt::getSignedMinValue(width).getSExtValue());
      integer = emit.create<arith::MaxSIOp>(
          emit.create<arith::MinSIOp>(integer, most), least);
    } else {
      Value most = emit.i32(APInt::getMaxValue(width).getZExtValue());
      integer = emit.create<arith::MinUIOp>(integer, most);
    }
    integer = emit.create<arith::TruncIOp>(to, integer);
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
  Emitter emit(op);
  Value x = op->getOperand(0);
  if (width != 32 && width != 64) {
    type = emit.integer(width < 32 ? 32 : 64);
    x = isSigned ? emit.create<arith::ExtSIOp>(type, x)
                 : emit.create<arith::ExtUIOp>(type, x);
  }
  if (width > 24) {
    // Make the number fit f32's 24 digits without changing how it rounds to 8:
    // clear the bits that are too many, and set the last one kept if any was
    // set ("rounding to odd"). For a negative number the same holds in two's
    // complement; its magnitude, less one, has as many digits.
    const int64_t bits = type.getIntOrFloatBitWidth();
    Value magnitude =
        isSigned ? emit.bitXor(x, emit.ashr(x, emit.constant(type, bits - 1)))
                 : x;
    Value zeros =
        emit.create<LLVM::CountLeadingZerosOp>(type, magnitude,
                                               /*is_zero_poison=*/false);
    Value excess = emit.create<arith::MaxSIOp>(
        emit.sub(emit.constant(type, bits - 24), zeros),
        emit.constant(type, 0));
    Value one = emit.constant(type, 1);
    Value mask = emit.sub(emit.shl(one, excess), one);
    // The sum carries into the last bit kept iff a bit below it is set.
    Value sticky = emit.add(emit.bitAnd(x, mask), mask);
    Value inverse = emit.bitXor(mask, emit.constant(type, -1));
    x = emit.bitAnd(emit.bitOr(x, sticky), inverse);
  }
  Type bf16 = op->getResult(0).getType();
  replace(op, isSigned ? emit.create<arith::SIToFPOp>(bf16, x)
                       : emit.create<arith::UIToFPOp>(bf16, x));
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
static Value shiftedRemainder(Emitter &emit, Value remainder, Value count,
                              Value divisor) {
  Type i32 = emit.i32();
  auto loop = scf::WhileOp::create(
      emit.builder, emit.loc, TypeRange{i32, i32}, ValueRange{remainder, count},
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
  Emitter emit(op);
  Type i32 = emit.i32();
  Value x = emit.extendToF32(op.getLhs());
  Value xBits = emit.bitcast(i32, x);
  Value yBits = emit.bitcast(i32, emit.extendToF32(op.getRhs()));
  Value xMagnitude = emit.bitAnd(xBits, emit.i32(0x7fffffff));
  Value yMagnitude = emit.bitAnd(yBits, emit.i32(0x7fffffff));

  // NaN where x is infinite or NaN, or y is zero or NaN.
  Value isZeroDivisor = emit.compare(IPredicate::eq, yMagnitude, emit.i32(0));
  Value isUnboundedX =
      emit.compare(IPredicate::sge, xMagnitude, emit.i32(0x7f800000));
  Value isNaNDivisor =
      emit.compare(IPredicate::sgt, yMagnitude, emit.i32(0x7f800000));
  Value isInvalid =
      emit.bitOr(emit.bitOr(isZeroDivisor, isUnboundedX), isNaNDivisor);
  // x where |x| < |y|, y infinite included.
  Value isBelow = emit.compare(IPredicate::slt, xMagnitude, yMagnitude);
  Value isSpecial = emit.bitOr(isInvalid, isBelow);

  // Each number is an integer times 2^(exponent - 150), subnormal ones too.
  auto getExponent = [&](Value bits) {
    return emit.create<arith::MaxSIOp>(emit.lshr(bits, emit.i32(23)),
                                       emit.i32(1));
  };
  auto getInteger = [&](Value bits, Value exponent) {
    return emit.sub(bits,
                    emit.shl(emit.sub(exponent, emit.i32(1)), emit.i32(23)));
  };
  Value xExponent = getExponent(xMagnitude),
        yExponent = getExponent(yMagnitude);
  Value dividend = getInteger(xMagnitude, xExponent);
  Value divisor =
      emit.select(isSpecial, emit.i32(1), getInteger(yMagnitude, yExponent));
  Value count =
      emit.select(isSpecial, emit.i32(0), emit.sub(xExponent, yExponent));
  Value remainder = shiftedRemainder(
      emit, emit.create<arith::RemUIOp>(dividend, divisor), count, divisor);

  // The remainder times 2^(yExponent - 150), in two exact steps, since neither
  // 2^-149 nor the remainder times 2^127 is a normal number.
  Value scaled = emit.fmul(emit.create<arith::UIToFPOp>(emit.f32(), remainder),
                           emit.f32(0x1p-23));
  Value power = emit.bitcast(emit.f32(), emit.shl(yExponent, emit.i32(23)));
  Value sign = emit.bitAnd(xBits, emit.i32(0x80000000));
  Value bits = emit.bitOr(emit.bitcast(i32, emit.fmul(scaled, power)), sign);
  Value value = emit.select(isBelow, x, emit.bitcast(emit.f32(), bits));
  value = emit.select(
      isInvalid, emit.f32(std::numeric_limits<double>::quiet_NaN()), value);
  // The remainder of two f16 or bf16 numbers is one too.
  replace(op, emit.truncateF32(type, value));
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
