// Functions that are called: by name, by pointer, through a table of virtual
// functions, and by themselves.
//
// make: sm_80
// make: sm_120

__device__ __noinline__ int scale(int v, int by) { return v * by + 1; }

struct Pair {
  int first;
  long long second;
  float third[3];
};

// Structs as arguments and results go through bytes of .param.
__device__ __noinline__ Pair turn(Pair p, short by) {
  Pair r;
  r.first = static_cast<int>(p.second) - by;
  r.second = static_cast<long long>(p.first) << 20;
  r.third[0] = p.third[2];
  r.third[1] = p.third[0];
  r.third[2] = p.third[1] * by;
  return r;
}

__device__ __noinline__ void divide(int v, int by, int *quotient, int &rest) {
  *quotient = v / by;
  rest = v % by;
}

extern "C" __global__ void direct(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];
  int r = v > 0 ? scale(v, 3) : scale(scale(v, 5), v);
  Pair p{v, 7ll * v, {v * 1.0f, v * 2.0f, v * 3.0f}};
  for (int k = 0; k < v % 4; ++k)
    p = turn(p, static_cast<short>(k + 2));
  int quotient, rest;
  divide(v, 9, &quotient, rest);
  out[i * 6 + 0] = r;
  out[i * 6 + 1] = p.first;
  out[i * 6 + 2] = static_cast<int>(p.second >> 4);
  out[i * 6 + 3] =
      static_cast<int>(p.third[0] + 2 * p.third[1] + 4 * p.third[2]);
  out[i * 6 + 4] = quotient;
  out[i * 6 + 5] = rest;
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }

// An array of each level of the recursion in its own frame.
__device__ __noinline__ int permutations(int *taken, int depth, int n) {
  if (depth == n)
    return 1;
  int mine[6];
  for (int k = 0; k < n; ++k)
    mine[k] = taken[k];
  int count = 0;
  for (int k = 0; k < n; ++k)
    if (!mine[k] && (k != depth)) {
      mine[k] = 1;
      count += permutations(mine, depth + 1, n);
      mine[k] = 0;
    }
  return count;
}

// Each lane recurses as deep as its value says.
extern "C" __global__ void recursive(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];
  int taken[6] = {};
  out[i * 3 + 0] = fibonacci(v % 11);
  out[i * 3 + 1] = even(v % 40);
  out[i * 3 + 2] = permutations(taken, 0, v % 6);
}

using Function = int (*)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int power(int a, int b) {
  int r = 1;
  for (int k = 0; k < (b & 7); ++k)
    r *= a;
  return r;
}
__device__ __noinline__ int warp_max(int a, int b) {
  // Only the lanes that chose this function are here.
  unsigned mask = __activemask();
  return __reduce_max_sync(mask, a) + b;
}
__device__ Function const table[4] = {add, subtract, power, warp_max};

extern "C" __global__ void pointers(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];
  Function f = table[v & 3];
  out[i] = f(v, i % 32);
}

struct Shape {
  __device__ virtual int area(int scale) const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int side) : side(side) {}
  __device__ int area(int scale) const override { return side * side * scale; }
};
struct Box : Shape {
  int width, height;
  __device__ Box(int width, int height) : width(width), height(height) {}
  __device__ int area(int scale) const override {
    return width * height * scale - 1;
  }
};

extern "C" __global__ void virtuals(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];
  Square square(v);
  Box box(v, v + 3);
  const Shape *shape = v % 3 ? static_cast<Shape *>(&square) : &box;
  const Shape *volatile hidden = shape;
  out[i] = hidden->area(i + 1);
}
