//===- PackedConversions.cpp - cvt of pairs and fours ---------------------===//
//
// PTX ISA, "cvt": tf32, f16x2 and bf16x2 from f32, the FP8, FP6 and FP4 pairs
// from f32, f16x2 and bf16x2 and back, ue8m0x2, and stochastic rounding. The
// first operand of two goes to the high half.
//
// Two things the ISA leaves to its figures or to no one: for .rs, the random
// bits meet the highest of the bits that the result has no room for, and the
// four values of an FP8 or FP6 conversion use 16 bits by pairs; a tf32 register
// has zeros below its mantissa.
//
//===----------------------------------------------------------------------===//

#include "PackedConversions.h"
#include "SmallFloat.h"

#include <array>

using namespace tile::emulator;

//===----------------------------------------------------------------------===//
// Formats of parts
//===----------------------------------------------------------------------===//

// To nearest even, NaN and overflow as with .satfinite.
static uint32_t toE4M3(float value) {
  return roundNearest<3, 7, 0x7E, 0x7F, 24>(value);
}
static uint32_t toE5M2(float value) {
  return roundNearest<2, 15, 0x7B, 0x7F, 24>(value);
}
static uint32_t toE2M3(float value) {
  return roundNearest<3, 1, 0x1F, 0x1F, 26>(value);
}
static uint32_t toE3M2(float value) {
  return roundNearest<2, 3, 0x1F, 0x1F, 26>(value);
}
static uint32_t toE2M1(float value) {
  return roundNearest<1, 1, 0x7, 0x7, 28>(value);
}

//===----------------------------------------------------------------------===//
// Pairs to nearest even, without branches
//===----------------------------------------------------------------------===//

static const PackedConversion &getConversion(const Instruction &instruction) {
  return *static_cast<const PackedConversion *>(instruction.data);
}

/// .relu: zero for a negative code; no NaN has a sign here.
template <bool Relu>
static uint32_t clampNegative(uint32_t code, uint32_t sign) {
  return Relu && (code & sign) ? 0 : code;
}

/// d, a, b: two f32 to a half type. Each half is unwritten where its source is:
/// a compiler that wants one of them gives any register for the other.
template <uint16_t (*narrow)(float), bool Relu>
static void executeHalfPair(const Instruction &instruction, Lanes &lanes) {
  const float *a = lanes.read<float>(instruction.a);
  const float *b = lanes.read<float>(instruction.b);
  uint32_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = clampNegative<Relu>(narrow(a[lane]), 0x8000) << 16 |
                   clampNegative<Relu>(narrow(b[lane]), 0x8000);
  const uint32_t undefinedA = lanes.undefinedAt(instruction.a);
  const uint32_t undefinedB = lanes.undefinedAt(instruction.b);
  storeBits(lanes, instruction.d, result, undefinedA | undefinedB,
            [&](unsigned lane) {
              return (undefinedA >> lane & 1 ? 0 : 0xFFFF0000) |
                     (undefinedB >> lane & 1 ? 0 : 0x0000FFFF);
            });
}

Execute tile::emulator::chooseHalfPair(const PackedType &to, bool relu) {
  if (to.format == &kF16)
    return relu ? executeHalfPair<toF16, true> : executeHalfPair<toF16, false>;
  return relu ? executeHalfPair<toBF16, true> : executeHalfPair<toBF16, false>;
}

