// z[16,8] = x[16,K] . y[8,K]^T in FP4 by FP4, SCALE over V values of K.
//
// The kernels of this folder are one tile without a loop, so that what is
// counted and spelled in their PTX is the multiply.

!pairs = !tile.f4E2M1FNx2

func.func @scaled(%z : memref<16x8xf32>, %x : memref<16x${K/2}x!pairs>,
                  %y : memref<8x${K/2}x!pairs>,
                  %xs : memref<16x${K/V}x${SCALE}>,
                  %ys : memref<8x${K/V}x${SCALE}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %xp = tile.load %x[%c0, %c0] : memref<16x${K/2}x!pairs> -> tensor<16x${K/2}x!pairs>
  %yp = tile.load %y[%c0, %c0] : memref<8x${K/2}x!pairs> -> tensor<8x${K/2}x!pairs>
  %xu = tile.unpack %xp : tensor<16x${K/2}x!pairs> -> tensor<16x${K}xf4E2M1FN>
  %yu = tile.unpack %yp : tensor<8x${K/2}x!pairs> -> tensor<8x${K}xf4E2M1FN>
  %yt = tile.permute %yu [1, 0] : tensor<8x${K}xf4E2M1FN> -> tensor<${K}x8xf4E2M1FN>
  %sx = tile.load %xs[%c0, %c0] : memref<16x${K/V}x${SCALE}> -> tensor<16x${K/V}x${SCALE}>
  %sl = tile.load %ys[%c0, %c0] : memref<8x${K/V}x${SCALE}> -> tensor<8x${K/V}x${SCALE}>
  %sy = tile.permute %sl [1, 0] : tensor<8x${K/V}x${SCALE}> -> tensor<${K/V}x8x${SCALE}>
  %r = tile.mmaf_scaled %xu, %yt, %zero, %sx, %sy
     : tensor<16x${K}xf4E2M1FN>, tensor<${K}x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x${K/V}x${SCALE}>, tensor<${K/V}x8x${SCALE}>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
