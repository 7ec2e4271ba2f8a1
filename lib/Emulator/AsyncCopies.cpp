//===- AsyncCopies.cpp - cp.async and its groups --------------------------===//

#include "AsyncCopies.h"

#include "AsyncOperations.h"
#include "MemoryAccess.h"

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

struct CopyInstruction {
  MemoryOperand destination, source;
  AccessKind kind; ///< Of the source.
  Slot sourceSize = kNoSlot;
  Slot ignoreSource = kNoSlot;
};

/// Where each active lane's bytes come from and how many there are. False after
/// a fault.
bool findSources(const Instruction &instruction, Lanes &lanes,
                 const CopyInstruction &copy, uint8_t *(&from)[kLanes],
                 uint32_t (&sizes)[kLanes]) {
  Warp &warp = *lanes.warp;
  const uint32_t bytes = copy.kind.bytes;
  uint32_t partial = 0;
  std::fill_n(sizes, kLanes, bytes);
  if (copy.sourceSize != kNoSlot) {
    if (!warp.checkDefined(instruction, lanes, copy.sourceSize,
                           "the source size of a copy"))
      return false;
    const uint32_t *given = lanes.read<uint32_t>(copy.sourceSize);
    for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
      unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
      sizes[lane] = given[lane];
      partial |= uint32_t(given[lane] != bytes) << lane;
      if (given[lane] <= bytes)
        continue;
      warp.fault(instruction, lane, Check::IllegalOperand,
                 "cp.async expects a source size of at most " + Twine(bytes) +
                     ", but got " + Twine(given[lane]));
      return false;
    }
  }
  if (copy.ignoreSource != kNoSlot) {
    if (!warp.checkDefined(instruction, lanes, copy.ignoreSource,
                           "the predicate that ignores a copy's source"))
      return false;
    uint32_t ignored = lanes.mask(copy.ignoreSource) & lanes.active;
    forLanes(ignored, [&](unsigned lane) { sizes[lane] = 0; });
    partial |= ignored;
  }

  uint64_t addresses[kLanes];
  // An address that nothing is read from need not be written.
  Lanes reading = lanes;
  forLanes(partial, [&](unsigned lane) {
    if (sizes[lane] == 0)
      reading.active &= ~(uint32_t(1) << lane);
  });
  if (!reading.active)
    return true;
  if (!evaluate(instruction, reading, copy.source.address, addresses))
    return false;
  uint32_t whole = reading.active & ~partial;
  uint32_t rest = reading.active & partial;
  if (whole) {
    Resolved resolved;
    reading.active = whole;
    if (!resolve(instruction, reading, copy.source.space, addresses, copy.kind,
                 resolved))
      return false;
    forLanes(whole, [&](unsigned lane) { from[lane] = resolved.bytes[lane]; });
  }
  for (; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    from[lane] = warp.getBlock().getGlobal().resolve(
        addresses[lane], sizes[lane], bytes, /*isStore=*/false);
    if (!from[lane]) {
      faultGlobal(instruction, warp, lane, addresses[lane], sizes[lane], bytes,
                  /*isStore=*/false, "cp.async");
      return false;
    }
    if (isWatched(warp))
      watch(instruction, warp, lane, addresses[lane], sizes[lane], "cp.async",
            from[lane]);
    if (warp.collectsStatistics()) {
      InstructionCounters &counters = warp.getCounters(instruction);
      counters.bytes += sizes[lane];
      ++counters.sectors;
    }
  }
  return true;
}

void executeCopy(const Instruction &instruction, Lanes &lanes) {
  const auto &copy = *static_cast<const CopyInstruction *>(instruction.data);
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  SharedMemory &shared = block.getShared();
  const uint32_t bytes = copy.kind.bytes;
  uint64_t addresses[kLanes];
  uint32_t offsets[kLanes];
  uint8_t *from[kLanes];
  uint32_t sizes[kLanes];
  SharedMemory::Pending pending = SharedMemory::kNotPending;
  if (!evaluate(instruction, lanes, copy.destination.address, addresses) ||
      !resolveShared(instruction, lanes, lanes.active, copy.destination.space,
                     addresses, bytes, bytes, "cp.async", offsets) ||
      !findSources(instruction, lanes, copy, from, sizes) ||
      !noteShared(instruction, lanes, SharedMemory::Access::AsyncWrite,
                  lanes.active, offsets, bytes, "cp.async", nullptr, pending))
    return;
  uint8_t *to = shared.getBytes();
  forLanes(lanes.active, [&](unsigned lane) {
    uint8_t buffer[16] = {};
    if (sizes[lane])
      std::memcpy(buffer, from[lane], sizes[lane]);
    std::memcpy(to + offsets[lane], buffer, bytes);
    std::memset(shared.getWritten() + offsets[lane], 0xFF, bytes);
  });
  AsyncOperations &operations = block.getState<AsyncOperations>();
  operations.begin(warp, instruction, lanes.active, offsets, bytes, pending);
}

