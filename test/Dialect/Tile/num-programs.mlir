// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func @all_dimensions
func.func @all_dimensions() -> (index, index, index) {
  // CHECK: tile.num_programs 0{{$}}
  // CHECK: tile.num_programs 1{{$}}
  // CHECK: tile.num_programs 2{{$}}
  %x = tile.num_programs 0
  %y = tile.num_programs 1
  %z = tile.num_programs 2
  return %x, %y, %z : index, index, index
}
