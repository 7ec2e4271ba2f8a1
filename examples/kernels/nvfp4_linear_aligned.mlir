// nvfp4_linear with promises: the same kernel for layers whose K is a multiple of
// KA and whose N is one of 4, with rows of x, y, xs, ys and z as far apart.
//
//   tile-compile nvfp4_linear_aligned.mlir --target=sm_120a -DKA=64 -DBM=64 -DBN=64 -DBK=128
//
// z[M,N] = alpha * x[M,K] . y[N,K]^T; the grid is ceil(M/BM), ceil(N/BN). KA is a
// multiple of 64: a row of x or y is K/2 bytes, a multiple of 32, so a tile of it
// is copied to shared memory in pieces of 16 bytes; a row of scales is K/16 bytes,
// a multiple of 4, so scales go in pieces of 4. With KA=256 those are 16 bytes
// too, and where BK divides KA no step of K is a part of one. The copies of later
// steps are under way while one is multiplied. M needs no promise: rows do not
// touch. Without promises every byte is loaded alone. A device checks promises
// before a launch; who launches the PTX without one must keep them.

!out    = memref<?x?xf32, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?xf8E4M3FN, strided<[?, 1]>>

func.func @nvfp4_linear_aligned(
    %z : !out {tile.extents = ["M", "N"],
               tile.shape_divisible_by = array<i64: 1, 4>,
               tile.stride_divisible_by = array<i64: 4, 1>},
    %x : !pairs {tile.extents = ["M", "K/2"],
                 tile.shape_divisible_by = array<i64: 1, ${KA/2}>,
                 tile.stride_divisible_by = array<i64: ${KA/2}, 1>},
    %y : !pairs {tile.extents = ["N", "K/2"],
                 tile.shape_divisible_by = array<i64: 1, ${KA/2}>,
                 tile.stride_divisible_by = array<i64: ${KA/2}, 1>},
    %xs : !scales {tile.extents = ["M", "K/16"],
                   tile.shape_divisible_by = array<i64: 1, ${KA/16}>,
                   tile.stride_divisible_by = array<i64: ${KA/16}, 1>},
    %ys : !scales {tile.extents = ["N", "K/16"],
                   tile.shape_divisible_by = array<i64: 1, ${KA/16}>,
                   tile.stride_divisible_by = array<i64: ${KA/16}, 1>},
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
