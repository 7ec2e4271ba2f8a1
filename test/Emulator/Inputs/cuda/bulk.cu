// Bulk copies, transaction barriers and the rest of what sm_90 adds.
//
// make: sm_90
// make: sm_120

#include <cuda_fp16.h>

__device__ __forceinline__ unsigned shared(const void *p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void init(unsigned long long *barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(barrier)),
               "r"(count)
               : "memory");
}

__device__ __forceinline__ void wait(unsigned long long *barrier,
                                     unsigned parity) {
  unsigned done;
  do
    asm volatile("{ .reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared(barrier)), "r"(parity)
                 : "memory");
  while (!done);
}

// Warp 0 fetches chunks of 256 words into three buffers, warps 1 to 4 double
// them; full and empty barriers, phases that flip after each round of buffers.
extern "C" __global__ void pipeline(const int *in, int *out, int chunks) {
  const int stages = 3, words = 256;
  __shared__ __align__(128) int buffer[stages][words];
  __shared__ unsigned long long full[stages], empty[stages];
  int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < stages; ++s) {
      init(full + s, 1);
      init(empty + s, 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int *source = in + blockIdx.x * chunks * words;
  int *target = out + blockIdx.x * chunks * words;
  if (t < 32) {
    if (t == 0)
      for (int c = 0; c < chunks; ++c) {
        int s = c % stages, round = c / stages;
        wait(empty + s, (round & 1) ^ 1);
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                shared(full + s)),
            "r"(words * 4)
            : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
            "bytes [%0], [%1], %2, [%3];" ::"r"(shared(buffer[s])),
            "l"(source + c * words), "r"(words * 4), "r"(shared(full + s))
            : "memory");
      }
  } else {
    int u = t - 32;
    for (int c = 0; c < chunks; ++c) {
      int s = c % stages, round = c / stages;
      wait(full + s, round & 1);
      for (int i = u; i < words; i += 128)
        target[c * words + i] = buffer[s][words - 1 - i] * 2 + c;
      __syncwarp();
      if (u % 32 == 0)
        asm volatile(
            "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(empty + s))
            : "memory");
    }
  }
}

// Shared memory to global memory in bulk, after a fence for the other proxy.
extern "C" __global__ void store(const int *in, int *out) {
  __shared__ __align__(16) int tile[128];
  int t = threadIdx.x, base = blockIdx.x * 128;
  tile[t ^ 5] = in[base + t] + 11;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    for (int half = 0; half < 2; ++half) {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
              out + base + half * 64),
          "r"(shared(tile + half * 64)), "r"(256)
          : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// Four 8x8 matrices of 16 bits from registers to rows, straight and transposed.
extern "C" __global__ void store_matrices(const unsigned *in, uint4 *out) {
  __shared__ __align__(16) uint4 rows[2][32];
  int lane = threadIdx.x;
  unsigned a = in[lane], b = in[32 + lane], c = in[64 + lane],
           d = in[96 + lane];
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
          shared(&rows[0][lane ^ 1])),
      "r"(a), "r"(b), "r"(c), "r"(d)
      : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, "
               "%3, %4};" ::"r"(shared(&rows[1][lane])),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
  __syncwarp();
  out[lane] = rows[0][lane];
  out[32 + lane] = rows[1][lane];
}

// One and two matrices: addresses come from lanes 0 to 7, or 0 to 15, alone.
extern "C" __global__ void store_few_matrices(const unsigned *in, uint4 *out) {
  __shared__ __align__(16) uint4 rows[48];
  int lane = threadIdx.x;
  unsigned a = in[lane], b = in[32 + lane], nowhere = 0xfffffff1;
  unsigned eight = lane < 8 ? shared(rows + (lane ^ 3)) : nowhere;
  unsigned sixteen = lane < 16 ? shared(rows + 16 + (lane ^ 5)) : nowhere;
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(eight),
      "r"(a)
      : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(eight +
                                                                         128),
      "r"(b)
      : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(sixteen),
      "r"(a), "r"(b)
      : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(
          sixteen + 256),
      "r"(a), "r"(b)
      : "memory");
  __syncwarp();
  for (int i = lane; i < 48; i += 32)
    out[i] = rows[i];
}

// A copy to the blocks of a mask, here one, then one within shared memory.
extern "C" __global__ void cluster_copies(const int *in, int *out) {
  __shared__ __align__(128) int first[64], second[64];
  __shared__ unsigned long long barrier;
  int t = threadIdx.x, base = blockIdx.x * 64;
  if (t == 0) {
    init(&barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    if (t == 0) {
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
              shared(&barrier)),
          "r"(256)
          : "memory");
      if (round == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_"
            "tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                shared(first)),
            "l"(in + base), "r"(256), "r"(shared(&barrier)),
            "h"(static_cast<unsigned short>(1))
            : "memory");
      else
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
            "complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(second)),
            "r"(shared(first)), "r"(256), "r"(shared(&barrier))
            : "memory");
    }
    wait(&barrier, round);
    __syncthreads();
  }
  out[base + t] = second[63 - t] * 3 + first[t];
}

// Each block adds its words to those of the others, without a register.
extern "C" __global__ void reduce_bulk(const int *in, int *sum, int *least,
                                       __half *halves) {
  __shared__ __align__(16) int words[64];
  __shared__ __align__(16) __half small[64];
  int t = threadIdx.x, v = in[blockIdx.x * 64 + t];
  words[t] = v;
  small[t] = __int2half_rn(v & 7);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 "
                 "[%0], [%1], %2;" ::"l"(sum),
                 "r"(shared(words)), "r"(256)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 "
                 "[%0], [%1], %2;" ::"l"(least),
                 "r"(shared(words)), "r"(256)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz."
                 "f16 [%0], [%1], %2;" ::"l"(halves),
                 "r"(shared(small)), "r"(128)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// What a cluster of one block can say about itself.
extern "C" __global__ void cluster_of_one(const int *in, int *out) {
  __shared__ int box[64];
  int t = threadIdx.x;
  unsigned rank, count, remote;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  box[t] = in[t];
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared(box + (t ^ 33))), "r"(rank));
  int v;
  asm volatile("ld.shared::cluster.s32 %0, [%1];"
               : "=r"(v)
               : "r"(remote)
               : "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  out[t] = v * 10 + rank + count;
}
