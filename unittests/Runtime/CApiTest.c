/*===- CApiTest.c - The C API, used from C ------------------------*- C -*-===*\
|*                                                                            *|
|* Compiled as C11. Prints what it expected and did not get, and returns how  *|
|* often.                                                                     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "tile-c/Tile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: expected: %s\n", __FILE__, __LINE__,             \
              #condition);                                                     \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

/* Expects success. */
#define OK(call) EXPECT(isSuccess(call))
/* Expects an error of a code whose text has a part. */
#define FAILS(call, code, part)                                                \
  EXPECT(isError((call), (code), (part), __LINE__))

static bool isSuccess(TileError *error) {
  if (!error)
    return true;
  fprintf(stderr, "error: %s\n", tileErrorGetText(error));
  tileErrorDestroy(error);
  return false;
}

static bool isError(TileError *error, TileErrorCode code, const char *part,
                    int line) {
  if (!error) {
    fprintf(stderr, "line %d: no error\n", line);
    return false;
  }
  bool isAsExpected = tileErrorGetCode(error) == code &&
                      strstr(tileErrorGetText(error), part) != NULL;
  if (!isAsExpected)
    fprintf(stderr, "line %d: error %d: %s\n", line,
            (int)tileErrorGetCode(error), tileErrorGetText(error));
  tileErrorDestroy(error);
  return isAsExpected;
}

/* z = alpha * x + y, COUNT elements per program. */
static const char kernelText[] =
    "!v = memref<?xf32, strided<[1]>>\n"
    "func.func @axpy(%z: !v, %x: !v, %y: !v, %alpha: f32, %bias: i32)\n"
    "    attributes {tile.kernel} {\n"
    "  %i = tile.program_id 0\n"
    "  %a = tile.load %x[%i] : !v -> tensor<${COUNT}xf32>\n"
    "  %b = tile.load %y[%i] : !v -> tensor<${COUNT}xf32>\n"
    "  %s = tensor.splat %alpha : tensor<${COUNT}xf32>\n"
    "  %f = arith.sitofp %bias : i32 to f32\n"
    "  %t = tensor.splat %f : tensor<${COUNT}xf32>\n"
    "  %m = arith.mulf %a, %s : tensor<${COUNT}xf32>\n"
    "  %n = arith.addf %m, %b : tensor<${COUNT}xf32>\n"
    "  %o = arith.addf %n, %t : tensor<${COUNT}xf32>\n"
    "  tile.store %o, %z[%i] : tensor<${COUNT}xf32>, !v\n"
    "  return\n"
    "}\n";

enum { kCount = 200 }; /* No multiple of 64: the last program is partial. */

/* A value that depends on all bits of an index. */
static float hash(uint32_t index, uint32_t seed) {
  uint32_t h = index * 2654435761u ^ seed * 2246822519u;
  h ^= h >> 15;
  h *= 2654435761u;
  h ^= h >> 13;
  return (float)(int32_t)(h % 4001u) / 256.0f - 7.5f;
}

typedef struct Vectors {
  float x[kCount], y[kCount], z[kCount];
} Vectors;

static void fillVectors(Vectors *v) {
  for (uint32_t i = 0; i < kCount; ++i) {
    v->x[i] = hash(i, 1);
    v->y[i] = hash(i, 2);
    v->z[i] = -1.0f;
  }
}

static bool isAxpy(const Vectors *v, float alpha, float bias) {
  for (int i = 0; i < kCount; ++i) {
    volatile float product = alpha * v->x[i];
    volatile float sum = product + v->y[i];
    volatile float expected = sum + bias;
    if (v->z[i] != expected) {
      fprintf(stderr, "element %d: expected %g, but got %g\n", i,
              (double)expected, (double)v->z[i]);
      return false;
    }
  }
  return true;
}

static const int64_t vectorShape[1] = {kCount};

static TileTensor getTensor(float *data) {
  TileTensor tensor = {.size = sizeof tensor,
                       .data = data,
                       .type = TILE_ELEMENT_F32,
                       .rank = 1,
                       .shape = vectorShape};
  return tensor;
}

static TileKernel *compileAxpy(const TileCompiler *compiler) {
  TileKernel *kernel = NULL;
  TileCompileOptions *options = tileCompileOptionsCreate();
  OK(tileCompileOptionsSetTarget(options, "sm_80"));
  OK(tileCompileOptionsSetConstant(options, "COUNT", "64"));
  OK(tileCompilerCompile(compiler, kernelText, sizeof kernelText - 1,
                         "axpy.mlir", options, &kernel));
  tileCompileOptionsDestroy(options);
  return kernel;
}

static void testVersions(void) {
  EXPECT(tileGetAbiVersion() == TILE_C_ABI_VERSION);
  EXPECT(strlen(tileGetVersion()) >= 5);
  EXPECT(tileGetNumTargets() > 3);
  EXPECT(strcmp(tileGetTarget(0), "sm_80") == 0);
  EXPECT(tileGetTarget(tileGetNumTargets()) == NULL);

  TileElementType type = TILE_ELEMENT_I1;
  OK(tileElementTypeFind("f4E2M1FNx2", &type));
  EXPECT(type == TILE_ELEMENT_F4E2M1FNX2);
  EXPECT(tileElementTypeGetBytes(TILE_ELEMENT_F64) == 8);
  EXPECT(strcmp(tileElementTypeGetName(TILE_ELEMENT_BF16), "bf16") == 0);
  EXPECT(tileElementTypeGetName((TileElementType)99) == NULL);
  FAILS(tileElementTypeFind("f3", &type), TILE_ERROR_INVALID_ARGUMENT, "f3");

  TileText *target = NULL;
  OK(tileGetTargetOfComputeCapability(9, 0, &target));
  EXPECT(strcmp(tileTextGet(target).data, "sm_90a") == 0);
  EXPECT(tileTextGet(target).length == 6);
  tileTextDestroy(target);
}

