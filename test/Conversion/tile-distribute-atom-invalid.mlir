// RUN: not tile-opt %s --tile-to-layouts=target=sm_120f --tile-distribute=target=sm_80 -o /dev/null 2>&1 | FileCheck %s

// An instruction that was chosen for another target.
// CHECK: error: 'tile.mmaf_scaled' op expects an instruction of sm_80, but got 'm16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3'
func.func @other_target(%z: memref<16x8xf32>, %x: memref<16x32x!tile.f4E2M1FNx2>,
                        %y: memref<32x8x!tile.f4E2M1FNx2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.load %x[%c0, %c0] : memref<16x32x!tile.f4E2M1FNx2> -> tensor<16x32x!tile.f4E2M1FNx2>
  %a = tile.unpack %p : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  %q = tile.load %y[%c0, %c0] : memref<32x8x!tile.f4E2M1FNx2> -> tensor<32x8x!tile.f4E2M1FNx2>
  %w = tile.unpack %q : tensor<32x8x!tile.f4E2M1FNx2> -> tensor<32x16xf4E2M1FN>
  %s = tile.reshape %w : tensor<32x16xf4E2M1FN> -> tensor<64x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sa = arith.constant dense<1.0> : tensor<16x4xf8E4M3FN>
  %sb = arith.constant dense<1.0> : tensor<4x8xf8E4M3FN>
  %d = tile.mmaf_scaled %a, %s, %c, %sa, %sb
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  tile.store %d, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
