//===- PairConversion.cpp - Codes to pairs of 16-bit values ---------------===//
//
// This file implements the decoding of FP4, FP8 and scale codes to registers of
// two bf16 or f16 values, and what is computed on such pairs. The sequences are
// chosen by the machine instructions that they become: multiplications of
// integers and of pairs are off the pipe of logic operations and shifts, which
// is the narrow one.
//
//===----------------------------------------------------------------------===//

#include "FormatConversion.h"

using namespace mlir;
using namespace tile;

/// The same 16 bits in both halves.
static uint32_t twice(uint32_t half) { return half | half << 16; }

/// 2^exponent in a 16-bit format.
static uint32_t powerOfTwo(const FormatInfo &info, int exponent) {
  return static_cast<uint32_t>(exponent + info.bias) << info.mantissaBits;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

VectorType tile::getPairType(Emitter &emit, ElementFormat format) {
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
  Value left = emit.bitcast(type, a), right = emit.bitcast(type, b);
  Value product =
      LLVM::FMulOp::create(emit.builder, emit.loc, type, left, right);
  return emit.bitcast(emit.i32(), product);
}

/// a * b + c for pairs, with one rounding.
static Value multiplyAddPairs(Emitter &emit, ElementFormat format, Value a,
                              Value b, Value c) {
  VectorType type = getPairType(emit, format);
  return emit.bitcast(emit.i32(),
                      emit.fma(emit.bitcast(type, a), emit.bitcast(type, b),
                               emit.bitcast(type, c)));
}

/// Half `index` of a register in both halves.
static Value splatHalf(Emitter &emit, ElementFormat format, Value pair,
                       int32_t index) {
  // Machine instructions on pairs can name one half of an operand for both, so
  // that this is part of what uses it.
  Value vector = emit.bitcast(getPairType(emit, format), pair);
  Value both = LLVM::ShuffleVectorOp::create(emit.builder, emit.loc, vector,
                                             vector, {index, index});
  return emit.bitcast(emit.i32(), both);
}

/// Emits assembly without side effects that makes a word of words.
static Value emitAssembly(Emitter &emit, const Twine &text, ValueRange words) {
  std::string constraints = "=r";
  for (size_t i = 0; i < words.size(); ++i)
    constraints += ",r";
  return LLVM::InlineAsmOp::create(
             emit.builder, emit.loc, emit.i32(), words, text.str(), constraints,
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
             ArrayAttr())
      .getResult(0);
}

/// The bits of `a` where `mask` has ones, of `b` elsewhere.
static Value selectBits(Emitter &emit, uint32_t mask, Value a, Value b) {
  // One machine instruction. Of two masks that are complements, which is what
  // LLVM makes of every other way to say it, the assembler makes two.
  return emitAssembly(emit,
                      "lop3.b32 $0, $1, $2, " + Twine(mask) + ", 228;", // 0xE4
                      {a, b});
}

/// The codes in byte `byte` of `word`, or for 8-bit codes in bytes `byte` and
/// `byte` + 1, as a pair of bf16. `from` is the name of the pair of codes.
static Value convertToBf16(Emitter &emit, StringRef from, Value word,
                           unsigned byte) {
  // LLVM has no operation for it. The machine instruction picks the bytes, so
  // that taking a word apart costs nothing.
  bool isFp4 = from == "e2m1x2";
  StringRef parts = isFp4 ? ".reg .b8 c0, c1, c2, c3; mov.b32 {c0, c1, c2, c3}"
                          : ".reg .b16 c0, c1; mov.b32 {c0, c1}";
  return emitAssembly(emit,
                      "{ " + Twine(parts) + ", $1; cvt.rn.bf16x2." + from +
                          " $0, c" + Twine(isFp4 ? byte : byte / 2) + "; }",
                      {word});
}

//===----------------------------------------------------------------------===//
// Placing
//===----------------------------------------------------------------------===//

/// Pairs whose codes stand at the top of both halves of `word`: the value times
/// 2^(bias - wider bias), but special codes are no special values.
static Value placeTopCodes(Emitter &emit, const FormatInfo &info,
                           const FormatInfo &wide, Value word) {
  // The code's top bit is the sign, as in the wide format; its magnitude moves
  // right by the extra exponent bits.
  unsigned down = wide.exponentBits - info.exponentBits;
  uint32_t magnitudeBits = info.exponentBits + info.mantissaBits;
  uint32_t mask = ((1u << magnitudeBits) - 1)
                  << (wide.mantissaBits - info.mantissaBits);
  Value sign = emit.bitAnd(word, 0x80008000);
  Value magnitude = emit.bitAnd(emit.lshr(word, down), twice(mask));
  return emit.bitOr(magnitude, sign);
}

/// Turns the values of f8E4M3FN's NaN code, 480 and -480, into NaN and leaves
/// the others alone. The pairs are values times 2^exponent.
static Value makeNaNs(Emitter &emit, ElementFormat multiplicand, Value pairs,
                      int exponent) {
  // The NaN code and the largest number, 448, have one exponent. A factor near
  // 2^(largest exponent - 8) that is no power of two parts them: only the
  // product of the former is infinite, and 0 times infinity is NaN. 0 times any
  // other product is a zero of the value's sign, which changes no sum, not even
  // that with a zero.
  const FormatInfo &wide = getFormatInfo(multiplicand);
  uint32_t factor = powerOfTwo(wide, wide.bias - 8 - exponent) |
                    9u << (wide.mantissaBits - 7); // 1 + 9/128
  Value limit =
      multiplyPairs(emit, multiplicand, pairs, emit.i32(twice(factor)));
  return multiplyAddPairs(emit, multiplicand, limit, emit.i32(0), pairs);
}

//===----------------------------------------------------------------------===//
// FP4
//===----------------------------------------------------------------------===//

int tile::getKeptBias(ElementFormat format, ElementFormat multiplicand) {
  if (format != ElementFormat::F4E2M1FN)
    return 0;
  return getFormatInfo(format).bias - getFormatInfo(multiplicand).bias;
}

PairOrder tile::choosePairOrder(unsigned fp4Words, unsigned otherWords,
                                ElementFormat other, ElementFormat multiplicand,
                                const DecodeOptions &options) {
  if (isUndoneShorter(ElementFormat::F4E2M1FN, multiplicand, options))
    return PairOrder::Natural;
  if (getFormatInfo(other).bits != 16)
    return PairOrder::Interleaved;
  // Eight values of FP4 take 4 instructions less, those of the other 4 more.
  bool isShorter = multiplicand == ElementFormat::BF16 &&
                   options.fp4 != DecodeOptions::Cvt::Always &&
                   fp4Words > otherWords / 4;
  return isShorter ? PairOrder::Interleaved : PairOrder::Natural;
}

bool tile::isUndoneShorter(ElementFormat format, ElementFormat multiplicand,
                           const DecodeOptions &options) {
  return options.bf16 && format == ElementFormat::F4E2M1FN &&
         multiplicand == ElementFormat::BF16;
}

/// Pairs of nibbles that stand in bits `first` to `first` + 3 of both halves of
/// `word`, all other bits zero: the value times 2^(bias - wider bias).
static Value spreadNibbles(Emitter &emit, const FormatInfo &info,
                           const FormatInfo &wide, Value word, unsigned first) {
  // One multiplication puts the nibble in two places: its sign to the top, its
  // magnitude below. They do not overlap, so there are no carries.
  unsigned down = wide.exponentBits - info.exponentBits;
  unsigned top = 16 - info.bits;
  Value both = emit.mul(
      word, emit.i32(1u << (top - first) | 1u << (top - down - first)));
  uint32_t magnitude = 7u << (wide.mantissaBits - info.mantissaBits);
  return emit.bitAnd(both, twice(0x8000 | magnitude));
}

/// The pairs by operations of every target, times 2^(bias - wider bias).
static std::array<Value, 4> placeFp4(Emitter &emit, Value word,
                                     ElementFormat multiplicand,
                                     PairOrder order) {
  const FormatInfo &info = getFormatInfo(ElementFormat::F4E2M1FN);
  const FormatInfo &wide = getFormatInfo(multiplicand);
  bool canSpread = wide.exponentBits - info.exponentBits >= info.bits;
  std::array<Value, 4> pairs;
  if (order == PairOrder::Interleaved) {
    // Nibbles i and i + 4 are 16 bits apart already.
    if (!canSpread) {
      for (unsigned i = 0; i < 4; ++i)
        pairs[i] =
            placeTopCodes(emit, info, wide, emit.shift(word, 12 - 4 * int(i)));
      return pairs;
    }
    // The signs of two nibbles of a half from one place of the word, their
    // magnitudes from another: both are placed at once, and other bits do not
    // matter until the end.
    const unsigned magnitude = wide.mantissaBits - info.mantissaBits;
    const int down = 12 - int(magnitude);
    const uint32_t mask = twice(0x8000 | 7u << magnitude);
    for (unsigned i = 0; i < 4; i += 2) {
      const int up = i == 0 ? 8 : 0;
      Value both = selectBits(emit, twice(0x8800), emit.shift(word, up),
                              emit.shift(word, up - down));
      pairs[i + 1] = emit.bitAnd(both, mask);
      pairs[i] = emit.bitAnd(emit.shl(both, 4), mask);
    }
    return pairs;
  }
  if (!canSpread) {
    Value low = emit.shl(word, 4); // each low nibble at the top of its byte
    for (uint32_t i = 0; i < 4; ++i) {
      // Byte i twice: its low nibble, then its high one, in upper nibbles.
      Value top =
          emit.prmt(word, low, (4 + i) << 4 | i << 12 | i << 8 | (4 + i));
      pairs[i] = placeTopCodes(emit, info, wide, top);
    }
    return pairs;
  }
  Value even = emit.bitAnd(word, 0x0F0F0F0F);
  Value odd = emit.bitAnd(emit.lshr(word, 4), 0x0F0F0F0F);
  for (uint32_t i = 0; i < 4; ++i) {
    // Nibbles in bytes 0 and 2. The others repeat the top bit of a byte, which
    // is zero.
    Value nibbles = emit.prmt(even, odd, 0x8080 | i | (4 + i) << 8);
    pairs[i] = spreadNibbles(emit, info, wide, nibbles, 0);
  }
  return pairs;
}

/// Converts pairs of f16 to `multiplicand`, which is bf16 or f16 and can hold
/// them.
static Value convertF16Pairs(Emitter &emit, Value pairs,
                             ElementFormat multiplicand) {
  VectorType f16 = getPairType(emit, ElementFormat::F16);
  if (multiplicand != ElementFormat::F16) {
    Value wide = LLVM::FPExtOp::create(emit.builder, emit.loc,
                                       VectorType::get({2}, emit.f32()),
                                       emit.bitcast(f16, pairs));
    pairs = LLVM::FPTruncOp::create(emit.builder, emit.loc,
                                    getPairType(emit, multiplicand), wide);
  }
  return emit.bitcast(emit.i32(), pairs);
}

/// The pairs by `cvt`, which takes neighbours.
static std::array<Value, 4> convertFp4(Emitter &emit, Value word,
                                       ElementFormat multiplicand,
                                       PairOrder order,
                                       const DecodeOptions &options) {
  // Where the byte of each pair is.
  std::array<std::pair<Value, unsigned>, 4> bytes;
  if (order == PairOrder::Natural) {
    for (unsigned i = 0; i < 4; ++i)
      bytes[i] = {word, i};
  } else {
    // Codes i and i + 4 as neighbours: 0 and 4, 2 and 6; 1 and 5, 3 and 7.
    auto merge = [&](Value low, Value high) {
      return emit.bitOr(emit.bitAnd(low, twice(0x0F0F)),
                        emit.bitAnd(high, twice(0xF0F0)));
    };
    Value even = merge(word, emit.lshr(word, 12));
    Value odd = merge(emit.lshr(word, 4), emit.lshr(word, 16));
    bytes = {{{even, 0}, {odd, 0}, {even, 1}, {odd, 1}}};
  }
  VectorType f16 = getPairType(emit, ElementFormat::F16);
  std::array<Value, 4> pairs;
  for (auto [result, place] : llvm::zip(pairs, bytes)) {
    auto [from, index] = place;
    if (multiplicand == ElementFormat::BF16 && options.bf16) {
      result = convertToBf16(emit, "e2m1x2", from, index);
      continue;
    }
    // The operation of the nvvm dialect clears what the instruction ignores.
    Value low = emit.trunc(emit.integer(16), emit.lshr(from, 8 * index));
    Value pair = emit.intrinsic("llvm.nvvm.e2m1x2.to.f16x2.rn", f16, low);
    result = convertF16Pairs(emit, pair, multiplicand);
  }
  return pairs;
}

/// Whether `cvt` decodes FP4 to undone pairs.
static bool usesFp4Cvt(const DecodeOptions &options, ElementFormat multiplicand,
                       PairOrder order) {
  if (isUndoneShorter(ElementFormat::F4E2M1FN, multiplicand, options))
    return true;
  switch (options.fp4) {
  case DecodeOptions::Cvt::Never:
    return false;
  case DecodeOptions::Cvt::Always:
    return true;
  case DecodeOptions::Cvt::WhereShorter:
    // Instructions for eight values, in natural and interleaved order: to f16 6
    // and 13 against 21 and 19; to bf16, by way of f32, 18 and 25 against 19
    // and 15.
    return multiplicand == ElementFormat::F16 || order == PairOrder::Natural;
  }
  llvm_unreachable("all choices are handled");
}

static std::array<Value, 4> decodeFp4(Emitter &emit, Value word,
                                      ElementFormat multiplicand,
                                      PairOrder order, Bias bias,
                                      const DecodeOptions &options) {
  if (bias == Bias::Undone && usesFp4Cvt(options, multiplicand, order))
    return convertFp4(emit, word, multiplicand, order, options);
  std::array<Value, 4> pairs = placeFp4(emit, word, multiplicand, order);
  if (bias == Bias::Kept)
    return pairs;
  int kept = getKeptBias(ElementFormat::F4E2M1FN, multiplicand);
  Value factor =
      emit.i32(twice(powerOfTwo(getFormatInfo(multiplicand), -kept)));
  for (Value &pair : pairs)
    pair = multiplyPairs(emit, multiplicand, pair, factor);
  return pairs;
}

//===----------------------------------------------------------------------===//
// FP8
//===----------------------------------------------------------------------===//

/// The codes of pair `i` in the upper bytes of both halves, with copies below.
static Value gatherBytes(Emitter &emit, ArrayRef<Value> words, PairOrder order,
                         unsigned i) {
  if (order == PairOrder::Interleaved)
    return emit.prmt(words[0], words[1],
                     i | i << 4 | (4 + i) << 8 | (4 + i) << 12);
  uint32_t first = 2 * (i & 1), second = first + 1;
  Value word = words[i / 2];
  return emit.prmt(word, word, first | first << 4 | second << 8 | second << 12);
}

/// f8E5M2 is the upper half of f16.
static std::array<Value, 4> widenE5M2(Emitter &emit, ArrayRef<Value> words,
                                      PairOrder order) {
  std::array<Value, 4> pairs;
  if (order == PairOrder::Natural) {
    Value zero = emit.i32(0);
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t first = 2 * (i & 1);
      pairs[i] = emit.prmt(words[i / 2], zero,
                           0x0404 | first << 4 | (first + 1) << 12);
    }
    return pairs;
  }
  // A zero byte for the lower halves comes from the first word, from which the
  // byte in question is not taken.
  Value low = emit.bitAnd(words[0], 0x000000FF);
  Value high = emit.bitAnd(words[0], 0xFFFFFF00);
  pairs[0] = emit.prmt(low, words[1], 0x4101);
  for (uint32_t i = 1; i < 4; ++i)
    pairs[i] = emit.prmt(high, words[1], i << 4 | (4 + i) << 12);
  return pairs;
}

