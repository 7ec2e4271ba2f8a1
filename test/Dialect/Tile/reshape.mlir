// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @merge
// CHECK-SAME: %[[X:.*]]: tensor<1x4x32x2x4xf8E4M3FN>
func.func @merge(%x: tensor<1x4x32x2x4xf8E4M3FN>) -> tensor<128x8xf8E4M3FN> {
  // CHECK: tile.reshape %[[X]] : tensor<1x4x32x2x4xf8E4M3FN> -> tensor<128x8xf8E4M3FN>
  %0 = tile.reshape %x : tensor<1x4x32x2x4xf8E4M3FN> -> tensor<128x8xf8E4M3FN>
  return %0 : tensor<128x8xf8E4M3FN>
}

// CHECK-LABEL: func @split
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf4E2M1FN>
func.func @split(%x: tensor<16x64xf4E2M1FN>) -> tensor<16x4x16xf4E2M1FN> {
  // CHECK: tile.reshape %[[X]] : tensor<16x64xf4E2M1FN> -> tensor<16x4x16xf4E2M1FN>
  %0 = tile.reshape %x : tensor<16x64xf4E2M1FN> -> tensor<16x4x16xf4E2M1FN>
  return %0 : tensor<16x4x16xf4E2M1FN>
}

// CHECK-LABEL: func @to_rank_0
// CHECK-SAME: %[[X:.*]]: tensor<1x1xf32>
func.func @to_rank_0(%x: tensor<1x1xf32>) -> tensor<f32> {
  // CHECK: tile.reshape %[[X]] : tensor<1x1xf32> -> tensor<f32>
  %0 = tile.reshape %x : tensor<1x1xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
