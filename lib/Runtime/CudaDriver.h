//===- CudaDriver.h - The functions of the CUDA driver ----------*- C++ -*-===//
//
// The driver is a library that comes with the GPU, so it is loaded when the
// first GPU is asked for, and nothing of CUDA is needed to build this project:
// what we use of its interface is declared here.
//
//     Status done = driver.call(driver.cuMemFree, {ordinal}, address);
//
// A call that fails is an `Error` that names the function, the code and what
// the call was for.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_CUDADRIVER_H
#define TILE_LIB_RUNTIME_CUDADRIVER_H

#include "tile/Runtime/Error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tile::runtime {

using CudaAddress = uint64_t;
using CudaDeviceId = int;
using CudaContext = struct CudaContextTag *;
using CudaModuleHandle = struct CudaModuleTag *;
using CudaFunction = struct CudaFunctionTag *;
using CudaStreamHandle = struct CudaStreamTag *;
using CudaEventHandle = struct CudaEventTag *;

/// The codes that mean something to us.
enum CudaCode : int {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaOutOfMemory = 2,
  kCudaNotInitialized = 3,
  kCudaStubLibrary = 34,
  kCudaDeviceUnavailable = 46,
  kCudaNoDevice = 100,
  kCudaUnsupportedPtxVersion = 222,
  kCudaJitCompilerNotFound = 221,
  kCudaNotReady = 600,
  kCudaSystemNotReady = 802,
  kCudaSystemDriverMismatch = 803,
  kCudaCompatNotSupported = 804,
};

/// Attributes and flags, with the numbers of the driver's interface.
constexpr int kCudaSharedPerBlockOptin = 97;
constexpr int kCudaCapabilityMajor = 75;
constexpr int kCudaCapabilityMinor = 76;
constexpr int kCudaMaxDynamicShared = 8; ///< Of a function.
constexpr unsigned kCudaStreamNonBlocking = 1;
constexpr int kCudaPointerMemoryType = 2;
constexpr int kCudaPointerIsManaged = 8;
constexpr int kCudaPointerOrdinal = 9;
constexpr unsigned kCudaMemoryTypeDevice = 2;
constexpr int kCudaNotCapturing = 0; ///< Of a stream.
constexpr int kCudaJitErrorLog = 5;
constexpr int kCudaJitErrorLogBytes = 6;