/// Two words in which the codes of each pair are neighbours.
static SmallVector<Value, 2> getNeighbours(Emitter &emit, ArrayRef<Value> words,
                                           PairOrder order) {
  if (order == PairOrder::Natural)
    return SmallVector<Value, 2>(words);
  return {emit.prmt(words[0], words[1], 0x5140),
          emit.prmt(words[0], words[1], 0x7362)};
}

/// f8E4M3FN to f16 by `cvt`, NaN included.
static std::array<Value, 4> convertE4M3(Emitter &emit, ArrayRef<Value> words,
                                        PairOrder order) {
  Type source = Float8E4M3FNType::get(emit.builder.getContext());
  VectorType f16 = getPairType(emit, ElementFormat::F16);
  VectorType codes = VectorType::get({2}, emit.integer(8));
  SmallVector<Value, 2> neighbours = getNeighbours(emit, words, order);
  std::array<Value, 4> pairs;
  for (unsigned i = 0; i < 4; ++i) {
    Value half = emit.trunc(emit.integer(16),
                            emit.lshr(neighbours[i / 2], 16 * (i & 1)));
    Value pair = NVVM::ConvertF8x2ToF16x2Op::create(emit.builder, emit.loc, f16,
                                                    emit.bitcast(codes, half),
                                                    /*relu=*/false, source);
    pairs[i] = emit.bitcast(emit.i32(), pair);
  }
  return pairs;
}

