// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects a slot of a power of two of bytes up to 2^24, but got 48}}
func.func private @odd_slot(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4] : 48>>)

// -----

// expected-error @below {{expects a slot of a power of two of bytes up to 2^24, but got 0}}
func.func private @no_slot(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4] : 0>>)

// -----

// expected-error @below {{expects a slot of a power of two of bytes up to 2^24, but got -16}}
func.func private @negative_slot(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4] : -16>>)

// -----

// expected-error @below {{expects a slot of a power of two of bytes up to 2^24, but got 4611686018427387904}}
func.func private @huge_slot(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4] : 4611686018427387904>>)

// -----

// expected-error @below {{expects offsets below 16, but got 16}}
func.func private @beyond(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 16] : 16>>)

// -----

// expected-error @below {{expects offsets below 16, but got -1}}
func.func private @negative(!tile.buffer<1x8xi8, #tile.placement<[1, 2, -1] : 16>>)

// -----

// expected-error @below {{expects offsets below 16, but got 4294967297}}
func.func private @wide(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4294967297] : 16>>)

// -----

// The third is the xor of the others.
// expected-error @below {{expects different elements in different places}}
func.func private @same_place(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 3] : 16>>)

// -----

// expected-error @below {{expects different elements in different places}}
func.func private @no_move(!tile.buffer<1x2xi8, #tile.placement<[0] : 16>>)

// -----

// expected-error @below {{expects at most 20 offsets, but got 21}}
func.func private @many(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576] : 2097152>>)

// -----

// expected-error @below {{expects a placement with 3 offsets, but got 2}}
func.func private @few(!tile.buffer<1x8xi8, #tile.placement<[1, 2] : 16>>)

// -----

// expected-error @below {{expects a placement with 0 offsets, but got 1}}
func.func private @one_element(!tile.buffer<1x1xi8, #tile.placement<[1] : 16>>)

// -----

// expected-error @below {{expects offsets that are multiples of 2 bytes, but got 1}}
func.func private @unaligned(!tile.buffer<1x8xbf16, #tile.placement<[2, 4, 1] : 16>>)

// -----

// expected-error @below {{expects slots of at least 4 bytes for 'f32', but got 2}}
func.func private @short(!tile.buffer<1x1xf32, #tile.placement<[] : 2>>)

// -----

// expected-error @below {{invalid kind of attribute specified}}
func.func private @other_attribute(!tile.buffer<1x8xi8, 7>)

// -----

// expected-error @below {{unbalanced '[' character in pretty dialect name}}
func.func private @no_end(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4 : 16>>)

// -----

// expected-error @below {{expected ':'}}
func.func private @no_bytes(!tile.buffer<1x8xi8, #tile.placement<[1, 2, 4]>>)
