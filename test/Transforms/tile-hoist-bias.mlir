// RUN: tile-opt %s --tile-hoist-bias | FileCheck %s

!x = tensor<16x64xf4E2M1FN>
!y = tensor<64x8xf4E2M1FN>
!sx = tensor<16x4xf8E4M3FN>
!sy = tensor<4x8xf8E4M3FN>
!acc = tensor<16x8xf32>

// A sum from zero through two loops: both operands carry 2^-8.
// CHECK-LABEL: func.func @nested
// CHECK: %[[S:.*]] = scf.for
// CHECK: scf.for
// CHECK: tile.mmaf_scaled {{.*}}exponent = -16 : i32
// CHECK: %[[F:.*]] = arith.constant dense<6.553600e+04> : tensor<16x8xf32>
// CHECK: %[[R:.*]] = arith.mulf %[[S]], %[[F]]
// CHECK: return %[[R]]
func.func @nested(%x: !x, %y: !y, %sx: !sx, %sy: !sy, %n: index) -> !acc {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!acc) {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (!acc) {
      %t = tile.mmaf_scaled %x, %y, %b, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"} : !x, !y, !acc, !sx, !sy
      scf.yield %t : !acc
    }
    scf.yield %s : !acc
  }
  return %r : !acc
}

// One multiply: the result is corrected, for every user.
// CHECK-LABEL: func.func @single
// CHECK: %[[S:.*]] = tile.mmaf_scaled {{.*}}exponent = -8 : i32
// CHECK: %[[F:.*]] = arith.constant dense<2.560000e+02>
// CHECK: %[[R:.*]] = arith.mulf %[[S]], %[[F]]
// CHECK: return %[[R]], %[[R]]
func.func @single(%x: tensor<16x64xbf16>, %y: !y, %sy: !sy) -> (!acc, !acc) {
  %zero = arith.constant dense<0.0> : !acc
  %t = tile.mmaf_scaled %x, %y, %zero, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"} : tensor<16x64xbf16>, !y, !acc, !sy
  return %t, %t : !acc, !acc
}

// A sum that starts elsewhere, that something looks at in the loop, that is more
// than the sum, native, of f16, of E8M0 scales: as it was.
// CHECK-LABEL: func.func @start
// CHECK-NOT: exponent
func.func @start(%x: !x, %y: !y, %sx: !sx, %sy: !sy, %a: !acc) -> !acc {
  %t = tile.mmaf_scaled %x, %y, %a, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"} : !x, !y, !acc, !sx, !sy
  return %t : !acc
}

// CHECK-LABEL: func.func @watched
// CHECK-NOT: exponent
func.func @watched(%x: !x, %y: !y, %sx: !sx, %sy: !sy, %n: index) -> !acc {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !acc
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (!acc, !acc) {
    %t = tile.mmaf_scaled %x, %y, %a, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"} : !x, !y, !acc, !sx, !sy
    scf.yield %t, %a : !acc, !acc
  }
  return %r#1 : !acc
}

// CHECK-LABEL: func.func @more
// CHECK-NOT: exponent
func.func @more(%x: !x, %y: !y, %sx: !sx, %sy: !sy, %n: index) -> !acc {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!acc) {
    %t = tile.mmaf_scaled %x, %y, %a, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"} : !x, !y, !acc, !sx, !sy
    %u = arith.addf %t, %t : !acc
    scf.yield %u : !acc
  }
  return %r : !acc
}

// CHECK-LABEL: func.func @native
// CHECK-NOT: exponent
func.func @native(%x: !x, %y: !y, %sx: !sx, %sy: !sy) -> !acc {
  %zero = arith.constant dense<0.0> : !acc
  %t = tile.mmaf_scaled %x, %y, %zero, %sx, %sy {atom = "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3", path = "native"} : !x, !y, !acc, !sx, !sy
  return %t : !acc
}

// CHECK-LABEL: func.func @half
// CHECK-NOT: exponent
func.func @half(%x: tensor<16x64xf16>, %y: !y, %sy: !sy) -> !acc {
  %zero = arith.constant dense<0.0> : !acc
  %t = tile.mmaf_scaled %x, %y, %zero, %sy {atom = "m16n8k16.f16.f16", path = "expand"} : tensor<16x64xf16>, !y, !acc, !sy
  return %t : !acc
}

// CHECK-LABEL: func.func @powers
// CHECK-NOT: exponent
func.func @powers(%x: !x, %y: !y, %sx: tensor<16x2xf8E8M0FNU>, %sy: tensor<2x8xf8E8M0FNU>) -> !acc {
  %zero = arith.constant dense<0.0> : !acc
  %t = tile.mmaf_scaled %x, %y, %zero, %sx, %sy {atom = "m16n8k16.bf16.bf16", path = "expand"} : !x, !y, !acc, tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>
  return %t : !acc
}
