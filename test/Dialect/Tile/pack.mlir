// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @pairs
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf4E2M1FN>
func.func @pairs(%x: tensor<16x64xf4E2M1FN>) -> tensor<16x32x!tile.f4E2M1FNx2> {
  // CHECK: tile.pack %[[X]] : tensor<16x64xf4E2M1FN> -> tensor<16x32x!tile.f4E2M1FNx2>
  %0 = tile.pack %x : tensor<16x64xf4E2M1FN> -> tensor<16x32x!tile.f4E2M1FNx2>
  return %0 : tensor<16x32x!tile.f4E2M1FNx2>
}

// CHECK-LABEL: func @fp4_to_bytes
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf4E2M1FN>
func.func @fp4_to_bytes(%x: tensor<16x64xf4E2M1FN>) -> tensor<16x32xi8> {
  // CHECK: tile.pack %[[X]] : tensor<16x64xf4E2M1FN> -> tensor<16x32xi8>
  %0 = tile.pack %x : tensor<16x64xf4E2M1FN> -> tensor<16x32xi8>
  return %0 : tensor<16x32xi8>
}

// CHECK-LABEL: func @fp8_to_bytes
// CHECK-SAME: %[[X:.*]]: tensor<16x32xf8E5M2>
func.func @fp8_to_bytes(%x: tensor<16x32xf8E5M2>) -> tensor<16x32xi8> {
  // CHECK: tile.pack %[[X]] : tensor<16x32xf8E5M2> -> tensor<16x32xi8>
  %0 = tile.pack %x : tensor<16x32xf8E5M2> -> tensor<16x32xi8>
  return %0 : tensor<16x32xi8>
}

// CHECK-LABEL: func @f16_to_bytes
// CHECK-SAME: %[[X:.*]]: tensor<16x16xf16>
func.func @f16_to_bytes(%x: tensor<16x16xf16>) -> tensor<16x32xi8> {
  // CHECK: tile.pack %[[X]] : tensor<16x16xf16> -> tensor<16x32xi8>
  %0 = tile.pack %x : tensor<16x16xf16> -> tensor<16x32xi8>
  return %0 : tensor<16x32xi8>
}

// CHECK-LABEL: func @i32_to_bytes
// CHECK-SAME: %[[X:.*]]: tensor<8xi32>
func.func @i32_to_bytes(%x: tensor<8xi32>) -> tensor<32xi8> {
  // CHECK: tile.pack %[[X]] : tensor<8xi32> -> tensor<32xi8>
  %0 = tile.pack %x : tensor<8xi32> -> tensor<32xi8>
  return %0 : tensor<32xi8>
}

// CHECK-LABEL: func @i64_to_bytes
// CHECK-SAME: %[[X:.*]]: tensor<2x2x1xi64>
func.func @i64_to_bytes(%x: tensor<2x2x1xi64>) -> tensor<2x2x8xi8> {
  // CHECK: tile.pack %[[X]] : tensor<2x2x1xi64> -> tensor<2x2x8xi8>
  %0 = tile.pack %x : tensor<2x2x1xi64> -> tensor<2x2x8xi8>
  return %0 : tensor<2x2x8xi8>
}
