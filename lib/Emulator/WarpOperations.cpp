//===- WarpOperations.cpp - Lanes that work together ----------------------===//
//
// shfl, vote, match, redux, elect and their like. The scheduler brings the
// lanes of the member masks together; what executes here sees them all, perhaps
// those of several disjoint masks at once.
//
//===----------------------------------------------------------------------===//

#include "ElementWise.h"
#include "Machine.h"
#include "RegisterCounts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr InstructionClass kWarp = InstructionClass::Warp;

//===----------------------------------------------------------------------===//
// Member masks
//===----------------------------------------------------------------------===//

/// Calls `f(group, mask)` for every set of active lanes that share a member
/// mask. A fault, and false, where a mask is unwritten, leaves out its own
/// lane, or is not that of a lane it names.
template <typename F>
static bool forGroups(const Instruction &i, Lanes &lanes, F f) {
  const uint32_t *masks = lanes.read<uint32_t>(i.members);
  if (!lanes.warp->checkDefined(i, lanes, i.members, "the member mask"))
    return false;
  // Nearly always there is one mask, and it names those who are here.
  uint32_t common = masks[llvm::countr_zero(lanes.active)], differences = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    differences |= masks[lane] ^ common;
  if (!differences && (common & lanes.warp->getLiveLanes()) == lanes.active) {
    f(lanes.active, common);
    return true;
  }
  auto print = [](uint32_t mask) {
    return "0x" + llvm::utohexstr(mask, /*LowerCase=*/false, /*Width=*/8);
  };
  for (uint32_t rest = lanes.active; rest;) {
    unsigned first = static_cast<unsigned>(llvm::countr_zero(rest));
    uint32_t mask = masks[first];
    if (!(mask >> first & 1)) {
      lanes.warp->fault(i, first, Check::IllegalOperand,
                        "lane " + Twine(first) + " executes with member mask " +
                            print(mask) + ", which does not name it");
      return false;
    }
    uint32_t group = mask & lanes.active;
    uint32_t other = 0;
    forLanes(group, [&](unsigned lane) {
      other |= uint32_t(masks[lane] != mask) << lane;
    });
    if (other) {
      unsigned lane = static_cast<unsigned>(llvm::countr_zero(other));
      lanes.warp->fault(i, lane, Check::IllegalOperand,
                        "lane " + Twine(lane) + " has member mask " +
                            print(masks[lane]) + ", but lane " + Twine(first) +
                            ", whose mask names it, has " + print(mask));
      return false;
    }
    if (uint32_t missing = mask & lanes.warp->getLiveLanes() & ~group) {
      lanes.warp->fault(i, first, Check::Divergence,
                        "the member mask " + print(mask) + " names lane " +
                            Twine(llvm::countr_zero(missing)) +
                            ", which has not come here");
      return false;
    }
    f(group, mask);
    rest &= ~group;
  }
  return true;
}

/// Makes `instruction` wait for the lanes of the mask in slot `members`.
static void makeCollective(Instruction &instruction, Slot members) {
  instruction.flow = Flow::Collective;
  instruction.members = members;
}

namespace {

/// The operand `d` or `d|p`.
struct Destinations {
  Slot d = kNoSlot;
  Slot p = kNoSlot; ///< kNoSlot where there is none.
};

} // namespace

static Expected<Destinations> takeDestinations(Decoder &decoder, Type type) {
  Destinations result;
  const Operand *first = &decoder.getOperand(0);
  if (first->kind == Operand::Kind::Pair && first->children.size() == 2) {
    Expected<Slot> p = decoder.destination(first->children[1], Type::Pred);
    if (!p)
      return p.takeError();
    result.p = *p;
    first = &first->children[0];
  }
  Expected<Slot> d = decoder.destination(*first, type);
  if (!d)
    return d.takeError();
  result.d = *d;
  return result;
}

//===----------------------------------------------------------------------===//
// shfl.sync
//===----------------------------------------------------------------------===//

