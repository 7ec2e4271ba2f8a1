// Loops of multiplies become copies to shared memory, multiplies of one thread
// and sums in tensor memory. A placement is one offset per bit of the index in the
// tile that is loaded, the last dimension first.

// DEFINE: %{passes} = --tile-legalize-scaled-mma=target=sm_100a --tile-stage-tensor-multiplies=target=sm_100a
// RUN: tile-opt %s %{passes} --canonicalize --cse | FileCheck %s
// RUN: tile-opt %s %{passes} --remarks-filter='tile-stage-.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_120f --tile-stage-tensor-multiplies=target=sm_120f | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: tile.alloc_

!fp4  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!e4m3 = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!e5m2 = memref<?x?xf8E5M2, strided<[?, 1]>>
!ue8  = memref<?x?xf8E8M0FNU, strided<[?, 1]>>
!bf16 = memref<?x?xbf16, strided<[?, 1]>>
!f32  = memref<?x?xf32, strided<[?, 1]>>

// 128 bytes in a row, swizzled by 16 bytes over eight rows.
// CHECK-DAG: #[[FP4:placement[0-9]*]] = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192] : 16384>
// Scales: four blocks in a word, then chunks along K, rows by 16, rows by 32 to
// the next words.
// CHECK-DAG: #[[SCALES:placement[0-9]*]] = #tile.placement<[1, 2, 512, 1024, 16, 32, 64, 128, 256, 4, 8] : 2048>
// CHECK-DAG: #[[CHUNKS:placement[0-9]*]] = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : 2048>

// 16 rows of 32 bytes, two and two of four swizzled, of which 16 values come.
// CHECK-DAG: #[[PADDED:placement[0-9]*]] = #tile.placement<[1, 2, 4, 32, 64, 144, 256] : 4096>
// CHECK-DAG: #[[PADDED_SCALES:placement[0-9]*]] = #tile.placement<[16, 32, 64, 128] : 512>
// CHECK-DAG: #[[SINGLE:placement[0-9]*]] = #tile.placement<[] : 512>
// Rows of 64 bytes; the second matrix of a batch after the first.
// CHECK-DAG: #[[BATCH:placement[0-9]*]] = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 512, 1024, 2048, 4096, 8192] : 16384>
// Lines of 128 rows or columns for each K, and a second panel of such lines.
// CHECK-DAG: #[[LHS8:placement[0-9]*]] = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096] : 8192>
// CHECK-DAG: #[[RHS8:placement[0-9]*]] = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 8192, 144, 288, 576, 1024, 2048, 4096] : 16384>
// CHECK-DAG: #[[LHS16:placement[0-9]*]] = #tile.placement<[2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192] : 16384>
// Eight bytes of pairs, then eight that nobody writes.
// CHECK-DAG: #[[SPREAD:placement[0-9]*]] = #tile.placement<[1, 2, 4, 16, 32, 64, 144, 288, 512, 1024, 2048, 4096] : 8192>

