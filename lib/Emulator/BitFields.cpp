//===- BitFields.cpp - Bit fields, counting and finding bits --------------===//
//
// bfe, bfi, bmsk, szext, bfind, brev, clz, popc and fns.
//
//===----------------------------------------------------------------------===//

#include "BitOperations.h"
#include "llvm/ADT/bit.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static constexpr InstructionClass kLogic = InstructionClass::Logic;

//===----------------------------------------------------------------------===//
// Bit fields
//===----------------------------------------------------------------------===//

/// The low `count` bits set.
template <typename T>
static T lowBits(unsigned count) {
  return count >= 8 * sizeof(T) ? static_cast<T>(~T(0))
                                : static_cast<T>((T(1) << count) - 1);
}

/// `c` bits of `a` from bit `b` up, zero- or sign-extended. The sign of a field
/// that reaches beyond the value is the value's.
template <typename T>
static T extract(T a, uint32_t b, uint32_t c) {
  constexpr unsigned bits = 8 * sizeof(T);
  unsigned position = b & 0xFF, length = c & 0xFF;
  if (length == 0)
    return 0;
  T field = ShiftRight()(a, position);
  if (length >= bits)
    return field;
  if constexpr (std::is_signed_v<T>) {
    unsigned unused = bits - length;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(field)
                          << unused) >>
           unused;
  } else {
    return field & lowBits<T>(length);
  }
}

template <typename T>
static void executeExtract(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  const uint32_t *c = lanes.read<uint32_t>(i.c);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = extract<T>(a[lane], b[lane], c[lane]);
  storeBits(
      lanes, i.d, result, getUndefined(i, lanes), [&](unsigned lane) -> T {
        if (!isWritten(lanes, i.b, lane) || !isWritten(lanes, i.c, lane))
          return 0;
        return static_cast<T>(
            ~extract<T>(getUnwritten<T>(lanes, i.a, lane), b[lane], c[lane]));
      });
}

/// With the constants b in the low and c in the high half of `immediate`.
template <typename T>
static void executeExtractConstant(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  uint32_t b = static_cast<uint32_t>(i.immediate);
  uint32_t c = static_cast<uint32_t>(i.immediate >> 32);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = extract<T>(a[lane], b, c);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a),
            [&](unsigned lane) -> T {
              return static_cast<T>(
                  ~extract<T>(getUnwritten<T>(lanes, i.a, lane), b, c));
            });
}

/// The constants of operands `first` and the next, as halves of one number.
static int64_t getConstants(const Decoder &decoder, unsigned first) {
  return static_cast<int64_t>((decoder.getOperand(first).bits & 0xFFFFFFFF) |
                              decoder.getOperand(first + 1).bits << 32);
}

static Error decodeExtract(Decoder &decoder) {
  Expected<Type> type =
      takeTypeOf(decoder, {Type::U32, Type::U64, Type::S32, Type::S64});
  if (!type)
    return type.takeError();
  bool isConstant = decoder.isInteger(2) && decoder.isInteger(3);
  Execute execute = forInteger(*type, [&](auto value) -> Execute {
    using T = decltype(value);
    if constexpr (sizeof(T) == 2)
      return nullptr;
    else
      return isConstant ? executeExtractConstant<T> : executeExtract<T>;
  });
  Expected<Instruction *> instruction = emitLanewise(
      decoder, execute, kLogic, *type, {*type, Type::U32, Type::U32});
  if (!instruction)
    return instruction.takeError();
  if (isConstant)
    (*instruction)->immediate = getConstants(decoder, 2);
  return Error::success();
}

/// `b` with the low `length` bits of `a` at `position`.
template <typename T>
static T insert(T a, T b, uint32_t c, uint32_t d) {
  constexpr unsigned bits = 8 * sizeof(T);
  unsigned position = c & 0xFF, length = d & 0xFF;
  if (position >= bits)
    return b;
  T field = lowBits<T>(length) << position;
  return (b & ~field) | ((a << position) & field);
}

template <typename T>
static void executeInsert(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a), *b = lanes.read<T>(i.b);
  Slot position = i.operands[2], length = i.operands[3];
  const uint32_t *c = lanes.read<uint32_t>(position);
  const uint32_t *d = lanes.read<uint32_t>(length);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = insert<T>(a[lane], b[lane], c[lane], d[lane]);
  storeBits(
      lanes, i.d, result, getUndefined(i, lanes) | lanes.undefinedAt(length),
      [&](unsigned lane) -> T {
        if (!isWritten(lanes, position, lane) ||
            !isWritten(lanes, length, lane))
          return 0;
        return ~insert<T>(getUnwritten<T>(lanes, i.a, lane),
                          getUnwritten<T>(lanes, i.b, lane), c[lane], d[lane]);
      });
}

