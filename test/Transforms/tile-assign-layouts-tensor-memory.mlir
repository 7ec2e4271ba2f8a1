// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-assign-layouts=num-warps=8 | FileCheck %s

// A lane has a row and the upper four warps the upper columns. What is computed
// with the sums follows, constants included.
// CHECK: #[[SUMS:.*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[\[}}32, 0], [64, 0], [0, 16]]>
// CHECK-LABEL: func.func @load(
// CHECK: arith.constant dense<2.000000e+00> : tensor<128x32xf32, #[[SUMS]]>
// CHECK: tile.load_tensor_memory %{{.*}} -> tensor<128x32xf32, #[[SUMS]]>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<128x32xf32, #[[SUMS]]>
// CHECK: tile.store_tensor_memory %{{.*}} to %{{.*}} : tensor<128x32xf32, #[[SUMS]]>
func.func @load() attributes {tile.kernel} {
  %two = arith.constant dense<2.0> : tensor<128x32xf32>
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x32xf32>
  %t = tile.load_tensor_memory %acc : !tile.tensor_memory<1x128x32xf32> -> tensor<128x32xf32>
  %d = arith.mulf %two, %t : tensor<128x32xf32>
  tile.store_tensor_memory %d to %acc : tensor<128x32xf32>, !tile.tensor_memory<1x128x32xf32>
  return
}

// -----

// Blocks of rows follow the columns, and batches the rows.
// CHECK: #[[SUMS:.*]] = #tile.layout<register = {{\[\[}}0, 0, 1], [0, 0, 2], [0, 128, 0], [1, 0, 0]], lane = {{\[\[}}0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0]], warp = {{\[\[}}0, 32, 0], [0, 64, 0], [0, 0, 4]]>
// CHECK-LABEL: func.func @batches(
// CHECK: tile.load_tensor_memory %{{.*}} -> tensor<2x256x8xf32, #[[SUMS]]>
func.func @batches() attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x2x256x8xf32>
  %t = tile.load_tensor_memory %acc : !tile.tensor_memory<1x2x256x8xf32> -> tensor<2x256x8xf32>
  return
}

// -----

// Fewer than 128 rows are spread over the block.
// CHECK: #[[ROWS:.*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}8, 0], [16, 0], [32, 0]]>
// CHECK-LABEL: func.func @few_rows(
// CHECK: tile.load_tensor_memory %{{.*}} -> tensor<64x16xf32, #[[ROWS]]>
func.func @few_rows() attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x16xf32>
  %t = tile.load_tensor_memory %acc : !tile.tensor_memory<1x128x16xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @few_warps() attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x16xf32>
  // expected-error @below {{expects at least four warps, but got 2}}
  %t = tile.load_tensor_memory %acc : !tile.tensor_memory<1x128x16xf32> -> tensor<128x16xf32>
  return
}
