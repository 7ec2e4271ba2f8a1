// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @load_c1(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a tile of 'f32' as in memory, but got 'bf16'}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<16x16xbf16>
  return
}

// -----

// A byte that holds a pair and a value of a pair are different types.
func.func @load_c1(%x: memref<?x?x!tile.f4E2M1FNx2>, %i: index) {
  // expected-error @below {{expects a tile of '!tile.f4E2M1FNx2' as in memory, but got 'f4E2M1FN'; 'tile.unpack' and 'tile.pack' convert between them}}
  %0 = tile.load %x[%i, %i] : memref<?x?x!tile.f4E2M1FNx2> -> tensor<16x16xf4E2M1FN>
  return
}

// -----

func.func @load_c2(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects 2 indices for 'memref<?x?xf32>', but got 1}}
  %0 = tile.load %x[%i] : memref<?x?xf32> -> tensor<16x16xf32>
  return
}

// -----

func.func @load_c3(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a tile of rank 2 as in memory, but got 'tensor<16xf32>'}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<16xf32>
  return
}

// -----

func.func @load_c4(%x: memref<?x?xf4E2M1FN>, %i: index) {
  // expected-error @below {{expects memory without 'f4E2M1FN', which has no byte of its own; use '!tile.f4E2M1FNx2' or 'i8' and 'tile.unpack'}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf4E2M1FN> -> tensor<16x16xf4E2M1FN>
  return
}

// -----

func.func @load_c4(%x: memref<?x?xf64>, %i: index) {
  // expected-error @below {{expects memory of i8, i16, i32, i64, bf16, f16, f32, f8E4M3FN, f8E5M2, f8E8M0FNU or !tile.f4E2M1FNx2, but got 'f64'}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf64> -> tensor<16x16xf32>
  return
}

// -----

func.func @load_c4(%x: memref<?x?xi1>, %i: index) {
  // expected-error @below {{expects memory of i8}}
  %0 = tile.load %x[%i, %i] : memref<?x?xi1> -> tensor<16x16xi1>
  return
}

// -----

func.func @load_c4(%x: memref<?x?xvector<4xf32>>, %i: index) {
  // expected-error @below {{expects memory of i8}}
  %0 = tile.load %x[%i, %i] : memref<?x?xvector<4xf32>> -> tensor<16x16xf32>
  return
}

// -----

func.func @load_c5(%x: memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>, %i: index) {
  // expected-error @below {{expects memory with the identity or a 'strided' layout}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>> -> tensor<16x16xf32>
  return
}

// -----

func.func @load_c6(%x: memref<?x?xf32, 3>, %i: index) {
  // expected-error @below {{expects memory in the default memory space}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32, 3> -> tensor<16x16xf32>
  return
}

// -----

func.func @load_not_a_power_of_two(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{result #0 must be tile (power-of-two extents, at most 2^20 elements) of i1, i8, i16, i32, i64, index, bf16, f16, f32, f8E4M3FN, f8E5M2, f8E8M0FNU, f4E2M1FN or !tile.f4E2M1FNx2, but got 'tensor<16x48xf32>'}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<16x48xf32>
  return
}

// -----

func.func @load_dynamic(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @load_no_elements(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<0x16xf32>
  return
}

// -----

func.func @load_too_large(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<1024x2048xf32>
  return
}

// -----

func.func @load_product_overflows(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @load_element(%x: memref<?x?xf64>, %i: index) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.load %x[%i, %i] : memref<?x?xf64> -> tensor<16x16xf64>
  return
}
