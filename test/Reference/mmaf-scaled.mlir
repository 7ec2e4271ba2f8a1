// RUN: %python %S/Inputs/npy.py make %t.a.npy u1 16x8 0x22
// RUN: %python %S/Inputs/npy.py make %t.b.npy u1 8x8 0x32
// RUN: %python %S/Inputs/npy.py make %t.sa.npy u1 16x1 0x38 0x40 0x44 0x48 0x38 0x38 0x38 0x38 0x38 0x7F 0x38 0x38 0x38 0x38 0x38 0x38
// RUN: %python %S/Inputs/npy.py make %t.sb.npy u1 1x8 0x3C 0x38 0x38 0x38 0x38 0x38 0x38 0x30
// RUN: tile-run %s --device=reference --grid=1 out:%t.z.npy:16x8xf32 in:%t.a.npy in:%t.b.npy in:%t.sa.npy in:%t.sb.npy
// RUN: %python %S/Inputs/npy.py show %t.z.npy | FileCheck %s

// 16 values of K, one E4M3 scale each side. A is ones; each column of B, stored
// as a row, is 1, 1.5, 1, 1.5, …: the sum of a row is 20 before scales. Row
// scales are 1, 2, 3, 4, 1, …; row 9 has the NaN scale. Column 0 has scale 1.5
// (not the power of two below it), column 7 has 0.5.

// CHECK: f4 16x8
// CHECK-NEXT: 30 20 20 20 20 20 20 10
// CHECK-NEXT: 60 40 40 40 40 40 40 20
// CHECK-NEXT: 90 60 60 60 60 60 60 30
// CHECK-NEXT: 120 80 80 80 80 80 80 40
// CHECK-COUNT-5: 30 20 20 20 20 20 20 10
// CHECK-NEXT: nan nan nan nan nan nan nan nan
// CHECK-COUNT-6: 30 20 20 20 20 20 20 10
// CHECK-NOT: {{.}}
func.func @mmaf_scaled(
    %z : memref<16x8xf32>, %a : memref<16x8x!tile.f4E2M1FNx2>,
    %b : memref<8x8x!tile.f4E2M1FNx2>, %sa : memref<16x1xf8E4M3FN>,
    %sb : memref<1x8xf8E4M3FN>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %ap = tile.load %a[%c0, %c0] : memref<16x8x!tile.f4E2M1FNx2> -> tensor<16x8x!tile.f4E2M1FNx2>
  %bp = tile.load %b[%c0, %c0] : memref<8x8x!tile.f4E2M1FNx2> -> tensor<8x8x!tile.f4E2M1FNx2>
  %au = tile.unpack %ap : tensor<16x8x!tile.f4E2M1FNx2> -> tensor<16x16xf4E2M1FN>
  %bu = tile.unpack %bp : tensor<8x8x!tile.f4E2M1FNx2> -> tensor<8x16xf4E2M1FN>
  %bt = tile.permute %bu [1, 0] : tensor<8x16xf4E2M1FN> -> tensor<16x8xf4E2M1FN>
  %s = tile.load %sa[%c0, %c0] : memref<16x1xf8E4M3FN> -> tensor<16x1xf8E4M3FN>
  %t = tile.load %sb[%c0, %c0] : memref<1x8xf8E4M3FN> -> tensor<1x8xf8E4M3FN>
  %r = tile.mmaf_scaled %au, %bt, %zero, %s, %t
     : tensor<16x16xf4E2M1FN>, tensor<16x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x1xf8E4M3FN>, tensor<1x8xf8E4M3FN>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
