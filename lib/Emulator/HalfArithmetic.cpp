//===- HalfArithmetic.cpp - f16, bf16 and their pairs ---------------------===//
//
// PTX ISA, "Half Precision Floating Point Instructions" and "Mixed Precision
// Floating Point Instructions". Every result is rounded once: sums, and
// products of f16, have enough room in f32 that rounding again changes nothing
// (24 bits are at least twice 11 and two more); the others go through values
// rounded to odd (SmallFloat.h). NaN results are 0x7FFF.
//
//===----------------------------------------------------------------------===//

#include "FloatDecoding.h"
#include "FloatSelections.h"
#include "PackedLanes.h"
#include "SmallFloat.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

struct Half {
  static constexpr const NumberFormat &format = kF16;
  static constexpr uint16_t one = 0x3C00;
  static float widen(uint16_t code) { return fromF16(code); }
  static uint16_t narrow(float value) { return toF16(value); }
};

struct BrainFloat {
  static constexpr const NumberFormat &format = kBF16;
  static constexpr uint16_t one = 0x3F80;
  static float widen(uint16_t code) { return fromBF16(code); }
  static uint16_t narrow(float value) { return toBF16(value); }
};

enum class Operation { Add, Sub, Mul, Fma };

enum class Clamp {
  None,
  Saturate, ///< .sat: to [+0, 1], NaN to +0.
  Relu,     ///< .relu: negative to +0, NaN to the canonical one.
};

} // namespace

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

template <typename F>
static uint16_t flush(uint16_t code) {
  constexpr uint16_t exponent = F::format.infinity;
  return code & exponent ? code : code & 0x8000;
}

template <typename F, Operation operation>
static uint16_t compute(uint16_t a, uint16_t b, uint16_t c) {
  float x = F::widen(a), y = F::widen(b);
  switch (operation) {
  case Operation::Add:
    return F::narrow(x + y);
  case Operation::Sub:
    return F::narrow(x - y);
  case Operation::Mul:
    // The product has 22 or 16 bits. One of bf16 that f32 rounds, below 2^-134,
    // is zero in the end either way.
    return F::narrow(x * y);
  case Operation::Fma:
    // f32 has room for the product of two f16, whose exponents are few.
    if constexpr (std::is_same_v<F, Half>)
      return F::narrow(addToOdd(x * y, F::widen(c)));
    else
      return F::narrow(narrowToOdd(addToOdd(static_cast<double>(x) * y,
                                            static_cast<double>(F::widen(c)))));
  }
}

template <typename F, Clamp clamp>
static uint16_t applyClamp(uint16_t code) {
  constexpr uint16_t infinity = F::format.infinity;
  bool isNaN = (code & 0x7FFF) > infinity;
  if constexpr (clamp == Clamp::Saturate) {
    uint16_t positive = isNaN || (code & 0x8000) ? 0 : code;
    return positive < F::one ? positive : F::one;
  }
  if constexpr (clamp == Clamp::Relu)
    return !isNaN && (code & 0x8000) ? 0 : code;
  return code;
}

template <typename F, Operation operation, unsigned Pack, bool Ftz, Clamp clamp>
static void executeArithmetic(const Instruction &instruction, Lanes &lanes) {
  auto element = [](uint16_t a, uint16_t b, uint16_t c) {
    if constexpr (Ftz) {
      a = flush<F>(a);
      b = flush<F>(b);
      c = flush<F>(c);
    }
    uint16_t result = applyClamp<F, clamp>(compute<F, operation>(a, b, c));
    if constexpr (Ftz)
      result = flush<F>(result);
    return result;
  };
  if constexpr (operation == Operation::Fma)
    mapElements<uint16_t, Pack>(lanes, element, instruction.d, instruction.a,
                                instruction.b, instruction.c);
  else
    mapElements<uint16_t, Pack>(
        lanes, [&](uint16_t a, uint16_t b) { return element(a, b, 0); },
        instruction.d, instruction.a, instruction.b);
}

