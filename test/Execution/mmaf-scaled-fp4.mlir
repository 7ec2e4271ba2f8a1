// FP4 by FP4 with both scale formats: E4M3 over 16 values, E8M0 over 32 and over
// 16. The last has no instruction of its own and is issued twice.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f
// DEFINE: %{all} = tile-lane-run --check %s --target=sm_80,sm_90,sm_100a,sm_120,sm_120f,sm_121a

// RUN: %{all} --entry=loop -DS=f8E4M3FN -DV=16 -DM=16 -DN=8 -DK=64 --grid=2,2 --num-warps=1 --counts \
// RUN:   out:29x13 in:29x40 in:13x40 in:29x5:scale in:13x5:scale | FileCheck %s --check-prefix=NVFP4
// RUN: %{run} --entry=loop -DS=f8E8M0FNU -DV=32 -DM=32 -DN=64 -DK=64 --grid=2,2 --num-warps=4 --counts \
// RUN:   out:60x100 in:60x48:stride=61 in:100x48 in:60x3:scale in:100x3:scale:stride=7 \
// RUN:   | FileCheck %s --check-prefix=MXFP4
// RUN: %{run} --entry=loop -DS=f8E8M0FNU -DV=16 -DM=16 -DN=16 -DK=128 --grid=1,2 --num-warps=2 \
// RUN:   out:16x30 in:16x100 in:30x100 in:16x13:scale in:30x13:scale

// Tiles below an instruction in K, M and N.
// RUN: %{run} --entry=loop -DS=f8E4M3FN -DV=16 -DM=4 -DN=2 -DK=16 --grid=1,2 --num-warps=1 \
// RUN:   out:4x3 in:4x16 in:3x16 in:4x2:scale in:3x2:scale
// RUN: %{run} --entry=loop -DS=f8E8M0FNU -DV=32 -DM=1 -DN=16 -DK=32 --grid=2,1 --num-warps=1 \
// RUN:   out:2x16 in:2x32 in:16x32 in:2x2:scale in:16x2:scale
// RUN: %{run} --entry=loop -DS=f8E8M0FNU -DV=16 -DM=8 -DN=1 -DK=16 --grid=2,2 --num-warps=4 \
// RUN:   out:15x2 in:15x24 in:2x24 in:15x3:scale in:2x3:scale
// RUN: %{run} --entry=loop -DS=f8E8M0FNU -DV=16 -DM=2 -DN=32 -DK=32 --grid=2,1 --num-warps=2 \
// RUN:   out:3x32 in:3x48 in:32x48 in:3x6:scale in:32x6:scale

// Batches.
// RUN: %{run} --entry=batch -DS=f8E4M3FN -DV=16 -DM=16 -DN=8 -DK=64 --grid=1 --num-warps=2 \
// RUN:   out:3x16x8 in:3x16x32 in:3x8x32 in:3x16x4:scale in:3x8x4:scale
// RUN: %{run} --entry=batch -DS=f8E8M0FNU -DV=16 -DM=8 -DN=16 -DK=128 --grid=1 --num-warps=1 \
// RUN:   out:4x8x16 in:4x8x64 in:4x16x64 in:4x8x8:scale in:4x16x8:scale

// Any code and scale, within the bound of a sum.
// RUN: %{run} --entry=loop -DS=f8E4M3FN -DV=16 -DM=32 -DN=16 -DK=64 --grid=1,2 --random --terms=192 \
// RUN:   out:32x25 in:32x96 in:25x96 in:32x12:scale in:25x12:scale
// RUN: %{run} --entry=loop -DS=f8E8M0FNU -DV=16 -DM=16 -DN=16 -DK=256 --grid=1,1 --random --terms=256 \
// RUN:   out:16x16 in:16x128 in:16x128 in:16x16:scale in:16x16:scale

