//===- Comparisons.cpp - set and setp -------------------------------------===//
//
// A comparison of 32 lanes is one word. What combines it with a third operand,
// and where it goes, is done on words and written once for all types.
//
//===----------------------------------------------------------------------===//

#include "ElementWise.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

namespace {

/// The lanes in which the values of slots `a` and `b` compare so.
using Compare = uint32_t (*)(const Lanes &lanes, Slot a, Slot b);

enum class Operator {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

// A format of a 16-bit float: what is a NaN, what is subnormal.
struct Float16 {
  static constexpr int32_t kInfinity = 0x7C00, kSmallestNormal = 0x0400;
};
struct BFloat16 {
  static constexpr int32_t kInfinity = 0x7F80, kSmallestNormal = 0x0080;
};

} // namespace

/// Bit k is set where byte k is 1; the others are 0.
static uint32_t gather(const uint8_t (&bytes)[kLanes]) {
#ifdef __SSE2__
  auto half = [](const uint8_t *from) {
    __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(values, 7)));
  };
  return half(bytes) | half(bytes + 16) << 16;
#else
  uint32_t mask = 0;
  for (unsigned i = 0; i != kLanes; i += 8) {
    uint64_t eight = 0;
    for (unsigned k = 0; k != 8; ++k)
      eight |= uint64_t(bytes[i + k]) << (8 * k);
    // Moves bit 8k to bit 56 + k.
    mask |= static_cast<uint32_t>(eight * 0x0102040810204080u >> 56) << i;
  }
  return mask;
#endif
}

/// Compares numbers, of which `isNan` tells those that are none.
template <Operator Op, typename T>
static bool compareValues(T a, T b, bool isNan) {
  switch (Op) {
  case Operator::Eq:
    return !isNan & (a == b);
  case Operator::Ne:
    return !isNan & (a != b);
  case Operator::Lt:
    return !isNan & (a < b);
  case Operator::Le:
    return !isNan & (a <= b);
  case Operator::Gt:
    return !isNan & (a > b);
  case Operator::Ge:
    return !isNan & (a >= b);
  case Operator::Equ:
    return isNan | (a == b);
  case Operator::Neu:
    return isNan | (a != b);
  case Operator::Ltu:
    return isNan | (a < b);
  case Operator::Leu:
    return isNan | (a <= b);
  case Operator::Gtu:
    return isNan | (a > b);
  case Operator::Geu:
    return isNan | (a >= b);
  case Operator::Num:
    return !isNan;
  case Operator::Nan:
    return isNan;
  }
}

/// As C++ compares floats, which is what IEEE 754 says: with a NaN all but !=
/// are false.
template <Operator Op, typename T>
static bool compareNumbers(T a, T b) {
  switch (Op) {
  case Operator::Eq:
    return a == b;
  case Operator::Ne:
    return std::is_integral_v<T> ? a != b : (a < b) | (a > b);
  case Operator::Lt:
    return a < b;
  case Operator::Le:
    return a <= b;
  case Operator::Gt:
    return a > b;
  case Operator::Ge:
    return a >= b;
  case Operator::Equ:
    return !((a < b) | (a > b));
  case Operator::Neu:
    return a != b;
  case Operator::Ltu:
    return !(a >= b);
  case Operator::Leu:
    return !(a > b);
  case Operator::Gtu:
    return !(a <= b);
  case Operator::Geu:
    return !(a < b);
  case Operator::Num:
    return (a == a) & (b == b);
  case Operator::Nan:
    return (a != a) | (b != b);
  }
}

template <typename T, Operator Op>
static uint32_t compareIntegers(const Lanes &lanes, Slot a, Slot b) {
  const T *x = lanes.read<T>(a), *y = lanes.read<T>(b);
  uint8_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = compareNumbers<Op>(x[lane], y[lane]);
  return gather(result);
}

/// Subnormal numbers become zeros of their sign.
static float flush(uint32_t bits) {
  return llvm::bit_cast<float>(bits & 0x7F800000 ? bits : bits & 0x80000000);
}

