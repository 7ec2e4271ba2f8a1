// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 | FileCheck %s

// How a tile meets memory: the widest access that promises allow, and nothing
// outside the memref ever touched. `#quads` gives a lane four neighbours.

// The extent is part of the type: vectors, and no bounds.
// CHECK-LABEL: llvm.func @static_extent(
// CHECK: %[[T:.*]]:4 = scf.if
// CHECK-NOT: arith.select
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT: llvm.store
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @static_extent(%x: memref<128xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<128xf32> -> tensor<128xf32, #quads>
  tile.store %t, %x[%c0] : tensor<128xf32, #quads>, memref<128xf32>
  return
}

// -----

// Nothing is promised: one element at a time, each with its bound. A load
// outside reads the first element instead (which exists: the branch says so) and
// becomes zero; a store outside is branched around. The branch compares the index
// with the number of tiles, since index times 128 may wrap around to an element.
// CHECK-LABEL: llvm.func @no_promise(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1> {{[^,]*}}, %[[SIZE:[^:]*]]: i64, %[[I:[^:]*]]: i64)
// CHECK: %[[INDEX:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: %[[UP:.*]] = arith.addi %[[SIZE]], %c127_i64{{.*}} : i64
// CHECK: %[[TILES:.*]] = arith.shrui %[[UP]], %c7_i64{{.*}} : i64
// CHECK: %[[ANY:.*]] = arith.cmpi ult, %[[INDEX]], %[[TILES]] : i64
// CHECK: scf.if %[[ANY]] -> (f32, f32, f32, f32) {
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[SIZE]] : i64
// CHECK: %[[FIRST:.*]] = arith.constant 0 : i64
// CHECK: %[[AT:.*]] = arith.select %[[IN]], %{{.*}}, %[[FIRST]] : i64
// CHECK: %[[PTR:.*]] = llvm.getelementptr %[[P]][%[[AT]]]
// CHECK: %[[V:.*]] = llvm.load %[[PTR]] {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: %[[ZERO:.*]] = llvm.mlir.zero : f32
// CHECK: llvm.select %[[IN]], %[[V]], %[[ZERO]]
// CHECK-COUNT-3: llvm.load {{.*}} -> f32
// CHECK: } else {
// CHECK: %[[NONE:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK: scf.yield %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]]
// CHECK: scf.if
// CHECK: %[[OUT_IN:.*]] = arith.cmpi ult, %{{.*}}, %[[SIZE]] : i64
// CHECK-NEXT: scf.if %[[OUT_IN]] {
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store {{.*}} {alignment = 4 : i64} : f32
// CHECK-COUNT-3: llvm.store {{.*}} : f32
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @no_promise(%x: memref<?xf32>, %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %t = tile.load %x[%i] : memref<?xf32> -> tensor<128xf32, #quads>
  tile.store %t, %x[%i] : tensor<128xf32, #quads>, memref<?xf32>
  return
}

// -----

// An even extent: pairs, inside or outside as a whole. Quads would hang over.
// CHECK-LABEL: llvm.func @even_extent(
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>
// CHECK-NOT: llvm.store
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @even_extent(%x: memref<?xf32> {tile.shape_divisible_by = array<i64: 2>},
                       %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %t = tile.load %x[%i] : memref<?xf32> -> tensor<128xf32, #quads>
  tile.store %t, %x[%i] : tensor<128xf32, #quads>, memref<?xf32>
  return
}

// -----

// An extent of whole tiles: one bound for the block, none for its elements.
// CHECK-LABEL: llvm.func @whole_tiles(
// CHECK: %[[ANY:.*]] = arith.cmpi ult
// CHECK: scf.if %[[ANY]]
// CHECK-NOT: arith.cmpi
// CHECK: llvm.load {{.*}} -> vector<4xf32>
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @whole_tiles(%x: memref<?xf32> {tile.shape_divisible_by = array<i64: 128>},
                       %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %t = tile.load %x[%i] : memref<?xf32> -> tensor<128xf32, #quads>
  return
}

// -----

