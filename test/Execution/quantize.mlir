// Blocks of 16 values to FP4 and E4M3, of rows as short as two blocks.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_100a,sm_120f --grid=1

// RUN: %{run} --entry=blocks -DR=16 -DC=64 --num-warps=1 out:16x32 out:16x4 in:16x64 --random
// RUN: %{run} --entry=blocks -DR=8 -DC=128 --num-warps=4 out:8x64 out:8x8 in:8x128 --random
// RUN: %{run} --entry=blocks -DR=1 -DC=32 --num-warps=2 out:1x16 out:1x2 in:1x32 --random

// Values and scales of blocks of 16.
func.func @blocks(%z : memref<${R}x${C/2}x!tile.f4E2M1FNx2>, %s : memref<${R}x${C/16}xf8E4M3FN>, %x : memref<${R}x${C}xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<${R}x${C}xbf16> -> tensor<${R}x${C}xbf16>
  %f = arith.extf %t : tensor<${R}x${C}xbf16> to tensor<${R}x${C}xf32>
  %b = tile.reshape %f : tensor<${R}x${C}xf32> -> tensor<${R}x${C/16}x16xf32>
  %a = math.absf %b : tensor<${R}x${C/16}x16xf32>
  %m = tile.reduce max %a [2] : tensor<${R}x${C/16}x16xf32> -> tensor<${R}x${C/16}xf32>
  %six = arith.constant dense<6.0> : tensor<${R}x${C/16}xf32>
  %q = arith.divf %m, %six : tensor<${R}x${C/16}xf32>
  %c = tile.ftof %q : tensor<${R}x${C/16}xf32> -> tensor<${R}x${C/16}xf8E4M3FN>
  %g = tile.ftof %c : tensor<${R}x${C/16}xf8E4M3FN> -> tensor<${R}x${C/16}xf32>
  %g0 = tile.reshape %g : tensor<${R}x${C/16}xf32> -> tensor<${R}x${C/16}x1xf32>
  %g1 = tile.broadcast %g0 : tensor<${R}x${C/16}x1xf32> -> tensor<${R}x${C/16}x16xf32>
  %d = arith.divf %b, %g1 : tensor<${R}x${C/16}x16xf32>
  %e = tile.ftof %d : tensor<${R}x${C/16}x16xf32> -> tensor<${R}x${C/16}x16xf4E2M1FN>
  %r = tile.reshape %e : tensor<${R}x${C/16}x16xf4E2M1FN> -> tensor<${R}x${C}xf4E2M1FN>
  %p = tile.pack %r : tensor<${R}x${C}xf4E2M1FN> -> tensor<${R}x${C/2}x!tile.f4E2M1FNx2>
  tile.store %p, %z[%c0, %c0] : tensor<${R}x${C/2}x!tile.f4E2M1FNx2>, memref<${R}x${C/2}x!tile.f4E2M1FNx2>
  tile.store %c, %s[%c0, %c0] : tensor<${R}x${C/16}xf8E4M3FN>, memref<${R}x${C/16}xf8E4M3FN>
  return
}
