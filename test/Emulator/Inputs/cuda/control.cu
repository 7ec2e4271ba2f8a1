// Threads of one warp that part and meet again in every way that C++ has.
//
// make: sm_80
// make: sm_120

extern "C" __global__ void nested(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i], r = 0;
  if (v & 1) {
    if (v & 2) {
      r = v * 3;
      if (v & 4)
        r -= 1000;
      else
        r += in[(i + 1) % n];
    } else if (v & 8) {
      r = -v;
    }
  } else {
    if ((v & 2) && in[(i + 3) % n] > 50)
      r = v + 7;
    else if (v > 100 || (v & 8))
      r = v - 7;
  }
  out[i] = r;
}

// As many steps as the value needs.
extern "C" __global__ void collatz(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long v = in[i] + 1;
  int steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  out[i] = steps;
}

// Two loops with break and continue; some threads return from the middle.
extern "C" __global__ void leave(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i], r = 0;
  out[i] = -1;
#pragma unroll 1
  for (int a = 0; a < 10; ++a) {
    if ((v + a) % 3 == 0)
      continue;
#pragma unroll 1
    for (int b = a; b < 20; ++b) {
      if ((v ^ b) % 7 == 0)
        break;
      if (v % 11 == 5 && b == 12)
        return;
      r += b * a + 1;
      if (r > 700)
        goto full;
    }
    r ^= a;
  }
full:
  // All that are left meet here.
  out[i] = r;
}

// Enough dense cases for a table of branch targets.
extern "C" __global__ void dispatch(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i], r = v;
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    switch (r & 15) {
    case 0:
      r = r * 5 + 1;
      break;
    case 1:
      r = r - 77;
      // fall through
    case 2:
      r = r ^ 0x1234;
      break;
    case 3:
      r = __popc(r);
      break;
    case 4:
      r = r >> 3;
      break;
    case 5:
      r = atomicAdd(&out[n], 1) * 0 + 99;
      break;
    case 6:
      r = -r;
      break;
    case 7:
      r = r * r;
      break;
    case 8:
      r = in[(r >> 4 & 0xff) % n];
      break;
    case 9:
      r = r + round;
      break;
    case 10:
      r = __clz(r) * 37;
      break;
    case 11:
      r = __brev(r);
      break;
    case 12:
      r = r % 1000;
      break;
    default:
      r = r / 3;
    }
  }
  out[i] = r;
}

// nvcc prefers comparisons; this is an indexed branch by hand.
extern "C" __global__ void branch_table(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i], r;
  asm volatile("{ .reg .u32 i;\n"
               "and.b32 i, %1, 3;\n"
               "targets: .branchtargets zero, one, zero, three;\n"
               "brx.idx i, targets;\n"
               "zero: mul.lo.s32 %0, %1, 10; bra end;\n"
               "one: add.s32 %0, %1, 1000; bra end;\n"
               "three: sub.s32 %0, 0, %1;\n"
               "end: }"
               : "=&r"(r)
               : "r"(v));
  out[i] = r;
}

// One lock for all: within a warp, the holder must be able to go on while its
// neighbours spin.
extern "C" __global__ void spin_lock(int *lock, int *counter, int *order,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      int place = *static_cast<volatile int *>(counter);
      order[place] = i;
      *static_cast<volatile int *>(counter) = place + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// The lock taken in a loop of its own, released after it: lanes that spin wait
// for one that has left the loop.
extern "C" __global__ void spin_lock_outside(int *lock, int *sum, const int *in,
                                             int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  while (atomicCAS(lock, 0, 1) != 0)
    __nanosleep(20);
  __threadfence();
  *static_cast<volatile int *>(sum) =
      *static_cast<volatile int *>(sum) * 1 + in[i];
  __threadfence();
  atomicExch(lock, 0);
}

// The even lanes wait for a word that the odd lanes of their warp write later.
extern "C" __global__ void hand_over(const int *in, int *out) {
  __shared__ volatile int box[32];
  int lane = threadIdx.x;
  box[lane] = -1;
  __syncwarp();
  if (lane % 2 == 0) {
    int v;
    while ((v = box[lane]) == -1)
      ;
    out[lane] = v * 2;
  } else {
    box[lane - 1] = in[lane];
    out[lane] = 1;
  }
}

extern "C" __global__ void mandelbrot(int *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  double cr = -2.0 + x * 0.0625, ci = -1.0 + y * 0.0625, zr = 0.0, zi = 0.0;
  int k = 0;
  for (; k < 64; ++k) {
    double a = __dmul_rn(zr, zr), b = __dmul_rn(zi, zi);
    if (__dadd_rn(a, b) > 4.0)
      break;
    double t = __dmul_rn(zr, zi);
    zr = __dadd_rn(__dsub_rn(a, b), cr);
    zi = __dadd_rn(__dadd_rn(t, t), ci);
  }
  out[y * width + x] = k;
}

// Shell sort of a short array in local memory.
extern "C" __global__ void sort_rows(const int *in, int *out) {
  int v[24];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 24; ++k)
    v[k] = in[i * 24 + k];
#pragma unroll 1
  for (int gap = 10; gap > 0; gap = gap * 4 / 10)
#pragma unroll 1
    for (int k = gap; k < 24; ++k) {
      int x = v[k], j = k;
      while (j >= gap && v[j - gap] > x) {
        v[j] = v[j - gap];
        j -= gap;
      }
      v[j] = x;
    }
  for (int k = 0; k < 24; ++k)
    out[i * 24 + k] = v[k];
}
