//===- FakeCudaMemory.cpp - Memory of the CUDA driver of the tests --------===//

#include "FakeCudaState.h"
#include "llvm/Support/Error.h"

#include <cstring>

using namespace fakecuda;
using tile::emulator::Memory;

extern "C" {

int cuMemAlloc_v2(uint64_t *address, size_t size) {
  Call call("cuMemAlloc_v2", print(size));
  if (call.needContext().code)
    return call.code;
  if (size == 0)
    return InvalidValue;
  if (size > uint64_t(1) << 32)
    return OutOfMemory;
  Block block;
  block.bytes = std::make_unique<uint8_t[]>(size);
  block.size = size;
  block.ordinal = call.context()->ordinal;
  std::memset(block.bytes.get(), 0xa5, size);
  llvm::Expected<uint64_t> mapped = call.state.memory.map(
      "device memory", {block.bytes.get(), size}, Memory::Access::ReadWrite);
  if (!mapped) {
    llvm::consumeError(mapped.takeError());
    return OutOfMemory;
  }
  *address = *mapped;
  call.state.blocks[*mapped] = std::move(block);
  return Success;
}

int cuMemFree_v2(uint64_t address) {
  Call call("cuMemFree_v2");
  if (currentContexts.empty())
    return InvalidContext;
  auto block = call.state.blocks.find(address);
  if (block == call.state.blocks.end())
    return InvalidValue;
  for (auto &[stream, launch] : call.state.running)
    if (launch.blocks.count(address))
      ++call.state.violations;
  llvm::cantFail(call.state.memory.unmap(address));
  call.state.blocks.erase(block);
  return call.needContext().code;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size,
                         StreamObject *stream) {
  Call call("cuMemcpyHtoDAsync_v2", print(size));
  if (call.needContext().code)
    return call.code;
  uint8_t *bytes = resolve(call.state, to, size);
  if (!bytes)
    return InvalidValue;
  if (!isStream(call.state, stream))
    return InvalidHandle;
  std::memcpy(bytes, from, size);
  return Success;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size,
                         StreamObject *stream) {
  Call call("cuMemcpyDtoHAsync_v2", print(size));
  if (call.needContext().code)
    return call.code;
  uint8_t *bytes = resolve(call.state, from, size);
  if (!bytes)
    return InvalidValue;
  if (!isStream(call.state, stream))
    return InvalidHandle;
  std::memcpy(to, bytes, size);
  return Success;
}

int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t size,
                    StreamObject *stream) {
  Call call("cuMemsetD8Async", print(size));
  if (call.needContext().code)
    return call.code;
  uint8_t *bytes = resolve(call.state, to, size);
  if (!bytes)
    return InvalidValue;
  if (!isStream(call.state, stream))
    return InvalidHandle;
  std::memset(bytes, byte, size);
  return Success;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer) {
  Call call("cuPointerGetAttribute", print(attribute));
  if (call.code)
    return call.code;
  unsigned type = 2, isManaged = 0;
  int ordinal = 0;
  auto host =
      call.state.hostMemory.find(reinterpret_cast<const void *>(pointer));
  if (host != call.state.hostMemory.end()) {
    type = 1;
    isManaged = host->second;
  } else {
    if (!resolve(call.state, pointer, 1))
      return InvalidValue;
    ordinal = findBlock(call.state, pointer)->second.ordinal;
  }
  if (attribute == 2)
    std::memcpy(value, &type, sizeof(type));
  else if (attribute == 8)
    std::memcpy(value, &isManaged, sizeof(isManaged));
  else if (attribute == 9)
    std::memcpy(value, &ordinal, sizeof(ordinal));
  else
    return InvalidValue;
  return Success;
}

} // extern "C"
