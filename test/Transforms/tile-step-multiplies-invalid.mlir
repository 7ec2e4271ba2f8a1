// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-step-multiplies

func.func @unknown_atom(%z: memref<16x8xf32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // expected-error @below {{'tile.mmaf' op expects an 'atom' of the instruction table; run tile-legalize-scaled-mma first}}
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k17.bf16.bf16", path = "native"}
     : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @tensor_memory(%z: memref<128x16xf32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %a = arith.constant dense<1.0> : tensor<128x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x16xbf16>
  %c = arith.constant dense<0.0> : tensor<128x16xf32>
  // expected-error @below {{expects an instruction that warps issue, but got 'm128n256k16.tcgen05.f16.bf16.bf16'; run tile-stage-tensor-multiplies first}}
  %r = tile.mmaf %a, %b, %c {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"}
     : tensor<128x16xbf16>, tensor<16x16xbf16>, tensor<128x16xf32>
  return
}
