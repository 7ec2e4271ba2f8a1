// Multiplies with scales along K, their narrow operands in memory, and the
// conversions of FP4 and E8M0: sm_120a.
//
// make: sm_120a

#include "mma.cuh"

MMA(f8f6f4_e4m3_e4m3, float, "f",
    "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32")
MMA(f8f6f4_e2m1_e5m2, float, "f",
    "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e5m2.f32")
MMA(f8f6f4_e3m2_e2m3, float, "f",
    "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e3m2.e2m3.f32")
MMA_HALF(f8f6f4_half,
         "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f16.e4m3.e2m1.f16")

// Lanes whose scales must not be read hold this: NaN in each format.
#define UNUSED 0xffffffffu

// z += (x * scales) * (y * scales)^T. A row of x has `words` words of codes and
// `words / 8 * PER / 4` words of scales, PER scales for 32 bytes of codes.
// Scales of x stand in the lane pair A of each quad, those of y in lane B.
#define SCALED(NAME, KIND, VEC, TYPES, SCALE, PER, A, B)                       \
  extern "C" __global__ void NAME(const unsigned *x, const unsigned *y,        \
                                  const unsigned *sx, const unsigned *sy,      \
                                  float *z, int n, int words) {                \
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;                        \
    int row = blockIdx.y * 16 + g, column = blockIdx.x * 8;                    \
    float *at = z + row * n + column + 2 * t;                                  \
    float d[4] = {at[0], at[1], at[8 * n], at[8 * n + 1]};                     \
    const int steps = 4 / PER;                                                 \
    int scaleWords = words / 8 * PER / 4;                                      \
    _Pragma("unroll 1") for (int w = 0; w < words; w += 8 * steps) {           \
      int s = w / (8 * steps);                                                 \
      unsigned scaleX =                                                        \
          t / 2 == A ? sx[(row + t % 2 * 8) * scaleWords + s] : UNUSED;        \
      unsigned scaleY = t == B ? sy[(column + g) * scaleWords + s] : UNUSED;   \
      SCALED_STEP_##PER(KIND, VEC, TYPES, SCALE, A, B)                         \
    }                                                                          \
    at[0] = d[0];                                                              \
    at[1] = d[1];                                                              \
    at[8 * n] = d[2];                                                          \
    at[8 * n + 1] = d[3];                                                      \
  }

