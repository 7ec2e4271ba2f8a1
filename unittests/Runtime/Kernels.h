//===- Kernels.h - Small kernels to launch ----------------------*- C++ -*-===//

#ifndef TILE_UNITTESTS_RUNTIME_KERNELS_H
#define TILE_UNITTESTS_RUNTIME_KERNELS_H

#include "HashData.h"
#include "tile/Runtime/Array.h"
#include "tile/Runtime/Compiler.h"
#include "gtest/gtest.h"

#include <vector>

namespace tile::runtime::test {

/// z = x * alpha + y, where z and x have a row stride of their own.
constexpr const char *kAxpy = R"mlir(
func.func @axpy(%z: memref<?x8xf32, strided<[?, 1]>>,
                %x: memref<?x8xf32, strided<[?, 1]>>,
                %y: memref<?x8xf32>, %alpha: f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %a = tile.load %x[%i, %c0]
      : memref<?x8xf32, strided<[?, 1]>> -> tensor<2x8xf32>
  %b = tile.load %y[%i, %c0] : memref<?x8xf32> -> tensor<2x8xf32>
  %s = tensor.splat %alpha : tensor<2x8xf32>
  %p = arith.mulf %a, %s : tensor<2x8xf32>
  %r = arith.addf %p, %b : tensor<2x8xf32>
  tile.store %r, %z[%i, %c0]
      : tensor<2x8xf32>, memref<?x8xf32, strided<[?, 1]>>
  return
}
)mlir";

/// Divides by zero in program 1.
constexpr const char *kDivision = R"mlir(
func.func @division() attributes {tile.kernel} {
  %c1 = arith.constant 1 : index
  %p = tile.program_id 0
  %d = arith.subi %p, %c1 : index
  %q = arith.divui %c1, %d : index
  return
}
)mlir";

/// Compiles without a folder; a kernel that does not compile fails the test.
inline Kernel compileKernelText(const char *text, const std::string &target,
                                Assembler assembler = Assembler::Driver) {
  CacheOptions cache;
  cache.useDisk = false;
  CompileOptions options;
  options.target = target;
  options.assembler = assembler;
  // One code, so that tests can count.
  options.specialize = false;
  Expected<Kernel> kernel = Compiler(cache).compile(text, options);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().str();
    std::abort();
  }
  return *kernel;
}

/// Small integers, whose products and sums are exact.
inline std::vector<float> makeFloats(size_t number, uint64_t seed) {
  HashSequence sequence(seed);
  std::vector<float> numbers(number);
  for (float &value : numbers)
    value = static_cast<float>(sequence.below(2000)) - 1000;
  return numbers;
}

/// What `kAxpy` computes, all arrays without gaps.
inline std::vector<float> getAxpy(const std::vector<float> &x,
                                  const std::vector<float> &y, float alpha) {
  std::vector<float> z;
  for (size_t i = 0; i < x.size(); ++i)
    z.push_back(x[i] * alpha + y[i]);
  return z;
}

/// The arrays of a launch of `kAxpy` over 64 rows.
struct AxpyArrays {
  explicit AxpyArrays(const Device &device, uint64_t seed = 1)
      : x(makeFloats(512, seed)), y(makeFloats(512, seed + 1)),
        zs(*Buffer::allocate(device, ElementType::F32, {64, 8})),
        xs(*Buffer::copyOf(device, ElementType::F32, {64, 8}, x.data())),
        ys(*Buffer::copyOf(device, ElementType::F32, {64, 8}, y.data())) {}

  std::vector<float> read() {
    std::vector<float> z(512);
    EXPECT_TRUE(bool(zs.copyToHost(z.data())));
    return z;
  }

  std::vector<float> x, y;
  Buffer zs, xs, ys;
};

} // namespace tile::runtime::test

#endif // TILE_UNITTESTS_RUNTIME_KERNELS_H
