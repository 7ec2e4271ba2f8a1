// RUN: %python %S/Inputs/npy.py make %t.a.npy u1 3x16x16 0x38
// RUN: %python %S/Inputs/npy.py make %t.b.npy u1 3x16x8 0x3C
// RUN: tile-run %s --device=reference --grid=2 out:%t.z.npy:3x16x8xf32 in:%t.a.npy in:%t.b.npy
// RUN: %python %S/Inputs/npy.py show %t.z.npy | FileCheck %s

// A batch of three in tiles of two: the fourth matrix is outside, reads as zero
// and is not written. E4M3 1.0 by E5M2 1.0, 16 times, on an accumulator that is
// the number of the batch.

// CHECK: f4 3x16x8
// CHECK-COUNT-16: 16 16 16 16 16 16 16 16
// CHECK-COUNT-16: 17 17 17 17 17 17 17 17
// CHECK-COUNT-16: 18 18 18 18 18 18 18 18
// CHECK-NOT: {{.}}
func.func @batch(%z : memref<?x16x8xf32>, %a : memref<?x16x16xf8E4M3FN>,
                 %b : memref<?x16x8xf8E5M2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i32
  %p = tile.program_id 0
  %x = tile.load %a[%p, %c0, %c0] : memref<?x16x16xf8E4M3FN> -> tensor<2x16x16xf8E4M3FN>
  %y = tile.load %b[%p, %c0, %c0] : memref<?x16x8xf8E5M2> -> tensor<2x16x8xf8E5M2>
  %n = tile.iota : tensor<2xi32>
  %q = arith.index_cast %p : index to i32
  %first = arith.muli %q, %c2 : i32
  %base = tensor.splat %first : tensor<2xi32>
  %batch = arith.addi %n, %base : tensor<2xi32>
  %number = arith.sitofp %batch : tensor<2xi32> to tensor<2xf32>
  %one = tile.reshape %number : tensor<2xf32> -> tensor<2x1x1xf32>
  %acc = tile.broadcast %one : tensor<2x1x1xf32> -> tensor<2x16x8xf32>
  %r = tile.mmaf %x, %y, %acc : tensor<2x16x16xf8E4M3FN>, tensor<2x16x8xf8E5M2>, tensor<2x16x8xf32>
  tile.store %r, %z[%p, %c0, %c0] : tensor<2x16x8xf32>, memref<?x16x8xf32>
  return
}
