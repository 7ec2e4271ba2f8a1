// RUN: tile-opt %s --tile-pipeline-loops="target=sm_80 num-stages=3" | FileCheck %s
// RUN: tile-opt %s --tile-pipeline-loops="target=sm_80 num-stages=1" | FileCheck %s --check-prefix=ONE
// RUN: tile-opt %s --tile-pipeline-loops="target=sm_80" | FileCheck %s --check-prefix=CHOSEN
// RUN: not tile-opt %s --tile-pipeline-loops="target=sm_80 num-stages=9" 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: expects num-stages to be at most 8, but got 9

!m = memref<64x64xbf16>

// Two iterations ahead of the loop, each if there is one; in the loop the wait,
// the copies of the iteration after next, then the work.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: %[[X:.*]]: memref<64x64xbf16>, %{{.*}}: tensor<16x8xf32>, %[[N:.*]]: index
// CHECK: %[[B:.*]] = tile.alloc_buffer : !tile.buffer<3x16x32xbf16>
// CHECK: %[[P0:.*]] = arith.cmpi slt, %{{.*}}, %[[N]]
// CHECK: tile.copy_async %[[X]][%{{.*}}, %{{.*}}] to %[[B]][%{{.*}}] if %[[P0]]
// CHECK-NEXT: tile.commit_copies
// CHECK: %[[P1:.*]] = arith.cmpi slt, %{{.*}}, %[[N]]
// CHECK: tile.copy_async %[[X]][%{{.*}}, %{{.*}}] to %[[B]][%{{.*}}] if %[[P1]]
// CHECK-NEXT: tile.commit_copies
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[R:.*]] = %{{.*}}, %[[F:.*]] = %{{.*}}) -> (tensor<16x8xf32>, i32, i32)
// CHECK-NEXT: %[[READ:.*]] = arith.index_castui %[[R]] : i32 to index
// CHECK-NEXT: %[[FILL:.*]] = arith.index_castui %[[F]] : i32 to index
// CHECK-NEXT: tile.wait_copies {pending = 1 : i32}
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %{{.*}}
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]]
// CHECK: tile.copy_async %[[X]][%{{.*}}, %[[NEXT]]] to %[[B]][%[[FILL]]] if %[[MORE]]
// CHECK-NEXT: tile.commit_copies
// CHECK: tile.read_buffer %[[B]][%[[READ]]]
// CHECK: tile.mmaf
// What has been read is filled next.
// CHECK: %[[MORE:.*]] = arith.addi %[[R]], %{{.*}} : i32
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[MORE]], %{{.*}} : i32
// CHECK: %[[NEXT:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[MORE]] : i32
// CHECK: scf.yield %{{.*}}, %[[NEXT]], %[[R]]
// Copies for iterations that there are none of may still write zeros.
// CHECK: tile.wait_copies {pending = 0 : i32}

// ONE: tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
// ONE: scf.for
// ONE: tile.barrier
// ONE: tile.wait_copies {pending = 0 : i32}

// CHOSEN: tile.alloc_buffer : !tile.buffer<4x16x32xbf16>
// CHOSEN: tile.wait_copies {pending = 2 : i32}
// CHOSEN: scf.yield
// CHOSEN: tile.wait_copies {pending = 0 : i32}
func.func @loop(%x: !m, %acc: tensor<16x8xf32>, %n: index, %y: tensor<32x8xbf16>) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    tile.barrier
    tile.copy_async %x[%c0, %k] to %b[%c0] : !m, !tile.buffer<1x16x32xbf16>
    tile.commit_copies
    tile.wait_copies {pending = 0 : i32}
    %p = tile.read_buffer %b[%c0] : !tile.buffer<1x16x32xbf16> -> tensor<16x32xbf16>
    %s = tile.mmaf %p, %y, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// The place of an iteration that there is none of is not loaded; a buffer that is
