// Element-wise addressing: every index type, masks, positions that are negative,
// beyond the array, or beyond 32 bits, and repeated ones.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=rows -DT=i8 -DI=i32 --grid=2 out:64x32 in:40x32:stride=35 in:64:max=60
// RUN: %{run} --entry=rows -DT=f8E4M3FN -DI=i64 --grid=2 --num-warps=4 out:64x32 in:40x29 in:64:max=60
// RUN: %{run} --entry=rows -DT=bf16 -DI=i32 --grid=1 --num-warps=1 out:30x32 in:40x32 in:30
// RUN: %{run} --entry=rows -DT=i64 -DI=i64 --grid=1 --num-warps=8 out:32x30 in:7x32 in:32:max=9
// RUN: %{run} --entry=rows -DT='!tile.f4E2M1FNx2' -DI=i32 --grid=1 out:32x32 in:20x31 in:32:max=20
// RUN: %{run} --entry=rows -DT=f8E8M0FNU -DI=i32 --grid=1 out:32x32 in:20x32 in:32:max=25
// RUN: %{run} --entry=rows -DT=f32 -DI=i32 --grid=1 out:32x32 in:0x32 in:32:max=20
// RUN: %{run} --entry=masked -DT=f16 -DI=i64 --grid=1 --num-warps=2 inout:16x64 in:16x64 in:16x64:max=3
// RUN: %{run} --entry=masked -DT=i32 -DI=i32 --grid=1 --num-warps=4 inout:13x61 in:15x50 in:16x64:max=2
// RUN: %{run} --entry=far -DT=i16 -DI=i32 --grid=1 out:8x8 inout:8x8
// RUN: %{run} --entry=line -DT=f8E5M2 -DI=i32 --grid=3 --num-warps=2 out:192 in:100 inout:300
// RUN: %{run} --entry=volume -DT=i8 -DI=i32 --grid=1 inout:4x8x16 in:5x7x9

func.func @rows(%z : memref<?x?x${T}>, %x : memref<?x?x${T}, strided<[?, 1]>>, %table : memref<?x${I}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %r = tile.load %table[%p] : memref<?x${I}> -> tensor<32x${I}>
  %rows = tile.reshape %r : tensor<32x${I}> -> tensor<32x1x${I}>
  %i = tile.iota : tensor<32xi32>
  %columns = tile.reshape %i : tensor<32xi32> -> tensor<1x32xi32>
  %t = tile.gather %x[%rows, %columns] : memref<?x?x${T}, strided<[?, 1]>>, tensor<32x1x${I}>, tensor<1x32xi32> -> tensor<32x32x${T}>
  tile.store %t, %z[%p, %c0] : tensor<32x32x${T}>, memref<?x?x${T}>
  return
}

// Reads two places ahead and writes mirrored, where the mask says so.
func.func @masked(%z : memref<?x?x${T}>, %x : memref<?x?x${T}>, %m : memref<16x64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %bytes = tile.load %m[%c0, %c0] : memref<16x64xi8> -> tensor<16x64xi8>
  %zero = arith.constant dense<0> : tensor<16x64xi8>
  %mask = arith.cmpi ne, %bytes, %zero : tensor<16x64xi8>
  %i = tile.iota : tensor<16x${I}>
  %j = tile.iota : tensor<64xindex>
  %two = arith.constant dense<2> : tensor<16x${I}>
  %last = arith.constant dense<63> : tensor<64xindex>
  %ahead = arith.subi %i, %two : tensor<16x${I}>
  %back = arith.subi %last, %j : tensor<64xindex>
  %r0 = tile.reshape %ahead : tensor<16x${I}> -> tensor<16x1x${I}>
  %r1 = tile.reshape %i : tensor<16x${I}> -> tensor<16x1x${I}>
  %s0 = tile.reshape %j : tensor<64xindex> -> tensor<1x64xindex>
  %s1 = tile.reshape %back : tensor<64xindex> -> tensor<1x64xindex>
  %t = tile.gather %x[%r0, %s0] mask %mask : memref<?x?x${T}>, tensor<16x1x${I}>, tensor<1x64xindex>, tensor<16x64xi1> -> tensor<16x64x${T}>
  tile.scatter %t, %z[%r1, %s1] mask %mask : tensor<16x64x${T}>, memref<?x?x${T}>, tensor<16x1x${I}>, tensor<1x64xindex>, tensor<16x64xi1>
  return
}

