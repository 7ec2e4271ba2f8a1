//===- ArithOps.cpp - Element-wise arithmetic -----------------------------===//
//
// The operations of `arith`. Integers are codes of their type's width and wrap.
// Where `arith` leaves a result undefined without ending the program, the
// reference defines it: a shift by the width or more moves every bit out, a
// float that does not fit an integer becomes the nearest one, NaN becomes 0.
// A division by zero, or one whose quotient does not fit, divides by 1 in a
// tile, whose elements outside an array are computed too, and is a fault on
// scalars, which nothing pads.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tile;
using namespace tile::reference;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// A resource is a blob of little-endian elements without padding. An element
/// of less than a byte takes a whole one, as everywhere in the reference.
static llvm::Expected<Tensor> readResource(DenseResourceElementsAttr resource) {
  ShapedType type = resource.getType();
  Tensor tensor(*Element::get(type.getElementType()), type.getShape());
  const unsigned bytes = tensor.getElement().bytes;
  const uint64_t expected = static_cast<uint64_t>(tensor.size()) * bytes;
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob || blob->getData().size() != expected)
    return llvm::createStringError(
        "expects a resource of " + Twine(expected) +
        (expected == 1 ? " byte" : " bytes") + ", but got " +
        (blob ? Twine(blob->getData().size()) : Twine("none")));
  ArrayRef<char> data = blob->getData();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t code = 0;
    std::memcpy(&code, data.data() + i * bytes, bytes);
    tensor.setCode(i, code & tensor.getElement().getMask());
  }
  return tensor;
}

llvm::Expected<Tensor> tile::reference::evaluateConstant(TypedAttr attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return Tensor::getScalar(*Element::get(integer.getType()),
                             integer.getValue().getZExtValue());
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return Tensor::getScalar(*Element::get(number.getType()),
                             number.getValue().bitcastToAPInt().getZExtValue());

  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return readResource(resource);
  auto elements = dyn_cast<DenseIntOrFPElementsAttr>(attribute);
  if (!elements)
    return llvm::createStringError(
        "expects a number, 'dense<…>' or 'dense_resource<…>'");
  auto type = cast<RankedTensorType>(elements.getType());
  Tensor tensor(*Element::get(type.getElementType()), type.getShape());
  int64_t i = 0;
  if (isa<FloatType>(type.getElementType()))
    for (const APFloat &value : elements.getValues<APFloat>())
      tensor.setCode(i++, value.bitcastToAPInt().getZExtValue());
  else
    for (const APInt &value : elements.getValues<APInt>())
      tensor.setCode(i++, value.getZExtValue());
  return tensor;
}

