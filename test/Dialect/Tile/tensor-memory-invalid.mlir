// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects a number of slots and the shape of a 2-D or 3-D tile, but got 2 extents}}
func.func private @few_extents(!tile.tensor_memory<128x4xf32>)

// -----

// expected-error @below {{expects a number of slots and the shape of a 2-D or 3-D tile, but got 5 extents}}
func.func private @many_extents(!tile.tensor_memory<1x1x1x128x4xf32>)

// -----

// expected-error @below {{expects elements of type f32, f8E4M3FN or f8E8M0FNU, but got 'f16'}}
func.func private @other_element(!tile.tensor_memory<1x128x4xf16>)

// -----

// expected-error @below {{expects extents from 1 to 2^20, but got 0}}
func.func private @no_slot(!tile.tensor_memory<0x128x4xf32>)

// -----

// expected-error @below {{expects extents from 1 to 2^20, but got 9223372036854775807}}
func.func private @huge_slots(!tile.tensor_memory<9223372036854775807x128x4xf32>)

// -----

// expected-error @below {{expected static shape}}
func.func private @unknown_slots(!tile.tensor_memory<?x128x4xf32>)

// -----

// expected-error @below {{expects a multiple of 128 rows, but got 64}}
func.func private @few_rows(!tile.tensor_memory<1x64x4xf32>)

// -----

// expected-error @below {{expects a multiple of 128 rows, but got 192}}
func.func private @ragged_rows(!tile.tensor_memory<1x2x192x4xf32>)

// -----

// expected-error @below {{expects a multiple of four blocks, but got 6}}
func.func private @ragged_blocks(!tile.tensor_memory<1x128x6xf8E8M0FNU>)

// -----

// 2^73 columns: more than 64 bits hold.
// expected-error @below {{expects at most 2^30 columns}}
func.func private @overflow(!tile.tensor_memory<1048576x1048576x1048576x1048576xf32>)

// -----

