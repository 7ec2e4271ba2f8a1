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
static Value approximateExp2(ScalarBuilder &b, Value x) {
  return b.intrinsic("llvm.nvvm.ex2.approx.ftz.f32", b.getF32(), x);
}

/// 1/x. Flushes subnormal results.
static Value approximateReciprocal(ScalarBuilder &b, Value x) {
  return b.create<NVVM::RcpApproxFtzF32Op>(b.getF32(), x);
}

/// `magnitude` with the sign of `sign`; the sign bit of `magnitude` is clear.
static Value copySign(ScalarBuilder &b, Value magnitude, Value sign) {
  Type i32 = b.getInteger(32);
  Value bit = b.andI(b.bitcast(i32, sign), b.i32(0x80000000));
  return b.bitcast(b.getF32(), b.orI(b.bitcast(i32, magnitude), bit));
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// Subnormal arguments and results are those of ex2.approx without ftz.
static Value expandExp2(ScalarBuilder &b, Value x) {
  return b.create<LLVM::Exp2Op>(b.getF32(), x);
}

/// exp(x) = (2^h)^2 * exp(c) with h = x/2 * log2(e) rounded, c = x - 2*h*ln(2).
/// Rounding h costs up to 2^-17 for large x, which c gives back. The square is
/// taken last: 2^h neither overflows nor is subnormal.
static Value expandExp(ScalarBuilder &b, Value x) {
  // exp(89) is infinite and exp(-104) is zero already. NaN goes through.
  x = b.create<arith::MaximumFOp>(x, b.f32(-104));
  x = b.create<arith::MinimumFOp>(x, b.f32(89));
  Value h = b.mulF(x, b.f32(0x1.715476p-1));
  // Minus 2*ln(2) in two parts.
  Value c = b.fma(h, b.f32(-0x1.62e43p+0), x);
  c = b.fma(h, b.f32(0x1.05c61p-28), c);
  Value e = approximateExp2(b, h);
  return b.mulF(e, b.fma(e, c, e));
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
static Reduced reduceLogarithm(ScalarBuilder &b, Value x) {
  // log(1 + f) = f + f^2 * q(f), f in [sqrt(1/2) - 1, sqrt(2) - 1]: 2^-22.4.
  static constexpr float q[] = {
      -0x1.00006cp-1f, 0x1.5558f4p-2f, -0x1.ff6928p-3f, 0x1.97b166p-3f,
      -0x1.612426p-3f, 0x1.4b606cp-3f, -0x1.9cf96ep-4f};
  Type i32 = b.getInteger(32);
  Value isTiny = b.cmpF(FPredicate::OLT, x, b.f32(0x1p-126));
  Value bits = b.bitcast(i32, b.select(isTiny, b.mulF(x, b.f32(0x1p23)), x));
  // Counted from sqrt(1/2), so that 1 has exponent 0 and rest 0 and the two
  // terms of the result never cancel.
  Value exponent =
      b.shiftRightSigned(b.subI(bits, b.i32(0x3f3504f3)), b.i32(23));
  Value mantissa = b.subI(bits, b.shiftLeft(exponent, b.i32(23)));
  exponent = b.addI(exponent, b.select(isTiny, b.i32(-23), b.i32(0)));
  Value f = b.subF(b.bitcast(b.getF32(), mantissa), b.f32(1));
  Value square = b.mulF(f, f);
  Value logarithm = b.fma(square, b.polynomial(f, q), f);
  return {b.create<arith::SIToFPOp>(b.getF32(), exponent), logarithm};
}

/// `value`, the logarithm of x if x is positive and finite, or what IEEE 754
/// says for other x.
static Value selectLogarithm(ScalarBuilder &b, Value x, Value value) {
  // Infinity and NaN are their own logarithms.
  Value isFinite = b.cmpF(FPredicate::OLT, x, b.f32(infinity));
  value = b.select(isFinite, value, x);
  Value isZero = b.cmpF(FPredicate::OEQ, x, b.f32(0));
  Value special = b.select(isZero, b.f32(-infinity), b.f32(quietNaN));
  return b.select(b.cmpF(FPredicate::OLE, x, b.f32(0)), special, value);
}

static Value expandLog(ScalarBuilder &b, Value x) {
  Reduced reduced = reduceLogarithm(b, x);
  Value value = b.fma(reduced.exponent, b.f32(0x1.62e43p-1), reduced.logarithm);
  return selectLogarithm(b, x, value);
}

static Value expandLog2(ScalarBuilder &b, Value x) {
  Reduced reduced = reduceLogarithm(b, x);
  Value value =
      b.fma(reduced.logarithm, b.f32(0x1.715476p+0), reduced.exponent);
  return selectLogarithm(b, x, value);
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

static Value expandRsqrt(ScalarBuilder &b, Value x) {
  return b.intrinsic("llvm.nvvm.rsqrt.approx.f", b.getF32(), x);
}

//===----------------------------------------------------------------------===//
// tanh and erf
//===----------------------------------------------------------------------===//

static Value expandTanh(ScalarBuilder &b, Value x) {
  // tanh(x) = x + x^3 * p(x^2), |x| <= 0.6: 2^-23.5.
  static constexpr float p[] = {-0x1.555368p-2f, 0x1.10a712p-3f,
                                -0x1.abb818p-5f, 0x1.ff9846p-7f};
  Value square = b.mulF(x, x);
  // Not x + x * ..., which is +0 for -0.
  Value small = b.mulF(x, b.fma(square, b.polynomial(square, p), b.f32(1)));

  // 1 - 2 / (exp(2|x|) + 1). An error of the quotient counts at most 0.75 times
  // from 0.6 on, and less for larger arguments, whose product with log2(e) is
  // rounded more coarsely.
  Value magnitude = b.absF(x);
  Value e = approximateExp2(b, b.mulF(magnitude, b.f32(0x1.715476p+1)));
  Value quotient = approximateReciprocal(b, b.addF(e, b.f32(1)));
  Value large = copySign(b, b.fma(quotient, b.f32(-2), b.f32(1)), x);

  Value isSmall = b.cmpF(FPredicate::OLT, magnitude, b.f32(0.6));
  return b.select(isSmall, small, large);
}

static Value expandErf(ScalarBuilder &b, Value x) {
  // erf(x) = x * p(x^2), |x| <= 0.92: 2^-25.8.
  static constexpr float p[] = {0x1.20dd74p+0f, -0x1.8126ep-2f,
                                0x1.ce197ap-4f, -0x1.b67d8ap-6f,
                                0x1.46e9e6p-8f, -0x1.38c79cp-11f};
  // erfc(x) = 2^q(x), 0.9 <= x <= 4: 2^-25.1 relative to erf(x).
  static constexpr float q[] = {-0x1.5895cep-9f, -0x1.9dcbe4p+0f,
                                -0x1.e076dp-1f,  -0x1.0dd36ep-3f,
                                0x1.71fb42p-6f,  -0x1.dd0c32p-10f};
  Value small = b.mulF(x, b.polynomial(b.mulF(x, x), p));

  Value magnitude = b.absF(x);
  // erf(4) rounds to 1. NaN goes through.
  Value limited = b.create<arith::MinimumFOp>(magnitude, b.f32(4));
  Value complement = approximateExp2(b, b.polynomial(limited, q));
  Value large = copySign(b, b.subF(b.f32(1), complement), x);

  Value isSmall = b.cmpF(FPredicate::OLT, magnitude, b.f32(0.91));
  return b.select(isSmall, small, large);
}

//===----------------------------------------------------------------------===//
// sin and cos
//===----------------------------------------------------------------------===//

/// sin(x + quarters * pi/2).
static Value expandSinOfQuarters(ScalarBuilder &b, Value x, int quarters) {
  // sin(r) = r + r^3 * s(r^2), cos(r) = 1 + r^2 * c(r^2), |r| <= 0.786: 2^-29
  // and 2^-24.8, absolute.
  static constexpr float s[] = {-0x1.55554p-3f, 0x1.1105a8p-7f,
                                -0x1.98d6b8p-13f};
  static constexpr float c[] = {-0x1.ffffb8p-2f, 0x1.553f7ep-5f,
                                -0x1.647194p-10f};
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits of the
  // sum: no conversion, which an argument of any size could overflow.
  Value shifted = b.fma(x, b.f32(0x1.45f306p-1), b.f32(0x1.8p23));
  Value n = b.subF(shifted, b.f32(0x1.8p23));
  Value quadrant = b.bitcast(b.getInteger(32), shifted);
  if (quarters)
    quadrant = b.addI(quadrant, b.i32(quarters));

  // x - n * pi/2, pi/2 in three parts (Cody and Waite); fma loses nothing of
  // the products. All parts are rounded down: products of both signs would turn
  // -0 into +0.
  Value r = b.fma(n, b.f32(-0x1.921fb4p+0), x);
  r = b.fma(n, b.f32(-0x1.4442dp-24), r);
  r = b.fma(n, b.f32(-0x1.846988p-48), r);
  // For arguments beyond 2^22 or so, r is meaningless. This keeps the result
  // in [-1, 1]. NaN, also that of infinity, goes through.
  r = b.create<arith::MaximumFOp>(r, b.f32(-1));
  r = b.create<arith::MinimumFOp>(r, b.f32(1));

  Value square = b.mulF(r, r);
  Value sine = b.mulF(r, b.fma(square, b.polynomial(square, s), b.f32(1)));
  Value cosine = b.fma(square, b.polynomial(square, c), b.f32(1));
  Value isOdd =
      b.cmpI(arith::CmpIPredicate::ne, b.andI(quadrant, b.i32(1)), b.i32(0));
  Value value = b.select(isOdd, cosine, sine);
  // Bit 1 of the quadrant is the sign.
  Value sign = b.shiftLeft(b.andI(quadrant, b.i32(2)), b.i32(30));
  Value bits = b.xorI(b.bitcast(b.getInteger(32), value), sign);
  return b.bitcast(b.getF32(), bits);
}

static Value expandSin(ScalarBuilder &b, Value x) {
  return expandSinOfQuarters(b, x, 0);
}
static Value expandCos(ScalarBuilder &b, Value x) {
  return expandSinOfQuarters(b, x, 1);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What computes `op` on f32, or null.
static Value (*getExpansion(Operation *op))(ScalarBuilder &, Value) {
  using Expansion = Value (*)(ScalarBuilder &, Value);
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
static Value createExact(ScalarBuilder &b, Operation *op) {
  Type type = op->getResult(0).getType();
  ValueRange operands = op->getOperands();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case(
          [&](math::AbsFOp) { return b.create<LLVM::FAbsOp>(type, operands); })
      .Case(
          [&](math::CeilOp) { return b.create<LLVM::FCeilOp>(type, operands); })
      .Case([&](math::FloorOp) {
        return b.create<LLVM::FFloorOp>(type, operands);
      })
      .Case([&](math::FmaOp) { return b.create<LLVM::FMAOp>(type, operands); })
      .Case([&](math::RoundEvenOp) {
        return b.create<LLVM::RoundEvenOp>(type, operands);
      })
      .Case(
          [&](math::SqrtOp) { return b.create<LLVM::SqrtOp>(type, operands); })
      .Case([&](math::TruncOp) {
        return b.create<LLVM::FTruncOp>(type, operands);
      })
      .Default([](Operation *) { return nullptr; });
}

/// Rewrites an operation of `math` on scalars and erases it.
static LogicalResult expandMath(Operation *op) {
  Type type = op->getResult(0).getType();
  const bool isFloat = type.isF32() || type.isF16() || type.isBF16();
  ScalarBuilder b(op);
  Value result;
  if (auto expansion = getExpansion(op); expansion && isFloat)
    result =
        b.truncateF32(type, expansion(b, b.extendToF32(op->getOperand(0))));
  else if (isFloat)
    result = createExact(b, op);
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
