// What the lanes of one warp can tell each other.
//
// make: sm_80
// make: sm_120

#define FULL 0xffffffffu

// Twelve shuffles of one value; out[variant * 32 + lane].
extern "C" __global__ void shuffles(const int *in, const int *from, int *out) {
  int lane = threadIdx.x, v = in[lane], s = from[lane];
  out[0 * 32 + lane] = __shfl_sync(FULL, v, s);
  out[1 * 32 + lane] = __shfl_sync(FULL, v, s, 16);
  out[2 * 32 + lane] = __shfl_sync(FULL, v, s, 4);
  out[3 * 32 + lane] = __shfl_up_sync(FULL, v, 3);
  out[4 * 32 + lane] = __shfl_up_sync(FULL, v, 5, 8);
  out[5 * 32 + lane] = __shfl_up_sync(FULL, v, 1, 2);
  out[6 * 32 + lane] = __shfl_down_sync(FULL, v, 7);
  out[7 * 32 + lane] = __shfl_down_sync(FULL, v, 2, 16);
  out[8 * 32 + lane] = __shfl_down_sync(FULL, v, 1, 4);
  out[9 * 32 + lane] = __shfl_xor_sync(FULL, v, 21);
  out[10 * 32 + lane] = __shfl_xor_sync(FULL, v, 3, 8);
  out[11 * 32 + lane] = __shfl_xor_sync(FULL, v, 9, 8);
}

// The same by hand, with the predicate that tells whether the source lane was
// in range, 64-bit values in two halves, and a member mask under divergence.
extern "C" __global__ void shuffle_predicates(const int *in, int *out,
                                              unsigned long long *wide) {
  int lane = threadIdx.x, v = in[lane], d, p;
  asm volatile("{ .reg .pred q; shfl.sync.up.b32 %0|q, %2, 4, 0, -1; "
               "selp.s32 %1, 1, 0, q; }"
               : "=r"(d), "=r"(p)
               : "r"(v));
  out[0 * 32 + lane] = d * 2 + p;
  asm volatile("{ .reg .pred q; shfl.sync.down.b32 %0|q, %2, 6, 0x101f, -1; "
               "selp.s32 %1, 1, 0, q; }"
               : "=r"(d), "=r"(p)
               : "r"(v));
  out[1 * 32 + lane] = d * 2 + p;
  asm volatile("{ .reg .pred q; shfl.sync.bfly.b32 %0|q, %2, 17, 0x1f, -1; "
               "selp.s32 %1, 1, 0, q; }"
               : "=r"(d), "=r"(p)
               : "r"(v));
  out[2 * 32 + lane] = d * 2 + p;
  asm volatile("{ .reg .pred q; shfl.sync.idx.b32 %0|q, %2, 9, 0x1807, -1; "
               "selp.s32 %1, 1, 0, q; }"
               : "=r"(d), "=r"(p)
               : "r"(v));
  out[3 * 32 + lane] = d * 2 + p;
  wide[lane] =
      __shfl_xor_sync(FULL, (unsigned long long)v * 0x100000001ull, 13);
  out[4 * 32 + lane] = -1;
  // Every third lane reads from the next but one of them.
  if (lane % 3 == 1)
    out[4 * 32 + lane] = __shfl_sync(0x92492492u, v, (lane + 6) % 33);
}

extern "C" __global__ void votes(const int *in, unsigned *out) {
  int lane = threadIdx.x, v = in[lane];
  out[0 * 32 + lane] = __ballot_sync(FULL, v & 1);
  out[1 * 32 + lane] = __any_sync(FULL, v == in[17]);
  out[2 * 32 + lane] = __all_sync(FULL, v != in[0] + 1);
  int uniform;
  asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; "
               "vote.sync.uni.pred q, p, -1; selp.s32 %0, 1, 0, q; }"
               : "=r"(uniform)
               : "r"(v & 4));
  out[3 * 32 + lane] = uniform;
  if (v & 2) {
    unsigned mask = __activemask();
    out[4 * 32 + lane] = mask;
    out[5 * 32 + lane] = __ballot_sync(mask, v & 1);
  } else {
    out[4 * 32 + lane] = 0;
    out[5 * 32 + lane] = 0;
  }
  __syncwarp();
  int whole;
  out[6 * 32 + lane] = __match_any_sync(FULL, v & 7);
  out[7 * 32 + lane] =
      __match_all_sync(FULL, lane < 40 ? 5 : v, &whole) ^ whole;
  out[8 * 32 + lane] = __match_all_sync(FULL, v & 7, &whole) ^ whole;
  out[9 * 32 + lane] =
      __match_any_sync(FULL, (unsigned long long)(v & 3) << 33 | 1);
}

extern "C" __global__ void reduxes(const int *in, int *out) {
  int lane = threadIdx.x, v = in[lane];
  out[0 * 32 + lane] = __reduce_add_sync(FULL, v);
  out[1 * 32 + lane] = __reduce_min_sync(FULL, v);
  out[2 * 32 + lane] = __reduce_max_sync(FULL, v);
  out[3 * 32 + lane] = __reduce_min_sync(FULL, (unsigned)v);
  out[4 * 32 + lane] = __reduce_max_sync(FULL, (unsigned)v);
  out[5 * 32 + lane] = __reduce_and_sync(FULL, (unsigned)v | 0x1000u);
  out[6 * 32 + lane] = __reduce_or_sync(FULL, (unsigned)v & 0xff00ffu);
  out[7 * 32 + lane] = __reduce_xor_sync(FULL, (unsigned)v);
  // The two halves of a warp, each with its own mask.
  unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
  if (lane < 16)
    out[8 * 32 + lane] = __reduce_add_sync(half, v);
  else
    out[8 * 32 + lane] = __reduce_max_sync(half, v);
}

// Who is before me, by special registers.
extern "C" __global__ void lane_masks(unsigned *out) {
  unsigned lt, le, eq, ge, gt, lane;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned *p = out + threadIdx.x * 6;
  p[0] = lt;
  p[1] = le;
  p[2] = eq;
  p[3] = ge;
  p[4] = gt;
  p[5] = lane;
}

// Keeps the positive values of a warp in order: one atomic per warp, the place
// of each value from a ballot.
extern "C" __global__ void compact(const int *in, int *out, unsigned *count,
                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int v = i < n ? in[i] : 0;
  unsigned keep = __ballot_sync(FULL, v > 0);
  unsigned base = 0;
  if (lane == 0 && keep)
    base = atomicAdd(count, __popc(keep));
  base = __shfl_sync(FULL, base, 0);
  if (v > 0)
    out[base + __popc(keep & ((1u << lane) - 1))] = v;
}

#if __CUDA_ARCH__ >= 900
// Twenty-eight lanes choose one of them.
extern "C" __global__ void elect(unsigned *out) {
  unsigned leader = 77, chosen = 88;
  if (threadIdx.x % 32 >= 4)
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xfffffff0; "
                 "selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(chosen));
  out[2 * threadIdx.x] = leader;
  out[2 * threadIdx.x + 1] = chosen;
}
#endif
