// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @iota_c1() {
  // expected-error @below {{expects a result of rank 1, but got 'tensor<4x4xi32>'}}
  %0 = tile.iota : tensor<4x4xi32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @below {{expects a result of rank 1, but got 'tensor<i32>'}}
  %0 = tile.iota : tensor<i32>
  return
}

// -----

func.func @iota_c2() {
  // expected-error @below {{expects elements of i8, i16, i32, i64 or index, but got 'f32'}}
  %0 = tile.iota : tensor<16xf32>
  return
}

// -----

func.func @iota_c2() {
  // expected-error @below {{expects elements of i8, i16, i32, i64 or index, but got 'i1'}}
  %0 = tile.iota : tensor<2xi1>
  return
}

// -----

func.func @iota_c3() {
  // expected-error @below {{expects at most 256 elements of 'i8', but got 512}}
  %0 = tile.iota : tensor<512xi8>
  return
}

// -----

func.func @iota_c3() {
  // expected-error @below {{expects at most 65536 elements of 'i16', but got 131072}}
  %0 = tile.iota : tensor<131072xi16>
  return
}
