// z[M,N] = alpha * x[M,K] . y[N,K]^T, both operands MXFP8: E4M3 values, and one
// power of two (E8M0) per 32 values of K.
//
//   tile-compile mxfp8_linear.mlir --target=sm_120a -DBM=64 -DBN=64 -DBK=64
//
// Grid: ceil(M/BM), ceil(N/BN). BK is a multiple of 32.

!out    = memref<?x?xf32, strided<[?, 1]>>
!values = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!scales = memref<?x?xf8E8M0FNU, strided<[?, 1]>>

func.func @mxfp8_linear(
    %z : !out {tile.extents = ["M", "N"]},
    %x : !values {tile.extents = ["M", "K"]},
    %y : !values {tile.extents = ["N", "K"]},
    %xs : !scales {tile.extents = ["M", "K/32"]},
    %ys : !scales {tile.extents = ["N", "K/32"]},
    %alpha : f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${BK} : index // values of K per step
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %kv = memref.dim %x, %c1 : !values
  %steps = arith.ceildivui %kv, %bk : index
  %acc = scf.for %k = %c0 to %steps step %c1
      iter_args(%a = %zero) -> (tensor<${BM}x${BN}xf32>) {
    %xv = tile.load %x[%m, %k] : !values -> tensor<${BM}x${BK}xf8E4M3FN>
    %yv = tile.load %y[%n, %k] : !values -> tensor<${BN}x${BK}xf8E4M3FN>
    %yt = tile.permute %yv [1, 0] : tensor<${BN}x${BK}xf8E4M3FN> -> tensor<${BK}x${BN}xf8E4M3FN>
    %sx = tile.load %xs[%m, %k] : !scales -> tensor<${BM}x${BK/32}xf8E8M0FNU>
    %sl = tile.load %ys[%n, %k] : !scales -> tensor<${BN}x${BK/32}xf8E8M0FNU>
    %sy = tile.permute %sl [1, 0] : tensor<${BN}x${BK/32}xf8E8M0FNU> -> tensor<${BK/32}x${BN}xf8E8M0FNU>
    %r = tile.mmaf_scaled %xv, %yt, %a, %sx, %sy
       : tensor<${BM}x${BK}xf8E4M3FN>, tensor<${BK}x${BN}xf8E4M3FN>, tensor<${BM}x${BN}xf32>,
         tensor<${BM}x${BK/32}xf8E8M0FNU>, tensor<${BK/32}x${BN}xf8E8M0FNU>
    scf.yield %r : tensor<${BM}x${BN}xf32>
  }
  %al = tensor.splat %alpha : tensor<${BM}x${BN}xf32>
  %o = arith.mulf %acc, %al : tensor<${BM}x${BN}xf32>
  tile.store %o, %z[%m, %n] : tensor<${BM}x${BN}xf32>, !out
  return
}
