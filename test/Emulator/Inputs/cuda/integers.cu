// Integer arithmetic of all widths and the tricks on bits.
//
// make: sm_80

// Division by a variable, by constants (a multiplication and shifts) and by
// zero; nvcc divides 64-bit values with a branch to a 32-bit division.
extern "C" __global__ void divide(const int *a, const int *b,
                                  const long long *wa, const long long *wb,
                                  int *out, long long *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int x = a[i], y = b[i];
  unsigned ux = x, uy = y;
  int *p = out + i;
  *p = x / y, p += n;
  *p = x % y, p += n;
  *p = ux / uy, p += n;
  *p = ux % uy, p += n;
  *p = x / 7, p += n;
  *p = x % 10, p += n;
  *p = ux / 641, p += n;
  *p = x / 16, p += n;
  *p = static_cast<short>(x) / static_cast<short>(y | 1), p += n;
  *p = static_cast<unsigned char>(x) % static_cast<unsigned char>(y | 1);
  long long wx = wa[i], wy = wb[i];
  unsigned long long vx = wx, vy = wy;
  long long *q = wide + i;
  *q = wx / wy, q += n;
  *q = wx % wy, q += n;
  *q = vx / vy, q += n;
  *q = vx % vy, q += n;
  *q = wx / 1000003, q += n;
  *q = vx % 10, q += n;
  *q = wx * wy, q += n;
  *q = __mul64hi(wx, wy), q += n;
  *q = __umul64hi(vx, vy), q += n;
  // The high half of the low 128 bits of a product, by 128-bit arithmetic.
  unsigned __int128 square = static_cast<unsigned __int128>(vx) * vy + vx;
  *q = static_cast<unsigned long long>(square >> 61);
}

extern "C" __global__ void multiply(const int *a, const int *b, int *out,
                                    long long *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int x = a[i], y = b[i];
  unsigned ux = x, uy = y;
  int *p = out + i;
  *p = x * y, p += n;
  *p = __mulhi(x, y), p += n;
  *p = __umulhi(ux, uy), p += n;
  *p = __mul24(x, y), p += n;
  *p = __umul24(ux, uy), p += n;
  *p = x * y + x, p += n;
  *p = __dp4a(x, y, x), p += n;
  *p = __dp4a(ux, uy, ux), p += n;
  *p = __dp2a_lo(x, y, 5), p += n;
  *p = __dp2a_hi(ux, uy, 7u), p += n;
  *p = __sad(x, y, 3u), p += n;
  *p = __usad(ux, uy, 3u), p += n;
  *p = __hadd(x, y), p += n;
  *p = __rhadd(x, y), p += n;
  *p = __uhadd(ux, uy), p += n;
  *p = min(x, y), p += n;
  *p = max(ux, uy), p += n;
  *p = abs(x), p += n;
  int t;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y));
  *p = t, p += n;
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y));
  *p = t, p += n;
  asm("mad.hi.s32 %0, %1, %2, %1;" : "=r"(t) : "r"(x), "r"(y));
  *p = t, p += n;
  asm("mad24.lo.s32 %0, %1, %2, %1;" : "=r"(t) : "r"(x), "r"(y));
  *p = t, p += n;
  // 64 by 64 bits from 32-bit halves with carries.
  asm("{ .reg .u32 l, h;\n"
      "add.cc.u32 l, %1, %2;\n"
      "addc.cc.u32 h, %2, %1;\n"
      "addc.u32 %0, h, l; }"
      : "=r"(t)
      : "r"(x), "r"(y));
  *p = t, p += n;
  asm("{ .reg .u32 l, h;\n"
      "sub.cc.u32 l, %1, %2;\n"
      "subc.u32 h, %2, %1;\n"
      "xor.b32 %0, h, l; }"
      : "=r"(t)
      : "r"(x), "r"(y));
  *p = t, p += n;
  asm("{ .reg .u32 l;\n"
      "mad.lo.cc.u32 l, %1, %2, %1;\n"
      "madc.hi.u32 %0, %1, %2, l; }"
      : "=r"(t)
      : "r"(x), "r"(y));
  *p = t;
  wide[i] = static_cast<long long>(x) * y;
  wide[n + i] = static_cast<unsigned long long>(ux) * uy + ux;
}

extern "C" __global__ void bits(const unsigned *a, const unsigned *b,
                                unsigned *out, unsigned long long *wide,
                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned x = a[i], y = b[i], t;
  unsigned long long w = static_cast<unsigned long long>(x) << 32 | y;
  unsigned *p = out + i;
  *p = __popc(x), p += n;
  *p = __clz(x), p += n;
  *p = __brev(x), p += n;
  *p = __ffs(x), p += n;
  *p = __popcll(w), p += n;
  *p = __clzll(w), p += n;
  *p = __ffsll(w & ~4095ull), p += n;
  *p = __byte_perm(x, y, 0x6170), p += n;
  *p = __byte_perm(x, y, y), p += n;
  *p = __funnelshift_l(x, y, y), p += n;
  *p = __funnelshift_r(x, y, x), p += n;
  *p = __funnelshift_lc(x, y, y & 63), p += n;
  *p = __funnelshift_rc(x, y, x & 63), p += n;
  *p = (x & y) | (~x & 0x55555555u), p += n;
  *p = (x ^ y) & 0xff00ff00u, p += n;
  asm("shl.b32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y & 63));
  *p = t, p += n;
  asm("shr.u32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y & 63));
  *p = t, p += n;
  asm("shr.s32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y & 63));
  *p = t, p += n;
  asm("bfe.u32 %0, %1, %2, %3;"
      : "=r"(t)
      : "r"(x), "r"(y & 31), "r"(y >> 8 & 63));
  *p = t, p += n;
  asm("bfe.s32 %0, %1, %2, %3;"
      : "=r"(t)
      : "r"(x), "r"(y & 63), "r"(y >> 8 & 63));
  *p = t, p += n;
  asm("bfi.b32 %0, %1, %2, %3, %4;"
      : "=r"(t)
      : "r"(x), "r"(y), "r"(y & 31), "r"(x >> 8 & 31));
  *p = t, p += n;
  asm("bfind.u32 %0, %1;" : "=r"(t) : "r"(x));
  *p = t, p += n;
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(t) : "r"(x));
  *p = t, p += n;
  asm("lop3.b32 %0, %1, %2, %3, 0xd8;" : "=r"(t) : "r"(x), "r"(y), "r"(x >> 3));
  *p = t, p += n;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(y));
  *p = t, p += n;
  asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(y));
  *p = t, p += n;
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(y));
  *p = t, p += n;
  asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(x));
  *p = t, p += n;
  asm("cnot.b32 %0, %1;" : "=r"(t) : "r"(x & 7));
  *p = t, p += n;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(y & 31), "r"(2));
  *p = t;
  unsigned long long *q = wide + i;
  *q = __brevll(w), q += n;
  *q = w << (y & 63), q += n;
  *q = w >> (x & 63), q += n;
  *q = static_cast<long long>(w) >> (x & 63), q += n;
  asm("bfe.u64 %0, %1, %2, %3;" : "=l"(*q) : "l"(w), "r"(y & 63), "r"(x & 63));
  q += n;
  asm("bfi.b64 %0, %1, %2, %3, %4;"
      : "=l"(*q)
      : "l"(w), "l"(~w), "r"(x & 31), "r"(y & 31));
}
