// Tensor-core multiplies of sm_80.
//
// make: sm_80

#include "mma.cuh"

MMA(bf16_k16, float, "f", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
MMA(f16_k16, float, "f", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
MMA_HALF(f16_half_k16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
MMA_SHORT(bf16_k8, float, "f",
          "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32")
MMA_SHORT(f16_k8, float, "f",
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32")
MMA(tf32_k8, float, "f", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
MMA_SHORT(tf32_k4, float, "f",
          "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32")
MMA(s8_k32, int, "r", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
MMA(u8_s8_k32, int, "r", "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32")
MMA(s8_sat_k32, int, "r",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32")
MMA_SHORT(s8_k16, int, "r", "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32")
MMA(s4_k64, int, "r", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32")

// Eight by eight doubles; K is 4.
extern "C" __global__ void f64_k4(const double *x, const double *y, double *z,
                                  int n, int k) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int row = blockIdx.y * 8 + g, column = blockIdx.x * 8;
  double2 *at = reinterpret_cast<double2 *>(z + row * n + column + 2 * t);
  double2 d = *at;
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += 4)
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, "
        "{%3}, {%0, %1};"
        : "+d"(d.x), "+d"(d.y)
        : "d"(x[row * k + k0 + t]), "d"(y[(column + g) * k + k0 + t]));
  *at = d;
}
