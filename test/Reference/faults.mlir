// RUN: %python %S/Inputs/npy.py make %t.x.npy i4 8 hash:1:50
// RUN: not tile-run %s --device=reference --entry=store_to_input --grid=2 in:%t.x.npy 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not tile-run %s --device=reference --entry=assumption --grid=9 2>&1 | FileCheck %s --check-prefix=ASSUME
// RUN: not tile-run %s --device=reference --entry=division --grid=3 2>&1 | FileCheck %s --check-prefix=DIVISION
// RUN: not tile-run %s --device=reference --entry=recursion --grid=1 2>&1 | FileCheck %s --check-prefix=RECURSION

// INPUT: faults.mlir:[[#@LINE+4]]:3: error: 'tile.store' op writes to argument 0 (x), which is an input, in tile program (0, 0, 0)
func.func @store_to_input(%x : memref<?xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1> : tensor<4xi32>
  tile.store %t, %x[%c0] : tensor<4xi32>, memref<?xi32>
  return
}

// ASSUME: faults.mlir:[[#@LINE+3]]:8: error: 'tile.assume' op expects at most 6, but got 7, in tile program (7, 0, 0)
func.func @assumption() attributes {tile.kernel} {
  %p = tile.program_id 0
  %q = tile.assume %p {max = 6 : i64} : index
  return
}

// DIVISION: faults.mlir:[[#@LINE+5]]:8: error: 'arith.divui' op divides by zero, in tile program (1, 0, 0)
func.func @division() attributes {tile.kernel} {
  %c1 = arith.constant 1 : index
  %p = tile.program_id 0
  %d = arith.subi %p, %c1 : index
  %q = arith.divui %c1, %d : index
  return
}

// RECURSION: faults.mlir:[[#@LINE+6]]:3: error: 'func.call' op calls '@again' recursively
func.func @recursion() attributes {tile.kernel} {
  func.call @again() : () -> ()
  return
}
func.func private @again() {
  func.call @again() : () -> ()
  return
}
