//===- Conversions.cpp - cvt of one value ---------------------------------===//
//
// PTX ISA, "cvt": every pair of integer and floating-point types. A value is
// widened to 64 bits, which holds each of either kind exactly, converted and
// rounded once, and cut to its destination. Pairs that programs use all the
// time have loops of their own.
//
//===----------------------------------------------------------------------===//

#include "Conversions.h"
#include "SmallFloat.h"

#include <limits>

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Shared steps
//===----------------------------------------------------------------------===//

/// The written bits of a register of any width.
static uint64_t getWrittenBits(const Lanes &lanes, Slot slot,
                               unsigned laneBytes, unsigned lane) {
  switch (laneBytes) {
  case 2:
    return getWritten<uint16_t>(lanes, slot, lane);
  case 4:
    return getWritten<uint32_t>(lanes, slot, lane);
  default:
    return getWritten<uint64_t>(lanes, slot, lane);
  }
}

/// `value`'s lowest `bits`, extended by their sign or by `fill`.
static uint64_t extend(uint64_t value, unsigned bits, bool isSigned,
                       bool fill = false) {
  uint64_t mask = lowMask(bits);
  bool high = isSigned ? value >> (bits - 1) & 1 : fill;
  return high ? value | ~mask : value & mask;
}

uint32_t tile::emulator::getUndefinedLanes(const Lanes &lanes, Slot slot,
                                           unsigned laneBytes, unsigned bits) {
  uint32_t undefined = lanes.undefinedAt(slot);
  if (!undefined || laneBytes * 8 <= bits)
    return undefined;
  uint32_t result = 0;
  forLanes(undefined, [&](unsigned lane) {
    uint64_t written = getWrittenBits(lanes, slot, laneBytes, lane);
    result |= uint32_t((~written & lowMask(bits)) != 0) << lane;
  });
  return result;
}

