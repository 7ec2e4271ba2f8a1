// Loads and stores of every element type: ragged edges in every dimension, gaps
// between rows, zero extents, static and dynamic shapes, ranks 1 to 5. Every store has an offset of its own, so a load that
// reads another tile, and a store that writes outside, are seen.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=ragged -DT=i8 -DR=8 -DC=64 --grid=3,2 out:21x100 in:21x100
// RUN: %{run} --entry=ragged -DT=i16 -DR=16 -DC=16 --grid=2,3 --num-warps=4 out:21x40:stride=41 in:21x40:stride=43
// RUN: %{run} --entry=ragged -DT=i32 -DR=1 -DC=32 --grid=3,2 out:3x47 in:3x47:stride=48
// RUN: %{run} --entry=ragged -DT=i64 -DR=32 -DC=2 --grid=2,2 out:50x3 in:50x3:stride=5
// RUN: %{run} --entry=ragged -DT=bf16 -DR=4 -DC=128 --grid=2,2 --num-warps=8 out:5x129 in:5x129
// RUN: %{run} --entry=ragged -DT=f16 -DR=2 -DC=8 --grid=2,2 --num-warps=32 out:4x9 in:4x9:stride=16
// RUN: %{run} --entry=ragged -DT=f32 -DR=64 -DC=1 --grid=1,3 out:64x3 in:64x3
// RUN: %{run} --entry=ragged -DT=f8E4M3FN -DR=16 -DC=32 --grid=1,2 out:16x63 in:16x63
// RUN: %{run} --entry=ragged -DT=f8E5M2 -DR=8 -DC=8 --grid=2,1 --num-warps=2 out:9x8 in:9x8 --random
// RUN: %{run} --entry=ragged -DT=f8E8M0FNU -DR=128 -DC=4 --grid=1,2 out:100x6 in:100x6 --random
// RUN: %{run} --entry=ragged -DT='!tile.f4E2M1FNx2' -DR=16 -DC=16 --grid=2,2 out:17x31 in:17x31

// Nothing to read, nothing to write.
// RUN: %{run} --entry=ragged -DT=f32 -DR=4 -DC=4 --grid=1,1 out:4x4 in:0x4
// RUN: %{run} --entry=ragged -DT=i8 -DR=4 -DC=4 --grid=1,1 out:0x4 in:4x4

// Static extents, strides and both.
// RUN: %{run} --entry=fixed -DT=bf16 -DR=16 -DC=64 --grid=3,2 out:37x100 in:37x100
// RUN: %{run} --entry=fixed -DT=i8 -DR=8 -DC=32 --grid=5,4 --num-warps=2 out:37x100 in:37x100

// Other ranks.
// RUN: %{run} --entry=rank1 -DT=i32 -DR=8 -DC=16 --grid=3 out:301 in:301
// RUN: %{run} --entry=rank3 -DT=i16 -DR=8 -DC=16 --grid=2,2,2 out:3x9x17 in:3x9x17
// RUN: %{run} --entry=rank4 -DT=f8E4M3FN -DR=8 -DC=16 --grid=2,2,2 out:2x3x13x17 in:2x3x13x17:stride=21
// RUN: %{run} --entry=rank5 -DT=i8 -DR=4 -DC=8 --grid=2,2,2 --num-warps=4 out:3x2x3x5x11 in:3x2x3x5x11

// Tiles outside on either side, and positions that do not fit in 32 or 64 bits.
// RUN: %{run} --entry=outside -DT=i16 -DR=8 -DC=16 --grid=1 out:64x16 in:13x18 val:-1
// RUN: %{run} --entry=outside -DT=i16 -DR=8 -DC=16 --grid=1 out:64x16 in:13x18 val:1
// RUN: %{run} --entry=outside -DT=i16 -DR=8 -DC=16 --grid=1 out:64x16 in:13x18 val:536870912
// RUN: %{run} --entry=outside -DT=i16 -DR=8 -DC=16 --grid=1 out:64x16 in:13x18 val:4611686018427387903
// RUN: %{run} --entry=outside -DT=i16 -DR=8 -DC=16 --grid=1 out:64x16 in:13x18 val:2305843009213693952
// RUN: %{run} --entry=outside -DT=i16 -DR=8 -DC=16 --grid=1 out:64x16 in:13x18 val:-9223372036854775808

