// The last E8M0 scale bytes with which an operand expands exactly in bf16, and what
// comes out one byte further: too large a product is infinite, one below 2^-133 is
// rounded to nearest even. The scale of the other operand, of ones, brings the
// result back to the value of the code; instructions that take scales (sm_120f)
// give that for every byte. Column 0 alone is not zero, so that no infinity meets
// a zero.

// DEFINE: %{print} = od -An -v -t f4 -w64 -j 128 %t.npy

// Of FP4, 0 to 252.
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp4 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:0 val:254
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=FP4
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp4 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:252 val:2
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=FP4
// RUN: tile-lane-run %s --target=sm_120f --grid=1 --entry=fp4 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:254 val:0
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=FP4
// FP4: 0 0.5 1 1.5 2 3 4 6 0 -0.5 -1 -1.5 -2 -3 -4 -6
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp4 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:253 val:1
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=FP4-253
// FP4-253: 0 0.5 1 1.5 2 3 inf inf 0 -0.5 -1 -1.5 -2 -3 -inf -inf
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp4 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:254 val:0
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=FP4-254
// FP4-254: 0 0.5 1 1.5 inf inf inf inf 0 -0.5 -1 -1.5 -inf -inf -inf -inf

// Of E4M3, 3 to 246. The values are multiples of 2^-9.
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E4M3FN -DFIRST=112 out:%t.npy:16x1xf32 val:246 val:8
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E4M3-246
// RUN: tile-lane-run %s --target=sm_120f --grid=1 --entry=fp8 -DF=f8E4M3FN -DFIRST=112 out:%t.npy:16x1xf32 val:247 val:7
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E4M3-246
// E4M3-246: 128 144 160 176 192 208 224 240 256 288 320 352 384 416 448 {{-?}}nan
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E4M3FN -DFIRST=112 out:%t.npy:16x1xf32 val:247 val:7
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E4M3-247
// E4M3-247: 128 144 160 176 192 208 224 240 inf inf inf inf inf inf inf {{-?}}nan
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E4M3FN -DFIRST=0 out:%t.npy:16x1xf32 val:3 val:251
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E4M3-3
// RUN: tile-lane-run %s --target=sm_120f --grid=1 --entry=fp8 -DF=f8E4M3FN -DFIRST=0 out:%t.npy:16x1xf32 val:2 val:252
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E4M3-3
// E4M3-3: 0 0.001953125 0.00390625 0.005859375 0.0078125 0.009765625 0.01171875 0.013671875 0.015625 0.017578125 0.01953125 0.021484375 0.0234375 0.025390625 0.02734375 0.029296875
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E4M3FN -DFIRST=0 out:%t.npy:16x1xf32 val:2 val:252
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E4M3-2
// E4M3-2: 0 0 0.00390625 0.0078125 0.0078125 0.0078125 0.01171875 0.015625 0.015625 0.015625 0.01953125 0.0234375 0.0234375 0.0234375 0.02734375 0.03125

// Of E5M2, 10 to 239. Codes 0x7C and above are infinity and NaN.
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E5M2 -DFIRST=112 out:%t.npy:16x1xf32 val:239 val:15
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E5M2-239
// RUN: tile-lane-run %s --target=sm_120f --grid=1 --entry=fp8 -DF=f8E5M2 -DFIRST=112 out:%t.npy:16x1xf32 val:240 val:14
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E5M2-239
// E5M2-239: 8192 10240 12288 14336 16384 20480 24576 28672 32768 40960 49152 57344 inf {{-?}}nan {{-?}}nan {{-?}}nan
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E5M2 -DFIRST=112 out:%t.npy:16x1xf32 val:240 val:14
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E5M2-240
// E5M2-240: 8192 10240 12288 14336 16384 20480 24576 28672 inf inf inf inf inf {{-?}}nan {{-?}}nan {{-?}}nan
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:10 val:244
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E5M2-10
// RUN: tile-lane-run %s --target=sm_120f --grid=1 --entry=fp8 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:9 val:245
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E5M2-10
// E5M2-10: 0 1.5258789e-05 3.0517578e-05 4.5776367e-05 6.1035156e-05 7.6293945e-05 9.1552734e-05 0.00010681152 0.00012207031 0.00015258789 0.00018310547 0.00021362305 0.00024414062 0.00030517578 0.00036621094 0.0004272461
// RUN: tile-lane-run %s --target=sm_80 --grid=1 --entry=fp8 -DF=f8E5M2 -DFIRST=0 out:%t.npy:16x1xf32 val:9 val:245
// RUN: %{print} | FileCheck %s --match-full-lines --check-prefix=E5M2-9
// E5M2-9: 0 0 3.0517578e-05 6.1035156e-05 6.1035156e-05 6.1035156e-05 9.1552734e-05 0.00012207031 0.00012207031 0.00015258789 0.00018310547 0.00021362305 0.00024414062 0.00030517578 0.00036621094 0.0004272461

