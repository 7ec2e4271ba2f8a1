// RUN: %python %S/Inputs/npy.py make %t.x.npy f4 16 0.25 0.75 1.25 1.75 2.5 3.5 5.0 -0.25 -2.5 464 465 1e10 inf -inf nan 1.19
// RUN: tile-run %s --device=reference --grid=1 out:%t.4.npy:8xu8 out:%t.43.npy:16xf8E4M3FN out:%t.52.npy:16xu8 out:%t.80.npy:16xu8 in:%t.x.npy
// RUN: %python %S/Inputs/npy.py show %t.4.npy | FileCheck %s --check-prefix=FP4
// RUN: %python %S/Inputs/npy.py show %t.43.npy | FileCheck %s --check-prefix=E4M3
// RUN: %python %S/Inputs/npy.py show %t.52.npy | FileCheck %s --check-prefix=E5M2
// RUN: %python %S/Inputs/npy.py show %t.80.npy | FileCheck %s --check-prefix=E8M0

// Ties go to even (0.25 to 0, 2.5 to 2, 5 to 4), -0 keeps its sign, overflow
// saturates, and NaN, which FP4 cannot hold, becomes +6.
// Codes 0 2 | 2 4 | 4 6 | 6 8 | 12 7 | 7 7 | 7 15 | 7 2.
// FP4: u1 8
// FP4-NEXT: 32 66 100 134 124 119 247 39

// E4M3 saturates: 464, 465, 1e10 and infinity to 448 (126), NaN stays NaN.
// E4M3: u1 16
// E4M3-NEXT: 40 52 58 62 66 70 74 168 194 126 126 126 126 254 127 58

// {saturate = false}: E5M2 overflows to infinity (124).
// E5M2: u1 16
// E5M2-NEXT: 52 58 61 63 65 67 69 180 193 95 95 124 124 252 127 61

// The scale of |x|, upward: the least power of two that is not below it.
// E8M0: u1 16
// E8M0-NEXT: 125 127 128 128 129 129 130 125 129 136 136 161 254 254 255 128
func.func @ftof(%z4 : memref<8x!tile.f4E2M1FNx2>, %z43 : memref<16xf8E4M3FN>,
                %z52 : memref<16xf8E5M2>, %z80 : memref<16xf8E8M0FNU>,
                %x : memref<16xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] : memref<16xf32> -> tensor<16xf32>
  %fp4 = tile.ftof %v : tensor<16xf32> -> tensor<16xf4E2M1FN>
  %pairs = tile.pack %fp4 : tensor<16xf4E2M1FN> -> tensor<8x!tile.f4E2M1FNx2>
  tile.store %pairs, %z4[%c0] : tensor<8x!tile.f4E2M1FNx2>, memref<8x!tile.f4E2M1FNx2>
  %e4m3 = tile.ftof %v : tensor<16xf32> -> tensor<16xf8E4M3FN>
  tile.store %e4m3, %z43[%c0] : tensor<16xf8E4M3FN>, memref<16xf8E4M3FN>
  %e5m2 = tile.ftof %v {saturate = false} : tensor<16xf32> -> tensor<16xf8E5M2>
  tile.store %e5m2, %z52[%c0] : tensor<16xf8E5M2>, memref<16xf8E5M2>
  %e8m0 = tile.ftof %v upward : tensor<16xf32> -> tensor<16xf8E8M0FNU>
  tile.store %e8m0, %z80[%c0] : tensor<16xf8E8M0FNU>, memref<16xf8E8M0FNU>
  return
}
