// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @mmaf_scaled_c1(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{failed to verify that all of {acc, result} have same type}}
  %0 = "tile.mmaf_scaled"(%a, %b, %c, %s, %t) : (tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>) -> tensor<16x16xf32>
  return
}

// -----

func.func @mmaf_scaled_c2(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<2x64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{failed to verify that all of {lhs, rhs, acc} have same rank}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<2x64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c3(
    %a: tensor<16x64xbf16>,
    %b: tensor<64x8xbf16>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>) {
  // expected-error @below {{expects at least one block-scaled operand; use 'tile.mmaf' for 'bf16' by 'bf16'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s
     : tensor<16x64xbf16>, tensor<64x8xbf16>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c4(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>) {
  // expected-error @below {{expects 2 scale operands for 'f4E2M1FN' by 'f4E2M1FN', but got 1}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c4(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>,
    %u: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects 2 scale operands for 'f4E2M1FN' by 'f4E2M1FN', but got 3}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t, %u
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

// An operand without a scale gets none.
func.func @mmaf_scaled_c4(
    %a: tensor<16x64xbf16>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects 1 scale operand for 'bf16' by 'f4E2M1FN', but got 2}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xbf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c5(
    %a: tensor<16x2xf4E2M1FN>,
    %b: tensor<2x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects the K extent of lhs to be a multiple of the K extent of its scale, but got 'tensor<16x2xf4E2M1FN>' and 'tensor<16x4xf8E4M3FN>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x2xf4E2M1FN>, tensor<2x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c6(
    %a: tensor<16x64xf8E4M3FN>,
    %b: tensor<64x8xf8E4M3FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects an f8E8M0FNU scale for lhs of type 'f8E4M3FN', but got 'f8E4M3FN'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c6(
    %a: tensor<16x64xbf16>,
    %b: tensor<64x8xf8E5M2>,
    %c: tensor<16x8xf32>,
    %s: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects an f8E8M0FNU scale for rhs of type 'f8E5M2', but got 'f8E4M3FN'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s
     : tensor<16x64xbf16>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c7(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x2xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects 16 values of lhs per 'f8E4M3FN' scale, but got 32 (K is 64, and K of the scale 2)}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x2xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

// K counts values: 32 packed bytes are K = 64.
func.func @mmaf_scaled_c7(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x1xf8E8M0FNU>,
    %t: tensor<2x8xf8E8M0FNU>) {
  // expected-error @below {{expects 16 or 32 values of lhs per 'f8E8M0FNU' scale, but got 64 (K is 64, and K of the scale 1)}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x1xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return
}

// -----

func.func @mmaf_scaled_c7(
    %a: tensor<16x64xf8E4M3FN>,
    %b: tensor<64x8xf8E5M2>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x2xf8E8M0FNU>,
    %t: tensor<4x8xf8E8M0FNU>) {
  // expected-error @below {{expects 32 values of rhs per 'f8E8M0FNU' scale, but got 16 (K is 64, and K of the scale 4)}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E5M2>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<4x8xf8E8M0FNU>
  return
}

// -----

func.func @mmaf_scaled_c7(
    %a: tensor<16x64xf16>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<8x8xf8E4M3FN>) {
  // expected-error @below {{expects 16 values of rhs per 'f8E4M3FN' scale, but got 8}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s
     : tensor<16x64xf16>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<8x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c8(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<32x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects equal K extents of lhs and rhs, but got 'tensor<16x64xf4E2M1FN>' and 'tensor<32x8xf4E2M1FN>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c9(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x16xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects acc to be 16x8 (M by N), but got 'tensor<16x16xf32>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x16xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c9(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<8x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects acc to be 16x8 (M by N), but got 'tensor<8x8xf32>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<8x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c10(
    %a: tensor<2x16x64xf4E2M1FN>,
    %b: tensor<2x64x8xf4E2M1FN>,
    %c: tensor<1x16x8xf32>,
    %s: tensor<2x16x4xf8E4M3FN>,
    %t: tensor<2x4x8xf8E4M3FN>) {
  // expected-error @below {{expects equal batch extents of lhs, rhs and acc, but got 2, 2 and 1}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<2x16x64xf4E2M1FN>, tensor<2x64x8xf4E2M1FN>, tensor<1x16x8xf32>, tensor<2x16x4xf8E4M3FN>, tensor<2x4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c11(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x256xf4E2M1FN>,
    %c: tensor<16x256xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<256x4xf8E4M3FN>) {
  // expected-error @below {{expects the scale of rhs to be (K/V)x256, but got 'tensor<256x4xf8E4M3FN>'; transpose it with 'tile.permute'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x256xf4E2M1FN>, tensor<16x256xf32>, tensor<16x4xf8E4M3FN>, tensor<256x4xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c11(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<4x16xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects the scale of lhs to be 16x(K/V), but got 'tensor<4x16xf8E4M3FN>'; transpose it with 'tile.permute'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<4x16xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c11(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<32x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects the scale of lhs to be 16x(K/V), but got 'tensor<32x4xf8E4M3FN>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<32x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

// A scale has a batch dimension where its operand has one.
func.func @mmaf_scaled_c11(
    %a: tensor<2x16x64xf4E2M1FN>,
    %b: tensor<2x64x8xf4E2M1FN>,
    %c: tensor<2x16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<2x4x8xf8E4M3FN>) {
  // expected-error @below {{expects the scale of lhs to be 2x16x(K/V), but got 'tensor<16x4xf8E4M3FN>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<2x16x64xf4E2M1FN>, tensor<2x64x8xf4E2M1FN>, tensor<2x16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<2x4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c11(
    %a: tensor<2x16x64xf4E2M1FN>,
    %b: tensor<2x64x8xf4E2M1FN>,
    %c: tensor<2x16x8xf32>,
    %s: tensor<2x16x4xf8E4M3FN>,
    %t: tensor<1x4x8xf8E4M3FN>) {
  // expected-error @below {{expects the scale of rhs to be 2x(K/V)x8, but got 'tensor<1x4x8xf8E4M3FN>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<2x16x64xf4E2M1FN>, tensor<2x64x8xf4E2M1FN>, tensor<2x16x8xf32>, tensor<2x16x4xf8E4M3FN>, tensor<1x4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c12(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E8M0FNU>) {
  // expected-error @below {{expects scales of one type, but got 'f8E4M3FN' for lhs and 'f8E8M0FNU' for rhs}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E8M0FNU>
  return
}

// -----

func.func @mmaf_scaled_c13(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E8M0FNU>,
    %t: tensor<2x8xf8E8M0FNU>) {
  // expected-error @below {{expects as many values per scale for lhs as for rhs, but got 16 and 32}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return
}

// -----

func.func @mmaf_scaled_c13(
    %a: tensor<16x64xf8E4M3FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x2xf8E8M0FNU>,
    %t: tensor<4x8xf8E8M0FNU>) {
  // expected-error @below {{expects as many values per scale for lhs as for rhs, but got 32 and 16}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf8E4M3FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<4x8xf8E8M0FNU>
  return
}

// -----

func.func @mmaf_scaled_c14(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %t: tensor<4x8xf8E4M3FN>) {
  %s = arith.constant dense<-1.5> : tensor<16x4xf8E4M3FN>
  // expected-error @below {{expects scales of lhs without a sign, but constant element 0 is -1.50 (0xBC)}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

// Hardware reads seven bits: -0 too has one too many.
func.func @mmaf_scaled_c14(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>, %s: tensor<16x4xf8E4M3FN>) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, -0.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<8x4xf8E4M3FN>
  %t = tile.permute %w [1, 0] : tensor<8x4xf8E4M3FN> -> tensor<4x8xf8E4M3FN>
  // expected-error @below {{expects scales of rhs without a sign, but constant element 3 is -0.00 (0x80)}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_c15(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{expects path to be "native" or "expand", but got ""}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t {path = ""}
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

// Nothing rounds a scale unseen: tile.ftof converts it.
func.func @mmaf_scaled_f32_scales(
    %a: tensor<16x64xf4E2M1FN>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf32>,
    %t: tensor<4x8xf32>) {
  // expected-error @below {{operand #3 must be variadic of 2-D or 3-D tile (power-of-two extents, at most 2^20 elements) of f8E8M0FNU type or f8E4M3FN type, but got 'tensor<16x4xf32>'}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf32>, tensor<4x8xf32>
  return
}

// -----

// A byte of two values is not a value.
func.func @mmaf_scaled_pairs(
    %a: tensor<16x32x!tile.f4E2M1FNx2>,
    %b: tensor<64x8xf4E2M1FN>,
    %c: tensor<16x8xf32>,
    %s: tensor<16x4xf8E4M3FN>,
    %t: tensor<4x8xf8E4M3FN>) {
  // expected-error @below {{operand #0 must be 2-D or 3-D tile (power-of-two extents, at most 2^20 elements) of f4E2M1FN type or}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<16x32x!tile.f4E2M1FNx2>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

func.func @mmaf_scaled_rank_1(
    %a: tensor<64xf4E2M1FN>,
    %b: tensor<64xf4E2M1FN>,
    %c: tensor<64xf32>,
    %s: tensor<4xf8E4M3FN>,
    %t: tensor<4xf8E4M3FN>) {
  // expected-error @below {{operand #0 must be 2-D or 3-D tile}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %t
     : tensor<64xf4E2M1FN>, tensor<64xf4E2M1FN>, tensor<64xf32>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>
  return
}
