// Constants: one value and many, of every element type, in layouts that loads,
// multiplies and element-wise operations ask for.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1

// RUN: %{run} --entry=floats --num-warps=1 out:6x8 out:4x8xf8E4M3FN out:2x4
// RUN: %{run} --entry=floats --num-warps=4 out:6x8 out:4x8xf8E4M3FN out:2x4
// RUN: %{run} --entry=integers --num-warps=1 out:8 out:8 out:8 out:8
// RUN: %{run} --entry=integers --num-warps=2 out:8 out:8 out:8 out:8
// RUN: %{run} --entry=operand --num-warps=1 out:16x8
// RUN: %{run} --entry=operand --num-warps=4 out:16x8

func.func @floats(%z : memref<6x8xf32>, %w : memref<4x8xf8E4M3FN>, %v : memref<2x4x!tile.f4E2M1FNx2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %f = arith.constant dense<[[1.5, -0.0, 0x7F800000, 3.0e38, 1.0e-45, -7.25, 0.1, 9.0]]> : tensor<1x8xf32>
  %h = arith.constant dense<[[1.5, -0.0, 0x7C00, 65504.0, 6.0e-8, -7.25, 0.1, 9.0]]> : tensor<1x8xf16>
  %b = arith.constant dense<[[1.5, -0.0, 0xFF80, 3.0e38, 1.0e-40, -7.25, 0.1, 9.0]]> : tensor<1x8xbf16>
  %e = arith.constant dense<[[1.0, 2.0, 0.5, 4.0, 5.877471754111438e-39, 1.7014118346046923e38, 8.0, 16.0]]> : tensor<1x8xf8E8M0FNU>
  %q = arith.constant dense<[[1.0, -2.0, 0.5, 57344.0, 1.52587890625e-05, -0.0, 0x7C, 3.5]]> : tensor<1x8xf8E5M2>
  %s = arith.constant dense<-0.1> : tensor<1x8xf32>
  %h0 = tile.ftof %h : tensor<1x8xf16> -> tensor<1x8xf32>
  %b0 = tile.ftof %b : tensor<1x8xbf16> -> tensor<1x8xf32>
  %e0 = tile.ftof %e : tensor<1x8xf8E8M0FNU> -> tensor<1x8xf32>
  %q0 = tile.ftof %q : tensor<1x8xf8E5M2> -> tensor<1x8xf32>
  tile.store %f, %z[%c0, %c0] : tensor<1x8xf32>, memref<6x8xf32>
  tile.store %h0, %z[%c1, %c0] : tensor<1x8xf32>, memref<6x8xf32>
  tile.store %b0, %z[%c2, %c0] : tensor<1x8xf32>, memref<6x8xf32>
  tile.store %e0, %z[%c3, %c0] : tensor<1x8xf32>, memref<6x8xf32>
  tile.store %q0, %z[%c4, %c0] : tensor<1x8xf32>, memref<6x8xf32>
  tile.store %s, %z[%c5, %c0] : tensor<1x8xf32>, memref<6x8xf32>
  %m = arith.constant dense<[[0.0, 0.5, 448.0, 0.001953125, -1.125, -448.0, -0.0, 3.25], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5], [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0]]> : tensor<4x8xf8E4M3FN>
  tile.store %m, %w[%c0, %c0] : tensor<4x8xf8E4M3FN>, memref<4x8xf8E4M3FN>
  %n = arith.constant dense<[[0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0], [-0.5, 0.0, -1.5, -2.0, -3.0, -4.0, -6.0, 1.0]]> : tensor<2x8xf4E2M1FN>
  %p = tile.pack %n : tensor<2x8xf4E2M1FN> -> tensor<2x4x!tile.f4E2M1FNx2>
  tile.store %p, %v[%c0, %c0] : tensor<2x4x!tile.f4E2M1FNx2>, memref<2x4x!tile.f4E2M1FNx2>
  return
}

func.func @integers(%z : memref<8xi64>, %y : memref<8xi32>, %x : memref<8xi16>, %w : memref<8xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[-1, 9223372036854775807, -9223372036854775808, 4294967296, 5, 6, 7, 8]> : tensor<8xi64>
  %b = arith.constant dense<[-1, 2147483647, -2147483648, 65536, 5, 6, 7, 8]> : tensor<8xi32>
  %c = arith.constant dense<[-1, 32767, -32768, 256, 5, 6, 7, 8]> : tensor<8xi16>
  %d = arith.constant dense<[-1, 127, -128, 16, 5, 6, 7, 8]> : tensor<8xi8>
  %e = arith.constant dense<[true, false, false, true, true, true, false, true]> : tensor<8xi1>
  %f = arith.constant dense<[3, -1, 4294967297, 1, 5, 9, 2, 6]> : tensor<8xindex>
  %g = arith.index_cast %f : tensor<8xindex> to tensor<8xi64>
  %n = arith.select %e, %a, %g : tensor<8xi1>, tensor<8xi64>
  tile.store %n, %z[%c0] : tensor<8xi64>, memref<8xi64>
  tile.store %b, %y[%c0] : tensor<8xi32>, memref<8xi32>
  tile.store %c, %x[%c0] : tensor<8xi16>, memref<8xi16>
  tile.store %d, %w[%c0] : tensor<8xi8>, memref<8xi8>
  return
}

// Operands and scales that are tables, in the layouts of the instruction.
func.func @operand(%z : memref<16x8xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = arith.constant dense<[[1.0, -2.0, 0.5, 3.0, 1.5, -6.0, 4.0, 0.5, -1.0, 2.0, 0.0, 6.0, 1.5, 1.5, -3.0, 4.0]]> : tensor<1x16xf4E2M1FN>
  %b0 = arith.constant dense<[[1.0, -2.0, 0.5, 3.0, 1.5, -6.0, 4.0, 0.5]]> : tensor<1x8xf4E2M1FN>
  %s0 = arith.constant dense<[[1.0, 2.0, 0.5, 3.0, 1.5, 6.0, 4.0, 0.25]]> : tensor<1x8xf8E4M3FN>
  %s1 = arith.constant dense<[1.0, 2.0, 0.5, 3.0, 1.5, 6.0, 4.0, 0.25, 1.25, 1.75, 0.5, 0.75, 3.5, 5.0, 7.0, 9.0]> : tensor<16xf8E4M3FN>
  %a = tile.broadcast %a0 : tensor<1x16xf4E2M1FN> -> tensor<16x16xf4E2M1FN>
  %b = tile.broadcast %b0 : tensor<1x8xf4E2M1FN> -> tensor<16x8xf4E2M1FN>
  %sa = tile.reshape %s1 : tensor<16xf8E4M3FN> -> tensor<16x1xf8E4M3FN>
  %acc = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf32>
  %c = tile.broadcast %acc : tensor<1x8xf32> -> tensor<16x8xf32>
  %r = tile.mmaf_scaled %a, %b, %c, %sa, %s0 : tensor<16x16xf4E2M1FN>, tensor<16x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x1xf8E4M3FN>, tensor<1x8xf8E4M3FN>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
