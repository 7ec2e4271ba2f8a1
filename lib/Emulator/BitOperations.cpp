//===- BitOperations.cpp - Logic and shifts -------------------------------===//
//
// and, or, xor, not, lop3 and shifts. Bit fields and prmt have files of their
// own.
//
//===----------------------------------------------------------------------===//

#include "BitOperations.h"

#include <array>
#include <utility>

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static constexpr InstructionClass kLogic = InstructionClass::Logic;

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

namespace {

// `known` tells which bits of the result are known where `wa` and `wb` are the
// written bits of a and b: a written 0 decides an `and`, a written 1 an `or`.

struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return a & b;
  }
  template <typename T>
  static T known(T a, T b, T wa, T wb) {
    return (wa & wb) | (wa & ~a) | (wb & ~b);
  }
};

struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return a | b;
  }
  template <typename T>
  static T known(T a, T b, T wa, T wb) {
    return (wa & wb) | (wa & a) | (wb & b);
  }
};

struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
  template <typename T>
  static T known(T, T, T wa, T wb) {
    return wa & wb;
  }
};

} // namespace

template <typename T, typename Operation>
static void executeLogic(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a), *b = lanes.read<T>(i.b);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = Operation()(a[lane], b[lane]);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
            [&](unsigned lane) -> T {
              return Operation::template known<T>(
                  a[lane], b[lane], getWritten<T>(lanes, i.a, lane),
                  getWritten<T>(lanes, i.b, lane));
            });
}

/// For predicates the 32 lanes are the bits of one word.
template <typename Operation>
static void executePredicateLogic(const Instruction &i, Lanes &lanes) {
  uint32_t a = lanes.mask(i.a), b = lanes.mask(i.b);
  uint32_t known = Operation::template known<uint32_t>(
      a, b, ~lanes.undefinedAt(i.a), ~lanes.undefinedAt(i.b));
  storePredicate(lanes, i.d, Operation()(a, b), ~known);
}

/// x ^ x, the idiom for zero, which is known whatever x is.
template <typename T>
static void executeZero(const Instruction &i, Lanes &lanes) {
  T result[kLanes] = {};
  store(lanes, i.d, result);
  define(lanes, i.d);
}

template <typename Operation>
static Error decodeLogic(Decoder &decoder) {
  Expected<Type> type =
      takeTypeOf(decoder, {Type::Pred, Type::B16, Type::B32, Type::B64});
  if (!type)
    return type.takeError();
  Execute execute = forBits(*type, [](auto value) -> Execute {
    return executeLogic<decltype(value), Operation>;
  });
  if (*type == Type::Pred)
    execute = executePredicateLogic<Operation>;
  Expected<Instruction *> instruction =
      emitLanewise(decoder, execute, kLogic, *type, {*type, *type});
  if (!instruction)
    return instruction.takeError();
  if (std::is_same_v<Operation, Xor> && *type != Type::Pred &&
      (*instruction)->a == (*instruction)->b)
    (*instruction)->execute = forBits(*type, [](auto value) -> Execute {
      return executeZero<decltype(value)>;
    });
  return Error::success();
}

template <typename T>
static void executeNot(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = static_cast<T>(~a[lane]);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a),
            [&](unsigned lane) { return getWritten<T>(lanes, i.a, lane); });
}

static void executeNotPredicate(const Instruction &i, Lanes &lanes) {
  storePredicate(lanes, i.d, ~lanes.mask(i.a), lanes.undefinedAt(i.a));
}

static Error decodeNot(Decoder &decoder) {
  Expected<Type> type =
      takeTypeOf(decoder, {Type::Pred, Type::B16, Type::B32, Type::B64});
  if (!type)
    return type.takeError();
  Execute execute = forBits(
      *type, [](auto value) -> Execute { return executeNot<decltype(value)>; });
  if (*type == Type::Pred)
    execute = executeNotPredicate;
  return emitSimple(decoder, execute, kLogic, *type, {*type});
}

/// d = a == 0. One written bit that is set decides; else bit 0 is in doubt.
template <typename T>
static void executeCnot(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = a[lane] == 0;
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a), [&](unsigned lane) {
    T written = getWritten<T>(lanes, i.a, lane);
    return written & a[lane] ? static_cast<T>(~T(0)) : static_cast<T>(~T(1));
  });
}

