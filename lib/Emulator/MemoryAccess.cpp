//===- MemoryAccess.cpp - From address operands to host memory ------------===//

#include "MemoryAccess.h"
#include "ProcessState.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tile::emulator {

using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

StateSpace takeSpace(Decoder &decoder, StringRef *qualifier) {
  StringRef word = decoder.takeAny({"global", "shared", "shared::cta",
                                    "shared::cluster", "local", "param",
                                    "param::entry", "param::func", "const"});
  if (qualifier)
    *qualifier = word.split("::").second;
  return llvm::StringSwitch<StateSpace>(word.split("::").first)
      .Case("global", StateSpace::Global)
      .Case("shared", StateSpace::Shared)
      .Case("local", StateSpace::Local)
      .Case("param", StateSpace::Parameter)
      .Case("const", StateSpace::Constant)
      .Default(StateSpace::Generic);
}

Expected<MemoryOperand> takeMemoryOperand(Decoder &decoder, unsigned i,
                                          StateSpace space) {
  Expected<AddressOperand> address = decoder.address(i);
  if (!address)
    return address.takeError();
  MemoryOperand result;
  result.address = *address;
  StateSpace named = address->space;
  // The variables of a device function's parameter space are local memory here.
  const bool matches =
      named == space || named == StateSpace::Generic ||
      space == StateSpace::Generic ||
      (space == StateSpace::Parameter && named == StateSpace::Local &&
       address->variable && address->variable->space == StateSpace::Parameter);
  if (!matches)
    return decoder.error(decoder.getOperand(i),
                         "expects an address in ." + getStateSpaceName(space) +
                             ", but '" + address->variable->name + "' is in ." +
                             getStateSpaceName(named));
  result.space = named == StateSpace::Generic ? space : named;
  // So they are where a register holds the address of one.
  if (space == StateSpace::Parameter && named == StateSpace::Generic &&
      !decoder.getCode().function->isEntry)
    result.space = StateSpace::Local;
  if (result.space == StateSpace::Constant) {
    result.isConstant = true;
    result.space = StateSpace::Global;
  }
  return result;
}

Expected<Ordering> takeOrdering(Decoder &decoder,
                                ArrayRef<StringRef> semantics) {
  Ordering result;
  const bool isMmio =
      llvm::is_contained(semantics, "mmio") && decoder.take("mmio");
  for (StringRef word : semantics)
    if (word != "mmio" && decoder.take(word)) {
      if (!result.semantics.empty())
        return decoder.error("expects one of ." + result.semantics + " and ." +
                             word + ", but got both");
      result.semantics = word;
    }
  result.scope = decoder.takeAny({"cta", "cluster", "gpu", "sys"});
  if (isMmio && (result.semantics != "relaxed" || result.scope != "sys"))
    return decoder.error("expects .mmio with .relaxed and .sys");
  return result;
}

