// A scaled multiply that is in no loop that goes to tensor memory gets one of one
// iteration, with what it loads, so that the tensor core's scales are not lost.

// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a | FileCheck %s
// RUN: tile-opt %s --tile-legalize-scaled-mma="target=sm_100a mma-path=expand" | FileCheck %s --check-prefix=PLAIN
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_120f | FileCheck %s --check-prefix=PLAIN
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a --remarks-filter='tile-.*' --remark-format=emitRemark \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a --tile-stage-tensor-multiplies=target=sm_100a \
// RUN:   --tile-specialize-warps=target=sm_100a | FileCheck %s --check-prefix=SLOT
// REMARK: [Passed] scaled-mma | {{.*}}Function=in_no_loop | Reason="the target has the instruction, in a loop of one iteration", {{.*}}path=native
// REMARK: [Passed] scaled-mma | {{.*}}Function=in_a_loop | Reason="the target has the instruction, in a loop of one iteration: the loop {{.*}}path=native
// One iteration fills one slot.
// SLOT-LABEL: func.func @in_no_loop(
// SLOT: !tile.buffer<1x128x64xf8E4M3FN
// SLOT-NOT: !tile.barriers<{{[2-9]}}>
// SLOT: func.func @in_a_loop(
// PLAIN: func.func @in_no_loop
// PLAIN-NOT: scf.for
// PLAIN: func.func @in_a_loop
// PLAIN: scf.for
// PLAIN-NOT: scf.for
// PLAIN: func.func @stored_between

!e4m3 = memref<?x?xf8E4M3FN>
!ue8  = memref<?x?xf8E8M0FNU>
!f32  = memref<?x?xf32>

// The loads move into the loop; the sums are what they were.
// CHECK-LABEL: func.func @in_no_loop(
// CHECK: %[[INIT:.*]] = tile.load {{.*}} -> tensor<128x64xf32>
// CHECK-NOT: tile.load
// CHECK: %[[R:.*]] = scf.for %{{.*}} = %[[ZERO:.*]] to %[[ONE:.*]] step %[[ONE]] iter_args(%[[A:.*]] = %[[INIT]])
// CHECK-COUNT-4: tile.load
// CHECK: %[[T:.*]] = tile.mmaf_scaled %{{.*}}, %{{.*}}, %[[A]], {{.*}} {atom = "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0", path = "native"}
// CHECK: scf.yield %[[T]]
// CHECK-NOT: tile.load
// CHECK: tile.store %[[R]]
func.func @in_no_loop(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32) attributes {tile.kernel} {
  %i = tile.program_id 0
  %a = tile.load %z[%i, %i] : !f32 -> tensor<128x64xf32>
  %x = tile.load %xm[%i, %i] : !e4m3 -> tensor<128x64xf8E4M3FN>
  %wr = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %sx = tile.load %sm[%i, %i] : !ue8 -> tensor<128x2xf8E8M0FNU>
  %swr = tile.load %sm[%i, %i] : !ue8 -> tensor<64x2xf8E8M0FNU>
  %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
  %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
     : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
  tile.store %r, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// The loop around does more. What else uses an operand keeps its load.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<128x64xf8E4M3FN>
// CHECK: scf.for
// CHECK: tile.mmaf_scaled {{.*}} {atom = "m128n256k32.tcgen05.
// CHECK: scf.yield
// CHECK: tile.store %[[X]]
// CHECK: scf.yield
func.func @in_a_loop(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%c0, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %w = tile.load %wm[%k, %c0] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%c0, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %sw = tile.load %sm[%k, %c0] : !ue8 -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    tile.store %x, %xm[%c1, %k] : tensor<128x64xf8E4M3FN>, !e4m3
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, !f32
  return
}

// A load cannot move behind a store, which may have written what it reads; one in
// the branch of a condition counts.
// CHECK-LABEL: func.func @stored_between(
// CHECK-NOT: scf.for
// CHECK: tile.mmaf_scaled {{.*}} {atom = "m16n8k16.bf16.bf16", path = "expand"}
func.func @stored_between(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %p: i1) attributes {tile.kernel} {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %x = tile.load %xm[%i, %i] : !e4m3 -> tensor<128x64xf8E4M3FN>
  %w = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %sx = tile.load %sm[%i, %i] : !ue8 -> tensor<128x2xf8E8M0FNU>
  %sw = tile.load %sm[%i, %i] : !ue8 -> tensor<2x64xf8E8M0FNU>
  scf.if %p {
    tile.store %zero, %z[%i, %i] : tensor<128x64xf32>, !f32
  }
  %r = tile.mmaf_scaled %x, %w, %zero, %sx, %sw
     : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
  tile.store %r, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}