static void testNull(void) {
  FAILS(tileCompileOptionsSetTarget(NULL, "sm_80"), TILE_ERROR_INVALID_ARGUMENT,
        "expects options, but got a null pointer");
  FAILS(tileCompilerCompile(NULL, "", 0, NULL, NULL, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "expects a compiler");
  FAILS(tileKernelLaunch(NULL, NULL, tileGrid(1, 1, 1), NULL, 0, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "expects a kernel");
  FAILS(tileDeviceCuda(0, NULL), TILE_ERROR_INVALID_ARGUMENT, "device");
  EXPECT(tileErrorGetCode(NULL) == 0);
  EXPECT(tileKernelGetEntry(NULL) == NULL);
  EXPECT(tileKernelGetPtx(NULL).length == 0);
  EXPECT(tileKernelGetNumParameters(NULL) == 0);
  tileErrorDestroy(NULL);
  tileTextDestroy(NULL);
  tileKernelDestroy(NULL);
  tileCompilerDestroy(NULL);
  tileDeviceDestroy(NULL);
  tileStreamDestroy(NULL);
  tileEventDestroy(NULL);
  tileBufferDestroy(NULL);
  tileStagesDestroy(NULL);
  tileCancelFlagDestroy(NULL);
  tileCompileOptionsDestroy(NULL);
  tileQuantizedArrayDestroy(NULL);
}

static void countStage(TileString name, TileString text, void *userData) {
  EXPECT(name.length == strlen(name.data));
  EXPECT(text.length > 0 && text.data[text.length] == 0);
  ++*(int *)userData;
}

static void testOptions(const TileCompiler *compiler) {
  TileCompileOptions *options = tileCompileOptionsCreate();
  OK(tileCompileOptionsSetTarget(options, "sm_90"));
  OK(tileCompileOptionsSetEntry(options, "axpy"));
  OK(tileCompileOptionsSetConstant(options, "COUNT", "32"));
  OK(tileCompileOptionsSetNumWarps(options, 2));
  OK(tileCompileOptionsSetNumStages(options, 3));
  OK(tileCompileOptionsSetGroupPrograms(options, 1));
  OK(tileCompileOptionsSetMmaPath(options, "expand"));
  OK(tileCompileOptionsSetFp4Cvt(options, "software"));
  OK(tileCompileOptionsSetUnpackAhead(options, "0"));
  OK(tileCompileOptionsSetSpecialize(options, false));
  OK(tileCompileOptionsSetLineInfo(options, true));
  OK(tileCompileOptionsSetTma(options, true));
  OK(tileCompileOptionsSetAssembler(options, TILE_ASSEMBLER_PTXAS));
  OK(tileCompileOptionsSetBinding(options, "bias", 5));
  FAILS(tileCompileOptionsSetAssembler(options, (TileAssembler)7),
        TILE_ERROR_INVALID_ARGUMENT, "but got 7");

  TileCompileOptions *clone = tileCompileOptionsClone(options);
  tileCompileOptionsDestroy(options);
  EXPECT(strcmp(tileCompileOptionsGetTarget(clone), "sm_90") == 0);
  EXPECT(strcmp(tileCompileOptionsGetConstant(clone, "COUNT"), "32") == 0);
  EXPECT(tileCompileOptionsGetConstant(clone, "BM") == NULL);
  EXPECT(tileCompileOptionsGetNumWarps(clone) == 2);
  EXPECT(tileCompileOptionsGetNumStages(clone) == 3);
  EXPECT(!tileCompileOptionsGetSpecialize(clone));
  EXPECT(tileCompileOptionsGetLineInfo(clone));
  EXPECT(tileCompileOptionsGetTma(clone));
  EXPECT(!tileCompileOptionsGetTma(NULL));
  EXPECT(strcmp(tileCompileOptionsGetMmaPath(clone), "expand") == 0);
  EXPECT(tileCompileOptionsGetAssembler(clone) == TILE_ASSEMBLER_PTXAS);

  int stages = 0;
  OK(tileCompileOptionsSetOnStage(clone, countStage, &stages));
  TileKernel *kernel = NULL;
  OK(tileCompilerCompile(compiler, kernelText, sizeof kernelText - 1, NULL,
                         clone, &kernel));
  EXPECT(stages >= 4);
  EXPECT(tileKernelGetBlockThreads(kernel) == 64);
  /* This target has no tensor memory to copy to. */
  TileTensorMap map = {.size = sizeof map};
  EXPECT(tileKernelGetNumTensorMaps(kernel) == 0);
  EXPECT(tileKernelGetNumTensorMaps(NULL) == 0);
  EXPECT(!tileKernelGetTensorMap(kernel, 0, &map));
  EXPECT(strcmp(tileKernelGetTarget(kernel), "sm_90") == 0);
  /* The bound argument is gone. */
  EXPECT(tileKernelGetNumParameters(kernel) == 4);
  tileKernelDestroy(kernel);

  TileCancelFlag *flag = tileCancelFlagCreate();
  tileCancelFlagSet(flag, true);
  EXPECT(tileCancelFlagGet(flag));
  OK(tileCompileOptionsSetCancel(clone, flag));
  FAILS(tileCompilerCompile(compiler, kernelText, sizeof kernelText - 1, NULL,
                            clone, &kernel),
        TILE_ERROR_CANCELLED, "cancel");
  tileCompileOptionsDestroy(clone);
  tileCancelFlagDestroy(flag);
}

/* A product of 128 by 64 by 64 in bf16, in a loop. */
static const char productText[] =
    "!v = memref<128x?xbf16, strided<[?, 1]>>\n"
    "!w = memref<64x?xbf16, strided<[?, 1]>>\n"
    "!z = memref<128x64xf32>\n"
    "func.func @product(%z: !z, %x: !v {tile.stride_divisible_by = array<i64: "
    "8, 1>},\n"
    "                   %y: !w {tile.stride_divisible_by = array<i64: 8, 1>}, "
    "%n: index)\n"
    "    attributes {tile.kernel} {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %zero = arith.constant dense<0.0> : tensor<128x64xf32>\n"
    "  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> "
    "(tensor<128x64xf32>) {\n"
    "    %t = tile.load %x[%c0, %k] : !v -> tensor<128x64xbf16>\n"
    "    %l = tile.load %y[%c0, %k] : !w -> tensor<64x64xbf16>\n"
    "    %u = tile.permute %l [1, 0] : tensor<64x64xbf16> -> "
    "tensor<64x64xbf16>\n"
    "    %r = tile.mmaf %t, %u, %a : tensor<128x64xbf16>, tensor<64x64xbf16>, "
    "tensor<128x64xf32>\n"
    "    scf.yield %r : tensor<128x64xf32>\n"
    "  }\n"
    "  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, !z\n"
    "  return\n"
    "}\n";

static void testTensorMaps(const TileCompiler *compiler) {
  TileCompileOptions *options = tileCompileOptionsCreate();
  EXPECT(!tileCompileOptionsGetTma(options));
  OK(tileCompileOptionsSetTarget(options, "sm_100a"));
  OK(tileCompileOptionsSetTma(options, true));
  TileKernel *kernel = NULL;
  OK(tileCompilerCompile(compiler, productText, sizeof productText - 1, NULL,
                         options, &kernel));
  EXPECT(tileKernelGetNumTensorMaps(kernel) == 2);
  TileTensorMap map = {.size = sizeof map};
  EXPECT(tileKernelGetTensorMap(kernel, 1, &map));
  /* A pointer, and for two arrays an extent and a stride each; a scalar. */
  EXPECT(map.parameter == 9);
  EXPECT(map.argument == 2);
  EXPECT(map.rank == 2);
  EXPECT(map.dims[0] == 0 && map.dims[1] == 1);
  EXPECT(map.box[0] == 64 && map.box[1] == 64);
  EXPECT(map.swizzle == 128);
  EXPECT(strcmp(map.type, "u16") == 0);
  EXPECT(strcmp(map.fill, "zero") == 0);
  EXPECT(!tileKernelGetTensorMap(kernel, 2, &map));
  TileTensorMap unset = {.size = 0};
  EXPECT(!tileKernelGetTensorMap(kernel, 0, &unset));
  tileKernelDestroy(kernel);
  tileCompileOptionsDestroy(options);
}

static void testErrors(const TileCompiler *compiler) {
  static const char text[] = "func.func @f() attributes {tile.kernel} {\n"
                             "  %0 = arith.constant 1 : f99\n"
                             "  return\n"
                             "}\n";
  TileCompileOptions *options = tileCompileOptionsCreate();
  OK(tileCompileOptionsSetTarget(options, "sm_80"));
  TileKernel *kernel = NULL;
  TileError *error = tileCompilerCompile(compiler, text, sizeof text - 1,
                                         "bad.mlir", options, &kernel);
  EXPECT(kernel == NULL);
  EXPECT(tileErrorGetCode(error) == TILE_ERROR_INVALID_KERNEL);
  EXPECT(tileErrorGetNumDiagnostics(error) >= 1);
  TileDiagnostic diagnostic = {.size = sizeof diagnostic};
  EXPECT(tileErrorGetDiagnostic(error, 0, &diagnostic));
  EXPECT(diagnostic.severity == TILE_SEVERITY_ERROR);
  EXPECT(diagnostic.line == 2);
  EXPECT(strstr(diagnostic.file, "bad.mlir") != NULL);
  EXPECT(strlen(diagnostic.message) > 0);
  EXPECT(!tileErrorGetDiagnostic(error, tileErrorGetNumDiagnostics(error),
                                 &diagnostic));
  TileDiagnostic unset = {.size = 0};
  EXPECT(!tileErrorGetDiagnostic(error, 0, &unset));
  tileErrorDestroy(error);

  OK(tileCompileOptionsSetTarget(options, "sm_1"));
  FAILS(tileCompilerCompile(compiler, text, sizeof text - 1, NULL, options,
                            &kernel),
        TILE_ERROR_NOT_FOUND, "sm_1");
  FAILS(tileCompilerCompileFile(compiler, "no-such-file.mlir", NULL, &kernel),
        TILE_ERROR_NOT_FOUND, "no-such-file.mlir");
  tileCompileOptionsDestroy(options);
}

static void testQueries(const TileKernel *kernel) {
  EXPECT(strcmp(tileKernelGetEntry(kernel), "axpy") == 0);
  EXPECT(tileKernelGetNumParameters(kernel) == 5);
  TileParameter parameter = {.size = sizeof parameter};
  EXPECT(tileKernelGetParameter(kernel, 0, &parameter));
  EXPECT(strcmp(parameter.name, "z") == 0);
  EXPECT(parameter.isArray && parameter.isWritten && !parameter.isRead);
  EXPECT(parameter.rank == 1 && parameter.shape[0] == TILE_DYNAMIC);
  EXPECT(parameter.strides[0] == 1 && parameter.shapeDivisors[0] == 1);
  EXPECT(parameter.type == TILE_ELEMENT_F32);
  EXPECT(strstr(parameter.mlirType, "memref") != NULL);
  EXPECT(tileKernelGetParameter(kernel, 4, &parameter));
  EXPECT(!parameter.isArray && parameter.type == TILE_ELEMENT_I32);
  EXPECT(!tileKernelGetParameter(kernel, 5, &parameter));
  EXPECT(strcmp(tileKernelGetParameterExtent(kernel, 0, 0), "") == 0);

  TileString ptx = tileKernelGetPtx(kernel);
  EXPECT(ptx.length == strlen(ptx.data));
  EXPECT(strstr(ptx.data, ".entry axpy") != NULL);
  EXPECT(tileKernelGetNumVariants(kernel) >= 1);

  for (size_t i = 0; i < tileKernelGetNumRemarks(kernel); ++i) {
    TileRemark remark = {.size = sizeof remark};
    EXPECT(tileKernelGetRemark(kernel, i, &remark));
    EXPECT(strlen(remark.name) > 0);
    for (uint32_t j = 0; j < remark.numFields; ++j) {
      const char *key = NULL, *value = NULL;
      EXPECT(tileKernelGetRemarkField(kernel, i, j, &key, &value));
      EXPECT(key && value);
    }
    TileText *text = NULL;
    OK(tileKernelPrintRemark(kernel, i, &text));
    EXPECT(strstr(tileTextGet(text).data, remark.name) != NULL);
    tileTextDestroy(text);
  }
  EXPECT(tileKernelGetNumMultiplies(kernel) == 0);

  TileStages *stages = NULL;
  OK(tileKernelGetStages(kernel, &stages));
  EXPECT(tileStagesGetCount(stages) >= 4);
  EXPECT(strcmp(tileStagesGetName(stages, 0), "source") == 0);
  EXPECT(strstr(tileStagesGetText(stages, 0).data, "@axpy") != NULL);
  EXPECT(tileStagesGetName(stages, tileStagesGetCount(stages)) == NULL);
  tileStagesDestroy(stages);

  /* ptxas may be missing, which is an error of its own. */
  TileText *cubin = NULL;
  TileError *error = tileKernelGetCubin(kernel, &cubin);
  if (error) {
    EXPECT(tileErrorGetCode(error) == TILE_ERROR_UNAVAILABLE);
    tileErrorDestroy(error);
    return;
  }
  EXPECT(tileTextGet(cubin).length > 64);
  EXPECT(memcmp(tileTextGet(cubin).data, "\177ELF", 4) == 0);
  tileTextDestroy(cubin);
  TileResources resources = {.size = sizeof resources};
  OK(tileKernelGetResources(kernel, &resources));
  EXPECT(resources.registers > 0);
  EXPECT(resources.threads == tileKernelGetBlockThreads(kernel));
}

static void countProgress(uint64_t done, uint64_t total, void *userData) {
  EXPECT(done <= total && total == 4);
  *(uint64_t *)userData = done;
}

static void testLaunch(const TileKernel *kernel, const TileDevice *device) {
  Vectors v;
  fillVectors(&v);
  TileTensor z = getTensor(v.z), x = getTensor(v.x), y = getTensor(v.y);
  x.readOnly = true;
  TileArgument arguments[] = {tileArgumentTensor(&z), tileArgumentTensor(&x),
                              tileArgumentTensor(&y), tileArgumentFloat(1.25),
                              tileArgumentInteger(-3)};
  OK(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5, NULL));
  EXPECT(isAxpy(&v, 1.25f, -3.0f));

  uint64_t done = 0;
  TileLaunchOptions options;
  tileLaunchOptionsInit(&options, sizeof options);
  EXPECT(options.size == sizeof options && options.accumulate == NULL);
  options.progress = countProgress;
  options.progressData = &done;
  options.hostThreads = 2;
  arguments[3] = tileArgumentInteger(2);
  arguments[4] = tileArgumentUnsigned(7);
  OK(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5,
                      &options));
  EXPECT(isAxpy(&v, 2.0f, 7.0f));
  EXPECT(done == 4);

  /* A program with a newer header: the library leaves the rest alone. */
  struct {
    TileLaunchOptions known;
    uint64_t unknown[2];
  } newer;
  tileLaunchOptionsInit(&newer.known, sizeof newer);
  EXPECT(newer.known.size == sizeof newer);
  EXPECT(newer.unknown[0] == 0 && newer.unknown[1] == 0);
  newer.known.hostThreads = 1;
  arguments[4] = tileArgumentInteger(6);
  OK(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5,
                      &newer.known));
  EXPECT(isAxpy(&v, 2.0f, 6.0f));
  struct {
    TileParameter known;
    uint64_t unknown;
  } parameter = {.known = {.size = sizeof parameter}, .unknown = 77};
  EXPECT(tileKernelGetParameter(kernel, 1, &parameter.known));
  EXPECT(strcmp(parameter.known.name, "x") == 0);
  EXPECT(parameter.known.size == sizeof parameter && parameter.unknown == 77);

  TileCancelFlag *flag = tileCancelFlagCreate();
  tileCancelFlagSet(flag, true);
  options.cancel = flag;
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5,
                         &options),
        TILE_ERROR_CANCELLED, "cancel");
  tileCancelFlagDestroy(flag);

  /* What is wrong with an argument is said with its number and name. */
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 4, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "expects 5 arguments, but got 4");
  TileTensor narrow = y;
  narrow.type = TILE_ELEMENT_F16;
  arguments[2] = tileArgumentTensor(&narrow);
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "argument 2 (y)");
  arguments[2] = tileArgumentTensor(NULL);
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "argument 2: expects an array");
  arguments[2] = tileArgumentTensor(&y);
  arguments[4].kind = (TileArgumentKind)9;
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "argument 4: expects a kind");
  arguments[4] = tileArgumentInteger((int64_t)1 << 40);
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "argument 4 (bias)");
  arguments[4] = tileArgumentInteger(1);
  z.readOnly = true;
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "argument 0 (z)");
  z.readOnly = false;
  z.size = 8;
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 5, NULL),
        TILE_ERROR_INVALID_ARGUMENT, "expects the size of a TileTensor");
}

