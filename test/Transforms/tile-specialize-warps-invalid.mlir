// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-specialize-warps=target=sm_100a
// RUN: not tile-opt %s --split-input-file --tile-specialize-warps=target=sm_75 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not tile-opt %s --split-input-file --tile-specialize-warps="target=sm_100a num-stages=9" 2>&1 | FileCheck %s --check-prefix=STAGES
// TARGET: error: unknown target 'sm_75'
// STAGES: error: expects num-stages to be at most 8, but got 9

#x = #tile.placement<[2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192] : 16384>
!x = !tile.buffer<1x128x64xbf16, #x>
!acc = !tile.tensor_memory<1x128x128xf32>

// Two warps are too few for two roles and tensor memory.
// expected-error @below {{expects at least 4 warps for roles, but got 2}}
func.func @two_warps(%xm: memref<?x?xbf16>, %n: index) attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %yes = arith.constant true
  %x = tile.alloc_buffer : !x
  %acc = tile.alloc_tensor_memory : !acc
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%c0, %k] to %x[%c0] : memref<?x?xbf16>, !x
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.multiply_async %x[%c0], %x[%c0], %acc accumulate %yes
       shape [1, 128, 128, 64] {atom = "m128n256k16.tcgen05.f16.bf16.bf16"} : !x, !x, !acc
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// -----

#x = #tile.placement<[2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192] : 16384>
!x = !tile.buffer<1x128x64xbf16, #x>
!acc = !tile.tensor_memory<1x128x128xf32>

// Nobody has chosen the number of warps.
// expected-error @below {{expects at least 4 warps for roles, but got 0}}
func.func @no_warps(%xm: memref<?x?xbf16>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %yes = arith.constant true
  %x = tile.alloc_buffer : !x
  %acc = tile.alloc_tensor_memory : !acc
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%c0, %k] to %x[%c0] : memref<?x?xbf16>, !x
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.multiply_async %x[%c0], %x[%c0], %acc accumulate %yes
       shape [1, 128, 128, 64] {atom = "m128n256k16.tcgen05.f16.bf16.bf16"} : !x, !x, !acc
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}
