//===- Moves.cpp - Moves between registers --------------------------------===//
//
// mov with its packing and unpacking, selp and slct. What moves addresses has a
// file of its own.
//
//===----------------------------------------------------------------------===//

#include "Moves.h"
#include "ElementWise.h"
#include "Machine.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

static constexpr InstructionClass kMove = InstructionClass::Move;

__extension__ typedef unsigned __int128 UInt128;

static constexpr Type kMoved[] = {Type::Pred, Type::B16, Type::B32, Type::B64,
                                  Type::B128, Type::U16, Type::U32, Type::U64,
                                  Type::S16,  Type::S32, Type::S64, Type::F32,
                                  Type::F64};

//===----------------------------------------------------------------------===//
// mov
//===----------------------------------------------------------------------===//

template <typename T>
static void executeCopy(const Instruction &i, Lanes &lanes) {
  // An array, because the destination may be the source.
  T values[kLanes];
  std::memcpy(values, lanes.read<T>(i.a), sizeof(values));
  storeBits(lanes, i.d, values, lanes.undefinedAt(i.a),
            [&](unsigned lane) { return getWritten<T>(lanes, i.a, lane); });
}

static void executeCopyPredicate(const Instruction &i, Lanes &lanes) {
  storePredicate(lanes, i.d, lanes.mask(i.a), lanes.undefinedAt(i.a));
}

Execute tile::emulator::selectCopy(Type type) {
  switch (getLaneBytes(type)) {
  case 0:
    return executeCopyPredicate;
  case 2:
    return executeCopy<uint16_t>;
  case 4:
    return executeCopy<uint32_t>;
  case 8:
    return executeCopy<uint64_t>;
  default:
    return executeCopy<UInt128>;
  }
}

/// A value of `Whole` from `operands`, the lowest first, of which each gives
/// `immediate` bits.
template <typename Whole, typename Part>
static void executePack(const Instruction &i, Lanes &lanes) {
  unsigned bits = static_cast<unsigned>(i.immediate);
  Part mask = static_cast<Part>(~Part(0)) >> (8 * sizeof(Part) - bits);
  Whole result[kLanes] = {};
  uint32_t undefined = 0;
  if (i.operands.size() == 2 && bits == 8 * sizeof(Part)) {
    // The most common by far, with the shift known to the compiler.
    const Part *low = lanes.read<Part>(i.operands[0]);
    const Part *high = lanes.read<Part>(i.operands[1]);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      result[lane] = static_cast<Whole>(low[lane] | Whole(high[lane])
                                                        << (4 * sizeof(Whole)));
    undefined =
        lanes.undefinedAt(i.operands[0]) | lanes.undefinedAt(i.operands[1]);
  } else {
    for (unsigned k = 0; k != i.operands.size(); ++k) {
      const Part *part = lanes.read<Part>(i.operands[k]);
      for (unsigned lane = 0; lane != kLanes; ++lane)
        result[lane] |=
            static_cast<Whole>(Whole(part[lane] & mask) << (bits * k));
      undefined |= lanes.undefinedAt(i.operands[k]);
    }
  }
  storeBits(lanes, i.d, result, undefined, [&](unsigned lane) {
    Whole written = 0;
    for (unsigned k = 0; k != i.operands.size(); ++k) {
      Part part = getWritten<Part>(lanes, i.operands[k], lane) & mask;
      written |= static_cast<Whole>(Whole(part) << (bits * k));
    }
    return written;
  });
}

/// The parts of `a`, the lowest first, into `operands`.
template <typename Whole, typename Part>
static void executeUnpack(const Instruction &i, Lanes &lanes) {
  unsigned bits = static_cast<unsigned>(i.immediate);
  Part mask = static_cast<Part>(~Part(0)) >> (8 * sizeof(Part) - bits);
  Whole whole[kLanes];
  std::memcpy(whole, lanes.read<Whole>(i.a), sizeof(whole));
  for (unsigned k = 0; k != i.operands.size(); ++k) {
    Part part[kLanes];
    for (unsigned lane = 0; lane != kLanes; ++lane)
      part[lane] = static_cast<Part>(whole[lane] >> (bits * k)) & mask;
    storeBits(
        lanes, i.operands[k], part, lanes.undefinedAt(i.a), [&](unsigned lane) {
          Whole written = getWritten<Whole>(lanes, i.a, lane);
          return static_cast<Part>(static_cast<Part>(written >> (bits * k)) |
                                   static_cast<Part>(~mask));
        });
  }
}

/// The executor that packs or unpacks `wholeBits` and parts of `partBits`.
static Execute selectPack(unsigned wholeBits, unsigned partBits, bool packs) {
  auto select = [&](auto whole, auto part) -> Execute {
    using Whole = decltype(whole);
    using Part = decltype(part);
    return packs ? executePack<Whole, Part> : executeUnpack<Whole, Part>;
  };
  auto withPart = [&](auto whole) -> Execute {
    using Whole = decltype(whole);
    if (partBits <= 16)
      return select(whole, uint16_t());
    if constexpr (sizeof(Whole) > 4)
      if (partBits == 32)
        return select(whole, uint32_t());
    if constexpr (sizeof(Whole) > 8)
      if (partBits == 64)
        return select(whole, uint64_t());
    return nullptr;
  };
  switch (wholeBits) {
  case 16:
    return withPart(uint16_t());
  case 32:
    return withPart(uint32_t());
  case 64:
    return withPart(uint64_t());
  default:
    return withPart(UInt128());
  }
}

