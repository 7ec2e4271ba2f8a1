//===- Memory.cpp - The emulated device's global memory -------------------===//

#include "tile/Emulator/Memory.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::emulator;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// Regions that are set aside before the first one is used again.
static constexpr size_t kQuarantine = 4096;

static Error cannotMap(StringRef name, const Twine &reason) {
  return createStringError("cannot map '" + name + "': " + reason);
}

Expected<uint64_t> Memory::map(StringRef name,
                               llvm::MutableArrayRef<uint8_t> bytes,
                               Access access, uint64_t alignment) {
  if (bytes.size() > kRegionBase)
    return cannotMap(name, "expects at most " + Twine(kRegionBase) +
                               " bytes, but got " + Twine(bytes.size()));
  if (!llvm::isPowerOf2_64(alignment) || alignment > 4096)
    return cannotMap(name, "expects an alignment that is a power of two up to "
                           "4096, but got " +
                               Twine(alignment));

  std::lock_guard<std::mutex> lock(mutex);
  uint64_t region = numRegions.load(std::memory_order_relaxed);
  const bool isNew = freeRegions.size() <= kQuarantine && region < kMaxRegions;
  if (isNew) {
    std::unique_ptr<Allocation[]> &chunk = chunks[region / kChunkRegions];
    if (!chunk)
      chunk = std::make_unique<Allocation[]>(kChunkRegions);
  } else {
    if (freeRegions.empty())
      return cannotMap(name, "expects at most " + Twine(kMaxRegions) +
                                 " buffers at a time");
    region = freeRegions.front();
    freeRegions.pop_front();
  }

  Allocation &allocation =
      chunks[region / kChunkRegions][region % kChunkRegions];
  allocation.name = name.str();
  // One step below a large power of two: no better aligned than asked for.
  allocation.address =
      ((kFirstRegion + region) << kRegionBits) + kRegionBase - alignment;
  allocation.size = bytes.size();
  allocation.bytes = bytes.data();
  allocation.readOnly = access == Access::ReadOnly;
  allocation.live = true;
  if (isNew)
    numRegions.store(region + 1, std::memory_order_release);
  return allocation.address;
}

Error Memory::unmap(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  const Allocation *found = find(address);
  if (!found || !found->live || found->address != address)
    return createStringError("cannot unmap address 0x" +
                             llvm::utohexstr(address, /*LowerCase=*/true) +
                             ": no buffer begins there");
  const uint64_t region = (address >> kRegionBits) - kFirstRegion;
  Allocation &allocation =
      chunks[region / kChunkRegions][region % kChunkRegions];
  allocation.live = false;
  allocation.bytes = nullptr;
  freeRegions.push_back(region);
  return Error::success();
}

std::vector<Allocation> Memory::getAllocations() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Allocation> result;
  const uint64_t count = numRegions.load(std::memory_order_relaxed);
  for (uint64_t region = 0; region < count; ++region) {
    const Allocation &allocation =
        chunks[region / kChunkRegions][region % kChunkRegions];
    if (allocation.live)
      result.push_back(allocation);
  }
  return result;
}
