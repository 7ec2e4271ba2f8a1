// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_100a | FileCheck %s

// Barriers lie behind the 2048 bytes of the buffer, where the control area
// begins: three of 8 bytes, then one. One thread starts and ends them.
// CHECK-LABEL: llvm.func @life(
// CHECK: %[[MEMORY:.*]] = llvm.mlir.addressof @tile_shared_memory
// CHECK: %[[PLACE:.*]] = llvm.mlir.constant(2048 : i32) : i32
// CHECK: %[[CONTROL:.*]] = llvm.getelementptr %[[MEMORY]][%[[PLACE]]]
// CHECK: scf.if
// CHECK: nvvm.mbarrier.init %[[CONTROL]], %c128_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c128_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c128_i32
// CHECK: nvvm.fence.mbarrier.init
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[CONTROL]][24]
// CHECK: nvvm.mbarrier.init %[[SECOND]], %c1_i32
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK-COUNT-3: nvvm.mbarrier.inval
// CHECK-NOT: nvvm.mbarrier.inval
// CHECK: llvm.return
func.func @life() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b = tile.alloc_buffer : !tile.buffer<1x32x64xf8E4M3FN>
  %full = tile.alloc_barriers : !tile.barriers<3>
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %full {arrivals = 128 : i32} : !tile.barriers<3>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  tile.inval_barriers %full : !tile.barriers<3>
  return
}

// -----

// Every thread waits until the phase has ended. Without tensor memory no fence of
// it follows.
// CHECK-LABEL: llvm.func @wait(
// CHECK: %[[SLOT:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[OFFSET:.*]] = arith.muli %[[SLOT]], %c8_i32
// CHECK: %[[ADDRESS:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]]
// CHECK: scf.while
// CHECK: %[[ENDED:.*]] = nvvm.mbarrier.try_wait %[[ADDRESS]], %arg1
// CHECK: %[[AGAIN:.*]] = arith.xori %[[ENDED]]
// CHECK: scf.condition(%[[AGAIN]])
// CHECK-NOT: nvvm.tcgen05
// CHECK: llvm.return
func.func @wait(%slot: index, %parity: i32)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %full = tile.alloc_barriers : !tile.barriers<3>
  tile.wait_barrier %full[%slot] parity %parity : !tile.barriers<3>
  return
}

// -----

// A thread arrives when its copies have come and the tensor core may see them.
// CHECK-LABEL: llvm.func @arrive(
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.barrier0
// The whole block is told of bytes by one thread.
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c4096_i32
// CHECK-NEXT: }
func.func @arrive() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  %full = tile.alloc_barriers : !tile.barriers<3>
  tile.arrive_copies %full[%c1] {pending = 2 : i32} : !tile.barriers<3>
  tile.wait_copies {async_proxy, pending = 0 : i32}
  tile.expect_bytes %full[%c1] {bytes = 4096 : i32} : !tile.barriers<3>
  return
}
