// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @nvfp4
// CHECK-SAME: %[[A:.*]]: tensor<128x64xf4E2M1FN>, %[[B:.*]]: tensor<64x128xf4E2M1FN>, %[[C:.*]]: tensor<128x128xf32>, %[[SA:.*]]: tensor<128x4xf8E4M3FN>, %[[SB:.*]]: tensor<4x128xf8E4M3FN>
func.func @nvfp4(%a: tensor<128x64xf4E2M1FN>, %b: tensor<64x128xf4E2M1FN>, %c: tensor<128x128xf32>, %sa: tensor<128x4xf8E4M3FN>, %sb: tensor<4x128xf8E4M3FN>) -> tensor<128x128xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<128x64xf4E2M1FN>, tensor<64x128xf4E2M1FN>, tensor<128x128xf32>, tensor<128x4xf8E4M3FN>, tensor<4x128xf8E4M3FN>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<128x64xf4E2M1FN>, tensor<64x128xf4E2M1FN>, tensor<128x128xf32>, tensor<128x4xf8E4M3FN>, tensor<4x128xf8E4M3FN>
  return %0 : tensor<128x128xf32>
}

// CHECK-LABEL: func @mxfp4
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf4E2M1FN>, %[[B:.*]]: tensor<64x8xf4E2M1FN>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x2xf8E8M0FNU>, %[[SB:.*]]: tensor<2x8xf8E8M0FNU>
func.func @mxfp4(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %sa: tensor<16x2xf8E8M0FNU>, %sb: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @mxfp4_16
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf4E2M1FN>, %[[B:.*]]: tensor<64x8xf4E2M1FN>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x4xf8E8M0FNU>, %[[SB:.*]]: tensor<4x8xf8E8M0FNU>
func.func @mxfp4_16(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %sa: tensor<16x4xf8E8M0FNU>, %sb: tensor<4x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E8M0FNU>, tensor<4x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E8M0FNU>, tensor<4x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @mxfp8
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf8E4M3FN>, %[[B:.*]]: tensor<64x8xf8E4M3FN>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x2xf8E8M0FNU>, %[[SB:.*]]: tensor<2x8xf8E8M0FNU>
func.func @mxfp8(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x8xf8E4M3FN>, %c: tensor<16x8xf32>, %sa: tensor<16x2xf8E8M0FNU>, %sb: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @mxfp8_e5m2
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf8E5M2>, %[[B:.*]]: tensor<64x8xf8E5M2>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x2xf8E8M0FNU>, %[[SB:.*]]: tensor<2x8xf8E8M0FNU>
func.func @mxfp8_e5m2(%a: tensor<16x64xf8E5M2>, %b: tensor<64x8xf8E5M2>, %c: tensor<16x8xf32>, %sa: tensor<16x2xf8E8M0FNU>, %sb: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<16x64xf8E5M2>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf8E5M2>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @mxfp8_mixed
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf8E4M3FN>, %[[B:.*]]: tensor<64x8xf8E5M2>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x2xf8E8M0FNU>, %[[SB:.*]]: tensor<2x8xf8E8M0FNU>
func.func @mxfp8_mixed(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x8xf8E5M2>, %c: tensor<16x8xf32>, %sa: tensor<16x2xf8E8M0FNU>, %sb: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @fp8_by_fp4
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf8E4M3FN>, %[[B:.*]]: tensor<64x8xf4E2M1FN>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x2xf8E8M0FNU>, %[[SB:.*]]: tensor<2x8xf8E8M0FNU>
func.func @fp8_by_fp4(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %sa: tensor<16x2xf8E8M0FNU>, %sb: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<16x64xf8E4M3FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf8E4M3FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @fp4_by_fp8
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf4E2M1FN>, %[[B:.*]]: tensor<64x8xf8E5M2>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x2xf8E8M0FNU>, %[[SB:.*]]: tensor<2x8xf8E8M0FNU>
func.func @fp4_by_fp8(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf8E5M2>, %c: tensor<16x8xf32>, %sa: tensor<16x2xf8E8M0FNU>, %sb: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<16x64xf4E2M1FN>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf4E2M1FN>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @weight_only_nvfp4
// CHECK-SAME: %[[A:.*]]: tensor<16x64xbf16>, %[[B:.*]]: tensor<64x8xf4E2M1FN>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<4x8xf8E4M3FN>
func.func @weight_only_nvfp4(%a: tensor<16x64xbf16>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %sa: tensor<4x8xf8E4M3FN>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]] : tensor<16x64xbf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<4x8xf8E4M3FN>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa : tensor<16x64xbf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<4x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @weight_only_mxfp4
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf16>, %[[B:.*]]: tensor<64x8xf4E2M1FN>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<2x8xf8E8M0FNU>
func.func @weight_only_mxfp4(%a: tensor<16x64xf16>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %sa: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]] : tensor<16x64xf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa : tensor<16x64xf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @weight_only_mxfp8
// CHECK-SAME: %[[A:.*]]: tensor<16x64xbf16>, %[[B:.*]]: tensor<64x8xf8E4M3FN>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<2x8xf8E8M0FNU>
func.func @weight_only_mxfp8(%a: tensor<16x64xbf16>, %b: tensor<64x8xf8E4M3FN>, %c: tensor<16x8xf32>, %sa: tensor<2x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]] : tensor<16x64xbf16>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<2x8xf8E8M0FNU>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa : tensor<16x64xbf16>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<2x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// The weight may as well be the left operand.
// CHECK-LABEL: func @weight_lhs
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf4E2M1FN>, %[[B:.*]]: tensor<64x8xbf16>, %[[C:.*]]: tensor<16x8xf32>, %[[SA:.*]]: tensor<16x4xf8E4M3FN>
func.func @weight_lhs(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>, %sa: tensor<16x4xf8E4M3FN>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]] : tensor<16x64xf4E2M1FN>, tensor<64x8xbf16>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa : tensor<16x64xf4E2M1FN>, tensor<64x8xbf16>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @batch
// CHECK-SAME: %[[A:.*]]: tensor<2x16x64xf4E2M1FN>, %[[B:.*]]: tensor<2x64x16xf4E2M1FN>, %[[C:.*]]: tensor<2x16x16xf32>, %[[SA:.*]]: tensor<2x16x4xf8E4M3FN>, %[[SB:.*]]: tensor<2x4x16xf8E4M3FN>
func.func @batch(%a: tensor<2x16x64xf4E2M1FN>, %b: tensor<2x64x16xf4E2M1FN>, %c: tensor<2x16x16xf32>, %sa: tensor<2x16x4xf8E4M3FN>, %sb: tensor<2x4x16xf8E4M3FN>) -> tensor<2x16x16xf32> {
  // CHECK: tile.mmaf_scaled %[[A]], %[[B]], %[[C]], %[[SA]], %[[SB]] : tensor<2x16x64xf4E2M1FN>, tensor<2x64x16xf4E2M1FN>, tensor<2x16x16xf32>, tensor<2x16x4xf8E4M3FN>, tensor<2x4x16xf8E4M3FN>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<2x16x64xf4E2M1FN>, tensor<2x64x16xf4E2M1FN>, tensor<2x16x16xf32>, tensor<2x16x4xf8E4M3FN>, tensor<2x4x16xf8E4M3FN>
  return %0 : tensor<2x16x16xf32>
}

// What legalisation notes is kept in text and bytecode.
// CHECK-LABEL: func @annotated
func.func @annotated(%a: tensor<16x64xbf16>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %s: tensor<4x8xf8E4M3FN>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf_scaled %{{.*}} {atom = "m16n8k16", path = "expand"} :
  %0 = tile.mmaf_scaled %a, %b, %c, %s {atom = "m16n8k16", path = "expand"} : tensor<16x64xbf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<4x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// Layouts differ between operands and are no part of the shape.
#a = #tile.layout<register = [[0, 1], [0, 2], [0, 4], [8, 0], [0, 32]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
#c = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

// CHECK-LABEL: func @encoded
func.func @encoded(%a: tensor<16x64xf4E2M1FN, #a>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32, #c>, %sa: tensor<16x4xf8E4M3FN>, %sb: tensor<4x8xf8E4M3FN>) -> tensor<16x8xf32, #c> {
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x64xf4E2M1FN, #layout>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32, #layout1>
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb : tensor<16x64xf4E2M1FN, #a>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32, #c>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return %0 : tensor<16x8xf32, #c>
}
