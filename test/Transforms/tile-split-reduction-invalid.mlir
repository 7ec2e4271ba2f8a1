// RUN: tile-opt %s --verify-diagnostics --tile-split-reduction
// RUN: not tile-opt %s --tile-split-reduction=num-warps=6 2>&1 | FileCheck %s
// CHECK: expects num-warps to be a power of two from 1 to 32, but got 6

// Nothing is assumed about a multiply that was not decided.
func.func @not_legalized(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // expected-error @below {{'tile.mmaf' op expects an 'atom' of the instruction table; run tile-legalize-scaled-mma first}}
  %r = tile.mmaf %a, %b, %c : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}
