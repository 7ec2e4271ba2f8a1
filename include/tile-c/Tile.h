/*===- Tile.h - The embedded compiler for C -----------------------*- C -*-===*\
|*                                                                            *|
|* Compiles kernels and launches them on a GPU, the emulator or the reference,*|
|* with the same calls and the same errors as the C++ library. docs/jit.md has*|
|* a first program.                                                           *|
|*                                                                            *|
|* Errors. A function that can fail returns a `TileError *`: null for success,*|
|* else an error of the caller's, to be destroyed. What it would have written *|
|* through its last arguments is then unchanged. A null pointer where an      *|
|* object is needed is an error too, of code TILE_ERROR_INVALID_ARGUMENT;     *|
|* functions that cannot return one give null or 0 for it. Nothing throws. As *|
|* everywhere in the library, memory that runs out for objects of a few bytes *|
|* ends the process; that of arrays is an error.                              *|
|*                                                                            *|
|* Handles. `tileXCreate`, and every function that writes a handle through a  *|
|* pointer, gives a handle to the caller, who destroys it with                *|
|* `tileXDestroy`. That takes null, and does not wait: what is still in use,  *|
|* such as the kernel of a launch in a stream, lives on until it is not.      *|
|*                                                                            *|
|* Strings. A `const char *` is UTF-8 and ends with a NUL. One that is        *|
|* returned belongs to the handle it was asked of and lives as long. A        *|
|* `TileString` has its length and may hold NULs; one more NUL follows it.    *|
|* Strings that are passed in are copied.                                     *|
|*                                                                            *|
|* Threads. Compilers, kernels, devices, streams, events, buffers, cancel     *|
|* flags and constant objects (errors, texts, stages, quantised arrays) may be*|
|* used by several threads at once. A handle is destroyed once, when no call  *|
|* uses it. `TileCompileOptions` are for one thread at a time.                *|
|*                                                                            *|
|* The binary interface. It is that of the platform's C compiler. While       *|
|* `tileGetAbiVersion()` is the TILE_C_ABI_VERSION that a program was compiled*|
|* with, these stay as they are: every function and its parameters, the value *|
|* of every enumerator, the layout of TileString, TileGrid and TileArgument,  *|
|* and of each other struct its fields up to the end it has here. What may    *|
|* come: functions, enumerators at the end of an enum, fields at the end of a *|
|* struct that begins with `size`. Enums have the size of int; a program that *|
|* reads one must expect a value that it does not know.                       *|
|*                                                                            *|
|* A struct that begins with `size` says there how much of it the caller      *|
|* knows: the library neither reads nor writes beyond. `tileXInit(&x,         *|
|* sizeof x)` sets the size and, for the rest, the defaults; of structs       *|
|* without such a function the caller sets `size` to `sizeof x`.              *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef TILE_C_TILE_H
#define TILE_C_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Marks what the library offers. TILE_C_API can be defined beforehand. */
#ifndef TILE_C_API
#if defined(_WIN32)
#define TILE_C_API
#else
#define TILE_C_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the binary interface that this header describes. */
#define TILE_C_ABI_VERSION 1

/** An extent or stride that is known only at the launch. */
#define TILE_DYNAMIC INT64_MIN

/*===----------------------------------------------------------------------===*\
|* Versions, targets, strings
\*===----------------------------------------------------------------------===*/

/** The version of the library: "0.1.0". */
TILE_C_API const char *tileGetVersion(void);
/** The version of its binary interface. */
TILE_C_API uint32_t tileGetAbiVersion(void);

/** The number of targets, and the name of one, oldest first: "sm_80", …; null
 *  beyond the last. */
TILE_C_API size_t tileGetNumTargets(void);
TILE_C_API const char *tileGetTarget(size_t index);

/** Bytes that belong to a handle. */
typedef struct TileString {
  const char *data; /**< Never null; `data[length]` is 0. */
  size_t length;
} TileString;

/** A text, or bytes, of the caller's. */
typedef struct TileText TileText;
TILE_C_API TileString tileTextGet(const TileText *text);
TILE_C_API void tileTextDestroy(TileText *text);

/*===----------------------------------------------------------------------===*\
|* Errors
\*===----------------------------------------------------------------------===*/

typedef struct TileError TileError;

/** The kind of an error; docs/jit.md has examples of each. */
typedef enum TileErrorCode {
  TILE_ERROR_INVALID_ARGUMENT = 1,
  TILE_ERROR_INVALID_KERNEL = 2,
  TILE_ERROR_NOT_FOUND = 3,
  TILE_ERROR_UNAVAILABLE = 4,
  TILE_ERROR_DRIVER = 5,
  TILE_ERROR_FAULT = 6,
  TILE_ERROR_CANCELLED = 7,
  TILE_ERROR_IO = 8,
  TILE_ERROR_OUT_OF_MEMORY = 9
} TileErrorCode;

typedef enum TileSeverity {
  TILE_SEVERITY_ERROR = 0,
  TILE_SEVERITY_WARNING = 1,
  TILE_SEVERITY_REMARK = 2,
  TILE_SEVERITY_NOTE = 3
} TileSeverity;

