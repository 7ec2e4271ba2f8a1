// z[M,N] = alpha * x[M,K] · y[N,K]ᵀ, both operands MXFP8: FP8 values, and one power
// of two (E8M0) per 32 values of K.
//
//   tile-compile mxfp8_linear.mlir --target=sm_120a -DKA=128 -DNA=4 \
//     -DBM=64 -DBN=64 -DBK=128 -DOUT=f32 -DALPHA=scalar -DALPHA_ATTRIBUTES={} \
//     -DX=f8E4M3FN -DY=f8E4M3FN
//
// Grid: ceil(M/BM), ceil(N/BN). BK is a multiple of 32.
//
// Promised: K is a multiple of KA and N one of NA, and rows of arrays are as far
// apart. With KA a multiple of 128 operands and scales are copied to shared memory
// ahead of their use; KA=32 and NA=1 promise nothing that a layer does not keep.
//
// OUT: the type of z. ALPHA: `scalar` for an f32, then ALPHA_ATTRIBUTES is {};
// `column` for an array with an f32 for each column of z, then it may be
// {tile.extents = ["N"], tile.shape_divisible_by = array<i64: …>}, with NA.
// X, Y: f8E4M3FN or f8E5M2.

!out          = memref<?x?x${OUT}, strided<[?, 1]>>
!x            = memref<?x?x${X}, strided<[?, 1]>>
!y            = memref<?x?x${Y}, strided<[?, 1]>>
!scales       = memref<?x?xf8E8M0FNU, strided<[?, 1]>>
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

func.func @mxfp8_linear(
    %z : !out {tile.extents = ["M", "N"],
               tile.shape_divisible_by = array<i64: 1, ${NA}>,
               tile.stride_divisible_by = array<i64: ${NA}, 1>},
    %x : !x {tile.extents = ["M", "K"],
             tile.shape_divisible_by = array<i64: 1, ${KA}>,
             tile.stride_divisible_by = array<i64: ${KA}, 1>},
    %y : !y {tile.extents = ["N", "K"],
             tile.shape_divisible_by = array<i64: 1, ${KA}>,
             tile.stride_divisible_by = array<i64: ${KA}, 1>},
    %xs : !scales {tile.extents = ["M", "K/32"],
                   tile.shape_divisible_by = array<i64: 1, ${KA/32}>,
                   tile.stride_divisible_by = array<i64: ${KA/32}, 1>},
    %ys : !scales {tile.extents = ["N", "K/32"],
                   tile.shape_divisible_by = array<i64: 1, ${KA/32}>,
                   tile.stride_divisible_by = array<i64: ${KA/32}, 1>},
    %alpha : !alpha_${ALPHA} ${ALPHA_ATTRIBUTES}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${BK} : index // values of K per step
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %extent = memref.dim %x, %c1 : !x
  %steps = arith.ceildivui %extent, %bk : index
  %sum = scf.for %k = %c0 to %steps step %c1
      iter_args(%acc = %zero) -> (tensor<${BM}x${BN}xf32>) {
    %xv = tile.load %x[%m, %k] : !x -> tensor<${BM}x${BK}x${X}>
    %yv = tile.load %y[%n, %k] : !y -> tensor<${BN}x${BK}x${Y}>
    %yt = tile.permute %yv [1, 0] : tensor<${BN}x${BK}x${Y}> -> tensor<${BK}x${BN}x${Y}>
    %sx = tile.load %xs[%m, %k] : !scales -> tensor<${BM}x${BK/32}xf8E8M0FNU>
    %sy = tile.load %ys[%n, %k] : !scales -> tensor<${BN}x${BK/32}xf8E8M0FNU>
    %syt = tile.permute %sy [1, 0] : tensor<${BN}x${BK/32}xf8E8M0FNU> -> tensor<${BK/32}x${BN}xf8E8M0FNU>
    %next = tile.mmaf_scaled %xv, %yt, %acc, %sx, %syt
       : tensor<${BM}x${BK}x${X}>, tensor<${BK}x${BN}x${Y}>, tensor<${BM}x${BN}xf32>,
         tensor<${BM}x${BK/32}xf8E8M0FNU>, tensor<${BK/32}x${BN}xf8E8M0FNU>
    scf.yield %next : tensor<${BM}x${BN}xf32>
  }
  %scaled = func.call @scale_by_${ALPHA}(%sum, %alpha, %n)
      : (tensor<${BM}x${BN}xf32>, !alpha_${ALPHA}, index) -> tensor<${BM}x${BN}xf32>
  %rounded = tile.ftof %scaled : tensor<${BM}x${BN}xf32> -> tensor<${BM}x${BN}x${OUT}>
  tile.store %rounded, %z[%m, %n] : tensor<${BM}x${BN}x${OUT}>, !out
  return
}
