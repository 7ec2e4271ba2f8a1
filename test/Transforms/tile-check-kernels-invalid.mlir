// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-check-kernels

// An operation that nothing lowers is named, not left for a later pass to
// stumble over.
func.func @unknown_operation(%x: memref<32xf32>) attributes {tile.kernel} {
  // expected-error @below {{'memref.assume_alignment' op is not allowed in a kernel}}
  %y = memref.assume_alignment %x, 16 : memref<32xf32>
  return
}

// -----

// The scale of this operation is cut to a power of two: 1.5 would act as 1.
func.func @scaling_extension(%x: memref<32xf32>) attributes {tile.kernel} {
  %v = arith.constant dense<1.0> : tensor<32xf4E2M1FN>
  %s = arith.constant dense<1.5> : tensor<32xf8E4M3FN>
  // expected-error @below {{'arith.scaling_extf' op is not allowed in a kernel}}
  %y = arith.scaling_extf %v, %s : tensor<32xf4E2M1FN>, tensor<32xf8E4M3FN> to tensor<32xf32>
  return
}

// -----

func.func @scaling_truncation(%x: memref<32xf32>) attributes {tile.kernel} {
  %v = arith.constant dense<1.0> : tensor<32xf32>
  %s = arith.constant dense<1.5> : tensor<32xf8E4M3FN>
  // expected-error @below {{'arith.scaling_truncf' op is not allowed in a kernel}}
  %y = arith.scaling_truncf %v, %s : tensor<32xf32>, tensor<32xf8E4M3FN> to tensor<32xf4E2M1FN>
  return
}

// -----

// A function without an accurate expansion would abort the back end.
func.func @unknown_function(%x: memref<32xf32>, %s: f32) attributes {tile.kernel} {
  // expected-error @below {{'math.atan2' op is not allowed in a kernel}}
  %y = math.atan2 %s, %s : f32
  return
}

// -----

// Every fault of a kernel is reported, not the first alone.
func.func @two_faults(%x: memref<32xf32>, %s: f32) attributes {tile.kernel} {
  // expected-error @below {{'math.tan' op is not allowed in a kernel}}
  %y = math.tan %s : f32
  // expected-error @below {{'math.powf' op is not allowed in a kernel}}
  %z = math.powf %s, %s : f32
  return
}

// -----

// Inside a loop as outside.
func.func @inside_a_loop(%x: memref<32xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{'memref.store' op is not allowed in a kernel}}
    memref.store %f, %x[%i] : memref<32xf32>
  }
  return
}

// -----

// What inlining left is a call that it could not inline.
func.func private @recursive(%x: i32) -> i32 {
  %y = func.call @recursive(%x) : (i32) -> i32
  return %y : i32
}
func.func @calls(%x: memref<32xf32>, %s: i32) attributes {tile.kernel} {
  // expected-error @below {{'func.call' op to 'recursive' cannot be inlined: it is recursive or has no body}}
  %y = func.call @recursive(%s) : (i32) -> i32
  return
}

// -----

// A public function would be erased though somebody may call it.
// expected-error @below {{'func.func' op expects a function without 'tile.kernel' to be private}}
func.func @public() {
  return
}
func.func @kernel(%x: memref<32xf32>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @below {{expects a module with at least one 'tile.kernel' function}}
module {
  func.func private @no_kernel() {
    return
  }
}

// -----

// expected-error @below {{'memref.global' op is not allowed beside kernels}}
memref.global @table : memref<4xf32>
func.func @kernel(%x: memref<32xf32>) attributes {tile.kernel} {
  return
}

// -----

// The back end has no division of such integers, and says so without a place.
func.func @wide_integer(%n: i32) attributes {tile.kernel} {
  // expected-error @below {{'arith.extsi' op expects tiles and scalars of i1, i8, i16, i32, i64, index, f16, bf16 or f32, but got 'i128'}}
  %e = arith.extsi %n : i32 to i128
  return
}

// -----

func.func @vector(%n: i32) attributes {tile.kernel} {
  // expected-error @below {{but got 'vector<4xf32>'}}
  %c = arith.constant dense<1.0> : vector<4xf32>
  return
}

// -----

func.func @fp8_arithmetic(%n: i32) attributes {tile.kernel} {
  %c = arith.constant dense<1.0> : tensor<32xf8E4M3FN>
  // expected-error @below {{'arith.addf' op has no arithmetic on 'f8E4M3FN' elements; convert them with 'tile.ftof'}}
  %s = arith.addf %c, %c : tensor<32xf8E4M3FN>
  return
}

// -----

// Layouts are the compiler's to choose.
#layout = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @encoding(%x: memref<32xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.load' op expects tiles without an encoding}}
  %t = tile.load %x[%c0] : memref<32xf32> -> tensor<32xf32, #layout>
  return
}

// -----

func.func @sparse(%n: i32) attributes {tile.kernel} {
  // expected-error @below {{'arith.constant' op expects dense elements or a dense resource}}
  %c = arith.constant sparse<[[3]], [2.0]> : tensor<16xf32>
  return
}

// -----

func.func @memref_from_a_branch(%x: memref<32xf32>, %y: memref<32xf32>, %c: i1)
    attributes {tile.kernel} {
  // expected-error @below {{'scf.if' op expects to carry tiles and scalars, but got 'memref<32xf32>'}}
  %m = scf.if %c -> memref<32xf32> {
    scf.yield %x : memref<32xf32>
  } else {
    scf.yield %y : memref<32xf32>
  }
  %c0 = arith.constant 0 : index
  %t = tile.load %m[%c0] : memref<32xf32> -> tensor<32xf32>
  tile.store %t, %x[%c0] : tensor<32xf32>, memref<32xf32>
  return
}

// -----

// The operation that was written is named, not one inside it.
func.func @forall(%x: memref<32xf32>) attributes {tile.kernel} {
  // expected-error @below {{'scf.forall' op is not allowed in a kernel}}
  scf.forall (%i) in (4) {
  }
  return
}

// -----

func.func @resource_of_another_size(%n: i32) attributes {tile.kernel} {
  // expected-error @below {{'arith.constant' op expects a resource of 16 bytes, but got 3}}
  %c = arith.constant dense_resource<three> : tensor<16x!tile.f4E2M1FNx2>
  return
}

{-# dialect_resources: { builtin: { three: "0x04000000010203" } } #-}