static void testStream(const TileKernel *kernel, const TileDevice *device) {
  TileStream *stream = NULL;
  OK(tileStreamCreate(device, &stream));
  EXPECT(tileStreamGetNativeHandle(stream) == NULL);
  TileDevice *same = tileStreamGetDevice(stream);
  EXPECT(tileDeviceEquals(same, device));
  tileDeviceDestroy(same);
  TileStream *borrowed = NULL;
  FAILS(tileStreamBorrow(device, NULL, &borrowed), TILE_ERROR_INVALID_ARGUMENT,
        "");

  Vectors v;
  fillVectors(&v);
  TileBuffer *x = NULL, *y = NULL, *z = NULL;
  OK(tileBufferAllocate(device, TILE_ELEMENT_F32, 1, vectorShape, &x));
  OK(tileBufferAllocate(device, TILE_ELEMENT_F32, 1, vectorShape, &y));
  OK(tileBufferAllocate(device, TILE_ELEMENT_F32, 1, vectorShape, &z));
  EXPECT(tileBufferGetNumBytes(x) == sizeof v.x);
  TileTensor tensor = {.size = sizeof tensor};
  OK(tileBufferGetTensor(x, &tensor));
  EXPECT(tensor.rank == 1 && tensor.shape[0] == kCount &&
         tensor.strides[0] == 1);
  OK(tileBufferCopyFromHost(x, v.x, NULL));
  OK(tileBufferCopyFromHost(y, v.y, stream));
  OK(tileBufferFill(z, 0xFF));

  TileEvent *start = NULL, *end = NULL;
  OK(tileStreamRecord(stream, &start));
  TileArgument arguments[] = {tileArgumentBuffer(z), tileArgumentBuffer(x),
                              tileArgumentBuffer(y), tileArgumentFloat(0.5),
                              tileArgumentInteger(11)};
  OK(tileKernelLaunchAsync(kernel, stream, tileGrid(4, 1, 1), arguments, 5,
                           NULL, &end));
  OK(tileBufferCopyToHost(z, v.z, stream));
  /* The launch keeps what it needs. */
  tileBufferDestroy(x);
  tileBufferDestroy(y);
  tileBufferDestroy(z);
  OK(tileStreamWait(stream, end));
  OK(tileStreamSynchronize(stream));
  EXPECT(isAxpy(&v, 0.5f, 11.0f));
  OK(tileEventSynchronize(end));
  bool isComplete = false;
  OK(tileEventIsComplete(end, &isComplete));
  EXPECT(isComplete);
  float milliseconds = -1.0f;
  OK(tileEventGetElapsedMs(start, end, &milliseconds));
  EXPECT(milliseconds >= 0.0f);
  tileEventDestroy(start);
  tileEventDestroy(end);
  tileStreamDestroy(stream);
  OK(tileDeviceSynchronize(device));
}

