// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_120f | FileCheck %s --check-prefix=CVT
// RUN: tile-opt %s --split-input-file --tile-distribute="target=sm_120f fp4-cvt=software" | FileCheck %s --check-prefix=SOFTWARE

// One scalar operation per element that a lane holds.
// CHECK-LABEL: llvm.func @scalars(
// CHECK: %[[T:.*]]:2 = scf.if
// CHECK: %[[A:.*]] = arith.addf %[[T]]#0, %[[T]]#0 : f32
// CHECK: %[[B:.*]] = arith.addf %[[T]]#1, %[[T]]#1 : f32
// CHECK-NOT: arith.addf
// CHECK: math.exp2 %[[A]] : f32
// CHECK: math.exp2 %[[B]] : f32
#pairs = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @scalars(%x: memref<64xf32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<64xf32> -> tensor<64xf32, #pairs>
  %a = arith.addf %t, %t : tensor<64xf32, #pairs>
  %e = math.exp2 %a : tensor<64xf32, #pairs>
  tile.store %e, %x[%c0] : tensor<64xf32, #pairs>, memref<64xf32>
  return
}

// -----

// A register that copies another one is not computed again.
// CHECK-LABEL: llvm.func @copies(
// CHECK: %[[A:.*]] = arith.addf
// CHECK-NOT: arith.addf
// CHECK: llvm.return
#copies = #tile.layout<register = [[0]], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @copies(%x: memref<32xf32>, %s: f32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tensor.splat %s : tensor<32xf32, #copies>
  %a = arith.addf %t, %t : tensor<32xf32, #copies>
  tile.store %a, %x[%c0] : tensor<32xf32, #copies>, memref<32xf32>
  return
}

// -----

// Each result of an operation with two comes from the same scalar operation.
// CHECK-LABEL: llvm.func @two_results(
// CHECK: %[[S:.*]], %[[C:.*]] = arith.addui_extended %{{.*}}, %{{.*}} : i32, i1
// CHECK: %[[F:.*]] = arith.extui %[[C]] : i1 to i32
// CHECK: arith.xori %[[S]], %[[F]] : i32
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @two_results(%x: memref<32xi32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<32xi32> -> tensor<32xi32, #one>
  %s, %c = arith.addui_extended %t, %t : tensor<32xi32, #one>, tensor<32xi1, #one>
  %f = arith.extui %c : tensor<32xi1, #one> to tensor<32xi32, #one>
  %r = arith.xori %s, %f : tensor<32xi32, #one>
  tile.store %r, %x[%c0] : tensor<32xi32, #one>, memref<32xi32>
  return
}

// -----

// Two bf16 share a word and are computed together.
// CHECK-LABEL: llvm.func @halves(
// CHECK: %[[W:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: %[[P:.*]] = llvm.bitcast %[[W]] : i32 to vector<2xbf16>
// CHECK: %[[A:.*]] = llvm.fmul %[[P]], %{{.*}} : vector<2xbf16>
// CHECK: %[[B:.*]] = llvm.bitcast %[[A]] : vector<2xbf16> to i32
// CHECK: %[[N:.*]] = arith.xori %[[B]], %{{.*}} : i32
// CHECK-NOT: arith.trunci
// CHECK: llvm.store %[[N]], %{{.*}} : i32
#pairs = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @halves(%x: memref<64xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<64xbf16> -> tensor<64xbf16, #pairs>
  %a = arith.mulf %t, %t : tensor<64xbf16, #pairs>
  %b = arith.negf %a : tensor<64xbf16, #pairs>
  tile.store %b, %x[%c0] : tensor<64xbf16, #pairs>, memref<64xbf16>
  return
}

// -----

// What has no instruction on pairs is taken out, computed and put back, the lower
// index low.
// CHECK-LABEL: llvm.func @divided(
// CHECK: %[[W:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: arith.trunci %[[W]] : i32 to i16
// CHECK: %[[A:.*]] = arith.divf %{{.*}}, %{{.*}} : bf16
// CHECK: %[[HIGH:.*]] = arith.shrui %[[W]], %{{.*}} : i32
// CHECK: arith.trunci %[[HIGH]] : i32 to i16
// CHECK: %[[B:.*]] = arith.divf %{{.*}}, %{{.*}} : bf16
// CHECK: arith.shli %{{.*}}, %{{.*}} : i32
// CHECK: arith.ori
#pairs = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @divided(%x: memref<64xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<64xbf16> -> tensor<64xbf16, #pairs>
  %a = arith.divf %t, %t : tensor<64xbf16, #pairs>
  tile.store %a, %x[%c0] : tensor<64xbf16, #pairs>, memref<64xbf16>
  return
}

// -----

// A pair whose halves copy each other is one pair, and a word that copies another
// one is not computed again.
// CHECK-LABEL: llvm.func @copied_halves(
// CHECK: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
#copied = #tile.layout<register = [[0], [0]], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @copied_halves(%x: memref<32xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<32xbf16> -> tensor<32xbf16, #copied>
  %a = arith.addf %t, %t : tensor<32xbf16, #copied>
  tile.store %a, %x[%c0] : tensor<32xbf16, #copied>, memref<32xbf16>
  return
}

// -----

