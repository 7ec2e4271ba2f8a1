// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-DAG: #[[ACC:.*]] = #tile.layout<register = {{\[}}[0, 1], [8, 0]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-DAG: #[[REPLICATED:.*]] = #tile.layout<register = [], lane = {{\[}}[1], [2], [0], [0], [0]], warp = {{\[}}[0]]>
// CHECK-DAG: #[[WARPS:.*]] = #tile.layout<register = {{\[}}[0, 1]], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[}}[32, 0], [0, 2]]>
// CHECK-DAG: #[[SCALAR:.*]] = #tile.layout<register = [], lane = {{\[}}[], [], [], [], []], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#replicated = #tile.layout<register = [], lane = [[1], [2], [0], [0], [0]], warp = [[0]]>
#warps = #tile.layout<register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [0, 2]]>
#scalar = #tile.layout<register = [], lane = [[], [], [], [], []], warp = []>

// CHECK: func private @acc(tensor<16x8xf32, #[[ACC]]>)
func.func private @acc(tensor<16x8xf32, #acc>)
// CHECK: func private @replicated(tensor<4xi32, #[[REPLICATED]]>)
func.func private @replicated(tensor<4xi32, #replicated>)
// CHECK: func private @warps(tensor<64x4xf4E2M1FN, #[[WARPS]]>)
func.func private @warps(tensor<64x4xf4E2M1FN, #warps>)
// CHECK: func private @scalar(tensor<f32, #[[SCALAR]]>)
func.func private @scalar(tensor<f32, #scalar>)

// Upstream operations carry the encoding along.
// CHECK-LABEL: func @upstream
func.func @upstream(%x: tensor<16x8xf32, #acc>) -> tensor<16x8xf32, #acc> {
  // CHECK: arith.constant dense<1.500000e+00> : tensor<16x8xf32, #[[ACC]]>
  %c = arith.constant dense<1.5> : tensor<16x8xf32, #acc>
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<16x8xf32, #[[ACC]]>
  %0 = arith.addf %x, %c : tensor<16x8xf32, #acc>
  return %0 : tensor<16x8xf32, #acc>
}
