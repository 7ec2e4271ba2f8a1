// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @broadcast_c1(%x: tensor<64xf32>) {
  // expected-error @below {{expects a result of rank 1, but got 'tensor<16x64xf32>'}}
  %0 = tile.broadcast %x : tensor<64xf32> -> tensor<16x64xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<2x64xf32>) {
  // expected-error @below {{expects extent 2 in dimension 0 of the result, but got 16; only an extent of 1 repeats}}
  %0 = tile.broadcast %x : tensor<2x64xf32> -> tensor<16x64xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<1x64xf32>) {
  // expected-error @below {{expects extent 64 in dimension 1 of the result, but got 1}}
  %0 = tile.broadcast %x : tensor<1x64xf32> -> tensor<16x1xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<1x64xf32>) {
  // expected-error @below {{expects a result of 'f32', but got 'f16'}}
  %0 = tile.broadcast %x : tensor<1x64xf32> -> tensor<16x64xf16>
  return
}
