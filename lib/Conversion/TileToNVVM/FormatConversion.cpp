//===- FormatConversion.cpp - Codes to values and back, in registers ------===//
//
// One idea serves every decode: put the exponent and mantissa bits of the code
// at the low end of the wider format's exponent and high end of its mantissa.
// The result is the value times 2^(bias - wider bias), subnormals included, and
// one multiplication by a power of two makes it exact.
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

//===----------------------------------------------------------------------===//
// Pairs of 16-bit multiplicands
//===----------------------------------------------------------------------===//

/// The same 16 bits in both halves.
static uint32_t twice(uint32_t half) { return half | half << 16; }

/// 2^exponent in a 16-bit format.
static uint32_t powerOfTwo(const FormatInfo &info, int exponent) {
  return static_cast<uint32_t>(exponent + info.bias) << info.mantissaBits;
}

static VectorType getPairType(Emitter &emit, ElementFormat format) {
  Type element = format == ElementFormat::BF16
                     ? Type(emit.builder.getBF16Type())
                     : Type(emit.builder.getF16Type());
  return VectorType::get({2}, element);
}

Value tile::multiplyPairs(Emitter &emit, ElementFormat format, Value a,
                          Value b) {
  // Targets before sm_90 have no bf16 multiply; a fused multiply-add of -0 is
  // one on all of them.
  VectorType type = getPairType(emit, format);
  Value product =
      LLVM::FMulOp::create(emit.builder, emit.loc, type, emit.bitcast(type, a),
                           emit.bitcast(type, b));
  return emit.bitcast(emit.i32(), product);
}

/// Moves the magnitude of codes that stand at the top of both halves of `word`
/// to its place in `wide`, keeps the sign, and undoes the difference of bias.
static Value placeAndScale(Emitter &emit, const FormatInfo &info,
                           const FormatInfo &wide, ElementFormat multiplicand,
                           Value word) {
  // The code's top bit is the sign, as in the wide format; its magnitude moves
  // right by the extra exponent bits.
  unsigned down = wide.exponentBits - info.exponentBits;
  uint32_t magnitudeBits = info.exponentBits + info.mantissaBits;
  uint32_t mask = ((1u << magnitudeBits) - 1)
                  << (wide.mantissaBits - info.mantissaBits);
  Value sign = emit.bitAnd(word, 0x80008000);
  Value magnitude = emit.bitAnd(emit.lshr(word, down), twice(mask));
  if (int difference = wide.bias - info.bias)
    magnitude = multiplyPairs(emit, multiplicand, magnitude,
                              emit.i32(twice(powerOfTwo(wide, difference))));
  return emit.bitOr(magnitude, sign);
}

/// All ones in each half whose FP8 code (top byte of the half) is special: NaN
/// of f8E4M3FN, infinity or NaN of f8E5M2.
static Value getSpecialMask(Emitter &emit, const FormatInfo &info, Value word) {
  uint32_t special = info.hasInfinity
                         ? ((1u << info.exponentBits) - 1) << info.mantissaBits
                         : 0x7F;
  // Adding what is missing to 0x80 carries into the sign's place, which was
  // cleared, exactly for special codes.
  Value magnitude = emit.bitAnd(word, twice(0x7F00));
  Value carried = emit.bitAnd(
      emit.add(magnitude, emit.i32(twice((0x80 - special) << 8))), 0x80008000);
  // 0x8000 becomes 0xFFFF per half.
  return emit.sub(emit.shl(carried, 1), emit.lshr(carried, 15));
}

static std::array<Value, 4> decodeFp4Pairs(Emitter &emit, Value word,
                                           ElementFormat multiplicand,
                                           PairOrder order) {
  const FormatInfo &info = getFormatInfo(ElementFormat::F4E2M1FN);
  const FormatInfo &wide = getFormatInfo(multiplicand);
  std::array<Value, 4> pairs;
  Value low; // every low nibble moved to the top of its byte
  for (int i = 0; i < 4; ++i) {
    Value top;
    if (order == PairOrder::Interleaved) {
      // Nibbles i and i + 4 are 16 bits apart already.
      top = emit.shift(word, 12 - 4 * i);
    } else {
      if (!low)
        low = emit.shl(word, 4);
      // Byte i twice: its low nibble, then its high one, in upper nibbles.
      uint32_t selector = (4u + i) << 4 | static_cast<uint32_t>(i) << 12 |
                          static_cast<uint32_t>(i) << 8 | (4u + i);
      top = emit.prmt(word, low, selector);
    }
    pairs[i] = placeAndScale(emit, info, wide, multiplicand, top);
  }
  return pairs;
}

