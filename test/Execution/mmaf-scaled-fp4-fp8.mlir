// FP4 by FP8 and FP8 by FP4, FP4 packed along K and along the other dimension.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f
// DEFINE: %{all} = tile-lane-run --check %s --target=sm_80,sm_90,sm_100a,sm_120,sm_120f,sm_121a

// RUN: %{all} --entry=fp4_fp8 -DQ=f8E4M3FN -DM=16 -DN=8 -DK=32 --grid=2,2 --num-warps=1 --counts \
// RUN:   out:29x13 in:29x16 in:32x13 in:29x1:scale in:1x13:scale | FileCheck %s
// RUN: %{run} --entry=fp4_fp8 -DQ=f8E5M2 -DM=32 -DN=64 -DK=128 --grid=1,2 --num-warps=8 \
// RUN:   out:30x100 in:30x60 in:120x100 in:30x4:scale in:4x100:scale
// RUN: %{run} --entry=fp4_fp8 -DQ=f8E4M3FN -DM=1 -DN=2 -DK=64 --grid=3,2 --num-warps=4 \
// RUN:   out:3x3 in:3x32 in:64x3 in:3x2:scale in:2x3:scale
// RUN: %{run} --entry=fp8_fp4 -DQ=f8E5M2 -DM=16 -DN=8 -DK=32 --grid=2,2 --num-warps=1 --counts \
// RUN:   out:29x13 in:29x32 in:32x7 in:29x1:scale in:1x13:scale | FileCheck %s
// RUN: %{run} --entry=fp8_fp4 -DQ=f8E4M3FN -DM=64 -DN=32 -DK=128 --grid=1,2 --num-warps=4 \
// RUN:   out:50x60 in:50x110 in:110x30 in:50x4:scale in:4x60:scale
// RUN: %{run} --entry=fp8_fp4 -DQ=f8E4M3FN -DM=1 -DN=4 -DK=64 --grid=3,1 --num-warps=2 \
// RUN:   out:3x4 in:3x64 in:64x2 in:3x2:scale in:2x4:scale
// RUN: %{run} --entry=fp4_fp8 -DQ=f8E5M2 -DM=16 -DN=16 -DK=64 --grid=1,1 --random --terms=64 \
// RUN:   out:16x16 in:16x32 in:64x16 in:16x2:scale in:2x16:scale
// RUN: %{run} --entry=fp8_fp4 -DQ=f8E4M3FN -DM=16 -DN=16 -DK=256 --grid=1,1 --random --terms=256 \
// RUN:   out:16x16 in:16x256 in:256x8 in:16x8:scale in:8x16:scale

// CHECK: sm_80: {{[0-9]+}} llvm.nvvm.mma.m16n8k16.row.col.bf16
// CHECK: sm_120f: {{[0-9]+}} llvm.nvvm.mma.block.scale.m16n8k32.row.col.mxf8f6f4

!pairs = memref<?x?x!tile.f4E2M1FNx2>
!codes = memref<?x?x${Q}>
!scales = memref<?x?xf8E8M0FNU>

func.func @fp4_fp8(%z : memref<?x?xf32>, %x : !pairs, %y : !codes, %xs : !scales, %ys : !scales)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<1.25> : tensor<${M}x${N}xf32>
  %a0 = tile.load %x[%m, %c0] : !pairs -> tensor<${M}x${K/2}x!tile.f4E2M1FNx2>
  %a = tile.unpack %a0 : tensor<${M}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${M}x${K}xf4E2M1FN>
  %b = tile.load %y[%c0, %n] : !codes -> tensor<${K}x${N}x${Q}>
  %sa = tile.load %xs[%m, %c0] : !scales -> tensor<${M}x${K/32}xf8E8M0FNU>
  %sb = tile.load %ys[%c0, %n] : !scales -> tensor<${K/32}x${N}xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<${M}x${K}xf4E2M1FN>, tensor<${K}x${N}x${Q}>, tensor<${M}x${N}xf32>, tensor<${M}x${K/32}xf8E8M0FNU>, tensor<${K/32}x${N}xf8E8M0FNU>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}

// A pair holds two columns of the rhs.
func.func @fp8_fp4(%z : memref<?x?xf32>, %x : !codes, %y : !pairs, %xs : !scales, %ys : !scales)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<1.25> : tensor<${M}x${N}xf32>
  %a = tile.load %x[%m, %c0] : !codes -> tensor<${M}x${K}x${Q}>
  %b0 = tile.load %y[%c0, %n] : !pairs -> tensor<${K}x${N/2}x!tile.f4E2M1FNx2>
  %b = tile.unpack %b0 : tensor<${K}x${N/2}x!tile.f4E2M1FNx2> -> tensor<${K}x${N}xf4E2M1FN>
  %sa = tile.load %xs[%m, %c0] : !scales -> tensor<${M}x${K/32}xf8E8M0FNU>
  %sb = tile.load %ys[%c0, %n] : !scales -> tensor<${K/32}x${N}xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<${M}x${K}x${Q}>, tensor<${K}x${N}xf4E2M1FN>, tensor<${M}x${N}xf32>, tensor<${M}x${K/32}xf8E8M0FNU>, tensor<${K/32}x${N}xf8E8M0FNU>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}
