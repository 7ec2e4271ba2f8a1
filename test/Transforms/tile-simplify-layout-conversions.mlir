// RUN: tile-opt %s --tile-simplify-layout-conversions | FileCheck %s

// One function per rewrite. #from is what an operation made by itself, #to what
// its user wants; a conversion that is left moves data between lanes.

#from = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
#to = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#line = #tile.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#lineTo = #tile.layout<register = [[1], [64]], lane = [[2], [4], [8], [16], [32]], warp = []>
#bytes = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
#codes = #tile.layout<register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
#codesTo = #tile.layout<register = [[0, 1], [8, 0], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>

// CHECK-DAG: #[[FROM:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [1, 0], [2, 0], [4, 0], [8, 0]],
// CHECK-DAG: #[[TO:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
// CHECK-DAG: #[[LINE_TO:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1], [64]],
// CHECK-DAG: #[[TRANSPOSED:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [0, 8]], lane = {{\[\[}}2, 0], [4, 0], [0, 1], [0, 2], [0, 4]],
// CHECK-DAG: #[[ROW:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 0]], lane = {{\[\[}}0, 2], [0, 4], [0, 0], [0, 0], [0, 0]],
// CHECK-DAG: #[[CODES:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4]],
// CHECK-DAG: #[[CODES_TO:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0], [0, 2]],
// CHECK-DAG: #[[PAIRS_TO:layout[0-9]*]] = #tile.layout<register = {{\[\[}}8, 0], [0, 1]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],

// A conversion to the same layout is nothing.
// CHECK-LABEL: func.func @identity
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK-NEXT: return %[[X]]
func.func @identity(%x: tensor<16x8xf32, #from>) -> tensor<16x8xf32, #from> {
  %r = tile.convert_layout %x : tensor<16x8xf32, #from> -> tensor<16x8xf32, #from>
  return %r : tensor<16x8xf32, #from>
}

// Two conversions in a row are one.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK-NEXT: %[[R:.*]] = tile.convert_layout %[[X]] : tensor<16x8xf32, #[[FROM]]> -> tensor<16x8xf32, #[[TO]]>
// CHECK-NEXT: return %[[R]]
func.func @twice(%x: tensor<16x8xf32, #from>) -> tensor<16x8xf32, #to> {
  %m = tile.convert_layout %x : tensor<16x8xf32, #from>
    -> tensor<16x8xf32, #tile.layout<register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
  %r = tile.convert_layout %m
     : tensor<16x8xf32, #tile.layout<register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
    -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// CHECK-LABEL: func.func @constant
// CHECK-NEXT: %[[R:.*]] = arith.constant dense<2.0{{.*}}> : tensor<16x8xf32, #[[TO]]>
// CHECK-NEXT: return %[[R]]
func.func @constant() -> tensor<16x8xf32, #to> {
  %x = arith.constant dense<2.0> : tensor<16x8xf32, #from>
  %r = tile.convert_layout %x : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// CHECK-LABEL: func.func @splat
// CHECK-NEXT: %[[R:.*]] = tensor.splat %{{.*}} : tensor<16x8xf32, #[[TO]]>
// CHECK-NEXT: return %[[R]]
func.func @splat(%s: f32) -> tensor<16x8xf32, #to> {
  %x = tensor.splat %s : tensor<16x8xf32, #from>
  %r = tile.convert_layout %x : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// CHECK-LABEL: func.func @iota
// CHECK-NEXT: %[[R:.*]] = tile.iota : tensor<128xi32, #[[LINE_TO]]>
// CHECK-NEXT: return %[[R]]
func.func @iota() -> tensor<128xi32, #lineTo> {
  %x = tile.iota : tensor<128xi32, #line>
  %r = tile.convert_layout %x : tensor<128xi32, #line> -> tensor<128xi32, #lineTo>
  return %r : tensor<128xi32, #lineTo>
}

// A load reads what its only user wants.
// CHECK-LABEL: func.func @load
// CHECK: %[[R:.*]] = tile.load {{.*}} -> tensor<16x8xf32, #[[TO]]>
// CHECK-NEXT: return %[[R]]
func.func @load(%m: memref<16x8xf32>, %i: index) -> tensor<16x8xf32, #to> {
  %x = tile.load %m[%i, %i] : memref<16x8xf32> -> tensor<16x8xf32, #from>
  %r = tile.convert_layout %x : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// Two users of a load are not a reason to read memory twice: the conversion
// stays.
// CHECK-LABEL: func.func @load_with_two_uses
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<16x8xf32, #[[FROM]]>
// CHECK-NEXT: %[[R:.*]] = tile.convert_layout %[[X]] : tensor<16x8xf32, #[[FROM]]> -> tensor<16x8xf32, #[[TO]]>
// CHECK-NOT: tile.load
// CHECK: return %[[X]], %[[R]]
func.func @load_with_two_uses(%m: memref<16x8xf32>, %i: index)
    -> (tensor<16x8xf32, #from>, tensor<16x8xf32, #to>) {
  %x = tile.load %m[%i, %i] : memref<16x8xf32> -> tensor<16x8xf32, #from>
  %r = tile.convert_layout %x : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %x, %r : tensor<16x8xf32, #from>, tensor<16x8xf32, #to>
}

