// State spaces, initialised variables, generic addresses and cache hints.
//
// make: sm_80

__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ float halves[4] = {0.5f, 1.5f, -2.5f, 3.5f};
__constant__ signed char small[5] = {-1, 2, -3, 4, -5};
__device__ double doubles[3] = {1.25, -0.5, 1e300};
__device__ long long longs[2] = {-5, 0x123456789abcdefll};
__device__ unsigned short shorts[3] = {65535, 1, 32768};
__device__ int zeros[4];
struct Record {
  char tag;
  short code;
  int value;
  const int *next;
  double weight;
};
__device__ int target[3] = {10, 20, 30};
__constant__ Record records[2] = {{'a', -2, 100, &target[1], 0.5},
                                  {'b', 3, -200, nullptr, -4.0}};
__device__ const char *names[2] = {"first", "second name"};

// A launch has one block, so that `zeros` counts its threads in four classes.
extern "C" __global__ void initialised(int *out, double *reals) {
  int i = threadIdx.x;
  const Record &r = records[i % 2];
  out[i * 6 + 0] = primes[i % 8] + small[i % 5] * 100;
  out[i * 6 + 1] =
      static_cast<int>(longs[i % 2] >> (i % 3 * 8)) + shorts[i % 3];
  out[i * 6 + 2] = r.tag + 1000 * r.code + 100000 * r.value;
  out[i * 6 + 3] = r.next ? *r.next + r.next[1] : -1;
  out[i * 6 + 4] = names[i % 2][i % 6];
  out[i * 6 + 5] = zeros[i % 4];
  reals[i] = doubles[i % 2] * halves[i % 4] + r.weight;
  __syncthreads();
  atomicAdd(&zeros[i % 4], 1);
  __syncthreads();
  out[blockDim.x * 6 + i] = zeros[i % 4];
}

// Three arrays carved from dynamic shared memory.
extern "C" __global__ void dynamic_shared(const int *in, int *out, int n) {
  extern __shared__ double raw[];
  double *d = raw;
  int *v = reinterpret_cast<int *>(d + blockDim.x);
  unsigned char *c = reinterpret_cast<unsigned char *>(v + blockDim.x);
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, last = blockDim.x - 1;
  int x = i < n ? in[i] : 0;
  d[t] = x * 0.5;
  v[t] = x;
  c[t] = static_cast<unsigned char>(x);
  __syncthreads();
  if (i < n)
    out[i] = v[last - t] + static_cast<int>(d[(t + 1) % blockDim.x] * 2) * 3 +
             c[(t * 7) % blockDim.x] * 1000;
}

// A struct as a parameter of the kernel.
struct Numbers {
  int offset;
  short factors[4];
  unsigned char flag;
  double scale;
};

extern "C" __global__ void numbers_by_value(const __grid_constant__ Numbers o,
                                            int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] =
        static_cast<int>((i + o.offset) * o.factors[i % 4] * o.scale) + o.flag;
}

// One pointer into global, shared or local memory, chosen per thread.
extern "C" __global__ void generic(const int *in, int *out, int n) {
  __shared__ int shared[64];
  int local[4];
  int t = threadIdx.x;
  shared[t] = in[t] + 1;
  for (int k = 0; k < 4; ++k)
    local[k] = in[(t + k) % n] - 1;
  __syncthreads();
  const int *p;
  switch (in[t] & 3) {
  case 0:
    p = in + t;
    break;
  case 1:
    p = shared + (t ^ 1);
    break;
  default:
    p = local + (in[t] >> 2 & 3);
  }
  int kind = __isGlobal(p)   ? 100000
             : __isShared(p) ? 200000
             : __isLocal(p)  ? 300000
                             : 0;
  out[t] = *p + kind;
}

extern "C" __global__ void local_array(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  short count[16] = {};
  for (int k = 0; k < 32; ++k)
    ++count[in[(i + k) % n] & 15];
  int best = 0;
  for (int k = 1; k < 16; ++k)
    if (count[k] > count[best])
      best = k;
  out[i] = best * 100 + count[in[i] >> 4 & 15];
}

// Loads and stores with each operator for caches.
extern "C" __global__ void cached(const int *a, const int4 *b, int *out,
                                  int4 *vectors) {
  int i = threadIdx.x;
  int v = __ldg(a + i) + __ldca(a + i + 32) * 3 + __ldcg(a + i + 64) * 5 +
          __ldcs(a + i + 96) * 7 + __ldlu(a + i + 128) * 11 +
          __ldcv(a + i + 160) * 13;
  __stwb(out + i, v);
  __stcg(out + i + 32, v + 1);
  __stcs(out + i + 64, v + 2);
  __stwt(out + i + 96, v + 3);
  int4 w = __ldg(b + i);
  int x, y;
  asm volatile("ld.global.L1::no_allocate.L2::128B.v2.s32 {%0, %1}, [%2];"
               : "=r"(x), "=r"(y)
               : "l"(b + i));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(b + i));
  w.x += x;
  w.y ^= y;
  __stcs(vectors + i, w);
  // Acquire and release, relaxed and volatile.
  int r;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
               : "=r"(r)
               : "l"(a + i)
               : "memory");
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(out + i + 128),
               "r"(r + 4)
               : "memory");
  asm volatile("ld.relaxed.sys.global.s32 %0, [%1];"
               : "=r"(r)
               : "l"(a + i + 1)
               : "memory");
  asm volatile("st.relaxed.cta.global.s32 [%0], %1;" ::"l"(out + i + 160),
               "r"(r)
               : "memory");
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(out + 192),
               "r"(r)
               : "memory");
}