static void testQuantize(void) {
  enum { kRows = 3, kColumns = 48 };
  float values[kRows * kColumns], back[kRows * kColumns];
  for (uint32_t i = 0; i < kRows * kColumns; ++i)
    values[i] = hash(i, 3) * (i < kColumns ? 100.0f : 1.0f);
  static const char *const formats[] = {"nvfp4", "mxfp4", "mxfp8"};
  static const double bounds[] = {0.3, 0.6, 0.1};
  for (int f = 0; f < 3; ++f) {
    TileQuantizeOptions options;
    tileQuantizeOptionsInit(&options, sizeof options);
    options.twoLevel = f == 0;
    TileQuantizedArray *array = NULL;
    OK(tileQuantize(formats[f], values, kRows, kColumns, &options, &array));
    TileTensor codes = {.size = sizeof codes};
    TileTensor scales = {.size = sizeof scales};
    OK(tileQuantizedArrayGetCodes(array, &codes));
    OK(tileQuantizedArrayGetScales(array, &scales));
    EXPECT(codes.shape[0] == kRows);
    EXPECT(codes.shape[1] == (f == 2 ? kColumns : kColumns / 2));
    EXPECT(scales.shape[1] == (f == 0 ? 3 : 2));
    float globalScale = tileQuantizedArrayGetGlobalScale(array);
    EXPECT(f == 0 ? globalScale > 0.0f && globalScale != 1.0f
                  : globalScale == 1.0f);
    OK(tileDequantize(formats[f], TILE_ELEMENT_F8E4M3FN, codes.data,
                      scales.data, kRows, kColumns, globalScale, back));
    double error = 0.0, norm = 0.0;
    for (int i = kColumns; i < kRows * kColumns; ++i) {
      error += pow((double)back[i] - (double)values[i], 2);
      norm += pow((double)values[i], 2);
    }
    EXPECT(error > 0.0 && sqrt(error / norm) < bounds[f]);
    tileQuantizedArrayDestroy(array);
  }
  TileQuantizedArray *array = NULL;
  FAILS(tileQuantize("fp3", values, kRows, kColumns, NULL, &array),
        TILE_ERROR_INVALID_ARGUMENT, "nvfp4, mxfp4 or mxfp8, but got 'fp3'");
  FAILS(tileQuantize("nvfp4", values, -1, kColumns, NULL, &array),
        TILE_ERROR_INVALID_ARGUMENT, "not negative");
}