/// With the constants c in the low and d in the high half of `immediate`.
template <typename T>
static void executeInsertConstant(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a), *b = lanes.read<T>(i.b);
  uint32_t c = static_cast<uint32_t>(i.immediate);
  uint32_t d = static_cast<uint32_t>(i.immediate >> 32);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = insert<T>(a[lane], b[lane], c, d);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
            [&](unsigned lane) -> T {
              return ~insert<T>(getUnwritten<T>(lanes, i.a, lane),
                                getUnwritten<T>(lanes, i.b, lane), c, d);
            });
}

static Error decodeInsert(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, {Type::B32, Type::B64});
  if (!type)
    return type.takeError();
  bool isConstant = decoder.isInteger(3) && decoder.isInteger(4);
  Execute execute = *type == Type::B32
                        ? (isConstant ? executeInsertConstant<uint32_t>
                                      : executeInsert<uint32_t>)
                        : (isConstant ? executeInsertConstant<uint64_t>
                                      : executeInsert<uint64_t>);
  Expected<Instruction *> instruction = emitLanewise(
      decoder, execute, kLogic, *type, {*type, *type, Type::U32, Type::U32});
  if (!instruction)
    return instruction.takeError();
  if (isConstant)
    (*instruction)->immediate = getConstants(decoder, 3);
  return Error::success();
}

/// `b` ones from bit `a` up.
template <bool Clamps>
static uint32_t makeMask(uint32_t a, uint32_t b) {
  if (!Clamps) {
    a &= 31;
    b &= 31;
  }
  if (a >= 32)
    return 0;
  return lowBits<uint32_t>(b) << a;
}

template <bool Clamps>
static void executeMakeMask(const Instruction &i, Lanes &lanes) {
  mapBinary<uint32_t, uint32_t, uint32_t>(lanes, i.d, i.a, i.b,
                                          makeMask<Clamps>);
}

static Error decodeMakeMask(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"clamp", "wrap"});
  if (!mode)
    return mode.takeError();
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B32}); !type)
    return type.takeError();
  if (Error error = expectArchitecture(decoder, 70))
    return error;
  return emitSimple(decoder,
                    *mode == "clamp" ? executeMakeMask<true>
                                     : executeMakeMask<false>,
                    kLogic, Type::B32, {Type::U32, Type::U32});
}

/// The low `b` bits of `a`, zero- or sign-extended; nothing of 0 bits.
template <typename T, bool Clamps>
static T extend(T a, uint32_t b) {
  unsigned width = Clamps ? b : b & 31;
  return width >= 32 ? a : extract<T>(a, 0, width);
}

template <typename T, bool Clamps>
static void executeExtend(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = extend<T, Clamps>(a[lane], b[lane]);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
            [&](unsigned lane) -> T {
              if (!isWritten(lanes, i.b, lane))
                return 0;
              return ~extend<T, Clamps>(getUnwritten<T>(lanes, i.a, lane),
                                        b[lane]);
            });
}

static Error decodeExtend(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"clamp", "wrap"});
  if (!mode)
    return mode.takeError();
  Expected<Type> type = takeTypeOf(decoder, {Type::U32, Type::S32});
  if (!type)
    return type.takeError();
  if (Error error = expectArchitecture(decoder, 70))
    return error;
  bool clamps = *mode == "clamp";
  Execute execute = *type == Type::U32
                        ? (clamps ? executeExtend<uint32_t, true>
                                  : executeExtend<uint32_t, false>)
                        : (clamps ? executeExtend<int32_t, true>
                                  : executeExtend<int32_t, false>);
  return emitSimple(decoder, execute, kLogic, *type, {*type, Type::U32});
}

//===----------------------------------------------------------------------===//
// Counting and finding
//===----------------------------------------------------------------------===//

/// The position of the highest set bit; of a negative number, the highest that
/// is not set; 2^32-1 where there is none. `FromTop` counts from the top.
template <typename T, bool FromTop>
static uint32_t findTop(T a) {
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned bits = static_cast<Unsigned>(a);
  if constexpr (std::is_signed_v<T>)
    if (a < 0)
      bits = ~bits;
  if (bits == 0)
    return ~uint32_t(0);
  unsigned above = static_cast<unsigned>(llvm::countl_zero(bits));
  return FromTop ? above : 8 * sizeof(T) - 1 - above;
}

template <typename T, bool FromTop>
static void executeFindTop(const Instruction &i, Lanes &lanes) {
  mapUnary<uint32_t, T>(lanes, i.d, i.a, findTop<T, FromTop>);
}