template <typename T, Operator Op, bool Flushes>
static uint32_t compareFloats(const Lanes &lanes, Slot a, Slot b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const Bits *x = lanes.read<Bits>(a), *y = lanes.read<Bits>(b);
  uint8_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    T left, right;
    if constexpr (Flushes) {
      left = flush(x[lane]);
      right = flush(y[lane]);
    } else {
      left = llvm::bit_cast<T>(x[lane]);
      right = llvm::bit_cast<T>(y[lane]);
    }
    result[lane] = compareNumbers<Op>(left, right);
  }
  return gather(result);
}

/// 16-bit floats compare as the integers that their signs and magnitudes are.
template <typename Format, Operator Op, bool Flushes, typename Storage,
          unsigned Shift>
static uint32_t compareHalves(const Lanes &lanes, Slot a, Slot b) {
  const Storage *x = lanes.read<Storage>(a), *y = lanes.read<Storage>(b);
  auto magnitude = [](uint32_t bits) {
    int32_t result = bits & 0x7FFF;
    return Flushes && result < Format::kSmallestNormal ? 0 : result;
  };
  uint8_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    uint32_t p = uint32_t(x[lane]) >> Shift, q = uint32_t(y[lane]) >> Shift;
    int32_t left = magnitude(p), right = magnitude(q);
    bool isNan = (left > Format::kInfinity) | (right > Format::kInfinity);
    result[lane] = compareValues<Op>(p & 0x8000 ? -left : left,
                                     q & 0x8000 ? -right : right, isNan);
  }
  return gather(result);
}

template <Operator Op>
static Compare selectInteger(Type type) {
  switch (type) {
  case Type::U16:
    return compareIntegers<uint16_t, Op>;
  case Type::U32:
    return compareIntegers<uint32_t, Op>;
  case Type::U64:
    return compareIntegers<uint64_t, Op>;
  case Type::S16:
    return compareIntegers<int16_t, Op>;
  case Type::S32:
    return compareIntegers<int32_t, Op>;
  case Type::S64:
    return compareIntegers<int64_t, Op>;
  default:
    return nullptr;
  }
}

/// `isHigh`: the upper value of a pair.
template <Operator Op, bool Flushes>
static Compare selectFloat(Type type, bool isHigh) {
  switch (type) {
  case Type::F32:
    return compareFloats<float, Op, Flushes>;
  case Type::F64:
    return compareFloats<double, Op, false>;
  case Type::F16:
    return compareHalves<Float16, Op, Flushes, uint16_t, 0>;
  case Type::BF16:
    return compareHalves<BFloat16, Op, false, uint16_t, 0>;
  case Type::F16x2:
    return isHigh ? compareHalves<Float16, Op, Flushes, uint32_t, 16>
                  : compareHalves<Float16, Op, Flushes, uint32_t, 0>;
  case Type::BF16x2:
    return isHigh ? compareHalves<BFloat16, Op, false, uint32_t, 16>
                  : compareHalves<BFloat16, Op, false, uint32_t, 0>;
  default:
    return nullptr;
  }
}

static bool isFloat(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
  case Type::F16x2:
  case Type::BF16x2:
  case Type::F32:
  case Type::F64:
    return true;
  default:
    return false;
  }
}

static bool isPair(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2;
}

template <Operator Op>
static Compare select(Type type, bool flushes, bool isHigh) {
  if (isFloat(type))
    return flushes ? selectFloat<Op, true>(type, isHigh)
                   : selectFloat<Op, false>(type, isHigh);
  if constexpr (Op <= Operator::Ge)
    return selectInteger<Op>(type);
  else
    return nullptr;
}

