//===- IntegerArithmetic.cpp - Integer instructions -----------------------===//
//
// add, sub, mul, mad and their carry chains, division, minimum and maximum,
// dot products of bytes.
//
//===----------------------------------------------------------------------===//

#include "ElementWise.h"

#include <limits>

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static constexpr Type kIntegers[] = {Type::U16, Type::U32, Type::U64,
                                     Type::S16, Type::S32, Type::S64};
static constexpr Type kSigned[] = {Type::S16, Type::S32, Type::S64};
static constexpr Type kIntegersAndPairs[] = {Type::U16,   Type::U32,  Type::U64,
                                             Type::S16,   Type::S32,  Type::S64,
                                             Type::U16x2, Type::S16x2};

//===----------------------------------------------------------------------===//
// Operations on one value
//===----------------------------------------------------------------------===//

namespace {

// Signed overflow wraps in PTX; it is computed on unsigned values, where C++
// wraps as well.

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
  }
};

struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
  }
};

int32_t saturate(int64_t value) {
  constexpr int64_t min = std::numeric_limits<int32_t>::min();
  constexpr int64_t max = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(value < min ? min : value > max ? max : value);
}

struct AddSaturating {
  int32_t operator()(int32_t a, int32_t b) const {
    return saturate(int64_t(a) + b);
  }
};

struct SubtractSaturating {
  int32_t operator()(int32_t a, int32_t b) const {
    return saturate(int64_t(a) - b);
  }
};

struct MultiplyLow {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
  }
};

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// The type that holds any product of two values of `T`.
template <typename T>
using Product = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<
        sizeof(T) == 4,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
        std::conditional_t<std::is_signed_v<T>, Int128, UInt128>>>;

struct MultiplyHigh {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(Product<T>(a) * Product<T>(b) >> (8 * sizeof(T)));
  }
};

struct MultiplyWide {
  template <typename T>
  Product<T> operator()(T a, T b) const {
    return Product<T>(a) * Product<T>(b);
  }
};

/// The 24 bits that count, as a signed or unsigned number.
template <typename T>
int64_t low24(T value) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8;
  else
    return value & 0xFFFFFF;
}

struct Multiply24Low {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(low24(a) * low24(b));
  }
};

/// Bits 47 … 16 of the product.
struct Multiply24High {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>((low24(a) * low24(b)) >> 16);
  }
};

// A division by zero has no specified result in PTX; it never traps. We give
// all ones for a quotient and the dividend for a remainder.

struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0)
      return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return Subtract()(T(0), a);
    return static_cast<T>(a / b);
  }
};

struct Remainder {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return static_cast<T>(a % b);
  }
};

struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

/// `Operation`, then zero for what is negative.
template <typename Operation>
struct Relu {
  template <typename T>
  T operator()(T a, T b) const {
    T result = Operation()(a, b);
    return result < 0 ? T(0) : result;
  }
};

struct Negate {
  template <typename T>
  T operator()(T a) const {
    return Subtract()(T(0), a);
  }
};

struct Absolute {
  template <typename T>
  T operator()(T a) const {
    return a < 0 ? Subtract()(T(0), a) : a;
  }
};

/// c + |a - b|
struct SumOfDifference {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add()(c, a < b ? Subtract()(b, a) : Subtract()(a, b));
  }
};

/// `Multiply`, then the sum with c.
template <typename Multiply>
struct MultiplyAdd {
  template <typename T, typename C>
  C operator()(T a, T b, C c) const {
    return Add()(static_cast<C>(Multiply()(a, b)), c);
  }
};

template <typename Multiply>
struct MultiplyAddSaturating {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturate(int64_t(Multiply()(a, b)) + c);
  }
};

