// RUN: %python %S/Inputs/npy.py make %t.x.npy i4 4x6 hash:5:90
// RUN: tile-run %s --device=reference --grid=2,2 out:%t.z.npy:3x5xi32 in:%t.x.npy:3x5
// RUN: %python %S/Inputs/npy.py show %t.z.npy | FileCheck %s

// The array is the leading 3x5 of a 4x6 file, in tiles of 2x4. Outside elements
// read as zero: the row and column of the file that are no part of the array
// must not be seen. Each element counts the sum of its tile.

// The file:  48 73 37 27  6 89
//            26 37 74 85 63 89
//            48 86 43 71 56 78
//            31 45 35 86 54 19

// CHECK: i4 3x5
// CHECK-NEXT: 407 407 407 407 69
// CHECK-NEXT: 407 407 407 407 69
// CHECK-NEXT: 248 248 248 248 56
// CHECK-NOT: {{.}}
func.func @ragged_edges(%z : memref<?x?xi32>,
                        %x : memref<?x?xi32, strided<[?, 1]>>)
    attributes {tile.kernel} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %t = tile.load %x[%i, %j] : memref<?x?xi32, strided<[?, 1]>> -> tensor<2x4xi32>
  %r = tile.reduce add %t [1] : tensor<2x4xi32> -> tensor<2xi32>
  %s = tile.reduce add %r [0] : tensor<2xi32> -> tensor<i32>
  %e = tensor.extract %s[] : tensor<i32>
  %o = tensor.splat %e : tensor<2x4xi32>
  tile.store %o, %z[%i, %j] : tensor<2x4xi32>, memref<?x?xi32>
  return
}
