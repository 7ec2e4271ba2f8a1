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

#include "Conversions.h"
#include "SmallFloat.h"

#include <array>

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Formats of parts
//===----------------------------------------------------------------------===//

namespace {

/// A packed type: `count` values of `format`, each in `partBits`.
struct PackedType {
  const NumberFormat *format = nullptr; ///< Null for ue8m0.
  unsigned count = 0;
  unsigned partBits = 0;
  bool isScale = false; ///< ue8m0.

  bool isHalf() const { return format == &kF16 || format == &kBF16; }
  bool isFP8() const { return format == &kE4M3 || format == &kE5M2; }
  /// FP6, FP4 and ue8m0 exist on some targets only.
  bool needsFamily() const { return count && !isHalf() && !isFP8(); }
  unsigned getBits() const { return count * partBits; }
};

} // namespace

static PackedType describePacked(Type type) {
  switch (type) {
  case Type::F16x2:
    return {&kF16, 2, 16};
  case Type::BF16x2:
    return {&kBF16, 2, 16};
  case Type::E4M3x2:
    return {&kE4M3, 2, 8};
  case Type::E5M2x2:
    return {&kE5M2, 2, 8};
  case Type::E2M3x2:
    return {&kE2M3, 2, 8};
  case Type::E3M2x2:
    return {&kE3M2, 2, 8};
  case Type::E2M1x2:
    return {&kE2M1, 2, 4};
  case Type::UE8M0x2:
    return {nullptr, 2, 8, true};
  case Type::E4M3x4:
    return {&kE4M3, 4, 8};
  case Type::E5M2x4:
    return {&kE5M2, 4, 8};
  case Type::E2M3x4:
    return {&kE2M3, 4, 8};
  case Type::E3M2x4:
    return {&kE3M2, 4, 8};
  case Type::E2M1x4:
    return {&kE2M1, 4, 4};
  default:
    return {};
  }
}

/// The type of a register as wide as `bits`.
static Type getBitType(unsigned bits) {
  return bits == 8 ? Type::B8 : bits == 16 ? Type::B16 : Type::B32;
}

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

namespace {
/// What an executor needs beside its operands.
struct Conversion {
  PackedType to, from;
  unsigned toBytes = 0, fromBytes = 0; ///< Of registers.
  RoundingMode mode = RoundingMode::NearestEven;
  bool relu = false, satfinite = false;
};
} // namespace

static const Conversion &getConversion(const Instruction &instruction) {
  return *static_cast<const Conversion *>(instruction.data);
}

/// .relu: zero for a negative code; no NaN has a sign here.
template <bool Relu>
static uint32_t clampNegative(uint32_t code, uint32_t sign) {
  return Relu && (code & sign) ? 0 : code;
}

