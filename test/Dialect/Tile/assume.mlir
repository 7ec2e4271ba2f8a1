// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @every_fact
// CHECK-SAME: %[[I:.*]]: index
func.func @every_fact(%i: index) -> index {
  // CHECK: tile.assume %[[I]] {divisible_by = 16 : i64, max = 4095 : i64, min = -16 : i64} : index
  %j = tile.assume %i {divisible_by = 16 : i64, min = -16 : i64, max = 4095 : i64} : index
  return %j : index
}

// CHECK-LABEL: func @one_fact
func.func @one_fact(%i: index) -> index {
  // CHECK: tile.assume %{{.*}} {min = 0 : i64} : index
  %j = tile.assume %i {min = 0 : i64} : index
  return %j : index
}

// CHECK-LABEL: func @no_fact
func.func @no_fact(%i: index) -> index {
  // CHECK: tile.assume %{{.*}} : index
  %j = tile.assume %i : index
  return %j : index
}
