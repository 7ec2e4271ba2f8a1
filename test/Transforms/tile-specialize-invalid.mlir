// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k bind=1:3})' 2>&1 | FileCheck %s --check-prefix=ARRAY
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k bind=3:3})' 2>&1 | FileCheck %s --check-prefix=FLOAT
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k bind=4:3})' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k bind=2:256})' 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k bind=2:x})' 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k shape=0:3})' 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k shape=1:3})' 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k shape=1:16x-4})' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k shape=1:16x32})' 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=k shape=1:24x64})' 2>&1 | FileCheck %s --check-prefix=PROMISE
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{bind=0:3})' 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-specialize{entry=q bind=0:3})' 2>&1 | FileCheck %s --check-prefix=ENTRY

// ARRAY: error: expects to bind an integer, but argument 1 is of type 'memref<?x64xf32>'
// FLOAT: error: expects to bind an integer, but argument 3 is of type 'f32'
// NONE: error: expects bind=ARGUMENT:VALUE with an argument from 0 to 3, but got '4:3'
// LARGE: error: expects a value of 'i8' for argument 2, but got '256'
// TEXT: error: expects a value of 'i8' for argument 2, but got 'x'
// SCALAR: error: expects extents for a memref, but argument 0 is of type 'index'
// RANK: error: expects 2 extents for argument 1, but got '3'
// NEGATIVE: error: expects extent 1 of argument 1 to be '?' or an integer that is not negative, but got '-4'
// STATIC: error: expects extent 1 of argument 1 to be 64 as its type says, but got 32
// PROMISE: error: 'func.func' op expects the extent 24 of dimension 0 of argument 1 to be divisible by 16
// SEVERAL: error: has several kernels; choose one with 'entry'
// ENTRY: error: has no kernel 'q'
func.func @k(%n: index, %x: memref<?x64xf32> {tile.shape_divisible_by = array<i64: 16, 1>}, %b: i8, %f: f32) attributes {tile.kernel} {
  return
}
func.func @l() attributes {tile.kernel} {
  return
}
