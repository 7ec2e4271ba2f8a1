//===- FloatSelections.cpp - f32 and f64: sign, minimum, class ------------===//
//
// PTX ISA, "Floating Point Instructions": what rounds nothing: abs, neg,
// copysign, min, max and testp. abs and neg of a NaN, which the ISA leaves
// open, change its sign alone, as IEEE 754 has it.
//
//===----------------------------------------------------------------------===//

#include "FloatSelections.h"
#include "FloatDecoding.h"
#include "PackedLanes.h"
#include "SmallFloat.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// abs and neg: `Clear` and `Flip` are masks of the bits to change.
template <typename T, T Clear, T Flip, bool Ftz>
static void executeSign(const Instruction &instruction, Lanes &lanes) {
  mapElements<T, 1>(
      lanes,
      [](T bits) -> T {
        bits = (bits & ~Clear) ^ Flip;
        if constexpr (Ftz)
          bits = toBits(flushSubnormal(toFloat(bits)));
        return bits;
      },
      instruction.d, instruction.a);
}

constexpr uint32_t kSign32 = 0x80000000;
constexpr uint64_t kSign64 = 0x8000000000000000;

static Error decodeSign(Decoder &decoder) {
  bool isAbs = decoder.getStatement().opcode.front() == "abs";
  Expected<Type> type = takeTypeOf(decoder, {Type::F32, Type::F64});
  if (!type)
    return type.takeError();
  bool ftz = *type == Type::F32 && decoder.take("ftz");
  Execute execute;
  if (*type == Type::F64)
    execute = isAbs ? executeSign<uint64_t, kSign64, 0, false>
                    : executeSign<uint64_t, 0, kSign64, false>;
  else if (ftz)
    execute = isAbs ? executeSign<uint32_t, kSign32, 0, true>
                    : executeSign<uint32_t, 0, kSign32, true>;
  else
    execute = isAbs ? executeSign<uint32_t, kSign32, 0, false>
                    : executeSign<uint32_t, 0, kSign32, false>;
  return emitSimple(decoder, execute,
                    *type == Type::F64 ? InstructionClass::Float64
                                       : InstructionClass::Float32,
                    *type, {*type});
}

template <typename T, T Sign>
static void executeCopySign(const Instruction &instruction, Lanes &lanes) {
  mapElements<T, 1>(
      lanes, [](T a, T b) -> T { return (a & Sign) | (b & ~Sign); },
      instruction.d, instruction.a, instruction.b);
}

static Error decodeCopySign(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, {Type::F32, Type::F64});
  if (!type)
    return type.takeError();
  bool is64 = *type == Type::F64;
  return emitSimple(decoder,
                    is64 ? executeCopySign<uint64_t, kSign64>
                         : executeCopySign<uint32_t, kSign32>,
                    is64 ? InstructionClass::Float64
                         : InstructionClass::Float32,
                    *type, {*type, *type});
}

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

template <bool IsMax, bool PropagateNaN, bool XorSignAbs, bool Ftz>
static void executeSelect(const Instruction &instruction, Lanes &lanes) {
  mapElements<uint32_t, 1>(
      lanes,
      [](uint32_t a, uint32_t b) {
        if constexpr (Ftz) {
          a = toBits(flushSubnormal(toFloat(a)));
          b = toBits(flushSubnormal(toFloat(b)));
        }
        return selectExtreme<int32_t, IsMax, PropagateNaN, XorSignAbs>(
            a, b, kF32.infinity, kF32.nan);
      },
      instruction.d, instruction.a, instruction.b);
}

/// Three operands; .abs stands alone.
template <bool IsMax, bool PropagateNaN, bool Abs, bool Ftz>
static void executeSelect3(const Instruction &instruction, Lanes &lanes) {
  mapElements<uint32_t, 1>(
      lanes,
      [](uint32_t a, uint32_t b, uint32_t c) {
        uint32_t result = 0;
        for (uint32_t *value : {&a, &b, &c}) {
          if constexpr (Ftz)
            *value = toBits(flushSubnormal(toFloat(*value)));
          if constexpr (Abs)
            *value &= ~kSign32;
        }
        result = selectExtreme<int32_t, IsMax, PropagateNaN, false>(
            a, b, kF32.infinity, kF32.nan);
        return selectExtreme<int32_t, IsMax, PropagateNaN, false>(
            result, c, kF32.infinity, kF32.nan);
      },
      instruction.d, instruction.a, instruction.b, instruction.c);
}

template <bool IsMax>
static void executeSelect64(const Instruction &instruction, Lanes &lanes) {
  mapElements<uint64_t, 1>(
      lanes,
      [](uint64_t a, uint64_t b) {
        // Of two NaNs the first, quiet.
        uint64_t nan = a | uint64_t(1) << 51;
        return selectExtreme<int64_t, IsMax, false, false>(a, b, kF64.infinity,
                                                           nan);
      },
      instruction.d, instruction.a, instruction.b);
}