/// Takes `.L2::…` hints and checks the cache policy, which is the last operand.
/// Returns the number of operands before it.
Expected<unsigned> takePolicy(Decoder &decoder) {
  decoder.takeAny({"L2::64B", "L2::128B", "L2::256B"});
  unsigned count = decoder.getNumOperands();
  if (!decoder.take("L2::cache_hint"))
    return count;
  if (count == 0)
    return decoder.error("expects a cache policy with .L2::cache_hint");
  if (Error error = checkCachePolicy(decoder, count - 1))
    return std::move(error);
  return count - 1;
}

Error decodeCopy(Decoder &decoder) {
  CopyInstruction copy;
  StringRef cache = decoder.takeAny({"ca", "cg"});
  if (cache.empty())
    return decoder.error("expects .ca or .cg");
  if (decoder.takeAny({"shared", "shared::cta"}).empty() ||
      !decoder.take("global"))
    return decoder.error("expects .shared.global");
  Expected<unsigned> count = takePolicy(decoder);
  if (!count)
    return count.takeError();
  if (*count < 3 || *count > 4)
    return decoder.error("expects a destination, a source, a size and at most "
                         "one of a source size and a predicate");
  Expected<MemoryOperand> destination =
      takeMemoryOperand(decoder, 0, StateSpace::Shared);
  if (!destination)
    return destination.takeError();
  Expected<MemoryOperand> source =
      takeMemoryOperand(decoder, 1, StateSpace::Global);
  if (!source)
    return source.takeError();
  Expected<int64_t> size = decoder.integer(2);
  if (!size)
    return size.takeError();
  if (*size != 16 && (cache == "cg" || (*size != 4 && *size != 8)))
    return decoder.error(decoder.getOperand(2),
                         Twine("expects a size of ") +
                             (cache == "cg" ? "16" : "4, 8 or 16") +
                             " bytes, but got " + Twine(*size));
  if (*count == 4) {
    const Operand &last = decoder.getOperand(3);
    const bool isPredicate = last.kind == Operand::Kind::Register &&
                             last.variable && last.variable->type == Type::Pred;
    Expected<Slot> slot =
        isPredicate ? decoder.predicate(3) : decoder.source(3, Type::U32);
    if (!slot)
      return slot.takeError();
    (isPredicate ? copy.ignoreSource : copy.sourceSize) = *slot;
  }
  copy.destination = *destination;
  copy.source = *source;
  copy.kind.verb = "cp.async";
  copy.kind.bytes = static_cast<unsigned>(*size);
  copy.kind.alignment = copy.kind.bytes;
  Instruction &instruction =
      decoder.emit(executeCopy, InstructionClass::AsyncCopy);
  instruction.data = decoder.getProgram().own(std::move(copy));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void executeCommit(const Instruction &, Lanes &lanes) {
  lanes.warp->getBlock().getState<AsyncOperations>().commitGroup(*lanes.warp,
                                                                 lanes.active);
}

void executeWait(const Instruction &instruction, Lanes &lanes) {
  lanes.warp->getBlock().getState<AsyncOperations>().waitGroup(
      *lanes.warp, lanes.active, static_cast<uint32_t>(instruction.immediate));
}

void executeWaitAll(const Instruction &instruction, Lanes &lanes) {
  executeCommit(instruction, lanes);
  executeWait(instruction, lanes);
}

Error decodeCommit(Decoder &decoder) {
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeCommit, InstructionClass::AsyncCopy);
  return Error::success();
}

Error decodeWait(Decoder &decoder) {
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  Expected<uint32_t> count = takeGroupCount(decoder, 0);
  if (!count)
    return count.takeError();
  decoder.emit(executeWait, InstructionClass::AsyncCopy).immediate = *count;
  return Error::success();
}

Error decodeWaitAll(Decoder &decoder) {
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeWaitAll, InstructionClass::AsyncCopy).immediate = 0;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// cp.async.mbarrier.arrive
//===----------------------------------------------------------------------===//

