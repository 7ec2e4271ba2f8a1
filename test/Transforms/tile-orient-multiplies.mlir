// RUN: tile-opt %s --split-input-file --tile-orient-multiplies | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-orient-multiplies --remarks-filter='tile-orient.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The decoded operand goes to the M side, its scale with it. The permutation that
// it came from and the new one cancel; the sums are turned in the loop only.
// REMARK: remark: [Analysis] operand-roles | Category:tile-orient-multiplies | Function=weights | Reason="rhs is decoded, lhs is not", m-side=rhs
// CHECK-LABEL: func.func @weights(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<64x128xbf16>, %[[W:[a-z0-9]*]]: tensor<32x128xf4E2M1FN>, %[[S:[a-z0-9]*]]: tensor<8x32xf8E4M3FN>
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<64x32xf32>)
// CHECK-NEXT:      %[[XT:.*]] = tile.permute %[[X]] [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
// CHECK-NEXT:      %[[AT:.*]] = tile.permute %[[A]] [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
// CHECK-NEXT:      %[[ST:.*]] = tile.permute %[[S]] [1, 0] : tensor<8x32xf8E4M3FN> -> tensor<32x8xf8E4M3FN>
// CHECK-NEXT:      %[[R:.*]] = tile.mmaf_scaled %[[W]], %[[XT]], %[[AT]], %[[ST]] {atom = "m16n8k16.bf16.bf16", path = "expand"}
// CHECK-SAME:        tensor<32x128xf4E2M1FN>, tensor<128x64xbf16>, tensor<32x64xf32>, tensor<32x8xf8E4M3FN>
// CHECK-NEXT:      %[[T:.*]] = tile.permute %[[R]] [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:      scf.yield %[[T]]
func.func @weights(%x: tensor<64x128xbf16>, %w: tensor<32x128xf4E2M1FN>, %s: tensor<8x32xf8E4M3FN>, %c: tensor<64x32xf32>, %n: index) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %wt = tile.permute %w [1, 0] : tensor<32x128xf4E2M1FN> -> tensor<128x32xf4E2M1FN>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %c) -> (tensor<64x32xf32>) {
    %d = tile.mmaf_scaled %x, %wt, %a, %s {atom = "m16n8k16.bf16.bf16", path = "expand"}
       : tensor<64x128xbf16>, tensor<128x32xf4E2M1FN>, tensor<64x32xf32>, tensor<8x32xf8E4M3FN>
    scf.yield %d : tensor<64x32xf32>
  }
  return %r : tensor<64x32xf32>
}

// -----

