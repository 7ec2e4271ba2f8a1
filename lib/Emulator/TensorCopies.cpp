//===- TensorCopies.cpp - cp.async.bulk.tensor ----------------------------===//
//
// Copies of boxes between a tensor in global memory, which a tensor map
// describes, and shared memory. They begin and complete as other bulk copies
// do: see AsyncOperations.h.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "AsyncOperations.h"
#include "MemoryAccess.h"
#include "TensorBoxes.h"
#include "TensorMapAccess.h"

namespace tile::emulator {
namespace {

using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

struct TensorInstruction {
  StringRef verb;
  bool isStore = false;
  bool isFourRows = false;
  bool isClusterDestination = false;
  AddressOperand map;
  llvm::SmallVector<Slot, TensorMap::kMaxRank> coordinates;
  unsigned rank = 0;
  MemoryOperand shared, mbarrier;
  Slot blockMask = kNoSlot;
  StringRef reduction; ///< "add", …, or empty.
};

/// The type that a reduction sees, or None where the elements have no such
/// operation.
Type getReductionType(TensorMap::Element element, StringRef operation) {
  using Element = TensorMap::Element;
  const bool isBitwise =
      operation == "and" || operation == "or" || operation == "xor";
  switch (element) {
  case Element::U32:
    return isBitwise ? Type::B32 : Type::U32;
  case Element::S32:
    return isBitwise ? Type::B32 : Type::S32;
  case Element::U64:
    return isBitwise ? Type::B64 : Type::U64;
  case Element::S64:
    return isBitwise ? Type::B64 : Type::S64;
  case Element::F16:
    return Type::F16;
  case Element::BF16:
    return Type::BF16;
  case Element::F32:
    return Type::F32;
  case Element::F64:
    return Type::F64;
  default:
    return Type::None;
  }
}

/// Begins the copy of one lane. False after a fault.
class TensorCopy {
public:
  TensorCopy(const Instruction &instruction, Lanes &lanes,
             const TensorInstruction &data)
      : instruction(instruction), lanes(lanes), data(data), warp(*lanes.warp),
        block(warp.getBlock()), shared(block.getShared()) {}

  bool prepare() {
    for (Slot slot : data.coordinates)
      if (!warp.checkDefined(instruction, lanes, slot,
                             "a coordinate of a tensor"))
        return false;
    return (data.blockMask == kNoSlot ||
            warp.checkDefined(instruction, lanes, data.blockMask,
                              "the mask of a multicast")) &&
           evaluate(instruction, lanes, data.map, maps) &&
           evaluate(instruction, lanes, data.shared.address, addresses) &&
           (data.isStore ||
            evaluate(instruction, lanes, data.mbarrier.address, signals));
  }

  bool begin(unsigned newLane) {
    lane = newLane;
    bit = uint32_t(1) << lane;
    // The block is the only one of its cluster.
    if (data.blockMask != kNoSlot &&
        lanes.read<uint16_t>(data.blockMask)[lane] != 1)
      return illegal("expects a mask of 1 in a cluster of one block, but got " +
                     Twine(lanes.read<uint16_t>(data.blockMask)[lane]));
    if (!readTensorMap(instruction, warp, lane, maps[lane], data.verb, map))
      return false;
    int32_t coordinates[TensorMap::kMaxRank];
    for (auto [i, slot] : llvm::enumerate(data.coordinates))
      coordinates[i] = lanes.read<int32_t>(slot)[lane];
    TensorBox box(map, ArrayRef(coordinates, data.coordinates.size()),
                  data.isFourRows);
    if (!checkMap(box))
      return false;

    BulkOperation operation;
    operation.instruction = &instruction;
    operation.warp = &warp;
    operation.lane = lane;
    operation.usesMbarrier = !data.isStore;
    if (!data.isStore && !findSignal(instruction, lanes, lane, data.mbarrier,
                                     signals, data.verb, operation))
      return false;
    uint32_t offsets[kLanes];
    if (!resolveShared(instruction, lanes, bit, data.shared.space, addresses,
                       box.getSharedBytes(), 128, data.verb, offsets))
      return false;
    // A box fits shared memory.
    operation.transactionBytes =
        static_cast<uint32_t>(box.getTransactionBytes());
    if (!(data.isStore ? store(operation, box, offsets)
                       : load(operation, box, offsets)))
      return false;
    block.getState<AsyncOperations>().begin(std::move(operation));
    block.noteProgress();
    return true;
  }

private:
  bool illegal(const Twine &message) {
    warp.fault(instruction, lane, Check::IllegalOperand,
               data.verb + " " + message);
    return false;
  }

