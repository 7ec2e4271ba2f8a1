// Conversions to FP4 of tiles with one value per lane or fewer, then packed,
// permuted or selected: the unused half of a `cvt` must not reach a neighbour.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_100a,sm_120f --grid=1

// RUN: %{run} --entry=reduced -DR=32 -DC=4 --num-warps=1 out:16 out:16 in:32x4
// RUN: %{run} --entry=reduced -DR=64 -DC=8 --num-warps=4 out:32 out:32 in:64x8
// RUN: %{run} --entry=reduced -DR=8 -DC=32 --num-warps=2 out:4 out:4 in:8x32
// RUN: %{run} --entry=reduced -DR=2 -DC=2 --num-warps=1 out:1 out:1 in:2x2
// RUN: %{run} --entry=reduced -DR=256 -DC=2 --num-warps=8 --schedule=3 out:128 out:128 in:256x2

func.func @reduced(%z : memref<${R/2}xi8>, %w : memref<${R/2}x!tile.f4E2M1FNx2>, %x : memref<${R}x${C}xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<${R}x${C}xf32> -> tensor<${R}x${C}xf32>
  %a = tile.reduce max %t [1] : tensor<${R}x${C}xf32> -> tensor<${R}xf32>
  %b = tile.reduce add %t [1] : tensor<${R}x${C}xf32> -> tensor<${R}xf32>
  %c = tile.ftof %a : tensor<${R}xf32> -> tensor<${R}xf4E2M1FN>
  %d = tile.ftof %b : tensor<${R}xf32> -> tensor<${R}xf4E2M1FN>
  %p = tile.pack %d : tensor<${R}xf4E2M1FN> -> tensor<${R/2}xi8>
  tile.store %p, %z[%c0] : tensor<${R/2}xi8>, memref<${R/2}xi8>
  // In reverse order of halves, where the sum is negative.
  %e = tile.reshape %c : tensor<${R}xf4E2M1FN> -> tensor<2x${R/2}xf4E2M1FN>
  %f = tile.permute %e [1, 0] : tensor<2x${R/2}xf4E2M1FN> -> tensor<${R/2}x2xf4E2M1FN>
  %g = tile.reshape %f : tensor<${R/2}x2xf4E2M1FN> -> tensor<${R}xf4E2M1FN>
  %zero = arith.constant dense<0.0> : tensor<${R}xf32>
  %m = arith.cmpf olt, %b, %zero : tensor<${R}xf32>
  %h = arith.select %m, %g, %d : tensor<${R}xi1>, tensor<${R}xf4E2M1FN>
  %q = tile.pack %h : tensor<${R}xf4E2M1FN> -> tensor<${R/2}x!tile.f4E2M1FNx2>
  tile.store %q, %w[%c0] : tensor<${R/2}x!tile.f4E2M1FNx2>, memref<${R/2}x!tile.f4E2M1FNx2>
  return
}