template <typename T>
static void storeLowAs(Lanes &lanes, Slot slot,
                       const uint64_t (&values)[kLanes], uint32_t undefined) {
  T narrow[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    narrow[lane] = static_cast<T>(values[lane]);
  store(lanes, slot, narrow);
  define<T>(lanes, slot, undefined);
}

void tile::emulator::storeLow(Lanes &lanes, Slot slot, unsigned laneBytes,
                              const uint64_t (&values)[kLanes],
                              uint32_t undefined) {
  switch (laneBytes) {
  case 2:
    return storeLowAs<uint16_t>(lanes, slot, values, undefined);
  case 4:
    return storeLowAs<uint32_t>(lanes, slot, values, undefined);
  default:
    return storeLowAs<uint64_t>(lanes, slot, values, undefined);
  }
}

static void loadRegister(const Lanes &lanes, Slot slot, unsigned laneBytes,
                         uint64_t (&values)[kLanes]) {
  for (unsigned lane = 0; lane != kLanes; ++lane)
    values[lane] = laneBytes == 2   ? lanes.read<uint16_t>(slot)[lane]
                   : laneBytes == 4 ? lanes.read<uint32_t>(slot)[lane]
                                    : lanes.read<uint64_t>(slot)[lane];
}

//===----------------------------------------------------------------------===//
// The general way
//===----------------------------------------------------------------------===//

namespace {

enum class IntegerRounding { None, Nearest, Zero, Down, Up };

/// One side of a conversion.
struct Side {
  Type type = Type::None;
  unsigned bits = 0;
  unsigned laneBytes = 0; ///< Of the register, which may be wider.
  bool isSigned = false;
  const NumberFormat *format = nullptr; ///< Null for an integer.
};

struct Conversion {
  Side to, from;
  IntegerRounding integerRounding = IntegerRounding::None;
  RoundingMode mode = RoundingMode::NearestEven;
  bool ftz = false, sat = false, relu = false, satfinite = false;
};

} // namespace

static uint64_t convertIntegers(const Conversion &conversion, uint64_t value) {
  const Side &to = conversion.to, &from = conversion.from;
  value = extend(value, from.bits, from.isSigned);
  if (conversion.sat) {
    bool isNegative = from.isSigned && static_cast<int64_t>(value) < 0;
    uint64_t max = lowMask(to.isSigned ? to.bits - 1 : to.bits);
    uint64_t min = to.isSigned ? ~max : 0;
    if (isNegative)
      value = !to.isSigned ||
                      static_cast<int64_t>(value) < static_cast<int64_t>(min)
                  ? min
                  : value;
    else
      value = value > max ? max : value;
  }
  return extend(value, to.bits, to.isSigned);
}

/// The value of a float operand: NaN keeps what payload a double has room for.
static double widen(const Conversion &conversion, uint64_t code) {
  switch (conversion.from.type) {
  case Type::F16:
    return fromF16(static_cast<uint16_t>(code));
  case Type::BF16:
    return fromBF16(static_cast<uint16_t>(code));
  case Type::F32: {
    float value = toFloat(static_cast<uint32_t>(code));
    return conversion.ftz ? flushSubnormal(value) : value;
  }
  default:
    return toDouble(code);
  }
}

static double roundToInteger(double value, IntegerRounding rounding) {
  switch (rounding) {
  case IntegerRounding::None:
    return value;
  case IntegerRounding::Nearest:
    return std::nearbyint(value);
  case IntegerRounding::Zero:
    return std::trunc(value);
  case IntegerRounding::Down:
    return std::floor(value);
  case IntegerRounding::Up:
    return std::ceil(value);
  }
  return value;
}

static uint64_t convertToInteger(const Conversion &conversion, double value) {
  const Side &to = conversion.to;
  if (std::isnan(value)) {
    // "Zero if source is not .f64 and destination is not .s64, .u64."
    bool isWide = conversion.from.type == Type::F64 || to.bits == 64;
    return isWide ? extend(uint64_t(1) << (to.bits - 1), to.bits, to.isSigned)
                  : 0;
  }
  value = roundToInteger(value, conversion.integerRounding);
  unsigned valueBits = to.isSigned ? to.bits - 1 : to.bits;
  double limit = std::ldexp(1.0, static_cast<int>(valueBits));
  if (value >= limit)
    return lowMask(valueBits);
  if (to.isSigned)
    return value < -limit ? ~lowMask(valueBits)
                          : static_cast<uint64_t>(static_cast<int64_t>(value));
  return value <= 0 ? 0 : static_cast<uint64_t>(value);
}

/// What .ftz, .sat and .relu make of a float result.
static uint64_t modifyResult(const Conversion &conversion, uint64_t code) {
  const NumberFormat &format = *conversion.to.format;
  if (conversion.sat) {
    uint64_t one = static_cast<uint64_t>(format.bias) << format.mantissaBits;
    bool isZero = format.isNaN(code) || format.isNegative(code);
    code = isZero ? 0 : std::min(code, one);
  }
  if (conversion.relu && !format.isNaN(code) && format.isNegative(code))
    code = 0;
  if (conversion.ftz && conversion.to.type == Type::F32 &&
      format.isBelowNormal(code))
    code &= format.signBit();
  return code;
}

static uint64_t convertOne(const Conversion &conversion, uint64_t value) {
  const Side &to = conversion.to, &from = conversion.from;
  if (!from.format && !to.format)
    return convertIntegers(conversion, value);
  if (!from.format) {
    value = extend(value, from.bits, from.isSigned);
    bool isNegative = from.isSigned && static_cast<int64_t>(value) < 0;
    return modifyResult(
        conversion,
        pack(*to.format,
             unpackInteger(isNegative, isNegative ? 0 - value : value),
             conversion.mode));
  }
  double wide = widen(conversion, value & lowMask(from.bits));
  if (!to.format)
    return convertToInteger(conversion, wide);
  wide = roundToInteger(wide, conversion.integerRounding);
  // f64 keeps the payload of a NaN.
  uint64_t code =
      to.type == Type::F64 && std::isnan(wide)
          ? toBits(wide) | uint64_t(1) << 51
          : pack(*to.format, wide, conversion.mode, conversion.satfinite);
  return modifyResult(conversion, code);
}

static void executeConversion(const Instruction &instruction, Lanes &lanes) {
  const Conversion &conversion =
      *static_cast<const Conversion *>(instruction.data);
  uint64_t values[kLanes];
  loadRegister(lanes, instruction.a, conversion.from.laneBytes, values);
  forLanes(lanes.active, [&](unsigned lane) {
    values[lane] = convertOne(conversion, values[lane]);
  });
  storeLow(lanes, instruction.d, conversion.to.laneBytes, values,
           getUndefinedLanes(lanes, instruction.a, conversion.from.laneBytes,
                             conversion.from.bits));
}

/// Between integers without saturation each bit of the result is a bit of the
/// operand, or a zero.
static uint64_t convertWritten(const Conversion &conversion, uint64_t written) {
  const Side &to = conversion.to, &from = conversion.from;
  written = extend(written, from.bits, from.isSigned, true);
  return extend(written, to.bits, to.isSigned, true);
}

static void executeIntegers(const Instruction &instruction, Lanes &lanes) {
  const Conversion &conversion =
      *static_cast<const Conversion *>(instruction.data);
  const Side &to = conversion.to, &from = conversion.from;
  uint64_t values[kLanes], written[kLanes];
  loadRegister(lanes, instruction.a, from.laneBytes, values);
  for (uint64_t &value : values)
    value =
        extend(extend(value, from.bits, from.isSigned), to.bits, to.isSigned);
  uint32_t undefined = lanes.undefinedAt(instruction.a) & lanes.active;
  forLanes(undefined, [&](unsigned lane) {
    written[lane] = convertWritten(
        conversion, getWrittenBits(lanes, instruction.a, from.laneBytes, lane));
  });
  storeLow(lanes, instruction.d, to.laneBytes, values, 0);
  forLanes(undefined, [&](unsigned lane) {
    if (to.laneBytes == 2)
      setWritten<uint16_t>(lanes, instruction.d, lane,
                           static_cast<uint16_t>(written[lane]));
    else if (to.laneBytes == 4)
      setWritten<uint32_t>(lanes, instruction.d, lane,
                           static_cast<uint32_t>(written[lane]));
    else
      setWritten<uint64_t>(lanes, instruction.d, lane, written[lane]);
  });
}

//===----------------------------------------------------------------------===//
// Loops for common pairs, in registers of the type's own width
//===----------------------------------------------------------------------===//

/// The register that holds a value of integer type `T`; 8 bits live in 16.
template <typename T>
using IntegerRegister = std::conditional_t<
    sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>,
    T>;

template <typename To, typename From>
static void executeIntegerPair(const Instruction &instruction, Lanes &lanes) {
  if (lanes.undefinedAt(instruction.a) & lanes.active)
    return executeIntegers(instruction, lanes);
  using FromRegister = IntegerRegister<From>;
  using ToRegister = IntegerRegister<To>;
  const FromRegister *values = lanes.read<FromRegister>(instruction.a);
  ToRegister result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = static_cast<To>(static_cast<From>(values[lane]));
  store(lanes, instruction.d, result);
  define(lanes, instruction.d);
}

/// To f32 or f64, to nearest even.
template <typename To, typename From>
static void executeToFloat(const Instruction &instruction, Lanes &lanes) {
  mapUnary<To, IntegerRegister<From>>(
      lanes, instruction.d, instruction.a, [](IntegerRegister<From> value) {
        return static_cast<To>(static_cast<From>(value));
      });
}

template <typename F>
static Execute forSmallInteger(Type type, F f) {
  switch (type) {
  case Type::U8:
    return f(uint8_t());
  case Type::S8:
    return f(int8_t());
  default:
    return forInteger(type, f);
  }
}

static void executeF32FromF16(const Instruction &instruction, Lanes &lanes) {
  mapUnary<float, uint16_t>(lanes, instruction.d, instruction.a, fromF16);
}
static void executeF32FromBF16(const Instruction &instruction, Lanes &lanes) {
  mapUnary<float, uint16_t>(
      lanes, instruction.d, instruction.a,
      [](uint16_t code) { return canonicalize(fromBF16(code)); });
}
static void executeF16FromF32(const Instruction &instruction, Lanes &lanes) {
  mapUnary<uint16_t, float>(lanes, instruction.d, instruction.a, toF16);
}
static void executeBF16FromF32(const Instruction &instruction, Lanes &lanes) {
  mapUnary<uint16_t, float>(lanes, instruction.d, instruction.a, toBF16);
}
static void executeF64FromF32(const Instruction &instruction, Lanes &lanes) {
  mapUnary<double, float>(lanes, instruction.d, instruction.a,
                          [](float value) { return double(value); });
}
static void executeF32FromF64(const Instruction &instruction, Lanes &lanes) {
  mapUnary<float, double>(
      lanes, instruction.d, instruction.a,
      [](double value) { return canonicalize(static_cast<float>(value)); });
}

/// f32 to s32, or u32, toward zero or to nearest: NaN to 0, clamped.
template <bool IsSigned, bool IsNearest>
static void executeToInteger32(const Instruction &instruction, Lanes &lanes) {
  mapUnary<uint32_t, float>(
      lanes, instruction.d, instruction.a, [](float value) {
        double wide = value == value ? value : 0.0;
        // 1.5 * 2^52 leaves no room for a fraction.
        if (IsNearest) {
          double bounded = std::fabs(wide) < 0x1p40 ? wide : 0.0;
          double rounded = bounded + 0x1.8p52 - 0x1.8p52;
          wide = std::fabs(wide) < 0x1p40 ? rounded : wide;
        }
        constexpr double min = IsSigned ? -0x1p31 : 0.0;
        constexpr double max = IsSigned ? 0x1.fffffffcp30 : 0x1.fffffffep31;
        wide = wide > min ? wide : min;
        wide = wide < max ? wide : max;
        return static_cast<uint32_t>(static_cast<int64_t>(wide));
      });
}

/// A loop of its own for `conversion`, or null.
static Execute findFastExecutor(const Conversion &conversion) {
  const Side &to = conversion.to, &from = conversion.from;
  if (to.laneBytes != getLaneBytes(to.type) ||
      from.laneBytes != getLaneBytes(from.type) || conversion.sat ||
      conversion.ftz || conversion.relu || conversion.satfinite)
    return nullptr;
  bool isNearest = conversion.mode == RoundingMode::NearestEven;
  if (!from.format && !to.format)
    return forSmallInteger(to.type, [&](auto d) {
      return forSmallInteger(from.type, [&](auto a) -> Execute {
        return executeIntegerPair<decltype(d), decltype(a)>;
      });
    });
  if (!from.format) {
    if (!isNearest || (to.type != Type::F32 && to.type != Type::F64))
      return nullptr;
    return forSmallInteger(from.type, [&](auto a) -> Execute {
      return to.type == Type::F32 ? executeToFloat<float, decltype(a)>
                                  : executeToFloat<double, decltype(a)>;
    });
  }
  if (from.type == Type::F32 &&
      (to.type == Type::S32 || to.type == Type::U32)) {
    bool isSigned = to.isSigned;
    if (conversion.integerRounding == IntegerRounding::Zero)
      return isSigned ? executeToInteger32<true, false>
                      : executeToInteger32<false, false>;
    if (conversion.integerRounding == IntegerRounding::Nearest)
      return isSigned ? executeToInteger32<true, true>
                      : executeToInteger32<false, true>;
    return nullptr;
  }
  if (!isNearest || conversion.integerRounding != IntegerRounding::None)
    return nullptr;
  struct Pair {
    Type to, from;
    Execute execute;
  };
  static constexpr Pair pairs[] = {
      {Type::F32, Type::F16, executeF32FromF16},
      {Type::F32, Type::BF16, executeF32FromBF16},
      {Type::F16, Type::F32, executeF16FromF32},
      {Type::BF16, Type::F32, executeBF16FromF32},
      {Type::F64, Type::F32, executeF64FromF32},
      {Type::F32, Type::F64, executeF32FromF64},
  };
  for (const Pair &pair : pairs)
    if (pair.to == to.type && pair.from == from.type)
      return pair.execute;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// What is known of a scalar type; no bits where cvt does not take it.
static Side describeType(Type type) {
  Side side;
  side.type = type;
  switch (type) {
  case Type::S8:
  case Type::S16:
  case Type::S32:
  case Type::S64:
    side.isSigned = true;
    break;
  case Type::U8:
  case Type::U16:
  case Type::U32:
  case Type::U64:
    break;
  case Type::F16:
    side.format = &kF16;
    break;
  case Type::BF16:
    side.format = &kBF16;
    break;
  case Type::F32:
    side.format = &kF32;
    break;
  case Type::F64:
    side.format = &kF64;
    break;
  default:
    return side;
  }
  side.bits = getTypeBits(type);
  return side;
}

/// Whether every value of `from` is one of `to`.
static bool covers(const Side &to, const Side &from) {
  if (to.format && from.format)
    return to.format->mantissaBits >= from.format->mantissaBits &&
           to.format->bias >= from.format->bias;
  if (to.format || from.format)
    return false;
  if (to.isSigned == from.isSigned)
    return to.bits >= from.bits;
  return to.isSigned && to.bits > from.bits;
}

/// The modifiers that do not go with the types of `conversion`, and those that
/// must be there.
static Error checkModifiers(Decoder &decoder, const Conversion &conversion,
                            bool hasMode) {
  const Side &to = conversion.to, &from = conversion.from;
  bool hasInteger = conversion.integerRounding != IntegerRounding::None;
  std::string pair =
      ("'cvt." + getTypeName(to.type) + "." + getTypeName(from.type) + "'")
          .str();
  const bool involvesF32 = to.type == Type::F32 || from.type == Type::F32;

  // Rounding.
  if (from.format && !to.format && !hasInteger)
    return decoder.error(
        pair + " expects an integer rounding: .rni, .rzi, .rmi or .rpi");
  if (hasInteger && !(from.format && (!to.format || to.type == from.type)))
    return decoder.error(pair + " takes no integer rounding");
  const bool losesBits = to.format && !covers(to, from);
  // Mandatory from integers and "when destination type is smaller than source
  // type": between f16 and bf16 it may be left out.
  const bool needsMode = losesBits && !(from.format && to.bits == from.bits);
  if (needsMode && !hasMode)
    return decoder.error(pair + " expects a rounding: .rn, .rz, .rm or .rp");
  // The ISA's own examples round what comes from bf16 whatever the type.
  if (hasMode && !losesBits && !(to.format && from.type == Type::BF16))
    return decoder.error(pair + " takes no floating-point rounding");
  const bool isBF16FromF32 = to.type == Type::BF16 && from.type == Type::F32;
  const bool isRnOrRz = conversion.mode == RoundingMode::NearestEven ||
                        conversion.mode == RoundingMode::TowardZero;
  if (isBF16FromF32 && !isRnOrRz)
    return decoder.error(pair + " expects .rn or .rz");

  // The rest.
  if (conversion.ftz && !involvesF32)
    return decoder.error(pair + " takes no .ftz, as neither type is .f32");
  if (conversion.sat &&
      (to.type == Type::BF16 || (!to.format && covers(to, from))))
    return decoder.error(pair + " takes no .sat");
  if (conversion.relu || conversion.satfinite) {
    StringRef word = conversion.relu ? "relu" : "satfinite";
    if ((to.type != Type::F16 && to.type != Type::BF16) ||
        from.type != Type::F32)
      return decoder.error(pair + " takes no ." + word);
    if (!isRnOrRz)
      return decoder.error(pair + " with ." + word + " expects .rn or .rz");
    if (Error error = requireTarget(decoder, 80, pair + " with ." + word))
      return error;
  }

  // Targets.
  if (to.type == Type::BF16 || from.type == Type::BF16) {
    bool isOld = involvesF32 && to.type != from.type;
    if (Error error = requireTarget(decoder, isOld ? 80 : 90, pair))
      return error;
    if (from.type == Type::BF16 && conversion.ftz)
      return requireTarget(decoder, 90, pair + " with .ftz");
  }
  return Error::success();
}

/// bf16 is the one type whose registers must have its own width.
static Expected<Decoder::WideSlot> decodeSide(Decoder &decoder, unsigned i,
                                              Type type) {
  if (type == Type::BF16) {
    Expected<Slot> slot =
        i ? decoder.source(i, type) : decoder.destination(i, type);
    if (!slot)
      return slot.takeError();
    return Decoder::WideSlot{*slot, 2};
  }
  const Operand &operand = decoder.getOperand(i);
  return i ? decoder.wideSource(operand, type)
           : decoder.wideDestination(operand, type);
}

static Error decodeConversion(Decoder &decoder) {
  Expected<Type> d = decoder.takeType();
  if (!d)
    return d.takeError();
  Expected<Type> a = decoder.takeType();
  if (!a)
    return a.takeError();
  Conversion conversion;
  conversion.to = describeType(*d);
  conversion.from = describeType(*a);
  if (!conversion.to.bits || !conversion.from.bits)
    return decodePackedConversion(decoder, *d, *a);

  StringRef integer = decoder.takeAny({"rni", "rzi", "rmi", "rpi"});
  conversion.integerRounding = integer.empty()    ? IntegerRounding::None
                               : integer == "rni" ? IntegerRounding::Nearest
                               : integer == "rzi" ? IntegerRounding::Zero
                               : integer == "rmi" ? IntegerRounding::Down
                                                  : IntegerRounding::Up;
  std::optional<RoundingMode> mode = takeFloatRounding(decoder);
  conversion.mode = mode.value_or(RoundingMode::NearestEven);
  conversion.ftz = decoder.take("ftz");
  conversion.sat = decoder.take("sat");
  conversion.relu = decoder.take("relu");
  conversion.satfinite = decoder.take("satfinite");
  if (Error error = checkModifiers(decoder, conversion, mode.has_value()))
    return error;
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Decoder::WideSlot> destination = decodeSide(decoder, 0, *d);
  if (!destination)
    return destination.takeError();
  Expected<Decoder::WideSlot> source = decodeSide(decoder, 1, *a);
  if (!source)
    return source.takeError();
  conversion.to.laneBytes = destination->laneBytes;
  conversion.from.laneBytes = source->laneBytes;

  bool isMove =
      !conversion.to.format && !conversion.from.format && !conversion.sat;
  Execute execute = findFastExecutor(conversion);
  if (!execute)
    execute = isMove ? executeIntegers : executeConversion;
  Instruction &instruction = decoder.emit(execute, InstructionClass::Convert);
  instruction.d = destination->slot;
  instruction.a = source->slot;
  instruction.data = decoder.getProgram().own(conversion);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void tile::emulator::registerConversions(InstructionTable &table) {
  constexpr llvm::StringLiteral group = {"Conversions"};
  table.add("cvt",
            "cvt of every pair of {u,s}{8,16,32,64}, f16, bf16, f32, f64 with "
            "{.rni,.rzi,.rmi,.rpi,.rn,.rz,.rm,.rp}{.ftz}{.sat}{.relu}"
            "{.satfinite}; cvt{.rn,.rz,.rs}.{f16x2,bf16x2}.f32; "
            "cvt.{rna,rn,rz}.tf32.f32; {e4m3,e5m2,e2m3,e3m2,e2m1,ue8m0}x2 from "
            "f32, f16x2, bf16x2 and back; cvt.rs.{e4m3,e5m2,e2m3,e3m2,e2m1}x4"
            ".f32",
            group, decodeConversion);
  table.add("cvt.pack",
            "cvt.pack.sat.{u2,s2,u4,s4,u8,s8}.s32.b32, "
            "cvt.pack.sat.{u16,s16}.s32",
            group, decodeIntegerPack);
}
