// RUN: tile-opt %s --canonicalize --split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// Round trips of bits
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @unpack_of_pack
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf4E2M1FN>, %[[W:.*]]: tensor<8xf32>
func.func @unpack_of_pack(%x: tensor<16x64xf4E2M1FN>, %w: tensor<8xf32>) -> (tensor<16x64xf4E2M1FN>, tensor<16x64xf4E2M1FN>, tensor<8xf32>) {
  // CHECK: return %[[X]], %[[X]], %[[W]]
  %0 = tile.pack %x : tensor<16x64xf4E2M1FN> -> tensor<16x32x!tile.f4E2M1FNx2>
  %1 = tile.unpack %0 : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  %2 = tile.pack %x : tensor<16x64xf4E2M1FN> -> tensor<16x32xi8>
  %3 = tile.unpack %2 : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  %4 = tile.pack %w : tensor<8xf32> -> tensor<32xi8>
  %5 = tile.unpack %4 : tensor<32xi8> -> tensor<8xf32>
  return %1, %3, %5 : tensor<16x64xf4E2M1FN>, tensor<16x64xf4E2M1FN>, tensor<8xf32>
}

// CHECK-LABEL: func @pack_of_unpack
// CHECK-SAME: %[[P:.*]]: tensor<16x32x!tile.f4E2M1FNx2>, %[[B:.*]]: tensor<16x32xi8>
func.func @pack_of_unpack(%p: tensor<16x32x!tile.f4E2M1FNx2>, %b: tensor<16x32xi8>) -> (tensor<16x32x!tile.f4E2M1FNx2>, tensor<16x32xi8>, tensor<16x32xi8>) {
  // CHECK: return %[[P]], %[[B]], %[[B]]
  %0 = tile.unpack %p : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  %1 = tile.pack %0 : tensor<16x64xf4E2M1FN> -> tensor<16x32x!tile.f4E2M1FNx2>
  %2 = tile.unpack %b : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  %3 = tile.pack %2 : tensor<16x64xf4E2M1FN> -> tensor<16x32xi8>
  %4 = tile.unpack %b : tensor<16x32xi8> -> tensor<16x16xbf16>
  %5 = tile.pack %4 : tensor<16x16xbf16> -> tensor<16x32xi8>
  return %1, %3, %5 : tensor<16x32x!tile.f4E2M1FNx2>, tensor<16x32xi8>, tensor<16x32xi8>
}

// Pairs in, plain bytes out: the bits are the same, the type is not.
// CHECK-LABEL: func @pairs_to_bytes
func.func @pairs_to_bytes(%p: tensor<16x32x!tile.f4E2M1FNx2>) -> tensor<16x32xi8> {
  // CHECK: tile.unpack
  // CHECK: tile.pack
  %0 = tile.unpack %p : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  %1 = tile.pack %0 : tensor<16x64xf4E2M1FN> -> tensor<16x32xi8>
  return %1 : tensor<16x32xi8>
}

// The bytes of one type read as another.
// CHECK-LABEL: func @reinterpreted
func.func @reinterpreted(%x: tensor<8xf32>) -> tensor<8xi32> {
  // CHECK: tile.pack
  // CHECK: tile.unpack
  %0 = tile.pack %x : tensor<8xf32> -> tensor<32xi8>
  %1 = tile.unpack %0 : tensor<32xi8> -> tensor<8xi32>
  return %1 : tensor<8xi32>
}