/// `Operation` on either half of a word, as values of type `T`.
template <typename Operation, typename T>
struct Halves {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    T low = Operation()(static_cast<T>(a), static_cast<T>(b));
    T high = Operation()(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
    return uint32_t(static_cast<uint16_t>(low)) |
           uint32_t(static_cast<uint16_t>(high)) << 16;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Executors
//===----------------------------------------------------------------------===//

template <typename T, typename Operation>
static void executeUnary(const Instruction &i, Lanes &lanes) {
  mapUnary<T, T>(lanes, i.d, i.a, Operation());
}

template <typename T, typename Operation>
static void executeBinary(const Instruction &i, Lanes &lanes) {
  mapBinary<T, T, T>(lanes, i.d, i.a, i.b, Operation());
}

template <typename T, typename Operation>
static void executeTernary(const Instruction &i, Lanes &lanes) {
  mapTernary<T, T, T, T>(lanes, i.d, i.a, i.b, i.c, Operation());
}

template <typename T>
static void executeMultiplyWide(const Instruction &i, Lanes &lanes) {
  mapBinary<Product<T>, T, T>(lanes, i.d, i.a, i.b, MultiplyWide());
}

template <typename T>
static void executeMultiplyAddWide(const Instruction &i, Lanes &lanes) {
  mapTernary<Product<T>, T, T, Product<T>>(lanes, i.d, i.a, i.b, i.c,
                                           MultiplyAdd<MultiplyWide>());
}

/// The halves of a pair are independent, so an unwritten half makes no more
/// than its half of the result unwritten.
template <typename Operation, typename T>
static void executePair(const Instruction &i, Lanes &lanes) {
  const uint32_t *a = lanes.read<uint32_t>(i.a);
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  uint32_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = Halves<Operation, T>()(a[lane], b[lane]);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
            [&](unsigned lane) {
              uint32_t written = getWritten<uint32_t>(lanes, i.a, lane) &
                                 getWritten<uint32_t>(lanes, i.b, lane);
              uint32_t low = uint16_t(written) == 0xFFFF ? 0xFFFF : 0;
              uint32_t high = written >> 16 == 0xFFFF ? 0xFFFF0000 : 0;
              return low | high;
            });
}

template <typename Operation>
static Execute selectUnary(Type type) {
  return forInteger(type, [](auto value) -> Execute {
    return executeUnary<decltype(value), Operation>;
  });
}

template <typename Operation>
static Execute selectBinary(Type type) {
  if (type == Type::U16x2)
    return executePair<Operation, uint16_t>;
  if (type == Type::S16x2)
    return executePair<Operation, int16_t>;
  return forInteger(type, [](auto value) -> Execute {
    return executeBinary<decltype(value), Operation>;
  });
}

template <typename Operation>
static Execute selectTernary(Type type) {
  return forInteger(type, [](auto value) -> Execute {
    return executeTernary<decltype(value), Operation>;
  });
}

//===----------------------------------------------------------------------===//
// Carry chains
//===----------------------------------------------------------------------===//

namespace {

/// What an instruction of a carry chain does with the flag.
enum Carry : unsigned { kReadsCarry = 1, kWritesCarry = 2 };

} // namespace

/// The slot of the function's carry flag.
static Slot getCarry(Decoder &decoder) {
  Slot &carry = decoder.getCode().carry;
  if (carry == kNoSlot)
    carry = decoder.scratch(0);
  return carry;
}

/// d = x ± y ± carry with the flag in slot `immediate`. `f(lane)` computes x
/// and y, and `undefined` are the lanes in which one of them is unwritten.
template <typename T, unsigned Flags, bool Subtracts, typename F>
static void chain(const Instruction &i, Lanes &lanes, uint32_t undefined, F f) {
  Slot carry = static_cast<Slot>(i.immediate);
  uint32_t in = 0, out = 0;
  if constexpr (Flags & kReadsCarry) {
    in = lanes.mask(carry);
    undefined |= lanes.undefinedAt(carry);
  }
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    auto [x, y] = f(lane);
    T bit = static_cast<T>(in >> lane & 1);
    T partial = Subtracts ? x - y : x + y;
    T total = Subtracts ? partial - bit : partial + bit;
    // At most one of the two steps wraps.
    bool wraps =
        Subtracts ? x < y || partial < bit : partial < x || total < bit;
    result[lane] = total;
    out |= uint32_t(wraps) << lane;
  }
  store(lanes, i.d, result);
  define<T>(lanes, i.d, undefined);
  if constexpr (Flags & kWritesCarry)
    storePredicate(lanes, carry, out, undefined);
}

template <typename T, unsigned Flags, bool Subtracts>
static void executeAddCarry(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a), *b = lanes.read<T>(i.b);
  chain<T, Flags, Subtracts>(
      i, lanes, lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
      [&](unsigned lane) { return std::pair<T, T>(a[lane], b[lane]); });
}

