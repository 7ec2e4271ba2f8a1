// RUN: tile-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @buffers
func.func @buffers(%x: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %i: index, %p: i1)
    -> tensor<16x32xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  // CHECK: %[[B:.*]] = tile.alloc_buffer : !tile.buffer<3x16x32xf8E4M3FN>
  %b = tile.alloc_buffer : !tile.buffer<3x16x32xf8E4M3FN>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.copy_async %{{.*}}[%{{.*}}, %{{.*}}] to %[[B]][%{{.*}}] : memref<?x?xf8E4M3FN, strided<[?, 1]>>, !tile.buffer<3x16x32xf8E4M3FN>
  tile.copy_async %x[%i, %c0] to %b[%c0] : memref<?x?xf8E4M3FN, strided<[?, 1]>>, !tile.buffer<3x16x32xf8E4M3FN>
  // CHECK: tile.copy_async %{{.*}}[%{{.*}}, %{{.*}}] to %[[B]][%{{.*}}] if %{{.*}} :
  tile.copy_async %x[%i, %i] to %b[%c0] if %p : memref<?x?xf8E4M3FN, strided<[?, 1]>>, !tile.buffer<3x16x32xf8E4M3FN>
  // CHECK: tile.commit_copies
  tile.commit_copies
  // CHECK: tile.wait_copies {pending = 1 : i32}
  tile.wait_copies {pending = 1 : i32}
  // CHECK: tile.read_buffer %[[B]][%{{.*}}] : !tile.buffer<3x16x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  %t = tile.read_buffer %b[%c0] : !tile.buffer<3x16x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  return %t : tensor<16x32xf8E4M3FN>
}

// Pairs are bytes.
// CHECK-LABEL: func.func @pairs
func.func @pairs() {
  // CHECK: tile.alloc_buffer : !tile.buffer<1x8x!tile.f4E2M1FNx2>
  %b = tile.alloc_buffer : !tile.buffer<1x8x!tile.f4E2M1FNx2>
  return
}

// Eight bytes of padding after each eight bytes.
// CHECK-LABEL: func.func @padded
func.func @padded() {
  // CHECK: tile.alloc_buffer : !tile.buffer<1x8x8x!tile.f4E2M1FNx2, padded>
  %b = tile.alloc_buffer : !tile.buffer<1x8x8x!tile.f4E2M1FNx2, padded>
  return
}