// Where the one value of a row stands.
func.func private @first_column() -> tensor<16x32xi1> {
  %k = tile.iota : tensor<32xi32>
  %zero = arith.constant dense<0> : tensor<32xi32>
  %here = arith.cmpi eq, %k, %zero : tensor<32xi32>
  %h = tile.reshape %here : tensor<32xi1> -> tensor<1x32xi1>
  %r = tile.broadcast %h : tensor<1x32xi1> -> tensor<16x32xi1>
  return %r : tensor<16x32xi1>
}

// Sixteen codes from FIRST, one per row, the others of the row zero.
func.func private @codes() -> tensor<16x32xi8> {
  %i = tile.iota : tensor<16xi8>
  %first = arith.constant dense<${FIRST}> : tensor<16xi8>
  %c = arith.addi %i, %first : tensor<16xi8>
  %c0 = tile.reshape %c : tensor<16xi8> -> tensor<16x1xi8>
  %rows = tile.broadcast %c0 : tensor<16x1xi8> -> tensor<16x32xi8>
  %nothing = arith.constant dense<0> : tensor<16x32xi8>
  %here = func.call @first_column() : () -> tensor<16x32xi1>
  %r = arith.select %here, %rows, %nothing : tensor<16x32xi1>, tensor<16x32xi8>
  return %r : tensor<16x32xi8>
}

// The sums of an FP8 multiply by ones.
func.func @fp8(%z : memref<16x1xf32>, %scale : i8, %other : i8) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %bytes = func.call @codes() : () -> tensor<16x32xi8>
  %a = arith.bitcast %bytes : tensor<16x32xi8> to tensor<16x32x${F}>
  %here = func.call @first_column() : () -> tensor<16x32xi1>
  %one = arith.constant dense<1.0> : tensor<16x32x${F}>
  %zero = arith.constant dense<0.0> : tensor<16x32x${F}>
  %ones = arith.select %here, %one, %zero : tensor<16x32xi1>, tensor<16x32x${F}>
  %b = tile.permute %ones [1, 0] : tensor<16x32x${F}> -> tensor<32x16x${F}>
  %s = tensor.splat %scale : tensor<16x1xi8>
  %o = tensor.splat %other : tensor<1x16xi8>
  %sa = arith.bitcast %s : tensor<16x1xi8> to tensor<16x1xf8E8M0FNU>
  %sb = arith.bitcast %o : tensor<1x16xi8> to tensor<1x16xf8E8M0FNU>
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<16x32x${F}>, tensor<32x16x${F}>, tensor<16x16xf32>, tensor<16x1xf8E8M0FNU>, tensor<1x16xf8E8M0FNU>
  tile.store %r, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x1xf32>
  return
}

// The same of FP4; a byte of codes is its low half, and 0.
func.func @fp4(%z : memref<16x1xf32>, %scale : i8, %other : i8) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %bytes = func.call @codes() : () -> tensor<16x32xi8>
  %codes = tile.unpack %bytes : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  %here = func.call @first_column() : () -> tensor<16x32xi1>
  %two = arith.constant dense<2> : tensor<16x32xi8>
  %nothing = arith.constant dense<0> : tensor<16x32xi8>
  %ones = arith.select %here, %two, %nothing : tensor<16x32xi1>, tensor<16x32xi8>
  %one = tile.unpack %ones : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  %b = tile.permute %one [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
  %s = tensor.splat %scale : tensor<16x2xi8>
  %o = tensor.splat %other : tensor<2x16xi8>
  %sa = arith.bitcast %s : tensor<16x2xi8> to tensor<16x2xf8E8M0FNU>
  %sb = arith.bitcast %o : tensor<2x16xi8> to tensor<2x16xf8E8M0FNU>
  %acc = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.mmaf_scaled %codes, %b, %acc, %sa, %sb : tensor<16x64xf4E2M1FN>, tensor<64x16xf4E2M1FN>, tensor<16x16xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x16xf8E8M0FNU>
  tile.store %r, %z[%c0, %c0] : tensor<16x16xf32>, memref<16x1xf32>
  return
}
