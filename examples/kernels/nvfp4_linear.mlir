// z[M,N] = alpha * x[M,K] . y[N,K]^T, both operands NVFP4: FP4 values, two per
// byte with the first in the low half, and one E4M3 scale per 16 values of K.
//
//   tile-compile nvfp4_linear.mlir --target=sm_120a -DBM=64 -DBN=64 -DBK=128
//
// Each tile program computes one BM x BN tile of z: launch a grid of
// ceil(M/BM), ceil(N/BN). BK is the number of K values per step, a multiple of
// 16 and a power of two. M, N and K need not be multiples of the tile: what lies
// outside an array reads as zero. Global scales of x and y go into alpha.

!out    = memref<?x?xf32, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?xf8E4M3FN, strided<[?, 1]>>

func.func @nvfp4_linear(
    %z : !out {tile.extents = ["M", "N"]},
    %x : !pairs {tile.extents = ["M", "K/2"]},
    %y : !pairs {tile.extents = ["N", "K/2"]},
    %xs : !scales {tile.extents = ["M", "K/16"]},
    %ys : !scales {tile.extents = ["N", "K/16"]},
    %alpha : f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${BK/2} : index // bytes of K per step
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %kp = memref.dim %x, %c1 : !pairs
  %steps = arith.ceildivui %kp, %bk : index
  %acc = scf.for %k = %c0 to %steps step %c1
      iter_args(%a = %zero) -> (tensor<${BM}x${BN}xf32>) {
    %xp = tile.load %x[%m, %k] : !pairs -> tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>
    %yp = tile.load %y[%n, %k] : !pairs -> tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2>
    %xu = tile.unpack %xp : tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BM}x${BK}xf4E2M1FN>
    %yu = tile.unpack %yp : tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BN}x${BK}xf4E2M1FN>
    %yt = tile.permute %yu [1, 0] : tensor<${BN}x${BK}xf4E2M1FN> -> tensor<${BK}x${BN}xf4E2M1FN>
    %sx = tile.load %xs[%m, %k] : !scales -> tensor<${BM}x${BK/16}xf8E4M3FN>
    %sl = tile.load %ys[%n, %k] : !scales -> tensor<${BN}x${BK/16}xf8E4M3FN>
    %sy = tile.permute %sl [1, 0] : tensor<${BN}x${BK/16}xf8E4M3FN> -> tensor<${BK/16}x${BN}xf8E4M3FN>
    %r = tile.mmaf_scaled %xu, %yt, %a, %sx, %sy
       : tensor<${BM}x${BK}xf4E2M1FN>, tensor<${BK}x${BN}xf4E2M1FN>, tensor<${BM}x${BN}xf32>,
         tensor<${BM}x${BK/16}xf8E4M3FN>, tensor<${BK/16}x${BN}xf8E4M3FN>
    scf.yield %r : tensor<${BM}x${BN}xf32>
  }
  %al = tensor.splat %alpha : tensor<${BM}x${BN}xf32>
  %o = arith.mulf %acc, %al : tensor<${BM}x${BN}xf32>
  tile.store %o, %z[%m, %n] : tensor<${BM}x${BN}xf32>, !out
  return
}
