// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @reduce_c1(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects a dimension below 2, but got 2}}
  %0 = tile.reduce add %x [2] : tensor<16x4xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_c1(%x: tensor<f32>) {
  // expected-error @below {{expects a dimension below 0, but got 0}}
  %0 = tile.reduce add %x [0] : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c1(%x: tensor<16x4xf32>) {
  // expected-error @below {{attribute 'dim' failed to satisfy constraint}}
  %0 = tile.reduce add %x [-1] : tensor<16x4xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects a result of shape 4, but got 'tensor<16xf32>'}}
  %0 = tile.reduce add %x [0] : tensor<16x4xf32> -> tensor<16xf32>
  return
}

// -----

// The dimension goes.
func.func @reduce_c2(%x: tensor<16x4xf32>) {
  // expected-error @below {{expects a result of shape 16, but got 'tensor<16x1xf32>'}}
  %0 = tile.reduce add %x [1] : tensor<16x4xf32> -> tensor<16x1xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<16x4xbf16>) {
  // expected-error @below {{expects a result of 'bf16', but got 'f32'}}
  %0 = tile.reduce add %x [1] : tensor<16x4xbf16> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_c4(%x: tensor<16x4xf8E4M3FN>) {
  // expected-error @below {{has no 'add' of 'f8E4M3FN'; floats take max and min, bf16, f16 and f32 also add and mul, integers all kinds, i1 and, or, xor}}
  %0 = tile.reduce add %x [1] : tensor<16x4xf8E4M3FN> -> tensor<16xf8E4M3FN>
  return
}

// -----

func.func @reduce_c4(%x: tensor<16x4xf32>) {
  // expected-error @below {{has no 'and' of 'f32'}}
  %0 = tile.reduce and %x [1] : tensor<16x4xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_c4(%x: tensor<16x4xi1>) {
  // expected-error @below {{has no 'max' of 'i1'}}
  %0 = tile.reduce max %x [1] : tensor<16x4xi1> -> tensor<16xi1>
  return
}

// -----

func.func @reduce_c4(%x: tensor<16x4x!tile.f4E2M1FNx2>) {
  // expected-error @below {{has no 'max' of '!tile.f4E2M1FNx2'}}
  %0 = tile.reduce max %x [1] : tensor<16x4x!tile.f4E2M1FNx2> -> tensor<16x!tile.f4E2M1FNx2>
  return
}

// -----

func.func @reduce_unknown_kind(%x: tensor<16x4xf32>) {
  // expected-error @below {{one of the following enum values for attribute 'kind' [add, mul, max, min, and, or, xor]}}
  %0 = tile.reduce mean %x [1] : tensor<16x4xf32> -> tensor<16xf32>
  return
}
