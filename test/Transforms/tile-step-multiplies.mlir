// RUN: tile-opt %s --tile-step-multiplies | FileCheck %s
// RUN: tile-opt %s --tile-step-multiplies=unpack-ahead=1 | FileCheck %s --check-prefix=AHEAD
// RUN: not tile-opt %s --tile-step-multiplies=unpack-ahead=2 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: expects unpack-ahead to be auto, 0 or 1, but got '2'

// Layouts are what the plans ask for; --verify-each would not see a wrong one,
// the whole pipeline (test/Execution) does.

// Decoded operands stay a loop over 32 values of K.
// CHECK-LABEL: func.func @decoded
// CHECK: %[[X:.*]] = tile.alloc_buffer : !tile.buffer<3x16x32x!tile.f4E2M1FNx2>
// CHECK: scf.for %[[J:.*]] = %[[C0:.*]] to %{{.*}} iter_args(%[[A:.*]] = %{{.*}})
// CHECK: %[[XR:.*]] = tile.read_buffer %[[X]][%{{.*}}] at[%[[C0]], %[[J]]] : {{.*}} -> tensor<16x16x!tile.f4E2M1FNx2
// CHECK: %[[XU:.*]] = tile.unpack %[[XR]] : {{.*}} -> tensor<16x32xf4E2M1FN
// CHECK: %[[YR:.*]] = tile.read_buffer {{.*}} at[%[[C0]], %[[J]]] : {{.*}} -> tensor<8x16x!tile.f4E2M1FNx2
// CHECK: %[[YT:.*]] = tile.permute
// CHECK: %[[SX:.*]] = tile.read_buffer {{.*}} at[%[[C0]], %[[J]]] : {{.*}} -> tensor<16x2xf8E4M3FN
// CHECK: %[[R:.*]] = tile.mmaf_scaled %[[XU]], %[[YT]], %[[A]], %[[SX]], %{{.*}} {atom = "m16n8k16.bf16.bf16", path = "expand"}
// CHECK: scf.yield %[[R]]
// CHECK-NOT: tile.read_buffer

// With reads ahead a loop of one turn carries them to the last multiply.
// AHEAD-LABEL: func.func @decoded
// AHEAD-COUNT-4: tile.read_buffer
// AHEAD: scf.for
// AHEAD-COUNT-4: tile.read_buffer
// AHEAD: tile.mmaf_scaled
// AHEAD: scf.yield
// AHEAD-NOT: tile.read_buffer
// AHEAD: tile.mmaf_scaled
func.func @decoded(%z: memref<16x8xf32>, %s: index) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %xb = tile.alloc_buffer : !tile.buffer<3x16x32x!tile.f4E2M1FNx2>
  %yb = tile.alloc_buffer : !tile.buffer<3x8x32x!tile.f4E2M1FNx2>
  %sxb = tile.alloc_buffer : !tile.buffer<3x16x4xf8E4M3FN>
  %syb = tile.alloc_buffer : !tile.buffer<3x8x4xf8E4M3FN>
  %x = tile.read_buffer %xb[%s] : !tile.buffer<3x16x32x!tile.f4E2M1FNx2> -> tensor<16x32x!tile.f4E2M1FNx2>
  %y = tile.read_buffer %yb[%s] : !tile.buffer<3x8x32x!tile.f4E2M1FNx2> -> tensor<8x32x!tile.f4E2M1FNx2>
  %sx = tile.read_buffer %sxb[%s] : !tile.buffer<3x16x4xf8E4M3FN> -> tensor<16x4xf8E4M3FN>
  %sl = tile.read_buffer %syb[%s] : !tile.buffer<3x8x4xf8E4M3FN> -> tensor<8x4xf8E4M3FN>
  %xu = tile.unpack %x : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  %yu = tile.unpack %y : tensor<8x32x!tile.f4E2M1FNx2> -> tensor<8x64xf4E2M1FN>
  %yt = tile.permute %yu [1, 0] : tensor<8x64xf4E2M1FN> -> tensor<64x8xf4E2M1FN>
  %sy = tile.permute %sl [1, 0] : tensor<8x4xf8E4M3FN> -> tensor<4x8xf8E4M3FN>
  %r = tile.mmaf_scaled %xu, %yt, %acc, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  tile.store %r, %z[%i, %i] : tensor<16x8xf32>, memref<16x8xf32>
  return
}