/// d, a, b: two f32 to a narrow type of `Bits`, parts `Stride` bits apart.
template <uint32_t (*narrow)(float), unsigned Bits, unsigned Stride, bool Relu>
static void executeNarrowPair(const Instruction &instruction, Lanes &lanes) {
  const float *a = lanes.read<float>(instruction.a);
  const float *b = lanes.read<float>(instruction.b);
  constexpr uint32_t sign = 1u << (Bits - 1);
  uint32_t codes[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    codes[lane] = clampNegative<Relu>(narrow(a[lane]), sign) << Stride |
                  clampNegative<Relu>(narrow(b[lane]), sign);
  uint64_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = codes[lane];
  storeLow(lanes, instruction.d, getConversion(instruction).toBytes, result,
           lanes.undefinedAt(instruction.a) | lanes.undefinedAt(instruction.b));
}

/// d, a: the same from a pair in a half type, which an f32 holds exactly.
template <uint32_t (*narrow)(float), unsigned Bits, unsigned Stride, bool Relu>
static void executeNarrowHalves(const Instruction &instruction, Lanes &lanes) {
  const PackedConversion &conversion = getConversion(instruction);
  const bool isF16 = conversion.from.format == &kF16;
  const uint32_t *pairs = lanes.read<uint32_t>(instruction.a);
  constexpr uint32_t sign = 1u << (Bits - 1);
  auto convert = [&](uint32_t half) {
    uint16_t code = static_cast<uint16_t>(half);
    return clampNegative<Relu>(narrow(isF16 ? fromF16(code) : fromBF16(code)),
                               sign);
  };
  uint64_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = convert(pairs[lane] >> 16) << Stride | convert(pairs[lane]);
  storeLow(lanes, instruction.d, conversion.toBytes, result,
           lanes.undefinedAt(instruction.a));
}

template <uint32_t (*narrow)(float), unsigned Bits, unsigned Stride>
static Execute chooseNarrowOf(bool fromHalves, bool relu) {
  if (fromHalves)
    return relu ? executeNarrowHalves<narrow, Bits, Stride, true>
                : executeNarrowHalves<narrow, Bits, Stride, false>;
  return relu ? executeNarrowPair<narrow, Bits, Stride, true>
              : executeNarrowPair<narrow, Bits, Stride, false>;
}

Execute tile::emulator::chooseNarrow(const PackedType &to, bool fromHalves,
                                     bool relu) {
  if (to.format == &kE4M3)
    return chooseNarrowOf<toE4M3, 8, 8>(fromHalves, relu);
  if (to.format == &kE5M2)
    return chooseNarrowOf<toE5M2, 8, 8>(fromHalves, relu);
  if (to.format == &kE2M3)
    return chooseNarrowOf<toE2M3, 6, 8>(fromHalves, relu);
  if (to.format == &kE3M2)
    return chooseNarrowOf<toE3M2, 6, 8>(fromHalves, relu);
  return chooseNarrowOf<toE2M1, 4, 4>(fromHalves, relu);
}

//===----------------------------------------------------------------------===//
// Narrow pairs back to halves
//===----------------------------------------------------------------------===//

namespace {
/// The half code of every part, including .relu; parts of FP6 ignore their two
/// padding bits.
struct WideningTable {
  std::array<uint16_t, 256> codes;
  unsigned fromBytes;
};
} // namespace

static WideningTable fillTable(const PackedConversion &conversion) {
  const NumberFormat &from = *conversion.from.format;
  const NumberFormat &to = *conversion.to.format;
  WideningTable table;
  table.fromBytes = conversion.fromBytes;
  for (unsigned part = 0; part != 256; ++part) {
    uint64_t code = part & (from.signBit() * 2 - 1);
    uint64_t wide = pack(to, toDouble(from, code), RoundingMode::NearestEven);
    if (conversion.relu && !to.isNaN(wide) && to.isNegative(wide))
      wide = 0;
    table.codes[part] = static_cast<uint16_t>(wide);
  }
  return table;
}

template <typename T, unsigned PartBits>
static void widenParts(const Instruction &instruction, Lanes &lanes,
                       const WideningTable &table) {
  const T *codes = lanes.read<T>(instruction.a);
  constexpr unsigned mask = (1u << PartBits) - 1;
  uint32_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    unsigned code = static_cast<unsigned>(codes[lane]);
    result[lane] = uint32_t(table.codes[code >> PartBits & mask]) << 16 |
                   table.codes[code & mask];
  }
  uint32_t undefined =
      getUndefinedLanes(lanes, instruction.a, sizeof(T), 2 * PartBits);
  store(lanes, instruction.d, result);
  define<uint32_t>(lanes, instruction.d, undefined);
}

