// RUN: %python %S/Inputs/npy.py make %t.x.npy i4 5x4 hash:7:100
// RUN: %python %S/Inputs/npy.py make %t.rows.npy i4 4 3 0 -1 5
// RUN: tile-run %s --device=reference --grid=1 out:%t.g.npy:4x4xi32 inout:%t.x.npy in:%t.rows.npy
// RUN: %python %S/Inputs/npy.py show %t.g.npy | FileCheck %s --check-prefix=GATHER
// RUN: %python %S/Inputs/npy.py show %t.x.npy | FileCheck %s --check-prefix=SCATTER

// x is  62 80 12 14
//       82 65 36 35
//       36 45 36 42
//       39 12 58 77
//       71 90 45 45
//
// Rows 3 and 0, one before the array and one behind it: zeros there, and the
// masked-off column 1 is zero everywhere.
// GATHER: i4 4x4
// GATHER-NEXT: 39 0 58 77
// GATHER-NEXT: 62 0 12 14
// GATHER-NEXT: 0 0 0 0
// GATHER-NEXT: 0 0 0 0

// The negated rows go back to where they were; all else stays.
// SCATTER: i4 5x4
// SCATTER-NEXT: -62 80 -12 -14
// SCATTER-NEXT: 82 65 36 35
// SCATTER-NEXT: 36 45 36 42
// SCATTER-NEXT: -39 12 -58 -77
// SCATTER-NEXT: 71 90 45 45
func.func @gather_scatter(%g : memref<4x4xi32>, %x : memref<?x?xi32>,
                          %rows : memref<4xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %r = tile.load %rows[%c0] : memref<4xi32> -> tensor<4xi32>
  %i = tile.reshape %r : tensor<4xi32> -> tensor<4x1xi32>
  %n = tile.iota : tensor<4xi32>
  %j = tile.reshape %n : tensor<4xi32> -> tensor<1x4xi32>
  %one = arith.constant dense<1> : tensor<1x4xi32>
  %keep = arith.cmpi ne, %j, %one : tensor<1x4xi32>
  %mask = tile.broadcast %keep : tensor<1x4xi1> -> tensor<4x4xi1>
  %t = tile.gather %x[%i, %j] mask %mask : memref<?x?xi32>, tensor<4x1xi32>,
    tensor<1x4xi32>, tensor<4x4xi1> -> tensor<4x4xi32>
  tile.store %t, %g[%c0, %c0] : tensor<4x4xi32>, memref<4x4xi32>
  %zero = arith.constant dense<0> : tensor<4x4xi32>
  %minus = arith.subi %zero, %t : tensor<4x4xi32>
  tile.scatter %minus, %x[%i, %j] mask %mask : tensor<4x4xi32>, memref<?x?xi32>,
    tensor<4x1xi32>, tensor<1x4xi32>, tensor<4x4xi1>
  return
}
