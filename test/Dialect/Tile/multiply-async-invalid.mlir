// RUN: tile-opt %s --split-input-file --verify-diagnostics

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @short_shape(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects batch, M, N and K as shape, but got 3 numbers}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @no_shape(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects batch, M, N and K as shape, but got 0 numbers}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape []
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @zero_shape(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects powers of two up to 2^20 as shape, but got 0}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 128, 0]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @odd_shape(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects powers of two up to 2^20 as shape, but got 96}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 96, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @negative_shape(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects powers of two up to 2^20 as shape, but got -9223372036854775808}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [-9223372036854775808, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @huge_shape(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects powers of two up to 2^20 as shape, but got 4611686018427387904}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 128, 4611686018427387904]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @other_rows(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects sums for 1 x 256 x 128, but got '!tile.tensor_memory<1x128x128xf32>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 256, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @other_columns(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects sums for 1 x 128 x 64, but got '!tile.tensor_memory<1x128x128xf32>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 64, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @other_batch(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects sums for 2 x 128 x 128, but got '!tile.tensor_memory<1x128x128xf32>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [2, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @sums_of_scales(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects sums for 1 x 128 x 4, but got '!tile.tensor_memory<3x128x4xf8E4M3FN>'}}
  tile.multiply_async %a[%i], %a[%i], %sa scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 4, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !scales, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @unplaced(%a: !slots, %b: !tile.buffer<3x128x32xi8>, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects buffers with a placement, but got '!tile.buffer<3x128x32xi8>'}}
  tile.multiply_async %a[%i], %b[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !tile.buffer<3x128x32xi8>, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @slot(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  %c3 = arith.constant 3 : index
  // expected-error @below {{expects a slot below 3, but got 3}}
  tile.multiply_async %a[%i], %a[%c3], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @scale_slot(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  %c3 = arith.constant 3 : index
  // expected-error @below {{expects a slot of tensor memory below 3, but got 3}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%c3] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @sums_as_scales(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects scales, but got '!tile.tensor_memory<1x128x128xf32>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %acc[%i] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !sums
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>

func.func @scale_rows(%a: !slots, %acc: !sums, %sa: !tile.tensor_memory<3x256x4xf8E4M3FN>, %i: index, %p: i1) {
  // expected-error @below {{expects scales of 1 x 128 rows, but got '!tile.tensor_memory<3x256x4xf8E4M3FN>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !tile.tensor_memory<3x256x4xf8E4M3FN>, !tile.tensor_memory<3x256x4xf8E4M3FN>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>

func.func @scale_batch(%a: !slots, %acc: !sums, %sa: !tile.tensor_memory<3x2x128x4xf8E4M3FN>, %i: index, %p: i1) {
  // expected-error @below {{expects scales of 1 x 128 rows, but got '!tile.tensor_memory<3x2x128x4xf8E4M3FN>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !tile.tensor_memory<3x2x128x4xf8E4M3FN>, !tile.tensor_memory<3x2x128x4xf8E4M3FN>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @scale_types(%a: !slots, %acc: !sums, %sa: !scales, %sb: !tile.tensor_memory<3x128x4xf8E8M0FNU>, %i: index, %p: i1) {
  // expected-error @below {{expects scales of one type for the same blocks of K, but got '!tile.tensor_memory<3x128x4xf8E4M3FN>' and '!tile.tensor_memory<3x128x4xf8E8M0FNU>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sb[%i] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !tile.tensor_memory<3x128x4xf8E8M0FNU>
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @scale_blocks(%a: !slots, %acc: !sums, %sa: !scales, %sb: !tile.tensor_memory<3x128x8xf8E4M3FN>, %i: index, %p: i1) {
  // expected-error @below {{expects scales of one type for the same blocks of K, but got '!tile.tensor_memory<3x128x4xf8E4M3FN>' and '!tile.tensor_memory<3x128x8xf8E4M3FN>'}}
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sb[%i] accumulate %p shape [1, 128, 128, 64]
    {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !tile.tensor_memory<3x128x8xf8E4M3FN>
  return
}

// -----

// Scales without their slot, which the text cannot say.
#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @no_scale_slot(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects scales and their slots for both operands or for none}}
  "tile.multiply_async"(%a, %i, %a, %i, %acc, %sa, %p)
     {atom = "a", shape = array<i64: 1, 128, 128, 64>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 1>}
     : (!slots, index, !slots, index, !sums, !scales, i1) -> ()
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @one_scale(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects scales and their slots for both operands or for none}}
  "tile.multiply_async"(%a, %i, %a, %i, %acc, %sa, %i, %p)
     {atom = "a", shape = array<i64: 1, 128, 128, 64>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 1>}
     : (!slots, index, !slots, index, !sums, !scales, index, i1) -> ()
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @rhs_scale_only(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects scales and their slots for both operands or for none}}
  "tile.multiply_async"(%a, %i, %a, %i, %acc, %sa, %i, %p)
     {atom = "a", shape = array<i64: 1, 128, 128, 64>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1, 1, 1>}
     : (!slots, index, !slots, index, !sums, !scales, index, i1) -> ()
  return
}

// -----

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
!slots = !tile.buffer<3x128x32xi8, #rows>
!sums = !tile.tensor_memory<1x128x128xf32>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>

func.func @slots_only(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // expected-error @below {{expects scales and their slots for both operands or for none}}
  "tile.multiply_async"(%a, %i, %a, %i, %acc, %i, %i, %p)
     {atom = "a", shape = array<i64: 1, 128, 128, 64>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 1, 1>}
     : (!slots, index, !slots, index, !sums, index, index, i1) -> ()
  return
}