/// d, a, b: two f32 to a half type.
template <uint16_t (*narrow)(float), bool Relu>
static void executeHalfPair(const Instruction &instruction, Lanes &lanes) {
  mapBinary<uint32_t, float, float>(
      lanes, instruction.d, instruction.a, instruction.b, [](float a, float b) {
        return clampNegative<Relu>(narrow(a), 0x8000) << 16 |
               clampNegative<Relu>(narrow(b), 0x8000);
      });
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
  const Conversion &conversion = getConversion(instruction);
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
static Execute chooseNarrow(bool fromHalves, bool relu) {
  if (fromHalves)
    return relu ? executeNarrowHalves<narrow, Bits, Stride, true>
                : executeNarrowHalves<narrow, Bits, Stride, false>;
  return relu ? executeNarrowPair<narrow, Bits, Stride, true>
              : executeNarrowPair<narrow, Bits, Stride, false>;
}

static Execute chooseNarrow(const PackedType &to, bool fromHalves, bool relu) {
  if (to.format == &kE4M3)
    return chooseNarrow<toE4M3, 8, 8>(fromHalves, relu);
  if (to.format == &kE5M2)
    return chooseNarrow<toE5M2, 8, 8>(fromHalves, relu);
  if (to.format == &kE2M3)
    return chooseNarrow<toE2M3, 6, 8>(fromHalves, relu);
  if (to.format == &kE3M2)
    return chooseNarrow<toE3M2, 6, 8>(fromHalves, relu);
  return chooseNarrow<toE2M1, 4, 4>(fromHalves, relu);
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

static WideningTable makeTable(const Conversion &conversion) {
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

//===----------------------------------------------------------------------===//
// ue8m0
//===----------------------------------------------------------------------===//

/// The exponent of |value|; `bits` are those of an f32.
static uint32_t toScale(uint32_t bits, bool upward, bool satfinite) {
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return 0xFF;
  uint32_t exponent = magnitude >> 23, mantissa = magnitude & 0x7FFFFF;
  // Code 0 is 2^-127, half way up the subnormals: nothing is below it.
  uint32_t threshold = exponent == 0 ? 0x400000 : 0;
  if (exponent != 0xFF && upward && mantissa > threshold)
    ++exponent;
  return exponent == 0xFF && satfinite ? 0xFE : exponent;
}

static void executeToScales(const Instruction &instruction, Lanes &lanes) {
  const Conversion &conversion = getConversion(instruction);
  const bool fromHalves = conversion.from.count != 0;
  const uint32_t *a = lanes.read<uint32_t>(instruction.a);
  const uint32_t *b = lanes.read<uint32_t>(instruction.b);
  const bool upward = conversion.mode == RoundingMode::Upward;
  uint64_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    uint32_t high = fromHalves ? a[lane] & 0xFFFF0000 : a[lane];
    uint32_t low = fromHalves ? a[lane] << 16 : b[lane];
    result[lane] = toScale(high, upward, conversion.satfinite) << 8 |
                   toScale(low, upward, conversion.satfinite);
  }
  storeLow(lanes, instruction.d, conversion.toBytes, result,
           lanes.undefinedAt(instruction.a) | lanes.undefinedAt(instruction.b));
}

static void executeFromScales(const Instruction &instruction, Lanes &lanes) {
  const Conversion &conversion = getConversion(instruction);
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
static uint64_t packPart(const Conversion &conversion, float value) {
  const NumberFormat &format = *conversion.to.format;
  uint64_t code = pack(format, value, conversion.mode, conversion.satfinite);
  return conversion.relu && !format.isNaN(code) && format.isNegative(code)
             ? 0
             : code;
}

static void executeHalfPairDirected(const Instruction &instruction,
                                    Lanes &lanes) {
  const Conversion &conversion = getConversion(instruction);
  mapBinary<uint32_t, float, float>(lanes, instruction.d, instruction.a,
                                    instruction.b, [&](float a, float b) {
                                      return static_cast<uint32_t>(
                                          packPart(conversion, a) << 16 |
                                          packPart(conversion, b));
                                    });
}

/// The 13 bits below tf32's are zero, except in the canonical NaN.
static void executeTF32(const Instruction &instruction, Lanes &lanes) {
  const Conversion &conversion = getConversion(instruction);
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
static void executeStochastic(const Instruction &instruction, Lanes &lanes) {
  const Conversion &conversion = getConversion(instruction);
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

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// An error unless the target is one of a family: sm_100a, sm_120f and the
/// like. `onlyExact`: sm_100a and sm_103a alone.
static Error requireFamily(Decoder &decoder, const llvm::Twine &what,
                           bool onlyExact) {
  StringRef target = decoder.getProgram().syntax->target;
  unsigned architecture = decoder.getArchitecture();
  bool isExact = target.ends_with("a"), isFamily = target.ends_with("f");
  if (onlyExact) {
    if (isExact && (architecture == 100 || architecture == 103))
      return Error::success();
    return decoder.error(what +
                         " needs sm_100a or sm_103a, but the module's "
                         "target is " +
                         target);
  }
  if ((isExact || isFamily) && architecture >= 100)
    return Error::success();
  return decoder.error(what +
                       " needs sm_100, 103, 110, 120 or 121 with 'a' or 'f', "
                       "but the module's target is " +
                       target);
}

static Error requireVersion(Decoder &decoder, unsigned minimum,
                            const llvm::Twine &what) {
  unsigned version = decoder.getVersion();
  if (version >= minimum)
    return Error::success();
  return decoder.error(what + " needs .version " + llvm::Twine(minimum / 10) +
                       "." + llvm::Twine(minimum % 10) +
                       ", but the module has " + llvm::Twine(version / 10) +
                       "." + llvm::Twine(version % 10));
}

static Error expectRounding(Decoder &decoder, const llvm::Twine &pair,
                            StringRef got, llvm::ArrayRef<StringRef> expected) {
  if (llvm::is_contained(expected, got))
    return Error::success();
  std::string list;
  for (size_t i = 0; i != expected.size(); ++i)
    list += (i == 0                     ? "."
             : i + 1 == expected.size() ? " or ."
                                        : ", .") +
            expected[i].str();
  return decoder.error(pair + " expects " + list +
                       (got.empty() ? "" : ", but got ." + got.str()));
}

namespace {
/// The steps of decoding, for one statement.
class PackedDecoder {
public:
  PackedDecoder(Decoder &decoder, Type d, Type a)
      : decoder(decoder), d(d), a(a),
        pair(("cvt." + getTypeName(d) + "." + getTypeName(a)).str()) {
    conversion.to = describePacked(d);
    conversion.from = describePacked(a);
  }

  Error decode();

private:
  Error decodeTF32();
  Error decodeToHalves();
  Error decodeToNarrow();
  Error decodeFromNarrow();
  Error decodeToScales();
  Error decodeFromScales();
  Error decodeStochastic();

  /// The destination, which may be wider than the type unless it is a half
  /// pair or tf32.
  Expected<Slot> takeDestination(bool mayBeWide);
  Error emitPair(Execute execute, bool fromPacked);

  Decoder &decoder;
  Type d, a;
  std::string pair;
  Conversion conversion;
  StringRef rounding;
};
} // namespace

Expected<Slot> PackedDecoder::takeDestination(bool mayBeWide) {
  if (!mayBeWide) {
    conversion.toBytes = 4;
    return decoder.destination(0, Type::B32);
  }
  Expected<Decoder::WideSlot> wide = decoder.wideDestination(
      decoder.getOperand(0), getBitType(conversion.to.getBits()));
  if (!wide)
    return wide.takeError();
  conversion.toBytes = wide->laneBytes;
  return wide->slot;
}

/// Emits `execute` for `d, a, b` of f32, or `d, a` of a half pair.
Error PackedDecoder::emitPair(Execute execute, bool fromPacked) {
  unsigned numSources = fromPacked ? 1 : 2;
  if (Error error = decoder.expectOperands(numSources + 1, numSources + 1))
    return error;
  Expected<Slot> destination = takeDestination(!conversion.to.isHalf());
  if (!destination)
    return destination.takeError();
  Slot sources[2];
  for (unsigned i = 0; i != numSources; ++i) {
    Expected<Slot> source =
        decoder.source(i + 1, fromPacked ? Type::B32 : Type::F32);
    if (!source)
      return source.takeError();
    sources[i] = *source;
  }
  if (fromPacked)
    sources[1] = sources[0];
  Instruction &instruction = decoder.emit(execute, InstructionClass::Convert);
  instruction.d = *destination;
  instruction.a = sources[0];
  instruction.b = sources[1];
  instruction.data = decoder.getProgram().own(conversion);
  return Error::success();
}

Error PackedDecoder::decodeTF32() {
  if (a != Type::F32)
    return decoder.error(pair + " expects .f32 as the source");
  if (Error error =
          expectRounding(decoder, pair, rounding, {"rna", "rn", "rz"}))
    return error;
  if (rounding == "rna") {
    if (conversion.relu)
      return decoder.error(pair + " with .rna takes no .relu");
    if (Error error = requireTarget(decoder, 80, pair))
      return error;
  } else if (Error error =
                 requireTarget(decoder, 90, pair + " with ." + rounding)) {
    return error;
  }
  if (conversion.satfinite && rounding != "rna")
    if (Error error = requireTarget(decoder, 100,
                                    pair + " with ." + rounding + ".satfinite"))
      return error;
  conversion.to = {&kTF32, 1, 32};
  conversion.mode = rounding == "rna"  ? RoundingMode::NearestAway
                    : rounding == "rn" ? RoundingMode::NearestEven
                                       : RoundingMode::TowardZero;
  Expected<Instruction *> instruction = emitLanewise(
      decoder, executeTF32, InstructionClass::Convert, Type::B32, {Type::F32});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->data = decoder.getProgram().own(conversion);
  return Error::success();
}

Error PackedDecoder::decodeToHalves() {
  if (Error error = expectRounding(decoder, pair, rounding, {"rn", "rz", "rs"}))
    return error;
  if (rounding == "rs")
    return decodeStochastic();
  if (Error error = requireTarget(decoder, 80, pair))
    return error;
  conversion.mode =
      rounding == "rn" ? RoundingMode::NearestEven : RoundingMode::TowardZero;
  Execute execute = executeHalfPairDirected;
  if (rounding == "rn" && !conversion.satfinite) {
    if (d == Type::F16x2)
      execute = conversion.relu ? executeHalfPair<toF16, true>
                                : executeHalfPair<toF16, false>;
    else
      execute = conversion.relu ? executeHalfPair<toBF16, true>
                                : executeHalfPair<toBF16, false>;
  }
  return emitPair(execute, false);
}

Error PackedDecoder::decodeToNarrow() {
  const PackedType &to = conversion.to, &from = conversion.from;
  bool isFours = to.count == 4;
  if (isFours ? a != Type::F32 : a != Type::F32 && !from.isHalf())
    return decoder.error(pair + " expects .f32" +
                         (isFours ? "" : ", .f16x2 or .bf16x2") +
                         " as the source");
  if (Error error =
          expectRounding(decoder, pair, rounding,
                         {isFours ? StringRef("rs") : StringRef("rn")}))
    return error;
  if (!conversion.satfinite)
    return decoder.error(pair + " expects .satfinite");
  if (isFours)
    return decodeStochastic();
  bool fromHalves = from.isHalf();
  if (to.needsFamily() || a == Type::BF16x2) {
    if (Error error = requireFamily(decoder, pair, false))
      return error;
  } else if (Error error = requireTarget(decoder, 89, pair)) {
    return error;
  }
  if (fromHalves && (to.needsFamily() || a == Type::BF16x2))
    if (Error error = requireVersion(decoder, 91, pair))
      return error;
  return emitPair(chooseNarrow(to, fromHalves, conversion.relu), fromHalves);
}

Error PackedDecoder::decodeFromNarrow() {
  if (Error error = expectRounding(decoder, pair, rounding, {"rn"}))
    return error;
  if (conversion.satfinite)
    return decoder.error(pair + " takes no .satfinite");
  if (d == Type::BF16x2) {
    if (Error error = requireVersion(decoder, 92, pair))
      return error;
    if (Error error = requireFamily(decoder, pair, false))
      return error;
  } else if (conversion.from.needsFamily()) {
    if (Error error = requireFamily(decoder, pair, false))
      return error;
  } else if (Error error = requireTarget(decoder, 89, pair)) {
    return error;
  }
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> destination = takeDestination(false);
  if (!destination)
    return destination.takeError();
  Expected<Decoder::WideSlot> source = decoder.wideSource(
      decoder.getOperand(1), getBitType(conversion.from.getBits()));
  if (!source)
    return source.takeError();
  conversion.fromBytes = source->laneBytes;
  Instruction &instruction = decoder.emit(
      conversion.from.partBits == 4 ? executeWiden<4> : executeWiden<8>,
      InstructionClass::Convert);
  instruction.d = *destination;
  instruction.a = source->slot;
  instruction.data = decoder.getProgram().own(makeTable(conversion));
  return Error::success();
}

Error PackedDecoder::decodeToScales() {
  if (a != Type::F32 && a != Type::BF16x2)
    return decoder.error(pair + " expects .f32 or .bf16x2 as the source");
  if (Error error = expectRounding(decoder, pair, rounding, {"rz", "rp"}))
    return error;
  if (conversion.relu)
    return decoder.error(pair + " takes no .relu");
  if (Error error = requireFamily(decoder, pair, false))
    return error;
  conversion.mode =
      rounding == "rp" ? RoundingMode::Upward : RoundingMode::TowardZero;
  return emitPair(executeToScales, a == Type::BF16x2);
}

Error PackedDecoder::decodeFromScales() {
  if (d != Type::BF16x2)
    return decoder.error(pair + " expects .bf16x2 as the destination");
  if (Error error = expectRounding(decoder, pair, rounding, {"rn"}))
    return error;
  if (conversion.relu || conversion.satfinite)
    return decoder.error(pair + " takes no ." +
                         (conversion.relu ? "relu" : "satfinite"));
  if (Error error = requireFamily(decoder, pair, false))
    return error;
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> destination = takeDestination(false);
  if (!destination)
    return destination.takeError();
  Expected<Decoder::WideSlot> source =
      decoder.wideSource(decoder.getOperand(1), Type::B16);
  if (!source)
    return source.takeError();
  conversion.fromBytes = source->laneBytes;
  Instruction &instruction =
      decoder.emit(executeFromScales, InstructionClass::Convert);
  instruction.d = *destination;
  instruction.a = source->slot;
  instruction.data = decoder.getProgram().own(conversion);
  return Error::success();
}

/// `d, a, b, rbits` or `d, {a, b, e, f}, rbits`.
Error PackedDecoder::decodeStochastic() {
  if (Error error = requireFamily(decoder, pair + " with .rs", true))
    return error;
  bool isFours = conversion.to.count == 4;
  unsigned numOperands = isFours ? 3 : 4;
  if (Error error = decoder.expectOperands(numOperands, numOperands))
    return error;
  Expected<Slot> destination = takeDestination(!conversion.to.isHalf());
  if (!destination)
    return destination.takeError();
  llvm::SmallVector<Slot, 8> slots;
  if (isFours) {
    Expected<llvm::SmallVector<Slot, 8>> values =
        decoder.sources(1, Type::F32, 4);
    if (!values)
      return values.takeError();
    slots.assign(values->rbegin(), values->rend());
  } else {
    for (unsigned i : {2u, 1u}) {
      Expected<Slot> value = decoder.source(i, Type::F32);
      if (!value)
        return value.takeError();
      slots.push_back(*value);
    }
  }
  Expected<Slot> random = decoder.source(numOperands - 1, Type::B32);
  if (!random)
    return random.takeError();
  slots.push_back(*random);
  Instruction &instruction =
      decoder.emit(executeStochastic, InstructionClass::Convert);
  instruction.d = *destination;
  instruction.operands = decoder.getProgram().own(llvm::ArrayRef<Slot>(slots));
  instruction.data = decoder.getProgram().own(conversion);
  return Error::success();
}

Error PackedDecoder::decode() {
  rounding = decoder.takeRounding();
  conversion.relu = decoder.take("relu");
  conversion.satfinite = decoder.take("satfinite");
  const PackedType &to = conversion.to, &from = conversion.from;
  if (d == Type::TF32)
    return decodeTF32();
  if (to.isHalf() && a == Type::F32)
    return decodeToHalves();
  if (to.isScale)
    return decodeToScales();
  if (to.count && !to.isHalf())
    return decodeToNarrow();
  if (from.isScale)
    return decodeFromScales();
  if (to.isHalf() && from.count == 2 && !from.isHalf())
    return decodeFromNarrow();
  return decoder.error(pair + " is no conversion of the PTX ISA");
}

Error tile::emulator::decodePackedConversion(Decoder &decoder, Type d, Type a) {
  return PackedDecoder(decoder, d, a).decode();
}
