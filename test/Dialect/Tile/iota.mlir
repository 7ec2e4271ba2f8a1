// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @elements
func.func @elements() {
  // CHECK: tile.iota : tensor<16xi32>
  %0 = tile.iota : tensor<16xi32>
  // CHECK: tile.iota : tensor<256xi8>
  %1 = tile.iota : tensor<256xi8>
  // CHECK: tile.iota : tensor<1xi64>
  %2 = tile.iota : tensor<1xi64>
  // CHECK: tile.iota : tensor<8xindex>
  %3 = tile.iota : tensor<8xindex>
  return
}
