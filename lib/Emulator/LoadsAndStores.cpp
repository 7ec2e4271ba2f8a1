//===- LoadsAndStores.cpp - ld, ldu and st --------------------------------===//

#include "MemoryAccess.h"

#include <algorithm>

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

using Word128 = unsigned __int128;

/// The most bytes of one lane's access: `.v8.b32`, `.v4.b64`.
constexpr unsigned kMaxBytes = 32;

/// One register of a load or store.
struct Element {
  Slot slot = kNoSlot; ///< kNoSlot: skipped (`_` of a store).
  /// Load: from the lanes' memory to the register, and as above with memory
  /// side by side, `stride` bytes from lane to lane.
  void (*load)(Lanes &, Slot, uint8_t *const *from, unsigned offset) = nullptr;
  void (*loadRow)(Lanes &, Slot, const uint8_t *from,
                  unsigned stride) = nullptr;
  /// Marks what is unwritten of the lanes in `tracked`.
  void (*mark)(Lanes &, Slot, uint8_t *const *written, unsigned offset,
               uint32_t tracked) = nullptr;
  /// Store: from the register to rows of bytes, and its written bits.
  void (*stage)(const Lanes &, Slot, uint8_t *to, unsigned stride) = nullptr;
  void (*stageWritten)(const Lanes &, Slot, uint8_t *to,
                       unsigned stride) = nullptr;
};

struct MemoryInstruction {
  MemoryOperand operand;
  AccessKind kind;
  unsigned elementBytes = 4;
  llvm::SmallVector<Element, 1> elements;
  bool isWeak = true;
  bool skipsElements = false;
};

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

// `E` is the type in memory, signed where it is extended so, and `L` the
// unsigned type of the register.

template <typename E, typename L>
void loadElement(Lanes &lanes, Slot slot, uint8_t *const *from,
                 unsigned offset) {
  L values[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    E value;
    std::memcpy(&value, from[lane] + offset, sizeof(E));
    values[lane] = static_cast<L>(value);
  }
  store(lanes, slot, values);
}

template <typename E, typename L>
void loadElementRow(Lanes &lanes, Slot slot, const uint8_t *from,
                    unsigned stride) {
  L *to = lanes.get<L>(slot);
  if (sizeof(E) == sizeof(L) && stride == sizeof(E)) {
    std::memcpy(to, from, kLanes * sizeof(L));
    return;
  }
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    E value;
    std::memcpy(&value, from + lane * stride, sizeof(E));
    to[lane] = static_cast<L>(value);
  }
}

template <typename E, typename L>
void markElement(Lanes &lanes, Slot slot, uint8_t *const *written,
                 unsigned offset, uint32_t tracked) {
  define(lanes, slot);
  // Extension writes the upper bits: zeros always, a sign where it is written.
  forLanes(tracked, [&](unsigned lane) {
    E bits;
    std::memcpy(&bits, written[lane] + offset, sizeof(E));
    L wide = static_cast<L>(bits);
    if constexpr (static_cast<E>(-1) > E(0) && sizeof(E) < sizeof(L))
      wide |= static_cast<L>(~static_cast<L>(static_cast<E>(-1)));
    setWritten<L>(lanes, slot, lane, wide);
  });
}

template <typename E, typename L>
void stageElement(const Lanes &lanes, Slot slot, uint8_t *to, unsigned stride) {
  const L *from = lanes.read<L>(slot);
  if (sizeof(E) == sizeof(L) && stride == sizeof(E)) {
    std::memcpy(to, from, kLanes * sizeof(L));
    return;
  }
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    E value = static_cast<E>(from[lane]);
    std::memcpy(to + lane * stride, &value, sizeof(E));
  }
}

template <typename E, typename L>
void stageElementWritten(const Lanes &lanes, Slot slot, uint8_t *to,
                         unsigned stride) {
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    E value = static_cast<E>(getWritten<L>(lanes, slot, lane));
    std::memcpy(to + lane * stride, &value, sizeof(E));
  }
}

