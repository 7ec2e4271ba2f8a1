// Integers of every width: arithmetic, shifts, comparisons, divisions that round
// each way, and casts between widths and to and from floats.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1

// RUN: %{run} --entry=integers -DI=i8 in:256 in:256 out:21x256
// RUN: %{run} --entry=integers -DI=i16 --num-warps=8 in:256 in:256 out:21x256
// RUN: %{run} --entry=integers -DI=i32 --num-warps=1 in:256 in:256 out:21x256
// RUN: %{run} --entry=integers -DI=i64 --num-warps=2 in:256 in:256 out:21x256
// RUN: %{run} --entry=casts -DI=i32 --num-warps=2 in:256 out:256 out:256 out:256 out:256 out:256 out:256

func.func @integers(%x : memref<256x${I}>, %y : memref<256x${I}>, %z : memref<?x256x${I}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : memref<256x${I}> -> tensor<256x${I}>
  %b = tile.load %y[%c0] : memref<256x${I}> -> tensor<256x${I}>
  %one = arith.constant dense<1> : tensor<256x${I}>
  %seven = arith.constant dense<7> : tensor<256x${I}>
  %d0 = arith.ori %b, %one : tensor<256x${I}>
  %d = arith.shrui %d0, %one : tensor<256x${I}>
  %p = arith.maxsi %d, %one : tensor<256x${I}>
  %s = arith.andi %b, %seven : tensor<256x${I}>
  %r0 = arith.addi %a, %b : tensor<256x${I}>
  %i0 = arith.constant 0 : index
  %s0 = tile.reshape %r0 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s0, %z[%i0, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r1 = arith.subi %a, %b : tensor<256x${I}>
  %i1 = arith.constant 1 : index
  %s1 = tile.reshape %r1 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s1, %z[%i1, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r2 = arith.muli %a, %b : tensor<256x${I}>
  %i2 = arith.constant 2 : index
  %s2 = tile.reshape %r2 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s2, %z[%i2, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r3 = arith.andi %a, %b : tensor<256x${I}>
  %i3 = arith.constant 3 : index
  %s3 = tile.reshape %r3 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s3, %z[%i3, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r4 = arith.ori %a, %b : tensor<256x${I}>
  %i4 = arith.constant 4 : index
  %s4 = tile.reshape %r4 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s4, %z[%i4, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r5 = arith.xori %a, %b : tensor<256x${I}>
  %i5 = arith.constant 5 : index
  %s5 = tile.reshape %r5 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s5, %z[%i5, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r6 = arith.maxsi %a, %b : tensor<256x${I}>
  %i6 = arith.constant 6 : index
  %s6 = tile.reshape %r6 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s6, %z[%i6, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r7 = arith.minsi %a, %b : tensor<256x${I}>
  %i7 = arith.constant 7 : index
  %s7 = tile.reshape %r7 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s7, %z[%i7, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r8 = arith.maxui %a, %b : tensor<256x${I}>
  %i8 = arith.constant 8 : index
  %s8 = tile.reshape %r8 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s8, %z[%i8, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r9 = arith.minui %a, %b : tensor<256x${I}>
  %i9 = arith.constant 9 : index
  %s9 = tile.reshape %r9 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s9, %z[%i9, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r10 = arith.divui %a, %p : tensor<256x${I}>
  %i10 = arith.constant 10 : index
  %s10 = tile.reshape %r10 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s10, %z[%i10, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r11 = arith.divsi %a, %p : tensor<256x${I}>
  %i11 = arith.constant 11 : index
  %s11 = tile.reshape %r11 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s11, %z[%i11, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r12 = arith.remui %a, %p : tensor<256x${I}>
  %i12 = arith.constant 12 : index
  %s12 = tile.reshape %r12 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s12, %z[%i12, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r13 = arith.remsi %a, %p : tensor<256x${I}>
  %i13 = arith.constant 13 : index
  %s13 = tile.reshape %r13 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s13, %z[%i13, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r14 = arith.ceildivui %a, %p : tensor<256x${I}>
  %i14 = arith.constant 14 : index
  %s14 = tile.reshape %r14 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s14, %z[%i14, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r15 = arith.ceildivsi %a, %p : tensor<256x${I}>
  %i15 = arith.constant 15 : index
  %s15 = tile.reshape %r15 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s15, %z[%i15, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r16 = arith.floordivsi %a, %p : tensor<256x${I}>
  %i16 = arith.constant 16 : index
  %s16 = tile.reshape %r16 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s16, %z[%i16, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r17 = arith.shli %a, %s : tensor<256x${I}>
  %i17 = arith.constant 17 : index
  %s17 = tile.reshape %r17 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s17, %z[%i17, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r18 = arith.shrui %a, %s : tensor<256x${I}>
  %i18 = arith.constant 18 : index
  %s18 = tile.reshape %r18 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s18, %z[%i18, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %r19 = arith.shrsi %a, %s : tensor<256x${I}>
  %i19 = arith.constant 19 : index
  %s19 = tile.reshape %r19 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s19, %z[%i19, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  %m0 = arith.cmpi ult, %a, %b : tensor<256x${I}>
  %m1 = arith.cmpi sge, %a, %b : tensor<256x${I}>
  %m = arith.xori %m0, %m1 : tensor<256xi1>
  %r20 = arith.select %m, %a, %b : tensor<256xi1>, tensor<256x${I}>
  %i20 = arith.constant 20 : index
  %s20 = tile.reshape %r20 : tensor<256x${I}> -> tensor<1x256x${I}>
  tile.store %s20, %z[%i20, %c0] : tensor<1x256x${I}>, memref<?x256x${I}>
  return
}

func.func @casts(%x : memref<256xi32>, %z0 : memref<256xi64>, %z1 : memref<256xi16>, %z2 : memref<256xf32>, %z3 : memref<256xf16>, %z4 : memref<256xbf16>, %z5 : memref<256xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : memref<256xi32> -> tensor<256xi32>
  %h = arith.trunci %a : tensor<256xi32> to tensor<256xi16>
  %b = arith.trunci %h : tensor<256xi16> to tensor<256xi8>
  %s = arith.extsi %b : tensor<256xi8> to tensor<256xi64>
  %u = arith.extui %h : tensor<256xi16> to tensor<256xi64>
  %l = arith.xori %s, %u : tensor<256xi64>
  tile.store %l, %z0[%c0] : tensor<256xi64>, memref<256xi64>
  %t = arith.trunci %a : tensor<256xi32> to tensor<256xi1>
  %t0 = arith.extsi %t : tensor<256xi1> to tensor<256xi16>
  %t1 = arith.xori %h, %t0 : tensor<256xi16>
  tile.store %t1, %z1[%c0] : tensor<256xi16>, memref<256xi16>
  %f = arith.sitofp %a : tensor<256xi32> to tensor<256xf32>
  tile.store %f, %z2[%c0] : tensor<256xf32>, memref<256xf32>
  %g = arith.uitofp %b : tensor<256xi8> to tensor<256xf16>
  tile.store %g, %z3[%c0] : tensor<256xf16>, memref<256xf16>
  %e = arith.sitofp %l : tensor<256xi64> to tensor<256xbf16>
  tile.store %e, %z4[%c0] : tensor<256xbf16>, memref<256xbf16>
  %w = arith.extf %g : tensor<256xf16> to tensor<256xf32>
  %half = arith.constant dense<0.49> : tensor<256xf32>
  %v = arith.mulf %w, %half : tensor<256xf32>
  %n = arith.truncf %v : tensor<256xf32> to tensor<256xbf16>
  %k = arith.fptosi %n : tensor<256xbf16> to tensor<256xi8>
  %q = arith.fptoui %v : tensor<256xf32> to tensor<256xi8>
  %kq = arith.xori %k, %q : tensor<256xi8>
  tile.store %kq, %z5[%c0] : tensor<256xi8>, memref<256xi8>
  return
}
