//===- Mbarriers.cpp - mbarrier objects and instructions ------------------===//

#include "Mbarriers.h"

#include "AsyncOperations.h"
#include "MemoryAccess.h"

#include "llvm/ADT/StringExtras.h"

namespace tile::emulator {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// The objects
//===----------------------------------------------------------------------===//

std::string Mbarrier::describe() const {
  std::string result = ("mbarrier at shared 0x" + Twine::utohexstr(offset) +
                        ": phase " + Twine(phase) + ", " + Twine(pending) +
                        " of " + Twine(expected) + " arrivals pending")
                           .str();
  if (transactions)
    result += (", " + Twine(transactions) + " bytes to come").str();
  return result;
}

static bool misuse(const MbarrierUser &user, uint32_t offset,
                   const Twine &message) {
  user.warp.fault(user.instruction, user.lane, Check::Synchronization, message,
                  offset);
  return false;
}

/// The eight bytes: expected and pending arrivals in 20 bits each, the
/// transaction count in 21, two bits of phase, and a 1 at the top.
static uint64_t encode(const Mbarrier &mbarrier) {
  constexpr uint64_t kCount = Mbarrier::kMaxCount;
  return (mbarrier.expected & kCount) | (mbarrier.pending & kCount) << 20 |
         (static_cast<uint64_t>(mbarrier.transactions) & 0x1FFFFF) << 40 |
         (uint64_t(mbarrier.phase) & 3) << 61 | uint64_t(1) << 63;
}

void MbarrierTable::write(const MbarrierUser &user, const Mbarrier &mbarrier) {
  Block &block = user.warp.getBlock();
  uint64_t bits = encode(mbarrier);
  std::memcpy(block.getShared().getBytes() + mbarrier.offset, &bits,
              sizeof(bits));
  std::memset(block.getShared().getWritten() + mbarrier.offset, 0xFF,
              sizeof(bits));
  block.noteProgress();
}

bool MbarrierTable::init(const MbarrierUser &user, uint32_t offset,
                         uint32_t count) {
  if (count < 1 || count > Mbarrier::kMaxCount)
    return misuse(user, offset,
                  "mbarrier.init expects a count of 1 to " +
                      Twine(Mbarrier::kMaxCount) + ", but got " + Twine(count));
  Mbarrier &mbarrier = mbarriers[offset];
  uint64_t bits;
  std::memcpy(&bits, user.warp.getBlock().getShared().getBytes() + offset,
              sizeof(bits));
  if (mbarrier.isValid && bits == encode(mbarrier))
    return misuse(user, offset,
                  "mbarrier.init expects memory without an mbarrier, but " +
                      mbarrier.describe() + " has not been invalidated");
  mbarrier.offset = offset;
  mbarrier.isValid = true;
  mbarrier.phase = 0;
  mbarrier.expected = mbarrier.pending = count;
  mbarrier.transactions = 0;
  mbarrier.released.clock = mbarrier.released.relaxed = VectorClock();
  mbarrier.completed.clock = mbarrier.completed.relaxed = VectorClock();
  write(user, mbarrier);
  return true;
}

bool MbarrierTable::invalidate(const MbarrierUser &user, uint32_t offset) {
  Mbarrier *mbarrier = get(user, offset);
  if (!mbarrier)
    return false;
  mbarrier->isValid = false;
  user.warp.getBlock().noteProgress();
  return true;
}

Mbarrier *MbarrierTable::get(const MbarrierUser &user, uint32_t offset) {
  auto it = mbarriers.find(offset);
  std::string where = "0x" + llvm::utohexstr(offset, /*LowerCase=*/true);
  if (it == mbarriers.end()) {
    misuse(user, offset,
           "expects an mbarrier at shared address " + where +
               ", but none has been initialized there");
    return nullptr;
  }
  Mbarrier &mbarrier = it->second;
  if (!mbarrier.isValid) {
    misuse(user, offset,
           "expects an mbarrier at shared address " + where +
               ", but it has been invalidated");
    return nullptr;
  }
  uint64_t bits;
  std::memcpy(&bits, user.warp.getBlock().getShared().getBytes() + offset,
              sizeof(bits));
  if (bits != encode(mbarrier)) {
    misuse(user, offset,
           "expects an mbarrier at shared address " + where +
               ", but its bytes have been overwritten");
    return nullptr;
  }
  return &mbarrier;
}

bool MbarrierTable::endPhase(const MbarrierUser &user, Mbarrier &mbarrier,
                             bool mayComplete) {
  if (mbarrier.pending == 0 && mbarrier.transactions == 0) {
    if (!mayComplete)
      return misuse(user, mbarrier.offset,
                    ".noComplete expects that the phase goes on, but it "
                    "completes phase " +
                        Twine(mbarrier.phase) +
                        " of the mbarrier at shared 0x" +
                        Twine::utohexstr(mbarrier.offset));
    ++mbarrier.phase;
    mbarrier.pending = mbarrier.expected;
    mbarrier.completed.clock = mbarrier.released.clock;
    mbarrier.completed.relaxed = mbarrier.released.relaxed;
  }
  write(user, mbarrier);
  return true;
}

bool MbarrierTable::arrive(const MbarrierUser &user, Mbarrier &mbarrier,
                           uint32_t count, bool drops, bool mayComplete) {
  if (count < 1 || count > Mbarrier::kMaxCount)
    return misuse(user, mbarrier.offset,
                  "an arrival expects a count of 1 to " +
                      Twine(Mbarrier::kMaxCount) + ", but got " + Twine(count));
  if (count > mbarrier.pending)
    return misuse(user, mbarrier.offset,
                  "more arrivals than expected: " + Twine(count) + " at " +
                      mbarrier.describe());
  mbarrier.pending -= count;
  if (drops) {
    if (count > mbarrier.expected)
      return misuse(user, mbarrier.offset,
                    "more arrivals dropped than expected: " + Twine(count) +
                        " at " + mbarrier.describe());
    mbarrier.expected -= count;
  }
  return endPhase(user, mbarrier, mayComplete);
}

bool MbarrierTable::addPending(const MbarrierUser &user, Mbarrier &mbarrier) {
  if (mbarrier.pending == Mbarrier::kMaxCount)
    return misuse(user, mbarrier.offset,
                  "too many arrivals pending: " + mbarrier.describe());
  ++mbarrier.pending;
  write(user, mbarrier);
  return true;
}

bool MbarrierTable::addTransactions(const MbarrierUser &user,
                                    Mbarrier &mbarrier, int64_t bytes) {
  int64_t sum = mbarrier.transactions + bytes;
  constexpr int64_t kMost = Mbarrier::kMaxCount;
  if (sum < -kMost || sum > kMost)
    return misuse(user, mbarrier.offset,
                  "the transaction count of an mbarrier expects -" +
                      Twine(kMost) + " to " + Twine(kMost) + ", but got " +
                      Twine(sum));
  mbarrier.transactions = static_cast<int32_t>(sum);
  // Only a completed transaction can end the phase.
  if (bytes < 0)
    return endPhase(user, mbarrier, /*mayComplete=*/true);
  write(user, mbarrier);
  return true;
}

//===----------------------------------------------------------------------===//
// The instructions
//===----------------------------------------------------------------------===//

namespace {

struct MbarrierInstruction {
  MemoryOperand operand;
  StringRef verb;
  Slot count = kNoSlot; ///< Arrivals, or `init`'s count.
  Slot bytes = kNoSlot; ///< `expect_tx`, `complete_tx`.
  bool arrives = false, drops = false, mayComplete = true;
  bool completesTransactions = false;
  bool isRelaxed = false;
  bool hasState = false; ///< The wait tests a state, not a parity.
  Slot state = kNoSlot;  ///< Of `arrive`, where wanted.
};

/// The state that `arrive` gives: the phase, and the arrivals that were
/// pending. The marks between tell it from other values.
constexpr uint64_t kStateMark = 0xB00000;
uint64_t makeState(const Mbarrier &mbarrier) {
  return uint64_t(mbarrier.phase) << 32 | kStateMark | mbarrier.pending;
}
bool isState(uint64_t state) { return (state & 0xFFF00000) == kStateMark; }

/// Checks an operand of the active lanes.
bool checkOperand(const Instruction &instruction, Lanes &lanes, Slot slot,
                  StringRef what) {
  return slot == kNoSlot ||
         lanes.warp->checkDefined(instruction, lanes, slot, what);
}

/// The places of the active lanes' mbarriers. False after a fault.
bool findMbarriers(const Instruction &instruction, Lanes &lanes,
                   const MbarrierInstruction &data, SharedMemory::Access access,
                   uint32_t (&offsets)[kLanes]) {
  uint64_t addresses[kLanes];
  return evaluate(instruction, lanes, data.operand.address, addresses) &&
         resolveShared(instruction, lanes, lanes.active, data.operand.space,
                       addresses, 8, 8, data.verb, offsets) &&
         noteShared(instruction, lanes, access, lanes.active, offsets, 8,
                    data.verb);
}

void executeInit(const Instruction &instruction, Lanes &lanes) {
  const auto &data =
      *static_cast<const MbarrierInstruction *>(instruction.data);
  uint32_t offsets[kLanes];
  if (!checkOperand(instruction, lanes, data.count, "the count of an mbarrier"))
    return;
  if (!findMbarriers(instruction, lanes, data, SharedMemory::Access::Write,
                     offsets))
    return;
  MbarrierTable &table = lanes.warp->getBlock().getState<MbarrierTable>();
  const uint32_t *counts = lanes.read<uint32_t>(data.count);
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (!table.init({instruction, *lanes.warp, lane}, offsets[lane],
                    counts[lane]))
      return;
  }
}

void executeInvalidate(const Instruction &instruction, Lanes &lanes) {
  const auto &data =
      *static_cast<const MbarrierInstruction *>(instruction.data);
  Block &block = lanes.warp->getBlock();
  uint32_t offsets[kLanes];
  if (!findMbarriers(instruction, lanes, data, SharedMemory::Access::Write,
                     offsets))
    return;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (!block.getState<AsyncOperations>().completeOn(block, offsets[lane]) ||
        !block.getState<MbarrierTable>().invalidate(
            {instruction, *lanes.warp, lane}, offsets[lane]))
      return;
  }
}

