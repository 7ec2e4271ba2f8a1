// Scalars: arguments of every type, elements of tiles at constant and computed
// places, the extent of the grid, selects between whole tiles, tiles and arrays
// of rank 0; every comparison.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=arguments --grid=1 out:8 val:1 val:-7 val:300 val:-70000 val:5000000000 val:-3 val:1.5 val:-2.25 val:0.1
// RUN: %{run} --entry=arguments --grid=1 --num-warps=2 out:8 val:0 val:127 val:-32768 val:1 val:-1 val:4294967297 val:-0.0 val:65504 val:1e-40
// RUN: %{run} --entry=elements --grid=2,3 --num-warps=4 out:6x16 in:16x16xi32 in:6x2:max=16
// RUN: %{run} --entry=elements --grid=2,3 --num-warps=1 out:6x16 in:16x16xi32 in:6x2:max=16
// RUN: %{run} --entry=rank0 --grid=1 --num-warps=4 out: out:4x4 in: in:8x8
// RUN: %{run} --entry=whole --grid=2 --num-warps=2 out:32x32 in:32x32 val:1
// RUN: %{run} --entry=floats --grid=1 --num-warps=2 out:64 in:64 in:64
// RUN: %{run} --entry=integers --grid=1 --num-warps=1 out:64 in:64:max=8 in:64:max=8

func.func @arguments(%z : memref<8xf32>, %a : i1, %b : i8, %c : i16, %d : i32, %e : i64, %f : index, %g : f16, %h : bf16, %i : f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %b0 = arith.extsi %b : i8 to i64
  %c1 = arith.extsi %c : i16 to i64
  %d0 = arith.extsi %d : i32 to i64
  %f0 = arith.index_cast %f : index to i64
  %s0 = arith.xori %b0, %c1 : i64
  %s1 = arith.xori %s0, %d0 : i64
  %s2 = arith.xori %s1, %e : i64
  %s3 = arith.xori %s2, %f0 : i64
  %low = arith.trunci %s3 : i64 to i16
  %x = arith.sitofp %low : i16 to f32
  %g0 = arith.extf %g : f16 to f32
  %h0 = arith.extf %h : bf16 to f32
  %y = arith.mulf %g0, %h0 : f32
  %w = arith.addf %y, %i : f32
  %v = arith.select %a, %x, %w : f32
  %u = tensor.splat %v : tensor<8xf32>
  %n = tensor.splat %w : tensor<8xf32>
  %m = tensor.splat %a : tensor<8xi1>
  %k = tile.iota : tensor<8xi32>
  %l = arith.sitofp %k : tensor<8xi32> to tensor<8xf32>
  %q = arith.subf %u, %n : tensor<8xf32>
  %r = arith.select %m, %q, %l : tensor<8xi1>, tensor<8xf32>
  %o = arith.addf %r, %u : tensor<8xf32>
  tile.store %o, %z[%c0] : tensor<8xf32>, memref<8xf32>
  return
}

// One element per program, wherever the table says.
func.func @elements(%z : memref<6x16xi32>, %x : memref<16x16xi32>, %t : memref<6x2xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = tile.program_id 0
  %q = tile.program_id 1
  %n = tile.num_programs 1
  %m = arith.muli %p, %n : index
  %id = arith.addi %m, %q : index
  %i0 = memref.load %t[%id, %c0] : memref<6x2xi32>
  %j0 = memref.load %t[%id, %c1] : memref<6x2xi32>
  %i = arith.index_cast %i0 : i32 to index
  %j = arith.index_cast %j0 : i32 to index
  %a = tile.load %x[%c0, %c0] : memref<16x16xi32> -> tensor<16x16xi32>
  %b = tile.permute %a [1, 0] : tensor<16x16xi32> -> tensor<16x16xi32>
  %e = tensor.extract %b[%i, %j] : tensor<16x16xi32>
  %f = tensor.extract %a[%i, %c1] : tensor<16x16xi32>
  %g = arith.muli %e, %f : i32
  %h = tensor.splat %g : tensor<1x16xi32>
  %k = tile.iota : tensor<16xi32>
  %l = tile.reshape %k : tensor<16xi32> -> tensor<1x16xi32>
  %r = arith.addi %h, %l : tensor<1x16xi32>
  tile.store %r, %z[%id, %c0] : tensor<1x16xi32>, memref<6x16xi32>
  return
}

