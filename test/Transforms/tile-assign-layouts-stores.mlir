// RUN: tile-opt %s --split-input-file --tile-assign-layouts | FileCheck %s

// In which layout tiles are stored. [row, column] is by how much a register,
// lane or warp bit moves.

// A lane has two bf16 of a row, four lanes make 16 bytes, half a sector of 32:
// rows are put together, 16 bytes in a lane.
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[ROWS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}0, 1], [0, 2], [0, 4], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-LABEL: func.func @half_sectors(
func.func @half_sectors(%z: memref<?x64xbf16>, %p: memref<16x16xbf16>, %q: memref<16x32xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %p[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16>
  %b = tile.load %q[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.mmaf %a, %b, %zero {atom = "m16n8k16.bf16.bf16"} : tensor<16x16xbf16>, tensor<16x32xbf16>, tensor<16x32xf32>
  %t = arith.truncf %s : tensor<16x32xf32> to tensor<16x32xbf16>
  // CHECK: %[[T:.*]] = arith.truncf {{.*}} to tensor<16x32xbf16, #[[ACC]]>
  // CHECK: %[[R:.*]] = tile.convert_layout %[[T]] : {{.*}} -> tensor<16x32xbf16, #[[ROWS]]>
  // CHECK: tile.store %[[R]]
  tile.store %t, %z[%c0, %c0] : tensor<16x32xbf16>, memref<?x64xbf16>
  return
}

// -----

// Two f32 and four lanes are a sector.
// CHECK-LABEL: func.func @sectors(
// CHECK: %[[S:.*]] = tile.mmaf
// CHECK-NEXT: tile.store %[[S]]
func.func @sectors(%z: memref<?x64xf32>, %p: memref<16x16xbf16>, %q: memref<16x32xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %p[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16>
  %b = tile.load %q[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.mmaf %a, %b, %zero {atom = "m16n8k16.bf16.bf16"} : tensor<16x16xbf16>, tensor<16x32xbf16>, tensor<16x32xf32>
  tile.store %s, %z[%c0, %c0] : tensor<16x32xf32>, memref<?x64xf32>
  return
}

// -----

// Nothing is known of the rows: each element is stored alone anyway.
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[T:.*]] = arith.truncf
// CHECK-NEXT: tile.store %[[T]]
func.func @unknown(%z: memref<?x?xbf16>, %p: memref<16x16xbf16>, %q: memref<16x32xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %p[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16>
  %b = tile.load %q[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.mmaf %a, %b, %zero {atom = "m16n8k16.bf16.bf16"} : tensor<16x16xbf16>, tensor<16x32xbf16>, tensor<16x32xf32>
  %t = arith.truncf %s : tensor<16x32xf32> to tensor<16x32xbf16>
  tile.store %t, %z[%c0, %c0] : tensor<16x32xbf16>, memref<?x?xbf16>
  return
}

// -----

// Not in a loop, where moving them would cost in every iteration.
// CHECK-LABEL: func.func @in_loop(
// CHECK: %[[T:.*]] = arith.truncf
// CHECK-NEXT: tile.store %[[T]]
func.func @in_loop(%z: memref<?x64xbf16>, %p: memref<16x16xbf16>, %q: memref<16x32xbf16>, %n: index) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %p[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16>
  %b = tile.load %q[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.mmaf %a, %b, %zero {atom = "m16n8k16.bf16.bf16"} : tensor<16x16xbf16>, tensor<16x32xbf16>, tensor<16x32xf32>
    %t = arith.truncf %s : tensor<16x32xf32> to tensor<16x32xbf16>
    tile.store %t, %z[%i, %c0] : tensor<16x32xbf16>, memref<?x64xbf16>
  }
  return
}

// -----

// Columns that lie side by side in memory are what is put together.
// CHECK-DAG: #[[COLUMNS:layout[0-9]*]] = #tile.layout<register = {{\[\[}}1, 0], [2, 0], [4, 0], [0, 16]], lane = {{\[\[}}8, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []>
// CHECK-LABEL: func.func @columns(
func.func @columns(%z: memref<16x?xbf16, strided<[1, 16]>>, %p: memref<16x16xbf16>, %q: memref<16x32xbf16>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %p[%c0, %c0] : memref<16x16xbf16> -> tensor<16x16xbf16>
  %b = tile.load %q[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.mmaf %a, %b, %zero {atom = "m16n8k16.bf16.bf16"} : tensor<16x16xbf16>, tensor<16x32xbf16>, tensor<16x32xf32>
  %t = arith.truncf %s : tensor<16x32xf32> to tensor<16x32xbf16>
  // CHECK: %[[R:.*]] = tile.convert_layout {{.*}} -> tensor<16x32xbf16, #[[COLUMNS]]>
  // CHECK: tile.store %[[R]]
  tile.store %t, %z[%c0, %c0] : tensor<16x32xbf16>, memref<16x?xbf16, strided<[1, 16]>>
  return
}