/// Every function that is used: name, symbol and types of the parameters.
/// Symbols with a version are those of the present interface; without it the
/// driver has older forms for old programs.
#define TILE_CUDA_FUNCTIONS(FUNCTION)                                          \
  FUNCTION(cuInit, "cuInit", unsigned)                                         \
  FUNCTION(cuDriverGetVersion, "cuDriverGetVersion", int *)                    \
  FUNCTION(cuGetErrorName, "cuGetErrorName", int, const char **)               \
  FUNCTION(cuGetErrorString, "cuGetErrorString", int, const char **)           \
  FUNCTION(cuDeviceGetCount, "cuDeviceGetCount", int *)                        \
  FUNCTION(cuDeviceGet, "cuDeviceGet", CudaDeviceId *, int)                    \
  FUNCTION(cuDeviceGetName, "cuDeviceGetName", char *, int, CudaDeviceId)      \
  FUNCTION(cuDeviceGetAttribute, "cuDeviceGetAttribute", int *, int,           \
           CudaDeviceId)                                                       \
  FUNCTION(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",               \
           CudaContext *, CudaDeviceId)                                        \
  FUNCTION(cuCtxPushCurrent, "cuCtxPushCurrent_v2", CudaContext)               \
  FUNCTION(cuCtxPopCurrent, "cuCtxPopCurrent_v2", CudaContext *)               \
  FUNCTION(cuCtxSynchronize, "cuCtxSynchronize", )                             \
  FUNCTION(cuMemAlloc, "cuMemAlloc_v2", CudaAddress *, size_t)                 \
  FUNCTION(cuMemFree, "cuMemFree_v2", CudaAddress)                             \
  FUNCTION(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", CudaAddress,             \
           const void *, size_t, CudaStreamHandle)                             \
  FUNCTION(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", void *, CudaAddress,     \
           size_t, CudaStreamHandle)                                           \
  FUNCTION(cuMemsetD8Async, "cuMemsetD8Async", CudaAddress, unsigned char,     \
           size_t, CudaStreamHandle)                                           \
  FUNCTION(cuPointerGetAttribute, "cuPointerGetAttribute", void *, int,        \
           CudaAddress)                                                        \
  FUNCTION(cuModuleLoadDataEx, "cuModuleLoadDataEx", CudaModuleHandle *,       \
           const void *, unsigned, int *, void **)                             \
  FUNCTION(cuModuleUnload, "cuModuleUnload", CudaModuleHandle)                 \
  FUNCTION(cuModuleGetFunction, "cuModuleGetFunction", CudaFunction *,         \
           CudaModuleHandle, const char *)                                     \
  FUNCTION(cuFuncSetAttribute, "cuFuncSetAttribute", CudaFunction, int, int)   \
  FUNCTION(cuLaunchKernel, "cuLaunchKernel", CudaFunction, unsigned, unsigned, \
           unsigned, unsigned, unsigned, unsigned, unsigned, CudaStreamHandle, \
           void **, void **)                                                   \
  FUNCTION(cuStreamCreate, "cuStreamCreate", CudaStreamHandle *, unsigned)     \
  FUNCTION(cuStreamDestroy, "cuStreamDestroy_v2", CudaStreamHandle)            \
  FUNCTION(cuStreamSynchronize, "cuStreamSynchronize", CudaStreamHandle)       \
  FUNCTION(cuStreamGetCtx, "cuStreamGetCtx", CudaStreamHandle, CudaContext *)  \
  FUNCTION(cuStreamIsCapturing, "cuStreamIsCapturing", CudaStreamHandle,       \
           int *)                                                              \
  FUNCTION(cuStreamWaitEvent, "cuStreamWaitEvent", CudaStreamHandle,           \
           CudaEventHandle, unsigned)                                          \
  FUNCTION(cuEventCreate, "cuEventCreate", CudaEventHandle *, unsigned)        \
  FUNCTION(cuEventDestroy, "cuEventDestroy_v2", CudaEventHandle)               \
  FUNCTION(cuEventRecord, "cuEventRecord", CudaEventHandle, CudaStreamHandle)  \
  FUNCTION(cuEventQuery, "cuEventQuery", CudaEventHandle)                      \
  FUNCTION(cuEventSynchronize, "cuEventSynchronize", CudaEventHandle)          \
  FUNCTION(cuEventElapsedTime, "cuEventElapsedTime", float *, CudaEventHandle, \
           CudaEventHandle)

/// Functions that older drivers do not have; only some kernels need them.
#define TILE_CUDA_OPTIONAL_FUNCTIONS(FUNCTION)                                 \
  FUNCTION(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled", void *, int,      \
           unsigned, void *, const uint64_t *, const uint64_t *,               \
           const uint32_t *, const uint32_t *, int, int, int, int)

/// A function of the driver.
template <typename... Parameters>
struct CudaCall {
  const char *name;
  int (*function)(Parameters...) = nullptr;
};

/// What a call was for, as its error says it.
struct CudaPurpose {
  int ordinal = -1;                    ///< Of the device; -1: none.
  const std::string *kernel = nullptr; ///< May be null.
  const char *relation = " of ";       ///< Between the call and the kernel.
};

/// The driver, loaded. One object for the process.
class CudaDriver {
public:
  /// Loads the driver at the first call that succeeds. Thread-safe.
  static Expected<const CudaDriver *> get();

  /// Calls a function; an error where its code is not 0.
  template <typename... Parameters, typename... Arguments>
  Status call(const CudaCall<Parameters...> &call, const CudaPurpose &purpose,
              Arguments... arguments) const {
    if (int code = call.function(arguments...))
      return makeError(call.name, code, purpose);
    return {};
  }

  /// The error of a call that returned `code`.
  Error makeError(const char *call, int code, const CudaPurpose &purpose) const;

#define TILE_CUDA_FUNCTION(NAME, SYMBOL, ...) CudaCall<__VA_ARGS__> NAME{#NAME};
  TILE_CUDA_FUNCTIONS(TILE_CUDA_FUNCTION)
  TILE_CUDA_OPTIONAL_FUNCTIONS(TILE_CUDA_FUNCTION)
#undef TILE_CUDA_FUNCTION

private:
  Status load();
};

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_CUDADRIVER_H
