// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @rows
// CHECK-SAME: %[[X:.*]]: tensor<1x64xf32>
func.func @rows(%x: tensor<1x64xf32>) -> tensor<16x64xf32> {
  // CHECK: tile.broadcast %[[X]] : tensor<1x64xf32> -> tensor<16x64xf32>
  %0 = tile.broadcast %x : tensor<1x64xf32> -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// CHECK-LABEL: func @all
// CHECK-SAME: %[[X:.*]]: tensor<1x1x1xf4E2M1FN>
func.func @all(%x: tensor<1x1x1xf4E2M1FN>) -> tensor<2x4x8xf4E2M1FN> {
  // CHECK: tile.broadcast %[[X]] : tensor<1x1x1xf4E2M1FN> -> tensor<2x4x8xf4E2M1FN>
  %0 = tile.broadcast %x : tensor<1x1x1xf4E2M1FN> -> tensor<2x4x8xf4E2M1FN>
  return %0 : tensor<2x4x8xf4E2M1FN>
}

// CHECK-LABEL: func @none
// CHECK-SAME: %[[X:.*]]: tensor<2xi1>
func.func @none(%x: tensor<2xi1>) -> tensor<2xi1> {
  // CHECK: tile.broadcast %[[X]] : tensor<2xi1> -> tensor<2xi1>
  %0 = tile.broadcast %x : tensor<2xi1> -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
