// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_100a | FileCheck %s

// Scales in 128x4 order lie side by side in memory and in the slot across three
// dimensions: 16 bytes at once, one copy for each of 32 lanes.
!scales = memref<?x?x32x4x4xf8E4M3FN, strided<[?, 512, 16, 4, 1]>>
!chunk = !tile.buffer<1x1x1x32x4x4xf8E4M3FN, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>>
// CHECK-LABEL: llvm.func @chunk(
// CHECK: cp.async.cg.shared.global [$0], [$1], 16
// CHECK-NOT: cp.async
// CHECK: llvm.return
func.func @chunk(%x: !scales {tile.stride_divisible_by = array<i64: 512, 512, 16, 4, 1>})
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc_buffer : !chunk
  tile.copy_async %x[%c0, %c0, %c0, %c0, %c0] to %b[%c0] : !scales, !chunk
  return
}

// -----

// The same without the promise: words of four bytes are put together from bytes,
// and beyond the memref they are zero.
!scales = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!chunk = !tile.buffer<1x128x4xf8E4M3FN, #tile.placement<[1, 2, 16, 32, 64, 128, 256, 4, 8] : 512>>
// CHECK-LABEL: llvm.func @bytes(
// CHECK-NOT: cp.async
// CHECK: scf.if
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK: } else {
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
func.func @bytes(%x: !scales) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc_buffer : !chunk
  tile.copy_async %x[%c0, %c0] to %b[%c0] : !scales, !chunk
  return
}

// -----

// K is contiguous in memory though the tile has it as rows: pieces follow memory
// and the slot, 16 bytes of K.
!x = memref<?x?xf8E4M3FN, strided<[1, ?]>>
!slot = !tile.buffer<1x32x64xf8E4M3FN, #tile.placement<[32, 64, 128, 256, 512, 1024, 1, 2, 4, 8, 16] : 2048>>
// CHECK-LABEL: llvm.func @columns(
// CHECK: cp.async.cg.shared.global [$0], [$1], 16
// CHECK-NOT: cp.async
// CHECK: llvm.return
func.func @columns(%x: !x {tile.shape_divisible_by = array<i64: 16, 1>,
                           tile.stride_divisible_by = array<i64: 1, 16>})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc_buffer : !slot
  tile.copy_async %x[%c0, %c0] to %b[%c0] : !x, !slot
  return
}
