// RUN: tile-opt %s --split-input-file --tile-assign-layouts | FileCheck %s

// Where values live that no multiply has a say in. Layouts of multiplies:
// tile-assign-layouts-mma.mlir; numbers of warps: tile-assign-layouts-warps.mlir.
// [row, column] is by how much a register, lane or warp bit moves.

// A load starts with coalesced rows: 16 bytes per lane, lanes along the row,
// then rows. Lanes down the columns would touch 32 rows at once. The store takes
// what it gets.
// CHECK-DAG: #[[ROWS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [8, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = {{\[\[}}4, 0]]>
// CHECK-LABEL: func.func @load_and_store(
func.func @load_and_store(%x: memref<64x64xf32>)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = tile.load {{.*}} -> tensor<16x32xf32, #[[ROWS]]>
  %t = tile.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<16x32xf32>
  // CHECK: tile.store %[[T]], {{.*}} : tensor<16x32xf32, #[[ROWS]]>
  tile.store %t, %x[%c0, %c0] : tensor<16x32xf32>, memref<64x64xf32>
  return
}

// -----

// A tile with less than a word for every lane is packed into words first and
// replicated over the other lanes.
// CHECK-DAG: #[[FEW:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1], [2]], lane = {{\[\[}}4], [0], [0], [0], [0]], warp = []>
// CHECK-LABEL: func.func @small_tile(
func.func @small_tile(%x: memref<64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  // CHECK: tensor<8xi8, #[[FEW]]>
  %t = tile.load %x[%c0] : memref<64xi8> -> tensor<8xi8>
  return
}

// -----

// The accumulator starts, circulates and leaves in the layout of the multiply:
// a conversion inside the loop would move it in every step.
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-LABEL: func.func @accumulator_of_a_loop(
func.func @accumulator_of_a_loop(%x: memref<16x16xbf16>, %y: memref<16x8xbf16>,
                                 %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<16x8xf32, #[[ACC]]>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  // CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[IN:.*]] = %[[ZERO]]) -> (tensor<16x8xf32, #[[ACC]]>)
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero)
      -> (tensor<16x8xf32>) {
    %a = tile.load %x[%c0, %i] : memref<16x16xbf16> -> tensor<16x16xbf16>
    %b = tile.load %y[%i, %c0] : memref<16x8xbf16> -> tensor<16x8xbf16>
    // CHECK-NOT: convert_layout {{.*}}xf32
    // CHECK: %[[OUT:.*]] = tile.mmaf %{{.*}}, %{{.*}}, %[[IN]] {{.*}}, tensor<16x8xf32, #[[ACC]]>
    // CHECK-NEXT: scf.yield %[[OUT]]
    %r = tile.mmaf %a, %b, %acc {atom = "m16n8k16.bf16.bf16", path = "native"}
       : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
    scf.yield %r : tensor<16x8xf32>
  }
  // CHECK: arith.mulf %[[SUM]], %{{.*}} : tensor<16x8xf32, #[[ACC]]>
  %two = arith.constant dense<2.0> : tensor<16x8xf32>
  %twice = arith.mulf %sum, %two : tensor<16x8xf32>
  return
}

// -----

// Without a multiply a loop carries what it was given, and what is yielded in
// another layout is converted before the next step reads it.
// CHECK-LABEL: func.func @carried_tile(
func.func @carried_tile(%x: memref<64x64xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[INIT:.*]] = tile.load {{.*}} -> tensor<8x32xf32, #[[ROWS:layout[0-9]*]]>
  %init = tile.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<8x32xf32>
  // CHECK: scf.for {{.*}} = %[[INIT]]) -> (tensor<8x32xf32, #[[ROWS]]>)
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<8x32xf32>) {
    %p = tile.load %x[%c0, %i] : memref<64x64xf32> -> tensor<32x8xf32>
    // CHECK: %[[Q:.*]] = tile.permute
    // CHECK-NEXT: %[[BACK:.*]] = tile.convert_layout %[[Q]] : {{.*}} -> tensor<8x32xf32, #[[ROWS]]>
    // CHECK-NEXT: scf.yield %[[BACK]]
    %q = tile.permute %p [1, 0] : tensor<32x8xf32> -> tensor<8x32xf32>
    scf.yield %q : tensor<8x32xf32>
  }
  return
}

// -----

