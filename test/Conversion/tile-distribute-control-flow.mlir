// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 | FileCheck %s

// A loop carries a lane's elements instead of the tile, next to its scalars and
// in their order.
// CHECK-LABEL: llvm.func @for_loop(
// CHECK: %[[INIT:.*]]:2 = scf.if
// CHECK: %[[OUT:.*]]:3 = scf.for %{{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[A:.*]] = %[[INIT]]#0, %[[B:.*]] = %[[INIT]]#1) -> (f32, f32, f32) {
// CHECK: %[[A2:.*]] = arith.mulf %[[A]], %[[S]] : f32
// CHECK: %[[B2:.*]] = arith.mulf %[[B]], %[[S]] : f32
// CHECK: scf.yield %[[S]], %[[A2]], %[[B2]]
// CHECK: arith.addf %[[OUT]]#1, %[[OUT]]#1
// CHECK: arith.addf %[[OUT]]#2, %[[OUT]]#2
#pairs = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @for_loop(%x: memref<64xf32>, %s: f32, %n: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = tile.load %x[%c0] : memref<64xf32> -> tensor<64xf32, #pairs>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%f = %s, %t = %init)
      -> (f32, tensor<64xf32, #pairs>) {
    %v = tensor.splat %f : tensor<64xf32, #pairs>
    %p = arith.mulf %t, %v : tensor<64xf32, #pairs>
    scf.yield %f, %p : f32, tensor<64xf32, #pairs>
  }
  %d = arith.addf %r#1, %r#1 : tensor<64xf32, #pairs>
  tile.store %d, %x[%c0] : tensor<64xf32, #pairs>, memref<64xf32>
  return
}

// -----

// Packed tiles are carried as words of i32: a loop over FP4 or bytes must not
// need block arguments of such types.
// CHECK-LABEL: llvm.func @packed_loop(
// CHECK: scf.for {{.*}} -> (i32) {
#codes = #tile.layout<register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []>
func.func @packed_loop(%x: memref<64xf32>, %n: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<1.0> : tensor<256xf4E2M1FN, #codes>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %init)
      -> (tensor<256xf4E2M1FN, #codes>) {
    scf.yield %t : tensor<256xf4E2M1FN, #codes>
  }
  return
}

// -----

// A loop over unsigned bounds stays one: an extent above 2^63 is not negative.
// CHECK-LABEL: llvm.func @unsigned_loop(
// CHECK: scf.for unsigned
func.func @unsigned_loop(%x: memref<64xf32>, %n: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for unsigned %i = %c0 to %n step %c1 {
  }
  return
}

// -----

// CHECK-LABEL: llvm.func @branches(
// CHECK-SAME: %[[B:[^:,]*]]: i1)
// CHECK: %[[R:.*]]:2 = scf.if %[[B]] -> (f32, f32) {
// CHECK: scf.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: } else {
// CHECK: scf.yield %{{.*}}, %{{.*}} : f32, f32
#pairs = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @branches(%x: memref<64xf32>, %b: i1)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %r = scf.if %b -> tensor<64xf32, #pairs> {
    %t = tile.load %x[%c0] : memref<64xf32> -> tensor<64xf32, #pairs>
    scf.yield %t : tensor<64xf32, #pairs>
  } else {
    %z = arith.constant dense<0.0> : tensor<64xf32, #pairs>
    scf.yield %z : tensor<64xf32, #pairs>
  }
  tile.store %r, %x[%c0] : tensor<64xf32, #pairs>, memref<64xf32>
  return
}

// -----

// A branch without results and without an else keeps that form.
// CHECK-LABEL: llvm.func @one_branch(
// CHECK-SAME: %[[B:[^:,]*]]: i1)
// CHECK: scf.if %[[B]] {
// CHECK: llvm.store
// CHECK-NOT: else
// CHECK: llvm.return
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @one_branch(%x: memref<32xf32>, %b: i1)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<1.0> : tensor<32xf32, #one>
  scf.if %b {
    tile.store %z, %x[%c0] : tensor<32xf32, #one>, memref<32xf32>
  }
  return
}

// -----

// What the condition forwards, the body yields and the loop returns are three
// lists of elements.
// CHECK-LABEL: llvm.func @while_loop(
// CHECK: %[[R:.*]]:3 = scf.while (%[[I:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : (index, f32, f32) -> (index, f32, f32) {
// CHECK: scf.condition(%{{.*}}) %[[I]], %[[A]], %[[B]] : index, f32, f32
// CHECK: ^bb0(%[[I2:.*]]: index, %[[A2:.*]]: f32, %[[B2:.*]]: f32):
// CHECK: %[[NEXT:.*]] = arith.addi %[[I2]], %{{.*}} : index
// CHECK: scf.yield %[[NEXT]], %[[A2]], %[[B2]] : index, f32, f32
#pairs = #tile.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
func.func @while_loop(%x: memref<64xf32>, %n: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<1.0> : tensor<64xf32, #pairs>
  %r:2 = scf.while (%i = %c0, %t = %init)
      : (index, tensor<64xf32, #pairs>) -> (index, tensor<64xf32, #pairs>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %t : index, tensor<64xf32, #pairs>
  } do {
  ^bb0(%i: index, %t: tensor<64xf32, #pairs>):
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %t : index, tensor<64xf32, #pairs>
  }
  return
}

// -----

// A store of one step and a load of the next may be of different lanes: the
// barrier stands in the loop. Two loads need none.
// CHECK-LABEL: llvm.func @order_around_a_loop(
// CHECK: scf.for
// CHECK: nvvm.barrier0
// CHECK: llvm.load
// CHECK: nvvm.barrier0
// CHECK: llvm.store
// CHECK: llvm.return
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @order_around_a_loop(%x: memref<32xf32>, %n: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.load %x[%i] : memref<32xf32> -> tensor<32xf32, #one>
    tile.store %t, %x[%c0] : tensor<32xf32, #one>, memref<32xf32>
  }
  return
}
