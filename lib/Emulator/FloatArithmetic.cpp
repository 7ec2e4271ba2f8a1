//===- FloatArithmetic.cpp - f32, f32x2 and f64 arithmetic ----------------===//
//
// PTX ISA, "Floating Point Instructions": add, sub, mul, fma, mad, div, rcp and
// sqrt. Rounding to nearest even is the host's own; the directed modes compute
// in integers. NaN results are canonical for f32, and keep the payload of the
// first NaN operand for f64.
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

enum class Operation { Add, Sub, Mul, Div, Rcp, Sqrt };

constexpr unsigned getNumSources(Operation operation) {
  return operation == Operation::Rcp || operation == Operation::Sqrt ? 1 : 2;
}

} // namespace

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// The operation in the host's arithmetic; for unary ones `a` is the operand.
template <Operation operation, typename T>
static T computeNearest(T a, T b) {
  switch (operation) {
  case Operation::Add:
    return a + b;
  case Operation::Sub:
    return a - b;
  case Operation::Mul:
    return a * b;
  case Operation::Div:
    return a / b;
  case Operation::Rcp:
    return T(1) / a;
  case Operation::Sqrt:
    return std::sqrt(a);
  }
}

/// What an f64 instruction gives for a NaN result: the payload of the first NaN
/// operand.
template <typename... Ts>
static double selectNaN(double result, Ts... operands) {
  uint64_t nan = kF64.nan;
  bool found = false;
  for (double operand : {operands...}) {
    bool take = !found && operand != operand;
    nan = take ? toBits(operand) | uint64_t(1) << 51 : nan;
    found |= take;
  }
  return result != result ? toDouble(nan) : result;
}

/// The operand as an instruction with or without .ftz takes it.
template <bool Ftz, typename T>
static T prepare(T value) {
  if constexpr (Ftz)
    return flushSubnormal(value);
  else
    return value;
}

/// The f32 result as an instruction with or without .ftz and .sat gives it.
template <bool Ftz, bool Sat>
static float finish(float value) {
  if constexpr (Sat)
    value = saturate(value);
  else
    value = canonicalize(value);
  return prepare<Ftz>(value);
}

