// w4a16_linear_aligned with MXFP4 weights: bf16 activations, and one power of two
// (E8M0) per 32 values of K of the weights. nvfp4_linear_aligned says what the
// promises are for.
//
//   tile-compile w4a16_mxfp4_linear_aligned.mlir --target=sm_80 -DKA=128 -DBM=16 -DBN=64 -DBK=64
//
// Grid: ceil(M/BM), ceil(N/BN). BK is a multiple of 32, KA one of 128: then a row
// of scales is a multiple of 4 bytes, the smallest piece that is copied to shared
// memory.

!out    = memref<?x?xf32, strided<[?, 1]>>
!values = memref<?x?xbf16, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?xf8E8M0FNU, strided<[?, 1]>>

func.func @w4a16_mxfp4_linear_aligned(
    %z : !out {tile.extents = ["M", "N"],
               tile.shape_divisible_by = array<i64: 1, 4>,
               tile.stride_divisible_by = array<i64: 4, 1>},
    %x : !values {tile.extents = ["M", "K"],
                  tile.shape_divisible_by = array<i64: 1, ${KA}>,
                  tile.stride_divisible_by = array<i64: ${KA}, 1>},
    %y : !pairs {tile.extents = ["N", "K/2"],
                 tile.shape_divisible_by = array<i64: 1, ${KA/2}>,
                 tile.stride_divisible_by = array<i64: ${KA/2}, 1>},
    %ys : !scales {tile.extents = ["N", "K/32"],
                   tile.shape_divisible_by = array<i64: 1, ${KA/32}>,
                   tile.stride_divisible_by = array<i64: ${KA/32}, 1>},
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
    %xv = tile.load %x[%m, %k] : !values -> tensor<${BM}x${BK}xbf16>
    %yp = tile.load %y[%n, %k] : !pairs -> tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2>
    %yu = tile.unpack %yp : tensor<${BN}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BN}x${BK}xf4E2M1FN>
    %yt = tile.permute %yu [1, 0] : tensor<${BN}x${BK}xf4E2M1FN> -> tensor<${BK}x${BN}xf4E2M1FN>
    %sl = tile.load %ys[%n, %k] : !scales -> tensor<${BN}x${BK/32}xf8E8M0FNU>
    %sy = tile.permute %sl [1, 0] : tensor<${BN}x${BK/32}xf8E8M0FNU> -> tensor<${BK/32}x${BN}xf8E8M0FNU>
    %r = tile.mmaf_scaled %xv, %yt, %a, %sy
       : tensor<${BM}x${BK}xbf16>, tensor<${BK}x${BN}xf4E2M1FN>, tensor<${BM}x${BN}xf32>,
         tensor<${BK/32}x${BN}xf8E8M0FNU>
    scf.yield %r : tensor<${BM}x${BN}xf32>
  }
  %al = tensor.splat %alpha : tensor<${BM}x${BN}xf32>
  %o = arith.mulf %acc, %al : tensor<${BM}x${BN}xf32>
  tile.store %o, %z[%m, %n] : tensor<${BM}x${BN}xf32>, !out
  return
}
