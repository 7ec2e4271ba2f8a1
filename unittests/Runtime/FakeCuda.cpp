//===- FakeCuda.cpp - The CUDA driver of the tests ------------------------===//
//
// A library with the driver's functions and no GPU. It checks what it is given
// as the driver does: handles, contexts, sizes, limits. Memory is that of the
// emulator, so that no address of it can be read by the host; PTX is run by the
// emulator, so that a kernel computes what it should only where its parameters
// arrive as they should. A cubin is loaded and launched, but computes nothing.
//
// Work is done when it is given, and complete at once unless it is held.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "FakeCudaState.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdlib>
#include <cstring>

using namespace fakecuda;

thread_local std::vector<Context *> fakecuda::currentContexts;

void fakecuda::setDevices(State &state, llvm::StringRef capabilities) {
  state.devices.clear();
  llvm::SmallVector<llvm::StringRef> parts;
  capabilities.split(parts, ',', -1, false);
  for (llvm::StringRef part : parts) {
    Device device;
    auto [major, minor] = part.split('.');
    (void)major.getAsInteger(10, device.major);
    (void)minor.getAsInteger(10, device.minor);
    state.devices.push_back(device);
  }
}

State &fakecuda::getState() {
  static State *state = [] {
    auto *made = new State;
    const char *devices = std::getenv("FAKE_CUDA_DEVICES");
    setDevices(*made, devices ? devices : "9.0");
    if (const char *failure = std::getenv("FAKE_CUDA_FAIL")) {
      auto [symbol, code] = llvm::StringRef(failure).split(':');
      Failure &entry = made->failures[symbol.str()];
      entry.countdown = 1;
      (void)code.getAsInteger(10, entry.code);
    }
    return made;
  }();
  return *state;
}

Call::Call(const char *symbol, const std::string &details)
    : state(getState()), lock(state.mutex) {
  state.log += symbol;
  state.log += details.empty() ? "\n" : " " + details + "\n";
  auto failure = state.failures.find(symbol);
  if (failure != state.failures.end() && --failure->second.countdown == 0) {
    code = failure->second.code;
    state.failures.erase(failure);
    state.hasFailed = true;
  } else if (!state.isInitialized && std::strcmp(symbol, "cuInit")) {
    code = NotInitialized;
  }
}

std::map<uint64_t, Block>::iterator fakecuda::findBlock(State &state,
                                                        uint64_t address) {
  auto block = state.blocks.upper_bound(address);
  if (block == state.blocks.begin())
    return state.blocks.end();
  --block;
  return address - block->first <= block->second.size ? block
                                                      : state.blocks.end();
}

uint8_t *fakecuda::resolve(State &state, uint64_t address, size_t size) {
  auto block = findBlock(state, address);
  if (block == state.blocks.end())
    return nullptr;
  const uint64_t offset = address - block->first;
  return size <= block->second.size - offset
             ? block->second.bytes.get() + offset
             : nullptr;
}

bool fakecuda::isStream(State &state, StreamObject *stream) {
  return !stream || (state.streams.count(stream) &&
                     stream->context == currentContexts.back());
}

/// Lets everybody know of faults.
static void publishFaults(State &state) {
  for (auto &[ordinal, context] : state.contexts)
    if (context->laterFault)
      context->fault = context->laterFault;
}

void fakecuda::complete(State &state, StreamObject *stream) {
  state.running.erase(stream);
  for (auto &[event, owner] : state.events)
    if (event->stream == stream)
      event->isComplete = true;
  publishFaults(state);
}