// It is there already.
// REMARK: Function=weights_first | Reason="lhs is decoded, rhs is not", m-side=lhs
// CHECK-LABEL: func.func @weights_first(
// CHECK-NEXT: tile.mmaf_scaled %arg0, %arg1, %arg2, %arg3
func.func @weights_first(%w: tensor<64x128xf4E2M1FN>, %x: tensor<128x64xbf16>, %c: tensor<64x64xf32>, %s: tensor<64x4xf8E8M0FNU>) -> tensor<64x64xf32> {
  %d = tile.mmaf_scaled %w, %x, %c, %s {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<64x128xf4E2M1FN>, tensor<128x64xbf16>, tensor<64x64xf32>, tensor<64x4xf8E8M0FNU>
  return %d : tensor<64x64xf32>
}

// -----

// Both are decoded.
// REMARK: Function=both | Reason="the sides are alike", m-side=lhs
// CHECK-LABEL: func.func @both(
// CHECK-NEXT: tile.mmaf_scaled %arg0, %arg1, %arg2, %arg3, %arg4
func.func @both(%x: tensor<16x64xf4E2M1FN>, %y: tensor<64x128xf4E2M1FN>, %c: tensor<16x128xf32>, %sx: tensor<16x4xf8E4M3FN>, %sy: tensor<4x128xf8E4M3FN>) -> tensor<16x128xf32> {
  %d = tile.mmaf_scaled %x, %y, %c, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<16x64xf4E2M1FN>, tensor<64x128xf4E2M1FN>, tensor<16x128xf32>, tensor<16x4xf8E4M3FN>, tensor<4x128xf8E4M3FN>
  return %d : tensor<16x128xf32>
}

// -----

// Eight rows would leave half of the instruction to rows that nobody wants.
// REMARK: Function=few_rows | Reason="M has fewer rows than the instruction, N has not", m-side=rhs
// CHECK-LABEL: func.func @few_rows(
// CHECK:       tile.mmaf_scaled {{.*}} {atom = "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3", path = "native"}
// CHECK-SAME:  tensor<128x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<128x8xf32>, tensor<128x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
func.func @few_rows(%x: tensor<8x64xf4E2M1FN>, %y: tensor<64x128xf4E2M1FN>, %c: tensor<8x128xf32>, %sx: tensor<8x4xf8E4M3FN>, %sy: tensor<4x128xf8E4M3FN>) -> tensor<8x128xf32> {
  %d = tile.mmaf_scaled %x, %y, %c, %sx, %sy {atom = "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3", path = "native"}
     : tensor<8x64xf4E2M1FN>, tensor<64x128xf4E2M1FN>, tensor<8x128xf32>, tensor<8x4xf8E4M3FN>, tensor<4x128xf8E4M3FN>
  return %d : tensor<8x128xf32>
}

// -----

// Nor does decoding pay for that.
// REMARK: Function=few_columns | Reason="N has fewer rows than the instruction, M has not", m-side=lhs
// CHECK-LABEL: func.func @few_columns(
// CHECK-NEXT: tile.mmaf_scaled %arg0, %arg1, %arg2, %arg3
func.func @few_columns(%x: tensor<16x64xbf16>, %w: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %s: tensor<4x8xf8E4M3FN>) -> tensor<16x8xf32> {
  %d = tile.mmaf_scaled %x, %w, %c, %s {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<16x64xbf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<4x8xf8E4M3FN>
  return %d : tensor<16x8xf32>
}

// -----

// Operands of different formats take the instruction of the other order.
// CHECK-LABEL: func.func @formats(
// CHECK:       tile.mmaf_scaled {{.*}} {atom = "m16n8k32.mxf8f6f4.1x.e2m1.e5m2.ue8m0", path = "native"}
// CHECK-SAME:  tensor<16x32xf4E2M1FN>, tensor<32x1xf8E5M2>
// CHECK:       tile.mmaf {{.*}} {atom = "m16n8k32.e5m2.e4m3", path = "native"}
// CHECK-SAME:  tensor<16x32xf8E5M2>, tensor<32x1xf8E4M3FN>, tensor<16x1xf32>
func.func @formats(%x: tensor<1x32xf8E5M2>, %y: tensor<32x16xf4E2M1FN>, %c: tensor<1x16xf32>, %sx: tensor<1x1xf8E8M0FNU>, %sy: tensor<1x16xf8E8M0FNU>,
                   %p: tensor<1x32xf8E4M3FN>, %q: tensor<32x16xf8E5M2>) -> tensor<1x16xf32> {
  %d = tile.mmaf_scaled %x, %y, %c, %sx, %sy {atom = "m16n8k32.mxf8f6f4.1x.e5m2.e2m1.ue8m0", path = "native"}
     : tensor<1x32xf8E5M2>, tensor<32x16xf4E2M1FN>, tensor<1x16xf32>, tensor<1x1xf8E8M0FNU>, tensor<1x16xf8E8M0FNU>
  %e = tile.mmaf %p, %q, %d {atom = "m16n8k32.e4m3.e5m2", path = "native"}
     : tensor<1x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<1x16xf32>
  return %e : tensor<1x16xf32>
}

// -----

// The batch stays in front, and other attributes stay on the multiply.
// CHECK-LABEL: func.func @batched(
// CHECK:       tile.permute %arg1 [0, 2, 1]
// CHECK:       tile.permute %arg0 [0, 2, 1]
// CHECK:       tile.permute %arg2 [0, 2, 1]
// CHECK:       tile.mmaf {{.*}} {atom = "m16n8k16.f16.f16", note = 7 : i32, path = "native"} : tensor<2x16x32xf16>, tensor<2x32x8xf16>, tensor<2x16x8xf32>
// CHECK-NEXT:  tile.permute %{{.*}} [0, 2, 1] : tensor<2x16x8xf32> -> tensor<2x8x16xf32>
func.func @batched(%x: tensor<2x8x32xf16>, %y: tensor<2x32x16xf16>, %c: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  %d = tile.mmaf %x, %y, %c {atom = "m16n8k16.f16.f16", note = 7 : i32, path = "native"}
     : tensor<2x8x32xf16>, tensor<2x32x16xf16>, tensor<2x8x16xf32>
  return %d : tensor<2x8x16xf32>
}
