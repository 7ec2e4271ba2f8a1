// Sums, maxima, histograms and scans over a block and over the grid.
//
// make: sm_80

__device__ __forceinline__ float warpSum(float v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}

// A tree in shared memory; one sum per block.
extern "C" __global__ void block_sum(const float *in, float *out, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = part[0];
}

// Shuffles inside a warp, shared memory between warps, one atomic per block.
extern "C" __global__ void grid_sum(const float *in, float *out, int n) {
  __shared__ float part[32];
  float v = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    v += in[i];
  v = warpSum(v);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0)
    part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < (blockDim.x + 31) / 32 ? part[lane] : 0.0f;
    v = warpSum(v);
    if (lane == 0)
      atomicAdd(out, v);
  }
}

// The last block to arrive adds the sums of all of them.
__device__ unsigned arrived;

extern "C" __global__ void last_block_sum(const int *in, int *part, int *out,
                                          int n) {
  __shared__ bool last;
  __shared__ int sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = sum;
    __threadfence();
    unsigned ticket = atomicInc(&arrived, gridDim.x - 1);
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (!last)
    return;
  __threadfence();
  int v = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
    v += *static_cast<volatile int *>(&part[b]);
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    v += __shfl_down_sync(0xffffffffu, v, step);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, v);
}

// Counts per value: atomics in shared memory, then in global memory.
extern "C" __global__ void histogram(const unsigned char *in, unsigned *out,
                                     int n) {
  __shared__ unsigned count[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    count[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&count[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (count[i])
      atomicAdd(&out[i], count[i]);
}

// Each kind of read-modify-write, on words that start with given values.
// Results do not depend on the order of the threads.
extern "C" __global__ void atomics(const int *in, int *words,
                                   unsigned long long *longs, float *floats,
                                   double *doubles, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];
  atomicAdd(&words[0], v);
  atomicSub(&words[1], v);
  atomicMin(&words[2], v);
  atomicMax(&words[3], v);
  atomicMin(reinterpret_cast<unsigned *>(&words[4]), static_cast<unsigned>(v));
  atomicMax(reinterpret_cast<unsigned *>(&words[5]), static_cast<unsigned>(v));
  atomicAnd(&words[6], v | 0xff);
  atomicOr(&words[7], v & 0x0f0f0f0f);
  atomicXor(&words[8], v);
  // After n increments from 0 with wrap-around at 99, and decrements alike.
  atomicInc(reinterpret_cast<unsigned *>(&words[9]), 99u);
  atomicDec(reinterpret_cast<unsigned *>(&words[10]), 99u);
  atomicAdd(&longs[0], static_cast<unsigned long long>(v) << 20);
  // The smallest value together with its position.
  unsigned long long key =
      static_cast<unsigned long long>(static_cast<unsigned>(v)) << 32 | i;
  atomicMin(&longs[1], key);
  atomicMax(&longs[2], key);
  atomicXor(&longs[3], key * 0x9e3779b97f4a7c15ull);
  atomicAdd(&floats[0], static_cast<float>(v % 64));
  atomicAdd(&doubles[0], static_cast<double>(v) * 0.125);
  // A product modulo 2^32 by compare and swap.
  int old = words[11], assumed;
  do {
    assumed = old;
    old = atomicCAS(&words[11], assumed, assumed * (2 * v + 1));
  } while (old != assumed);
  // Each thread takes what the one before left; the sum of all is fixed.
  int taken = atomicExch(&words[12], v);
  atomicAdd(&words[13], taken);
}

// Inclusive scan of one block: shuffles, then the totals of the warps.
extern "C" __global__ void inclusive_scan(const int *in, int *out, int n) {
  __shared__ int totals[32];
  int i = threadIdx.x, lane = i % 32, warp = i / 32;
  int v = i < n ? in[i] : 0;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(0xffffffffu, v, step);
    if (lane >= step)
      v += other;
  }
  if (lane == 31)
    totals[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int t = lane < blockDim.x / 32 ? totals[lane] : 0;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      int other = __shfl_up_sync(0xffffffffu, t, step);
      if (lane >= step)
        t += other;
    }
    totals[lane] = t;
  }
  __syncthreads();
  if (warp > 0)
    v += totals[warp - 1];
  if (i < n)
    out[i] = v;
}

// How many, whether all and whether any: barriers that reduce a predicate.
extern "C" __global__ void barrier_votes(const int *in, int *out) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  int count = __syncthreads_count(v > 0);
  int all = __syncthreads_and(v > -3);
  int any = __syncthreads_or(v > 5);
  int *p = out + 3 * (blockIdx.x * blockDim.x + threadIdx.x);
  p[0] = count;
  p[1] = all != 0;
  p[2] = any != 0;
}
