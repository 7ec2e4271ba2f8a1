// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_100a | FileCheck %s

// Of eight warps the upper four copy, counted from the fifth, and one thread of
// the first multiplies. Neither waits for the block, and the warps are whole
// again behind.
!x = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!slots = !tile.buffer<2x128x32xf8E4M3FN, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048] : 4096>>
// CHECK-LABEL: llvm.func @roles(
// CHECK: %[[WARP:.*]] = arith.shrui %{{.*}}, %c5_i32
// The block writes x in front: what it wrote must be there.
// CHECK: llvm.store
// CHECK: nvvm.barrier0
// CHECK: %[[UNIFORM:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[WARP]], %c0_i32
// CHECK: %[[COPIES:.*]] = arith.cmpi uge, %[[UNIFORM]], %c4_i32
// CHECK: %[[ISSUES:.*]] = arith.cmpi eq, %[[UNIFORM]], %c0_i32
// CHECK: %[[COPIER:.*]] = arith.subi %[[WARP]], %c4_i32
// CHECK: scf.if %[[COPIES]] {
// CHECK-NOT: nvvm.barrier0
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.tcgen05.fence <after>
// What a thread of the role copies: rows of 32 bytes, two pieces each, 16 rows a
// warp, so two of the 4096 bytes' pieces per thread.
// CHECK: arith.andi %[[COPIER]]
// CHECK-COUNT-2: cp.async.cg.shared.global
// CHECK-NOT: cp.async.cg.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.mbarrier.arrive
// CHECK: } else {
// CHECK: scf.if %[[ISSUES]] {
// CHECK-NEXT: %[[ONE:.*]] = nvvm.elect.sync
// CHECK-NEXT: scf.if %[[ONE]] {
// CHECK-NOT: scf.if
// CHECK: nvvm.mbarrier.try_wait
// CHECK-NOT: scf.if
// CHECK: nvvm.tcgen05.commit
// CHECK-NOT: nvvm.barrier0
// CHECK: nvvm.bar.warp.sync
func.func @roles(%x: !x {tile.shape_divisible_by = array<i64: 128, 32>,
                         tile.stride_divisible_by = array<i64: 16, 1>},
                 %z: memref<128xf32>) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %p0 = arith.constant 0 : i32
  %p1 = arith.constant 1 : i32
  %t = arith.constant dense<1.0> : tensor<128xf32, #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [0]]>>
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x32xf32>
  %b = tile.alloc_buffer : !slots
  %full = tile.alloc_barriers : !tile.barriers<2>
  %empty = tile.alloc_barriers : !tile.barriers<2>
  tile.store %t, %z[%c0] : tensor<128xf32, #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [0]]>>, memref<128xf32>
  tile.warp_roles copiers {
    tile.wait_barrier %empty[%c0] parity %p1 : !tile.barriers<2>
    tile.copy_async %x[%c0, %c0] to %b[%c0] : !x, !slots
    tile.commit_copies
    tile.arrive_copies %full[%c0] {pending = 0 : i32} : !tile.barriers<2>
  } issuer {
    tile.wait_barrier %full[%c0] parity %p0 : !tile.barriers<2>
    tile.commit_multiplies %empty[%c0] : !tile.barriers<2>
  }
  return
}
