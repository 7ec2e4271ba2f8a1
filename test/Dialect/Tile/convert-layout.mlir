// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

#rows = #tile.layout<register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [2, 0]], warp = []>
#columns = #tile.layout<register = [[0, 8]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = []>

// CHECK-LABEL: func @convert
func.func @convert(%t: tensor<4x16xf32, #rows>) -> tensor<4x16xf32, #columns> {
  // CHECK: tile.convert_layout %{{.*}} : tensor<4x16xf32, #layout> -> tensor<4x16xf32, #layout1>
  %u = tile.convert_layout %t : tensor<4x16xf32, #rows> -> tensor<4x16xf32, #columns>
  return %u : tensor<4x16xf32, #columns>
}
