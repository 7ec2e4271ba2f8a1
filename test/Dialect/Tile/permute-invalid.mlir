// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @permute_c1(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a permutation of 2 dimensions, but got array<i64: 1>}}
  %0 = tile.permute %x [1] : tensor<16x64xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @permute_c1(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a permutation of 2 dimensions, but got array<i64: 1, 1>}}
  %0 = tile.permute %x [1, 1] : tensor<16x64xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @permute_c1(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a permutation of 2 dimensions, but got array<i64: 2, 0>}}
  %0 = tile.permute %x [2, 0] : tensor<16x64xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @permute_c1(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a permutation of 2 dimensions, but got array<i64: -1, 0>}}
  %0 = tile.permute %x [-1, 0] : tensor<16x64xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @permute_c2(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a result of shape 64x16, but got 'tensor<16x64xf32>'}}
  %0 = tile.permute %x [1, 0] : tensor<16x64xf32> -> tensor<16x64xf32>
  return
}

// -----

// The inverse permutation.
func.func @permute_c2(%x: tensor<2x4x8xf32>) {
  // expected-error @below {{expects a result of shape 8x2x4, but got 'tensor<4x8x2xf32>'}}
  %0 = tile.permute %x [2, 0, 1] : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
  return
}

// -----

func.func @permute_c3(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a result of 'f32', but got 'bf16'}}
  %0 = tile.permute %x [1, 0] : tensor<16x64xf32> -> tensor<64x16xbf16>
  return
}
