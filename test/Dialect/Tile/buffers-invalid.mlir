// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @no_slots() {
  // expected-error @below {{expects a number of slots and the shape of a tile, but got 1 extents}}
  %b = tile.alloc_buffer : !tile.buffer<16xbf16>
  return
}

// -----

func.func @empty() {
  // expected-error @below {{expects at least one slot, but got 0}}
  %b = tile.alloc_buffer : !tile.buffer<0x16x16xbf16>
  return
}

// -----

func.func @codes() {
  // expected-error @below {{expects elements that have bytes of their own, but got 'f4E2M1FN'}}
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xf4E2M1FN>
  return
}

// -----

func.func @ragged() {
  // expected-error @below {{expects slots of power-of-two extents}}
  %b = tile.alloc_buffer : !tile.buffer<2x16x12xbf16>
  return
}

// -----

func.func @other_elements(%x: memref<?x?xf16>, %i: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects a memref of 'bf16', but got 'memref<?x?xf16>'}}
  tile.copy_async %x[%i, %i] to %b[%i] : memref<?x?xf16>, !tile.buffer<2x16x16xbf16>
  return
}

// -----

func.func @other_rank(%x: memref<?xbf16>, %i: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects a memref and indices of rank 2, but got rank 1 and 1 indices}}
  tile.copy_async %x[%i] to %b[%i] : memref<?xbf16>, !tile.buffer<2x16x16xbf16>
  return
}

// -----

func.func @other_tile(%i: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects the tile of a slot of '!tile.buffer<2x16x16xbf16>', but got 'tensor<16x32xbf16>'}}
  %t = tile.read_buffer %b[%i] : !tile.buffer<2x16x16xbf16> -> tensor<16x32xbf16>
  return
}

// -----

func.func @part_rank(%s: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects 2 indices for a slot of '!tile.buffer<2x16x16xbf16>', but got 1}}
  %t = tile.read_buffer %b[%s] at [%s] : !tile.buffer<2x16x16xbf16> -> tensor<16x8xbf16>
  return
}

// -----

func.func @part_extent(%s: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects a part of a slot of '!tile.buffer<2x16x16xbf16>', but got 'tensor<16x32xbf16>'}}
  %t = tile.read_buffer %b[%s] at [%s, %s] : !tile.buffer<2x16x16xbf16> -> tensor<16x32xbf16>
  return
}

// -----

func.func @part_element(%s: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects a part of a slot of '!tile.buffer<2x16x16xbf16>', but got 'tensor<16x8xf16>'}}
  %t = tile.read_buffer %b[%s] at [%s, %s] : !tile.buffer<2x16x16xbf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @part_beyond(%s: index) {
  %c2 = arith.constant 2 : index
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects index 1 to be below 2, but got 2}}
  %t = tile.read_buffer %b[%s] at [%s, %c2] : !tile.buffer<2x16x16xbf16> -> tensor<16x8xbf16>
  return
}

// -----

func.func @whole(%s: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects the tile of a slot of '!tile.buffer<2x16x16xbf16>', but got 'tensor<16x8xbf16>'}}
  %t = tile.read_buffer %b[%s] : !tile.buffer<2x16x16xbf16> -> tensor<16x8xbf16>
  return
}

// -----

// expected-error @below {{expects rows of at least 8 bytes for padding, but got 4 elements}}
func.func private @padded(!tile.buffer<1x8x4xi8, padded>)

// -----

// expected-error @below {{expects 'padded' or a placement, but got 'dense'}}
func.func private @unknown_arrangement(!tile.buffer<1x8x8xi8, dense>)

// -----

func.func @moving_beyond(%x: memref<?x?xbf16>, %i: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects moving dimensions in ascending order below 2, but got 7}}
  tile.copy_async %x[%i, %i] to %b[%i] {moving = array<i64: 7>} : memref<?x?xbf16>, !tile.buffer<2x16x16xbf16>
  return
}

// -----

func.func @moving_twice(%x: memref<?x?xbf16>, %i: index) {
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects moving dimensions in ascending order below 2, but got 1}}
  tile.copy_async %x[%i, %i] to %b[%i] {moving = array<i64: 1, 1>} : memref<?x?xbf16>, !tile.buffer<2x16x16xbf16>
  return
}

// -----

func.func @slot_to_fill(%x: memref<?x?xbf16>, %i: index) {
  %c2 = arith.constant 2 : index
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects a slot below 2, but got 2}}
  tile.copy_async %x[%i, %i] to %b[%c2] : memref<?x?xbf16>, !tile.buffer<2x16x16xbf16>
  return
}

// -----

func.func @slot_to_read() {
  %c2 = arith.constant 2 : index
  %b = tile.alloc_buffer : !tile.buffer<2x16x16xbf16>
  // expected-error @below {{expects a slot below 2, but got 2}}
  %t = tile.read_buffer %b[%c2] : !tile.buffer<2x16x16xbf16> -> tensor<16x16xbf16>
  return
}

// -----

func.func @many_slots() {
  // expected-error @below {{expects at most 1024 slots, but got 4096}}
  %b = tile.alloc_buffer : !tile.buffer<4096x16x16xbf16>
  return
}

// -----

#p = #tile.placement<[1, 2, 4] : 16>

// expected-error @below {{expected '>'}}
func.func private @both(!tile.buffer<1x8xi8, padded, #p>)
