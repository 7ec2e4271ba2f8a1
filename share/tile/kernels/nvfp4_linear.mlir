// z[M,N] = alpha * x[M,K] · y[N,K]ᵀ, both operands NVFP4: FP4 values in pairs, and
// one E4M3 scale per 16 values of K.
//
//   tile-compile nvfp4_linear.mlir --target=sm_120a -DKA=64 -DNA=4 \
//     -DBM=64 -DBN=64 -DBK=128 -DOUT=f32 -DALPHA=scalar -DALPHA_ATTRIBUTES={}
//
// Grid: ceil(M/BM), ceil(N/BN). BK is a multiple of 16.
//
// Promised: K is a multiple of KA and N one of NA, and rows of arrays are as far
// apart. With KA a multiple of 64 operands and scales are copied to shared memory
// ahead of their use; KA=16 and NA=1 promise nothing that a layer does not keep.
//
// OUT: the type of z. ALPHA: `scalar` for an f32, then ALPHA_ATTRIBUTES is {};
// `column` for an array with an f32 for each column of z, then it may be
// {tile.extents = ["N"], tile.shape_divisible_by = array<i64: …>}, with NA.

!out          = memref<?x?x${OUT}, strided<[?, 1]>>
!pairs        = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales       = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!alpha_scalar = f32
!alpha_column = memref<?xf32>

func.func private @scale_by_scalar(%z : tensor<${BM}x${BN}xf32>, %alpha : !alpha_scalar,
                                   %n : index) -> tensor<${BM}x${BN}xf32> {
  %factors = tensor.splat %alpha : tensor<${BM}x${BN}xf32>
  %scaled = arith.mulf %z, %factors : tensor<${BM}x${BN}xf32>
  return %scaled : tensor<${BM}x${BN}xf32>
}

func.func private @scale_by_column(%z : tensor<${BM}x${BN}xf32>, %alpha : !alpha_column,
                                   %n : index) -> tensor<${BM}x${BN}xf32> {
  %row = tile.load %alpha[%n] : !alpha_column -> tensor<${BN}xf32>
  %rows = tile.reshape %row : tensor<${BN}xf32> -> tensor<1x${BN}xf32>
  %factors = tile.broadcast %rows : tensor<1x${BN}xf32> -> tensor<${BM}x${BN}xf32>
  %scaled = arith.mulf %z, %factors : tensor<${BM}x${BN}xf32>
  return %scaled : tensor<${BM}x${BN}xf32>
}

func.func @nvfp4_linear(
    %z : !out {tile.extents = ["M", "N"],
               tile.shape_divisible_by = array<i64: 1, ${NA}>,
               tile.stride_divisible_by = array<i64: ${NA}, 1>},
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
    %alpha : !alpha_${ALPHA} ${ALPHA_ATTRIBUTES}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${BK/2} : index // bytes of K per step
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %extent = memref.dim %x, %c1 : !pairs
  %steps = arith.ceildivui %extent, %bk : index
  %sum = scf.for %k = %c0 to %steps step %c1
      iter_args(%acc = %zero) -> (tensor<${BM}x${BN}xf32>) {
    %xp = tile.load %x[%m, %k] : !pairs -> tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>
    %xv = tile.unpack %xp : tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BM}x${BK}xf4E2M1FN>
    %yp = tile.load %y[%n, %k] : !pairs -> tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2>
    %yv = tile.unpack %yp : tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BN}x${BK}xf4E2M1FN>
    %yt = tile.permute %yv [1, 0] : tensor<${BN}x${BK}xf4E2M1FN> -> tensor<${BK}x${BN}xf4E2M1FN>
    %sx = tile.load %xs[%m, %k] : !scales -> tensor<${BM}x${BK/16}xf8E4M3FN>
    %sy = tile.load %ys[%n, %k] : !scales -> tensor<${BN}x${BK/16}xf8E4M3FN>
    %syt = tile.permute %sy [1, 0] : tensor<${BN}x${BK/16}xf8E4M3FN> -> tensor<${BK/16}x${BN}xf8E4M3FN>
    %next = tile.mmaf_scaled %xv, %yt, %acc, %sx, %syt
       : tensor<${BM}x${BK}xf4E2M1FN>, tensor<${BK}x${BN}xf4E2M1FN>, tensor<${BM}x${BN}xf32>,
         tensor<${BM}x${BK/16}xf8E4M3FN>, tensor<${BK/16}x${BN}xf8E4M3FN>
    scf.yield %next : tensor<${BM}x${BN}xf32>
  }
  %scaled = func.call @scale_by_${ALPHA}(%sum, %alpha, %n)
      : (tensor<${BM}x${BN}xf32>, !alpha_${ALPHA}, index) -> tensor<${BM}x${BN}xf32>
  %rounded = tile.ftof %scaled : tensor<${BM}x${BN}xf32> -> tensor<${BM}x${BN}x${OUT}>
  tile.store %rounded, %z[%m, %n] : tensor<${BM}x${BN}x${OUT}>, !out
  return
}