/// `mov.b64 {x, y}, r` and `mov.b64 r, {x, y}`.
static Error decodePack(Decoder &decoder, Type type, bool packs) {
  const Operand &vector = decoder.getOperand(packs ? 1 : 0);
  unsigned count = vector.kind == Operand::Kind::Vector
                       ? static_cast<unsigned>(vector.children.size())
                       : vector.variable->vectorSize;
  unsigned bits = getTypeBits(type);
  bool isBits = type == Type::B16 || type == Type::B32 || type == Type::B64 ||
                type == Type::B128;
  if (!isBits || (count != 2 && count != 4) || bits / count < 8)
    return decoder.error(vector, "'mov." + getTypeName(type) +
                                     "' has no form with " + Twine(count) +
                                     " elements");
  unsigned partBits = bits / count;
  Type part = partBits == 8    ? Type::B8
              : partBits == 16 ? Type::B16
              : partBits == 32 ? Type::B32
                               : Type::B64;
  Expected<SmallVector<Slot, 8>> parts =
      packs ? decoder.sources(1, part, count)
            : decoder.destinations(0, part, count);
  if (!parts)
    return parts.takeError();
  Expected<Slot> whole =
      packs ? decoder.destination(0, type) : decoder.source(1, type);
  if (!whole)
    return whole.takeError();
  Instruction &instruction =
      decoder.emit(selectPack(bits, partBits, packs), kMove);
  (packs ? instruction.d : instruction.a) = *whole;
  instruction.operands = decoder.getProgram().own(ArrayRef<Slot>(*parts));
  instruction.immediate = partBits;
  return Error::success();
}

/// Special registers that change while a kernel runs.
enum class Counter : uint8_t {
  None,
  Clock,
  ClockHigh,
  Clock64,
  Time,
  TimeLow,
  TimeHigh
};

static Counter findCounter(StringRef name) {
  return llvm::StringSwitch<Counter>(name)
      .Case("%clock", Counter::Clock)
      .Case("%clock_hi", Counter::ClockHigh)
      .Case("%clock64", Counter::Clock64)
      .Case("%globaltimer", Counter::Time)
      .Case("%globaltimer_lo", Counter::TimeLow)
      .Case("%globaltimer_hi", Counter::TimeHigh)
      .Default(Counter::None);
}

/// Time is counted in instructions: those of the warp for the clock, those of
/// the block for the timer.
template <Counter Which>
static void executeCounter(const Instruction &i, Lanes &lanes) {
  constexpr bool isTime = Which == Counter::Time || Which == Counter::TimeLow ||
                          Which == Counter::TimeHigh;
  uint64_t now =
      isTime ? lanes.warp->getBlock().getSteps() : lanes.warp->getIssued();
  constexpr bool isHigh =
      Which == Counter::ClockHigh || Which == Counter::TimeHigh;
  using T =
      std::conditional_t<Which == Counter::Clock64 || Which == Counter::Time,
                         uint64_t, uint32_t>;
  T values[kLanes];
  for (T &value : values)
    value = static_cast<T>(isHigh ? now >> 32 : now);
  store(lanes, i.d, values);
  define(lanes, i.d);
}

static Error decodeCounter(Decoder &decoder, Type type, Counter counter) {
  static constexpr Execute table[] = {
      nullptr,
      executeCounter<Counter::Clock>,
      executeCounter<Counter::ClockHigh>,
      executeCounter<Counter::Clock64>,
      executeCounter<Counter::Time>,
      executeCounter<Counter::TimeLow>,
      executeCounter<Counter::TimeHigh>,
  };
  unsigned bits =
      counter == Counter::Clock64 || counter == Counter::Time ? 64 : 32;
  const Operand &source = decoder.getOperand(1);
  if (getTypeBits(type) != bits)
    return decoder.error(source, "'" + source.text + "' has " + Twine(bits) +
                                     " bits, but got ." + getTypeName(type));
  Expected<Slot> d = decoder.destination(0, type);
  if (!d)
    return d.takeError();
  Instruction &instruction =
      decoder.emit(table[static_cast<unsigned>(counter)], kMove);
  instruction.d = *d;
  // Who looks at the clock in a loop waits for others.
  instruction.flow = Flow::Yield;
  return Error::success();
}

/// Whether an operand is several values: in braces, or a vector's register.
static bool isVector(const Operand &operand) {
  return operand.kind == Operand::Kind::Vector ||
         (operand.kind == Operand::Kind::Register && operand.component < 0 &&
          operand.variable->vectorSize > 1);
}

