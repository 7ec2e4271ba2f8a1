// RUN: tile-opt %s --tile-step-multiplies=unpack-ahead=0 | FileCheck %s --check-prefixes=ALL,NAIVE,FP8NAIVE
// RUN: tile-opt %s --tile-step-multiplies=unpack-ahead=1 | FileCheck %s --check-prefixes=ALL,AHEAD,FP8AHEAD
// RUN: tile-opt %s --tile-step-multiplies | FileCheck %s --check-prefixes=ALL,AHEAD,FP8NAIVE
// RUN: not tile-opt %s --tile-step-multiplies=unpack-ahead=2 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: expects unpack-ahead to be auto, 0 or 1, but got '2'

// Layouts are what the plans ask for; --verify-each would not see a wrong one,
// the whole pipeline (test/Execution) does.

// Decoded operands stay a loop over 32 values of K.
// NAIVE-LABEL: func.func @decoded
// NAIVE: %[[X:.*]] = tile.alloc_buffer : !tile.buffer<3x16x32x!tile.f4E2M1FNx2>
// NAIVE: scf.for %[[J:.*]] = %[[C0:.*]] to %{{.*}} iter_args(%[[A:.*]] = %{{.*}})
// NAIVE: %[[XR:.*]] = tile.read_buffer %[[X]][%{{.*}}] at[%[[C0]], %[[J]]] : {{.*}} -> tensor<16x16x!tile.f4E2M1FNx2
// NAIVE: %[[XU:.*]] = tile.unpack %[[XR]] : {{.*}} -> tensor<16x32xf4E2M1FN
// NAIVE: %[[YR:.*]] = tile.read_buffer {{.*}} at[%[[C0]], %[[J]]] : {{.*}} -> tensor<8x16x!tile.f4E2M1FNx2
// NAIVE: %[[YT:.*]] = tile.permute
// NAIVE: %[[SX:.*]] = tile.read_buffer {{.*}} at[%[[C0]], %[[J]]] : {{.*}} -> tensor<16x2xf8E4M3FN
// NAIVE: %[[R:.*]] = tile.mmaf_scaled %[[XU]], %[[YT]], %[[A]], %[[SX]], %{{.*}} {atom = "m16n8k16.bf16.bf16", path = "expand"}
// NAIVE: scf.yield %[[R]]
// NAIVE-NOT: tile.read_buffer

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

// What is not decoded is unrolled; ahead, the second step is read before the
// first multiply.
// ALL-LABEL: func.func @plain
// ALL-NOT: scf.for
// ALL: %[[X0:.*]] = tile.read_buffer %{{.*}} at[%[[C0:.*]], %[[C0]]]
// ALL: %[[Y0:.*]] = tile.read_buffer %{{.*}} at[%[[C0]], %[[C0]]]
// NAIVE: %[[R0:.*]] = tile.mmaf %[[X0]], %[[Y0]], %{{.*}}
// ALL: %[[X1:.*]] = tile.read_buffer %{{.*}} at[%[[C0]], %[[C1:.*]]]
// ALL: %[[Y1:.*]] = tile.read_buffer %{{.*}} at[%[[C1]], %[[C0]]]
// AHEAD: %[[R0:.*]] = tile.mmaf %[[X0]], %[[Y0]], %{{.*}}
// ALL: %[[R1:.*]] = tile.mmaf %[[X1]], %[[Y1]], %[[R0]]
// ALL: tile.store %[[R1]]
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
// ALL-LABEL: func.func @one
// ALL-NOT: at[
// ALL: tile.mmaf
// ALL-LABEL: func.func @registers
// ALL-NOT: at[
// ALL: tile.mmaf
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

// A step of FP8 is twice the words of one of FP4: reading ahead is not worth the
// registers unless asked for.
// ALL-LABEL: func.func @decoded_fp8
// FP8NAIVE-NOT: tile.read_buffer
// FP8AHEAD-COUNT-2: tile.read_buffer %{{.*}} at[
// ALL: scf.for
// ALL-COUNT-2: tile.read_buffer %{{.*}} at[
// ALL: tile.mmaf
// ALL: scf.yield
// FP8NAIVE-NOT: tile.mmaf
// FP8AHEAD: tile.mmaf
// ALL: return
func.func @decoded_fp8(%z: memref<16x8xf32>, %s: index) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %xb = tile.alloc_buffer : !tile.buffer<2x16x64xf8E4M3FN>
  %yb = tile.alloc_buffer : !tile.buffer<2x64x8xf8E4M3FN>
  %x = tile.read_buffer %xb[%s] : !tile.buffer<2x16x64xf8E4M3FN> -> tensor<16x64xf8E4M3FN>
  %y = tile.read_buffer %yb[%s] : !tile.buffer<2x64x8xf8E4M3FN> -> tensor<64x8xf8E4M3FN>
  %r = tile.mmaf %x, %y, %acc {atom = "m16n8k16.f16.f16", path = "expand"} : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>
  tile.store %r, %z[%i, %i] : tensor<16x8xf32>, memref<16x8xf32>
  return
}

// Block-scaled instructions pick the scales of a step from words that have those
// of several: as it was.
// ALL-LABEL: func.func @block_scaled
// ALL-NOT: at[
// ALL: tile.mmaf_scaled
// ALL-NOT: tile.mmaf_scaled
// ALL: return
func.func @block_scaled(%z: memref<16x8xf32>, %s: index) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %xb = tile.alloc_buffer : !tile.buffer<2x16x64xf8E4M3FN>
  %yb = tile.alloc_buffer : !tile.buffer<2x64x8xf8E4M3FN>
  %sxb = tile.alloc_buffer : !tile.buffer<2x16x2xf8E8M0FNU>
  %syb = tile.alloc_buffer : !tile.buffer<2x2x8xf8E8M0FNU>
  %x = tile.read_buffer %xb[%s] : !tile.buffer<2x16x64xf8E4M3FN> -> tensor<16x64xf8E4M3FN>
  %y = tile.read_buffer %yb[%s] : !tile.buffer<2x64x8xf8E4M3FN> -> tensor<64x8xf8E4M3FN>
  %sx = tile.read_buffer %sxb[%s] : !tile.buffer<2x16x2xf8E8M0FNU> -> tensor<16x2xf8E8M0FNU>
  %sy = tile.read_buffer %syb[%s] : !tile.buffer<2x2x8xf8E8M0FNU> -> tensor<2x8xf8E8M0FNU>
  %r = tile.mmaf_scaled %x, %y, %acc, %sx, %sy {atom = "m16n8k32.mxf8f6f4.1x.e4m3.e4m3.ue8m0", path = "native"}
     : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  tile.store %r, %z[%i, %i] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
