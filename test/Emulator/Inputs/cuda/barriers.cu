// Threads of a block that wait for some of the others.
//
// make: sm_80

// Two warps write, two read, with a full and an empty barrier for each of two
// buffers: bar.arrive on one side, bar.sync on the other.
extern "C" __global__ void producer_consumer(const int *in, int *out,
                                             int rounds) {
  __shared__ int buffer[2][64];
  int t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int r = 0; r < rounds; ++r) {
      int slot = r % 2;
      if (r >= 2)
        asm volatile("bar.sync %0, 128;" ::"r"(slot + 3) : "memory");
      buffer[slot][t] = in[r * 64 + t] + r;
      __threadfence_block();
      asm volatile("bar.arrive %0, 128;" ::"r"(slot + 1) : "memory");
    }
  } else {
    for (int r = 0; r < rounds; ++r) {
      int slot = r % 2;
      asm volatile("bar.sync %0, 128;" ::"r"(slot + 1) : "memory");
      out[r * 64 + t] = buffer[slot][63 - t] * 3;
      if (r + 2 < rounds)
        asm volatile("bar.arrive %0, 128;" ::"r"(slot + 3) : "memory");
    }
  }
}

// Each pair of warps has a barrier of its own and its own number of rounds.
extern "C" __global__ void pairs(const int *in, int *out) {
  __shared__ int box[128];
  int t = threadIdx.x, pair = t / 64, other = t ^ 32;
  int v = in[t];
  for (int r = 0; r <= pair * 3; ++r) {
    box[t] = v;
    asm volatile("barrier.sync.aligned %0, 64;" ::"r"(pair + 1) : "memory");
    v = v * 2 + box[other];
    asm volatile("barrier.sync.aligned %0, 64;" ::"r"(pair + 1) : "memory");
  }
  out[t] = v;
}

// barrier.red with a predicate of each thread of half a block.
extern "C" __global__ void reduce(const int *in, int *out) {
  int t = threadIdx.x, count, any;
  asm volatile("{ .reg .pred p, q;\n"
               "setp.gt.s32 p, %2, 0;\n"
               "barrier.red.popc.aligned.u32 %0, 3, 128, p;\n"
               "barrier.red.or.pred q, 4, 128, !p;\n"
               "selp.s32 %1, 1, 0, q; }"
               : "=r"(count), "=r"(any)
               : "r"(in[t]));
  out[t] = count * 2 + any;
}

__device__ __forceinline__ unsigned shared(const void *p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// An mbarrier of all threads, waited for by its state.
extern "C" __global__ void mbarrier_state(const int *in, int *out, int rounds) {
  __shared__ unsigned long long barrier;
  __shared__ int box[64];
  int t = threadIdx.x, v = in[t];
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(&barrier)),
                 "r"(128)
                 : "memory");
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    unsigned long long state;
    box[t] = v;
    // Each thread arrives twice per phase: after its store, after its load.
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;"
                 : "=l"(state)
                 : "r"(shared(&barrier))
                 : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(shared(&barrier))
                 : "memory");
    int done;
    do
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
          "selp.s32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(shared(&barrier)), "l"(state)
          : "memory");
    while (!done);
    v = v * 3 + box[(t + 7) % 64];
    __syncthreads();
  }
  if (t == 0)
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared(&barrier))
                 : "memory");
  out[t] = v;
}

// Copies of all threads that end in an arrival at an mbarrier.
extern "C" __global__ void async_arrive(const int4 *in, int4 *out) {
  __shared__ __align__(16) int4 tile[64];
  __shared__ unsigned long long barrier;
  int t = threadIdx.x;
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(&barrier)),
                 "r"(blockDim.x)
                 : "memory");
  __syncthreads();
  unsigned parity = 0;
  for (int r = 0; r < 3; ++r) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(tile + t)),
        "l"(in + r * 64 + t)
        : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     shared(&barrier))
                 : "memory");
    asm volatile("{ .reg .pred p;\n"
                 "wait: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra wait; }" ::"r"(shared(&barrier)),
                 "r"(parity)
                 : "memory");
    parity ^= 1;
    int4 v = tile[63 - t];
    v.x += r;
    out[r * 64 + t] = v;
    __syncthreads();
  }
}