static Error decodeCnot(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, {Type::B16, Type::B32, Type::B64});
  if (!type)
    return type.takeError();
  return emitSimple(decoder,
                    forBits(*type,
                            [](auto value) -> Execute {
                              return executeCnot<decltype(value)>;
                            }),
                    kLogic, *type, {*type});
}

//===----------------------------------------------------------------------===//
// lop3
//===----------------------------------------------------------------------===//

/// Bit k of `table` is the result where a, b and c are bits 2, 1 and 0 of k.
static inline uint32_t lookUp(unsigned table, uint32_t a, uint32_t b,
                              uint32_t c) {
  auto select = [](uint32_t which, uint32_t one, uint32_t zero) {
    return zero ^ (which & (one ^ zero));
  };
  auto all = [&](unsigned k) { return table >> k & 1 ? ~uint32_t(0) : 0; };
  uint32_t b0a0 = select(c, all(1), all(0));
  uint32_t b1a0 = select(c, all(3), all(2));
  uint32_t b0a1 = select(c, all(5), all(4));
  uint32_t b1a1 = select(c, all(7), all(6));
  return select(a, select(b, b1a1, b0a1), select(b, b1a0, b0a0));
}

using Lop3 = void (*)(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                      uint32_t *result);

/// With the table known, the compiler leaves the few operations that it takes.
template <size_t Table>
static void lop3(const uint32_t *__restrict a, const uint32_t *__restrict b,
                 const uint32_t *__restrict c, uint32_t *__restrict result) {
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = lookUp(Table, a[lane], b[lane], c[lane]);
}

template <size_t... Tables>
static constexpr std::array<Lop3, sizeof...(Tables)>
makeLop3(std::index_sequence<Tables...>) {
  return {lop3<Tables>...};
}

static constexpr std::array<Lop3, 256> kLop3 =
    makeLop3(std::make_index_sequence<256>());

/// The bits of the result that are the same for all values of the unwritten
/// bits.
static uint32_t getKnown(unsigned table, const Instruction &i,
                         const Lanes &lanes, unsigned lane) {
  uint32_t flips[3] = {getUnwritten<uint32_t>(lanes, i.a, lane),
                       getUnwritten<uint32_t>(lanes, i.b, lane),
                       getUnwritten<uint32_t>(lanes, i.c, lane)};
  uint32_t ones = ~uint32_t(0), any = 0;
  for (unsigned k = 0; k != 8; ++k) {
    uint32_t value =
        lookUp(table, lanes.read<uint32_t>(i.a)[lane] ^ (k & 1 ? flips[0] : 0),
               lanes.read<uint32_t>(i.b)[lane] ^ (k & 2 ? flips[1] : 0),
               lanes.read<uint32_t>(i.c)[lane] ^ (k & 4 ? flips[2] : 0));
    ones &= value;
    any |= value;
  }
  return ones | ~any;
}

static void executeLop3(const Instruction &i, Lanes &lanes) {
  unsigned table = static_cast<unsigned>(i.immediate);
  uint32_t result[kLanes];
  kLop3[table](lanes.read<uint32_t>(i.a), lanes.read<uint32_t>(i.b),
               lanes.read<uint32_t>(i.c), result);
  storeBits(lanes, i.d, result, getUndefined(i, lanes),
            [&](unsigned lane) { return getKnown(table, i, lanes, lane); });
}

namespace {

/// The second result of `lop3.BoolOp`: p = (d != 0) BoolOp q.
struct Lop3Predicate {
  Slot p, q;
  bool isAnd;
};

} // namespace

static void executeLop3Predicate(const Instruction &i, Lanes &lanes) {
  const auto &data = *static_cast<const Lop3Predicate *>(i.data);
  unsigned table = static_cast<unsigned>(i.immediate);
  uint32_t result[kLanes];
  kLop3[table](lanes.read<uint32_t>(i.a), lanes.read<uint32_t>(i.b),
               lanes.read<uint32_t>(i.c), result);
  uint32_t isNonzero = 0, unknown = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    isNonzero |= uint32_t(result[lane] != 0) << lane;
  uint32_t undefined = getUndefined(i, lanes) & lanes.active;
  forLanes(undefined, [&](unsigned lane) {
    uint32_t known = getKnown(table, i, lanes, lane);
    if (known != ~uint32_t(0) && !(known & result[lane]))
      unknown |= uint32_t(1) << lane;
  });
  uint32_t q = lanes.mask(data.q), qWritten = ~lanes.undefinedAt(data.q);
  uint32_t known = data.isAnd ? And::known(isNonzero, q, ~unknown, qWritten)
                              : Or::known(isNonzero, q, ~unknown, qWritten);
  storeBits(lanes, i.d, result, undefined,
            [&](unsigned lane) { return getKnown(table, i, lanes, lane); });
  storePredicate(lanes, data.p, data.isAnd ? isNonzero & q : isNonzero | q,
                 ~known);
}

