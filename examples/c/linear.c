/*===- linear.c - A linear layer on quantised weights ---------------------===*\
|*                                                                            *|
|* Quantises the weights and activations of a layer to NVFP4, compiles a      *|
|* kernel for it, runs that and compares with arithmetic in f64:              *|
|*                                                                            *|
|*   linear [DEVICE]  best (the default), reference, emulator or cuda         *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "tile-c/Tile.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The extents of z[M,N] = x[M,K] . y[N,K]^T. */
enum { M = 24, N = 96, K = 512 };

/* Ends the program with the error's message, if there is an error. */
static void check(TileError *error, const char *what) {
  if (!error)
    return;
  fprintf(stderr, "linear: error: %s: %s\n", what, tileErrorGetText(error));
  tileErrorDestroy(error);
  exit(1);
}

static TileDevice *findDevice(const char *name) {
  TileDevice *device = NULL;
  if (!strcmp(name, "best"))
    return tileDeviceBest();
  if (!strcmp(name, "reference"))
    return tileDeviceReference();
  if (!strcmp(name, "emulator")) {
    check(tileDeviceEmulator("sm_120a", &device), "device");
  } else if (!strcmp(name, "cuda")) {
    check(tileDeviceCuda(0, &device), "device");
  } else {
    fprintf(stderr,
            "linear: error: expects best, reference, emulator or cuda, but got "
            "'%s'\n",
            name);
    exit(1);
  }
  return device;
}

/* Values of about the size that `deviation` says, mixed from their index. */
static void fillMatrix(float *values, int64_t count, uint64_t seed,
                       float deviation) {
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int draw = 0; draw < 4; ++draw) {
      uint64_t h =
          (seed << 32) + 4 * (uint64_t)i + draw + UINT64_C(0x9E3779B97F4A7C15);
      h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
      h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
      sum += (float)((h ^ h >> 31) >> 40) * 0x1p-24f - 0.5f;
    }
    values[i] = deviation * sum;
  }
}

/* Quantises a matrix, with a factor for all of it. */
static TileQuantizedArray *quantizeMatrix(const float *values, int64_t rows) {
  TileQuantizeOptions options;
  tileQuantizeOptionsInit(&options, sizeof options);
  options.twoLevel = true;
  TileQuantizedArray *array = NULL;
  check(tileQuantize("nvfp4", values, rows, K, &options, &array), "quantizing");
  return array;
}

/* The codes or the scales of a matrix, in the memory of a device. */
static TileBuffer *copyTo(const TileDevice *device, const TileTensor *tensor) {
  TileBuffer *buffer = NULL;
  check(tileBufferAllocate(device, tensor->type, tensor->rank, tensor->shape,
                           &buffer),
        "allocating");
  check(tileBufferCopyFromHost(buffer, tensor->data, NULL), "copying");
  return buffer;
}

/* The quantised values, without the factor of the whole matrix. */
static void readValues(const TileTensor *codes, const TileTensor *scales,
                       int64_t rows, float *values) {
  check(tileDequantize("nvfp4", TILE_ELEMENT_F8E4M3FN, codes->data,
                       scales->data, rows, K, 1.0f, values),
        "dequantizing");
}

static float weights[N * K], input[M * K], result[M * N];

int main(int argc, char **argv) {
  TileDevice *device = findDevice(argc > 1 ? argv[1] : "best");

  /* Done once, when a model is loaded. */
  fillMatrix(weights, N * K, 1, 0.05f);
  TileQuantizedArray *y = quantizeMatrix(weights, N);
  TileTensor yCodes = {.size = sizeof yCodes};
  TileTensor yScales = {.size = sizeof yScales};
  check(tileQuantizedArrayGetCodes(y, &yCodes), "weights");
  check(tileQuantizedArrayGetScales(y, &yScales), "weights");

  TileCompileOptions *options = tileCompileOptionsCreate();
  check(tileCompileOptionsSetDevice(options, device), "options");
  TileLinearProblem problem;
  tileLinearProblemInit(&problem, sizeof problem);
  problem.m = M;
  problem.n = N;
  problem.k = K;
  TileCompiler *compiler = tileCompilerGetDefault();
  TileKernel *kernel = NULL;
  TileGrid grid;
  check(tileLibraryLinear(compiler, "nvfp4_linear", &problem, options, &kernel,
                          &grid),
        "nvfp4_linear");

  /* Done for each input. */
  fillMatrix(input, M * K, 2, 2.0f);
  TileQuantizedArray *x = quantizeMatrix(input, M);
  TileTensor xCodes = {.size = sizeof xCodes};
  TileTensor xScales = {.size = sizeof xScales};
  check(tileQuantizedArrayGetCodes(x, &xCodes), "input");
  check(tileQuantizedArrayGetScales(x, &xScales), "input");
  float alpha =
      tileQuantizedArrayGetGlobalScale(x) * tileQuantizedArrayGetGlobalScale(y);

  const int64_t shape[] = {M, N};
  TileBuffer *z = NULL;
  check(tileBufferAllocate(device, TILE_ELEMENT_F32, 2, shape, &z),
        "allocating");
  TileBuffer *buffers[] = {z, copyTo(device, &xCodes), copyTo(device, &yCodes),
                           copyTo(device, &xScales), copyTo(device, &yScales)};
  enum { NUM_BUFFERS = sizeof buffers / sizeof buffers[0] };
  TileArgument arguments[NUM_BUFFERS + 1];
  for (int i = 0; i < NUM_BUFFERS; ++i)
    arguments[i] = tileArgumentBuffer(buffers[i]);
  arguments[NUM_BUFFERS] = tileArgumentFloat(alpha);
  check(
      tileKernelLaunch(kernel, device, grid, arguments, NUM_BUFFERS + 1, NULL),
      "launch");
  check(tileBufferCopyToHost(z, result, NULL), "copying");

  printf("device: %s\ntarget: %s\n", tileDeviceGetName(device),
         tileKernelGetTarget(kernel));
  for (size_t i = 0; i < tileKernelGetNumMultiplies(kernel); ++i) {
    TileMultiply multiply = {.size = sizeof multiply};
    if (tileKernelGetMultiply(kernel, i, &multiply))
      printf("path: %s, %s: %s\n", multiply.isNative ? "native" : "expanded",
             multiply.atom, multiply.reason);
  }

  /* docs/numerics.md: so many times 2^-24 of the sum of magnitudes, and one
     more for the product with alpha. */
  const double bound = 9.0 / 8 * K + 8 + 1;
  double largest = 0;
  readValues(&xCodes, &xScales, M, input);
  readValues(&yCodes, &yScales, N, weights);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0, magnitudes = 0;
      for (int k = 0; k < K; ++k) {
        double term = (double)input[i * K + k] * weights[j * K + k];
        sum += term;
        magnitudes += fabs(term);
      }
      double error = fabs(result[i * N + j] - alpha * sum);
      double units = error / (0x1p-24 * alpha * magnitudes);
      if (!(units <= bound)) {
        fprintf(stderr, "linear: error: z[%d, %d] is %g, expects %g\n", i, j,
                result[i * N + j], alpha * sum);
        return 1;
      }
      largest = fmax(largest, units);
    }
  printf("largest error: %.3g units, allowed: %.0f\n", largest, bound);

  for (int i = 0; i < NUM_BUFFERS; ++i)
    tileBufferDestroy(buffers[i]);
  tileQuantizedArrayDestroy(x);
  tileQuantizedArrayDestroy(y);
  tileKernelDestroy(kernel);
  tileCompilerDestroy(compiler);
  tileCompileOptionsDestroy(options);
  tileDeviceDestroy(device);
  return 0;
}