// What is not decoded is unrolled, and read one step ahead.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: scf.for
// CHECK: %[[X0:.*]] = tile.read_buffer %{{.*}} at[%[[C0:.*]], %[[C0]]]
// CHECK: %[[Y0:.*]] = tile.read_buffer %{{.*}} at[%[[C0]], %[[C0]]]
// CHECK: %[[X1:.*]] = tile.read_buffer %{{.*}} at[%[[C0]], %[[C1:.*]]]
// CHECK: %[[Y1:.*]] = tile.read_buffer %{{.*}} at[%[[C1]], %[[C0]]]
// CHECK: %[[R0:.*]] = tile.mmaf %[[X0]], %[[Y0]], %{{.*}}
// CHECK: %[[R1:.*]] = tile.mmaf %[[X1]], %[[Y1]], %[[R0]]
// CHECK: tile.store %[[R1]]
func.func @plain(%z: memref<16x8xf32>, %s: index) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %xb = tile.alloc_buffer : !tile.buffer<2x16x64xbf16>
  %yb = tile.alloc_buffer : !tile.buffer<2x64x8xbf16>
  %x = tile.read_buffer %xb[%s] : !tile.buffer<2x16x64xbf16> -> tensor<16x64xbf16>
  %y = tile.read_buffer %yb[%s] : !tile.buffer<2x64x8xbf16> -> tensor<64x8xbf16>
  %r = tile.mmaf %x, %y, %acc {atom = "m16n8k16.bf16.bf16", path = "native"} : tensor<16x64xbf16>, tensor<64x8xbf16>, tensor<16x8xf32>
  tile.store %r, %z[%i, %i] : tensor<16x8xf32>, memref<16x8xf32>
  return
}

// One step, or an operand that is in registers: as it was.
// CHECK-LABEL: func.func @one
// CHECK: tile.read_buffer %{{.*}}[%{{.*}}] :
// CHECK-LABEL: func.func @registers
// CHECK: tile.read_buffer %{{.*}}[%{{.*}}] :
func.func @one(%z: memref<16x8xf32>, %s: index) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %xb = tile.alloc_buffer : !tile.buffer<2x16x32xbf16>
  %yb = tile.alloc_buffer : !tile.buffer<2x32x8xbf16>
  %x = tile.read_buffer %xb[%s] : !tile.buffer<2x16x32xbf16> -> tensor<16x32xbf16>
  %y = tile.read_buffer %yb[%s] : !tile.buffer<2x32x8xbf16> -> tensor<32x8xbf16>
  %r = tile.mmaf %x, %y, %acc {atom = "m16n8k16.bf16.bf16", path = "native"} : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  tile.store %r, %z[%i, %i] : tensor<16x8xf32>, memref<16x8xf32>
  return
}

func.func @registers(%z: memref<16x8xf32>, %s: index) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %y = arith.constant dense<1.0> : tensor<64x8xbf16>
  %xb = tile.alloc_buffer : !tile.buffer<2x16x64xbf16>
  %x = tile.read_buffer %xb[%s] : !tile.buffer<2x16x64xbf16> -> tensor<16x64xbf16>
  %r = tile.mmaf %x, %y, %acc {atom = "m16n8k16.bf16.bf16", path = "native"} : tensor<16x64xbf16>, tensor<64x8xbf16>, tensor<16x8xf32>
  tile.store %r, %z[%i, %i] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
