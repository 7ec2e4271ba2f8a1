// One thread per element: guarded tails, vector accesses, grid-stride loops and
// the special registers of three-dimensional launches.
//
// make: sm_80
// make: sm_120
// make: sm_80 -G as debug
// make: sm_80 -lineinfo -DONE as lineinfo

extern "C" __global__ void vector_add(const float *a, const float *b, float *c,
                                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

#if !defined(__CUDACC_DEBUG__) && !defined(ONE)

// Four elements per access, then the one to three that are left.
extern "C" __global__ void axpy4(float alpha, const float *__restrict__ x,
                                 float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int quads = n / 4;
  if (i < quads) {
    float4 vx = reinterpret_cast<const float4 *>(x)[i];
    float4 vy = reinterpret_cast<float4 *>(y)[i];
    vy.x = fmaf(alpha, vx.x, vy.x);
    vy.y = fmaf(alpha, vx.y, vy.y);
    vy.z = fmaf(alpha, vx.z, vy.z);
    vy.w = fmaf(alpha, vx.w, vy.w);
    reinterpret_cast<float4 *>(y)[i] = vy;
  } else if (i - quads < n - quads * 4) {
    int j = quads * 4 + (i - quads);
    y[j] = fmaf(alpha, x[j], y[j]);
  }
}

// Every width of access that a signed or unsigned integer can have.
extern "C" __global__ void widen(const signed char *s8, const unsigned char *u8,
                                 const short *s16, const unsigned short *u16,
                                 const int *s32, long long *sum, short *low,
                                 int n) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    long long v = s8[i];
    v = v * 3 + u8[i];
    v = v * 5 + s16[i];
    v = v * 7 + u16[i];
    v = v * 11 + s32[i];
    sum[i] = v;
    low[i] = static_cast<short>(v);
  }
}

// Where each thread is, in a launch of any shape.
extern "C" __global__ void coordinates(int *out) {
  unsigned block =
      blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  int *p = out + 9 * (block * threads + thread);
  p[0] = threadIdx.x;
  p[1] = threadIdx.y;
  p[2] = threadIdx.z;
  p[3] = blockIdx.x;
  p[4] = blockIdx.y;
  p[5] = blockIdx.z;
  p[6] = lane;
  p[7] = blockDim.x + 100 * blockDim.y + 10000 * blockDim.z;
  p[8] = gridDim.x + 100 * gridDim.y + 10000 * gridDim.z;
}

// A transposition through shared memory with padded rows, on ragged edges.
extern "C" __global__ void transpose(const int *in, int *out, int rows,
                                     int columns) {
  __shared__ int tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows)
    tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < rows && y < columns)
    out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

#endif // The other kernels.
