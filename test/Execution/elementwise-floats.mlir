// Element-wise arithmetic: one rounding per operation in f16, bf16 and f32, with
// NaN, infinities and subnormals; comparisons, selects and reinterpreted bits of
// narrow formats; the functions of `math`.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1

// RUN: %{run} --entry=floats -DT=f32 -DQ=f8E5M2 -DI=i32 --num-warps=2 in:512 in:512 out:16x512
// RUN: %{run} --entry=floats -DT=f16 -DQ=f8E5M2 -DI=i16 --num-warps=1 in:512 in:512 out:16x512
// RUN: %{run} --entry=floats -DT=bf16 -DQ=f8E5M2 -DI=i16 --num-warps=4 in:512 in:512 out:16x512
// RUN: %{run} --entry=floats -DT=bf16 -DQ=f8E5M2 -DI=i16 --num-warps=4 --seed=2 in:512 in:512 out:16x512
// RUN: %{run} --entry=codes -DT=f32 -DI=i32 -DQ=f8E4M3FN --num-warps=2 in:64x32 out:64x16 out:64x16
// RUN: %{run} --entry=codes -DT=f32 -DI=i32 -DQ=f8E5M2 --num-warps=1 in:64x32 out:64x16 out:64x16
// RUN: %{run} --entry=functions -DT=f32 -DQ=f8E5M2 -DI=i32 --random --relative=1e-6 --absolute=1e-6 in:256 out:9x256
// RUN: %{run} --entry=functions -DT=f32 -DQ=f8E5M2 -DI=i32 --random --relative=2e-6 --absolute=2e-6 --approximate in:256 out:9x256