/// `T` has the sign of the product, which matters for its high half.
template <typename T, unsigned Flags, typename Multiply>
static void executeMultiplyAddCarry(const Instruction &i, Lanes &lanes) {
  using Unsigned = std::make_unsigned_t<T>;
  const T *a = lanes.read<T>(i.a), *b = lanes.read<T>(i.b);
  const Unsigned *c = lanes.read<Unsigned>(i.c);
  chain<Unsigned, Flags, false>(
      i, lanes,
      lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b) | lanes.undefinedAt(i.c),
      [&](unsigned lane) {
        return std::pair<Unsigned, Unsigned>(
            static_cast<Unsigned>(Multiply()(a[lane], b[lane])), c[lane]);
      });
}

template <bool Subtracts, unsigned Flags>
static Error decodeAddCarry(Decoder &decoder) {
  unsigned flags = Flags;
  if (decoder.take("cc"))
    flags |= kWritesCarry;
  Expected<Type> type =
      takeTypeOf(decoder, {Type::U32, Type::S32, Type::U64, Type::S64});
  if (!type)
    return type.takeError();
  Execute execute = forBits(*type, [&](auto value) -> Execute {
    using T = decltype(value);
    if constexpr (sizeof(T) == 2)
      return nullptr;
    else
      switch (flags) {
      case kReadsCarry:
        return executeAddCarry<T, kReadsCarry, Subtracts>;
      case kWritesCarry:
        return executeAddCarry<T, kWritesCarry, Subtracts>;
      default:
        return executeAddCarry<T, kReadsCarry | kWritesCarry, Subtracts>;
      }
  });
  Expected<Instruction *> instruction = emitLanewise(
      decoder, execute, InstructionClass::Integer, *type, {*type, *type});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->immediate = getCarry(decoder);
  return Error::success();
}

template <typename Multiply>
static Execute selectMultiplyAddCarry(Type type, unsigned flags) {
  return forInteger(type, [&](auto value) -> Execute {
    using T = decltype(value);
    if constexpr (sizeof(T) == 2)
      return nullptr;
    else
      switch (flags) {
      case kReadsCarry:
        return executeMultiplyAddCarry<T, kReadsCarry, Multiply>;
      case kWritesCarry:
        return executeMultiplyAddCarry<T, kWritesCarry, Multiply>;
      default:
        return executeMultiplyAddCarry<T, kReadsCarry | kWritesCarry, Multiply>;
      }
  });
}

/// `mad.cc` and `madc`, with the mode taken already.
static Error decodeMultiplyAddCarry(Decoder &decoder, StringRef mode,
                                    unsigned flags) {
  if (mode == "wide")
    return decoder.error("a carry chain expects .lo or .hi, but got .wide");
  Expected<Type> type =
      takeTypeOf(decoder, {Type::U32, Type::S32, Type::U64, Type::S64});
  if (!type)
    return type.takeError();
  Execute execute = mode == "lo"
                        ? selectMultiplyAddCarry<MultiplyLow>(*type, flags)
                        : selectMultiplyAddCarry<MultiplyHigh>(*type, flags);
  Expected<Instruction *> instruction =
      emitLanewise(decoder, execute, InstructionClass::Integer, *type,
                   {*type, *type, *type});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->immediate = getCarry(decoder);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static Error expectPairTarget(Decoder &decoder, Type type) {
  if (type == Type::U16x2 || type == Type::S16x2)
    return expectArchitecture(decoder, 90);
  return Error::success();
}

template <typename Operation, typename Saturating>
static Error decodeAdd(Decoder &decoder) {
  bool saturates = decoder.take("sat");
  Expected<Type> type = takeTypeOf(decoder, kIntegersAndPairs);
  if (!type)
    return type.takeError();
  if (saturates && *type != Type::S32)
    return decoder.error("'.sat' expects .s32, but got ." + getTypeName(*type));
  if (Error error = expectPairTarget(decoder, *type))
    return error;
  Execute execute = saturates ? Execute(executeBinary<int32_t, Saturating>)
                              : selectBinary<Operation>(*type);
  return emitSimple(decoder, execute, InstructionClass::Integer, *type,
                    {*type, *type});
}

template <typename Operation>
static Error decodeMinMax(Decoder &decoder) {
  bool isRelu = decoder.take("relu");
  Expected<Type> type = takeTypeOf(decoder, kIntegersAndPairs);
  if (!type)
    return type.takeError();
  if (Error error = expectPairTarget(decoder, *type))
    return error;
  Execute execute = selectBinary<Operation>(*type);
  if (isRelu) {
    if (*type != Type::S32 && *type != Type::S16x2)
      return decoder.error("'.relu' expects .s32 or .s16x2, but got ." +
                           getTypeName(*type));
    if (Error error = expectArchitecture(decoder, 90))
      return error;
    execute = *type == Type::S32
                  ? Execute(executeBinary<int32_t, Relu<Operation>>)
                  : Execute(executePair<Relu<Operation>, int16_t>);
  }
  return emitSimple(decoder, execute, InstructionClass::Integer, *type,
                    {*type, *type});
}

template <typename Operation>
static Error decodeBinary(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, kIntegers);
  if (!type)
    return type.takeError();
  return emitSimple(decoder, selectBinary<Operation>(*type),
                    InstructionClass::Integer, *type, {*type, *type});
}

