//===- AddressMoves.cpp - Addresses between state spaces ------------------===//
//
// cvta, isspacep, mapa, getctarank, and the hints to caches, which have no
// effect that a kernel can see.
//
//===----------------------------------------------------------------------===//

#include "ElementWise.h"
#include "Machine.h"
#include "Moves.h"

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr InstructionClass kMove = InstructionClass::Move;

static constexpr StringRef kSpaces[] = {
    "const",        "global", "local",       "param",
    "param::entry", "shared", "shared::cta", "shared::cluster",
};

/// The window of generic space in which `space` lies, or 0: global and constant
/// memory have the same addresses there as in their own space.
static uint64_t getWindow(StringRef space) {
  if (space.starts_with("shared"))
    return kSharedWindow;
  if (space.starts_with("param"))
    return kParameterWindow;
  return space == "local" ? kLocalWindow : 0;
}

//===----------------------------------------------------------------------===//
// cvta and isspacep
//===----------------------------------------------------------------------===//

/// d = a + immediate
static void executeAddConstant(const Instruction &i, Lanes &lanes) {
  uint64_t offset = static_cast<uint64_t>(i.immediate);
  mapUnary<uint64_t, uint64_t>(lanes, i.d, i.a,
                               [=](uint64_t a) { return a + offset; });
}

/// The forms with 32 bits belong to modules with addresses of 32 bits.
static Error expectWideAddresses(Decoder &decoder, Type type) {
  return expectType(decoder, type, {Type::U64});
}

static Error decodeCvta(Decoder &decoder) {
  bool isToSpace = decoder.take("to");
  Expected<StringRef> space = takeOneOf(decoder, kSpaces);
  if (!space)
    return space.takeError();
  Expected<Type> type = decoder.takeType();
  if (!type)
    return type.takeError();
  if (Error error = expectWideAddresses(decoder, *type))
    return error;
  uint64_t window = getWindow(*space);
  Expected<Instruction *> instruction =
      emitLanewise(decoder, window ? executeAddConstant : selectCopy(*type),
                   kMove, *type, {*type});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->immediate =
      static_cast<int64_t>(isToSpace ? 0 - window : window);
  return Error::success();
}

/// Whether `address` is in one of the module's variables in constant memory.
static bool isConstant(const Lanes &lanes, uint64_t address) {
  uint64_t variable = (address >> Memory::kRegionBits) - kFirstModuleRegion;
  const auto &variables = lanes.warp->getBlock().getProgram().syntax->variables;
  return variable < variables.size() &&
         variables[variable].space == StateSpace::Constant;
}

/// d = whether a lies in the window `immediate`.
static void executeIsInWindow(const Instruction &i, Lanes &lanes) {
  const uint64_t *a = lanes.read<uint64_t>(i.a);
  uint64_t window = static_cast<uint64_t>(i.immediate);
  uint32_t result = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result |= uint32_t((a[lane] & kWindowMask) == window) << lane;
  storePredicate(lanes, i.d, result, lanes.undefinedAt(i.a));
}

/// d = whether a lies in constant memory, or, with `immediate`, in global
/// memory, which is all that is nothing else.
static void executeIsConstantOrGlobal(const Instruction &i, Lanes &lanes) {
  const uint64_t *a = lanes.read<uint64_t>(i.a);
  uint32_t result = 0;
  forLanes(lanes.active, [&](unsigned lane) {
    uint64_t window = a[lane] & kWindowMask;
    bool isOther = window == kSharedWindow || window == kLocalWindow ||
                   window == kParameterWindow || window == kFunctionWindow;
    bool isConst = !isOther && isConstant(lanes, a[lane]);
    bool is = i.immediate ? !isOther && !isConst : isConst;
    result |= uint32_t(is) << lane;
  });
  storePredicate(lanes, i.d, result, lanes.undefinedAt(i.a));
}