// CHECK-LABEL: func.func @nvfp4(
// CHECK-SAME: %[[XM:[a-z0-9]+]]: {{.*}}, %[[WM:[a-z0-9]+]]: {{.*}}, %[[SXM:[a-z0-9]+]]: {{.*}}, %[[SWM:[a-z0-9]+]]: {{.*}}, %[[Z:[a-z0-9]+]]: {{.*}}, %[[N:[a-z0-9]+]]: index) attributes {tile.kernel, tile.num_warps = 8 : i32}
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[I:.*]] = tile.program_id 0
// CHECK-DAG: %[[J:.*]] = tile.program_id 1
// CHECK: %[[X:.*]] = tile.alloc_buffer : !tile.buffer<1x128x128x!tile.f4E2M1FNx2, #[[FP4]]>
// CHECK: %[[W:.*]] = tile.alloc_buffer : !tile.buffer<1x128x128x!tile.f4E2M1FNx2, #[[FP4]]>
// CHECK: %[[BX:.*]] = tile.alloc_buffer : !tile.buffer<1x128x16xf8E4M3FN, #[[SCALES]]>
// CHECK: %[[BW:.*]] = tile.alloc_buffer : !tile.buffer<1x128x16xf8E4M3FN, #[[SCALES]]>
// CHECK: %[[ACC:.*]] = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
// CHECK: %[[TX:.*]] = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x16xf8E4M3FN>
// CHECK: %[[TW:.*]] = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x16xf8E4M3FN>
// CHECK: %[[DONE:.*]] = tile.alloc_barriers : !tile.barriers<1>
// CHECK: tile.init_barriers %[[DONE]] {arrivals = 1 : i32} : !tile.barriers<1>
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: scf.for %[[K:.*]] = %[[C0]] to %[[N]] step %{{.*}} iter_args(%[[PARITY:.*]] = %[[ZERO]]) -> (i32) {
// CHECK-NEXT: tile.copy_async %[[XM]][%[[I]], %[[K]]] to %[[X]][%[[C0]]] {moving = array<i64: 1>}
// CHECK-NEXT: tile.copy_async %[[WM]][%[[J]], %[[K]]] to %[[W]][%[[C0]]] {moving = array<i64: 1>}
// CHECK-NEXT: tile.copy_async %[[SXM]][%[[I]], %[[K]]] to %[[BX]][%[[C0]]] {moving = array<i64: 1>}
// CHECK-NEXT: tile.copy_async %[[SWM]][%[[J]], %[[K]]] to %[[BW]][%[[C0]]] {moving = array<i64: 1>}
// CHECK-NEXT: tile.commit_copies
// CHECK-NEXT: tile.wait_copies {async_proxy, pending = 0 : i32}
// CHECK-NEXT: tile.copy_scales %[[BX]][%[[C0]]] to %[[TX]][%[[C0]]]
// CHECK-NEXT: tile.copy_scales %[[BW]][%[[C0]]] to %[[TW]][%[[C0]]]
// CHECK-NEXT: %[[AGAIN:.*]] = arith.cmpi ne, %[[K]], %[[C0]] : index
// CHECK-NEXT: tile.multiply_async %[[X]][%[[C0]]], %[[W]][%[[C0]]], %[[ACC]] scales %[[TX]][%[[C0]]], %[[TW]][%[[C0]]] accumulate %[[AGAIN]] shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
// CHECK-NEXT: tile.commit_multiplies %[[DONE]][%[[C0]]]
// CHECK-NEXT: tile.wait_barrier %[[DONE]][%[[C0]]] parity %[[PARITY]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.xori %[[PARITY]], %[[ONE]] : i32
// CHECK-NEXT: scf.yield %[[NEXT]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: tile.inval_barriers %[[DONE]]
// CHECK-NEXT: %[[SOME:.*]] = arith.cmpi sgt, %[[N]], %[[C0]] : index
// CHECK-NEXT: %[[SUMS:.*]] = tile.load_tensor_memory %[[ACC]] if %[[SOME]] : {{.*}} -> tensor<128x128xf32>
// CHECK-NEXT: tile.store %[[SUMS]], %[[Z]]
// REMARK: remark: [Passed] tensor-memory | Category:tile-stage-tensor-multiplies | Function=nvfp4 | k=256, m=128, m-side=lhs, n=128, parts=1, sum-columns=128
func.func @nvfp4(%xm: !fp4, %wm: !fp4, %sxm: !e4m3, %swm: !e4m3, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x128xf32>) {
    %xp = tile.load %xm[%i, %k] : !fp4 -> tensor<128x128x!tile.f4E2M1FNx2>
    %x = tile.unpack %xp : tensor<128x128x!tile.f4E2M1FNx2> -> tensor<128x256xf4E2M1FN>
    %wp = tile.load %wm[%j, %k] : !fp4 -> tensor<128x128x!tile.f4E2M1FNx2>
    %wu = tile.unpack %wp : tensor<128x128x!tile.f4E2M1FNx2> -> tensor<128x256xf4E2M1FN>
    %w = tile.permute %wu [1, 0] : tensor<128x256xf4E2M1FN> -> tensor<256x128xf4E2M1FN>
    %sx = tile.load %sxm[%i, %k] : !e4m3 -> tensor<128x16xf8E4M3FN>
    %swr = tile.load %swm[%j, %k] : !e4m3 -> tensor<128x16xf8E4M3FN>
    %sw = tile.permute %swr [1, 0] : tensor<128x16xf8E4M3FN> -> tensor<16x128xf8E4M3FN>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<128x256xf4E2M1FN>, tensor<256x128xf4E2M1FN>, tensor<128x128xf32>,
         tensor<128x16xf8E4M3FN>, tensor<16x128xf8E4M3FN>
    scf.yield %r : tensor<128x128xf32>
  }
  tile.store %s, %z[%i, %j] : tensor<128x128xf32>, !f32
  return
}