!open = memref<?x?x${T}, strided<[?, 1]>>

func.func @ragged(%z : !open, %x : !open) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %t = tile.load %x[%m, %n] : !open -> tensor<${R}x${C}x${T}>
  tile.store %t, %z[%m, %n] : tensor<${R}x${C}x${T}>, !open
  return
}

func.func @fixed(%z : memref<37x100x${T}>, %x : memref<37x?x${T}, strided<[100, 1]>>) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %t = tile.load %x[%m, %n] : memref<37x?x${T}, strided<[100, 1]>> -> tensor<${R}x${C}x${T}>
  tile.store %t, %z[%m, %n] : tensor<${R}x${C}x${T}>, memref<37x100x${T}>
  return
}

func.func @rank1(%z : memref<?x${T}>, %x : memref<?x${T}, strided<[?]>>) attributes {tile.kernel} {
  %m = tile.program_id 0
  %t = tile.load %x[%m] : memref<?x${T}, strided<[?]>> -> tensor<${R*C}x${T}>
  tile.store %t, %z[%m] : tensor<${R*C}x${T}>, memref<?x${T}>
  return
}

func.func @rank3(%z : memref<?x?x?x${T}>, %x : memref<?x?x?x${T}>) attributes {tile.kernel} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %k = tile.program_id 2
  %t = tile.load %x[%i, %j, %k] : memref<?x?x?x${T}> -> tensor<2x${R}x${C}x${T}>
  tile.store %t, %z[%i, %j, %k] : tensor<2x${R}x${C}x${T}>, memref<?x?x?x${T}>
  return
}

func.func @rank4(%z : memref<?x?x?x?x${T}>, %x : memref<?x?x?x?x${T}, strided<[?, ?, ?, 1]>>) attributes {tile.kernel} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %k = tile.program_id 2
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %i, %j, %k] : memref<?x?x?x?x${T}, strided<[?, ?, ?, 1]>> -> tensor<4x2x${R}x${C}x${T}>
  tile.store %t, %z[%c0, %i, %j, %k] : tensor<4x2x${R}x${C}x${T}>, memref<?x?x?x?x${T}>
  return
}

func.func @rank5(%z : memref<?x?x?x?x?x${T}>, %x : memref<?x2x?x?x?x${T}>) attributes {tile.kernel} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %k = tile.program_id 2
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0, %j, %c0, %k] : memref<?x2x?x?x?x${T}> -> tensor<2x2x2x${R*2}x${C}x${T}>
  tile.store %t, %z[%i, %c0, %j, %c0, %k] : tensor<2x2x2x${R*2}x${C}x${T}>, memref<?x?x?x?x?x${T}>
  return
}

// Eight loads around a position that only the caller knows.
func.func @outside(%z : memref<?x?x${T}>, %x : !open, %at : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %next = arith.addi %at, %c1 : index
  %a = tile.load %x[%at, %c0] : !open -> tensor<${R}x${C}x${T}>
  %b = tile.load %x[%c0, %at] : !open -> tensor<${R}x${C}x${T}>
  %c = tile.load %x[%next, %c1] : !open -> tensor<${R}x${C}x${T}>
  %d = tile.load %x[%at, %at] : !open -> tensor<${R}x${C}x${T}>
  tile.store %a, %z[%c0, %c0] : tensor<${R}x${C}x${T}>, memref<?x?x${T}>
  tile.store %b, %z[%c1, %c0] : tensor<${R}x${C}x${T}>, memref<?x?x${T}>
  tile.store %c, %z[%c2, %c0] : tensor<${R}x${C}x${T}>, memref<?x?x${T}>
  tile.store %d, %z[%c3, %c0] : tensor<${R}x${C}x${T}>, memref<?x?x${T}>
  tile.store %a, %z[%at, %c7] : tensor<${R}x${C}x${T}>, memref<?x?x${T}>
  tile.store %c, %z[%at, %at] : tensor<${R}x${C}x${T}>, memref<?x?x${T}>
  return
}
