//===- Atomics.cpp - atom and red -----------------------------------------===//

#include "AtomicOperations.h"
#include "MemoryAccess.h"

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

__extension__ typedef unsigned __int128 Word128;

struct AtomicInstruction {
  MemoryOperand operand;
  AccessKind kind;
  unsigned elementBytes = 4;
  AtomicOperation operation = nullptr;
  bool isExchange = false;
  llvm::SmallVector<Slot, 8> d; ///< Empty where nobody wants the old values.
  llvm::SmallVector<Slot, 8> b;
  Slot c = kNoSlot; ///< `cas`.
};

/// Marks the lanes in `undefined` of `slot` as unwritten, as a whole.
void markUnwritten(Lanes &lanes, Slot slot, unsigned laneBytes,
                   uint32_t undefined) {
  switch (laneBytes) {
  case 2:
    return define<uint16_t>(lanes, slot, undefined);
  case 4:
    return define<uint32_t>(lanes, slot, undefined);
  case 8:
    return define<uint64_t>(lanes, slot, undefined);
  default:
    return define<Word128>(lanes, slot, undefined);
  }
}

void executeAtomic(const Instruction &instruction, Lanes &lanes) {
  const auto &atomic =
      *static_cast<const AtomicInstruction *>(instruction.data);
  Warp &warp = *lanes.warp;
  const unsigned size = atomic.elementBytes;
  uint64_t addresses[kLanes];
  if (!evaluate(instruction, lanes, atomic.operand.address, addresses))
    return;
  Resolved resolved;
  if (!resolve(instruction, lanes, atomic.operand.space, addresses, atomic.kind,
               resolved))
    return;
  if (uint32_t elsewhere =
          lanes.active & ~(resolved.global | resolved.shared)) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(elsewhere));
    warp.fault(instruction, lane, Check::OutOfBounds,
               "atomic expects global or shared memory, but got address 0x" +
                   Twine::utohexstr(addresses[lane]),
               addresses[lane]);
    return;
  }
  uint32_t undefined = 0;
  for (Slot slot : atomic.b)
    undefined |= lanes.undefinedAt(slot);
  if (atomic.c != kNoSlot)
    undefined |= lanes.undefinedAt(atomic.c);
  undefined &= lanes.active;
  if (uint32_t lost = undefined & resolved.global) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(lost));
    GlobalAccess &global = warp.getBlock().getGlobal();
    warp.fault(instruction, lane, Check::Uninitialized,
               "an unwritten value reaches global memory: atomic at " +
                   global.describe(addresses[lane]),
               addresses[lane], global.getBufferName(addresses[lane]));
    return;
  }

  const uint8_t *c = atomic.c != kNoSlot ? lanes.registers + atomic.c : nullptr;
  uint32_t unwritten = 0;
  forLanes(lanes.active, [&](unsigned lane) {
    const bool isShared = resolved.shared >> lane & 1;
    if (isShared) {
      // What comes of an unwritten element or operand is unwritten.
      uint8_t *written = resolved.written[lane];
      bool wasWritten = true;
      for (unsigned i = 0; i != atomic.kind.bytes; ++i)
        wasWritten &= written[i] == 0xFF;
      unwritten |= uint32_t(!wasWritten) << lane;
      bool isWritten =
          !(undefined >> lane & 1) && (wasWritten || atomic.isExchange);
      std::memset(written, isWritten ? 0xFF : 0, atomic.kind.bytes);
    }
    // The destinations may be among the sources.
    alignas(16) uint8_t old[32];
    uint8_t *memory = resolved.bytes[lane];
    for (size_t i = 0; i != atomic.b.size(); ++i)
      atomic.operation(memory + i * size,
                       lanes.registers + atomic.b[i] + lane * size,
                       c ? c + lane * size : nullptr, old + i * size,
                       isShared ? AtomicPlace::Shared : AtomicPlace::Global);
    for (size_t i = 0; i != atomic.d.size(); ++i)
      std::memcpy(lanes.registers + atomic.d[i] + lane * size, old + i * size,
                  size);
    if (!isShared && isWatched(warp))
      watch(instruction, warp, lane, addresses[lane], atomic.kind.bytes,
            "atomic", memory);
  });
  for (Slot slot : atomic.d)
    markUnwritten(lanes, slot, size, unwritten);
  warp.getBlock().noteProgress();
}

