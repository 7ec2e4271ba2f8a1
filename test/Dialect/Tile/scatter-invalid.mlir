// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @scatter_c1(%x: memref<?x?xf32>, %t: tensor<16x64xbf16>, %i0: tensor<16x1xi32>, %i1: tensor<1x64xi32>) {
  // expected-error @below {{expects a tile of 'f32' as in memory, but got 'bf16'}}
  tile.scatter %t, %x[%i0, %i1] : tensor<16x64xbf16>, memref<?x?xf32>, tensor<16x1xi32>, tensor<1x64xi32>
  return
}

// -----

func.func @scatter_c2(%x: memref<?x?xf32>, %t: tensor<16x64xf32>, %i0: tensor<16x1xi32>) {
  // expected-error @below {{expects 2 index tiles for 'memref<?x?xf32>', but got 1}}
  tile.scatter %t, %x[%i0] : tensor<16x64xf32>, memref<?x?xf32>, tensor<16x1xi32>
  return
}

// -----

func.func @scatter_c3(%x: memref<?x?xf32>, %t: tensor<16x64xf32>, %i0: tensor<16x1xi32>, %i1: tensor<1x32xi32>) {
  // expected-error @below {{expects index tile 1 to have extents of 1 or those of 16x64, but got 'tensor<1x32xi32>'}}
  tile.scatter %t, %x[%i0, %i1] : tensor<16x64xf32>, memref<?x?xf32>, tensor<16x1xi32>, tensor<1x32xi32>
  return
}

// -----

func.func @scatter_c3(%x: memref<?x?xf32>, %t: tensor<16x64xf32>, %i0: tensor<16xi32>, %i1: tensor<1x64xi32>) {
  // expected-error @below {{expects index tile 0 to have extents of 1 or those of 16x64, but got 'tensor<16xi32>'}}
  tile.scatter %t, %x[%i0, %i1] : tensor<16x64xf32>, memref<?x?xf32>, tensor<16xi32>, tensor<1x64xi32>
  return
}

// -----

func.func @scatter_c4(%x: memref<?x?xf4E2M1FN>, %t: tensor<16x64xf4E2M1FN>, %i0: tensor<16x1xi32>, %i1: tensor<1x64xi32>) {
  // expected-error @below {{expects memory without 'f4E2M1FN'}}
  tile.scatter %t, %x[%i0, %i1] : tensor<16x64xf4E2M1FN>, memref<?x?xf4E2M1FN>, tensor<16x1xi32>, tensor<1x64xi32>
  return
}

// -----

func.func @scatter_c5(%x: memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>, %t: tensor<16x64xf32>, %i0: tensor<16x1xi32>, %i1: tensor<1x64xi32>) {
  // expected-error @below {{expects memory with the identity or a 'strided' layout}}
  tile.scatter %t, %x[%i0, %i1] : tensor<16x64xf32>, memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>, tensor<16x1xi32>, tensor<1x64xi32>
  return
}

// -----

func.func @scatter_c6(%x: memref<?x?xf32, 1>, %t: tensor<16x64xf32>, %i0: tensor<16x1xi32>, %i1: tensor<1x64xi32>) {
  // expected-error @below {{expects memory in the default memory space}}
  tile.scatter %t, %x[%i0, %i1] : tensor<16x64xf32>, memref<?x?xf32, 1>, tensor<16x1xi32>, tensor<1x64xi32>
  return
}

// -----

// A mask does not repeat.
func.func @scatter_c7(%x: memref<?x?xf32>, %t: tensor<16x64xf32>, %i0: tensor<16x1xi32>, %i1: tensor<1x64xi32>, %p: tensor<16x1xi1>) {
  // expected-error @below {{expects a mask of shape 16x64, but got 'tensor<16x1xi1>'}}
  tile.scatter %t, %x[%i0, %i1] mask %p : tensor<16x64xf32>, memref<?x?xf32>, tensor<16x1xi32>, tensor<1x64xi32>, tensor<16x1xi1>
  return
}

// -----

func.func @scatter_mask_type(%x: memref<?x?xf32>, %t: tensor<16x64xf32>, %i0: tensor<16x1xi32>, %i1: tensor<1x64xi32>, %p: tensor<16x64xi8>) {
  // expected-error @below {{must be tile (power-of-two extents, at most 2^20 elements) of 1-bit signless integer}}
  tile.scatter %t, %x[%i0, %i1] mask %p : tensor<16x64xf32>, memref<?x?xf32>, tensor<16x1xi32>, tensor<1x64xi32>, tensor<16x64xi8>
  return
}

// -----

func.func @scatter_index_type(%x: memref<?xf32>, %t: tensor<16xf32>, %i0: tensor<16xi16>) {
  // expected-error @below {{must be variadic of tile (power-of-two extents, at most 2^20 elements) of 32-bit signless integer or 64-bit signless integer or index, but got 'tensor<16xi16>'}}
  tile.scatter %t, %x[%i0] : tensor<16xf32>, memref<?xf32>, tensor<16xi16>
  return
}