// Arrays of scales in the 128x4 order go straight through: their tile is the
// chunks, byte for byte.
// CHECK-LABEL: func.func @chunks(
// CHECK: tile.alloc_buffer : !tile.buffer<1x128x128x!tile.f4E2M1FNx2, #[[FP4]]>
// CHECK: %[[W:.*]] = tile.alloc_buffer : !tile.buffer<1x128x128x!tile.f4E2M1FNx2, #[[FP4]]>
// CHECK: %[[BX:.*]] = tile.alloc_buffer : !tile.buffer<1x1x4x32x4x4xf8E4M3FN, #[[CHUNKS]]>
// CHECK: tile.copy_scales %[[BX]][%{{.*}}] to %{{.*}}[%{{.*}}] : {{.*}}, !tile.tensor_memory<1x128x16xf8E4M3FN>
func.func @chunks(%xm: !fp4, %wm: !fp4, %sm: memref<?x?x32x4x4xf8E4M3FN>, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x128xf32>) {
    %xp = tile.load %xm[%i, %k] : !fp4 -> tensor<128x128x!tile.f4E2M1FNx2>
    %x = tile.unpack %xp : tensor<128x128x!tile.f4E2M1FNx2> -> tensor<128x256xf4E2M1FN>
    %wp = tile.load %wm[%i, %k] : !fp4 -> tensor<128x128x!tile.f4E2M1FNx2>
    %wu = tile.unpack %wp : tensor<128x128x!tile.f4E2M1FNx2> -> tensor<128x256xf4E2M1FN>
    %w = tile.permute %wu [1, 0] : tensor<128x256xf4E2M1FN> -> tensor<256x128xf4E2M1FN>
    %p0 = tile.load %sm[%i, %k, %c0, %c0, %c0] : memref<?x?x32x4x4xf8E4M3FN> -> tensor<1x4x32x4x4xf8E4M3FN>
    %p1 = tile.permute %p0 [0, 3, 2, 1, 4] : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<1x4x32x4x4xf8E4M3FN>
    %sx = tile.reshape %p1 : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<128x16xf8E4M3FN>
    %sw = tile.permute %sx [1, 0] : tensor<128x16xf8E4M3FN> -> tensor<16x128xf8E4M3FN>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<128x256xf4E2M1FN>, tensor<256x128xf4E2M1FN>, tensor<128x128xf32>,
         tensor<128x16xf8E4M3FN>, tensor<16x128xf8E4M3FN>
    scf.yield %r : tensor<128x128xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x128xf32>, !f32
  return
}

// 64 rows by 128 columns: the instruction takes its 128 rows from rhs, and its
// formats in the other order. Rows of scales are padded, so their copies are
// beside zeros.
// CHECK-LABEL: func.func @exchanged(
// CHECK-SAME: tile.num_warps = 4 : i32
// CHECK: %[[W:.*]] = tile.alloc_buffer : !tile.buffer<1x128x64xf8E5M2, #{{.*}}>
// CHECK: %[[X:.*]] = tile.alloc_buffer : !tile.buffer<1x64x64xf8E4M3FN, #{{.*}}>
// CHECK: tile.alloc_buffer {cleared} : !tile.buffer<1x128x2xf8E8M0FNU, #{{.*}}>
// CHECK: tile.alloc_buffer {cleared} : !tile.buffer<1x64x2xf8E8M0FNU, #{{.*}}>
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x128x64xf32>
// CHECK: tile.multiply_async %[[W]][%{{.*}}], %[[X]][%{{.*}}], {{.*}} shape [1, 128, 64, 64] {atom = "m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e4m3.ue8m0"}
// CHECK: %[[SUMS:.*]] = tile.load_tensor_memory {{.*}} -> tensor<128x64xf32>
// CHECK: %[[T:.*]] = tile.permute %[[SUMS]] [1, 0] : tensor<128x64xf32> -> tensor<64x128xf32>
// CHECK: tile.store %[[T]]
// REMARK: Function=exchanged | k=64, m=128, m-side=rhs, n=64, parts=1, sum-columns=64
func.func @exchanged(%xm: !e4m3, %wm: !e5m2, %sxm: !ue8, %swm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e5m2 -> tensor<128x64xf8E5M2>
    %w = tile.permute %wr [1, 0] : tensor<128x64xf8E5M2> -> tensor<64x128xf8E5M2>
    %sx = tile.load %sxm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %swr = tile.load %swm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<128x2xf8E8M0FNU> -> tensor<2x128xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<64x64xf8E4M3FN>, tensor<64x128xf8E5M2>, tensor<64x128xf32>,
         tensor<64x2xf8E8M0FNU>, tensor<2x128xf8E8M0FNU>
    scf.yield %r : tensor<64x128xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<64x128xf32>, !f32
  return
}

