// Arithmetic of halves and bfloats, alone and in pairs.
//
// make: sm_80
// make: sm_90

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// out[operation * n + i], each a pair.
extern "C" __global__ void halves(const __half2 *a, const __half2 *b,
                                  __half2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __half2 x = a[i], y = b[i], z = __lowhigh2highlow(x);
  __half2 *p = out + i;
  *p = __hadd2(x, y), p += n;
  *p = __hsub2(x, y), p += n;
  *p = __hmul2(x, y), p += n;
  *p = __hfma2(x, y, z), p += n;
  *p = __hfma2_relu(x, y, z), p += n;
  *p = __hfma2_sat(x, y, z), p += n;
  *p = __hadd2_sat(x, y), p += n;
  *p = __hmin2(x, y), p += n;
  *p = __hmax2(x, y), p += n;
  *p = __hmax2_nan(x, y), p += n;
  *p = __hneg2(x), p += n;
  *p = __habs2(x), p += n;
  *p = __hlt2(x, y), p += n;
  *p = __hgeu2(x, y), p += n;
  *p = __halves2half2(__hdiv(x.x, y.x), __hdiv(x.y, y.y)), p += n;
  *p = __halves2half2(hfloor(x.x), hrint(x.y)), p += n;
  *p = __lows2half2(x, y), p += n;
  *p = __highs2half2(x, y), p += n;
  *p = x.x < y.y ? z : y;
}

extern "C" __global__ void bfloats(const __nv_bfloat162 *a,
                                   const __nv_bfloat162 *b, __nv_bfloat162 *out,
                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __nv_bfloat162 x = a[i], y = b[i], z = __lowhigh2highlow(x);
  __nv_bfloat162 *p = out + i;
  *p = __hadd2(x, y), p += n;
  *p = __hsub2(x, y), p += n;
  *p = __hmul2(x, y), p += n;
  *p = __hfma2(x, y, z), p += n;
  *p = __hfma2_relu(x, y, z), p += n;
  *p = __hmin2(x, y), p += n;
  *p = __hmax2(x, y), p += n;
  *p = __hmin2_nan(x, y), p += n;
  *p = __hneg2(x), p += n;
  *p = __habs2(x), p += n;
  *p = __hgt2(x, y), p += n;
  *p = __hneu2(x, y), p += n;
  *p = x.x < y.y ? z : y;
}

// Approximations of the hardware: out is floats, so that errors can be bounded.
extern "C" __global__ void functions(const __half2 *a, float2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __half2 x = a[i];
  float2 *p = out + i;
  *p = __half22float2(h2exp2(x)), p += n;
  *p = __half22float2(h2exp(x)), p += n;
  *p = __half22float2(h2log2(__habs2(x))), p += n;
  *p = __half22float2(h2sqrt(__habs2(x))), p += n;
  *p = __half22float2(h2rcp(x)), p += n;
  *p = __half22float2(h2tanh_approx(x));
}

// Sums of pairs by atomics; small integers, so exact.
extern "C" __global__ void sums(const __half2 *a, __half2 *half,
                                __nv_bfloat162 *bf, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicAdd(half, a[i]);
  float2 v = __half22float2(a[i]);
  atomicAdd(bf, __floats2bfloat162_rn(v.x, v.y));
}
