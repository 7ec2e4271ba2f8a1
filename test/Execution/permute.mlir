// Every permutation of up to four dimensions, of every width of element, and of
// FP4 packed along the last dimension before and after. Extents differ, so that
// a wrong permutation of equal shapes cannot pass.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1

// RUN: %{run} --entry=rank2 -DT=f16 --num-warps=1 in:4x16 out:4x16 out:16x4
// RUN: %{run} --entry=rank2 -DT=f8E4M3FN --num-warps=4 in:4x16 out:4x16 out:16x4
// RUN: %{run} --entry=rank2 -DT=f8E8M0FNU --num-warps=2 in:4x16 out:4x16 out:16x4
// RUN: %{run} --entry=rank3 -DT=i8 --num-warps=8 in:2x4x16 out:2x4x16 out:2x16x4 out:4x2x16 out:4x16x2 out:16x2x4 out:16x4x2
// RUN: %{run} --entry=rank3 -DT=i32 --num-warps=1 in:2x4x16 out:2x4x16 out:2x16x4 out:4x2x16 out:4x16x2 out:16x2x4 out:16x4x2
// RUN: %{run} --entry=rank3 -DT=f8E4M3FN --num-warps=16 in:2x4x16 out:2x4x16 out:2x16x4 out:4x2x16 out:4x16x2 out:16x2x4 out:16x4x2
// RUN: %{run} --entry=rank3 -DT=f32 --num-warps=1 in:2x4x16 out:2x4x16 out:2x16x4 out:4x2x16 out:4x16x2 out:16x2x4 out:16x4x2
// RUN: %{run} --entry=rank4_a -DT=f8E8M0FNU --num-warps=4 in:8x2x4x16 out:8x2x4x16 out:8x2x16x4 out:8x4x2x16 out:8x4x16x2 out:8x16x2x4 out:8x16x4x2
// RUN: %{run} --entry=rank4_a -DT=i32 --num-warps=2 in:8x2x4x16 out:8x2x4x16 out:8x2x16x4 out:8x4x2x16 out:8x4x16x2 out:8x16x2x4 out:8x16x4x2
// RUN: %{run} --entry=rank4_b -DT=f16 --num-warps=8 in:8x2x4x16 out:2x8x4x16 out:2x8x16x4 out:2x4x8x16 out:2x4x16x8 out:2x16x8x4 out:2x16x4x8
// RUN: %{run} --entry=rank4_b -DT=f8E4M3FN --num-warps=1 in:8x2x4x16 out:2x8x4x16 out:2x8x16x4 out:2x4x8x16 out:2x4x16x8 out:2x16x8x4 out:2x16x4x8
// RUN: %{run} --entry=rank4_c -DT=i64 --num-warps=16 in:8x2x4x16 out:4x8x2x16 out:4x8x16x2 out:4x2x8x16 out:4x2x16x8 out:4x16x8x2 out:4x16x2x8
// RUN: %{run} --entry=rank4_c -DT=f32 --num-warps=1 in:8x2x4x16 out:4x8x2x16 out:4x8x16x2 out:4x2x8x16 out:4x2x16x8 out:4x16x8x2 out:4x16x2x8
// RUN: %{run} --entry=rank4_d -DT=bf16 --num-warps=4 in:8x2x4x16 out:16x8x2x4 out:16x8x4x2 out:16x2x8x4 out:16x2x4x8 out:16x4x8x2 out:16x4x2x8
// RUN: %{run} --entry=rank4_d -DT=i8 --num-warps=2 in:8x2x4x16 out:16x8x2x4 out:16x8x4x2 out:16x2x8x4 out:16x2x4x8 out:16x4x8x2 out:16x4x2x8
// RUN: %{run} --entry=fp4 -DT=i8 --num-warps=1 in:16x32 out:64x8 out:8x64
// RUN: %{run} --entry=fp4 -DT=i8 --num-warps=8 in:16x32 out:64x8 out:8x64
// RUN: %{run} --entry=flags -DT=i16 --num-warps=2 in:16x32 out:32x16

func.func @rank2(%x : memref<4x16x${T}>, %z0 : memref<4x16x${T}>, %z1 : memref<16x4x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<4x16x${T}> -> tensor<4x16x${T}>
  %p0 = tile.permute %t [0, 1] : tensor<4x16x${T}> -> tensor<4x16x${T}>
  tile.store %p0, %z0[%c0, %c0] : tensor<4x16x${T}>, memref<4x16x${T}>
  %p1 = tile.permute %t [1, 0] : tensor<4x16x${T}> -> tensor<16x4x${T}>
  tile.store %p1, %z1[%c0, %c0] : tensor<16x4x${T}>, memref<16x4x${T}>
  return
}

