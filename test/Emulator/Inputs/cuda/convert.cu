// Conversions between integers and floats with every rounding.
//
// make: sm_80

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Out-of-range values saturate, NaN becomes zero (or the smallest long).
extern "C" __global__ void to_integers(const float *a, const double *d,
                                       int *out, long long *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = a[i];
  double w = d[i];
  int *p = out + i, t;
  *p = __float2int_rn(x), p += n;
  *p = __float2int_rz(x), p += n;
  *p = __float2int_ru(x), p += n;
  *p = __float2int_rd(x), p += n;
  *p = __float2uint_rn(x), p += n;
  *p = __float2uint_rz(x), p += n;
  *p = __double2int_rd(w), p += n;
  *p = __double2uint_ru(w), p += n;
  asm("{ .reg .s8 c; cvt.rzi.s8.f32 c, %1; cvt.s32.s8 %0, c; }"
      : "=r"(t)
      : "f"(x));
  *p = t, p += n;
  asm("{ .reg .u8 c; cvt.rni.u8.f32 c, %1; cvt.u32.u8 %0, c; }"
      : "=r"(t)
      : "f"(x));
  *p = t, p += n;
  asm("{ .reg .s16 c; cvt.rni.s16.f32 c, %1; cvt.s32.s16 %0, c; }"
      : "=r"(t)
      : "f"(x));
  *p = t;
  long long *q = wide + i;
  *q = __float2ll_rn(x), q += n;
  *q = __float2ull_rz(x), q += n;
  *q = __double2ll_rn(w), q += n;
  *q = __double2ull_rd(w);
}

extern "C" __global__ void to_floats(const int *a, const long long *b,
                                     float *out, double *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int x = a[i];
  long long w = b[i];
  float *p = out + i;
  *p = __int2float_rn(x), p += n;
  *p = __int2float_rz(x), p += n;
  *p = __int2float_ru(x), p += n;
  *p = __int2float_rd(x), p += n;
  *p = __uint2float_rn(x), p += n;
  *p = __ll2float_rn(w), p += n;
  *p = __ull2float_rz(w), p += n;
  *p = static_cast<signed char>(x), p += n;
  *p = static_cast<unsigned short>(x), p += n;
  *p = __double2float_rn(__ll2double_rn(w)), p += n;
  *p = __double2float_ru(__ll2double_rn(w));
  wide[i] = __ll2double_rn(w);
  wide[n + i] = __ull2double_rd(w);
  wide[2 * n + i] = x;
}

// Sixteen bits: out holds the patterns.
extern "C" __global__ void to_halves(const float *a, const int *b,
                                     unsigned short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = a[i];
  int v = b[i];
  unsigned short *p = out + i;
  *p = __half_as_ushort(__float2half_rn(x)), p += n;
  *p = __half_as_ushort(__float2half_rz(x)), p += n;
  *p = __half_as_ushort(__float2half_ru(x)), p += n;
  *p = __half_as_ushort(__float2half_rd(x)), p += n;
  *p = __half_as_ushort(__int2half_rn(v)), p += n;
  *p = __half_as_ushort(__ushort2half_rn(static_cast<unsigned short>(v))),
  p += n;
  *p = __bfloat16_as_ushort(__float2bfloat16_rn(x)), p += n;
  *p = __bfloat16_as_ushort(__float2bfloat16_rz(x)), p += n;
  __half2 h = __floats2half2_rn(x, -2.0f * x);
  *p = __half_as_ushort(h.y), p += n;
  __nv_bfloat162 w = __floats2bfloat162_rn(3.0f * x, x);
  *p = __bfloat16_as_ushort(w.x), p += n;
  *p = static_cast<unsigned short>(__half2short_rn(__float2half_rn(x))), p += n;
  *p = static_cast<unsigned short>(__half2ushort_rz(__float2half_rn(x)));
}

// Integers that grow and shrink.
extern "C" __global__ void between_integers(const int *a, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int x = a[i], t;
  int *p = out + i;
  *p = static_cast<signed char>(x), p += n;
  *p = static_cast<unsigned short>(x), p += n;
  asm("{ .reg .s8 c; cvt.sat.s8.s32 c, %1; cvt.s32.s8 %0, c; }"
      : "=r"(t)
      : "r"(x));
  *p = t, p += n;
  asm("{ .reg .u8 c; cvt.sat.u8.s32 c, %1; cvt.u32.u8 %0, c; }"
      : "=r"(t)
      : "r"(x));
  *p = t, p += n;
  asm("{ .reg .s16 c; cvt.sat.s16.u32 c, %1; cvt.s32.s16 %0, c; }"
      : "=r"(t)
      : "r"(x));
  *p = t, p += n;
  asm("cvt.sat.u32.s32 %0, %1;" : "=r"(t) : "r"(x));
  *p = t, p += n;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %1;"
      : "=r"(t)
      : "r"(x), "r"(x >> 20));
  *p = t, p += n;
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(x >> 12));
  *p = t, p += n;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, l}; }"
      : "=r"(t)
      : "r"(x));
  *p = t;
}