void fakecuda::completeAll(State &state) {
  state.running.clear();
  for (auto &[event, owner] : state.events)
    event->isComplete = true;
  publishFaults(state);
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void fakeCudaReset() {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.log.clear();
  state.failures.clear();
  state.hasFailed = state.isHeld = false;
  state.launches = state.violations = 0;
  completeAll(state);
  for (auto &[ordinal, context] : state.contexts)
    context->fault = context->laterFault = 0;
  state.hostMemory.clear();
  currentContexts.clear();
}

void fakeCudaSetDevices(const char *capabilities) {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  setDevices(state, capabilities);
}

void fakeCudaFail(const char *symbol, int code, int nth) {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.failures[symbol] = {code, nth};
  state.hasFailed = false;
}

int fakeCudaHasFailed() {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.hasFailed;
}

void fakeCudaHold(int hold) {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.isHeld = hold;
  if (!hold)
    completeAll(state);
}

const char *fakeCudaLog() {
  static thread_local std::string copy;
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  copy = state.log;
  return copy.c_str();
}

int64_t fakeCudaCount(const char *what) {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  const llvm::StringRef name = what;
  if (name == "memory")
    return state.blocks.size();
  if (name == "modules")
    return state.modules.size();
  if (name == "streams")
    return state.streams.size();
  if (name == "events")
    return state.events.size();
  if (name == "launches")
    return state.launches;
  if (name == "violations")
    return state.violations;
  int64_t retained = 0;
  for (auto &[ordinal, context] : state.contexts)
    retained += context->retained;
  return name == "contexts" ? retained : -1;
}

void fakeCudaRegisterHost(void *pointer, int kind) {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (kind < 0)
    state.hostMemory.erase(pointer);
  else
    state.hostMemory[pointer] = kind;
}

void *fakeCudaPushForeign() {
  State &state = getState();
  currentContexts.push_back(&state.foreign);
  return &state.foreign;
}

void *fakeCudaGetCurrent() {
  return currentContexts.empty() ? nullptr : currentContexts.back();
}

void fakeCudaCapture(void *stream, int capture) {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  static_cast<StreamObject *>(stream)->isCapturing = capture;
}

void *fakeCudaMakeForeignStream() {
  State &state = getState();
  std::lock_guard<std::mutex> lock(state.mutex);
  auto stream = std::make_unique<StreamObject>();
  stream->context = &state.foreign;
  StreamObject *handle = stream.get();
  state.streams[handle] = std::move(stream);
  return handle;
}

//===----------------------------------------------------------------------===//
// The driver: devices and contexts
//===----------------------------------------------------------------------===//

extern "C" {

int cuInit(unsigned flags) {
  Call call("cuInit");
  if (call.code)
    return call.code;
  if (flags)
    return InvalidValue;
  call.state.isInitialized = true;
  return Success;
}

int cuDriverGetVersion(int *version) {
  Call call("cuDriverGetVersion");
  *version = 12040;
  return call.code;
}

/// Names and texts of the codes that the tests use.
static const struct {
  int code;
  const char *name, *text;
} codeTable[] = {
    {InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {InvalidImage, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

int cuGetErrorName(int code, const char **name) {
  for (auto &row : codeTable)
    if (row.code == code)
      return *name = row.name, Success;
  *name = nullptr;
  return InvalidValue;
}

int cuGetErrorString(int code, const char **text) {
  for (auto &row : codeTable)
    if (row.code == code)
      return *text = row.text, Success;
  *text = nullptr;
  return InvalidValue;
}

int cuDeviceGetCount(int *number) {
  Call call("cuDeviceGetCount");
  if (!call.code)
    *number = call.state.devices.size();
  return call.code;
}

int cuDeviceGet(int *device, int ordinal) {
  Call call("cuDeviceGet", print(ordinal));
  if (call.code)
    return call.code;
  if (ordinal < 0 || ordinal >= int(call.state.devices.size()))
    return InvalidDevice;
  // Not the ordinal, which must not be taken for it.
  *device = ordinal + 100;
  return Success;
}

/// The ordinal of a device, or -1.
static int findDevice(State &state, int device) {
  const int ordinal = device - 100;
  return ordinal >= 0 && ordinal < int(state.devices.size()) ? ordinal : -1;
}

int cuDeviceGetName(char *name, int size, int device) {
  Call call("cuDeviceGetName");
  if (call.code)
    return call.code;
  if (findDevice(call.state, device) < 0)
    return InvalidDevice;
  std::strncpy(name, "Fake GPU", size);
  return Success;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  Call call("cuDeviceGetAttribute", print(attribute));
  if (call.code)
    return call.code;
  const int ordinal = findDevice(call.state, device);
  if (ordinal < 0)
    return InvalidDevice;
  const Device &info = call.state.devices[ordinal];
  if (attribute == 75)
    *value = info.major;
  else if (attribute == 76)
    *value = info.minor;
  else if (attribute == 97)
    *value = (info.major == 12 ? 99 : 227) * 1024;
  else
    return InvalidValue;
  return Success;
}

int cuDevicePrimaryCtxRetain(Context **context, int device) {
  Call call("cuDevicePrimaryCtxRetain");
  if (call.code)
    return call.code;
  const int ordinal = findDevice(call.state, device);
  if (ordinal < 0)
    return InvalidDevice;
  std::unique_ptr<Context> &owner = call.state.contexts[ordinal];
  if (!owner)
    owner = std::make_unique<Context>();
  owner->ordinal = ordinal;
  ++owner->retained;
  *context = owner.get();
  return Success;
}

int cuCtxPushCurrent_v2(Context *context) {
  Call call("cuCtxPushCurrent_v2");
  if (call.code)
    return call.code;
  if (!context || !context->retained)
    return InvalidContext;
  currentContexts.push_back(context);
  return Success;
}

int cuCtxPopCurrent_v2(Context **context) {
  Call call("cuCtxPopCurrent_v2");
  if (currentContexts.empty())
    return InvalidContext;
  *context = currentContexts.back();
  currentContexts.pop_back();
  return call.code;
}

int cuCtxSynchronize() {
  Call call("cuCtxSynchronize");
  completeAll(call.state);
  return call.needContext().code;
}

} // extern "C"