/// The comparison `op` of PTX for `type`; null where there is none.
static Compare findCompare(StringRef op, Type type, bool flushes, bool isHigh) {
  bool isUnsigned = type == Type::U16 || type == Type::U32 || type == Type::U64;
  if (isUnsigned)
    op = llvm::StringSwitch<StringRef>(op)
             .Case("lo", "lt")
             .Case("ls", "le")
             .Case("hi", "gt")
             .Case("hs", "ge")
             .Default(op);
  // Bits have no order.
  bool isBits = type == Type::B16 || type == Type::B32 || type == Type::B64;
  if (isBits) {
    if (op != "eq" && op != "ne")
      return nullptr;
    type = type == Type::B16   ? Type::U16
           : type == Type::B32 ? Type::U32
                               : Type::U64;
  }
  using Select = Compare (*)(Type, bool, bool);
  auto found = llvm::StringSwitch<Select>(op)
                   .Case("eq", select<Operator::Eq>)
                   .Case("ne", select<Operator::Ne>)
                   .Case("lt", select<Operator::Lt>)
                   .Case("le", select<Operator::Le>)
                   .Case("gt", select<Operator::Gt>)
                   .Case("ge", select<Operator::Ge>)
                   .Case("equ", select<Operator::Equ>)
                   .Case("neu", select<Operator::Neu>)
                   .Case("ltu", select<Operator::Ltu>)
                   .Case("leu", select<Operator::Leu>)
                   .Case("gtu", select<Operator::Gtu>)
                   .Case("geu", select<Operator::Geu>)
                   .Case("num", select<Operator::Num>)
                   .Case("nan", select<Operator::Nan>)
                   .Default(nullptr);
  return found ? found(type, flushes, isHigh) : nullptr;
}

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

namespace {

enum class Combine : uint8_t { None, And, Or, Xor };

/// A truth value per lane, and where it is not known.
struct Truth {
  uint32_t value = 0, unknown = 0;
};

/// What a comparison has beside its operands a and b.
struct Comparison {
  Compare low = nullptr;
  Compare high = nullptr; ///< Of pairs.
  Combine combine = Combine::None;
  Slot predicate = kNoSlot; ///< c
  Slot second = kNoSlot;    ///< q of `p|q`
  /// `set`: the bits of "true" of one value, and of the other of a pair.
  uint64_t trueLow = 0, trueHigh = 0;
};

} // namespace

static Truth combine(Truth x, const Comparison &comparison,
                     const Lanes &lanes) {
  if (comparison.combine == Combine::None)
    return x;
  Truth c = {lanes.mask(comparison.predicate),
             lanes.undefinedAt(comparison.predicate)};
  Truth result;
  switch (comparison.combine) {
  case Combine::And:
    // A known false decides.
    result.value = x.value & c.value;
    result.unknown = (x.unknown & (c.unknown | c.value)) |
                     (c.unknown & (x.unknown | x.value));
    break;
  case Combine::Or:
    // A known true decides.
    result.value = x.value | c.value;
    result.unknown = (x.unknown & (c.unknown | ~c.value)) |
                     (c.unknown & (x.unknown | ~x.value));
    break;
  default:
    result.value = x.value ^ c.value;
    result.unknown = x.unknown | c.unknown;
    break;
  }
  return result;
}

/// p = a op b, where nothing else is asked.
static void executeSetpAlone(const Instruction &i, Lanes &lanes) {
  const auto &comparison = *static_cast<const Comparison *>(i.data);
  uint32_t value = comparison.low(lanes, i.a, i.b);
  storePredicate(lanes, i.d, value,
                 lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b));
}

/// The active lanes in which a or b has an unwritten bit among `bits`.
static uint32_t getUnknown(const Instruction &i, const Lanes &lanes,
                           uint32_t bits) {
  uint32_t unknown = 0;
  uint32_t undefined = lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b);
  forLanes(undefined & lanes.active, [&](unsigned lane) {
    uint32_t written = getWritten<uint32_t>(lanes, i.a, lane) &
                       getWritten<uint32_t>(lanes, i.b, lane);
    if (~written & bits)
      unknown |= uint32_t(1) << lane;
  });
  return unknown;
}

static void executeSetp(const Instruction &i, Lanes &lanes) {
  const auto &comparison = *static_cast<const Comparison *>(i.data);
  uint32_t unknown = lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b);
  Truth low = {comparison.low(lanes, i.a, i.b), unknown};
  // The second result is that of the upper half of a pair, or of the opposite.
  Truth other = {~low.value, unknown};
  if (comparison.high) {
    other.value = comparison.high(lanes, i.a, i.b);
    low.unknown = getUnknown(i, lanes, 0xFFFF);
    other.unknown = getUnknown(i, lanes, 0xFFFF0000);
  }
  Truth p = combine(low, comparison, lanes);
  Truth q = combine(other, comparison, lanes);
  storePredicate(lanes, i.d, p.value, p.unknown);
  if (comparison.second != kNoSlot)
    storePredicate(lanes, comparison.second, q.value, q.unknown);
}

