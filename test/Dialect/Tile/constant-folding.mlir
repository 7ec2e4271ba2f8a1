// RUN: tile-opt %s --canonicalize --split-input-file | FileCheck %s

// What a conversion gives at compile time is what it gives at run time: nearest
// even, saturated, NaN to +6 in FP4.

//===----------------------------------------------------------------------===//
// ftof
//===----------------------------------------------------------------------===//

// Ties go to even: rounding half up gives 0.5, 1, 1.5, 2, 3, 4, 6.
// CHECK-LABEL: func @fp4_ties
func.func @fp4_ties() -> (tensor<8xf4E2M1FN>, tensor<8xf4E2M1FN>) {
  // CHECK-DAG: dense<[0.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 4.000000e+00, 4.000000e+00, 6.000000e+00]> : tensor<8xf4E2M1FN>
  // CHECK-DAG: dense<[-0.000000e+00, -1.000000e+00, -1.000000e+00, -2.000000e+00, -2.000000e+00, -4.000000e+00, -4.000000e+00, -6.000000e+00]> : tensor<8xf4E2M1FN>
  %c = arith.constant dense<[0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 7.0]> : tensor<8xf32>
  %d = arith.constant dense<[-0.25, -0.75, -1.25, -1.75, -2.5, -3.5, -5.0, -7.0]> : tensor<8xf32>
  %0 = tile.ftof %c : tensor<8xf32> -> tensor<8xf4E2M1FN>
  %1 = tile.ftof %d : tensor<8xf32> -> tensor<8xf4E2M1FN>
  return %0, %1 : tensor<8xf4E2M1FN>, tensor<8xf4E2M1FN>
}

// NaN (of either sign), infinity, and beyond the range.
// CHECK-LABEL: func @fp4_special
func.func @fp4_special() -> tensor<8xf4E2M1FN> {
  // CHECK: dense<[6.000000e+00, 6.000000e+00, 6.000000e+00, -6.000000e+00, 6.000000e+00, -6.000000e+00, 0.000000e+00, -0.000000e+00]> : tensor<8xf4E2M1FN>
  %c = arith.constant dense<[0x7FC00000, 0xFFC00001, 0x7F800000, 0xFF800000, 1.0e30, -1.0e30, 1.0e-40, -1.0e-40]> : tensor<8xf32>
  %0 = tile.ftof %c : tensor<8xf32> -> tensor<8xf4E2M1FN>
  return %0 : tensor<8xf4E2M1FN>
}

// 1.0625 is a tie; truncation would make 0.003 two units smaller.
// CHECK-LABEL: func @e4m3
func.func @e4m3() -> tensor<4xf8E4M3FN> {
  // CHECK: dense<[1.250000e+00, 1.000000e+00, 3.906250e-03, 4.480000e+02]> : tensor<4xf8E4M3FN>
  %c = arith.constant dense<[1.19, 1.0625, 0.0030, 448.0]> : tensor<4xf32>
  %0 = tile.ftof %c : tensor<4xf32> -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// CHECK-LABEL: func @e4m3_saturates
func.func @e4m3_saturates() -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) {
  // CHECK-DAG: dense<[4.480000e+02, 4.480000e+02, -4.480000e+02, 0x7F]> : tensor<4xf8E4M3FN>
  // CHECK-DAG: dense<[4.480000e+02, 0x7F, 0x7F, 0x7F]> : tensor<4xf8E4M3FN>
  %c = arith.constant dense<[464.0, 465.0, -1.0e10, 0x7FC00000]> : tensor<4xf32>
  %0 = tile.ftof %c : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %1 = tile.ftof %c {saturate = false} : tensor<4xf32> -> tensor<4xf8E4M3FN>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>
}

