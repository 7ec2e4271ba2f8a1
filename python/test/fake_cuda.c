/* A CUDA driver without a GPU: memory is the host's, launches compute nothing
 * and take 2.5 ms by the clock of events. It refuses arguments that a driver
 * would. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidImage = 200,
  InvalidHandle = 400
};

static int context, stream, graph, executable, event;

int cuInit(unsigned flags) { return flags ? InvalidValue : 0; }
int cuGetErrorString(int error, const char **text) {
  *text =
      error == InvalidHandle ? "invalid resource handle" : "invalid argument";
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = 7;
  return ordinal;
}
int cuDeviceGetName(char *name, int size, int device) {
  strncpy(name, "NVIDIA H200", size);
  return device == 7 ? 0 : InvalidValue;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  /* Compute capability 9.0; 1 MiB of L2 cache. */
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1 << 20;
  return device == 7 ? 0 : InvalidValue;
}
int cuDevicePrimaryCtxRetain(void **result, int device) {
  *result = &context;
  return device == 7 ? 0 : InvalidValue;
}
int cuCtxSetCurrent(void *c) { return c == &context ? 0 : InvalidHandle; }

int cuMemAlloc_v2(uint64_t *address, size_t size) {
  *address = (uint64_t)malloc(size);
  return *address ? 0 : OutOfMemory;
}
int cuMemFree_v2(uint64_t address) {
  free((void *)address);
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  memcpy((void *)to, from, size);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  memcpy(to, (void *)from, size);
  return 0;
}
int cuMemsetD8_v2(uint64_t address, unsigned char byte, size_t size) {
  memset((void *)address, byte, size);
  return 0;
}

int cuModuleLoadData(void **module, const void *image) {
  *module = (void *)image;
  return memcmp(image, "\177ELF", 4) ? InvalidImage : 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = strdup(name);
  return module ? 0 : InvalidHandle;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  return function && attribute == 8 && value >= 0 ? 0 : InvalidValue;
}

int cuStreamCreate(void **result, unsigned flags) {
  *result = &stream;
  return flags > 1 ? InvalidValue : 0;
}
int cuStreamSynchronize(void *s) { return s == &stream ? 0 : InvalidHandle; }
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned shared, void *s, void **parameters,
                   void **extra) {
  if (s != &stream || !function)
    return InvalidHandle;
  if (!gridX || !gridY || gridZ != 1 || blockX % 32 || blockX > 1024 ||
      blockY != 1 || blockZ != 1 || shared > 232448 || extra)
    return InvalidValue;
  /* The first parameter is an array of either entry: what is there may be read.
   */
  return *(volatile char *)*(uint64_t *)parameters[0] ? 0 : 0;
}

int cuStreamBeginCapture_v2(void *s, int mode) {
  return s == &stream && mode == 0 ? 0 : InvalidHandle;
}
int cuStreamEndCapture(void *s, void **result) {
  *result = &graph;
  return s == &stream ? 0 : InvalidHandle;
}
int cuGraphInstantiateWithFlags(void **result, void *g,
                                unsigned long long flags) {
  *result = &executable;
  return g == &graph && !flags ? 0 : InvalidHandle;
}
int cuGraphLaunch(void *x, void *s) {
  return x == &executable && s == &stream ? 0 : InvalidHandle;
}
int cuGraphExecDestroy(void *x) { return x == &executable ? 0 : InvalidHandle; }
int cuGraphDestroy(void *g) { return g == &graph ? 0 : InvalidHandle; }

int cuEventCreate(void **result, unsigned flags) {
  *result = &event;
  return flags ? InvalidValue : 0;
}
int cuEventRecord(void *e, void *s) {
  return e == &event && s == &stream ? 0 : InvalidHandle;
}
int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  *milliseconds = 2.5f;
  return from == &event && to == &event ? 0 : InvalidHandle;
}
