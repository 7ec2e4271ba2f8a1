// Loops of no, one and several trips, nested ones, and ones that carry tiles of
// narrow formats and scalars; branches on the grid and on scalars of tiles;
// conditions that a loop computes; private functions.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=trips --grid=2 --num-warps=2 out:64x32 in:64x32 val:0
// RUN: %{run} --entry=trips --grid=2 --num-warps=1 out:64x32 in:64x32 val:1
// RUN: %{run} --entry=trips --grid=2 --num-warps=4 out:64x32 in:64x32 val:5
// RUN: %{run} --entry=trips --grid=2 out:64x32 in:64x32 val:-3
// RUN: %{run} --entry=carry --grid=1 --num-warps=1 out:16x32 out:16x64 out:16x64 in:16x32 in:16x64 val:3
// RUN: %{run} --entry=carry --grid=1 --num-warps=4 out:16x32 out:16x64 out:16x64 in:16x32 in:16x64 val:4
// RUN: %{run} --entry=carry --grid=1 --num-warps=2 out:16x32 out:16x64 out:16x64 in:16x32 in:16x64 val:0
// RUN: %{run} --entry=nested --grid=2,2 --num-warps=2 out:32x32 in:64x64 in:64x64
// RUN: %{run} --entry=branch --grid=3,2 --num-warps=4 out:48x64 in:48x64
// RUN: %{run} --entry=branch --grid=3,2 --num-warps=1 --schedule=4 out:48x64 in:48x64
// RUN: %{run} --entry=condition --grid=3 --num-warps=2 out:48x16 in:48x16
// RUN: %{run} --entry=condition --grid=3 --num-warps=8 --schedule=4 out:48x16 in:48x16
// RUN: %{run} --entry=functions --grid=2 --num-warps=2 out:32x16 in:32x32 in:16x32 in:32x1:scale in:16x1:scale
// RUN: %{run} --entry=swap --grid=1 --num-warps=4 out:32x32 out:32x32 in:32x32 val:3
// RUN: %{run} --entry=descending --grid=1 out:8 in:64xi32 val:40 val:-7

// A bound that only the caller knows; the lower one is signed.
func.func @trips(%z : memref<?x32xi32>, %x : memref<?x32xi32>, %n : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = tile.program_id 0
  %t = tile.load %x[%p, %c0] : memref<?x32xi32> -> tensor<32x32xi32>
  %three = arith.constant dense<3> : tensor<32x32xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (tensor<32x32xi32>) {
    %b = tile.permute %a [1, 0] : tensor<32x32xi32> -> tensor<32x32xi32>
    %c = arith.muli %b, %three : tensor<32x32xi32>
    %i0 = arith.index_cast %i : index to i32
    %s = tensor.splat %i0 : tensor<32x32xi32>
    %d = arith.addi %c, %s : tensor<32x32xi32>
    scf.yield %d : tensor<32x32xi32>
  }
  tile.store %r, %z[%p, %c0] : tensor<32x32xi32>, memref<?x32xi32>
  return
}

// FP4, FP8, bf16 and a scalar go around, each through another layout.
func.func @carry(%z : memref<16x32xi8>, %w : memref<16x64xf8E5M2>, %v : memref<16x64xbf16>, %x : memref<16x32xi8>, %y : memref<16x64xf8E5M2>, %n : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b0 = tile.load %x[%c0, %c0] : memref<16x32xi8> -> tensor<16x32xi8>
  %a0 = tile.unpack %b0 : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  %f0 = tile.load %y[%c0, %c0] : memref<16x64xf8E5M2> -> tensor<16x64xf8E5M2>
  %h0 = tile.ftof %a0 : tensor<16x64xf4E2M1FN> -> tensor<16x64xbf16>
  %one = arith.constant 1 : i32
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %f = %f0, %h = %h0, %s = %one) -> (tensor<16x64xf4E2M1FN>, tensor<16x64xf8E5M2>, tensor<16x64xbf16>, i32) {
    %a1 = tile.permute %a [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
    %a2 = tile.reshape %a1 : tensor<64x16xf4E2M1FN> -> tensor<16x64xf4E2M1FN>
    %f1 = tile.permute %f [1, 0] : tensor<16x64xf8E5M2> -> tensor<64x16xf8E5M2>
    %f2 = tile.reshape %f1 : tensor<64x16xf8E5M2> -> tensor<16x64xf8E5M2>
    %h1 = tile.ftof %a2 : tensor<16x64xf4E2M1FN> -> tensor<16x64xbf16>
    %h2 = arith.addf %h1, %h : tensor<16x64xbf16>
    %s1 = arith.addi %s, %s : i32
    scf.yield %a2, %f2, %h2, %s1 : tensor<16x64xf4E2M1FN>, tensor<16x64xf8E5M2>, tensor<16x64xbf16>, i32
  }
  %p = tile.pack %r#0 : tensor<16x64xf4E2M1FN> -> tensor<16x32xi8>
  %q = arith.trunci %r#3 : i32 to i8
  %qs = tensor.splat %q : tensor<16x32xi8>
  %pq = arith.xori %p, %qs : tensor<16x32xi8>
  tile.store %pq, %z[%c0, %c0] : tensor<16x32xi8>, memref<16x32xi8>
  tile.store %r#1, %w[%c0, %c0] : tensor<16x64xf8E5M2>, memref<16x64xf8E5M2>
  tile.store %r#2, %v[%c0, %c0] : tensor<16x64xbf16>, memref<16x64xbf16>
  return
}

