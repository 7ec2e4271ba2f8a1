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

// -----

!static = memref<64x64xbf16>

// An operand that is the same in every iteration is copied in front of the loop,
// where there is an iteration; the wait of the loop is for it too.
// CHECK-LABEL: func.func @stationary
// CHECK-SAME: %{{.*}}, %{{.*}}, %{{.*}}, %[[N:.*]]: index
// CHECK: %[[A:.*]] = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
// CHECK-NEXT: %[[SOME:.*]] = arith.cmpi slt, %c0, %[[N]]
// CHECK-NEXT: tile.copy_async %arg0[%c0, %c0] to %[[A]][%{{.*}}] if %[[SOME]]
// CHECK-NEXT: tile.commit_copies
// CHECK-NOT: tile.wait_copies
// CHECK: %[[B:.*]] = tile.alloc_buffer : !tile.buffer<1x32x8xbf16>
// CHECK: scf.for
// CHECK: tile.copy_async %arg1
// CHECK-NOT: tile.copy_async
// CHECK: tile.wait_copies {pending = 0 : i32}
// CHECK-DAG: tile.read_buffer %[[A]]
// CHECK-DAG: tile.read_buffer %[[B]]
func.func @stationary(%x: !static, %y: !static, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %p = tile.load %x[%c0, %c0] : !static -> tensor<16x32xbf16>
    %q = tile.load %y[%k, %c0] : !static -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

!static = memref<64x64xbf16>

// Nothing is copied in the inner loop, so that the copy needs a wait of its own;
// as it stands in the outer loop, the iteration before must have done with it.
// What the outer loop does not change either is copied in front of that.
// CHECK-LABEL: func.func @nested
// CHECK: %[[B:.*]] = tile.alloc_buffer : !tile.buffer<1x32x8xbf16>
// CHECK-NEXT: tile.copy_async %arg1
// CHECK-NEXT: tile.commit_copies
// CHECK-NEXT: tile.wait_copies {pending = 0 : i32}
// CHECK: scf.for
// CHECK: %[[A:.*]] = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy_async %arg0[%{{.*}}, %{{.*}}] to %[[A]][%{{[^ ]*}}] :
// CHECK-NEXT: tile.commit_copies
// CHECK-NEXT: tile.wait_copies {pending = 0 : i32}
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.read_buffer %[[A]]
// CHECK-NEXT: tile.read_buffer %[[B]]
func.func @nested(%x: !static, %y: !static, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %o = %c0 to %n step %c1 iter_args(%b = %acc) -> (tensor<16x8xf32>) {
    %i = scf.for %k = %c0 to %n step %c1 iter_args(%a = %b) -> (tensor<16x8xf32>) {
      %p = tile.load %x[%o, %c0] : !static -> tensor<16x32xbf16>
      %q = tile.load %y[%c0, %c0] : !static -> tensor<32x8xbf16>
      %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
      scf.yield %s : tensor<16x8xf32>
    }
    scf.yield %i : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// -----

#rows = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#many = #tile.layout<register = [[0, 1], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

// What takes four registers is held in them, and its place is known outside;
// 64 registers are too many.
// CHECK-LABEL: func.func @held
// CHECK: arith.addi
// CHECK-NEXT: tile.load {{.*}} -> tensor<16x8xf32
// CHECK: scf.for
// CHECK: tile.load {{.*}} -> tensor<256x8xf32
func.func @held(%x: memref<?x?xf32>, %acc: tensor<16x8xf32, #rows>, %big: tensor<256x8xf32, #many>, %m: index, %n: index)
    -> (tensor<16x8xf32, #rows>, tensor<256x8xf32, #many>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc, %b = %big) -> (tensor<16x8xf32, #rows>, tensor<256x8xf32, #many>) {
    %at = arith.addi %m, %c1 : index
    %p = tile.load %x[%at, %c0] : memref<?x?xf32> -> tensor<16x8xf32, #rows>
    %q = tile.load %x[%at, %c0] : memref<?x?xf32> -> tensor<256x8xf32, #many>
    %s = arith.addf %p, %a : tensor<16x8xf32, #rows>
    %t = arith.addf %q, %b : tensor<256x8xf32, #many>
    scf.yield %s, %t : tensor<16x8xf32, #rows>, tensor<256x8xf32, #many>
  }
  return %r#0, %r#1 : tensor<16x8xf32, #rows>, tensor<256x8xf32, #many>
}

// -----

// What the loop stores is loaded each time.
// CHECK-LABEL: func.func @changed
// CHECK: scf.for
// CHECK-NEXT: tile.load
func.func @changed(%x: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %p = tile.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<16x8xf32>
    %s = arith.addf %p, %p : tensor<16x8xf32>
    tile.store %s, %x[%c0, %c0] : tensor<16x8xf32>, memref<?x?xf32>
  }
  return
}

// -----

!static = memref<64x64xbf16>

// A position out of a table is computed like any other.
// CHECK-LABEL: func.func @pages
// CHECK: scf.for %[[K:[^ ]*]] =
// CHECK-NEXT: %[[V:.*]] = memref.load %{{.*}}[%[[K]]]
// CHECK-NEXT: %[[P:.*]] = arith.index_castui %[[V]]
// CHECK-NEXT: tile.barrier
// CHECK: tile.copy_async %{{.*}}[%[[P]], %{{.*}}] to
func.func @pages(%x: !static, %y: !static, %table: memref<?xi32>, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %p = tile.load %x[%c0, %k] : !static -> tensor<16x32xbf16>
    %v = memref.load %table[%k] : memref<?xi32>
    %page = arith.index_castui %v : i32 to index
    %q = tile.load %y[%page, %c0] : !static -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}