/** One message of the compiler. Line and column count from 1; 0: not known. */
typedef struct TileDiagnostic {
  size_t size; /**< Set by the caller. */
  TileSeverity severity;
  uint32_t line;
  uint32_t column;
  uint32_t reserved;
  const char *file;
  const char *message;
} TileDiagnostic;

/** 0 for null. */
TILE_C_API TileErrorCode tileErrorGetCode(const TileError *error);
/** "invalid-argument", …; null for a code that there is not. */
TILE_C_API const char *tileErrorCodeGetName(TileErrorCode code);
/** One sentence, without the diagnostics. */
TILE_C_API const char *tileErrorGetMessage(const TileError *error);
/** The message, and each diagnostic on a line of its own. */
TILE_C_API const char *tileErrorGetText(const TileError *error);
TILE_C_API size_t tileErrorGetNumDiagnostics(const TileError *error);
/** Reads one diagnostic; false beyond the last. */
TILE_C_API bool tileErrorGetDiagnostic(const TileError *error, size_t index,
                                       TileDiagnostic *diagnostic);
TILE_C_API void tileErrorDestroy(TileError *error);

/*===----------------------------------------------------------------------===*\
|* Element types
\*===----------------------------------------------------------------------===*/

/** The type of an element of an array, or of a scalar argument. */
typedef enum TileElementType {
  TILE_ELEMENT_I1 = 0, /**< Scalars only; one byte. */
  TILE_ELEMENT_I8 = 1,
  TILE_ELEMENT_I16 = 2,
  TILE_ELEMENT_I32 = 3,
  TILE_ELEMENT_I64 = 4,
  TILE_ELEMENT_INDEX = 5, /**< Scalars only; as I64. */
  TILE_ELEMENT_BF16 = 6,
  TILE_ELEMENT_F16 = 7,
  TILE_ELEMENT_F32 = 8,
  TILE_ELEMENT_F64 = 9,
  TILE_ELEMENT_F8E4M3FN = 10,
  TILE_ELEMENT_F8E5M2 = 11,
  TILE_ELEMENT_F8E8M0FNU = 12,
  TILE_ELEMENT_F4E2M1FNX2 = 13 /**< Two FP4 values, the first in bits 3..0. */
} TileElementType;

/** Bytes of one element; 0 for a type that there is not. */
TILE_C_API uint32_t tileElementTypeGetBytes(TileElementType type);
/** The name in kernels: "f32", …; null for a type that there is not. */
TILE_C_API const char *tileElementTypeGetName(TileElementType type);
TILE_C_API TileError *tileElementTypeFind(const char *name,
                                          TileElementType *type);

/*===----------------------------------------------------------------------===*\
|* Devices
\*===----------------------------------------------------------------------===*/

typedef struct TileDevice TileDevice;

typedef enum TileDeviceKind {
  TILE_DEVICE_REFERENCE = 0,
  TILE_DEVICE_EMULATOR = 1,
  TILE_DEVICE_CUDA = 2
} TileDeviceKind;

/** Which memory an address belongs to. */
typedef enum TileMemoryKind {
  TILE_MEMORY_HOST = 0,
  TILE_MEMORY_CUDA = 1
} TileMemoryKind;

/** The GPU with this ordinal, in its primary context. */
TILE_C_API TileError *tileDeviceCuda(int32_t ordinal, TileDevice **device);
/** The emulator. `target` is what kernels are compiled for whose options leave
 *  it open; it may be null. */
TILE_C_API TileError *tileDeviceEmulator(const char *target,
                                         TileDevice **device);
/** The interpreter of kernels. */
TILE_C_API TileDevice *tileDeviceReference(void);
/** The first GPU that can be used, else the reference. */
TILE_C_API TileDevice *tileDeviceBest(void);
TILE_C_API void tileDeviceDestroy(TileDevice *device);

TILE_C_API TileDeviceKind tileDeviceGetKind(const TileDevice *device);
/** "cuda:0 (NVIDIA H200)", "emulator (sm_120a)", "reference", … */
TILE_C_API const char *tileDeviceGetName(const TileDevice *device);
/** The target that kernels are compiled for, or "". */
TILE_C_API const char *tileDeviceGetTarget(const TileDevice *device);
/** Where arrays of a launch must be; `ordinal` may be null. */
TILE_C_API TileMemoryKind tileDeviceGetPlace(const TileDevice *device,
                                             int32_t *ordinal);
/** Whether two handles name one device. */
TILE_C_API bool tileDeviceEquals(const TileDevice *a, const TileDevice *b);
/** Waits for everything that was given to the device. */
TILE_C_API TileError *tileDeviceSynchronize(const TileDevice *device);

/** The target for GPUs of a compute capability: sm_90a for 9.0, … */
TILE_C_API TileError *tileGetTargetOfComputeCapability(int32_t major,
                                                       int32_t minor,
                                                       TileText **target);

/*===----------------------------------------------------------------------===*\
|* Streams and events
\*===----------------------------------------------------------------------===*/

/** Work of one device, done in the order in which it was given. */
typedef struct TileStream TileStream;
/** A moment in a stream. */
typedef struct TileEvent TileEvent;

TILE_C_API TileError *tileStreamCreate(const TileDevice *device,
                                       TileStream **stream);