static void testLibrary(const TileCompiler *compiler,
                        const TileDevice *device) {
  bool isThere = false;
  for (size_t i = 0; i < tileLibraryGetNumKernels(); ++i)
    isThere |= strcmp(tileLibraryGetKernelName(i), "nvfp4_linear") == 0;
  EXPECT(isThere);
  TileText *text = NULL;
  OK(tileLibraryGetText("nvfp4_linear", &text));
  EXPECT(strstr(tileTextGet(text).data, "mmaf_scaled") != NULL);
  tileTextDestroy(text);
  FAILS(tileLibraryGetText("nvfp3_linear", &text), TILE_ERROR_NOT_FOUND,
        "nvfp3_linear");

  enum { kM = 5, kN = 40, kK = 96 };
  float x[kM * kK], y[kN * kK], z[kM * kN];
  for (uint32_t i = 0; i < kM * kK; ++i)
    x[i] = hash(i, 5);
  for (uint32_t i = 0; i < kN * kK; ++i)
    y[i] = hash(i, 6);
  TileQuantizedArray *qx = NULL, *qy = NULL;
  OK(tileQuantize("nvfp4", x, kM, kK, NULL, &qx));
  OK(tileQuantize("nvfp4", y, kN, kK, NULL, &qy));
  TileTensor xc = {.size = sizeof xc}, xs = xc, yc = xc, ys = xc;
  OK(tileQuantizedArrayGetCodes(qx, &xc));
  OK(tileQuantizedArrayGetScales(qx, &xs));
  OK(tileQuantizedArrayGetCodes(qy, &yc));
  OK(tileQuantizedArrayGetScales(qy, &ys));
  OK(tileDequantize("nvfp4", TILE_ELEMENT_F8E4M3FN, xc.data, xs.data, kM, kK,
                    1.0f, x));
  OK(tileDequantize("nvfp4", TILE_ELEMENT_F8E4M3FN, yc.data, ys.data, kN, kK,
                    1.0f, y));

  TileLinearProblem problem;
  tileLinearProblemInit(&problem, sizeof problem);
  EXPECT(problem.output == TILE_ELEMENT_F32);
  problem.m = kM;
  problem.n = kN;
  problem.k = kK;
  TileCompileOptions *options = tileCompileOptionsCreate();
  OK(tileCompileOptionsSetTarget(options, "sm_120a"));
  TileKernel *kernel = NULL;
  TileGrid grid = tileGrid(0, 0, 0);
  OK(tileLibraryLinear(compiler, "nvfp4_linear", &problem, options, &kernel,
                       &grid));
  EXPECT(tileKernelGetNumMultiplies(kernel) >= 1);
  TileMultiply multiply = {.size = sizeof multiply};
  EXPECT(tileKernelGetMultiply(kernel, 0, &multiply));
  EXPECT(multiply.isNative && strstr(multiply.atom, "mxf4nvf4") != NULL);

  int64_t shape[2] = {kM, kN};
  TileTensor zt = {.size = sizeof zt,
                   .data = z,
                   .type = TILE_ELEMENT_F32,
                   .rank = 2,
                   .shape = shape};
  TileArgument arguments[] = {tileArgumentTensor(&zt), tileArgumentTensor(&xc),
                              tileArgumentTensor(&yc), tileArgumentTensor(&xs),
                              tileArgumentTensor(&ys), tileArgumentFloat(0.5)};
  OK(tileKernelLaunch(kernel, device, grid, arguments, 6, NULL));
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      double sum = 0.0, magnitude = 0.0;
      for (int k = 0; k < kK; ++k) {
        double product = (double)x[i * kK + k] * (double)y[j * kK + k];
        sum += product;
        magnitude += fabs(product);
      }
      double difference = fabs((double)z[i * kN + j] - 0.5 * sum);
      if (difference > magnitude * 1e-5) {
        fprintf(stderr, "z[%d, %d]: expected %g, but got %g\n", i, j, 0.5 * sum,
                (double)z[i * kN + j]);
        ++failures;
      }
    }
  tileKernelDestroy(kernel);

  problem.m = 0;
  FAILS(tileLibraryLinear(compiler, "nvfp4_linear", &problem, options, &kernel,
                          &grid),
        TILE_ERROR_INVALID_ARGUMENT, "");
  problem.m = kM;
  problem.output = (TileElementType)77;
  FAILS(tileLibraryLinear(compiler, "nvfp4_linear", &problem, options, &kernel,
                          &grid),
        TILE_ERROR_INVALID_ARGUMENT, "but got 77");

  TileQuantizeProblem quantize;
  tileQuantizeProblemInit(&quantize, sizeof quantize);
  quantize.m = kM;
  quantize.k = kK;
  OK(tileLibraryQuantize(compiler, "quantize_nvfp4", &quantize, options,
                         &kernel, &grid));
  uint8_t codes[kM * kK / 2] = {0}, scales[kM * kK / 16] = {0};
  int64_t codesShape[2] = {kM, kK / 2}, scalesShape[2] = {kM, kK / 16};
  int64_t xShape[2] = {kM, kK};
  TileTensor ct = zt, st = zt, xt = zt;
  ct.data = codes, ct.type = TILE_ELEMENT_F4E2M1FNX2, ct.shape = codesShape;
  st.data = scales, st.type = TILE_ELEMENT_I8, st.shape = scalesShape;
  xt.data = x, xt.shape = xShape;
  TileArgument quantizeArguments[] = {
      tileArgumentTensor(&ct), tileArgumentTensor(&st), tileArgumentTensor(&xt),
      tileArgumentFloat(1.0)};
  OK(tileKernelLaunch(kernel, device, grid, quantizeArguments, 4, NULL));
  /* `x` has been through NVFP4 already; the quantisers agree on it. */
  TileQuantizedArray *again = NULL;
  OK(tileQuantize("nvfp4", x, kM, kK, NULL, &again));
  OK(tileQuantizedArrayGetCodes(again, &xc));
  OK(tileQuantizedArrayGetScales(again, &xs));
  EXPECT(memcmp(xc.data, codes, sizeof codes) == 0);
  EXPECT(memcmp(xs.data, scales, sizeof scales) == 0);
  tileQuantizedArrayDestroy(again);
  tileKernelDestroy(kernel);

  tileCompileOptionsDestroy(options);
  tileQuantizedArrayDestroy(qx);
  tileQuantizedArrayDestroy(qy);
}

