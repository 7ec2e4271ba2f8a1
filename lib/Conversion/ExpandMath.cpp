//===- ExpandMath.cpp - Accurate device code for scalar functions ---------===//
//
// The pass tile-expand-math. One function per operation of `math`, all on f32:
// the caller extends f16 and bf16 and rounds the result once.
//
// Only fma, comparisons, selects and integer operations are used, which give
// the same bits on every machine, and four approximate instructions whose
// relative error the PTX ISA bounds: ex2.approx (2^-22), rcp.approx (2^-23),
// rsqrt.approx (2^-22.9). Two ex2 results may be multiplied inside the bound
// of 2^-20, and no more.
//
// The coefficients are minimax fits (Remez exchange with 40 digits, then
// rounded to f32); the error given with each is the largest one of the exact
// polynomial, relative to the function unless it says otherwise.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/Passes.h"

#include "ExpandMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDMATH
#include "tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

using FPredicate = arith::CmpFPredicate;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Approximate instructions
//===----------------------------------------------------------------------===//

/// 2^x. Flushes subnormal results, so that it takes one instruction; without
/// `ftz` ptxas adds three.
static Value approximateExp2(Emitter &emit, Value x) {
  return emit.intrinsic("llvm.nvvm.ex2.approx.ftz.f32", emit.f32(), x);
}

/// 1/x. Flushes subnormal results.
static Value approximateReciprocal(Emitter &emit, Value x) {
  return emit.create<NVVM::RcpApproxFtzF32Op>(emit.f32(), x);
}

