// RUN: %python %S/Inputs/npy.py make %t.s.npy u1 1x2x32x4x4 hash:3:251
// RUN: tile-run %s --device=reference --grid=1 out:%t.z.npy:128x8xu8 in:%t.s.npy
// RUN: %python %S/Inputs/check-128x4.py %t.s.npy %t.z.npy | FileCheck %s

// Scales in the hardware's order: row r, column c of a block of 128 x 4 is byte
// (r mod 32) * 16 + (r / 32) * 4 + c, and blocks of columns follow each other.
// The kernel turns them into a 128 x 8 tile with a permute and a reshape.

// CHECK: 1024 scales in place
func.func @scale_order(%z : memref<128x8xf8E4M3FN>,
    %s : memref<?x?x32x4x4xf8E4M3FN, strided<[?, 512, 16, 4, 1]>>)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %b = tile.load %s[%c0, %c0, %c0, %c0, %c0]
    : memref<?x?x32x4x4xf8E4M3FN, strided<[?, 512, 16, 4, 1]>> -> tensor<1x2x32x4x4xf8E4M3FN>
  %p = tile.permute %b [0, 3, 2, 1, 4] : tensor<1x2x32x4x4xf8E4M3FN> -> tensor<1x4x32x2x4xf8E4M3FN>
  %t = tile.reshape %p : tensor<1x4x32x2x4xf8E4M3FN> -> tensor<128x8xf8E4M3FN>
  tile.store %t, %z[%c0, %c0] : tensor<128x8xf8E4M3FN>, memref<128x8xf8E4M3FN>
  return
}