static void testCache(void) {
  TileCacheOptions options;
  tileCacheOptionsInit(&options, sizeof options);
  EXPECT(options.useDisk && options.maxKernels > 0);
  options.useDisk = false;
  TileCompiler *compiler = NULL;
  OK(tileCompilerCreate(&options, &compiler));
  EXPECT(strcmp(tileCompilerGetCacheDirectory(compiler), "") == 0);
  tileKernelDestroy(compileAxpy(compiler));
  tileKernelDestroy(compileAxpy(compiler));
  TileCacheStatistics statistics = {.size = sizeof statistics};
  OK(tileCompilerGetCacheStatistics(compiler, &statistics));
  EXPECT(statistics.compilations == 1 && statistics.memoryHits == 1);
  EXPECT(statistics.diskHits == 0 && statistics.kernels == 1);
  tileCompilerClearMemory(compiler);
  OK(tileCompilerGetCacheStatistics(compiler, &statistics));
  EXPECT(statistics.kernels == 0);
  tileCompilerDestroy(compiler);
  options.size = 4;
  FAILS(tileCompilerCreate(&options, &compiler), TILE_ERROR_INVALID_ARGUMENT,
        "expects the size of a TileCacheOptions");
}

static void testSpecialisation(const TileCompiler *compiler) {
  TileDevice *device = NULL;
  OK(tileDeviceEmulator("sm_90", &device));
  EXPECT(strcmp(tileDeviceGetTarget(device), "sm_90") == 0);
  TileCompileOptions *options = tileCompileOptionsCreate();
  OK(tileCompileOptionsSetDevice(options, device));
  OK(tileCompileOptionsSetConstant(options, "COUNT", "64"));
  OK(tileCompileOptionsSetShape(options, "x", 1, vectorShape));
  OK(tileCompileOptionsSetBinding(options, "bias", 4));

  /* From a file. */
  static const char path[] = "tile-c-api-test.mlir";
  FILE *file = fopen(path, "wb");
  EXPECT(file && fwrite(kernelText, 1, sizeof kernelText - 1, file) ==
                     sizeof kernelText - 1);
  EXPECT(file && fclose(file) == 0);
  TileKernel *kernel = NULL;
  OK(tileCompilerCompileFile(compiler, path, options, &kernel));
  remove(path);

  EXPECT(strcmp(tileKernelGetTarget(kernel), "sm_90") == 0);
  EXPECT(tileKernelGetNumParameters(kernel) == 4);
  TileParameter parameter = {.size = sizeof parameter};
  EXPECT(tileKernelGetParameter(kernel, 1, &parameter));
  EXPECT(parameter.shape[0] == kCount);

  Vectors v;
  fillVectors(&v);
  TileTensor z = getTensor(v.z), x = getTensor(v.x), y = getTensor(v.y);
  TileArgument arguments[] = {tileArgumentTensor(&z), tileArgumentTensor(&x),
                              tileArgumentTensor(&y), tileArgumentFloat(3.0)};
  OK(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 4, NULL));
  EXPECT(isAxpy(&v, 3.0f, 4.0f));
  /* 200 is a multiple of 8, which the text does not promise. */
  EXPECT(tileKernelGetNumVariants(kernel) == 2);
  TileText *ptx = NULL;
  OK(tileKernelGetPtxFor(kernel, arguments, 4, &ptx));
  EXPECT(strcmp(tileTextGet(ptx).data, tileKernelGetPtx(kernel).data) != 0);
  tileTextDestroy(ptx);
  int64_t shorter[1] = {kCount - 1};
  x.shape = shorter;
  FAILS(tileKernelLaunch(kernel, device, tileGrid(4, 1, 1), arguments, 4, NULL),
        TILE_ERROR_INVALID_ARGUMENT,
        "argument 1 (x): expects extent 0 to be 200, but got 199");
  tileKernelDestroy(kernel);

  OK(tileCompileOptionsSetShape(options, "x", 0, NULL));
  OK(tileCompileOptionsRemoveBinding(options, "bias"));
  OK(tileCompileOptionsSetConstant(options, "UNUSED", "1"));
  OK(tileCompileOptionsSetConstant(options, "UNUSED", NULL));
  OK(tileCompilerCompile(compiler, kernelText, sizeof kernelText - 1, NULL,
                         options, &kernel));
  EXPECT(tileKernelGetNumParameters(kernel) == 5);
  EXPECT(tileKernelGetParameter(kernel, 1, &parameter));
  EXPECT(parameter.shape[0] == TILE_DYNAMIC);
  tileKernelDestroy(kernel);
  tileCompileOptionsDestroy(options);
  tileDeviceDestroy(device);

  TileCompiler *shared = tileCompilerGetDefault();
  EXPECT(shared != NULL && tileCompilerGetCacheDirectory(shared) != NULL);
  tileCompilerDestroy(shared);
}