static std::array<Value, 4> decodeFp8Pairs(Emitter &emit, ElementFormat format,
                                           ArrayRef<Value> words,
                                           ElementFormat multiplicand,
                                           PairOrder order) {
  const FormatInfo &info = getFormatInfo(format);
  const FormatInfo &wide = getFormatInfo(multiplicand);
  std::array<Value, 4> pairs;
  for (uint32_t i = 0; i < 4; ++i) {
    // The two codes in the upper bytes of the halves.
    Value a = words[0], b = words[1];
    uint32_t first, second;
    if (order == PairOrder::Interleaved) {
      first = i;
      second = 4 + i;
    } else {
      if (i >= 2)
        a = b;
      first = 2 * (i & 1);
      second = first + 1;
    }
    Value top =
        emit.prmt(a, b, first | first << 4 | second << 8 | second << 12);
    Value special = getSpecialMask(emit, info, top);
    Value pair = placeAndScale(emit, info, wide, multiplicand, top);
    // The exponent of all ones makes infinity of f8E5M2's and NaN of the rest;
    // f8E4M3FN's NaN is all ones anyway.
    uint32_t ones = info.hasInfinity
                        ? ((1u << wide.exponentBits) - 1) << wide.mantissaBits
                        : 0x7FFF;
    pairs[i] = emit.bitOr(pair, emit.bitAnd(special, twice(ones)));
  }
  return pairs;
}

std::array<Value, 4> tile::decodeToPairs(Emitter &emit, ElementFormat format,
                                         ArrayRef<Value> words,
                                         ElementFormat multiplicand,
                                         PairOrder order) {
  switch (format) {
  case ElementFormat::F4E2M1FN:
    return decodeFp4Pairs(emit, words[0], multiplicand, order);
  case ElementFormat::F8E4M3FN:
  case ElementFormat::F8E5M2:
    return decodeFp8Pairs(emit, format, words, multiplicand, order);
  default: {
    assert(order == PairOrder::Natural && "16-bit operands are not permuted");
    return {words[0], words[1], words[2], words[3]};
  }
  }
}

Value tile::decodeScalePair(Emitter &emit, ElementFormat scale, Value code,
                            ElementFormat multiplicand) {
  if (scale == ElementFormat::F8E4M3FN) {
    // The code's bits at the low end of the wide exponent are the scale times a
    // power of two, subnormals included, in both halves at once.
    const FormatInfo &info = getFormatInfo(scale);
    const FormatInfo &wide = getFormatInfo(multiplicand);
    code = emit.bitAnd(code, 0x7F);
    Value placed = emit.mul(
        code, emit.i32(twice(1u << (wide.mantissaBits - info.mantissaBits))));
    Value value =
        multiplyPairs(emit, multiplicand, placed,
                      emit.i32(twice(powerOfTwo(wide, wide.bias - info.bias))));
    Value isNaN = emit.compare(arith::CmpIPredicate::eq, code, emit.i32(0x7F));
    return emit.select(isNaN, emit.i32(twice(0x7FFF)), value);
  }
  Value value = decodeToF32(emit, scale, code);
  Value half = encodeFromF32(emit, multiplicand, value, Rounding::NearestEven,
                             /*saturate=*/true);
  return emit.bitOr(half, emit.shl(half, 16));
}

Value tile::spreadToContainers(Emitter &emit, Value half) {
  Value x = emit.bitAnd(half, 0xFFFF);
  x = emit.bitAnd(emit.bitOr(x, emit.shl(x, 8)), 0x00FF00FF);
  x = emit.bitAnd(emit.bitOr(x, emit.shl(x, 4)), 0x0F0F0F0F);
  return emit.shl(x, 2);
}
