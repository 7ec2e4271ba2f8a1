// Every kind of operand on its way through shared memory, in five iterations.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_89,sm_120f --grid=1 --num-stages=3

// RUN: %{run} --entry=bf16_rows out:32x16 in:32x160 in:16x160 | FileCheck %s --check-prefix=SMALL
// RUN: %{run} --entry=bf16_rows --num-warps=4 out:32x16 in:32x160 in:16x160 | FileCheck %s --check-prefix=SMALL
// RUN: %{run} --entry=f16_columns out:32x16 in:32x160 in:160x16 | FileCheck %s --check-prefix=SMALL
// RUN: %{run} --entry=fp8 out:32x16 in:32x320 in:16x320 in:32x10:scale in:16x10:scale | FileCheck %s --check-prefix=SMALL
// RUN: %{run} --entry=fp8 --num-warps=2 out:32x16 in:32x320 in:16x320 in:32x10:scale in:16x10:scale | FileCheck %s --check-prefix=SMALL
// RUN: %{run} --entry=mixed out:32x16 in:32x640 in:16x320 in:32x20:scale in:16x20:scale | FileCheck %s --check-prefix=SMALL
// RUN: %{run} --entry=weights out:32x16 in:32x320 in:16x160 in:16x20:scale | FileCheck %s --check-prefix=SMALL
// RUN: %{run} --entry=batched out:2x16x8 in:2x16x160 in:2x8x160 | FileCheck %s --check-prefix=BATCH
// RUN: %{run} --entry=chunks out:128x128 in:128x160 in:128x160 in:1x5x32x4x4:scale in:1x5x32x4x4:scale | FileCheck %s --check-prefix=CHUNKS
// SMALL: sm_80: 512 elements agree
// SMALL: sm_89: 512 elements agree
// SMALL: sm_120f: 512 elements agree
// BATCH: sm_80: 256 elements agree
// BATCH: sm_89: 256 elements agree
// BATCH: sm_120f: 256 elements agree
// CHUNKS: sm_80: 16384 elements agree
// CHUNKS: sm_89: 16384 elements agree
// CHUNKS: sm_120f: 16384 elements agree

// All of them are staged but scales of which a row has less than four bytes.
// RUN: tile-opt %s --tile-stage-loads=target=sm_80 | FileCheck %s --check-prefix=STAGED
// STAGED-NOT: tile.load
// STAGED: tile.load {{.*}} -> tensor<32x2xf8E8M0FNU>
// STAGED-NEXT: tile.load {{.*}} -> tensor<16x2xf8E8M0FNU>
// STAGED-NOT: tile.load

func.func @bf16_rows(%z: memref<32x16xf32>, %x: memref<32x160xbf16>, %y: memref<16x160xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x16xf32>) {
    %p = tile.load %x[%c0, %k] : memref<32x160xbf16> -> tensor<32x32xbf16>
    %q = tile.load %y[%c0, %k] : memref<16x160xbf16> -> tensor<16x32xbf16>
    %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<32x32xbf16>, tensor<32x16xbf16>, tensor<32x16xf32>
    scf.yield %s : tensor<32x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  return
}

func.func @f16_columns(%z: memref<32x16xf32>, %x: memref<32x160xf16>, %y: memref<160x16xf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x16xf32>) {
    %p = tile.load %x[%c0, %k] : memref<32x160xf16> -> tensor<32x32xf16>
    %q = tile.load %y[%k, %c0] : memref<160x16xf16> -> tensor<32x16xf16>
    %s = tile.mmaf %p, %q, %a : tensor<32x32xf16>, tensor<32x16xf16>, tensor<32x16xf32>
    scf.yield %s : tensor<32x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  return
}

