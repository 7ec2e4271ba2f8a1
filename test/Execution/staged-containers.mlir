// FP4 that is expanded to bytes on its way from a padded buffer, as the left and as
// the right operand, by FP8: whole and ragged tiles, one to three stages, blocks of
// K down to one instruction, and warps with one tile or several.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_120a
// DEFINE: %{left} = %{run} --entry=left
// DEFINE: %{right} = %{run} --entry=right

// RUN: %{left} -DM=64 -DN=64 -DK=128 --grid=1,1 --num-warps=4 --counts \
// RUN:   out:64x64 in:64x128 in:64x256 in:64x8:scale in:64x8:scale | FileCheck %s
// RUN: %{left} -DM=16 -DN=32 -DK=32 --grid=2,2 --num-warps=1 --num-stages=2 \
// RUN:   out:29x44 in:29x80:stride=96 in:44x160:stride=192 in:29x5:scale:stride=8 in:44x5:scale:stride=8
// RUN: %{left} -DM=32 -DN=8 -DK=256 --grid=2,1 --num-warps=2 --num-stages=3 \
// RUN:   out:50x8 in:50x176 in:8x352 in:50x11:scale:stride=12 in:8x11:scale:stride=12
// RUN: %{right} -DM=16 -DN=8 -DK=32 --grid=2,2 --num-warps=1 --num-stages=1 \
// RUN:   out:29x13 in:29x160 in:13x80 in:29x5:scale:stride=8 in:13x5:scale:stride=8
// RUN: %{right} -DM=128 -DN=32 -DK=64 --grid=1,2 --num-warps=8 --num-stages=3 \
// RUN:   out:100x60 in:100x224:stride=240 in:60x112 in:100x7:scale:stride=8 in:60x7:scale:stride=8

// Any code and scale, within the bound of a sum.
// RUN: %{left} -DM=32 -DN=32 -DK=64 --grid=1,1 --num-warps=1 --random --terms=192 \
// RUN:   out:32x32 in:32x96 in:32x192 in:32x6:scale:stride=8 in:32x6:scale:stride=8
// RUN: %{right} -DM=32 -DN=32 -DK=64 --grid=1,1 --num-warps=1 --random --terms=192 \
// RUN:   out:32x32 in:32x192 in:32x96 in:32x6:scale:stride=8 in:32x6:scale:stride=8

// CHECK-DAG: sm_120a: {{[0-9]+}} llvm.nvvm.ldmatrix.sync.aligned.m8n16.x4.b8x16.b4x16_p64
// CHECK-DAG: sm_120a: {{[0-9]+}} llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16

!out = memref<?x?xf32, strided<[?, 1]>>
!pairs = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!codes = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!scales = memref<?x?xf8E8M0FNU, strided<[?, 1]>>

func.func @left(%z : !out,
    %x : !pairs {tile.shape_divisible_by = array<i64: 1, 16>, tile.stride_divisible_by = array<i64: 16, 1>},
    %y : !codes {tile.shape_divisible_by = array<i64: 1, 16>, tile.stride_divisible_by = array<i64: 16, 1>},
    %xs : !scales {tile.stride_divisible_by = array<i64: 4, 1>},
    %ys : !scales {tile.stride_divisible_by = array<i64: 4, 1>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %length = memref.dim %y, %c1 : !codes
  %steps = arith.ceildivui %length, %bk : index
  %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<${M}x${N}xf32>) {
    %xp = tile.load %x[%m, %k] : !pairs -> tensor<${M}x${K/2}x!tile.f4E2M1FNx2>
    %a = tile.unpack %xp : tensor<${M}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${M}x${K}xf4E2M1FN>
    %yl = tile.load %y[%n, %k] : !codes -> tensor<${N}x${K}xf8E4M3FN>
    %b = tile.permute %yl [1, 0] : tensor<${N}x${K}xf8E4M3FN> -> tensor<${K}x${N}xf8E4M3FN>
    %sa = tile.load %xs[%m, %k] : !scales -> tensor<${M}x${K/32}xf8E8M0FNU>
    %sl = tile.load %ys[%n, %k] : !scales -> tensor<${N}x${K/32}xf8E8M0FNU>
    %sb = tile.permute %sl [1, 0] : tensor<${N}x${K/32}xf8E8M0FNU> -> tensor<${K/32}x${N}xf8E8M0FNU>
    %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<${M}x${K}xf4E2M1FN>, tensor<${K}x${N}xf8E4M3FN>, tensor<${M}x${N}xf32>, tensor<${M}x${K/32}xf8E8M0FNU>, tensor<${K/32}x${N}xf8E8M0FNU>
    scf.yield %r : tensor<${M}x${N}xf32>
  }
  tile.store %sum, %z[%m, %n] : tensor<${M}x${N}xf32>, !out
  return
}

func.func @right(%z : !out,
    %x : !codes {tile.shape_divisible_by = array<i64: 1, 16>, tile.stride_divisible_by = array<i64: 16, 1>},
    %y : !pairs {tile.shape_divisible_by = array<i64: 1, 16>, tile.stride_divisible_by = array<i64: 16, 1>},
    %xs : !scales {tile.stride_divisible_by = array<i64: 4, 1>},
    %ys : !scales {tile.stride_divisible_by = array<i64: 4, 1>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %length = memref.dim %x, %c1 : !codes
  %steps = arith.ceildivui %length, %bk : index
  %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<${M}x${N}xf32>) {
    %a = tile.load %x[%m, %k] : !codes -> tensor<${M}x${K}xf8E4M3FN>
    %yp = tile.load %y[%n, %k] : !pairs -> tensor<${N}x${K/2}x!tile.f4E2M1FNx2>
    %yu = tile.unpack %yp : tensor<${N}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${N}x${K}xf4E2M1FN>
    %b = tile.permute %yu [1, 0] : tensor<${N}x${K}xf4E2M1FN> -> tensor<${K}x${N}xf4E2M1FN>
    %sa = tile.load %xs[%m, %k] : !scales -> tensor<${M}x${K/32}xf8E8M0FNU>
    %sl = tile.load %ys[%n, %k] : !scales -> tensor<${N}x${K/32}xf8E8M0FNU>
    %sb = tile.permute %sl [1, 0] : tensor<${N}x${K/32}xf8E8M0FNU> -> tensor<${K/32}x${N}xf8E8M0FNU>
    %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<${M}x${K}xf8E4M3FN>, tensor<${K}x${N}xf4E2M1FN>, tensor<${M}x${N}xf32>, tensor<${M}x${K/32}xf8E8M0FNU>, tensor<${K/32}x${N}xf8E8M0FNU>
    scf.yield %r : tensor<${M}x${N}xf32>
  }
  tile.store %sum, %z[%m, %n] : tensor<${M}x${N}xf32>, !out
  return
}