func.func @rank3(%x : memref<2x4x16x${T}>, %z0 : memref<2x4x16x${T}>, %z1 : memref<2x16x4x${T}>, %z2 : memref<4x2x16x${T}>, %z3 : memref<4x16x2x${T}>, %z4 : memref<16x2x4x${T}>, %z5 : memref<16x4x2x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0, %c0] : memref<2x4x16x${T}> -> tensor<2x4x16x${T}>
  %p0 = tile.permute %t [0, 1, 2] : tensor<2x4x16x${T}> -> tensor<2x4x16x${T}>
  tile.store %p0, %z0[%c0, %c0, %c0] : tensor<2x4x16x${T}>, memref<2x4x16x${T}>
  %p1 = tile.permute %t [0, 2, 1] : tensor<2x4x16x${T}> -> tensor<2x16x4x${T}>
  tile.store %p1, %z1[%c0, %c0, %c0] : tensor<2x16x4x${T}>, memref<2x16x4x${T}>
  %p2 = tile.permute %t [1, 0, 2] : tensor<2x4x16x${T}> -> tensor<4x2x16x${T}>
  tile.store %p2, %z2[%c0, %c0, %c0] : tensor<4x2x16x${T}>, memref<4x2x16x${T}>
  %p3 = tile.permute %t [1, 2, 0] : tensor<2x4x16x${T}> -> tensor<4x16x2x${T}>
  tile.store %p3, %z3[%c0, %c0, %c0] : tensor<4x16x2x${T}>, memref<4x16x2x${T}>
  %p4 = tile.permute %t [2, 0, 1] : tensor<2x4x16x${T}> -> tensor<16x2x4x${T}>
  tile.store %p4, %z4[%c0, %c0, %c0] : tensor<16x2x4x${T}>, memref<16x2x4x${T}>
  %p5 = tile.permute %t [2, 1, 0] : tensor<2x4x16x${T}> -> tensor<16x4x2x${T}>
  tile.store %p5, %z5[%c0, %c0, %c0] : tensor<16x4x2x${T}>, memref<16x4x2x${T}>
  return
}

func.func @rank4_a(%x : memref<8x2x4x16x${T}>, %z0 : memref<8x2x4x16x${T}>, %z1 : memref<8x2x16x4x${T}>, %z2 : memref<8x4x2x16x${T}>, %z3 : memref<8x4x16x2x${T}>, %z4 : memref<8x16x2x4x${T}>, %z5 : memref<8x16x4x2x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0, %c0, %c0] : memref<8x2x4x16x${T}> -> tensor<8x2x4x16x${T}>
  %p0 = tile.permute %t [0, 1, 2, 3] : tensor<8x2x4x16x${T}> -> tensor<8x2x4x16x${T}>
  tile.store %p0, %z0[%c0, %c0, %c0, %c0] : tensor<8x2x4x16x${T}>, memref<8x2x4x16x${T}>
  %p1 = tile.permute %t [0, 1, 3, 2] : tensor<8x2x4x16x${T}> -> tensor<8x2x16x4x${T}>
  tile.store %p1, %z1[%c0, %c0, %c0, %c0] : tensor<8x2x16x4x${T}>, memref<8x2x16x4x${T}>
  %p2 = tile.permute %t [0, 2, 1, 3] : tensor<8x2x4x16x${T}> -> tensor<8x4x2x16x${T}>
  tile.store %p2, %z2[%c0, %c0, %c0, %c0] : tensor<8x4x2x16x${T}>, memref<8x4x2x16x${T}>
  %p3 = tile.permute %t [0, 2, 3, 1] : tensor<8x2x4x16x${T}> -> tensor<8x4x16x2x${T}>
  tile.store %p3, %z3[%c0, %c0, %c0, %c0] : tensor<8x4x16x2x${T}>, memref<8x4x16x2x${T}>
  %p4 = tile.permute %t [0, 3, 1, 2] : tensor<8x2x4x16x${T}> -> tensor<8x16x2x4x${T}>
  tile.store %p4, %z4[%c0, %c0, %c0, %c0] : tensor<8x16x2x4x${T}>, memref<8x16x2x4x${T}>
  %p5 = tile.permute %t [0, 3, 2, 1] : tensor<8x2x4x16x${T}> -> tensor<8x16x4x2x${T}>
  tile.store %p5, %z5[%c0, %c0, %c0, %c0] : tensor<8x16x4x2x${T}>, memref<8x16x4x2x${T}>
  return
}

