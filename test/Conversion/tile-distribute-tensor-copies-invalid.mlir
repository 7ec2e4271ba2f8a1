// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_100a --verify-diagnostics

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 576] : 1024>
!b = !tile.buffer<1x8x128xf8E4M3FN, #rows>
!m = memref<?x?xf8E4M3FN, strided<[?, 1]>>
func.func @stride(%x: !m) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc_buffer : !b
  %full = tile.alloc_barriers : !tile.barriers<1>
  // expected-error @below {{expects a copy that a tensor map describes, but the stride along dimension 0 is not promised to be a multiple of 16}}
  tile.copy_tensor %x[%c0, %c0] to %b[%c0] signal %full : !m, !b, !tile.barriers<1>
  return
}

// -----

#apart = #tile.placement<[1, 2, 4, 64, 8, 16, 32, 128, 256, 512] : 1024>
!b = !tile.buffer<1x8x128xf8E4M3FN, #apart>
!m = memref<?x?xf8E4M3FN, strided<[?, 1]>>
func.func @placement(%x: !m {tile.stride_divisible_by = array<i64: 16, 1>})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc_buffer : !b
  %full = tile.alloc_barriers : !tile.barriers<1>
  // expected-error @below {{but no swizzle of the hardware gives the buffer's placement}}
  tile.copy_tensor %x[%c0, %c0] to %b[%c0] signal %full : !m, !b, !tile.barriers<1>
  return
}