// expected-error @below {{expects at most 2^30 columns}}
func.func private @many_columns(!tile.tensor_memory<2x1048576x128x1024xf32>)

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @source_element(%x: memref<?x?xf16>, %b: !slots, %i: index, %full: !tile.barriers<3>) {
  // expected-error @below {{expects a memref of 'i8', but got 'memref<?x?xf16>'}}
  tile.copy_tensor %x[%i, %i] to %b[%i] signal %full : memref<?x?xf16>, !slots, !tile.barriers<3>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @source_unranked(%x: memref<*xi8>, %b: !slots, %i: index, %full: !tile.barriers<3>) {
  // expected-error @below {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xi8>'}}
  tile.copy_tensor %x[%i, %i] to %b[%i] signal %full : memref<*xi8>, !slots, !tile.barriers<3>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @source_rank(%x: memref<?xi8>, %b: !slots, %i: index, %full: !tile.barriers<3>) {
  // expected-error @below {{expects a memref and indices of rank 2, but got rank 1 and 1 indices}}
  tile.copy_tensor %x[%i] to %b[%i] signal %full : memref<?xi8>, !slots, !tile.barriers<3>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @few_indices(%x: memref<?x?xi8, strided<[?, 1]>>, %b: !slots, %i: index, %full: !tile.barriers<3>) {
  // expected-error @below {{expects a memref and indices of rank 2, but got rank 2 and 1 indices}}
  tile.copy_tensor %x[%i] to %b[%i] signal %full : memref<?x?xi8, strided<[?, 1]>>, !slots, !tile.barriers<3>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @computed_source(%b: !slots, %i: index, %full: !tile.barriers<3>) {
  %x = memref.alloc(%i, %i) : memref<?x?xi8>
  // expected-error @below {{expects an argument of the kernel as source}}
  tile.copy_tensor %x[%i, %i] to %b[%i] signal %full : memref<?x?xi8>, !slots, !tile.barriers<3>
  return
}

// -----

// What a loop carries is no argument of the kernel.
#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @carried_source(%x: memref<?x?xi8>, %b: !slots, %i: index, %full: !tile.barriers<3>) {
  %r = scf.for %j = %i to %i step %i iter_args(%y = %x) -> (memref<?x?xi8>) {
    // expected-error @below {{expects an argument of the kernel as source}}
    tile.copy_tensor %y[%i, %i] to %b[%i] signal %full : memref<?x?xi8>, !slots, !tile.barriers<3>
    scf.yield %y : memref<?x?xi8>
  }
  return
}

// -----

func.func @unplaced(%x: memref<?x?xi8, strided<[?, 1]>>, %i: index, %full: !tile.barriers<3>) {
  %b = tile.alloc_buffer : !tile.buffer<3x128x32xi8>
  // expected-error @below {{expects a buffer with a placement, but got '!tile.buffer<3x128x32xi8>'}}
  tile.copy_tensor %x[%i, %i] to %b[%i] signal %full : memref<?x?xi8, strided<[?, 1]>>, !tile.buffer<3x128x32xi8>, !tile.barriers<3>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @copy_slot(%x: memref<?x?xi8, strided<[?, 1]>>, %b: !slots, %i: index, %full: !tile.barriers<4>) {
  %c3 = arith.constant 3 : index
  // expected-error @below {{expects a slot below 3, but got 3}}
  tile.copy_tensor %x[%i, %i] to %b[%c3] signal %full : memref<?x?xi8, strided<[?, 1]>>, !slots, !tile.barriers<4>
  return
}

// -----

// The same number is for the slot and for the barrier.
#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>

func.func @copy_barrier(%x: memref<?x?xi8, strided<[?, 1]>>, %b: !slots, %full: !tile.barriers<2>) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{expects a barrier below 2, but got 2}}
  tile.copy_tensor %x[%c2, %c2] to %b[%c2] signal %full : memref<?x?xi8, strided<[?, 1]>>, !slots, !tile.barriers<2>
  return
}

// -----

#chunk = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>
!chunks = !tile.buffer<3x128x4xf8E4M3FN, #chunk>
!sums = !tile.tensor_memory<1x128x128xf32>

func.func @scales_to_sums(%b: !chunks, %s: !sums, %i: index) {
  // expected-error @below {{expects scales of one type, but got }}
  tile.copy_scales %b[%i] to %s[%i] : !chunks, !sums
  return
}

// -----

#chunk = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>
!chunks = !tile.buffer<3x128x4xf8E4M3FN, #chunk>

func.func @scales_of_two_types(%b: !chunks, %s: !tile.tensor_memory<1x128x4xf8E8M0FNU>, %i: index) {
  // expected-error @below {{expects scales of one type, but got }}
  tile.copy_scales %b[%i] to %s[%i] : !chunks, !tile.tensor_memory<1x128x4xf8E8M0FNU>
  return
}

// -----

#chunk = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>
!chunks = !tile.buffer<3x128x4xf8E4M3FN, #chunk>

func.func @half_the_scales(%b: !chunks, %s: !tile.tensor_memory<3x128x8xf8E4M3FN>, %i: index) {
  // expected-error @below {{expects a placement with slots of 1024 bytes for '!tile.tensor_memory<3x128x8xf8E4M3FN>', but got }}
  tile.copy_scales %b[%i] to %s[%i] : !chunks, !tile.tensor_memory<3x128x8xf8E4M3FN>
  return
}

// -----

!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @unplaced_scales(%b: !tile.buffer<3x128x4xf8E4M3FN>, %s: !scales, %i: index) {
  // expected-error @below {{expects a placement with slots of 512 bytes for '!tile.tensor_memory<3x128x4xf8E4M3FN>', but got '!tile.buffer<3x128x4xf8E4M3FN>'}}
  tile.copy_scales %b[%i] to %s[%i] : !tile.buffer<3x128x4xf8E4M3FN>, !scales
  return
}

// -----

#chunk = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>
!chunks = !tile.buffer<3x128x4xf8E4M3FN, #chunk>

func.func @scale_slot(%b: !chunks, %s: !tile.tensor_memory<4x128x4xf8E4M3FN>) {
  %c3 = arith.constant 3 : index
  // expected-error @below {{expects a slot below 3, but got 3}}
  tile.copy_scales %b[%c3] to %s[%c3] : !chunks, !tile.tensor_memory<4x128x4xf8E4M3FN>
  return
}

// -----

#chunk = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>
!chunks = !tile.buffer<3x128x4xf8E4M3FN, #chunk>

func.func @scale_memory_slot(%b: !chunks, %s: !tile.tensor_memory<2x128x4xf8E4M3FN>) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{expects a slot of tensor memory below 2, but got 2}}
  tile.copy_scales %b[%c2] to %s[%c2] : !chunks, !tile.tensor_memory<2x128x4xf8E4M3FN>
  return
}

