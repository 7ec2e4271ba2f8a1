// RUN: tile-opt %s --verify-diagnostics --tile-legalize-scaled-mma="target=sm_89 mma-path=native"

// A multiply without scales is held to the same promise.
func.func @plain_fp8(%z: memref<16x8xf32>)
    attributes {tile.kernel, tile.mma_path = "native"} {
  %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<32x8xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // expected-error @below {{has no native form: sm_89 has no full-sum instruction}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<16x8xf32>
  return
}
