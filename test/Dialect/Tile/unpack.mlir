// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @pairs
// CHECK-SAME: %[[X:.*]]: tensor<16x32x!tile.f4E2M1FNx2>
func.func @pairs(%x: tensor<16x32x!tile.f4E2M1FNx2>) -> tensor<16x64xf4E2M1FN> {
  // CHECK: tile.unpack %[[X]] : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  %0 = tile.unpack %x : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  return %0 : tensor<16x64xf4E2M1FN>
}

// CHECK-LABEL: func @bytes_to_fp4
// CHECK-SAME: %[[X:.*]]: tensor<16x32xi8>
func.func @bytes_to_fp4(%x: tensor<16x32xi8>) -> tensor<16x64xf4E2M1FN> {
  // CHECK: tile.unpack %[[X]] : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  return %0 : tensor<16x64xf4E2M1FN>
}

// CHECK-LABEL: func @one_byte
// CHECK-SAME: %[[X:.*]]: tensor<1xi8>
func.func @one_byte(%x: tensor<1xi8>) -> tensor<2xf4E2M1FN> {
  // CHECK: tile.unpack %[[X]] : tensor<1xi8> -> tensor<2xf4E2M1FN>
  %0 = tile.unpack %x : tensor<1xi8> -> tensor<2xf4E2M1FN>
  return %0 : tensor<2xf4E2M1FN>
}

// CHECK-LABEL: func @bytes_to_fp8
// CHECK-SAME: %[[X:.*]]: tensor<16x32xi8>
func.func @bytes_to_fp8(%x: tensor<16x32xi8>) -> tensor<16x32xf8E4M3FN> {
  // CHECK: tile.unpack %[[X]] : tensor<16x32xi8> -> tensor<16x32xf8E4M3FN>
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x32xf8E4M3FN>
  return %0 : tensor<16x32xf8E4M3FN>
}

// CHECK-LABEL: func @bytes_to_scales
// CHECK-SAME: %[[X:.*]]: tensor<16x4xi8>
func.func @bytes_to_scales(%x: tensor<16x4xi8>) -> tensor<16x4xf8E8M0FNU> {
  // CHECK: tile.unpack %[[X]] : tensor<16x4xi8> -> tensor<16x4xf8E8M0FNU>
  %0 = tile.unpack %x : tensor<16x4xi8> -> tensor<16x4xf8E8M0FNU>
  return %0 : tensor<16x4xf8E8M0FNU>
}

// CHECK-LABEL: func @bytes_to_bf16
// CHECK-SAME: %[[X:.*]]: tensor<16x32xi8>
func.func @bytes_to_bf16(%x: tensor<16x32xi8>) -> tensor<16x16xbf16> {
  // CHECK: tile.unpack %[[X]] : tensor<16x32xi8> -> tensor<16x16xbf16>
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x16xbf16>
  return %0 : tensor<16x16xbf16>
}

// CHECK-LABEL: func @bytes_to_f32
// CHECK-SAME: %[[X:.*]]: tensor<16x32xi8>
func.func @bytes_to_f32(%x: tensor<16x32xi8>) -> tensor<16x8xf32> {
  // CHECK: tile.unpack %[[X]] : tensor<16x32xi8> -> tensor<16x8xf32>
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @bytes_to_i64
// CHECK-SAME: %[[X:.*]]: tensor<2x2x8xi8>
func.func @bytes_to_i64(%x: tensor<2x2x8xi8>) -> tensor<2x2x1xi64> {
  // CHECK: tile.unpack %[[X]] : tensor<2x2x8xi8> -> tensor<2x2x1xi64>
  %0 = tile.unpack %x : tensor<2x2x8xi8> -> tensor<2x2x1xi64>
  return %0 : tensor<2x2x1xi64>
}
