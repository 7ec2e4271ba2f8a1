// Reductions of floats within a warp, which sm_100a has.
//
// make: sm_100a

#define REDUX(KIND, MASK, VALUE)                                               \
  asm volatile("redux.sync." KIND ".f32 %0, %1, %2;"                           \
               : "=f"(r)                                                       \
               : "f"(VALUE), "r"(MASK));                                       \
  out[32 * row++ + lane] = r

extern "C" __global__ void reduxes(const float *in, float *out) {
  int lane = threadIdx.x, row = 0;
  float v = in[lane], r;
  REDUX("min", 0xffffffff, v);
  REDUX("max", 0xffffffff, v);
  REDUX("min.abs", 0xffffffff, v);
  REDUX("max.abs", 0xffffffff, v);
  REDUX("min.NaN", 0xffffffff, v);
  REDUX("max.abs.NaN", 0xffffffff, v);
  // The two halves go different ways.
  if (lane < 16) {
    REDUX("min", 0xffff, v);
  } else {
    REDUX("max.NaN", 0xffff0000, v);
  }
}
