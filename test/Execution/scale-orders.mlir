// Scales in the orders of the hardware, 128x4 and 8x4, as operands of a multiply
// and as they are, beyond the end of the array too.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=order128 -DS=f8E4M3FN --grid=2 --num-warps=1 out:256x8 in:2x2x32x4x4
// RUN: %{run} --entry=order128 -DS=f8E8M0FNU --grid=2 --num-warps=4 out:256x8 in:2x1x32x4x4
// RUN: %{run} --entry=order8 -DS=f8E8M0FNU --grid=3 --num-warps=2 out:24x8 in:3x2x8x4
// RUN: %{run} --entry=order8 -DS=f8E4M3FN --grid=3 --num-warps=1 out:24x8 in:2x2x8x4
// RUN: %{run} --entry=multiply -DS=f8E4M3FN --grid=1 --num-warps=4 out:128x8 in:128x32 in:8x32 in:1x1x32x4x4:scale in:1x1x8x4:scale
// RUN: %{run} --entry=multiply -DS=f8E8M0FNU --grid=1 --num-warps=8 out:128x8 in:128x32 in:8x32 in:1x1x32x4x4:scale in:1x1x8x4:scale

!order128 = memref<?x?x32x4x4x${S}, strided<[?, 512, 16, 4, 1]>>
!order8 = memref<?x?x8x4x${S}>

func.func @order128(%z : memref<256x8x${S}>, %s : !order128) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %a = tile.load %s[%p, %c0, %c0, %c0, %c0] : !order128 -> tensor<1x2x32x4x4x${S}>
  %b = tile.permute %a [0, 3, 2, 1, 4] : tensor<1x2x32x4x4x${S}> -> tensor<1x4x32x2x4x${S}>
  %c = tile.reshape %b : tensor<1x4x32x2x4x${S}> -> tensor<128x8x${S}>
  tile.store %c, %z[%p, %c0] : tensor<128x8x${S}>, memref<256x8x${S}>
  return
}

func.func @order8(%z : memref<24x8x${S}>, %s : !order8) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %a = tile.load %s[%p, %c0, %c0, %c0] : !order8 -> tensor<1x2x8x4x${S}>
  %b = tile.permute %a [0, 2, 1, 3] : tensor<1x2x8x4x${S}> -> tensor<1x8x2x4x${S}>
  %c = tile.reshape %b : tensor<1x8x2x4x${S}> -> tensor<8x8x${S}>
  tile.store %c, %z[%p, %c0] : tensor<8x8x${S}>, memref<24x8x${S}>
  return
}

func.func @multiply(%z : memref<128x8xf32>, %x : memref<128x32x!tile.f4E2M1FNx2>, %y : memref<8x32x!tile.f4E2M1FNx2>, %xs : !order128, %ys : !order8) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a0 = tile.load %x[%c0, %c0] : memref<128x32x!tile.f4E2M1FNx2> -> tensor<128x32x!tile.f4E2M1FNx2>
  %a = tile.unpack %a0 : tensor<128x32x!tile.f4E2M1FNx2> -> tensor<128x64xf4E2M1FN>
  %b0 = tile.load %y[%c0, %c0] : memref<8x32x!tile.f4E2M1FNx2> -> tensor<8x32x!tile.f4E2M1FNx2>
  %b1 = tile.unpack %b0 : tensor<8x32x!tile.f4E2M1FNx2> -> tensor<8x64xf4E2M1FN>
  %b = tile.permute %b1 [1, 0] : tensor<8x64xf4E2M1FN> -> tensor<64x8xf4E2M1FN>
  %s0 = tile.load %xs[%c0, %c0, %c0, %c0, %c0] : !order128 -> tensor<1x1x32x4x4x${S}>
  %s1 = tile.permute %s0 [0, 3, 2, 1, 4] : tensor<1x1x32x4x4x${S}> -> tensor<1x4x32x1x4x${S}>
  %sa = tile.reshape %s1 : tensor<1x4x32x1x4x${S}> -> tensor<128x4x${S}>
  %t0 = tile.load %ys[%c0, %c0, %c0, %c0] : !order8 -> tensor<1x1x8x4x${S}>
  %t1 = tile.permute %t0 [0, 2, 1, 3] : tensor<1x1x8x4x${S}> -> tensor<1x8x1x4x${S}>
  %t2 = tile.reshape %t1 : tensor<1x8x1x4x${S}> -> tensor<8x4x${S}>
  %sb = tile.permute %t2 [1, 0] : tensor<8x4x${S}> -> tensor<4x8x${S}>
  %acc = arith.constant dense<0.0> : tensor<128x8xf32>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa, %sb : tensor<128x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<128x8xf32>, tensor<128x4x${S}>, tensor<4x8x${S}>
  tile.store %r, %z[%c0, %c0] : tensor<128x8xf32>, memref<128x8xf32>
  return
}