Error decodeAtomic(Decoder &decoder, bool hasResult) {
  if (decoder.take("async"))
    return decoder.error("instruction 'red.async' is not supported");
  AtomicInstruction data;
  Expected<Ordering> ordering =
      hasResult
          ? takeOrdering(decoder, {"relaxed", "acquire", "release", "acq_rel"})
          : takeOrdering(decoder, {"relaxed", "release"});
  if (!ordering)
    return ordering.takeError();
  StateSpace space = takeSpace(decoder);
  StringRef operation = decoder.takeAny(
      {"and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"});
  if (operation.empty() ||
      (!hasResult && (operation == "cas" || operation == "exch")))
    return decoder.error(
        hasResult ? "expects one of .and, .or, .xor, .cas, .exch, .add, .inc, "
                    ".dec, .min and .max"
                  : "expects one of .and, .or, .xor, .add, .inc, .dec, .min "
                    "and .max");
  const bool isNoFlush = decoder.take("noftz");
  const bool hasPolicy = decoder.take("L2::cache_hint");
  const unsigned count = decoder.takeVector();
  Expected<Type> type = decoder.takeType();
  if (!type)
    return type.takeError();
  data.operation = findAtomicOperation(operation, *type);
  if (!data.operation)
    return decoder.error("." + operation + " is not defined on ." +
                         getTypeName(*type));
  const bool isHalf = *type == Type::F16 || *type == Type::BF16;
  const bool isPair = *type == Type::F16x2 || *type == Type::BF16x2;
  if ((isHalf || isPair) != isNoFlush)
    return decoder.error(isNoFlush
                             ? "expects .noftz with f16 and bf16 only"
                             : "expects .noftz with ." + getTypeName(*type));
  if (count != 1) {
    if (!(*type == Type::F32 && operation == "add") && !isHalf && !isPair)
      return decoder.error("expects .f32, .f16, .bf16, .f16x2 or .bf16x2 with "
                           ".v" +
                           Twine(count) + ", but got ." + getTypeName(*type));
    if (count == 8 && !isHalf)
      return decoder.error("expects .f16 or .bf16 with .v8, but got ." +
                           getTypeName(*type));
    if (decoder.getArchitecture() < 90)
      return decoder.error("vector atomics expect sm_90 or newer");
  } else if ((isHalf || isPair) && operation != "add") {
    return decoder.error("." + operation + "." + getTypeName(*type) +
                         " expects a vector");
  }
  if ((*type == Type::B128 || *type == Type::BF16 || *type == Type::BF16x2) &&
      decoder.getArchitecture() < 90)
    return decoder.error("atomics on ." + getTypeName(*type) +
                         " expect sm_90 or newer");

  unsigned next = hasResult ? 1 : 0;
  const unsigned operands = next + 2 + (operation == "cas" ? 1 : 0);
  if (Error error =
          decoder.expectOperands(operands, operands + (hasPolicy ? 1 : 0)))
    return error;
  Expected<MemoryOperand> operand = takeMemoryOperand(decoder, next++, space);
  if (!operand)
    return operand.takeError();
  data.operand = *operand;
  const bool mayBeGlobal = operand->space == StateSpace::Global ||
                           operand->space == StateSpace::Generic;
  if ((!mayBeGlobal && operand->space != StateSpace::Shared) ||
      operand->isConstant)
    return decoder.error("expects global or shared memory");
  if (count != 1 && !mayBeGlobal)
    return decoder.error("vector atomics expect global memory");

  const bool wantsResult =
      hasResult && decoder.getOperand(0).kind != Operand::Kind::Sink;
  if (wantsResult) {
    auto slots = decoder.destinations(0, *type, count);
    if (!slots)
      return slots.takeError();
    data.d.assign(slots->begin(), slots->end());
  }
  auto slots = decoder.sources(next++, *type, count);
  if (!slots)
    return slots.takeError();
  data.b.assign(slots->begin(), slots->end());
  if (operation == "cas") {
    Expected<Slot> c = decoder.source(next++, *type);
    if (!c)
      return c.takeError();
    data.c = *c;
  }
  if (hasPolicy && next < decoder.getNumOperands())
    if (Error error = checkCachePolicy(decoder, next))
      return error;

  data.elementBytes = getTypeBits(*type) / 8;
  data.isExchange = operation == "exch";
  data.kind.verb = "atomic";
  data.kind.bytes = data.elementBytes * count;
  data.kind.alignment = data.kind.bytes;
  data.kind.shared = SharedMemory::Access::StrongWrite;
  data.kind.isStore = true;
  // Reductions do not form acquire patterns (PTX ISA, memory consistency
  // model).
  data.kind.acquires = hasResult;
  data.kind.releases = true;
  // The order of blocks shows in old values and in rounded sums.
  const bool isRounded =
      isHalf || isPair || *type == Type::F32 || *type == Type::F64;
  if (mayBeGlobal && (wantsResult || isRounded || data.isExchange))
    decoder.getProgram().blocksCommunicate = true;

  Instruction &instruction =
      decoder.emit(executeAtomic, InstructionClass::Atomic);
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

Error decodeAtom(Decoder &decoder) { return decodeAtomic(decoder, true); }
Error decodeRed(Decoder &decoder) { return decodeAtomic(decoder, false); }

} // namespace

void registerAtomics(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Atomics";
  table.add("atom",
            "atom{.sem}{.scope}{.global,.shared}."
            "{and,or,xor,cas,exch,add,inc,dec,min,max}{.noftz}{.L2::cache_hint}"
            "{.v2,.v4,.v8}.type",
            kGroup, decodeAtom);
  table.add("red",
            "red{.sem}{.scope}{.global,.shared}."
            "{and,or,xor,add,inc,dec,min,max}{.noftz}{.L2::cache_hint}"
            "{.v2,.v4,.v8}.type",
            kGroup, decodeRed);
}

} // namespace tile::emulator