// One thread writes the element.
func.func @rank0(%z : memref<i32>, %w : memref<4x4xi32>, %x : memref<i32>, %y : memref<8x8xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[] : memref<i32> -> tensor<i32>
  %b = tile.load %y[%c0, %c0] : memref<8x8xi32> -> tensor<8x8xi32>
  %c = tile.reduce add %b [0] : tensor<8x8xi32> -> tensor<8xi32>
  %d = tile.reduce xor %c [0] : tensor<8xi32> -> tensor<i32>
  %e = arith.addi %a, %d : tensor<i32>
  %f = memref.load %x[] : memref<i32>
  %g = tensor.splat %f : tensor<i32>
  %h = arith.muli %e, %g : tensor<i32>
  tile.store %h, %z[] : tensor<i32>, memref<i32>
  %r = tile.reshape %h : tensor<i32> -> tensor<1x1xi32>
  %s = tile.broadcast %r : tensor<1x1xi32> -> tensor<4x4xi32>
  tile.store %s, %w[%c0, %c0] : tensor<4x4xi32>, memref<4x4xi32>
  return
}

// The condition is one for all elements.
func.func @whole(%z : memref<32x32xf16>, %x : memref<32x32xf16>, %flag : i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %t = tile.load %x[%p, %c0] : memref<32x32xf16> -> tensor<16x32xf16>
  %u = tile.reshape %t : tensor<16x32xf16> -> tensor<32x16xf16>
  %v = tile.permute %u [1, 0] : tensor<32x16xf16> -> tensor<16x32xf16>
  %first = arith.cmpi eq, %p, %c0 : index
  %both = arith.andi %first, %flag : i1
  %s = arith.select %both, %t, %v : tensor<16x32xf16>
  tile.store %s, %z[%p, %c0] : tensor<16x32xf16>, memref<32x32xf16>
  return
}

