// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @masked
// CHECK-SAME: %[[T:.*]]: tensor<16x64xf32>, %[[Z:.*]]: memref<?x?xf32>, %[[I:.*]]: tensor<16x1xi32>, %[[J:.*]]: tensor<1x64xi32>, %[[P:.*]]: tensor<16x64xi1>
func.func @masked(%t: tensor<16x64xf32>, %z: memref<?x?xf32>, %i: tensor<16x1xi32>, %j: tensor<1x64xi32>, %p: tensor<16x64xi1>) {
  // CHECK: tile.scatter %[[T]], %[[Z]][%[[I]], %[[J]]] mask %[[P]] : tensor<16x64xf32>, memref<?x?xf32>, tensor<16x1xi32>, tensor<1x64xi32>, tensor<16x64xi1>
  tile.scatter %t, %z[%i, %j] mask %p : tensor<16x64xf32>, memref<?x?xf32>, tensor<16x1xi32>, tensor<1x64xi32>, tensor<16x64xi1>
  return
}

// CHECK-LABEL: func @unmasked
func.func @unmasked(%t: tensor<4xi8>, %z: memref<?xi8>, %i: tensor<4xi64>) {
  // CHECK: tile.scatter %{{.*}}[%{{.*}}] : tensor<4xi8>, memref<?xi8>, tensor<4xi64>
  tile.scatter %t, %z[%i] : tensor<4xi8>, memref<?xi8>, tensor<4xi64>
  return
}
