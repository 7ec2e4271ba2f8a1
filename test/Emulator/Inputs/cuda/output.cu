// Text and failed assertions.
//
// make: sm_80

#include <cassert>
#include <cstdio>

extern "C" __global__ void hello(const int *in) {
  int t = threadIdx.x;
  if (t % 16 == 5)
    printf("thread %d of block %d has %s%d%c %5.2f 0x%08x %lld\n", t,
           blockIdx.x, in[t] < 0 ? "minus " : "", abs(in[t]), '!', in[t] * 0.25,
           in[t], in[t] * 10000000000ll);
  if (t == 0)
    printf("no arguments, 100%%\n");
}

// Fails for a negative element.
extern "C" __global__ void checked_root(const int *in, int *out) {
  int v = in[threadIdx.x];
  assert(v >= 0 && "roots are of naturals");
  int r = 0;
  while ((r + 1) * (r + 1) <= v)
    ++r;
  out[threadIdx.x] = r;
}

// Stops the kernel at the first element that is 7.
extern "C" __global__ void trap(const int *in, int *out) {
  if (in[threadIdx.x] == 7)
    __trap();
  out[threadIdx.x] = in[threadIdx.x] + 1;
}