template <typename T>
static void executeSet(const Instruction &i, Lanes &lanes) {
  const auto &comparison = *static_cast<const Comparison *>(i.data);
  Truth x = {comparison.low(lanes, i.a, i.b),
             lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b)};
  Truth low = combine(x, comparison, lanes);
  uint32_t unknown = low.unknown;
  T result[kLanes];
  expandMask(low.value, result);
  for (T &value : result)
    value &= static_cast<T>(comparison.trueLow);
  if (comparison.high) {
    x.value = comparison.high(lanes, i.a, i.b);
    Truth high = combine(x, comparison, lanes);
    unknown |= high.unknown;
    T upper[kLanes];
    expandMask(high.value, upper);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      result[lane] |= upper[lane] & static_cast<T>(comparison.trueHigh);
  }
  store(lanes, i.d, result);
  define<T>(lanes, i.d, unknown);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static constexpr Type kCompared[] = {
    Type::B16,   Type::B32,  Type::B64,    Type::U16, Type::U32,
    Type::U64,   Type::S16,  Type::S32,    Type::S64, Type::F16,
    Type::F16x2, Type::BF16, Type::BF16x2, Type::F32, Type::F64};

static constexpr StringRef kOperators[] = {
    "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
    "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

/// The words between the instruction's name and its types. The comparison
/// comes first: `num`, `lt`, … are no types.
static Error takeWords(Decoder &decoder, StringRef &op, Combine &combine,
                       bool &flushes) {
  Expected<StringRef> taken = takeOneOf(decoder, kOperators);
  if (!taken)
    return taken.takeError();
  op = *taken;
  combine = llvm::StringSwitch<Combine>(decoder.takeAny({"and", "or", "xor"}))
                .Case("and", Combine::And)
                .Case("or", Combine::Or)
                .Case("xor", Combine::Xor)
                .Default(Combine::None);
  flushes = decoder.take("ftz");
  return Error::success();
}

/// Finds the functions that compare values of `type`.
static Error findCompares(Decoder &decoder, StringRef op, bool flushes,
                          Type type, Comparison &comparison) {
  if (Error error = expectType(decoder, type, kCompared))
    return error;
  bool hasFlush = type == Type::F32 || type == Type::F16 || type == Type::F16x2;
  if (flushes && !hasFlush)
    return decoder.error("'.ftz' expects .f32, .f16 or .f16x2, but got ." +
                         getTypeName(type));
  if (type == Type::BF16 || type == Type::BF16x2)
    if (Error error = expectArchitecture(decoder, 90))
      return error;
  comparison.low = findCompare(op, type, flushes, /*isHigh=*/false);
  if (!comparison.low)
    return decoder.error("'." + op + "' does not compare values of type ." +
                         getTypeName(type));
  if (isPair(type))
    comparison.high = findCompare(op, type, flushes, /*isHigh=*/true);
  return Error::success();
}

/// The sources a and b of `type`, and c where the comparison is combined.
static Error takeSources(Decoder &decoder, Type type, Slot &a, Slot &b,
                         Comparison &comparison) {
  unsigned numOperands = comparison.combine == Combine::None ? 3 : 4;
  if (Error error = decoder.expectOperands(numOperands, numOperands))
    return error;
  Expected<Slot> x = decoder.source(1, type);
  if (!x)
    return x.takeError();
  Expected<Slot> y = decoder.source(2, type);
  if (!y)
    return y.takeError();
  a = *x;
  b = *y;
  if (comparison.combine != Combine::None) {
    Expected<Slot> c = decoder.predicate(3);
    if (!c)
      return c.takeError();
    comparison.predicate = *c;
  }
  return Error::success();
}

static Error decodeSetp(Decoder &decoder) {
  StringRef op;
  bool flushes = false;
  Comparison comparison;
  if (Error error = takeWords(decoder, op, comparison.combine, flushes))
    return error;
  Expected<Type> type = decoder.takeType();
  if (!type)
    return type.takeError();
  if (Error error = findCompares(decoder, op, flushes, *type, comparison))
    return error;
  Slot a, b;
  if (Error error = takeSources(decoder, *type, a, b, comparison))
    return error;

  const Operand *first = &decoder.getOperand(0);
  if (first->kind == Operand::Kind::Pair && first->children.size() == 2) {
    Expected<Slot> q = decoder.destination(first->children[1], Type::Pred);
    if (!q)
      return q.takeError();
    comparison.second = *q;
    first = &first->children[0];
  } else if (isPair(*type)) {
    return decoder.error(*first, "'setp' of ." + getTypeName(*type) +
                                     " expects two predicates as in 'p|q', "
                                     "but got '" +
                                     first->text + "'");
  }
  Expected<Slot> p = decoder.destination(*first, Type::Pred);
  if (!p)
    return p.takeError();
  bool isAlone =
      comparison.combine == Combine::None && comparison.second == kNoSlot;
  Instruction &instruction = decoder.emit(
      isAlone ? executeSetpAlone : executeSetp, InstructionClass::Compare);
  instruction.d = *p;
  instruction.a = a;
  instruction.b = b;
  instruction.data = decoder.getProgram().own(comparison);
  return Error::success();
}

/// Sets what `set` writes for "true". False where there is no such `set`.
static bool findTrue(Type d, Type compared, Comparison &comparison) {
  if (isPair(compared)) {
    if (d == Type::U32 || d == Type::S32) {
      comparison.trueLow = 0xFFFF;
    } else if (d == compared) {
      comparison.trueLow = d == Type::F16x2 ? 0x3C00 : 0x3F80;
    } else {
      return false;
    }
    comparison.trueHigh = comparison.trueLow << 16;
    return true;
  }
  bool isHalf = compared == Type::F16 || compared == Type::BF16;
  switch (d) {
  case Type::U32:
  case Type::S32:
    comparison.trueLow = 0xFFFFFFFF;
    return true;
  case Type::U16:
  case Type::S16:
    comparison.trueLow = 0xFFFF;
    return isHalf;
  case Type::F32:
    comparison.trueLow = 0x3F800000;
    return !isHalf;
  case Type::F16:
    comparison.trueLow = 0x3C00;
    return true;
  case Type::BF16:
    comparison.trueLow = 0x3F80;
    return true;
  default:
    return false;
  }
}

static Error decodeSet(Decoder &decoder) {
  StringRef op;
  bool flushes = false;
  Comparison comparison;
  if (Error error = takeWords(decoder, op, comparison.combine, flushes))
    return error;
  Expected<Type> d = decoder.takeType();
  if (!d)
    return d.takeError();
  Expected<Type> type = decoder.takeType();
  if (!type)
    return type.takeError();
  if (Error error = findCompares(decoder, op, flushes, *type, comparison))
    return error;
  if (!findTrue(*d, *type, comparison))
    return decoder.error("'set' has no result of type ." + getTypeName(*d) +
                         " for values of type ." + getTypeName(*type));
  Slot a, b;
  if (Error error = takeSources(decoder, *type, a, b, comparison))
    return error;
  Expected<Slot> destination = decoder.destination(0, *d);
  if (!destination)
    return destination.takeError();
  Instruction &instruction = decoder.emit(
      getLaneBytes(*d) == 2 ? executeSet<uint16_t> : executeSet<uint32_t>,
      InstructionClass::Compare);
  instruction.d = *destination;
  instruction.a = a;
  instruction.b = b;
  instruction.data = decoder.getProgram().own(comparison);
  return Error::success();
}

void tile::emulator::registerComparisons(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Comparisons";
  table.add("setp",
            "setp.CmpOp{.and,.or,.xor}{.ftz}.{b16,b32,b64,u16,u32,u64,s16,s32,"
            "s64,f16,f16x2,bf16,bf16x2,f32,f64}",
            group, decodeSetp);
  table.add("set",
            "set.CmpOp{.and,.or,.xor}{.ftz}.{u32,s32,f32,f16,bf16}.{b16,b32,"
            "b64,u16,u32,u64,s16,s32,s64,f32,f64}, "
            "set.….{u16,s16,u32,s32,f16}.{f16,bf16}, "
            "set.….{u32,s32,f16x2,bf16x2}.{f16x2,bf16x2}",
            group, decodeSet);
}
