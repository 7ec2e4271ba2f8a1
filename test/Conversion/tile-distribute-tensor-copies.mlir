// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_100a | FileCheck %s
// RUN: not tile-opt %s --split-input-file --tile-distribute=target=sm_80 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: 'tile.copy_tensor' op expects a target with 'tma', but got sm_80

// One map of each array for both copies, behind the parameters of the arguments,
// and their lines behind that of the kernel.
// CHECK: llvm.module_asm = [
// CHECK-SAME: "// tile.launch entry=panels block=128,1,1 shared={{[0-9]+}}",
// CHECK-SAME: "// tile.tensor_map entry=panels param=8 arg=0 box=16x128 swizzle=128 type=u8 fill=zero dims=0x1",
// CHECK-SAME: "// tile.tensor_map entry=panels param=9 arg=1 box=32x128 swizzle=128 type=u8 fill=zero dims=1x0"]
// CHECK-LABEL: llvm.func @panels(
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %[[OTHER:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})

// One thread fetches the maps.
// CHECK: scf.if
// CHECK-NEXT: nvvm.prefetch tensormap, %[[MAP]]
// CHECK-NEXT: nvvm.prefetch tensormap, %[[OTHER]]

// Two boxes of a tile of 256 columns. Coordinates are those of the innermost
// dimension first, and of tiles far outside, still outside.
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: scf.if
// CHECK: %[[LOW:.*]] = arith.maxsi %{{.*}}, %c-1_i64
// CHECK: %[[IN:.*]] = arith.minsi %[[LOW]], %c4194304_i64
// CHECK: %[[TRUNC:.*]] = arith.trunci %[[IN]] : i64 to i32
// CHECK: %[[X:.*]] = arith.shli %[[TRUNC]], %c8_i32
// CHECK: arith.minsi %{{.*}}, %c67108864_i64
// CHECK: %[[Y:.*]] = arith.shli %{{.*}}, %c4_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[X]], %[[Y]]] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
// CHECK: %[[NEXT:.*]] = arith.addi %[[X]], %c128_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[NEXT]], %[[Y]]]
// The same map, and one whose first dimension is contiguous.
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]],
// CHECK: %[[INNER:.*]] = arith.shli %{{.*}}, %c7_i32
// CHECK: %[[ROW:.*]] = arith.shli %{{.*}}, %c5_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[OTHER]], %{{.*}}, box[%[[INNER]], %[[ROW]]]
#panels = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 2048, 144, 288, 576, 1024] : 4096>
#columns = #tile.placement<[144, 288, 576, 1024, 2048, 1, 2, 4, 8, 16, 32, 64] : 4096>
!b = !tile.buffer<2x16x256xf8E4M3FN, #panels>
!c = !tile.buffer<2x128x32xf8E4M3FN, #columns>
!m = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!t = memref<?x?xf8E4M3FN, strided<[1, ?]>>
func.func @panels(%x: !m {tile.stride_divisible_by = array<i64: 16, 1>},
                  %y: !t {tile.stride_divisible_by = array<i64: 1, 16>})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %b = tile.alloc_buffer : !b
  %c = tile.alloc_buffer : !c
  %full = tile.alloc_barriers : !tile.barriers<2>
  tile.expect_bytes %full[%c0] {bytes = 8192 : i32} : !tile.barriers<2>
  tile.copy_tensor %x[%i, %j] to %b[%c0] signal %full : !m, !b, !tile.barriers<2>
  tile.copy_tensor %x[%j, %i] to %b[%c1] signal %full : !m, !b, !tile.barriers<2>
  tile.copy_tensor %y[%i, %j] to %c[%c1] signal %full : !t, !c, !tile.barriers<2>
  return
}

// -----

// FP4 in containers: coordinates count values, two for each pair.
// CHECK: type=b4x16_p64 fill=zero dims=0x1"]
// CHECK-LABEL: llvm.func @containers(
// CHECK: arith.minsi %{{.*}}, %c8388608_i64
// CHECK: %[[X:.*]] = arith.shli %{{.*}}, %c7_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}} box[%[[X]], %{{.*}}]
#containers = #tile.placement<[1, 2, 4, 16, 32, 64, 144, 288, 576, 1024] : 2048>
!b = !tile.buffer<1x16x64x!tile.f4E2M1FNx2, #containers>
!m = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
func.func @containers(%x: !m {tile.shape_divisible_by = array<i64: 1, 64>,
                              tile.stride_divisible_by = array<i64: 32, 1>})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %b = tile.alloc_buffer : !b
  %full = tile.alloc_barriers : !tile.barriers<1>
  tile.copy_tensor %x[%c0, %i] to %b[%c0] signal %full : !m, !b, !tile.barriers<1>
  return
}

// -----

// Where nothing needs all the warps that copy, one thread of the first does it.
// CHECK-LABEL: llvm.func @alone(
// CHECK: %[[COPIES:.*]] = arith.cmpi uge, %[[WARP:.*]], %c2_i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c2_i32
// CHECK: scf.if %[[COPIES]] {
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: %[[ELECTED:.*]] = nvvm.elect.sync
// CHECK-NEXT: scf.if %[[ELECTED]] {
// CHECK-NOT: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-NOT: scf.if
// CHECK: nvvm.cp.async.bulk.tensor
#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 576] : 1024>
!b = !tile.buffer<1x8x128xf8E4M3FN, #rows>
!m = memref<?x?xf8E4M3FN, strided<[?, 1]>>
func.func @alone(%x: !m {tile.stride_divisible_by = array<i64: 16, 1>})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc_buffer : !b
  %full = tile.alloc_barriers : !tile.barriers<1>
  tile.warp_roles copiers {
    tile.expect_bytes %full[%c0] {bytes = 1024 : i32} : !tile.barriers<1>
    tile.copy_tensor %x[%c0, %c0] to %b[%c0] signal %full : !m, !b, !tile.barriers<1>
  } issuer {
  }
  return
}