namespace {

enum class Shuffle { Up, Down, Butterfly, Index };

/// Where a lane reads, and whether that is in the range that `c` allows; if
/// not, it reads itself.
struct Origin {
  unsigned lane;
  bool inRange;
};

template <Shuffle Mode>
Origin getOrigin(unsigned lane, uint32_t b, uint32_t c) {
  unsigned offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  unsigned maximum = (lane & segment) | (clamp & ~segment);
  unsigned minimum = lane & segment;
  unsigned from;
  bool inRange;
  switch (Mode) {
  case Shuffle::Up:
    from = lane - offset;
    // Signed: the first lanes have none below.
    inRange = static_cast<int>(from) >= static_cast<int>(maximum);
    break;
  case Shuffle::Down:
    from = lane + offset;
    inRange = from <= maximum;
    break;
  case Shuffle::Butterfly:
    from = lane ^ offset;
    inRange = from <= maximum;
    break;
  case Shuffle::Index:
    from = minimum | (offset & ~segment);
    inRange = from <= maximum;
    break;
  }
  return {inRange ? from : lane, inRange};
}

} // namespace

namespace {

/// Where all lanes read.
struct Origins {
  uint8_t lanes[kLanes];
  uint32_t inRange = 0;
};

} // namespace

template <Shuffle Mode>
static void setOrigin(Origins &origins, unsigned lane, uint32_t b, uint32_t c) {
  Origin origin = getOrigin<Mode>(lane, b, c);
  origins.lanes[lane] = static_cast<uint8_t>(origin.lane);
  origins.inRange |= uint32_t(origin.inRange) << lane;
}

/// Reads from `origins`, which are not known in the lanes of `unknown`. The
/// predicate p, if any, is in slot `immediate`.
static void shuffle(const Instruction &i, Lanes &lanes, const Origins &origins,
                    uint32_t unknown) {
  // A lane outside the group of the reader gives an undefined value.
  uint32_t lost = unknown;
  if (!forGroups(i, lanes, [&](uint32_t group, uint32_t) {
        if (group == kAllLanes)
          return;
        forLanes(group, [&](unsigned lane) {
          lost |= (~group >> origins.lanes[lane] & 1) << lane;
        });
      }))
    return;

  const uint32_t *a = lanes.read<uint32_t>(i.a);
  uint32_t result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = a[origins.lanes[lane]];
  uint32_t undefined = lost;
  if (uint32_t partial = lanes.undefinedAt(i.a))
    for (unsigned lane = 0; lane != kLanes; ++lane)
      undefined |= (partial >> origins.lanes[lane] & 1) << lane;
  storeBits(lanes, i.d, result, undefined, [&](unsigned lane) -> uint32_t {
    if (lost >> lane & 1)
      return 0;
    return getWritten<uint32_t>(lanes, i.a, origins.lanes[lane]);
  });
  Slot p = static_cast<Slot>(i.immediate);
  if (p != kNoSlot)
    storePredicate(lanes, p, origins.inRange, unknown);
}

template <Shuffle Mode>
static void executeShuffle(const Instruction &i, Lanes &lanes) {
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  const uint32_t *c = lanes.read<uint32_t>(i.c);
  Origins origins;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    setOrigin<Mode>(origins, lane, b[lane], c[lane]);
  shuffle(i, lanes, origins, lanes.undefinedAt(i.b) | lanes.undefinedAt(i.c));
}

/// With constants b and c, so that `data` has the origins.
static void executeShuffleConstant(const Instruction &i, Lanes &lanes) {
  shuffle(i, lanes, *static_cast<const Origins *>(i.data), 0);
}

template <Shuffle Mode>
static Origins makeOrigins(uint32_t b, uint32_t c) {
  Origins origins;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    setOrigin<Mode>(origins, lane, b, c);
  return origins;
}

static Error decodeShuffle(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"up", "down", "bfly", "idx"});
  if (!mode)
    return mode.takeError();
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B32}); !type)
    return type.takeError();
  if (Error error = decoder.expectOperands(5, 5))
    return error;
  Slot sources[4];
  for (unsigned k = 0; k != 4; ++k) {
    Expected<Slot> slot = decoder.source(k + 1, Type::B32);
    if (!slot)
      return slot.takeError();
    sources[k] = *slot;
  }
  Expected<Destinations> to = takeDestinations(decoder, Type::B32);
  if (!to)
    return to.takeError();
  Execute execute = *mode == "up"     ? executeShuffle<Shuffle::Up>
                    : *mode == "down" ? executeShuffle<Shuffle::Down>
                    : *mode == "bfly" ? executeShuffle<Shuffle::Butterfly>
                                      : executeShuffle<Shuffle::Index>;
  Instruction &shuffle = decoder.emit(execute, kWarp);
  shuffle.d = to->d;
  shuffle.a = sources[0];
  shuffle.b = sources[1];
  shuffle.c = sources[2];
  shuffle.immediate = to->p;
  if (decoder.isInteger(2) && decoder.isInteger(3)) {
    uint32_t b = static_cast<uint32_t>(decoder.getOperand(2).bits);
    uint32_t c = static_cast<uint32_t>(decoder.getOperand(3).bits);
    shuffle.execute = executeShuffleConstant;
    shuffle.data = decoder.getProgram().own(
        *mode == "up"     ? makeOrigins<Shuffle::Up>(b, c)
        : *mode == "down" ? makeOrigins<Shuffle::Down>(b, c)
        : *mode == "bfly" ? makeOrigins<Shuffle::Butterfly>(b, c)
                          : makeOrigins<Shuffle::Index>(b, c));
  }
  makeCollective(shuffle, sources[3]);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// vote.sync