// Any bits.
func.func @floats(%x : memref<512x${I}>, %y : memref<512x${I}>, %z : memref<?x512x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = tile.load %x[%c0] : memref<512x${I}> -> tensor<512x${I}>
  %b0 = tile.load %y[%c0] : memref<512x${I}> -> tensor<512x${I}>
  %a = arith.bitcast %a0 : tensor<512x${I}> to tensor<512x${T}>
  %b = arith.bitcast %b0 : tensor<512x${I}> to tensor<512x${T}>
  %r0 = arith.addf %a, %b : tensor<512x${T}>
  %i0 = arith.constant 0 : index
  %s0 = tile.reshape %r0 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s0, %z[%i0, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r1 = arith.subf %a, %b : tensor<512x${T}>
  %i1 = arith.constant 1 : index
  %s1 = tile.reshape %r1 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s1, %z[%i1, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r2 = arith.mulf %a, %b : tensor<512x${T}>
  %i2 = arith.constant 2 : index
  %s2 = tile.reshape %r2 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s2, %z[%i2, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r3 = arith.divf %a, %b : tensor<512x${T}>
  %i3 = arith.constant 3 : index
  %s3 = tile.reshape %r3 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s3, %z[%i3, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r4 = arith.maximumf %a, %b : tensor<512x${T}>
  %i4 = arith.constant 4 : index
  %s4 = tile.reshape %r4 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s4, %z[%i4, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r5 = arith.minimumf %a, %b : tensor<512x${T}>
  %i5 = arith.constant 5 : index
  %s5 = tile.reshape %r5 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s5, %z[%i5, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r6 = arith.negf %a : tensor<512x${T}>
  %i6 = arith.constant 6 : index
  %s6 = tile.reshape %r6 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s6, %z[%i6, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r7 = math.absf %a : tensor<512x${T}>
  %i7 = arith.constant 7 : index
  %s7 = tile.reshape %r7 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s7, %z[%i7, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r8 = math.floor %a : tensor<512x${T}>
  %i8 = arith.constant 8 : index
  %s8 = tile.reshape %r8 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s8, %z[%i8, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r9 = math.ceil %a : tensor<512x${T}>
  %i9 = arith.constant 9 : index
  %s9 = tile.reshape %r9 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s9, %z[%i9, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r10 = math.trunc %a : tensor<512x${T}>
  %i10 = arith.constant 10 : index
  %s10 = tile.reshape %r10 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s10, %z[%i10, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r11 = math.roundeven %a : tensor<512x${T}>
  %i11 = arith.constant 11 : index
  %s11 = tile.reshape %r11 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s11, %z[%i11, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r12 = math.sqrt %a : tensor<512x${T}>
  %i12 = arith.constant 12 : index
  %s12 = tile.reshape %r12 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s12, %z[%i12, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r13 = math.fma %a, %b, %b : tensor<512x${T}>
  %i13 = arith.constant 13 : index
  %s13 = tile.reshape %r13 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s13, %z[%i13, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %m0 = arith.cmpf olt, %a, %b : tensor<512x${T}>
  %m1 = arith.cmpf ueq, %a, %r7 : tensor<512x${T}>
  %r14 = arith.select %m0, %a, %r0 : tensor<512xi1>, tensor<512x${T}>
  %i14 = arith.constant 14 : index
  %s14 = tile.reshape %r14 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s14, %z[%i14, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  %r15 = arith.select %m1, %r1, %r2 : tensor<512xi1>, tensor<512x${T}>
  %i15 = arith.constant 15 : index
  %s15 = tile.reshape %r15 : tensor<512x${T}> -> tensor<1x512x${T}>
  tile.store %s15, %z[%i15, %c0] : tensor<1x512x${T}>, memref<?x512x${T}>
  return
}

// Selects and reinterpretations of codes, FP4 among them, in two layouts.
func.func @codes(%x : memref<64x32xi8>, %z : memref<64x16x${Q}>, %w : memref<64x16xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[%c0, %c0] : memref<64x32xi8> -> tensor<64x16xi8>
  %b = tile.load %x[%c0, %c1] : memref<64x32xi8> -> tensor<64x16xi8>
  %m = arith.cmpi slt, %a, %b : tensor<64x16xi8>
  %p = arith.bitcast %a : tensor<64x16xi8> to tensor<64x16x${Q}>
  %q = arith.bitcast %b : tensor<64x16xi8> to tensor<64x16x${Q}>
  %s = arith.select %m, %p, %q : tensor<64x16xi1>, tensor<64x16x${Q}>
  tile.store %s, %z[%c0, %c0] : tensor<64x16x${Q}>, memref<64x16x${Q}>
  %u = tile.unpack %a : tensor<64x16xi8> -> tensor<64x32xf4E2M1FN>
  %v = tile.unpack %b : tensor<64x16xi8> -> tensor<64x32xf4E2M1FN>
  %i = tile.iota : tensor<2048xi32>
  %seven = arith.constant dense<7> : tensor<2048xi32>
  %three = arith.constant dense<3> : tensor<2048xi32>
  %r = arith.remui %i, %seven : tensor<2048xi32>
  %t = arith.cmpi slt, %r, %three : tensor<2048xi32>
  %n = tile.reshape %t : tensor<2048xi1> -> tensor<32x64xi1>
  %nt = tile.permute %n [1, 0] : tensor<32x64xi1> -> tensor<64x32xi1>
  %g = arith.select %nt, %u, %v : tensor<64x32xi1>, tensor<64x32xf4E2M1FN>
  %h = tile.pack %g : tensor<64x32xf4E2M1FN> -> tensor<64x16xi8>
  tile.store %h, %w[%c0, %c0] : tensor<64x16xi8>, memref<64x16xi8>
  return
}

func.func @functions(%x : memref<256xf32>, %z : memref<?x256xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : memref<256xf32> -> tensor<256xf32>
  %p = math.absf %a : tensor<256xf32>
  %r0 = math.exp %a : tensor<256xf32>
  %i0 = arith.constant 0 : index
  %s0 = tile.reshape %r0 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s0, %z[%i0, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r1 = math.exp2 %a : tensor<256xf32>
  %i1 = arith.constant 1 : index
  %s1 = tile.reshape %r1 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s1, %z[%i1, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r2 = math.log %p : tensor<256xf32>
  %i2 = arith.constant 2 : index
  %s2 = tile.reshape %r2 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s2, %z[%i2, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r3 = math.log2 %p : tensor<256xf32>
  %i3 = arith.constant 3 : index
  %s3 = tile.reshape %r3 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s3, %z[%i3, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r4 = math.rsqrt %p : tensor<256xf32>
  %i4 = arith.constant 4 : index
  %s4 = tile.reshape %r4 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s4, %z[%i4, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r5 = math.tanh %a : tensor<256xf32>
  %i5 = arith.constant 5 : index
  %s5 = tile.reshape %r5 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s5, %z[%i5, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r6 = math.erf %a : tensor<256xf32>
  %i6 = arith.constant 6 : index
  %s6 = tile.reshape %r6 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s6, %z[%i6, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r7 = math.sin %a : tensor<256xf32>
  %i7 = arith.constant 7 : index
  %s7 = tile.reshape %r7 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s7, %z[%i7, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  %r8 = math.cos %a : tensor<256xf32>
  %i8 = arith.constant 8 : index
  %s8 = tile.reshape %r8 : tensor<256xf32> -> tensor<1x256xf32>
  tile.store %s8, %z[%i8, %c0] : tensor<1x256xf32>, memref<?x256xf32>
  return
}