template <typename Operation>
static Error decodeUnary(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, kSigned);
  if (!type)
    return type.takeError();
  return emitSimple(decoder, selectUnary<Operation>(*type),
                    InstructionClass::Integer, *type, {*type});
}

static Error decodeSad(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, kIntegers);
  if (!type)
    return type.takeError();
  return emitSimple(decoder, selectTernary<SumOfDifference>(*type),
                    InstructionClass::Integer, *type, {*type, *type, *type});
}

/// The type of a product of two values of `type`, which has 16 or 32 bits.
static Type widen(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  default:
    return Type::S64;
  }
}

static constexpr Type kWidened[] = {Type::U16, Type::S16, Type::U32, Type::S32};

/// `f` called with a value of a type that `.wide` multiplies.
template <typename F>
static Execute forWidened(Type type, F f) {
  return forInteger(type, [&](auto value) -> Execute {
    if constexpr (sizeof(value) == 8)
      return nullptr;
    else
      return f(value);
  });
}

static Error decodeMultiply(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"lo", "hi", "wide"});
  if (!mode)
    return mode.takeError();
  bool isWide = *mode == "wide";
  Expected<Type> type = takeTypeOf(decoder, isWide ? ArrayRef<Type>(kWidened)
                                                   : ArrayRef<Type>(kIntegers));
  if (!type)
    return type.takeError();
  if (isWide)
    return emitSimple(decoder,
                      forWidened(*type,
                                 [](auto value) -> Execute {
                                   return executeMultiplyWide<decltype(value)>;
                                 }),
                      InstructionClass::Integer, widen(*type), {*type, *type});
  return emitSimple(decoder,
                    *mode == "lo" ? selectBinary<MultiplyLow>(*type)
                                  : selectBinary<MultiplyHigh>(*type),
                    InstructionClass::Integer, *type, {*type, *type});
}

static Error decodeMultiplyAdd(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"lo", "hi", "wide"});
  if (!mode)
    return mode.takeError();
  if (decoder.take("cc"))
    return decodeMultiplyAddCarry(decoder, *mode, kWritesCarry);
  bool saturates = decoder.take("sat");
  bool isWide = *mode == "wide";
  Expected<Type> type = takeTypeOf(decoder, isWide ? ArrayRef<Type>(kWidened)
                                                   : ArrayRef<Type>(kIntegers));
  if (!type)
    return type.takeError();
  if (saturates && (*mode != "hi" || *type != Type::S32))
    return decoder.error("'.sat' expects .hi and .s32, but got ." + *mode +
                         " and ." + getTypeName(*type));
  if (isWide)
    return emitSimple(
        decoder,
        forWidened(*type,
                   [](auto value) -> Execute {
                     return executeMultiplyAddWide<decltype(value)>;
                   }),
        InstructionClass::Integer, widen(*type), {*type, *type, widen(*type)});
  Execute execute = *mode == "lo"
                        ? selectTernary<MultiplyAdd<MultiplyLow>>(*type)
                        : selectTernary<MultiplyAdd<MultiplyHigh>>(*type);
  if (saturates)
    execute = executeTernary<int32_t, MultiplyAddSaturating<MultiplyHigh>>;
  return emitSimple(decoder, execute, InstructionClass::Integer, *type,
                    {*type, *type, *type});
}