bool takeCacheHints(Decoder &decoder) {
  decoder.takeAny({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                   "L1::evict_last", "L1::no_allocate"});
  decoder.takeAny({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  decoder.takeAny({"L2::64B", "L2::128B", "L2::256B"});
  return decoder.take("L2::cache_hint");
}

Error checkCachePolicy(Decoder &decoder, unsigned i) {
  return decoder.source(i, Type::B64).takeError();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

bool evaluate(const Instruction &instruction, Lanes &lanes,
              const AddressOperand &address, uint64_t (&addresses)[kLanes]) {
  uint64_t offset = static_cast<uint64_t>(address.offset);
  if (address.base == kNoSlot) {
    std::fill_n(addresses, kLanes, offset);
    return true;
  }
  if (lanes.undefinedAt(address.base) & lanes.active)
    return lanes.warp->checkDefined(instruction, lanes, address.base,
                                    "an address");
  if (address.baseBytes == 8) {
    const uint64_t *base = lanes.read<uint64_t>(address.base);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      addresses[lane] = base[lane] + offset;
  } else {
    // An address of 32 bits wraps around as such.
    const uint32_t *base = lanes.read<uint32_t>(address.base);
    uint32_t low = static_cast<uint32_t>(offset);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      addresses[lane] = static_cast<uint32_t>(base[lane] + low);
  }
  return true;
}

std::string describeShared(const Program &program, uint32_t offset) {
  const Variable *found = nullptr;
  uint32_t first = 0;
  for (const auto &[address, variable] : program.sharedVariables)
    if (address <= offset && (!found || address >= first)) {
      found = variable;
      first = address;
    }
  std::string result = "shared address 0x" + llvm::utohexstr(offset, true);
  if (!found)
    return result;
  result +=
      (" (offset " + Twine(offset - first) + " of '" + found->name + "'").str();
  if (uint64_t size = found->getSize())
    result += (", " + Twine(size) + " bytes").str();
  return result + ")";
}

static std::string describeBytes(uint64_t bytes) {
  return (Twine(bytes) + (bytes == 1 ? " byte" : " bytes")).str();
}

void faultGlobal(const Instruction &instruction, Warp &warp, unsigned lane,
                 uint64_t address, uint64_t bytes, unsigned alignment,
                 bool isStore, StringRef verb) {
  GlobalAccess::Problem problem =
      warp.getBlock().getGlobal().explain(address, bytes, alignment, isStore);
  Check check = Check::OutOfBounds;
  if (problem.kind == GlobalAccess::Problem::Misaligned)
    check = Check::Misaligned;
  else if (problem.kind == GlobalAccess::Problem::ReadOnly)
    check = Check::ReadOnlyStore;
  warp.fault(instruction, lane, check, verb + " of " + problem.message, address,
             problem.buffer);
}

/// An address that is in no window or past the end of one.
static void faultWindow(const Instruction &instruction, Warp &warp,
                        unsigned lane, uint64_t address, uint64_t bytes,
                        unsigned alignment, uint64_t size, StringRef what,
                        StringRef verb) {
  bool isInside = address < size && bytes <= size - address;
  std::string hex = "0x" + llvm::utohexstr(address, /*LowerCase=*/true);
  if (isInside)
    warp.fault(instruction, lane, Check::Misaligned,
               verb + " of " + describeBytes(bytes) + " at " + what +
                   " address " + hex + ", which is not a multiple of " +
                   Twine(alignment),
               address);
  else
    warp.fault(instruction, lane, Check::OutOfBounds,
               verb + " of " + describeBytes(bytes) + " at " + what +
                   " address " + hex + ", which has " + Twine(size) + " bytes",
               address);
}

static void faultShared(const Instruction &instruction, Warp &warp,
                        unsigned lane, uint64_t address, uint64_t bytes,
                        unsigned alignment, StringRef verb) {
  SharedMemory &shared = warp.getBlock().getShared();
  const Program &program = warp.getBlock().getProgram();
  uint64_t size = shared.getSize();
  std::string where =
      address < size
          ? describeShared(program, static_cast<uint32_t>(address))
          : "shared address 0x" + llvm::utohexstr(address, /*LowerCase=*/true);
  std::string what = (verb + " of " + describeBytes(bytes) + " at ").str();
  if (address < kSharedBase)
    warp.fault(instruction, lane, Check::OutOfBounds,
               what + where + ", below the kernel's shared memory, which is " +
                   "[0x" + llvm::utohexstr(kSharedBase, true) + ", 0x" +
                   llvm::utohexstr(size, true) + ")",
               address);
  else if (address >= size || bytes > size - address)
    warp.fault(instruction, lane, Check::OutOfBounds,
               what + where + ", past the end of shared memory, which is [0x" +
                   llvm::utohexstr(kSharedBase, true) + ", 0x" +
                   llvm::utohexstr(size, true) + ")",
               address);
  else
    warp.fault(instruction, lane, Check::Misaligned,
               what + where + ", which is not a multiple of " +
                   Twine(alignment),
               address);
}

/// Whether an access of `bytes` bytes at `address` lies in shared memory.
static bool isInShared(uint64_t address, uint64_t bytes, unsigned alignment,
                       uint64_t size) {
  return address >= kSharedBase && address < size && bytes <= size - address &&
         (address & (alignment - 1)) == 0;
}

bool resolveShared(const Instruction &instruction, Lanes &lanes, uint32_t mask,
                   StateSpace space, const uint64_t (&addresses)[kLanes],
                   uint64_t bytes, unsigned alignment, StringRef verb,
                   uint32_t (&offsets)[kLanes]) {
  Warp &warp = *lanes.warp;
  uint64_t size = warp.getBlock().getShared().getSize();
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t address = addresses[lane];
    if (space != StateSpace::Shared) {
      if ((address & kWindowMask) != kSharedWindow) {
        warp.fault(instruction, lane, Check::OutOfBounds,
                   verb +
                       " expects a generic address in shared memory, but "
                       "got 0x" +
                       Twine::utohexstr(address),
                   address);
        return false;
      }
      address -= kSharedWindow;
    }
    if (!isInShared(address, bytes, alignment, size)) {
      faultShared(instruction, warp, lane, address, bytes, alignment, verb);
      return false;
    }
    offsets[lane] = static_cast<uint32_t>(address);
  }
  return true;
}

bool noteShared(const Instruction &instruction, Lanes &lanes,
                SharedMemory::Access access, uint32_t mask,
                const uint32_t *offsets, uint32_t bytes, StringRef verb,
                const uint8_t *values, SharedMemory::Pending &pending) {
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  std::optional<SharedMemory::Conflict> conflict =
      block.getShared().note(access, warp.getIndex(), mask, offsets, bytes,
                             instruction, values, pending);
  if (!conflict)
    return true;
  Check check = Check::SharedRace;
  StringRef reason = " races with another warp's access: no barrier is between "
                     "them";
  if (conflict->kind == SharedMemory::Conflict::Async) {
    check = Check::AsyncRace;
    reason = " touches what an asynchronous copy is still to finish: nobody "
             "has waited for it";
  } else if (conflict->kind == SharedMemory::Conflict::Proxy) {
    check = Check::ProxyFence;
    reason = " goes through the async proxy, but no fence.proxy.async follows "
             "the store";
  }
  warp.fault(instruction, conflict->lane, check,
             verb + " at " +
                 describeShared(block.getProgram(), conflict->address) + reason,
             conflict->address, "", {conflict->message});
  return false;
}

bool noteShared(const Instruction &instruction, Lanes &lanes,
                SharedMemory::Access access, uint32_t mask,
                const uint32_t *offsets, uint32_t bytes, StringRef verb,
                const uint8_t *values) {
  SharedMemory::Pending pending = SharedMemory::kNotPending;
  return noteShared(instruction, lanes, access, mask, offsets, bytes, verb,
                    values, pending);
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

/// What inactive lanes read.
alignas(64) static uint8_t nowhere[64];

static bool resolveGlobal(const Instruction &instruction, Lanes &lanes,
                          uint32_t mask, const uint64_t (&addresses)[kLanes],
                          const AccessKind &kind, Resolved &resolved) {
  Warp &warp = *lanes.warp;
  GlobalAccess &global = warp.getBlock().getGlobal();
  const GlobalAccess::Window &window =
      global.getWindow(addresses[__builtin_ctz(mask)]);
  uint64_t first = window.first;
  // A number: where the offset is no buffer's, the sum is not a pointer.
  uintptr_t host = reinterpret_cast<uintptr_t>(window.host);
  // How many offsets an access may begin at.
  uint64_t limit =
      window.size >= kind.bytes && !(kind.isStore && window.readOnly)
          ? window.size - kind.bytes + 1
          : 0;
  uint64_t low = kind.alignment - 1;
  uint32_t bad = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t offset = addresses[lane] - first;
    bad |= uint32_t(offset >= limit || (addresses[lane] & low)) << lane;
    resolved.bytes[lane] = reinterpret_cast<uint8_t *>(host + offset);
  }
  for (; bad; bad &= bad - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(bad));
    resolved.bytes[lane] = global.resolve(addresses[lane], kind.bytes,
                                          kind.alignment, kind.isStore);
    if (!resolved.bytes[lane]) {
      faultGlobal(instruction, warp, lane, addresses[lane], kind.bytes,
                  kind.alignment, kind.isStore, kind.verb);
      return false;
    }
  }
  resolved.global |= mask;
  if (isWatched(warp) && !kind.isStore)
    forLanes(mask, [&](unsigned lane) {
      watch(instruction, warp, lane, addresses[lane], kind.bytes, kind.verb,
            resolved.bytes[lane]);
    });
  if (warp.collectsStatistics())
    warp.getCounters(instruction).sectors +=
        countSectors(mask, addresses, kind.bytes);
  return true;
}

static bool resolveSharedLanes(const Instruction &instruction, Lanes &lanes,
                               uint32_t mask,
                               const uint64_t (&addresses)[kLanes],
                               const AccessKind &kind, Resolved &resolved,
                               const uint8_t *values) {
  Warp &warp = *lanes.warp;
  SharedMemory &shared = warp.getBlock().getShared();
  uint64_t size = shared.getSize();
  uint8_t *bytes = shared.getBytes();
  uint8_t *written = shared.getWritten();
  uint32_t offsets[kLanes];
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (!isInShared(addresses[lane], kind.bytes, kind.alignment, size)) {
      faultShared(instruction, warp, lane, addresses[lane], kind.bytes,
                  kind.alignment, kind.verb);
      return false;
    }
    offsets[lane] = static_cast<uint32_t>(addresses[lane]);
    resolved.bytes[lane] = bytes + offsets[lane];
    resolved.written[lane] = written + offsets[lane];
  }
  resolved.tracked |= mask;
  resolved.shared |= mask;
  if (kind.acquires)
    shared.acquireLocations(warp.getIndex(), mask, addresses);
  if (!noteShared(instruction, lanes, kind.shared, mask, offsets, kind.bytes,
                  kind.verb, values))
    return false;
  if (kind.releases)
    shared.releaseLocations(warp.getIndex(), mask, addresses);
  if (kind.isStore)
    warp.getBlock().noteProgress();
  if (warp.collectsStatistics()) {
    Wavefronts wavefronts = countWavefronts(mask, offsets, kind.bytes);
    InstructionCounters &counters = warp.getCounters(instruction);
    counters.wavefronts += wavefronts.actual;
    counters.idealWavefronts += wavefronts.ideal;
  }
  return true;
}

