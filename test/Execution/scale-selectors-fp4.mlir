// Which lane has the scale of which tile: warps with one, two and four tiles of M
// and one to eight of N, all sizes of a scale vector, steps of K in which a word of
// scales is one group, a few or several. Every row and column has scales of its
// own, so that a wrong lane or byte shows.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_120a --grid=1,1 --num-warps=1
// DEFINE: %{tile1} = -DM=16 -DN=8 out:16x8
// DEFINE: %{tile2} = -DM=16 -DN=16 out:16x16
// DEFINE: %{tile3} = -DM=32 -DN=8 out:32x8
// DEFINE: %{tile4} = -DM=32 -DN=32 out:32x32
// DEFINE: %{tile5} = -DM=64 -DN=16 out:64x16
// DEFINE: %{tile6} = -DM=64 -DN=64 out:64x64

// 4X: groups of 16, one and two instructions along K.
// DEFINE: %{vec4} = %{run} -DS=f8E4M3FN -DV=16
// RUN: %{vec4} -DK=64 %{tile1} in:16x32 in:8x32 in:16x4:scale in:8x4:scale
// RUN: %{vec4} -DK=64 %{tile2} in:16x32 in:16x32 in:16x4:scale in:16x4:scale
// RUN: %{vec4} -DK=128 %{tile3} in:32x64 in:8x64 in:32x8:scale in:8x8:scale
// RUN: %{vec4} -DK=128 %{tile4} in:32x64 in:32x64 in:32x8:scale in:32x8:scale
// RUN: %{vec4} -DK=64 %{tile5} in:64x32 in:16x32 in:64x4:scale in:16x4:scale
// RUN: %{vec4} -DK=128 %{tile6} in:64x64 in:64x64 in:64x8:scale in:64x8:scale
// RUN: %{vec4} -DK=16 %{tile4} in:32x8 in:32x8 in:32x1:scale in:32x1:scale
// RUN: %{vec4} -DK=32 %{tile6} in:64x16 in:64x16 in:64x2:scale in:64x2:scale

// 2X: groups of 32; byte selectors 0 and 2.
// DEFINE: %{vec2} = %{run} -DS=f8E8M0FNU -DV=32
// RUN: %{vec2} -DK=64 %{tile1} in:16x32 in:8x32 in:16x2:scale in:8x2:scale
// RUN: %{vec2} -DK=128 %{tile2} in:16x64 in:16x64 in:16x4:scale in:16x4:scale
// RUN: %{vec2} -DK=64 %{tile3} in:32x32 in:8x32 in:32x2:scale in:8x2:scale
// RUN: %{vec2} -DK=64 %{tile4} in:32x32 in:32x32 in:32x2:scale in:32x2:scale
// RUN: %{vec2} -DK=128 %{tile5} in:64x64 in:16x64 in:64x4:scale in:16x4:scale
// RUN: %{vec2} -DK=64 %{tile6} in:64x32 in:64x32 in:64x2:scale in:64x2:scale
// RUN: %{vec2} -DK=32 %{tile6} in:64x16 in:64x16 in:64x1:scale in:64x1:scale

// 2X issued twice: groups of 16.
// DEFINE: %{twice} = %{run} -DS=f8E8M0FNU -DV=16
// RUN: %{twice} -DK=64 %{tile3} in:32x32 in:8x32 in:32x4:scale in:8x4:scale
// RUN: %{twice} -DK=128 %{tile4} in:32x64 in:32x64 in:32x8:scale in:32x8:scale
// RUN: %{twice} -DK=64 %{tile6} in:64x32 in:64x32 in:64x4:scale in:64x4:scale
// RUN: %{twice} -DK=32 %{tile5} in:64x16 in:16x16 in:64x2:scale in:16x2:scale

// Several warps, ragged edges.
// RUN: tile-lane-run --check %s --target=sm_120a -DS=f8E4M3FN -DV=16 -DM=64 -DN=32 -DK=128 --grid=2,2 --num-warps=4 \
// RUN:   out:100x50 in:100x64 in:50x64 in:100x8:scale in:50x8:scale

// One register of B for four tiles of N: the selector of lanes counts them.
// RUN: tile-compile %s --target=sm_120a -DS=f8E4M3FN -DV=16 -DM=32 -DN=32 -DK=64 --num-warps=1 --emit=nvvm -o - | FileCheck %s
// CHECK:      %[[ZERO:.*]] = llvm.mlir.constant(0 : i16) : i16
// CHECK-NEXT: nvvm.mma.block_scale {{.*}} scaleA[%[[A0:.*]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B:.*]], %[[ZERO]], %[[ZERO]]]
// CHECK:      nvvm.mma.block_scale {{.*}} scaleA[%[[A1:.*]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B]], %[[ZERO]], %[[ZERO]]]
// CHECK:      %[[ONE:.*]] = llvm.mlir.constant(1 : i16) : i16
// CHECK-NEXT: nvvm.mma.block_scale {{.*}} scaleA[%[[A0]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B]], %[[ZERO]], %[[ONE]]]
// CHECK:      nvvm.mma.block_scale {{.*}} scaleA[%[[A1]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B]], %[[ZERO]], %[[ONE]]]
// CHECK:      %[[TWO:.*]] = llvm.mlir.constant(2 : i16) : i16
// CHECK-NEXT: nvvm.mma.block_scale {{.*}} scaleA[%[[A0]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B]], %[[ZERO]], %[[TWO]]]
// CHECK:      nvvm.mma.block_scale {{.*}} scaleA[%[[A1]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B]], %[[ZERO]], %[[TWO]]]
// CHECK:      %[[THREE:.*]] = llvm.mlir.constant(3 : i16) : i16
// CHECK-NEXT: nvvm.mma.block_scale {{.*}} scaleA[%[[A0]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B]], %[[ZERO]], %[[THREE]]]
// CHECK:      nvvm.mma.block_scale {{.*}} scaleA[%[[A1]], %[[ZERO]], %[[ZERO]]] scaleB[%[[B]], %[[ZERO]], %[[THREE]]]
// CHECK-NOT:  nvvm.mma.block_scale

!pairs = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?x${S}, strided<[?, 1]>>

func.func @fp4(%z : memref<?x?xf32>, %x : !pairs, %y : !pairs, %xs : !scales, %ys : !scales)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<1.25> : tensor<${M}x${N}xf32>
  %a0 = tile.load %x[%m, %c0] : !pairs -> tensor<${M}x${K/2}x!tile.f4E2M1FNx2>
  %a = tile.unpack %a0 : tensor<${M}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${M}x${K}xf4E2M1FN>
  %b0 = tile.load %y[%n, %c0] : !pairs -> tensor<${N}x${K/2}x!tile.f4E2M1FNx2>
  %b1 = tile.unpack %b0 : tensor<${N}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${N}x${K}xf4E2M1FN>
  %b = tile.permute %b1 [1, 0] : tensor<${N}x${K}xf4E2M1FN> -> tensor<${K}x${N}xf4E2M1FN>
  %sa = tile.load %xs[%m, %c0] : !scales -> tensor<${M}x${K/V}x${S}>
  %sl = tile.load %ys[%n, %c0] : !scales -> tensor<${N}x${K/V}x${S}>
  %sb = tile.permute %sl [1, 0] : tensor<${N}x${K/V}x${S}> -> tensor<${K/V}x${N}x${S}>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb
     : tensor<${M}x${K}xf4E2M1FN>, tensor<${K}x${N}xf4E2M1FN>, tensor<${M}x${N}xf32>,
       tensor<${M}x${K/V}x${S}>, tensor<${K/V}x${N}x${S}>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}