func.func @rank4_b(%x : memref<8x2x4x16x${T}>, %z0 : memref<2x8x4x16x${T}>, %z1 : memref<2x8x16x4x${T}>, %z2 : memref<2x4x8x16x${T}>, %z3 : memref<2x4x16x8x${T}>, %z4 : memref<2x16x8x4x${T}>, %z5 : memref<2x16x4x8x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0, %c0, %c0] : memref<8x2x4x16x${T}> -> tensor<8x2x4x16x${T}>
  %p0 = tile.permute %t [1, 0, 2, 3] : tensor<8x2x4x16x${T}> -> tensor<2x8x4x16x${T}>
  tile.store %p0, %z0[%c0, %c0, %c0, %c0] : tensor<2x8x4x16x${T}>, memref<2x8x4x16x${T}>
  %p1 = tile.permute %t [1, 0, 3, 2] : tensor<8x2x4x16x${T}> -> tensor<2x8x16x4x${T}>
  tile.store %p1, %z1[%c0, %c0, %c0, %c0] : tensor<2x8x16x4x${T}>, memref<2x8x16x4x${T}>
  %p2 = tile.permute %t [1, 2, 0, 3] : tensor<8x2x4x16x${T}> -> tensor<2x4x8x16x${T}>
  tile.store %p2, %z2[%c0, %c0, %c0, %c0] : tensor<2x4x8x16x${T}>, memref<2x4x8x16x${T}>
  %p3 = tile.permute %t [1, 2, 3, 0] : tensor<8x2x4x16x${T}> -> tensor<2x4x16x8x${T}>
  tile.store %p3, %z3[%c0, %c0, %c0, %c0] : tensor<2x4x16x8x${T}>, memref<2x4x16x8x${T}>
  %p4 = tile.permute %t [1, 3, 0, 2] : tensor<8x2x4x16x${T}> -> tensor<2x16x8x4x${T}>
  tile.store %p4, %z4[%c0, %c0, %c0, %c0] : tensor<2x16x8x4x${T}>, memref<2x16x8x4x${T}>
  %p5 = tile.permute %t [1, 3, 2, 0] : tensor<8x2x4x16x${T}> -> tensor<2x16x4x8x${T}>
  tile.store %p5, %z5[%c0, %c0, %c0, %c0] : tensor<2x16x4x8x${T}>, memref<2x16x4x8x${T}>
  return
}

func.func @rank4_c(%x : memref<8x2x4x16x${T}>, %z0 : memref<4x8x2x16x${T}>, %z1 : memref<4x8x16x2x${T}>, %z2 : memref<4x2x8x16x${T}>, %z3 : memref<4x2x16x8x${T}>, %z4 : memref<4x16x8x2x${T}>, %z5 : memref<4x16x2x8x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0, %c0, %c0] : memref<8x2x4x16x${T}> -> tensor<8x2x4x16x${T}>
  %p0 = tile.permute %t [2, 0, 1, 3] : tensor<8x2x4x16x${T}> -> tensor<4x8x2x16x${T}>
  tile.store %p0, %z0[%c0, %c0, %c0, %c0] : tensor<4x8x2x16x${T}>, memref<4x8x2x16x${T}>
  %p1 = tile.permute %t [2, 0, 3, 1] : tensor<8x2x4x16x${T}> -> tensor<4x8x16x2x${T}>
  tile.store %p1, %z1[%c0, %c0, %c0, %c0] : tensor<4x8x16x2x${T}>, memref<4x8x16x2x${T}>
  %p2 = tile.permute %t [2, 1, 0, 3] : tensor<8x2x4x16x${T}> -> tensor<4x2x8x16x${T}>
  tile.store %p2, %z2[%c0, %c0, %c0, %c0] : tensor<4x2x8x16x${T}>, memref<4x2x8x16x${T}>
  %p3 = tile.permute %t [2, 1, 3, 0] : tensor<8x2x4x16x${T}> -> tensor<4x2x16x8x${T}>
  tile.store %p3, %z3[%c0, %c0, %c0, %c0] : tensor<4x2x16x8x${T}>, memref<4x2x16x8x${T}>
  %p4 = tile.permute %t [2, 3, 0, 1] : tensor<8x2x4x16x${T}> -> tensor<4x16x8x2x${T}>
  tile.store %p4, %z4[%c0, %c0, %c0, %c0] : tensor<4x16x8x2x${T}>, memref<4x16x8x2x${T}>
  %p5 = tile.permute %t [2, 3, 1, 0] : tensor<8x2x4x16x${T}> -> tensor<4x16x2x8x${T}>
  tile.store %p5, %z5[%c0, %c0, %c0, %c0] : tensor<4x16x2x8x${T}>, memref<4x16x2x8x${T}>
  return
}

