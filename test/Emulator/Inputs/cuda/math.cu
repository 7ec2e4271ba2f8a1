// Functions of one or two floats: the exact ones, those of CUDA's library,
// which become long sequences, and the approximations of the hardware.
//
// make: sm_80
// make: sm_80 -use_fast_math as fast

// out[function * n + i]
extern "C" __global__ void exact(const float *a, const float *b, float *out,
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = a[i], y = b[i];
  float *p = out + i;
  *p = __fadd_rz(x, y), p += n;
  *p = __fadd_ru(x, y), p += n;
  *p = __fadd_rd(x, y), p += n;
  *p = __fsub_rn(x, y), p += n;
  *p = __fmul_rn(x, y), p += n;
  *p = __fmul_rz(x, y), p += n;
  *p = __fmul_ru(x, y), p += n;
  *p = __fmul_rd(x, y), p += n;
  *p = __fmaf_rn(x, y, x), p += n;
  *p = __fmaf_rz(x, y, -y), p += n;
  *p = __fdiv_rn(x, y), p += n;
  *p = __fdiv_rz(x, y), p += n;
  *p = __fsqrt_rn(fabsf(x)), p += n;
  *p = __fsqrt_ru(fabsf(y)), p += n;
  *p = __frcp_rn(y), p += n;
  *p = fminf(x, y), p += n;
  *p = fmaxf(x, y), p += n;
  *p = floorf(x), p += n;
  *p = ceilf(x), p += n;
  *p = truncf(x), p += n;
  *p = rintf(x), p += n;
  *p = roundf(x), p += n;
  *p = fabsf(x), p += n;
  *p = copysignf(x, y), p += n;
  *p = __saturatef(x), p += n;
  *p = fmodf(x, y), p += n;
  *p = x < y ? x : -y, p += n;
  *p = isnan(x) ? 1.0f : isinf(x) ? 2.0f : signbit(x) ? 3.0f : 4.0f;
}

// In double, on the host of the test, the same to within a few units in the
// last place.
extern "C" __global__ void library(const float *a, const float *b, float *out,
                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = a[i], y = b[i];
  float *p = out + i;
  *p = expf(x), p += n;
  *p = exp2f(x), p += n;
  *p = logf(fabsf(x)), p += n;
  *p = log2f(fabsf(x)), p += n;
  *p = log1pf(fabsf(x)), p += n;
  *p = sinf(x), p += n;
  *p = cosf(x), p += n;
  *p = tanhf(x), p += n;
  *p = powf(fabsf(x), y * 0.125f), p += n;
  *p = rsqrtf(fabsf(x)), p += n;
  *p = sqrtf(fabsf(x)), p += n;
  *p = x / y, p += n;
  *p = atan2f(x, y), p += n;
  *p = erff(x), p += n;
  *p = hypotf(x, y);
}

// Angles far away reduce with a table of digits of 2/pi in constant memory and
// an array in local memory.
extern "C" __global__ void large_angles(const float *a, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s, c;
  sincosf(a[i], &s, &c);
  out[i] = s;
  out[n + i] = c;
}

extern "C" __global__ void approximate(const float *a, const float *b,
                                       float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = a[i], y = b[i], r;
  float *p = out + i;
  *p = __expf(x), p += n;
  *p = __logf(fabsf(x)), p += n;
  *p = __log2f(fabsf(x)), p += n;
  *p = __sinf(x), p += n;
  *p = __cosf(x), p += n;
  *p = __fdividef(x, y), p += n;
  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(y));
  *p = r, p += n;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(fabsf(x)));
  *p = r, p += n;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(fabsf(x)));
  *p = r, p += n;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  *p = r, p += n;
  asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(fabsf(x)));
  *p = r, p += n;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  *p = r, p += n;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  *p = r;
}