// One bit of the result per comparison; every NaN, zero and infinity is met.
func.func @floats(%z : memref<64xi32>, %x : memref<64xi8>, %y : memref<64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = tile.load %x[%c0] : memref<64xi8> -> tensor<64xi8>
  %b0 = tile.load %y[%c0] : memref<64xi8> -> tensor<64xi8>
  %special = arith.constant dense<[0.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0, -1.0, 1.0e-45]> : tensor<8xf32>
  %sp0 = tile.reshape %special : tensor<8xf32> -> tensor<8x1xf32>
  %sp1 = tile.reshape %special : tensor<8xf32> -> tensor<1x8xf32>
  %sb0 = tile.broadcast %sp0 : tensor<8x1xf32> -> tensor<8x8xf32>
  %sb1 = tile.broadcast %sp1 : tensor<1x8xf32> -> tensor<8x8xf32>
  %a = tile.reshape %sb0 : tensor<8x8xf32> -> tensor<64xf32>
  %b = tile.reshape %sb1 : tensor<8x8xf32> -> tensor<64xf32>
  %xy = arith.xori %a0, %b0 : tensor<64xi8>
  %start = arith.extui %xy : tensor<64xi8> to tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %m0 = arith.cmpf false, %a, %b : tensor<64xf32>
  %e0 = arith.extui %m0 : tensor<64xi1> to tensor<64xi32>
  %s0 = arith.shli %start, %one : tensor<64xi32>
  %r0 = arith.ori %s0, %e0 : tensor<64xi32>
  %m1 = arith.cmpf oeq, %a, %b : tensor<64xf32>
  %e1 = arith.extui %m1 : tensor<64xi1> to tensor<64xi32>
  %s1 = arith.shli %r0, %one : tensor<64xi32>
  %r1 = arith.ori %s1, %e1 : tensor<64xi32>
  %m2 = arith.cmpf ogt, %a, %b : tensor<64xf32>
  %e2 = arith.extui %m2 : tensor<64xi1> to tensor<64xi32>
  %s2 = arith.shli %r1, %one : tensor<64xi32>
  %r2 = arith.ori %s2, %e2 : tensor<64xi32>
  %m3 = arith.cmpf oge, %a, %b : tensor<64xf32>
  %e3 = arith.extui %m3 : tensor<64xi1> to tensor<64xi32>
  %s3 = arith.shli %r2, %one : tensor<64xi32>
  %r3 = arith.ori %s3, %e3 : tensor<64xi32>
  %m4 = arith.cmpf olt, %a, %b : tensor<64xf32>
  %e4 = arith.extui %m4 : tensor<64xi1> to tensor<64xi32>
  %s4 = arith.shli %r3, %one : tensor<64xi32>
  %r4 = arith.ori %s4, %e4 : tensor<64xi32>
  %m5 = arith.cmpf ole, %a, %b : tensor<64xf32>
  %e5 = arith.extui %m5 : tensor<64xi1> to tensor<64xi32>
  %s5 = arith.shli %r4, %one : tensor<64xi32>
  %r5 = arith.ori %s5, %e5 : tensor<64xi32>
  %m6 = arith.cmpf one, %a, %b : tensor<64xf32>
  %e6 = arith.extui %m6 : tensor<64xi1> to tensor<64xi32>
  %s6 = arith.shli %r5, %one : tensor<64xi32>
  %r6 = arith.ori %s6, %e6 : tensor<64xi32>
  %m7 = arith.cmpf ord, %a, %b : tensor<64xf32>
  %e7 = arith.extui %m7 : tensor<64xi1> to tensor<64xi32>
  %s7 = arith.shli %r6, %one : tensor<64xi32>
  %r7 = arith.ori %s7, %e7 : tensor<64xi32>
  %m8 = arith.cmpf ueq, %a, %b : tensor<64xf32>
  %e8 = arith.extui %m8 : tensor<64xi1> to tensor<64xi32>
  %s8 = arith.shli %r7, %one : tensor<64xi32>
  %r8 = arith.ori %s8, %e8 : tensor<64xi32>
  %m9 = arith.cmpf ugt, %a, %b : tensor<64xf32>
  %e9 = arith.extui %m9 : tensor<64xi1> to tensor<64xi32>
  %s9 = arith.shli %r8, %one : tensor<64xi32>
  %r9 = arith.ori %s9, %e9 : tensor<64xi32>
  %m10 = arith.cmpf uge, %a, %b : tensor<64xf32>
  %e10 = arith.extui %m10 : tensor<64xi1> to tensor<64xi32>
  %s10 = arith.shli %r9, %one : tensor<64xi32>
  %r10 = arith.ori %s10, %e10 : tensor<64xi32>
  %m11 = arith.cmpf ult, %a, %b : tensor<64xf32>
  %e11 = arith.extui %m11 : tensor<64xi1> to tensor<64xi32>
  %s11 = arith.shli %r10, %one : tensor<64xi32>
  %r11 = arith.ori %s11, %e11 : tensor<64xi32>
  %m12 = arith.cmpf ule, %a, %b : tensor<64xf32>
  %e12 = arith.extui %m12 : tensor<64xi1> to tensor<64xi32>
  %s12 = arith.shli %r11, %one : tensor<64xi32>
  %r12 = arith.ori %s12, %e12 : tensor<64xi32>
  %m13 = arith.cmpf une, %a, %b : tensor<64xf32>
  %e13 = arith.extui %m13 : tensor<64xi1> to tensor<64xi32>
  %s13 = arith.shli %r12, %one : tensor<64xi32>
  %r13 = arith.ori %s13, %e13 : tensor<64xi32>
  %m14 = arith.cmpf uno, %a, %b : tensor<64xf32>
  %e14 = arith.extui %m14 : tensor<64xi1> to tensor<64xi32>
  %s14 = arith.shli %r13, %one : tensor<64xi32>
  %r14 = arith.ori %s14, %e14 : tensor<64xi32>
  %m15 = arith.cmpf true, %a, %b : tensor<64xf32>
  %e15 = arith.extui %m15 : tensor<64xi1> to tensor<64xi32>
  %s15 = arith.shli %r14, %one : tensor<64xi32>
  %r15 = arith.ori %s15, %e15 : tensor<64xi32>
  tile.store %r15, %z[%c0] : tensor<64xi32>, memref<64xi32>
  return
}