/// fma of bf16 in f32 alone, which is faster, where f32 holds every product
/// exactly: it does unless one is below its normal values or beyond its last.
template <unsigned Pack, Clamp clamp>
static void executeBrainFuse(const Instruction &instruction, Lanes &lanes) {
  constexpr unsigned count = kLanes * Pack;
  const uint16_t *a = lanes.read<uint16_t>(instruction.a);
  const uint16_t *b = lanes.read<uint16_t>(instruction.b);
  const uint16_t *c = lanes.read<uint16_t>(instruction.c);
  uint32_t inexact = 0;
  uint16_t result[count];
  for (unsigned i = 0; i != count; ++i) {
    float x = fromBF16(a[i]), y = fromBF16(b[i]), product = x * y;
    // The exponents' fields: zero for zero or below normal, 255 for infinity.
    uint32_t xField = toBits(x) & 0x7F800000, yField = toBits(y) & 0x7F800000;
    uint32_t field = toBits(product) & 0x7F800000;
    uint32_t factors = xField > yField ? xField : yField;
    bool isZero = x == 0.0f || y == 0.0f;
    bool small = field == 0 && !isZero;
    bool large = field == 0x7F800000 && factors != 0x7F800000;
    inexact |= small || large ? 1 : 0;
    result[i] = applyClamp<BrainFloat, clamp>(
        toBF16(addToOdd(product, fromBF16(c[i]))));
  }
  if (inexact)
    return executeArithmetic<BrainFloat, Operation::Fma, Pack, false, clamp>(
        instruction, lanes);
  uint32_t undefined = lanes.undefinedAt(instruction.a) |
                       lanes.undefinedAt(instruction.b) |
                       lanes.undefinedAt(instruction.c);
  storeElements<Pack>(lanes, instruction.d, result);
  define<PackedRegister<uint16_t, Pack>>(lanes, instruction.d, undefined);
}

//===----------------------------------------------------------------------===//
// Decoding of arithmetic
//===----------------------------------------------------------------------===//

static bool isPacked(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2;
}
static bool isBrainFloat(Type type) {
  return type == Type::BF16 || type == Type::BF16x2;
}

template <typename F, Operation operation, bool Ftz, Clamp clamp>
static Execute choosePack(Type type) {
  return isPacked(type) ? executeArithmetic<F, operation, 2, Ftz, clamp>
                        : executeArithmetic<F, operation, 1, Ftz, clamp>;
}

template <Operation operation>
static Execute chooseArithmetic(Type type, bool ftz, Clamp clamp) {
  constexpr bool isFma = operation == Operation::Fma;
  if (isBrainFloat(type)) {
    if constexpr (isFma) {
      if (isPacked(type))
        return clamp == Clamp::Relu ? executeBrainFuse<2, Clamp::Relu>
                                    : executeBrainFuse<2, Clamp::None>;
      return clamp == Clamp::Relu ? executeBrainFuse<1, Clamp::Relu>
                                  : executeBrainFuse<1, Clamp::None>;
    }
    return choosePack<BrainFloat, operation, false, Clamp::None>(type);
  }
  if constexpr (isFma)
    if (clamp == Clamp::Relu)
      return ftz ? choosePack<Half, operation, true, Clamp::Relu>(type)
                 : choosePack<Half, operation, false, Clamp::Relu>(type);
  if (clamp == Clamp::Saturate)
    return ftz ? choosePack<Half, operation, true, Clamp::Saturate>(type)
               : choosePack<Half, operation, false, Clamp::Saturate>(type);
  return ftz ? choosePack<Half, operation, true, Clamp::None>(type)
             : choosePack<Half, operation, false, Clamp::None>(type);
}

static Expected<Type> takeHalfType(Decoder &decoder) {
  return takeTypeOf(decoder,
                    {Type::F16, Type::F16x2, Type::BF16, Type::BF16x2});
}

static Error decodeMixed(Decoder &decoder, Operation operation);