template <typename E, typename L>
Element makeElement(Slot slot) {
  Element element;
  element.slot = slot;
  element.load = loadElement<E, L>;
  element.loadRow = loadElementRow<E, L>;
  element.mark = markElement<E, L>;
  element.stage = stageElement<E, L>;
  element.stageWritten = stageElementWritten<E, L>;
  return element;
}

template <typename E>
Element makeElement(Slot slot, unsigned laneBytes) {
  if constexpr (sizeof(E) <= 2)
    if (laneBytes == 2)
      return makeElement<E, uint16_t>(slot);
  if constexpr (sizeof(E) <= 4)
    if (laneBytes == 4)
      return makeElement<E, uint32_t>(slot);
  if constexpr (sizeof(E) <= 8)
    if (laneBytes == 8)
      return makeElement<E, uint64_t>(slot);
  return makeElement<E, Word128>(slot);
}

Element makeElement(Type type, Slot slot, unsigned laneBytes) {
  const bool isSigned = type == Type::S8 || type == Type::S16 ||
                        type == Type::S32 || type == Type::S64;
  switch (getTypeBits(type)) {
  case 8:
    return isSigned ? makeElement<int8_t>(slot, laneBytes)
                    : makeElement<uint8_t>(slot, laneBytes);
  case 16:
    return isSigned ? makeElement<int16_t>(slot, laneBytes)
                    : makeElement<uint16_t>(slot, laneBytes);
  case 32:
    return isSigned ? makeElement<int32_t>(slot, laneBytes)
                    : makeElement<uint32_t>(slot, laneBytes);
  case 64:
    return isSigned ? makeElement<int64_t>(slot, laneBytes)
                    : makeElement<uint64_t>(slot, laneBytes);
  default:
    return makeElement<Word128>(slot, laneBytes);
  }
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Whether all lanes are active and their accesses stand side by side.
bool isRow(const Lanes &lanes, const uint64_t (&addresses)[kLanes],
           unsigned bytes) {
  if (lanes.active != kAllLanes)
    return false;
  uint64_t difference = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    difference |= addresses[lane] ^ (addresses[0] + uint64_t(lane) * bytes);
  return difference == 0;
}

/// What a row of global memory needs of `resolve`, at once. Null where that has
/// to look lane by lane.
uint8_t *resolveRow(const Instruction &instruction, Lanes &lanes,
                    const uint64_t (&addresses)[kLanes],
                    const AccessKind &kind) {
  Warp &warp = *lanes.warp;
  if (kind.acquires || kind.releases || isWatched(warp))
    return nullptr;
  uint8_t *host = warp.getBlock().getGlobal().resolve(
      addresses[0], uint64_t(kind.bytes) * kLanes, kind.alignment,
      kind.isStore);
  if (host && warp.collectsStatistics()) {
    InstructionCounters &counters = warp.getCounters(instruction);
    counters.bytes += uint64_t(kind.bytes) * kLanes;
    counters.sectors += countSectors(lanes.active, addresses, kind.bytes);
  }
  return host;
}

/// Loads from side by side in global or shared memory. False where that has to
/// look lane by lane.
bool loadRow(const Instruction &instruction, Lanes &lanes,
             const MemoryInstruction &load,
             const uint64_t (&addresses)[kLanes]) {
  const StateSpace space = load.operand.space;
  const uint8_t *row = nullptr;
  if (space == StateSpace::Shared) {
    row = resolveSharedRow(instruction, lanes, addresses[0], load.kind);
    SharedMemory &shared = lanes.warp->getBlock().getShared();
    if (!row || !areWritten(shared.getWritten() + addresses[0],
                            uint64_t(load.kind.bytes) * kLanes))
      return false;
  } else if (space == StateSpace::Global ||
             (space == StateSpace::Generic &&
              addresses[0] >> Memory::kRegionBits)) {
    row = resolveRow(instruction, lanes, addresses, load.kind);
  }
  if (!row)
    return false;
  for (const Element &element : load.elements) {
    element.loadRow(lanes, element.slot, row, load.kind.bytes);
    define(lanes, element.slot);
    row += load.elementBytes;
  }
  return true;
}

void executeLoad(const Instruction &instruction, Lanes &lanes) {
  const auto &load = *static_cast<const MemoryInstruction *>(instruction.data);
  uint64_t addresses[kLanes];
  if (!evaluate(instruction, lanes, load.operand.address, addresses))
    return;
  if (isRow(lanes, addresses, load.kind.bytes))
    if (loadRow(instruction, lanes, load, addresses))
      return;

  Resolved resolved;
  if (!resolve(instruction, lanes, load.operand.space, addresses, load.kind,
               resolved))
    return;
  unsigned offset = 0;
  for (const Element &element : load.elements) {
    element.load(lanes, element.slot, resolved.bytes, offset);
    offset += load.elementBytes;
  }
  bool isWritten = true;
  forLanes(resolved.tracked, [&](unsigned lane) {
    isWritten &= areWritten(resolved.written[lane], load.kind.bytes);
  });
  offset = 0;
  for (const Element &element : load.elements) {
    if (isWritten)
      define(lanes, element.slot);
    else
      element.mark(lanes, element.slot, resolved.written, offset,
                   resolved.tracked);
    offset += load.elementBytes;
  }
}

/// A load of the kernel's parameters at a known place: one value for all lanes.
void executeParameterLoad(const Instruction &instruction, Lanes &lanes) {
  const auto &load = *static_cast<const MemoryInstruction *>(instruction.data);
  const uint8_t *parameters = lanes.warp->getBlock().getParameters().data() +
                              load.operand.address.offset;
  uint8_t *from[kLanes];
  std::fill_n(from, kLanes, const_cast<uint8_t *>(parameters));
  unsigned offset = 0;
  for (const Element &element : load.elements) {
    element.load(lanes, element.slot, from, offset);
    define(lanes, element.slot);
    offset += load.elementBytes;
  }
  if (lanes.warp->collectsStatistics())
    lanes.warp->getCounters(instruction).bytes +=
        uint64_t(load.kind.bytes) * __builtin_popcount(lanes.active);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Two lanes of `mask` with one address and different values, or false. The
/// accesses are aligned to their size, so that they are equal or apart.
bool findLaneConflict(uint32_t mask, const uint64_t *addresses,
                      const uint8_t *values, unsigned bytes, unsigned &first,
                      unsigned &second) {
  // Mostly, addresses go up from lane to lane.
  bool goesUp = true;
  uint64_t last = 0;
  bool isFirst = true;
  forLanes(mask, [&](unsigned lane) {
    goesUp &= isFirst || addresses[lane] > last;
    last = addresses[lane];
    isFirst = false;
  });
  if (goesUp)
    return false;
  constexpr unsigned kSlots = 64;
  uint8_t table[kSlots];
  std::fill_n(table, kSlots, uint8_t(kLanes));
  for (; mask; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
    unsigned slot = static_cast<unsigned>(
        (addresses[lane] / bytes * 0x9E3779B97F4A7C15u) >> 58);
    while (table[slot] != kLanes && addresses[table[slot]] != addresses[lane])
      slot = (slot + 1) % kSlots;
    if (table[slot] == kLanes) {
      table[slot] = static_cast<uint8_t>(lane);
    } else if (std::memcmp(values + table[slot] * bytes, values + lane * bytes,
                           bytes)) {
      first = table[slot];
      second = lane;
      return true;
    }
  }
  return false;
}

/// The written bits of what has no unwritten one.
constexpr uint8_t kAllWritten[kMaxBytes] = {
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

/// Checks that no lane of `mask` stores an unwritten bit to global memory.
bool checkWrittenValues(const Instruction &instruction, Warp &warp,
                        uint32_t mask, const MemoryInstruction &instructionData,
                        const uint64_t *addresses, const uint8_t *bits) {
  const unsigned bytes = instructionData.kind.bytes;
  for (; mask; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
    for (unsigned i = 0; i != bytes; ++i) {
      if (bits[lane * bytes + i] == 0xFF ||
          instructionData.elements[i / instructionData.elementBytes].slot ==
              kNoSlot)
        continue;
      GlobalAccess &global = warp.getBlock().getGlobal();
      warp.fault(instruction, lane, Check::Uninitialized,
                 "an unwritten value reaches global memory: store of " +
                     Twine(bytes) + (bytes == 1 ? " byte" : " bytes") + " at " +
                     global.describe(addresses[lane]),
                 addresses[lane], global.getBufferName(addresses[lane]));
      return false;
    }
  }
  return true;
}

/// Stores side by side in global or shared memory. False where that has to look
/// lane by lane, or after a fault, where `isFine` becomes false.
bool storeRow(const Instruction &instruction, Lanes &lanes,
              const MemoryInstruction &data,
              const uint64_t (&addresses)[kLanes], const uint8_t *values,
              bool &isFine) {
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  const unsigned bytes = data.kind.bytes;
  const StateSpace space = data.operand.space;
  if (space == StateSpace::Shared) {
    uint8_t *row = resolveSharedRow(instruction, lanes, addresses[0], data.kind,
                                    data.isWeak ? values : nullptr);
    if (!row)
      return false;
    std::memcpy(row, values, kLanes * bytes);
    std::memset(block.getShared().getWritten() + addresses[0], 0xFF,
                kLanes * bytes);
    return true;
  }
  if (space == StateSpace::Local || !(addresses[0] >> Memory::kRegionBits))
    return false;
  uint8_t *row = resolveRow(instruction, lanes, addresses, data.kind);
  if (!row)
    return false;
  uint64_t other;
  if (data.isWeak &&
      !block.getGlobal().noteStore(addresses[0], values, kLanes * bytes, other))
    for (unsigned lane = 0; lane != kLanes; ++lane)
      if (!noteGlobalStore(instruction, warp, lane, addresses[lane],
                           values + lane * bytes, bytes)) {
        isFine = false;
        return false;
      }
  std::memcpy(row, values, kLanes * bytes);
  block.noteProgress();
  return true;
}

void executeStore(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const MemoryInstruction *>(instruction.data);
  const unsigned bytes = data.kind.bytes;
  Warp &warp = *lanes.warp;
  uint64_t addresses[kLanes];
  if (!evaluate(instruction, lanes, data.operand.address, addresses))
    return;

  alignas(16) uint8_t values[kLanes * kMaxBytes];
  alignas(16) uint8_t bits[kLanes * kMaxBytes];
  uint32_t undefined = 0;
  uint8_t *to = values;
  for (const Element &element : data.elements) {
    if (element.slot != kNoSlot) {
      element.stage(lanes, element.slot, to, bytes);
      undefined |= lanes.undefinedAt(element.slot) & lanes.active;
    }
    to += data.elementBytes;
  }
  if (undefined) {
    std::fill_n(bits, kLanes * bytes, uint8_t(0xFF));
    to = bits;
    for (const Element &element : data.elements) {
      if (element.slot != kNoSlot)
        element.stageWritten(lanes, element.slot, to, bytes);
      to += data.elementBytes;
    }
  }

  if (!undefined && !data.skipsElements && isRow(lanes, addresses, bytes)) {
    bool isFine = true;
    if (storeRow(instruction, lanes, data, addresses, values, isFine) ||
        !isFine)
      return;
  }

  Resolved resolved;
  const bool mayRepeat = data.isWeak && !undefined && !data.skipsElements;
  if (!resolve(instruction, lanes, data.operand.space, addresses, data.kind,
               resolved, mayRepeat ? values : nullptr))
    return;
  if (resolved.global && undefined &&
      !checkWrittenValues(instruction, warp, resolved.global & undefined, data,
                          addresses, bits))
    return;

  unsigned first = 0, second = 0;
  if (data.isWeak && !data.skipsElements)
    for (uint32_t mask : {resolved.global, resolved.shared}) {
      if (!mask ||
          !findLaneConflict(mask, addresses, values, bytes, first, second))
        continue;
      const bool isGlobal = mask == resolved.global;
      Block &block = warp.getBlock();
      if (isGlobal && block.getLaunch().options->allowWriteWrite)
        continue;
      uint64_t address = addresses[second];
      std::string where = isGlobal
                              ? block.getGlobal().describe(address)
                              : describeShared(block.getProgram(),
                                               static_cast<uint32_t>(address));
      warp.fault(
          instruction, second, isGlobal ? Check::WriteWrite : Check::SharedRace,
          "lanes " + Twine(first) + " and " + Twine(second) +
              " of one store write different values to " + where,
          address,
          isGlobal ? block.getGlobal().getBufferName(address) : std::string());
      return;
    }

  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const uint8_t *value = values + lane * bytes;
    const bool isGlobal = resolved.global >> lane & 1;
    const bool isTracked = resolved.tracked >> lane & 1;
    // Element by element only where some are left out.
    unsigned step = data.skipsElements ? data.elementBytes : bytes;
    for (unsigned offset = 0; offset != bytes; offset += step) {
      if (data.skipsElements && data.elements[offset / step].slot == kNoSlot)
        continue;
      if (isGlobal && data.isWeak &&
          !noteGlobalStore(instruction, warp, lane, addresses[lane] + offset,
                           value + offset, step))
        return;
      copyBytes(resolved.bytes[lane] + offset, value + offset, step);
      if (!isTracked)
        continue;
      copyBytes(resolved.written[lane] + offset,
                undefined ? bits + lane * bytes + offset : kAllWritten, step);
    }
    if (isGlobal && isWatched(warp))
      watch(instruction, warp, lane, addresses[lane], bytes, data.kind.verb,
            value);
  }
  if (resolved.global)
    warp.getBlock().noteProgress();
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

Error checkType(Decoder &decoder, Type type) {
  switch (type) {
  case Type::B8:
  case Type::B16:
  case Type::B32:
  case Type::B64:
  case Type::B128:
  case Type::U8:
  case Type::U16:
  case Type::U32:
  case Type::U64:
  case Type::S8:
  case Type::S16:
  case Type::S32:
  case Type::S64:
  case Type::F32:
  case Type::F64:
    return Error::success();
  default:
    return decoder.error("expects a type of .b8 to .b128, .u8 to .u64, .s8 to "
                         ".s64, .f32 or .f64, but got ." +
                         getTypeName(type));
  }
}

/// The combinations of vector and type: 16 bytes at most, 32 in global memory.
Error checkVector(Decoder &decoder, Type type, unsigned count,
                  StateSpace space) {
  unsigned bytes = count * getTypeBits(type) / 8;
  const bool mayBeWide =
      space == StateSpace::Global || space == StateSpace::Generic;
  const unsigned bits = getTypeBits(type);
  if (bytes > 32 || (count == 8 && bytes != 32) ||
      (bytes == 32 && (!mayBeWide || (bits != 32 && bits != 64))))
    return decoder.error("expects a vector of at most 16 bytes, or of 32 bytes "
                         "(.v8.b32 or .v4.b64) in global memory, but got .v" +
                         Twine(count) + "." + getTypeName(type));
  if (bytes == 32 && decoder.getArchitecture() < 100)
    return decoder.error("a vector of 32 bytes expects sm_100 or newer");
  return Error::success();
}

/// What loads and stores share: everything but the elements.
struct Common {
  MemoryInstruction data;
  Ordering ordering;
  Type type;
  unsigned count;
  bool hasPolicy;
};
Expected<Common> decodeCommon(Decoder &decoder, unsigned addressOperand,
                              llvm::ArrayRef<StringRef> semantics) {
  Common result;
  StateSpace space = takeSpace(decoder);
  Expected<Ordering> ordering = takeOrdering(decoder, semantics);
  if (!ordering)
    return ordering.takeError();
  result.ordering = *ordering;
  if (!ordering->scope.empty() &&
      (!ordering->isStrong() || ordering->semantics == "volatile"))
    return decoder.error("expects ." + ordering->scope +
                         " with .relaxed, .acquire or .release only");
  if (ordering->scope.empty() && ordering->isStrong() &&
      ordering->semantics != "volatile")
    return decoder.error("expects a scope (.cta, .cluster, .gpu or .sys) with "
                         "." +
                         ordering->semantics);
  result.hasPolicy = takeCacheHints(decoder);
  result.count = decoder.takeVector();
  Expected<Type> type = decoder.takeType();
  if (!type)
    return type.takeError();
  result.type = *type;
  if (Error error = checkType(decoder, *type))
    return std::move(error);
  Expected<MemoryOperand> operand =
      takeMemoryOperand(decoder, addressOperand, space);
  if (!operand)
    return operand.takeError();
  if (Error error = checkVector(decoder, *type, result.count, operand->space))
    return std::move(error);
  if (ordering->isStrong() && operand->space != StateSpace::Global &&
      operand->space != StateSpace::Shared &&
      operand->space != StateSpace::Generic &&
      !(ordering->semantics == "volatile" &&
        operand->space == StateSpace::Local))
    return decoder.error("expects ." + ordering->semantics +
                         " with global or shared memory");
  result.data.operand = *operand;
  result.data.elementBytes = getTypeBits(*type) / 8;
  result.data.isWeak = !ordering->isStrong();
  result.data.kind.bytes = result.count * result.data.elementBytes;
  result.data.kind.alignment = result.data.kind.bytes;
  return std::move(result);
}

InstructionClass classify(StateSpace space, bool isStore) {
  switch (space) {
  case StateSpace::Global:
  case StateSpace::Generic:
    return isStore ? InstructionClass::StoreGlobal
                   : InstructionClass::LoadGlobal;
  case StateSpace::Shared:
    return isStore ? InstructionClass::StoreShared
                   : InstructionClass::LoadShared;
  default:
    return isStore ? InstructionClass::StoreOther : InstructionClass::LoadOther;
  }
}

Error decodeLoad(Decoder &decoder) {
  const bool isNonCoherent = decoder.take("nc");
  StringRef cache = decoder.takeAny({"ca", "cg", "cs", "lu", "cv"});
  Expected<Common> common = decodeCommon(
      decoder, 1, {"weak", "volatile", "relaxed", "acquire", "mmio"});
  if (!common)
    return common.takeError();
  MemoryInstruction &data = common->data;
  if (Error error = decoder.expectOperands(2, common->hasPolicy ? 3 : 2))
    return error;
  if (common->hasPolicy && decoder.getNumOperands() == 3)
    if (Error error = checkCachePolicy(decoder, 2))
      return error;
  const StateSpace space = data.operand.space;
  if (isNonCoherent && space != StateSpace::Global)
    return decoder.error("expects .nc with .global");
  if (common->ordering.isStrong() && (isNonCoherent || !cache.empty()))
    return decoder.error("expects no cache operation with ." +
                         common->ordering.semantics);
  data.kind.verb = "load";
  if (common->ordering.isStrong()) {
    data.kind.shared = SharedMemory::Access::StrongRead;
    data.kind.acquires = true;
  }
  // Another block may wait for what this one stores.
  if ((common->ordering.isStrong() || cache == "cv") &&
      (space == StateSpace::Global || space == StateSpace::Generic))
    decoder.getProgram().blocksCommunicate = true;

  Expected<llvm::SmallVector<Operand, 4>> operands =
      decoder.vector(decoder.getOperand(0), common->count);
  if (!operands)
    return operands.takeError();
  for (const Operand &operand : *operands) {
    Expected<Decoder::WideSlot> slot =
        decoder.wideDestination(operand, common->type);
    if (!slot)
      return slot.takeError();
    data.elements.push_back(
        makeElement(common->type, slot->slot, slot->laneBytes));
  }

  Execute execute = executeLoad;
  const Program &program = decoder.getProgram();
  uint64_t offset = static_cast<uint64_t>(data.operand.address.offset);
  if (space == StateSpace::Parameter && data.operand.address.base == kNoSlot &&
      offset < program.parameterBytes &&
      data.kind.bytes <= program.parameterBytes - offset &&
      offset % data.kind.alignment == 0)
    execute = executeParameterLoad;
  Instruction &load = decoder.emit(execute, classify(space, false));
  load.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

Error decodeUniformLoad(Decoder &decoder) {
  for (StringRef word : decoder.getWords())
    if (word != "global" && word != "v2" && word != "v4" && !findType(word))
      return decoder.error("ldu does not know ." + word);
  return decodeLoad(decoder);
}

Error decodeStore(Decoder &decoder) {
  for (StringRef word : {"async", "bulk"})
    if (decoder.take(word))
      return decoder.error("instruction 'st." + word + "' is not supported");
  StringRef cache = decoder.takeAny({"wb", "cg", "cs", "wt"});
  Expected<Common> common = decodeCommon(
      decoder, 0, {"weak", "volatile", "relaxed", "release", "mmio"});
  if (!common)
    return common.takeError();
  MemoryInstruction &data = common->data;
  if (Error error = decoder.expectOperands(2, common->hasPolicy ? 3 : 2))
    return error;
  if (common->hasPolicy && decoder.getNumOperands() == 3)
    if (Error error = checkCachePolicy(decoder, 2))
      return error;
  const StateSpace space = data.operand.space;
  if (data.operand.isConstant)
    return decoder.error(
        "expects memory that may be stored to, but got .const");
  if (space == StateSpace::Parameter)
    return decoder.error("expects memory that may be stored to, but got a "
                         "parameter of the kernel");
  if (common->ordering.isStrong() && !cache.empty())
    return decoder.error("expects no cache operation with ." +
                         common->ordering.semantics);
  data.kind.verb = "store";
  data.kind.isStore = true;
  data.kind.shared = SharedMemory::Access::Write;
  if (common->ordering.isStrong()) {
    data.kind.shared = SharedMemory::Access::StrongWrite;
    data.kind.releases = true;
  }

  Expected<llvm::SmallVector<Operand, 4>> operands =
      decoder.vector(decoder.getOperand(1), common->count);
  if (!operands)
    return operands.takeError();
  for (const Operand &operand : *operands) {
    if (operand.kind == Operand::Kind::Sink && data.kind.bytes == kMaxBytes) {
      data.elements.emplace_back();
      data.skipsElements = true;
      continue;
    }
    Expected<Decoder::WideSlot> slot =
        decoder.wideSource(operand, common->type);
    if (!slot)
      return slot.takeError();
    data.elements.push_back(
        makeElement(common->type, slot->slot, slot->laneBytes));
  }
  Instruction &instruction = decoder.emit(executeStore, classify(space, true));
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

} // namespace

void registerLoadsAndStores(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Loads and stores";
  table.add("ld",
            "ld{.weak,.volatile,.relaxed.scope,.acquire.scope,.mmio}{.space}"
            "{.cop}{.nc}{.hints}{.v2,.v4,.v8}.type",
            kGroup, decodeLoad);
  table.add("ldu", "ldu{.global}{.v2,.v4}.type", kGroup, decodeUniformLoad);
  table.add("st",
            "st{.weak,.volatile,.relaxed.scope,.release.scope,.mmio}{.space}"
            "{.cop}{.hints}{.v2,.v4,.v8}.type",
            kGroup, decodeStore);
}

} // namespace tile::emulator