struct ArriveInstruction {
  MemoryOperand operand;
  bool increments = true;
};

void executeArrive(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const ArriveInstruction *>(instruction.data);
  constexpr StringRef kVerb = "cp.async.mbarrier.arrive";
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  uint64_t addresses[kLanes];
  uint32_t offsets[kLanes];
  if (!evaluate(instruction, lanes, data.operand.address, addresses) ||
      !resolveShared(instruction, lanes, lanes.active, data.operand.space,
                     addresses, 8, 8, kVerb, offsets) ||
      !noteShared(instruction, lanes, SharedMemory::Access::StrongWrite,
                  lanes.active, offsets, 8, kVerb))
    return;
  MbarrierTable &table = block.getState<MbarrierTable>();
  AsyncOperations &operations = block.getState<AsyncOperations>();
  for (uint32_t rest = lanes.active; rest;) {
    // The lanes of one mbarrier at a time.
    uint32_t offset = offsets[__builtin_ctz(rest)];
    uint32_t mask = 0;
    for (uint32_t others = rest; others; others &= others - 1) {
      unsigned lane = static_cast<unsigned>(__builtin_ctz(others));
      if (offsets[lane] != offset)
        continue;
      mask |= uint32_t(1) << lane;
      MbarrierUser user = {instruction, warp, lane};
      Mbarrier *mbarrier = table.get(user, offset);
      if (!mbarrier || (data.increments && !table.addPending(user, *mbarrier)))
        return;
    }
    operations.arriveWhenDone(warp, instruction, mask, offset);
    rest &= ~mask;
  }
  // A poll of this mbarrier may succeed now.
  block.noteProgress();
}

Error decodeArrive(Decoder &decoder) {
  ArriveInstruction data;
  data.increments = !decoder.take("noinc");
  StateSpace space = decoder.takeAny({"shared", "shared::cta"}).empty()
                         ? StateSpace::Generic
                         : StateSpace::Shared;
  if (!decoder.take("b64"))
    return decoder.error("expects .b64");
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  Expected<MemoryOperand> operand = takeMemoryOperand(decoder, 0, space);
  if (!operand)
    return operand.takeError();
  data.operand = *operand;
  Instruction &instruction =
      decoder.emit(executeArrive, InstructionClass::AsyncCopy);
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

} // namespace

bool findSignal(const Instruction &instruction, Lanes &lanes, unsigned lane,
                const MemoryOperand &mbarrier,
                const uint64_t (&addresses)[kLanes], StringRef verb,
                BulkOperation &operation) {
  const uint32_t bit = uint32_t(1) << lane;
  uint32_t offsets[kLanes];
  if (!resolveShared(instruction, lanes, bit, mbarrier.space, addresses, 8, 8,
                     verb, offsets) ||
      !noteShared(instruction, lanes, SharedMemory::Access::StrongWrite, bit,
                  offsets, 8, verb))
    return false;
  operation.mbarrier = offsets[lane];
  MbarrierUser user = {instruction, *lanes.warp, lane};
  return lanes.warp->getBlock().getState<MbarrierTable>().get(
             user, offsets[lane]) != nullptr;
}

Expected<uint32_t> takeGroupCount(Decoder &decoder, unsigned i) {
  Expected<int64_t> count = decoder.integer(i);
  if (!count)
    return count.takeError();
  if (*count < 0 || *count > INT32_MAX)
    return decoder.error(decoder.getOperand(i),
                         "expects a number of groups, but got " +
                             Twine(*count));
  return static_cast<uint32_t>(*count);
}

void registerAsyncCopies(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Asynchronous copies";
  table.add("cp.async",
            "cp.async.{ca,cg}.shared.global{.L2::hints} with source size or "
            "ignored source",
            kGroup, decodeCopy);
  table.add("cp.async.commit_group", "cp.async.commit_group", kGroup,
            decodeCommit);
  table.add("cp.async.wait_group", "cp.async.wait_group", kGroup, decodeWait);
  table.add("cp.async.wait_all", "cp.async.wait_all", kGroup, decodeWaitAll);
  table.add("cp.async.mbarrier.arrive",
            "cp.async.mbarrier.arrive{.noinc}{.shared}.b64", kGroup,
            decodeArrive);
  registerBulkCopies(table);
  registerTensorCopies(table);
  registerTensorMapUpdates(table);
}

} // namespace tile::emulator
