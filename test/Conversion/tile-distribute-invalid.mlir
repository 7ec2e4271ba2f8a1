// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-distribute=target=sm_80

// The stage before has not run: the first tile without a layout is named.
func.func @no_layout(%x: memref<32xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.load' op expects a result with a #tile.layout, but got 'tensor<32xf32>'; run tile-assign-layouts first}}
  %t = tile.load %x[%c0] : memref<32xf32> -> tensor<32xf32>
  return
}

// -----

// expected-error @below {{'func.func' op expects 'tile.num_warps'; run tile-assign-layouts first}}
func.func @no_warps(%x: memref<32xf32>) attributes {tile.kernel} {
  return
}

// -----

// Operands that some other pass moved are refused, not multiplied as if they
// were in place.
#rows = #tile.layout<register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
#rhs = #tile.layout<register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [0, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#acc = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @operand_elsewhere(%x: memref<32xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xbf16, #rows>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16, #rhs>
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  // expected-error @below {{'tile.mmaf' op expects operands in the layouts of its instruction; run tile-assign-layouts first}}
  %r = tile.mmaf %a, %b, %c {atom = "m16n8k16.bf16.bf16", path = "native"}
     : tensor<16x16xbf16, #rows>, tensor<16x8xbf16, #rhs>, tensor<16x8xf32, #acc>
  return
}

// -----

// A memref that goes round a loop has no one base pointer.
func.func @carried_memref(%x: memref<32xf32>, %n: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op expects loops and branches to carry tiles and scalars, but got 'memref<32xf32>'}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (memref<32xf32>) {
    scf.yield %y : memref<32xf32>
  }
  return
}

// -----

func.func @dynamic_dimension(%x: memref<?x?xf32>, %i: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  // expected-error @below {{'memref.dim' op expects a constant dimension of a kernel argument or a view}}
  %n = memref.dim %x, %i : memref<?x?xf32>
  return
}

// -----

func.func @steps(%x: memref<64xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  // expected-error @below {{'memref.subview' op expects unit steps}}
  %v = memref.subview %x[0] [32] [2] : memref<64xf32> to memref<32xf32, strided<[2]>>
  return
}

// -----

// A bit-reversed copy would come out: nothing moves data here but
// tile.convert_layout.
#straight = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#reversed = #tile.layout<register = [], lane = [[16], [8], [4], [2], [1]], warp = []>
func.func @layouts_that_do_not_fit(%z: memref<?xf32>, %x: memref<?xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.program_id 0
  %t = tile.load %x[%i] : memref<?xf32> -> tensor<32xf32, #straight>
  // expected-error @below {{'tile.permute' op expects layouts of operands and result that fit each other; run tile-assign-layouts first}}
  %u = tile.permute %t [0] : tensor<32xf32, #straight> -> tensor<32xf32, #reversed>
  tile.store %u, %z[%i] : tensor<32xf32, #reversed>, memref<?xf32>
  return
}

// -----

// Three quarters of the tile would never be stored.
#four = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
func.func @more_warps_than_the_block_has(%z: memref<?xf32>, %x: memref<?xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.program_id 0
  // expected-error @below {{'tile.load' op expects a layout of 1 warps, as many as 'tile.num_warps' says, but got 4}}
  %t = tile.load %x[%i] : memref<?xf32> -> tensor<128xf32, #four>
  tile.store %t, %z[%i] : tensor<128xf32, #four>, memref<?xf32>
  return
}