static Error decodeMultiplyAddWithCarry(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"lo", "hi", "wide"});
  if (!mode)
    return mode.takeError();
  unsigned flags = kReadsCarry;
  if (decoder.take("cc"))
    flags |= kWritesCarry;
  return decodeMultiplyAddCarry(decoder, *mode, flags);
}

static Error decodeMultiply24(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"lo", "hi"});
  if (!mode)
    return mode.takeError();
  Expected<Type> type = takeTypeOf(decoder, {Type::U32, Type::S32});
  if (!type)
    return type.takeError();
  return emitSimple(decoder,
                    *mode == "lo" ? selectBinary<Multiply24Low>(*type)
                                  : selectBinary<Multiply24High>(*type),
                    InstructionClass::Integer, *type, {*type, *type});
}

static Error decodeMultiplyAdd24(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"lo", "hi"});
  if (!mode)
    return mode.takeError();
  bool saturates = decoder.take("sat");
  Expected<Type> type = takeTypeOf(decoder, {Type::U32, Type::S32});
  if (!type)
    return type.takeError();
  if (saturates && (*mode != "hi" || *type != Type::S32))
    return decoder.error("'.sat' expects .hi and .s32, but got ." + *mode +
                         " and ." + getTypeName(*type));
  Execute execute = *mode == "lo"
                        ? selectTernary<MultiplyAdd<Multiply24Low>>(*type)
                        : selectTernary<MultiplyAdd<Multiply24High>>(*type);
  if (saturates)
    execute = executeTernary<int32_t, MultiplyAddSaturating<Multiply24High>>;
  return emitSimple(decoder, execute, InstructionClass::Integer, *type,
                    {*type, *type, *type});
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

/// Part `i` of `word`, of the bits of `T`.
template <typename T>
static int32_t getPart(uint32_t word, unsigned i) {
  return static_cast<T>(word >> (8 * sizeof(T) * i));
}

/// d = c + Σ a[k] * b[k] over four bytes of each.
template <typename A, typename B>
static void executeDp4a(const Instruction &i, Lanes &lanes) {
  mapTernary<uint32_t, uint32_t, uint32_t, uint32_t>(
      lanes, i.d, i.a, i.b, i.c, [](uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned k = 0; k != 4; ++k)
          c += static_cast<uint32_t>(getPart<A>(a, k) * getPart<B>(b, k));
        return c;
      });
}

/// d = c + Σ a[k] * b[k + First] over two half words of a and two bytes of b.
template <typename A, typename B, unsigned First>
static void executeDp2a(const Instruction &i, Lanes &lanes) {
  mapTernary<uint32_t, uint32_t, uint32_t, uint32_t>(
      lanes, i.d, i.a, i.b, i.c, [](uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned k = 0; k != 2; ++k)
          c += static_cast<uint32_t>(getPart<A>(a, k)) *
               static_cast<uint32_t>(getPart<B>(b, k + First));
        return c;
      });
}

/// Takes the types of a and b.
static Expected<std::pair<bool, bool>> takeSigns(Decoder &decoder) {
  Expected<Type> a = takeTypeOf(decoder, {Type::U32, Type::S32});
  if (!a)
    return a.takeError();
  Expected<Type> b = takeTypeOf(decoder, {Type::U32, Type::S32});
  if (!b)
    return b.takeError();
  if (Error error = expectArchitecture(decoder, 61))
    return std::move(error);
  return std::pair(*a == Type::S32, *b == Type::S32);
}

static Error decodeDp4a(Decoder &decoder) {
  auto signs = takeSigns(decoder);
  if (!signs)
    return signs.takeError();
  static constexpr Execute table[2][2] = {
      {executeDp4a<uint8_t, uint8_t>, executeDp4a<uint8_t, int8_t>},
      {executeDp4a<int8_t, uint8_t>, executeDp4a<int8_t, int8_t>}};
  return emitSimple(decoder, table[signs->first][signs->second],
                    InstructionClass::Integer, Type::B32,
                    {Type::B32, Type::B32, Type::B32});
}

