// The largest and smallest of FP8, E8M0 and FP4 codes over both dimensions; any
// codes, NaN and infinity among them.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=any -DT=f8E4M3FN -DR=32 -DC=16 --grid=1 --num-warps=1 out:2x16 out:2x32 in:32x16
// RUN: %{run} --entry=any -DT=f8E5M2 -DR=8 -DC=64 --grid=1 --num-warps=4 out:2x64 out:2x8 in:8x64
// RUN: %{run} --entry=any -DT=f8E8M0FNU -DR=4 -DC=4 --grid=1 --num-warps=2 out:2x4 out:2x4 in:4x4
// RUN: %{run} --entry=any -DT=f8E8M0FNU -DR=64 -DC=8 --grid=1 --num-warps=2 out:2x8 out:2x64 in:64x8
// RUN: %{run} --entry=fp4 -DT=f8E5M2 -DR=16 -DC=32 --grid=1 --num-warps=2 out:2x16 out:2x16 in:16x16
// RUN: %{run} --entry=fp4 -DT=f8E5M2 -DR=64 -DC=64 --grid=1 --num-warps=4 out:2x32 out:2x64 in:64x32

!tile = tensor<${R}x${C}x${T}>
!rows = tensor<${R}x${T}>
!columns = tensor<${C}x${T}>

func.func @any(%z : memref<2x${C}x${T}>, %w : memref<2x${R}x${T}>, %x : memref<${R}x${C}xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bytes = tile.load %x[%c0, %c0] : memref<${R}x${C}xi8> -> tensor<${R}x${C}xi8>
  %t = tile.unpack %bytes : tensor<${R}x${C}xi8> -> !tile
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

// Codes of FP4, packed again: each result is one of the operands, its zero's
// sign included.
func.func @fp4(%z : memref<2x${C/2}xi8>, %w : memref<2x${R}xi8>, %x : memref<${R}x${C/2}xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bytes = tile.load %x[%c0, %c0] : memref<${R}x${C/2}xi8> -> tensor<${R}x${C/2}xi8>
  %t = tile.unpack %bytes : tensor<${R}x${C/2}xi8> -> tensor<${R}x${C}xf4E2M1FN>
  %a = tile.reduce max %t [0] : tensor<${R}x${C}xf4E2M1FN> -> tensor<${C}xf4E2M1FN>
  %b = tile.reduce min %t [0] : tensor<${R}x${C}xf4E2M1FN> -> tensor<${C}xf4E2M1FN>
  %c = tile.reduce max %t [1] : tensor<${R}x${C}xf4E2M1FN> -> tensor<${R}xf4E2M1FN>
  %d = tile.reduce min %t [1] : tensor<${R}x${C}xf4E2M1FN> -> tensor<${R}xf4E2M1FN>
  %a1 = tile.reshape %a : tensor<${C}xf4E2M1FN> -> tensor<1x${C}xf4E2M1FN>
  %b1 = tile.reshape %b : tensor<${C}xf4E2M1FN> -> tensor<1x${C}xf4E2M1FN>
  %c2 = tile.reshape %c : tensor<${R}xf4E2M1FN> -> tensor<1x${R}xf4E2M1FN>
  %d1 = tile.reshape %d : tensor<${R}xf4E2M1FN> -> tensor<1x${R}xf4E2M1FN>
  %a8 = tile.pack %a1 : tensor<1x${C}xf4E2M1FN> -> tensor<1x${C/2}xi8>
  %b8 = tile.pack %b1 : tensor<1x${C}xf4E2M1FN> -> tensor<1x${C/2}xi8>
  %c8 = tile.pack %c2 : tensor<1x${R}xf4E2M1FN> -> tensor<1x${R/2}xi8>
  %d8 = tile.pack %d1 : tensor<1x${R}xf4E2M1FN> -> tensor<1x${R/2}xi8>
  tile.store %a8, %z[%c0, %c0] : tensor<1x${C/2}xi8>, memref<2x${C/2}xi8>
  tile.store %b8, %z[%c1, %c0] : tensor<1x${C/2}xi8>, memref<2x${C/2}xi8>
  tile.store %c8, %w[%c0, %c0] : tensor<1x${R/2}xi8>, memref<2x${R}xi8>
  tile.store %d8, %w[%c1, %c0] : tensor<1x${R/2}xi8>, memref<2x${R}xi8>
  return
}
