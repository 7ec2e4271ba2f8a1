// z[16,8] = x[16,32] . w[8,32]^T: activations in LHS without scales, weights in
// FP4 with one SCALE per V values of K.

!pairs = !tile.f4E2M1FNx2

func.func @weight_only(%z : memref<16x8xf32>, %x : memref<16x32x${LHS}>,
                       %w : memref<8x16x!pairs>,
                       %ws : memref<8x${32/V}x${SCALE}>)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %xt = tile.load %x[%c0, %c0] : memref<16x32x${LHS}> -> tensor<16x32x${LHS}>
  %wp = tile.load %w[%c0, %c0] : memref<8x16x!pairs> -> tensor<8x16x!pairs>
  %wu = tile.unpack %wp : tensor<8x16x!pairs> -> tensor<8x32xf4E2M1FN>
  %wt = tile.permute %wu [1, 0] : tensor<8x32xf4E2M1FN> -> tensor<32x8xf4E2M1FN>
  %sl = tile.load %ws[%c0, %c0] : memref<8x${32/V}x${SCALE}> -> tensor<8x${32/V}x${SCALE}>
  %sw = tile.permute %sl [1, 0] : tensor<8x${32/V}x${SCALE}> -> tensor<${32/V}x8x${SCALE}>
  %r = tile.mmaf_scaled %xt, %wt, %zero, %sw
     : tensor<16x32x${LHS}>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<${32/V}x8x${SCALE}>
  tile.store %r, %z[%c0, %c0] : tensor<16x8xf32>, memref<16x8xf32>
  return
}