static Error decodeDp2a(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"lo", "hi"});
  if (!mode)
    return mode.takeError();
  auto signs = takeSigns(decoder);
  if (!signs)
    return signs.takeError();
  static constexpr Execute table[2][2][2] = {
      {{executeDp2a<uint16_t, uint8_t, 0>, executeDp2a<uint16_t, int8_t, 0>},
       {executeDp2a<int16_t, uint8_t, 0>, executeDp2a<int16_t, int8_t, 0>}},
      {{executeDp2a<uint16_t, uint8_t, 2>, executeDp2a<uint16_t, int8_t, 2>},
       {executeDp2a<int16_t, uint8_t, 2>, executeDp2a<int16_t, int8_t, 2>}}};
  return emitSimple(decoder, table[*mode == "hi"][signs->first][signs->second],
                    InstructionClass::Integer, Type::B32,
                    {Type::B32, Type::B32, Type::B32});
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// Whether the instruction is the integer one of its name. Types that no form
/// has are ours too, so that the error lists what there is.
static bool isInteger(ArrayRef<StringRef> words) {
  return hasType(words,
                 {Type::B16, Type::B32, Type::B64, Type::U8, Type::U16,
                  Type::U32, Type::U64, Type::S8, Type::S16, Type::S32,
                  Type::S64, Type::U16x2, Type::S16x2, Type::U8x4, Type::S8x4});
}

void tile::emulator::registerIntegerArithmetic(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Integer arithmetic";
  table.add("add", "add.{u16,u32,u64,s16,s32,s64,u16x2,s16x2}, add.sat.s32",
            group, decodeAdd<Add, AddSaturating>, isInteger);
  table.add("sub", "sub.{u16,u32,u64,s16,s32,s64,u16x2,s16x2}, sub.sat.s32",
            group, decodeAdd<Subtract, SubtractSaturating>, isInteger);
  table.add("add.cc", "add.cc.{u32,s32,u64,s64}", group,
            decodeAddCarry<false, kWritesCarry>);
  table.add("addc", "addc{.cc}.{u32,s32,u64,s64}", group,
            decodeAddCarry<false, kReadsCarry>);
  table.add("sub.cc", "sub.cc.{u32,s32,u64,s64}", group,
            decodeAddCarry<true, kWritesCarry>);
  table.add("subc", "subc{.cc}.{u32,s32,u64,s64}", group,
            decodeAddCarry<true, kReadsCarry>);
  table.add("mul",
            "mul.{lo,hi}.{u16,u32,u64,s16,s32,s64}, mul.wide.{u16,u32,s16,s32}",
            group, decodeMultiply, isInteger);
  table.add("mad",
            "mad.{lo,hi}.{u16,u32,u64,s16,s32,s64}, "
            "mad.wide.{u16,u32,s16,s32}, mad.hi.sat.s32, "
            "mad.{lo,hi}.cc.{u32,s32,u64,s64}",
            group, decodeMultiplyAdd, isInteger);
  table.add("madc", "madc.{lo,hi}{.cc}.{u32,s32,u64,s64}", group,
            decodeMultiplyAddWithCarry);
  table.add("mul24", "mul24.{lo,hi}.{u32,s32}", group, decodeMultiply24);
  table.add("mad24", "mad24.{lo,hi}.{u32,s32}, mad24.hi.sat.s32", group,
            decodeMultiplyAdd24);
  table.add("sad", "sad.{u16,u32,u64,s16,s32,s64}", group, decodeSad);
  table.add("div", "div.{u16,u32,u64,s16,s32,s64}", group, decodeBinary<Divide>,
            isInteger);
  table.add("rem", "rem.{u16,u32,u64,s16,s32,s64}", group,
            decodeBinary<Remainder>);
  table.add("abs", "abs.{s16,s32,s64}", group, decodeUnary<Absolute>,
            isInteger);
  table.add("neg", "neg.{s16,s32,s64}", group, decodeUnary<Negate>, isInteger);
  table.add("min",
            "min.{u16,u32,u64,s16,s32,s64,u16x2,s16x2}, min.relu.{s32,s16x2}",
            group, decodeMinMax<Minimum>, isInteger);
  table.add("max",
            "max.{u16,u32,u64,s16,s32,s64,u16x2,s16x2}, max.relu.{s32,s16x2}",
            group, decodeMinMax<Maximum>, isInteger);
  table.add("dp4a", "dp4a.{u32,s32}.{u32,s32}", group, decodeDp4a);
  table.add("dp2a", "dp2a.{lo,hi}.{u32,s32}.{u32,s32}", group, decodeDp2a);
}
