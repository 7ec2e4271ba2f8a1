// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @mmaf_c1(
    %a: tensor<16x32xbf16>,
    %b: tensor<32x8xbf16>,
    %c: tensor<16x8xf32>) {
  // expected-error @below {{failed to verify that all of {acc, result} have same type}}
  %0 = "tile.mmaf"(%a, %b, %c) : (tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @mmaf_c2(
    %a: tensor<2x16x32xbf16>,
    %b: tensor<32x8xbf16>,
    %c: tensor<16x8xf32>) {
  // expected-error @below {{failed to verify that all of {lhs, rhs, acc} have same rank}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<2x16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @mmaf_c3(
    %a: tensor<16x32xbf16>,
    %b: tensor<32x8xf16>,
    %c: tensor<16x8xf32>) {
  // expected-error @below {{expects 'bf16' by 'bf16', 'f16' by 'f16', or FP8 by FP8, but got 'bf16' by 'f16'}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xbf16>, tensor<32x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func @mmaf_c3(
    %a: tensor<16x32xf8E4M3FN>,
    %b: tensor<32x8xf16>,
    %c: tensor<16x8xf32>) {
  // expected-error @below {{expects 'bf16' by 'bf16', 'f16' by 'f16', or FP8 by FP8, but got 'f8E4M3FN' by 'f16'}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xf8E4M3FN>, tensor<32x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func @mmaf_c4(
    %a: tensor<16x32xbf16>,
    %b: tensor<64x8xbf16>,
    %c: tensor<16x8xf32>) {
  // expected-error @below {{expects equal K extents of lhs and rhs, but got 'tensor<16x32xbf16>' and 'tensor<64x8xbf16>'}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xbf16>, tensor<64x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @mmaf_c5(
    %a: tensor<16x32xbf16>,
    %b: tensor<32x8xbf16>,
    %c: tensor<8x8xf32>) {
  // expected-error @below {{expects acc to be 16x8 (M by N), but got 'tensor<8x8xf32>'}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<8x8xf32>
  return
}

// -----

func.func @mmaf_c5(
    %a: tensor<16x32xbf16>,
    %b: tensor<32x8xbf16>,
    %c: tensor<8x16xf32>) {
  // expected-error @below {{expects acc to be 16x8 (M by N), but got 'tensor<8x16xf32>'}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<8x16xf32>
  return
}

// -----

func.func @mmaf_c6(
    %a: tensor<2x16x32xbf16>,
    %b: tensor<1x32x8xbf16>,
    %c: tensor<2x16x8xf32>) {
  // expected-error @below {{expects equal batch extents of lhs, rhs and acc, but got 2, 1 and 2}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<2x16x32xbf16>, tensor<1x32x8xbf16>, tensor<2x16x8xf32>
  return
}

// -----

func.func @mmaf_c6(
    %a: tensor<2x16x32xbf16>,
    %b: tensor<2x32x8xbf16>,
    %c: tensor<4x16x8xf32>) {
  // expected-error @below {{expects equal batch extents of lhs, rhs and acc, but got 2, 2 and 4}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<2x16x32xbf16>, tensor<2x32x8xbf16>, tensor<4x16x8xf32>
  return
}

// -----

func.func @mmaf_c7(
    %a: tensor<16x32xbf16>,
    %b: tensor<32x8xbf16>,
    %c: tensor<16x8xf32>) {
  // expected-error @below {{expects path to be "native" or "expand", but got "fast"}}
  %0 = tile.mmaf %a, %b, %c {path = "fast"}
     : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @mmaf_fp4(
    %a: tensor<16x32xf4E2M1FN>,
    %b: tensor<32x8xf4E2M1FN>,
    %c: tensor<16x8xf32>) {
  // expected-error @below {{operand #0 must be 2-D or 3-D tile (power-of-two extents, at most 2^20 elements) of bfloat16 type or 16-bit float or f8E4M3FN type or f8E5M2 type, but got 'tensor<16x32xf4E2M1FN>'}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xf4E2M1FN>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>
  return
}

// -----

func.func @mmaf_f16_accumulator(
    %a: tensor<16x32xf16>,
    %b: tensor<32x8xf16>,
    %c: tensor<16x8xf16>) {
  // expected-error @below {{operand #2 must be 2-D or 3-D tile (power-of-two extents, at most 2^20 elements) of 32-bit float}}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf16>
  return
}
