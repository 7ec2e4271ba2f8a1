// Every kind of integer reduction over both dimensions and in the middle: within
// registers, by shuffles, and of tiles larger than a warp.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=integers -DT=i8 -DR=16 -DC=64 --grid=1 --num-warps=1 out:7x64 out:7x16 in:16x64
// RUN: %{run} --entry=integers -DT=i16 -DR=64 -DC=4 --grid=1 --num-warps=4 out:7x4 out:7x64 in:64x4
// RUN: %{run} --entry=integers -DT=i32 -DR=1 -DC=128 --grid=1 --num-warps=8 out:7x128 out:7x1 in:1x128
// RUN: %{run} --entry=integers -DT=i64 -DR=32 -DC=32 --grid=1 --num-warps=2 out:7x32 out:7x32 in:32x32
// RUN: %{run} --entry=scalar -DT=i32 -DR=64 -DC=64 --grid=1 --num-warps=8 out:4 in:64x64
// RUN: %{run} --entry=middle -DT=i16 -DR=8 -DC=4 --grid=1 --num-warps=4 out:2x4 in:2x8x16x4
// RUN: %{run} --entry=flags -DT=i8 -DR=32 -DC=16 --grid=1 --num-warps=2 out:3x16 in:32x16:max=19

!in = memref<${R}x${C}x${T}>
!tile = tensor<${R}x${C}x${T}>
!rows = tensor<${R}x${T}>
!columns = tensor<${C}x${T}>

func.func @integers(%z : memref<7x${C}x${T}>, %w : memref<7x${R}x${T}>, %x : !in) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !in -> !tile
  %i0 = arith.constant 0 : index
  %a0 = tile.reduce add %t [0] : !tile -> !columns
  %b0 = tile.reduce add %t [1] : !tile -> !rows
  %p0 = tile.reshape %a0 : !columns -> tensor<1x${C}x${T}>
  %q0 = tile.reshape %b0 : !rows -> tensor<1x${R}x${T}>
  tile.store %p0, %z[%i0, %c0] : tensor<1x${C}x${T}>, memref<7x${C}x${T}>
  tile.store %q0, %w[%i0, %c0] : tensor<1x${R}x${T}>, memref<7x${R}x${T}>
  %i1 = arith.constant 1 : index
  %a1 = tile.reduce mul %t [0] : !tile -> !columns
  %b1 = tile.reduce mul %t [1] : !tile -> !rows
  %p1 = tile.reshape %a1 : !columns -> tensor<1x${C}x${T}>
  %q1 = tile.reshape %b1 : !rows -> tensor<1x${R}x${T}>
  tile.store %p1, %z[%i1, %c0] : tensor<1x${C}x${T}>, memref<7x${C}x${T}>
  tile.store %q1, %w[%i1, %c0] : tensor<1x${R}x${T}>, memref<7x${R}x${T}>
  %i2 = arith.constant 2 : index
  %a2 = tile.reduce max %t [0] : !tile -> !columns
  %b2 = tile.reduce max %t [1] : !tile -> !rows
  %p2 = tile.reshape %a2 : !columns -> tensor<1x${C}x${T}>
  %q2 = tile.reshape %b2 : !rows -> tensor<1x${R}x${T}>
  tile.store %p2, %z[%i2, %c0] : tensor<1x${C}x${T}>, memref<7x${C}x${T}>
  tile.store %q2, %w[%i2, %c0] : tensor<1x${R}x${T}>, memref<7x${R}x${T}>
  %i3 = arith.constant 3 : index
  %a3 = tile.reduce min %t [0] : !tile -> !columns
  %b3 = tile.reduce min %t [1] : !tile -> !rows
  %p3 = tile.reshape %a3 : !columns -> tensor<1x${C}x${T}>
  %q3 = tile.reshape %b3 : !rows -> tensor<1x${R}x${T}>
  tile.store %p3, %z[%i3, %c0] : tensor<1x${C}x${T}>, memref<7x${C}x${T}>
  tile.store %q3, %w[%i3, %c0] : tensor<1x${R}x${T}>, memref<7x${R}x${T}>
  %i4 = arith.constant 4 : index
  %a4 = tile.reduce and %t [0] : !tile -> !columns
  %b4 = tile.reduce and %t [1] : !tile -> !rows
  %p4 = tile.reshape %a4 : !columns -> tensor<1x${C}x${T}>
  %q4 = tile.reshape %b4 : !rows -> tensor<1x${R}x${T}>
  tile.store %p4, %z[%i4, %c0] : tensor<1x${C}x${T}>, memref<7x${C}x${T}>
  tile.store %q4, %w[%i4, %c0] : tensor<1x${R}x${T}>, memref<7x${R}x${T}>
  %i5 = arith.constant 5 : index
  %a5 = tile.reduce or %t [0] : !tile -> !columns
  %b5 = tile.reduce or %t [1] : !tile -> !rows
  %p5 = tile.reshape %a5 : !columns -> tensor<1x${C}x${T}>
  %q5 = tile.reshape %b5 : !rows -> tensor<1x${R}x${T}>
  tile.store %p5, %z[%i5, %c0] : tensor<1x${C}x${T}>, memref<7x${C}x${T}>
  tile.store %q5, %w[%i5, %c0] : tensor<1x${R}x${T}>, memref<7x${R}x${T}>
  %i6 = arith.constant 6 : index
  %a6 = tile.reduce xor %t [0] : !tile -> !columns
  %b6 = tile.reduce xor %t [1] : !tile -> !rows
  %p6 = tile.reshape %a6 : !columns -> tensor<1x${C}x${T}>
  %q6 = tile.reshape %b6 : !rows -> tensor<1x${R}x${T}>
  tile.store %p6, %z[%i6, %c0] : tensor<1x${C}x${T}>, memref<7x${C}x${T}>
  tile.store %q6, %w[%i6, %c0] : tensor<1x${R}x${T}>, memref<7x${R}x${T}>
  return
}