// An element-wise operation follows its first operand that is bound: constants
// and splats can be made anywhere, so a load must not be moved to suit one.
// CHECK-DAG: #[[COLUMNS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [0, 16]], lane = {{\[\[}}4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []>
// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: memref<64x64xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[HALF:.*]] = arith.constant dense<5.0
  %half = arith.constant dense<0.5> : tensor<8x32xf32>
  %p = tile.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<32x8xf32>
  // CHECK: %[[Q:.*]] = tile.permute {{.*}} -> tensor<8x32xf32, #[[COLUMNS]]>
  %q = tile.permute %p [1, 0] : tensor<32x8xf32> -> tensor<8x32xf32>
  // CHECK: %[[L:.*]] = tile.load {{.*}} -> tensor<8x32xf32, #
  %l = tile.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<8x32xf32>
  // CHECK: %[[H:.*]] = tile.convert_layout %[[HALF]] : {{.*}} -> tensor<8x32xf32, #[[COLUMNS]]>
  // CHECK: %[[R:.*]] = arith.mulf %[[H]], %[[Q]] : tensor<8x32xf32, #[[COLUMNS]]>
  %r = arith.mulf %half, %q : tensor<8x32xf32>
  // CHECK: %[[L2:.*]] = tile.convert_layout %[[L]] : {{.*}} -> tensor<8x32xf32, #[[COLUMNS]]>
  // CHECK: arith.addf %[[R]], %[[L2]] : tensor<8x32xf32, #[[COLUMNS]]>
  %s = arith.addf %r, %l : tensor<8x32xf32>
  return
}

// -----

// Both results of an operation with two have the layout of its operands. (The
// second one had none: distribution then met a tensor that it could not read.)
// CHECK-LABEL: func.func @two_results(
func.func @two_results(%x: memref<64xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load {{.*}} -> tensor<32xi32, #[[L:layout[0-9]*]]>
  %a = tile.load %x[%c0] : memref<64xi32> -> tensor<32xi32>
  // CHECK: arith.addui_extended {{.*}} : tensor<32xi32, #[[L]]>, tensor<32xi1, #[[L]]>
  %s:2 = arith.addui_extended %a, %a : tensor<32xi32>, tensor<32xi1>
  return
}

// -----

// Lanes exchange partial results by shuffles, warps cannot: a dimension that is
// spread over warps is brought into one first. Along the other dimension this
// tile has a warp bit too.
// CHECK-DAG: #[[LOADED:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [2, 0]], lane = {{.*}}, warp = {{\[\[}}0, 128], [1, 0]]>
// CHECK-DAG: #[[ROW_IN_WARP:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 128]], lane = {{.*}}, warp = {{\[\[}}1, 0], [2, 0]]>
// CHECK-DAG: #[[ROW_SUMS:layout[0-9]*]] = #tile.layout<register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]]>
// CHECK-DAG: #[[COLUMN_IN_WARP:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0]], lane = {{.*}}, warp = {{\[\[}}0, 128], [0, 0]]>
// CHECK-LABEL: func.func @reduce_across_warps(
func.func @reduce_across_warps(%x: memref<4x256xf32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = tile.load {{.*}} -> tensor<4x256xf32, #[[LOADED]]>
  %t = tile.load %x[%c0, %c0] : memref<4x256xf32> -> tensor<4x256xf32>
  // CHECK: %[[R:.*]] = tile.convert_layout %[[T]] : {{.*}} -> tensor<4x256xf32, #[[ROW_IN_WARP]]>
  // CHECK: tile.reduce add %[[R]] [1] : tensor<4x256xf32, #[[ROW_IN_WARP]]> -> tensor<4xf32, #[[ROW_SUMS]]>
  %r = tile.reduce add %t [1] : tensor<4x256xf32> -> tensor<4xf32>
  // CHECK: %[[C:.*]] = tile.convert_layout %[[T]] : {{.*}} -> tensor<4x256xf32, #[[COLUMN_IN_WARP]]>
  // CHECK: tile.reduce max %[[C]] [0] : tensor<4x256xf32, #[[COLUMN_IN_WARP]]>
  %m = tile.reduce max %t [0] : tensor<4x256xf32> -> tensor<256xf32>
  return
}

// -----

// A dimension inside one warp is reduced where it stands.
// CHECK-LABEL: func.func @reduce_in_warp(
func.func @reduce_in_warp(%x: memref<8x32xf32>)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<8x32xf32> -> tensor<8x32xf32>
  // CHECK-NOT: convert_layout
  // CHECK: tile.reduce add
  %r = tile.reduce add %t [1] : tensor<8x32xf32> -> tensor<8xf32>
  return
}

// -----

