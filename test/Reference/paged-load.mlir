// RUN: %python %S/Inputs/npy.py make %t.pages.npy i4 4x2x4 hash:9:100
// RUN: %python %S/Inputs/npy.py make %t.table.npy i4 3 2 0 3
// RUN: tile-run %s --device=reference --grid=3 out:%t.z.npy:6x4xi32 in:%t.pages.npy in:%t.table.npy val:5
// RUN: %python %S/Inputs/npy.py show %t.z.npy | FileCheck %s
// RUN: %python %S/Inputs/npy.py make %t.bad.npy i4 3 2 0 4
// RUN: not tile-run %s --device=reference --grid=3 out:%t.z.npy:6x4xi32 in:%t.pages.npy in:%t.bad.npy val:5 2>&1 | FileCheck %s --check-prefix=BAD

// A cache of pages of two rows: the block table says which page comes next, and
// the view of the last one has fewer rows, so that its second row reads as zero.

// CHECK: i4 6x4
// CHECK-NEXT: 75 82 9 57
// CHECK-NEXT: 20 70 77 67
// CHECK-NEXT: 41 33 31 19
// CHECK-NEXT: 11 47 68 38
// CHECK-NEXT: 99 33 95 76
// CHECK-NEXT: 0 0 0 0

// BAD: paged-load.mlir:[[#@LINE+12]]:11: error: 'memref.subview' op expects a part of dimension 0 of argument 1 (pages), which has 4 elements, but got 1 from 4, in tile program (2, 0, 0)
func.func @paged_load(%z : memref<?x?xi32>, %pages : memref<?x2x4xi32>,
                      %table : memref<?xi32>, %rows : index)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %p = tile.program_id 0
  %n = memref.load %table[%p] : memref<?xi32>
  %page = arith.index_cast %n : i32 to index
  %before = arith.muli %p, %c2 : index
  %left = arith.subi %rows, %before : index
  %count = arith.minsi %left, %c2 : index
  %view = memref.subview %pages[%page, 0, 0] [1, %count, 4] [1, 1, 1]
    : memref<?x2x4xi32> to memref<?x4xi32, strided<[4, 1], offset: ?>>
  %t = tile.load %view[%c0, %c0]
    : memref<?x4xi32, strided<[4, 1], offset: ?>> -> tensor<2x4xi32>
  tile.store %t, %z[%p, %c0] : tensor<2x4xi32>, memref<?x?xi32>
  return
}