// 16 rows, 8 columns and 16 values of K: all of them are padded.
// CHECK-LABEL: func.func @padded(
// CHECK: %[[X:.*]] = tile.alloc_buffer {cleared} : !tile.buffer<1x16x8x!tile.f4E2M1FNx2, #[[PADDED]]>
// CHECK: %[[W:.*]] = tile.alloc_buffer {cleared} : !tile.buffer<1x8x8x!tile.f4E2M1FNx2, #{{.*}}>
// CHECK: tile.alloc_buffer {cleared} : !tile.buffer<1x16x1xf8E4M3FN, #[[PADDED_SCALES]]>
// CHECK: tile.alloc_buffer {cleared} : !tile.buffer<1x8x1xf8E4M3FN, #{{.*}}>
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x128x16xf32>
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x128x4xf8E4M3FN>
// CHECK: tile.multiply_async %[[X]][%{{.*}}], %[[W]][%{{.*}}], {{.*}} shape [1, 128, 16, 64]
// CHECK: tile.load_tensor_memory {{.*}} : !tile.tensor_memory<1x128x16xf32> -> tensor<16x8xf32>
// REMARK: Function=padded | k=64, m=128, m-side=lhs, n=16, parts=1, sum-columns=16
func.func @padded(%xm: !fp4, %wm: !fp4, %sm: !e4m3, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x8xf32>) {
    %xp = tile.load %xm[%i, %k] : !fp4 -> tensor<16x8x!tile.f4E2M1FNx2>
    %x = tile.unpack %xp : tensor<16x8x!tile.f4E2M1FNx2> -> tensor<16x16xf4E2M1FN>
    %wp = tile.load %wm[%i, %k] : !fp4 -> tensor<8x8x!tile.f4E2M1FNx2>
    %wu = tile.unpack %wp : tensor<8x8x!tile.f4E2M1FNx2> -> tensor<8x16xf4E2M1FN>
    %w = tile.permute %wu [1, 0] : tensor<8x16xf4E2M1FN> -> tensor<16x8xf4E2M1FN>
    %sx = tile.load %sm[%i, %k] : !e4m3 -> tensor<16x1xf8E4M3FN>
    %swr = tile.load %sm[%i, %k] : !e4m3 -> tensor<8x1xf8E4M3FN>
    %sw = tile.permute %swr [1, 0] : tensor<8x1xf8E4M3FN> -> tensor<1x8xf8E4M3FN>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<16x16xf4E2M1FN>, tensor<16x8xf4E2M1FN>, tensor<16x8xf32>,
         tensor<16x1xf8E4M3FN>, tensor<1x8xf8E4M3FN>
    scf.yield %r : tensor<16x8xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<16x8xf32>, !f32
  return
}

// One row: a scale of one element has a placement of no bits.
// CHECK-LABEL: func.func @one_row(
// CHECK: tile.alloc_buffer {cleared} : !tile.buffer<1x1x1xf8E8M0FNU, #[[SINGLE]]>
// CHECK: tile.multiply_async {{.*}} shape [1, 128, 16, 32]
func.func @one_row(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<1x128xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<1x128xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<1x32xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<128x32xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<128x32xf8E4M3FN> -> tensor<32x128xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<1x1xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<128x1xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<128x1xf8E8M0FNU> -> tensor<1x128xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<1x32xf8E4M3FN>, tensor<32x128xf8E4M3FN>, tensor<1x128xf32>,
         tensor<1x1xf8E8M0FNU>, tensor<1x128xf8E8M0FNU>
    scf.yield %r : tensor<1x128xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<1x128xf32>, !f32
  return
}

