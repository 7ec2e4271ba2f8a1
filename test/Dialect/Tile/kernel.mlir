// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @every_attribute
// CHECK-SAME: memref<?x64xf16, strided<[?, 1]>> {tile.shape_divisible_by = array<i64: 16, 64>, tile.stride_divisible_by = array<i64: 8, 1>}
// CHECK-SAME: attributes {tile.group_programs = 4 : i32, tile.kernel, tile.mma_path = "expand", tile.num_stages = 3 : i32, tile.num_warps = 8 : i32}
func.func @every_attribute(%x: memref<?x64xf16, strided<[?, 1]>> {tile.shape_divisible_by = array<i64: 16, 64>, tile.stride_divisible_by = array<i64: 8, 1>})
    attributes {tile.kernel, tile.num_warps = 8 : i32, tile.num_stages = 3 : i32, tile.group_programs = 4 : i32, tile.mma_path = "expand"} {
  return
}

// CHECK-LABEL: func @every_argument
func.func @every_argument(%0: memref<?xi8>, %1: memref<?xi16>, %2: memref<?xi32>, %3: memref<?xi64>, %4: memref<?xbf16>, %5: memref<?xf16>, %6: memref<?xf32>,
    %7: memref<?xf8E4M3FN>, %8: memref<?xf8E5M2>, %9: memref<?xf8E8M0FNU>, %10: memref<?x!tile.f4E2M1FNx2>, %11: memref<?xf32, strided<[1]>>,
    %12: memref<?x?x32x4x4xf8E4M3FN, strided<[?, 512, 16, 4, 1]>>, %13: memref<f32>,
    %14: i1, %15: i8, %16: i16, %17: i32, %18: i64, %19: index, %20: bf16, %21: f16, %22: f32) attributes {tile.kernel} {
  return
}

// CHECK-LABEL: func @no_argument
func.func @no_argument() attributes {tile.kernel, tile.num_warps = 32 : i32, tile.num_stages = 8 : i32, tile.mma_path = "auto"} {
  return
}
