// Reductions of bf16, f16 and f32 over both dimensions: sums round once, in f32;
// the largest and smallest keep NaN and order the zeros.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=floats -DT=f32 -DR=32 -DC=64 -DB=4 --grid=1 --num-warps=4 out:3x64 out:3x32 in:32x64
// RUN: %{run} --entry=floats -DT=f16 -DR=64 -DC=8 -DB=2 --grid=1 --num-warps=1 out:3x8 out:3x64 in:64x8
// RUN: %{run} --entry=floats -DT=bf16 -DR=8 -DC=128 -DB=2 --grid=1 --num-warps=16 out:3x128 out:3x8 in:8x128
// RUN: %{run} --entry=rounded -DT=f16 -DR=4 -DC=256 -DB=2 --grid=1 --num-warps=2 --random --absolute=0.05 out:4 in:4x256
// RUN: %{run} --entry=rounded -DT=f32 -DR=4 -DC=256 -DB=4 --grid=1 --num-warps=4 --random --absolute=0.0005 out:4 in:4x256

// Any bits: NaN, infinities, zeros of both signs.
// RUN: %{run} --entry=any -DT=f32 -DR=16 -DC=32 -DB=4 --grid=1 --num-warps=2 out:2x32 out:2x16 in:16x128
// RUN: %{run} --entry=any -DT=f16 -DR=32 -DC=64 -DB=2 --grid=1 --num-warps=4 out:2x64 out:2x32 in:32x128
// RUN: %{run} --entry=any -DT=bf16 -DR=64 -DC=2 -DB=2 --grid=1 --num-warps=1 out:2x2 out:2x64 in:64x4
// RUN: %{run} --entry=zeros -DT=f32 -DR=16 -DC=4 -DB=4 --grid=1 out:16xi8 in:4x16:max=2

!in = memref<${R}x${C}x${T}>
!tile = tensor<${R}x${C}x${T}>
!rows = tensor<${R}x${T}>
!columns = tensor<${C}x${T}>

func.func @floats(%z : memref<3x${C}x${T}>, %w : memref<3x${R}x${T}>, %x : !in) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !in -> !tile
  %i0 = arith.constant 0 : index
  %a0 = tile.reduce add %t [0] : !tile -> !columns
  %b0 = tile.reduce add %t [1] : !tile -> !rows
  %p0 = tile.reshape %a0 : !columns -> tensor<1x${C}x${T}>
  %q0 = tile.reshape %b0 : !rows -> tensor<1x${R}x${T}>
  tile.store %p0, %z[%i0, %c0] : tensor<1x${C}x${T}>, memref<3x${C}x${T}>
  tile.store %q0, %w[%i0, %c0] : tensor<1x${R}x${T}>, memref<3x${R}x${T}>
  %i1 = arith.constant 1 : index
  %a1 = tile.reduce max %t [0] : !tile -> !columns
  %b1 = tile.reduce max %t [1] : !tile -> !rows
  %p1 = tile.reshape %a1 : !columns -> tensor<1x${C}x${T}>
  %q1 = tile.reshape %b1 : !rows -> tensor<1x${R}x${T}>
  tile.store %p1, %z[%i1, %c0] : tensor<1x${C}x${T}>, memref<3x${C}x${T}>
  tile.store %q1, %w[%i1, %c0] : tensor<1x${R}x${T}>, memref<3x${R}x${T}>
  %i2 = arith.constant 2 : index
  %a2 = tile.reduce min %t [0] : !tile -> !columns
  %b2 = tile.reduce min %t [1] : !tile -> !rows
  %p2 = tile.reshape %a2 : !columns -> tensor<1x${C}x${T}>
  %q2 = tile.reshape %b2 : !rows -> tensor<1x${R}x${T}>
  tile.store %p2, %z[%i2, %c0] : tensor<1x${C}x${T}>, memref<3x${C}x${T}>
  tile.store %q2, %w[%i2, %c0] : tensor<1x${R}x${T}>, memref<3x${R}x${T}>
  return
}

func.func @any(%z : memref<2x${C}x${T}>, %w : memref<2x${R}x${T}>, %x : memref<${R}x${C*B}xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bytes = tile.load %x[%c0, %c0] : memref<${R}x${C*B}xi8> -> tensor<${R}x${C*B}xi8>
  %t = tile.unpack %bytes : tensor<${R}x${C*B}xi8> -> !tile
  %a0 = tile.reduce max %t [0] : !tile -> !columns
  %p0 = tile.reshape %a0 : !columns -> tensor<1x${C}x${T}>
  tile.store %p0, %z[%c0, %c0] : tensor<1x${C}x${T}>, memref<2x${C}x${T}>
  %b0 = tile.reduce max %t [1] : !tile -> !rows
  %q0 = tile.reshape %b0 : !rows -> tensor<1x${R}x${T}>
  tile.store %q0, %w[%c0, %c0] : tensor<1x${R}x${T}>, memref<2x${R}x${T}>
  %a1 = tile.reduce min %t [0] : !tile -> !columns
  %p1 = tile.reshape %a1 : !columns -> tensor<1x${C}x${T}>
  tile.store %p1, %z[%c1, %c0] : tensor<1x${C}x${T}>, memref<2x${C}x${T}>
  %b1 = tile.reduce min %t [1] : !tile -> !rows
  %q1 = tile.reshape %b1 : !rows -> tensor<1x${R}x${T}>
  tile.store %q1, %w[%c1, %c0] : tensor<1x${R}x${T}>, memref<2x${R}x${T}>
  return
}

// Zeros of both signs: the larger is +0, whatever comes first. Bits, because
// the zeros compare equal.
func.func @zeros(%z : memref<16xi8>, %x : memref<4x16xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<4x16xi8> -> tensor<4x16xi8>
  %one = arith.constant dense<1> : tensor<4x16xi8>
  %m = arith.cmpi eq, %t, %one : tensor<4x16xi8>
  %plus = arith.constant dense<0.0> : tensor<4x16xf16>
  %minus = arith.constant dense<-0.0> : tensor<4x16xf16>
  %s = arith.select %m, %plus, %minus : tensor<4x16xi1>, tensor<4x16xf16>
  %a = tile.reduce max %s [0] : tensor<4x16xf16> -> tensor<16xf16>
  %b = tile.reduce min %s [0] : tensor<4x16xf16> -> tensor<16xf16>
  %a16 = arith.bitcast %a : tensor<16xf16> to tensor<16xi16>
  %b16 = arith.bitcast %b : tensor<16xf16> to tensor<16xi16>
  %eight = arith.constant dense<8> : tensor<16xi16>
  %four = arith.constant dense<4> : tensor<16xi16>
  %a8 = arith.shrui %a16, %eight : tensor<16xi16>
  %b4 = arith.shrui %b16, %four : tensor<16xi16>
  %ab = arith.xori %a8, %b4 : tensor<16xi16>
  %r = arith.trunci %ab : tensor<16xi16> to tensor<16xi8>
  tile.store %r, %z[%c0] : tensor<16xi8>, memref<16xi8>
  return
}

// Any order of a sum is within the bound.
func.func @rounded(%z : memref<${R}x${T}>, %x : !in) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !in -> !tile
  %b = tile.reduce add %t [1] : !tile -> !rows
  tile.store %b, %z[%c0] : !rows, memref<${R}x${T}>
  return
}
