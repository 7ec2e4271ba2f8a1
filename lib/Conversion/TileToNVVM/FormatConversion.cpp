//===- FormatConversion.cpp - Codes to values and back, in registers ------===//
//
// One idea serves every decode: put the exponent and mantissa bits of the code
// at the low end of the wider format's exponent and high end of its mantissa.
// The result is the value times 2^(bias - wider bias), subnormals included, and
// one multiplication by a power of two makes it exact. PairConversion.cpp does
// it for two values of a register at once.
//
//===----------------------------------------------------------------------===//

#include "FormatConversion.h"

#include <cstring>

using namespace mlir;
using namespace tile;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Scalars, through f32
//===----------------------------------------------------------------------===//

/// The bits of 2^exponent as f32.
static uint32_t powerOfTwo(int exponent) {
  return static_cast<uint32_t>(exponent + 127) << 23;
}

/// Small float formats: sign, exponent, mantissa with a bias below f32's.
static Value decodeSmallToF32(Emitter &emit, const FormatInfo &info,
                              Value code) {
  uint32_t magnitudeMask = (1u << (info.bits - 1)) - 1;
  Value magnitude = emit.bitAnd(code, magnitudeMask);
  Value placed = emit.shl(magnitude, 23 - info.mantissaBits);
  Value value = emit.fmul(emit.bitcast(emit.f32(), placed),
                          emit.f32Bits(powerOfTwo(127 - info.bias)));
  Value bits = emit.bitcast(emit.i32(), value);
  if (info.hasInfinity) {
    // An exponent of all ones: keep the mantissa, which tells NaN.
    uint32_t special = ((1u << info.exponentBits) - 1) << info.mantissaBits;
    Value isSpecial =
        emit.compare(CmpIPredicate::uge, magnitude, emit.i32(special));
    bits = emit.select(isSpecial, emit.bitOr(placed, 0x7F800000), bits);
  } else if (info.hasNaN) {
    Value isNaN =
        emit.compare(CmpIPredicate::eq, magnitude, emit.i32(magnitudeMask));
    bits = emit.select(isNaN, emit.i32(0x7FFFFFFF), bits);
  }
  Value sign =
      emit.shl(emit.bitAnd(code, 1u << (info.bits - 1)), 32 - info.bits);
  return emit.bitcast(emit.f32(), emit.bitOr(bits, sign));
}

Value tile::decodeToF32(Emitter &emit, ElementFormat format, Value code) {
  const FormatInfo &info = getFormatInfo(format);
  switch (format) {
  case ElementFormat::F32:
    return emit.bitcast(emit.f32(), code);
  case ElementFormat::BF16:
    return emit.bitcast(emit.f32(), emit.shl(code, 16));
  case ElementFormat::F16: {
    Value half = emit.bitcast(emit.builder.getF16Type(),
                              emit.trunc(emit.builder.getI16Type(), code));
    return arith::ExtFOp::create(emit.builder, emit.loc, emit.f32(), half);
  }
  case ElementFormat::F8E8M0FNU: {
    // Byte 0 is 2^-127, a subnormal; 0xFF is NaN.
    Value bits = emit.shl(code, 23);
    bits = emit.select(emit.isZero(code), emit.i32(0x00400000), bits);
    Value isNaN = emit.compare(CmpIPredicate::eq, code, emit.i32(0xFF));
    return emit.bitcast(emit.f32(),
                        emit.select(isNaN, emit.i32(0x7FFFFFFF), bits));
  }
  default:
    return decodeSmallToF32(emit, info, code);
  }
}

/// E8M0 of |value|: the exponent field, rounded as asked.
static Value encodeE8M0(Emitter &emit, Value magnitude, Rounding rounding) {
  Value exponent;
  if (rounding == Rounding::TowardZero) {
    exponent = emit.lshr(magnitude, 23);
  } else {
    Value rounded = emit.lshr(emit.add(magnitude, emit.i32(0x007FFFFF)), 23);
    // Up to 2^-127 byte 0 is the upper neighbour.
    Value isTiny =
        emit.compare(CmpIPredicate::ule, magnitude, emit.i32(0x00400000));
    exponent = emit.select(isTiny, emit.i32(0), rounded);
  }
  Value isBig = emit.compare(CmpIPredicate::ugt, exponent, emit.i32(0xFE));
  exponent = emit.select(isBig, emit.i32(0xFE), exponent);
  Value isNaN =
      emit.compare(CmpIPredicate::ugt, magnitude, emit.i32(0x7F800000));
  return emit.select(isNaN, emit.i32(0xFF), exponent);
}