uint8_t *resolveSharedRow(const Instruction &instruction, Lanes &lanes,
                          uint64_t address, const AccessKind &kind,
                          const uint8_t *values) {
  Warp &warp = *lanes.warp;
  SharedMemory &shared = warp.getBlock().getShared();
  const uint32_t bytes = kind.bytes * kLanes;
  if (kind.acquires || kind.releases || warp.collectsStatistics() ||
      !isInShared(address, bytes, kind.alignment, shared.getSize()))
    return nullptr;
  uint32_t offset = static_cast<uint32_t>(address);
  // What conflicts here does so lane by lane, where the lane is known.
  if (shared.note(kind.shared, warp.getIndex(), 1, &offset, bytes, instruction,
                  values))
    return nullptr;
  if (kind.isStore)
    warp.getBlock().noteProgress();
  return shared.getBytes() + offset;
}

static bool resolveLocal(const Instruction &instruction, Lanes &lanes,
                         uint32_t mask, const uint64_t (&addresses)[kLanes],
                         const AccessKind &kind, Resolved &resolved) {
  Warp &warp = *lanes.warp;
  uint64_t size = warp.getLocalSize();
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t address = addresses[lane];
    if (address >= size || kind.bytes > size - address ||
        (address & (kind.alignment - 1))) {
      faultWindow(instruction, warp, lane, address, kind.bytes, kind.alignment,
                  size, "local", kind.verb);
      return false;
    }
    resolved.bytes[lane] = warp.getLocal(lane) + address;
    resolved.written[lane] = warp.getLocalWritten(lane) + address;
  }
  resolved.tracked |= mask;
  return true;
}

