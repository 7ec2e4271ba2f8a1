// RUN: not tile-run %s --device=reference --grid=4,2 out:%t.z.npy:8x8xf32 2>&1 | FileCheck %s
// RUN: not ls %t.z.npy

// The second dimension of the grid is forgotten, so that both halves write the
// same rows; the values agree, and it is still an error.

// CHECK: conflict.mlir:[[#@LINE+6]]:3: error: tile programs (0, 0, 0) and (0, 1, 0) both write element [0, 0] of argument 0 (z)
func.func @conflict(%z : memref<?x?xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %t = arith.constant dense<1.0> : tensor<2x8xf32>
  tile.store %t, %z[%i, %c0] : tensor<2x8xf32>, memref<?x?xf32>
  return
}
