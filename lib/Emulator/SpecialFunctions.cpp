//===- SpecialFunctions.cpp - Approximations of f32 and f64 ---------------===//
//
// PTX ISA, "Floating Point Instructions": rcp, sqrt, rsqrt, sin, cos, lg2, ex2
// and tanh with .approx. Each is computed in f64 and rounded once, which is
// within the ISA's bounds everywhere; what a GPU gives may differ by as much as
// those allow. Special values follow the ISA's tables, which are those of the
// exact functions.
//
//===----------------------------------------------------------------------===//

#include "FloatDecoding.h"
#include "SmallFloat.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

namespace {
enum class Approximation { Rcp, Sqrt, Rsqrt, Sin, Cos, Lg2, Ex2, Tanh };
} // namespace

template <Approximation function>
static float compute(float value) {
  double wide = value;
  switch (function) {
  case Approximation::Rcp:
    return 1.0f / value;
  case Approximation::Sqrt:
    return std::sqrt(value);
  case Approximation::Rsqrt:
    return static_cast<float>(1.0 / std::sqrt(wide));
  case Approximation::Sin:
    return static_cast<float>(std::sin(wide));
  case Approximation::Cos:
    return static_cast<float>(std::cos(wide));
  case Approximation::Lg2:
    return static_cast<float>(std::log2(wide));
  case Approximation::Ex2:
    return static_cast<float>(std::exp2(wide));
  case Approximation::Tanh:
    return static_cast<float>(std::tanh(wide));
  }
}

template <Approximation function, bool Ftz>
static void executeFunction(const Instruction &instruction, Lanes &lanes) {
  const float *values = lanes.read<float>(instruction.a);
  float result[kLanes];
  // Functions of the C library cost more than a branch on the lanes.
  constexpr bool isInline = function <= Approximation::Rsqrt;
  const uint32_t wanted = isInline ? kAllLanes : lanes.active;
  auto one = [&](unsigned lane) {
    float value = Ftz ? flushSubnormal(values[lane]) : values[lane];
    float computed = canonicalize(compute<function>(value));
    result[lane] = Ftz ? flushSubnormal(computed) : computed;
  };
  if (wanted == kAllLanes)
    for (unsigned lane = 0; lane != kLanes; ++lane)
      one(lane);
  else
    forLanes(wanted, one);
  uint32_t undefined = lanes.undefinedAt(instruction.a);
  store(lanes, instruction.d, result);
  define<float>(lanes, instruction.d, undefined);
}

template <Approximation function>
static Error decodeFunction(Decoder &decoder) {
  StringRef name = decoder.getStatement().opcode.front();
  Expected<StringRef> precision = takeOneOf(decoder, {"approx"});
  if (!precision)
    return precision.takeError();
  Expected<Type> type = takeTypeOf(decoder, {Type::F32});
  if (!type)
    return type.takeError();
  bool ftz = decoder.take("ftz");
  if (function == Approximation::Tanh) {
    if (ftz)
      return decoder.error("'" + name + ".approx.f32' has no .ftz");
    if (Error error = requireTarget(decoder, 75, "'tanh'"))
      return error;
  }
  return emitSimple(decoder,
                    ftz ? executeFunction<function, true>
                        : executeFunction<function, false>,
                    InstructionClass::Special, Type::F32, {Type::F32});
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

/// Both functions with .ftz look at the upper word of the operand and give an
/// upper word, rounded to nearest; the lower one is zero. The ISA's tables send
/// a subnormal operand to the infinity of its sign, and any NaN to one
/// encoding.
template <bool IsRsqrt>
static uint64_t computeGross(uint64_t code) {
  code &= 0xFFFFFFFF00000000;
  if (kF64.isNaN(code))
    return 0x7FFFFFFF00000000;
  if (kF64.isBelowNormal(code))
    return (code & kF64.signBit()) | kF64.infinity;
  double value = toDouble(code);
  double result = 1.0 / (IsRsqrt ? std::sqrt(value) : value);
  if (result != result)
    return 0x7FFFFFFF00000000;
  uint64_t bits = toBits(result);
  if (kF64.isBelowNormal(bits))
    return bits & kF64.signBit();
  return (bits + 0x80000000) & 0xFFFFFFFF00000000;
}

template <bool IsRsqrt>
static void executeGross(const Instruction &instruction, Lanes &lanes) {
  mapUnary<uint64_t, uint64_t>(lanes, instruction.d, instruction.a,
                               computeGross<IsRsqrt>);
}

static void executeRsqrt64(const Instruction &instruction, Lanes &lanes) {
  mapUnary<double, double>(
      lanes, instruction.d, instruction.a, [](double value) {
        if (value != value)
          return toDouble(toBits(value) | uint64_t(1) << 51);
        long double root = std::sqrt(static_cast<long double>(value));
        double result = static_cast<double>(1.0L / root);
        return result != result ? toDouble(kF64.nan) : result;
      });
}

template <bool IsRsqrt>
static Error decode64(Decoder &decoder) {
  StringRef name = decoder.getStatement().opcode.front();
  Expected<StringRef> precision = takeOneOf(decoder, {"approx"});
  if (!precision)
    return precision.takeError();
  Expected<Type> type = takeTypeOf(decoder, {Type::F64});
  if (!type)
    return type.takeError();
  bool ftz = decoder.take("ftz");
  if (!ftz && !IsRsqrt)
    return decoder.error("'" + name + ".approx.f64' expects .ftz");
  return emitSimple(decoder, ftz ? executeGross<IsRsqrt> : executeRsqrt64,
                    InstructionClass::Special, Type::F64, {Type::F64});
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static bool isApproximate32(llvm::ArrayRef<StringRef> words) {
  return hasFloatType(words) && hasWord(words, {"approx"}) &&
         !hasWord(words, {"f64"});
}
static bool isApproximate64(llvm::ArrayRef<StringRef> words) {
  return hasWord(words, {"f64"}) && hasWord(words, {"approx"});
}
/// Everything that is not of a half type, so that a wrong type is told here.
static bool isNotHalf(llvm::ArrayRef<StringRef> words) {
  return !hasHalfType(words);
}

void tile::emulator::registerSpecialFunctions(InstructionTable &table) {
  constexpr llvm::StringLiteral group = {"Special functions"};
  table.add("rcp", "rcp.approx{.ftz}.f32", group,
            decodeFunction<Approximation::Rcp>, isApproximate32);
  table.add("rcp", "rcp.approx.ftz.f64", group, decode64<false>,
            isApproximate64);
  table.add("sqrt", "sqrt.approx{.ftz}.f32", group,
            decodeFunction<Approximation::Sqrt>, isApproximate32);
  table.add("rsqrt", "rsqrt.approx{.ftz}.f64", group, decode64<true>,
            isApproximate64);
  table.add("rsqrt", "rsqrt.approx{.ftz}.f32", group,
            decodeFunction<Approximation::Rsqrt>);
  table.add("sin", "sin.approx{.ftz}.f32", group,
            decodeFunction<Approximation::Sin>);
  table.add("cos", "cos.approx{.ftz}.f32", group,
            decodeFunction<Approximation::Cos>);
  table.add("lg2", "lg2.approx{.ftz}.f32", group,
            decodeFunction<Approximation::Lg2>);
  table.add("ex2", "ex2.approx{.ftz}.f32", group,
            decodeFunction<Approximation::Ex2>, isNotHalf);
  table.add("tanh", "tanh.approx.f32", group,
            decodeFunction<Approximation::Tanh>, isNotHalf);
}