/** A stream of the caller's, a `CUstream` or `cudaStream_t` of a GPU's primary
 *  context; null is the default stream. It stays the caller's. */
TILE_C_API TileError *tileStreamBorrow(const TileDevice *device,
                                       void *cudaStream, TileStream **stream);
TILE_C_API void tileStreamDestroy(TileStream *stream);
/** A new handle to the device of a stream. */
TILE_C_API TileDevice *tileStreamGetDevice(const TileStream *stream);
/** The `CUstream`; null for devices that are no GPU. */
TILE_C_API void *tileStreamGetNativeHandle(const TileStream *stream);
/** Waits for everything given so far, and returns its first error. */
TILE_C_API TileError *tileStreamSynchronize(const TileStream *stream);
/** Marks the present end of the stream. */
TILE_C_API TileError *tileStreamRecord(const TileStream *stream,
                                       TileEvent **event);
/** Makes what is given from now on wait for `event`, of any stream of the same
 *  device. */
TILE_C_API TileError *tileStreamWait(const TileStream *stream,
                                     const TileEvent *event);

/** Waits for it. Returns the error of the work before it, if that failed. */
TILE_C_API TileError *tileEventSynchronize(const TileEvent *event);
/** Whether it has come, without waiting. */
TILE_C_API TileError *tileEventIsComplete(const TileEvent *event,
                                          bool *isComplete);
/** Milliseconds from `start` to `end`, once both have come. */
TILE_C_API TileError *tileEventGetElapsedMs(const TileEvent *start,
                                            const TileEvent *end,
                                            float *milliseconds);
TILE_C_API void tileEventDestroy(TileEvent *event);

/*===----------------------------------------------------------------------===*\
|* Arrays
\*===----------------------------------------------------------------------===*/

/** An array in memory that somebody else owns. It must live until the launches
 *  that use it are complete; `shape` and `strides` only during the call.
 *
 *  Integer arrays have no sign, and stand in for formats that other libraries
 *  lack: a kernel that takes FP8, E8M0 or FP4 pairs also takes I8, and one that
 *  takes BF16 also I16, as the bits of its elements. */
typedef struct TileTensor {
  size_t size; /**< Set by the caller. */
  void *data;  /**< The element at index 0, …, 0. */
  TileElementType type;
  int32_t rank;
  const int64_t *shape;   /**< In elements. */
  const int64_t *strides; /**< In elements; null: row-major without gaps. */
  TileMemoryKind place;
  int32_t ordinal; /**< TILE_MEMORY_CUDA: of the device. */
  bool readOnly;   /**< A kernel that writes it is refused. */
} TileTensor;

/** An array with memory of its own, on a device. */
typedef struct TileBuffer TileBuffer;

/** Allocates an array; what it holds is not specified. */
TILE_C_API TileError *tileBufferAllocate(const TileDevice *device,
                                         TileElementType type, int32_t rank,
                                         const int64_t *shape,
                                         TileBuffer **buffer);
/** The memory is freed when the last launch that was given it is complete. */
TILE_C_API void tileBufferDestroy(TileBuffer *buffer);
/** Describes the array. What `tensor` points at lives as long as `buffer`. */
TILE_C_API TileError *tileBufferGetTensor(const TileBuffer *buffer,
                                          TileTensor *tensor);
TILE_C_API size_t tileBufferGetNumBytes(const TileBuffer *buffer);
/** Copies the whole array from or to host memory and waits for it. With a
 *  stream that is not null: in its order, and without waiting for it; the host
 *  memory must stay as it is until the stream has got there. */
TILE_C_API TileError *tileBufferCopyFromHost(TileBuffer *buffer,
                                             const void *source,
                                             const TileStream *stream);
TILE_C_API TileError *tileBufferCopyToHost(const TileBuffer *buffer,
                                           void *destination,
                                           const TileStream *stream);
/** Sets every byte, and waits for it. */
TILE_C_API TileError *tileBufferFill(TileBuffer *buffer, uint8_t byte);

/*===----------------------------------------------------------------------===*\
|* Compiling
\*===----------------------------------------------------------------------===*/

/** Ends a compilation or a launch from another thread. It must outlive the
 *  calls that were given it. */
typedef struct TileCancelFlag TileCancelFlag;
TILE_C_API TileCancelFlag *tileCancelFlagCreate(void);
/** Sets the flag, or takes it back. Safe in a signal handler. */
TILE_C_API void tileCancelFlagSet(TileCancelFlag *flag, bool value);
TILE_C_API bool tileCancelFlagGet(const TileCancelFlag *flag);
TILE_C_API void tileCancelFlagDestroy(TileCancelFlag *flag);

/** Who turns PTX into machine code for a GPU. */
typedef enum TileAssembler {
  TILE_ASSEMBLER_AUTO = 0, /**< ptxas where it can, else the driver. */
  TILE_ASSEMBLER_PTXAS = 1,
  TILE_ASSEMBLER_DRIVER = 2
} TileAssembler;

/** What a kernel is compiled for, and what its text leaves open. Attributes of
 *  the kernel win over these. */
typedef struct TileCompileOptions TileCompileOptions;