static Error decodeLop3(Decoder &decoder) {
  StringRef combine = decoder.takeAny({"and", "or"});
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B32}); !type)
    return type.takeError();
  unsigned numOperands = combine.empty() ? 5 : 6;
  if (Error error = decoder.expectOperands(numOperands, numOperands))
    return error;
  Slot sources[3];
  for (unsigned k = 0; k != 3; ++k) {
    Expected<Slot> slot = decoder.source(k + 1, Type::B32);
    if (!slot)
      return slot.takeError();
    sources[k] = *slot;
  }
  Expected<int64_t> table = decoder.integer(4);
  if (!table)
    return table.takeError();
  if (*table < 0 || *table > 255)
    return decoder.error(decoder.getOperand(4),
                         "the table of 'lop3' is 0 to 255, but got " +
                             llvm::Twine(*table));

  const Operand *value = &decoder.getOperand(0);
  Lop3Predicate predicate = {};
  if (!combine.empty()) {
    if (Error error = expectArchitecture(decoder, 70))
      return error;
    if (value->kind != Operand::Kind::Pair || value->children.size() != 2)
      return decoder.error(*value,
                           "'lop3." + combine +
                               "' expects a register and a predicate as in "
                               "'d|p', but got '" +
                               value->text + "'");
    Expected<Slot> q = decoder.predicate(5);
    if (!q)
      return q.takeError();
    Expected<Slot> p = decoder.destination(value->children[1], Type::Pred);
    if (!p)
      return p.takeError();
    predicate = {*p, *q, combine == "and"};
    value = &value->children[0];
  }
  Expected<Slot> d = decoder.destination(*value, Type::B32);
  if (!d)
    return d.takeError();
  Instruction &instruction = decoder.emit(
      combine.empty() ? executeLop3 : executeLop3Predicate, kLogic);
  instruction.d = *d;
  instruction.a = sources[0];
  instruction.b = sources[1];
  instruction.c = sources[2];
  instruction.immediate = *table;
  if (!combine.empty())
    instruction.data = decoder.getProgram().own(predicate);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

namespace {

// An amount of all bits or more shifts everything out.

struct ShiftLeft {
  template <typename T>
  T operator()(T a, uint32_t amount) const {
    constexpr unsigned bits = 8 * sizeof(T);
    T shifted = static_cast<T>(Wrapping<T>(a) << (amount & (bits - 1)));
    return amount >= bits ? T(0) : shifted;
  }
};

} // namespace

template <typename T, typename Operation>
static void executeShift(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  const uint32_t *amount = lanes.read<uint32_t>(i.b);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = Operation()(a[lane], amount[lane]);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
            [&](unsigned lane) -> T {
              if (!isWritten(lanes, i.b, lane))
                return 0;
              return static_cast<T>(~Operation()(
                  getUnwritten<T>(lanes, i.a, lane), amount[lane]));
            });
}

/// By the constant `immediate`.
template <typename T, typename Operation>
static void executeShiftConstant(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  uint32_t amount = static_cast<uint32_t>(i.immediate);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = Operation()(a[lane], amount);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a),
            [&](unsigned lane) -> T {
              return static_cast<T>(
                  ~Operation()(getUnwritten<T>(lanes, i.a, lane), amount));
            });
}

template <typename Operation>
static Error decodeShift(Decoder &decoder, ArrayRef<Type> types) {
  Expected<Type> type = takeTypeOf(decoder, types);
  if (!type)
    return type.takeError();
  bool isConstant = decoder.isInteger(2);
  Execute execute = forInteger(*type, [&](auto value) -> Execute {
    using T = decltype(value);
    return isConstant ? executeShiftConstant<T, Operation>
                      : executeShift<T, Operation>;
  });
  Expected<Instruction *> instruction =
      emitLanewise(decoder, execute, kLogic, *type, {*type, Type::U32});
  if (!instruction)
    return instruction.takeError();
  if (isConstant)
    (*instruction)->immediate =
        static_cast<uint32_t>(decoder.getOperand(2).bits);
  return Error::success();
}