static LogicalResult computeConstant(Program &program, arith::ConstantOp op) {
  program.set(op.getResult(),
              program.getLaunch().kernel.constants.lookup(op.getOperation()));
  return success();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static uint64_t addI(const Element &, uint64_t a, uint64_t b) { return a + b; }
static uint64_t subI(const Element &, uint64_t a, uint64_t b) { return a - b; }
static uint64_t mulI(const Element &, uint64_t a, uint64_t b) { return a * b; }
static uint64_t andI(const Element &, uint64_t a, uint64_t b) { return a & b; }
static uint64_t orI(const Element &, uint64_t a, uint64_t b) { return a | b; }
static uint64_t xorI(const Element &, uint64_t a, uint64_t b) { return a ^ b; }

static uint64_t shiftLeft(const Element &e, uint64_t a, uint64_t b) {
  return b < e.bits ? a << b : 0;
}
static uint64_t shiftRightUnsigned(const Element &e, uint64_t a, uint64_t b) {
  return b < e.bits ? a >> b : 0;
}
static uint64_t shiftRightSigned(const Element &e, uint64_t a, uint64_t b) {
  uint64_t last = e.bits - 1;
  return static_cast<uint64_t>(e.decodeSigned(a) >> std::min(b, last));
}

static uint64_t maxSigned(const Element &e, uint64_t a, uint64_t b) {
  return e.decodeSigned(a) < e.decodeSigned(b) ? b : a;
}
static uint64_t minSigned(const Element &e, uint64_t a, uint64_t b) {
  return e.decodeSigned(b) < e.decodeSigned(a) ? b : a;
}
static uint64_t maxUnsigned(const Element &, uint64_t a, uint64_t b) {
  return std::max(a, b);
}
static uint64_t minUnsigned(const Element &, uint64_t a, uint64_t b) {
  return std::min(a, b);
}

/// A quotient or remainder of numbers of up to 65 bits; the divisor is not 0.
using Division = __int128 (*)(__int128, __int128);

static __int128 quotient(__int128 a, __int128 b) { return a / b; }
static __int128 remainder(__int128 a, __int128 b) { return a % b; }
static __int128 floorQuotient(__int128 a, __int128 b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static __int128 ceilQuotient(__int128 a, __int128 b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

template <typename OpT, Division divide, bool isSigned>
static LogicalResult computeDivision(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op.getLhs());
  const Tensor &y = program.getTensor(op.getRhs());
  const Element element = x.getElement();
  auto read = [&](const Tensor &tensor, int64_t i) -> __int128 {
    if (isSigned)
      return tensor.getSigned(i);
    return tensor.getCode(i);
  };
  const __int128 limit = __int128(1) << (element.bits - isSigned);
  bool isTile = isa<RankedTensorType>(op.getType());
  Tensor result = makeTensor(op.getResult());
  for (int64_t i = 0; i < result.size(); ++i) {
    __int128 divisor = read(y, i);
    if (divisor == 0) {
      if (!isTile)
        return program.fail(op, "divides by zero");
      divisor = 1;
    }
    __int128 value = divide(read(x, i), divisor);
    if (value >= limit) {
      if (!isTile)
        return program.fail(op, "has a quotient that does not fit");
      value = divide(read(x, i), 1);
    }
    result.setCode(i, static_cast<uint64_t>(value) & element.getMask());
  }
  program.set(op.getResult(), std::move(result));
  return success();
}

static bool compare(arith::CmpIPredicate predicate, const Element &e,
                    uint64_t a, uint64_t b) {
  int64_t x = e.decodeSigned(a), y = e.decodeSigned(b);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::ugt:
    return a > b;
  case arith::CmpIPredicate::uge:
    return a >= b;
  }
  llvm_unreachable("unknown predicate");
}

static LogicalResult computeCmpI(Program &program, arith::CmpIOp op) {
  const Tensor &x = program.getTensor(op.getLhs());
  const Tensor &y = program.getTensor(op.getRhs());
  return setElements(program, op, [&](int64_t i) -> uint64_t {
    return compare(op.getPredicate(), x.getElement(), x.getCode(i),
                   y.getCode(i));
  });
}

/// The low half in the first result, the high half or the carry in the second.
template <typename OpT, typename Compute>
static LogicalResult setTwoResults(Program &program, OpT op, Compute compute) {
  Tensor low = makeTensor(op->getResult(0));
  Tensor high = makeTensor(op->getResult(1));
  const Tensor &x = program.getTensor(op.getLhs());
  const Tensor &y = program.getTensor(op.getRhs());
  const Element element = x.getElement();
  for (int64_t i = 0; i < low.size(); ++i) {
    auto both = static_cast<unsigned __int128>(compute(x, y, i));
    low.setCode(i, static_cast<uint64_t>(both) & element.getMask());
    high.setCode(i, static_cast<uint64_t>(both >> element.bits) &
                        high.getElement().getMask());
  }
  program.set(op->getResult(0), std::move(low));
  program.set(op->getResult(1), std::move(high));
  return success();
}

static LogicalResult computeAddUIExtended(Program &program,
                                          arith::AddUIExtendedOp op) {
  return setTwoResults(
      program, op, [](const Tensor &x, const Tensor &y, int64_t i) {
        return static_cast<unsigned __int128>(x.getCode(i)) + y.getCode(i);
      });
}

static LogicalResult computeMulUIExtended(Program &program,
                                          arith::MulUIExtendedOp op) {
  return setTwoResults(
      program, op, [](const Tensor &x, const Tensor &y, int64_t i) {
        return static_cast<unsigned __int128>(x.getCode(i)) * y.getCode(i);
      });
}

static LogicalResult computeMulSIExtended(Program &program,
                                          arith::MulSIExtendedOp op) {
  return setTwoResults(
      program, op, [](const Tensor &x, const Tensor &y, int64_t i) {
        return static_cast<__int128>(x.getSigned(i)) * y.getSigned(i);
      });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static double addF(double a, double b) { return a + b; }
static double subF(double a, double b) { return a - b; }
static double mulF(double a, double b) { return a * b; }
static double divF(double a, double b) { return a / b; }
static double remF(double a, double b) { return std::fmod(a, b); }

/// The larger number, +0 above -0; NaN if either is NaN.
static double maximumF(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  if (a == b)
    return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
static double minimumF(double a, double b) { return -maximumF(-a, -b); }

/// As `maximumF`, but a number wins over a NaN.
static double maxNumF(double a, double b) {
  if (std::isnan(a))
    return b;
  return std::isnan(b) ? a : maximumF(a, b);
}
static double minNumF(double a, double b) { return -maxNumF(-a, -b); }

/// Flips the sign bit, of a NaN too.
static LogicalResult computeNegF(Program &program, arith::NegFOp op) {
  const Tensor &x = program.getTensor(op.getOperand());
  uint64_t sign = uint64_t(1) << (x.getElement().bits - 1);
  return setElements(program, op,
                     [&](int64_t i) { return x.getCode(i) ^ sign; });
}

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return unordered || a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  llvm_unreachable("unknown predicate");
}

static LogicalResult computeCmpF(Program &program, arith::CmpFOp op) {
  const Tensor &x = program.getTensor(op.getLhs());
  const Tensor &y = program.getTensor(op.getRhs());
  return setElements(program, op, [&](int64_t i) -> uint64_t {
    return compare(op.getPredicate(), x.getFloat(i), y.getFloat(i));
  });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// trunci, extui, index_castui: the code, cut or filled with zeros.
template <typename OpT>
static LogicalResult computeUnsignedCast(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op->getOperand(0));
  const uint64_t mask = getElementOf(op->getResult(0)).getMask();
  return setElements(program, op,
                     [&](int64_t i) { return x.getCode(i) & mask; });
}

/// extsi, index_cast: the code, cut or filled with its sign.
template <typename OpT>
static LogicalResult computeSignedCast(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op->getOperand(0));
  const uint64_t mask = getElementOf(op->getResult(0)).getMask();
  return setElements(program, op, [&](int64_t i) {
    return static_cast<uint64_t>(x.getSigned(i)) & mask;
  });
}

/// extf, truncf: the value, rounded to nearest even.
static double sameValue(double value) { return value; }

/// An f64 that rounds to every narrower float as `value` does: bits that f64
/// cannot hold are or-ed into its last one ("rounding to odd").
static double roundToOdd(__int128 value) {
  const bool negative = value < 0;
  auto magnitude = static_cast<unsigned __int128>(negative ? -value : value);
  unsigned shift = 0;
  bool lost = false;
  while (magnitude >> 53) {
    lost |= magnitude & 1;
    magnitude >>= 1;
    ++shift;
  }
  double result =
      std::ldexp(static_cast<double>(static_cast<uint64_t>(magnitude) | lost),
                 static_cast<int>(shift));
  return negative ? -result : result;
}

/// sitofp, uitofp.
template <typename OpT, bool isSigned>
static LogicalResult computeIntegerToFloat(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op.getIn());
  const Element element = getElementOf(op.getOut());
  return setElements(program, op, [&](int64_t i) {
    if (element.format)
      return element.encode(roundToOdd(isSigned ? __int128(x.getSigned(i))
                                                : __int128(x.getCode(i))));
    return element.encode(isSigned ? static_cast<double>(x.getSigned(i))
                                   : static_cast<double>(x.getCode(i)));
  });
}