// CHECK-LABEL: func @e5m2_saturates
func.func @e5m2_saturates() -> (tensor<4xf8E5M2>, tensor<4xf8E5M2>) {
  // CHECK-DAG: dense<[5.734400e+04, 5.734400e+04, -5.734400e+04, 0x7F]> : tensor<4xf8E5M2>
  // CHECK-DAG: dense<[5.734400e+04, 0x7C, 0xFC, 0x7F]> : tensor<4xf8E5M2>
  %c = arith.constant dense<[61439.0, 61440.0, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %0 = tile.ftof %c : tensor<4xf32> -> tensor<4xf8E5M2>
  %1 = tile.ftof %c {saturate = false} : tensor<4xf32> -> tensor<4xf8E5M2>
  return %0, %1 : tensor<4xf8E5M2>, tensor<4xf8E5M2>
}

// 65510 rounds down to the largest f16; 65520, half a unit above it, to infinity.
// CHECK-LABEL: func @f16_overflow
func.func @f16_overflow() -> tensor<4xf16> {
  // CHECK: dense<[6.550400e+04, 0x7C00, 0xFC00, 5.960460e-08]> : tensor<4xf16>
  %c = arith.constant dense<[65510.0, 65520.0, -1.0e6, 5.0e-8]> : tensor<4xf32>
  %0 = tile.ftof %c : tensor<4xf32> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// Byte 0 is 2^-127, not zero; there is nothing below it and no sign.
// CHECK-LABEL: func @e8m0
func.func @e8m0() -> (tensor<8xf8E8M0FNU>, tensor<8xf8E8M0FNU>) {
  // CHECK-DAG: dense<[5.877470e-39, 2.000000e+00, 4.000000e+00, 2.000000e+00, 1.701410e+38, 0xFF, 5.000000e-01, 1.701410e+38]> : tensor<8xf8E8M0FNU>
  // CHECK-DAG: dense<[5.877470e-39, 4.000000e+00, 4.000000e+00, 4.000000e+00, 1.701410e+38, 0xFF, 1.000000e+00, 1.701410e+38]> : tensor<8xf8E8M0FNU>
  %c = arith.constant dense<[0.0, 3.0, 4.0, -3.0, 3.0e38, 0x7FC00000, 0.6, 0x7F800000]> : tensor<8xf32>
  %0 = tile.ftof %c toward_zero : tensor<8xf32> -> tensor<8xf8E8M0FNU>
  %1 = tile.ftof %c upward : tensor<8xf32> -> tensor<8xf8E8M0FNU>
  return %0, %1 : tensor<8xf8E8M0FNU>, tensor<8xf8E8M0FNU>
}

// CHECK-LABEL: func @e8m0_source
func.func @e8m0_source() -> tensor<4xf32> {
  // CHECK: dense<[5.87747175E-39, 1.000000e+00, 1.70141183E+38, 0x7FFFFFFF]> : tensor<4xf32>
  %b = arith.constant dense<[0, 127, -2, -1]> : tensor<4xi8>
  %s = tile.unpack %b : tensor<4xi8> -> tensor<4xf8E8M0FNU>
  %0 = tile.ftof %s : tensor<4xf8E8M0FNU> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @splats
func.func @splats() -> (tensor<64x64xf16>, tensor<64x64xf8E4M3FN>, tensor<64x64xf4E2M1FN>) {
  // CHECK-DAG: dense<6.550400e+04> : tensor<64x64xf16>
  // CHECK-DAG: dense<4.480000e+02> : tensor<64x64xf8E4M3FN>
  // CHECK-DAG: dense<6.000000e+00> : tensor<64x64xf4E2M1FN>
  %a = arith.constant dense<65510.0> : tensor<64x64xf32>
  %b = arith.constant dense<500.0> : tensor<64x64xf32>
  %c = arith.constant dense<7.0> : tensor<64x64xf32>
  %0 = tile.ftof %a : tensor<64x64xf32> -> tensor<64x64xf16>
  %1 = tile.ftof %b : tensor<64x64xf32> -> tensor<64x64xf8E4M3FN>
  %2 = tile.ftof %c : tensor<64x64xf32> -> tensor<64x64xf4E2M1FN>
  return %0, %1, %2 : tensor<64x64xf16>, tensor<64x64xf8E4M3FN>, tensor<64x64xf4E2M1FN>
}

//===----------------------------------------------------------------------===//
// unpack, pack
//===----------------------------------------------------------------------===//

// -----

// The low nibble comes first: 0x31 is (0.5, 1.5), 0xA7 is (6, -1).
// CHECK-LABEL: func @nibbles
func.func @nibbles() -> tensor<2x4xf4E2M1FN> {
  // CHECK: dense<{{\[}}[5.000000e-01, 1.500000e+00, 6.000000e+00, -1.000000e+00], [-0.000000e+00, 0.000000e+00, 4.000000e+00, 2.000000e+00]]> : tensor<2x4xf4E2M1FN>
  %b = arith.constant dense<[[0x31, 0xA7], [0x08, 0x46]]> : tensor<2x2xi8>
  %0 = tile.unpack %b : tensor<2x2xi8> -> tensor<2x4xf4E2M1FN>
  return %0 : tensor<2x4xf4E2M1FN>
}

// CHECK-LABEL: func @pack_nibbles
func.func @pack_nibbles() -> tensor<2xi8> {
  // CHECK: dense<[49, -89]> : tensor<2xi8>
  %c = arith.constant dense<[0.5, 1.5, 6.0, -1.0]> : tensor<4xf4E2M1FN>
  %0 = tile.pack %c : tensor<4xf4E2M1FN> -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// A splat of bytes is a splat of values only where both nibbles are equal.
// CHECK-LABEL: func @splat_bytes
func.func @splat_bytes() -> (tensor<2x4xf4E2M1FN>, tensor<2x4xf4E2M1FN>) {
  // CHECK-DAG: dense<1.000000e+00> : tensor<2x4xf4E2M1FN>
  // CHECK-DAG: dense<{{\[}}[5.000000e-01, 1.500000e+00, 5.000000e-01, 1.500000e+00], [5.000000e-01, 1.500000e+00, 5.000000e-01, 1.500000e+00]]> : tensor<2x4xf4E2M1FN>
  %b = arith.constant dense<0x22> : tensor<2x2xi8>
  %c = arith.constant dense<0x31> : tensor<2x2xi8>
  %0 = tile.unpack %b : tensor<2x2xi8> -> tensor<2x4xf4E2M1FN>
  %1 = tile.unpack %c : tensor<2x2xi8> -> tensor<2x4xf4E2M1FN>
  return %0, %1 : tensor<2x4xf4E2M1FN>, tensor<2x4xf4E2M1FN>
}

// Little-endian; a NaN's payload survives both ways.
// CHECK-LABEL: func @wide
func.func @wide() -> (tensor<2xf32>, tensor<8xi8>, tensor<1xi64>) {
  // CHECK-DAG: dense<[1.000000e+00, 0xFFA01234]> : tensor<2xf32>
  // CHECK-DAG: dense<[0, 0, -128, 63, 52, 18, -96, -1]> : tensor<8xi8>
  // CHECK-DAG: dense<578437695752307201> : tensor<1xi64>
  %b = arith.constant dense<[0, 0, 0x80, 0x3F, 0x34, 0x12, 0xA0, 0xFF]> : tensor<8xi8>
  %f = arith.constant dense<[1.0, 0xFFA01234]> : tensor<2xf32>
  %c = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi8>
  %0 = tile.unpack %b : tensor<8xi8> -> tensor<2xf32>
  %1 = tile.pack %f : tensor<2xf32> -> tensor<8xi8>
  %2 = tile.unpack %c : tensor<8xi8> -> tensor<1xi64>
  return %0, %1, %2 : tensor<2xf32>, tensor<8xi8>, tensor<1xi64>
}

// CHECK-LABEL: func @wide_splat
func.func @wide_splat() -> (tensor<4x2xi32>, tensor<2x4xi8>) {
  // CHECK-DAG: dense<16843009> : tensor<4x2xi32>
  // CHECK-DAG: dense<{{\[}}[0, 0, -128, 63], [0, 0, -128, 63]]> : tensor<2x4xi8>
  %b = arith.constant dense<1> : tensor<4x8xi8>
  %f = arith.constant dense<1.0> : tensor<2x1xf32>
  %0 = tile.unpack %b : tensor<4x8xi8> -> tensor<4x2xi32>
  %1 = tile.pack %f : tensor<2x1xf32> -> tensor<2x4xi8>
  return %0, %1 : tensor<4x2xi32>, tensor<2x4xi8>
}

// Packed constants are resources; their values can be folded, pairs cannot be
// written back.
// CHECK-LABEL: func @pairs
func.func @pairs() -> (tensor<8xf4E2M1FN>, tensor<2x!tile.f4E2M1FNx2>) {
  // CHECK-DAG: dense<[5.000000e-01, 1.500000e+00, 6.000000e+00, -1.000000e+00, -0.000000e+00, 0.000000e+00, 4.000000e+00, 2.000000e+00]> : tensor<8xf4E2M1FN>
  // CHECK-DAG: tile.pack
  %p = arith.constant dense_resource<packed> : tensor<4x!tile.f4E2M1FNx2>
  %0 = tile.unpack %p : tensor<4x!tile.f4E2M1FNx2> -> tensor<8xf4E2M1FN>
  %c = arith.constant dense<[0.5, 1.5, 6.0, -1.0]> : tensor<4xf4E2M1FN>
  %1 = tile.pack %c : tensor<4xf4E2M1FN> -> tensor<2x!tile.f4E2M1FNx2>
  return %0, %1 : tensor<8xf4E2M1FN>, tensor<2x!tile.f4E2M1FNx2>
}

{-#
  dialect_resources: {
    builtin: {
      packed: "0x0100000031A70846"
    }
  }
#-}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

// -----

// CHECK-LABEL: func @permute
func.func @permute() -> (tensor<4x2xf4E2M1FN>, tensor<2x2x2xi32>, tensor<64x16xf8E8M0FNU>) {
  // CHECK-DAG: dense<{{\[}}[0.000000e+00, -0.000000e+00], [5.000000e-01, -5.000000e-01], [1.000000e+00, -1.000000e+00], [1.500000e+00, -1.500000e+00]]> : tensor<4x2xf4E2M1FN>
  // CHECK-DAG: dense<{{\[}}{{\[}}[1, 3], [5, 7]], {{\[}}[2, 4], [6, 8]]]> : tensor<2x2x2xi32>
  // CHECK-DAG: dense<5.877470e-39> : tensor<64x16xf8E8M0FNU>
  %a = arith.constant dense<[[0.0, 0.5, 1.0, 1.5], [-0.0, -0.5, -1.0, -1.5]]> : tensor<2x4xf4E2M1FN>
  %b = arith.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %c = arith.constant dense<0.0> : tensor<16x64xf8E8M0FNU>
  %0 = tile.permute %a [1, 0] : tensor<2x4xf4E2M1FN> -> tensor<4x2xf4E2M1FN>
  // result[i][j][k] = source[j][k][i]
  %1 = tile.permute %b [2, 0, 1] : tensor<2x2x2xi32> -> tensor<2x2x2xi32>
  %2 = tile.permute %c [1, 0] : tensor<16x64xf8E8M0FNU> -> tensor<64x16xf8E8M0FNU>
  return %0, %1, %2 : tensor<4x2xf4E2M1FN>, tensor<2x2x2xi32>, tensor<64x16xf8E8M0FNU>
}

// CHECK-LABEL: func @reshape
func.func @reshape() -> (tensor<4x2xi1>, tensor<8xf32>) {
  // CHECK-DAG: dense<{{\[}}[true, false], [true, true], [false, false], [false, true]]> : tensor<4x2xi1>
  // CHECK-DAG: dense<1.000000e+00> : tensor<8xf32>
  %a = arith.constant dense<[[true, false, true, true], [false, false, false, true]]> : tensor<2x4xi1>
  %b = arith.constant dense<1.0> : tensor<2x4xf32>
  %0 = tile.reshape %a : tensor<2x4xi1> -> tensor<4x2xi1>
  %1 = tile.reshape %b : tensor<2x4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<4x2xi1>, tensor<8xf32>
}

// CHECK-LABEL: func @broadcast
func.func @broadcast() -> (tensor<2x4xindex>, tensor<2x4xindex>, tensor<64x64xbf16>) {
  // CHECK-DAG: dense<{{\[}}[1, 2, 3, 4], [1, 2, 3, 4]]> : tensor<2x4xindex>
  // CHECK-DAG: dense<{{\[}}[5, 5, 5, 5], [-6, -6, -6, -6]]> : tensor<2x4xindex>
  // CHECK-DAG: dense<1.500000e+00> : tensor<64x64xbf16>
  %a = arith.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xindex>
  %b = arith.constant dense<[[5], [-6]]> : tensor<2x1xindex>
  %c = arith.constant dense<1.5> : tensor<1x64xbf16>
  %0 = tile.broadcast %a : tensor<1x4xindex> -> tensor<2x4xindex>
  %1 = tile.broadcast %b : tensor<2x1xindex> -> tensor<2x4xindex>
  %2 = tile.broadcast %c : tensor<1x64xbf16> -> tensor<64x64xbf16>
  return %0, %1, %2 : tensor<2x4xindex>, tensor<2x4xindex>, tensor<64x64xbf16>
}