// A loop over rows of blocks around one over columns, both carrying the sum.
func.func @nested(%z : memref<32x32xf32>, %x : memref<64x64xbf16>, %y : memref<64x64xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %i = %c0 to %c4 step %c2 iter_args(%a = %zero) -> (tensor<16x16xf32>) {
    %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> (tensor<16x16xf32>) {
      %k = arith.addi %i, %j : index
      %u = tile.load %x[%m, %k] : memref<64x64xbf16> -> tensor<16x16xbf16>
      %v = tile.load %y[%k, %n] : memref<64x64xbf16> -> tensor<16x16xbf16>
      %c = tile.mmaf %u, %v, %b : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
      scf.yield %c : tensor<16x16xf32>
    }
    %half = arith.constant dense<0.5> : tensor<16x16xf32>
    %d = arith.mulf %s, %half : tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tile.store %r, %z[%m, %n] : tensor<16x16xf32>, memref<32x32xf32>
  return
}

// The grid decides which of two layouts the result comes from; inside, a scalar
// of the tile decides again.
func.func @branch(%z : memref<48x64xf32>, %x : memref<48x64xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %t = tile.load %x[%m, %n] : memref<48x64xf32> -> tensor<16x32xf32>
  %first = arith.cmpi eq, %m, %c0 : index
  %r = scf.if %first -> (tensor<16x32xf32>) {
    %a = tile.permute %t [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
    %b = tile.reshape %a : tensor<32x16xf32> -> tensor<16x32xf32>
    scf.yield %b : tensor<16x32xf32>
  } else {
    %e = tensor.extract %t[%c5, %c1] : tensor<16x32xf32>
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %e, %zero : f32
    %c = scf.if %positive -> (tensor<16x32xf32>) {
      %s = tile.reduce max %t [1] : tensor<16x32xf32> -> tensor<16xf32>
      %s1 = tile.reshape %s : tensor<16xf32> -> tensor<16x1xf32>
      %s2 = tile.broadcast %s1 : tensor<16x1xf32> -> tensor<16x32xf32>
      scf.yield %s2 : tensor<16x32xf32>
    } else {
      %d = arith.negf %t : tensor<16x32xf32>
      scf.yield %d : tensor<16x32xf32>
    }
    scf.yield %c : tensor<16x32xf32>
  }
  scf.if %first {
    tile.store %t, %z[%m, %n] : tensor<16x32xf32>, memref<48x64xf32>
  }
  %u = arith.addf %r, %t : tensor<16x32xf32>
  tile.store %u, %z[%m, %n] : tensor<16x32xf32>, memref<48x64xf32>
  return
}

// Doubles until the sum of a row is large, a number of steps that differs by
// program.
func.func @condition(%z : memref<48x16xi32>, %x : memref<48x16xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %p = tile.program_id 0
  %t = tile.load %x[%p, %c0] : memref<48x16xi32> -> tensor<16x16xi32>
  %mask = arith.constant dense<255> : tensor<16x16xi32>
  %one = arith.constant dense<1> : tensor<16x16xi32>
  %a = arith.andi %t, %mask : tensor<16x16xi32>
  %start = arith.addi %a, %one : tensor<16x16xi32>
  %limit = arith.constant 100000 : i32
  %r:2 = scf.while (%n = %c0, %b = %start) : (index, tensor<16x16xi32>) -> (tensor<16x16xi32>, index) {
    %s = tile.reduce add %b [1] : tensor<16x16xi32> -> tensor<16xi32>
    %e = tensor.extract %s[%c3] : tensor<16xi32>
    %more = arith.cmpi slt, %e, %limit : i32
    scf.condition(%more) %b, %n : tensor<16x16xi32>, index
  } do {
  ^bb0(%b: tensor<16x16xi32>, %n: index):
    %c1 = arith.constant 1 : index
    %m = arith.addi %n, %c1 : index
    %d = tile.permute %b [1, 0] : tensor<16x16xi32> -> tensor<16x16xi32>
    %e = arith.addi %b, %d : tensor<16x16xi32>
    scf.yield %m, %e : index, tensor<16x16xi32>
  }
  %count = arith.index_cast %r#1 : index to i32
  %counts = tensor.splat %count : tensor<16x16xi32>
  %u = arith.xori %r#0, %counts : tensor<16x16xi32>
  tile.store %u, %z[%p, %c0] : tensor<16x16xi32>, memref<48x16xi32>
  return
}

// Functions of tiles, of memory and of each other.
func.func private @multiply(%a : tensor<16x32xf8E4M3FN>, %b : tensor<16x32xf8E4M3FN>, %sa : tensor<16x1xf8E8M0FNU>, %sb : tensor<16x1xf8E8M0FNU>) -> tensor<16x16xf32> {
  %bt = tile.permute %b [1, 0] : tensor<16x32xf8E4M3FN> -> tensor<32x16xf8E4M3FN>
  %st = tile.permute %sb [1, 0] : tensor<16x1xf8E8M0FNU> -> tensor<1x16xf8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.mmaf_scaled %a, %bt, %zero, %sa, %st : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<16x16xf32>, tensor<16x1xf8E8M0FNU>, tensor<1x16xf8E8M0FNU>
  return %r : tensor<16x16xf32>
}
func.func private @read(%x : memref<?x32xf8E4M3FN>, %s : memref<?x1xf8E8M0FNU>, %i : index) -> (tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%i, %c0] : memref<?x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  %u = tile.load %s[%i, %c0] : memref<?x1xf8E8M0FNU> -> tensor<16x1xf8E8M0FNU>
  return %t, %u : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>
}
func.func private @both(%x : memref<?x32xf8E4M3FN>, %y : memref<?x32xf8E4M3FN>, %s : memref<?x1xf8E8M0FNU>, %t : memref<?x1xf8E8M0FNU>, %i : index) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %a:2 = func.call @read(%x, %s, %i) : (memref<?x32xf8E4M3FN>, memref<?x1xf8E8M0FNU>, index) -> (tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>)
  %b:2 = func.call @read(%y, %t, %c0) : (memref<?x32xf8E4M3FN>, memref<?x1xf8E8M0FNU>, index) -> (tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>)
  %r = func.call @multiply(%a#0, %b#0, %a#1, %b#1) : (tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<16x1xf8E8M0FNU>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
func.func @functions(%z : memref<?x16xf32>, %x : memref<?x32xf8E4M3FN>, %y : memref<?x32xf8E4M3FN>, %s : memref<?x1xf8E8M0FNU>, %t : memref<?x1xf8E8M0FNU>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %r = func.call @both(%x, %y, %s, %t, %p) : (memref<?x32xf8E4M3FN>, memref<?x32xf8E4M3FN>, memref<?x1xf8E8M0FNU>, memref<?x1xf8E8M0FNU>, index) -> tensor<16x16xf32>
  tile.store %r, %z[%p, %c0] : tensor<16x16xf32>, memref<?x16xf32>
  return
}

// Two values change places in every step, one of them in another layout.
func.func @swap(%z : memref<32x32xi16>, %w : memref<32x32xi16>, %x : memref<32x32xi16>, %n : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[%c0, %c0] : memref<32x32xi16> -> tensor<32x32xi16>
  %i = tile.iota : tensor<1024xi16>
  %k = tile.reshape %i : tensor<1024xi16> -> tensor<32x32xi16>
  %u = tile.permute %k [1, 0] : tensor<32x32xi16> -> tensor<32x32xi16>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %t, %b = %u) -> (tensor<32x32xi16>, tensor<32x32xi16>) {
    scf.yield %b, %a : tensor<32x32xi16>, tensor<32x32xi16>
  }
  tile.store %r#0, %z[%c0, %c0] : tensor<32x32xi16>, memref<32x32xi16>
  tile.store %r#1, %w[%c0, %c0] : tensor<32x32xi16>, memref<32x32xi16>
  return
}

// From a negative bound, in steps of seven.
func.func @descending(%z : memref<8xi32>, %x : memref<64xi32>, %n : index, %from : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant dense<0> : tensor<8xi32>
  %r = scf.for %i = %from to %n step %c7 iter_args(%a = %zero) -> (tensor<8xi32>) {
    %j = arith.floordivsi %i, %c7 : index
    %t = tile.load %x[%j] : memref<64xi32> -> tensor<8xi32>
    %b = arith.addi %a, %t : tensor<8xi32>
    scf.yield %b : tensor<8xi32>
  }
  tile.store %r, %z[%c0] : tensor<8xi32>, memref<8xi32>
  return
}