TILE_C_API TileCompileOptions *tileCompileOptionsCreate(void);
TILE_C_API TileCompileOptions *
tileCompileOptionsClone(const TileCompileOptions *options);
TILE_C_API void tileCompileOptionsDestroy(TileCompileOptions *options);

/** A row of docs/targets.md; "", the default: that of the device. */
TILE_C_API TileError *tileCompileOptionsSetTarget(TileCompileOptions *options,
                                                  const char *target);
TILE_C_API const char *
tileCompileOptionsGetTarget(const TileCompileOptions *options);
/** The device whose target is meant; null, the default: none. */
TILE_C_API TileError *tileCompileOptionsSetDevice(TileCompileOptions *options,
                                                  const TileDevice *device);
/** The kernel's function; "", the default, where there is only one kernel. */
TILE_C_API TileError *tileCompileOptionsSetEntry(TileCompileOptions *options,
                                                 const char *entry);
TILE_C_API const char *
tileCompileOptionsGetEntry(const TileCompileOptions *options);

/** The value of a `${NAME}` of the text; null takes it away. */
TILE_C_API TileError *tileCompileOptionsSetConstant(TileCompileOptions *options,
                                                    const char *name,
                                                    const char *value);
/** Null where it has none. */
TILE_C_API const char *
tileCompileOptionsGetConstant(const TileCompileOptions *options,
                              const char *name);
/** The value of an integer argument, which launches then leave out. */
TILE_C_API TileError *tileCompileOptionsSetBinding(TileCompileOptions *options,
                                                   const char *name,
                                                   int64_t value);
TILE_C_API TileError *
tileCompileOptionsRemoveBinding(TileCompileOptions *options, const char *name);
/** The extents of an array argument; TILE_DYNAMIC for those that stay open. A
 *  null `shape` takes them away. */
TILE_C_API TileError *tileCompileOptionsSetShape(TileCompileOptions *options,
                                                 const char *name, int32_t rank,
                                                 const int64_t *shape);

/** Whether launches may compile variants for what their arguments allow; true
 *  by default. */
TILE_C_API TileError *
tileCompileOptionsSetSpecialize(TileCompileOptions *options, bool value);
TILE_C_API bool
tileCompileOptionsGetSpecialize(const TileCompileOptions *options);
/** 1, 2, 4, …, 32; 0, the default: the compiler chooses. */
TILE_C_API TileError *tileCompileOptionsSetNumWarps(TileCompileOptions *options,
                                                    uint32_t value);
TILE_C_API uint32_t
tileCompileOptionsGetNumWarps(const TileCompileOptions *options);
/** 1 to 8; 0, the default: the compiler chooses. */
TILE_C_API TileError *
tileCompileOptionsSetNumStages(TileCompileOptions *options, uint32_t value);
TILE_C_API uint32_t
tileCompileOptionsGetNumStages(const TileCompileOptions *options);
/** 0 and 1: the order of the hardware; 8 by default. */
TILE_C_API TileError *
tileCompileOptionsSetGroupPrograms(TileCompileOptions *options, uint32_t value);
TILE_C_API uint32_t
tileCompileOptionsGetGroupPrograms(const TileCompileOptions *options);
/** "auto", the default, "native" or "expand". */
TILE_C_API TileError *tileCompileOptionsSetMmaPath(TileCompileOptions *options,
                                                   const char *value);
TILE_C_API const char *
tileCompileOptionsGetMmaPath(const TileCompileOptions *options);
/** "auto", the default, "hardware" or "software". */
TILE_C_API TileError *tileCompileOptionsSetFp4Cvt(TileCompileOptions *options,
                                                  const char *value);
TILE_C_API const char *
tileCompileOptionsGetFp4Cvt(const TileCompileOptions *options);
/** "auto", the default, "0" or "1". */
TILE_C_API TileError *
tileCompileOptionsSetUnpackAhead(TileCompileOptions *options,
                                 const char *value);
TILE_C_API const char *
tileCompileOptionsGetUnpackAhead(const TileCompileOptions *options);
/** Whether whole tiles are copied by tensor maps where the target, the kernel
 * and its promises allow it; a launch encodes them. false by default. */
TILE_C_API TileError *tileCompileOptionsSetTma(TileCompileOptions *options,
                                               bool value);
TILE_C_API bool tileCompileOptionsGetTma(const TileCompileOptions *options);
/** 88 is `.version 8.8`; 0, the default: the lowest that serves. */
TILE_C_API TileError *
tileCompileOptionsSetPtxVersion(TileCompileOptions *options, uint32_t value);
TILE_C_API uint32_t
tileCompileOptionsGetPtxVersion(const TileCompileOptions *options);
/** Whether the PTX has the lines of the source; false by default. */
TILE_C_API TileError *tileCompileOptionsSetLineInfo(TileCompileOptions *options,
                                                    bool value);
TILE_C_API bool
tileCompileOptionsGetLineInfo(const TileCompileOptions *options);
TILE_C_API TileError *
tileCompileOptionsSetAssembler(TileCompileOptions *options,
                               TileAssembler value);
TILE_C_API TileAssembler
tileCompileOptionsGetAssembler(const TileCompileOptions *options);
/** The path of ptxas; "", the default: the search of docs/targets.md. */
TILE_C_API TileError *tileCompileOptionsSetPtxas(TileCompileOptions *options,
                                                 const char *path);
