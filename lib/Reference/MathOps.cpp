//===- MathOps.cpp - Element-wise functions -------------------------------===//
//
// The operations of `math` that a kernel may use. absf, floor, ceil, trunc,
// roundeven, sqrt and fma are exact or correctly rounded; the others are
// computed in f64 and rounded once, far inside the bound that the contract
// sets.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::reference;

// Names, so that they can be template arguments: the standard's functions are
// overloaded.
static double floorF(double x) { return std::floor(x); }
static double ceilF(double x) { return std::ceil(x); }
static double truncF(double x) { return std::trunc(x); }
static double sqrtF(double x) { return std::sqrt(x); }
static double rsqrtF(double x) { return 1.0 / std::sqrt(x); }
static double expF(double x) { return std::exp(x); }
static double exp2F(double x) { return std::exp2(x); }
static double logF(double x) { return std::log(x); }
static double log2F(double x) { return std::log2(x); }
static double tanhF(double x) { return std::tanh(x); }
static double erfF(double x) { return std::erf(x); }
static double sinF(double x) { return std::sin(x); }
static double cosF(double x) { return std::cos(x); }

/// To the nearest integer, ties to even, whatever the rounding mode of the
/// machine. The sign stays, of zeros too.
static double roundEvenF(double x) {
  // Also infinity and NaN: from 2^52 on every number is an integer.
  if (!(std::fabs(x) < 0x1p52))
    return x;
  double floor = std::floor(x), rest = x - floor;
  bool up = rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2.0) != 0.0);
  return std::copysign(up ? floor + 1.0 : floor, x);
}

/// Clears the sign bit, of a NaN too.
static LogicalResult computeAbsF(Program &program, math::AbsFOp op) {
  const Tensor &x = program.getTensor(op.getOperand());
  uint64_t sign = uint64_t(1) << (x.getElement().bits - 1);
  return setElements(program, op,
                     [&](int64_t i) { return x.getCode(i) & ~sign; });
}

/// a * b + c for formats up to f32, such that rounding the result again gives
/// the correctly rounded one. The product is exact in f64. The sum is rounded
/// to odd: where bits are lost, the last bit kept is set, so that a result that
/// only looks like a tie of the narrower format does not become one.
static double fmaToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  // The error of the sum, exactly (Knuth's TwoSum).
  double other = sum - product;
  double error = (product - (sum - other)) + (c - other);
  uint64_t bits = llvm::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  // The odd neighbour on the side of the exact sum, which is not zero here.
  bits += (error > 0) == (sum > 0) ? 1 : -1;
  return llvm::bit_cast<double>(bits);
}

static LogicalResult computeFma(Program &program, math::FmaOp op) {
  const Tensor &a = program.getTensor(op.getA());
  const Tensor &b = program.getTensor(op.getB());
  const Tensor &c = program.getTensor(op.getC());
  const Element element = a.getElement();
  return setElements(program, op, [&](int64_t i) {
    double x = a.getFloat(i), y = b.getFloat(i), z = c.getFloat(i);
    return element.encode(element.format ? fmaToOdd(x, y, z)
                                         : std::fma(x, y, z));
  });
}

template <typename OpT, double (*f)(double)>
static void add(HandlerTable &table) {
  addHandler<OpT, computeFloatUnary<OpT, f>>(table);
}

void tile::reference::addMathHandlers(HandlerTable &table) {
  addHandler<math::AbsFOp, computeAbsF>(table);
  addHandler<math::FmaOp, computeFma>(table);
  add<math::CeilOp, ceilF>(table);
  add<math::CosOp, cosF>(table);
  add<math::ErfOp, erfF>(table);
  add<math::Exp2Op, exp2F>(table);
  add<math::ExpOp, expF>(table);
  add<math::FloorOp, floorF>(table);
  add<math::Log2Op, log2F>(table);
  add<math::LogOp, logF>(table);
  add<math::RoundEvenOp, roundEvenF>(table);
  add<math::RsqrtOp, rsqrtF>(table);
  add<math::SinOp, sinF>(table);
  add<math::SqrtOp, sqrtF>(table);
  add<math::TanhOp, tanhF>(table);
  add<math::TruncOp, truncF>(table);
}
