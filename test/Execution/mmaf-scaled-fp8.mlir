// Every pair of FP8 formats with E8M0 scales, over tiles smaller and larger than
// an instruction, ragged in every dimension, with a transposed rhs. Native
// targets must agree with the expansion to bf16.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f
// DEFINE: %{all} = tile-lane-run --check %s --target=sm_80,sm_90,sm_100a,sm_120,sm_120f,sm_121a

// RUN: %{all} --entry=loop -DA=f8E4M3FN -DB=f8E4M3FN -DM=16 -DN=8 -DK=32 --grid=2,2 --num-warps=1 \
// RUN:   out:29x13 in:29x90 in:13x90 in:29x3:scale in:13x3:scale
// RUN: %{run} --entry=loop -DA=f8E4M3FN -DB=f8E5M2 -DM=32 -DN=64 -DK=64 --grid=1,2 --num-warps=8 --counts \
// RUN:   out:30x100 in:30x96:stride=101 in:100x96 in:30x3:scale in:100x3:scale:stride=7 \
// RUN:   | FileCheck %s
// RUN: %{run} --entry=loop -DA=f8E5M2 -DB=f8E4M3FN -DM=1 -DN=2 -DK=128 --grid=3,2 --num-warps=2 \
// RUN:   out:3x4 in:3x200 in:4x200 in:3x7:scale in:4x7:scale
// RUN: %{run} --entry=loop -DA=f8E5M2 -DB=f8E5M2 -DM=4 -DN=32 -DK=256 --grid=2,1 --num-warps=8 \
// RUN:   out:7x32 in:7x256 in:32x256 in:7x8:scale in:32x8:scale
// RUN: %{run} --entry=loop -DA=f8E4M3FN -DB=f8E4M3FN -DM=64 -DN=1 -DK=64 --grid=1,2 --num-warps=16 \
// RUN:   out:50x2 in:50x64 in:2x64 in:50x2:scale in:2x2:scale

// A batch over warps, and one that is ragged.
// RUN: %{run} --entry=batch -DA=f8E4M3FN -DB=f8E5M2 -DM=16 -DN=16 -DK=32 --grid=1 --num-warps=4 \
// RUN:   out:3x16x16 in:3x16x32 in:3x32x16 in:3x16x1:scale in:3x1x16:scale
// RUN: %{run} --entry=batch -DA=f8E5M2 -DB=f8E5M2 -DM=2 -DN=32 -DK=64 --grid=1 --num-warps=1 \
// RUN:   out:4x2x30 in:4x2x64 in:4x64x30 in:4x2x2:scale in:4x2x30:scale

// Any finite code and scale, within the bound of a sum.
// RUN: %{run} --entry=loop -DA=f8E4M3FN -DB=f8E5M2 -DM=32 -DN=16 -DK=64 --grid=1,2 --num-warps=4 --random --terms=128 \
// RUN:   out:32x25 in:32x128 in:25x128 in:32x4:scale in:25x4:scale
// RUN: %{run} --entry=batch -DA=f8E4M3FN -DB=f8E4M3FN -DM=8 -DN=16 -DK=128 --grid=1 --num-warps=8 --random --terms=128 \
// RUN:   out:4x8x16 in:4x8x128 in:4x128x16 in:4x8x4:scale in:4x4x16:scale

// CHECK:     sm_80: {{[0-9]+}} llvm.nvvm.mma.m16n8k16.row.col.bf16
// CHECK:     sm_120f: {{[0-9]+}} llvm.nvvm.mma.block.scale.m16n8k32.row.col.mxf8f6f4
// CHECK-NOT: sm_120f: {{.*}}mma.m16n8k16

func.func @loop(%z : memref<?x?xf32>, %x : memref<?x?x${A}, strided<[?, 1]>>, %y : memref<?x?x${B}>,
                %xs : memref<?x?xf8E8M0FNU>, %ys : memref<?x?xf8E8M0FNU, strided<[?, 1]>>)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %length = memref.dim %x, %c1 : memref<?x?x${A}, strided<[?, 1]>>
  %steps = arith.ceildivui %length, %bk : index
  %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<${M}x${N}xf32>) {
    %a = tile.load %x[%m, %k] : memref<?x?x${A}, strided<[?, 1]>> -> tensor<${M}x${K}x${A}>
    %b0 = tile.load %y[%n, %k] : memref<?x?x${B}> -> tensor<${N}x${K}x${B}>
    %b = tile.permute %b0 [1, 0] : tensor<${N}x${K}x${B}> -> tensor<${K}x${N}x${B}>
    %sa = tile.load %xs[%m, %k] : memref<?x?xf8E8M0FNU> -> tensor<${M}x${K/32}xf8E8M0FNU>
    %sb0 = tile.load %ys[%n, %k] : memref<?x?xf8E8M0FNU, strided<[?, 1]>> -> tensor<${N}x${K/32}xf8E8M0FNU>
    %sb = tile.permute %sb0 [1, 0] : tensor<${N}x${K/32}xf8E8M0FNU> -> tensor<${K/32}x${N}xf8E8M0FNU>
    %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<${M}x${K}x${A}>, tensor<${K}x${N}x${B}>, tensor<${M}x${N}xf32>, tensor<${M}x${K/32}xf8E8M0FNU>, tensor<${K/32}x${N}xf8E8M0FNU>
    scf.yield %r : tensor<${M}x${N}xf32>
  }
  tile.store %sum, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}

func.func @batch(%z : memref<?x?x?xf32>, %x : memref<?x?x?x${A}>, %y : memref<?x?x?x${B}>,
                 %xs : memref<?x?x?xf8E8M0FNU>, %ys : memref<?x?x?xf8E8M0FNU>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %acc = arith.constant dense<-2.5> : tensor<4x${M}x${N}xf32>
  %a = tile.load %x[%c0, %c0, %c0] : memref<?x?x?x${A}> -> tensor<4x${M}x${K}x${A}>
  %b = tile.load %y[%c0, %c0, %c0] : memref<?x?x?x${B}> -> tensor<4x${K}x${N}x${B}>
  %sa = tile.load %xs[%c0, %c0, %c0] : memref<?x?x?xf8E8M0FNU> -> tensor<4x${M}x${K/32}xf8E8M0FNU>
  %sb = tile.load %ys[%c0, %c0, %c0] : memref<?x?x?xf8E8M0FNU> -> tensor<4x${K/32}x${N}xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<4x${M}x${K}x${A}>, tensor<4x${K}x${N}x${B}>, tensor<4x${M}x${N}xf32>, tensor<4x${M}x${K/32}xf8E8M0FNU>, tensor<4x${K/32}x${N}xf8E8M0FNU>
  tile.store %r, %z[%c0, %c0, %c0] : tensor<4x${M}x${N}xf32>, memref<?x?x?xf32>
  return
}
