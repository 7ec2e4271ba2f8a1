// Element-wise operations on tiles of two layouts: through registers, shuffles and
// shared memory.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1

// RUN: %{run} --entry=mixed -DT=f32 --num-warps=1 out:32x32 in:32x32 in:32x32 --remarks 2>&1 | FileCheck %s
// RUN: %{run} --entry=mixed -DT=bf16 --num-warps=2 out:32x32 in:32x32 in:32x32
// RUN: %{run} --entry=mixed -DT=f16 --num-warps=16 --schedule=8 out:32x32 in:32x32 in:32x32
// RUN: %{run} --entry=shuffled -DT=f32 --num-warps=1 out:32 out:32 in:32x4
// RUN: %{run} --entry=shuffled -DT=bf16 --num-warps=2 out:32 out:32 in:32x4
// CHECK: Function=mixed | through="shared memory", tile=tensor<32x32xf32>
// CHECK: Function=mixed | through=registers, tile=tensor<32xf32>
// CHECK: Function=mixed | through=shuffles, tile=tensor<32xf32>

// A loaded tile, its transpose, a reduction of each, and an iota meet.
func.func @mixed(%z : memref<32x32x${T}>, %x : memref<32x32x${T}>, %y : memref<32x32x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : memref<32x32x${T}> -> tensor<32x32x${T}>
  %b = tile.load %y[%c0, %c0] : memref<32x32x${T}> -> tensor<32x32x${T}>
  %bt = tile.permute %b [1, 0] : tensor<32x32x${T}> -> tensor<32x32x${T}>
  %s = arith.addf %bt, %a : tensor<32x32x${T}>
  %m = tile.reduce max %a [0] : tensor<32x32x${T}> -> tensor<32x${T}>
  %n = tile.reduce min %b [0] : tensor<32x32x${T}> -> tensor<32x${T}>
  %m0 = tile.reshape %m : tensor<32x${T}> -> tensor<32x1x${T}>
  %n0 = tile.reshape %n : tensor<32x${T}> -> tensor<1x32x${T}>
  %m1 = tile.broadcast %m0 : tensor<32x1x${T}> -> tensor<32x32x${T}>
  %n1 = tile.broadcast %n0 : tensor<1x32x${T}> -> tensor<32x32x${T}>
  %u = arith.subf %m1, %s : tensor<32x32x${T}>
  %v = arith.mulf %n1, %u : tensor<32x32x${T}>
  %i = tile.iota : tensor<32xi32>
  %f = arith.sitofp %i : tensor<32xi32> to tensor<32x${T}>
  %f0 = tile.reshape %f : tensor<32x${T}> -> tensor<32x1x${T}>
  %f1 = tile.broadcast %f0 : tensor<32x1x${T}> -> tensor<32x32x${T}>
  %w = arith.addf %v, %f1 : tensor<32x32x${T}>
  tile.store %w, %z[%c0, %c0] : tensor<32x32x${T}>, memref<32x32x${T}>
  return
}

// Two reductions of one tile: their results are in different lanes.
func.func @shuffled(%z : memref<32x${T}>, %w : memref<32x${T}>, %x : memref<32x4x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : memref<32x4x${T}> -> tensor<32x4x${T}>
  %r = tile.reduce add %a [1] : tensor<32x4x${T}> -> tensor<32x${T}>
  %b = tile.reshape %a : tensor<32x4x${T}> -> tensor<4x32x${T}>
  %s = tile.reduce max %b [0] : tensor<4x32x${T}> -> tensor<32x${T}>
  %t = arith.subf %r, %s : tensor<32x${T}>
  tile.store %t, %z[%c0] : tensor<32x${T}>, memref<32x${T}>
  %u = tile.reshape %t : tensor<32x${T}> -> tensor<8x4x${T}>
  %v = tile.permute %u [1, 0] : tensor<8x4x${T}> -> tensor<4x8x${T}>
  %y = tile.reshape %v : tensor<4x8x${T}> -> tensor<32x${T}>
  tile.store %y, %w[%c0] : tensor<32x${T}>, memref<32x${T}>
  return
}
