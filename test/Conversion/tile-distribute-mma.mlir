// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_120f | FileCheck %s

// One multiply to instructions: which registers go where. The whole programs are
// in test/Target/PTX, their results in test/Execution.

// A bf16 operand's words go in as they were loaded, in the order of the fragment:
// row g, row g + 8, then the upper half of K. Two instructions take 32 values of
// K, the second one on top of the sums of the first.
// CHECK-LABEL: llvm.func @bf16(
// CHECK: %[[A:.*]]:8 = scf.if
// CHECK: %[[B:.*]]:4 = scf.if
// CHECK: %[[R:.*]] = nvvm.mma.sync A[%[[A]]#0, %[[A]]#4, %[[A]]#1, %[[A]]#5] B[%[[B]]#0, %[[B]]#1] C[%[[Z:.*]], %[[Z]], %[[Z]], %[[Z]]] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
// CHECK: %[[R0:.*]] = llvm.extractvalue %[[R]][0]
// CHECK: %[[R1:.*]] = llvm.extractvalue %[[R]][1]
// CHECK: %[[R2:.*]] = llvm.extractvalue %[[R]][2]
// CHECK: %[[R3:.*]] = llvm.extractvalue %[[R]][3]
// CHECK: nvvm.mma.sync A[%[[A]]#2, %[[A]]#6, %[[A]]#3, %[[A]]#7] B[%[[B]]#2, %[[B]]#3] C[%[[R0]], %[[R1]], %[[R2]], %[[R3]]]
// CHECK-NOT: nvvm.mma.
#lhs = #tile.layout<register = [[0, 1], [0, 8], [0, 16], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [8, 0], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @bf16(%z: memref<16x8xf32>, %am: memref<16x32xbf16>,
    %bm: memref<32x8xbf16>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %a = tile.load %am[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16, #lhs>
  %b = tile.load %bm[%c0, %c0] : memref<32x8xbf16> -> tensor<32x8xbf16, #rhs>
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k16.bf16.bf16", path = "native"}
     : tensor<16x32xbf16, #lhs>, tensor<32x8xbf16, #rhs>, tensor<16x8xf32, #acc>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32, #acc>, memref<16x8xf32>
  return
}

// -----

// A tile of 16 values of K has nothing for the second instruction: zeros, on both
// sides.
// CHECK-LABEL: llvm.func @short_k(
// CHECK-NOT: arith.select
// CHECK: %[[R:.*]] = nvvm.mma.sync A[%[[A:.*]]#0, %[[A]]#2, %[[A]]#1, %[[A]]#3] B[%[[B:.*]]#0, %[[B]]#1]
// CHECK: %[[R0:.*]] = llvm.extractvalue %[[R]][0]
// CHECK: nvvm.mma.sync A[%c0_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}] B[%c0_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}] C[%[[R0]],
#lhs = #tile.layout<register = [[0, 1], [0, 8], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @short_k(%z: memref<16x8xf32>, %am: memref<16x16xbf16>,
    %bm: memref<16x8xbf16>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %a = tile.load %am[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16, #lhs>
  %b = tile.load %bm[%c0, %c0] : memref<16x8xbf16> -> tensor<16x8xbf16, #rhs>
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k16.bf16.bf16", path = "native"}
     : tensor<16x16xbf16, #lhs>, tensor<16x8xbf16, #rhs>, tensor<16x8xf32, #acc>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32, #acc>, memref<16x8xf32>
  return
}

// -----

