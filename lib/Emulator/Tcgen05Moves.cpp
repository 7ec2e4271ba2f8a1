//===- Tcgen05Moves.cpp - Allocation, loads and stores --------------------===//
//
// PTX ISA, sections "Tensor Memory Allocation and Management Instructions" and
// "Tensor Memory and Register Load/Store Instructions". Loads and stores move
// their data when they are issued; what they touch is theirs until
// `tcgen05.wait` of the warp. The registers of a load may be used before: the
// ISA keeps true dependences through them.
//
//===----------------------------------------------------------------------===//

#include "MemoryAccess.h"
#include "Tcgen05.h"
#include "TensorCore.h"

namespace tile::emulator {

using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// What the family shares
//===----------------------------------------------------------------------===//

Error checkTensorTarget(Decoder &decoder) {
  StringRef target = decoder.getProgram().syntax->target;
  unsigned family = decoder.getArchitecture() / 10;
  if ((family == 10 || family == 11) &&
      (target.ends_with("a") || target.ends_with("f")))
    return Error::success();
  return decoder.error("tcgen05 expects a target of the families sm_100a, "
                       "sm_100f and sm_110a, but got " +
                       target);
}

Error takeBlockGroup(Decoder &decoder) {
  if (Error error = checkTensorTarget(decoder))
    return error;
  if (decoder.take("cta_group::2"))
    return decoder.error(".cta_group::2 is not modelled: a block is the only "
                         "one of its cluster");
  if (!decoder.take("cta_group::1"))
    return decoder.error("expects .cta_group::1");
  return Error::success();
}

Expected<AddressOperand> takeTensorAddress(Decoder &decoder, unsigned i) {
  Expected<AddressOperand> address = decoder.address(i);
  if (!address)
    return address.takeError();
  if (address->variable ||
      (address->base != kNoSlot && address->baseBytes != 4))
    return decoder.error(decoder.getOperand(i),
                         "expects an address in tensor memory, of 32 bits");
  return address;
}

namespace {

/// The loads and stores of each warp that are under way.
struct PendingMoves {
  SmallVector<SharedMemory::Pending, 4> loads, stores;
};
class TensorMoves : public Block::State {
public:
  static constexpr unsigned kKey = 4;
  PendingMoves &get(const Warp &warp) {
    if (warps.size() <= warp.getIndex())
      warps.resize(warp.getIndex() + 1);
    return warps[warp.getIndex()];
  }

private:
  std::vector<PendingMoves> warps;
};

/// The value that all lanes of the warp give. False after a fault.
bool getUniform(const Instruction &instruction, Lanes &lanes,
                llvm::ArrayRef<uint32_t> values, StringRef what,
                uint32_t &value) {
  value = values[0];
  for (unsigned lane = 1; lane != kLanes; ++lane)
    if (values[lane] != value) {
      lanes.warp->fault(instruction, lane, Check::IllegalOperand,
                        "expects the same " + what +
                            " in all lanes, but got 0x" +
                            Twine::utohexstr(value) + " and 0x" +
                            Twine::utohexstr(values[lane]));
      return false;
    }
  return true;
}

bool getUniform(const Instruction &instruction, Lanes &lanes, Slot slot,
                StringRef what, uint32_t &value) {
  return lanes.warp->checkDefined(instruction, lanes, slot, what) &&
         getUniform(instruction, lanes,
                    llvm::ArrayRef(lanes.read<uint32_t>(slot), kLanes), what,
                    value);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

struct AllocInstruction {
  MemoryOperand destination;
};

void executeAlloc(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const AllocInstruction *>(instruction.data);
  uint32_t columns;
  uint64_t addresses[kLanes];
  uint32_t offsets[kLanes];
  Warp &warp = *lanes.warp;
  if (!checkWholeWarp(instruction, lanes) ||
      !getUniform(instruction, lanes, instruction.a, "number of columns",
                  columns) ||
      !evaluate(instruction, lanes, data.destination.address, addresses) ||
      !resolveShared(instruction, lanes, 1, data.destination.space, addresses,
                     4, 4, "tcgen05.alloc", offsets))
    return;
  Block &block = warp.getBlock();
  std::optional<unsigned> first = block.getState<TensorMemory>().allocate(
      {instruction, warp, 0, "tcgen05.alloc"}, columns);
  if (!first)
    return;
  uint32_t base = *first;
  uint8_t values[kLanes * 4];
  std::memcpy(values, &base, 4);
  if (!noteShared(instruction, lanes, SharedMemory::Access::Write, 1, offsets,
                  4, "tcgen05.alloc", values))
    return;
  std::memcpy(block.getShared().getBytes() + offsets[0], &base, 4);
  std::memset(block.getShared().getWritten() + offsets[0], 0xFF, 4);
  // No manual says through which proxy. Triton lets bulk copies write over it
  // without a fence.
  if (block.getLaunch().options->allowLooseTensorMemory)
    block.getShared().fenceProxy(warp.getIndex());
}

void executeDealloc(const Instruction &instruction, Lanes &lanes) {
  uint32_t address, columns;
  if (!checkWholeWarp(instruction, lanes) ||
      !getUniform(instruction, lanes, instruction.a, "address in tensor memory",
                  address) ||
      !getUniform(instruction, lanes, instruction.b, "number of columns",
                  columns))
    return;
  lanes.warp->getBlock().getState<TensorMemory>().free(
      {instruction, *lanes.warp, 0, "tcgen05.dealloc"}, address, columns);
}

void executeRelinquish(const Instruction &instruction, Lanes &lanes) {
  if (checkWholeWarp(instruction, lanes))
    lanes.warp->getBlock().getState<TensorMemory>().relinquish();
}

Error takeWarpWide(Decoder &decoder) {
  if (!decoder.take("sync") || !decoder.take("aligned"))
    return decoder.error("expects .sync.aligned");
  return Error::success();
}

Error decodeAlloc(Decoder &decoder) {
  AllocInstruction data;
  if (Error error = takeBlockGroup(decoder))
    return error;
  if (Error error = takeWarpWide(decoder))
    return error;
  StateSpace space =
      decoder.take("shared::cta") ? StateSpace::Shared : StateSpace::Generic;
  if (!decoder.take("b32"))
    return decoder.error("expects .b32");
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<MemoryOperand> destination = takeMemoryOperand(decoder, 0, space);
  if (!destination)
    return destination.takeError();
  data.destination = *destination;
  Expected<Slot> columns = decoder.source(1, Type::U32);
  if (!columns)
    return columns.takeError();
  Instruction &instruction =
      decoder.emit(executeAlloc, InstructionClass::Other);
  instruction.flow = Flow::Collective;
  instruction.a = *columns;
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

Error decodeDealloc(Decoder &decoder) {
  if (Error error = takeBlockGroup(decoder))
    return error;
  if (Error error = takeWarpWide(decoder))
    return error;
  if (!decoder.take("b32"))
    return decoder.error("expects .b32");
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> address = decoder.source(0, Type::U32);
  if (!address)
    return address.takeError();
  Expected<Slot> columns = decoder.source(1, Type::U32);
  if (!columns)
    return columns.takeError();
  Instruction &instruction =
      decoder.emit(executeDealloc, InstructionClass::Other);
  instruction.flow = Flow::Collective;
  instruction.a = *address;
  instruction.b = *columns;
  return Error::success();
}

Error decodeRelinquish(Decoder &decoder) {
  if (Error error = takeBlockGroup(decoder))
    return error;
  if (Error error = takeWarpWide(decoder))
    return error;
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeRelinquish, InstructionClass::Other).flow =
      Flow::Collective;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

enum class MoveShape : uint8_t {
  Lanes32x32,
  Lanes16x64,
  Lanes16x128,
  Lanes16x256,
  Lanes16x32x2,
};

struct MoveInstruction {
  StringRef verb;
  MoveShape shape = MoveShape::Lanes32x32;
  unsigned number = 1; ///< `.x1`, …
  /// Registers hold two elements of 16 bits, of two columns.
  bool isPacked = false;
  int64_t split = 0; ///< Columns to the second half of 16x32bx2.
  AddressOperand address;
  SmallVector<Slot, 8> registers;

  unsigned getNumLanes() const {
    return shape == MoveShape::Lanes32x32 ? 32 : 16;
  }
  /// Columns of words that the registers fill, before unpacking.
  unsigned getNumColumns() const {
    switch (shape) {
    case MoveShape::Lanes16x64:
      return 2 * number;
    case MoveShape::Lanes16x128:
      return 4 * number;
    case MoveShape::Lanes16x256:
      return 8 * number;
    default:
      return number;
    }
  }
  static unsigned getNumRegisters(MoveShape shape, unsigned number) {
    return shape == MoveShape::Lanes16x128   ? 2 * number
           : shape == MoveShape::Lanes16x256 ? 4 * number
                                             : number;
  }
  /// The place of register `r` of lane `lane`, relative to the address.
  TensorAddress getPlace(unsigned lane, unsigned r) const {
    unsigned g = lane / 4, t = lane % 4;
    switch (shape) {
    case MoveShape::Lanes32x32:
      return {lane, r};
    case MoveShape::Lanes16x64:
      return {g + 8 * (lane % 2), 2 * r + lane / 2 % 2};
    case MoveShape::Lanes16x128:
      return {g + 8 * (r % 2), r / 2 * 4 + t};
    case MoveShape::Lanes16x256:
      return {g + 8 * (r / 2 % 2), r / 4 * 8 + 2 * t + r % 2};
    case MoveShape::Lanes16x32x2:
      return {lane % 16, r};
    }
    return {0, 0};
  }
};

/// Finds the memory of a load or store and notes the access. False after a
/// fault.
bool findPlaces(const Instruction &instruction, Lanes &lanes,
                const MoveInstruction &data, bool isStore, TensorAddress &first,
                TensorAddress &second) {
  uint64_t addresses[kLanes];
  if (!checkWholeWarp(instruction, lanes) ||
      !evaluate(instruction, lanes, data.address, addresses))
    return false;
  uint32_t low[kLanes], bits;
  std::copy_n(addresses, kLanes, low);
  if (!getUniform(instruction, lanes, low, "address in tensor memory", bits))
    return false;
  Warp &warp = *lanes.warp;
  TensorUser user = {instruction, warp, 0, data.verb};
  first = TensorAddress(bits);
  second = TensorAddress(bits + static_cast<uint32_t>(data.split));
  unsigned quadrant = warp.getIndex() % 4 * kQuadrantLanes;
  unsigned numLanes = data.getNumLanes();
  for (TensorAddress place : {first, second})
    if (place.lane < quadrant ||
        place.lane + numLanes > quadrant + kQuadrantLanes ||
        place.lane % numLanes)
      return user.fault(
          Check::OutOfBounds,
          "expects lanes of the " + Twine(quadrant) + " to " +
              Twine(quadrant + kQuadrantLanes - 1) + " that warp " +
              Twine(warp.getIndex()) + " may touch, from a multiple of " +
              Twine(numLanes) + " on, but got lane " + Twine(place.lane));
  Block &block = warp.getBlock();
  TensorMemory &memory = block.getState<TensorMemory>();
  SharedMemory::Pending pending = SharedMemory::kNotPending;
  unsigned columns = data.getNumColumns() * (data.isPacked ? 2 : 1);
  uint32_t mask = numLanes == 32 ? kAllLanes : 0xFFFF;
  if (!memory.note(user, isStore, {}, first, mask, columns, pending) ||
      (data.shape == MoveShape::Lanes16x32x2 &&
       !memory.note(user, isStore, {}, second, mask, columns, pending)))
    return false;
  PendingMoves &moves = block.getState<TensorMoves>().get(warp);
  (isStore ? moves.stores : moves.loads).push_back(pending);
  if (warp.collectsStatistics())
    warp.getCounters(instruction).bytes +=
        uint64_t(data.registers.size()) * kLanes * 4;
  return true;
}

void executeLoad(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const MoveInstruction *>(instruction.data);
  TensorAddress first(0), second(0);
  if (!findPlaces(instruction, lanes, data, /*isStore=*/false, first, second))
    return;
  TensorMemory &memory = lanes.warp->getBlock().getState<TensorMemory>();
  for (auto [r, slot] : llvm::enumerate(data.registers)) {
    uint32_t *values = lanes.get<uint32_t>(slot);
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      TensorAddress place = data.getPlace(lane, static_cast<unsigned>(r));
      TensorAddress base =
          data.shape == MoveShape::Lanes16x32x2 && lane >= 16 ? second : first;
      unsigned row = base.lane + place.lane;
      uint32_t written;
      if (data.isPacked) {
        unsigned column = base.column + 2 * place.column;
        values[lane] = (memory.word(row, column) & 0xFFFF) |
                       memory.word(row, column + 1) << 16;
        written = (memory.written(row, column) & 0xFFFF) |
                  memory.written(row, column + 1) << 16;
      } else {
        unsigned column = base.column + place.column;
        values[lane] = memory.word(row, column);
        written = memory.written(row, column);
      }
      setWritten<uint32_t>(lanes, slot, lane, written);
    }
  }
}

void executeStore(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const MoveInstruction *>(instruction.data);
  TensorAddress first(0), second(0);
  if (!findPlaces(instruction, lanes, data, /*isStore=*/true, first, second))
    return;
  TensorMemory &memory = lanes.warp->getBlock().getState<TensorMemory>();
  for (auto [r, slot] : llvm::enumerate(data.registers)) {
    const uint32_t *values = lanes.read<uint32_t>(slot);
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      TensorAddress place = data.getPlace(lane, static_cast<unsigned>(r));
      TensorAddress base =
          data.shape == MoveShape::Lanes16x32x2 && lane >= 16 ? second : first;
      unsigned row = base.lane + place.lane;
      uint32_t written = getWritten<uint32_t>(lanes, slot, lane);
      if (data.isPacked) {
        // Nothing is said of the upper halves of the two words.
        unsigned column = base.column + 2 * place.column;
        memory.word(row, column) = values[lane] & 0xFFFF;
        memory.word(row, column + 1) = values[lane] >> 16;
        memory.written(row, column) = written & 0xFFFF;
        memory.written(row, column + 1) = written >> 16;
      } else {
        unsigned column = base.column + place.column;
        memory.word(row, column) = values[lane];
        memory.written(row, column) = written;
      }
    }
  }
}

Error decodeMove(Decoder &decoder, bool isStore) {
  MoveInstruction data;
  data.verb = isStore ? "tcgen05.st" : "tcgen05.ld";
  if (Error error = checkTensorTarget(decoder))
    return error;
  if (!isStore && decoder.take("red"))
    return decoder.error("tcgen05.ld.red is not modelled");
  if (Error error = takeWarpWide(decoder))
    return error;
  constexpr StringRef shapes[] = {"32x32b", "16x64b", "16x128b", "16x256b",
                                  "16x32bx2"};
  StringRef shape = decoder.takeAny(shapes);
  if (shape.empty())
    return decoder.error(
        "expects .32x32b, .16x64b, .16x128b, .16x256b or .16x32bx2");
  data.shape = static_cast<MoveShape>(llvm::find(shapes, shape) - shapes);
  StringRef number =
      decoder.takeAny({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  if (number.empty())
    return decoder.error("expects a number from .x1 to .x128");
  number.drop_front().getAsInteger(10, data.number);
  unsigned numRegisters =
      MoveInstruction::getNumRegisters(data.shape, data.number);
  if (numRegisters > 128)
    return decoder.error("expects at most 128 registers, but ." + shape + "." +
                         number + " has " + Twine(numRegisters));
  data.isPacked = decoder.take(isStore ? "unpack::16b" : "pack::16b");
  if (!decoder.take("b32"))
    return decoder.error("expects .b32");
  const bool isSplit = data.shape == MoveShape::Lanes16x32x2;
  const unsigned count = isSplit ? 3 : 2;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  Expected<AddressOperand> address =
      takeTensorAddress(decoder, isStore ? 0 : 1);
  if (!address)
    return address.takeError();
  data.address = *address;
  if (isSplit) {
    Expected<int64_t> split = decoder.integer(isStore ? 1 : 2);
    if (!split)
      return split.takeError();
    data.split = *split;
  }
  const unsigned vector = isStore ? count - 1 : 0;
  if (decoder.getOperand(vector).kind != Operand::Kind::Vector)
    return decoder.error(decoder.getOperand(vector),
                         "expects registers in braces");
  auto registers = isStore
                       ? decoder.sources(vector, Type::B32, numRegisters)
                       : decoder.destinations(vector, Type::B32, numRegisters);
  if (!registers)
    return registers.takeError();
  data.registers = *registers;
  Instruction &instruction = decoder.emit(
      isStore ? executeStore : executeLoad,
      isStore ? InstructionClass::StoreTensor : InstructionClass::LoadTensor);
  instruction.flow = Flow::Collective;
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

Error decodeLoad(Decoder &decoder) { return decodeMove(decoder, false); }
Error decodeStore(Decoder &decoder) { return decodeMove(decoder, true); }

//===----------------------------------------------------------------------===//
// Waits and fences
//===----------------------------------------------------------------------===//

template <bool kIsStore>
void executeWait(const Instruction &instruction, Lanes &lanes) {
  if (!checkWholeWarp(instruction, lanes))
    return;
  Block &block = lanes.warp->getBlock();
  PendingMoves &moves = block.getState<TensorMoves>().get(*lanes.warp);
  auto &list = kIsStore ? moves.stores : moves.loads;
  for (SharedMemory::Pending pending : list)
    block.getShared().complete(pending, lanes.warp->getIndex());
  list.clear();
}

template <bool kIsStore>
Error decodeWait(Decoder &decoder) {
  if (Error error = checkTensorTarget(decoder))
    return error;
  if (Error error = takeWarpWide(decoder))
    return error;
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeWait<kIsStore>, InstructionClass::Barrier).flow =
      Flow::Collective;
  return Error::success();
}

void executeFenceBefore(const Instruction &, Lanes &lanes) {
  lanes.warp->getBlock().getShared().fenceBeforeSync(lanes.warp->getIndex());
}

void executeFenceAfter(const Instruction &, Lanes &lanes) {
  lanes.warp->getBlock().getShared().fenceAfterSync(lanes.warp->getIndex());
}

template <bool kIsBefore>
Error decodeFence(Decoder &decoder) {
  if (Error error = checkTensorTarget(decoder))
    return error;
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(kIsBefore ? executeFenceBefore : executeFenceAfter,
               InstructionClass::Barrier);
  return Error::success();
}

} // namespace

void registerTcgen05Moves(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Tensor memory";
  table.add("tcgen05.alloc",
            "tcgen05.alloc.cta_group::1.sync.aligned{.shared::cta}.b32", kGroup,
            decodeAlloc);
  table.add("tcgen05.dealloc", "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
            kGroup, decodeDealloc);
  table.add("tcgen05.relinquish_alloc_permit",
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", kGroup,
            decodeRelinquish);
  table.add("tcgen05.ld",
            "tcgen05.ld.sync.aligned.{32x32b,16x64b,16x128b,16x256b,16x32bx2}"
            ".{x1,…,x128}{.pack::16b}.b32",
            kGroup, decodeLoad);
  table.add("tcgen05.st",
            "tcgen05.st.sync.aligned.{32x32b,16x64b,16x128b,16x256b,16x32bx2}"
            ".{x1,…,x128}{.unpack::16b}.b32",
            kGroup, decodeStore);
  table.add("tcgen05.wait::ld", "tcgen05.wait::ld.sync.aligned", kGroup,
            decodeWait<false>);
  table.add("tcgen05.wait::st", "tcgen05.wait::st.sync.aligned", kGroup,
            decodeWait<true>);
  table.add("tcgen05.fence::before_thread_sync",
            "tcgen05.fence::before_thread_sync", kGroup, decodeFence<true>);
  table.add("tcgen05.fence::after_thread_sync",
            "tcgen05.fence::after_thread_sync", kGroup, decodeFence<false>);
}

void registerTcgen05(InstructionTable &table) {
  registerTcgen05Moves(table);
  registerTcgen05Copy(table);
  registerTcgen05Multiply(table);
}

} // namespace tile::emulator
