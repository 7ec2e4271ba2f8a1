//===- TensorMapAccess.cpp - Tensor maps in a kernel's memory -------------===//

#include "TensorMapAccess.h"

#include "MemoryAccess.h"
#include "llvm/ADT/StringExtras.h"

namespace tile::emulator {

using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static bool illegal(const Instruction &instruction, Warp &warp, unsigned lane,
                    uint64_t address, Check check, const Twine &message) {
  warp.fault(instruction, lane, check, message, address);
  return false;
}

/// The object at offset `offset` of the kernel's parameters, or null after a
/// fault.
static const uint8_t *findInParameters(const Instruction &instruction,
                                       Warp &warp, unsigned lane,
                                       uint64_t address, StringRef verb) {
  const uint64_t offset = address - kParameterWindow;
  ArrayRef<uint8_t> parameters = warp.getBlock().getParameters();
  const std::string where = (verb + " expects a tensor map at offset " +
                             Twine(offset) + " of the parameters, which ")
                                .str();
  if (offset > parameters.size() ||
      kTensorMapBytes > parameters.size() - offset) {
    illegal(instruction, warp, lane, address, Check::OutOfBounds,
            where + "have " + Twine(parameters.size()) + " bytes");
    return nullptr;
  }
  if (offset % kTensorMapAlignment) {
    illegal(instruction, warp, lane, address, Check::Misaligned,
            where + "is not a multiple of " + Twine(kTensorMapAlignment));
    return nullptr;
  }
  return parameters.data() + offset;
}

/// The object in global memory, or null after a fault.
static const uint8_t *findInGlobal(const Instruction &instruction, Warp &warp,
                                   unsigned lane, uint64_t address) {
  const uint8_t *bytes = warp.getBlock().getGlobal().resolve(
      address, kTensorMapBytes, kTensorMapAlignment, /*isStore=*/false);
  if (!bytes)
    faultGlobal(instruction, warp, lane, address, kTensorMapBytes,
                kTensorMapAlignment, /*isStore=*/false,
                "read of the tensor map");
  return bytes;
}

/// What a use of a map that the kernel has changed needs. False after a fault.
static bool checkFences(const Instruction &instruction, Warp &warp,
                        unsigned lane, uint64_t address, StringRef verb,
                        const uint8_t *bytes) {
  Block &block = warp.getBlock();
  if (!block.getGlobal().hasStores(address, kTensorMapBytes))
    return true;
  TensorMapFences &fences = block.getState<TensorMapFences>();
  auto it = fences.acquired.find(address);
  StringRef missing;
  if (fences.changed.count(address))
    missing = "release";
  else if (it == fences.acquired.end() ||
           !std::equal(it->second.begin(), it->second.end(), bytes))
    missing = "acquire";
  else
    return true;
  return illegal(instruction, warp, lane, address, Check::ProxyFence,
                 verb + " uses the tensor map at " +
                     block.getGlobal().describe(address) +
                     ", which the kernel has changed, but no "
                     "fence.proxy.tensormap::generic." +
                     missing + " follows the change");
}

bool readTensorMap(const Instruction &instruction, Warp &warp, unsigned lane,
                   uint64_t address, StringRef verb, TensorMap &map) {
  Block &block = warp.getBlock();
  const uint8_t *bytes = nullptr;
  std::string where;
  switch (address & kWindowMask) {
  case kParameterWindow:
    bytes = findInParameters(instruction, warp, lane, address, verb);
    where = "offset " + llvm::utostr(address - kParameterWindow) +
            " of the parameters";
    break;
  case kSharedWindow:
  case kLocalWindow:
    return illegal(
        instruction, warp, lane, address, Check::IllegalOperand,
        verb +
            " expects a tensor map in parameters, constants or "
            "global memory, but got an address in " +
            ((address & kWindowMask) == kSharedWindow ? "shared" : "local") +
            " memory");
  default:
    bytes = findInGlobal(instruction, warp, lane, address);
    where = block.getGlobal().describe(address);
    if (bytes && !checkFences(instruction, warp, lane, address, verb, bytes))
      return false;
  }
  if (!bytes)
    return false;
  Expected<TensorMap> decoded =
      TensorMap::decode(ArrayRef(bytes, kTensorMapBytes));
  if (!decoded)
    return illegal(instruction, warp, lane, address, Check::IllegalOperand,
                   verb + " expects a tensor map, but what is at " + where +
                       " " + llvm::toString(decoded.takeError()));
  map = *decoded;
  return true;
}

bool acquireTensorMaps(const Instruction &instruction, Lanes &lanes,
                       const uint64_t (&addresses)[kLanes]) {
  Warp &warp = *lanes.warp;
  auto &acquired = warp.getBlock().getState<TensorMapFences>().acquired;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const uint64_t address = addresses[lane];
    // Nothing else changes.
    if (address < kFirstModuleRegion << Memory::kRegionBits)
      continue;
    const uint8_t *bytes = findInGlobal(instruction, warp, lane, address);
    if (!bytes)
      return false;
    std::copy_n(bytes, kTensorMapBytes, acquired[address].begin());
  }
  return true;
}

} // namespace tile::emulator
