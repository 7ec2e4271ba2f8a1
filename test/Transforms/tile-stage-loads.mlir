// RUN: tile-opt %s --split-input-file --tile-stage-loads=target=sm_80 | FileCheck %s

!aligned = memref<?x?xbf16, strided<[?, 1]>>

// The indices first, then one barrier, all copies, one wait, all reads.
// CHECK-LABEL: func.func @operands
// CHECK: %[[B:.*]] = tile.alloc_buffer : !tile.buffer<1x8x32xbf16>
// CHECK: %[[A:.*]] = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
// CHECK: scf.for
// CHECK-NEXT: %[[AT:.*]] = arith.addi
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy_async %arg1[%{{.*}}, %{{.*}}] to %[[B]][%c0{{.*}}] {moving = array<i64: 1>}
// CHECK-NEXT: tile.copy_async %arg0[%{{.*}}, %[[AT]]] to %[[A]][%c0{{.*}}] {moving = array<i64: 1>}
// CHECK-NEXT: tile.commit_copies
// CHECK-NEXT: tile.wait_copies {pending = 0 : i32}
// CHECK-NEXT: %[[Y:.*]] = tile.read_buffer %[[B]]
// CHECK-NEXT: %[[X:.*]] = tile.read_buffer %[[A]]
// CHECK-NEXT: %[[T:.*]] = tile.permute %[[Y]]
// CHECK-NEXT: tile.mmaf %[[X]], %[[T]]
func.func @operands(
    %x: !aligned {tile.shape_divisible_by = array<i64: 1, 8>, tile.stride_divisible_by = array<i64: 8, 1>},
    %y: !aligned {tile.shape_divisible_by = array<i64: 1, 8>, tile.stride_divisible_by = array<i64: 8, 1>},
    %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %q = tile.load %y[%c0, %k] : !aligned -> tensor<8x32xbf16>
    %k1 = arith.addi %k, %c1 : index
    %p = tile.load %x[%c0, %k1] : !aligned -> tensor<16x32xbf16>
    %t = tile.permute %q [1, 0] : tensor<8x32xbf16> -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

!plain = memref<?x?xbf16, strided<[?, 1]>>

// Nothing is known of the strides: both stay loads.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: tile.alloc_buffer
// CHECK-COUNT-2: tile.load
func.func @unknown(%x: !plain, %y: !plain, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %p = tile.load %x[%c0, %k] : !plain -> tensor<16x32xbf16>
    %q = tile.load %y[%k, %c0] : !plain -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

!static = memref<64x64xbf16>

// A store in the loop may write what a later iteration reads.
// CHECK-LABEL: func.func @stores
// CHECK-NOT: tile.alloc_buffer
func.func @stores(%x: !static, %y: !static, %acc: tensor<16x8xf32>, %z: memref<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %p = tile.load %x[%c0, %k] : !static -> tensor<16x32xbf16>
    %q = tile.load %y[%k, %c0] : !static -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    tile.store %s, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

!static = memref<64x64xbf16>

// A position that the iteration alone does not tell, and a tile that also goes
// elsewhere, stay loads; the other operand is staged.
// CHECK-LABEL: func.func @positions
// CHECK: tile.alloc_buffer : !tile.buffer<1x32x8xbf16>
// CHECK-NOT: tile.alloc_buffer
// CHECK: scf.for
// CHECK: tile.load %arg0
func.func @positions(%x: !static, %y: !static, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %at = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc, %i = %c0) -> (tensor<16x8xf32>, index) {
    %p = tile.load %x[%c0, %i] : !static -> tensor<16x32xbf16>
    %q = tile.load %y[%k, %c0] : !static -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    %j = arith.muli %i, %k : index
    scf.yield %s, %j : tensor<16x8xf32>, index
  }
  return %r : tensor<16x8xf32>
}
