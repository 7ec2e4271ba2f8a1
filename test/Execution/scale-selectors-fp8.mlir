// Which lane has the scale of which tile, as scale-selectors-fp4.mlir: one group
// for each instruction, whose byte selectors are 0 to 3.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_120a --grid=1,1 --num-warps=1
// DEFINE: %{tile1} = -DM=16 -DN=8 out:16x8
// DEFINE: %{tile2} = -DM=16 -DN=16 out:16x16
// DEFINE: %{tile3} = -DM=32 -DN=8 out:32x8
// DEFINE: %{tile4} = -DM=32 -DN=32 out:32x32
// DEFINE: %{tile5} = -DM=64 -DN=16 out:64x16
// DEFINE: %{tile6} = -DM=64 -DN=64 out:64x64

// RUN: %{run} -DK=32 %{tile1} in:16x32 in:8x32 in:16x1:scale in:8x1:scale
// RUN: %{run} -DK=32 %{tile2} in:16x32 in:16x32 in:16x1:scale in:16x1:scale
// RUN: %{run} -DK=64 %{tile3} in:32x64 in:8x64 in:32x2:scale in:8x2:scale
// RUN: %{run} -DK=128 %{tile4} in:32x128 in:32x128 in:32x4:scale in:32x4:scale
// RUN: %{run} -DK=32 %{tile5} in:64x32 in:16x32 in:64x1:scale in:16x1:scale
// RUN: %{run} -DK=32 %{tile6} in:64x32 in:64x32 in:64x1:scale in:64x1:scale
// RUN: %{run} -DK=64 %{tile6} in:64x64 in:64x64 in:64x2:scale in:64x2:scale

// Several warps, ragged edges, any code and scale.
// RUN: tile-lane-run --check %s --target=sm_120a -DM=128 -DN=16 -DK=64 --grid=1,2 --num-warps=2 \
// RUN:   out:100x20 in:100x64 in:20x64 in:100x2:scale in:20x2:scale
// RUN: tile-lane-run --check %s --target=sm_120a -DM=64 -DN=64 -DK=64 --grid=1,1 --num-warps=1 --random --terms=64 \
// RUN:   out:64x64 in:64x64 in:64x64 in:64x2:scale in:64x2:scale

!codes = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!scales = memref<?x?xf8E8M0FNU, strided<[?, 1]>>

func.func @fp8(%z : memref<?x?xf32>, %x : !codes, %y : !codes, %xs : !scales, %ys : !scales)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<1.25> : tensor<${M}x${N}xf32>
  %a = tile.load %x[%m, %c0] : !codes -> tensor<${M}x${K}xf8E4M3FN>
  %b1 = tile.load %y[%n, %c0] : !codes -> tensor<${N}x${K}xf8E4M3FN>
  %b = tile.permute %b1 [1, 0] : tensor<${N}x${K}xf8E4M3FN> -> tensor<${K}x${N}xf8E4M3FN>
  %sa = tile.load %xs[%m, %c0] : !scales -> tensor<${M}x${K/32}xf8E8M0FNU>
  %sl = tile.load %ys[%n, %c0] : !scales -> tensor<${N}x${K/32}xf8E8M0FNU>
  %sb = tile.permute %sl [1, 0] : tensor<${N}x${K/32}xf8E8M0FNU> -> tensor<${K/32}x${N}xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb
     : tensor<${M}x${K}xf8E4M3FN>, tensor<${K}x${N}xf8E4M3FN>, tensor<${M}x${N}xf32>,
       tensor<${M}x${K/32}xf8E8M0FNU>, tensor<${K/32}x${N}xf8E8M0FNU>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}