/// The operation in any rounding mode.
static uint64_t computeRounded(Operation operation, const NumberFormat &format,
                               uint64_t a, uint64_t b, RoundingMode mode) {
  switch (operation) {
  case Operation::Add:
    return addCodes(format, a, b, mode);
  case Operation::Sub:
    // A NaN's payload is kept, so its sign is too.
    return addCodes(format, a, format.isNaN(b) ? b : b ^ format.signBit(),
                    mode);
  case Operation::Mul:
    return multiplyCodes(format, a, b, mode);
  case Operation::Div:
    return divideCodes(format, a, b, mode);
  case Operation::Rcp: {
    uint64_t one = static_cast<uint64_t>(format.bias) << format.mantissaBits;
    return divideCodes(format, one, a, mode);
  }
  case Operation::Sqrt:
    return squareRootCode(format, a, mode);
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Executors
//===----------------------------------------------------------------------===//

template <typename T, unsigned Pack, typename F>
static void mapOperation(bool isUnary, const Instruction &instruction,
                         Lanes &lanes, F f) {
  if (isUnary)
    mapElements<T, Pack>(
        lanes, [&](T a) { return f(a, a); }, instruction.d, instruction.a);
  else
    mapElements<T, Pack>(lanes, f, instruction.d, instruction.a, instruction.b);
}

template <Operation operation, unsigned Pack, bool Ftz, bool Sat>
static void executeNearest(const Instruction &instruction, Lanes &lanes) {
  mapOperation<float, Pack>(
      getNumSources(operation) == 1, instruction, lanes, [](float a, float b) {
        return finish<Ftz, Sat>(
            computeNearest<operation>(prepare<Ftz>(a), prepare<Ftz>(b)));
      });
}

template <Operation operation>
static void executeNearest64(const Instruction &instruction, Lanes &lanes) {
  constexpr bool isUnary = getNumSources(operation) == 1;
  mapOperation<double, 1>(isUnary, instruction, lanes, [](double a, double b) {
    return selectNaN(computeNearest<operation>(a, b), a, b);
  });
}

/// What `Instruction::immediate` holds of a directed operation.
static int64_t encodeModifiers(RoundingMode mode, bool ftz, bool sat) {
  return static_cast<int64_t>(mode) | ftz << 4 | sat << 5;
}
static RoundingMode getMode(const Instruction &instruction) {
  return static_cast<RoundingMode>(instruction.immediate & 15);
}

/// `f(codes…)` for f32 elements, around it the .ftz and .sat of `immediate`.
template <typename F, typename... Codes>
static uint32_t computeModified(const Instruction &instruction, F f,
                                Codes... codes) {
  bool ftz = instruction.immediate & 16, sat = instruction.immediate & 32;
  auto flush = [&](uint32_t code) {
    return ftz ? toBits(flushSubnormal(toFloat(code))) : code;
  };
  uint32_t result = static_cast<uint32_t>(f(flush(codes)...));
  if (sat)
    result = toBits(saturate(toFloat(result)));
  return flush(result);
}

template <Operation operation, unsigned Pack>
static void executeDirected(const Instruction &instruction, Lanes &lanes) {
  mapOperation<uint32_t, Pack>(getNumSources(operation) == 1, instruction,
                               lanes, [&](uint32_t a, uint32_t b) {
                                 return computeModified(
                                     instruction,
                                     [&](uint32_t a, uint32_t b) {
                                       return computeRounded(
                                           operation, kF32, a, b,
                                           getMode(instruction));
                                     },
                                     a, b);
                               });
}

template <Operation operation>
static void executeDirected64(const Instruction &instruction, Lanes &lanes) {
  mapOperation<uint64_t, 1>(getNumSources(operation) == 1, instruction, lanes,
                            [&](uint64_t a, uint64_t b) {
                              return computeRounded(operation, kF64, a, b,
                                                    getMode(instruction));
                            });
}

//===----------------------------------------------------------------------===//
// Fused multiply-add
//===----------------------------------------------------------------------===//

// Without the host's own instruction the C library computes it, right but
// slowly, so the loops exist twice.
#if defined(__x86_64__) && defined(__GNUC__)
#define TILE_HAS_FMA_LOOP 1
#define TILE_FMA_LOOP __attribute__((target("avx2,fma")))
#else
#define TILE_HAS_FMA_LOOP 0
#endif

template <typename T>
using FuseLoop = void (*)(const T *a, const T *b, const T *c, T *d,
                          unsigned count);

static void fuseLoop(const float *a, const float *b, const float *c, float *d,
                     unsigned count) {
  for (unsigned i = 0; i != count; ++i)
    d[i] = __builtin_fmaf(a[i], b[i], c[i]);
}
static void fuseLoop(const double *a, const double *b, const double *c,
                     double *d, unsigned count) {
  for (unsigned i = 0; i != count; ++i)
    d[i] = __builtin_fma(a[i], b[i], c[i]);
}

#if TILE_HAS_FMA_LOOP
TILE_FMA_LOOP static void fuseLoopFast(const float *a, const float *b,
                                       const float *c, float *d,
                                       unsigned count) {
  for (unsigned i = 0; i != count; ++i)
    d[i] = __builtin_fmaf(a[i], b[i], c[i]);
}
TILE_FMA_LOOP static void fuseLoopFast(const double *a, const double *b,
                                       const double *c, double *d,
                                       unsigned count) {
  for (unsigned i = 0; i != count; ++i)
    d[i] = __builtin_fma(a[i], b[i], c[i]);
}
#endif

template <typename T>
static FuseLoop<T> selectFuseLoop() {
#if TILE_HAS_FMA_LOOP
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return fuseLoopFast;
#endif
  return fuseLoop;
}
/// d = a * b + c, rounded once.
template <typename T>
static void fuse(const T *a, const T *b, const T *c, T *d, unsigned count) {
  selectFuseLoop<T>()(a, b, c, d, count);
}

template <unsigned Pack, bool Ftz, bool Sat>
static void executeFuse(const Instruction &instruction, Lanes &lanes) {
  constexpr unsigned count = kLanes * Pack;
  const float *operands[3] = {lanes.read<float>(instruction.a),
                              lanes.read<float>(instruction.b),
                              lanes.read<float>(instruction.c)};
  float flushed[3][count], result[count];
  if constexpr (Ftz)
    for (unsigned k = 0; k != 3; ++k) {
      for (unsigned i = 0; i != count; ++i)
        flushed[k][i] = flushSubnormal(operands[k][i]);
      operands[k] = flushed[k];
    }
  fuse(operands[0], operands[1], operands[2], result, count);
  for (float &value : result)
    value = finish<Ftz, Sat>(value);
  uint32_t undefined = lanes.undefinedAt(instruction.a) |
                       lanes.undefinedAt(instruction.b) |
                       lanes.undefinedAt(instruction.c);
  storeElements<Pack>(lanes, instruction.d, result);
  define<PackedRegister<float, Pack>>(lanes, instruction.d, undefined);
}

static void executeFuse64(const Instruction &instruction, Lanes &lanes) {
  const double *a = lanes.read<double>(instruction.a);
  const double *b = lanes.read<double>(instruction.b);
  const double *c = lanes.read<double>(instruction.c);
  double result[kLanes];
  fuse(a, b, c, result, kLanes);
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = selectNaN(result[lane], a[lane], b[lane], c[lane]);
  uint32_t undefined = lanes.undefinedAt(instruction.a) |
                       lanes.undefinedAt(instruction.b) |
                       lanes.undefinedAt(instruction.c);
  store(lanes, instruction.d, result);
  define<double>(lanes, instruction.d, undefined);
}

template <unsigned Pack>
static void executeDirectedFuse(const Instruction &instruction, Lanes &lanes) {
  mapElements<uint32_t, Pack>(
      lanes,
      [&](uint32_t a, uint32_t b, uint32_t c) {
        return computeModified(
            instruction,
            [&](uint32_t a, uint32_t b, uint32_t c) {
              return fuseCodes(kF32, a, b, c, getMode(instruction));
            },
            a, b, c);
      },
      instruction.d, instruction.a, instruction.b, instruction.c);
}

static void executeDirectedFuse64(const Instruction &instruction,
                                  Lanes &lanes) {
  mapElements<uint64_t, 1>(
      lanes,
      [&](uint64_t a, uint64_t b, uint64_t c) {
        return fuseCodes(kF64, a, b, c, getMode(instruction));
      },
      instruction.d, instruction.a, instruction.b, instruction.c);
}

//===----------------------------------------------------------------------===//
// Approximate division
//===----------------------------------------------------------------------===//

/// div.approx: a * (1/b), where the reciprocal of |b| > 2^126, a subnormal, is
/// zero. Elsewhere the quotient, rounded once, is within the ISA's 2 ulp.
static float divideApproximately(float a, float b) {
  bool zeroReciprocal = std::fabs(b) > 0x1p126f;
  float reciprocal = std::copysign(0.0f, b);
  return zeroReciprocal ? a * reciprocal : a / b;
}

template <bool Ftz>
static void executeDivideApproximately(const Instruction &instruction,
                                       Lanes &lanes) {
  mapElements<float, 1>(
      lanes,
      [](float a, float b) {
        return finish<Ftz, false>(
            divideApproximately(prepare<Ftz>(a), prepare<Ftz>(b)));
      },
      instruction.d, instruction.a, instruction.b);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {

/// An opcode's modifiers.
struct Modifiers {
  Type type = Type::None;
  std::optional<RoundingMode> mode;
  bool ftz = false, sat = false;

  bool isNearest() const {
    return mode.value_or(RoundingMode::NearestEven) ==
           RoundingMode::NearestEven;
  }
  InstructionClass getClass() const {
    return type == Type::F64 ? InstructionClass::Float64
                             : InstructionClass::Float32;
  }
};

} // namespace

/// Reads `{.rnd}{.ftz}{.sat}.type`; which types there are depends on the
/// instruction.
static Expected<Modifiers> takeModifiers(Decoder &decoder, bool needsRounding,
                                         llvm::ArrayRef<Type> types) {
  Modifiers modifiers;
  Expected<Type> type = takeTypeOf(decoder, types);
  if (!type)
    return type.takeError();
  modifiers.type = *type;
  modifiers.mode = takeFloatRounding(decoder);
  modifiers.ftz = decoder.take("ftz");
  modifiers.sat = decoder.take("sat");
  StringRef name = decoder.getStatement().opcode.front();
  if (needsRounding && !modifiers.mode)
    return decoder.error("'" + name + "." + getTypeName(*type) +
                         "' expects a rounding modifier: .rn, .rz, .rm or .rp");
  if (*type == Type::F64 && (modifiers.ftz || modifiers.sat))
    return decoder.error("'" + name + ".f64' has no ." +
                         (modifiers.ftz ? "ftz" : "sat"));
  if (*type == Type::F32x2) {
    if (modifiers.sat)
      return decoder.error("'" + name + ".f32x2' has no .sat");
    if (Error error = requireTarget(decoder, 100, "'" + name + ".f32x2'"))
      return std::move(error);
  }
  return modifiers;
}

/// The executor of a binary or unary operation.
template <Operation operation>
static Execute selectExecutor(const Modifiers &modifiers) {
  // Only sums and products come packed or saturate.
  constexpr bool isSimple = operation <= Operation::Mul;
  if (modifiers.type == Type::F64)
    return modifiers.isNearest() ? executeNearest64<operation>
                                 : executeDirected64<operation>;
  if constexpr (isSimple) {
    if (modifiers.type == Type::F32x2) {
      if (!modifiers.isNearest())
        return executeDirected<operation, 2>;
      return modifiers.ftz ? executeNearest<operation, 2, true, false>
                           : executeNearest<operation, 2, false, false>;
    }
    if (modifiers.sat && modifiers.isNearest())
      return modifiers.ftz ? executeNearest<operation, 1, true, true>
                           : executeNearest<operation, 1, false, true>;
  }
  if (!modifiers.isNearest())
    return executeDirected<operation, 1>;
  return modifiers.ftz ? executeNearest<operation, 1, true, false>
                       : executeNearest<operation, 1, false, false>;
}

static Error emitModified(Decoder &decoder, Execute execute,
                          InstructionClass instructionClass,
                          const Modifiers &modifiers, unsigned numSources) {
  llvm::SmallVector<Type, 3> sources(numSources, modifiers.type);
  Expected<Instruction *> instruction =
      emitLanewise(decoder, execute, instructionClass, modifiers.type, sources);
  if (!instruction)
    return instruction.takeError();
  (*instruction)->immediate =
      encodeModifiers(modifiers.mode.value_or(RoundingMode::NearestEven),
                      modifiers.ftz, modifiers.sat);
  return Error::success();
}

/// add, sub, mul.
template <Operation operation>
static Error decodeSimple(Decoder &decoder) {
  Expected<Modifiers> modifiers =
      takeModifiers(decoder, false, {Type::F32, Type::F32x2, Type::F64});
  if (!modifiers)
    return modifiers.takeError();
  return emitModified(decoder, selectExecutor<operation>(*modifiers),
                      modifiers->getClass(), *modifiers, 2);
}

/// rcp.rnd, sqrt.rnd, and div.rnd.
template <Operation operation>
static Error decodeRounded(Decoder &decoder) {
  Expected<Modifiers> modifiers =
      takeModifiers(decoder, true, {Type::F32, Type::F64});
  if (!modifiers)
    return modifiers.takeError();
  if (modifiers->sat)
    return decoder.error("'" + decoder.getStatement().opcode.front() +
                         "' has no .sat");
  return emitModified(decoder, selectExecutor<operation>(*modifiers),
                      modifiers->getClass(), *modifiers,
                      getNumSources(operation));
}

static Error decodeDivide(Decoder &decoder) {
  StringRef precision = decoder.takeAny({"approx", "full"});
  if (precision.empty())
    return decodeRounded<Operation::Div>(decoder);
  bool ftz = decoder.take("ftz");
  Expected<Type> type = takeTypeOf(decoder, {Type::F32});
  if (!type)
    return type.takeError();
  Execute execute;
  // The quotient, rounded once, is within .full's 2 ulp everywhere.
  if (precision == "full")
    execute = ftz ? executeNearest<Operation::Div, 1, true, false>
                  : executeNearest<Operation::Div, 1, false, false>;
  else
    execute = ftz ? executeDivideApproximately<true>
                  : executeDivideApproximately<false>;
  return emitSimple(decoder, execute, InstructionClass::Special, Type::F32,
                    {Type::F32, Type::F32});
}

/// fma and mad, which are the same from sm_20 on.
static Error decodeFuse(Decoder &decoder) {
  bool isFma = decoder.getStatement().opcode.front() == "fma";
  Expected<Modifiers> modifiers =
      isFma ? takeModifiers(decoder, true, {Type::F32, Type::F32x2, Type::F64})
            : takeModifiers(decoder, true, {Type::F32, Type::F64});
  if (!modifiers)
    return modifiers.takeError();
  Execute execute;
  bool ftz = modifiers->ftz;
  if (modifiers->type == Type::F64)
    execute = modifiers->isNearest() ? executeFuse64 : executeDirectedFuse64;
  else if (modifiers->type == Type::F32x2)
    execute = !modifiers->isNearest() ? executeDirectedFuse<2>
              : ftz                   ? executeFuse<2, true, false>
                                      : executeFuse<2, false, false>;
  else if (!modifiers->isNearest())
    execute = executeDirectedFuse<1>;
  else if (modifiers->sat)
    execute = ftz ? executeFuse<1, true, true> : executeFuse<1, false, true>;
  else
    execute = ftz ? executeFuse<1, true, false> : executeFuse<1, false, false>;
  return emitModified(decoder, execute, modifiers->getClass(), *modifiers, 3);
}

/// rcp and sqrt with a rounding modifier; .approx is in SpecialFunctions.cpp.
static bool isRounded(llvm::ArrayRef<StringRef> words) {
  return hasFloatType(words) && !hasWord(words, {"approx"});
}

void tile::emulator::registerFloatArithmetic(InstructionTable &table) {
  constexpr llvm::StringLiteral group = {"Floating-point arithmetic"};
  table.add("add", "add{.rnd}{.ftz}{.sat}.{f32,f32x2,f64}", group,
            decodeSimple<Operation::Add>, hasFloatType);
  table.add("sub", "sub{.rnd}{.ftz}{.sat}.{f32,f32x2,f64}", group,
            decodeSimple<Operation::Sub>, hasFloatType);
  table.add("mul", "mul{.rnd}{.ftz}{.sat}.{f32,f32x2,f64}", group,
            decodeSimple<Operation::Mul>, hasFloatType);
  table.add("fma", "fma.rnd{.ftz}{.sat}.{f32,f32x2,f64}", group, decodeFuse,
            hasFloatType);
  table.add("mad", "mad.rnd{.ftz}{.sat}.{f32,f64}", group, decodeFuse,
            hasFloatType);
  table.add("div", "div.{rnd,approx,full}{.ftz}.{f32,f64}", group, decodeDivide,
            hasFloatType);
  table.add("rcp", "rcp.rnd{.ftz}.{f32,f64}", group,
            decodeRounded<Operation::Rcp>, isRounded);
  table.add("sqrt", "sqrt.rnd{.ftz}.{f32,f64}", group,
            decodeRounded<Operation::Sqrt>, isRounded);
  registerFloatSelections(table);
}
