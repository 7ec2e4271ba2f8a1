// How many warps a block has: the kernel's attribute, else the option, else a
// choice by size.

// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_80 --tile-assign-layouts | FileCheck %s --check-prefix=CHOICE
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_80 --tile-assign-layouts=num-warps=8 | FileCheck %s --check-prefix=OPTION
// RUN: not tile-opt %s --tile-legalize-scaled-mma=target=sm_80 --tile-assign-layouts=num-warps=6 2>&1 | FileCheck %s --check-prefix=SIX
// SIX: error: expects num-warps to be a power of two from 1 to 32, but got 6
// RUN: not tile-opt %s --tile-legalize-scaled-mma=target=sm_80 --tile-assign-layouts=num-warps=64 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: expects num-warps to be a power of two from 1 to 32, but got 64

// One instruction is work for one warp; others would repeat it.
// CHOICE: func.func @one_instruction({{.*}}tile.num_warps = 1 : i32
// OPTION: func.func @one_instruction({{.*}}tile.num_warps = 8 : i32
func.func @one_instruction(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %r = tile.mmaf %a, %b, %c : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}

// A small tile still spreads over four warps, which an SM has units for.
// CHOICE: func.func @small_tile({{.*}}tile.num_warps = 4 : i32
func.func @small_tile(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<32x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x32xbf16>
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tile.mmaf %a, %b, %c : tensor<32x16xbf16>, tensor<16x32xbf16>, tensor<32x32xf32>
  return
}

// A large one gets a warp per 64 x 64, whose sums are half of a lane's registers.
// CHOICE: func.func @large_tile({{.*}}tile.num_warps = 8 : i32
func.func @large_tile(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<128x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x256xbf16>
  %c = arith.constant dense<0.0> : tensor<128x256xf32>
  %r = tile.mmaf %a, %b, %c : tensor<128x16xbf16>, tensor<16x256xbf16>, tensor<128x256xf32>
  return
}

// Without a multiply the largest tile decides, eight elements to a lane.
// CHOICE: func.func @no_multiply({{.*}}tile.num_warps = 4 : i32
// OPTION: func.func @no_multiply({{.*}}tile.num_warps = 8 : i32
func.func @no_multiply(%z: memref<1024xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %z[%c0] : memref<1024xf32> -> tensor<1024xf32>
  return
}

// What the kernel says wins over both.
// CHOICE: func.func @attribute({{.*}}tile.num_warps = 2 : i32
// OPTION: func.func @attribute({{.*}}tile.num_warps = 2 : i32
func.func @attribute(%z: memref<1024xf32>)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %z[%c0] : memref<1024xf32> -> tensor<1024xf32>
  return
}
