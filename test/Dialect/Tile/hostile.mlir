// RUN: tile-opt %s --split-input-file --verify-diagnostics

// What no printer writes, but a file may hold. Each must end in a diagnostic.

// expected-error @below {{requires attribute 'function_type'}}
"func.func"() ({}) {tile.kernel, sym_name = "no_type"} : () -> ()

// -----

// expected-error @below {{requires attribute 'sym_name'}}
"func.func"() <{function_type = () -> ()}> ({
  func.return
}) {tile.kernel} : () -> ()

// -----

func.func @no_dim() {
  // expected-error @below {{requires attribute 'dim'}}
  %0 = "tile.program_id"() : () -> index
  return
}

// -----

func.func @wide_dim() {
  // expected-error @below {{attribute 'dim' failed to satisfy constraint}}
  %0 = "tile.program_id"() {dim = 4294967296 : i64} : () -> index
  return
}

// -----

func.func @no_permutation(%x: tensor<4xf32>) {
  // expected-error @below {{requires attribute 'permutation'}}
  %0 = "tile.permute"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_kind(%x: tensor<4xf32>) {
  // expected-error @below {{requires attribute 'kind'}}
  %0 = "tile.reduce"(%x) {dim = 0 : i64} : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @kind_out_of_range(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'kind' failed to satisfy constraint}}
  %0 = "tile.reduce"(%x) {dim = 0 : i64, kind = 77 : i32} : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @huge_dim(%x: tensor<4xf32>) {
  // expected-error @below {{expects a dimension below 1, but got 9223372036854775807}}
  %0 = tile.reduce add %x [9223372036854775807] : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @segments(%x: memref<?xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  %0 = "tile.gather"(%x, %i) {operandSegmentSizes = array<i32: 1, 1, 1>} : (memref<?xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_scale(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>, %c: tensor<16x8xf32>) {
  // expected-error @below {{expects 2 scale operands for 'f4E2M1FN' by 'f4E2M1FN', but got 0}}
  %0 = "tile.mmaf_scaled"(%a, %b, %c) : (tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @no_operand() {
  // expected-error @below {{expected 3 or more operands, but found 0}}
  %0 = "tile.mmaf_scaled"() : () -> tensor<16x8xf32>
  return
}

// -----

func.func @mixed_ranks(%a: tensor<2x16x64xf4E2M1FN>, %b: tensor<2x64x8xf4E2M1FN>, %c: tensor<2x16x8xf32>, %s: tensor<16x4xf8E4M3FN>) {
  // expected-error @below {{expects the scale of lhs to be 2x16x(K/V)}}
  %0 = tile.mmaf_scaled %a, %b, %c, %s, %s : tensor<2x16x64xf4E2M1FN>, tensor<2x64x8xf4E2M1FN>, tensor<2x16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<16x4xf8E4M3FN>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @below {{expected builtin.tensor, but found 'tensor<*xf32>'}}
  %0 = tile.reshape %x : tensor<*xf32> -> tensor<4xf32>
  return
}

// -----

func.func @not_a_tensor(%x: vector<4xf32>) {
  // expected-error @below {{invalid kind of type specified: expected builtin.tensor, but found 'vector<4xf32>'}}
  %0 = tile.permute %x [0] : vector<4xf32> -> vector<4xf32>
  return
}

// -----

func.func @unranked_memory(%x: memref<*xf32>, %i: index) {
  // expected-error @below {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xf32>'}}
  %0 = tile.load %x[%i] : memref<*xf32> -> tensor<4xf32>
  return
}

// -----

func.func @signed_elements(%x: memref<?xsi8>, %i: index) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.load %x[%i] : memref<?xsi8> -> tensor<4xsi8>
  return
}

// -----

func.func @huge_element() {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.iota : tensor<4xi16777215>
  return
}

// -----

func.func @many_extents(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{result #0 must be tile}}
  %0 = tile.load %x[%i] : memref<?xf32> -> tensor<1048576x1048576x1048576x1048576x1048576x1048576xf32>
  return
}

// -----

// expected-error @below {{expected 'register'}}
func.func private @empty_layout(tensor<4xf32, #tile.layout<>>)

// -----

// expected-error @below {{unknown  type `nothing` in dialect `tile`}}
func.func private @unknown_type(tensor<4x!tile.nothing>)

// -----

// expected-error @below {{unknown attribute `nothing` in dialect `tile`}}
func.func private @unknown_attribute(tensor<4xf32, #tile.nothing>)

// -----

// expected-error @below {{unregistered operation 'tile.nothing' found in dialect ('tile') that does not allow unknown operations}}
"tile.nothing"() : () -> ()

// -----

func.func @extra_operand(%i: index) {
  // expected-error @below {{custom op 'tile.mma' is unknown}}
  tile.mma %i : index
  return
}