// A load is made again where it stood, before a store that may change what it
// reads.
// CHECK-LABEL: func.func @load_before_a_store
// CHECK: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.load
// CHECK: return
func.func @load_before_a_store(%m: memref<16x8xf32>, %i: index,
                               %z: tensor<16x8xf32, #from>) -> tensor<16x8xf32, #to> {
  %x = tile.load %m[%i, %i] : memref<16x8xf32> -> tensor<16x8xf32, #from>
  tile.store %z, %m[%i, %i] : tensor<16x8xf32, #from>, memref<16x8xf32>
  %r = tile.convert_layout %x : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// The transposed layout before the permutation is the wanted one after it.
// CHECK-LABEL: func.func @permute
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[X]] : {{.*}} -> tensor<8x16xf32, #[[TRANSPOSED]]>
// CHECK-NEXT: %[[R:.*]] = tile.permute %[[C]] [1, 0] : tensor<8x16xf32, #[[TRANSPOSED]]> -> tensor<16x8xf32, #[[TO]]>
// CHECK-NEXT: return %[[R]]
func.func @permute(%x: tensor<8x16xf32, #tile.layout<register = [[1, 0], [2, 0]], lane = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []>>)
    -> tensor<16x8xf32, #to> {
  %p = tile.permute %x [1, 0]
     : tensor<8x16xf32, #tile.layout<register = [[1, 0], [2, 0]], lane = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []>>
    -> tensor<16x8xf32, #from>
  %r = tile.convert_layout %p : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// CHECK-LABEL: func.func @reshape
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[X]] : {{.*}} -> tensor<128xf32, #[[LINE_TO]]>
// CHECK-NEXT: %[[R:.*]] = tile.reshape %[[C]] : tensor<128xf32, #[[LINE_TO]]> -> tensor<16x8xf32, #[[TO]]>
// CHECK-NEXT: return %[[R]]
func.func @reshape(%x: tensor<128xf32, #line>) -> tensor<16x8xf32, #to> {
  %p = tile.reshape %x : tensor<128xf32, #line> -> tensor<16x8xf32, #from>
  %r = tile.convert_layout %p : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// The row that is broadcast is converted, not the tile that it fills.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[C:.*]] = tile.convert_layout {{.*}} -> tensor<1x8xf32, #[[ROW]]>
// CHECK-NEXT: %[[R:.*]] = tile.broadcast %[[C]] : tensor<1x8xf32, #[[ROW]]> -> tensor<16x8xf32, #[[TO]]>
// CHECK-NEXT: return %[[R]]
func.func @broadcast(%x: tensor<1x8xf32, #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>>)
    -> tensor<16x8xf32, #to> {
  %p = tile.broadcast %x
     : tensor<1x8xf32, #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>>
    -> tensor<16x8xf32, #from>
  %r = tile.convert_layout %p : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// Bytes are moved before they are unpacked: half as many registers, and whole
// words instead of nibbles.
// CHECK-LABEL: func.func @unpack
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[X]] : {{.*}} -> tensor<16x8xi8, #[[PAIRS_TO]]>
// CHECK-NEXT: %[[R:.*]] = tile.unpack %[[C]] : tensor<16x8xi8, #[[PAIRS_TO]]> -> tensor<16x16xf4E2M1FN, #[[CODES_TO]]>
// CHECK-NEXT: return %[[R]]
func.func @unpack(%x: tensor<16x8xi8, #bytes>) -> tensor<16x16xf4E2M1FN, #codesTo> {
  %p = tile.unpack %x : tensor<16x8xi8, #bytes> -> tensor<16x16xf4E2M1FN, #codes>
  %r = tile.convert_layout %p : tensor<16x16xf4E2M1FN, #codes> -> tensor<16x16xf4E2M1FN, #codesTo>
  return %r : tensor<16x16xf4E2M1FN, #codesTo>
}

// Not where the two values of a byte would go to different lanes: there is no
// byte that could be moved.
// CHECK-LABEL: func.func @unpack_of_split_bytes
// CHECK: %[[P:.*]] = tile.unpack
// CHECK-NEXT: %[[R:.*]] = tile.convert_layout %[[P]]
// CHECK-NEXT: return %[[R]]
func.func @unpack_of_split_bytes(%x: tensor<16x8xi8, #bytes>)
    -> tensor<16x16xf4E2M1FN, #tile.layout<register = [[8, 0], [0, 8], [0, 2]], lane = [[0, 1], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>> {
  %p = tile.unpack %x : tensor<16x8xi8, #bytes> -> tensor<16x16xf4E2M1FN, #codes>
  %r = tile.convert_layout %p : tensor<16x16xf4E2M1FN, #codes>
    -> tensor<16x16xf4E2M1FN, #tile.layout<register = [[8, 0], [0, 8], [0, 2]], lane = [[0, 1], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
  return %r : tensor<16x16xf4E2M1FN, #tile.layout<register = [[8, 0], [0, 8], [0, 2]], lane = [[0, 1], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
}

// CHECK-LABEL: func.func @pack
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[X]] : {{.*}} -> tensor<16x16xf4E2M1FN, #[[CODES_TO]]>
// CHECK-NEXT: %[[R:.*]] = tile.pack %[[C]] : {{.*}} -> tensor<16x8xi8, #[[PAIRS_TO]]>
// CHECK-NEXT: return %[[R]]
func.func @pack(%x: tensor<16x16xf4E2M1FN, #codes>)
    -> tensor<16x8xi8, #tile.layout<register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>> {
  %p = tile.pack %x : tensor<16x16xf4E2M1FN, #codes> -> tensor<16x8xi8, #bytes>
  %r = tile.convert_layout %p : tensor<16x8xi8, #bytes>
    -> tensor<16x8xi8, #tile.layout<register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
  return %r : tensor<16x8xi8, #tile.layout<register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
}

