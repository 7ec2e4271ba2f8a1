// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @all_dimensions
func.func @all_dimensions() -> (index, index, index) {
  // CHECK: %[[X:.*]] = tile.program_id 0{{$}}
  // CHECK: %[[Y:.*]] = tile.program_id 1{{$}}
  // CHECK: %[[Z:.*]] = tile.program_id 2{{$}}
  // CHECK: return %[[X]], %[[Y]], %[[Z]]
  %x = tile.program_id 0
  %y = tile.program_id 1
  %z = tile.program_id 2
  return %x, %y, %z : index, index, index
}