//===----------------------------------------------------------------------===//

namespace {

enum class Vote { All, Any, Uniform };

} // namespace

template <Vote Mode>
static void executeVote(const Instruction &i, Lanes &lanes) {
  uint32_t a = lanes.mask(i.a), undefined = lanes.undefinedAt(i.a);
  uint32_t result = 0, unknown = 0;
  if (!forGroups(i, lanes, [&](uint32_t group, uint32_t) {
        uint32_t ones = a & ~undefined & group, zeros = ~a & ~undefined & group;
        uint32_t doubts = undefined & group;
        bool is = false, isKnown = !doubts;
        switch (Mode) {
        case Vote::All:
          is = !zeros && !doubts;
          isKnown |= zeros != 0;
          break;
        case Vote::Any:
          is = ones != 0;
          isKnown |= ones != 0;
          break;
        case Vote::Uniform:
          is = !ones || !zeros;
          isKnown |= ones && zeros;
          break;
        }
        result |= is ? group : 0;
        unknown |= isKnown ? 0 : group;
      }))
    return;
  storePredicate(lanes, i.d, result, unknown);
}

static void executeBallot(const Instruction &i, Lanes &lanes) {
  uint32_t a = lanes.mask(i.a), undefined = lanes.undefinedAt(i.a);
  uint32_t result[kLanes] = {}, groups[kLanes] = {};
  uint32_t unknown = 0;
  if (!forGroups(i, lanes, [&](uint32_t group, uint32_t) {
        unknown |= undefined & group ? group : 0;
        forLanes(group, [&](unsigned lane) {
          result[lane] = a & group;
          groups[lane] = group;
        });
      }))
    return;
  storeBits(lanes, i.d, result, unknown,
            [&](unsigned lane) { return ~(undefined & groups[lane]); });
}