/// `arrive`, `arrive_drop`, `expect_tx`, `complete_tx`.
void executeArrive(const Instruction &instruction, Lanes &lanes) {
  const auto &data =
      *static_cast<const MbarrierInstruction *>(instruction.data);
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  uint32_t offsets[kLanes];
  if (!checkOperand(instruction, lanes, data.count,
                    "the count of an mbarrier") ||
      !checkOperand(instruction, lanes, data.bytes,
                    "the transaction count of an mbarrier") ||
      !findMbarriers(instruction, lanes, data,
                     SharedMemory::Access::StrongWrite, offsets))
    return;
  MbarrierTable &table = block.getState<MbarrierTable>();
  uint64_t states[kLanes] = {};
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    MbarrierUser user = {instruction, warp, lane};
    Mbarrier *mbarrier = table.get(user, offsets[lane]);
    if (!mbarrier)
      return;
    states[lane] = makeState(*mbarrier);
    if (data.bytes != kNoSlot) {
      int64_t bytes = lanes.read<uint32_t>(data.bytes)[lane];
      if (!table.addTransactions(user, *mbarrier,
                                 data.completesTransactions ? -bytes : bytes))
        return;
    }
    if (!data.arrives)
      continue;
    if (data.isRelaxed)
      block.getShared().releaseRelaxed(warp.getIndex(), mbarrier->released);
    else
      block.getShared().release(warp.getIndex(), mbarrier->released);
    uint32_t count =
        data.count == kNoSlot ? 1 : lanes.read<uint32_t>(data.count)[lane];
    if (!table.arrive(user, *mbarrier, count, data.drops, data.mayComplete))
      return;
  }
  if (data.state != kNoSlot) {
    store(lanes, data.state, states);
    define(lanes, data.state);
  }
}