// Block-scaled: a word of scales with byte selector 0, thread selectors 0.
// CHECK-LABEL: llvm.func @nvfp4(
// CHECK: %[[SA:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: %[[SB:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: nvvm.mma.block_scale A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[{{.*}}] scaleA[%[[SA]], %[[ZERO:.*]], %[[ZERO1:.*]]] scaleB[%[[SB]], %{{.*}}, %{{.*}}] {blockScaleFormat = #nvvm.block_scale_format<ue4m3>, kind = #nvvm.block_scale_kind<mxf4nvf4>, {{.*}}scaleVecSize = #nvvm.scale_vec_size<x4>, shape = #nvvm.shape<m = 16, n = 8, k = 64>}
// CHECK-NOT: nvvm.mma.
#lhs = #tile.layout<register = [[0, 1], [0, 2], [0, 4], [0, 32], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [2, 0], [4, 0], [32, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#sa = #tile.layout<register = [[0, 1], [0, 2]], lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
#sb = #tile.layout<register = [[1, 0], [2, 0]], lane = [[0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
func.func @nvfp4(%z: memref<16x8xf32>, %am: memref<16x64xf32>,
    %bm: memref<64x8xf32>, %sam: memref<16x4xf8E4M3FN>,
    %sbm: memref<4x8xf8E4M3FN>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %af = tile.load %am[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32, #lhs>
  %a = tile.ftof %af : tensor<16x64xf32, #lhs> -> tensor<16x64xf4E2M1FN, #lhs>
  %bf = tile.load %bm[%c0, %c0] : memref<64x8xf32> -> tensor<64x8xf32, #rhs>
  %b = tile.ftof %bf : tensor<64x8xf32, #rhs> -> tensor<64x8xf4E2M1FN, #rhs>
  %sa = tile.load %sam[%c0, %c0] : memref<16x4xf8E4M3FN> -> tensor<16x4xf8E4M3FN, #sa>
  %sb = tile.load %sbm[%c0, %c0] : memref<4x8xf8E4M3FN> -> tensor<4x8xf8E4M3FN, #sb>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb {atom = "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3", path = "native"}
     : tensor<16x64xf4E2M1FN, #lhs>, tensor<64x8xf4E2M1FN, #rhs>, tensor<16x8xf32, #acc>,
       tensor<16x4xf8E4M3FN, #sa>, tensor<4x8xf8E4M3FN, #sb>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32, #acc>, memref<16x8xf32>
  return
}

// -----

// The instruction over 32 values for scales over 16: the first issue keeps the
// lanes of the lower group of each 32 (bit 1 of the lane clear), the second the
// others; it adds to the sums of the first.
// CHECK-LABEL: llvm.func @mxfp4_16(
// CHECK: %[[LOWER:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32{{.*}} : i32
// CHECK: arith.select %[[LOWER]],
// CHECK-COUNT-5: arith.select {{.*}} : i32
// CHECK-NOT: arith.select
// CHECK: %[[R:.*]] = nvvm.mma.block_scale {{.*}}ue8m0{{.*}}x2
// CHECK: %[[R0:.*]] = llvm.extractvalue %[[R]][0]
// CHECK: arith.cmpi eq, %{{.*}}, %c2_i32{{.*}} : i32
// CHECK-COUNT-6: arith.select {{.*}} : i32
// CHECK-NOT: arith.select
// CHECK: nvvm.mma.block_scale {{.*}} C[%[[R0]],
// CHECK-NOT: nvvm.mma.
#lhs = #tile.layout<register = [[0, 1], [0, 2], [0, 4], [0, 32], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [2, 0], [4, 0], [32, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#sa = #tile.layout<register = [[0, 1], [0, 2]], lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
#sb = #tile.layout<register = [[1, 0], [2, 0]], lane = [[0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
func.func @mxfp4_16(%z: memref<16x8xf32>, %am: memref<16x64xf32>,
    %bm: memref<64x8xf32>, %sam: memref<16x4xf8E8M0FNU>,
    %sbm: memref<4x8xf8E8M0FNU>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %af = tile.load %am[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32, #lhs>
  %a = tile.ftof %af : tensor<16x64xf32, #lhs> -> tensor<16x64xf4E2M1FN, #lhs>
  %bf = tile.load %bm[%c0, %c0] : memref<64x8xf32> -> tensor<64x8xf32, #rhs>
  %b = tile.ftof %bf : tensor<64x8xf32, #rhs> -> tensor<64x8xf4E2M1FN, #rhs>
  %sa = tile.load %sam[%c0, %c0] : memref<16x4xf8E8M0FNU> -> tensor<16x4xf8E8M0FNU, #sa>
  %sb = tile.load %sbm[%c0, %c0] : memref<4x8xf8E8M0FNU> -> tensor<4x8xf8E8M0FNU, #sb>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb {atom = "m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0", path = "native"}
     : tensor<16x64xf4E2M1FN, #lhs>, tensor<64x8xf4E2M1FN, #rhs>, tensor<16x8xf32, #acc>,
       tensor<16x4xf8E8M0FNU, #sa>, tensor<4x8xf8E8M0FNU, #sb>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32, #acc>, memref<16x8xf32>
  return
}

// -----

// FP8 without scales has no operation of its own in the nvvm dialect.
// CHECK-LABEL: llvm.func @fp8(
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"(
// CHECK-NOT: nvvm.mma.
#lhs = #tile.layout<register = [[0, 1], [0, 2], [0, 16], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [2, 0], [16, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @fp8(%z: memref<16x8xf32>, %am: memref<16x32xf8E4M3FN>,
    %bm: memref<32x8xf8E5M2>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %a = tile.load %am[%c0, %c0] : memref<16x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN, #lhs>
  %b = tile.load %bm[%c0, %c0] : memref<32x8xf8E5M2> -> tensor<32x8xf8E5M2, #rhs>
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k32.e4m3.e5m2", path = "native"}
     : tensor<16x32xf8E4M3FN, #lhs>, tensor<32x8xf8E5M2, #rhs>, tensor<16x8xf32, #acc>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32, #acc>, memref<16x8xf32>
  return
}

// -----

// Expanded with E4M3 scales: multiplied into the decoded pairs. Two scales are
// decoded at once and keep their mantissas: all seven bits of one (0x7F007F) go
// to the low end of the exponent of a half, and one multiply, by 2^120
// (0x7B807B80), makes up for the bias. 0x7F is NaN: only its product with
// another factor (0x7B097B09) is infinite, and infinity times zero is added.
// Then each scale goes to both halves of a register.
// CHECK-LABEL: llvm.func @scales_on_operands(
// CHECK-NOT: arith.scaling
// CHECK: %[[CODES:.*]] = nvvm.prmt
// CHECK: %[[MAGNITUDES:.*]] = arith.andi %[[CODES]], %c8323199_i32
// CHECK-NEXT: %[[PLACED:.*]] = arith.muli %[[MAGNITUDES]], %c16_i32
// CHECK: %[[PAIR:.*]] = llvm.bitcast %[[PLACED]] : i32 to vector<2xbf16>
// CHECK-NEXT: %[[BIAS:.*]] = llvm.bitcast %c2072017792_i32
// CHECK-NEXT: %[[VALUE:.*]] = llvm.fmul %[[PAIR]], %[[BIAS]] : vector<2xbf16>
// CHECK: %[[LIMIT:.*]] = llvm.bitcast %c2064218889_i32
// CHECK-NEXT: llvm.fmul %{{.*}}, %[[LIMIT]] : vector<2xbf16>
// CHECK: %[[SCALES:.*]] = llvm.intr.fma(
// CHECK: llvm.shufflevector {{.*}} [0, 0] : vector<2xbf16>
// CHECK: llvm.shufflevector {{.*}} [1, 1] : vector<2xbf16>
// CHECK: llvm.fmul
// CHECK-NOT: arith.scaling
// CHECK-NOT: arith.select
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-NOT: math.fma
// CHECK-NOT: llvm.intr.fma({{.*}}) : (f32
// CHECK: llvm.return
#lhs = #tile.layout<register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#sa = #tile.layout<register = [[8, 0]], lane = [[0, 0], [0, 1], [1, 0], [2, 0], [4, 0]], warp = []>
#sb = #tile.layout<register = [], lane = [[0, 0], [1, 0], [0, 1], [0, 2], [0, 4]], warp = []>
func.func @scales_on_operands(%z: memref<16x8xf32>, %am: memref<16x32xf32>,
    %bm: memref<32x8xf32>, %sam: memref<16x2xf8E4M3FN>,
    %sbm: memref<2x8xf8E4M3FN>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %af = tile.load %am[%c0, %c0] : memref<16x32xf32> -> tensor<16x32xf32, #lhs>
  %a = tile.ftof %af : tensor<16x32xf32, #lhs> -> tensor<16x32xf4E2M1FN, #lhs>
  %bf = tile.load %bm[%c0, %c0] : memref<32x8xf32> -> tensor<32x8xf32, #rhs>
  %b = tile.ftof %bf : tensor<32x8xf32, #rhs> -> tensor<32x8xf4E2M1FN, #rhs>
  %sa = tile.load %sam[%c0, %c0] : memref<16x2xf8E4M3FN> -> tensor<16x2xf8E4M3FN, #sa>
  %sb = tile.load %sbm[%c0, %c0] : memref<2x8xf8E4M3FN> -> tensor<2x8xf8E4M3FN, #sb>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<16x32xf4E2M1FN, #lhs>, tensor<32x8xf4E2M1FN, #rhs>, tensor<16x8xf32, #acc>,
       tensor<16x2xf8E4M3FN, #sa>, tensor<2x8xf8E4M3FN, #sb>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32, #acc>, memref<16x8xf32>
  return
}

// -----

// Expanded beside f16, whose range has no room for powers of two: sums of a group
// start from zero, are scaled in f32 and then added.
// CHECK-LABEL: llvm.func @scales_on_sums(
// CHECK: %[[FIRST:.*]] = nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[%{{cst.*}}, %{{cst.*}}, %{{cst.*}}, %{{cst.*}}]
// CHECK: %[[R:.*]] = nvvm.mma.sync
// CHECK-COUNT-4: llvm.intr.fma({{.*}}) : (f32, f32, f32) -> f32
// CHECK-NOT: llvm.intr.fma({{.*}}) : (f32, f32, f32) -> f32
// CHECK: llvm.return
#lhs = #tile.layout<register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#sb = #tile.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], warp = []>
func.func @scales_on_sums(%z: memref<16x8xf32>, %am: memref<16x32xf16>,
    %bm: memref<32x8xf32>, %sbm: memref<1x8xf8E8M0FNU>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %a = tile.load %am[%c0, %c0] : memref<16x32xf16> -> tensor<16x32xf16, #lhs>
  %bf = tile.load %bm[%c0, %c0] : memref<32x8xf32> -> tensor<32x8xf32, #rhs>
  %b = tile.ftof %bf : tensor<32x8xf32, #rhs> -> tensor<32x8xf4E2M1FN, #rhs>
  %sb = tile.load %sbm[%c0, %c0] : memref<1x8xf8E8M0FNU> -> tensor<1x8xf8E8M0FNU, #sb>
  %r = tile.mmaf_scaled %a, %b, %c, %sb {atom = "m16n8k16.f16.f16", path = "expand"}
     : tensor<16x32xf16, #lhs>, tensor<32x8xf4E2M1FN, #rhs>, tensor<16x8xf32, #acc>,
       tensor<1x8xf8E8M0FNU, #sb>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32, #acc>, memref<16x8xf32>
  return
}
