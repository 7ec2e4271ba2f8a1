// Eight-bit floats: multiplies and conversions of sm_89.
//
// make: sm_89

#include "mma.cuh"

MMA(e4m3, float, "f", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
MMA(e5m2_e4m3, float, "f",
    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32")
MMA(e4m3_e5m2, float, "f",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32")
MMA_HALF(e4m3_half, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16")
MMA_SHORT(e5m2_k16, float, "f",
          "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32")

extern "C" __global__ void encode(const float *in, unsigned short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float low = in[2 * i], high = in[2 * i + 1];
  unsigned short r;
  unsigned halves;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[i] = r;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[n + i] = r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(r) : "r"(halves));
  out[2 * n + i] = r;
  asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(r) : "r"(halves));
  out[3 * n + i] = r;
  asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[4 * n + i] = r;
}

// All codes, two at a time, to halves.
extern "C" __global__ void decode(const unsigned short *in, unsigned *out,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned r;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(in[i]));
  out[i] = r;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(in[i]));
  out[n + i] = r;
}