static Error decodeIsspacep(Decoder &decoder) {
  Expected<StringRef> space = takeOneOf(decoder, kSpaces);
  if (!space)
    return space.takeError();
  uint64_t window = getWindow(*space);
  Expected<Instruction *> instruction = emitLanewise(
      decoder, window ? executeIsInWindow : executeIsConstantOrGlobal, kMove,
      Type::Pred, {Type::U64});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->immediate =
      window ? static_cast<int64_t>(window) : *space == "global";
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Clusters of one block
//===----------------------------------------------------------------------===//

/// The address a as block b of the cluster sees it. There is only block 0.
template <typename T>
static void executeMapa(const Instruction &i, Lanes &lanes) {
  if (!lanes.warp->checkDefined(i, lanes, i.b, "the rank of 'mapa'"))
    return;
  const uint32_t *rank = lanes.read<uint32_t>(i.b);
  uint32_t wrong = 0;
  forLanes(lanes.active,
           [&](unsigned lane) { wrong |= uint32_t(rank[lane] != 0) << lane; });
  if (wrong) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(wrong));
    lanes.warp->fault(i, lane, Check::IllegalOperand,
                      "'mapa' expects a rank in the cluster, which has 1 "
                      "block, but got rank " +
                          Twine(rank[lane]));
    return;
  }
  mapUnary<T, T>(lanes, i.d, i.a, [](T a) { return a; });
}

static Error decodeMapa(Decoder &decoder) {
  decoder.take("shared::cluster");
  Expected<Type> type = takeTypeOf(decoder, {Type::U32, Type::U64});
  if (!type)
    return type.takeError();
  if (Error error = expectArchitecture(decoder, 90))
    return error;
  return emitSimple(decoder,
                    *type == Type::U32 ? executeMapa<uint32_t>
                                       : executeMapa<uint64_t>,
                    kMove, *type, {*type, Type::U32});
}

template <typename T>
static void executeGetctarank(const Instruction &i, Lanes &lanes) {
  mapUnary<uint32_t, T>(lanes, i.d, i.a, [](T) { return 0; });
}

static Error decodeGetctarank(Decoder &decoder) {
  decoder.take("shared::cluster");
  Expected<Type> type = takeTypeOf(decoder, {Type::U32, Type::U64});
  if (!type)
    return type.takeError();
  if (Error error = expectArchitecture(decoder, 90))
    return error;
  return emitSimple(decoder,
                    *type == Type::U32 ? executeGetctarank<uint32_t>
                                       : executeGetctarank<uint64_t>,
                    kMove, Type::U32, {*type});
}

//===----------------------------------------------------------------------===//
// Hints to caches
//===----------------------------------------------------------------------===//

/// Emits an instruction that has an address and no effect. An address without
/// memory behind it is none of its business: a GPU ignores such a prefetch.
static Error emitHint(Decoder &decoder, unsigned numOperands) {
  if (Error error = decoder.expectOperands(numOperands, numOperands))
    return error;
  if (Expected<AddressOperand> address = decoder.address(0); !address)
    return address.takeError();
  decoder.emit(executeNothing, InstructionClass::Other);
  return Error::success();
}