  /// What holds for a map, a target and an instruction together.
  bool checkMap(const TensorBox &box) {
    if (map.rank != data.rank)
      return illegal("expects a tensor map of " + Twine(data.rank) +
                     " dimensions, but got one of " + Twine(map.rank));
    if (!checkTarget())
      return false;
    if (std::string problem = box.findProblem(data.isStore); !problem.empty())
      return illegal(problem);
    if (data.reduction.empty())
      return true;
    const Type type = getReductionType(map.element, data.reduction);
    reduction = findAtomicOperation(data.reduction, type);
    return reduction || illegal("expects a type that ." + data.reduction +
                                " is defined on, but got ." +
                                getTensorElementName(map.element));
  }

  /// What targets have of packed elements and of swizzles with an atomicity.
  bool checkTarget() {
    if (!map.isPacked() && map.swizzle <= TensorMap::Swizzle::Bytes128)
      return true;
    const std::string what =
        map.isPacked() ? ("elements of ." + getTensorElementName(map.element) +
                          ", which are smaller than a byte")
                             .str()
                       : ("a swizzle of " + getTensorSwizzleName(map.swizzle) +
                          ", which has an atomicity")
                             .str();
    const unsigned architecture = block.getProgram().architecture;
    if (architecture < 100)
      return illegal("expects sm_100 or newer for " + what);
    if (architecture >= 120 && data.isClusterDestination)
      return illegal("expects a destination in .shared::cta on sm_" +
                     Twine(architecture) + " for " + what +
                     ", but got .shared::cluster");
    return true;
  }

  bool load(BulkOperation &operation, const TensorBox &box,
            const uint32_t *offsets) {
    const uint32_t base = offsets[lane];
    // A swizzle leaves every row where it is.
    if (!noteShared(instruction, lanes, SharedMemory::Access::ProxyWrite, bit,
                    offsets, static_cast<uint32_t>(box.getSharedBytes()),
                    data.verb, nullptr, operation.write))
      return false;
    uint8_t filled[TensorBox::kLargestRow], bytes[TensorBox::kLargestRow];
    box.fill(filled);
    for (uint32_t i = 0; i != box.getNumRows(); ++i) {
      const TensorRow row = box.getRow(i);
      const uint32_t size = row.end - row.begin;
      if (size != box.getRowBytes())
        std::memcpy(bytes, filled, box.getRowBytes());
      if (size) {
        const uint8_t *from =
            block.getGlobal().resolve(row.address, size, 1, /*isStore=*/false);
        if (!from) {
          faultGlobal(instruction, warp, lane, row.address, size, 1,
                      /*isStore=*/false, data.verb);
          return false;
        }
        if (isWatched(warp))
          watch(instruction, warp, lane, row.address, size, data.verb, from);
        std::memcpy(bytes + row.begin, from, size);
        count(row);
      }
      box.scatter(bytes, i, base, shared.getBytes(), shared.getWritten());
    }
    return true;
  }

