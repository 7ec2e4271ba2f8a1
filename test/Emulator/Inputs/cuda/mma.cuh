// A product z += x * y^T by one warp per 16x8 tile, for every multiply whose
// operands are 16 or 32 bytes of K per row. Rows of x and y are contiguous
// along K and counted in words of four bytes; z starts with the accumulators.

template <typename Op>
__device__ __forceinline__ void
multiplyTile(const unsigned *x, const unsigned *y, typename Op::Result *z,
             int n, int words) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int row = blockIdx.y * 16 + g, column = blockIdx.x * 8;
  typename Op::Register d[Op::registers];
  auto *zz = reinterpret_cast<typename Op::Register *>(z);
  // Registers of a row are next to each other: 2 of 4 bytes, or 1 of two
  // halves.
  const int perRow = Op::registers / 2;
  int stride = n * sizeof(typename Op::Result) / sizeof(typename Op::Register);
  int first = row * stride + column * perRow / 2 + t * perRow;
#pragma unroll
  for (int i = 0; i < Op::registers; ++i)
    d[i] = zz[first + i / perRow * 8 * stride + i % perRow];
#pragma unroll 1
  for (int w = 0; w < words; w += Op::words) {
    unsigned a[Op::words / 2], b[Op::words / 4];
#pragma unroll
    for (int r = 0; r < Op::words / 2; ++r)
      a[r] = x[(row + r % 2 * 8) * words + w + r / 2 * 4 + t];
#pragma unroll
    for (int r = 0; r < Op::words / 4; ++r)
      b[r] = y[(column + g) * words + w + r * 4 + t];
    Op::run(d, a, b);
  }
#pragma unroll
  for (int i = 0; i < Op::registers; ++i)
    zz[first + i / perRow * 8 * stride + i % perRow] = d[i];
}

// The text of an instruction with four accumulators in registers of kind C.
#define MMA(NAME, RESULT, C, TEXT)                                             \
  struct NAME##_op {                                                           \
    using Result = RESULT;                                                     \
    using Register = RESULT;                                                   \
    static const int registers = 4, words = 8;                                 \
    static __device__ void run(Register *d, const unsigned *a,                 \
                               const unsigned *b) {                            \
      asm volatile(TEXT " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "      \
                        "{%0, %1, %2, %3};"                                    \
                   : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),    \
                     "r"(b[1]));                                               \
    }                                                                          \
  };                                                                           \
  MMA_KERNEL(NAME)

// The same with 16 bytes of K per row.
#define MMA_SHORT(NAME, RESULT, C, TEXT)                                       \
  struct NAME##_op {                                                           \
    using Result = RESULT;                                                     \
    using Register = RESULT;                                                   \
    static const int registers = 4, words = 4;                                 \
    static __device__ void run(Register *d, const unsigned *a,                 \
                               const unsigned *b) {                            \
      asm volatile(TEXT " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
                   : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])        \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]));                         \
    }                                                                          \
  };                                                                           \
  MMA_KERNEL(NAME)

// Accumulators are pairs of halves.
#define MMA_HALF(NAME, TEXT)                                                   \
  struct NAME##_op {                                                           \
    using Result = unsigned short;                                             \
    using Register = unsigned;                                                 \
    static const int registers = 2, words = 8;                                 \
    static __device__ void run(Register *d, const unsigned *a,                 \
                               const unsigned *b) {                            \
      asm volatile(TEXT " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"     \
                   : "+r"(d[0]), "+r"(d[1])                                    \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),    \
                     "r"(b[1]));                                               \
    }                                                                          \
  };                                                                           \
  MMA_KERNEL(NAME)

#define MMA_KERNEL(NAME)                                                       \
  extern "C" __global__ void NAME(const unsigned *x, const unsigned *y,        \
                                  NAME##_op::Result *z, int n, int words) {    \
    multiplyTile<NAME##_op>(x, y, z, n, words);                                \
  }