static Error decodeVote(Decoder &decoder) {
  Expected<StringRef> mode =
      takeOneOf(decoder, {"all", "any", "uni", "ballot"});
  if (!mode)
    return mode.takeError();
  bool isBallot = *mode == "ballot";
  Expected<Type> type =
      takeTypeOf(decoder, {isBallot ? Type::B32 : Type::Pred});
  if (!type)
    return type.takeError();
  Execute execute = isBallot         ? executeBallot
                    : *mode == "all" ? executeVote<Vote::All>
                    : *mode == "any" ? executeVote<Vote::Any>
                                     : executeVote<Vote::Uniform>;
  Expected<Instruction *> vote =
      emitLanewise(decoder, execute, kWarp, *type, {Type::Pred, Type::B32});
  if (!vote)
    return vote.takeError();
  makeCollective(**vote, (*vote)->b);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// match.sync
//===----------------------------------------------------------------------===//

/// d: the lanes with the same value.
template <typename T>
static void executeMatchAny(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  uint32_t result[kLanes] = {};
  uint32_t unknown = 0;
  if (!forGroups(i, lanes, [&](uint32_t group, uint32_t) {
        if (lanes.undefinedAt(i.a) & group)
          unknown |= group;
        for (uint32_t rest = group; rest;) {
          T value = a[llvm::countr_zero(rest)];
          uint32_t same = 0;
          for (unsigned lane = 0; lane != kLanes; ++lane)
            same |= uint32_t(a[lane] == value) << lane;
          same &= rest;
          forLanes(same, [&](unsigned lane) { result[lane] = same; });
          rest &= ~same;
        }
      }))
    return;
  store(lanes, i.d, result);
  define<uint32_t>(lanes, i.d, unknown);
}

/// d: all lanes if all have the same value, else none; p in slot `immediate`:
/// whether they have.
template <typename T>
static void executeMatchAll(const Instruction &i, Lanes &lanes) {
  const T *a = lanes.read<T>(i.a);
  uint32_t result[kLanes] = {};
  uint32_t unknown = 0, equal = 0;
  if (!forGroups(i, lanes, [&](uint32_t group, uint32_t) {
        if (lanes.undefinedAt(i.a) & group)
          unknown |= group;
        T value = a[llvm::countr_zero(group)];
        bool isEqual = true;
        forLanes(group, [&](unsigned lane) { isEqual &= a[lane] == value; });
        if (!isEqual)
          return;
        equal |= group;
        forLanes(group, [&](unsigned lane) { result[lane] = group; });
      }))
    return;
  store(lanes, i.d, result);
  define<uint32_t>(lanes, i.d, unknown);
  Slot p = static_cast<Slot>(i.immediate);
  if (p != kNoSlot)
    storePredicate(lanes, p, equal, unknown);
}

static Error decodeMatch(Decoder &decoder) {
  Expected<StringRef> mode = takeOneOf(decoder, {"any", "all"});
  if (!mode)
    return mode.takeError();
  if (!decoder.take("sync"))
    return decoder.error("'match' expects .sync");
  Expected<Type> type = takeTypeOf(decoder, {Type::B32, Type::B64});
  if (!type)
    return type.takeError();
  if (Error error = expectArchitecture(decoder, 70))
    return error;
  if (Error error = decoder.expectOperands(3, 3))
    return error;
  Expected<Slot> a = decoder.source(1, *type);
  if (!a)
    return a.takeError();
  Expected<Slot> members = decoder.source(2, Type::B32);
  if (!members)
    return members.takeError();
  Expected<Destinations> to = takeDestinations(decoder, Type::B32);
  if (!to)
    return to.takeError();
  bool isAny = *mode == "any";
  if (isAny && to->p != kNoSlot)
    return decoder.error(decoder.getOperand(0),
                         "'match.any' expects one register, but got '" +
                             decoder.getOperand(0).text + "'");
  bool isWide = *type == Type::B64;
  Execute execute =
      isAny ? (isWide ? executeMatchAny<uint64_t> : executeMatchAny<uint32_t>)
            : (isWide ? executeMatchAll<uint64_t> : executeMatchAll<uint32_t>);
  Instruction &match = decoder.emit(execute, kWarp);
  match.d = to->d;
  match.a = *a;
  match.immediate = to->p;
  makeCollective(match, *members);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// redux.sync
//===----------------------------------------------------------------------===//

namespace {

// Operations of two words.

struct Sum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct Conjunction {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct Disjunction {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Parity {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};
template <typename T>
struct Smallest {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return static_cast<T>(a) < static_cast<T>(b) ? a : b;
  }
};
template <typename T>
struct Largest {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return static_cast<T>(a) > static_cast<T>(b) ? a : b;
  }
};

constexpr uint32_t kCanonicalNan = 0x7FFFFFFF;

/// The smaller or larger of two floats, -0 below +0. A NaN wins with
/// `PropagatesNan`, else loses.
template <bool IsMax, bool TakesAbsolute, bool PropagatesNan>
struct FloatExtreme {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    if (TakesAbsolute) {
      a &= 0x7FFFFFFF;
      b &= 0x7FFFFFFF;
    }
    bool aIsNan = (a & 0x7FFFFFFF) > 0x7F800000;
    bool bIsNan = (b & 0x7FFFFFFF) > 0x7F800000;
    if (aIsNan || bIsNan) {
      if (PropagatesNan || (aIsNan && bIsNan))
        return kCanonicalNan;
      return aIsNan ? b : a;
    }
    // Sign and magnitude as a number whose order is that of the floats.
    auto order = [](uint32_t bits) {
      int32_t value = static_cast<int32_t>(bits & 0x7FFFFFFF);
      return bits >> 31 ? -1 - value : value;
    };
    return (order(a) > order(b)) == IsMax ? a : b;
  }
};

} // namespace

template <typename Operation>
static void executeRedux(const Instruction &i, Lanes &lanes) {
  const uint32_t *a = lanes.read<uint32_t>(i.a);
  uint32_t result[kLanes] = {};
  uint32_t unknown = 0;
  if (!forGroups(i, lanes, [&](uint32_t group, uint32_t) {
        if (lanes.undefinedAt(i.a) & group)
          unknown |= group;
        uint32_t value = a[llvm::countr_zero(group)];
        // A group of one is reduced as well: with itself, which `.abs` and NaNs
        // need; sums and parities must not be.
        constexpr bool isIdempotent = !std::is_same_v<Operation, Sum> &&
                                      !std::is_same_v<Operation, Parity>;
        forLanes(isIdempotent ? group : group & (group - 1),
                 [&](unsigned lane) { value = Operation()(value, a[lane]); });
        forLanes(group, [&](unsigned lane) { result[lane] = value; });
      }))
    return;
  store(lanes, i.d, result);
  define<uint32_t>(lanes, i.d, unknown);
}

template <bool IsMax>
static Execute selectFloatRedux(bool takesAbsolute, bool propagatesNan) {
  if (takesAbsolute)
    return propagatesNan ? executeRedux<FloatExtreme<IsMax, true, true>>
                         : executeRedux<FloatExtreme<IsMax, true, false>>;
  return propagatesNan ? executeRedux<FloatExtreme<IsMax, false, true>>
                       : executeRedux<FloatExtreme<IsMax, false, false>>;
}

static Error decodeRedux(Decoder &decoder) {
  Expected<StringRef> op =
      takeOneOf(decoder, {"add", "min", "max", "and", "or", "xor"});
  if (!op)
    return op.takeError();
  bool takesAbsolute = decoder.take("abs");
  bool propagatesNan = decoder.take("NaN");
  bool isLogic = *op == "and" || *op == "or" || *op == "xor";
  Expected<Type> type = decoder.takeType();
  if (!type)
    return type.takeError();
  std::string name = ("redux.sync." + *op).str();
  ArrayRef<Type> types = {Type::U32, Type::S32, Type::F32};
  static constexpr Type kBits[] = {Type::B32};
  static constexpr Type kNumbers[] = {Type::U32, Type::S32, Type::F32};
  types = isLogic        ? ArrayRef<Type>(kBits)
          : *op == "add" ? ArrayRef<Type>(kNumbers).take_front(2)
                         : ArrayRef<Type>(kNumbers);
  if (Error error = expectType(decoder, *type, types, name))
    return error;
  if (Error error = expectArchitecture(decoder, 80))
    return error;
  if ((takesAbsolute || propagatesNan) && *type != Type::F32)
    return decoder.error("'.abs' and '.NaN' expect .f32, but got ." +
                         getTypeName(*type));
  if (*type == Type::F32) {
    // Only the family of sm_100 has it.
    StringRef target = decoder.getProgram().syntax->target;
    if (decoder.getArchitecture() / 10 != 10 ||
        !(target.ends_with("a") || target.ends_with("f")))
      return decoder.error("'" + name +
                           "' of .f32 needs sm_100a, sm_103a or their "
                           "families, but the module's target is " +
                           target);
  }

  bool isSigned = *type == Type::S32;
  Execute execute = nullptr;
  if (*op == "add")
    execute = executeRedux<Sum>;
  else if (*op == "and")
    execute = executeRedux<Conjunction>;
  else if (*op == "or")
    execute = executeRedux<Disjunction>;
  else if (*op == "xor")
    execute = executeRedux<Parity>;
  else if (*type == Type::F32)
    execute = *op == "max"
                  ? selectFloatRedux<true>(takesAbsolute, propagatesNan)
                  : selectFloatRedux<false>(takesAbsolute, propagatesNan);
  else if (*op == "min")
    execute = isSigned ? executeRedux<Smallest<int32_t>>
                       : executeRedux<Smallest<uint32_t>>;
  else
    execute = isSigned ? executeRedux<Largest<int32_t>>
                       : executeRedux<Largest<uint32_t>>;
  Expected<Instruction *> redux =
      emitLanewise(decoder, execute, kWarp, *type, {*type, Type::B32});
  if (!redux)
    return redux.takeError();
  makeCollective(**redux, (*redux)->b);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// activemask, elect and the rest
//===----------------------------------------------------------------------===//

static void executeActivemask(const Instruction &i, Lanes &lanes) {
  uint32_t result[kLanes];
  for (uint32_t &value : result)
    value = lanes.active;
  store(lanes, i.d, result);
  define(lanes, i.d);
}

static Error decodeActivemask(Decoder &decoder) {
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B32}); !type)
    return type.takeError();
  return emitSimple(decoder, executeActivemask, kWarp, Type::B32, {});
}