template <bool... known>
struct ChooseSelect {
  /// The executor whose template arguments are `flags`.
  template <typename... Flags>
  static Execute choose(bool three, bool flag, Flags... flags) {
    return flag ? ChooseSelect<known..., true>::choose(three, flags...)
                : ChooseSelect<known..., false>::choose(three, flags...);
  }
  static Execute choose(bool three) {
    if constexpr (sizeof...(known) == 4)
      return three ? executeSelect3<known...> : executeSelect<known...>;
    else
      return nullptr;
  }
};

static Error decodeSelect(Decoder &decoder) {
  StringRef name = decoder.getStatement().opcode.front();
  bool isMax = name == "max";
  Expected<Type> type = takeTypeOf(decoder, {Type::F32, Type::F64});
  if (!type)
    return type.takeError();
  if (*type == Type::F64)
    return emitSimple(decoder,
                      isMax ? executeSelect64<true> : executeSelect64<false>,
                      InstructionClass::Float64, *type, {*type, *type});

  bool ftz = decoder.take("ftz"), nan = decoder.take("NaN");
  bool xorSign = decoder.take("xorsign"), abs = decoder.take("abs");
  bool three = decoder.getNumOperands() == 4;
  if (xorSign && !abs)
    return decoder.error("'" + name + ".xorsign' expects .abs beside it");
  if (xorSign && three)
    return decoder.error("'" + name + "' of three operands has no .xorsign");
  if (abs && !xorSign && !three)
    return decoder.error("'" + name +
                         ".abs' of two operands expects .xorsign beside "
                         "it");
  if (nan)
    if (Error error = requireTarget(decoder, 80, "'" + name + ".NaN'"))
      return error;
  if (xorSign)
    if (Error error = requireTarget(decoder, 86, "'" + name + ".xorsign.abs'"))
      return error;
  if (three)
    if (Error error =
            requireTarget(decoder, 100, "'" + name + "' of three operands"))
      return error;
  Execute execute = ChooseSelect<>::choose(three, isMax, nan, abs, ftz);
  llvm::SmallVector<Type, 3> sources(three ? 3 : 2, Type::F32);
  return emitSimple(decoder, execute, InstructionClass::Float32, *type,
                    sources);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {
enum class Property { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
} // namespace

static bool hasProperty(const NumberFormat &format, uint64_t code,
                        Property property) {
  bool isNaN = format.isNaN(code), isInfinity = format.isInfinity(code);
  // Zero counts as normal here.
  bool isSubnormal = format.isBelowNormal(code) && format.magnitude(code) != 0;
  switch (property) {
  case Property::Finite:
    return !isNaN && !isInfinity;
  case Property::Infinite:
    return isInfinity;
  case Property::Number:
    return !isNaN;
  case Property::NotANumber:
    return isNaN;
  case Property::Normal:
    return !isNaN && !isInfinity && !isSubnormal;
  case Property::Subnormal:
    return isSubnormal;
  }
  return false;
}

template <typename T>
static void executeTest(const Instruction &instruction, Lanes &lanes) {
  const NumberFormat &format = sizeof(T) == 8 ? kF64 : kF32;
  const T *codes = lanes.read<T>(instruction.a);
  uint32_t result = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result |=
        uint32_t(hasProperty(format, codes[lane],
                             static_cast<Property>(instruction.immediate)))
        << lane;
  storePredicate(lanes, instruction.d, result,
                 lanes.undefinedAt(instruction.a));
}

static Error decodeTest(Decoder &decoder) {
  static constexpr StringRef names[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
  Expected<StringRef> name = takeOneOf(decoder, names);
  if (!name)
    return name.takeError();
  Expected<Type> type = takeTypeOf(decoder, {Type::F32, Type::F64});
  if (!type)
    return type.takeError();
  Expected<Instruction *> test = emitLanewise(
      decoder,
      *type == Type::F64 ? executeTest<uint64_t> : executeTest<uint32_t>,
      InstructionClass::Compare, Type::Pred, {*type});
  if (!test)
    return test.takeError();
  (*test)->immediate =
      std::distance(std::begin(names), llvm::find(names, *name));
  return Error::success();
}

void tile::emulator::registerFloatSelections(InstructionTable &table) {
  constexpr llvm::StringLiteral group = {"Floating-point arithmetic"};
  table.add("abs", "abs{.ftz}.{f32,f64}", group, decodeSign, hasFloatType);
  table.add("neg", "neg{.ftz}.{f32,f64}", group, decodeSign, hasFloatType);
  table.add("copysign", "copysign.{f32,f64}", group, decodeCopySign);
  for (llvm::StringLiteral name :
       {llvm::StringLiteral("min"), llvm::StringLiteral("max")})
    table.add(
        name,
        name == "min"
            ? llvm::StringLiteral("min{.ftz}{.NaN}{.xorsign}{.abs}.{f32,f64}")
            : llvm::StringLiteral("max{.ftz}{.NaN}{.xorsign}{.abs}.{f32,f64}"),
        group, decodeSelect, hasFloatType);
  table.add("testp",
            "testp.{finite,infinite,number,notanumber,normal,subnormal}."
            "{f32,f64}",
            group, decodeTest);
}
