// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-orient-multiplies

// Nothing is assumed about a multiply that was not decided.
func.func @not_legalized(%a: tensor<8x16xbf16>, %b: tensor<16x16xbf16>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{'tile.mmaf' op expects an 'atom' of the instruction table; run tile-legalize-scaled-mma first}}
  %r = tile.mmaf %a, %b, %c : tensor<8x16xbf16>, tensor<16x16xbf16>, tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

func.func @unknown_atom(%a: tensor<8x32xf4E2M1FN>, %b: tensor<32x16xbf16>, %c: tensor<8x16xf32>, %s: tensor<8x2xf8E4M3FN>) -> tensor<8x16xf32> {
  // expected-error @below {{'tile.mmaf_scaled' op expects an 'atom' of the instruction table}}
  %r = tile.mmaf_scaled %a, %b, %c, %s {atom = "m16n8k17.bf16.bf16", path = "expand"}
     : tensor<8x32xf4E2M1FN>, tensor<32x16xbf16>, tensor<8x16xf32>, tensor<8x2xf8E4M3FN>
  return %r : tensor<8x16xf32>
}

// -----

// Multiplies of tensor memory have become other operations before.
func.func @tensor_memory(%a: tensor<128x16xbf16>, %b: tensor<16x16xbf16>, %c: tensor<128x16xf32>) -> tensor<128x16xf32> {
  // expected-error @below {{'tile.mmaf' op expects an instruction that warps issue, but got 'm128n256k16.tcgen05.f16.bf16.bf16'; run tile-stage-tensor-multiplies first}}
  %r = tile.mmaf %a, %b, %c {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"} : tensor<128x16xbf16>, tensor<16x16xbf16>, tensor<128x16xf32>
  return %r : tensor<128x16xf32>
}