/// FP4 and FP8 from f32, to nearest even.
static Value encodeSmall(Emitter &emit, const FormatInfo &info, Value bits,
                         bool saturate) {
  unsigned dropped = 23 - info.mantissaBits;
  Value magnitude = emit.bitAnd(bits, 0x7FFFFFFF);
  uint32_t maxCode = info.format == ElementFormat::F8E4M3FN ? 0x7E
                     : info.format == ElementFormat::F8E5M2 ? 0x7B
                                                            : 0x7;
  // The largest finite value, and the first f32 that rounds beyond it.
  float largest = static_cast<float>(info.max);
  uint32_t largestBits;
  static_assert(sizeof(largest) == sizeof(largestBits), "f32");
  std::memcpy(&largestBits, &largest, sizeof(largestBits));
  Value isOver =
      emit.compare(CmpIPredicate::ugt, magnitude, emit.i32(largestBits));
  Value clamped = emit.select(isOver, emit.i32(largestBits), magnitude);

  // Normal results: round the mantissa in place, then change the bias.
  Value odd = emit.bitAnd(emit.lshr(clamped, dropped), 1);
  Value rounded =
      emit.add(emit.add(clamped, emit.i32((1u << (dropped - 1)) - 1)), odd);
  Value normal = emit.sub(
      emit.lshr(rounded, dropped),
      emit.i32(static_cast<uint32_t>(127 - info.bias) << info.mantissaBits));
  // Subnormal results: adding a power of two whose last bit is the format's
  // smallest step makes the f32 addition round.
  int stepExponent = 1 - info.bias - static_cast<int>(info.mantissaBits);
  uint32_t magic = powerOfTwo(stepExponent + 23);
  Value sum = emit.fadd(emit.bitcast(emit.f32(), clamped), emit.f32Bits(magic));
  Value subnormal = emit.sub(emit.bitcast(emit.i32(), sum), emit.i32(magic));
  Value isSubnormal = emit.compare(CmpIPredicate::ult, clamped,
                                   emit.i32(powerOfTwo(1 - info.bias)));
  Value code = emit.select(isSubnormal, subnormal, normal);

  bool overflows = !saturate && info.hasNaN;
  if (overflows) {
    // The tie beyond the largest value goes to the even neighbour: up for
    // f8E5M2, whose largest mantissa is odd, down for f8E4M3FN.
    uint32_t tie = largestBits + (1u << (dropped - 1));
    Value isBeyond =
        emit.compare(info.hasInfinity ? CmpIPredicate::uge : CmpIPredicate::ugt,
                     magnitude, emit.i32(tie));
    code = emit.select(isBeyond, emit.i32(maxCode + 1), code);
  }
  Value sign = emit.lshr(emit.bitAnd(bits, 0x80000000), 32 - info.bits);
  code = emit.bitOr(code, sign);
  if (overflows && !info.hasInfinity) {
    // Overflow is NaN here, which has one spelling.
    uint32_t tie = largestBits + (1u << (dropped - 1));
    Value isBeyond = emit.compare(CmpIPredicate::ugt, magnitude, emit.i32(tie));
    code = emit.select(isBeyond, emit.i32(0x7F), code);
  }
  Value isNaN =
      emit.compare(CmpIPredicate::ugt, magnitude, emit.i32(0x7F800000));
  return emit.select(isNaN, emit.i32(info.hasNaN ? 0x7F : maxCode), code);
}

Value tile::encodeFromF32(Emitter &emit, ElementFormat format, Value value,
                          Rounding rounding, bool saturate) {
  Value bits = emit.bitcast(emit.i32(), value);
  switch (format) {
  case ElementFormat::F32:
    return bits;
  case ElementFormat::BF16:
  case ElementFormat::F16: {
    Type type = format == ElementFormat::BF16 ? emit.builder.getBF16Type()
                                              : Type(emit.builder.getF16Type());
    Value narrow = arith::TruncFOp::create(emit.builder, emit.loc, type, value);
    return emit.zext(emit.i32(),
                     emit.bitcast(emit.builder.getI16Type(), narrow));
  }
  case ElementFormat::F8E8M0FNU:
    return encodeE8M0(emit, emit.bitAnd(bits, 0x7FFFFFFF), rounding);
  default:
    return encodeSmall(emit, getFormatInfo(format), bits, saturate);
  }
}
