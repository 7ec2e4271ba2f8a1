// RUN: %python %S/Inputs/npy.py make %t.x.npy f4 2x4 1 -5 3 -2 nan -1 -7 -2
// RUN: tile-run %s --device=reference --grid=1 out:%t.max.npy:4xf32 out:%t.add.npy:2xf32 in:%t.x.npy
// RUN: %python %S/Inputs/npy.py show %t.max.npy | FileCheck %s --check-prefix=MAX
// RUN: %python %S/Inputs/npy.py show %t.add.npy | FileCheck %s --check-prefix=ADD

// Dimension 0 goes: NaN wins its column and leaves the others alone.
// MAX: f4 4
// MAX-NEXT: nan -1 3 -2
// ADD: f4 2
// ADD-NEXT: -3 nan
func.func @reduce(%max : memref<4xf32>, %add : memref<2xf32>,
                  %x : memref<2x4xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] : memref<2x4xf32> -> tensor<2x4xf32>
  %m = tile.reduce max %v [0] : tensor<2x4xf32> -> tensor<4xf32>
  tile.store %m, %max[%c0] : tensor<4xf32>, memref<4xf32>
  %s = tile.reduce add %v [1] : tensor<2x4xf32> -> tensor<2xf32>
  tile.store %s, %add[%c0] : tensor<2xf32>, memref<2xf32>
  return
}