// An element-wise chain that starts from loads is computed in the wanted layout
// from the start.
// CHECK-LABEL: func.func @elementwise_of_a_load
// CHECK-NOT: convert_layout
// CHECK: %[[L:.*]] = tile.load {{.*}} -> tensor<16x8xf32, #[[TO]]>
// CHECK: %[[S:.*]] = tensor.splat {{.*}} : tensor<16x8xf32, #[[TO]]>
// CHECK: %[[R:.*]] = arith.mulf %[[L]], %[[S]] : tensor<16x8xf32, #[[TO]]>
// CHECK-NOT: convert_layout
// CHECK: return %[[R]]
func.func @elementwise_of_a_load(%m: memref<16x8xf32>, %i: index, %s: f32)
    -> tensor<16x8xf32, #to> {
  %x = tile.load %m[%i, %i] : memref<16x8xf32> -> tensor<16x8xf32, #from>
  %y = tensor.splat %s : tensor<16x8xf32, #from>
  %p = arith.mulf %x, %y : tensor<16x8xf32, #from>
  %r = tile.convert_layout %p : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// With one operand that must be moved, moving the result is one conversion
// instead of two.
// CHECK-LABEL: func.func @elementwise_of_bound_values
// CHECK-NOT: convert_layout
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: %[[R:.*]] = tile.convert_layout %[[P]]
// CHECK-NEXT: return %[[R]]
func.func @elementwise_of_bound_values(%x: tensor<16x8xf32, #from>,
                                       %y: tensor<16x8xf32, #from>)
    -> tensor<16x8xf32, #to> {
  %p = arith.mulf %x, %y : tensor<16x8xf32, #from>
  %r = tile.convert_layout %p : tensor<16x8xf32, #from> -> tensor<16x8xf32, #to>
  return %r : tensor<16x8xf32, #to>
}

// The whole way of a weight: load, unpack, transpose. Nothing is left to move.
// CHECK-LABEL: func.func @weights
// CHECK-NOT: convert_layout
// CHECK: tile.load
// CHECK-NEXT: tile.unpack
// CHECK-NEXT: %[[R:.*]] = tile.permute
// CHECK-NEXT: return %[[R]]
func.func @weights(%m: memref<8x32x!tile.f4E2M1FNx2>, %i: index)
    -> tensor<64x8xf4E2M1FN, #tile.layout<register = [[1, 0], [2, 0], [4, 0], [32, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>> {
  %x = tile.load %m[%i, %i] : memref<8x32x!tile.f4E2M1FNx2>
    -> tensor<8x32x!tile.f4E2M1FNx2, #tile.layout<register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>>
  %u = tile.unpack %x
     : tensor<8x32x!tile.f4E2M1FNx2, #tile.layout<register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>>
    -> tensor<8x64xf4E2M1FN, #tile.layout<register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], warp = []>>
  %t = tile.permute %u [1, 0]
     : tensor<8x64xf4E2M1FN, #tile.layout<register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], warp = []>>
    -> tensor<64x8xf4E2M1FN, #tile.layout<register = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[16, 0], [32, 0], [0, 1], [0, 2], [0, 4]], warp = []>>
  %r = tile.convert_layout %t
     : tensor<64x8xf4E2M1FN, #tile.layout<register = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[16, 0], [32, 0], [0, 1], [0, 2], [0, 4]], warp = []>>
    -> tensor<64x8xf4E2M1FN, #tile.layout<register = [[1, 0], [2, 0], [4, 0], [32, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>>
  return %r : tensor<64x8xf4E2M1FN, #tile.layout<register = [[1, 0], [2, 0], [4, 0], [32, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>>
}
