// RUN: tile-opt %s --split-input-file --verify-diagnostics

#a = #tile.layout<register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [2, 0]], warp = []>

func.func @convert_layout_c1(%x: tensor<4x16xf32, #a>) {
  // expected-error @below {{expects one shape and one element type, but got 'tensor<4x16xf32, #tile.layout<}}
  %0 = tile.convert_layout %x : tensor<4x16xf32, #a> -> tensor<16x4xf32>
  return
}

// -----

#a = #tile.layout<register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [2, 0]], warp = []>

func.func @convert_layout_c1(%x: tensor<4x16xf32, #a>) {
  // expected-error @below {{expects one shape and one element type}}
  %0 = tile.convert_layout %x : tensor<4x16xf32, #a> -> tensor<4x16xbf16, #a>
  return
}

// -----

#a = #tile.layout<register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [2, 0]], warp = []>

func.func @convert_layout_c2(%x: tensor<4x16xf32, #a>) {
  // expected-error @below {{expects tiles with a '#tile.layout' encoding, but got 'tensor<4x16xf32>'}}
  %0 = tile.convert_layout %x : tensor<4x16xf32, #a> -> tensor<4x16xf32>
  return
}

// -----

#a = #tile.layout<register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [2, 0]], warp = []>

func.func @convert_layout_c2(%x: tensor<4x16xf32, "blocked">) {
  // expected-error @below {{expects tiles with a '#tile.layout' encoding, but got 'tensor<4x16xf32, "blocked">'}}
  %0 = tile.convert_layout %x : tensor<4x16xf32, "blocked"> -> tensor<4x16xf32, #a>
  return
}