// Sums of 256 rows by 256 columns fill tensor memory, and scales need some: two
// loops, one after the other, over the same buffers, each with its store.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %{{[a-z0-9]+}}: {{.*}}, %[[WM:[a-z0-9]+]]: {{.*}}, %{{[a-z0-9]+}}: {{.*}}, %[[Z:[a-z0-9]+]]: memref
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[I:.*]] = tile.program_id 0
// CHECK: tile.alloc_buffer : !tile.buffer<1x256x64x!tile.f4E2M1FNx2, #{{.*}}>
// CHECK: %[[W:.*]] = tile.alloc_buffer : !tile.buffer<1x128x64x!tile.f4E2M1FNx2, #{{.*}}>
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x256x128xf32>
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x256x8xf8E4M3FN>
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x128x8xf8E4M3FN>
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %[[C2]]
// CHECK: tile.copy_async %[[WM]][%[[FIRST]], %{{.*}}] to %[[W]]
// CHECK: tile.multiply_async {{.*}} shape [1, 256, 128, 128]
// CHECK: tile.load_tensor_memory {{.*}} -> tensor<256x128xf32>
// CHECK: %[[EVEN:.*]] = arith.muli %[[I]], %[[C2]]
// CHECK: tile.store %{{.*}}, %[[Z]][%[[I]], %[[EVEN]]] : tensor<256x128xf32>
// CHECK: tile.init_barriers
// CHECK: scf.for
// CHECK: %[[ODD:.*]] = arith.addi %[[EVEN]], %[[C1]]
// CHECK: tile.copy_async %[[WM]][%[[ODD]], %{{.*}}] to %[[W]]
// CHECK: tile.store %{{.*}}, %[[Z]][%[[I]], %{{.*}}] : tensor<256x128xf32>
// REMARK: Function=parts | {{.*}}Reason="sums and scales exceed tensor or shared memory: one loop for each part along N", k=128, m=256, m-side=lhs, n=128, parts=2, sum-columns=256
func.func @parts(%xm: !fp4, %wm: !fp4, %sm: !e4m3, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256x256xf32>) {
    %xp = tile.load %xm[%i, %k] : !fp4 -> tensor<256x64x!tile.f4E2M1FNx2>
    %x = tile.unpack %xp : tensor<256x64x!tile.f4E2M1FNx2> -> tensor<256x128xf4E2M1FN>
    %wp = tile.load %wm[%i, %k] : !fp4 -> tensor<256x64x!tile.f4E2M1FNx2>
    %wu = tile.unpack %wp : tensor<256x64x!tile.f4E2M1FNx2> -> tensor<256x128xf4E2M1FN>
    %w = tile.permute %wu [1, 0] : tensor<256x128xf4E2M1FN> -> tensor<128x256xf4E2M1FN>
    %sx = tile.load %sm[%i, %k] : !e4m3 -> tensor<256x8xf8E4M3FN>
    %swr = tile.load %sm[%i, %k] : !e4m3 -> tensor<256x8xf8E4M3FN>
    %sw = tile.permute %swr [1, 0] : tensor<256x8xf8E4M3FN> -> tensor<8x256xf8E4M3FN>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<256x128xf4E2M1FN>, tensor<128x256xf4E2M1FN>, tensor<256x256xf32>,
         tensor<256x8xf8E4M3FN>, tensor<8x256xf8E4M3FN>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<256x256xf32>, !f32
  return
}