// Unpack, pack and bitcast keep words as they are.
// CHECK-LABEL: llvm.func @bits(
// CHECK: %[[W:.*]] = scf.if %{{.*}} -> (i32)
// CHECK-NOT: arith.shrui %[[W]]
// CHECK: llvm.store %[[W]], %{{.*}} : i32
#bytes = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#codes = #tile.layout<register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []>
func.func @bits(%x: memref<128xi8>, %y: memref<128x!tile.f4E2M1FNx2>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<128xi8> -> tensor<128xi8, #bytes>
  %u = tile.unpack %t : tensor<128xi8, #bytes> -> tensor<256xf4E2M1FN, #codes>
  %p = tile.pack %u : tensor<256xf4E2M1FN, #codes> -> tensor<128x!tile.f4E2M1FNx2, #bytes>
  tile.store %p, %y[%c0] : tensor<128x!tile.f4E2M1FNx2, #bytes>, memref<128x!tile.f4E2M1FNx2>
  return
}

// -----

// f32 to FP4: by the hardware where it has the instruction, whose first source
// is the high nibble, so the second element comes first; else, or on demand, by
// integer code.
// CHECK-LABEL: llvm.func @to_fp4(
// CHECK-NOT: convert.f32x2
// CHECK: llvm.return
// CVT-LABEL: llvm.func @to_fp4(
// CVT: %[[T:.*]]:8 = scf.if
// CVT: nvvm.convert.f32x2.to.f4x2 %[[T]]#1, %[[T]]#0
// CVT: nvvm.convert.f32x2.to.f4x2 %[[T]]#3, %[[T]]#2
// CVT: nvvm.convert.f32x2.to.f4x2 %[[T]]#5, %[[T]]#4
// CVT: nvvm.convert.f32x2.to.f4x2 %[[T]]#7, %[[T]]#6
// CVT-NOT: nvvm.convert
// SOFTWARE-LABEL: llvm.func @to_fp4(
// SOFTWARE-NOT: nvvm.convert
// SOFTWARE: llvm.return
#eights = #tile.layout<register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []>
#fours = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @to_fp4(%x: memref<256xf32>, %y: memref<128xi8>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<256xf32> -> tensor<256xf32, #eights>
  %u = tile.ftof %t : tensor<256xf32, #eights> -> tensor<256xf4E2M1FN, #eights>
  %p = tile.pack %u : tensor<256xf4E2M1FN, #eights> -> tensor<128xi8, #fours>
  tile.store %p, %y[%c0] : tensor<128xi8, #fours>, memref<128xi8>
  return
}

// -----

// A splat constant is a number; any other is a table that lanes index, since
// which element a lane holds is known at run time only.
// CHECK: llvm.mlir.global internal constant @[[TABLE:table_constant_0]](dense<{{.*}}> : tensor<32xi32>) {addr_space = 1 : i32, alignment = 16 : i64}
// CHECK-LABEL: llvm.func @table(
// CHECK: llvm.mlir.addressof @[[TABLE]]
// CHECK: %[[V:.*]] = llvm.load
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-NOT: llvm.load
// CHECK: arith.muli %[[V]], %[[TWO]] : i32
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @table(%x: memref<32xi32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5]> : tensor<32xi32, #one>
  %two = arith.constant dense<2> : tensor<32xi32, #one>
  %r = arith.muli %t, %two : tensor<32xi32, #one>
  tile.store %r, %x[%c0] : tensor<32xi32, #one>, memref<32xi32>
  return
}

// -----

// The number of an element from lane, warp and register.
// CHECK-LABEL: llvm.func @iota(
// CHECK-DAG: %[[LANE:.*]] = arith.andi %{{.*}}, %{{.*}} : i32
// CHECK-DAG: %[[WARP:.*]] = arith.shrui %{{.*}}, %{{.*}} : i32
// CHECK: %[[FIRST:.*]] = arith.xori %{{.*}}, %{{.*}} : i32
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[ONE]] : i32
#pairs = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>
func.func @iota(%x: memref<128xi32>) attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.iota : tensor<128xi32, #pairs>
  tile.store %t, %x[%c0] : tensor<128xi32, #pairs>, memref<128xi32>
  return
}

// -----

// Registers first, then lanes by butterfly shuffles over the lane bits of the
// dimension and no others: bits 0 and 1 here.
// CHECK-LABEL: llvm.func @reduce(
// CHECK: %[[T:.*]]:2 = scf.if
// CHECK: %[[R:.*]] = arith.maximumf %[[T]]#0, %[[T]]#1 : f32
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[ONE]], %{{.*}}
// CHECK: arith.maximumf
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[TWO]], %{{.*}}
// CHECK: arith.maximumf
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
#rows = #tile.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#sums = #tile.layout<register = [], lane = [[0], [0], [1], [2], [4]], warp = []>
func.func @reduce(%x: memref<8x8xf32>, %y: memref<8xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<8x8xf32> -> tensor<8x8xf32, #rows>
  %r = tile.reduce max %t [1] : tensor<8x8xf32, #rows> -> tensor<8xf32, #sums>
  tile.store %r, %y[%c0] : tensor<8xf32, #sums>, memref<8xf32>
  return
}