// All that goes round a while loop comes back as it went in.
// CHECK-LABEL: func.func @while_loop(
func.func @while_loop(%x: memref<64x64xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[INIT:.*]] = tile.load {{.*}} -> tensor<8x32xf32, #[[ROWS:layout[0-9]*]]>
  %init = tile.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<8x32xf32>
  // CHECK: scf.while {{.*}} : (index, tensor<8x32xf32, #[[ROWS]]>) -> (index, tensor<8x32xf32, #[[ROWS]]>)
  %r:2 = scf.while (%i = %c0, %t = %init)
      : (index, tensor<8x32xf32>) -> (index, tensor<8x32xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %t : index, tensor<8x32xf32>
  } do {
  // CHECK: ^bb0(%{{.*}}: index, %{{.*}}: tensor<8x32xf32, #[[ROWS]]>):
  ^bb0(%i: index, %t: tensor<8x32xf32>):
    %next = arith.addi %i, %c1 : index
    %p = tile.load %x[%c0, %i] : memref<64x64xf32> -> tensor<32x8xf32>
    %q = tile.permute %p [1, 0] : tensor<32x8xf32> -> tensor<8x32xf32>
    // CHECK: %[[BACK:.*]] = tile.convert_layout {{.*}} -> tensor<8x32xf32, #[[ROWS]]>
    // CHECK: scf.yield %{{.*}}, %[[BACK]]
    scf.yield %next, %q : index, tensor<8x32xf32>
  }
  return
}

// -----

// The branches of an if agree on the layout of the one that is bound.
// CHECK-DAG: #[[COLUMNS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [0, 16]],
// CHECK-LABEL: func.func @branches(
func.func @branches(%x: memref<64x64xf32>, %b: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  // CHECK: scf.if %{{.*}} -> (tensor<8x32xf32, #[[COLUMNS]]>)
  %r = scf.if %b -> tensor<8x32xf32> {
    // CHECK: %[[ZERO:.*]] = tile.convert_layout {{.*}} -> tensor<8x32xf32, #[[COLUMNS]]>
    // CHECK-NEXT: scf.yield %[[ZERO]]
    %z = arith.constant dense<0.0> : tensor<8x32xf32>
    scf.yield %z : tensor<8x32xf32>
  } else {
    // CHECK: %[[Q:.*]] = tile.permute {{.*}} -> tensor<8x32xf32, #[[COLUMNS]]>
    // CHECK-NEXT: scf.yield %[[Q]]
    %p = tile.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<32x8xf32>
    %q = tile.permute %p [1, 0] : tensor<32x8xf32> -> tensor<8x32xf32>
    scf.yield %q : tensor<8x32xf32>
  }
  return
}

// -----

// Each lane needs the row and the column of every element that it gathers, at
// the register of that element: coordinates of extent 1 vanish.
// CHECK-DAG: #[[G:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [8, 0]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[R:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 0], [0, 0], [8, 0]], lane = {{\[\[}}0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[C:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 0], [0, 0], [0, 0]], warp = []>
// CHECK-LABEL: func.func @gather_indices(
func.func @gather_indices(%x: memref<64x64xf32>) attributes {tile.kernel} {
  %i = tile.iota : tensor<16xi32>
  %row = tile.reshape %i : tensor<16xi32> -> tensor<16x1xi32>
  %col = tile.reshape %i : tensor<16xi32> -> tensor<1x16xi32>
  // CHECK: tile.gather {{.*}} : memref<64x64xf32>, tensor<16x1xi32, #[[R]]>, tensor<1x16xi32, #[[C]]> -> tensor<16x16xf32, #[[G]]>
  %g = tile.gather %x[%row, %col]
     : memref<64x64xf32>, tensor<16x1xi32>, tensor<1x16xi32> -> tensor<16x16xf32>
  return
}

// -----

// Unpacking moves nothing: the values of a byte are two registers where the byte
// was one, the four bytes of a float one where they were four.
// CHECK-DAG: #[[BYTES:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[CODES:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[FLOATS:layout[0-9]*]] = #tile.layout<register = [], lane = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-LABEL: func.func @unpack(
func.func @unpack(%x: memref<64x64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  // CHECK: tensor<8x16xi8, #[[BYTES]]>
  %p = tile.load %x[%c0, %c0] : memref<64x64xi8> -> tensor<8x16xi8>
  // CHECK-NOT: convert_layout
  // CHECK: tile.unpack {{.*}} -> tensor<8x32xf4E2M1FN, #[[CODES]]>
  %u = tile.unpack %p : tensor<8x16xi8> -> tensor<8x32xf4E2M1FN>
  // CHECK-NOT: convert_layout
  // CHECK: tile.unpack {{.*}} -> tensor<8x4xf32, #[[FLOATS]]>
  %f = tile.unpack %p : tensor<8x16xi8> -> tensor<8x4xf32>
  return
}

// -----

// Bytes of one value that are spread over lanes are brought together first.
// CHECK-LABEL: func.func @unpack_spread_bytes(
func.func @unpack_spread_bytes(%x: memref<64x64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.load %x[%c0, %c0] : memref<64x64xi8> -> tensor<16x8xi8>
  // CHECK: %[[Q:.*]] = tile.permute
  %q = tile.permute %p [1, 0] : tensor<16x8xi8> -> tensor<8x16xi8>
  // CHECK: %[[B:.*]] = tile.convert_layout %[[Q]]
  // CHECK: tile.unpack %[[B]]
  %f = tile.unpack %q : tensor<8x16xi8> -> tensor<8x4xf32>
  return
}