// Positions whose byte offset wraps around to an element of the array.
func.func @far(%z : memref<?x?xi16>, %x : memref<?x?xi16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.iota : tensor<8xi64>
  %r = arith.constant dense<[0, 4294967296, -1, 1152921504606846976, 2305843009213693952, 7, -9223372036854775808, 3]> : tensor<8xi64>
  %rows = tile.reshape %r : tensor<8xi64> -> tensor<8x1xi64>
  %columns = tile.reshape %i : tensor<8xi64> -> tensor<1x8xi64>
  %t = tile.gather %x[%rows, %columns] : memref<?x?xi16>, tensor<8x1xi64>, tensor<1x8xi64> -> tensor<8x8xi16>
  %u = tile.gather %x[%columns, %rows] : memref<?x?xi16>, tensor<1x8xi64>, tensor<8x1xi64> -> tensor<8x8xi16>
  tile.scatter %u, %x[%rows, %columns] : tensor<8x8xi16>, memref<?x?xi16>, tensor<8x1xi64>, tensor<1x8xi64>
  tile.store %t, %z[%c0, %c0] : tensor<8x8xi16>, memref<?x?xi16>
  return
}

// Every third element, into an order of its own.
func.func @line(%z : memref<?x${T}>, %x : memref<?x${T}>, %w : memref<?x${T}>) attributes {tile.kernel} {
  %p = tile.program_id 0
  %c64 = arith.constant 64 : index
  %start = arith.muli %p, %c64 : index
  %s0 = arith.index_cast %start : index to i32
  %s = tensor.splat %s0 : tensor<64xi32>
  %i = tile.iota : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %at = arith.addi %i, %s : tensor<64xi32>
  %j = arith.muli %at, %three : tensor<64xi32>
  %t = tile.gather %x[%j] : memref<?x${T}>, tensor<64xi32> -> tensor<64x${T}>
  %bits = arith.constant dense<37> : tensor<64xi32>
  %k = arith.xori %i, %bits : tensor<64xi32>
  %to = arith.addi %k, %s : tensor<64xi32>
  tile.scatter %t, %z[%to] : tensor<64x${T}>, memref<?x${T}>, tensor<64xi32>
  tile.scatter %t, %w[%j] : tensor<64x${T}>, memref<?x${T}>, tensor<64xi32>
  return
}

// Index tiles that are full in several dimensions.
func.func @volume(%z : memref<4x8x16x${T}>, %x : memref<?x?x?x${T}>) attributes {tile.kernel} {
  %i = tile.iota : tensor<512xi32>
  %seven = arith.constant dense<7> : tensor<512xi32>
  %five = arith.constant dense<5> : tensor<512xi32>
  %q = arith.divui %i, %seven : tensor<512xi32>
  %a = arith.remui %q, %five : tensor<512xi32>
  %b = arith.remui %i, %seven : tensor<512xi32>
  %a3 = tile.reshape %a : tensor<512xi32> -> tensor<4x8x16xi32>
  %b3 = tile.reshape %b : tensor<512xi32> -> tensor<4x8x16xi32>
  %c = tile.iota : tensor<16xi64>
  %c3 = tile.reshape %c : tensor<16xi64> -> tensor<1x1x16xi64>
  %t = tile.gather %x[%a3, %b3, %c3] : memref<?x?x?x${T}>, tensor<4x8x16xi32>, tensor<4x8x16xi32>, tensor<1x1x16xi64> -> tensor<4x8x16x${T}>
  %k = tile.iota : tensor<4xi32>
  %k3 = tile.reshape %k : tensor<4xi32> -> tensor<4x1x1xi32>
  %l = tile.iota : tensor<8xindex>
  %l3 = tile.reshape %l : tensor<8xindex> -> tensor<1x8x1xindex>
  tile.scatter %t, %z[%k3, %l3, %c3] : tensor<4x8x16x${T}>, memref<4x8x16x${T}>, tensor<4x1x1xi32>, tensor<1x8x1xindex>, tensor<1x1x16xi64>
  return
}
