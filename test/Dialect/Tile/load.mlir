// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @strided
// CHECK-SAME: %[[X:.*]]: memref<?x?xbf16, strided<[?, 1]>>, %[[M:.*]]: index, %[[K:.*]]: index
func.func @strided(%x: memref<?x?xbf16, strided<[?, 1]>>, %m: index, %k: index) -> tensor<16x64xbf16> {
  // CHECK: tile.load %[[X]][%[[M]], %[[K]]] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<16x64xbf16>
  %t = tile.load %x[%m, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<16x64xbf16>
  return %t : tensor<16x64xbf16>
}

// CHECK-LABEL: func @identity_and_pairs
func.func @identity_and_pairs(%x: memref<?x!tile.f4E2M1FNx2>, %i: index) -> tensor<8x!tile.f4E2M1FNx2> {
  // CHECK: tile.load %{{.*}}[%{{.*}}] : memref<?x!tile.f4E2M1FNx2> -> tensor<8x!tile.f4E2M1FNx2>
  %t = tile.load %x[%i] : memref<?x!tile.f4E2M1FNx2> -> tensor<8x!tile.f4E2M1FNx2>
  return %t : tensor<8x!tile.f4E2M1FNx2>
}

// CHECK-LABEL: func @rank_0
func.func @rank_0(%x: memref<f32>) -> tensor<f32> {
  // CHECK: tile.load %{{.*}}[] : memref<f32> -> tensor<f32>
  %t = tile.load %x[] : memref<f32> -> tensor<f32>
  return %t : tensor<f32>
}

// Scales in the 128x4 order of the hardware.
// CHECK-LABEL: func @rank_5
func.func @rank_5(%x: memref<?x?x32x4x4xf8E8M0FNU, strided<[?, 512, 16, 4, 1]>>, %i: index) -> tensor<1x2x32x4x4xf8E8M0FNU> {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load %{{.*}} -> tensor<1x2x32x4x4xf8E8M0FNU>
  %t = tile.load %x[%i, %i, %c0, %c0, %c0] : memref<?x?x32x4x4xf8E8M0FNU, strided<[?, 512, 16, 4, 1]>> -> tensor<1x2x32x4x4xf8E8M0FNU>
  return %t : tensor<1x2x32x4x4xf8E8M0FNU>
}

// A view has an offset; only a kernel's argument may not.
// CHECK-LABEL: func @subview
func.func @subview(%x: memref<?x?xi8, strided<[?, 1]>>, %i: index) -> tensor<4x4xi8> {
  %v = memref.subview %x[%i, 0] [8, 8] [1, 1] : memref<?x?xi8, strided<[?, 1]>> to memref<8x8xi8, strided<[?, 1], offset: ?>>
  // CHECK: tile.load %{{.*}} : memref<8x8xi8, strided<[?, 1], offset: ?>> -> tensor<4x4xi8>
  %t = tile.load %v[%i, %i] : memref<8x8xi8, strided<[?, 1], offset: ?>> -> tensor<4x4xi8>
  return %t : tensor<4x4xi8>
}
