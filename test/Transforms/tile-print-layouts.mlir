// RUN: tile-opt %s --tile-print-layouts -o /dev/null | FileCheck %s
// RUN: tile-opt %s --tile-print-layouts -o %t.mlir > %t.tables
// RUN: tile-opt %s -o %t.plain.mlir && cmp %t.mlir %t.plain.mlir

#rows = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [0, 0]], warp = []>
#pairs = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>

// Each type once, however often it occurs; results, block arguments and values
// in regions alike. Lane 3 has row 1, columns 4 to 7, so the cell of (1, 6) is
// lane 3, register 2; lane 16 is a copy.
// CHECK-LABEL: tensor<8x8xf32,
// CHECK-NEXT: 8x8 tile: 1 warp, 32 lanes, 4 registers
// CHECK-NEXT: replicas: lane^16
// CHECK-NEXT: cell: lane:register
// CHECK-NEXT: {{^}}0 |  0:0  0:1  0:2  0:3  1:0  1:1  1:2  1:3{{$}}
// CHECK-NEXT: {{^}}1 |  2:0  2:1  2:2  2:3  3:0  3:1  3:2  3:3{{$}}
// CHECK: {{^}}7 | 14:0 14:1 14:2 14:3 15:0 15:1 15:2 15:3{{$}}
// CHECK-NOT: 8x8xf32
// CHECK-LABEL: tensor<64xi32,
// CHECK-NEXT: 64 tile: 2 warps, 32 lanes, 1 register
// CHECK-NOT: tensor<
func.func @layouts(%x: tensor<8x8xf32, #rows>, %b: i1) -> tensor<8x8xf32, #rows> {
  %r = scf.if %b -> tensor<8x8xf32, #rows> {
    %i = tile.iota : tensor<64xi32, #pairs>
    scf.yield %x : tensor<8x8xf32, #rows>
  } else {
    %y = arith.addf %x, %x : tensor<8x8xf32, #rows>
    scf.yield %y : tensor<8x8xf32, #rows>
  }
  return %r : tensor<8x8xf32, #rows>
}

// A tile without a layout has none to print.
func.func @undistributed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}
