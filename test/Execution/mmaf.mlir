// Unscaled multiplies of every operand pair. FP8 pairs need full sums: only
// sm_120 and later have an instruction with those, the others expand to f16.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f
// DEFINE: %{all} = tile-lane-run --check %s --target=sm_80,sm_90,sm_100a,sm_120,sm_120f,sm_121a

// RUN: %{all} --entry=loop -DA=bf16 -DB=bf16 -DM=16 -DN=8 -DK=16 --grid=2,2 --num-warps=1 --counts \
// RUN:   out:29x13 in:29x50 in:13x50 | FileCheck %s --check-prefix=BF16
// RUN: %{run} --entry=loop -DA=f16 -DB=f16 -DM=64 -DN=32 -DK=64 --grid=1,2 --num-warps=4 \
// RUN:   out:60x60 in:60x90:stride=93 in:60x90:stride=91
// RUN: %{run} --entry=loop -DA=f8E4M3FN -DB=f8E4M3FN -DM=16 -DN=16 -DK=32 --grid=2,2 --num-warps=2 --counts \
// RUN:   out:29x23 in:29x70 in:23x70 | FileCheck %s --check-prefix=FP8
// RUN: %{run} --entry=loop -DA=f8E4M3FN -DB=f8E5M2 -DM=1 -DN=32 -DK=128 --grid=3,2 --num-warps=4 \
// RUN:   out:3x60 in:3x128 in:60x128
// RUN: %{run} --entry=loop -DA=f8E5M2 -DB=f8E4M3FN -DM=32 -DN=2 -DK=64 --grid=1,2 --num-warps=1 \
// RUN:   out:32x3 in:32x100 in:3x100
// RUN: %{run} --entry=loop -DA=f8E5M2 -DB=f8E5M2 -DM=8 -DN=4 -DK=16 --grid=2,2 --num-warps=8 \
// RUN:   out:13x7 in:13x40 in:7x40
// RUN: %{run} --entry=loop -DA=bf16 -DB=bf16 -DM=2 -DN=64 -DK=1 --grid=1,1 --num-warps=16 \
// RUN:   out:2x64 in:2x3 in:64x3
// RUN: %{run} --entry=loop -DA=f8E4M3FN -DB=f8E5M2 -DM=4 -DN=1 -DK=2 --grid=1,3 --num-warps=1 \
// RUN:   out:4x3 in:4x5 in:3x5
// RUN: %{run} --entry=loop -DA=f16 -DB=f16 -DM=128 -DN=16 -DK=8 --grid=1,1 --num-warps=32 \
// RUN:   out:128x16 in:128x20 in:16x20
// RUN: %{run} --entry=batch -DA=f8E5M2 -DB=f8E4M3FN -DM=16 -DN=8 -DK=64 --grid=1 --num-warps=4 \
// RUN:   out:3x16x8 in:3x16x64 in:3x64x8
// RUN: %{run} --entry=batch -DA=f16 -DB=f16 -DM=2 -DN=16 -DK=32 --grid=1 --num-warps=2 \
// RUN:   out:4x2x15 in:4x2x32 in:4x32x15

// A K of 0.
// RUN: %{run} --entry=loop -DA=bf16 -DB=bf16 -DM=16 -DN=8 -DK=16 --grid=1,1 out:16x8 in:16x0 in:8x0
// RUN: %{run} --entry=batch -DA=f8E4M3FN -DB=f8E4M3FN -DM=16 -DN=8 -DK=32 --grid=1 out:3x16x8 in:3x16x0 in:3x0x8

// Any finite value, within the bound of a sum.
// RUN: %{run} --entry=loop -DA=f8E5M2 -DB=f8E4M3FN -DM=32 -DN=16 -DK=128 --grid=1,1 --random --terms=256 \
// RUN:   out:32x16 in:32x256 in:16x256
// RUN: %{run} --entry=loop -DA=bf16 -DB=bf16 -DM=16 -DN=16 -DK=64 --grid=1,1 --random --terms=256 \
// RUN:   out:16x16 in:16x256 in:16x256

// BF16: sm_80: {{[0-9]+}} llvm.nvvm.mma.m16n8k16.row.col.bf16
// FP8:  sm_80: {{[0-9]+}} llvm.nvvm.mma.m16n8k16.row.col.f32.f32
// FP8:  sm_120f: {{[0-9]+}} llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32

!lhs = memref<?x?x${A}, strided<[?, 1]>>
!rhs = memref<?x?x${B}, strided<[?, 1]>>

func.func @loop(%z : memref<?x?xf32>, %x : !lhs, %y : !rhs) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %length = memref.dim %x, %c1 : !lhs
  %steps = arith.ceildivui %length, %bk : index
  %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<${M}x${N}xf32>) {
    %a = tile.load %x[%m, %k] : !lhs -> tensor<${M}x${K}x${A}>
    %b0 = tile.load %y[%n, %k] : !rhs -> tensor<${N}x${K}x${B}>
    %b = tile.permute %b0 [1, 0] : tensor<${N}x${K}x${B}> -> tensor<${K}x${N}x${B}>
    %r = tile.mmaf %a, %b, %acc : tensor<${M}x${K}x${A}>, tensor<${K}x${N}x${B}>, tensor<${M}x${N}xf32>
    scf.yield %r : tensor<${M}x${N}xf32>
  }
  tile.store %sum, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}

func.func @batch(%z : memref<?x?x?xf32>, %x : memref<?x?x?x${A}>, %y : memref<?x?x?x${B}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %acc = arith.constant dense<3.5> : tensor<4x${M}x${N}xf32>
  %a = tile.load %x[%c0, %c0, %c0] : memref<?x?x?x${A}> -> tensor<4x${M}x${K}x${A}>
  %b = tile.load %y[%c0, %c0, %c0] : memref<?x?x?x${B}> -> tensor<4x${K}x${N}x${B}>
  %r = tile.mmaf %a, %b, %acc : tensor<4x${M}x${K}x${A}>, tensor<4x${K}x${N}x${B}>, tensor<4x${M}x${N}xf32>
  tile.store %r, %z[%c0, %c0, %c0] : tensor<4x${M}x${N}xf32>, memref<?x?x?xf32>
  return
}