template <unsigned PartBits>
static void executeWiden(const Instruction &instruction, Lanes &lanes) {
  const WideningTable &table =
      *static_cast<const WideningTable *>(instruction.data);
  if (table.fromBytes == 2)
    widenParts<uint16_t, PartBits>(instruction, lanes, table);
  else if (table.fromBytes == 4)
    widenParts<uint32_t, PartBits>(instruction, lanes, table);
  else
    widenParts<uint64_t, PartBits>(instruction, lanes, table);
}

Execute tile::emulator::chooseWidening(const PackedType &from) {
  return from.partBits == 4 ? executeWiden<4> : executeWiden<8>;
}

const void *
tile::emulator::makeWideningTable(Program &program,
                                  const PackedConversion &conversion) {
  return program.own(fillTable(conversion));
}

//===----------------------------------------------------------------------===//
// ue8m0
//===----------------------------------------------------------------------===//

/// The exponent of |value|, without branches; `bits` are those of an f32.
template <bool Upward>
static uint32_t toScale(uint32_t bits, uint32_t overflow) {
  uint32_t magnitude = bits & 0x7FFFFFFF;
  uint32_t exponent = magnitude >> 23, mantissa = magnitude & 0x7FFFFF;
  // Code 0 is 2^-127, half way up the subnormals: nothing is below it.
  uint32_t threshold = exponent == 0 ? 0x400000 : 0;
  uint32_t code = exponent + (Upward && mantissa > threshold ? 1 : 0);
  code = code < 0xFF ? code : overflow;
  return magnitude > 0x7F800000 ? 0xFF : code;
}

template <bool Upward>
static void executeToScalesRounding(const Instruction &instruction,
                                    Lanes &lanes) {
  const PackedConversion &conversion = getConversion(instruction);
  const uint32_t overflow = conversion.satfinite ? 0xFE : 0xFF;
  const bool fromHalves = conversion.from.count != 0;
  const uint32_t *a = lanes.read<uint32_t>(instruction.a);
  const uint32_t *b = lanes.read<uint32_t>(instruction.b);
  uint32_t codes[kLanes];
  uint64_t result[kLanes];
  if (fromHalves)
    for (unsigned lane = 0; lane != kLanes; ++lane)
      codes[lane] = toScale<Upward>(a[lane] & 0xFFFF0000, overflow) << 8 |
                    toScale<Upward>(a[lane] << 16, overflow);
  else
    for (unsigned lane = 0; lane != kLanes; ++lane)
      codes[lane] = toScale<Upward>(a[lane], overflow) << 8 |
                    toScale<Upward>(b[lane], overflow);
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = codes[lane];
  storeLow(lanes, instruction.d, conversion.toBytes, result,
           lanes.undefinedAt(instruction.a) | lanes.undefinedAt(instruction.b));
}

void tile::emulator::executeToScales(const Instruction &instruction,
                                     Lanes &lanes) {
  if (getConversion(instruction).mode == RoundingMode::Upward)
    executeToScalesRounding<true>(instruction, lanes);
  else
    executeToScalesRounding<false>(instruction, lanes);
}

void tile::emulator::executeFromScales(const Instruction &instruction,
                                       Lanes &lanes) {
  const PackedConversion &conversion = getConversion(instruction);
  auto widen = [](uint32_t code) -> uint32_t {
    return code == 0 ? 0x0040 : code == 0xFF ? 0x7FFF : code << 7;
  };
  const uint8_t *codes = lanes.read<uint8_t>(instruction.a);
  uint32_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    const uint8_t *pair = codes + lane * conversion.fromBytes;
    result[lane] = widen(pair[1]) << 16 | widen(pair[0]);
  }
  uint32_t undefined =
      getUndefinedLanes(lanes, instruction.a, conversion.fromBytes, 16);
  store(lanes, instruction.d, result);
  define<uint32_t>(lanes, instruction.d, undefined);
}

