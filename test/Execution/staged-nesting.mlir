// Loops inside loops whose operands both go through shared memory, and what looks
// like a stage and is none. The race checker of the emulator is on.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120a --grid=1

// The outer loop's operand is multiplied in the inner loop: two pipelines, one in
// the other.
// RUN: %{run} --entry=both --num-stages=1 out:32x32 in:32x160 in:32x160 val:2 | FileCheck %s --check-prefix=WIDE
// RUN: %{run} --entry=both --num-stages=2 --num-warps=1 out:32x32 in:32x160 in:32x160 val:1 | FileCheck %s --check-prefix=WIDE
// RUN: %{run} --entry=both --num-stages=3 --num-warps=4 --schedule=5 out:32x32 in:32x160 in:32x160 val:5 | FileCheck %s --check-prefix=WIDE
// RUN: %{run} --entry=both --num-stages=4 out:32x32 in:32x160 in:32x160 val:0 | FileCheck %s --check-prefix=WIDE
// WIDE:      sm_80: 1024 elements agree
// WIDE-NEXT: sm_120a: 1024 elements agree

// The inner loop copies once for each turn of the outer one, and nothing else.
// RUN: %{run} --entry=once --num-stages=2 out:16x16 in:80x32 in:160x32 val:3 | FileCheck %s
// RUN: %{run} --entry=once --num-stages=3 out:16x16 in:80x32 in:160x32 val:0 | FileCheck %s

// An accumulator that is loaded in the loop is no operand to stage.
// RUN: %{run} --entry=loaded --num-stages=3 out:16x16 in:16x160 in:16x160 in:16x80 val:2 | FileCheck %s

// The position after the last wraps round; the table has an entry for each turn.
// RUN: %{run} --entry=last --num-stages=4 out:16x16 in:16x160 in:7x16x32 in:4 val:1 | FileCheck %s
// Both operands are one read of one buffer.
// RUN: %{run} --entry=square --num-stages=3 out:32x32 in:32x160 val:2 | FileCheck %s --check-prefix=WIDE
// CHECK:      sm_80: 256 elements agree
// CHECK-NEXT: sm_120a: 256 elements agree

func.func @both(%z: memref<32x32xf32>, %x: memref<32x160xbf16>, %y: memref<32x160xbf16>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32>) {
    %p = tile.load %x[%c0, %k] : memref<32x160xbf16> -> tensor<32x32xbf16>
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<32x32xf32>) {
      %q = tile.load %y[%c0, %j] : memref<32x160xbf16> -> tensor<32x32xbf16>
      %t = tile.permute %q [1, 0] : tensor<32x32xbf16> -> tensor<32x32xbf16>
      %u = tile.mmaf %p, %t, %b : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
      scf.yield %u : tensor<32x32xf32>
    }
    scf.yield %s : tensor<32x32xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  return
}

func.func @once(%z: memref<16x16xf32>, %x: memref<80x32xbf16>, %y: memref<160x32xbf16>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %o = %c0 to %c3 step %c1 iter_args(%b = %zero) -> (tensor<16x16xf32>) {
    %i = scf.for %k = %c0 to %n step %c1 iter_args(%a = %b) -> (tensor<16x16xf32>) {
      %p = tile.load %x[%o, %c0] : memref<80x32xbf16> -> tensor<16x32xbf16>
      %q0 = tile.load %y[%k, %c0] : memref<160x32xbf16> -> tensor<16x32xbf16>
      %q = arith.addf %q0, %q0 : tensor<16x32xbf16>
      %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
      %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
      scf.yield %s : tensor<16x16xf32>
    }
    scf.yield %i : tensor<16x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  return
}

func.func @loaded(%z: memref<16x16xf32>, %x: memref<16x160xbf16>, %y: memref<16x160xbf16>, %f: memref<16x80xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) {
    %p = tile.load %x[%c0, %k] : memref<16x160xbf16> -> tensor<16x32xbf16>
    %q = tile.load %y[%c0, %k] : memref<16x160xbf16> -> tensor<16x32xbf16>
    %g = tile.load %f[%c0, %k] : memref<16x80xf32> -> tensor<16x16xf32>
    %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
    %s = tile.mmaf %p, %t, %g : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    %u = arith.addf %s, %a : tensor<16x16xf32>
    scf.yield %u : tensor<16x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  return
}

func.func @last(%z: memref<16x16xf32>, %x: memref<16x160xbf16>, %y: memref<7x16x32xbf16>, %pages: memref<?xi32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %lo = arith.constant 2147483643 : i32
  %hi = arith.constant 2147483647 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %lo to %hi step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) : i32 {
    %d = arith.subi %k, %lo : i32
    %di = arith.index_cast %d : i32 to index
    %p = tile.load %x[%c0, %di] : memref<16x160xbf16> -> tensor<16x32xbf16>
    %pg = memref.load %pages[%di] : memref<?xi32>
    %pi = arith.index_cast %pg : i32 to index
    %q = tile.load %y[%pi, %c0, %c0] : memref<7x16x32xbf16> -> tensor<1x16x32xbf16>
    %q1 = tile.reshape %q : tensor<1x16x32xbf16> -> tensor<16x32xbf16>
    %t = tile.permute %q1 [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  return
}

func.func @square(%z: memref<32x32xf32>, %x: memref<32x160xf8E4M3FN>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32>) {
    %p = tile.load %x[%c0, %k] : memref<32x160xf8E4M3FN> -> tensor<32x64xf8E4M3FN>
    %t = tile.permute %p [1, 0] : tensor<32x64xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
    %s = tile.mmaf %p, %t, %a : tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  tile.store %r, %z[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  return
}
