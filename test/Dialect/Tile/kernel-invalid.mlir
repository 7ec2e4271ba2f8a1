// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects 'tile.kernel' to be a unit attribute}}
func.func @kernel_c1() attributes {tile.kernel = 1 : i32} {
  return
}

// -----

func.func @kernel_c1() {
  // expected-error @below {{expects 'tile.kernel' on a 'func.func' only}}
  %0 = arith.constant {tile.kernel} 0 : index
  return
}

// -----

// expected-error @below {{expects a kernel to have a body}}
func.func private @kernel_c2(memref<?xf32>) attributes {tile.kernel}

// -----

// expected-error @below {{expects a kernel to have no results, but got 1}}
func.func @kernel_c3(%x: f32) -> f32 attributes {tile.kernel} {
  return %x : f32
}

// -----

// expected-error @below {{expects argument 1 of a kernel to be a memref, i1, i8, i16, i32, i64, index, bf16, f16 or f32, but got 'tensor<16xf32>'}}
func.func @kernel_c4(%x: memref<?xf32>, %t: tensor<16xf32>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{expects argument 0 of a kernel to be a memref, i1, i8, i16, i32, i64, index, bf16, f16 or f32, but got 'memref<*xf32>'}}
func.func @kernel_c4(%x: memref<*xf32>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{expects argument 0 of a kernel to be a memref, i1, i8, i16, i32, i64, index, bf16, f16 or f32, but got 'f8E4M3FN'}}
func.func @kernel_c4(%x: f8E4M3FN) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{but got 'i24'}}
func.func @kernel_c4(%x: i24) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{argument 0 expects memory without 'f4E2M1FN', which has no byte of its own}}
func.func @kernel_c5(%x: memref<?x?xf4E2M1FN>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{argument 0 expects memory in the default memory space, but got 'memref<?xf32, 1>'}}
func.func @kernel_c5(%x: memref<?xf32, 1>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{argument 0 expects memory with the identity or a 'strided' layout}}
func.func @kernel_c5(%x: memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>) attributes {tile.kernel} {
  return
}

// -----

