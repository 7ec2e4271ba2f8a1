// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @bf16
// CHECK-SAME: %[[A:.*]]: tensor<16x32xbf16>, %[[B:.*]]: tensor<32x8xbf16>, %[[C:.*]]: tensor<16x8xf32>
func.func @bf16(%a: tensor<16x32xbf16>, %b: tensor<32x8xbf16>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf %[[A]], %[[B]], %[[C]] : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  %0 = tile.mmaf %a, %b, %c : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @f16
// CHECK-SAME: %[[A:.*]]: tensor<16x32xf16>, %[[B:.*]]: tensor<32x8xf16>, %[[C:.*]]: tensor<16x8xf32>
func.func @f16(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf %[[A]], %[[B]], %[[C]] : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  %0 = tile.mmaf %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @fp8
// CHECK-SAME: %[[A:.*]]: tensor<16x32xf8E4M3FN>, %[[B:.*]]: tensor<32x8xf8E5M2>, %[[C:.*]]: tensor<16x8xf32>
func.func @fp8(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x8xf8E5M2>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf %[[A]], %[[B]], %[[C]] : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<16x8xf32>
  %0 = tile.mmaf %a, %b, %c : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @batch
// CHECK-SAME: %[[A:.*]]: tensor<4x16x32xbf16>, %[[B:.*]]: tensor<4x32x8xbf16>, %[[C:.*]]: tensor<4x16x8xf32>
func.func @batch(%a: tensor<4x16x32xbf16>, %b: tensor<4x32x8xbf16>, %c: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  // CHECK: tile.mmaf %[[A]], %[[B]], %[[C]] : tensor<4x16x32xbf16>, tensor<4x32x8xbf16>, tensor<4x16x8xf32>
  %0 = tile.mmaf %a, %b, %c : tensor<4x16x32xbf16>, tensor<4x32x8xbf16>, tensor<4x16x8xf32>
  return %0 : tensor<4x16x8xf32>
}

// CHECK-LABEL: func @smallest
// CHECK-SAME: %[[A:.*]]: tensor<1x1xf16>, %[[B:.*]]: tensor<1x1xf16>, %[[C:.*]]: tensor<1x1xf32>
func.func @smallest(%a: tensor<1x1xf16>, %b: tensor<1x1xf16>, %c: tensor<1x1xf32>) -> tensor<1x1xf32> {
  // CHECK: tile.mmaf %[[A]], %[[B]], %[[C]] : tensor<1x1xf16>, tensor<1x1xf16>, tensor<1x1xf32>
  %0 = tile.mmaf %a, %b, %c : tensor<1x1xf16>, tensor<1x1xf16>, tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