/* Every field of a problem reaches the library. */
static void testProblems(const TileCompiler *compiler) {
  TileCompileOptions *options = tileCompileOptionsCreate();
  OK(tileCompileOptionsSetTarget(options, "sm_120a"));
  TileLinearProblem problem;
  tileLinearProblemInit(&problem, sizeof problem);
  problem.m = 16;
  problem.n = 32;
  problem.k = 64;
  problem.output = TILE_ELEMENT_BF16;
  problem.alphaPerColumn = true;
  problem.x = TILE_ELEMENT_F8E5M2;
  TileKernel *kernel = NULL;
  TileGrid grid;
  OK(tileLibraryLinear(compiler, "mxfp8_linear", &problem, options, &kernel,
                       &grid));
  static const TileElementType types[6] = {
      TILE_ELEMENT_BF16,      TILE_ELEMENT_F8E5M2,    TILE_ELEMENT_F8E4M3FN,
      TILE_ELEMENT_F8E8M0FNU, TILE_ELEMENT_F8E8M0FNU, TILE_ELEMENT_F32};
  EXPECT(tileKernelGetNumParameters(kernel) == 6);
  for (size_t i = 0; i < 6; ++i) {
    TileParameter parameter = {.size = sizeof parameter};
    EXPECT(tileKernelGetParameter(kernel, i, &parameter));
    EXPECT(parameter.type == types[i] && parameter.isArray);
    EXPECT(parameter.rank == (i == 5 ? 1 : 2));
  }
  tileKernelDestroy(kernel);

  problem.x = TILE_ELEMENT_F16;
  problem.mxScales = true;
  problem.alphaPerColumn = false;
  OK(tileLibraryLinear(compiler, "w4a16_linear", &problem, options, &kernel,
                       &grid));
  TileParameter parameter = {.size = sizeof parameter};
  EXPECT(tileKernelGetParameter(kernel, 1, &parameter));
  EXPECT(parameter.type == TILE_ELEMENT_F16);
  EXPECT(tileKernelGetParameter(kernel, 3, &parameter));
  EXPECT(parameter.type == TILE_ELEMENT_F8E8M0FNU);
  EXPECT(tileKernelGetParameter(kernel, 4, &parameter));
  EXPECT(!parameter.isArray);
  tileKernelDestroy(kernel);

  TileQuantizeProblem quantize;
  tileQuantizeProblemInit(&quantize, sizeof quantize);
  quantize.m = 16;
  quantize.k = 64;
  quantize.values = TILE_ELEMENT_F16;
  quantize.codes = TILE_ELEMENT_F8E5M2;
  quantize.format = "mxfp8";
  OK(tileLibraryQuantize(compiler, "dequantize", &quantize, options, &kernel,
                         &grid));
  EXPECT(tileKernelGetParameter(kernel, 0, &parameter));
  EXPECT(parameter.type == TILE_ELEMENT_F16 && parameter.isWritten);
  EXPECT(tileKernelGetParameter(kernel, 1, &parameter));
  EXPECT(parameter.type == TILE_ELEMENT_F8E5M2 && parameter.isRead);
  tileKernelDestroy(kernel);
  tileCompileOptionsDestroy(options);
}

