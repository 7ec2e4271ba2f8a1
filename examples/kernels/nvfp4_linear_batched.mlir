// z[b] = alpha * x[b] . y[b]^T for every matrix b of a batch, all NVFP4. The
// batch is the outermost dimension of every array.
//
//   tile-compile nvfp4_linear_batched.mlir --target=sm_120a -DBM=64 -DBN=64 -DBK=128
//
// Grid: ceil(M/BM), ceil(N/BN), B. BK is a multiple of 16.

!out    = memref<?x?x?xf32, strided<[?, ?, 1]>>
!pairs  = memref<?x?x?x!tile.f4E2M1FNx2, strided<[?, ?, 1]>>
!scales = memref<?x?x?xf8E4M3FN, strided<[?, ?, 1]>>

func.func @nvfp4_linear_batched(
    %z : !out {tile.extents = ["B", "M", "N"]},
    %x : !pairs {tile.extents = ["B", "M", "K/2"]},
    %y : !pairs {tile.extents = ["B", "N", "K/2"]},
    %xs : !scales {tile.extents = ["B", "M", "K/16"]},
    %ys : !scales {tile.extents = ["B", "N", "K/16"]},
    %alpha : f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %bk = arith.constant ${BK/2} : index // bytes of K per step
  %zero = arith.constant dense<0.0> : tensor<1x${BM}x${BN}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %b = tile.program_id 2
  %kp = memref.dim %x, %c2 : !pairs
  %steps = arith.ceildivui %kp, %bk : index
  %acc = scf.for %k = %c0 to %steps step %c1
      iter_args(%a = %zero) -> (tensor<1x${BM}x${BN}xf32>) {
    %xp = tile.load %x[%b, %m, %k] : !pairs -> tensor<1x${BM}x${BK/2}x!tile.f4E2M1FNx2>
    %yp = tile.load %y[%b, %n, %k] : !pairs -> tensor<1x${BN}x${BK/2}x!tile.f4E2M1FNx2>
    %xu = tile.unpack %xp : tensor<1x${BM}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<1x${BM}x${BK}xf4E2M1FN>
    %yu = tile.unpack %yp : tensor<1x${BN}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<1x${BN}x${BK}xf4E2M1FN>
    %yt = tile.permute %yu [0, 2, 1] : tensor<1x${BN}x${BK}xf4E2M1FN> -> tensor<1x${BK}x${BN}xf4E2M1FN>
    %sx = tile.load %xs[%b, %m, %k] : !scales -> tensor<1x${BM}x${BK/16}xf8E4M3FN>
    %sl = tile.load %ys[%b, %n, %k] : !scales -> tensor<1x${BN}x${BK/16}xf8E4M3FN>
    %sy = tile.permute %sl [0, 2, 1] : tensor<1x${BN}x${BK/16}xf8E4M3FN> -> tensor<1x${BK/16}x${BN}xf8E4M3FN>
    %r = tile.mmaf_scaled %xu, %yt, %a, %sx, %sy
       : tensor<1x${BM}x${BK}xf4E2M1FN>, tensor<1x${BK}x${BN}xf4E2M1FN>, tensor<1x${BM}x${BN}xf32>,
         tensor<1x${BM}x${BK/16}xf8E4M3FN>, tensor<1x${BK/16}x${BN}xf8E4M3FN>
    scf.yield %r : tensor<1x${BM}x${BN}xf32>
  }
  %al = tensor.splat %alpha : tensor<1x${BM}x${BN}xf32>
  %o = arith.mulf %acc, %al : tensor<1x${BM}x${BN}xf32>
  tile.store %o, %z[%b, %m, %n] : tensor<1x${BM}x${BN}xf32>, !out
  return
}