/// The lowest lane of each mask is the leader. p is in slot `immediate`.
static void executeElect(const Instruction &i, Lanes &lanes) {
  uint32_t result[kLanes] = {};
  uint32_t leaders = 0;
  if (!forGroups(i, lanes, [&](uint32_t group, uint32_t) {
        unsigned leader = static_cast<unsigned>(llvm::countr_zero(group));
        leaders |= uint32_t(1) << leader;
        forLanes(group, [&](unsigned lane) { result[lane] = leader; });
      }))
    return;
  store(lanes, i.d, result);
  define(lanes, i.d);
  storePredicate(lanes, static_cast<Slot>(i.immediate), leaders, 0);
}

static Error decodeElect(Decoder &decoder) {
  if (Error error = expectArchitecture(decoder, 90))
    return error;
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> members = decoder.source(1, Type::B32);
  if (!members)
    return members.takeError();
  Expected<Destinations> to = takeDestinations(decoder, Type::B32);
  if (!to)
    return to.takeError();
  if (to->p == kNoSlot)
    return decoder.error(decoder.getOperand(0),
                         "'elect.sync' expects a register and a predicate as "
                         "in 'd|p', but got '" +
                             decoder.getOperand(0).text + "'");
  Instruction &elect = decoder.emit(executeElect, kWarp);
  elect.d = to->d;
  elect.immediate = to->p;
  makeCollective(elect, *members);
  return Error::success();
}