// Sums that start from something are stored to tensor memory before the loop, and
// every multiply adds.
// CHECK-LABEL: func.func @starts_from(
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[INIT:.*]] = tile.load {{.*}} -> tensor<128x64xf32>
// CHECK: %[[ACC:.*]] = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x64xf32>
// CHECK: tile.init_barriers {{.*$}}
// CHECK-NEXT: tile.store_tensor_memory %[[INIT]] to %[[ACC]] : {{.*$}}
// CHECK-NEXT: tile.barrier{{$}}
// CHECK: tile.multiply_async {{.*}}, %[[ACC]] accumulate %[[TRUE]] shape [1, 128, 64, 64]
// CHECK: tile.load_tensor_memory %[[ACC]] : {{.*}} -> tensor<128x64xf32>
func.func @starts_from(%xm: !e4m3, %wm: !e4m3, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %init = tile.load %z[%i, %i] : !f32 -> tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %r = tile.mmaf %x, %w, %a : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// Minus zero is no zero: the sum of nothing must stay what it was.
// CHECK-LABEL: func.func @minus_zero(
// CHECK: tile.store_tensor_memory
func.func @minus_zero(%xm: !e4m3, %wm: !e4m3, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %init = arith.constant dense<-0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %r = tile.mmaf %x, %w, %a : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// Two multiplies of one x: it is copied once, and one barrier ends both.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[XM:[a-z0-9]+]]: memref
// CHECK: %[[X:.*]] = tile.alloc_buffer : !tile.buffer<1x128x64xf8E4M3FN, #{{.*}}>
// CHECK-COUNT-2: tile.alloc_buffer : !tile.buffer<1x64x64xf8E4M3FN
// CHECK-NOT: tile.alloc_buffer
// CHECK: tile.copy_async %[[XM]]
// CHECK-NOT: tile.copy_async %[[XM]]
// CHECK: %[[AGAIN:.*]] = arith.cmpi ne
// CHECK: tile.multiply_async %[[X]][{{.*}}, %[[ACC1:.*]] accumulate %[[AGAIN]]
// CHECK-NEXT: tile.multiply_async %[[X]][{{.*}}, %[[ACC2:.*]] accumulate %[[AGAIN]]
// CHECK-NEXT: tile.commit_multiplies
// CHECK: tile.load_tensor_memory %[[ACC1]] if
// CHECK: tile.load_tensor_memory %[[ACC2]] if
func.func @shared(%xm: !e4m3, %wm: !e4m3, %vm: !e4m3, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %vr = tile.load %vm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %v = tile.permute %vr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %r = tile.mmaf %x, %w, %a : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
    %t = tile.mmaf %x, %v, %b : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
    scf.yield %r, %t : tensor<128x64xf32>, tensor<128x64xf32>
  }
  %o = arith.mulf %s#0, %s#1 : tensor<128x64xf32>
  tile.store %o, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// A batch is copied at once; its matrices lie one after the other.
// CHECK-LABEL: func.func @batched(
// CHECK: tile.alloc_buffer : !tile.buffer<1x2x128x64xf8E4M3FN, #[[BATCH]]>
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x2x128x64xf32>
// CHECK: tile.multiply_async {{.*}} shape [2, 128, 64, 64]
// CHECK: tile.load_tensor_memory {{.*}} -> tensor<2x128x64xf32>
func.func @batched(%xm: memref<?x?x?xf8E4M3FN>, %wm: memref<?x?x?xf8E4M3FN>, %z: memref<?x?x?xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<2x128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<2x128x64xf32>) {
    %x = tile.load %xm[%i, %i, %k] : memref<?x?x?xf8E4M3FN> -> tensor<2x128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %i, %k] : memref<?x?x?xf8E4M3FN> -> tensor<2x64x64xf8E4M3FN>
    %w = tile.permute %wr [0, 2, 1] : tensor<2x64x64xf8E4M3FN> -> tensor<2x64x64xf8E4M3FN>
    %r = tile.mmaf %x, %w, %a : tensor<2x128x64xf8E4M3FN>, tensor<2x64x64xf8E4M3FN>, tensor<2x128x64xf32>
    scf.yield %r : tensor<2x128x64xf32>
  }
  tile.store %s, %z[%i, %i, %i] : tensor<2x128x64xf32>, memref<?x?x?xf32>
  return
}

// A batch of one has no dimension in tensor memory.
// CHECK-LABEL: func.func @batch_of_one(
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<1x128x64xf32>
// CHECK: %[[S:.*]] = tile.load_tensor_memory {{.*}} -> tensor<128x64xf32>
// CHECK: tile.reshape %[[S]] : tensor<128x64xf32> -> tensor<1x128x64xf32>
func.func @batch_of_one(%xm: memref<?x?x?xf8E4M3FN>, %wm: memref<?x?x?xf8E4M3FN>, %z: memref<?x?x?xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<1x128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<1x128x64xf32>) {
    %x = tile.load %xm[%i, %i, %k] : memref<?x?x?xf8E4M3FN> -> tensor<1x128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %i, %k] : memref<?x?x?xf8E4M3FN> -> tensor<1x64x64xf8E4M3FN>
    %w = tile.permute %wr [0, 2, 1] : tensor<1x64x64xf8E4M3FN> -> tensor<1x64x64xf8E4M3FN>
    %r = tile.mmaf %x, %w, %a : tensor<1x128x64xf8E4M3FN>, tensor<1x64x64xf8E4M3FN>, tensor<1x128x64xf32>
    scf.yield %r : tensor<1x128x64xf32>
  }
  tile.store %s, %z[%i, %i, %i] : tensor<1x128x64xf32>, memref<?x?x?xf32>
  return
}