TILE_C_API const char *
tileCompileOptionsGetPtxas(const TileCompileOptions *options);

/** Receives the kernel after a step of its lowering, on the thread that
 *  compiles; the strings live during the call. */
typedef void (*TileStageCallback)(TileString name, TileString text,
                                  void *userData);
/** What is compiled with a callback does not come from a cache. Null, the
 *  default: none. */
TILE_C_API TileError *tileCompileOptionsSetOnStage(TileCompileOptions *options,
                                                   TileStageCallback callback,
                                                   void *userData);
/** Ends a compilation with TILE_ERROR_CANCELLED; null, the default: none. */
TILE_C_API TileError *tileCompileOptionsSetCancel(TileCompileOptions *options,
                                                  const TileCancelFlag *flag);

/** How a compiler remembers. */
typedef struct TileCacheOptions {
  size_t size;
  /** The folder; null: TILE_CACHE_DIR, else XDG_CACHE_HOME/tile, else
   *  HOME/.cache/tile. */
  const char *directory;
  uint64_t maxDiskBytes;
  size_t maxKernels; /**< In memory. */
  bool useDisk;      /**< TILE_CACHE_DISABLE says no for every compiler. */
} TileCacheOptions;
TILE_C_API void tileCacheOptionsInit(TileCacheOptions *options, size_t size);

/** What the cache of one compiler did. */
typedef struct TileCacheStatistics {
  size_t size; /**< Set by the caller. */
  uint64_t memoryHits;
  uint64_t diskHits;
  uint64_t compilations;
  uint64_t rejected; /**< Entries that were damaged and made anew. */
  uint64_t writeFailures;
  uint64_t kernels; /**< In memory now. */
} TileCacheStatistics;

/** Compiles kernels and remembers them, in memory and in a folder. */
typedef struct TileCompiler TileCompiler;
/** A kernel of a module, compiled for a target. */
typedef struct TileKernel TileKernel;

/** `options` may be null. */
TILE_C_API TileError *tileCompilerCreate(const TileCacheOptions *options,
                                         TileCompiler **compiler);
/** A handle to the compiler that every part of a process can share. */
TILE_C_API TileCompiler *tileCompilerGetDefault(void);
TILE_C_API void tileCompilerDestroy(TileCompiler *compiler);

/** Compiles a kernel of a module, MLIR text or bytecode. `name` stands for it
 *  in messages and may be null; so may `options`. */
TILE_C_API TileError *tileCompilerCompile(const TileCompiler *compiler,
                                          const char *text, size_t length,
                                          const char *name,
                                          const TileCompileOptions *options,
                                          TileKernel **kernel);
/** The same for a file. */
TILE_C_API TileError *tileCompilerCompileFile(const TileCompiler *compiler,
                                              const char *path,
                                              const TileCompileOptions *options,
                                              TileKernel **kernel);
/** Where entries go, or "" where no folder is used. */
TILE_C_API const char *
tileCompilerGetCacheDirectory(const TileCompiler *compiler);
TILE_C_API TileError *
tileCompilerGetCacheStatistics(const TileCompiler *compiler,
                               TileCacheStatistics *statistics);
/** Forgets what is in memory. Kernels that are in use stay as they are. */
TILE_C_API void tileCompilerClearMemory(const TileCompiler *compiler);

/*===----------------------------------------------------------------------===*\
|* Kernels
\*===----------------------------------------------------------------------===*/

/** One argument of a kernel. What it points at lives as long as the kernel. */
typedef struct TileParameter {
  size_t size; /**< Set by the caller. */
  const char *name;
  const char *mlirType; /**< "memref<?x?xf32, strided<[?, 1]>>", "f32", … */
  TileElementType type;
  int32_t rank;                  /**< 0 for scalars. */
  const int64_t *shape;          /**< Extents, or TILE_DYNAMIC. */
  const int64_t *strides;        /**< In elements, or TILE_DYNAMIC. */
  const int64_t *shapeDivisors;  /**< Promised; 1 for no promise. */
  const int64_t *strideDivisors; /**< Promised; 1 for no promise. */
  bool isArray;
  bool isRead;
  bool isWritten;
} TileParameter;

typedef enum TileRemarkKind {
  TILE_REMARK_PASSED = 0,
  TILE_REMARK_MISSED = 1,
  TILE_REMARK_FAILED = 2,
  TILE_REMARK_ANALYSIS = 3
} TileRemarkKind;

/** Something the compiler found worth saying: docs/performance.md. */
typedef struct TileRemark {
  size_t size; /**< Set by the caller. */
  TileRemarkKind kind;
  uint32_t line;
  uint32_t column;
  uint32_t numFields;
  const char *file;
  const char *name;
  const char *category; /**< The pass. */
  const char *function;
} TileRemark;

/** How one multiply of a kernel is computed. */
typedef struct TileMultiply {
  size_t size; /**< Set by the caller. */
  const char *atom;
  const char *reason;
  const char *file;
  uint32_t line;
  uint32_t column;
  bool isNative; /**< Block scales go to the tensor core. */
} TileMultiply;

