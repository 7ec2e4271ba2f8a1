// RUN: tile-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-specialize{entry=k bind=0:8,3:-1 shape=1:128x?,2:?x64})' \
// RUN:   | FileCheck %s

// A bound argument is a constant; the others move up, with their promises.
// CHECK-LABEL: func.func @k(
// CHECK-SAME: %[[X:.*]]: memref<128x?xf32> {tile.shape_divisible_by = array<i64: 16, 1>},
// CHECK-SAME: %[[Z:.*]]: memref<?x64xf32, strided<[?, 1]>>)
func.func @k(%n: index, %x: memref<?x?xf32> {tile.shape_divisible_by = array<i64: 16, 1>},
             %z: memref<?x?xf32, strided<[?, 1]>>, %o: i32) attributes {tile.kernel} {
  // CHECK-DAG: %[[N:.*]] = arith.constant 8 : index
  // CHECK-DAG: %[[O:.*]] = arith.constant -1 : i32
  %c0 = arith.constant 0 : index
  // CHECK: memref.dim %[[X]], %{{.*}} : memref<128x?xf32>
  %d = memref.dim %x, %c0 : memref<?x?xf32>
  // A view of an array takes its strides from the array's type.
  // CHECK: memref.subview %[[Z]][0, %[[N]]] [16, 16] [1, 1] : memref<?x64xf32, strided<[?, 1]>> to memref<16x16xf32, strided<[?, 1], offset: ?>>
  %v = memref.subview %z[0, %n] [16, 16] [1, 1] : memref<?x?xf32, strided<[?, 1]>> to memref<16x16xf32, strided<[?, 1], offset: ?>>
  // CHECK: memref.subview %[[X]][%{{.*}}, 0] [8, 16] [1, 1] : memref<128x?xf32> to memref<8x16xf32, strided<[?, 1], offset: ?>>
  %w = memref.subview %x[%d, 0] [8, 16] [1, 1] : memref<?x?xf32> to memref<8x16xf32, strided<[?, 1], offset: ?>>
  // CHECK: tile.load %[[X]][%[[N]], %{{.*}}] : memref<128x?xf32> -> tensor<16x16xf32>
  %t = tile.load %x[%n, %d] : memref<?x?xf32> -> tensor<16x16xf32>
  tile.store %t, %v[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32, strided<[?, 1], offset: ?>>
  // CHECK: tensor.splat %[[O]] : tensor<16xi32>
  %s = tensor.splat %o : tensor<16xi32>
  return
}

// Another kernel stays as it is.
// CHECK-LABEL: func.func @other(%{{.*}}: index)
func.func @other(%n: index) attributes {tile.kernel} {
  return
}

// -----

// A static row makes the strides of the array, and of its view, known.
// CHECK-LABEL: func.func @k(
func.func @k(%n: index, %x: memref<?x?xf32>, %z: memref<?x?xf32>, %o: i32) attributes {tile.kernel} {
  // CHECK: memref.subview {{.*}} : memref<?x64xf32> to memref<8x16xf32, strided<[64, 1], offset: ?>>
  %v = memref.subview %z[%n, 0] [8, 16] [1, 1] : memref<?x?xf32> to memref<8x16xf32, strided<[?, 1], offset: ?>>
  return
}
