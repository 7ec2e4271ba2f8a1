// RUN: tile-opt %s --split-input-file --tile-check-kernels | FileCheck %s

// A helper that was inlined everywhere must not reach the later passes.
// CHECK-NOT: @inlined
// CHECK-LABEL: func.func @kernel_beside_a_helper
func.func @kernel_beside_a_helper(%z: memref<32xf32>) attributes {tile.kernel} {
  return
}
func.func private @inlined(%x: f32) -> f32 {
  return %x : f32
}
// CHECK-NOT: @inlined

// -----

// Several kernels of one file are all kept, in order.
// CHECK-LABEL: func.func @first
// CHECK-LABEL: func.func @second
func.func @first(%z: memref<32xf32>) attributes {tile.kernel} {
  return
}
func.func @second(%z: memref<32xf32>) attributes {tile.kernel} {
  return
}

// -----

// Everything that docs and design allow passes unchanged: loops, branches,
// scalar loads, views, sizes and arithmetic.
// CHECK-LABEL: func.func @allowed
// CHECK: memref.dim
// CHECK: memref.subview
// CHECK: memref.load
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: scf.for
// CHECK: scf.if
// CHECK: math.exp2
// CHECK: tensor.splat
// CHECK: tensor.extract
func.func @allowed(%z: memref<64xf32>, %x: memref<?xf32>, %b: i1)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %v = memref.subview %z[32] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 32>>
  %s = memref.load %x[%c1] : memref<?xf32>
  %w = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  scf.for %i = %c0 to %w step %c1 {
    scf.if %b {
      %e = math.exp2 %s : f32
      %t = tensor.splat %e : tensor<32xf32>
      %f = tensor.extract %t[%c1] : tensor<32xf32>
      %u = tensor.splat %f : tensor<32xf32>
      tile.store %u, %v[%c0] : tensor<32xf32>, memref<32xf32, strided<[1], offset: 32>>
    }
  }
  return
}