/// `test_wait`, `try_wait`.
void executeWait(const Instruction &instruction, Lanes &lanes) {
  const auto &data =
      *static_cast<const MbarrierInstruction *>(instruction.data);
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  uint32_t offsets[kLanes];
  if (!warp.checkDefined(instruction, lanes, instruction.a,
                         data.hasState ? "the state of an mbarrier"
                                       : "the parity of an mbarrier's phase") ||
      !findMbarriers(instruction, lanes, data, SharedMemory::Access::StrongRead,
                     offsets))
    return;
  MbarrierTable &table = block.getState<MbarrierTable>();
  AsyncOperations &operations = block.getState<AsyncOperations>();
  uint32_t complete = 0;
  const Mbarrier *unfinished = nullptr;
  uint32_t last = 0; // No mbarrier is there.
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    MbarrierUser user = {instruction, warp, lane};
    if (offsets[lane] != last && !operations.completeOn(block, offsets[lane]))
      return;
    last = offsets[lane];
    Mbarrier *mbarrier = table.get(user, offsets[lane]);
    if (!mbarrier)
      return;
    bool isComplete;
    if (data.hasState) {
      uint64_t state = lanes.read<uint64_t>(instruction.a)[lane];
      uint32_t age = mbarrier->phase - static_cast<uint32_t>(state >> 32);
      if (!isState(state) || age > 1) {
        misuse(user, mbarrier->offset,
               !isState(state)
                   ? "expects a state that mbarrier.arrive gave, but got 0x" +
                         llvm::utohexstr(state, /*LowerCase=*/true)
                   : "expects a state of the current or the preceding phase, "
                     "but got one of phase " +
                         std::to_string(state >> 32) + ": " +
                         mbarrier->describe());
        return;
      }
      isComplete = age == 1;
    } else {
      uint32_t parity = lanes.read<uint32_t>(instruction.a)[lane];
      if (parity > 1) {
        warp.fault(instruction, lane, Check::IllegalOperand,
                   "the parity of a phase expects 0 or 1, but got " +
                       Twine(parity));
        return;
      }
      isComplete = (mbarrier->phase & 1) != parity;
    }
    if (isComplete) {
      complete |= uint32_t(1) << lane;
      block.getShared().acquireRelaxed(warp.getIndex(), mbarrier->completed);
      if (!data.isRelaxed)
        block.getShared().acquire(warp.getIndex(), mbarrier->completed);
    } else {
      unfinished = mbarrier;
    }
  }
  storePredicate(lanes, instruction.d, complete, 0);
  if (unfinished)
    block.notePoll(lanes, instruction,
                   [unfinished] { return unfinished->describe(); });
}

