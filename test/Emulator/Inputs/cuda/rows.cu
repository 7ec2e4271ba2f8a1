// One row per block: softmax and layer norm, as a model's layers need them.
//
// make: sm_80

template <typename Combine>
__device__ __forceinline__ float reduceBlock(float v, float identity,
                                             Combine combine) {
  __shared__ float part[32];
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    v = combine(v, __shfl_xor_sync(0xffffffffu, v, step));
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // The last use of `part` may still be going on.
  __syncthreads();
  if (lane == 0)
    part[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? part[lane] : identity;
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    v = combine(v, __shfl_xor_sync(0xffffffffu, v, step));
  return v;
}

extern "C" __global__ void softmax(const float *in, float *out, int columns) {
  const float *x = in + blockIdx.x * columns;
  float *y = out + blockIdx.x * columns;
  float high = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    high = fmaxf(high, x[i]);
  high = reduceBlock(high, -INFINITY,
                     [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += expf(x[i] - high);
  sum = reduceBlock(sum, 0.0f, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[i] = expf(x[i] - high) / sum;
}

extern "C" __global__ void layer_norm(const float *in, const float *weight,
                                      const float *bias, float *out,
                                      int columns, float epsilon) {
  const float *x = in + blockIdx.x * columns;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += x[i];
  auto add = [](float a, float b) { return a + b; };
  float mean = reduceBlock(sum, 0.0f, add) / columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    squares += (x[i] - mean) * (x[i] - mean);
  float scale = rsqrtf(reduceBlock(squares, 0.0f, add) / columns + epsilon);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[blockIdx.x * columns + i] = (x[i] - mean) * scale * weight[i] + bias[i];
}