static bool resolveParameters(const Instruction &instruction, Lanes &lanes,
                              uint32_t mask,
                              const uint64_t (&addresses)[kLanes],
                              const AccessKind &kind, Resolved &resolved) {
  Warp &warp = *lanes.warp;
  ArrayRef<uint8_t> parameters = warp.getBlock().getParameters();
  uint64_t size = parameters.size();
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t address = addresses[lane];
    if (kind.isStore) {
      warp.fault(instruction, lane, Check::ReadOnlyStore,
                 kind.verb + " of " + describeBytes(kind.bytes) +
                     " in the kernel's parameters, which are read-only",
                 address);
      return false;
    }
    if (address >= size || kind.bytes > size - address ||
        (address & (kind.alignment - 1))) {
      faultWindow(instruction, warp, lane, address, kind.bytes, kind.alignment,
                  size, "parameter", kind.verb);
      return false;
    }
    resolved.bytes[lane] = const_cast<uint8_t *>(parameters.data()) + address;
  }
  return true;
}

static bool resolveGeneric(const Instruction &instruction, Lanes &lanes,
                           const uint64_t (&addresses)[kLanes],
                           const AccessKind &kind, Resolved &resolved,
                           const uint8_t *values) {
  uint32_t inShared = 0, inLocal = 0, inParameters = 0, elsewhere = 0;
  uint64_t offsets[kLanes];
  forLanes(lanes.active, [&](unsigned lane) {
    uint32_t bit = uint32_t(1) << lane;
    offsets[lane] = addresses[lane] & ~kWindowMask;
    switch (addresses[lane] & kWindowMask) {
    case kSharedWindow:
      inShared |= bit;
      break;
    case kLocalWindow:
      inLocal |= bit;
      break;
    case kParameterWindow:
      inParameters |= bit;
      break;
    default:
      elsewhere |= bit;
    }
  });
  if (elsewhere &&
      !resolveGlobal(instruction, lanes, elsewhere, addresses, kind, resolved))
    return false;
  if (inShared && !resolveSharedLanes(instruction, lanes, inShared, offsets,
                                      kind, resolved, values))
    return false;
  if (inLocal &&
      !resolveLocal(instruction, lanes, inLocal, offsets, kind, resolved))
    return false;
  return !inParameters || resolveParameters(instruction, lanes, inParameters,
                                            offsets, kind, resolved);
}

