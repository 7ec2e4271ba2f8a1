// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @reshape_c1(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a result of 1024 elements, but got 'tensor<16x32xf32>'}}
  %0 = tile.reshape %x : tensor<16x64xf32> -> tensor<16x32xf32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<16x64xf32>) {
  // expected-error @below {{expects a result of 'f32', but got 'i32'}}
  %0 = tile.reshape %x : tensor<16x64xf32> -> tensor<64x16xi32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<16x32x!tile.f4E2M1FNx2>) {
  // expected-error @below {{expects a result of '!tile.f4E2M1FNx2', but got 'f4E2M1FN'}}
  %0 = tile.reshape %x : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x32xf4E2M1FN>
  return
}
