// RUN: tile-opt %s --tile-expand-math --split-input-file | FileCheck %s

// What each function computes is measured by unittests/Conversion; here is
// which instructions it becomes.

// The square is taken last, so that the exponential neither overflows nor is
// flushed.
// CHECK-LABEL: @exp
// CHECK-SAME: (%[[X:.*]]: f32)
func.func @exp(%x: f32) -> f32 {
  // CHECK: %[[LOW:.*]] = arith.maximumf %[[X]]
  // CHECK: %[[IN:.*]] = arith.minimumf %[[LOW]]
  // CHECK: %[[H:.*]] = arith.mulf %[[IN]]
  // CHECK: %[[C:.*]] = llvm.intr.fma(%[[H]], %{{.*}}, %[[IN]])
  // CHECK: %[[D:.*]] = llvm.intr.fma(%[[H]], %{{.*}}, %[[C]])
  // CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[H]])
  // CHECK: %[[F:.*]] = llvm.intr.fma(%[[E]], %[[D]], %[[E]])
  // CHECK: %[[R:.*]] = arith.mulf %[[E]], %[[F]]
  // CHECK: return %[[R]]
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: @exp2
func.func @exp2(%x: f32) -> f32 {
  // CHECK-NEXT: llvm.intr.exp2(%{{.*}}) : (f32) -> f32
  %y = math.exp2 %x : f32
  return %y : f32
}

// -----

// ex2.approx.f16 has 10 bits, so f16 is computed in f32 and rounded once.
// CHECK-LABEL: @exp2_f16
func.func @exp2_f16(%x: f16) -> f16 {
  // CHECK-NEXT: %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK-NEXT: %[[Y:.*]] = llvm.intr.exp2(%[[X]]) : (f32) -> f32
  // CHECK-NEXT: arith.truncf %[[Y]] : f32 to f16
  %y = math.exp2 %x : f16
  return %y : f16
}

// -----

// lg2.approx has no relative accuracy near 1.
// CHECK-LABEL: @log
func.func @log(%x: f32) -> f32 {
  // CHECK-NOT: call_intrinsic
  // CHECK-COUNT-8: llvm.intr.fma
  // CHECK-NOT: llvm.intr.fma
  %y = math.log %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: @log2_bf16
func.func @log2_bf16(%x: bf16) -> bf16 {
  // CHECK: arith.extf
  // CHECK-NOT: call_intrinsic
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  // CHECK-NEXT: return
  %y = math.log2 %x : bf16
  return %y : bf16
}

// -----

// CHECK-LABEL: @rsqrt
func.func @rsqrt(%x: f32) -> f32 {
  // CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(
  %y = math.rsqrt %x : f32
  return %y : f32
}

// -----

// Both methods run; no branch.
// CHECK-LABEL: @tanh
func.func @tanh(%x: f32) -> f32 {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: nvvm.rcp.approx.ftz.f
  // CHECK: %[[SMALL:.*]] = arith.cmpf olt
  // CHECK: arith.select %[[SMALL]]
  %y = math.tanh %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: @erf
func.func @erf(%x: f32) -> f32 {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: %[[SMALL:.*]] = arith.cmpf olt
  // CHECK: arith.select %[[SMALL]]
  %y = math.erf %x : f32
  return %y : f32
}

// -----

// pi/2 in three parts.
// CHECK-LABEL: @sin
// CHECK-SAME: (%[[X:.*]]: f32)
func.func @sin(%x: f32) -> f32 {
  // CHECK: %[[SHIFTED:.*]] = llvm.intr.fma(%[[X]]
  // CHECK: %[[N:.*]] = arith.subf %[[SHIFTED]]
  // CHECK: %[[R1:.*]] = llvm.intr.fma(%[[N]], %{{.*}}, %[[X]])
  // CHECK: %[[R2:.*]] = llvm.intr.fma(%[[N]], %{{.*}}, %[[R1]])
  // CHECK: llvm.intr.fma(%[[N]], %{{.*}}, %[[R2]])
  %y = math.sin %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: @exact
func.func @exact(%x: bf16, %y: bf16) -> bf16 {
  // CHECK-NEXT: llvm.intr.fabs(%{{.*}}) : (bf16) -> bf16
  %0 = math.absf %x : bf16
  // CHECK-NEXT: llvm.intr.ceil(%{{.*}}) : (bf16) -> bf16
  %1 = math.ceil %0 : bf16
  // CHECK-NEXT: llvm.intr.floor(%{{.*}}) : (bf16) -> bf16
  %2 = math.floor %1 : bf16
  // CHECK-NEXT: llvm.intr.fma(%{{.*}}) : (bf16, bf16, bf16) -> bf16
  %3 = math.fma %2, %y, %x : bf16
  // CHECK-NEXT: llvm.intr.roundeven(%{{.*}}) : (bf16) -> bf16
  %4 = math.roundeven %3 : bf16
  // CHECK-NEXT: llvm.intr.sqrt(%{{.*}}) : (bf16) -> bf16
  %5 = math.sqrt %4 : bf16
  // CHECK-NEXT: llvm.intr.trunc(%{{.*}}) : (bf16) -> bf16
  %6 = math.trunc %5 : bf16
  return %6 : bf16
}

// -----

// CHECK-LABEL: @tensors_stay
func.func @tensors_stay(%x: tensor<4xf32>, %n: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: math.tan %{{.*}} fastmath<fast> : tensor<4xf32>
  %0 = math.tan %x fastmath<fast> : tensor<4xf32>
  // CHECK-NEXT: arith.divsi %{{.*}} : tensor<4xi32>
  %1 = arith.divsi %n, %n : tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// The back end would fuse the two and reorder the sum.
// CHECK-LABEL: @fastmath_is_dropped
func.func @fastmath_is_dropped(%x: f32, %y: f32) -> i1 {
  // CHECK-NEXT: arith.mulf %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : f32
  %0 = arith.mulf %x, %y fastmath<contract> : f32
  // CHECK-NEXT: arith.addf %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : f32
  %1 = arith.addf %0, %y fastmath<fast> : f32
  // CHECK-NEXT: arith.cmpf olt, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : f32
  %2 = arith.cmpf olt, %1, %x fastmath<nnan> : f32
  return %2 : i1
}

// -----

// CHECK-LABEL: @division
// CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i32)
func.func @division(%a: i32, %b: i32) -> i32 {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: %[[UNSAFE:.*]] = arith.cmpi eq, %[[B]], %[[ZERO]]
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[SAFE:.*]] = arith.select %[[UNSAFE]], %[[ONE]], %[[B]]
  // CHECK: arith.divui %[[A]], %[[SAFE]]
  %0 = arith.divui %a, %b : i32
  return %0 : i32
}

// -----

// No guard where the divisor is known.
// CHECK-LABEL: @division_by_constant
func.func @division_by_constant(%a: index) -> index {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 16 : index
  %c = arith.constant 16 : index
  // CHECK-NEXT: arith.remsi %{{.*}}, %[[C]] : index
  %0 = arith.remsi %a, %c : index
  // CHECK-NOT: ceildivui
  // CHECK: arith.divui %{{.*}}, %[[C]] : index
  // CHECK-NEXT: arith.remui %{{.*}}, %[[C]] : index
  %1 = arith.ceildivui %0, %c : index
  return %1 : index
}

// -----

// CHECK-LABEL: @shift
// CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i32)
func.func @shift(%a: i32, %b: i32) -> i32 {
  // CHECK: %[[S:.*]] = arith.shli %[[A]], %[[B]]
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[B]]
  // CHECK: %[[T:.*]] = arith.select %[[IN]], %[[S]]
  %0 = arith.shli %a, %b : i32
  // CHECK: %[[C:.*]] = arith.minui %[[B]]
  // CHECK: %[[U:.*]] = arith.shrsi %[[T]], %[[C]]
  %1 = arith.shrsi %0, %b : i32
  // CHECK-NEXT: %[[FOUR:.*]] = arith.constant 4
  // CHECK-NEXT: arith.shrui %[[U]], %[[FOUR]]
  // CHECK-NEXT: return
  %c4 = arith.constant 4 : i32
  %2 = arith.shrui %1, %c4 : i32
  return %2 : i32
}

// -----

// CHECK-LABEL: @float_to_integer
func.func @float_to_integer(%x: bf16) -> (i1, i8, i32, i64) {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.f2ui.rz"(%{{.*}}) : (f32) -> i32
  // CHECK: arith.minui
  // CHECK: arith.trunci %{{.*}} : i32 to i1
  %0 = arith.fptoui %x : bf16 to i1
  // CHECK: llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%{{.*}}) : (f32) -> i32
  // CHECK: arith.minsi
  // CHECK: arith.maxsi
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  %1 = arith.fptosi %x : bf16 to i8
  // CHECK: llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%{{.*}}) : (f32) -> i32
  // CHECK-NOT: arith.min
  %2 = arith.fptosi %x : bf16 to i32
  // CHECK: llvm.call_intrinsic "llvm.fptosi.sat"(%{{.*}}) : (f32) -> i64
  %3 = arith.fptosi %x : bf16 to i64
  return %0, %1, %2, %3 : i1, i8, i32, i64
}

// -----

// CHECK-LABEL: @integer_to_bf16
func.func @integer_to_bf16(%a: i8, %b: i32) -> (f32, bf16, bf16) {
  // CHECK-NEXT: arith.sitofp %{{.*}} : i8 to f32
  %0 = arith.sitofp %a : i8 to f32
  // CHECK-NEXT: arith.sitofp %{{.*}} : i8 to bf16
  %1 = arith.sitofp %a : i8 to bf16
  // CHECK: "llvm.intr.ctlz"
  // CHECK: arith.ori
  // CHECK: %[[ODD:.*]] = arith.andi
  // CHECK-NEXT: arith.sitofp %[[ODD]] : i32 to bf16
  %2 = arith.sitofp %b : i32 to bf16
  return %0, %1, %2 : f32, bf16, bf16
}

// -----

// CHECK-LABEL: @remainder
func.func @remainder(%x: f16, %y: f16) -> f16 {
  // CHECK-NOT: arith.remf
  // CHECK: scf.while
  // CHECK: arith.remui
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %0 = arith.remf %x, %y : f16
  return %0 : f16
}

// -----

// CHECK-LABEL: @to_nearest_even
func.func @to_nearest_even(%x: f32) -> f16 {
  // CHECK-NEXT: arith.truncf %{{[a-z0-9]+}} : f32 to f16
  %0 = arith.truncf %x to_nearest_even : f32 to f16
  return %0 : f16
}
