// Fragments from shared memory: ldmatrix in front of multiplies, alone, and
// movmatrix.
//
// make: sm_80

#include "mma.cuh"

MMA(plain, float, "f", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")

// 32x16 elements by two warps, one above the other, from rows of bf16 in shared
// memory with pads against bank conflicts. y is n by k, or k by n if
// Transposed, and then ldmatrix transposes it.
template <bool Transposed>
__device__ __forceinline__ void multiplyShared(const unsigned short *x,
                                               const unsigned short *y,
                                               float *z, int n, int k) {
  __shared__ __align__(16) unsigned short sx[32][40], sy[32][40];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int row0 = blockIdx.y * 32, column0 = blockIdx.x * 16;
  float d[2][4] = {};
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += 32) {
    __syncthreads();
#pragma unroll 1
    for (int c = t; c < 32 * 4; c += 64)
      *reinterpret_cast<uint4 *>(&sx[c / 4][c % 4 * 8]) =
          *reinterpret_cast<const uint4 *>(x + (row0 + c / 4) * k + k0 +
                                           c % 4 * 8);
    if (Transposed) {
#pragma unroll 1
      for (int c = t; c < 32 * 2; c += 64)
        *reinterpret_cast<uint4 *>(&sy[c / 2][c % 2 * 8]) =
            *reinterpret_cast<const uint4 *>(y + (k0 + c / 2) * n + column0 +
                                             c % 2 * 8);
    } else {
#pragma unroll 1
      for (int c = t; c < 16 * 4; c += 64)
        *reinterpret_cast<uint4 *>(&sy[c / 4][c % 4 * 8]) =
            *reinterpret_cast<const uint4 *>(y + (column0 + c / 4) * k + k0 +
                                             c % 4 * 8);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      unsigned a[4], b[4];
      unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(
          &sx[warp * 16 + lane % 16][kk + lane / 16 * 8]));
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
          : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
          : "r"(from)
          : "memory");
      if (Transposed) {
        from = static_cast<unsigned>(
            __cvta_generic_to_shared(&sy[kk + lane % 16][lane / 16 * 8]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, "
                     "%2, %3}, [%4];"
                     : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                     : "r"(from)
                     : "memory");
      } else {
        from = static_cast<unsigned>(__cvta_generic_to_shared(
            &sy[lane % 8 + lane / 16 * 8][kk + lane / 8 % 2 * 8]));
        asm volatile(
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
            : "r"(from)
            : "memory");
      }
      plain_op::run(d[0], a, b);
      plain_op::run(d[1], a, b + 2);
    }
  }
  int row = row0 + warp * 16 + lane / 4, column = column0 + lane % 4 * 2;
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 2; ++i)
      *reinterpret_cast<float2 *>(z + (row + 8 * i) * n + column + 8 * h) =
          make_float2(d[h][2 * i], d[h][2 * i + 1]);
}

extern "C" __global__ void product(const unsigned short *x,
                                   const unsigned short *y, float *z, int n,
                                   int k) {
  multiplyShared<false>(x, y, z, n, k);
}

extern "C" __global__ void product_transposed(const unsigned short *x,
                                              const unsigned short *y, float *z,
                                              int n, int k) {
  multiplyShared<true>(x, y, z, n, k);
}

// One ldmatrix of each form and movmatrix; rows are 16 bytes in any order.
extern "C" __global__ void matrices(const unsigned short *in, const int *order,
                                    unsigned *out) {
  __shared__ __align__(16) unsigned short rows[32][8];
  int lane = threadIdx.x;
  *reinterpret_cast<uint4 *>(rows[lane]) =
      *reinterpret_cast<const uint4 *>(in + lane * 8);
  __syncthreads();
  unsigned from =
      static_cast<unsigned>(__cvta_generic_to_shared(rows[order[lane]]));
  unsigned r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(from));
  out[0 * 32 + lane] = r[0];
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(from));
  out[1 * 32 + lane] = r[0];
  out[2 * 32 + lane] = r[1];
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(from));
  for (int i = 0; i < 4; ++i)
    out[(3 + i) * 32 + lane] = r[i];
  unsigned turned;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(turned)
               : "r"(r[1]));
  out[7 * 32 + lane] = turned;
}
