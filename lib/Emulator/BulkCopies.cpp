//===- BulkCopies.cpp - cp.async.bulk and cp.reduce.async.bulk ------------===//

#include "AsyncCopies.h"
#include "AsyncOperations.h"
#include "MemoryAccess.h"

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

struct BulkInstruction {
  StringRef verb;
  MemoryOperand destination, source, mbarrier;
  bool usesMbarrier = false;
  Slot size = kNoSlot;
  Slot blockMask = kNoSlot; ///< `.multicast::cluster`.
  Slot byteMask = kNoSlot;  ///< `.cp_mask`.
  AtomicOperation reduction = nullptr;
  unsigned elementBytes = 0;
};

/// Begins the copy of one lane. False after a fault.
class BulkCopy {
public:
  BulkCopy(const Instruction &instruction, Lanes &lanes,
           const BulkInstruction &data)
      : instruction(instruction), lanes(lanes), data(data), warp(*lanes.warp),
        block(warp.getBlock()), shared(block.getShared()) {}

  bool prepare() {
    auto isDefined = [&](Slot slot, StringRef what) {
      return slot == kNoSlot ||
             warp.checkDefined(instruction, lanes, slot, what);
    };
    return isDefined(data.size, "the size of a bulk copy") &&
           isDefined(data.blockMask, "the mask of a multicast") &&
           isDefined(data.byteMask, "the byte mask of a bulk copy") &&
           evaluate(instruction, lanes, data.destination.address, to) &&
           evaluate(instruction, lanes, data.source.address, from) &&
           (!data.usesMbarrier ||
            evaluate(instruction, lanes, data.mbarrier.address, signal));
  }

  bool begin(unsigned lane) {
    this->lane = lane;
    bit = uint32_t(1) << lane;
    size = lanes.read<uint32_t>(data.size)[lane];
    if (size % 16)
      return illegal("expects a size that is a multiple of 16 bytes, but got " +
                     Twine(size));
    // The block is the only one of its cluster.
    if (data.blockMask != kNoSlot &&
        lanes.read<uint16_t>(data.blockMask)[lane] != 1)
      return illegal("expects a mask of 1 in a cluster of one block, but got " +
                     Twine(lanes.read<uint16_t>(data.blockMask)[lane]));

    BulkOperation operation;
    operation.instruction = &instruction;
    operation.warp = &warp;
    operation.lane = lane;
    operation.usesMbarrier = data.usesMbarrier;
    operation.transactionBytes = size;
    if (data.usesMbarrier &&
        !findSignal(instruction, lanes, lane, data.mbarrier, signal, data.verb,
                    operation))
      return false;
    if (size) {
      const uint8_t *bytes = data.source.space == StateSpace::Global
                                 ? readGlobal()
                                 : readShared(operation);
      if (!bytes || !(data.destination.space == StateSpace::Global
                          ? writeGlobal(operation, bytes)
                          : writeShared(operation, bytes)))
        return false;
    }
    if (warp.collectsStatistics()) {
      InstructionCounters &counters = warp.getCounters(instruction);
      counters.bytes += size;
      if (data.source.space == StateSpace::Global ||
          data.destination.space == StateSpace::Global)
        counters.sectors += (size + 31) / 32;
    }
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

  const uint8_t *readGlobal() {
    const uint8_t *bytes =
        block.getGlobal().resolve(from[lane], size, 16, /*isStore=*/false);
    if (!bytes)
      faultGlobal(instruction, warp, lane, from[lane], size, 16,
                  /*isStore=*/false, data.verb);
    else if (isWatched(warp))
      watch(instruction, warp, lane, from[lane], size, data.verb, bytes);
    return bytes;
  }

  const uint8_t *readShared(BulkOperation &operation) {
    uint32_t offsets[kLanes];
    if (!resolveShared(instruction, lanes, bit, data.source.space, from, size,
                       16, data.verb, offsets) ||
        !noteShared(instruction, lanes, SharedMemory::Access::ProxyRead, bit,
                    offsets, size, data.verb, nullptr, operation.read))
      return nullptr;
    sourceOffset = offsets[lane];
    return shared.getBytes() + sourceOffset;
  }

  bool writeGlobal(BulkOperation &operation, const uint8_t *bytes) {
    if (!block.getGlobal().resolve(to[lane], size, 16, /*isStore=*/true)) {
      faultGlobal(instruction, warp, lane, to[lane], size, 16,
                  /*isStore=*/true, data.verb);
      return false;
    }
    uint16_t mask = data.byteMask == kNoSlot
                        ? 0xFFFF
                        : lanes.read<uint16_t>(data.byteMask)[lane];
    const uint8_t *written = shared.getWritten() + sourceOffset;
    for (uint32_t i = 0; i != size; ++i)
      if (written[i] != 0xFF && (mask >> (i % 16) & 1)) {
        warp.fault(instruction, lane, Check::Uninitialized,
                   "an unwritten value reaches global memory: " + data.verb +
                       " to " + block.getGlobal().describe(to[lane] + i) +
                       " from " +
                       describeShared(block.getProgram(), sourceOffset + i),
                   to[lane] + i, block.getGlobal().getBufferName(to[lane]));
        return false;
      }
    AsyncGlobalWrite &write = operation.writes.emplace_back();
    write.address = to[lane];
    write.bytes.assign(bytes, bytes + size);
    write.byteMask = mask;
    write.reduction = data.reduction;
    write.elementBytes = data.elementBytes;
    return true;
  }

  bool writeShared(BulkOperation &operation, const uint8_t *bytes) {
    uint32_t offsets[kLanes];
    if (!resolveShared(instruction, lanes, bit, data.destination.space, to,
                       size, 16, data.verb, offsets) ||
        !noteShared(instruction, lanes, SharedMemory::Access::ProxyWrite, bit,
                    offsets, size, data.verb, nullptr, operation.write))
      return false;
    uint8_t *memory = shared.getBytes() + offsets[lane];
    uint8_t *written = shared.getWritten() + offsets[lane];
    if (data.reduction) {
      uint8_t old[16];
      for (uint32_t i = 0; i != size; i += data.elementBytes)
        data.reduction(memory + i, bytes + i, nullptr, old,
                       AtomicPlace::Shared);
      return true;
    }
    std::memmove(memory, bytes, size);
    if (data.source.space == StateSpace::Global)
      std::memset(written, 0xFF, size);
    else
      std::memmove(written, shared.getWritten() + sourceOffset, size);
    return true;
  }

  const Instruction &instruction;
  Lanes &lanes;
  const BulkInstruction &data;
  Warp &warp;
  Block &block;
  SharedMemory &shared;
  uint64_t to[kLanes], from[kLanes], signal[kLanes];
  unsigned lane = 0;
  uint32_t bit = 0, size = 0, sourceOffset = 0;
};

void executeBulk(const Instruction &instruction, Lanes &lanes) {
  BulkCopy copy(instruction, lanes,
                *static_cast<const BulkInstruction *>(instruction.data));
  if (!copy.prepare())
    return;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1)
    if (!copy.begin(static_cast<unsigned>(__builtin_ctz(rest))))
      return;
}