static Error decodeFindTop(Decoder &decoder) {
  bool fromTop = decoder.take("shiftamt");
  Expected<Type> type =
      takeTypeOf(decoder, {Type::U32, Type::U64, Type::S32, Type::S64});
  if (!type)
    return type.takeError();
  Execute execute = forInteger(*type, [&](auto value) -> Execute {
    using T = decltype(value);
    if constexpr (sizeof(T) == 2)
      return nullptr;
    else
      return fromTop ? executeFindTop<T, true> : executeFindTop<T, false>;
  });
  return emitSimple(decoder, execute, kLogic, Type::U32, {*type});
}

namespace {

struct CountLeadingZeros {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(llvm::countl_zero(a));
  }
};

/// By sums of ever more neighbours, which become vector code; what the compiler
/// has for one value does not.
struct CountOnes {
  template <typename T>
  uint32_t operator()(T a) const {
    constexpr T all = static_cast<T>(~T(0));
    a = a - (a >> 1 & all / 3);
    a = (a & all / 5) + (a >> 2 & all / 5);
    a = (a + (a >> 4)) & all / 17;
    a += a >> 8;
    a += a >> 16;
    if constexpr (sizeof(T) == 8)
      a += a >> 32;
    return static_cast<uint32_t>(a & 0xFF);
  }
};

} // namespace

template <typename T, typename Count>
static void executeCount(const Instruction &i, Lanes &lanes) {
  mapUnary<uint32_t, T>(lanes, i.d, i.a, Count());
}

template <typename Count>
static Error decodeCount(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, {Type::B32, Type::B64});
  if (!type)
    return type.takeError();
  return emitSimple(decoder,
                    *type == Type::B32 ? executeCount<uint32_t, Count>
                                       : executeCount<uint64_t, Count>,
                    kLogic, Type::U32, {*type});
}

template <typename T>
static T reverse(T a) {
  // Swaps neighbours of 1, 2, 4, … bits.
  for (unsigned width = 1; width != 8 * sizeof(T); width *= 2) {
    T low = static_cast<T>(~T(0)) / static_cast<T>((T(1) << width) + 1);
    a = ((a & low) << width) | (a >> width & low);
  }
  return a;
}

template <typename T>
static void executeReverse(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = reverse(a[lane]);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a), [&](unsigned lane) {
    return reverse(getWritten<T>(lanes, i.a, lane));
  });
}

static Error decodeReverse(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, {Type::B32, Type::B64});
  if (!type)
    return type.takeError();
  return emitSimple(decoder,
                    *type == Type::B32 ? executeReverse<uint32_t>
                                       : executeReverse<uint64_t>,
                    kLogic, *type, {*type});
}

/// The position of the `offset`-th set bit of `mask` from `base` on, upwards
/// or, for a negative offset, downwards; 0: the bit at `base` itself.
static uint32_t findNth(uint32_t mask, uint32_t base, int32_t offset) {
  constexpr uint32_t none = ~uint32_t(0);
  if (base > 31)
    return none; // Undefined in PTX.
  if (offset == 0)
    return mask >> base & 1 ? base : none;
  uint32_t left = offset < 0 ? 0u - static_cast<uint32_t>(offset)
                             : static_cast<uint32_t>(offset);
  int step = offset < 0 ? -1 : 1;
  for (int position = static_cast<int>(base); position >= 0 && position < 32;
       position += step)
    if (mask >> position & 1)
      if (--left == 0)
        return static_cast<uint32_t>(position);
  return none;
}

static void executeFindNth(const Instruction &i, Lanes &lanes) {
  mapTernary<uint32_t, uint32_t, uint32_t, int32_t>(lanes, i.d, i.a, i.b, i.c,
                                                    findNth);
}

static Error decodeFindNth(Decoder &decoder) {
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B32}); !type)
    return type.takeError();
  return emitSimple(decoder, executeFindNth, kLogic, Type::B32,
                    {Type::B32, Type::B32, Type::S32});
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void tile::emulator::registerBitFields(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Bit operations";
  table.add("bfe", "bfe.{u32,u64,s32,s64}", group, decodeExtract);
  table.add("bfi", "bfi.{b32,b64}", group, decodeInsert);
  table.add("bmsk", "bmsk.{clamp,wrap}.b32", group, decodeMakeMask);
  table.add("szext", "szext.{clamp,wrap}.{u32,s32}", group, decodeExtend);
  table.add("bfind", "bfind{.shiftamt}.{u32,u64,s32,s64}", group,
            decodeFindTop);
  table.add("brev", "brev.{b32,b64}", group, decodeReverse);
  table.add("clz", "clz.{b32,b64}", group, decodeCount<CountLeadingZeros>);
  table.add("popc", "popc.{b32,b64}", group, decodeCount<CountOnes>);
  table.add("fns", "fns.b32", group, decodeFindNth);
}