void executePendingCount(const Instruction &instruction, Lanes &lanes) {
  if (!lanes.warp->checkDefined(instruction, lanes, instruction.a,
                                "the state of an mbarrier"))
    return;
  const uint64_t *states = lanes.read<uint64_t>(instruction.a);
  uint32_t counts[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    counts[lane] = static_cast<uint32_t>(states[lane] & Mbarrier::kMaxCount);
    if (isState(states[lane]) || !(lanes.active >> lane & 1))
      continue;
    lanes.warp->fault(instruction, lane, Check::Synchronization,
                      "expects a state that mbarrier.arrive gave, but got 0x" +
                          Twine::utohexstr(states[lane]));
    return;
  }
  store(lanes, instruction.d, counts);
  define(lanes, instruction.d);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The parts that most forms share: order, space, `.b64`, the address.
Error decodeCommon(Decoder &decoder, MbarrierInstruction &data,
                   llvm::ArrayRef<StringRef> semantics, unsigned address,
                   bool mayBeCluster) {
  Expected<Ordering> ordering = takeOrdering(decoder, semantics);
  if (!ordering)
    return ordering.takeError();
  if (ordering->semantics.empty() != ordering->scope.empty())
    return decoder.error("expects an order and a scope together");
  if (!ordering->scope.empty() && ordering->scope != "cta" &&
      ordering->scope != "cluster")
    return decoder.error("expects .cta or .cluster, but got ." +
                         ordering->scope);
  data.isRelaxed = ordering->semantics == "relaxed";
  StringRef qualifier;
  StateSpace space = takeSpace(decoder, &qualifier);
  if (space != StateSpace::Generic && space != StateSpace::Shared)
    return decoder.error("expects .shared or no state space");
  if (qualifier == "cluster" && !mayBeCluster)
    return decoder.error("expects .shared::cta, but got .shared::cluster");
  if (!decoder.take("b64"))
    return decoder.error("expects .b64");
  Expected<MemoryOperand> operand = takeMemoryOperand(decoder, address, space);
  if (!operand)
    return operand.takeError();
  if (operand->space != StateSpace::Shared &&
      operand->space != StateSpace::Generic)
    return decoder.error(decoder.getOperand(address),
                         "expects an address in shared memory");
  data.operand = *operand;
  return Error::success();
}

Instruction &emit(Decoder &decoder, Execute execute, MbarrierInstruction data) {
  Instruction &instruction = decoder.emit(execute, InstructionClass::Barrier);
  instruction.data = decoder.getProgram().own(std::move(data));
  return instruction;
}

Error decodeInit(Decoder &decoder) {
  MbarrierInstruction data;
  data.verb = "mbarrier.init";
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  if (Error error = decodeCommon(decoder, data, {}, 0, false))
    return error;
  Expected<Slot> count = decoder.source(1, Type::U32);
  if (!count)
    return count.takeError();
  data.count = *count;
  emit(decoder, executeInit, data);
  return Error::success();
}

Error decodeInvalidate(Decoder &decoder) {
  MbarrierInstruction data;
  data.verb = "mbarrier.inval";
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  if (Error error = decodeCommon(decoder, data, {}, 0, false))
    return error;
  emit(decoder, executeInvalidate, data);
  return Error::success();
}

Error decodeArriveForm(Decoder &decoder, bool drops) {
  MbarrierInstruction data;
  data.verb = drops ? "mbarrier.arrive_drop" : "mbarrier.arrive";
  data.arrives = true;
  data.drops = drops;
  const bool expectsTransactions = decoder.take("expect_tx");
  data.mayComplete = !decoder.take("noComplete");
  const bool isNew = decoder.getArchitecture() >= 90;
  if (expectsTransactions && (!data.mayComplete || !isNew))
    return decoder.error(isNew ? "expects one of .expect_tx and .noComplete"
                               : ".expect_tx expects sm_90 or newer");
  const bool hasLast = decoder.getNumOperands() == 3;
  if (Error error = decoder.expectOperands(
          expectsTransactions || !data.mayComplete ? 3 : 2, 3))
    return error;
  if (hasLast && data.mayComplete && !isNew)
    return decoder.error("a count without .noComplete expects sm_90 or newer");
  StringRef space;
  for (StringRef word : decoder.getWords())
    if (word == "shared::cluster")
      space = word;
  if (Error error =
          decodeCommon(decoder, data, {"release", "relaxed"}, 1, true))
    return error;
  const bool isSink = decoder.getOperand(0).kind == Operand::Kind::Sink;
  if (!space.empty() && !isSink)
    return decoder.error(decoder.getOperand(0),
                         "expects '_' with .shared::cluster");
  if (!isSink) {
    Expected<Slot> state = decoder.destination(0, Type::B64);
    if (!state)
      return state.takeError();
    data.state = *state;
  }
  if (hasLast) {
    Expected<Slot> last = decoder.source(2, Type::U32);
    if (!last)
      return last.takeError();
    (expectsTransactions ? data.bytes : data.count) = *last;
  }
  emit(decoder, executeArrive, data);
  return Error::success();
}

Error decodeArrive(Decoder &decoder) {
  return decodeArriveForm(decoder, false);
}
Error decodeArriveDrop(Decoder &decoder) {
  return decodeArriveForm(decoder, true);
}

Error decodeTransactions(Decoder &decoder, bool completes) {
  MbarrierInstruction data;
  data.verb = completes ? "mbarrier.complete_tx" : "mbarrier.expect_tx";
  data.completesTransactions = completes;
  if (decoder.getArchitecture() < 90)
    return decoder.error(data.verb + " expects sm_90 or newer");
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  if (Error error = decodeCommon(decoder, data, {"relaxed"}, 0, true))
    return error;
  Expected<Slot> bytes = decoder.source(1, Type::U32);
  if (!bytes)
    return bytes.takeError();
  data.bytes = *bytes;
  emit(decoder, executeArrive, data);
  return Error::success();
}

Error decodeExpect(Decoder &decoder) {
  return decodeTransactions(decoder, false);
}
Error decodeComplete(Decoder &decoder) {
  return decodeTransactions(decoder, true);
}

Error decodeWaitForm(Decoder &decoder, bool isTry) {
  MbarrierInstruction data;
  data.verb = isTry ? "mbarrier.try_wait" : "mbarrier.test_wait";
  if (isTry && decoder.getArchitecture() < 90)
    return decoder.error("mbarrier.try_wait expects sm_90 or newer");
  data.hasState = !decoder.take("parity");
  if (Error error = decoder.expectOperands(3, isTry ? 4 : 3))
    return error;
  if (Error error =
          decodeCommon(decoder, data, {"acquire", "relaxed"}, 1, false))
    return error;
  Expected<Slot> d = decoder.destination(0, Type::Pred);
  if (!d)
    return d.takeError();
  Expected<Slot> phase =
      decoder.source(2, data.hasState ? Type::B64 : Type::U32);
  if (!phase)
    return phase.takeError();
  // The hint for how long to suspend has no effect.
  if (decoder.getNumOperands() == 4)
    if (Expected<Slot> hint = decoder.source(3, Type::U32); !hint)
      return hint.takeError();
  Instruction &instruction = emit(decoder, executeWait, data);
  instruction.d = *d;
  instruction.a = *phase;
  instruction.flow = Flow::Yield;
  return Error::success();
}

Error decodeTestWait(Decoder &decoder) {
  return decodeWaitForm(decoder, false);
}
Error decodeTryWait(Decoder &decoder) { return decodeWaitForm(decoder, true); }

Error decodePendingCount(Decoder &decoder) {
  if (!decoder.take("b64"))
    return decoder.error("expects .b64");
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> d = decoder.destination(0, Type::U32);
  if (!d)
    return d.takeError();
  Expected<Slot> state = decoder.source(1, Type::B64);
  if (!state)
    return state.takeError();
  Instruction &instruction =
      decoder.emit(executePendingCount, InstructionClass::Barrier);
  instruction.d = *d;
  instruction.a = *state;
  return Error::success();
}

} // namespace