static std::array<Value, 4> decodeFp8(Emitter &emit, ElementFormat format,
                                      ArrayRef<Value> words,
                                      ElementFormat multiplicand,
                                      PairOrder order,
                                      const DecodeOptions &options) {
  std::array<Value, 4> pairs;
  bool toBf16 = options.bf16 && multiplicand == ElementFormat::BF16;
  if (format == ElementFormat::F8E5M2 || (options.fp8 && !toBf16)) {
    pairs = format == ElementFormat::F8E5M2 ? widenE5M2(emit, words, order)
                                            : convertE4M3(emit, words, order);
    for (Value &pair : pairs)
      pair = convertF16Pairs(emit, pair, multiplicand);
    return pairs;
  }
  if (toBf16) {
    SmallVector<Value, 2> neighbours = getNeighbours(emit, words, order);
    for (unsigned i = 0; i < 4; ++i)
      pairs[i] = convertToBf16(emit, "e4m3x2", neighbours[i / 2], 2 * (i & 1));
    return pairs;
  }
  const FormatInfo &info = getFormatInfo(format);
  const FormatInfo &wide = getFormatInfo(multiplicand);
  Value factor = emit.i32(twice(powerOfTwo(wide, wide.bias - info.bias)));
  for (unsigned i = 0; i < 4; ++i) {
    Value top = gatherBytes(emit, words, order, i);
    Value placed = placeTopCodes(emit, info, wide, top);
    Value value = multiplyPairs(emit, multiplicand, placed, factor);
    pairs[i] = makeNaNs(emit, multiplicand, value, 0);
  }
  return pairs;
}