// One element of the whole tile, by two reductions in each order.
func.func @scalar(%z : memref<4x${T}>, %x : !in) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[%c0, %c0] : !in -> !tile
  %a = tile.reduce add %t [0] : !tile -> !columns
  %b = tile.reduce add %a [0] : !columns -> tensor<${T}>
  %c = tile.reduce max %t [1] : !tile -> !rows
  %d = tile.reduce max %c [0] : !rows -> tensor<${T}>
  %e = tensor.extract %b[] : tensor<${T}>
  %f = tensor.extract %d[] : tensor<${T}>
  %g = tensor.splat %e : tensor<2x${T}>
  %h = tensor.splat %f : tensor<2x${T}>
  tile.store %g, %z[%c0] : tensor<2x${T}>, memref<4x${T}>
  tile.store %h, %z[%c1] : tensor<2x${T}>, memref<4x${T}>
  return
}

// A dimension in the middle, then what was behind it.
func.func @middle(%z : memref<2x${C}x${T}>, %x : memref<2x${R}x16x${C}x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0, %c0, %c0] : memref<2x${R}x16x${C}x${T}> -> tensor<2x${R}x16x${C}x${T}>
  %a = tile.reduce xor %t [1] : tensor<2x${R}x16x${C}x${T}> -> tensor<2x16x${C}x${T}>
  %b = tile.reduce add %a [1] : tensor<2x16x${C}x${T}> -> tensor<2x${C}x${T}>
  tile.store %b, %z[%c0, %c0] : tensor<2x${C}x${T}>, memref<2x${C}x${T}>
  return
}

// Truth values.
func.func @flags(%z : memref<3x${C}xi8>, %x : memref<${R}x${C}xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tile.load %x[%c0, %c0] : memref<${R}x${C}xi8> -> tensor<${R}x${C}xi8>
  %zero = arith.constant dense<0> : tensor<${R}x${C}xi8>
  %m = arith.cmpi ne, %t, %zero : tensor<${R}x${C}xi8>
  %n = arith.cmpi eq, %t, %zero : tensor<${R}x${C}xi8>
  %a = tile.reduce and %m [0] : tensor<${R}x${C}xi1> -> tensor<${C}xi1>
  %b = tile.reduce or %n [0] : tensor<${R}x${C}xi1> -> tensor<${C}xi1>
  %c = tile.reduce xor %m [0] : tensor<${R}x${C}xi1> -> tensor<${C}xi1>
  %a8 = arith.extui %a : tensor<${C}xi1> to tensor<${C}xi8>
  %b8 = arith.extui %b : tensor<${C}xi1> to tensor<${C}xi8>
  %c8 = arith.extui %c : tensor<${C}xi1> to tensor<${C}xi8>
  %p = tile.reshape %a8 : tensor<${C}xi8> -> tensor<1x${C}xi8>
  %q = tile.reshape %b8 : tensor<${C}xi8> -> tensor<1x${C}xi8>
  %r = tile.reshape %c8 : tensor<${C}xi8> -> tensor<1x${C}xi8>
  tile.store %p, %z[%c0, %c0] : tensor<1x${C}xi8>, memref<3x${C}xi8>
  tile.store %q, %z[%c1, %c0] : tensor<1x${C}xi8>, memref<3x${C}xi8>
  tile.store %r, %z[%c2, %c0] : tensor<1x${C}xi8>, memref<3x${C}xi8>
  return
}