/** A tensor map that the PTX takes as a further parameter: 128 bytes, aligned
 * to 64, behind those of the arguments. A launch makes them; who launches the
 * PTX on their own encodes them, see docs/spec.md. */
typedef struct TileTensorMap {
  size_t size;        /**< Set by the caller. */
  uint32_t parameter; /**< Of the PTX entry. */
  uint32_t argument;  /**< An array, among the kernel's parameters. */
  uint32_t rank;      /**< As many of the next two count. */
  /** Dimensions of the array as the map has them, outermost first. */
  uint32_t dims[5];
  uint32_t box[5];  /**< Elements of `type` along each of `dims`. */
  uint32_t swizzle; /**< 0, 32, 64 or 128 bytes. */
  const char *type; /**< "u8", "u16", "b4x16" or "b4x16_p64". */
  const char *fill; /**< "zero". */
} TileTensorMap;

/** What a block takes of a multiprocessor, as ptxas reports it. */
typedef struct TileResources {
  size_t size;        /**< Set by the caller. */
  uint32_t registers; /**< Per thread, as the next three. */
  uint32_t spillStoreBytes;
  uint32_t spillLoadBytes;
  uint32_t stackBytes;
  uint32_t staticSharedBytes;
  uint32_t dynamicSharedBytes;
  uint32_t threads; /**< Of a block. */
} TileResources;

TILE_C_API void tileKernelDestroy(TileKernel *kernel);
TILE_C_API const char *tileKernelGetEntry(const TileKernel *kernel);
TILE_C_API const char *tileKernelGetTarget(const TileKernel *kernel);

/** Its arguments, without those that were bound at compile time. */
TILE_C_API size_t tileKernelGetNumParameters(const TileKernel *kernel);
/** Reads one; false beyond the last. */
TILE_C_API bool tileKernelGetParameter(const TileKernel *kernel, size_t index,
                                       TileParameter *parameter);
/** What `tile.extents` says of an extent: "M", "K/16", …, or "". */
TILE_C_API const char *tileKernelGetParameterExtent(const TileKernel *kernel,
                                                    size_t index,
                                                    size_t dimension);

/** The PTX that runs where no argument allows more than is promised. */
TILE_C_API TileString tileKernelGetPtx(const TileKernel *kernel);
/** Threads of a block, along x, and bytes of dynamic shared memory. */
TILE_C_API uint32_t tileKernelGetBlockThreads(const TileKernel *kernel);
TILE_C_API uint32_t tileKernelGetSharedBytes(const TileKernel *kernel);
/** The tensor maps that the PTX takes. */
TILE_C_API size_t tileKernelGetNumTensorMaps(const TileKernel *kernel);
/** Reads one; false beyond the last. */
TILE_C_API bool tileKernelGetTensorMap(const TileKernel *kernel, size_t index,
                                       TileTensorMap *map);
/** That PTX, assembled. Needs ptxas; the first call runs it. */
TILE_C_API TileError *tileKernelGetCubin(const TileKernel *kernel,
                                         TileText **cubin);
/** What ptxas says of it. Needs ptxas; the first call runs it. */
TILE_C_API TileError *tileKernelGetResources(const TileKernel *kernel,
                                             TileResources *resources);

TILE_C_API size_t tileKernelGetNumRemarks(const TileKernel *kernel);
TILE_C_API bool tileKernelGetRemark(const TileKernel *kernel, size_t index,
                                    TileRemark *remark);
/** One field of a remark; false beyond the last. */
TILE_C_API bool tileKernelGetRemarkField(const TileKernel *kernel, size_t index,
                                         size_t field, const char **key,
                                         const char **value);
/** The remark on one line, as the tools print it. */
TILE_C_API TileError *tileKernelPrintRemark(const TileKernel *kernel,
                                            size_t index, TileText **text);
TILE_C_API size_t tileKernelGetNumMultiplies(const TileKernel *kernel);
TILE_C_API bool tileKernelGetMultiply(const TileKernel *kernel, size_t index,
                                      TileMultiply *multiply);

/** A kernel after each step of its lowering. */
typedef struct TileStages TileStages;
/** Compiles the kernel anew. */
TILE_C_API TileError *tileKernelGetStages(const TileKernel *kernel,
                                          TileStages **stages);
TILE_C_API size_t tileStagesGetCount(const TileStages *stages);
/** Null and an empty string beyond the last. */
TILE_C_API const char *tileStagesGetName(const TileStages *stages,
                                         size_t index);
TILE_C_API TileString tileStagesGetText(const TileStages *stages, size_t index);
TILE_C_API void tileStagesDestroy(TileStages *stages);

/** The number of variants compiled so far, the first one included. */
TILE_C_API uint32_t tileKernelGetNumVariants(const TileKernel *kernel);

/*===----------------------------------------------------------------------===*\
|* Launches
\*===----------------------------------------------------------------------===*/

/** The number of tile programs along each dimension: from 1 to 2^31 - 1, 65535
 *  and 65535. */
typedef struct TileGrid {
  int64_t x, y, z;
} TileGrid;

