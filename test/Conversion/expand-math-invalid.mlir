// RUN: tile-opt %s --tile-expand-math --split-input-file --verify-diagnostics

func.func @other_function(%x: f32) -> f32 {
  // expected-error @+1 {{'math.tan' op on 'f32' is not lowered; the math operations of a kernel are absf, ceil, cos, erf, exp, exp2, floor, fma, log, log2, roundeven, rsqrt, sin, sqrt, tanh and trunc on f32, f16 and bf16}}
  %y = math.tan %x : f32
  return %y : f32
}

// -----

func.func @every_error_is_reported(%x: f32, %n: i32) -> (i1, i32, f32) {
  // expected-error @+1 {{'math.isnan' op on 'f32' is not lowered}}
  %a = math.isnan %x : f32
  // expected-error @+1 {{'math.ctpop' op on 'i32' is not lowered}}
  %b = math.ctpop %n : i32
  // expected-error @+1 {{'math.sincos' op on 'f32' is not lowered}}
  %c, %d = math.sincos %x : f32
  return %a, %b, %c : i1, i32, f32
}

// -----

func.func @other_type(%x: f64) -> f64 {
  // expected-error @+1 {{'math.exp' op on 'f64' is not lowered}}
  %y = math.exp %x : f64
  return %y : f64
}

// -----

func.func @remainder_of_f64(%x: f64) -> f64 {
  // expected-error @+1 {{'arith.remf' op on 'f64' is not lowered; expected f32, f16 or bf16}}
  %y = arith.remf %x, %x : f64
  return %y : f64
}

// -----

func.func @rounding_mode(%x: f32) -> f16 {
  // expected-error @+1 {{'arith.truncf' op with rounding mode toward_zero is not lowered; expected to_nearest_even}}
  %y = arith.truncf %x toward_zero : f32 to f16
  return %y : f16
}