template <Operation operation>
static Error decodeArithmetic(Decoder &decoder) {
  if (hasWord(decoder.getWords(), {"f32"}))
    return decodeMixed(decoder, operation);
  constexpr bool isFma = operation == Operation::Fma;
  StringRef name = decoder.getStatement().opcode.front();
  Expected<Type> type = takeHalfType(decoder);
  if (!type)
    return type.takeError();
  bool rounds = decoder.take("rn");
  bool ftz = decoder.take("ftz"), sat = decoder.take("sat");
  bool relu = isFma && decoder.take("relu");
  std::string what = ("'" + name + "." + getTypeName(*type) + "'").str();
  if (isFma && !rounds)
    return decoder.error(what + " expects .rn");
  if (isFma && decoder.take("oob"))
    return decoder.error(what + " with .oob is not supported: the PTX ISA does "
                                "not say which NaN is out of bounds");
  if (isBrainFloat(*type) && (ftz || sat))
    return decoder.error(what + " has no ." + (ftz ? "ftz" : "sat"));
  if (relu && sat)
    return decoder.error(what + " expects .relu or .sat, but got both");
  if (isBrainFloat(*type))
    if (Error error = requireTarget(decoder, isFma ? 80 : 90, what))
      return error;
  Clamp clamp = sat ? Clamp::Saturate : relu ? Clamp::Relu : Clamp::None;
  llvm::SmallVector<Type, 3> sources(isFma ? 3 : 2, *type);
  return emitSimple(decoder, chooseArithmetic<operation>(*type, ftz, clamp),
                    InstructionClass::Float16, *type, sources);
}

//===----------------------------------------------------------------------===//
// Mixed precision
//===----------------------------------------------------------------------===//

namespace {
/// What an executor of mixed precision needs beside its operands.
struct Mixed {
  Operation operation;
  RoundingMode mode;
  bool saturates;
  bool isBrainFloat;
};
} // namespace

static void executeMixed(const Instruction &instruction, Lanes &lanes) {
  const Mixed &mixed = *static_cast<const Mixed *>(instruction.data);
  auto widen = [&](uint16_t code) {
    return toBits(mixed.isBrainFloat ? fromBF16(code) : fromF16(code));
  };
  auto finish = [&](uint64_t code) {
    float value = toFloat(static_cast<uint32_t>(code));
    return mixed.saturates ? saturate(value) : canonicalize(value);
  };
  if (mixed.operation == Operation::Fma) {
    mapTernary<float, uint16_t, uint16_t, uint32_t>(
        lanes, instruction.d, instruction.a, instruction.b, instruction.c,
        [&](uint16_t a, uint16_t b, uint32_t c) {
          return finish(fuseCodes(kF32, widen(a), widen(b), c, mixed.mode));
        });
    return;
  }
  uint32_t flip = mixed.operation == Operation::Sub ? 0x80000000 : 0;
  mapBinary<float, uint16_t, uint32_t>(
      lanes, instruction.d, instruction.a, instruction.b,
      [&](uint16_t a, uint32_t c) {
        return finish(addCodes(kF32, widen(a), c ^ flip, mixed.mode));
      });
}

