// K divided among warps: every kind of operand, any number of parts and warps,
// trip counts from 0 up, batches, and ragged edges of K that leave some parts
// without any value.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_90a,sm_120a

// It happens, for as many parts as there are warps to spare and steps of K.
// RUN: tile-compile %s -DM=16 -DN=32 -DK=128 --num-warps=4 --target=sm_80 --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: split-reduction {{.*}} Function=weights {{.*}}parts=4
// REMARK-DAG: split-reduction {{.*}} Function=wide {{.*}}parts=4
// REMARK-DAG: split-reduction {{.*}} Function=fp8 {{.*}}parts=4
// REMARK-DAG: split-reduction {{.*}} Function=batched {{.*}}parts=2

// RUN: %{run} --entry=weights -DM=16 -DN=32 -DK=128 --num-warps=4 --grid=1,1 out:16x32 in:16x512 in:32x256 in:32x32:scale | FileCheck %s
// RUN: %{run} --entry=weights -DM=16 -DN=32 -DK=128 --num-warps=4 --grid=2,2 out:17x40 in:17x576 in:40x288 in:40x36:scale --schedule=5 | FileCheck %s
// RUN: %{run} --entry=weights -DM=1 -DN=32 -DK=256 --num-warps=8 --grid=1,2 out:1x48 in:1x384 in:48x192 in:48x24:scale | FileCheck %s
// RUN: %{run} --entry=weights -DM=8 -DN=16 -DK=512 --num-warps=16 --grid=2,1 out:9x16 in:9x832 in:16x416 in:16x52:scale | FileCheck %s
// RUN: %{run} --entry=weights -DM=16 -DN=64 -DK=64 --num-warps=8 --grid=1,1 out:16x64 in:16x320 in:64x160 in:64x20:scale | FileCheck %s
// RUN: %{run} --entry=weights -DM=64 -DN=16 -DK=128 --num-warps=8 --num-stages=1 --grid=1,1 out:64x16 in:64x384 in:16x192 in:16x24:scale | FileCheck %s
// RUN: %{run} --entry=weights -DM=16 -DN=32 -DK=128 --num-warps=4 --grid=1,1 out:16x32 in:16x0 in:32x0 in:32x0:scale | FileCheck %s
// RUN: %{run} --entry=weights -DM=16 -DN=32 -DK=128 --grid=1,1 --random --terms=640 out:16x32 in:16x640 in:32x320 in:32x40:scale | FileCheck %s
// RUN: %{run} --entry=wide -DM=16 -DN=16 -DK=128 --num-warps=4 --grid=2,2 out:20x24 in:20x384 in:384x24 | FileCheck %s
// RUN: %{run} --entry=fp8 -DM=16 -DN=32 -DK=256 --num-warps=8 --grid=1,2 out:15x60 in:15x512 in:60x512 in:15x16:scale in:60x16:scale | FileCheck %s
// RUN: %{run} --entry=batched -DM=16 -DN=16 -DK=64 --num-warps=8 --grid=1,1 out:2x16x16 in:2x16x320 in:2x16x320 | FileCheck %s
// RUN: %{run} --entry=nan_scale -DM=16 -DN=32 -DK=128 --num-warps=4 --grid=1,1 out:16x32 in:16x256 in:32x128 in:32x16:scale | FileCheck %s
// CHECK:      sm_80: [[COUNT:[0-9]+]] elements agree
// CHECK-NEXT: sm_90a: [[COUNT]] elements agree
// CHECK-NEXT: sm_120a: [[COUNT]] elements agree

// The same through W4A4 layers, native on sm_120a.
// DEFINE: %{layer} = tile-lane-run --check %S/../../examples/kernels/nvfp4_linear_aligned.mlir --target=sm_80,sm_90a,sm_120a -DKA=64
// RUN: %{layer} -DBM=16 -DBN=32 -DBK=256 --num-warps=4 --grid=2,2 out:17x52:stride=52 in:17x224 in:52x224 in:17x28:scale in:52x28:scale val:0.5 | FileCheck %s
// RUN: %{layer} -DBM=8 -DBN=32 -DBK=512 --num-warps=8 --grid=1,2 out:5x52:stride=52 in:5x288 in:52x288 in:5x36:scale in:52x36:scale val:0.5 | FileCheck %s