  bool store(BulkOperation &operation, const TensorBox &box,
             const uint32_t *offsets) {
    const uint32_t base = offsets[lane];
    if (!noteShared(instruction, lanes, SharedMemory::Access::ProxyRead, bit,
                    offsets, static_cast<uint32_t>(box.getSharedBytes()),
                    data.verb, nullptr, operation.read))
      return false;
    uint8_t bytes[TensorBox::kLargestRow], written[TensorBox::kLargestRow];
    for (uint32_t i = 0; i != box.getNumRows(); ++i) {
      const TensorRow row = box.getRow(i);
      const uint32_t size = row.end - row.begin;
      if (!size)
        continue;
      if (!block.getGlobal().resolve(row.address, size, 1, /*isStore=*/true)) {
        faultGlobal(instruction, warp, lane, row.address, size, 1,
                    /*isStore=*/true, data.verb);
        return false;
      }
      box.gather(bytes, written, i, base, shared.getBytes(),
                 shared.getWritten());
      for (uint32_t j = row.begin; j != row.end; ++j)
        if (written[j] != 0xFF)
          return unwritten(row, j, box.getSharedAddress(i, j, base));
      AsyncGlobalWrite &write = operation.writes.emplace_back();
      write.address = row.address;
      write.bytes.assign(bytes + row.begin, bytes + row.end);
      write.reduction = reduction;
      write.elementBytes = map.getElementBits() / 8;
      count(row);
    }
    return true;
  }

  bool unwritten(const TensorRow &row, uint32_t place, uint32_t from) {
    const uint64_t to = row.address + (place - row.begin);
    warp.fault(instruction, lane, Check::Uninitialized,
               "an unwritten value reaches global memory: " + data.verb +
                   " to " + block.getGlobal().describe(to) + " from " +
                   describeShared(block.getProgram(), from),
               to, block.getGlobal().getBufferName(to));
    return false;
  }

  void count(const TensorRow &row) {
    if (!warp.collectsStatistics())
      return;
    const uint32_t size = row.end - row.begin;
    InstructionCounters &counters = warp.getCounters(instruction);
    counters.bytes += size;
    counters.sectors +=
        ((row.address + size - 1) >> 5) - (row.address >> 5) + 1;
  }

