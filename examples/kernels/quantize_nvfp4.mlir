// Quantises x[M,K] to NVFP4: FP4 codes in pairs, and one E4M3 scale per 16
// values of K, with x ~ code * scale * global.
//
//   tile-compile quantize_nvfp4.mlir --target=sm_120a -DBM=16 -DBK=64
//
// The scale of a block is its largest magnitude over 6 * global, rounded; the
// codes are x over the scale *as stored*. A block whose scale rounds to zero has
// zero codes.
//
// Grid: ceil(M/BM), ceil(K/BK). BK is a multiple of 16.

!values = memref<?x?xf32, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?xf8E4M3FN, strided<[?, 1]>>

func.func @quantize_nvfp4(
    %codes : !pairs {tile.extents = ["M", "K/2"]},
    %scales : !scales {tile.extents = ["M", "K/16"]},
    %x : !values {tile.extents = ["M", "K"]},
    %global : f32) attributes {tile.kernel} {
  %m = tile.program_id 0
  %k = tile.program_id 1
  %c6 = arith.constant 6.0 : f32
  %unit = arith.mulf %global, %c6 : f32

  %v = tile.load %x[%m, %k] : !values -> tensor<${BM}x${BK}xf32>
  %blocks = tile.reshape %v : tensor<${BM}x${BK}xf32> -> tensor<${BM}x${BK/16}x16xf32>
  %magnitudes = math.absf %blocks : tensor<${BM}x${BK/16}x16xf32>
  %largest = tile.reduce max %magnitudes [2] : tensor<${BM}x${BK/16}x16xf32> -> tensor<${BM}x${BK/16}xf32>
  %units = tensor.splat %unit : tensor<${BM}x${BK/16}xf32>
  %exact = arith.divf %largest, %units : tensor<${BM}x${BK/16}xf32>
  %scale = tile.ftof %exact : tensor<${BM}x${BK/16}xf32> -> tensor<${BM}x${BK/16}xf8E4M3FN>
  tile.store %scale, %scales[%m, %k] : tensor<${BM}x${BK/16}xf8E4M3FN>, !scales

  %stored = tile.ftof %scale : tensor<${BM}x${BK/16}xf8E4M3FN> -> tensor<${BM}x${BK/16}xf32>
  %globals = tensor.splat %global : tensor<${BM}x${BK/16}xf32>
  %step = arith.mulf %stored, %globals : tensor<${BM}x${BK/16}xf32>
  %column = tile.reshape %step : tensor<${BM}x${BK/16}xf32> -> tensor<${BM}x${BK/16}x1xf32>
  %steps = tile.broadcast %column : tensor<${BM}x${BK/16}x1xf32> -> tensor<${BM}x${BK/16}x16xf32>
  %ratio = arith.divf %blocks, %steps : tensor<${BM}x${BK/16}x16xf32>
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BK/16}x16xf32>
  %empty = arith.cmpf oeq, %steps, %zero : tensor<${BM}x${BK/16}x16xf32>
  %chosen = arith.select %empty, %zero, %ratio : tensor<${BM}x${BK/16}x16xi1>, tensor<${BM}x${BK/16}x16xf32>
  %fp4 = tile.ftof %chosen : tensor<${BM}x${BK/16}x16xf32> -> tensor<${BM}x${BK/16}x16xf4E2M1FN>
  %row = tile.reshape %fp4 : tensor<${BM}x${BK/16}x16xf4E2M1FN> -> tensor<${BM}x${BK}xf4E2M1FN>
  %pairs = tile.pack %row : tensor<${BM}x${BK}xf4E2M1FN> -> tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>
  tile.store %pairs, %codes[%m, %k] : tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>, !pairs
  return
}
