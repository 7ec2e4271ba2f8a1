// Doubles an array: on a GPU where there is one, else on the CPU.
#include "tile/Runtime/Runtime.h"
#include <cstdio>
#include <numeric>
#include <vector>
using namespace tile::runtime;

static const char text[] = R"mlir(
func.func @scale(%z : memref<?x?xf32>, %x : memref<?x?xf32>, %factor : f32)
    attributes {tile.kernel} {
  %i = tile.program_id 0
  %zero = arith.constant 0 : index
  %tile = tile.load %x[%i, %zero] : memref<?x?xf32> -> tensor<16x64xf32>
  %factors = tensor.splat %factor : tensor<16x64xf32>
  %scaled = arith.mulf %tile, %factors : tensor<16x64xf32>
  tile.store %scaled, %z[%i, %zero] : tensor<16x64xf32>, memref<?x?xf32>
  return
})mlir";

int main() {
  Device device = Device::best();
  CompileOptions options;
  options.device = device;
  Expected<Kernel> kernel = Compiler::getDefault().compile(text, options);
  if (!kernel)
    return std::puts(kernel.error().str().c_str()), 1;

  std::vector<float> x(40 * 50), z(40 * 50);
  std::iota(x.begin(), x.end(), 0.0f);
  LaunchOptions copying; // to a GPU and back
  copying.copyHostArrays = true;
  TensorRef zArray(z.data(), ElementType::F32, {40, 50});
  TensorRef xArray(x.data(), ElementType::F32, {40, 50});
  // Three tiles of 16 rows cover 40; what lies outside is left alone.
  Status done = kernel->launchList(device, 3, {zArray, xArray, 2.0f}, copying);
  if (!done)
    return std::puts(done.error().str().c_str()), 1;
  std::printf("%g on %s\n", z.back(), device.getName().c_str());
}