void registerMbarriers(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Mbarriers";
  table.add("mbarrier.init", "mbarrier.init{.shared}.b64", kGroup, decodeInit);
  table.add("mbarrier.inval", "mbarrier.inval{.shared}.b64", kGroup,
            decodeInvalidate);
  table.add("mbarrier.arrive",
            "mbarrier.arrive{.expect_tx,.noComplete}{.sem.scope}{.shared}.b64",
            kGroup, decodeArrive);
  table.add(
      "mbarrier.arrive_drop",
      "mbarrier.arrive_drop{.expect_tx,.noComplete}{.sem.scope}{.shared}.b64",
      kGroup, decodeArriveDrop);
  table.add("mbarrier.expect_tx",
            "mbarrier.expect_tx{.relaxed.scope}{.shared}.b64", kGroup,
            decodeExpect);
  table.add("mbarrier.complete_tx",
            "mbarrier.complete_tx{.relaxed.scope}{.shared}.b64", kGroup,
            decodeComplete);
  table.add("mbarrier.test_wait",
            "mbarrier.test_wait{.parity}{.sem.scope}{.shared}.b64", kGroup,
            decodeTestWait);
  table.add("mbarrier.try_wait",
            "mbarrier.try_wait{.parity}{.sem.scope}{.shared}.b64", kGroup,
            decodeTryWait);
  table.add("mbarrier.pending_count", "mbarrier.pending_count.b64", kGroup,
            decodePendingCount);
}

} // namespace tile::emulator