static Error decodePrefetch(Decoder &decoder) {
  StringRef space = decoder.takeAny({"global", "local", "const", "param"});
  if (decoder.take("tensormap")) {
    if (space == "global" || space == "local")
      return decoder.error("'prefetch.tensormap' expects .const or .param, but "
                           "got ." +
                           space);
    if (Error error = expectArchitecture(decoder, 90))
      return error;
    return emitHint(decoder, 1);
  }
  if (space == "const" || space == "param")
    return decoder.error("'prefetch' expects .global or .local, but got ." +
                         space);
  Expected<StringRef> level =
      takeOneOf(decoder, {"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  if (!level)
    return level.takeError();
  if (level->contains("::") && space != "global")
    return decoder.error("'prefetch' with ." + *level + " expects .global");
  return emitHint(decoder, 1);
}

static Error decodePrefetchUniform(Decoder &decoder) {
  if (Expected<StringRef> level = takeOneOf(decoder, {"L1"}); !level)
    return level.takeError();
  return emitHint(decoder, 1);
}

/// `applypriority` and `discard`: of 128 bytes.
static Error decodeLineHint(Decoder &decoder, StringRef level) {
  decoder.take("global");
  if (Expected<StringRef> taken = takeOneOf(decoder, {level}); !taken)
    return taken.takeError();
  if (Error error = expectArchitecture(decoder, 80))
    return error;
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<int64_t> size = decoder.integer(1);
  if (!size)
    return size.takeError();
  if (*size != 128)
    return decoder.error(decoder.getOperand(1),
                         "expects a size of 128, but got " + Twine(*size));
  return emitHint(decoder, 2);
}

static Error decodeApplyPriority(Decoder &decoder) {
  return decodeLineHint(decoder, "L2::evict_normal");
}

static Error decodeDiscard(Decoder &decoder) {
  return decodeLineHint(decoder, "L2");
}

/// A cache policy is opaque: the accesses that take one ignore it.
static Error decodeCreatePolicy(Decoder &decoder) {
  Expected<StringRef> kind = takeOneOf(decoder, {"fractional", "range", "cvt"});
  if (!kind)
    return kind.takeError();
  if (Error error = expectArchitecture(decoder, 80))
    return error;
  if (*kind == "cvt") {
    if (Expected<StringRef> level = takeOneOf(decoder, {"L2"}); !level)
      return level.takeError();
  } else {
    if (*kind == "range")
      decoder.take("global");
    Expected<StringRef> primary =
        takeOneOf(decoder, {"L2::evict_last", "L2::evict_normal",
                            "L2::evict_first", "L2::evict_unchanged"});
    if (!primary)
      return primary.takeError();
    decoder.takeAny({"L2::evict_first", "L2::evict_unchanged"});
  }
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B64}); !type)
    return type.takeError();

  // The operands are checked and not used.
  if (*kind == "fractional") {
    if (Error error = decoder.expectOperands(1, 2))
      return error;
    if (decoder.getNumOperands() == 2)
      if (Expected<Slot> part = decoder.source(1, Type::F32); !part)
        return part.takeError();
  } else if (*kind == "range") {
    if (Error error = decoder.expectOperands(4, 4))
      return error;
    if (Expected<AddressOperand> address = decoder.address(1); !address)
      return address.takeError();
    for (unsigned k : {2u, 3u})
      if (Expected<Slot> size = decoder.source(k, Type::U32); !size)
        return size.takeError();
  } else {
    if (Error error = decoder.expectOperands(2, 2))
      return error;
    if (Expected<Slot> property = decoder.source(1, Type::B64); !property)
      return property.takeError();
  }
  Expected<Slot> d = decoder.destination(0, Type::B64);
  if (!d)
    return d.takeError();
  Slot policy = decoder.constant(0, 8);
  Instruction &instruction = decoder.emit(selectCopy(Type::B64), kMove);
  instruction.d = *d;
  instruction.a = policy;
  return Error::success();
}

void tile::emulator::registerAddressMoves(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Addresses and caches";
  table.add("cvta",
            "cvta{.to}.{const,global,local,shared{::cta,::cluster},"
            "param{::entry}}.u64",
            group, decodeCvta);
  table.add("isspacep",
            "isspacep.{const,global,local,shared{::cta,::cluster},"
            "param{::entry}}",
            group, decodeIsspacep);
  table.add("mapa", "mapa{.shared::cluster}.{u32,u64}, in a cluster of one",
            group, decodeMapa);
  table.add("getctarank",
            "getctarank{.shared::cluster}.{u32,u64}, in a cluster of one",
            group, decodeGetctarank);
  table.add("prefetch",
            "prefetch{.global,.local}.{L1,L2}, "
            "prefetch.global.{L2::evict_last,L2::evict_normal}, "
            "prefetch{.const,.param}.tensormap: no effect",
            group, decodePrefetch);
  table.add("prefetchu", "prefetchu.L1: no effect", group,
            decodePrefetchUniform);
  table.add("applypriority",
            "applypriority{.global}.L2::evict_normal: no effect", group,
            decodeApplyPriority);
  table.add("discard", "discard{.global}.L2: no effect", group, decodeDiscard);
  table.add("createpolicy",
            "createpolicy.{fractional,range{.global}}.level{.level}.b64, "
            "createpolicy.cvt.L2.b64: a policy without effect",
            group, decodeCreatePolicy);
}
