// RUN: tile-opt %s --split-input-file --tile-split-reduction=num-warps=4 | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-split-reduction=num-warps=4 --remarks-filter='tile-split.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Four warps, each with a quarter of K. The parts are added once, in order.
// REMARK: remark: [Passed] split-reduction | Category:tile-split-reduction | Function=scaled | Reason="M and N are too small for all warps", parts=4, warps=4
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME:    attributes {tile.kernel, tile.num_warps = 4 : i32}
// CHECK:         %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<4x16x32xf32>
// CHECK:         %[[T:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[Z]]) -> (tensor<4x16x32xf32>)
// CHECK:           %[[XR:.*]] = tile.reshape %{{.*}} : tensor<16x128xf4E2M1FN> -> tensor<16x4x32xf4E2M1FN>
// CHECK-NEXT:      %[[X:.*]] = tile.permute %[[XR]] [1, 0, 2] : tensor<16x4x32xf4E2M1FN> -> tensor<4x16x32xf4E2M1FN>
// CHECK-NEXT:      %[[Y:.*]] = tile.reshape %{{.*}} : tensor<128x32xf4E2M1FN> -> tensor<4x32x32xf4E2M1FN>
// CHECK-NEXT:      %[[SXR:.*]] = tile.reshape %{{.*}} : tensor<16x8xf8E4M3FN> -> tensor<16x4x2xf8E4M3FN>
// CHECK-NEXT:      %[[SX:.*]] = tile.permute %[[SXR]] [1, 0, 2]
// CHECK-NEXT:      %[[SY:.*]] = tile.reshape %{{.*}} : tensor<8x32xf8E4M3FN> -> tensor<4x2x32xf8E4M3FN>
// CHECK-NEXT:      %[[R:.*]] = tile.mmaf_scaled %[[X]], %[[Y]], %[[A]], %[[SX]], %[[SY]] {atom = "m16n8k16.bf16.bf16", path = "expand"}
// CHECK-NEXT:      scf.yield %[[R]] : tensor<4x16x32xf32>
// CHECK:         %[[S:.*]] = tile.reduce add %[[T]] [0] : tensor<4x16x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    tile.store %[[S]]
func.func @scaled(%z: memref<?x?xf32>, %x: memref<?x?x!tile.f4E2M1FNx2>, %y: memref<?x?x!tile.f4E2M1FNx2>, %xs: memref<?x?xf8E4M3FN>, %ys: memref<?x?xf8E4M3FN>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x32xf32>) {
    %xp = tile.load %x[%c0, %k] : memref<?x?x!tile.f4E2M1FNx2> -> tensor<16x64x!tile.f4E2M1FNx2>
    %yp = tile.load %y[%c0, %k] : memref<?x?x!tile.f4E2M1FNx2> -> tensor<32x64x!tile.f4E2M1FNx2>
    %xu = tile.unpack %xp : tensor<16x64x!tile.f4E2M1FNx2> -> tensor<16x128xf4E2M1FN>
    %yu = tile.unpack %yp : tensor<32x64x!tile.f4E2M1FNx2> -> tensor<32x128xf4E2M1FN>
    %yt = tile.permute %yu [1, 0] : tensor<32x128xf4E2M1FN> -> tensor<128x32xf4E2M1FN>
    %sx = tile.load %xs[%c0, %k] : memref<?x?xf8E4M3FN> -> tensor<16x8xf8E4M3FN>
    %sl = tile.load %ys[%c0, %k] : memref<?x?xf8E4M3FN> -> tensor<32x8xf8E4M3FN>
    %sy = tile.permute %sl [1, 0] : tensor<32x8xf8E4M3FN> -> tensor<8x32xf8E4M3FN>
    %d = tile.mmaf_scaled %xu, %yt, %a, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"}
       : tensor<16x128xf4E2M1FN>, tensor<128x32xf4E2M1FN>, tensor<16x32xf32>, tensor<16x8xf8E4M3FN>, tensor<8x32xf8E4M3FN>
    scf.yield %d : tensor<16x32xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<16x32xf32>, memref<?x?xf32>
  return
}

// -----

// Parts of batches are batches.
// CHECK-LABEL: func.func @batched(
// CHECK:         scf.for {{.*}} -> (tensor<4x16x16xf32>)
// CHECK:           %[[XR:.*]] = tile.reshape %{{.*}} : tensor<2x16x64xbf16> -> tensor<2x16x2x32xbf16>
// CHECK-NEXT:      %[[XP:.*]] = tile.permute %[[XR]] [0, 2, 1, 3] : tensor<2x16x2x32xbf16> -> tensor<2x2x16x32xbf16>
// CHECK-NEXT:      %[[X:.*]] = tile.reshape %[[XP]] : tensor<2x2x16x32xbf16> -> tensor<4x16x32xbf16>
// CHECK:           tile.reshape %{{.*}} : tensor<2x2x32x16xbf16> -> tensor<4x32x16xbf16>
// CHECK:           tile.mmaf
// CHECK:         %[[T:.*]] = tile.reshape %{{.*}} : tensor<4x16x16xf32> -> tensor<2x2x16x16xf32>
// CHECK-NEXT:    tile.reduce add %[[T]] [1] : tensor<2x2x16x16xf32> -> tensor<2x16x16xf32>
func.func @batched(%z: memref<2x16x16xf32>, %x: memref<2x16x128xbf16>, %y: memref<2x128x16xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<2x16x16xf32>
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (tensor<2x16x16xf32>) {
    %p = tile.load %x[%c0, %c0, %k] : memref<2x16x128xbf16> -> tensor<2x16x64xbf16>
    %q = tile.load %y[%c0, %k, %c0] : memref<2x128x16xbf16> -> tensor<2x64x16xbf16>
    %d = tile.mmaf %p, %q, %a {atom = "m16n8k16.bf16.bf16", path = "native"}
       : tensor<2x16x64xbf16>, tensor<2x64x16xbf16>, tensor<2x16x16xf32>
    scf.yield %d : tensor<2x16x16xf32>
  }
  tile.store %r, %z[%c0, %c0, %c0] : tensor<2x16x16xf32>, memref<2x16x16xf32>
  return
}

