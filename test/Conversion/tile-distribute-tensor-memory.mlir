// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_100a | FileCheck %s

// Sums first, then scales: 64 + 2 * 4 columns, so 128 are taken. Warp 0 takes
// them and gives them back when nobody uses them any more.
// CHECK-LABEL: llvm.func @columns(
// CHECK: scf.if
// CHECK: nvvm.tcgen05.alloc %[[WORD:.*]], %c128_i32
// CHECK-NEXT: nvvm.tcgen05.relinquish_alloc_permit
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.tcgen05.fence <before>
// CHECK-NEXT: nvvm.barrier0
// CHECK-NEXT: nvvm.tcgen05.fence <after>
// CHECK: %[[BASE:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// The chunk of slot 1: columns 64 + 4.
// CHECK: %[[FIRST:.*]] = arith.addi %[[BASE]], %c64_i32
// CHECK: %[[SLOT:.*]] = arith.addi %[[FIRST]], %c4_i32
// CHECK: scf.if
// CHECK: %[[TO:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<6>
// CHECK: nvvm.tcgen05.cp %[[TO]], %{{.*}} {multicast = #nvvm.tcgen05_cp_multicast<warpx4>, shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
// CHECK: nvvm.barrier0
// CHECK: nvvm.tcgen05.dealloc %{{.*}}, %{{.*}} : !llvm.ptr<6>, i32
func.func @columns() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  %b = tile.alloc_buffer : !tile.buffer<2x128x4xf8E4M3FN, #tile.placement<[1, 2, 16, 32, 64, 128, 256, 4, 8] : 512>>
  %s = tile.alloc_tensor_memory : !tile.tensor_memory<2x128x4xf8E4M3FN>
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x64xf32>
  tile.copy_scales %b[%c1] to %s[%c1] : !tile.buffer<2x128x4xf8E4M3FN, #tile.placement<[1, 2, 16, 32, 64, 128, 256, 4, 8] : 512>>, !tile.tensor_memory<2x128x4xf8E4M3FN>
  return
}

// -----

// Eight warps: a lane has a row, the upper four warps the upper half of columns.
#sums = #tile.layout<register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 32]]>
// CHECK-LABEL: llvm.func @load(
// CHECK: scf.if %{{.*}} -> (f32
// CHECK: llvm.inline_asm has_side_effects "tcgen05.ld.sync.aligned.32x32b.x32.b32 {$0, $1,{{.*}} $31}, [$32]; tcgen05.wait::ld.sync.aligned;"
// CHECK: } else {
// CHECK: tcgen05.st.sync.aligned.32x32b.x32.b32 [$0], {$1, $2,
// CHECK: nvvm.tcgen05.wait <store>
// CHECK: nvvm.tcgen05.fence <before>
func.func @load(%p: i1) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x64xf32>
  %t = tile.load_tensor_memory %acc if %p : !tile.tensor_memory<1x128x64xf32> -> tensor<128x64xf32, #sums>
  tile.store_tensor_memory %t to %acc : tensor<128x64xf32, #sums>, !tile.tensor_memory<1x128x64xf32>
  return
}

// -----

// Columns 32 * %j: part of the address.
#part = #tile.layout<register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]]>
// CHECK-LABEL: llvm.func @part(
// CHECK: %[[J:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[MOVED:.*]] = arith.muli %[[J]], %c32_i32
// CHECK: %[[START:.*]] = arith.addi %{{.*}}, %[[MOVED]]
// CHECK: tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK-NOT: tcgen05.ld.sync
// CHECK: llvm.return
func.func @part(%j: index) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x64xf32>
  %t = tile.load_tensor_memory %acc at[%c0, %j] : !tile.tensor_memory<1x128x64xf32> -> tensor<128x32xf32, #part>
  return
}

// -----

// 64 rows: the lanes of two warps have none, and all threads get their part from
// shared memory.
#few = #tile.layout<register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>
// CHECK-LABEL: llvm.func @few_rows(
// CHECK: tcgen05.ld.sync.aligned.32x32b.x16.b32
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: nvvm.barrier0
// CHECK: llvm.load
func.func @few_rows() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x16xf32>
  %t = tile.load_tensor_memory %acc : !tile.tensor_memory<1x128x16xf32> -> tensor<64x16xf32, #few>
  return
}

// -----

// Two steps of K and one accumulator: the first multiply may replace it. Their
// descriptors differ by 32 bytes of each row.
!bf16s = !tile.buffer<1x128x32xbf16, #tile.placement<[2, 4, 8, 16, 32, 64, 144, 288, 512, 1024, 2048, 4096] : 8192>>
// CHECK-LABEL: llvm.func @multiply(
// CHECK: scf.if
// CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %arg0 {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<f16>}
// CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %true
// CHECK-NOT: nvvm.tcgen05.mma
// CHECK: nvvm.tcgen05.commit
func.func @multiply(%again: i1) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.alloc_buffer : !bf16s
  %b = tile.alloc_buffer : !bf16s
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.multiply_async %a[%c0], %b[%c0], %acc accumulate %again shape [1, 128, 128, 32]
    {atom = "m128n256k16.tcgen05.f16.bf16.bf16"} : !bf16s, !bf16s, !tile.tensor_memory<1x128x128xf32>
  tile.commit_multiplies %done[%c0] : !tile.barriers<1>
  return
}

// -----

// Zeros in both slots, seen by the tensor core.
!padded = !tile.buffer<2x16x32xf8E4M3FN, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 4096>>
// CHECK: alignment = 1024
// CHECK-LABEL: llvm.func @cleared(
// CHECK: %[[FIRST:.*]] = arith.shli %{{.*}}, %c4_i32
// CHECK: scf.for %{{.*}} = %c0_i32{{.*}} to %c2_i32{{.*}} step
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %c4096_i32{{.*}} step %c2048_i32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: nvvm.barrier0
func.func @cleared() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %b = tile.alloc_buffer {cleared} : !padded
  return
}