/// `magnitude` with the sign of `sign`; the sign bit of `magnitude` is clear.
static Value copySign(Emitter &emit, Value magnitude, Value sign) {
  Type i32 = emit.i32();
  Value bit = emit.bitAnd(emit.bitcast(i32, sign), emit.i32(0x80000000));
  return emit.bitcast(emit.f32(),
                      emit.bitOr(emit.bitcast(i32, magnitude), bit));
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// Subnormal arguments and results are those of ex2.approx without ftz.
static Value expandExp2(Emitter &emit, Value x) {
  return emit.create<LLVM::Exp2Op>(emit.f32(), x);
}

/// exp(x) = (2^h)^2 * exp(c) with h = x/2 * log2(e) rounded, c = x - 2*h*ln(2).
/// Rounding h costs up to 2^-17 for large x, which c gives back. The square is
/// taken last: 2^h neither overflows nor is subnormal.
static Value expandExp(Emitter &emit, Value x) {
  // exp(89) is infinite and exp(-104) is zero already. NaN goes through.
  x = emit.create<arith::MaximumFOp>(x, emit.f32(-104));
  x = emit.create<arith::MinimumFOp>(x, emit.f32(89));
  Value h = emit.fmul(x, emit.f32(0x1.715476p-1));
  // Minus 2*ln(2) in two parts.
  Value c = emit.fma(h, emit.f32(-0x1.62e43p+0), x);
  c = emit.fma(h, emit.f32(0x1.05c61p-28), c);
  Value e = approximateExp2(emit, h);
  return emit.fmul(e, emit.fma(e, c, e));
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^exponent * (1 + rest), rest in [sqrt(1/2) - 1, sqrt(2) - 1].
struct Reduced {
  Value exponent;  ///< An integer, as f32.
  Value logarithm; ///< log(1 + rest); exact in relative terms near 0.
};
} // namespace

/// Requires: x is positive and finite; any other x gives any result.
static Reduced reduceLogarithm(Emitter &emit, Value x) {
  // log(1 + f) = f + f^2 * q(f), f in [sqrt(1/2) - 1, sqrt(2) - 1]: 2^-22.4.
  static constexpr float q[] = {
      -0x1.00006cp-1f, 0x1.5558f4p-2f, -0x1.ff6928p-3f, 0x1.97b166p-3f,
      -0x1.612426p-3f, 0x1.4b606cp-3f, -0x1.9cf96ep-4f};
  Type i32 = emit.i32();
  Value isTiny = emit.compare(FPredicate::OLT, x, emit.f32(0x1p-126));
  Value bits =
      emit.bitcast(i32, emit.select(isTiny, emit.fmul(x, emit.f32(0x1p23)), x));
  // Counted from sqrt(1/2), so that 1 has exponent 0 and rest 0 and the two
  // terms of the result never cancel.
  Value exponent =
      emit.ashr(emit.sub(bits, emit.i32(0x3f3504f3)), emit.i32(23));
  Value mantissa = emit.sub(bits, emit.shl(exponent, emit.i32(23)));
  exponent =
      emit.add(exponent, emit.select(isTiny, emit.i32(-23), emit.i32(0)));
  Value f = emit.fsub(emit.bitcast(emit.f32(), mantissa), emit.f32(1));
  Value square = emit.fmul(f, f);
  Value logarithm = emit.fma(square, emit.polynomial(f, q), f);
  return {emit.create<arith::SIToFPOp>(emit.f32(), exponent), logarithm};
}

/// `value`, the logarithm of x if x is positive and finite, or what IEEE 754
/// says for other x.
static Value selectLogarithm(Emitter &emit, Value x, Value value) {
  // Infinity and NaN are their own logarithms.
  Value isFinite = emit.compare(FPredicate::OLT, x, emit.f32(infinity));
  value = emit.select(isFinite, value, x);
  Value isZero = emit.compare(FPredicate::OEQ, x, emit.f32(0));
  Value special = emit.select(isZero, emit.f32(-infinity), emit.f32(quietNaN));
  return emit.select(emit.compare(FPredicate::OLE, x, emit.f32(0)), special,
                     value);
}

static Value expandLog(Emitter &emit, Value x) {
  Reduced reduced = reduceLogarithm(emit, x);
  Value value =
      emit.fma(reduced.exponent, emit.f32(0x1.62e43p-1), reduced.logarithm);
  return selectLogarithm(emit, x, value);
}

static Value expandLog2(Emitter &emit, Value x) {
  Reduced reduced = reduceLogarithm(emit, x);
  Value value =
      emit.fma(reduced.logarithm, emit.f32(0x1.715476p+0), reduced.exponent);
  return selectLogarithm(emit, x, value);
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

static Value expandRsqrt(Emitter &emit, Value x) {
  return emit.intrinsic("llvm.nvvm.rsqrt.approx.f", emit.f32(), x);
}

//===----------------------------------------------------------------------===//
// tanh and erf
//===----------------------------------------------------------------------===//

static Value expandTanh(Emitter &emit, Value x) {
  // tanh(x) = x + x^3 * p(x^2), |x| <= 0.6: 2^-23.5.
  static constexpr float p[] = {-0x1.555368p-2f, 0x1.10a712p-3f,
                                -0x1.abb818p-5f, 0x1.ff9846p-7f};
  Value square = emit.fmul(x, x);
  // Not x + x * ..., which is +0 for -0.
  Value small =
      emit.fmul(x, emit.fma(square, emit.polynomial(square, p), emit.f32(1)));

  // 1 - 2 / (exp(2|x|) + 1). An error of the quotient counts at most 0.75 times
  // from 0.6 on, and less for larger arguments, whose product with log2(e) is
  // rounded more coarsely.
  Value magnitude = emit.fabs(x);
  Value e =
      approximateExp2(emit, emit.fmul(magnitude, emit.f32(0x1.715476p+1)));
  Value quotient = approximateReciprocal(emit, emit.fadd(e, emit.f32(1)));
  Value large =
      copySign(emit, emit.fma(quotient, emit.f32(-2), emit.f32(1)), x);

  Value isSmall = emit.compare(FPredicate::OLT, magnitude, emit.f32(0.6));
  return emit.select(isSmall, small, large);
}

static Value expandErf(Emitter &emit, Value x) {
  // erf(x) = x * p(x^2), |x| <= 0.92: 2^-25.8.
  static constexpr float p[] = {0x1.20dd74p+0f, -0x1.8126ep-2f,
                                0x1.ce197ap-4f, -0x1.b67d8ap-6f,
                                0x1.46e9e6p-8f, -0x1.38c79cp-11f};
  // erfc(x) = 2^q(x), 0.9 <= x <= 4: 2^-25.1 relative to erf(x).
  static constexpr float q[] = {-0x1.5895cep-9f, -0x1.9dcbe4p+0f,
                                -0x1.e076dp-1f,  -0x1.0dd36ep-3f,
                                0x1.71fb42p-6f,  -0x1.dd0c32p-10f};
  Value small = emit.fmul(x, emit.polynomial(emit.fmul(x, x), p));

  Value magnitude = emit.fabs(x);
  // erf(4) rounds to 1. NaN goes through.
  Value limited = emit.create<arith::MinimumFOp>(magnitude, emit.f32(4));
  Value complement = approximateExp2(emit, emit.polynomial(limited, q));
  Value large = copySign(emit, emit.fsub(emit.f32(1), complement), x);

  Value isSmall = emit.compare(FPredicate::OLT, magnitude, emit.f32(0.91));
  return emit.select(isSmall, small, large);
}

//===----------------------------------------------------------------------===//
// sin and cos
//===----------------------------------------------------------------------===//

/// sin(x + quarters * pi/2).
static Value expandSinOfQuarters(Emitter &emit, Value x, int quarters) {
  // sin(r) = r + r^3 * s(r^2), cos(r) = 1 + r^2 * c(r^2), |r| <= 0.786: 2^-29
  // and 2^-24.8, absolute.
  static constexpr float s[] = {-0x1.55554p-3f, 0x1.1105a8p-7f,
                                -0x1.98d6b8p-13f};
  static constexpr float c[] = {-0x1.ffffb8p-2f, 0x1.553f7ep-5f,
                                -0x1.647194p-10f};
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits of the
  // sum: no conversion, which an argument of any size could overflow.
  Value shifted = emit.fma(x, emit.f32(0x1.45f306p-1), emit.f32(0x1.8p23));
  Value n = emit.fsub(shifted, emit.f32(0x1.8p23));
  Value quadrant = emit.bitcast(emit.i32(), shifted);
  if (quarters)
    quadrant = emit.add(quadrant, emit.i32(quarters));

  // x - n * pi/2, pi/2 in three parts (Cody and Waite); fma loses nothing of
  // the products. All parts are rounded down: products of both signs would turn
  // -0 into +0.
  Value r = emit.fma(n, emit.f32(-0x1.921fb4p+0), x);
  r = emit.fma(n, emit.f32(-0x1.4442dp-24), r);
  r = emit.fma(n, emit.f32(-0x1.846988p-48), r);
  // For arguments beyond 2^22 or so, r is meaningless. This keeps the result
  // in [-1, 1]. NaN, also that of infinity, goes through.
  r = emit.create<arith::MaximumFOp>(r, emit.f32(-1));
  r = emit.create<arith::MinimumFOp>(r, emit.f32(1));

  Value square = emit.fmul(r, r);
  Value sine =
      emit.fmul(r, emit.fma(square, emit.polynomial(square, s), emit.f32(1)));
  Value cosine = emit.fma(square, emit.polynomial(square, c), emit.f32(1));
  Value isOdd = emit.compare(arith::CmpIPredicate::ne,
                             emit.bitAnd(quadrant, emit.i32(1)), emit.i32(0));
  Value value = emit.select(isOdd, cosine, sine);
  // Bit 1 of the quadrant is the sign.
  Value sign = emit.shl(emit.bitAnd(quadrant, emit.i32(2)), emit.i32(30));
  Value bits = emit.bitXor(emit.bitcast(emit.i32(), value), sign);
  return emit.bitcast(emit.f32(), bits);
}

static Value expandSin(Emitter &emit, Value x) {
  return expandSinOfQuarters(emit, x, 0);
}
static Value expandCos(Emitter &emit, Value x) {
  return expandSinOfQuarters(emit, x, 1);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What computes `op` on f32, or null.
static Value (*getExpansion(Operation *op))(Emitter &, Value) {
  using Expansion = Value (*)(Emitter &, Value);
  return llvm::TypeSwitch<Operation *, Expansion>(op)
      .Case([](math::CosOp) { return expandCos; })
      .Case([](math::ErfOp) { return expandErf; })
      .Case([](math::ExpOp) { return expandExp; })
      .Case([](math::Exp2Op) { return expandExp2; })
      .Case([](math::LogOp) { return expandLog; })
      .Case([](math::Log2Op) { return expandLog2; })
      .Case([](math::RsqrtOp) { return expandRsqrt; })
      .Case([](math::SinOp) { return expandSin; })
      .Case([](math::TanhOp) { return expandTanh; })
      .Default([](Operation *) { return nullptr; });
}

/// The operation of the llvm dialect that computes `op` exactly, or null. The
/// back end selects one instruction, or extends f16 and bf16 to f32, computes
/// and rounds: harmless after an exact operation, and after sqrt because f32
/// has more than twice the digits of f16.
static Value createExact(Emitter &emit, Operation *op) {
  Type type = op->getResult(0).getType();
  ValueRange operands = op->getOperands();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::AbsFOp) {
        return emit.create<LLVM::FAbsOp>(type, operands);
      })
      .Case([&](math::CeilOp) {
        return emit.create<LLVM::FCeilOp>(type, operands);
      })
      .Case([&](math::FloorOp) {
        return emit.create<LLVM::FFloorOp>(type, operands);
      })
      .Case(
          [&](math::FmaOp) { return emit.create<LLVM::FMAOp>(type, operands); })
      .Case([&](math::RoundEvenOp) {
        return emit.create<LLVM::RoundEvenOp>(type, operands);
      })
      .Case([&](math::SqrtOp) {
        return emit.create<LLVM::SqrtOp>(type, operands);
      })
      .Case([&](math::TruncOp) {
        return emit.create<LLVM::FTruncOp>(type, operands);
      })
      .Default([](Operation *) { return nullptr; });
}

/// Rewrites an operation of `math` on scalars and erases it.
static LogicalResult expandMath(Operation *op) {
  Type type = op->getResult(0).getType();
  const bool isFloat = type.isF32() || type.isF16() || type.isBF16();
  Emitter emit(op);
  Value result;
  if (auto expansion = getExpansion(op); expansion && isFloat)
    result = emit.truncateF32(
        type, expansion(emit, emit.extendToF32(op->getOperand(0))));
  else if (isFloat)
    result = createExact(emit, op);
  if (!result)
    return op->emitOpError("on ")
           << op->getOperand(0).getType()
           << " is not lowered; the math operations of a kernel are absf, "
              "ceil, cos, erf, exp, exp2, floor, fma, log, log2, roundeven, "
              "rsqrt, sin, sqrt, tanh and trunc on f32, f16 and bf16";
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

/// Drops permissions to be inaccurate: the back end would fuse and reorder.
static void dropFastMath(Operation *op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!fast || !fast.getFastMathFlagsAttr())
    return;
  op->setAttr(fast.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(),
                                            arith::FastMathFlags::none));
}

namespace {
struct ExpandMath : public tile::impl::TileExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    // Collected first: expansions contain operations of `arith` themselves.
    SmallVector<Operation *> scalars;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
              op->getDialect()) &&
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>))
        scalars.push_back(op);
    });
    for (Operation *op : scalars) {
      dropFastMath(op);
      if (failed(isa<math::MathDialect>(op->getDialect()) ? expandMath(op)
                                                          : expandArith(op)))
        signalPassFailure();
    }
  }
};
} // namespace
