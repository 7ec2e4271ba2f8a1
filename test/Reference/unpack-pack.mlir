// RUN: %python %S/Inputs/npy.py make %t.in.npy u1 8 0x10 0x32 0x54 0x76 0x98 0xBA 0xDC 0xFE
// RUN: tile-run %s --device=reference --grid=1 out:%t.v.npy:16xf32 out:%t.p.npy:8xf4E2M1FNx2 out:%t.w.npy:2xi32 in:%t.in.npy
// RUN: %python %S/Inputs/npy.py show %t.v.npy | FileCheck %s --check-prefix=VALUES
// RUN: %python %S/Inputs/npy.py show %t.p.npy | FileCheck %s --check-prefix=PAIRS
// RUN: %python %S/Inputs/npy.py show %t.w.npy | FileCheck %s --check-prefix=WORDS

// Every FP4 code in order: the first of a pair is in the low nibble. A swap of
// nibbles cancels in a multiply, and in a round trip; not here.

// VALUES: f4 16
// VALUES-NEXT: 0 0.5 1 1.5 2 3 4 6 -0 -0.5 -1 -1.5 -2 -3 -4 -6
// PAIRS: u1 8
// PAIRS-NEXT: 16 50 84 118 152 186 220 254
// Little-endian: 0x76543210 and 0xFEDCBA98.
// WORDS: i4 2
// WORDS-NEXT: 1985229328 -19088744
func.func @unpack_pack(%v : memref<16xf32>, %p : memref<8x!tile.f4E2M1FNx2>,
                       %w : memref<2xi32>, %in : memref<?xi8>)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %bytes = tile.load %in[%c0] : memref<?xi8> -> tensor<8xi8>
  %fp4 = tile.unpack %bytes : tensor<8xi8> -> tensor<16xf4E2M1FN>
  %values = tile.ftof %fp4 : tensor<16xf4E2M1FN> -> tensor<16xf32>
  tile.store %values, %v[%c0] : tensor<16xf32>, memref<16xf32>
  %pairs = tile.pack %fp4 : tensor<16xf4E2M1FN> -> tensor<8x!tile.f4E2M1FNx2>
  tile.store %pairs, %p[%c0] : tensor<8x!tile.f4E2M1FNx2>, memref<8x!tile.f4E2M1FNx2>
  %words = tile.unpack %bytes : tensor<8xi8> -> tensor<2xi32>
  tile.store %words, %w[%c0] : tensor<2xi32>, memref<2xi32>
  return
}