/// The lanes have met; that is all. Memory needs no more: a warp sees its own
/// accesses in order.
static void executeWarpBarrier(const Instruction &i, Lanes &lanes) {
  forGroups(i, lanes, [](uint32_t, uint32_t) {});
}

static Error decodeWarpBarrier(Decoder &decoder) {
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  Expected<Slot> members = decoder.source(0, Type::B32);
  if (!members)
    return members.takeError();
  Instruction &barrier =
      decoder.emit(executeWarpBarrier, InstructionClass::Barrier);
  makeCollective(barrier, *members);
  return Error::success();
}

/// Kernels run one after the other, so that what this one depends on is done.
static Error decodeGridDependency(Decoder &decoder) {
  Expected<StringRef> action =
      takeOneOf(decoder, {"launch_dependents", "wait"});
  if (!action)
    return action.takeError();
  if (Error error = expectArchitecture(decoder, 90))
    return error;
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeNothing, InstructionClass::Control);
  return Error::success();
}

static Error decodeNanosleep(Decoder &decoder) {
  if (Expected<Type> type = takeTypeOf(decoder, {Type::U32}); !type)
    return type.takeError();
  if (Error error = expectArchitecture(decoder, 70))
    return error;
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  if (Expected<Slot> time = decoder.source(0, Type::U32); !time)
    return time.takeError();
  decoder.emit(executeNothing, InstructionClass::Control).flow = Flow::Yield;
  return Error::success();
}

void tile::emulator::registerWarpOperations(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Warps";
  table.add("shfl.sync", "shfl.sync.{up,down,bfly,idx}.b32 d{|p}", group,
            decodeShuffle);
  table.add("vote.sync", "vote.sync.{all,any,uni}.pred, vote.sync.ballot.b32",
            group, decodeVote);
  table.add("match", "match.any.sync.{b32,b64}, match.all.sync.{b32,b64} d{|p}",
            group, decodeMatch);
  table.add("redux.sync",
            "redux.sync.{add,min,max}.{u32,s32}, redux.sync.{and,or,xor}.b32, "
            "redux.sync.{min,max}{.abs}{.NaN}.f32",
            group, decodeRedux);
  table.add("activemask", "activemask.b32", group, decodeActivemask);
  table.add("elect.sync", "elect.sync d|p", group, decodeElect);
  table.add("bar.warp.sync", "bar.warp.sync", group, decodeWarpBarrier);
  table.add("griddepcontrol", "griddepcontrol.{launch_dependents,wait}", group,
            decodeGridDependency);
  table.add("nanosleep", "nanosleep.u32", group, decodeNanosleep);
  registerRegisterCounts(table);
}
