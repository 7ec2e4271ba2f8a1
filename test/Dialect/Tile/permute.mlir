// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @transpose
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf4E2M1FN>
func.func @transpose(%x: tensor<16x64xf4E2M1FN>) -> tensor<64x16xf4E2M1FN> {
  // CHECK: tile.permute %[[X]] [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
  %0 = tile.permute %x [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
  return %0 : tensor<64x16xf4E2M1FN>
}

// CHECK-LABEL: func @scales_128x4
// CHECK-SAME: %[[X:.*]]: tensor<1x2x32x4x4xf8E4M3FN>
func.func @scales_128x4(%x: tensor<1x2x32x4x4xf8E4M3FN>) -> tensor<1x4x32x2x4xf8E4M3FN> {
  // CHECK: tile.permute %[[X]] [0, 3, 2, 1, 4] : tensor<1x2x32x4x4xf8E4M3FN> -> tensor<1x4x32x2x4xf8E4M3FN>
  %0 = tile.permute %x [0, 3, 2, 1, 4] : tensor<1x2x32x4x4xf8E4M3FN> -> tensor<1x4x32x2x4xf8E4M3FN>
  return %0 : tensor<1x4x32x2x4xf8E4M3FN>
}

// CHECK-LABEL: func @pairs
// CHECK-SAME: %[[X:.*]]: tensor<4x8x!tile.f4E2M1FNx2>
func.func @pairs(%x: tensor<4x8x!tile.f4E2M1FNx2>) -> tensor<8x4x!tile.f4E2M1FNx2> {
  // CHECK: tile.permute %[[X]] [1, 0] : tensor<4x8x!tile.f4E2M1FNx2> -> tensor<8x4x!tile.f4E2M1FNx2>
  %0 = tile.permute %x [1, 0] : tensor<4x8x!tile.f4E2M1FNx2> -> tensor<8x4x!tile.f4E2M1FNx2>
  return %0 : tensor<8x4x!tile.f4E2M1FNx2>
}