// CHECK-LABEL: func @bytes_to_bytes
// CHECK-SAME: %[[B:.*]]: tensor<4xi8>
func.func @bytes_to_bytes(%b: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  // CHECK: return %[[B]], %[[B]]
  %0 = tile.unpack %b : tensor<4xi8> -> tensor<4xi8>
  %1 = tile.pack %b : tensor<4xi8> -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

// -----

// CHECK-LABEL: func @permute_identity
// CHECK-SAME: %[[X:.*]]: tensor<16x16xf32>
func.func @permute_identity(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = tile.permute %x [0, 1] : tensor<16x16xf32> -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// A square transpose has equal types and moves everything.
// CHECK-LABEL: func @permute_square
func.func @permute_square(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: tile.permute %{{.*}} [1, 0]
  %0 = tile.permute %x [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: func @permute_twice
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf4E2M1FN>
func.func @permute_twice(%x: tensor<16x64xf4E2M1FN>) -> tensor<16x64xf4E2M1FN> {
  // CHECK-NEXT: return %[[X]]
  %0 = tile.permute %x [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
  %1 = tile.permute %0 [1, 0] : tensor<64x16xf4E2M1FN> -> tensor<16x64xf4E2M1FN>
  return %1 : tensor<16x64xf4E2M1FN>
}

// Three cycles of different length: only one order of composition gives this.
// CHECK-LABEL: func @permute_composed
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8x16xf32>
func.func @permute_composed(%x: tensor<2x4x8x16xf32>) -> tensor<4x16x2x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = tile.permute %[[X]] [1, 3, 0, 2] : tensor<2x4x8x16xf32> -> tensor<4x16x2x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = tile.permute %x [1, 2, 0, 3] : tensor<2x4x8x16xf32> -> tensor<4x8x2x16xf32>
  %1 = tile.permute %0 [0, 3, 2, 1] : tensor<4x8x2x16xf32> -> tensor<4x16x2x8xf32>
  return %1 : tensor<4x16x2x8xf32>
}

// CHECK-LABEL: func @reshape_identity
// CHECK-SAME: %[[X:.*]]: tensor<16x16xf32>
func.func @reshape_identity(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = tile.reshape %x : tensor<16x16xf32> -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: func @reshape_composed
// CHECK-SAME: %[[X:.*]]: tensor<16x16xf32>
func.func @reshape_composed(%x: tensor<16x16xf32>) -> (tensor<8x32xf32>, tensor<16x16xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = tile.reshape %[[X]] : tensor<16x16xf32> -> tensor<8x32xf32>
  // CHECK-NEXT: return %[[Y]], %[[X]]
  %0 = tile.reshape %x : tensor<16x16xf32> -> tensor<256xf32>
  %1 = tile.reshape %0 : tensor<256xf32> -> tensor<8x32xf32>
  %2 = tile.reshape %1 : tensor<8x32xf32> -> tensor<16x16xf32>
  return %1, %2 : tensor<8x32xf32>, tensor<16x16xf32>
}

// CHECK-LABEL: func @broadcast_composed
// CHECK-SAME: %[[X:.*]]: tensor<1x1xf32>, %[[Y:.*]]: tensor<4x8xf32>
func.func @broadcast_composed(%x: tensor<1x1xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[Z:.*]] = tile.broadcast %[[X]] : tensor<1x1xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: return %[[Z]], %[[Y]]
  %0 = tile.broadcast %x : tensor<1x1xf32> -> tensor<1x8xf32>
  %1 = tile.broadcast %0 : tensor<1x8xf32> -> tensor<4x8xf32>
  %2 = tile.broadcast %y : tensor<4x8xf32> -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

// -----

// CHECK-LABEL: func @ftof_identity
// CHECK-SAME: %[[X:.*]]: tensor<4xf16>, %[[Y:.*]]: tensor<4xf8E5M2>
func.func @ftof_identity(%x: tensor<4xf16>, %y: tensor<4xf8E5M2>) -> (tensor<4xf16>, tensor<4xf8E5M2>, tensor<4xf8E5M2>) {
  // Saturation turns infinity into 57344.
  // CHECK: %[[S:.*]] = tile.ftof %[[Y]] : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  // CHECK-NEXT: return %[[X]], %[[Y]], %[[S]]
  %0 = tile.ftof %x : tensor<4xf16> -> tensor<4xf16>
  %1 = tile.ftof %y {saturate = false} : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  %2 = tile.ftof %y : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  return %0, %1, %2 : tensor<4xf16>, tensor<4xf8E5M2>, tensor<4xf8E5M2>
}

// The first conversion loses nothing, so the second can do all.
// CHECK-LABEL: func @ftof_exact_inner
// CHECK-SAME: %[[A:.*]]: tensor<4xf4E2M1FN>, %[[B:.*]]: tensor<4xf8E5M2>, %[[C:.*]]: tensor<4xbf16>
func.func @ftof_exact_inner(%a: tensor<4xf4E2M1FN>, %b: tensor<4xf8E5M2>, %c: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xf4E2M1FN>, tensor<4xbf16>, tensor<4xf8E8M0FNU>) {
  // CHECK-DAG: %[[W:.*]] = tile.ftof %[[A]] : tensor<4xf4E2M1FN> -> tensor<4xf32>
  // CHECK-DAG: %[[X:.*]] = tile.ftof %[[B]] : tensor<4xf8E5M2> -> tensor<4xbf16>
  // CHECK-DAG: %[[Y:.*]] = tile.ftof %[[C]] upward : tensor<4xbf16> -> tensor<4xf8E8M0FNU>
  // CHECK: return %[[W]], %[[A]], %[[X]], %[[Y]]
  %0 = tile.ftof %a : tensor<4xf4E2M1FN> -> tensor<4xf8E4M3FN>
  %1 = tile.ftof %0 : tensor<4xf8E4M3FN> -> tensor<4xf32>
  %2 = tile.ftof %1 : tensor<4xf32> -> tensor<4xf4E2M1FN>
  %3 = tile.ftof %b : tensor<4xf8E5M2> -> tensor<4xf16>
  %4 = tile.ftof %3 : tensor<4xf16> -> tensor<4xbf16>
  %5 = tile.ftof %c : tensor<4xbf16> -> tensor<4xf32>
  %6 = tile.ftof %5 upward : tensor<4xf32> -> tensor<4xf8E8M0FNU>
  return %1, %2, %4, %6 : tensor<4xf32>, tensor<4xf4E2M1FN>, tensor<4xbf16>, tensor<4xf8E8M0FNU>
}

// Rounded twice is not rounded once; E8M0 does not fit into f16; bf16 has other
// values than f16.
// CHECK-LABEL: func @ftof_lossy_inner
func.func @ftof_lossy_inner(%a: tensor<4xf32>, %b: tensor<4xf8E8M0FNU>, %c: tensor<4xbf16>) -> (tensor<4xf4E2M1FN>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-6: tile.ftof
  %0 = tile.ftof %a : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %1 = tile.ftof %0 : tensor<4xf8E4M3FN> -> tensor<4xf4E2M1FN>
  %2 = tile.ftof %b : tensor<4xf8E8M0FNU> -> tensor<4xf16>
  %3 = tile.ftof %2 : tensor<4xf16> -> tensor<4xf32>
  %4 = tile.ftof %c : tensor<4xbf16> -> tensor<4xf16>
  %5 = tile.ftof %4 : tensor<4xf16> -> tensor<4xf32>
  return %1, %3, %5 : tensor<4xf4E2M1FN>, tensor<4xf32>, tensor<4xf32>
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

// -----

#a = #tile.layout<register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [2, 0]], warp = []>
#b = #tile.layout<register = [[0, 8]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = []>

// CHECK-LABEL: func @convert_layout
// CHECK-SAME: %[[X:.*]]: tensor<4x16xf32, #[[A:layout[0-9]*]]>)
func.func @convert_layout(%x: tensor<4x16xf32, #a>) -> (tensor<4x16xf32, #b>, tensor<4x16xf32, #a>, tensor<4x16xf32, #b>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<2.500000e+00> : tensor<4x16xf32, #[[B:layout[0-9]*]]>
  // CHECK-DAG: %[[Y:.*]] = tile.convert_layout %[[X]] : tensor<4x16xf32, #[[A]]> -> tensor<4x16xf32, #[[B]]>
  // CHECK: return %[[Y]], %[[X]], %[[C]]
  %c = arith.constant dense<2.5> : tensor<4x16xf32, #a>
  %0 = tile.convert_layout %x : tensor<4x16xf32, #a> -> tensor<4x16xf32, #b>
  %1 = tile.convert_layout %0 : tensor<4x16xf32, #b> -> tensor<4x16xf32, #a>
  %2 = tile.convert_layout %c : tensor<4x16xf32, #a> -> tensor<4x16xf32, #b>
  return %0, %1, %2 : tensor<4x16xf32, #b>, tensor<4x16xf32, #a>, tensor<4x16xf32, #b>
}

// Equal shapes, other lanes: neither an identity.
// CHECK-LABEL: func @encodings_differ
func.func @encodings_differ(%x: tensor<4x16xf32, #a>) -> (tensor<4x16xf32, #b>, tensor<4x16xf32, #b>) {
  // CHECK: tile.permute
  // CHECK: tile.reshape
  %0 = tile.permute %x [0, 1] : tensor<4x16xf32, #a> -> tensor<4x16xf32, #b>
  %1 = tile.reshape %x : tensor<4x16xf32, #a> -> tensor<4x16xf32, #b>
  return %0, %1 : tensor<4x16xf32, #b>, tensor<4x16xf32, #b>
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

// -----

// CHECK-LABEL: func @assume
// CHECK-SAME: %[[I:.*]]: index
func.func @assume(%i: index) -> (index, index, index) {
  // A constant that breaks the promise is left for a person to see.
  // CHECK-DAG: %[[C:.*]] = arith.constant 48 : index
  // CHECK-DAG: %[[BROKEN:.*]] = tile.assume %[[C]] {divisible_by = 32 : i64} : index
  // CHECK: return %[[C]], %[[BROKEN]], %[[I]]
  %c = arith.constant 48 : index
  %0 = tile.assume %c {divisible_by = 16 : i64, max = 48 : i64, min = 48 : i64} : index
  %1 = tile.assume %c {divisible_by = 32 : i64} : index
  %2 = tile.assume %i : index
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func @assume_kept
func.func @assume_kept(%i: index) -> index {
  // CHECK: tile.assume
  %0 = tile.assume %i {min = 0 : i64} : index
  return %0 : index
}

// Loads have no effect of their own, stores do.
// CHECK-LABEL: func @dead
func.func @dead(%x: memref<?xf32>, %i: index) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant
  // CHECK-NEXT: tile.store %[[C]]
  // CHECK-NEXT: return
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %0 = tile.load %x[%i] : memref<?xf32> -> tensor<4xf32>
  tile.store %c, %x[%i] : tensor<4xf32>, memref<?xf32>
  return
}
