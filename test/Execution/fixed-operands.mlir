// Loops in which something is the same in every iteration, and loops whose
// positions come from a table, as the pages of a cache do: zero, one, two and
// five iterations, one to four stages.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120a --grid=2

// An operand that stays is copied once, and reads of it keep their slot.
// RUN: %{run} --entry=stationary --num-stages=3 out:32x16 in:32x32 in:16x160 val:0 | FileCheck %s
// RUN: %{run} --entry=stationary --num-stages=3 out:32x16 in:32x32 in:16x160 val:1 | FileCheck %s
// RUN: %{run} --entry=stationary --num-stages=1 out:32x16 in:32x32 in:16x160 val:2 | FileCheck %s
// RUN: %{run} --entry=stationary --num-stages=4 --num-warps=2 --schedule=3 out:32x16 in:32x32 in:16x160 val:5 | FileCheck %s
// Nothing else to copy; and once for an outer loop, whose iterations copy too.
// RUN: %{run} --entry=alone out:32x16 in:32x32 in:16x32 val:0 | FileCheck %s
// RUN: %{run} --entry=alone --num-warps=2 out:32x16 in:32x32 in:16x32 val:5 | FileCheck %s
// RUN: %{run} --entry=nested --num-stages=2 --num-warps=2 --schedule=5 out:32x16 in:96x32 in:16x160 in:16x32 val:5 | FileCheck %s
// RUN: %{run} --entry=nested --num-stages=2 --num-warps=2 --schedule=5 out:32x16 in:96x32 in:16x160 in:16x32 val:0 | FileCheck %s
// A tile that no multiply takes stays in registers.
// RUN: %{run} --entry=held out:32x16 in:32x64 in:16x160 in:32x16 val:5 | FileCheck %s
// RUN: %{run} --entry=held out:32x16 in:32x64 in:16x160 in:32x16 val:0 | FileCheck %s
// Pages: the next of a table, and none past its end.
// RUN: %{run} --entry=pages --num-stages=3 out:32x16 in:32x160 in:7x16x32 in:0 val:0 | FileCheck %s
// RUN: %{run} --entry=pages --num-stages=3 out:32x16 in:32x160 in:7x16x32 in:1 val:1 | FileCheck %s
// RUN: %{run} --entry=pages --num-stages=4 out:32x16 in:32x160 in:7x16x32 in:2 val:2 | FileCheck %s
// RUN: %{run} --entry=pages --num-stages=2 --schedule=7 out:32x16 in:32x160 in:7x16x32 in:5 val:5 | FileCheck %s
// RUN: %{run} --entry=pages --num-stages=1 out:32x16 in:32x160 in:7x16x32 in:5 val:5 | FileCheck %s
// CHECK: sm_80: 512 elements agree
// CHECK: sm_120a: 512 elements agree

func.func @stationary(%z: memref<32x16xf32>, %x: memref<32x32xbf16>, %y: memref<16x160xbf16>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) {
    %p = tile.load %x[%m, %c0] : memref<32x32xbf16> -> tensor<16x32xbf16>
    %q = tile.load %y[%c0, %k] : memref<16x160xbf16> -> tensor<16x32xbf16>
    %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tile.store %r, %z[%m, %c0] : tensor<16x16xf32>, memref<32x16xf32>
  return
}

func.func @alone(%z: memref<32x16xf32>, %x: memref<32x32xbf16>, %y: memref<16x32xbf16>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) {
    %p = tile.load %x[%m, %c0] : memref<32x32xbf16> -> tensor<16x32xbf16>
    %q = tile.load %y[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
    %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tile.store %r, %z[%m, %c0] : tensor<16x16xf32>, memref<32x16xf32>
  return
}

// %p changes with the outer loop alone, %w never.
func.func @nested(%z: memref<32x16xf32>, %x: memref<96x32xbf16>, %y: memref<16x160xbf16>, %w: memref<16x32xbf16>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %m = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %o = %c0 to %c3 step %c1 iter_args(%b = %zero) -> (tensor<16x16xf32>) {
    %row = arith.muli %o, %c2 : index
    %at = arith.addi %row, %m : index
    %i = scf.for %k = %c0 to %n step %c1 iter_args(%a = %b) -> (tensor<16x16xf32>) {
      %p = tile.load %x[%at, %c0] : memref<96x32xbf16> -> tensor<16x32xbf16>
      %q = tile.load %y[%c0, %k] : memref<16x160xbf16> -> tensor<16x32xbf16>
      %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
      %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
      %v = tile.load %w[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
      %vt = tile.permute %v [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
      %u = tile.mmaf %p, %vt, %s : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
      scf.yield %u : tensor<16x16xf32>
    }
    scf.yield %i : tensor<16x16xf32>
  }
  tile.store %r, %z[%m, %c0] : tensor<16x16xf32>, memref<32x16xf32>
  return
}

func.func @held(%z: memref<32x16xf32>, %x: memref<32x64xbf16>, %y: memref<16x160xbf16>, %f: memref<32x16xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) {
    %p = tile.load %x[%m, %k] : memref<32x64xbf16> -> tensor<16x32xbf16>
    %q = tile.load %y[%c0, %k] : memref<16x160xbf16> -> tensor<16x32xbf16>
    %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    %g = tile.load %f[%m, %c0] : memref<32x16xf32> -> tensor<16x16xf32>
    %h = arith.addf %s, %g : tensor<16x16xf32>
    scf.yield %h : tensor<16x16xf32>
  }
  tile.store %r, %z[%m, %c0] : tensor<16x16xf32>, memref<32x16xf32>
  return
}

// The table has just as many numbers as there are iterations, so that one more is
// out of bounds; a page is one of seven.
func.func @pages(%z: memref<32x16xf32>, %x: memref<32x160xbf16>, %y: memref<7x16x32xbf16>, %table: memref<?xi32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %m = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) {
    %p = tile.load %x[%m, %k] : memref<32x160xbf16> -> tensor<16x32xbf16>
    %v = memref.load %table[%k] : memref<?xi32>
    %w = arith.index_castui %v : i32 to index
    %page = arith.remui %w, %c7 : index
    %b = tile.load %y[%page, %c0, %c0] : memref<7x16x32xbf16> -> tensor<1x16x32xbf16>
    %q = tile.reshape %b : tensor<1x16x32xbf16> -> tensor<16x32xbf16>
    %t = tile.permute %q [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tile.store %r, %z[%m, %c0] : tensor<16x16xf32>, memref<32x16xf32>
  return
}
