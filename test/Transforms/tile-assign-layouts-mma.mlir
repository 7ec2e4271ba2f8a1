// RUN: tile-opt %s --split-input-file --tile-assign-layouts | FileCheck %s

// Layouts are compared as tables of basis vectors: [row, column] by which each
// register, lane and warp bit moves. docs/layouts.md explains them.

//===----------------------------------------------------------------------===//
// Multiplies dictate the layouts of their operands
//===----------------------------------------------------------------------===//

// The instruction's own fragments (PTX ISA, m16n8k64): four lanes hold eight
// consecutive values of K each, and the two halves of 64 are registers. A lane
// supplies the scales of row lane / 4, of row + 8 where its bit 0 is set; the
// scales of B come from any of the four. Anything else would feed an instruction
// with other rows' values.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 32], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [4, 0], [32, 0]], lane = {{\[\[}}8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SA:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SB:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0]], lane = {{\[\[}}0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: func.func @native(
func.func @native(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x64xf4E2M1FN>
  %b = arith.constant dense<1.0> : tensor<64x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sa = arith.constant dense<1.0> : tensor<16x4xf8E4M3FN>
  %sb = arith.constant dense<1.0> : tensor<4x8xf8E4M3FN>
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x64xf4E2M1FN, #[[LHS]]>, tensor<64x8xf4E2M1FN, #[[RHS]]>, tensor<16x8xf32, #[[ACC]]>, tensor<16x4xf8E4M3FN, #[[SA]]>, tensor<4x8xf8E4M3FN, #[[SB]]>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3", path = "native"}
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

// Issued twice, the instruction over 32 values still needs all four scales of 64
// values in one lane: each issue takes every other one of them.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 32], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [4, 0], [32, 0]], lane = {{\[\[}}8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-DAG: #[[SA:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SB:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0]], lane = {{\[\[}}0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: func.func @native_twice(
func.func @native_twice(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x64xf4E2M1FN>
  %b = arith.constant dense<1.0> : tensor<64x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sa = arith.constant dense<1.0> : tensor<16x4xf8E8M0FNU>
  %sb = arith.constant dense<1.0> : tensor<4x8xf8E8M0FNU>
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x64xf4E2M1FN, #[[LHS]]>, tensor<64x8xf4E2M1FN, #[[RHS]]>, {{.*}}, tensor<16x4xf8E8M0FNU, #[[SA]]>, tensor<4x8xf8E8M0FNU, #[[SB]]>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0", path = "native"}
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E8M0FNU>, tensor<4x8xf8E8M0FNU>
  return
}

// -----

// FP8 by FP4: both sides have the instruction's own order of K, four values of
// each 16. If they did not agree, K would be mixed up.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 16], [8, 0]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [16, 0]], lane = {{\[\[}}4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-DAG: #[[SA:layout[0-9]*]] = #tile.layout<register = [], lane = {{\[\[}}8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SB:layout[0-9]*]] = #tile.layout<register = [], lane = {{\[\[}}0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: func.func @containers(
func.func @containers(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<32x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sa = arith.constant dense<1.0> : tensor<16x1xf8E8M0FNU>
  %sb = arith.constant dense<1.0> : tensor<1x8xf8E8M0FNU>
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x32xf8E4M3FN, #[[LHS]]>, tensor<32x8xf4E2M1FN, #[[RHS]]>, {{.*}}, tensor<16x1xf8E8M0FNU, #[[SA]]>, tensor<1x8xf8E8M0FNU, #[[SB]]>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k32.mxf8f6f4.1x.e4m3.e2m1.ue8m0", path = "native"}
     : tensor<16x32xf8E4M3FN>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x1xf8E8M0FNU>, tensor<1x8xf8E8M0FNU>
  return
}

// -----

// Scales of many tiles: of B, the lanes that an instruction does not read have
// those of the next three tiles of N; two tiles leave one lane bit a copy. Of A,
// every tile has a register.
// CHECK-DAG: #[[SA:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [16, 0], [32, 0]], lane = {{\[\[}}8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SB:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0]], lane = {{\[\[}}0, 8], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: func.func @tiles_in_lanes(
func.func @tiles_in_lanes(%z: memref<64x16xf32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<64x64xf4E2M1FN>
  %b = arith.constant dense<1.0> : tensor<64x16xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<64x16xf32>
  %sa = arith.constant dense<1.0> : tensor<64x2xf8E8M0FNU>
  %sb = arith.constant dense<1.0> : tensor<2x16xf8E8M0FNU>
  // CHECK: tile.mmaf_scaled {{.*}}, tensor<64x2xf8E8M0FNU, #[[SA]]>, tensor<2x16xf8E8M0FNU, #[[SB]]>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0", path = "native"}
     : tensor<64x64xf4E2M1FN>, tensor<64x16xf4E2M1FN>, tensor<64x16xf32>,
       tensor<64x2xf8E8M0FNU>, tensor<2x16xf8E8M0FNU>
  return
}

// -----

// Expanded, a scale stands in the lane that decodes its values: K / 16 follows
// the lane bit of K = 16 and the register bit of K = 32. A scale in another lane
// would cost a shuffle for every word.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 32], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [4, 0], [32, 0]], lane = {{\[\[}}8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SA:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 2], [8, 0]], lane = {{\[\[}}0, 0], [0, 1], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SB:layout[0-9]*]] = #tile.layout<register = {{\[\[}}2, 0]], lane = {{\[\[}}0, 0], [1, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: func.func @scales_on_operands(
func.func @scales_on_operands(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x64xf4E2M1FN>
  %b = arith.constant dense<1.0> : tensor<64x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sa = arith.constant dense<1.0> : tensor<16x4xf8E4M3FN>
  %sb = arith.constant dense<1.0> : tensor<4x8xf8E4M3FN>
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x64xf4E2M1FN, #[[LHS]]>, tensor<64x8xf4E2M1FN, #[[RHS]]>, tensor<16x8xf32, #[[ACC]]>, tensor<16x4xf8E4M3FN, #[[SA]]>, tensor<4x8xf8E4M3FN, #[[SB]]>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// -----

// Where both operands are FP8 a lane has a word of each 16 values, as `ldmatrix`
// gives it: registers of K = 1, 2 and 16. Eight values in a row would be loads of
// eight bytes.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 16], [0, 32], [8, 0]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [16, 0], [32, 0]], lane = {{\[\[}}4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-DAG: #[[SA:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SB:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0]], lane = {{\[\[}}0, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: func.func @words_of_fp8(
func.func @words_of_fp8(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x64xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<64x8xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sa = arith.constant dense<1.0> : tensor<16x2xf8E8M0FNU>
  %sb = arith.constant dense<1.0> : tensor<2x8xf8E8M0FNU>
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x64xf8E4M3FN, #[[LHS]]>, tensor<64x8xf8E5M2, #[[RHS]]>, tensor<16x8xf32, #{{.*}}>, tensor<16x2xf8E8M0FNU, #[[SA]]>, tensor<2x8xf8E8M0FNU, #[[SB]]>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E5M2>, tensor<16x8xf32>,
       tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return
}

// -----

// Beside FP4 it has eight values in a row, as FP4 does.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [4, 0]], lane = {{\[\[}}8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-LABEL: func.func @fp8_beside_fp4(
func.func @fp8_beside_fp4(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<32x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x32xf8E4M3FN, #[[LHS]]>, tensor<32x8xf4E2M1FN, #[[RHS]]>
  %sa = arith.constant dense<1.0> : tensor<16x1xf8E8M0FNU>
  %sb = arith.constant dense<1.0> : tensor<1x8xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k16.bf16.bf16", path = "expand"}
     : tensor<16x32xf8E4M3FN>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x1xf8E8M0FNU>, tensor<1x8xf8E8M0FNU>
  return
}

// -----

// Scales that are multiplied into sums stand beside the accumulators: columns 2t
// and 2t + 1 of lane t. Those of the operand's lanes are other columns.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [4, 0]], lane = {{\[\[}}8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = []>
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[SB:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1]], lane = {{\[\[}}0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], warp = []>
// CHECK-LABEL: func.func @scales_on_sums(
func.func @scales_on_sums(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x32xf16>
  %b = arith.constant dense<1.0> : tensor<32x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sb = arith.constant dense<1.0> : tensor<1x8xf8E8M0FNU>
  // CHECK: tile.mmaf_scaled {{.*}} : tensor<16x32xf16, #[[LHS]]>, tensor<32x8xf4E2M1FN, #[[RHS]]>, tensor<16x8xf32, #[[ACC]]>, tensor<1x8xf8E8M0FNU, #[[SB]]>
  %r = tile.mmaf_scaled %a, %b, %c, %sb
       {atom = "m16n8k16.f16.f16", path = "expand"}
     : tensor<16x32xf16>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<1x8xf8E8M0FNU>
  return
}

// -----

// Four warps share 32 x 16: two by rows, two by columns, and each operand is
// replicated over the warps that share it. Warps with the same part would do the
// same work.
// CHECK-DAG: #[[LHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 8], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [0, 0]]>
// CHECK-DAG: #[[RHS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [8, 0]], lane = {{\[\[}}2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = {{\[\[}}0, 0], [0, 8]]>
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [0, 8]]>
// CHECK-LABEL: func.func @warps_divide_the_tile(
func.func @warps_divide_the_tile(%z: memref<16x8xf32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %a = arith.constant dense<1.0> : tensor<32x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x16xbf16>
  %c = arith.constant dense<0.0> : tensor<32x16xf32>
  // CHECK: tile.mmaf {{.*}} : tensor<32x16xbf16, #[[LHS]]>, tensor<16x16xbf16, #[[RHS]]>, tensor<32x16xf32, #[[ACC]]>
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k16.bf16.bf16", path = "native"}
     : tensor<32x16xbf16>, tensor<16x16xbf16>, tensor<32x16xf32>
  return
}

// -----

// A batch goes to another warp before a matrix is divided: its operands are then
// nobody else's.
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 0, 1], [0, 8, 0]], lane = {{\[\[}}0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = {{\[\[}}1, 0, 0]]>
// CHECK-LABEL: func.func @batches(
func.func @batches(%z: memref<16x8xf32>)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %a = arith.constant dense<1.0> : tensor<2x16x16xbf16>
  %b = arith.constant dense<1.0> : tensor<2x16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<2x16x8xf32>
  // CHECK: tile.mmaf {{.*}}, tensor<2x16x8xf32, #[[ACC]]>
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k16.bf16.bf16", path = "native"}
     : tensor<2x16x16xbf16>, tensor<2x16x8xbf16>, tensor<2x16x8xf32>
  return
}