// Rows of an unknown stride start anywhere, so a promise about the extent alone
// allows no vector: row 1 may be misaligned.
// CHECK-LABEL: llvm.func @unknown_stride(
// CHECK-NOT: vector<
// CHECK: llvm.load {{.*}} -> f32
// CHECK-NOT: vector<
// CHECK: llvm.return
#rows = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @unknown_stride(%x: memref<?x?xf32, strided<[?, 1]>>
                              {tile.shape_divisible_by = array<i64: 8, 16>}, %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %t = tile.load %x[%i, %i] : memref<?x?xf32, strided<[?, 1]>> -> tensor<8x16xf32, #rows>
  return
}

// -----

// With the stride promised as well, vectors.
// CHECK-LABEL: llvm.func @promised_stride(
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: llvm.load
#rows = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @promised_stride(%x: memref<?x?xf32, strided<[?, 1]>>
                               {tile.shape_divisible_by = array<i64: 8, 16>,
                                tile.stride_divisible_by = array<i64: 4, 1>}, %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %t = tile.load %x[%i, %i] : memref<?x?xf32, strided<[?, 1]>> -> tensor<8x16xf32, #rows>
  return
}

// -----

// Registers down a column are no neighbours in memory, whatever is promised.
// CHECK-LABEL: llvm.func @columns(
// CHECK-NOT: vector<
// CHECK-COUNT-4: llvm.load {{.*}} -> f32
// CHECK-NOT: llvm.load
#columns = #tile.layout<register = [[1, 0], [2, 0]], lane = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []>
func.func @columns(%x: memref<8x16xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<8x16xf32> -> tensor<8x16xf32, #columns>
  return
}

// -----

// A ragged edge in one dimension is checked there and only there.
// CHECK-LABEL: llvm.func @ragged_rows(
// CHECK-SAME: %{{[^,]*}}, %[[ROWS:[^:]*]]: i64, %[[I:[^:]*]]: i64)
// CHECK: scf.if
// CHECK: arith.cmpi ult, %{{.*}}, %[[ROWS]] : i64
// CHECK-NOT: arith.cmpi
// CHECK: llvm.load {{.*}} -> vector<4xf32>
#rows = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @ragged_rows(%x: memref<?x16xf32>, %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : memref<?x16xf32> -> tensor<8x16xf32, #rows>
  return
}

// -----

// Packed elements come in words: 16 bytes are four, and no nibble is taken out.
// CHECK-LABEL: llvm.func @packed(
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-NOT: arith.shrui %{{.*}} : i32
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>
#bytes = #tile.layout<register = [[1], [2], [4], [8]], lane = [[16], [32], [64], [128], [256]], warp = []>
func.func @packed(%x: memref<512x!tile.f4E2M1FNx2>, %y: memref<512x!tile.f4E2M1FNx2>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<512x!tile.f4E2M1FNx2> -> tensor<512x!tile.f4E2M1FNx2, #bytes>
  tile.store %t, %y[%c0] : tensor<512x!tile.f4E2M1FNx2, #bytes>, memref<512x!tile.f4E2M1FNx2>
  return
}

// -----

// A word that is loaded byte by byte is put together from the low end.
// CHECK-LABEL: llvm.func @packed_without_promise(
// CHECK: %[[B0:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK: %[[B1:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK: %[[S1:.*]] = arith.shli %[[B1]], %[[EIGHT]] : i32
// CHECK: arith.ori %[[B0]], %[[S1]] : i32
#bytes = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @packed_without_promise(%x: memref<?xi8>, %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %t = tile.load %x[%i] : memref<?xi8> -> tensor<128xi8, #bytes>
  return
}

// -----

// Lanes 8 to 31 hold copies of the tile: one of them stores.
// CHECK-LABEL: llvm.func @replicated_store(
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.load
// CHECK: %[[MASK:.*]] = arith.constant 24 : i32
// CHECK: %[[COPY:.*]] = arith.andi %{{.*}}, %[[MASK]] : i32
// CHECK: %[[OWNER:.*]] = arith.cmpi eq, %[[COPY]], %{{.*}} : i32
// CHECK: scf.if %[[OWNER]] {
// CHECK: llvm.store
#eight = #tile.layout<register = [], lane = [[1], [2], [4], [0], [0]], warp = []>
func.func @replicated_store(%x: memref<8xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<8xf32> -> tensor<8xf32, #eight>
  tile.store %t, %x[%c0] : tensor<8xf32, #eight>, memref<8xf32>
  return
}

