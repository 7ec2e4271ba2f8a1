// nvfp4_linear_128x4 with promises: the same kernel for layers whose K is a multiple
// of KA and whose N is one of 4, with rows of x, y and z as far apart, and scales in
// the 128x4 order that is packed: a block of 128 rows by 4 columns is 512 bytes,
// and blocks follow each other.
//
//   tile-compile nvfp4_linear_128x4_aligned.mlir --target=sm_100a -DKA=256 -DBM=128 -DBN=256 -DBK=256
//
// z[M,N] = alpha * x[M,K] . y[N,K]^T; the grid is ceil(M/BM), ceil(N/BN). BM and BN
// are multiples of 128, BK and KA of 64. Everything is copied to shared memory in
// pieces of 16 bytes: the order is the one in which tcgen05 wants scales there. A
// device checks promises before a launch; who launches the PTX without one must
// keep them.

!out    = memref<?x?xf32, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?x32x4x4xf8E4M3FN, strided<[?, 512, 16, 4, 1]>>

func.func @nvfp4_linear_128x4_aligned(
    %z : !out {tile.extents = ["M", "N"],
               tile.shape_divisible_by = array<i64: 1, 4>,
               tile.stride_divisible_by = array<i64: 4, 1>},
    %x : !pairs {tile.extents = ["M", "K/2"],
                 tile.shape_divisible_by = array<i64: 1, ${KA/2}>,
                 tile.stride_divisible_by = array<i64: ${KA/2}, 1>},
    %y : !pairs {tile.extents = ["N", "K/2"],
                 tile.shape_divisible_by = array<i64: 1, ${KA/2}>,
                 tile.stride_divisible_by = array<i64: ${KA/2}, 1>},
    %xs : !scales {tile.extents = ["M/128", "K/64", "32", "4", "4"],
                   tile.stride_divisible_by = array<i64: 512, 512, 16, 4, 1>},
    %ys : !scales {tile.extents = ["N/128", "K/64", "32", "4", "4"],
                   tile.stride_divisible_by = array<i64: 512, 512, 16, 4, 1>},
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
    %p0 = tile.load %xs[%m, %k, %c0, %c0, %c0] : !scales -> tensor<${BM/128}x${BK/64}x32x4x4xf8E4M3FN>
    %p1 = tile.permute %p0 [0, 3, 2, 1, 4] : tensor<${BM/128}x${BK/64}x32x4x4xf8E4M3FN> -> tensor<${BM/128}x4x32x${BK/64}x4xf8E4M3FN>
    %sx = tile.reshape %p1 : tensor<${BM/128}x4x32x${BK/64}x4xf8E4M3FN> -> tensor<${BM}x${BK/16}xf8E4M3FN>
    %q0 = tile.load %ys[%n, %k, %c0, %c0, %c0] : !scales -> tensor<${BN/128}x${BK/64}x32x4x4xf8E4M3FN>
    %q1 = tile.permute %q0 [0, 3, 2, 1, 4] : tensor<${BN/128}x${BK/64}x32x4x4xf8E4M3FN> -> tensor<${BN/128}x4x32x${BK/64}x4xf8E4M3FN>
    %sl = tile.reshape %q1 : tensor<${BN/128}x4x32x${BK/64}x4xf8E4M3FN> -> tensor<${BN}x${BK/16}xf8E4M3FN>
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
