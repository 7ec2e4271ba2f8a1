// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @ftof_c1(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a result of shape 16x64, but got 'tensor<64x16xbf16>'}}
  %0 = tile.ftof %x : tensor<16x64xf32> -> tensor<64x16xbf16>
  return
}

// -----

// A scale that is no power of two must not lose its mantissa unseen.
func.func @ftof_c2(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects 'toward_zero' or 'upward' for a result of 'f8E8M0FNU'}}
  %0 = tile.ftof %x : tensor<16x4xf32> -> tensor<16x4xf8E8M0FNU>
  return
}

// -----

func.func @ftof_c3(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects no rounding for a result of 'f8E4M3FN', which rounds to nearest even, but got 'toward_zero'}}
  %0 = tile.ftof %x toward_zero : tensor<16x4xf32> -> tensor<16x4xf8E4M3FN>
  return
}

// -----

func.func @ftof_c3(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects no rounding for a result of 'bf16', which rounds to nearest even, but got 'upward'}}
  %0 = tile.ftof %x upward : tensor<16x4xf32> -> tensor<16x4xbf16>
  return
}

// -----

func.func @ftof_c4(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects 'saturate = false' for a result of 'f8E4M3FN' or 'f8E5M2' only, but got 'f4E2M1FN'}}
  %0 = tile.ftof %x {saturate = false} : tensor<16x4xf32> -> tensor<16x4xf4E2M1FN>
  return
}

// -----

func.func @ftof_c4(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects 'saturate = false' for a result of 'f8E4M3FN' or 'f8E5M2' only, but got 'f8E8M0FNU'}}
  %0 = tile.ftof %x upward {saturate = false} : tensor<16x4xf32> -> tensor<16x4xf8E8M0FNU>
  return
}

// -----

func.func @ftof_c4(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects 'saturate = false' for a result of 'f8E4M3FN' or 'f8E5M2' only, but got 'f16'}}
  %0 = tile.ftof %x {saturate = false} : tensor<16x4xf32> -> tensor<16x4xf16>
  return
}

// -----

func.func @ftof_unknown_rounding(%x: tensor<16x4xf32>) {
  // expected-error @below {{expected ':'}}
  %0 = tile.ftof %x to_nearest_even : tensor<16x4xf32> -> tensor<16x4xf8E8M0FNU>
  return
}

// -----

// Pairs are bytes; tile.unpack makes values of them.
func.func @ftof_pairs(%x: tensor<16x4x!tile.f4E2M1FNx2>) {
  // expected-error @below {{operand #0 must be tile (power-of-two extents, at most 2^20 elements) of f4E2M1FN type or}}
  %0 = tile.ftof %x : tensor<16x4x!tile.f4E2M1FNx2> -> tensor<16x4xf32>
  return
}

// -----

func.func @ftof_integer(%x: tensor<16x4xf32>) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.ftof %x : tensor<16x4xf32> -> tensor<16x4xi32>
  return
}
