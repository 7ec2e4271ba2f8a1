// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @add
func.func @add(%x: tensor<16x4x16xf32>, %y: tensor<4x8xi32>) -> (tensor<16x4xf32>, tensor<8xi32>) {
  // CHECK: tile.reduce add %{{.*}} [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  %0 = tile.reduce add %x [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  // CHECK: tile.reduce add %{{.*}} [0] : tensor<4x8xi32> -> tensor<8xi32>
  %1 = tile.reduce add %y [0] : tensor<4x8xi32> -> tensor<8xi32>
  return %0, %1 : tensor<16x4xf32>, tensor<8xi32>
}

// CHECK-LABEL: func @mul
func.func @mul(%x: tensor<16x4x16xf32>, %y: tensor<4x8xi32>) -> (tensor<16x4xf32>, tensor<8xi32>) {
  // CHECK: tile.reduce mul %{{.*}} [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  %0 = tile.reduce mul %x [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  // CHECK: tile.reduce mul %{{.*}} [0] : tensor<4x8xi32> -> tensor<8xi32>
  %1 = tile.reduce mul %y [0] : tensor<4x8xi32> -> tensor<8xi32>
  return %0, %1 : tensor<16x4xf32>, tensor<8xi32>
}

// CHECK-LABEL: func @max
func.func @max(%x: tensor<16x4x16xf32>, %y: tensor<4x8xi32>) -> (tensor<16x4xf32>, tensor<8xi32>) {
  // CHECK: tile.reduce max %{{.*}} [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  %0 = tile.reduce max %x [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  // CHECK: tile.reduce max %{{.*}} [0] : tensor<4x8xi32> -> tensor<8xi32>
  %1 = tile.reduce max %y [0] : tensor<4x8xi32> -> tensor<8xi32>
  return %0, %1 : tensor<16x4xf32>, tensor<8xi32>
}

// CHECK-LABEL: func @min
func.func @min(%x: tensor<16x4x16xf32>, %y: tensor<4x8xi32>) -> (tensor<16x4xf32>, tensor<8xi32>) {
  // CHECK: tile.reduce min %{{.*}} [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  %0 = tile.reduce min %x [2] : tensor<16x4x16xf32> -> tensor<16x4xf32>
  // CHECK: tile.reduce min %{{.*}} [0] : tensor<4x8xi32> -> tensor<8xi32>
  %1 = tile.reduce min %y [0] : tensor<4x8xi32> -> tensor<8xi32>
  return %0, %1 : tensor<16x4xf32>, tensor<8xi32>
}

// CHECK-LABEL: func @and
func.func @and(%x: tensor<16x4xi1>, %y: tensor<8xi64>) -> (tensor<16xi1>, tensor<i64>) {
  // CHECK: tile.reduce and %{{.*}} [1] : tensor<16x4xi1> -> tensor<16xi1>
  %0 = tile.reduce and %x [1] : tensor<16x4xi1> -> tensor<16xi1>
  // CHECK: tile.reduce and %{{.*}} [0] : tensor<8xi64> -> tensor<i64>
  %1 = tile.reduce and %y [0] : tensor<8xi64> -> tensor<i64>
  return %0, %1 : tensor<16xi1>, tensor<i64>
}

// CHECK-LABEL: func @or
func.func @or(%x: tensor<16x4xi1>, %y: tensor<8xi64>) -> (tensor<16xi1>, tensor<i64>) {
  // CHECK: tile.reduce or %{{.*}} [1] : tensor<16x4xi1> -> tensor<16xi1>
  %0 = tile.reduce or %x [1] : tensor<16x4xi1> -> tensor<16xi1>
  // CHECK: tile.reduce or %{{.*}} [0] : tensor<8xi64> -> tensor<i64>
  %1 = tile.reduce or %y [0] : tensor<8xi64> -> tensor<i64>
  return %0, %1 : tensor<16xi1>, tensor<i64>
}

// CHECK-LABEL: func @xor
func.func @xor(%x: tensor<16x4xi1>, %y: tensor<8xi64>) -> (tensor<16xi1>, tensor<i64>) {
  // CHECK: tile.reduce xor %{{.*}} [1] : tensor<16x4xi1> -> tensor<16xi1>
  %0 = tile.reduce xor %x [1] : tensor<16x4xi1> -> tensor<16xi1>
  // CHECK: tile.reduce xor %{{.*}} [0] : tensor<8xi64> -> tensor<i64>
  %1 = tile.reduce xor %y [0] : tensor<8xi64> -> tensor<i64>
  return %0, %1 : tensor<16xi1>, tensor<i64>
}

// CHECK-LABEL: func @narrow_floats
func.func @narrow_floats(%x: tensor<16x4xf8E4M3FN>, %y: tensor<8xf4E2M1FN>, %z: tensor<8xf8E8M0FNU>) {
  // CHECK: tile.reduce max %{{.*}} [1] : tensor<16x4xf8E4M3FN> -> tensor<16xf8E4M3FN>
  %0 = tile.reduce max %x [1] : tensor<16x4xf8E4M3FN> -> tensor<16xf8E4M3FN>
  // CHECK: tile.reduce min %{{.*}} [0] : tensor<8xf4E2M1FN> -> tensor<f4E2M1FN>
  %1 = tile.reduce min %y [0] : tensor<8xf4E2M1FN> -> tensor<f4E2M1FN>
  // CHECK: tile.reduce max %{{.*}} [0] : tensor<8xf8E8M0FNU> -> tensor<f8E8M0FNU>
  %2 = tile.reduce max %z [0] : tensor<8xf8E8M0FNU> -> tensor<f8E8M0FNU>
  return
}