bool resolve(const Instruction &instruction, Lanes &lanes, StateSpace space,
             const uint64_t (&addresses)[kLanes], const AccessKind &kind,
             Resolved &resolved, const uint8_t *values) {
  if (lanes.active != kAllLanes) {
    std::fill_n(resolved.bytes, kLanes, &nowhere[0]);
    std::fill_n(resolved.written, kLanes, &nowhere[0]);
  }
  bool isFine = false;
  switch (space) {
  case StateSpace::Global:
    isFine = resolveGlobal(instruction, lanes, lanes.active, addresses, kind,
                           resolved);
    break;
  case StateSpace::Shared:
    isFine = resolveSharedLanes(instruction, lanes, lanes.active, addresses,
                                kind, resolved, values);
    break;
  case StateSpace::Local:
    isFine = resolveLocal(instruction, lanes, lanes.active, addresses, kind,
                          resolved);
    break;
  case StateSpace::Parameter:
    isFine = resolveParameters(instruction, lanes, lanes.active, addresses,
                               kind, resolved);
    break;
  default:
    isFine =
        resolveGeneric(instruction, lanes, addresses, kind, resolved, values);
    break;
  }
  if (!isFine)
    return false;
  Warp &warp = *lanes.warp;
  if (resolved.global && (kind.acquires || kind.releases)) {
    SharedMemory &shared = warp.getBlock().getShared();
    if (kind.acquires)
      shared.acquireLocations(warp.getIndex(), resolved.global, addresses);
    if (kind.releases)
      shared.releaseLocations(warp.getIndex(), resolved.global, addresses);
  }
  if (warp.collectsStatistics())
    warp.getCounters(instruction).bytes +=
        uint64_t(kind.bytes) * __builtin_popcount(lanes.active);
  return true;
}

