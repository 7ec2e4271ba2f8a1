//===- RuntimeFixture.h - Kernels and arrays for tests ----------*- C++ -*-===//

#ifndef TILE_UNITTESTS_RUNTIME_RUNTIMEFIXTURE_H
#define TILE_UNITTESTS_RUNTIME_RUNTIMEFIXTURE_H

#include "HashData.h"
#include "tile/Runtime/Runtime.h"
#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace tile::runtime::test {

/// z = x * scale + bias, over tiles of 16 by 32.
inline const char *const kScaleKernel = R"(
!array = memref<?x?xf32, strided<[?, 1]>>
func.func @scale(%z: !array, %x: !array, %scale: f32, %bias: i32)
    attributes {tile.kernel} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %s = tensor.splat %scale : tensor<16x32xf32>
  %b = arith.sitofp %bias : i32 to f32
  %bs = tensor.splat %b : tensor<16x32xf32>
  %t = tile.load %x[%i, %j] : !array -> tensor<16x32xf32>
  %m = arith.mulf %t, %s : tensor<16x32xf32>
  %r = arith.addf %m, %bs : tensor<16x32xf32>
  tile.store %r, %z[%i, %j] : tensor<16x32xf32>, !array
  return
}
)";

/// z[M,N] = x[M,K] . y[N,K]^T over NVFP4, in tiles of BM by BN by BK.
inline const char *const kLinearKernel = R"(
!out    = memref<?x?xf32, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?xf8E4M3FN, strided<[?, 1]>>
func.func @linear(%z: !out {tile.extents = ["M", "N"]},
                  %x: !pairs {tile.extents = ["M", "K/2"]},
                  %y: !pairs {tile.extents = ["N", "K/2"]},
                  %xs: !scales {tile.extents = ["M", "K/16"]},
                  %ys: !scales {tile.extents = ["N", "K/16"]})
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${BK/2} : index
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %kp = memref.dim %x, %c1 : !pairs
  %steps = arith.ceildivui %kp, %bk : index
  %acc = scf.for %k = %c0 to %steps step %c1
      iter_args(%a = %zero) -> (tensor<${BM}x${BN}xf32>) {
    %xp = tile.load %x[%m, %k] : !pairs -> tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>
    %yp = tile.load %y[%n, %k] : !pairs -> tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2>
    %xu = tile.unpack %xp : tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BM}x${BK}xf4E2M1FN>
    %yu = tile.unpack %yp : tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BN}x${BK}xf4E2M1FN>
    %yt = tile.permute %yu [1, 0] : tensor<${BN}x${BK}xf4E2M1FN> -> tensor<${BK}x${BN}xf4E2M1FN>
    %sx = tile.load %xs[%m, %k] : !scales -> tensor<${BM}x${BK/16}xf8E4M3FN>
    %sl = tile.load %ys[%n, %k] : !scales -> tensor<${BN}x${BK/16}xf8E4M3FN>
    %sy = tile.permute %sl [1, 0] : tensor<${BN}x${BK/16}xf8E4M3FN> -> tensor<${BK/16}x${BN}xf8E4M3FN>
    %r = tile.mmaf_scaled %xu, %yt, %a, %sx, %sy
       : tensor<${BM}x${BK}xf4E2M1FN>, tensor<${BK}x${BN}xf4E2M1FN>, tensor<${BM}x${BN}xf32>,
         tensor<${BM}x${BK/16}xf8E4M3FN>, tensor<${BK/16}x${BN}xf8E4M3FN>
    scf.yield %r : tensor<${BM}x${BN}xf32>
  }
  tile.store %acc, %z[%m, %n] : tensor<${BM}x${BN}xf32>, !out
  return
}
)";

/// Never ends.
inline const char *const kEndlessKernel = R"(
func.func @endless(%z: memref<?xi32>) attributes {tile.kernel} {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<0> : tensor<16xi32>
  %r = scf.while (%v = %t) : (tensor<16xi32>) -> tensor<16xi32> {
    scf.condition(%true) %v : tensor<16xi32>
  } do {
  ^bb0(%v: tensor<16xi32>):
    %n = arith.addi %v, %v : tensor<16xi32>
    scf.yield %n : tensor<16xi32>
  }
  tile.store %r, %z[%c0] : tensor<16xi32>, memref<?xi32>
  return
}
)";

/// A folder that goes with the test, and compilers that use it.
class RuntimeTest : public ::testing::Test {
protected:
  RuntimeTest() {
    static int number = 0;
    folder = std::filesystem::temp_directory_path() /
             ("tile-runtime-test-" + std::to_string(::getpid()) + "-" +
              std::to_string(number++));
    std::filesystem::create_directories(folder);
  }
  ~RuntimeTest() override { std::filesystem::remove_all(folder); }

  Compiler makeCompiler() const {
    CacheOptions options;
    options.directory = (folder / "cache").string();
    return Compiler(options);
  }

  static CompileOptions
  getLinearOptions(const std::string &target = "sm_120a") {
    CompileOptions options;
    options.target = target;
    options.constants = {{"BM", "16"}, {"BN", "16"}, {"BK", "64"}};
    return options;
  }

  std::filesystem::path folder;
};

/// The message of a failed call, or "success".
template <typename T>
std::string getMessage(const Expected<T> &result) {
  return result ? "success" : result.error().str();
}

/// Arrays of an NVFP4 layer whose sums are exact: codes of all kinds, scales
/// that are small powers of two.
struct LinearData {
  LinearData(int64_t m, int64_t n, int64_t k, uint64_t seed = 1)
      : m(m), n(n), k(k), z(m * n, -1.0f), x(m * k / 2), y(n * k / 2),
        xs(m * ((k + 15) / 16)), ys(n * ((k + 15) / 16)) {
    HashSequence hash(seed);
    for (std::vector<uint8_t> *codes : {&x, &y})
      for (uint8_t &code : *codes)
        code = static_cast<uint8_t>(hash.next() >> 32);
    for (std::vector<uint8_t> *scales : {&xs, &ys})
      for (uint8_t &scale : *scales)
        scale = static_cast<uint8_t>(0x30 + 8 * hash.below(4)); // 0.5 … 4
  }

  std::vector<Argument> getArguments() {
    const int64_t blocks = (k + 15) / 16;
    return {TensorRef(z.data(), ElementType::F32, {m, n}),
            TensorRef(x.data(), ElementType::F4E2M1FNx2, {m, k / 2}),
            TensorRef(y.data(), ElementType::F4E2M1FNx2, {n, k / 2}),
            TensorRef(xs.data(), ElementType::F8E4M3FN, {m, blocks}),
            TensorRef(ys.data(), ElementType::F8E4M3FN, {n, blocks})};
  }
  Grid getGrid(int64_t bm = 16, int64_t bn = 16) const {
    return Grid((m + bm - 1) / bm, (n + bn - 1) / bn);
  }

  int64_t m, n, k;
  std::vector<float> z;
  std::vector<uint8_t> x, y, xs, ys;
};

} // namespace tile::runtime::test

#endif // TILE_UNITTESTS_RUNTIME_RUNTIMEFIXTURE_H