static Error decodeMov(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, kMoved);
  if (!type)
    return type.takeError();
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  if (isVector(decoder.getOperand(0)))
    return decodePack(decoder, *type, /*packs=*/false);
  const Operand &source = decoder.getOperand(1);
  if (isVector(source))
    return decodePack(decoder, *type, /*packs=*/true);
  if (source.kind == Operand::Kind::Special)
    if (Counter counter = findCounter(source.text); counter != Counter::None)
      return decodeCounter(decoder, *type, counter);
  return emitSimple(decoder, selectCopy(*type), kMove, *type, {*type});
}

//===----------------------------------------------------------------------===//
// selp and slct
//===----------------------------------------------------------------------===//

/// d = c ? a : b. Where c is unwritten, the bits in which a and b agree are
/// known.
template <typename T>
static void executeSelp(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a), *b = lanes.read<T>(i.b);
  uint32_t c = lanes.mask(i.c);
  T chosen[kLanes], result[kLanes];
  expandMask(c, chosen);
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] =
        (a[lane] & chosen[lane]) | (b[lane] & static_cast<T>(~chosen[lane]));
  uint32_t undefined = lanes.undefinedAt(i.c) | (lanes.undefinedAt(i.a) & c) |
                       (lanes.undefinedAt(i.b) & ~c);
  storeBits(lanes, i.d, result, undefined, [&](unsigned lane) -> T {
    T wa = getWritten<T>(lanes, i.a, lane),
      wb = getWritten<T>(lanes, i.b, lane);
    if (lanes.undefinedAt(i.c) >> lane & 1)
      return wa & wb & static_cast<T>(~(a[lane] ^ b[lane]));
    return c >> lane & 1 ? wa : wb;
  });
}

static constexpr Type kSelected[] = {Type::B16, Type::B32, Type::B64, Type::U16,
                                     Type::U32, Type::U64, Type::S16, Type::S32,
                                     Type::S64, Type::F32, Type::F64};

static Error decodeSelp(Decoder &decoder) {
  Expected<Type> type = takeTypeOf(decoder, kSelected);
  if (!type)
    return type.takeError();
  return emitSimple(decoder,
                    forBits(*type,
                            [](auto value) -> Execute {
                              return executeSelp<decltype(value)>;
                            }),
                    kMove, *type, {*type, *type, Type::Pred});
}

namespace {

struct IsNotNegative {
  bool operator()(uint32_t c) const { return static_cast<int32_t>(c) >= 0; }
};

/// False for a NaN, true for -0.
template <bool Flushes>
struct IsNotNegativeFloat {
  bool operator()(uint32_t c) const {
    if (Flushes && !(c & 0x7F800000))
      return true;
    return llvm::bit_cast<float>(c) >= 0;
  }
};

} // namespace

/// d = c >= 0 ? a : b
template <typename T, typename Condition>
static void executeSlct(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a), *b = lanes.read<T>(i.b);
  const uint32_t *c = lanes.read<uint32_t>(i.c);
  T result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = Condition()(c[lane]) ? a[lane] : b[lane];
  uint32_t undefined =
      lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b) | lanes.undefinedAt(i.c);
  storeBits(lanes, i.d, result, undefined, [&](unsigned lane) -> T {
    T wa = getWritten<T>(lanes, i.a, lane),
      wb = getWritten<T>(lanes, i.b, lane);
    if (lanes.undefinedAt(i.c) >> lane & 1)
      return wa & wb & static_cast<T>(~(a[lane] ^ b[lane]));
    return Condition()(c[lane]) ? wa : wb;
  });
}

static Error decodeSlct(Decoder &decoder) {
  bool flushes = decoder.take("ftz");
  Expected<Type> type = takeTypeOf(decoder, kSelected);
  if (!type)
    return type.takeError();
  Expected<Type> condition = takeTypeOf(decoder, {Type::S32, Type::F32});
  if (!condition)
    return condition.takeError();
  if (flushes && *condition != Type::F32)
    return decoder.error("'.ftz' expects .f32, but got ." +
                         getTypeName(*condition));
  Execute execute = forBits(*type, [&](auto value) -> Execute {
    using T = decltype(value);
    if (*condition == Type::S32)
      return executeSlct<T, IsNotNegative>;
    return flushes ? executeSlct<T, IsNotNegativeFloat<true>>
                   : executeSlct<T, IsNotNegativeFloat<false>>;
  });
  return emitSimple(decoder, execute, kMove, *type, {*type, *type, *condition});
}

void tile::emulator::registerMoves(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Moves";
  table.add("mov",
            "mov.{pred,b16,b32,b64,b128,u16,u32,u64,s16,s32,s64,f32,f64}, "
            "mov.{b16,b32,b64,b128} of {…} to or from a register",
            group, decodeMov);
  table.add("selp", "selp.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}", group,
            decodeSelp);
  table.add("slct",
            "slct{.ftz}.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}.{s32,"
            "f32}",
            group, decodeSlct);
  registerAddressMoves(table);
}