//===----------------------------------------------------------------------===//
// Other roundings
//===----------------------------------------------------------------------===//

/// One value with everything that `conversion` says but .rs.
static uint64_t packPart(const PackedConversion &conversion, float value) {
  const NumberFormat &format = *conversion.to.format;
  uint64_t code = pack(format, value, conversion.mode, conversion.satfinite);
  return conversion.relu && !format.isNaN(code) && format.isNegative(code)
             ? 0
             : code;
}

void tile::emulator::executeHalfPairDirected(const Instruction &instruction,
                                             Lanes &lanes) {
  const PackedConversion &conversion = getConversion(instruction);
  mapBinary<uint32_t, float, float>(lanes, instruction.d, instruction.a,
                                    instruction.b, [&](float a, float b) {
                                      return static_cast<uint32_t>(
                                          packPart(conversion, a) << 16 |
                                          packPart(conversion, b));
                                    });
}

/// The 13 bits below tf32's are zero, except in the canonical NaN.
void tile::emulator::executeTF32(const Instruction &instruction, Lanes &lanes) {
  const PackedConversion &conversion = getConversion(instruction);
  if (conversion.mode == RoundingMode::NearestAway && !conversion.satfinite) {
    // A carry out of the mantissa is right, up to infinity.
    mapUnary<uint32_t, uint32_t>(
        lanes, instruction.d, instruction.a, [](uint32_t bits) -> uint32_t {
          uint32_t rounded = (bits + 0x1000) & 0xFFFFE000;
          return (bits & 0x7FFFFFFF) > 0x7F800000 ? kCanonicalNaN32 : rounded;
        });
    return;
  }
  mapUnary<uint32_t, float>(
      lanes, instruction.d, instruction.a, [&](float value) -> uint32_t {
        if (value != value)
          return kCanonicalNaN32;
        return static_cast<uint32_t>(packPart(conversion, value) << 13);
      });
}

/// Which random bits the value in part `part`, counted from the low end, uses.
static uint32_t selectRandom(const PackedType &to, uint32_t random,
                             unsigned part, unsigned &count) {
  if (to.count == 2) {
    count = to.format == &kF16 ? 13 : 16;
    return (part ? random >> 16 : random) & ((1u << count) - 1);
  }
  if (to.partBits == 8) {
    count = 16;
    return part >= 2 ? random >> 16 : random & 0xFFFF;
  }
  // FP4: a and b have the upper bytes of the halves, e and f the lower ones;
  // the first of each pair that of the upper half.
  count = 8;
  static constexpr unsigned shifts[] = {0, 16, 8, 24}; // f, e, b, a
  return random >> shifts[part] & 0xFF;
}

/// `operands`: the values, lowest part first, and the random bits.
void tile::emulator::executeStochastic(const Instruction &instruction,
                                       Lanes &lanes) {
  const PackedConversion &conversion = getConversion(instruction);
  const PackedType &to = conversion.to;
  const NumberFormat &format = *to.format;
  uint32_t undefined = 0;
  for (Slot slot : instruction.operands)
    undefined |= lanes.undefinedAt(slot);
  uint64_t result[kLanes] = {};
  forLanes(lanes.active, [&](unsigned lane) {
    uint32_t random = lanes.read<uint32_t>(instruction.operands.back())[lane];
    for (unsigned part = 0; part != to.count; ++part) {
      float value = lanes.read<float>(instruction.operands[part])[lane];
      unsigned count = 0;
      uint32_t bits = selectRandom(to, random, part, count);
      uint64_t code =
          packStochastic(format, value, bits, count, conversion.satfinite);
      if (conversion.relu && !format.isNaN(code) && format.isNegative(code))
        code = 0;
      result[lane] |= code << (part * to.partBits);
    }
  });
  storeLow(lanes, instruction.d, conversion.toBytes, result, undefined);
}
