// z[M,N] = alpha * x[M,K] . y[K,N] with NVFP4 weights stored K by N: the pairs of
// y run along N, and ys is [K/16, N]. No instruction takes that order, so the
// compiler packs y anew or expands it, and says which in a remark.
//
//   tile-compile nvfp4_linear_kn.mlir --target=sm_120a -DBM=64 -DBN=64 -DBK=128
//
// Grid: ceil(M/BM), ceil(N/BN). BK is a multiple of 16, BN of 2.

!out    = memref<?x?xf32, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?xf8E4M3FN, strided<[?, 1]>>

func.func @nvfp4_linear_kn(
    %z : !out {tile.extents = ["M", "N"]},
    %x : !pairs {tile.extents = ["M", "K/2"]},
    %y : !pairs {tile.extents = ["K", "N/2"]},
    %xs : !scales {tile.extents = ["M", "K/16"]},
    %ys : !scales {tile.extents = ["K/16", "N"]},
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
    %yp = tile.load %y[%k, %n] : !pairs -> tensor<${BK}x${BN/2}x!tile.f4E2M1FNx2>
    %xu = tile.unpack %xp : tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BM}x${BK}xf4E2M1FN>
    %yu = tile.unpack %yp : tensor<${BK}x${BN/2}x!tile.f4E2M1FNx2> -> tensor<${BK}x${BN}xf4E2M1FN>
    %sx = tile.load %xs[%m, %k] : !scales -> tensor<${BM}x${BK/16}xf8E4M3FN>
    %sy = tile.load %ys[%k, %n] : !scales -> tensor<${BK/16}x${BN}xf8E4M3FN>
    %r = tile.mmaf_scaled %xu, %yu, %a, %sx, %sy
       : tensor<${BM}x${BK}xf4E2M1FN>, tensor<${BK}x${BN}xf4E2M1FN>, tensor<${BM}x${BN}xf32>,
         tensor<${BM}x${BK/16}xf8E4M3FN>, tensor<${BK/16}x${BN}xf8E4M3FN>
    scf.yield %r : tensor<${BM}x${BN}xf32>
  }
  %al = tensor.splat %alpha : tensor<${BM}x${BN}xf32>
  %o = arith.mulf %acc, %al : tensor<${BM}x${BN}xf32>
  tile.store %o, %z[%m, %n] : tensor<${BM}x${BN}xf32>, !out
  return
}
