// The result of one multiply as an operand of the next, through a conversion and
// a row-wise normalisation, as attention has it.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=2

// RUN: %{run} --entry=chain -DT=bf16 --num-warps=1 out:32x64 in:32x64 in:96x64 in:96x64
// RUN: %{run} --entry=chain -DT=f16 --num-warps=4 out:32x64 in:32x64 in:96x64 in:96x64
// RUN: %{run} --entry=chain -DT=f8E4M3FN --num-warps=2 out:32x64 in:32x64 in:96x64 in:96x64
// RUN: %{run} --entry=scaled -DT=bf16 --num-warps=1 out:32x16 in:32x64 in:32x64 in:32x2:scale in:32x2:scale in:32x16
// RUN: %{run} --entry=scaled -DT=bf16 --num-warps=4 --schedule=6 out:32x16 in:32x64 in:32x64 in:32x2:scale in:32x2:scale in:32x16
// RUN: %{run} --entry=softmax -DT=bf16 --num-warps=1 --random --relative=0.02 --absolute=0.001 out:32x32 in:32x32 in:64x32 in:64x32
// RUN: %{run} --entry=softmax -DT=f16 --num-warps=4 --random --relative=0.005 --absolute=0.001 out:32x32 in:32x32 in:64x32 in:64x32

// Codes below 4 in magnitude keep the second sum exact.
func.func @chain(%z : memref<32x64xf32>, %q : memref<32x64x${T}>, %k : memref<96x64x${T}>, %v : memref<96x64x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p = tile.program_id 0
  %a = tile.load %q[%p, %c0] : memref<32x64x${T}> -> tensor<16x64x${T}>
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %none = arith.constant dense<0.0> : tensor<16x32xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) {
    %b0 = tile.load %k[%i, %c0] : memref<96x64x${T}> -> tensor<32x64x${T}>
    %b = tile.permute %b0 [1, 0] : tensor<32x64x${T}> -> tensor<64x32x${T}>
    %s = tile.mmaf %a, %b, %none : tensor<16x64x${T}>, tensor<64x32x${T}>, tensor<16x32xf32>
    %four = arith.constant dense<4.0> : tensor<16x32xf32>
    %minus = arith.constant dense<-4.0> : tensor<16x32xf32>
    %lo = arith.maximumf %s, %minus : tensor<16x32xf32>
    %hi = arith.minimumf %lo, %four : tensor<16x32xf32>
    %n = math.floor %hi : tensor<16x32xf32>
    %t = tile.ftof %n : tensor<16x32xf32> -> tensor<16x32x${T}>
    %c = tile.load %v[%i, %c0] : memref<96x64x${T}> -> tensor<32x64x${T}>
    %u = tile.mmaf %t, %c, %acc : tensor<16x32x${T}>, tensor<32x64x${T}>, tensor<16x64xf32>
    scf.yield %u : tensor<16x64xf32>
  }
  tile.store %r, %z[%p, %c0] : tensor<16x64xf32>, memref<32x64xf32>
  return
}

// FP8 result, with scales of its own, times weights of 16 bits.
func.func @scaled(%z : memref<32x16xf32>, %x : memref<32x64xf8E4M3FN>, %y : memref<32x64xf8E4M3FN>, %xs : memref<32x2xf8E8M0FNU>, %ys : memref<32x2xf8E8M0FNU>, %w : memref<32x16xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %a = tile.load %x[%p, %c0] : memref<32x64xf8E4M3FN> -> tensor<16x64xf8E4M3FN>
  %b0 = tile.load %y[%c0, %c0] : memref<32x64xf8E4M3FN> -> tensor<32x64xf8E4M3FN>
  %b = tile.permute %b0 [1, 0] : tensor<32x64xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
  %sa = tile.load %xs[%p, %c0] : memref<32x2xf8E8M0FNU> -> tensor<16x2xf8E8M0FNU>
  %sb0 = tile.load %ys[%c0, %c0] : memref<32x2xf8E8M0FNU> -> tensor<32x2xf8E8M0FNU>
  %sb = tile.permute %sb0 [1, 0] : tensor<32x2xf8E8M0FNU> -> tensor<2x32xf8E8M0FNU>
  %none = arith.constant dense<0.0> : tensor<16x32xf32>
  %s = tile.mmaf_scaled %a, %b, %none, %sa, %sb : tensor<16x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<16x32xf32>, tensor<16x2xf8E8M0FNU>, tensor<2x32xf8E8M0FNU>
  // One scale per row of 32: the power of two of its largest magnitude.
  %m0 = math.absf %s : tensor<16x32xf32>
  %m1 = tile.reduce max %m0 [1] : tensor<16x32xf32> -> tensor<16xf32>
  %m2 = tile.reshape %m1 : tensor<16xf32> -> tensor<16x1xf32>
  %e = tile.ftof %m2 toward_zero : tensor<16x1xf32> -> tensor<16x1xf8E8M0FNU>
  %f = tile.ftof %e : tensor<16x1xf8E8M0FNU> -> tensor<16x1xf32>
  %g = tile.broadcast %f : tensor<16x1xf32> -> tensor<16x32xf32>
  %d = arith.divf %s, %g : tensor<16x32xf32>
  %c = tile.ftof %d : tensor<16x32xf32> -> tensor<16x32xf4E2M1FN>
  %v = tile.load %w[%c0, %c0] : memref<32x16xbf16> -> tensor<32x16xbf16>
  %o = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.mmaf_scaled %c, %v, %o, %e : tensor<16x32xf4E2M1FN>, tensor<32x16xbf16>, tensor<16x16xf32>, tensor<16x1xf8E8M0FNU>
  tile.store %r, %z[%p, %c0] : tensor<16x16xf32>, memref<32x16xf32>
  return
}