// The calling convention passes no offset.
// expected-error @below {{argument 0 expects memory without an offset, but got 'memref<?xf32, strided<[1], offset: ?>>'}}
func.func @kernel_c5(%x: memref<?xf32, strided<[1], offset: ?>>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_warps' to be an i32 power of two from 1 to 32, but got 3 : i32}}
func.func @kernel_c6() attributes {tile.kernel, tile.num_warps = 3 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_warps' to be an i32 power of two from 1 to 32, but got 64 : i32}}
func.func @kernel_c6() attributes {tile.kernel, tile.num_warps = 64 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_warps' to be an i32 power of two from 1 to 32, but got 0 : i32}}
func.func @kernel_c6() attributes {tile.kernel, tile.num_warps = 0 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_warps' to be an i32 power of two from 1 to 32, but got -2147483648 : i32}}
func.func @kernel_c6() attributes {tile.kernel, tile.num_warps = -2147483648 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_warps' to be an i32 power of two from 1 to 32, but got 4 : i64}}
func.func @kernel_c6() attributes {tile.kernel, tile.num_warps = 4 : i64} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_warps' to be an i32 power of two from 1 to 32, but got}}
func.func @kernel_c6() attributes {tile.kernel, tile.num_warps = "4"} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_stages' to be an i32 from 1 to 8, but got 0 : i32}}
func.func @kernel_c7() attributes {tile.kernel, tile.num_stages = 0 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_stages' to be an i32 from 1 to 8, but got 9 : i32}}
func.func @kernel_c7() attributes {tile.kernel, tile.num_stages = 9 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_stages' to be an i32 from 1 to 8, but got unit}}
func.func @kernel_c7() attributes {tile.kernel, tile.num_stages} {
  return
}

// -----

// expected-error @below {{expects 'tile.mma_path' to be "auto", "native" or "expand", but got "fast"}}
func.func @kernel_c8() attributes {tile.kernel, tile.mma_path = "fast"} {
  return
}

// -----

// expected-error @below {{expects 'tile.mma_path' to be "auto", "native" or "expand", but got 1 : i32}}
func.func @kernel_c8() attributes {tile.kernel, tile.mma_path = 1 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_warps' beside 'tile.kernel' only}}
func.func @kernel_c9() attributes {tile.num_warps = 4 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.num_stages' beside 'tile.kernel' only}}
func.func @kernel_c9() attributes {tile.num_stages = 4 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.mma_path' beside 'tile.kernel' only}}
func.func @kernel_c9() attributes {tile.mma_path = "auto"} {
  return
}

// -----

// expected-error @below {{expects 'tile.shape_divisible_by' of argument 1 to be an array of 2 i64 of at least 1, but got array<i64: 16>}}
func.func @kernel_c10(%s: f32, %x: memref<?x?xf32> {tile.shape_divisible_by = array<i64: 16>}) {
  return
}

// -----

// expected-error @below {{expects 'tile.stride_divisible_by' of argument 0 to be an array of 2 i64 of at least 1, but got array<i64: 16, 0>}}
func.func @kernel_c10(%x: memref<?x?xf32> {tile.stride_divisible_by = array<i64: 16, 0>}) {
  return
}

// -----

// expected-error @below {{expects 'tile.stride_divisible_by' of argument 0 to be an array of 2 i64 of at least 1, but got [16, 16]}}
func.func @kernel_c10(%x: memref<?x?xf32> {tile.stride_divisible_by = [16, 16]}) {
  return
}

// -----

// expected-error @below {{expects 'tile.shape_divisible_by' on a memref argument, but argument 0 is not one}}
func.func @kernel_c10(%s: f32 {tile.shape_divisible_by = array<i64: 16>}) {
  return
}

// -----

// A declaration has no block, hence no block argument to ask.
// expected-error @below {{to be an array of 2 i64 of at least 1, but got array<i64: 16>}}
func.func private @kernel_c10(memref<?x?xf32> {tile.shape_divisible_by = array<i64: 16>})

// -----

// expected-error @below {{expects the extent 100 of dimension 1 of argument 0 to be divisible by 16 as 'tile.shape_divisible_by' says}}
func.func @kernel_c11(%x: memref<?x100xf32> {tile.shape_divisible_by = array<i64: 16, 16>}) {
  return
}

// -----

// expected-error @below {{expects the stride 24 of dimension 0 of argument 0 to be divisible by 16 as 'tile.stride_divisible_by' says}}
func.func @kernel_c11(%x: memref<?x?xf32, strided<[24, 1]>> {tile.stride_divisible_by = array<i64: 16, 1>}) {
  return
}

// -----

// expected-error @below {{has unknown attribute 'tile.kernal'}}
func.func @kernel_c12() attributes {tile.kernal} {
  return
}

// -----

// expected-error @below {{has unknown argument attribute 'tile.shape_divisible'}}
func.func @kernel_c12(%x: memref<?x?xf32> {tile.shape_divisible = array<i64: 16, 16>}) {
  return
}

// -----

// expected-error @below {{has unknown result attribute 'tile.foo'}}
func.func @kernel_c12() -> (f32 {tile.foo}) {
  %0 = arith.constant 0.0 : f32
  return %0 : f32
}

// -----

// ptxas would stumble over it.
// expected-error @below {{expects a kernel's name to be a letter, or '_' or '$' and one more, then letters, digits, '_' and '$', but got 'kernel_c13.dot'}}
func.func @kernel_c13.dot(%x: memref<32xf32>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{but got 'WARP_SZ'}}
func.func @WARP_SZ(%x: memref<32xf32>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{expects 'tile.group_programs' to be an i32 from 0 to 1024, but got -1 : i32}}
func.func @kernel_c14() attributes {tile.kernel, tile.group_programs = -1 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.group_programs' to be an i32 from 0 to 1024, but got 1025 : i32}}
func.func @kernel_c14() attributes {tile.kernel, tile.group_programs = 1025 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.group_programs' beside 'tile.kernel' only}}
func.func @kernel_c9() attributes {tile.group_programs = 8 : i32} {
  return
}

// -----

// expected-error @below {{expects 'tile.extents' of argument 0 to be an array of 2 strings, but got ["M"]}}
func.func @kernel_c15(%x: memref<?x?xf32> {tile.extents = ["M"]}) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{expects 'tile.extents' of argument 0 to hold names, names divided by an integer such as "K/16", integers and empty strings, but got "K/0"}}
func.func @kernel_c15(%x: memref<?x?xf32> {tile.extents = ["M", "K/0"]}) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{expects 'tile.extents' on a memref argument, but argument 1 is not one}}
func.func @kernel_c10(%x: memref<?x?xf32>, %n: index {tile.extents = ["M"]}) attributes {tile.kernel} {
  return
}