func.func @fp8(%z: memref<32x16xf32>, %x: memref<32x320xf8E4M3FN>, %y: memref<16x320xf8E5M2>,
               %xs: memref<32x10xf8E8M0FNU>, %ys: memref<16x10xf8E8M0FNU>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x16xf32>) {
    %p = tile.load %x[%c0, %k] : memref<32x320xf8E4M3FN> -> tensor<32x64xf8E4M3FN>
    %q = tile.load %y[%c0, %k] : memref<16x320xf8E5M2> -> tensor<16x64xf8E5M2>
    %sp = tile.load %xs[%c0, %k] : memref<32x10xf8E8M0FNU> -> tensor<32x2xf8E8M0FNU>
    %sq = tile.load %ys[%c0, %k] : memref<16x10xf8E8M0FNU> -> tensor<16x2xf8E8M0FNU>
    %t = tile.permute %q [1, 0] : tensor<16x64xf8E5M2> -> tensor<64x16xf8E5M2>
    %st = tile.permute %sq [1, 0] : tensor<16x2xf8E8M0FNU> -> tensor<2x16xf8E8M0FNU>
    %s = tile.mmaf_scaled %p, %t, %a, %sp, %st : tensor<32x64xf8E4M3FN>, tensor<64x16xf8E5M2>, tensor<32x16xf32>, tensor<32x2xf8E8M0FNU>, tensor<2x16xf8E8M0FNU>
    scf.yield %s : tensor<32x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  return
}

func.func @mixed(%z: memref<32x16xf32>, %x: memref<32x640xf8E4M3FN>, %y: memref<16x320x!tile.f4E2M1FNx2>,
                 %xs: memref<32x20xf8E8M0FNU>, %ys: memref<16x20xf8E8M0FNU>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x16xf32>) {
    %p = tile.load %x[%c0, %k] : memref<32x640xf8E4M3FN> -> tensor<32x128xf8E4M3FN>
    %qp = tile.load %y[%c0, %k] : memref<16x320x!tile.f4E2M1FNx2> -> tensor<16x64x!tile.f4E2M1FNx2>
    %q = tile.unpack %qp : tensor<16x64x!tile.f4E2M1FNx2> -> tensor<16x128xf4E2M1FN>
    %sp = tile.load %xs[%c0, %k] : memref<32x20xf8E8M0FNU> -> tensor<32x4xf8E8M0FNU>
    %sq = tile.load %ys[%c0, %k] : memref<16x20xf8E8M0FNU> -> tensor<16x4xf8E8M0FNU>
    %t = tile.permute %q [1, 0] : tensor<16x128xf4E2M1FN> -> tensor<128x16xf4E2M1FN>
    %st = tile.permute %sq [1, 0] : tensor<16x4xf8E8M0FNU> -> tensor<4x16xf8E8M0FNU>
    %s = tile.mmaf_scaled %p, %t, %a, %sp, %st : tensor<32x128xf8E4M3FN>, tensor<128x16xf4E2M1FN>, tensor<32x16xf32>, tensor<32x4xf8E8M0FNU>, tensor<4x16xf8E8M0FNU>
    scf.yield %s : tensor<32x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  return
}