/// The state spaces, which stand destination first.
Error decodeSpaces(Decoder &decoder, StateSpace &destination,
                   StateSpace &source, bool isReduction) {
  StringRef first, second;
  for (StringRef word : decoder.getWords())
    if (word == "global" || word == "shared::cta" || word == "shared::cluster")
      (first.empty() ? first : second) = word;
  const bool isKnown =
      (first == "global" && second == "shared::cta") ||
      (first == "shared::cluster" && second == "shared::cta") ||
      (!isReduction && second == "global" &&
       (first == "shared::cta" || first == "shared::cluster"));
  if (!isKnown || !decoder.take(first) || !decoder.take(second))
    return decoder.error(
        isReduction ? "expects .global.shared::cta or "
                      ".shared::cluster.shared::cta"
                    : "expects .shared::cta.global, .shared::cluster.global, "
                      ".shared::cluster.shared::cta or .global.shared::cta");
  destination = first == "global" ? StateSpace::Global : StateSpace::Shared;
  source = second == "global" ? StateSpace::Global : StateSpace::Shared;
  return Error::success();
}

Error decodeBulkForm(Decoder &decoder, bool isReduction) {
  BulkInstruction data;
  data.verb = isReduction ? "cp.reduce.async.bulk" : "cp.async.bulk";
  if (decoder.getArchitecture() < 90)
    return decoder.error(data.verb + " expects sm_90 or newer");
  StateSpace destination = StateSpace::Generic, source = StateSpace::Generic;
  if (Error error = decodeSpaces(decoder, destination, source, isReduction))
    return error;
  data.usesMbarrier = destination == StateSpace::Shared;
  StringRef mechanism =
      data.usesMbarrier ? "mbarrier::complete_tx::bytes" : "bulk_group";
  if (!decoder.take(mechanism))
    return decoder.error("expects ." + mechanism);
  const bool isMulticast = !isReduction && source == StateSpace::Global &&
                           decoder.take("multicast::cluster");
  const bool hasPolicy = !(data.usesMbarrier && source == StateSpace::Shared) &&
                         decoder.take("L2::cache_hint");
  const bool isMasked =
      !isReduction && !data.usesMbarrier && decoder.take("cp_mask");
  if (isReduction) {
    StringRef operation = decoder.takeAny(
        {"and", "or", "xor", "add", "inc", "dec", "min", "max"});
    const bool isNoFlush = decoder.take("noftz");
    Expected<Type> type = decoder.takeType();
    if (!type)
      return type.takeError();
    const bool isHalf = *type == Type::F16 || *type == Type::BF16;
    data.reduction = findAtomicOperation(operation, *type);
    const bool isShared = destination == StateSpace::Shared;
    const unsigned bits = getTypeBits(*type);
    if (!data.reduction ||
        (isShared && (isHalf || *type == Type::F32 || *type == Type::F64 ||
                      (bits == 64 && operation != "add"))))
      return decoder.error("." + operation + " is not defined on ." +
                           getTypeName(*type) + " here");
    if (isNoFlush != (isHalf && operation == "add"))
      return decoder.error("expects .noftz with .add.f16 and .add.bf16");
    data.elementBytes = bits / 8;
    // The order of blocks shows in rounded sums.
    if (isHalf || *type == Type::F32 || *type == Type::F64)
      decoder.getProgram().blocksCommunicate = true;
  }
  const unsigned count =
      3 + data.usesMbarrier + isMulticast + hasPolicy + isMasked;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  unsigned next = 0;
  Expected<MemoryOperand> operand =
      takeMemoryOperand(decoder, next++, destination);
  if (!operand)
    return operand.takeError();
  data.destination = *operand;
  operand = takeMemoryOperand(decoder, next++, source);
  if (!operand)
    return operand.takeError();
  data.source = *operand;
  Expected<Slot> size = decoder.source(next++, Type::U32);
  if (!size)
    return size.takeError();
  data.size = *size;
  if (data.usesMbarrier) {
    operand = takeMemoryOperand(decoder, next++, StateSpace::Shared);
    if (!operand)
      return operand.takeError();
    data.mbarrier = *operand;
  }
  if (isMulticast) {
    Expected<Slot> mask = decoder.source(next++, Type::B16);
    if (!mask)
      return mask.takeError();
    data.blockMask = *mask;
  }
  if (hasPolicy)
    if (Error error = checkCachePolicy(decoder, next++))
      return error;
  if (isMasked) {
    if (decoder.getArchitecture() < 100)
      return decoder.error(".cp_mask expects sm_100 or newer");
    Expected<Slot> mask = decoder.source(next++, Type::B16);
    if (!mask)
      return mask.takeError();
    data.byteMask = *mask;
  }
  Instruction &instruction =
      decoder.emit(executeBulk, InstructionClass::AsyncCopy);
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

Error decodeBulk(Decoder &decoder) { return decodeBulkForm(decoder, false); }
Error decodeReduce(Decoder &decoder) { return decodeBulkForm(decoder, true); }

void executeNothing(const Instruction &, Lanes &) {}

Error decodePrefetch(Decoder &decoder) {
  if (!decoder.take("L2") || !decoder.take("global"))
    return decoder.error("expects .L2.global");
  const unsigned count = decoder.take("L2::cache_hint") ? 3 : 2;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  if (Expected<MemoryOperand> source =
          takeMemoryOperand(decoder, 0, StateSpace::Global);
      !source)
    return source.takeError();
  if (Expected<Slot> size = decoder.source(1, Type::U32); !size)
    return size.takeError();
  if (count == 3)
    if (Error error = checkCachePolicy(decoder, 2))
      return error;
  decoder.emit(executeNothing, InstructionClass::AsyncCopy);
  return Error::success();
}

void executeCommit(const Instruction &, Lanes &lanes) {
  lanes.warp->getBlock().getState<AsyncOperations>().commitBulkGroup(
      *lanes.warp, lanes.active);
}

void executeWait(const Instruction &instruction, Lanes &lanes) {
  lanes.warp->getBlock().getState<AsyncOperations>().waitBulkGroup(
      *lanes.warp, lanes.active, static_cast<uint32_t>(instruction.immediate),
      /*readsOnly=*/false);
}

void executeWaitRead(const Instruction &instruction, Lanes &lanes) {
  lanes.warp->getBlock().getState<AsyncOperations>().waitBulkGroup(
      *lanes.warp, lanes.active, static_cast<uint32_t>(instruction.immediate),
      /*readsOnly=*/true);
}

Error decodeCommit(Decoder &decoder) {
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeCommit, InstructionClass::AsyncCopy);
  return Error::success();
}