  const Instruction &instruction;
  Lanes &lanes;
  const TensorInstruction &data;
  Warp &warp;
  Block &block;
  SharedMemory &shared;
  uint64_t maps[kLanes], addresses[kLanes], signals[kLanes];
  unsigned lane = 0;
  uint32_t bit = 0;
  TensorMap map;
  AtomicOperation reduction = nullptr;
};

void executeTensor(const Instruction &instruction, Lanes &lanes) {
  TensorCopy copy(instruction, lanes,
                  *static_cast<const TensorInstruction *>(instruction.data));
  if (!copy.prepare())
    return;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1)
    if (!copy.begin(static_cast<unsigned>(__builtin_ctz(rest))))
      return;
}

void executeNothing(const Instruction &, Lanes &) {}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Takes `.1d` … `.5d`: the rank.
Expected<unsigned> takeRank(Decoder &decoder) {
  StringRef word = decoder.takeAny({"1d", "2d", "3d", "4d", "5d"});
  if (word.empty())
    return decoder.error("expects .1d, .2d, .3d, .4d or .5d");
  return static_cast<unsigned>(word[0] - '0');
}

/// Takes the mode, which is `tile` where there is none.
Error takeMode(Decoder &decoder, StringRef fourRows, TensorInstruction &data) {
  for (StringRef word : decoder.getWords())
    if (word.starts_with("im2col"))
      return decoder.error("." + word + " is not modelled, only .tile and ." +
                           fourRows);
  if (decoder.take(fourRows)) {
    if (data.rank != 2)
      return decoder.error("expects .2d with ." + fourRows);
    data.isFourRows = true;
  } else {
    decoder.take("tile");
  }
  return Error::success();
}

/// Reads operand `i`, `[map, {coordinates}]`.
Error takeTensor(Decoder &decoder, unsigned i, TensorInstruction &data) {
  const Operand &operand = decoder.getOperand(i);
  if (operand.kind != Operand::Kind::Address || operand.children.size() != 2 ||
      operand.children[1].kind != Operand::Kind::Vector)
    return decoder.error(operand, "expects a tensor map and coordinates as in "
                                  "'[map, {x, y}]', but got '" +
                                      operand.text + "'");
  Operand base = operand;
  base.children.pop_back();
  Expected<AddressOperand> map = decoder.address(base);
  if (!map)
    return map.takeError();
  // A variable's name would be its address in its own space.
  if (map->variable)
    return decoder.error(operand, "expects the generic address of a tensor "
                                  "map, but got '" +
                                      operand.text + "'");
  data.map = *map;
  Expected<llvm::SmallVector<Operand, 4>> elements =
      decoder.vector(operand.children[1], data.isFourRows ? 5 : data.rank);
  if (!elements)
    return elements.takeError();
  for (const Operand &element : *elements) {
    Expected<Slot> slot = decoder.source(element, Type::S32);
    if (!slot)
      return slot.takeError();
    data.coordinates.push_back(*slot);
  }
  return Error::success();
}

void emitTensor(Decoder &decoder, TensorInstruction data) {
  Instruction &instruction =
      decoder.emit(executeTensor, InstructionClass::AsyncCopy);
  instruction.data = decoder.getProgram().own(std::move(data));
}

/// `.global.shared::cta`, after the words that differ between a copy and a
/// reduction.
Error decodeStore(Decoder &decoder, TensorInstruction data) {
  data.isStore = true;
  if (Error error = takeMode(decoder, "tile::scatter4", data))
    return error;
  if (data.isFourRows && !data.reduction.empty())
    return decoder.error(".tile::scatter4 is not defined on reductions");
  if (data.isFourRows && decoder.getArchitecture() < 100)
    return decoder.error(".tile::scatter4 expects sm_100 or newer");
  if (!decoder.take("bulk_group"))
    return decoder.error("expects .bulk_group");
  const unsigned count = decoder.take("L2::cache_hint") ? 3 : 2;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  if (Error error = takeTensor(decoder, 0, data))
    return error;
  Expected<MemoryOperand> source =
      takeMemoryOperand(decoder, 1, StateSpace::Shared);
  if (!source)
    return source.takeError();
  data.shared = *source;
  if (count == 3)
    if (Error error = checkCachePolicy(decoder, 2))
      return error;
  emitTensor(decoder, std::move(data));
  return Error::success();
}

Error decodeLoad(Decoder &decoder, TensorInstruction data) {
  if (Error error = takeMode(decoder, "tile::gather4", data))
    return error;
  if (data.isFourRows && decoder.getArchitecture() < 100)
    return decoder.error(".tile::gather4 expects sm_100 or newer");
  if (!decoder.take("mbarrier::complete_tx::bytes"))
    return decoder.error("expects .mbarrier::complete_tx::bytes");
  const bool isMulticast =
      data.isClusterDestination && decoder.take("multicast::cluster");
  StringRef group = decoder.takeAny({"cta_group::1", "cta_group::2"});
  const bool isDataCenterBlackwell =
      decoder.getArchitecture() >= 100 && decoder.getArchitecture() < 120;
  if (!group.empty() && !isDataCenterBlackwell)
    return decoder.error("." + group + " expects sm_100a, sm_103a or sm_110a");
  if (group == "cta_group::2")
    return decoder.error(".cta_group::2 is not modelled, since a cluster has "
                         "one block");
  const bool hasPolicy = decoder.take("L2::cache_hint");
  const unsigned count = 3 + isMulticast + hasPolicy;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  Expected<MemoryOperand> destination =
      takeMemoryOperand(decoder, 0, StateSpace::Shared);
  if (!destination)
    return destination.takeError();
  data.shared = *destination;
  if (Error error = takeTensor(decoder, 1, data))
    return error;
  Expected<MemoryOperand> mbarrier =
      takeMemoryOperand(decoder, 2, StateSpace::Shared);
  if (!mbarrier)
    return mbarrier.takeError();
  data.mbarrier = *mbarrier;
  if (isMulticast) {
    Expected<Slot> mask = decoder.source(3, Type::B16);
    if (!mask)
      return mask.takeError();
    data.blockMask = *mask;
  }
  if (hasPolicy)
    if (Error error = checkCachePolicy(decoder, count - 1))
      return error;
  emitTensor(decoder, std::move(data));
  return Error::success();
}

/// What all of them begin with.
Expected<TensorInstruction> beginTensor(Decoder &decoder, StringRef verb) {
  TensorInstruction data;
  data.verb = verb;
  if (decoder.getArchitecture() < 90)
    return decoder.error(verb + " expects sm_90 or newer");
  Expected<unsigned> rank = takeRank(decoder);
  if (!rank)
    return rank.takeError();
  data.rank = *rank;
  return data;
}

Error decodeCopy(Decoder &decoder) {
  Expected<TensorInstruction> data =
      beginTensor(decoder, "cp.async.bulk.tensor");
  if (!data)
    return data.takeError();
  StringRef first, second;
  for (StringRef word : decoder.getWords())
    if (word == "global" || word == "shared::cta" || word == "shared::cluster")
      (first.empty() ? first : second) = word;
  const bool isStore = first == "global" && second == "shared::cta";
  const bool isLoad = first.starts_with("shared::") && second == "global";
  if (!(isStore || isLoad) || !decoder.take(first) || !decoder.take(second))
    return decoder.error("expects .shared::cta.global, .shared::cluster.global "
                         "or .global.shared::cta");
  data->isClusterDestination = first == "shared::cluster";
  return isStore ? decodeStore(decoder, std::move(*data))
                 : decodeLoad(decoder, std::move(*data));
}

Error decodeReduce(Decoder &decoder) {
  Expected<TensorInstruction> data =
      beginTensor(decoder, "cp.reduce.async.bulk.tensor");
  if (!data)
    return data.takeError();
  if (!decoder.take("global") || !decoder.take("shared::cta"))
    return decoder.error("expects .global.shared::cta");
  data->reduction =
      decoder.takeAny({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  if (data->reduction.empty())
    return decoder.error(
        "expects .add, .min, .max, .inc, .dec, .and, .or or .xor");
  // The type is the map's: the order of blocks may show in rounded sums.
  decoder.getProgram().blocksCommunicate = true;
  return decodeStore(decoder, std::move(*data));
}

Error decodePrefetch(Decoder &decoder) {
  Expected<TensorInstruction> data =
      beginTensor(decoder, "cp.async.bulk.prefetch.tensor");
  if (!data)
    return data.takeError();
  if (!decoder.take("L2") || !decoder.take("global"))
    return decoder.error("expects .L2.global");
  if (Error error = takeMode(decoder, "tile::gather4", *data))
    return error;
  const unsigned count = decoder.take("L2::cache_hint") ? 2 : 1;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  if (Error error = takeTensor(decoder, 0, *data))
    return error;
  if (count == 2)
    if (Error error = checkCachePolicy(decoder, 1))
      return error;
  decoder.emit(executeNothing, InstructionClass::AsyncCopy);
  return Error::success();
}

} // namespace

void registerTensorCopies(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Asynchronous copies";
  table.add("cp.async.bulk.tensor",
            "cp.async.bulk.tensor.dim.{shared::cta,shared::cluster}.global"
            "{.tile,.tile::gather4}.mbarrier::complete_tx::bytes"
            "{.multicast::cluster}{.cta_group::1}{.L2::cache_hint}, "
            "cp.async.bulk.tensor.dim.global.shared::cta"
            "{.tile,.tile::scatter4}.bulk_group{.L2::cache_hint}",
            kGroup, decodeCopy);
  table.add("cp.reduce.async.bulk.tensor",
            "cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{.tile}"
            ".bulk_group{.L2::cache_hint}",
            kGroup, decodeReduce);
  table.add("cp.async.bulk.prefetch.tensor",
            "cp.async.bulk.prefetch.tensor.dim.L2.global{.tile,.tile::gather4}"
            "{.L2::cache_hint} (no effect)",
            kGroup, decodePrefetch);
}

} // namespace tile::emulator