// filled in front of the loop keeps its one slot.
// CHECK-LABEL: func.func @table
// CHECK: %[[A:.*]] = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
// CHECK: %[[B:.*]] = tile.alloc_buffer : !tile.buffer<3x32x8xbf16>
// CHECK-COUNT-2: scf.if
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[R:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[READ:.*]] = arith.index_castui %[[R]] : i32 to index
// CHECK: %[[NEXT:.*]] = arith.addi
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %
// CHECK: %[[PAGE:.*]] = scf.if %[[MORE]] -> (index) {
// CHECK-NEXT: memref.load %{{.*}}[%[[NEXT]]]
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: arith.constant 0 : index
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.copy_async %{{.*}}[%[[PAGE]], %{{.*}}] to %[[B]][%{{.*}}] if %[[MORE]]
// CHECK: tile.read_buffer %[[A]][%c0]
// CHECK: tile.read_buffer %[[B]][%[[READ]]]
func.func @table(%x: !m, %y: !m, %table: memref<?xindex>, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
  tile.copy_async %x[%c0, %c0] to %e[%c0] : !m, !tile.buffer<1x16x32xbf16>
  tile.commit_copies
  %b = tile.alloc_buffer : !tile.buffer<1x32x8xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %page = memref.load %table[%k] : memref<?xindex>
    tile.barrier
    tile.copy_async %y[%page, %c0] to %b[%c0] : !m, !tile.buffer<1x32x8xbf16>
    tile.commit_copies
    tile.wait_copies {pending = 0 : i32}
    %p = tile.read_buffer %e[%c0] : !tile.buffer<1x16x32xbf16> -> tensor<16x32xbf16>
    %q = tile.read_buffer %b[%c0] : !tile.buffer<1x32x8xbf16> -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// The inner loop keeps its copies when the outer one becomes a pipeline too.
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-2: tile.buffer<3x
// CHECK: scf.for
// CHECK: tile.wait_copies {pending = 1 : i32}
// CHECK: tile.copy_async {{.*}} to %[[B:.*]][%{{.*}}] if
// CHECK: tile.commit_copies
// CHECK-COUNT-2: tile.copy_async
// CHECK: scf.for
// CHECK: tile.wait_copies {pending = 1 : i32}
// CHECK: tile.copy_async
// CHECK: tile.mmaf
// CHECK: tile.wait_copies {pending = 0 : i32}
// CHECK: tile.wait_copies {pending = 0 : i32}
func.func @nested(%x: !m, %y: !m, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
  %b = tile.alloc_buffer : !tile.buffer<1x32x8xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    tile.barrier
    tile.copy_async %x[%c0, %k] to %e[%c0] : !m, !tile.buffer<1x16x32xbf16>
    tile.commit_copies
    tile.wait_copies {pending = 0 : i32}
    %p = tile.read_buffer %e[%c0] : !tile.buffer<1x16x32xbf16> -> tensor<16x32xbf16>
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%g = %a) -> (tensor<16x8xf32>) {
      tile.barrier
      tile.copy_async %y[%j, %c0] to %b[%c0] : !m, !tile.buffer<1x32x8xbf16>
      tile.commit_copies
      tile.wait_copies {pending = 0 : i32}
      %q = tile.read_buffer %b[%c0] : !tile.buffer<1x32x8xbf16> -> tensor<32x8xbf16>
      %s = tile.mmaf %p, %q, %g : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
      scf.yield %s : tensor<16x8xf32>
    }
    scf.yield %t : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// No stages: a buffer that an inner loop reads, a copy with a condition of its
// own, and an index that is made behind the barrier.
// CHECK-LABEL: func.func @once
// CHECK: tile.buffer<1x16x32xbf16>
// CHECK-LABEL: func.func @conditional
// CHECK: tile.buffer<1x16x32xbf16>
// CHECK-LABEL: func.func @late
// CHECK: tile.buffer<1x16x32xbf16>
func.func @once(%x: !m, %y: tensor<32x8xbf16>, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    tile.barrier
    tile.copy_async %x[%c0, %k] to %e[%c0] : !m, !tile.buffer<1x16x32xbf16>
    tile.commit_copies
    tile.wait_copies {pending = 0 : i32}
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%g = %a) -> (tensor<16x8xf32>) {
      %p = tile.read_buffer %e[%c0] : !tile.buffer<1x16x32xbf16> -> tensor<16x32xbf16>
      %s = tile.mmaf %p, %y, %g : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
      scf.yield %s : tensor<16x8xf32>
    }
    scf.yield %t : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

func.func @conditional(%x: !m, %y: tensor<32x8xbf16>, %acc: tensor<16x8xf32>, %n: index, %if: i1) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    tile.barrier
    tile.copy_async %x[%c0, %k] to %e[%c0] if %if : !m, !tile.buffer<1x16x32xbf16>
    tile.commit_copies
    tile.wait_copies {pending = 0 : i32}
    %p = tile.read_buffer %e[%c0] : !tile.buffer<1x16x32xbf16> -> tensor<16x32xbf16>
    %s = tile.mmaf %p, %y, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

func.func @late(%x: !m, %y: tensor<32x8xbf16>, %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tile.alloc_buffer : !tile.buffer<1x16x32xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    tile.barrier
    %next = arith.addi %k, %c1 : index
    tile.copy_async %x[%c0, %next] to %e[%c0] : !m, !tile.buffer<1x16x32xbf16>
    tile.commit_copies
    tile.wait_copies {pending = 0 : i32}
    %p = tile.read_buffer %e[%c0] : !tile.buffer<1x16x32xbf16> -> tensor<16x32xbf16>
    %s = tile.mmaf %p, %y, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}
