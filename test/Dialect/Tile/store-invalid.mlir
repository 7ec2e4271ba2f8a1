// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @store_c1(%t: tensor<16x16xbf16>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a tile of 'f32' as in memory, but got 'bf16'}}
  tile.store %t, %z[%i, %i] : tensor<16x16xbf16>, memref<?x?xf32>
  return
}

// -----

// A byte that holds a pair and a value of a pair are different types.
func.func @store_c1(%t: tensor<16x16xf4E2M1FN>, %z: memref<?x?x!tile.f4E2M1FNx2>, %i: index) {
  // expected-error @below {{expects a tile of '!tile.f4E2M1FNx2' as in memory, but got 'f4E2M1FN'; 'tile.unpack' and 'tile.pack' convert between them}}
  tile.store %t, %z[%i, %i] : tensor<16x16xf4E2M1FN>, memref<?x?x!tile.f4E2M1FNx2>
  return
}

// -----

func.func @store_c2(%t: tensor<16x16xf32>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects 2 indices for 'memref<?x?xf32>', but got 1}}
  tile.store %t, %z[%i] : tensor<16x16xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_c3(%t: tensor<16xf32>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a tile of rank 2 as in memory, but got 'tensor<16xf32>'}}
  tile.store %t, %z[%i, %i] : tensor<16xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_c4(%t: tensor<16x16xf4E2M1FN>, %z: memref<?x?xf4E2M1FN>, %i: index) {
  // expected-error @below {{expects memory without 'f4E2M1FN', which has no byte of its own; use '!tile.f4E2M1FNx2' or 'i8' and 'tile.unpack'}}
  tile.store %t, %z[%i, %i] : tensor<16x16xf4E2M1FN>, memref<?x?xf4E2M1FN>
  return
}

// -----

func.func @store_c4(%t: tensor<16x16xf32>, %z: memref<?x?xf64>, %i: index) {
  // expected-error @below {{expects memory of i8, i16, i32, i64, bf16, f16, f32, f8E4M3FN, f8E5M2, f8E8M0FNU or !tile.f4E2M1FNx2, but got 'f64'}}
  tile.store %t, %z[%i, %i] : tensor<16x16xf32>, memref<?x?xf64>
  return
}

// -----

func.func @store_c4(%t: tensor<16x16xi1>, %z: memref<?x?xi1>, %i: index) {
  // expected-error @below {{expects memory of i8}}
  tile.store %t, %z[%i, %i] : tensor<16x16xi1>, memref<?x?xi1>
  return
}

// -----

func.func @store_c4(%t: tensor<16x16xf32>, %z: memref<?x?xvector<4xf32>>, %i: index) {
  // expected-error @below {{expects memory of i8}}
  tile.store %t, %z[%i, %i] : tensor<16x16xf32>, memref<?x?xvector<4xf32>>
  return
}

// -----

func.func @store_c5(%t: tensor<16x16xf32>, %z: memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>, %i: index) {
  // expected-error @below {{expects memory with the identity or a 'strided' layout}}
  tile.store %t, %z[%i, %i] : tensor<16x16xf32>, memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>
  return
}

// -----

func.func @store_c6(%t: tensor<16x16xf32>, %z: memref<?x?xf32, 3>, %i: index) {
  // expected-error @below {{expects memory in the default memory space}}
  tile.store %t, %z[%i, %i] : tensor<16x16xf32>, memref<?x?xf32, 3>
  return
}

// -----

func.func @store_not_a_power_of_two(%t: tensor<16x48xf32>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{operand #0 must be tile (power-of-two extents, at most 2^20 elements) of i1, i8, i16, i32, i64, index, bf16, f16, f32, f8E4M3FN, f8E5M2, f8E8M0FNU, f4E2M1FN or !tile.f4E2M1FNx2, but got 'tensor<16x48xf32>'}}
  tile.store %t, %z[%i, %i] : tensor<16x48xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_dynamic(%t: tensor<?x16xf32>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{operand #0 must be tile}}
  tile.store %t, %z[%i, %i] : tensor<?x16xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_no_elements(%t: tensor<0x16xf32>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{operand #0 must be tile}}
  tile.store %t, %z[%i, %i] : tensor<0x16xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_too_large(%t: tensor<1024x2048xf32>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{operand #0 must be tile}}
  tile.store %t, %z[%i, %i] : tensor<1024x2048xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_product_overflows(%t: tensor<4294967296x4294967296xf32>, %z: memref<?x?xf32>, %i: index) {
  // expected-error @below {{operand #0 must be tile}}
  tile.store %t, %z[%i, %i] : tensor<4294967296x4294967296xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_element(%t: tensor<16x16xf64>, %z: memref<?x?xf64>, %i: index) {
  // expected-error @below {{operand #0 must be tile}}
  tile.store %t, %z[%i, %i] : tensor<16x16xf64>, memref<?x?xf64>
  return
}
