//===- Machine.cpp - Lanes, warps, blocks and their memory ----------------===//

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tile;
using namespace tile::lane;
using llvm::createStringError;
using llvm::Error;
using llvm::formatv;

uint64_t WarpCall::getArg(unsigned lane, unsigned index) const {
  return lanes[lane]->args[index];
}

void WarpCall::setResult(unsigned lane, unsigned index, uint64_t value) const {
  lanes[lane]->results[index] = value;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string Machine::describe(const Lane &lane) const {
  return formatv("thread {0} of block ({1},{2},{3})", lane.thread,
                 blockIndex[0], blockIndex[1], blockIndex[2])
      .str();
}

/// Writes a set of lanes as "0-15, 20".
static std::string formatLanes(llvm::ArrayRef<unsigned> lanes) {
  std::string text;
  for (size_t i = 0; i < lanes.size();) {
    size_t end = i;
    while (end + 1 < lanes.size() && lanes[end + 1] == lanes[end] + 1)
      ++end;
    if (!text.empty())
      text += ", ";
    text += std::to_string(lanes[i]);
    if (end > i)
      text += "-" + std::to_string(lanes[end]);
    i = end + 1;
  }
  return text;
}

std::string Machine::describeWaiting() const {
  std::string text =
      formatv("no thread of block ({0},{1},{2}) can go on:", blockIndex[0],
              blockIndex[1], blockIndex[2])
          .str();
  // Threads that wait for the same thing make one line.
  std::vector<std::pair<std::string, std::vector<unsigned>>> groups;
  for (const auto &lane : lanes) {
    std::string what = "returned";
    if (lane->state != Lane::State::Done)
      what = "wait at " + lane->site->name + " in " + lane->site->where;
    auto it =
        llvm::find_if(groups, [&](auto &group) { return group.first == what; });
    if (it == groups.end()) {
      groups.push_back({what, {}});
      it = std::prev(groups.end());
    }
    it->second.push_back(lane->thread);
  }
  for (auto &[what, threads] : groups)
    text += "\n  threads " + formatLanes(threads) + " " + what;
  return text;
}

void Machine::note(const std::string &message) {
  if (!failure)
    failure = message;
}

void Machine::stop() { current->fiber.yield(); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool Machine::isShared(uint64_t address) const {
  uint64_t base = reinterpret_cast<uintptr_t>(shared);
  return address >= base && address - base < history.size();
}

Error Machine::checkBounds(const Lane &lane, uint64_t address, uint64_t size,
                           uint64_t alignment, bool isStore) const {
  if (size == 0)
    return Error::success();
  const char *what = isStore ? "store" : "load";
  if (alignment > 1 && address % alignment != 0)
    return createStringError(
        formatv("{0} of {1} bytes by {2} at {3:x}, which is not a multiple of "
                "the alignment {4}",
                what, size, describe(lane), address, alignment)
            .str());
  if (isShared(address)) {
    uint64_t offset = address - reinterpret_cast<uintptr_t>(shared);
    if (offset + size > sharedSize)
      return createStringError(
          formatv("{0} of {1} bytes by {2} at offset {3} of shared memory, "
                  "which has {4} bytes",
                  what, size, describe(lane), offset, sharedSize)
              .str());
    return Error::success();
  }
  const Buffer *nearest = nullptr;
  uint64_t distance = ~uint64_t(0);
  for (const Buffer &buffer : buffers) {
    if (address >= buffer.base && address + size <= buffer.base + buffer.size) {
      if (isStore && !buffer.writable)
        return createStringError(
            formatv("store of {0} bytes by {1} at offset {2} of {3}, which is "
                    "an input",
                    size, describe(lane), address - buffer.base, buffer.name)
                .str());
      return Error::success();
    }
    uint64_t away =
        address < buffer.base ? buffer.base - address : address - buffer.base;
    if (away < distance) {
      distance = away;
      nearest = &buffer;
    }
  }
  if (!nearest)
    return createStringError(formatv("{0} of {1} bytes by {2} at {3:x}; the "
                                     "kernel has no buffer",
                                     what, size, describe(lane), address)
                                 .str());
  return createStringError(
      formatv("{0} of {1} bytes by {2} at offset {3} of {4}, which has {5} "
              "bytes",
              what, size, describe(lane), int64_t(address - nearest->base),
              nearest->name, nearest->size)
          .str());
}

Error Machine::check(const Lane &lane, uint64_t address, uint64_t size,
                     uint64_t alignment, bool isStore, bool isAtomic) {
  if (Error error = checkBounds(lane, address, size, alignment, isStore))
    return error;
  if (!isShared(address) || !options.checkRaces)
    return Error::success();
  uint64_t offset = address - reinterpret_cast<uintptr_t>(shared);
  if (Error error = checkInFlight(lane, offset, size, isStore))
    return error;
  return isAtomic ? Error::success() : checkRace(lane, offset, size, isStore);
}

Error Machine::checkInFlight(const Lane &lane, uint64_t offset, uint64_t size,
                             bool isStore) const {
  for (uint64_t byte = offset; byte < offset + size; ++byte)
    if (history[byte].isInFlight)
      return createStringError(
          formatv("{0} by {1} at offset {2} of shared memory comes before "
                  "thread {3} has waited for its asynchronous copy to there",
                  isStore ? "store" : "load", describe(lane), byte,
                  history[byte].writer)
              .str());
  return Error::success();
}

Error Machine::checkRace(const Lane &lane, uint64_t offset, uint64_t size,
                         bool isStore) {
  unsigned warp = lane.thread / 32;
  uint32_t warpEpoch = warpEpochs[warp];
  // Two accesses are ordered by a barrier of the block between them or, within
  // a warp, by `bar.warp.sync`.
  auto isUnordered = [&](uint32_t other, uint32_t otherBlockEpoch,
                         uint32_t otherWarpEpoch) {
    if (other == ~0u || other == lane.thread || otherBlockEpoch != blockEpoch)
      return false;
    return other / 32 != warp || otherWarpEpoch == warpEpoch;
  };
  auto report = [&](const char *first, uint32_t thread, uint64_t byte) {
    return createStringError(
        formatv("{0} by {1} at offset {2} of shared memory is not ordered "
                "after the {3} by thread {4}",
                isStore ? "store" : "load", describe(lane), byte, first, thread)
            .str());
  };
  for (uint64_t byte = offset; byte < offset + size; ++byte) {
    ByteHistory &h = history[byte];
    if (isUnordered(h.writer, h.writeBlockEpoch, h.writeWarpEpoch))
      return report("store", h.writer, byte);
    if (isStore) {
      if (isUnordered(h.reader, h.readBlockEpoch, h.readWarpEpoch))
        return report("load", h.reader, byte);
      // One of several readers may be another thread although the last is not.
      if (h.manyReaders && h.reader == lane.thread &&
          h.readBlockEpoch == blockEpoch && h.readWarpEpoch == warpEpoch)
        return report("load", h.reader, byte);
      h.writer = lane.thread;
      h.writeBlockEpoch = blockEpoch;
      h.writeWarpEpoch = warpEpoch;
    } else {
      bool same = h.reader != ~0u && h.readBlockEpoch == blockEpoch &&
                  h.readWarpEpoch == warpEpoch;
      h.manyReaders = same && (h.manyReaders || h.reader != lane.thread);
      h.reader = lane.thread;
      h.readBlockEpoch = blockEpoch;
      h.readWarpEpoch = warpEpoch;
    }
  }
  return Error::success();
}

void Machine::access(uint64_t address, uint64_t size, uint32_t site) {
  const AccessSite &access = accesses[site];
  if (Error error = check(*current, address, size, access.alignment,
                          access.isStore, access.isAtomic))
    note(llvm::toString(std::move(error)) + "\n  in " + access.where);
  else
    return;
  stop();
}

//===----------------------------------------------------------------------===//
// Calls and the scheduler
//===----------------------------------------------------------------------===//

void Machine::call(uint32_t index, const uint64_t *args, uint64_t *results) {
  CallSite &site = calls[index];
  const Operation &operation = site.operation;
  Lane &lane = *current;
  if (operation.kind == Operation::Kind::Lane) {
    ++site.count;
    if (Error error = operation.laneFunction(*this, lane, args, results))
      note(site.name + " by " + describe(lane) + ": " +
           llvm::toString(std::move(error)) + "\n  in " + site.where);
    else
      return;
    stop();
  }
  lane.site = &site;
  lane.args = args;
  lane.results = results;
  if (operation.kind == Operation::Kind::Warp) {
    lane.state = Lane::State::AtWarp;
    lane.fiber.yield();
    return;
  }
  uint64_t id = args[0];
  uint64_t count = operation.hasCount ? args[1] : getNumThreads();
  bool isLegal = id < arrivals.size() &&
                 (!operation.hasCount ||
                  (count != 0 && count % 32 == 0 && count <= getNumThreads()));
  if (!isLegal) {
    note(formatv("{0} by {1}: no barrier {2} of {3} threads in a block of "
                 "{4}\n  in {5}",
                 site.name, describe(lane), id, count, getNumThreads(),
                 site.where)
             .str());
    stop();
  }
  Arrivals &arrival = arrivals[id];
  if (arrival.expected != 0 && arrival.expected != count) {
    note(formatv("{0} by {1}: barrier {2} of {3} threads, but of {4} for those "
                 "who came before\n  in {5}",
                 site.name, describe(lane), id, count, arrival.expected,
                 site.where)
             .str());
    stop();
  }
  arrival.expected = count;
  ++arrival.count;
  ++site.count;
  if (operation.isArrive)
    return;
  lane.barrier = id;
  lane.state = Lane::State::AtBarrier;
  lane.fiber.yield();
}

Error Machine::completeBarrier(unsigned id, bool &progress) {
  Arrivals &arrival = arrivals[id];
  if (arrival.expected == 0 || arrival.count < arrival.expected)
    return Error::success();
  uint64_t population = 0, members = 0;
  auto getPredicate = [](const Lane &lane) {
    return lane.args[lane.site->operation.hasCount ? 2 : 1] & 1;
  };
  std::vector<const Lane *> first((getNumThreads() + 31) / 32);
  for (const auto &lane : lanes) {
    if (lane->state != Lane::State::AtBarrier || lane->barrier != id)
      continue;
    ++members;
    if (lane->site->operation.reduction != Operation::Reduction::None)
      population += getPredicate(*lane);
    const Lane *&other = first[lane->thread / 32];
    if (!other)
      other = lane.get();
    else if (other->site != lane->site && lane->site->operation.isAligned)
      return createStringError(
          formatv("{0} and {1} meet in barrier {2} at different "
                  "instructions\n  in {3}\n  in {4}",
                  describe(*other), describe(*lane), id, other->site->where,
                  lane->site->where)
              .str());
  }
  for (const auto &lane : lanes) {
    if (lane->state != Lane::State::AtBarrier || lane->barrier != id)
      continue;
    switch (lane->site->operation.reduction) {
    case Operation::Reduction::None:
      break;
    case Operation::Reduction::Popc:
      lane->results[0] = population;
      break;
    case Operation::Reduction::And:
      lane->results[0] = population == members;
      break;
    case Operation::Reduction::Or:
      lane->results[0] = population != 0;
      break;
    }
    lane->state = Lane::State::Ready;
  }
  arrival = Arrivals();
  // A barrier of some warps orders those; taking it for all of them can hide a
  // race but never invents one.
  ++blockEpoch;
  progress = true;
  return Error::success();
}

Error Machine::completeWarp(unsigned warp, bool &progress) {
  unsigned begin = warp * 32;
  unsigned end = std::min<unsigned>(begin + 32, lanes.size());
  for (unsigned i = begin; i < end; ++i) {
    Lane &lane = *lanes[i];
    if (lane.state != Lane::State::AtWarp)
      continue;
    const Operation &operation = lane.site->operation;
    uint32_t mask = operation.maskArg ? uint32_t(lane.args[*operation.maskArg])
                                      : 0xFFFFFFFFu;
    if (!(mask >> (i - begin) & 1))
      return createStringError(
          formatv("{0} by {1}: mask {2:x} leaves out the lane itself\n  in {3}",
                  lane.site->name, describe(lane), mask, lane.site->where)
              .str());
    WarpCall call{*this, *lane.site, mask, {}};
    bool isComplete = true;
    for (unsigned j = 0; j < 32 && isComplete; ++j) {
      if (!(mask >> j & 1))
        continue;
      if (begin + j >= end)
        return createStringError(
            formatv("{0} by {1} needs lane {2}, but the block ends before\n  "
                    "in {3}",
                    lane.site->name, describe(lane), j, lane.site->where)
                .str());
      Lane &other = *lanes[begin + j];
      isComplete = other.state == Lane::State::AtWarp &&
                   other.site == lane.site &&
                   (!operation.maskArg ||
                    uint32_t(other.args[*operation.maskArg]) == mask);
      call.lanes[j] = &other;
    }
    if (!isComplete)
      continue;
    ++lane.site->count;
    if (Error error = operation.warpFunction(call))
      return createStringError(
          formatv("{0} by warp {1} of block ({2},{3},{4}): ", lane.site->name,
                  warp, blockIndex[0], blockIndex[1], blockIndex[2])
              .str() +
          llvm::toString(std::move(error)) + "\n  in " + lane.site->where);
    if (lane.site->name == "llvm.nvvm.bar.warp.sync")
      ++warpEpochs[warp];
    for (unsigned j = 0; j < 32; ++j)
      if (mask >> j & 1)
        call.lanes[j]->state = Lane::State::Ready;
    progress = true;
  }
  return Error::success();
}

/// A hash that moves every bit of its argument into every bit of the result
/// (the finalizer of MurmurHash3).
static uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33;
}

Error Machine::runBlock(void (*newEntry)(const uint64_t *),
                        const uint64_t *newParameters, uint64_t newSharedSize) {
  entry = newEntry;
  parameters = newParameters;
  sharedSize = newSharedSize;
  failure.reset();
  // Bytes of shared memory that nobody wrote are NaN in every format.
  std::memset(shared, 0xFF, sharedSize);
  std::fill_n(history.begin(), sharedSize, ByteHistory());
  unsigned numThreads = getNumThreads();
  unsigned numWarps = (numThreads + 31) / 32;
  warpEpochs.assign(numWarps, 0);
  blockEpoch = 0;
  arrivals.fill(Arrivals());
  if (Error error = stacks.reserve(numThreads))
    return error;
  while (lanes.size() > numThreads)
    lanes.pop_back();
  while (lanes.size() < numThreads)
    lanes.push_back(std::make_unique<Lane>());
  for (unsigned i = 0; i < numThreads; ++i) {
    Lane &lane = *lanes[i];
    lane.machine = this;
    lane.thread = i;
    lane.tid = {i % block[0], i / block[0] % block[1], i / block[0] / block[1]};
    lane.state = Lane::State::Ready;
    lane.openCopies.clear();
    lane.copyGroups.clear();
    lane.fiber.start(
        stacks.getStack(i),
        +[](void *argument) {
          auto *self = static_cast<Lane *>(argument);
          self->machine->entry(self->machine->parameters);
        },
        &lane);
  }

  std::vector<unsigned> order(numThreads);
  for (unsigned i = 0; i < numThreads; ++i)
    order[i] = i;
  if (options.scheduleSeed)
    for (unsigned i = numThreads; i > 1; --i)
      std::swap(order[i - 1],
                order[mix(options.scheduleSeed * 1024 + i +
                          uint64_t(blockIndex[0]) * 0x9E3779B97F4A7C15ULL) %
                      i]);

  while (true) {
    bool progress = false;
    unsigned numDone = 0;
    for (unsigned index : order) {
      Lane &lane = *lanes[index];
      if (lane.state == Lane::State::Ready) {
        progress = true;
        current = &lane;
        lane.fiber.resume();
        current = nullptr;
        if (failure)
          return createStringError(*failure);
        if (lane.fiber.isDone())
          lane.state = Lane::State::Done;
      }
      numDone += lane.state == Lane::State::Done;
    }
    for (unsigned warp = 0; warp < numWarps; ++warp)
      if (Error error = completeWarp(warp, progress))
        return error;
    for (unsigned id = 0; id < arrivals.size(); ++id)
      if (Error error = completeBarrier(id, progress))
        return error;
    if (numDone == numThreads)
      return Error::success();
    if (!progress)
      return createStringError(describeWaiting());
  }
}
