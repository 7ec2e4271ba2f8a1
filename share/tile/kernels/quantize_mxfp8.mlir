// Quantises x[M,K] to MXFP8: FP8 codes, and one power of two (E8M0) per 32
// values of K, with x ~ code * scale.
//
//   tile-compile quantize_mxfp8.mlir --target=sm_120a -DKA=128 -DBM=16 -DBK=128 -DX=f32 \
//     -DCODES=f8E4M3FN -DEMAX=8
//
// The exponent of a scale is that of the largest magnitude of its block less that of
// the largest code, EMAX (OCP MX 1.0, 6.3), and at least -127, which is the scale of
// zeros; the codes are x over the scale, rounded to nearest even and clipped. A block
// with a NaN or an infinity has the scale NaN and zero codes.
//
// Grid: ceil(M/BM), ceil(K/BK). BK is a multiple of 32. Promised: K is a multiple of
// KA, which is one of 32, and so are the distances of rows. X: f32, bf16 or f16.
// CODES, EMAX: f8E4M3FN and 8, or f8E5M2 and 15.
//
// All of it is exact: an exponent is a field of the bits of an f32, and so is that
// of the reciprocal of a scale.

!values = memref<?x?x${X}, strided<[?, 1]>>
!codes  = memref<?x?x${CODES}, strided<[?, 1]>>
!scales = memref<?x?xf8E8M0FNU, strided<[?, 1]>>

func.func @quantize_mxfp8(
    %codes : !codes {tile.extents = ["M", "K"],
                     tile.shape_divisible_by = array<i64: 1, ${KA}>,
                     tile.stride_divisible_by = array<i64: ${KA}, 1>},
    %scales : !scales {tile.extents = ["M", "K/32"],
                       tile.shape_divisible_by = array<i64: 1, ${KA/32}>,
                       tile.stride_divisible_by = array<i64: ${KA/32}, 1>},
    %x : !values {tile.extents = ["M", "K"],
                  tile.shape_divisible_by = array<i64: 1, ${KA}>,
                  tile.stride_divisible_by = array<i64: ${KA}, 1>}) attributes {tile.kernel} {
  %m = tile.program_id 0
  %k = tile.program_id 1
  %loaded = tile.load %x[%m, %k] : !values -> tensor<${BM}x${BK}x${X}>
  %wide = tile.ftof %loaded : tensor<${BM}x${BK}x${X}> -> tensor<${BM}x${BK}xf32>
  %blocks = tile.reshape %wide : tensor<${BM}x${BK}xf32> -> tensor<${BM}x${BK/32}x32xf32>

  // The bits of magnitudes are ordered as these are, with NaN as the largest.
  %bits = arith.bitcast %blocks : tensor<${BM}x${BK/32}x32xf32> to tensor<${BM}x${BK/32}x32xi32>
  %noSign = arith.constant dense<0x7FFFFFFF> : tensor<${BM}x${BK/32}x32xi32>
  %magnitudes = arith.andi %bits, %noSign : tensor<${BM}x${BK/32}x32xi32>
  %largest = tile.reduce max %magnitudes [2] : tensor<${BM}x${BK/32}x32xi32> -> tensor<${BM}x${BK/32}xi32>

  // The biased exponent of a scale, which is its byte.
  %mantissa = arith.constant dense<23> : tensor<${BM}x${BK/32}xi32>
  %exponent = arith.shrui %largest, %mantissa : tensor<${BM}x${BK/32}xi32>
  %emax = arith.constant dense<${EMAX}> : tensor<${BM}x${BK/32}xi32>
  %lowered = arith.subi %exponent, %emax : tensor<${BM}x${BK/32}xi32>
  %zeros = arith.constant dense<0> : tensor<${BM}x${BK/32}xi32>
  %biased = arith.maxsi %lowered, %zeros : tensor<${BM}x${BK/32}xi32>
  %nan = arith.constant dense<255> : tensor<${BM}x${BK/32}xi32>
  %isFinite = arith.cmpi ne, %exponent, %nan : tensor<${BM}x${BK/32}xi32>
  %wideByte = arith.select %isFinite, %biased, %nan : tensor<${BM}x${BK/32}xi1>, tensor<${BM}x${BK/32}xi32>
  %byte = arith.trunci %wideByte : tensor<${BM}x${BK/32}xi32> to tensor<${BM}x${BK/32}xi8>
  %scale = arith.bitcast %byte : tensor<${BM}x${BK/32}xi8> to tensor<${BM}x${BK/32}xf8E8M0FNU>
  tile.store %scale, %scales[%m, %k] : tensor<${BM}x${BK/32}xf8E8M0FNU>, !scales

  // 2^127 to 2^-125: one over the scale.
  %bias2 = arith.constant dense<254> : tensor<${BM}x${BK/32}xi32>
  %inverse = arith.subi %bias2, %biased : tensor<${BM}x${BK/32}xi32>
  %inverseBits = arith.shli %inverse, %mantissa : tensor<${BM}x${BK/32}xi32>
  %perScale = arith.bitcast %inverseBits : tensor<${BM}x${BK/32}xi32> to tensor<${BM}x${BK/32}xf32>
  %perScale1 = tile.reshape %perScale : tensor<${BM}x${BK/32}xf32> -> tensor<${BM}x${BK/32}x1xf32>
  %perScales = tile.broadcast %perScale1 : tensor<${BM}x${BK/32}x1xf32> -> tensor<${BM}x${BK/32}x32xf32>
  %isFinite1 = tile.reshape %isFinite : tensor<${BM}x${BK/32}xi1> -> tensor<${BM}x${BK/32}x1xi1>
  %hasCode = tile.broadcast %isFinite1 : tensor<${BM}x${BK/32}x1xi1> -> tensor<${BM}x${BK/32}x32xi1>
  %ratio = arith.mulf %blocks, %perScales : tensor<${BM}x${BK/32}x32xf32>
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BK/32}x32xf32>
  %chosen = arith.select %hasCode, %ratio, %zero : tensor<${BM}x${BK/32}x32xi1>, tensor<${BM}x${BK/32}x32xf32>
  %rounded = tile.ftof %chosen : tensor<${BM}x${BK/32}x32xf32> -> tensor<${BM}x${BK/32}x32x${CODES}>
  %row = tile.reshape %rounded : tensor<${BM}x${BK/32}x32x${CODES}> -> tensor<${BM}x${BK}x${CODES}>
  tile.store %row, %codes[%m, %k] : tensor<${BM}x${BK}x${CODES}>, !codes
  return
}
