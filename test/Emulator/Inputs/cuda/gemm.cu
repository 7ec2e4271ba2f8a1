// Matrix products z = x * y with scalar arithmetic: through shared memory, and
// with the next tiles on their way while this one is multiplied.
//
// make: sm_80

// 16x16 threads, each with one element; ragged in all three extents.
extern "C" __global__ void tiled(const float *x, const float *y, float *z,
                                 int m, int n, int k) {
  __shared__ float tx[16][16], ty[16][17];
  int row = blockIdx.y * 16 + threadIdx.y,
      column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
#pragma unroll 1
  for (int base = 0; base < k; base += 16) {
    int kx = base + threadIdx.x, ky = base + threadIdx.y;
    tx[threadIdx.y][threadIdx.x] = row < m && kx < k ? x[row * k + kx] : 0.0f;
    ty[threadIdx.y][threadIdx.x] =
        ky < k && column < n ? y[ky * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sum += tx[threadIdx.y][i] * ty[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n)
    z[row * n + column] = sum;
}

__device__ __forceinline__ void copy16(void *to, const void *from, int bytes) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address),
               "l"(from), "r"(bytes)
               : "memory");
}

// 64 threads make a 32x32 tile, 4x4 elements each. Tiles of 32x16 and 16x32
// arrive by cp.async in two buffers of dynamic shared memory; rows beyond the
// edge are filled with zeros. k and n are multiples of 4.
extern "C" __global__ void double_buffered(const float *x, const float *y,
                                           float *z, int m, int n, int k) {
  extern __shared__ __align__(16) float buffer[];
  const int stage = 32 * 16 + 16 * 32;
  int t = threadIdx.x, row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
  auto issue = [&](int step, float *at) {
    int k0 = step * 16;
    // 128 chunks of x (4 per row) and 128 of y (8 per row).
#pragma unroll 1
    for (int c = t; c < 128; c += 64) {
      int r = c / 4, j = c % 4 * 4;
      bool inside = row0 + r < m && k0 + j < k;
      copy16(at + r * 16 + j, inside ? x + (row0 + r) * k + k0 + j : x,
             inside ? 16 : 0);
    }
    at += 32 * 16;
#pragma unroll 1
    for (int c = t; c < 128; c += 64) {
      int r = c / 8, j = c % 8 * 4;
      bool inside = k0 + r < k && column0 + j < n;
      copy16(at + r * 32 + j, inside ? y + (k0 + r) * n + column0 + j : y,
             inside ? 16 : 0);
    }
  };
  float sum[4][4] = {};
  int steps = (k + 15) / 16, i0 = t / 8 * 4, j0 = t % 8 * 4;
  issue(0, buffer);
  asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps)
      issue(step + 1, buffer + (step + 1) % 2 * stage);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const float *bx = buffer + step % 2 * stage, *by = bx + 32 * 16;
#pragma unroll 1
    for (int kk = 0; kk < 16; ++kk) {
      float4 v = *reinterpret_cast<const float4 *>(by + kk * 32 + j0);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float u = bx[(i0 + i) * 16 + kk];
        sum[i][0] += u * v.x;
        sum[i][1] += u * v.y;
        sum[i][2] += u * v.z;
        sum[i][3] += u * v.w;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (row0 + i0 + i < m && column0 + j0 + j < n)
        z[(row0 + i0 + i) * n + column0 + j0 + j] = sum[i][j];
}

// Four stages of 4- and 8-byte copies through the cache, waited for one by one.
extern "C" __global__ void small_copies(const int *in, const long long *wide,
                                        int *out) {
  __shared__ int words[4][32];
  __shared__ long long longs[32];
  int t = threadIdx.x;
  for (int s = 0; s < 4; ++s) {
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&words[s][t]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to),
                 "l"(in + s * 32 + (t ^ s))
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&longs[t]));
  // Half of each value, then zeros.
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to),
               "l"(wide + t), "r"(t % 2 ? 4 : 8)
               : "memory");
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  __syncthreads();
  int v = words[0][31 - t] + 3 * words[1][(t + 5) % 32];
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  v += 5 * words[2][t ^ 8] + 7 * words[3][t ^ 16];
  out[t] = v + static_cast<int>(longs[(t + 1) % 32] % 1000003);
}