int main(void) {
  testVersions();
  testNull();
  testQuantize();
  testCache();

  TileCacheOptions cache;
  tileCacheOptionsInit(&cache, sizeof cache);
  cache.useDisk = false;
  TileCompiler *compiler = NULL;
  OK(tileCompilerCreate(&cache, &compiler));
  testOptions(compiler);
  testTensorMaps(compiler);
  testErrors(compiler);
  testSpecialisation(compiler);
  testProblems(compiler);
  TileKernel *kernel = compileAxpy(compiler);
  testQueries(kernel);
  TileDevice *devices[2] = {tileDeviceReference(), NULL};
  OK(tileDeviceEmulator(NULL, &devices[1]));
  EXPECT(tileDeviceGetKind(devices[0]) == TILE_DEVICE_REFERENCE);
  EXPECT(tileDeviceGetKind(devices[1]) == TILE_DEVICE_EMULATOR);
  EXPECT(strcmp(tileDeviceGetName(devices[0]), "reference") == 0);
  EXPECT(tileDeviceGetPlace(devices[1], NULL) == TILE_MEMORY_HOST);
  for (int i = 0; i < 2; ++i) {
    testLaunch(kernel, devices[i]);
    testStream(kernel, devices[i]);
    testLibrary(compiler, devices[i]);
    tileDeviceDestroy(devices[i]);
  }
  tileKernelDestroy(kernel);
  tileCompilerDestroy(compiler);
  if (failures)
    fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
