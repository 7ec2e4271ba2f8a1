// Every FP8 code and every E8M0 scale through a scaled multiply by the identity,
// on either side: infinities and NaN, scales of 2^-127 (0x00) and NaN (0xFF), and
// the last scales with which every code can be expanded. A code stands in a row
// of its own, which its NaN makes NaN.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1 --absolute=1e-43

// RUN: %{run} --entry=codes -DF=f8E4M3FN out:256x32 out:32x256 val:127
// RUN: %{run} --entry=codes -DF=f8E5M2 --num-warps=1 out:256x32 out:32x256 val:127
// RUN: %{run} --entry=codes -DF=f8E4M3FN --num-warps=8 out:256x32 out:32x256 val:3
// RUN: %{run} --entry=codes -DF=f8E4M3FN out:256x32 out:32x256 val:246
// RUN: %{run} --entry=codes -DF=f8E5M2 out:256x32 out:32x256 val:10
// RUN: %{run} --entry=codes -DF=f8E5M2 out:256x32 out:32x256 val:239
// RUN: %{run} --entry=codes -DF=f8E4M3FN out:256x32 out:32x256 val:255
// RUN: %{run} --entry=scales -DF=f8E4M3FN out:256x32 out:32x256
// RUN: %{run} --entry=scales -DF=f8E5M2 --num-warps=2 out:256x32 out:32x256
// RUN: %{run} --entry=nan_over_zero -DF=f8E5M2 --num-warps=2 out:32x32

// One scale for all codes.
func.func @codes(%z : memref<256x32xf32>, %w : memref<32x256xf32>, %scale : i8) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.iota : tensor<256xi32>
  %k = tile.iota : tensor<32xi32>
  %c31 = arith.constant dense<31> : tensor<256xi32>
  %place = arith.andi %i, %c31 : tensor<256xi32>
  %p0 = tile.reshape %place : tensor<256xi32> -> tensor<256x1xi32>
  %k0 = tile.reshape %k : tensor<32xi32> -> tensor<1x32xi32>
  %p = tile.broadcast %p0 : tensor<256x1xi32> -> tensor<256x32xi32>
  %q = tile.broadcast %k0 : tensor<1x32xi32> -> tensor<256x32xi32>
  %here = arith.cmpi eq, %p, %q : tensor<256x32xi32>
  %bytes = arith.trunci %i : tensor<256xi32> to tensor<256xi8>
  %b0 = tile.reshape %bytes : tensor<256xi8> -> tensor<256x1xi8>
  %b = tile.broadcast %b0 : tensor<256x1xi8> -> tensor<256x32xi8>
  %nothing = arith.constant dense<0> : tensor<256x32xi8>
  %codes = arith.select %here, %b, %nothing : tensor<256x32xi1>, tensor<256x32xi8>
  %a = arith.bitcast %codes : tensor<256x32xi8> to tensor<256x32x${F}>
  %at = tile.permute %a [1, 0] : tensor<256x32x${F}> -> tensor<32x256x${F}>

  %r0 = tile.reshape %k : tensor<32xi32> -> tensor<32x1xi32>
  %r = tile.broadcast %r0 : tensor<32x1xi32> -> tensor<32x32xi32>
  %c = tile.broadcast %k0 : tensor<1x32xi32> -> tensor<32x32xi32>
  %diagonal = arith.cmpi eq, %r, %c : tensor<32x32xi32>
  %one = arith.constant dense<1.0> : tensor<32x32x${F}>
  %zero = arith.constant dense<0.0> : tensor<32x32x${F}>
  %identity = arith.select %diagonal, %one, %zero : tensor<32x32xi1>, tensor<32x32x${F}>

  %s = tensor.splat %scale : tensor<256x1xi8>
  %sa = arith.bitcast %s : tensor<256x1xi8> to tensor<256x1xf8E8M0FNU>
  %sat = tile.permute %sa [1, 0] : tensor<256x1xf8E8M0FNU> -> tensor<1x256xf8E8M0FNU>
  %unit = arith.constant dense<1.0> : tensor<1x32xf8E8M0FNU>
  %unitt = arith.constant dense<1.0> : tensor<32x1xf8E8M0FNU>
  %acc = arith.constant dense<0.0> : tensor<256x32xf32>
  %acct = arith.constant dense<0.0> : tensor<32x256xf32>
  %left = tile.mmaf_scaled %a, %identity, %acc, %sa, %unit : tensor<256x32x${F}>, tensor<32x32x${F}>, tensor<256x32xf32>, tensor<256x1xf8E8M0FNU>, tensor<1x32xf8E8M0FNU>
  %right = tile.mmaf_scaled %identity, %at, %acct, %unitt, %sat : tensor<32x32x${F}>, tensor<32x256x${F}>, tensor<32x256xf32>, tensor<32x1xf8E8M0FNU>, tensor<1x256xf8E8M0FNU>
  tile.store %left, %z[%c0, %c0] : tensor<256x32xf32>, memref<256x32xf32>
  tile.store %right, %w[%c0, %c0] : tensor<32x256xf32>, memref<32x256xf32>
  return
}

