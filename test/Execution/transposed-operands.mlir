// Operands that arrive transposed, packed along the other dimension, or as the
// permuted result of another multiply.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1

// RUN: %{run} --entry=transposed -DT=bf16 --num-warps=1 out:32x16 in:64x32 in:16x64
// RUN: %{run} --entry=transposed -DT=f16 --num-warps=4 out:32x16 in:64x32 in:16x64
// RUN: %{run} --entry=transposed -DT=f8E4M3FN --num-warps=1 out:32x16 in:64x32 in:16x64
// RUN: %{run} --entry=transposed -DT=f8E5M2 --num-warps=8 out:32x16 in:64x32 in:16x64
// RUN: %{run} --entry=packed -DT=bf16 --num-warps=1 out:32x16 in:64x16 in:64x8 in:2x32:scale in:2x16:scale
// RUN: %{run} --entry=packed -DT=bf16 --num-warps=4 out:32x16 in:64x16 in:64x8 in:2x32:scale in:2x16:scale --remarks 2>&1 | FileCheck %s --check-prefix=PACKED
// RUN: %{run} --entry=accumulator -DT=f16 --num-warps=1 out:32x16 out:16x32 in:16x32 in:32x32
// RUN: %{run} --entry=accumulator -DT=f16 --num-warps=4 --schedule=3 out:32x16 out:16x32 in:16x32 in:32x32 --remarks 2>&1 | FileCheck %s --check-prefix=ACC
// RUN: %{run} --entry=accumulator -DT=bf16 --num-warps=32 out:32x16 out:16x32 in:16x32 in:32x32

// PACKED: Function=packed | through="shared memory", tile=tensor<64x32xf4E2M1FN>
// ACC: Function=accumulator | through="shared memory", tile=tensor<16x32xf32>

// Both operands with K first and last the other way round.
func.func @transposed(%z : memref<32x16xf32>, %x : memref<64x32x${T}>, %y : memref<16x64x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = tile.load %x[%c0, %c0] : memref<64x32x${T}> -> tensor<64x32x${T}>
  %a = tile.permute %a0 [1, 0] : tensor<64x32x${T}> -> tensor<32x64x${T}>
  %b0 = tile.load %y[%c0, %c0] : memref<16x64x${T}> -> tensor<16x64x${T}>
  %b = tile.permute %b0 [1, 0] : tensor<16x64x${T}> -> tensor<64x16x${T}>
  %acc = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = tile.mmaf %a, %b, %acc : tensor<32x64x${T}>, tensor<64x16x${T}>, tensor<32x16xf32>
  tile.store %r, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  return
}

// FP4 packed along M and along N.
func.func @packed(%z : memref<32x16xf32>, %x : memref<64x16x!tile.f4E2M1FNx2>, %y : memref<64x8x!tile.f4E2M1FNx2>, %s : memref<2x32xf8E8M0FNU>, %t : memref<2x16xf8E8M0FNU>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = tile.load %x[%c0, %c0] : memref<64x16x!tile.f4E2M1FNx2> -> tensor<64x16x!tile.f4E2M1FNx2>
  %a1 = tile.unpack %a0 : tensor<64x16x!tile.f4E2M1FNx2> -> tensor<64x32xf4E2M1FN>
  %a = tile.permute %a1 [1, 0] : tensor<64x32xf4E2M1FN> -> tensor<32x64xf4E2M1FN>
  %b0 = tile.load %y[%c0, %c0] : memref<64x8x!tile.f4E2M1FNx2> -> tensor<64x8x!tile.f4E2M1FNx2>
  %b = tile.unpack %b0 : tensor<64x8x!tile.f4E2M1FNx2> -> tensor<64x16xf4E2M1FN>
  %sa0 = tile.load %s[%c0, %c0] : memref<2x32xf8E8M0FNU> -> tensor<2x32xf8E8M0FNU>
  %sa = tile.permute %sa0 [1, 0] : tensor<2x32xf8E8M0FNU> -> tensor<32x2xf8E8M0FNU>
  %sb = tile.load %t[%c0, %c0] : memref<2x16xf8E8M0FNU> -> tensor<2x16xf8E8M0FNU>
  %acc = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<32x64xf4E2M1FN>, tensor<64x16xf4E2M1FN>, tensor<32x16xf32>, tensor<32x2xf8E8M0FNU>, tensor<2x16xf8E8M0FNU>
  tile.store %r, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  return
}

// The transposed result, and an accumulator that is the transposed result of
// another multiply.
func.func @accumulator(%z : memref<32x16xf32>, %w : memref<16x32xf32>, %x : memref<16x32x${T}>, %y : memref<32x32x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : memref<16x32x${T}> -> tensor<16x32x${T}>
  %b = tile.load %y[%c0, %c0] : memref<32x32x${T}> -> tensor<32x32x${T}>
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %r = tile.mmaf %a, %b, %zero : tensor<16x32x${T}>, tensor<32x32x${T}>, tensor<16x32xf32>
  %p = tile.permute %r [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  tile.store %p, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  %at = tile.permute %a [1, 0] : tensor<16x32x${T}> -> tensor<32x16x${T}>
  %q = tile.mmaf %b, %at, %p : tensor<32x32x${T}>, tensor<32x16x${T}>, tensor<32x16xf32>
  %u = tile.permute %q [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
  tile.store %u, %w[%c0, %c0] : tensor<16x32xf32>, memref<16x32xf32>
  return
}