// NVFP4: sm_80: {{[0-9]+}} llvm.nvvm.mma.m16n8k16.row.col.bf16
// NVFP4: sm_120f: {{[0-9]+}} llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4nvf4.scale.4x
// MXFP4: sm_120f: {{[0-9]+}} llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4

!pairs = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?x${S}, strided<[?, 1]>>

func.func @loop(%z : memref<?x?xf32>, %x : !pairs, %y : !pairs, %xs : !scales, %ys : !scales)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K/2} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %length = memref.dim %x, %c1 : !pairs
  %steps = arith.ceildivui %length, %bk : index
  %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<${M}x${N}xf32>) {
    %a0 = tile.load %x[%m, %k] : !pairs -> tensor<${M}x${K/2}x!tile.f4E2M1FNx2>
    %a = tile.unpack %a0 : tensor<${M}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${M}x${K}xf4E2M1FN>
    %b0 = tile.load %y[%n, %k] : !pairs -> tensor<${N}x${K/2}x!tile.f4E2M1FNx2>
    %b1 = tile.unpack %b0 : tensor<${N}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${N}x${K}xf4E2M1FN>
    %b = tile.permute %b1 [1, 0] : tensor<${N}x${K}xf4E2M1FN> -> tensor<${K}x${N}xf4E2M1FN>
    %sa = tile.load %xs[%m, %k] : !scales -> tensor<${M}x${K/V}x${S}>
    %sb0 = tile.load %ys[%n, %k] : !scales -> tensor<${N}x${K/V}x${S}>
    %sb = tile.permute %sb0 [1, 0] : tensor<${N}x${K/V}x${S}> -> tensor<${K/V}x${N}x${S}>
    %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<${M}x${K}xf4E2M1FN>, tensor<${K}x${N}xf4E2M1FN>, tensor<${M}x${N}xf32>, tensor<${M}x${K/V}x${S}>, tensor<${K/V}x${N}x${S}>
    scf.yield %r : tensor<${M}x${N}xf32>
  }
  tile.store %sum, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}

func.func @batch(%z : memref<?x?x?xf32>, %x : memref<?x?x?xi8>, %y : memref<?x?x?xi8>,
                 %xs : memref<?x?x?x${S}>, %ys : memref<?x?x?x${S}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %acc = arith.constant dense<-2.5> : tensor<4x${M}x${N}xf32>
  %a0 = tile.load %x[%c0, %c0, %c0] : memref<?x?x?xi8> -> tensor<4x${M}x${K/2}xi8>
  %a = tile.unpack %a0 : tensor<4x${M}x${K/2}xi8> -> tensor<4x${M}x${K}xf4E2M1FN>
  %b0 = tile.load %y[%c0, %c0, %c0] : memref<?x?x?xi8> -> tensor<4x${N}x${K/2}xi8>
  %b1 = tile.unpack %b0 : tensor<4x${N}x${K/2}xi8> -> tensor<4x${N}x${K}xf4E2M1FN>
  %b = tile.permute %b1 [0, 2, 1] : tensor<4x${N}x${K}xf4E2M1FN> -> tensor<4x${K}x${N}xf4E2M1FN>
  %sa = tile.load %xs[%c0, %c0, %c0] : memref<?x?x?x${S}> -> tensor<4x${M}x${K/V}x${S}>
  %sb0 = tile.load %ys[%c0, %c0, %c0] : memref<?x?x?x${S}> -> tensor<4x${N}x${K/V}x${S}>
  %sb = tile.permute %sb0 [0, 2, 1] : tensor<4x${N}x${K/V}x${S}> -> tensor<4x${K/V}x${N}x${S}>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<4x${M}x${K}xf4E2M1FN>, tensor<4x${K}x${N}xf4E2M1FN>, tensor<4x${M}x${N}xf32>, tensor<4x${M}x${K/V}x${S}>, tensor<4x${K/V}x${N}x${S}>
  tile.store %r, %z[%c0, %c0, %c0] : tensor<4x${M}x${N}xf32>, memref<?x?x?xf32>
  return
}
