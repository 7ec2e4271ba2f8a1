// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @f32_to_fp4
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf32>
func.func @f32_to_fp4(%x: tensor<16x64xf32>) -> tensor<16x64xf4E2M1FN> {
  // CHECK: tile.ftof %[[X]] : tensor<16x64xf32> -> tensor<16x64xf4E2M1FN>
  %0 = tile.ftof %x : tensor<16x64xf32> -> tensor<16x64xf4E2M1FN>
  return %0 : tensor<16x64xf4E2M1FN>
}

// CHECK-LABEL: func @f32_to_fp8
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf32>
func.func @f32_to_fp8(%x: tensor<16x64xf32>) -> tensor<16x64xf8E4M3FN> {
  // CHECK: tile.ftof %[[X]] : tensor<16x64xf32> -> tensor<16x64xf8E4M3FN>
  %0 = tile.ftof %x : tensor<16x64xf32> -> tensor<16x64xf8E4M3FN>
  return %0 : tensor<16x64xf8E4M3FN>
}

// CHECK-LABEL: func @no_saturation
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf32>
func.func @no_saturation(%x: tensor<16x64xf32>) -> tensor<16x64xf8E5M2> {
  // CHECK: tile.ftof %[[X]] {saturate = false} : tensor<16x64xf32> -> tensor<16x64xf8E5M2>
  %0 = tile.ftof %x {saturate = false} : tensor<16x64xf32> -> tensor<16x64xf8E5M2>
  return %0 : tensor<16x64xf8E5M2>
}

// CHECK-LABEL: func @scale_toward_zero
// CHECK-SAME: %[[X:.*]]: tensor<16x4xf32>
func.func @scale_toward_zero(%x: tensor<16x4xf32>) -> tensor<16x4xf8E8M0FNU> {
  // CHECK: tile.ftof %[[X]] toward_zero : tensor<16x4xf32> -> tensor<16x4xf8E8M0FNU>
  %0 = tile.ftof %x toward_zero : tensor<16x4xf32> -> tensor<16x4xf8E8M0FNU>
  return %0 : tensor<16x4xf8E8M0FNU>
}

// CHECK-LABEL: func @scale_upward
// CHECK-SAME: %[[X:.*]]: tensor<16x4xbf16>
func.func @scale_upward(%x: tensor<16x4xbf16>) -> tensor<16x4xf8E8M0FNU> {
  // CHECK: tile.ftof %[[X]] upward : tensor<16x4xbf16> -> tensor<16x4xf8E8M0FNU>
  %0 = tile.ftof %x upward : tensor<16x4xbf16> -> tensor<16x4xf8E8M0FNU>
  return %0 : tensor<16x4xf8E8M0FNU>
}

// CHECK-LABEL: func @scale_to_f32
// CHECK-SAME: %[[X:.*]]: tensor<16x4xf8E8M0FNU>
func.func @scale_to_f32(%x: tensor<16x4xf8E8M0FNU>) -> tensor<16x4xf32> {
  // CHECK: tile.ftof %[[X]] : tensor<16x4xf8E8M0FNU> -> tensor<16x4xf32>
  %0 = tile.ftof %x : tensor<16x4xf8E8M0FNU> -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// CHECK-LABEL: func @fp4_to_fp8
// CHECK-SAME: %[[X:.*]]: tensor<16xf4E2M1FN>
func.func @fp4_to_fp8(%x: tensor<16xf4E2M1FN>) -> tensor<16xf8E4M3FN> {
  // CHECK: tile.ftof %[[X]] : tensor<16xf4E2M1FN> -> tensor<16xf8E4M3FN>
  %0 = tile.ftof %x : tensor<16xf4E2M1FN> -> tensor<16xf8E4M3FN>
  return %0 : tensor<16xf8E4M3FN>
}

// CHECK-LABEL: func @bf16_to_f16
// CHECK-SAME: %[[X:.*]]: tensor<bf16>
func.func @bf16_to_f16(%x: tensor<bf16>) -> tensor<f16> {
  // CHECK: tile.ftof %[[X]] : tensor<bf16> -> tensor<f16>
  %0 = tile.ftof %x : tensor<bf16> -> tensor<f16>
  return %0 : tensor<f16>
}