func.func @rank4_d(%x : memref<8x2x4x16x${T}>, %z0 : memref<16x8x2x4x${T}>, %z1 : memref<16x8x4x2x${T}>, %z2 : memref<16x2x8x4x${T}>, %z3 : memref<16x2x4x8x${T}>, %z4 : memref<16x4x8x2x${T}>, %z5 : memref<16x4x2x8x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0, %c0, %c0] : memref<8x2x4x16x${T}> -> tensor<8x2x4x16x${T}>
  %p0 = tile.permute %t [3, 0, 1, 2] : tensor<8x2x4x16x${T}> -> tensor<16x8x2x4x${T}>
  tile.store %p0, %z0[%c0, %c0, %c0, %c0] : tensor<16x8x2x4x${T}>, memref<16x8x2x4x${T}>
  %p1 = tile.permute %t [3, 0, 2, 1] : tensor<8x2x4x16x${T}> -> tensor<16x8x4x2x${T}>
  tile.store %p1, %z1[%c0, %c0, %c0, %c0] : tensor<16x8x4x2x${T}>, memref<16x8x4x2x${T}>
  %p2 = tile.permute %t [3, 1, 0, 2] : tensor<8x2x4x16x${T}> -> tensor<16x2x8x4x${T}>
  tile.store %p2, %z2[%c0, %c0, %c0, %c0] : tensor<16x2x8x4x${T}>, memref<16x2x8x4x${T}>
  %p3 = tile.permute %t [3, 1, 2, 0] : tensor<8x2x4x16x${T}> -> tensor<16x2x4x8x${T}>
  tile.store %p3, %z3[%c0, %c0, %c0, %c0] : tensor<16x2x4x8x${T}>, memref<16x2x4x8x${T}>
  %p4 = tile.permute %t [3, 2, 0, 1] : tensor<8x2x4x16x${T}> -> tensor<16x4x8x2x${T}>
  tile.store %p4, %z4[%c0, %c0, %c0, %c0] : tensor<16x4x8x2x${T}>, memref<16x4x8x2x${T}>
  %p5 = tile.permute %t [3, 2, 1, 0] : tensor<8x2x4x16x${T}> -> tensor<16x4x2x8x${T}>
  tile.store %p5, %z5[%c0, %c0, %c0, %c0] : tensor<16x4x2x8x${T}>, memref<16x4x2x8x${T}>
  return
}

// 16x64 values, packed along the columns, then along the rows, then reshaped.
func.func @fp4(%x : memref<16x32xi8>, %z : memref<64x8x!tile.f4E2M1FNx2>, %w : memref<8x64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %b = tile.load %x[%c0, %c0] : memref<16x32xi8> -> tensor<16x32xi8>
  %t = tile.unpack %b : tensor<16x32xi8> -> tensor<16x64xf4E2M1FN>
  %p = tile.permute %t [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
  %q = tile.pack %p : tensor<64x16xf4E2M1FN> -> tensor<64x8x!tile.f4E2M1FNx2>
  tile.store %q, %z[%c0, %c0] : tensor<64x8x!tile.f4E2M1FNx2>, memref<64x8x!tile.f4E2M1FNx2>
  %r = tile.reshape %p : tensor<64x16xf4E2M1FN> -> tensor<4x32x8xf4E2M1FN>
  %s = tile.permute %r [2, 0, 1] : tensor<4x32x8xf4E2M1FN> -> tensor<8x4x32xf4E2M1FN>
  %u = tile.reshape %s : tensor<8x4x32xf4E2M1FN> -> tensor<8x128xf4E2M1FN>
  %v = tile.pack %u : tensor<8x128xf4E2M1FN> -> tensor<8x64xi8>
  tile.store %v, %w[%c0, %c0] : tensor<8x64xi8>, memref<8x64xi8>
  return
}

// Truth values and indices move as well.
func.func @flags(%x : memref<16x32xi16>, %z : memref<32x16xi16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<16x32xi16> -> tensor<16x32xi16>
  %zero = arith.constant dense<0> : tensor<16x32xi16>
  %m = arith.cmpi slt, %t, %zero : tensor<16x32xi16>
  %i = arith.index_cast %t : tensor<16x32xi16> to tensor<16x32xindex>
  %mt = tile.permute %m [1, 0] : tensor<16x32xi1> -> tensor<32x16xi1>
  %it = tile.permute %i [1, 0] : tensor<16x32xindex> -> tensor<32x16xindex>
  %j = tile.iota : tensor<512xindex>
  %k = tile.reshape %j : tensor<512xindex> -> tensor<32x16xindex>
  %s = arith.select %mt, %it, %k : tensor<32x16xi1>, tensor<32x16xindex>
  %r = arith.index_cast %s : tensor<32x16xindex> to tensor<32x16xi16>
  tile.store %r, %z[%c0, %c0] : tensor<32x16xi16>, memref<32x16xi16>
  return
}
