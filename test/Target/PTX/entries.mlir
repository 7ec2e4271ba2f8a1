// A file becomes one text with one entry and one launch line per kernel; what is
// fused in the kernel, such as a factor on the result, is no entry of its own.

// RUN: tile-compile %s --target=sm_80 | FileCheck %s
// RUN: tile-compile %s --target=sm_80 | grep -c '^\.visible \.entry' | FileCheck %s --check-prefix=COUNT
// COUNT: {{^}}2{{$}}
// RUN: tile-compile %s --target=sm_80 | %python %S/Inputs/check_ptx.py
// RUN: tile-compile %s --target=sm_80 | not grep '\.func'

// CHECK: // tile.launch entry=scaled_sum block=32,1,1 shared=0{{$}}
// CHECK-NEXT: // tile.launch entry=two_warps block=64,1,1 shared=0{{$}}
// CHECK-NOT: tile.launch

// CHECK: .visible .entry scaled_sum(
// CHECK: .reqntid 32, 1, 1
// CHECK: add.rn.f32
// CHECK: mul.rn.f32
// CHECK: st.global
// CHECK: .visible .entry two_warps(
// CHECK: .reqntid 64, 1, 1
func.func private @scale(%x: tensor<32xf32>, %alpha: f32) -> tensor<32xf32> {
  %a = tensor.splat %alpha : tensor<32xf32>
  %r = arith.mulf %x, %a : tensor<32xf32>
  return %r : tensor<32xf32>
}
func.func @scaled_sum(%z: memref<32xf32>, %x: memref<32xf32>, %alpha: f32)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<32xf32> -> tensor<32xf32>
  %s = arith.addf %t, %t : tensor<32xf32>
  %r = func.call @scale(%s, %alpha) : (tensor<32xf32>, f32) -> tensor<32xf32>
  tile.store %r, %z[%c0] : tensor<32xf32>, memref<32xf32>
  return
}
func.func @two_warps(%z: memref<64xf32>, %s: f32)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %t = tensor.splat %s : tensor<64xf32>
  tile.store %t, %z[%c0] : tensor<64xf32>, memref<64xf32>
  return
}
