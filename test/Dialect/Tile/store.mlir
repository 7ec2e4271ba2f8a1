// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @strided
// CHECK-SAME: %[[T:.*]]: tensor<16x64xf32>, %[[Z:.*]]: memref<?x?xf32, strided<[?, 1]>>, %[[M:.*]]: index, %[[N:.*]]: index
func.func @strided(%t: tensor<16x64xf32>, %z: memref<?x?xf32, strided<[?, 1]>>, %m: index, %n: index) {
  // CHECK: tile.store %[[T]], %[[Z]][%[[M]], %[[N]]] : tensor<16x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.store %t, %z[%m, %n] : tensor<16x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  return
}

// CHECK-LABEL: func @pairs
func.func @pairs(%t: tensor<8x!tile.f4E2M1FNx2>, %z: memref<?x!tile.f4E2M1FNx2, strided<[1]>>, %i: index) {
  // CHECK: tile.store %{{.*}} : tensor<8x!tile.f4E2M1FNx2>, memref<?x!tile.f4E2M1FNx2, strided<[1]>>
  tile.store %t, %z[%i] : tensor<8x!tile.f4E2M1FNx2>, memref<?x!tile.f4E2M1FNx2, strided<[1]>>
  return
}