// All scales for one value, on either side.
func.func @scales(%z : memref<256x32xf32>, %w : memref<32x256xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %bytes = tile.iota : tensor<256xi8>
  %b = tile.reshape %bytes : tensor<256xi8> -> tensor<256x1xi8>
  %sa = arith.bitcast %b : tensor<256x1xi8> to tensor<256x1xf8E8M0FNU>
  %sat = tile.permute %sa [1, 0] : tensor<256x1xf8E8M0FNU> -> tensor<1x256xf8E8M0FNU>
  %k = tile.iota : tensor<32xi32>
  %k0 = tile.reshape %k : tensor<32xi32> -> tensor<1x32xi32>
  %r0 = tile.reshape %k : tensor<32xi32> -> tensor<32x1xi32>
  %r = tile.broadcast %r0 : tensor<32x1xi32> -> tensor<32x32xi32>
  %c = tile.broadcast %k0 : tensor<1x32xi32> -> tensor<32x32xi32>
  %diagonal = arith.cmpi eq, %r, %c : tensor<32x32xi32>
  %one = arith.constant dense<1.0> : tensor<32x32x${F}>
  %zero = arith.constant dense<0.0> : tensor<32x32x${F}>
  %identity = arith.select %diagonal, %one, %zero : tensor<32x32xi1>, tensor<32x32x${F}>
  %unit = arith.constant dense<1.0> : tensor<1x32xf8E8M0FNU>
  %unitt = arith.constant dense<1.0> : tensor<32x1xf8E8M0FNU>
  %a = arith.constant dense<-1.5> : tensor<256x32x${F}>
  %at = arith.constant dense<-1.5> : tensor<32x256x${F}>
  %acc = arith.constant dense<0.0> : tensor<256x32xf32>
  %acct = arith.constant dense<0.0> : tensor<32x256xf32>
  %left = tile.mmaf_scaled %a, %identity, %acc, %sa, %unit : tensor<256x32x${F}>, tensor<32x32x${F}>, tensor<256x32xf32>, tensor<256x1xf8E8M0FNU>, tensor<1x32xf8E8M0FNU>
  %right = tile.mmaf_scaled %identity, %at, %acct, %unitt, %sat : tensor<32x32x${F}>, tensor<32x256x${F}>, tensor<32x256xf32>, tensor<32x1xf8E8M0FNU>, tensor<1x256xf8E8M0FNU>
  tile.store %left, %z[%c0, %c0] : tensor<256x32xf32>, memref<256x32xf32>
  tile.store %right, %w[%c0, %c0] : tensor<32x256xf32>, memref<32x256xf32>
  return
}

// A NaN among the scales of zeros: its row and its column, nothing else.
func.func @nan_over_zero(%z : memref<32x32xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<0.0> : tensor<32x64x${F}>
  %b = arith.constant dense<0.0> : tensor<64x32x${F}>
  %acc = arith.constant dense<2.5> : tensor<32x32xf32>
  %i = tile.iota : tensor<64xi32>
  %wanted = arith.constant dense<21> : tensor<64xi32>
  %at = arith.cmpi eq, %i, %wanted : tensor<64xi32>
  %nan = arith.constant dense<-1> : tensor<64xi8>
  %one = arith.constant dense<127> : tensor<64xi8>
  %s = arith.select %at, %nan, %one : tensor<64xi1>, tensor<64xi8>
  %s8 = arith.bitcast %s : tensor<64xi8> to tensor<64xf8E8M0FNU>
  %sa = tile.reshape %s8 : tensor<64xf8E8M0FNU> -> tensor<32x2xf8E8M0FNU>
  %sb = tile.reshape %s8 : tensor<64xf8E8M0FNU> -> tensor<2x32xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<32x64x${F}>, tensor<64x32x${F}>, tensor<32x32xf32>, tensor<32x2xf8E8M0FNU>, tensor<2x32xf8E8M0FNU>
  tile.store %r, %z[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  return
}