// One bit of the result per comparison.
func.func @integers(%z : memref<64xi32>, %x : memref<64xi8>, %y : memref<64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = tile.load %x[%c0] : memref<64xi8> -> tensor<64xi8>
  %b0 = tile.load %y[%c0] : memref<64xi8> -> tensor<64xi8>
  %four = arith.constant dense<4> : tensor<64xi8>
  %a = arith.subi %a0, %four : tensor<64xi8>
  %b = arith.subi %b0, %four : tensor<64xi8>
  %start = arith.extui %a : tensor<64xi8> to tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %m0 = arith.cmpi eq, %a, %b : tensor<64xi8>
  %e0 = arith.extui %m0 : tensor<64xi1> to tensor<64xi32>
  %s0 = arith.shli %start, %one : tensor<64xi32>
  %r0 = arith.ori %s0, %e0 : tensor<64xi32>
  %m1 = arith.cmpi ne, %a, %b : tensor<64xi8>
  %e1 = arith.extui %m1 : tensor<64xi1> to tensor<64xi32>
  %s1 = arith.shli %r0, %one : tensor<64xi32>
  %r1 = arith.ori %s1, %e1 : tensor<64xi32>
  %m2 = arith.cmpi slt, %a, %b : tensor<64xi8>
  %e2 = arith.extui %m2 : tensor<64xi1> to tensor<64xi32>
  %s2 = arith.shli %r1, %one : tensor<64xi32>
  %r2 = arith.ori %s2, %e2 : tensor<64xi32>
  %m3 = arith.cmpi sle, %a, %b : tensor<64xi8>
  %e3 = arith.extui %m3 : tensor<64xi1> to tensor<64xi32>
  %s3 = arith.shli %r2, %one : tensor<64xi32>
  %r3 = arith.ori %s3, %e3 : tensor<64xi32>
  %m4 = arith.cmpi sgt, %a, %b : tensor<64xi8>
  %e4 = arith.extui %m4 : tensor<64xi1> to tensor<64xi32>
  %s4 = arith.shli %r3, %one : tensor<64xi32>
  %r4 = arith.ori %s4, %e4 : tensor<64xi32>
  %m5 = arith.cmpi sge, %a, %b : tensor<64xi8>
  %e5 = arith.extui %m5 : tensor<64xi1> to tensor<64xi32>
  %s5 = arith.shli %r4, %one : tensor<64xi32>
  %r5 = arith.ori %s5, %e5 : tensor<64xi32>
  %m6 = arith.cmpi ult, %a, %b : tensor<64xi8>
  %e6 = arith.extui %m6 : tensor<64xi1> to tensor<64xi32>
  %s6 = arith.shli %r5, %one : tensor<64xi32>
  %r6 = arith.ori %s6, %e6 : tensor<64xi32>
  %m7 = arith.cmpi ule, %a, %b : tensor<64xi8>
  %e7 = arith.extui %m7 : tensor<64xi1> to tensor<64xi32>
  %s7 = arith.shli %r6, %one : tensor<64xi32>
  %r7 = arith.ori %s7, %e7 : tensor<64xi32>
  %m8 = arith.cmpi ugt, %a, %b : tensor<64xi8>
  %e8 = arith.extui %m8 : tensor<64xi1> to tensor<64xi32>
  %s8 = arith.shli %r7, %one : tensor<64xi32>
  %r8 = arith.ori %s8, %e8 : tensor<64xi32>
  %m9 = arith.cmpi uge, %a, %b : tensor<64xi8>
  %e9 = arith.extui %m9 : tensor<64xi1> to tensor<64xi32>
  %s9 = arith.shli %r8, %one : tensor<64xi32>
  %r9 = arith.ori %s9, %e9 : tensor<64xi32>
  tile.store %r9, %z[%c0] : tensor<64xi32>, memref<64xi32>
  return
}