typedef enum TileArgumentKind {
  TILE_ARGUMENT_TENSOR = 0,
  TILE_ARGUMENT_BUFFER = 1,
  TILE_ARGUMENT_INTEGER = 2,
  TILE_ARGUMENT_UNSIGNED = 3,
  TILE_ARGUMENT_FLOAT = 4
} TileArgumentKind;

/** One argument of a launch. An integer is an argument for any integer type
 *  that holds it and for floats; a float is rounded to the kernel's type. */
typedef struct TileArgument {
  TileArgumentKind kind;
  uint32_t reserved; /**< 0. */
  union {
    const TileTensor *tensor;
    const TileBuffer *buffer;
    int64_t integer;
    uint64_t unsignedInteger;
    double number;
  } value;
} TileArgument;

/** Receives how many programs of a launch are done, from any thread, one call
 *  at a time. */
typedef void (*TileProgressCallback)(uint64_t done, uint64_t total,
                                     void *userData);

/** How a launch is made. */
typedef struct TileLaunchOptions {
  size_t size;
  /** The emulator: "exact" or "hardware"; null: "exact". */
  const char *accumulate;
  /** The emulator: runs warps in a random order from this seed; 0: in order. */
  uint64_t scheduleSeed;
  /** The CPU devices: ends the launch with TILE_ERROR_CANCELLED. */
  const TileCancelFlag *cancel;
  /** The CPU devices. */
  TileProgressCallback progress;
  void *progressData;
  /** The CPU devices: threads; 0: one per CPU. */
  uint32_t hostThreads;
  /** A GPU: copies arrays in host memory to the device, and those that the
   *  kernel writes back. Not for asynchronous launches. */
  bool copyHostArrays;
} TileLaunchOptions;
TILE_C_API void tileLaunchOptionsInit(TileLaunchOptions *options, size_t size);

/** Launches a kernel and waits for it. On a GPU it goes to the default stream.
 *  `options` may be null. */
TILE_C_API TileError *tileKernelLaunch(const TileKernel *kernel,
                                       const TileDevice *device, TileGrid grid,
                                       const TileArgument *arguments,
                                       size_t numArguments,
                                       const TileLaunchOptions *options);
/** Gives a launch to a stream and returns. Arguments are checked before that;
 *  an error of the run itself is that of the event. `event` may be null. */
TILE_C_API TileError *
tileKernelLaunchAsync(const TileKernel *kernel, const TileStream *stream,
                      TileGrid grid, const TileArgument *arguments,
                      size_t numArguments, const TileLaunchOptions *options,
                      TileEvent **event);
/** The PTX that a launch with these arguments runs. */
TILE_C_API TileError *tileKernelGetPtxFor(const TileKernel *kernel,
                                          const TileArgument *arguments,
                                          size_t numArguments, TileText **ptx);

static inline TileGrid tileGrid(int64_t x, int64_t y, int64_t z) {
  TileGrid grid;
  grid.x = x;
  grid.y = y;
  grid.z = z;
  return grid;
}

static inline TileArgument tileArgumentTensor(const TileTensor *tensor) {
  TileArgument argument;
  argument.kind = TILE_ARGUMENT_TENSOR;
  argument.reserved = 0;
  argument.value.tensor = tensor;
  return argument;
}

static inline TileArgument tileArgumentBuffer(const TileBuffer *buffer) {
  TileArgument argument;
  argument.kind = TILE_ARGUMENT_BUFFER;
  argument.reserved = 0;
  argument.value.buffer = buffer;
  return argument;
}

static inline TileArgument tileArgumentInteger(int64_t integer) {
  TileArgument argument;
  argument.kind = TILE_ARGUMENT_INTEGER;
  argument.reserved = 0;
  argument.value.integer = integer;
  return argument;
}

static inline TileArgument tileArgumentUnsigned(uint64_t integer) {
  TileArgument argument;
  argument.kind = TILE_ARGUMENT_UNSIGNED;
  argument.reserved = 0;
  argument.value.unsignedInteger = integer;
  return argument;
}

static inline TileArgument tileArgumentFloat(double number) {
  TileArgument argument;
  argument.kind = TILE_ARGUMENT_FLOAT;
  argument.reserved = 0;
  argument.value.number = number;
  return argument;
}

/*===----------------------------------------------------------------------===*\
|* Kernels that come with the library
\*===----------------------------------------------------------------------===*/

/** z[M,N] = alpha * x[M,K] . y[N,K]^T, on quantised operands. */
typedef struct TileLinearProblem {
  size_t size;
  int64_t m;              /**< Rows of x and z. */
  int64_t n;              /**< Rows of y, columns of z. */
  int64_t k;              /**< Values, not pairs. */
  TileElementType output; /**< F32, the default, BF16 or F16. */
  TileElementType x;      /**< mxfp8_linear: FP8; w4a16_linear: BF16 or F16. */
  TileElementType y;      /**< mxfp8_linear: FP8. */
  bool alphaPerColumn;    /**< Alpha is an array of f32, one per column. */
  bool mxScales;          /**< w4a16_linear: MXFP4 weights, not NVFP4 ones. */
} TileLinearProblem;
TILE_C_API void tileLinearProblemInit(TileLinearProblem *problem, size_t size);

