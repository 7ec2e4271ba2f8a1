//===- SharedMemory.cpp - Shared memory and who may touch it --------------===//

#include "SharedMemory.h"

#include "Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <limits>

namespace tile::emulator {

using llvm::StringRef;
using llvm::Twine;

/// Entries of the table of locations, a power of two.
static constexpr size_t kLocations = 1024;
/// Entries of the table of recent records, a power of two.
static constexpr size_t kRecent = 1024;

static void joinClocks(llvm::SmallVectorImpl<uint32_t> &into,
                       llvm::ArrayRef<uint32_t> from) {
  if (into.size() < from.size())
    into.resize(from.size(), 0);
  for (size_t i = 0; i != from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

void VectorClock::join(const VectorClock &other) {
  joinClocks(known, other.known);
  joinClocks(published, other.published);
  joinClocks(fenced, other.fenced);
}

SharedMemory::SharedMemory(uint32_t size, unsigned numWarps)
    : bytes(size), written(size), numWarps(numWarps), clocks(numWarps),
      tensorClocks(numWarps), relaxedClocks(numWarps), writers((size + 3) / 4),
      readers((size + 3) / 4), records(1), sets(1), recent(kRecent),
      recordLimit(1 << 16), setLimit(1 << 14) {
  for (unsigned warp = 0; warp != numWarps; ++warp) {
    clocks[warp].known.resize(numWarps, 0);
    clocks[warp].known[warp] = 1;
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

bool SharedMemory::isOrderedForAll(const Record &record) const {
  for (unsigned warp = 0; warp != numWarps; ++warp)
    if (!isOrdered(record, warp))
      return false;
  return true;
}

void SharedMemory::tick(unsigned warp) {
  if (++clocks[warp].known[warp] == std::numeric_limits<uint32_t>::max())
    reset();
}

void SharedMemory::release(unsigned warp, SyncObject &object) {
  object.clock.join(clocks[warp]);
  tick(warp);
}

void SharedMemory::acquire(unsigned warp, const SyncObject &object) {
  clocks[warp].join(object.clock);
}

void SharedMemory::releaseRelaxed(unsigned warp, SyncObject &object) {
  object.relaxed.join(clocks[warp]);
  tick(warp);
}

void SharedMemory::acquireRelaxed(unsigned warp, const SyncObject &object) {
  relaxedClocks[warp].join(object.clock);
  relaxedClocks[warp].join(object.relaxed);
}

void SharedMemory::fenceBeforeSync(unsigned warp) {
  VectorClock &clock = clocks[warp];
  if (clock.fenced.size() <= warp)
    clock.fenced.resize(warp + 1, 0);
  clock.fenced[warp] = clock.known[warp];
  tick(warp);
}

void SharedMemory::fenceAfterSync(unsigned warp) {
  tensorClocks[warp].join(clocks[warp]);
  tensorClocks[warp].join(relaxedClocks[warp]);
}

void SharedMemory::fenceProxy(unsigned warp) {
  VectorClock &clock = clocks[warp];
  joinClocks(clock.published, clock.known);
  // Stores after the fence are not published.
  tick(warp);
}

SyncObject &SharedMemory::getLocation(uint64_t address) {
  if (locations.empty())
    locations.resize(kLocations);
  // Global addresses lie in regions of 2^36 bytes.
  uint64_t hash = (address >> 2) ^ (address >> 13) ^ (address >> 36);
  return locations[hash & (kLocations - 1)];
}

void SharedMemory::acquireLocations(unsigned warp, uint32_t mask,
                                    const uint64_t *addresses) {
  if (numWarps == 1)
    return;
  const SyncObject *last = nullptr;
  for (; mask; mask &= mask - 1) {
    SyncObject &location = getLocation(addresses[__builtin_ctz(mask)]);
    if (&location != last)
      acquire(warp, location);
    last = &location;
  }
}

void SharedMemory::releaseLocations(unsigned warp, uint32_t mask,
                                    const uint64_t *addresses) {
  if (numWarps == 1)
    return;
  const SyncObject *last = nullptr;
  for (; mask; mask &= mask - 1) {
    SyncObject &location = getLocation(addresses[__builtin_ctz(mask)]);
    if (&location != last)
      location.clock.join(clocks[warp]);
    last = &location;
  }
  tick(warp);
}

uint32_t SharedMemory::tickComponent(SyncObject &object) {
  if (object.component == ~uint32_t(0)) {
    // A record has 16 bits for its component; the last one is shared.
    constexpr uint32_t kLast = std::numeric_limits<uint16_t>::max();
    uint32_t next = numWarps + static_cast<uint32_t>(componentClocks.size());
    if (next <= kLast)
      componentClocks.push_back(0);
    object.component = std::min(next, kLast);
  }
  uint32_t clock = ++componentClocks[object.component - numWarps];
  llvm::SmallVectorImpl<uint32_t> &known = object.clock.known;
  if (known.size() <= object.component)
    known.resize(object.component + 1, 0);
  known[object.component] = clock;
  return clock;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

uint32_t SharedMemory::addRecord(unsigned warp, const Instruction &instruction,
                                 uint8_t flags) {
  Record record;
  record.instruction = &instruction;
  record.clock = clocks[warp].known[warp];
  record.component = static_cast<uint16_t>(warp);
  record.warp = static_cast<uint8_t>(warp);
  record.flags = flags;
  record.issued = record.clock;
  records.push_back(record);
  return static_cast<uint32_t>(records.size() - 1);
}

uint32_t SharedMemory::getRecord(unsigned warp, const Instruction &instruction,
                                 uint8_t flags) {
  uint32_t &slot = recent[(instruction.index * 8 + warp) & (kRecent - 1)];
  if (slot) {
    const Record &record = records[slot];
    if (record.instruction == &instruction && record.component == warp &&
        record.clock == clocks[warp].known[warp] && record.flags == flags)
      return slot;
  }
  slot = addRecord(warp, instruction, flags);
  return slot;
}

uint32_t SharedMemory::addReader(uint32_t old, uint32_t record) {
  if (old == 0 || old == record)
    return record;
  auto [it, isNew] =
      transitions.try_emplace(uint64_t(old) << 32 | record, record);
  if (!isNew)
    return it->second;
  const Record &reader = records[record];
  // A read that is ordered before this one needs no remembering: what is
  // ordered after this one is ordered after it. A strong read does not stand
  // for a plain one, though, which more stores conflict with.
  auto isCovered = [&](uint32_t number) {
    const Record &other = records[number];
    return number == record ||
           (isOrdered(other, reader.warp) &&
            (!reader.has(Record::Strong) || other.has(Record::Strong)));
  };
  llvm::SmallVector<uint32_t, 4> members;
  if (old & kSet) {
    for (uint32_t number : sets[old & ~kSet])
      if (!isCovered(number))
        members.push_back(number);
  } else if (!isCovered(old)) {
    members.push_back(old);
  }
  if (members.empty())
    return record;
  members.push_back(record);
  sets.push_back(std::move(members));
  return it->second = static_cast<uint32_t>(sets.size() - 1) | kSet;
}

SharedMemory::SplitWord &SharedMemory::split(uint32_t word) {
  if (writers[word] & kSplit)
    return splits[writers[word] & ~kSplit];
  uint32_t number;
  if (freeSplits.empty()) {
    number = static_cast<uint32_t>(splits.size());
    splits.emplace_back();
  } else {
    number = freeSplits.back();
    freeSplits.pop_back();
  }
  SplitWord &result = splits[number];
  std::fill_n(result.writers, 4, writers[word]);
  std::fill_n(result.readers, 4, readers[word]);
  writers[word] = number | kSplit;
  readers[word] = 0;
  return result;
}

/// Makes one word again of four bytes with equal histories.
void SharedMemory::unsplit(uint32_t word) {
  uint32_t number = writers[word] & ~kSplit;
  const SplitWord &bytes = splits[number];
  for (unsigned i = 1; i != 4; ++i)
    if (bytes.writers[i] != bytes.writers[0] ||
        bytes.readers[i] != bytes.readers[0])
      return;
  writers[word] = bytes.writers[0];
  readers[word] = bytes.readers[0];
  freeSplits.push_back(number);
}

void SharedMemory::compact() {
  std::vector<uint32_t> newRecords(records.size()), newSets(sets.size());
  std::vector<Record> keptRecords(1);
  std::vector<llvm::SmallVector<uint32_t, 4>> keptSets(1);
  auto keepRecord = [&](uint32_t &number) {
    if (!number)
      return;
    uint32_t &now = newRecords[number];
    if (!now) {
      keptRecords.push_back(records[number]);
      now = static_cast<uint32_t>(keptRecords.size() - 1);
    }
    number = now;
  };
  auto keepReader = [&](uint32_t &number) {
    if (!(number & kSet))
      return keepRecord(number);
    uint32_t &now = newSets[number & ~kSet];
    if (!now) {
      keptSets.push_back(sets[number & ~kSet]);
      for (uint32_t &member : keptSets.back())
        keepRecord(member);
      now = static_cast<uint32_t>(keptSets.size() - 1) | kSet;
    }
    number = now;
  };
  for (size_t word = 0; word != writers.size(); ++word) {
    if (!(writers[word] & kSplit)) {
      keepRecord(writers[word]);
      keepReader(readers[word]);
      continue;
    }
    SplitWord &bytes = splits[writers[word] & ~kSplit];
    for (unsigned i = 0; i != 4; ++i) {
      keepRecord(bytes.writers[i]);
      keepReader(bytes.readers[i]);
    }
  }
  for (uint32_t &pending : pendings)
    keepRecord(pending);
  records = std::move(keptRecords);
  sets = std::move(keptSets);
  transitions.clear();
  std::fill(recent.begin(), recent.end(), 0);
  recordLimit = std::max(recordLimit, 2 * records.size());
  setLimit = std::max(setLimit, 2 * sets.size());
}

void SharedMemory::reset() {
  std::fill(writers.begin(), writers.end(), 0);
  std::fill(readers.begin(), readers.end(), 0);
  splits.clear();
  freeSplits.clear();
  locations.clear();
  for (VectorClock &clock : clocks) {
    std::fill(clock.known.begin(), clock.known.end(), 0);
    clock.published.clear();
    clock.fenced.clear();
  }
  // Nothing is remembered that they could be behind of.
  for (unsigned warp = 0; warp != numWarps; ++warp)
    tensorClocks[warp] = relaxedClocks[warp] = VectorClock();
  for (unsigned warp = 0; warp != numWarps; ++warp)
    clocks[warp].known[warp] = 1;
  compact();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The loop over the words of one instruction's access. Words side by side
/// nearly always have the same history, so the verdict on the last one is kept.
template <SharedMemory::Access kAccess>
class AccessChecker {
  using Access = SharedMemory::Access;
  using Conflict = SharedMemory::Conflict;
  using Record = SharedMemory::Record;
  static constexpr bool kIsRead =
      kAccess == Access::Read || kAccess == Access::StrongRead ||
      kAccess == Access::ProxyRead || kAccess == Access::TensorRead;
  static constexpr bool kIsTensor =
      kAccess == Access::TensorRead || kAccess == Access::TensorWrite;
  static constexpr bool kIsStrong =
      kAccess == Access::StrongRead || kAccess == Access::StrongWrite;
  static constexpr bool kIsProxy =
      kAccess == Access::ProxyRead || kAccess == Access::ProxyWrite;

public:
  AccessChecker(SharedMemory &memory, unsigned warp, uint32_t record)
      : memory(memory), warp(warp), record(record) {}

  /// Whether all bytes are fine; else `offender` and `offset` tell.
  bool check(uint32_t address, uint32_t size) {
    if (((address | size) & 3) == 0) {
      uint32_t word = address >> 2, count = size >> 2;
      uint32_t *writers = &memory.writers[word];
      uint32_t *readers = &memory.readers[word];
      // Mostly, all words have one history.
      uint32_t difference = writers[0] & SharedMemory::kSplit;
      for (uint32_t i = 0; i != count; ++i)
        difference |= (writers[i] ^ writers[0]) | (readers[i] ^ readers[0]);
      if (difference == 0) {
        uint32_t writer = writers[0], reader = readers[0];
        if (!checkCell(writer, reader, address)) {
          if (!values)
            return false;
          return checkWords(word, count);
        }
        if (!kIsRead)
          std::fill_n(writers, count, writer);
        if (reader != readers[0])
          std::fill_n(readers, count, reader);
        return true;
      }
      return checkWords(word, count);
    }
    for (uint32_t end = address + size; address != end;) {
      uint32_t first = address & 3;
      uint32_t last = std::min(first + (end - address), 4u);
      if (!checkBytes(address >> 2, first, last))
        return false;
      address += last - first;
    }
    return true;
  }

  uint32_t offender = 0;
  uint32_t offset = 0;
  Conflict::Kind kind = Conflict::Race;

  /// What the lanes of the access store, the first one at `begin`; `lanes` are
  /// those lanes, in order of their addresses.
  const uint8_t *values = nullptr;
  uint32_t begin = 0, laneBytes = 0;
  uint8_t lanes[kLanes];

private:
  bool checkWords(uint32_t word, uint32_t count) {
    for (; count; --count, ++word)
      if (memory.writers[word] & SharedMemory::kSplit
              ? !checkBytes(word, 0, 4)
              : !checkCell(memory.writers[word], memory.readers[word],
                           word * 4) &&
                    !repeats(memory.readers[word], word * 4, 4))
        return false;
    return true;
  }

  bool checkBytes(uint32_t word, uint32_t first, uint32_t last) {
    SharedMemory::SplitWord &bytes = memory.split(word);
    for (uint32_t i = first; i != last; ++i)
      if (!checkCell(bytes.writers[i], bytes.readers[i], word * 4 + i) &&
          !repeats(bytes.readers[i], word * 4 + i, 1))
        return false;
    memory.unsplit(word);
    return true;
  }

  /// Whether a store that conflicts stores what is there. The last store stays,
  /// and this one is remembered beside it.
  bool repeats(uint32_t &reader, uint32_t address, uint32_t size) {
    if (!values || kind != Conflict::Race)
      return false;
    uint32_t place = address - begin;
    const uint8_t *value =
        values + lanes[place / laneBytes] * laneBytes + place % laneBytes;
    for (uint32_t i = 0; i != size; ++i)
      if (memory.bytes[address + i] != value[i] ||
          memory.written[address + i] != 0xFF)
        return false;
    reader = memory.addReader(reader, record);
    return true;
  }

  bool checkCell(uint32_t &writer, uint32_t &reader, uint32_t address) {
    if (writer != fineWriter) {
      if (isFine(writer)) {
        fineWriter = writer;
      } else if (!kIsRead || !hasRepeated(reader)) {
        offset = address;
        return false;
      }
    }
    if constexpr (!kIsRead || kIsStrong)
      if (reader != fineReader) {
        if (!areReadersFine(reader)) {
          offset = address;
          return false;
        }
        fineReader = reader;
      }
    if constexpr (kIsRead) {
      if (reader != record) {
        if (reader != oldReader) {
          oldReader = reader;
          newReader = memory.addReader(reader, record);
        }
        reader = newReader;
      }
    } else {
      reader = kIsStrong ? getKept(writer, reader) : 0;
      writer = record;
    }
    return true;
  }

  /// What a strong store has to keep of the accesses before it. Strong accesses
  /// need no order among each other, so that it does not stand for those of
  /// other warps, nor for plain ones, which strong accesses conflict with.
  uint32_t getKept(uint32_t writer, uint32_t reader) {
    if (writer == oldWriter && reader == oldReader)
      return newReader;
    oldWriter = writer;
    oldReader = reader;
    auto isKept = [&](uint32_t number) {
      const Record &other = memory.records[number];
      return number && number != record &&
             (other.has(Record::Strong) ? !memory.isOrdered(other, warp)
                                        : !memory.isOrderedForAll(other));
    };
    newReader = 0;
    if (reader & SharedMemory::kSet) {
      if (llvm::any_of(memory.sets[reader & ~SharedMemory::kSet], isKept))
        newReader = reader;
    } else if (isKept(reader)) {
      newReader = reader;
    }
    if (isKept(writer))
      newReader = memory.addReader(newReader, writer);
    return newReader;
  }

  bool areReadersFine(uint32_t reader) {
    // Of the accesses there, a read conflicts with stores only.
    auto isReaderFine = [&](uint32_t number) {
      return (kIsRead && !memory.records[number].has(Record::Store)) ||
             isFine(number);
    };
    if (!(reader & SharedMemory::kSet))
      return isReaderFine(reader);
    return llvm::all_of(memory.sets[reader & ~SharedMemory::kSet],
                        isReaderFine);
  }

  /// Whether a store of the value that is there is ordered before a read.
  bool hasRepeated(uint32_t reader) {
    auto isSuch = [&](uint32_t number) {
      const Record &other = memory.records[number];
      return other.flags == Record::Store && memory.isOrdered(other, warp);
    };
    if (kind != Conflict::Race)
      return false;
    if (!(reader & SharedMemory::kSet))
      return isSuch(reader);
    return llvm::any_of(memory.sets[reader & ~SharedMemory::kSet], isSuch);
  }

  bool isFine(uint32_t number) {
    // The record itself: lanes of one instruction.
    if (number == 0 || number == record)
      return true;
    if constexpr (kIsTensor)
      return isTensorFine(number);
    const Record &other = memory.records[number];
    if (!memory.isOrdered(other, warp)) {
      if (kIsStrong && other.has(Record::Strong))
        return true;
      // A copy that somebody has waited for is like that warp's own store.
      kind = other.has(Record::IsPending) || other.component >= memory.numWarps
                 ? Conflict::Async
                 : Conflict::Race;
    } else if (kIsProxy && other.has(Record::Store) &&
               !other.has(Record::Proxy) &&
               other.clock >
                   memory.clocks[warp].getPublished(other.component)) {
      kind = Conflict::Proxy;
    } else {
      return true;
    }
    offender = number;
    return false;
  }

  bool isTensorFine(uint32_t number) {
    using Tensor = SharedMemory::TensorAccess;
    const Record &other = memory.records[number];
    const Tensor &access = memory.records[record].tensor;
    const bool isPending = other.has(Record::IsPending);
    // An operation under way is as good as done where the two execute in the
    // order in which they were issued, and that order is known.
    auto isInPipeline = [](const Tensor &operation) {
      return operation.use == Tensor::Copy ||
             operation.use == Tensor::Operand ||
             operation.use == Tensor::Accumulate;
    };
    const bool isPipelined =
        (!memory.isStrict && isInPipeline(access) &&
         isInPipeline(other.tensor)) ||
        (other.has(Record::Store) &&
         ((access.use == Tensor::Operand && other.tensor.use == Tensor::Copy) ||
          (access.use == Tensor::Accumulate &&
           other.tensor.use == Tensor::Accumulate &&
           access.accumulator == other.tensor.accumulator)));
    offender = number;
    // By the warp that issued it while it is not known to be complete.
    auto isOrderedBy = [&](const VectorClock &clock, bool isFenced) {
      if (isPipelined &&
          (other.warp == warp ||
           (other.issued <= clock.getKnown(other.warp) &&
            (!isFenced || other.issued <= clock.getFenced(other.warp)))))
        return true;
      return !isPending &&
             (other.component == warp ||
              (other.clock <= clock.getKnown(other.component) &&
               (!isFenced || other.component >= memory.numWarps ||
                other.clock <= clock.getFenced(other.component))));
    };
    if (isOrderedBy(memory.tensorClocks[warp], /*isFenced=*/true))
      return true;
    if (isOrderedBy(memory.clocks[warp], /*isFenced=*/false)) {
      if (!memory.isStrict || access.use == Tensor::Synchronous)
        return true;
      kind = Conflict::Fence;
      return false;
    }
    kind = isPending || other.component >= memory.numWarps ? Conflict::Async
                                                           : Conflict::Race;
    return false;
  }

  SharedMemory &memory;
  unsigned warp;
  uint32_t record;
  uint32_t fineWriter = 0, fineReader = 0;
  uint32_t oldWriter = ~uint32_t(0), oldReader = ~uint32_t(0), newReader = 0;
};

/// "at line 40: st.shared.b32 [%r1], %r2".
static std::string describe(const Instruction &instruction) {
  const Statement *statement = instruction.statement;
  if (!statement)
    return "";
  return ("at line " + Twine(statement->location.line) + ": " + statement->text)
      .str();
}

std::optional<SharedMemory::Conflict>
SharedMemory::note(Access access, unsigned warp, uint32_t mask,
                   const uint32_t *addresses, uint32_t size,
                   const Instruction &instruction, const uint8_t *values,
                   Pending &pending, TensorAccess tensor) {
  if (records.size() > recordLimit || sets.size() > setLimit)
    compact();
  uint32_t record;
  switch (access) {
  case Access::Read:
    record = getRecord(warp, instruction, 0);
    break;
  case Access::Write:
    record = getRecord(warp, instruction, Record::Store);
    break;
  case Access::StrongRead:
    record = getRecord(warp, instruction, Record::Strong);
    break;
  case Access::StrongWrite:
    record = getRecord(warp, instruction, Record::Strong | Record::Store);
    break;
  default: {
    if (pending != kNotPending) {
      record = pendings[pending];
      break;
    }
    uint8_t flags = Record::Async | Record::IsPending;
    if (access == Access::TensorRead || access == Access::TensorWrite)
      flags |= Record::Tensor;
    else if (access != Access::AsyncWrite)
      flags |= Record::Proxy;
    if (access != Access::ProxyRead && access != Access::TensorRead)
      flags |= Record::Store;
    record = addRecord(warp, instruction, flags);
    records[record].tensor = tensor;
    if (freePendings.empty()) {
      pending = static_cast<Pending>(pendings.size());
      pendings.push_back(record);
    } else {
      pending = freePendings.back();
      freePendings.pop_back();
      pendings[pending] = record;
    }
    break;
  }
  }

  auto run = [&](auto checker) -> std::optional<Conflict> {
    checker.values = values;
    checker.laneBytes = size;
    while (mask) {
      // Lanes side by side are one access.
      unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
      uint32_t run = mask, first = addresses[lane], bytes = 0;
      unsigned next = lane, numLanes = 0;
      checker.begin = first;
      do {
        checker.lanes[numLanes++] = static_cast<uint8_t>(next);
        bytes += size;
        mask &= mask - 1;
        next = mask ? static_cast<unsigned>(__builtin_ctz(mask)) : 0;
      } while (mask && addresses[next] == first + bytes);
      if (checker.check(first, bytes))
        continue;
      uint32_t place = checker.offset - addresses[lane];
      for (run &= run - 1; place >= size; place -= size, run &= run - 1)
        lane = static_cast<unsigned>(__builtin_ctz(run));
      const Record &other = records[checker.offender];
      Conflict conflict;
      conflict.kind = checker.kind;
      conflict.address = checker.offset;
      conflict.lane = lane;
      const bool isAsync = other.has(Record::Async);
      const bool isStore = other.has(Record::Store);
      StringRef what =
          other.has(Record::Strong) ? "accessed it"
          : isStore ? (other.has(Record::Tensor) ? "writes it asynchronously"
                       : isAsync                 ? "copies to it asynchronously"
                                                 : "stored it")
                    : (isAsync ? "reads it asynchronously" : "read it");
      conflict.message = ("warp " + Twine(unsigned(other.warp)) + " " + what +
                          " " + describe(*other.instruction))
                             .str();
      return conflict;
    }
    return std::nullopt;
  };
  switch (access) {
  case Access::Read:
    return run(AccessChecker<Access::Read>(*this, warp, record));
  case Access::Write:
    return run(AccessChecker<Access::Write>(*this, warp, record));
  case Access::StrongRead:
    return run(AccessChecker<Access::StrongRead>(*this, warp, record));
  case Access::StrongWrite:
    return run(AccessChecker<Access::StrongWrite>(*this, warp, record));
  case Access::ProxyRead:
    return run(AccessChecker<Access::ProxyRead>(*this, warp, record));
  case Access::AsyncWrite:
    return run(AccessChecker<Access::AsyncWrite>(*this, warp, record));
  case Access::ProxyWrite:
    return run(AccessChecker<Access::ProxyWrite>(*this, warp, record));
  case Access::TensorRead:
    return run(AccessChecker<Access::TensorRead>(*this, warp, record));
  case Access::TensorWrite:
    return run(AccessChecker<Access::TensorWrite>(*this, warp, record));
  }
  return std::nullopt;
}

uint32_t SharedMemory::getTensorBase(uint32_t size) {
  if (!tensorBase) {
    tensorBase = static_cast<uint32_t>(writers.size() * 4);
    writers.resize(writers.size() + size / 4);
    readers.resize(writers.size());
  }
  return tensorBase;
}

void SharedMemory::forgetRange(uint32_t address, uint32_t size) {
  std::fill_n(writers.begin() + address / 4, size / 4, 0);
  std::fill_n(readers.begin() + address / 4, size / 4, 0);
}

void SharedMemory::complete(Pending pending, unsigned warp) {
  Record &record = records[pendings[pending]];
  record.flags &= static_cast<uint8_t>(~Record::IsPending);
  record.component = static_cast<uint16_t>(warp);
  record.clock = clocks[warp].known[warp];
  // A set that the read was kept in because it was pending stays correct.
  forget(pending);
}

void SharedMemory::complete(Pending pending, SyncObject &object) {
  uint32_t clock = tickComponent(object);
  Record &record = records[pendings[pending]];
  record.flags &= static_cast<uint8_t>(~Record::IsPending);
  record.component = static_cast<uint16_t>(object.component);
  record.clock = clock;
  forget(pending);
}

void SharedMemory::replaceWriter(uint32_t from, uint32_t to, uint32_t address,
                                 uint32_t size) {
  for (uint32_t end = address + size; address != end; ++address) {
    uint32_t word = address >> 2;
    if (!(writers[word] & kSplit) && (address & 3) == 0 && end - address >= 4) {
      if (writers[word] == from)
        writers[word] = to;
      address += 3;
      continue;
    }
    uint32_t &writer = split(word).writers[address & 3];
    if (writer == from)
      writer = to;
    unsplit(word);
  }
}

void SharedMemory::completePart(Pending pending, unsigned warp,
                                uint32_t address, uint32_t size) {
  Record record = records[pendings[pending]];
  uint8_t flags = record.flags & static_cast<uint8_t>(~Record::IsPending);
  uint32_t done = getRecord(warp, *record.instruction, flags);
  replaceWriter(pendings[pending], done, address, size);
}

void SharedMemory::completePart(Pending pending, SyncObject &object,
                                uint32_t address, uint32_t size) {
  uint32_t clock = tickComponent(object);
  Record record = records[pendings[pending]];
  record.flags &= static_cast<uint8_t>(~Record::IsPending);
  record.component = static_cast<uint16_t>(object.component);
  record.clock = clock;
  records.push_back(record);
  replaceWriter(pendings[pending], static_cast<uint32_t>(records.size() - 1),
                address, size);
}

void SharedMemory::forget(Pending pending) {
  pendings[pending] = 0;
  freePendings.push_back(pending);
}

} // namespace tile::emulator
