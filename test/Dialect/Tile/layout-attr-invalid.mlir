// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects 2 coordinates per bit as in the bits before, but got 1}}
func.func private @layout_c1(tensor<16x8xf32, #tile.layout<register = [[0, 1], [8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects 5 lane bits, but got 4}}
func.func private @layout_c2(tensor<16x8xf32, #tile.layout<register = [[0, 1], [8, 0], [4, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0]], warp = []>>)

// -----

// expected-error @below {{expects at most 5 warp bits, but got 6}}
func.func private @layout_c3(tensor<16x8xf32, #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]]>>)

// -----

// expected-error @below {{expects at most 20 register bits, but got 21}}
func.func private @layout_c3(tensor<16x8xf32, #tile.layout<register = [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects coordinates from 0 to 2^30, but got -1}}
func.func private @layout_c4(tensor<16x8xf32, #tile.layout<register = [[0, -1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects coordinates from 0 to 2^30, but got 4294967297}}
func.func private @layout_c4(tensor<16x8xf32, #tile.layout<register = [[0, 4294967297], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects static power-of-two extents under a '#tile.layout'}}
func.func private @layout_c5(tensor<16x6xf32, #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects static power-of-two extents under a '#tile.layout'}}
func.func private @layout_c5(tensor<?x8xf32, #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects at most 2^20 elements under a '#tile.layout'}}
func.func private @layout_c5(tensor<4611686018427387904x8xf32, #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects a layout of rank 1, but got rank 2}}
func.func private @layout_c6(tensor<128xf32, #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects layout coordinates below 8 in dimension 0, but got 8}}
func.func private @layout_c7(tensor<8x8xf32, #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// expected-error @below {{expects a layout that covers the whole tile}}
func.func private @layout_c8(tensor<16x8xf32, #tile.layout<register = [[0, 1], [4, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>)

// -----

// A layout of a tensor inside an upstream operation is checked as well.
func.func @layout_c8() {
  // expected-error @below {{expects a layout that covers the whole tile}}
  %0 = arith.constant dense<0.0> : tensor<32x8xf32, #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
  return
}
