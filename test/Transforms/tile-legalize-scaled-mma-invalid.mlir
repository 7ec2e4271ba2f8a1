// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-legalize-scaled-mma="target=sm_120f mma-path=native"

// A wish for the instruction is not replaced by something else.
func.func @no_such_pair(%a: tensor<16x32xbf16>, %b: tensor<32x8xf4E2M1FN>,
                        %c: tensor<16x8xf32>, %sb: tensor<2x8xf8E4M3FN>)
    -> tensor<16x8xf32> {
  // expected-error @below {{'tile.mmaf_scaled' op has no native form: no block-scaled instruction multiplies 'bf16' by 'f4E2M1FN'; use mma-path=expand}}
  %0 = tile.mmaf_scaled %a, %b, %c, %sb
     : tensor<16x32xbf16>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<2x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// -----

// The wish of one kernel concerns that kernel.
func.func @expands(%z: memref<16x8xf32>)
    attributes {tile.kernel, tile.mma_path = "expand"} {
  %a = arith.constant dense<1.0> : tensor<16x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sb = arith.constant dense<1.0> : tensor<2x8xf8E4M3FN>
  %0 = tile.mmaf_scaled %a, %b, %c, %sb
     : tensor<16x32xbf16>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<2x8xf8E4M3FN>
  return
}
func.func @native(%z: memref<16x8xf32>)
    attributes {tile.kernel, tile.mma_path = "native"} {
  %a = arith.constant dense<1.0> : tensor<16x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sb = arith.constant dense<1.0> : tensor<2x8xf8E4M3FN>
  // expected-error @below {{has no native form}}
  %0 = tile.mmaf_scaled %a, %b, %c, %sb
     : tensor<16x32xbf16>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<2x8xf8E4M3FN>
  return
}