//===----------------------------------------------------------------------===//
// E8M0
//===----------------------------------------------------------------------===//

/// bf16 pairs of E8M0 codes that stand where the exponent of bf16 is.
static Value finishE8M0(Emitter &emit, Value placed) {
  // Code 0 is 2^-127, a subnormal number of bf16. Code 255 would be infinity,
  // and 0 times infinity is NaN.
  VectorType type = getPairType(emit, ElementFormat::BF16);
  Value least = emit.bitcast(type, emit.i32(twice(0x0040)));
  Value atLeast = LLVM::MaxNumOp::create(emit.builder, emit.loc, type,
                                         emit.bitcast(type, placed), least);
  return multiplyAddPairs(emit, ElementFormat::BF16, atLeast, emit.i32(0),
                          atLeast);
}

/// The E8M0 codes in bits 7..0 and 15..8 of `codes` as a pair of bf16, by
/// `cvt`.
static Value convertE8M0(Emitter &emit, Value codes) {
  Type source = Float8E8M0FNUType::get(emit.builder.getContext());
  Value low = emit.trunc(emit.integer(16), codes);
  Value pair = NVVM::ConvertF8x2ToBF16x2Op::create(
      emit.builder, emit.loc, getPairType(emit, ElementFormat::BF16),
      emit.bitcast(VectorType::get({2}, emit.integer(8)), low), source);
  return emit.bitcast(emit.i32(), pair);
}

