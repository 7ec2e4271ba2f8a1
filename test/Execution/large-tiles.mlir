// Tiles as large as kernels use, on few warps and on many.

// RUN: tile-lane-run --check %s --target=sm_120f --grid=1 --entry=scaled -DM=256 -DN=128 --num-warps=8 out:256x128 in:256x32 in:128x32 in:256x4:scale in:128x4:scale
// RUN: tile-lane-run --check %s --target=sm_80 --grid=1 --entry=scaled -DM=128 -DN=256 --num-warps=16 out:128x256 in:128x32 in:256x32 in:128x4:scale in:256x4:scale
// RUN: tile-lane-run --check %s --target=sm_80 --grid=1 --entry=scaled -DM=128 -DN=64 --num-warps=1 out:128x64 in:128x32 in:64x32 in:128x4:scale in:64x4:scale
// RUN: tile-lane-run --check %s --target=sm_120f --grid=1 --entry=scaled -DM=64 -DN=128 --num-warps=32 out:64x128 in:64x32 in:128x32 in:64x4:scale in:128x4:scale
// RUN: tile-lane-run --check %s --target=sm_80 --grid=1 --entry=transpose -DM=256 -DN=128 --num-warps=8 out:128x256 in:256x128
// RUN: tile-lane-run --check %s --target=sm_120f --grid=1 --entry=transpose -DM=128 -DN=256 --num-warps=4 out:256x128 in:128x256

func.func @scaled(%z : memref<${M}x${N}xf32>, %x : memref<${M}x32x!tile.f4E2M1FNx2>, %y : memref<${N}x32x!tile.f4E2M1FNx2>, %xs : memref<${M}x4xf8E4M3FN>, %ys : memref<${N}x4xf8E4M3FN>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = tile.load %x[%c0, %c0] : memref<${M}x32x!tile.f4E2M1FNx2> -> tensor<${M}x32x!tile.f4E2M1FNx2>
  %a = tile.unpack %a0 : tensor<${M}x32x!tile.f4E2M1FNx2> -> tensor<${M}x64xf4E2M1FN>
  %b0 = tile.load %y[%c0, %c0] : memref<${N}x32x!tile.f4E2M1FNx2> -> tensor<${N}x32x!tile.f4E2M1FNx2>
  %b1 = tile.unpack %b0 : tensor<${N}x32x!tile.f4E2M1FNx2> -> tensor<${N}x64xf4E2M1FN>
  %b = tile.permute %b1 [1, 0] : tensor<${N}x64xf4E2M1FN> -> tensor<64x${N}xf4E2M1FN>
  %sa = tile.load %xs[%c0, %c0] : memref<${M}x4xf8E4M3FN> -> tensor<${M}x4xf8E4M3FN>
  %sb0 = tile.load %ys[%c0, %c0] : memref<${N}x4xf8E4M3FN> -> tensor<${N}x4xf8E4M3FN>
  %sb = tile.permute %sb0 [1, 0] : tensor<${N}x4xf8E4M3FN> -> tensor<4x${N}xf8E4M3FN>
  %acc = arith.constant dense<0.5> : tensor<${M}x${N}xf32>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<${M}x64xf4E2M1FN>, tensor<64x${N}xf4E2M1FN>, tensor<${M}x${N}xf32>, tensor<${M}x4xf8E4M3FN>, tensor<4x${N}xf8E4M3FN>
  tile.store %r, %z[%c0, %c0] : tensor<${M}x${N}xf32>, memref<${M}x${N}xf32>
  return
}

func.func @transpose(%z : memref<${N}x${M}xi32>, %x : memref<${M}x${N}xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<${M}x${N}xi32> -> tensor<${M}x${N}xi32>
  %p = tile.permute %t [1, 0] : tensor<${M}x${N}xi32> -> tensor<${N}x${M}xi32>
  tile.store %p, %z[%c0, %c0] : tensor<${N}x${M}xi32>, memref<${N}x${M}xi32>
  return
}