// The multiply of words w + 8 * STEP with byte BYTE of the scales.
#define SCALED_MMA(KIND, VEC, TYPES, SCALE, STEP, BYTE, A, B)                  \
  {                                                                            \
    const unsigned *px = x + row * words + w + 8 * STEP + t;                   \
    const unsigned *py = y + (column + g) * words + w + 8 * STEP + t;          \
    asm volatile("mma.sync.aligned.kind::" KIND ".block_scale.scale_vec::" VEC \
                 ".m16n8k" TYPES "." SCALE " {%0, %1, %2, %3}, "               \
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, "              \
                 "{%10}, {%11, %12}, {%13}, {%14, %15};"                       \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])              \
                 : "r"(px[0]), "r"(px[8 * words]), "r"(px[4]),                 \
                   "r"(px[8 * words + 4]), "r"(py[0]), "r"(py[4]),             \
                   "r"(scaleX), "n"(BYTE), "n"(A), "r"(scaleY), "n"(BYTE),     \
                   "n"(B));                                                    \
  }

#define SCALED_STEP_4(KIND, VEC, TYPES, SCALE, A, B)                           \
  SCALED_MMA(KIND, VEC, TYPES, SCALE, 0, 0, A, B)
#define SCALED_STEP_2(KIND, VEC, TYPES, SCALE, A, B)                           \
  SCALED_MMA(KIND, VEC, TYPES, SCALE, 0, 0, A, B)                              \
  SCALED_MMA(KIND, VEC, TYPES, SCALE, 1, 2, A, B)
#define SCALED_STEP_1(KIND, VEC, TYPES, SCALE, A, B)                           \
  SCALED_MMA(KIND, VEC, TYPES, SCALE, 0, 0, A, B)                              \
  SCALED_MMA(KIND, VEC, TYPES, SCALE, 1, 1, A, B)                              \
  SCALED_MMA(KIND, VEC, TYPES, SCALE, 2, 2, A, B)                              \
  SCALED_MMA(KIND, VEC, TYPES, SCALE, 3, 3, A, B)

SCALED(nvfp4, "mxf4nvf4", "4X", "64.row.col.f32.e2m1.e2m1.f32", "ue4m3", 4, 0,
       0)
SCALED(nvfp4_lane3, "mxf4nvf4", "4X", "64.row.col.f32.e2m1.e2m1.f32", "ue4m3",
       4, 0, 3)
SCALED(nvfp4_2x, "mxf4nvf4", "2X", "64.row.col.f32.e2m1.e2m1.f32", "ue8m0", 2,
       0, 1)
SCALED(mxfp4, "mxf4", "2X", "64.row.col.f32.e2m1.e2m1.f32", "ue8m0", 2, 0, 2)
SCALED(mxfp8, "mxf8f6f4", "1X", "32.row.col.f32.e4m3.e4m3.f32", "ue8m0", 1, 0,
       0)
SCALED(mxfp8_e5m2, "mxf8f6f4", "1X", "32.row.col.f32.e5m2.e4m3.f32", "ue8m0", 1,
       0, 2)
// Four-bit values in bits 5:2 of bytes.
SCALED(mxfp8_e2m1, "mxf8f6f4", "1X", "32.row.col.f32.e4m3.e2m1.f32", "ue8m0", 1,
       0, 1)

// Rows of 16 packed FP4 values, each in 16 bytes of shared memory, to bytes.
extern "C" __global__ void unpack_fp4(const uint2 *in, unsigned *out) {
  __shared__ __align__(16) uint2 rows[32][2];
  int lane = threadIdx.x;
  rows[lane][0] = in[lane];
  rows[lane][1] = make_uint2(0xdeadbeef, 0xffffffff);
  __syncthreads();
  unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(rows[lane])),
           r[4];
  asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
  for (int i = 0; i < 4; ++i)
    out[i * 32 + lane] = r[i];
}

// Two 16x16 matrices of bytes, transposed.
extern "C" __global__ void transpose_bytes(const uint4 *in, unsigned *out) {
  __shared__ __align__(16) uint4 rows[32];
  int lane = threadIdx.x;
  rows[lane] = in[lane];
  __syncthreads();
  unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(rows + lane)),
           r[4];
  asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
  for (int i = 0; i < 4; ++i)
    out[i * 32 + lane] = r[i];
}

// And back: registers to eight rows of 16 bytes.
extern "C" __global__ void store_bytes(const unsigned *in, uint4 *out) {
  __shared__ __align__(16) uint4 rows[32];
  int lane = threadIdx.x;
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(rows + lane));
  asm volatile("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%0], "
               "{%1, %2, %3, %4};" ::"r"(to),
               "r"(in[lane]), "r"(in[32 + lane]), "r"(in[64 + lane]),
               "r"(in[96 + lane])
               : "memory");
  __syncthreads();
  out[lane] = rows[lane];
}

extern "C" __global__ void encode(const float *in, unsigned short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float low = in[2 * i], high = in[2 * i + 1];
  unsigned short r;
  asm("{ .reg .b8 c; cvt.rn.satfinite.e2m1x2.f32 c, %1, %2; "
      "mov.b16 %0, {c, 0}; }"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[i] = r;
  asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[n + i] = r;
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[2 * n + i] = r;
  asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[3 * n + i] = r;
  asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;"
      : "=h"(r)
      : "f"(high), "f"(low));
  out[4 * n + i] = r;
}

extern "C" __global__ void decode(const unsigned short *in, unsigned *out,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned r;
  asm("{ .reg .b8 l, h; mov.b16 {l, h}, %1; cvt.rn.f16x2.e2m1x2 %0, l; }"
      : "=r"(r)
      : "h"(in[i]));
  out[i] = r;
  asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(r) : "h"(in[i]));
  out[n + i] = r;
  unsigned short six = in[i] & 0x3f3f;
  asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(r) : "h"(six));
  out[2 * n + i] = r;
  asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(r) : "h"(six));
  out[3 * n + i] = r;
}
