// Double precision, which nvcc expands from approximations of a reciprocal.
//
// make: sm_80

extern "C" __global__ void exact(const double *a, const double *b, double *out,
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double x = a[i], y = b[i];
  double *p = out + i;
  *p = x + y, p += n;
  *p = __dsub_rn(x, y), p += n;
  *p = __dmul_rn(x, y), p += n;
  *p = __dmul_rd(x, y), p += n;
  *p = __dadd_ru(x, y), p += n;
  *p = __fma_rn(x, y, x), p += n;
  *p = __ddiv_rn(x, y), p += n;
  *p = sqrt(fabs(x)), p += n;
  *p = __drcp_rn(y), p += n;
  *p = fmin(x, y), p += n;
  *p = fmax(x, y), p += n;
  *p = floor(x), p += n;
  *p = ceil(x), p += n;
  *p = trunc(x), p += n;
  *p = rint(x), p += n;
  *p = fabs(y), p += n;
  *p = copysign(x, y), p += n;
  *p = static_cast<double>(static_cast<float>(x)), p += n;
  *p = static_cast<double>(static_cast<long long>(x * 1e6)), p += n;
  *p = static_cast<double>(__double2int_rn(y)), p += n;
  *p = __hiloint2double(__double2hiint(x), __double2loint(y));
}

extern "C" __global__ void library(const double *a, const double *b,
                                   double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double x = a[i], y = b[i];
  double *p = out + i;
  *p = exp(x), p += n;
  *p = log(fabs(x)), p += n;
  *p = sin(x), p += n;
  *p = cos(x), p += n;
  *p = pow(fabs(x), y * 0.25), p += n;
  *p = rsqrt(fabs(x)), p += n;
  *p = cbrt(x);
}

// Grid-stride dot product with an atomic of doubles; integers, so exact.
extern "C" __global__ void dot(const double *a, const double *b, double *out,
                               int n) {
  double sum = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum = fma(a[i], b[i], sum);
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, sum);
}