// x is K by M and w K by N in memory: rows are contiguous, and lines are those of
// one K. 128 bytes of a line are a panel, with the lines of all K.
// CHECK-LABEL: func.func @mn_major_fp8(
// CHECK: tile.alloc_buffer : !tile.buffer<1x64x128xf8E4M3FN, #[[LHS8]]>
// CHECK: tile.alloc_buffer : !tile.buffer<1x64x256xf8E4M3FN, #[[RHS8]]>
// CHECK: tile.multiply_async {{.*}} shape [1, 128, 256, 64] {atom = "m128n256k32.tcgen05.f8f6f4.e4m3.e4m3", lhs_mn_major, rhs_mn_major}
func.func @mn_major_fp8(%xm: !e4m3, %wm: !e4m3, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x256xf32>) {
    %xr = tile.load %xm[%k, %i] : !e4m3 -> tensor<64x128xf8E4M3FN>
    %x = tile.permute %xr [1, 0] : tensor<64x128xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %w = tile.load %wm[%k, %i] : !e4m3 -> tensor<64x256xf8E4M3FN>
    %r = tile.mmaf %x, %w, %a : tensor<128x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<128x256xf32>
    scf.yield %r : tensor<128x256xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x256xf32>, !f32
  return
}

// CHECK-LABEL: func.func @mixed_major_bf16(
// CHECK: tile.alloc_buffer : !tile.buffer<1x128x64xbf16, #[[LHS16]]>
// CHECK: tile.alloc_buffer : !tile.buffer<1x64x64xbf16, #{{.*}}>
// CHECK: tile.multiply_async {{.*}} shape [1, 128, 64, 64] {atom = "m128n256k16.tcgen05.f16.bf16.bf16", rhs_mn_major}
func.func @mixed_major_bf16(%xm: !bf16, %wm: !bf16, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !bf16 -> tensor<128x64xbf16>
    %w = tile.load %wm[%k, %i] : !bf16 -> tensor<64x64xbf16>
    %r = tile.mmaf %x, %w, %a : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// FP4 beside FP8: a byte for each value, eight bytes of pairs before eight that
// nobody reads.
// CHECK-LABEL: func.func @fp4_beside_fp8(
// CHECK: tile.alloc_buffer : !tile.buffer<1x128x32x!tile.f4E2M1FNx2, #[[SPREAD]]>
// CHECK: tile.multiply_async {{.*}} {atom = "m128n256k32.tcgen05.mxf8f6f4.block32.e2m1.e4m3.ue8m0"}
func.func @fp4_beside_fp8(%xm: !fp4, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x128xf32>) {
    %xp = tile.load %xm[%i, %k] : !fp4 -> tensor<128x32x!tile.f4E2M1FNx2>
    %x = tile.unpack %xp : tensor<128x32x!tile.f4E2M1FNx2> -> tensor<128x64xf4E2M1FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<128x64xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %sw = tile.permute %sx [1, 0] : tensor<128x2xf8E8M0FNU> -> tensor<2x128xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<128x64xf4E2M1FN>, tensor<64x128xf8E4M3FN>, tensor<128x128xf32>,
         tensor<128x2xf8E8M0FNU>, tensor<2x128xf8E8M0FNU>
    scf.yield %r : tensor<128x128xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x128xf32>, !f32
  return
}

// A position may come from a table.
// CHECK-LABEL: func.func @position(
// CHECK: scf.for
// CHECK: %[[PAGE:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<?xi32>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[PAGE]]
// CHECK: tile.copy_async %{{.*}}[%[[ROW]], %{{.*}}] to %{{.*}} {moving = array<i64: 0>}
func.func @position(%xm: !e4m3, %wm: !e4m3, %pages: memref<?xi32>, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %p = memref.load %pages[%k] : memref<?xi32>
    %page = arith.index_cast %p : i32 to index
    %x = tile.load %xm[%page, %i] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %r = tile.mmaf %x, %w, %a : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}