func.func @weights(%z: memref<32x16xf32>, %x: memref<32x320xbf16>, %y: memref<16x160x!tile.f4E2M1FNx2>,
                   %ys: memref<16x20xf8E4M3FN>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x16xf32>) {
    %p = tile.load %x[%c0, %k] : memref<32x320xbf16> -> tensor<32x64xbf16>
    %qp = tile.load %y[%c0, %k] : memref<16x160x!tile.f4E2M1FNx2> -> tensor<16x32x!tile.f4E2M1FNx2>
    %q = tile.unpack %qp : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
    %sq = tile.load %ys[%c0, %k] : memref<16x20xf8E4M3FN> -> tensor<16x4xf8E4M3FN>
    %t = tile.permute %q [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
    %st = tile.permute %sq [1, 0] : tensor<16x4xf8E4M3FN> -> tensor<4x16xf8E4M3FN>
    %s = tile.mmaf_scaled %p, %t, %a, %st : tensor<32x64xbf16>, tensor<64x16xf4E2M1FN>, tensor<32x16xf32>, tensor<4x16xf8E4M3FN>
    scf.yield %s : tensor<32x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x16xf32>, memref<32x16xf32>
  return
}

func.func @batched(%z: memref<2x16x8xf32>, %x: memref<2x16x160xbf16>, %y: memref<2x8x160xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<2x16x8xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<2x16x8xf32>) {
    %p = tile.load %x[%c0, %c0, %k] : memref<2x16x160xbf16> -> tensor<2x16x32xbf16>
    %q = tile.load %y[%c0, %c0, %k] : memref<2x8x160xbf16> -> tensor<2x8x32xbf16>
    %t = tile.permute %q [0, 2, 1] : tensor<2x8x32xbf16> -> tensor<2x32x8xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<2x16x32xbf16>, tensor<2x32x8xbf16>, tensor<2x16x8xf32>
    scf.yield %s : tensor<2x16x8xf32>
  }
  tile.store %r, %z[%c0, %c0, %c0] : tensor<2x16x8xf32>, memref<2x16x8xf32>
  return
}

func.func @chunks(%z: memref<128x128xf32>, %x: memref<128x160x!tile.f4E2M1FNx2>, %y: memref<128x160x!tile.f4E2M1FNx2>,
                  %xs: memref<1x5x32x4x4xf8E4M3FN>, %ys: memref<1x5x32x4x4xf8E4M3FN>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x128xf32>) {
    %pp = tile.load %x[%c0, %k] : memref<128x160x!tile.f4E2M1FNx2> -> tensor<128x32x!tile.f4E2M1FNx2>
    %qp = tile.load %y[%c0, %k] : memref<128x160x!tile.f4E2M1FNx2> -> tensor<128x32x!tile.f4E2M1FNx2>
    %p = tile.unpack %pp : tensor<128x32x!tile.f4E2M1FNx2> -> tensor<128x64xf4E2M1FN>
    %q = tile.unpack %qp : tensor<128x32x!tile.f4E2M1FNx2> -> tensor<128x64xf4E2M1FN>
    %t = tile.permute %q [1, 0] : tensor<128x64xf4E2M1FN> -> tensor<64x128xf4E2M1FN>
    %cx = tile.load %xs[%c0, %k, %c0, %c0, %c0] : memref<1x5x32x4x4xf8E4M3FN> -> tensor<1x1x32x4x4xf8E4M3FN>
    %px = tile.permute %cx [0, 3, 2, 1, 4] : tensor<1x1x32x4x4xf8E4M3FN> -> tensor<1x4x32x1x4xf8E4M3FN>
    %sp = tile.reshape %px : tensor<1x4x32x1x4xf8E4M3FN> -> tensor<128x4xf8E4M3FN>
    %cy = tile.load %ys[%c0, %k, %c0, %c0, %c0] : memref<1x5x32x4x4xf8E4M3FN> -> tensor<1x1x32x4x4xf8E4M3FN>
    %py = tile.permute %cy [0, 3, 2, 1, 4] : tensor<1x1x32x4x4xf8E4M3FN> -> tensor<1x4x32x1x4xf8E4M3FN>
    %sl = tile.reshape %py : tensor<1x4x32x1x4xf8E4M3FN> -> tensor<128x4xf8E4M3FN>
    %st = tile.permute %sl [1, 0] : tensor<128x4xf8E4M3FN> -> tensor<4x128xf8E4M3FN>
    %s = tile.mmaf_scaled %p, %t, %a, %sp, %st : tensor<128x64xf4E2M1FN>, tensor<64x128xf4E2M1FN>, tensor<128x128xf32>, tensor<128x4xf8E4M3FN>, tensor<4x128xf8E4M3FN>
    scf.yield %s : tensor<128x128xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<128x128xf32>, memref<128x128xf32>
  return
}