/** Codes and scales of x[M,K], or the values of those. */
typedef struct TileQuantizeProblem {
  size_t size;
  int64_t m;
  int64_t k;              /**< Values, not pairs. */
  const char *format;     /**< dequantize: "nvfp4", the default, … */
  TileElementType values; /**< F32, the default, BF16 or F16. */
  TileElementType codes;  /**< mxfp8: F8E4M3FN, the default, or F8E5M2. */
} TileQuantizeProblem;
TILE_C_API void tileQuantizeProblemInit(TileQuantizeProblem *problem,
                                        size_t size);

/** The names that there are; null beyond the last. */
TILE_C_API size_t tileLibraryGetNumKernels(void);
TILE_C_API const char *tileLibraryGetKernelName(size_t index);
/** A kernel's template. */
TILE_C_API TileError *tileLibraryGetText(const char *name, TileText **text);

/** Compiles a kernel for a problem, and says which grid covers it. Arguments,
 *  in order; pairs have half the columns:
 *
 *    nvfp4_linear   z, x, y: f4E2M1FNx2, xs, ys: f8E4M3FN [., K/16], alpha
 *    mxfp4_linear   z, x, y: f4E2M1FNx2, xs, ys: f8E8M0FNU [., K/32], alpha
 *    mxfp8_linear   z, x, y: FP8, xs, ys: f8E8M0FNU [., K/32], alpha
 *    w4a16_linear   z, x: BF16 or F16, y: f4E2M1FNx2, ys, alpha
 *
 *  `options` gives the target or device; it has no constants, bindings or
 *  shapes. */
TILE_C_API TileError *tileLibraryLinear(const TileCompiler *compiler,
                                        const char *name,
                                        const TileLinearProblem *problem,
                                        const TileCompileOptions *options,
                                        TileKernel **kernel, TileGrid *grid);
/**   quantize_nvfp4   codes: f4E2M1FNx2, scales: f8E4M3FN, x, globalScale
 *    quantize_mxfp4   codes: f4E2M1FNx2, scales: f8E8M0FNU, x
 *    quantize_mxfp8   codes: FP8, scales: f8E8M0FNU, x
 *    dequantize       x, codes, scales, globalScale */
TILE_C_API TileError *tileLibraryQuantize(const TileCompiler *compiler,
                                          const char *name,
                                          const TileQuantizeProblem *problem,
                                          const TileCompileOptions *options,
                                          TileKernel **kernel, TileGrid *grid);

/*===----------------------------------------------------------------------===*\
|* Quantisation on the host
\*===----------------------------------------------------------------------===*/

/** How the exponent of an E8M0 scale follows from the largest magnitude of its
 *  block. */
typedef enum TileScaleRule {
  TILE_SCALE_RULE_FLOOR = 0, /**< OCP MX v1.0. */
  TILE_SCALE_RULE_CEIL = 1,  /**< The smallest scale that clips nothing. */
  TILE_SCALE_RULE_EVEN = 2
} TileScaleRule;

/** What a format leaves open. */
typedef struct TileQuantizeOptions {
  size_t size;
  float globalScale; /**< nvfp4: the factor of the matrix; 1 by default. */
  TileScaleRule rule;
  TileElementType element; /**< mxfp8: F8E4M3FN, the default, or F8E5M2. */
  bool twoLevel;           /**< nvfp4: the factor follows from the values. */
} TileQuantizeOptions;
TILE_C_API void tileQuantizeOptionsInit(TileQuantizeOptions *options,
                                        size_t size);

/** A matrix of codes with block scales, in host memory. */
typedef struct TileQuantizedArray TileQuantizedArray;

/** Quantises `values`, row-major without gaps, to "nvfp4", "mxfp4" or "mxfp8".
 *  `options` may be null. */
TILE_C_API TileError *tileQuantize(const char *format, const float *values,
                                   int64_t rows, int64_t columns,
                                   const TileQuantizeOptions *options,
                                   TileQuantizedArray **array);
/** The codes, FP4 as pairs, and the scales, [rows, ceil(columns / block)], as
 *  arguments of a launch. They live as long as `array`. */
TILE_C_API TileError *
tileQuantizedArrayGetCodes(const TileQuantizedArray *array, TileTensor *codes);
TILE_C_API TileError *
tileQuantizedArrayGetScales(const TileQuantizedArray *array,
                            TileTensor *scales);
TILE_C_API float
tileQuantizedArrayGetGlobalScale(const TileQuantizedArray *array);
/** Blocks with a value that was clipped. */
TILE_C_API int64_t
tileQuantizedArrayGetNumSaturatedBlocks(const TileQuantizedArray *array);
TILE_C_API void tileQuantizedArrayDestroy(TileQuantizedArray *array);

/** The values of codes and scales, row-major without gaps, as `tileQuantize`
 *  makes them: code * scale * globalScale, rounded once to f32. `element` is
 *  that of mxfp8 and ignored by the others. `values` has rows * columns
 *  elements. */
TILE_C_API TileError *
tileDequantize(const char *format, TileElementType element,
               const uint8_t *codes, const uint8_t *scales, int64_t rows,
               int64_t columns, float globalScale, float *values);

#ifdef __cplusplus
}
#endif

#endif /* TILE_C_TILE_H */