// -----

// What one lane wrote another may read: a barrier stands between a store and a
// load, and between a load and a store, but not between two loads.
// CHECK-LABEL: llvm.func @order(
// CHECK: llvm.load
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.load
// CHECK: nvvm.barrier0
// CHECK: llvm.store
// CHECK: nvvm.barrier0
// CHECK: llvm.load
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @order(%x: memref<128xf32>, %y: memref<128xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %s = tile.load %x[%c0] : memref<128xf32> -> tensor<128xf32, #quads>
  %t = tile.load %y[%c0] : memref<128xf32> -> tensor<128xf32, #quads>
  tile.store %t, %x[%c0] : tensor<128xf32, #quads>, memref<128xf32>
  %u = tile.load %y[%c0] : memref<128xf32> -> tensor<128xf32, #quads>
  return
}

// -----

// A view starts at its offset and ends at its size, with the strides of what it
// views; offset times stride decides the vector.
// CHECK-LABEL: llvm.func @view(
// CHECK-SAME: %[[P:[^:]*]]: !llvm.ptr<1> {{[^,]*}}, %[[PAGE:[^:]*]]: i64)
// CHECK: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: llvm.getelementptr %[[P]]
// CHECK: llvm.load {{.*}} -> vector<4xf32>
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @view(%x: memref<64x128xf32>, %page: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %v = memref.subview %x[%page, 0] [1, 128] [1, 1]
     : memref<64x128xf32> to memref<128xf32, strided<[1], offset: ?>>
  %t = tile.load %v[%c0] : memref<128xf32, strided<[1], offset: ?>> -> tensor<128xf32, #quads>
  return
}

// -----

// A view at an unknown element may be misaligned.
// CHECK-LABEL: llvm.func @misaligned_view(
// CHECK-NOT: vector<
// CHECK: llvm.return
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @misaligned_view(%x: memref<1024xf32>, %first: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %v = memref.subview %x[%first] [128] [1]
     : memref<1024xf32> to memref<128xf32, strided<[1], offset: ?>>
  %t = tile.load %v[%c0] : memref<128xf32, strided<[1], offset: ?>> -> tensor<128xf32, #quads>
  return
}

// -----

// The same with a promise about that element.
// CHECK-LABEL: llvm.func @aligned_view(
// CHECK: llvm.load {{.*}} -> vector<4xf32>
#quads = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @aligned_view(%x: memref<1024xf32>, %first: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %f = tile.assume %first {divisible_by = 4 : i64} : index
  %v = memref.subview %x[%f] [128] [1]
     : memref<1024xf32> to memref<128xf32, strided<[1], offset: ?>>
  %t = tile.load %v[%c0] : memref<128xf32, strided<[1], offset: ?>> -> tensor<128xf32, #quads>
  return
}

// -----

// A gather reads element by element; a masked-off one, or one outside in any
// dimension, reads as zero. Negative indices are outside: the comparison is
// unsigned.
// CHECK-LABEL: llvm.func @gather(
// CHECK: %[[M:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: %[[WIDE:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[WIDE]], %{{.*}} : i64
// CHECK: %[[IN:.*]] = arith.andi %[[M]], %[[INSIDE]] : i1
// CHECK: arith.select %[[IN]], %{{.*}}, %{{.*}} : i64
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: llvm.select %[[IN]]
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @gather(%x: memref<?xf32>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.iota : tensor<32xi32, #one>
  %s = tensor.splat %n : tensor<32xi32, #one>
  %m = arith.cmpi slt, %i, %s : tensor<32xi32, #one>
  %t = tile.gather %x[%i] mask %m
     : memref<?xf32>, tensor<32xi32, #one>, tensor<32xi1, #one> -> tensor<32xf32, #one>
  return
}

// -----

// CHECK-LABEL: llvm.func @scatter(
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: scf.if %[[IN]] {
// CHECK: llvm.store {{.*}} : f32
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @scatter(%x: memref<?xf32>, %s: f32)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.iota : tensor<32xi32, #one>
  %t = tensor.splat %s : tensor<32xf32, #one>
  tile.scatter %t, %x[%i]
     : tensor<32xf32, #one>, memref<?xf32>, tensor<32xi32, #one>
  return
}
