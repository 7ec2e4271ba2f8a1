//===- CudaDevice.cpp - A GPU, by the CUDA driver -------------------------===//
//
// The device and its memory. CudaStream.cpp has what is asynchronous,
// CudaLaunch.cpp how kernels are loaded and launched.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "KernelImpl.h"

#include <algorithm>
#include <map>

using namespace tile::runtime;

static CudaAddress getAddress(const void *pointer) {
  return reinterpret_cast<CudaAddress>(pointer);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Expected<int> tile::runtime::getNumCudaDevices() {
  Expected<const CudaDriver *> driver = CudaDriver::get();
  if (!driver)
    return std::move(driver).error();
  int number = 0;
  if (Status done = (*driver)->call((*driver)->cuDeviceGetCount, {}, &number);
      !done)
    return std::move(done).error();
  if (number == 0)
    return Error(ErrorCode::Unavailable, "the CUDA driver finds no GPU");
  return number;
}

namespace {
/// The GPUs that have been opened.
struct OpenDevices {
  static OpenDevices &get() {
    ForkShield shield;
    // Never destroyed: a primary context that nobody retains is torn down, and
    // making it anew takes a good part of a second.
    static auto *open = new OpenDevices;
    return *open;
  }

  Gate gate;
  std::map<int, std::shared_ptr<CudaDevice>> devices;
};
} // namespace

Expected<std::shared_ptr<DeviceImpl>>
tile::runtime::getCudaDevice(int ordinal) {
  OpenDevices &open = OpenDevices::get();
  GateScope scope(open.gate, /*cancel=*/nullptr);
  if (auto found = open.devices.find(ordinal); found != open.devices.end())
    return std::shared_ptr<DeviceImpl>(found->second);

  Expected<int> number = getNumCudaDevices();
  if (!number)
    return std::move(number).error();
  if (ordinal < 0 || ordinal >= *number)
    return Error(ErrorCode::NotFound,
                 "no GPU cuda:" + std::to_string(ordinal) +
                     "; the CUDA driver finds " + std::to_string(*number) +
                     (*number == 1
                          ? ", cuda:0"
                          : ", cuda:0 to cuda:" + std::to_string(*number - 1)));
  Expected<const CudaDriver *> driver = CudaDriver::get();
  if (!driver)
    return std::move(driver).error();
  Expected<std::shared_ptr<CudaDevice>> device =
      CudaDevice::create(**driver, ordinal);
  if (!device)
    return std::move(device).error();
  ForkShield shield;
  open.devices.emplace(ordinal, *device);
  return std::shared_ptr<DeviceImpl>(std::move(*device));
}

Expected<std::shared_ptr<CudaDevice>>
CudaDevice::create(const CudaDriver &driver, int ordinal) {
  std::shared_ptr<CudaDevice> device(new CudaDevice(driver, ordinal));
  if (Status done = device->open(); !done)
    return std::move(done).error();
  return device;
}

Status CudaDevice::open() {
  if (Status done = driver.call(driver.cuDeviceGet, getPurpose(), &id, ordinal);
      !done)
    return done;
  char name[256] = {};
  if (Status done = driver.call(driver.cuDeviceGetName, getPurpose(), name,
                                static_cast<int>(sizeof(name) - 1), id);
      !done)
    return done;
  model = name;
  for (auto [result, attribute] :
       {std::pair{&major, kCudaCapabilityMajor},
        std::pair{&minor, kCudaCapabilityMinor},
        std::pair{&maxSharedBytes, kCudaSharedPerBlockOptin}})
    if (Status done = driver.call(driver.cuDeviceGetAttribute, getPurpose(),
                                  result, attribute, id);
        !done)
      return done;
  Expected<std::string> found = getTargetOfComputeCapability(major, minor);
  if (!found)
    return Error(found.error().getCode(),
                 getName() + ": " + found.error().getMessage());
  target = std::move(*found);
  // Last, since it is never released.
  return driver.call(driver.cuDevicePrimaryCtxRetain, getPurpose(), &context,
                     id);
}

std::string CudaDevice::getName() const {
  return "cuda:" + std::to_string(ordinal) + " (" + model + ")";
}

Status CudaDevice::inContext(llvm::function_ref<Status()> body) const {
  if (Status pushed =
          driver.call(driver.cuCtxPushCurrent, getPurpose(), context);
      !pushed)
    return pushed;
  Status done = body();
  CudaContext popped = nullptr;
  Status restored = driver.call(driver.cuCtxPopCurrent, getPurpose(), &popped);
  return done ? std::move(restored) : std::move(done);
}

Status CudaDevice::synchronize() {
  return inContext([&]() -> Status {
    if (Status done = driver.call(driver.cuCtxSynchronize, getPurpose()); !done)
      return done;
    freeGarbage();
    return orphans.reap();
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<void>> CudaDevice::allocate(size_t bytes) {
  std::shared_ptr<void> memory;
  Status done = inContext([&]() -> Status {
    if (Status reaped = orphans.reap(); !reaped)
      return reaped;
    freeGarbage();
    CudaAddress address = 0;
    if (Status allocated = driver.call(driver.cuMemAlloc, getPurpose(),
                                       &address, std::max<size_t>(bytes, 1));
        !allocated)
      return Error(allocated.error().getCode(),
                   "cannot allocate " + std::to_string(bytes) +
                       " bytes: " + allocated.error().getMessage());
    memory = std::shared_ptr<void>(reinterpret_cast<void *>(address),
                                   [device = getShared()](void *pointer) {
                                     device->freeMemory(getAddress(pointer));
                                   });
    return {};
  });
  if (!done)
    return std::move(done).error();
  return memory;
}

thread_local bool CudaDevice::NoFreeing::isActive = false;

void CudaDevice::freeMemory(CudaAddress address) {
  if (!NoFreeing::isActive) {
    release(driver.cuMemFree, address);
    freeGarbage();
    return;
  }
  std::lock_guard lock(garbageMutex);
  garbageMemory.push_back(address);
}

void CudaDevice::unload(CudaModuleHandle module) {
  if (!NoFreeing::isActive)
    return release(driver.cuModuleUnload, module);
  std::lock_guard lock(garbageMutex);
  garbageModules.push_back(module);
}

void CudaDevice::freeGarbage() {
  std::vector<CudaAddress> memory;
  std::vector<CudaModuleHandle> modules;
  {
    std::lock_guard lock(garbageMutex);
    memory.swap(garbageMemory);
    modules.swap(garbageModules);
  }
  for (CudaAddress address : memory)
    release(driver.cuMemFree, address);
  for (CudaModuleHandle module : modules)
    release(driver.cuModuleUnload, module);
}

// The copies and fills that wait go to the default stream, which waits for
// other work only where that asks for it.

Status CudaDevice::copyToDevice(void *destination, const void *source,
                                size_t bytes) {
  return inContext([&]() -> Status {
    if (Status done =
            driver.call(driver.cuMemcpyHtoDAsync, getPurpose(),
                        getAddress(destination), source, bytes, nullptr);
        !done)
      return done;
    return driver.call(driver.cuStreamSynchronize, getPurpose(), nullptr);
  });
}

Status CudaDevice::copyToHost(void *destination, const void *source,
                              size_t bytes) {
  return inContext([&]() -> Status {
    if (Status done =
            driver.call(driver.cuMemcpyDtoHAsync, getPurpose(), destination,
                        getAddress(source), bytes, nullptr);
        !done)
      return done;
    return driver.call(driver.cuStreamSynchronize, getPurpose(), nullptr);
  });
}

Status CudaDevice::fill(void *destination, uint8_t byte, size_t bytes) {
  return inContext([&]() -> Status {
    if (Status done =
            driver.call(driver.cuMemsetD8Async, getPurpose(),
                        getAddress(destination), byte, bytes, nullptr);
        !done)
      return done;
    return driver.call(driver.cuStreamSynchronize, getPurpose(), nullptr);
  });
}

Status CudaDevice::checkArray(const TensorRef &array, const std::string &name) {
  // An array without elements may be anywhere, since nobody reads it.
  if (array.place.kind == MemoryPlace::Kind::Host || array.getSpanBytes() == 0)
    return {};
  auto refuse = [&](const std::string &found) -> Status {
    return Error(ErrorCode::InvalidArgument,
                 name + ": expects " + getPlace().str() + ", but got " + found);
  };
  if (array.place != getPlace())
    return refuse(array.place.str());

  return inContext([&]() -> Status {
    auto get = [&](auto &result, int attribute) {
      return driver.cuPointerGetAttribute.function(&result, attribute,
                                                   getAddress(array.data));
    };
    auto fail = [&](int code) -> Status {
      return driver.makeError("cuPointerGetAttribute", code, getPurpose());
    };
    unsigned type = 0;
    int code = get(type, kCudaPointerMemoryType);
    if (code == kCudaInvalidValue)
      return refuse("an address that the driver does not know");
    if (code)
      return fail(code);
    if (type != kCudaMemoryTypeDevice) {
      // Managed memory moves; where it is now does not matter.
      unsigned isManaged = 0;
      if (int failure = get(isManaged, kCudaPointerIsManaged))
        return fail(failure);
      return isManaged ? Status() : refuse("host memory");
    }
    int owner = 0;
    if (int failure = get(owner, kCudaPointerOrdinal))
      return fail(failure);
    if (owner != ordinal)
      return refuse(MemoryPlace{MemoryPlace::Kind::Cuda, owner}.str());
    return {};
  });
}