!out = memref<?x?xf32, strided<[?, 1]>>
!wide = memref<?x?xbf16, strided<[?, 1]>>
!pairs = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!bytes = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!powers = memref<?x?xf8E8M0FNU, strided<[?, 1]>>

func.func @weights(
    %z: !out,
    %x: !wide {tile.shape_divisible_by = array<i64: 1, 64>, tile.stride_divisible_by = array<i64: 64, 1>},
    %y: !pairs {tile.shape_divisible_by = array<i64: 1, 32>, tile.stride_divisible_by = array<i64: 32, 1>},
    %s: !bytes {tile.shape_divisible_by = array<i64: 1, 4>, tile.stride_divisible_by = array<i64: 4, 1>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %kv = memref.dim %x, %c1 : !wide
  %steps = arith.ceildivui %kv, %bk : index
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%a = %zero) -> (tensor<${M}x${N}xf32>) {
    %p = tile.load %x[%m, %k] : !wide -> tensor<${M}x${K}xbf16>
    %q0 = tile.load %y[%n, %k] : !pairs -> tensor<${N}x${K/2}x!tile.f4E2M1FNx2>
    %q1 = tile.unpack %q0 : tensor<${N}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${N}x${K}xf4E2M1FN>
    %q = tile.permute %q1 [1, 0] : tensor<${N}x${K}xf4E2M1FN> -> tensor<${K}x${N}xf4E2M1FN>
    %s0 = tile.load %s[%n, %k] : !bytes -> tensor<${N}x${K/16}xf8E4M3FN>
    %sq = tile.permute %s0 [1, 0] : tensor<${N}x${K/16}xf8E4M3FN> -> tensor<${K/16}x${N}xf8E4M3FN>
    %d = tile.mmaf_scaled %p, %q, %a, %sq : tensor<${M}x${K}xbf16>, tensor<${K}x${N}xf4E2M1FN>, tensor<${M}x${N}xf32>, tensor<${K/16}x${N}xf8E4M3FN>
    scf.yield %d : tensor<${M}x${N}xf32>
  }
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, !out
  return
}

func.func @wide(
    %z: !out,
    %x: !wide {tile.shape_divisible_by = array<i64: 1, 8>, tile.stride_divisible_by = array<i64: 8, 1>},
    %y: !wide {tile.shape_divisible_by = array<i64: 1, 8>, tile.stride_divisible_by = array<i64: 8, 1>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %kv = memref.dim %x, %c1 : !wide
  %steps = arith.ceildivui %kv, %bk : index
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%a = %zero) -> (tensor<${M}x${N}xf32>) {
    %p = tile.load %x[%m, %k] : !wide -> tensor<${M}x${K}xbf16>
    %q = tile.load %y[%k, %n] : !wide -> tensor<${K}x${N}xbf16>
    %d = tile.mmaf %p, %q, %a : tensor<${M}x${K}xbf16>, tensor<${K}x${N}xbf16>, tensor<${M}x${N}xf32>
    scf.yield %d : tensor<${M}x${N}xf32>
  }
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, !out
  return
}

