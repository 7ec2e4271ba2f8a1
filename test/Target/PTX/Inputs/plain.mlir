// z[16,8] = x[16,32] . y[8,32]^T without scales.

func.func @plain(%z : memref<16x8xf32>, %x : memref<16x32x${LHS}>,
                 %y : memref<8x32x${RHS}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %xt = tile.load %x[%c0, %c0] : memref<16x32x${LHS}> -> tensor<16x32x${LHS}>
  %yl = tile.load %y[%c0, %c0] : memref<8x32x${RHS}> -> tensor<8x32x${RHS}>
  %yt = tile.permute %yl [1, 0] : tensor<8x32x${RHS}> -> tensor<32x8x${RHS}>
  %r = tile.mmaf %xt, %yt, %zero
     : tensor<16x32x${LHS}>, tensor<32x8x${RHS}>, tensor<16x8xf32>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
