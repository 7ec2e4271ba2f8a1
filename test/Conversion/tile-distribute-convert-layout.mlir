// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 --remarks-filter='tile-.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The least movement that is enough: between registers, between lanes, or
// through shared memory. A remark names it.

// A renumbering of registers is no instruction: the store takes them in another
// order.
// REMARK: remark: [Analysis] layout-conversion | Category:tile-distribute | Function=registers | through=registers, tile=tensor<128xf32>
// CHECK-LABEL: llvm.func @registers(
// CHECK: %[[T:.*]]:4 = scf.if
// CHECK-NOT: shfl
// CHECK-NOT: ptr<3>
// CHECK-NOT: arith.select
// CHECK: llvm.store %[[T]]#0,
// CHECK: llvm.store %[[T]]#2,
// CHECK: llvm.store %[[T]]#1,
// CHECK: llvm.store %[[T]]#3,
#from = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#to = #tile.layout<register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @registers(%x: memref<128xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<128xf32> -> tensor<128xf32, #from>
  %r = tile.convert_layout %t : tensor<128xf32, #from> -> tensor<128xf32, #to>
  tile.store %r, %x[%c0] : tensor<128xf32, #to>, memref<128xf32>
  return
}

// -----

// Dropping copies needs no movement either.
// REMARK: Function=from_replicas | through=registers
// CHECK-LABEL: llvm.func @from_replicas(
// CHECK-NOT: shfl
// CHECK-NOT: ptr<3>
// CHECK: llvm.return
#copies = #tile.layout<register = [[1], [32]], lane = [[2], [4], [8], [16], [0]], warp = []>
#one = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @from_replicas(%x: memref<64xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<64xf32> -> tensor<64xf32, #copies>
  %r = tile.convert_layout %t : tensor<64xf32, #copies> -> tensor<64xf32, #one>
  tile.store %r, %x[%c0] : tensor<64xf32, #one>, memref<64xf32>
  return
}

// -----

// Lanes exchanged: one shuffle per register, by the lane that has the value.
// REMARK: Function=lanes | through=shuffles
// CHECK-LABEL: llvm.func @lanes(
// CHECK-COUNT-4: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: ptr<3>
// CHECK: llvm.return
#from = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#to = #tile.layout<register = [[1], [2]], lane = [[8], [4], [16], [32], [64]], warp = []>
func.func @lanes(%x: memref<128xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<128xf32> -> tensor<128xf32, #from>
  %r = tile.convert_layout %t : tensor<128xf32, #from> -> tensor<128xf32, #to>
  tile.store %r, %x[%c0] : tensor<128xf32, #to>, memref<128xf32>
  return
}

// -----

// Packed elements that stay together move as words: four bytes by one shuffle.
// REMARK: Function=packed_lanes | through=shuffles
// CHECK-LABEL: llvm.func @packed_lanes(
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: arith.ori
// CHECK: llvm.store {{.*}} : i32
#from = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#to = #tile.layout<register = [[1], [2]], lane = [[8], [4], [16], [32], [64]], warp = []>
func.func @packed_lanes(%x: memref<128xi8>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<128xi8> -> tensor<128xi8, #from>
  %r = tile.convert_layout %t : tensor<128xi8, #from> -> tensor<128xi8, #to>
  tile.store %r, %x[%c0] : tensor<128xi8, #to>, memref<128xi8>
  return
}

// -----

// A register bit for a lane bit: a lane sends what either receiver may want, and
// the receiver picks.
// REMARK: Function=lanes_and_registers | through=shuffles
// CHECK-LABEL: llvm.func @lanes_and_registers(
// CHECK: %[[A:.*]] = nvvm.shfl.sync idx
// CHECK: %[[FA:.*]] = arith.bitcast %[[A]] : i32 to f32
// CHECK: %[[B:.*]] = nvvm.shfl.sync idx
// CHECK: %[[FB:.*]] = arith.bitcast %[[B]] : i32 to f32
// CHECK: arith.select %{{.*}}, %[[FB]], %[[FA]] : f32
// CHECK-NOT: ptr<3>
// CHECK: llvm.return
#from = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#to = #tile.layout<register = [[1], [64]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @lanes_and_registers(%x: memref<128xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<128xf32> -> tensor<128xf32, #from>
  %r = tile.convert_layout %t : tensor<128xf32, #from> -> tensor<128xf32, #to>
  tile.store %r, %x[%c0] : tensor<128xf32, #to>, memref<128xf32>
  return
}