/// fptosi, fptoui: toward zero.
template <typename OpT, bool isSigned>
static LogicalResult computeFloatToInteger(Program &program, OpT op) {
  const Tensor &x = program.getTensor(op.getIn());
  const Element element = getElementOf(op.getOut());
  const __int128 upper = (__int128(1) << (element.bits - isSigned)) - 1;
  const __int128 lower = isSigned ? -upper - 1 : 0;
  return setElements(program, op, [&](int64_t i) -> uint64_t {
    double value = x.getFloat(i);
    if (std::isnan(value))
      return 0;
    // Beyond 2^64 a conversion to __int128 could overflow too.
    __int128 integer = value >= 0x1p64    ? upper
                       : value <= -0x1p64 ? lower
                                          : static_cast<__int128>(value);
    return static_cast<uint64_t>(std::clamp(integer, lower, upper)) &
           element.getMask();
  });
}

/// The codes in another type of the same width.
static LogicalResult computeBitcast(Program &program, arith::BitcastOp op) {
  const Tensor &x = program.getTensor(op.getIn());
  return setElements(program, op, [&](int64_t i) { return x.getCode(i); });
}

/// A scalar condition chooses one of two values, memrefs too; a tile of
/// conditions chooses element by element.
static LogicalResult computeSelect(Program &program, arith::SelectOp op) {
  const Tensor &condition = program.getTensor(op.getCondition());
  if (condition.getRank() == 0) {
    program.set(op.getResult(),
                program.get(condition.getCode(0) ? op.getTrueValue()
                                                 : op.getFalseValue()));
    return success();
  }
  const Tensor &yes = program.getTensor(op.getTrueValue());
  const Tensor &no = program.getTensor(op.getFalseValue());
  return setElements(program, op, [&](int64_t i) {
    return condition.getCode(i) ? yes.getCode(i) : no.getCode(i);
  });
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

template <typename OpT, uint64_t (*f)(const Element &, uint64_t, uint64_t)>
static void addInteger(HandlerTable &table) {
  addHandler<OpT, computeIntegerBinary<OpT, f>>(table);
}

template <typename OpT, Division divide, bool isSigned>
static void addDivision(HandlerTable &table) {
  addHandler<OpT, computeDivision<OpT, divide, isSigned>>(table);
}

template <typename OpT, double (*f)(double, double)>
static void addFloat(HandlerTable &table) {
  addHandler<OpT, computeFloatBinary<OpT, f>>(table);
}

void tile::reference::addArithHandlers(HandlerTable &table) {
  addHandler<arith::ConstantOp, computeConstant>(table);
  addHandler<arith::SelectOp, computeSelect>(table);
  addHandler<arith::BitcastOp, computeBitcast>(table);

  addInteger<arith::AddIOp, addI>(table);
  addInteger<arith::SubIOp, subI>(table);
  addInteger<arith::MulIOp, mulI>(table);
  addInteger<arith::AndIOp, andI>(table);
  addInteger<arith::OrIOp, orI>(table);
  addInteger<arith::XOrIOp, xorI>(table);
  addInteger<arith::ShLIOp, shiftLeft>(table);
  addInteger<arith::ShRUIOp, shiftRightUnsigned>(table);
  addInteger<arith::ShRSIOp, shiftRightSigned>(table);
  addInteger<arith::MaxSIOp, maxSigned>(table);
  addInteger<arith::MaxUIOp, maxUnsigned>(table);
  addInteger<arith::MinSIOp, minSigned>(table);
  addInteger<arith::MinUIOp, minUnsigned>(table);
  addDivision<arith::DivSIOp, quotient, true>(table);
  addDivision<arith::DivUIOp, quotient, false>(table);
  addDivision<arith::RemSIOp, remainder, true>(table);
  addDivision<arith::RemUIOp, remainder, false>(table);
  addDivision<arith::FloorDivSIOp, floorQuotient, true>(table);
  addDivision<arith::CeilDivSIOp, ceilQuotient, true>(table);
  addDivision<arith::CeilDivUIOp, ceilQuotient, false>(table);
  addHandler<arith::CmpIOp, computeCmpI>(table);
  addHandler<arith::AddUIExtendedOp, computeAddUIExtended>(table);
  addHandler<arith::MulUIExtendedOp, computeMulUIExtended>(table);
  addHandler<arith::MulSIExtendedOp, computeMulSIExtended>(table);

  addFloat<arith::AddFOp, addF>(table);
  addFloat<arith::SubFOp, subF>(table);
  addFloat<arith::MulFOp, mulF>(table);
  addFloat<arith::DivFOp, divF>(table);
  addFloat<arith::RemFOp, remF>(table);
  addFloat<arith::MaximumFOp, maximumF>(table);
  addFloat<arith::MinimumFOp, minimumF>(table);
  addFloat<arith::MaxNumFOp, maxNumF>(table);
  addFloat<arith::MinNumFOp, minNumF>(table);
  addHandler<arith::NegFOp, computeNegF>(table);
  addHandler<arith::CmpFOp, computeCmpF>(table);

  addHandler<arith::TruncIOp, computeUnsignedCast<arith::TruncIOp>>(table);
  addHandler<arith::ExtUIOp, computeUnsignedCast<arith::ExtUIOp>>(table);
  addHandler<arith::ExtSIOp, computeSignedCast<arith::ExtSIOp>>(table);
  addHandler<arith::IndexCastOp, computeSignedCast<arith::IndexCastOp>>(table);
  addHandler<arith::IndexCastUIOp, computeUnsignedCast<arith::IndexCastUIOp>>(
      table);
  addHandler<arith::ExtFOp, computeFloatUnary<arith::ExtFOp, sameValue>>(table);
  addHandler<arith::TruncFOp, computeFloatUnary<arith::TruncFOp, sameValue>>(
      table);
  addHandler<arith::SIToFPOp, computeIntegerToFloat<arith::SIToFPOp, true>>(
      table);
  addHandler<arith::UIToFPOp, computeIntegerToFloat<arith::UIToFPOp, false>>(
      table);
  addHandler<arith::FPToSIOp, computeFloatToInteger<arith::FPToSIOp, true>>(
      table);
  addHandler<arith::FPToUIOp, computeFloatToInteger<arith::FPToUIOp, false>>(
      table);
}