// -----

!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @load_scales(%s: !scales) {
  // expected-error @below {{expects a part of '!tile.tensor_memory<3x128x4xf8E4M3FN>', but got 'tensor<128x4xf32>'}}
  %t = tile.load_tensor_memory %s : !scales -> tensor<128x4xf32>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load_halves(%s: !sums) {
  // expected-error @below {{expects a part of '!tile.tensor_memory<1x128x128xf32>', but got 'tensor<128x128xf16>'}}
  %t = tile.load_tensor_memory %s : !sums -> tensor<128x128xf16>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load_rank(%s: !sums) {
  // expected-error @below {{expects a part of '!tile.tensor_memory<1x128x128xf32>', but got 'tensor<1x128x128xf32>'}}
  %t = tile.load_tensor_memory %s : !sums -> tensor<1x128x128xf32>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load_rows(%s: !sums) {
  // expected-error @below {{expects a part of '!tile.tensor_memory<1x128x128xf32>', but got 'tensor<256x64xf32>'}}
  %t = tile.load_tensor_memory %s : !sums -> tensor<256x64xf32>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load_columns(%s: !sums) {
  // expected-error @below {{expects a part of '!tile.tensor_memory<1x128x128xf32>', but got 'tensor<64x256xf32>'}}
  %t = tile.load_tensor_memory %s : !sums -> tensor<64x256xf32>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load_indices(%s: !sums, %i: index) {
  // expected-error @below {{expects 2 indices for '!tile.tensor_memory<1x128x128xf32>', but got 1}}
  %t = tile.load_tensor_memory %s at[%i] : !sums -> tensor<128x32xf32>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load_beyond(%s: !sums, %i: index) {
  %c4 = arith.constant 4 : index
  // expected-error @below {{expects index 1 to be below 4, but got 4}}
  %t = tile.load_tensor_memory %s at[%i, %c4] : !sums -> tensor<128x32xf32>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load_below(%s: !sums, %i: index) {
  %c = arith.constant -1 : index
  // expected-error @below {{expects index 0 to be below 1, but got -1}}
  %t = tile.load_tensor_memory %s at[%c, %i] : !sums -> tensor<128x32xf32>
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @store_columns(%s: !sums, %t: tensor<128x256xf32>) {
  // expected-error @below {{expects a part of '!tile.tensor_memory<1x128x128xf32>', but got 'tensor<128x256xf32>'}}
  tile.store_tensor_memory %t to %s : tensor<128x256xf32>, !sums
  return
}

// -----

!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @store_scales(%s: !scales, %t: tensor<128x4xf8E4M3FN>) {
  // expected-error @below {{expects a part of '!tile.tensor_memory<3x128x4xf8E4M3FN>', but got 'tensor<128x4xf8E4M3FN>'}}
  tile.store_tensor_memory %t to %s : tensor<128x4xf8E4M3FN>, !scales
  return
}
