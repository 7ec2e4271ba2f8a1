// RUN: tile-opt %s --tile-group-programs=group=4 | FileCheck %s
// RUN: tile-opt %s --tile-group-programs=group=0 | FileCheck %s --check-prefix=OFF
// RUN: tile-opt %s --tile-group-programs=group=1 | FileCheck %s --check-prefix=OFF
// RUN: not tile-opt %s --tile-group-programs=group=1025 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: tile-opt %s --tile-group-programs=group=4 --remark-format=emitRemark --remarks-filter=tile-group-programs -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// MANY: error: expects group to be at most 1024, but got 1025

!m = memref<?x?xbf16>

// Division in 32 bits, behind a check that these count the blocks; a last group
// that is narrower.
// CHECK-LABEL: func.func @multiply
// CHECK: %[[X:.*]] = tile.program_id 0
// CHECK: %[[Y:.*]] = tile.program_id 1
// CHECK: %[[NX:.*]] = tile.num_programs 0
// CHECK: %[[NY:.*]] = tile.num_programs 1
// CHECK: %[[G:.*]] = arith.constant 4 : index
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt, %[[NX]], %[[G]]
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[NX]], %[[NY]] : index
// CHECK: %[[MOST:.*]] = arith.constant 4294967296 : index
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[BLOCKS]], %[[MOST]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[SEVERAL]], %[[FITS]]
// CHECK: %[[R:.*]]:2 = scf.if %[[BOTH]] -> (index, index) {
// CHECK: %[[G32:.*]] = arith.constant 4 : i32
// CHECK: %[[X32:.*]] = arith.index_castui %[[X]]
// CHECK: %[[Y32:.*]] = arith.index_castui %[[Y]]
// CHECK: %[[NX32:.*]] = arith.index_castui %[[NX]]
// CHECK: %[[NY32:.*]] = arith.index_castui %[[NY]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[Y32]], %[[NX32]]
// CHECK: %[[BLOCK:.*]] = arith.addi %[[ROWS]], %[[X32]]
// CHECK: %[[PER:.*]] = arith.muli %[[NY32]], %[[G32]]
// CHECK: %[[GROUP:.*]] = arith.divui %[[BLOCK]], %[[PER]] : i32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[GROUP]], %[[PER]]
// CHECK: %[[IN:.*]] = arith.subi %[[BLOCK]], %[[BEFORE]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[G32]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[NX32]], %[[FIRST]]
// CHECK: %[[WIDTH:.*]] = arith.minui %[[LEFT]], %[[G32]]
// CHECK: %[[NEWY:.*]] = arith.divui %[[IN]], %[[WIDTH]] : i32
// CHECK: arith.muli %[[NEWY]], %[[WIDTH]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[X]], %[[Y]]
// CHECK: tile.load %{{.*}}[%[[R]]#0, %{{.*}}]
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[R]]#1]

// OFF-LABEL: func.func @multiply
// OFF-NOT: scf.if
// OFF-LABEL: func.func @shared

// REMARK: [Passed] group-programs | Category:tile-group-programs | Function=multiply | group=4
func.func @multiply(%x: !m, %y: !m, %n: index) attributes {tile.kernel} {
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %p = tile.load %x[%i, %k] : !m -> tensor<16x32xbf16>
    %q = tile.load %y[%k, %j] : !m -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return
}

// Both operands of the loop belong to program_id 1, as keys and values of an
// attention head do, which all of dimension 0 shares: the order stays.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: scf.if
// CHECK: return
// REMARK: [Missed] group-programs | Category:tile-group-programs | Function=shared | Reason="no loop loads one operand by program_id 0 alone and another by program_id 1 alone"
func.func @shared(%x: !m, %y: !m, %n: index) attributes {tile.kernel} {
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %p = tile.load %x[%i, %j] : !m -> tensor<16x32xbf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (tensor<16x8xf32>) {
    %q = tile.load %y[%k, %j] : !m -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  return
}

// What the loop carries tells a position as well as its own counter does; the
// accumulator, which knows both coordinates, has no part in it.
// CHECK-LABEL: func.func @carried
// CHECK: scf.if
// REMARK: [Passed] group-programs | Category:tile-group-programs | Function=carried | group=4
func.func @carried(%x: !m, %y: !m, %n: index) attributes {tile.kernel} {
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %r, %u, %v = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc, %iu = %i, %jv = %j)
      -> (tensor<16x8xf32>, index, index) {
    %p = tile.load %x[%k, %iu] : !m -> tensor<16x32xbf16>
    %q = tile.load %y[%k, %jv] : !m -> tensor<32x8xbf16>
    %s = tile.mmaf %p, %q, %a : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    %iu1 = arith.addi %iu, %c1 : index
    %jv2 = arith.addi %jv, %c1 : index
    scf.yield %s, %iu1, %jv2 : tensor<16x8xf32>, index, index
  }
  return
}

// The attribute decides where the rule would not, and how many.
// CHECK-LABEL: func.func @attribute
// CHECK: arith.constant 16 : index
// CHECK: scf.if
// REMARK: [Passed] group-programs | Category:tile-group-programs | Function=attribute | group=16
func.func @attribute(%z: memref<?x?xf32>) attributes {tile.kernel, tile.group_programs = 16 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  tile.store %zero, %z[%i, %j] : tensor<16x8xf32>, memref<?x?xf32>
  return
}

// A grid of one dimension has no other order.
// CHECK-LABEL: func.func @line
// CHECK-NOT: scf.if
// CHECK: return
func.func @line(%z: memref<?xf32>) attributes {tile.kernel, tile.group_programs = 16 : i32} {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  tile.store %zero, %z[%i] : tensor<16xf32>, memref<?xf32>
  return
}
