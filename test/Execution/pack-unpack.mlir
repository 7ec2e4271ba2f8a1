// Bytes to values of every width and back, and values whose bits another format
// has: NaN payloads are kept.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=2

// RUN: %{run} --entry=wide -DT=i8 -DB=1 -DR=1 -DC=64 --num-warps=1 in:2x64 out:2x64 out:128x1
// RUN: %{run} --entry=wide -DT=i16 -DB=2 -DR=8 -DC=16 --num-warps=4 in:16x16 out:16x16 out:32x8
// RUN: %{run} --entry=wide -DT=i32 -DB=4 -DR=16 -DC=32 --num-warps=2 in:32x32 out:32x32 out:64x16
// RUN: %{run} --entry=wide -DT=i64 -DB=8 -DR=64 -DC=8 --num-warps=8 in:128x8 out:128x8 out:16x64
// RUN: %{run} --entry=wide -DT=f8E4M3FN -DB=1 -DR=1 -DC=64 --num-warps=1 in:2x64 out:2x64 out:128x1
// RUN: %{run} --entry=wide -DT=f8E5M2 -DB=1 -DR=8 -DC=16 --num-warps=4 in:16x16 out:16x16 out:32x8
// RUN: %{run} --entry=wide -DT=f8E8M0FNU -DB=1 -DR=16 -DC=32 --num-warps=2 in:32x32 out:32x32 out:64x16
// RUN: %{run} --entry=wide -DT=bf16 -DB=2 -DR=64 -DC=8 --num-warps=8 in:128x8 out:128x8 out:16x64
// RUN: %{run} --entry=wide -DT=f16 -DB=2 -DR=1 -DC=64 --num-warps=1 in:2x64 out:2x64 out:128x1
// RUN: %{run} --entry=wide -DT=f32 -DB=4 -DR=8 -DC=16 --num-warps=4 in:16x16 out:16x16 out:32x8
// RUN: %{run} --entry=narrow -DT=i8 -DB=1 -DR=1 -DC=2 --num-warps=1 in:2x2 out:2x2 out:2x2
// RUN: %{run} --entry=narrow -DT=i8 -DB=1 -DR=16 -DC=32 --num-warps=1 in:32x32 out:32x32 out:32x32
// RUN: %{run} --entry=narrow -DT=i8 -DB=1 -DR=4 -DC=64 --num-warps=8 in:8x64 out:8x64 out:8x64
// RUN: %{run} --entry=narrow -DT=i8 -DB=1 -DR=128 -DC=4 --num-warps=4 in:256x4 out:256x4 out:256x4
// RUN: %{run} --entry=narrow -DT=i8 -DB=1 -DR=2 -DC=1 --num-warps=2 in:4x1 out:4x1 out:4x1

// Through another layout: values are transposed, then packed along the rows.
func.func @wide(%x : memref<?x${C}xi8>, %z : memref<?x${C}xi8>, %w : memref<?x${R}xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %b = tile.load %x[%p, %c0] : memref<?x${C}xi8> -> tensor<${R}x${C}xi8>
  %t = tile.unpack %b : tensor<${R}x${C}xi8> -> tensor<${R}x${C/B}x${T}>
  %same = tile.pack %t : tensor<${R}x${C/B}x${T}> -> tensor<${R}x${C}xi8>
  tile.store %same, %z[%p, %c0] : tensor<${R}x${C}xi8>, memref<?x${C}xi8>
  %f = tile.reshape %t : tensor<${R}x${C/B}x${T}> -> tensor<${R*C/B}x${T}>
  %g = tile.reshape %f : tensor<${R*C/B}x${T}> -> tensor<${C/B}x${R}x${T}>
  %h = tile.permute %g [1, 0] : tensor<${C/B}x${R}x${T}> -> tensor<${R}x${C/B}x${T}>
  %q = tile.pack %h : tensor<${R}x${C/B}x${T}> -> tensor<${R}x${C}xi8>
  %r = tile.reshape %q : tensor<${R}x${C}xi8> -> tensor<${C}x${R}xi8>
  tile.store %r, %w[%p, %c0] : tensor<${C}x${R}xi8>, memref<?x${R}xi8>
  return
}

// Pairs as bytes and bytes as pairs; rows in reverse between.
func.func @narrow(%x : memref<?x${C}x!tile.f4E2M1FNx2>, %z : memref<?x${C}xi8>, %w : memref<?x${C}x!tile.f4E2M1FNx2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %b = tile.load %x[%p, %c0] : memref<?x${C}x!tile.f4E2M1FNx2> -> tensor<${R}x${C}x!tile.f4E2M1FNx2>
  %t = tile.unpack %b : tensor<${R}x${C}x!tile.f4E2M1FNx2> -> tensor<${R}x${2*C}xf4E2M1FN>
  %s = tile.pack %t : tensor<${R}x${2*C}xf4E2M1FN> -> tensor<${R}x${C}xi8>
  tile.store %s, %z[%p, %c0] : tensor<${R}x${C}xi8>, memref<?x${C}xi8>
  %u = tile.reshape %t : tensor<${R}x${2*C}xf4E2M1FN> -> tensor<${R*C}x2xf4E2M1FN>
  %v = tile.permute %u [1, 0] : tensor<${R*C}x2xf4E2M1FN> -> tensor<2x${R*C}xf4E2M1FN>
  %y = tile.reshape %v : tensor<2x${R*C}xf4E2M1FN> -> tensor<${R}x${2*C}xf4E2M1FN>
  %q = tile.pack %y : tensor<${R}x${2*C}xf4E2M1FN> -> tensor<${R}x${C}x!tile.f4E2M1FNx2>
  tile.store %q, %w[%p, %c0] : tensor<${R}x${C}x!tile.f4E2M1FNx2>, memref<?x${C}x!tile.f4E2M1FNx2>
  return
}