// -----

// No more parts than steps of K: 128 values are two of the instruction's 64.
// REMARK: Function=steps | {{.*}}parts=2
// CHECK-LABEL: func.func @steps(
// CHECK:       tile.mmaf_scaled {{.*}} tensor<2x16x64xf4E2M1FN>, tensor<2x64x8xf4E2M1FN>
func.func @steps(%z: memref<16x8xf32>, %xm: memref<16x64xi8>, %ym: memref<128x4xi8>, %sxm: memref<16x8xf8E4M3FN>, %sym: memref<8x8xf8E4M3FN>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xp = tile.load %xm[%c0, %c0] : memref<16x64xi8> -> tensor<16x64xi8>
  %yp = tile.load %ym[%c0, %c0] : memref<128x4xi8> -> tensor<128x4xi8>
  %x = tile.unpack %xp : tensor<16x64xi8> -> tensor<16x128xf4E2M1FN>
  %y = tile.unpack %yp : tensor<128x4xi8> -> tensor<128x8xf4E2M1FN>
  %sx = tile.load %sxm[%c0, %c0] : memref<16x8xf8E4M3FN> -> tensor<16x8xf8E4M3FN>
  %sy = tile.load %sym[%c0, %c0] : memref<8x8xf8E4M3FN> -> tensor<8x8xf8E4M3FN>
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (tensor<16x8xf32>) {
    %d = tile.mmaf_scaled %x, %y, %a, %sx, %sy {atom = "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3", path = "native"}
       : tensor<16x128xf4E2M1FN>, tensor<128x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>
    scf.yield %d : tensor<16x8xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}

// -----

// There is enough of M and N for all warps; no remark either.
// REMARK-NOT: Function=large
// CHECK-LABEL: func.func @large(
// CHECK-NOT:   tile.num_warps
// CHECK:       tile.mmaf %{{.*}} : tensor<32x64xbf16>, tensor<64x64xbf16>, tensor<32x64xf32>
// CHECK-NOT:   tile.reduce
func.func @large(%z: memref<32x64xf32>, %xm: memref<32x64xbf16>, %ym: memref<64x64xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %xm[%c0, %c0] : memref<32x64xbf16> -> tensor<32x64xbf16>
  %y = tile.load %ym[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (tensor<32x64xf32>) {
    %d = tile.mmaf %x, %y, %a {atom = "m16n8k16.bf16.bf16", path = "native"}
       : tensor<32x64xbf16>, tensor<64x64xbf16>, tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x64xf32>, memref<32x64xf32>
  return
}

// -----

// Sums that start from something else, are read in the loop, or are of no loop.
// REMARK: remark: [Missed] split-reduction | {{.*}} | Function=other_sums | Reason="the sums are not carried by the loop alone, from zero"
// REMARK: Function=other_sums
// REMARK: Function=other_sums
// REMARK: Function=other_sums
// CHECK-LABEL: func.func @other_sums(
// CHECK-NOT:   tile.reduce
// CHECK-NOT:   tile.reshape
func.func @other_sums(%z: memref<16x16xf32>, %xm: memref<16x64xbf16>, %ym: memref<64x16xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %xm[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
  %y = tile.load %ym[%c0, %c0] : memref<64x16xbf16> -> tensor<64x16xbf16>
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %one = arith.constant dense<1.0> : tensor<16x16xf32>
  %r:3 = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %one, %b = %zero, %c = %zero) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %d = tile.mmaf %x, %y, %a {atom = "m16n8k16.bf16.bf16", path = "native"}
       : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
    %e = tile.mmaf %x, %y, %b {atom = "m16n8k16.bf16.bf16", path = "native"}
       : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
    %f = arith.mulf %e, %one : tensor<16x16xf32>
    %g = tile.mmaf %x, %y, %c {atom = "m16n8k16.bf16.bf16", path = "native"}
       : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
    tile.store %g, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
    scf.yield %d, %f, %g : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
  %h = tile.mmaf %x, %y, %r#0 {atom = "m16n8k16.bf16.bf16", path = "native"}
     : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
  tile.store %h, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  return
}

// -----

// One warp has nobody to divide with.
// CHECK-LABEL: func.func @one_warp(
// CHECK-NOT:   tile.reduce
func.func @one_warp(%z: memref<16x16xf32>, %xm: memref<16x64xbf16>, %ym: memref<64x16xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %xm[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
  %y = tile.load %ym[%c0, %c0] : memref<64x16xbf16> -> tensor<64x16xbf16>
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) {
    %d = tile.mmaf %x, %y, %a {atom = "m16n8k16.bf16.bf16", path = "native"}
       : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  return
}