/// add, sub and fma of f32 with narrower factors or first terms.
static Error decodeMixed(Decoder &decoder, Operation operation) {
  StringRef name = decoder.getStatement().opcode.front();
  if (operation == Operation::Mul)
    return decoder.error("'mul' expects one type, but got " +
                         spellOpcode(decoder));
  Expected<Type> first = takeTypeOf(decoder, {Type::F32});
  if (!first)
    return first.takeError();
  Expected<Type> narrow = takeTypeOf(decoder, {Type::F16, Type::BF16});
  if (!narrow)
    return narrow.takeError();
  std::string what = ("'" + name + ".f32." + getTypeName(*narrow) + "'").str();
  std::optional<RoundingMode> mode = takeFloatRounding(decoder);
  if (!mode && operation == Operation::Fma)
    return decoder.error(what + " expects a rounding modifier: .rn, .rz, .rm "
                                "or .rp");
  if (Error error = requireTarget(decoder, 100, what))
    return error;
  Mixed mixed = {operation, mode.value_or(RoundingMode::NearestEven),
                 decoder.take("sat"), isBrainFloat(*narrow)};
  llvm::SmallVector<Type, 3> sources(operation == Operation::Fma ? 2 : 1,
                                     *narrow);
  sources.push_back(Type::F32);
  Expected<Instruction *> instruction = emitLanewise(
      decoder, executeMixed, InstructionClass::Float32, Type::F32, sources);
  if (!instruction)
    return instruction.takeError();
  (*instruction)->data = decoder.getProgram().own(mixed);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Sign, minimum, maximum
//===----------------------------------------------------------------------===//

/// abs and neg; those of a NaN change its sign alone. Only f16 has .ftz.
template <uint16_t Clear, uint16_t Flip, unsigned Pack, bool Ftz>
static void executeSign(const Instruction &instruction, Lanes &lanes) {
  mapElements<uint16_t, Pack>(
      lanes,
      [](uint16_t code) {
        uint16_t result = static_cast<uint16_t>((code & ~Clear) ^ Flip);
        return Ftz ? flush<Half>(result) : result;
      },
      instruction.d, instruction.a);
}

template <uint16_t Clear, uint16_t Flip>
static Execute chooseSign(bool packed, bool ftz) {
  if (packed)
    return ftz ? executeSign<Clear, Flip, 2, true>
               : executeSign<Clear, Flip, 2, false>;
  return ftz ? executeSign<Clear, Flip, 1, true>
             : executeSign<Clear, Flip, 1, false>;
}

static Error decodeSign(Decoder &decoder) {
  StringRef name = decoder.getStatement().opcode.front();
  Expected<Type> type = takeHalfType(decoder);
  if (!type)
    return type.takeError();
  std::string what = ("'" + name + "." + getTypeName(*type) + "'").str();
  bool ftz = decoder.take("ftz"), packed = isPacked(*type);
  if (isBrainFloat(*type)) {
    if (ftz)
      return decoder.error(what + " has no .ftz");
    if (Error error = requireTarget(decoder, 80, what))
      return error;
  }
  return emitSimple(decoder,
                    name == "abs" ? chooseSign<0x8000, 0>(packed, ftz)
                                  : chooseSign<0, 0x8000>(packed, ftz),
                    InstructionClass::Float16, *type, {*type});
}

template <unsigned Pack, bool IsMax, bool PropagateNaN, bool XorSignAbs,
          bool Ftz>
static void executeSelect(const Instruction &instruction, Lanes &lanes) {
  // Only f16 has .ftz; the infinity is the format's.
  const uint16_t infinity = static_cast<uint16_t>(instruction.immediate);
  mapElements<uint16_t, Pack>(
      lanes,
      [&](uint16_t a, uint16_t b) {
        if constexpr (Ftz) {
          a = flush<Half>(a);
          b = flush<Half>(b);
        }
        return selectExtreme<int16_t, IsMax, PropagateNaN, XorSignAbs>(
            a, b, infinity, kF16.nan);
      },
      instruction.d, instruction.a, instruction.b);
}

template <unsigned Pack, bool... known>
static Execute chooseSelect() {
  return executeSelect<Pack, known...>;
}
/// The executor whose template arguments are `known` and then `flags`.
template <unsigned Pack, bool... known, typename... Flags>
static Execute chooseSelect(bool flag, Flags... flags) {
  return flag ? chooseSelect<Pack, known..., true>(flags...)
              : chooseSelect<Pack, known..., false>(flags...);
}

static Error decodeSelect(Decoder &decoder) {
  StringRef name = decoder.getStatement().opcode.front();
  Expected<Type> type = takeHalfType(decoder);
  if (!type)
    return type.takeError();
  std::string what = ("'" + name + "." + getTypeName(*type) + "'").str();
  bool ftz = decoder.take("ftz"), nan = decoder.take("NaN");
  bool xorSign = decoder.take("xorsign"), abs = decoder.take("abs");
  if (xorSign != abs)
    return decoder.error(what + " expects .xorsign.abs together, but got ." +
                         (abs ? "abs" : "xorsign"));
  if (isBrainFloat(*type) && ftz)
    return decoder.error(what + " has no .ftz");
  if (Error error = requireTarget(decoder, xorSign ? 86 : 80,
                                  xorSign ? what + " with .xorsign" : what))
    return error;
  bool isMax = name == "max";
  Execute execute = isPacked(*type) ? chooseSelect<2>(isMax, nan, xorSign, ftz)
                                    : chooseSelect<1>(isMax, nan, xorSign, ftz);
  Expected<Instruction *> instruction = emitLanewise(
      decoder, execute, InstructionClass::Float16, *type, {*type, *type});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->immediate = static_cast<int64_t>(
      isBrainFloat(*type) ? kBF16.infinity : kF16.infinity);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// tanh and ex2
//===----------------------------------------------------------------------===//

/// The function in double, rounded; all of the ISA's corner cases are those of
/// the exact function.
template <typename F, unsigned Pack, bool IsTanh>
static void executeSpecial(const Instruction &instruction, Lanes &lanes) {
  // ex2 of bf16 exists only with .ftz. A subnormal operand gives 1 either way.
  constexpr bool flushes = !IsTanh && std::is_same_v<F, BrainFloat>;
  mapElements<uint16_t, Pack>(
      lanes,
      [](uint16_t code) {
        double value = F::widen(code);
        double result = IsTanh ? std::tanh(value) : std::exp2(value);
        uint16_t rounded = F::narrow(narrowToOdd(result));
        return flushes ? flush<F>(rounded) : rounded;
      },
      instruction.d, instruction.a);
}

template <bool IsTanh>
static Error decodeSpecial(Decoder &decoder) {
  StringRef name = decoder.getStatement().opcode.front();
  Expected<StringRef> precision = takeOneOf(decoder, {"approx"});
  if (!precision)
    return precision.takeError();
  Expected<Type> type = takeHalfType(decoder);
  if (!type)
    return type.takeError();
  std::string what = ("'" + name + ".approx." + getTypeName(*type) + "'").str();
  if (!IsTanh && isBrainFloat(*type) && !decoder.take("ftz"))
    return decoder.error(what + " expects .ftz");
  if (Error error = requireTarget(decoder, isBrainFloat(*type) ? 90 : 75, what))
    return error;
  Execute execute =
      isBrainFloat(*type)
          ? (isPacked(*type) ? executeSpecial<BrainFloat, 2, IsTanh>
                             : executeSpecial<BrainFloat, 1, IsTanh>)
          : (isPacked(*type) ? executeSpecial<Half, 2, IsTanh>
                             : executeSpecial<Half, 1, IsTanh>);
  return emitSimple(decoder, execute, InstructionClass::Special, *type,
                    {*type});
}

void tile::emulator::registerHalfArithmetic(InstructionTable &table) {
  constexpr llvm::StringLiteral group = {"Half-precision arithmetic"};
  table.add("add",
            "add{.rn}{.ftz}{.sat}.{f16,f16x2}, add{.rn}.{bf16,bf16x2}, "
            "add{.rnd}{.sat}.f32.{f16,bf16}",
            group, decodeArithmetic<Operation::Add>, hasHalfType);
  table.add("sub",
            "sub{.rn}{.ftz}{.sat}.{f16,f16x2}, sub{.rn}.{bf16,bf16x2}, "
            "sub{.rnd}{.sat}.f32.{f16,bf16}",
            group, decodeArithmetic<Operation::Sub>, hasHalfType);
  table.add("mul", "mul{.rn}{.ftz}{.sat}.{f16,f16x2}, mul{.rn}.{bf16,bf16x2}",
            group, decodeArithmetic<Operation::Mul>, hasHalfType);
  table.add("fma",
            "fma.rn{.ftz}{.sat,.relu}.{f16,f16x2}, "
            "fma.rn{.relu}.{bf16,bf16x2}, fma.rnd{.sat}.f32.{f16,bf16}",
            group, decodeArithmetic<Operation::Fma>, hasHalfType);
  table.add("neg", "neg{.ftz}.{f16,f16x2}, neg.{bf16,bf16x2}", group,
            decodeSign, hasHalfType);
  table.add("abs", "abs{.ftz}.{f16,f16x2}, abs.{bf16,bf16x2}", group,
            decodeSign, hasHalfType);
  table.add("min", "min{.ftz}{.NaN}{.xorsign.abs}.{f16,f16x2,bf16,bf16x2}",
            group, decodeSelect, hasHalfType);
  table.add("max", "max{.ftz}{.NaN}{.xorsign.abs}.{f16,f16x2,bf16,bf16x2}",
            group, decodeSelect, hasHalfType);
  table.add("tanh", "tanh.approx.{f16,f16x2,bf16,bf16x2}", group,
            decodeSpecial<true>, hasHalfType);
  table.add("ex2", "ex2.approx.{f16,f16x2}, ex2.approx.ftz.{bf16,bf16x2}",
            group, decodeSpecial<false>, hasHalfType);
}
