// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @masked
// CHECK-SAME: %[[X:.*]]: memref<?x?xf32>, %[[I:.*]]: tensor<16x1xi32>, %[[J:.*]]: tensor<1x64xi32>, %[[P:.*]]: tensor<16x64xi1>
func.func @masked(%x: memref<?x?xf32>, %i: tensor<16x1xi32>, %j: tensor<1x64xi32>, %p: tensor<16x64xi1>) -> tensor<16x64xf32> {
  // CHECK: tile.gather %[[X]][%[[I]], %[[J]]] mask %[[P]] : memref<?x?xf32>, tensor<16x1xi32>, tensor<1x64xi32>, tensor<16x64xi1> -> tensor<16x64xf32>
  %t = tile.gather %x[%i, %j] mask %p : memref<?x?xf32>, tensor<16x1xi32>, tensor<1x64xi32>, tensor<16x64xi1> -> tensor<16x64xf32>
  return %t : tensor<16x64xf32>
}

// CHECK-LABEL: func @unmasked
func.func @unmasked(%x: memref<?xi8>, %i: tensor<4xindex>) -> tensor<4xi8> {
  // CHECK: tile.gather %{{.*}}[%{{.*}}] : memref<?xi8>, tensor<4xindex> -> tensor<4xi8>
  %t = tile.gather %x[%i] : memref<?xi8>, tensor<4xindex> -> tensor<4xi8>
  return %t : tensor<4xi8>
}

// The rank of the result is that of the index tiles, not that of the memory.
// CHECK-LABEL: func @other_rank
func.func @other_rank(%x: memref<?x?x?xbf16>, %i: tensor<16x1xi64>, %j: tensor<1x64xi32>, %k: tensor<1x1xi32>) -> tensor<16x64xbf16> {
  // CHECK: tile.gather %{{.*}} : memref<?x?x?xbf16>, tensor<16x1xi64>, tensor<1x64xi32>, tensor<1x1xi32> -> tensor<16x64xbf16>
  %t = tile.gather %x[%i, %j, %k] : memref<?x?x?xbf16>, tensor<16x1xi64>, tensor<1x64xi32>, tensor<1x1xi32> -> tensor<16x64xbf16>
  return %t : tensor<16x64xbf16>
}