// -----

// Between warps: written, a barrier, read; and a barrier before, for those who
// still read what was there. The scratch is aligned for vectors of 16 bytes.
// REMARK: Function=warps | through="shared memory"
// CHECK: llvm.module_asm = ["// tile.launch entry=warps block=64,1,1 shared=1024"]
// CHECK: llvm.mlir.global external @[[SMEM:.*]]() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @warps(
// CHECK-NOT: shfl
// CHECK: llvm.mlir.addressof @[[SMEM]] : !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT: llvm.store
// CHECK: nvvm.barrier0
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xi32>
// CHECK-NOT: !llvm.ptr<3> ->
// CHECK: llvm.return
#from = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]]>
#to = #tile.layout<register = [[1], [128]], lane = [[4], [8], [16], [32], [64]], warp = [[2]]>
func.func @warps(%x: memref<256xf32>)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<256xf32> -> tensor<256xf32, #from>
  %r = tile.convert_layout %t : tensor<256xf32, #from> -> tensor<256xf32, #to>
  tile.store %r, %x[%c0] : tensor<256xf32, #to>, memref<256xf32>
  return
}

// -----

// Two conversions of one kernel share the scratch; the larger one counts.
// CHECK: shared=1024"
// CHECK-LABEL: llvm.func @shared_scratch(
#from = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]]>
#to = #tile.layout<register = [[1], [128]], lane = [[4], [8], [16], [32], [64]], warp = [[2]]>
func.func @shared_scratch(%x: memref<256xf32>, %y: memref<256xi8>)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %s = tile.load %y[%c0] : memref<256xi8> -> tensor<256xi8, #from>
  %q = tile.convert_layout %s : tensor<256xi8, #from> -> tensor<256xi8, #to>
  %t = tile.load %x[%c0] : memref<256xf32> -> tensor<256xf32, #from>
  %r = tile.convert_layout %t : tensor<256xf32, #from> -> tensor<256xf32, #to>
  tile.store %r, %x[%c0] : tensor<256xf32, #to>, memref<256xf32>
  tile.store %q, %y[%c0] : tensor<256xi8, #to>, memref<256xi8>
  return
}

// -----

// Permute, reshape and broadcast only rename what a lane holds.
// CHECK-LABEL: llvm.func @renaming(
// CHECK: %[[T:.*]]:4 = scf.if
// CHECK-NOT: shfl
// CHECK-NOT: ptr<3>
// CHECK: llvm.store %[[T]]#0,
// CHECK: llvm.store %[[T]]#1,
#rows = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
#columns = #tile.layout<register = [[1, 0], [2, 0]], lane = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []>
#line = #tile.layout<register = [[16], [32]], lane = [[64], [1], [2], [4], [8]], warp = []>
func.func @renaming(%x: memref<16x8xf32>, %y: memref<128xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<16x8xf32> -> tensor<16x8xf32, #rows>
  %p = tile.permute %t [1, 0] : tensor<16x8xf32, #rows> -> tensor<8x16xf32, #columns>
  %r = tile.reshape %p : tensor<8x16xf32, #columns> -> tensor<128xf32, #line>
  tile.store %r, %y[%c0] : tensor<128xf32, #line>, memref<128xf32>
  return
}

// -----

// One element for all: the lane that has it passes it through four bytes of
// shared memory, whatever the size of the tile.
// CHECK: shared=4"
// CHECK-LABEL: llvm.func @extract(
// CHECK: nvvm.barrier0
// CHECK: %[[MINE:.*]] = arith.cmpi eq
// CHECK: scf.if %[[MINE]] {
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK-NEXT: }
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @extract(%x: memref<32xf32>, %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<32xf32> -> tensor<32xf32, #one>
  %e = tensor.extract %t[%i] : tensor<32xf32, #one>
  %s = tensor.splat %e : tensor<32xf32, #one>
  tile.store %s, %x[%c0] : tensor<32xf32, #one>, memref<32xf32>
  return
}
