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
