//===- CudaDriver.cpp - The functions of the CUDA driver ------------------===//

#include "CudaDriver.h"

#include "Gate.h"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>

using namespace tile::runtime;

/// The kind of error that a code of the driver is.
static ErrorCode getErrorCode(int code) {
  switch (code) {
  case kCudaOutOfMemory:
    return ErrorCode::OutOfMemory;
  case kCudaNotInitialized:
  case kCudaStubLibrary:
  case kCudaDeviceUnavailable:
  case kCudaNoDevice:
  case kCudaUnsupportedPtxVersion:
  case kCudaJitCompilerNotFound:
  case kCudaSystemNotReady:
  case kCudaSystemDriverMismatch:
  case kCudaCompatNotSupported:
    return ErrorCode::Unavailable;
  default:
    return ErrorCode::Driver;
  }
}

Error CudaDriver::makeError(const char *call, int code,
                            const CudaPurpose &purpose) const {
  std::string message = call;
  if (purpose.kernel)
    message += purpose.relation + ("kernel '" + *purpose.kernel + "'");
  if (purpose.ordinal >= 0)
    message += " on cuda:" + std::to_string(purpose.ordinal);
  // Both fail for codes that are newer than the driver.
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName.function(code, &name) || !name)
    message += " failed: CUDA error " + std::to_string(code);
  else
    message += std::string(" failed: ") + name;
  if (!cuGetErrorString.function(code, &text) && text)
    message += std::string(" (") + text + ")";
  int version = 0;
  if (code == kCudaUnsupportedPtxVersion &&
      !cuDriverGetVersion.function(&version))
    message +=
        "; the driver is that of CUDA " + std::to_string(version / 1000) + "." +
        std::to_string(version % 1000 / 10) + ", which is too old for this PTX";
  return Error(getErrorCode(code), std::move(message));
}

Status CudaDriver::load() {
  const char *wish = std::getenv("TILE_CUDA_LIBRARY");
  const bool hasWish = wish && *wish;
  const std::string library = hasWish ? wish : "libcuda.so.1";
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Error(ErrorCode::Unavailable,
                 "cannot load the CUDA driver '" + library + "'" +
                     (hasWish ? " that TILE_CUDA_LIBRARY names: " : ": ") +
                     (reason ? reason : "no reason given"));
  }
  const char *missing = nullptr;
  auto find = [&](auto &call, const char *symbol, bool isOptional) {
    void *address = dlsym(handle, symbol);
    if (!address && !missing && !isOptional)
      missing = symbol;
    call.function = reinterpret_cast<decltype(call.function)>(address);
  };
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, ...) find(NAME, SYMBOL, false);
  TILE_CUDA_FUNCTIONS(TILE_CUDA_FUNCTION)
#undef TILE_CUDA_FUNCTION
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, ...) find(NAME, SYMBOL, true);
  TILE_CUDA_OPTIONAL_FUNCTIONS(TILE_CUDA_FUNCTION)
#undef TILE_CUDA_FUNCTION
  if (missing) {
    dlclose(handle);
    return Error(ErrorCode::Unavailable, "the CUDA driver '" + library +
                                             "' has no function '" + missing +
                                             "'; it is too old");
  }
  return call(cuInit, {}, 0u);
}

/// Never destroyed, and the library is never closed: kernels and arrays may be
/// freed while the process ends.
static MadeOnce<const CudaDriver *> &getMadeOnce() {
  ForkShield shield;
  static auto *driver = new MadeOnce<const CudaDriver *>;
  return *driver;
}

Expected<const CudaDriver *> CudaDriver::get() {
  // What fails is tried again: the environment may have changed.
  return getMadeOnce().get([]() -> Expected<const CudaDriver *> {
    auto loaded = std::make_unique<CudaDriver>();
    if (Status done = loaded->load(); !done)
      return std::move(done).error();
    return loaded.release();
  });
}
