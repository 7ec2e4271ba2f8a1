// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-assign-layouts

// A tile that would spill entirely is refused, with the number of its words and
// of the warps that share it; the back end would take minutes.
func.func @too_large(%x: memref<?x?xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.load' op expects a tile of at most 1024 32-bit words per lane, but got 4096 with 1 warp}}
  %t = tile.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<256x512xf32>
  return
}

// -----

// The same tile over more warps is fine, and so are packed elements.
func.func @large_enough_block(%x: memref<?x?xf32>, %y: memref<?x?xi8>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<256x512xf32>
  %u = tile.load %y[%c0, %c0] : memref<?x?xi8> -> tensor<512x1024xi8>
  return
}

// -----

// Nothing is assumed about a multiply that was not decided.
func.func @not_legalized(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // expected-error @below {{'tile.mmaf' op expects an 'atom' of the instruction table; run tile-legalize-scaled-mma first}}
  %r = tile.mmaf %a, %b, %c : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @unknown_atom(%z: memref<16x8xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // expected-error @below {{expects an 'atom' of the instruction table}}
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k8.tf32", path = "native"}
     : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @tensor_memory(%z: memref<128x16xf32>) attributes {tile.kernel} {
  %a = arith.constant dense<1.0> : tensor<128x16xbf16>
  %b = arith.constant dense<1.0> : tensor<16x16xbf16>
  %c = arith.constant dense<0.0> : tensor<128x16xf32>
  // expected-error @below {{expects an instruction that warps issue, but got 'm128n256k16.tcgen05.f16.bf16.bf16'}}
  %r = tile.mmaf %a, %b, %c {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"}
     : tensor<128x16xbf16>, tensor<16x16xbf16>, tensor<128x16xf32>
  return
}