static Error decodeShl(Decoder &decoder) {
  return decodeShift<ShiftLeft>(decoder, {Type::B16, Type::B32, Type::B64});
}

static Error decodeShr(Decoder &decoder) {
  return decodeShift<ShiftRight>(decoder, {Type::B16, Type::B32, Type::B64,
                                           Type::U16, Type::U32, Type::U64,
                                           Type::S16, Type::S32, Type::S64});
}

/// The funnel shifts of b:a, with b the high word.
template <bool IsLeft, bool Wraps>
static uint32_t funnel(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t amount = Wraps ? c & 31 : c < 32 ? c : 32;
  uint64_t both = uint64_t(b) << 32 | a;
  return static_cast<uint32_t>(IsLeft ? both << amount >> 32 : both >> amount);
}

template <bool IsLeft, bool Wraps>
static void executeFunnel(const Instruction &i, Lanes &lanes) {
  const uint32_t *a = lanes.read<uint32_t>(i.a);
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  const uint32_t *c = lanes.read<uint32_t>(i.c);
  uint32_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = funnel<IsLeft, Wraps>(a[lane], b[lane], c[lane]);
  storeBits(lanes, i.d, result, getUndefined(i, lanes),
            [&](unsigned lane) -> uint32_t {
              if (!isWritten(lanes, i.c, lane))
                return 0;
              return ~funnel<IsLeft, Wraps>(
                  getUnwritten<uint32_t>(lanes, i.a, lane),
                  getUnwritten<uint32_t>(lanes, i.b, lane), c[lane]);
            });
}

/// By the constant `immediate`, which is in range.
template <bool IsLeft>
static void executeFunnelConstant(const Instruction &i, Lanes &lanes) {
  const uint32_t *a = lanes.read<uint32_t>(i.a);
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  uint32_t amount = static_cast<uint32_t>(i.immediate);
  uint32_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = funnel<IsLeft, false>(a[lane], b[lane], amount);
  storeBits(lanes, i.d, result, lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
            [&](unsigned lane) {
              return ~funnel<IsLeft, false>(
                  getUnwritten<uint32_t>(lanes, i.a, lane),
                  getUnwritten<uint32_t>(lanes, i.b, lane), amount);
            });
}

static Error decodeFunnel(Decoder &decoder) {
  Expected<StringRef> direction = takeOneOf(decoder, {"l", "r"});
  if (!direction)
    return direction.takeError();
  Expected<StringRef> mode = takeOneOf(decoder, {"wrap", "clamp"});
  if (!mode)
    return mode.takeError();
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B32}); !type)
    return type.takeError();
  bool wraps = *mode == "wrap";
  Execute execute =
      *direction == "l"
          ? (wraps ? executeFunnel<true, true> : executeFunnel<true, false>)
          : (wraps ? executeFunnel<false, true> : executeFunnel<false, false>);
  bool isConstant = decoder.isInteger(3);
  if (isConstant)
    execute = *direction == "l" ? executeFunnelConstant<true>
                                : executeFunnelConstant<false>;
  Expected<Instruction *> instruction = emitLanewise(
      decoder, execute, kLogic, Type::B32, {Type::B32, Type::B32, Type::U32});
  if (!instruction)
    return instruction.takeError();
  if (isConstant) {
    uint32_t amount = static_cast<uint32_t>(decoder.getOperand(3).bits);
    (*instruction)->immediate = wraps ? amount & 31 : std::min(amount, 32u);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void tile::emulator::registerBitOperations(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Bit operations";
  table.add("and", "and.{pred,b16,b32,b64}", group, decodeLogic<And>);
  table.add("or", "or.{pred,b16,b32,b64}", group, decodeLogic<Or>);
  table.add("xor", "xor.{pred,b16,b32,b64}", group, decodeLogic<Xor>);
  table.add("not", "not.{pred,b16,b32,b64}", group, decodeNot);
  table.add("cnot", "cnot.{b16,b32,b64}", group, decodeCnot);
  table.add("lop3", "lop3{.and,.or}.b32", group, decodeLop3);
  table.add("shl", "shl.{b16,b32,b64}", group, decodeShl);
  table.add("shr", "shr.{b16,b32,b64,u16,u32,u64,s16,s32,s64}", group,
            decodeShr);
  table.add("shf", "shf.{l,r}.{wrap,clamp}.b32", group, decodeFunnel);
  table.add("prmt", "prmt.b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", group,
            decodePermute);
  registerBitFields(table);
}