func.func @fp8(
    %z: !out,
    %x: !bytes {tile.shape_divisible_by = array<i64: 1, 128>, tile.stride_divisible_by = array<i64: 128, 1>},
    %y: !bytes {tile.shape_divisible_by = array<i64: 1, 128>, tile.stride_divisible_by = array<i64: 128, 1>},
    %xs: !powers {tile.shape_divisible_by = array<i64: 1, 4>, tile.stride_divisible_by = array<i64: 4, 1>},
    %ys: !powers {tile.shape_divisible_by = array<i64: 1, 4>, tile.stride_divisible_by = array<i64: 4, 1>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${K} : index
  %zero = arith.constant dense<0.0> : tensor<${M}x${N}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %kv = memref.dim %x, %c1 : !bytes
  %steps = arith.ceildivui %kv, %bk : index
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%a = %zero) -> (tensor<${M}x${N}xf32>) {
    %p = tile.load %x[%m, %k] : !bytes -> tensor<${M}x${K}xf8E4M3FN>
    %q0 = tile.load %y[%n, %k] : !bytes -> tensor<${N}x${K}xf8E4M3FN>
    %q = tile.permute %q0 [1, 0] : tensor<${N}x${K}xf8E4M3FN> -> tensor<${K}x${N}xf8E4M3FN>
    %sp = tile.load %xs[%m, %k] : !powers -> tensor<${M}x${K/32}xf8E8M0FNU>
    %s0 = tile.load %ys[%n, %k] : !powers -> tensor<${N}x${K/32}xf8E8M0FNU>
    %sq = tile.permute %s0 [1, 0] : tensor<${N}x${K/32}xf8E8M0FNU> -> tensor<${K/32}x${N}xf8E8M0FNU>
    %d = tile.mmaf_scaled %p, %q, %a, %sp, %sq : tensor<${M}x${K}xf8E4M3FN>, tensor<${K}x${N}xf8E4M3FN>, tensor<${M}x${N}xf32>, tensor<${M}x${K/32}xf8E8M0FNU>, tensor<${K/32}x${N}xf8E8M0FNU>
    scf.yield %d : tensor<${M}x${N}xf32>
  }
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, !out
  return
}

func.func @batched(%z: memref<2x16x16xf32>, %x: memref<2x16x320xbf16>, %y: memref<2x16x320xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<2x16x16xf32>
  %r = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %zero) -> (tensor<2x16x16xf32>) {
    %p = tile.load %x[%c0, %c0, %k] : memref<2x16x320xbf16> -> tensor<2x16x64xbf16>
    %q0 = tile.load %y[%c0, %c0, %k] : memref<2x16x320xbf16> -> tensor<2x16x64xbf16>
    %q = tile.permute %q0 [0, 2, 1] : tensor<2x16x64xbf16> -> tensor<2x64x16xbf16>
    %d = tile.mmaf %p, %q, %a : tensor<2x16x64xbf16>, tensor<2x64x16xbf16>, tensor<2x16x16xf32>
    scf.yield %d : tensor<2x16x16xf32>
  }
  tile.store %r, %z[%c0, %c0, %c0] : tensor<2x16x16xf32>, memref<2x16x16xf32>
  return
}

// One scale is NaN, in a part that one warp has: its column of results is NaN, and
// no other.
func.func @nan_scale(%z: memref<16x32xf32>, %x: memref<16x256xbf16>, %y: memref<32x128x!tile.f4E2M1FNx2>, %s: memref<32x16xf8E4M3FN>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %i = tile.iota : tensor<256xi32>
  %place = arith.constant dense<77> : tensor<256xi32>
  %here = arith.cmpi eq, %i, %place : tensor<256xi32>
  %at = tile.reshape %here : tensor<256xi1> -> tensor<32x8xi1>
  %nan = arith.constant dense<0x7F> : tensor<32x8xf8E4M3FN>
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (tensor<16x32xf32>) {
    %p = tile.load %x[%c0, %k] : memref<16x256xbf16> -> tensor<16x128xbf16>
    %q0 = tile.load %y[%c0, %k] : memref<32x128x!tile.f4E2M1FNx2> -> tensor<32x64x!tile.f4E2M1FNx2>
    %q1 = tile.unpack %q0 : tensor<32x64x!tile.f4E2M1FNx2> -> tensor<32x128xf4E2M1FN>
    %q = tile.permute %q1 [1, 0] : tensor<32x128xf4E2M1FN> -> tensor<128x32xf4E2M1FN>
    %s0 = tile.load %s[%c0, %k] : memref<32x16xf8E4M3FN> -> tensor<32x8xf8E4M3FN>
    %s1 = arith.select %at, %nan, %s0 : tensor<32x8xi1>, tensor<32x8xf8E4M3FN>
    %sq = tile.permute %s1 [1, 0] : tensor<32x8xf8E4M3FN> -> tensor<8x32xf8E4M3FN>
    %d = tile.mmaf_scaled %p, %q, %a, %sq : tensor<16x128xbf16>, tensor<128x32xf4E2M1FN>, tensor<16x32xf32>, tensor<8x32xf8E4M3FN>
    scf.yield %d : tensor<16x32xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<16x32xf32>, memref<16x32xf32>
  return
}