/// Pairs (2i, 2i + 1) of bf16.
static std::array<Value, 4> decodeE8M0(Emitter &emit, ArrayRef<Value> words,
                                       const DecodeOptions &options) {
  std::array<Value, 4> pairs;
  Value zero = emit.i32(0);
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t first = 2 * (i & 1);
    if (options.e8m0) {
      pairs[i] = convertE8M0(emit, emit.lshr(words[i / 2], 8 * first));
      continue;
    }
    Value codes =
        emit.prmt(words[i / 2], zero, 0x4040 | first | (first + 1) << 8);
    pairs[i] = finishE8M0(emit, emit.shl(codes, 7));
  }
  return pairs;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

std::array<Value, 4> tile::decodeToPairs(Emitter &emit, ElementFormat format,
                                         ArrayRef<Value> words,
                                         ElementFormat multiplicand,
                                         PairOrder order, Bias bias,
                                         const DecodeOptions &options) {
  switch (format) {
  case ElementFormat::F4E2M1FN:
    return decodeFp4(emit, words[0], multiplicand, order, bias, options);
  case ElementFormat::F8E4M3FN:
  case ElementFormat::F8E5M2:
    return decodeFp8(emit, format, words, multiplicand, order, options);
  case ElementFormat::F8E8M0FNU:
    assert(order == PairOrder::Natural && multiplicand == ElementFormat::BF16 &&
           "scales are not permuted, and f16 does not hold them");
    return decodeE8M0(emit, words, options);
  default:
    if (order == PairOrder::Interleaved)
      return {emit.prmt(words[0], words[2], 0x5410),
              emit.prmt(words[0], words[2], 0x7632),
              emit.prmt(words[1], words[3], 0x5410),
              emit.prmt(words[1], words[3], 0x7632)};
    return {words[0], words[1], words[2], words[3]};
  }
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Two codes, each in a half of the result: bits 0 to `bits` - 1 of the byte
/// moved up by `up` bits, the rest of the half zero.
static Value placeScales(Emitter &emit, ScaleCode first, ScaleCode second,
                         unsigned bits, unsigned up) {
  uint32_t mask = twice((1u << bits) - 1);
  bool sameWord = first.word == second.word;
  if (sameWord && first.byte == 1 && second.byte == 3)
    return emit.bitAnd(emit.shift(first.word, int(up) - 8), mask << up);
  Value codes = first.word;
  if (!sameWord || first.byte != 0 || second.byte != 2)
    codes = emit.prmt(first.word, second.word,
                      first.byte | first.byte << 4 | (4 + second.byte) << 8 |
                          (4 + second.byte) << 12);
  // A multiplication, which is off the pipe of shifts.
  return emit.mul(emit.bitAnd(codes, mask), emit.i32(1u << up));
}

/// Two codes as the lower bytes of a word, whose upper ones may be anything.
static Value gatherScales(Emitter &emit, ScaleCode first, ScaleCode second) {
  if (first.word == second.word && first.byte == 0 && second.byte == 1)
    return first.word;
  return emit.prmt(first.word, second.word,
                   first.byte | (4 + second.byte) << 4);
}

bool tile::convertsScales(ElementFormat scale, ElementFormat multiplicand,
                          const DecodeOptions &options) {
  return multiplicand == ElementFormat::BF16 &&
         (scale == ElementFormat::F8E4M3FN ? options.bf16 : options.e8m0);
}

int tile::getLargestScaleExponent(ElementFormat scale,
                                  ElementFormat multiplicand) {
  // 448 is below 2^9, and the largest power of two is 2^bias.
  return scale == ElementFormat::F8E4M3FN ? getFormatInfo(multiplicand).bias - 8
                                          : 0;
}

std::array<Value, 2> tile::decodeScalePairs(Emitter &emit, ElementFormat scale,
                                            ScaleCode first, ScaleCode second,
                                            ElementFormat multiplicand,
                                            int exponent,
                                            const DecodeOptions &options) {
  const FormatInfo &info = getFormatInfo(scale);
  const FormatInfo &wide = getFormatInfo(multiplicand);
  bool isSame = first.word == second.word && first.byte == second.byte;
  auto splatBoth = [&](Value both) -> std::array<Value, 2> {
    return {splatHalf(emit, multiplicand, both, 0),
            splatHalf(emit, multiplicand, both, 1)};
  };
  Value both;
  if (scale == ElementFormat::F8E4M3FN) {
    assert(exponent >= -8 &&
           exponent <= getLargestScaleExponent(scale, multiplicand) &&
           "the products are finite numbers of the format");
    // The code's bits at the low end of the wide exponent are the scale times a
    // power of two, subnormals included.
    if (convertsScales(scale, multiplicand, options)) {
      // Adjacent codes share the mask with the others of their word.
      bool isPair = first.word == second.word && first.byte % 2 == 0 &&
                    second.byte == first.byte + 1;
      Value codes = isPair ? first.word : gatherScales(emit, first, second);
      both = convertToBf16(emit, "e4m3x2", emit.bitAnd(codes, 0x7F7F7F7F),
                           isPair ? first.byte : 0);
      if (exponent != 0)
        both = multiplyPairs(emit, multiplicand, both,
                             emit.i32(twice(powerOfTwo(wide, exponent))));
      return splatBoth(both);
    }
    both = placeScales(emit, first, second, info.bits - 1,
                       wide.mantissaBits - info.mantissaBits);
    for (int rest = wide.bias - info.bias + exponent; rest != 0;) {
      // What one factor cannot hold takes two.
      int step = std::min<int>(rest, wide.bias);
      both = multiplyPairs(emit, multiplicand, both,
                           emit.i32(twice(powerOfTwo(wide, step))));
      rest -= step;
    }
    both = makeNaNs(emit, multiplicand, both, exponent);
  } else if (multiplicand == ElementFormat::BF16) {
    assert(exponent == 0 && "E8M0 leaves no room for another factor");
    if (options.e8m0)
      both = convertE8M0(emit, gatherScales(emit, first, second));
    else
      both = finishE8M0(
          emit, placeScales(emit, first, second, info.bits, wide.mantissaBits));
  } else {
    auto decode = [&](ScaleCode code) {
      Value byte = emit.bitAnd(emit.lshr(code.word, 8 * code.byte), 0xFF);
      Value half =
          encodeFromF32(emit, multiplicand, decodeToF32(emit, scale, byte),
                        Rounding::NearestEven, /*saturate=*/true);
      return emit.bitOr(half, emit.shl(half, 16));
    };
    return {decode(first), decode(second)};
  }
  if (isSame)
    return {both, both};
  return splatBoth(both);
}

Value tile::decodeScalePair(Emitter &emit, ElementFormat scale, Value code,
                            ElementFormat multiplicand) {
  ScaleCode twice{code, 0};
  return decodeScalePairs(emit, scale, twice, twice, multiplicand)[0];
}

Value tile::spreadToContainers(Emitter &emit, Value half) {
  Value x = emit.bitAnd(half, 0xFFFF);
  x = emit.bitAnd(emit.bitOr(x, emit.shl(x, 8)), 0x00FF00FF);
  x = emit.bitAnd(emit.bitOr(x, emit.shl(x, 4)), 0x0F0F0F0F);
  return emit.shl(x, 2);
}