Error decodeWait(Decoder &decoder) {
  const bool readsOnly = decoder.take("read");
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  Expected<uint32_t> count = takeGroupCount(decoder, 0);
  if (!count)
    return count.takeError();
  decoder
      .emit(readsOnly ? executeWaitRead : executeWait,
            InstructionClass::AsyncCopy)
      .immediate = *count;
  return Error::success();
}

} // namespace

void registerBulkCopies(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Asynchronous copies";
  table.add("cp.async.bulk",
            "cp.async.bulk.dst.src.{mbarrier::complete_tx::bytes,bulk_group}"
            "{.multicast::cluster}{.L2::cache_hint}{.cp_mask} between global "
            "and shared memory",
            kGroup, decodeBulk);
  table.add("cp.reduce.async.bulk",
            "cp.reduce.async.bulk.dst.src.mechanism{.L2::cache_hint}.op"
            "{.noftz}.type",
            kGroup, decodeReduce);
  table.add("cp.async.bulk.prefetch",
            "cp.async.bulk.prefetch.L2.global{.L2::cache_hint} (no effect)",
            kGroup, decodePrefetch);
  table.add("cp.async.bulk.commit_group", "cp.async.bulk.commit_group", kGroup,
            decodeCommit);
  table.add("cp.async.bulk.wait_group", "cp.async.bulk.wait_group{.read}",
            kGroup, decodeWait);
}

} // namespace tile::emulator
