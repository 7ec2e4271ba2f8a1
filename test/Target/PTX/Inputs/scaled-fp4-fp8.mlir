// z[16,8] = x[16,32] . y[8,32]^T in FP4 by FP8, one power of two per 32 values.

!pairs = !tile.f4E2M1FNx2

func.func @scaled(%z : memref<16x8xf32>, %x : memref<16x16x!pairs>,
                  %y : memref<8x32x${RHS}>, %xs : memref<16x1xf8E8M0FNU>,
                  %ys : memref<8x1xf8E8M0FNU>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %xp = tile.load %x[%c0, %c0] : memref<16x16x!pairs> -> tensor<16x16x!pairs>
  %xu = tile.unpack %xp : tensor<16x16x!pairs> -> tensor<16x32xf4E2M1FN>
  %yl = tile.load %y[%c0, %c0] : memref<8x32x${RHS}> -> tensor<8x32x${RHS}>
  %yt = tile.permute %yl [1, 0] : tensor<8x32x${RHS}> -> tensor<32x8x${RHS}>
  %sx = tile.load %xs[%c0, %c0] : memref<16x1xf8E8M0FNU> -> tensor<16x1xf8E8M0FNU>
  %sl = tile.load %ys[%c0, %c0] : memref<8x1xf8E8M0FNU> -> tensor<8x1xf8E8M0FNU>
  %sy = tile.permute %sl [1, 0] : tensor<8x1xf8E8M0FNU> -> tensor<1x8xf8E8M0FNU>
  %r = tile.mmaf_scaled %xu, %yt, %zero, %sx, %sy
     : tensor<16x32xf4E2M1FN>, tensor<32x8x${RHS}>, tensor<16x8xf32>,
       tensor<16x1xf8E8M0FNU>, tensor<1x8xf8E8M0FNU>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