// Running maximum and sum, rescaled in every step. Rounding to 16 bits between
// the multiplies may fall either way, hence the tolerance.
func.func @softmax(%z : memref<32x32xf32>, %q : memref<32x32x${T}>, %k : memref<64x32x${T}>, %v : memref<64x32x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %p = tile.program_id 0
  %a = tile.load %q[%p, %c0] : memref<32x32x${T}> -> tensor<16x32x${T}>
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %low = arith.constant dense<-1.0e30> : tensor<16xf32>
  %nothing = arith.constant dense<0.0> : tensor<16xf32>
  %scale = arith.constant dense<0.05> : tensor<16x32xf32>
  %r:3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %zero, %top = %low, %sum = %nothing) -> (tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>) {
    %b0 = tile.load %k[%i, %c0] : memref<64x32x${T}> -> tensor<32x32x${T}>
    %b = tile.permute %b0 [1, 0] : tensor<32x32x${T}> -> tensor<32x32x${T}>
    %s0 = tile.mmaf %a, %b, %zero : tensor<16x32x${T}>, tensor<32x32x${T}>, tensor<16x32xf32>
    %s = arith.mulf %s0, %scale : tensor<16x32xf32>
    %m0 = tile.reduce max %s [1] : tensor<16x32xf32> -> tensor<16xf32>
    %m = arith.maximumf %m0, %top : tensor<16xf32>
    %m1 = tile.reshape %m : tensor<16xf32> -> tensor<16x1xf32>
    %m2 = tile.broadcast %m1 : tensor<16x1xf32> -> tensor<16x32xf32>
    %d = arith.subf %s, %m2 : tensor<16x32xf32>
    %e = math.exp %d : tensor<16x32xf32>
    %c0f = arith.subf %top, %m : tensor<16xf32>
    %c = math.exp %c0f : tensor<16xf32>
    %n0 = tile.reduce add %e [1] : tensor<16x32xf32> -> tensor<16xf32>
    %n1 = arith.mulf %sum, %c : tensor<16xf32>
    %n = arith.addf %n0, %n1 : tensor<16xf32>
    %f0 = tile.reshape %c : tensor<16xf32> -> tensor<16x1xf32>
    %f = tile.broadcast %f0 : tensor<16x1xf32> -> tensor<16x32xf32>
    %g = arith.mulf %acc, %f : tensor<16x32xf32>
    %t = tile.ftof %e : tensor<16x32xf32> -> tensor<16x32x${T}>
    %w = tile.load %v[%i, %c0] : memref<64x32x${T}> -> tensor<32x32x${T}>
    %u = tile.mmaf %t, %w, %g : tensor<16x32x${T}>, tensor<32x32x${T}>, tensor<16x32xf32>
    scf.yield %u, %m, %n : tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>
  }
  %l0 = tile.reshape %r#2 : tensor<16xf32> -> tensor<16x1xf32>
  %l = tile.broadcast %l0 : tensor<16x1xf32> -> tensor<16x32xf32>
  %o = arith.divf %r#0, %l : tensor<16x32xf32>
  tile.store %o, %z[%p, %c0] : tensor<16x32xf32>, memref<32x32xf32>
  return
}