//===----------------------------------------------------------------------===//
// Stores, watching, counting
//===----------------------------------------------------------------------===//

bool noteGlobalStore(const Instruction &instruction, Warp &warp, unsigned lane,
                     uint64_t address, const uint8_t *values, uint64_t bytes) {
  Block &block = warp.getBlock();
  uint64_t other = 0;
  if (block.getGlobal().noteStore(address, values, bytes, other))
    return true;
  const Dim3 &grid = block.getLaunch().grid;
  warp.fault(instruction, lane, Check::WriteWrite,
             "store of " + describeBytes(bytes) + " at " +
                 block.getGlobal().describe(address) + ", where block (" +
                 Twine(other % grid.x) + ", " + Twine(other / grid.x % grid.y) +
                 ", " + Twine(other / grid.x / grid.y) +
                 ") has stored a different value",
             address, block.getGlobal().getBufferName(address));
  return false;
}

void watch(const Instruction &instruction, Warp &warp, unsigned lane,
           uint64_t address, uint64_t bytes, StringRef verb,
           const uint8_t *values) {
  const Launch &launch = warp.getBlock().getLaunch();
  const TraceOptions &trace = launch.options->trace;
  if (address + bytes <= trace.watch ||
      address >= trace.watch + trace.watchBytes)
    return;
  // Blocks run on several threads of the host.
  std::lock_guard lock(getProcessMutex(ProcessLock::Trace));
  llvm::raw_ostream &os = trace.os ? *trace.os : llvm::errs();
  Dim3 block = warp.getBlock().getPosition();
  Dim3 thread = warp.getThread(lane);
  os << "watch: " << warp.getBlock().getGlobal().describe(address) << ": "
     << verb << " of " << bytes << (bytes == 1 ? " byte" : " bytes") << ", 0x";
  for (uint64_t i = bytes; i != 0; --i)
    os << llvm::hexdigit(values[i - 1] >> 4, /*LowerCase=*/true)
       << llvm::hexdigit(values[i - 1] & 15, /*LowerCase=*/true);
  os << ", by thread (" << thread.x << ", " << thread.y << ", " << thread.z
     << ") of block (" << block.x << ", " << block.y << ", " << block.z << ")";
  if (const Statement *statement = instruction.statement)
    os << " at line " << statement->location.line << ": " << statement->text;
  os << '\n';
}

unsigned countSectors(uint32_t mask, const uint64_t *addresses,
                      unsigned bytes) {
  // An access of at most 32 bytes that is aligned to its size is in one sector.
  uint64_t sectors[kLanes];
  unsigned count = 0;
  forLanes(mask,
           [&](unsigned lane) { sectors[count++] = addresses[lane] >> 5; });
  std::sort(sectors, sectors + count);
  return static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
}

Wavefronts countWavefronts(uint32_t mask, const uint32_t *offsets,
                           unsigned bytes) {
  Wavefronts result;
  unsigned words = std::max(bytes / 4, 1u);
  unsigned lanesPerPhase = std::max(kLanes / words, 1u);
  for (unsigned begin = 0; begin < kLanes; begin += lanesPerPhase) {
    uint32_t phase = mask;
    if (lanesPerPhase != kLanes)
      phase &= ((uint32_t(1) << lanesPerPhase) - 1) << begin;
    if (!phase)
      continue;
    uint32_t touched[kLanes * 4];
    unsigned count = 0;
    forLanes(phase, [&](unsigned lane) {
      for (unsigned i = 0; i != words; ++i)
        touched[count++] = (offsets[lane] >> 2) + i;
    });
    // Lanes of one word share it.
    std::sort(touched, touched + count);
    unsigned inBank[32] = {}, most = 0;
    for (unsigned i = 0; i != count; ++i)
      if (i == 0 || touched[i] != touched[i - 1])
        most = std::max(most, ++inBank[touched[i] % 32]);
    result.actual += most;
    ++result.ideal;
  }
  return result;
}

} // namespace tile::emulator
