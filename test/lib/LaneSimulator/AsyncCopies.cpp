//===- AsyncCopies.cpp - cp.async and its groups --------------------------===//
//
// From the PTX ISA, "cp.async", "cp.async.commit_group" and
// "cp.async.wait_group". The bytes may arrive at any time between the copy and
// the issuing thread's wait. So the destination is spoilt by the copy, is
// nobody's to touch until the wait, and counts as stored by the issuing thread
// then: what other threads need besides is a barrier after the wait.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace tile;
using namespace tile::lane;
using llvm::createStringError;
using llvm::Error;
using llvm::formatv;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Copies of a thread
//===----------------------------------------------------------------------===//

void Machine::setInFlight(const AsyncCopy &copy, bool isInFlight) {
  if (!options.checkRaces)
    return;
  uint64_t offset = copy.to - reinterpret_cast<uintptr_t>(shared);
  for (unsigned i = 0; i < copy.size; ++i)
    history[offset + i].isInFlight = isInFlight;
}

Error Machine::beginCopy(Lane &lane, AsyncCopy copy) {
  if (!isShared(copy.to))
    return createStringError(
        formatv("destination {0:x} is not in shared memory", copy.to).str());
  if (copy.sourceSize > copy.size)
    return createStringError("source size %u of a copy of %u bytes",
                             copy.sourceSize, copy.size);
  if (copy.from % copy.size != 0)
    return createStringError(
        formatv("source {0:x} is not a multiple of the size {1}", copy.from,
                copy.size)
            .str());
  if (copy.sourceSize && isShared(copy.from))
    return createStringError("source is in shared memory");
  if (Error error = check(lane, copy.from, copy.sourceSize, 1, false))
    return error;
  if (Error error = check(lane, copy.to, copy.size, copy.size, true))
    return error;
  std::memcpy(copy.bytes.data(), reinterpret_cast<const void *>(copy.from),
              copy.sourceSize);
  // Whoever looks without checks finds neither the old nor the new bytes.
  std::memset(reinterpret_cast<void *>(copy.to), 0xFF, copy.size);
  setInFlight(copy, true);
  lane.openCopies.push_back(copy);
  return Error::success();
}

void Machine::commitCopies(Lane &lane) {
  lane.copyGroups.push_back(std::move(lane.openCopies));
  lane.openCopies.clear();
}

Error Machine::completeCopies(Lane &lane, unsigned groupsLeft) {
  while (lane.copyGroups.size() > groupsLeft) {
    for (const AsyncCopy &copy : lane.copyGroups.front()) {
      // The source could have been read at any time until now.
      if (std::memcmp(copy.bytes.data(),
                      reinterpret_cast<const void *>(copy.from),
                      copy.sourceSize) != 0)
        return createStringError(
            "the source of the asynchronous copy to offset %llu of shared "
            "memory changed before the wait",
            static_cast<unsigned long long>(
                copy.to - reinterpret_cast<uintptr_t>(shared)));
      setInFlight(copy, false);
      if (Error error = check(lane, copy.to, copy.size, copy.size, true))
        return error;
      std::memcpy(reinterpret_cast<void *>(copy.to), copy.bytes.data(),
                  copy.size);
    }
    lane.copyGroups.erase(lane.copyGroups.begin());
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Intrinsics
//===----------------------------------------------------------------------===//

/// Takes the number of bytes of a copy.
static bool takeSize(StringRef &text, bool isCg, unsigned &size) {
  return !text.consumeInteger(10, size) &&
         (size == 16 || (!isCg && (size == 4 || size == 8)));
}

/// A copy of `size` bytes from the second argument to the first, of which as
/// many are read as `getSourceSize` says of the arguments.
static Operation
makeCopy(unsigned size,
         std::function<uint32_t(const uint64_t *args)> getSourceSize) {
  Operation operation;
  operation.laneFunction = [=](Machine &machine, Lane &lane,
                               const uint64_t *args, uint64_t *) {
    AsyncCopy copy;
    copy.to = args[0];
    copy.from = args[1];
    copy.size = size;
    copy.sourceSize = getSourceSize(args);
    return machine.beginCopy(lane, copy);
  };
  return operation;
}

/// cp.async.{ca,cg}.shared.global.SIZE[.s]: destination, source and, with `.s`,
/// the number of bytes to read.
std::optional<Operation> lane::findAsyncCopy(StringRef name) {
  Operation operation;
  if (!name.consume_front("cp.async."))
    return std::nullopt;
  if (name == "commit.group") {
    operation.laneFunction = [](Machine &machine, Lane &lane, const uint64_t *,
                                uint64_t *) {
      machine.commitCopies(lane);
      return Error::success();
    };
    return operation;
  }
  if (name == "wait.group") {
    operation.laneFunction = [](Machine &machine, Lane &lane,
                                const uint64_t *args, uint64_t *) {
      return machine.completeCopies(lane, args[0]);
    };
    return operation;
  }
  if (name == "wait.all") {
    operation.laneFunction = [](Machine &machine, Lane &lane, const uint64_t *,
                                uint64_t *) {
      machine.commitCopies(lane);
      return machine.completeCopies(lane, 0);
    };
    return operation;
  }
  bool hasSourceSize = name.consume_back(".s");
  const bool isCg = name.consume_front("cg.");
  unsigned size = 0;
  if ((!isCg && !name.consume_front("ca.")) ||
      !name.consume_front("shared.global.") || !takeSize(name, isCg, size) ||
      !name.empty())
    return std::nullopt;
  return makeCopy(size, [=](const uint64_t *args) {
    return hasSourceSize ? uint32_t(args[2]) : size;
  });
}

/// cp.async.{ca,cg}.shared.global with a predicate, for which there is no
/// intrinsic: destination, source and whether the bytes are zero and nothing is
/// read. The latter may be a bit of a word.
std::optional<Operation> lane::findAsyncCopyAssembly(StringRef text) {
  uint32_t bits = 1;
  StringRef predicate = "$2", end = "";
  if (text.consume_front("{ .reg .pred p; .reg .b32 t; and.b32 t, $2, ")) {
    if (text.consumeInteger(10, bits) ||
        !text.consume_front("; setp.ne.b32 p, t, 0; "))
      return std::nullopt;
    predicate = "p";
    end = " }";
  }
  if (!text.consume_front("cp.async."))
    return std::nullopt;
  const bool isCg = text.consume_front("cg.");
  unsigned size = 0;
  if ((!isCg && !text.consume_front("ca.")) ||
      !text.consume_front("shared.global [$0], [$1], ") ||
      !takeSize(text, isCg, size) || !text.consume_front(", ") ||
      !text.consume_front(predicate) || !text.consume_front(";") || text != end)
    return std::nullopt;
  return makeCopy(
      size, [=](const uint64_t *args) { return args[2] & bits ? 0 : size; });
}
