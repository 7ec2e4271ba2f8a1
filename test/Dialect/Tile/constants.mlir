// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// Constants of every narrow type, as splats and element by element, keep their
// codes through text and bytecode: NaN, both zeros, and E8M0's byte 0.

// CHECK-LABEL: func @splats
func.func @splats() {
  // CHECK-NEXT: dense<1.500000e+00> : tensor<16x4xf8E4M3FN>
  %0 = arith.constant dense<1.5> : tensor<16x4xf8E4M3FN>
  // CHECK-NEXT: dense<0x7F> : tensor<16x4xf8E4M3FN>
  %1 = arith.constant dense<0x7F> : tensor<16x4xf8E4M3FN>
  // CHECK-NEXT: dense<0xFC> : tensor<16x4xf8E5M2>
  %2 = arith.constant dense<0xFC> : tensor<16x4xf8E5M2>
  // CHECK-NEXT: dense<5.877470e-39> : tensor<16x4xf8E8M0FNU>
  %3 = arith.constant dense<0.0> : tensor<16x4xf8E8M0FNU>
  // CHECK-NEXT: dense<0xFF> : tensor<16x4xf8E8M0FNU>
  %4 = arith.constant dense<0xFF> : tensor<16x4xf8E8M0FNU>
  // CHECK-NEXT: dense<-5.000000e-01> : tensor<16x64xf4E2M1FN>
  %5 = arith.constant dense<-0.5> : tensor<16x64xf4E2M1FN>
  // CHECK-NEXT: dense<-0.000000e+00> : tensor<16x64xf4E2M1FN>
  %6 = arith.constant dense<-0.0> : tensor<16x64xf4E2M1FN>
  return
}

// CHECK-LABEL: func @elements
func.func @elements() {
  // CHECK-NEXT: dense<[0.000000e+00, 5.000000e-01, 1.000000e+00, 1.500000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 6.000000e+00]> : tensor<8xf4E2M1FN>
  %0 = arith.constant dense<[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]> : tensor<8xf4E2M1FN>
  // CHECK-NEXT: dense<[1.953130e-03, 4.480000e+02, 0x7F, 0xFF]> : tensor<4xf8E4M3FN>
  %1 = arith.constant dense<[0x01, 0x7E, 0x7F, 0xFF]> : tensor<4xf8E4M3FN>
  // CHECK-NEXT: dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf8E8M0FNU>
  %2 = arith.constant dense<[1.0, 2.0]> : tensor<2xf8E8M0FNU>
  // CHECK-NEXT: dense_resource<packed> : tensor<4x!tile.f4E2M1FNx2>
  %3 = arith.constant dense_resource<packed> : tensor<4x!tile.f4E2M1FNx2>
  return
}

// CHECK: packed: "0x0100000031A70846"
{-#
  dialect_resources: {
    builtin: {
      packed: "0x0100000031A70846"
    }
  }
#-}
