// The values of codes with scales: x[M,K] = code * scale * global, the exact product
// rounded once to OUT, which is f32, bf16 or f16.
//
//   tile-compile dequantize.mlir --target=sm_120a -DKA=64 -DBM=16 -DBK=128 -DOUT=f32 \
//     -DCODES=f4E2M1FN -DP=2 -DSCALES=f8E4M3FN -DV=16
//
//   format   CODES                   P   SCALES      V
//   NVFP4    f4E2M1FN (in pairs)     2   f8E4M3FN    16
//   MXFP4    f4E2M1FN (in pairs)     2   f8E8M0FNU   32
//   MXFP8    f8E4M3FN or f8E5M2      1   f8E8M0FNU   32
//
// Grid: ceil(M/BM), ceil(K/BK). BK is a multiple of V. Promised: K is a multiple of
// KA, which is one of V, and so are the distances of rows. `global` is finite and
// positive.
//
// The product is that of two exact factors: left is a code times an E4M3 scale or a
// power of two, right the global scale or its significand times a power of two. The
// powers of two are shared out so that both stay in the range of f32.

!values          = memref<?x?x${OUT}, strided<[?, 1]>>
!codes_f4E2M1FN  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!codes_f8E4M3FN  = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!codes_f8E5M2    = memref<?x?xf8E5M2, strided<[?, 1]>>
!scales_f8E4M3FN  = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!scales_f8E8M0FNU = memref<?x?xf8E8M0FNU, strided<[?, 1]>>

// The values of codes.

func.func private @load_f4E2M1FN(%codes : !codes_f4E2M1FN, %m : index, %k : index)
    -> tensor<${BM}x${BK}xf32> {
  %pairs = tile.load %codes[%m, %k] : !codes_f4E2M1FN -> tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>
  %loaded = tile.unpack %pairs : tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2> -> tensor<${BM}x${BK}xf4E2M1FN>
  %wide = tile.ftof %loaded : tensor<${BM}x${BK}xf4E2M1FN> -> tensor<${BM}x${BK}xf32>
  return %wide : tensor<${BM}x${BK}xf32>
}

func.func private @load_f8E4M3FN(%codes : !codes_f8E4M3FN, %m : index, %k : index)
    -> tensor<${BM}x${BK}xf32> {
  %loaded = tile.load %codes[%m, %k] : !codes_f8E4M3FN -> tensor<${BM}x${BK}xf8E4M3FN>
  %wide = tile.ftof %loaded : tensor<${BM}x${BK}xf8E4M3FN> -> tensor<${BM}x${BK}xf32>
  return %wide : tensor<${BM}x${BK}xf32>
}

func.func private @load_f8E5M2(%codes : !codes_f8E5M2, %m : index, %k : index)
    -> tensor<${BM}x${BK}xf32> {
  %loaded = tile.load %codes[%m, %k] : !codes_f8E5M2 -> tensor<${BM}x${BK}xf8E5M2>
  %wide = tile.ftof %loaded : tensor<${BM}x${BK}xf8E5M2> -> tensor<${BM}x${BK}xf32>
  return %wide : tensor<${BM}x${BK}xf32>
}

// What the codes of a block are multiplied by, and the right factor. The third
// result is a power of two, above 1 where products may be too small for what
// @product_bf16 computes of them.

func.func private @factors_f8E4M3FN(%scales : !scales_f8E4M3FN, %m : index, %k : index, %global : f32)
    -> (tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>) {
  %loaded = tile.load %scales[%m, %k] : !scales_f8E4M3FN -> tensor<${BM}x${BK/V}xf8E4M3FN>
  %signed = tile.ftof %loaded : tensor<${BM}x${BK/V}xf8E4M3FN> -> tensor<${BM}x${BK/V}xf32>
  %left = math.absf %signed : tensor<${BM}x${BK/V}xf32> // the sign of a scale is ignored
  %right = tensor.splat %global : tensor<${BM}x${BK/V}xf32>
  %least = arith.constant 0x21800000 : f32 // 2^-60
  %isSmall = arith.cmpf olt, %global, %least : f32
  %one = arith.constant 1.0 : f32
  %large = arith.constant 0x5F800000 : f32 // 2^64
  %chosen = arith.select %isSmall, %large, %one : f32
  %lift = tensor.splat %chosen : tensor<${BM}x${BK/V}xf32>
  return %left, %right, %lift : tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>
}

func.func private @factors_f8E8M0FNU(%scales : !scales_f8E8M0FNU, %m : index, %k : index, %global : f32)
    -> (tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>) {
  // global = significand * 2^(exponent - 127), normal after a factor of 2^64.
  %least = arith.constant 0x21800000 : f32 // 2^-60
  %isSmall = arith.cmpf olt, %global, %least : f32
  %large = arith.constant 0x5F800000 : f32 // 2^64
  %raised = arith.mulf %global, %large : f32
  %normal = arith.select %isSmall, %raised, %global : f32
  %normalBits = arith.bitcast %normal : f32 to i32
  %mantissa = arith.constant 23 : i32
  %field = arith.shrui %normalBits, %mantissa : i32
  %noFactor = arith.constant 127 : i32
  %withFactor = arith.constant 191 : i32
  %excess = arith.select %isSmall, %withFactor, %noFactor : i32
  %exponent = arith.subi %field, %excess : i32
  %mantissaMask = arith.constant 0x7FFFFF : i32
  %fraction = arith.andi %normalBits, %mantissaMask : i32
  %oneBits = arith.constant 0x3F800000 : i32
  %significandBits = arith.ori %fraction, %oneBits : i32
  %significand = arith.bitcast %significandBits : i32 to f32

  // The exponent of scale * global, from -276 to 254, in two halves. Where one is
  // clamped all products are zero.
  %loaded = tile.load %scales[%m, %k] : !scales_f8E8M0FNU -> tensor<${BM}x${BK/V}xf8E8M0FNU>
  %byte = arith.bitcast %loaded : tensor<${BM}x${BK/V}xf8E8M0FNU> to tensor<${BM}x${BK/V}xi8>
  %biased = arith.extui %byte : tensor<${BM}x${BK/V}xi8> to tensor<${BM}x${BK/V}xi32>
  %bias = arith.constant dense<127> : tensor<${BM}x${BK/V}xi32>
  %scaleExponent = arith.subi %biased, %bias : tensor<${BM}x${BK/V}xi32>
  %exponents = tensor.splat %exponent : tensor<${BM}x${BK/V}xi32>
  %both = arith.addi %scaleExponent, %exponents : tensor<${BM}x${BK/V}xi32>
  %lowest = arith.constant dense<-126> : tensor<${BM}x${BK/V}xi32>
  %unit = arith.constant dense<1> : tensor<${BM}x${BK/V}xi32>
  %halfDown = arith.shrsi %both, %unit : tensor<${BM}x${BK/V}xi32>
  %half = arith.maxsi %halfDown, %lowest : tensor<${BM}x${BK/V}xi32>
  %restOrLess = arith.subi %both, %half : tensor<${BM}x${BK/V}xi32>
  %rest = arith.maxsi %restOrLess, %lowest : tensor<${BM}x${BK/V}xi32>
  %fields = arith.constant dense<23> : tensor<${BM}x${BK/V}xi32>
  %halfBiased = arith.addi %half, %bias : tensor<${BM}x${BK/V}xi32>
  %halfBits = arith.shli %halfBiased, %fields : tensor<${BM}x${BK/V}xi32>
  %halfPower = arith.bitcast %halfBits : tensor<${BM}x${BK/V}xi32> to tensor<${BM}x${BK/V}xf32>
  %restBiased = arith.addi %rest, %bias : tensor<${BM}x${BK/V}xi32>
  %restBits = arith.shli %restBiased, %fields : tensor<${BM}x${BK/V}xi32>
  %restPower = arith.bitcast %restBits : tensor<${BM}x${BK/V}xi32> to tensor<${BM}x${BK/V}xf32>

  %nanByte = arith.constant dense<255> : tensor<${BM}x${BK/V}xi32>
  %isNaN = arith.cmpi eq, %biased, %nanByte : tensor<${BM}x${BK/V}xi32>
  %nan = arith.constant dense<0x7FC00000> : tensor<${BM}x${BK/V}xf32>
  %left = arith.select %isNaN, %nan, %restPower : tensor<${BM}x${BK/V}xi1>, tensor<${BM}x${BK/V}xf32>
  %significands = tensor.splat %significand : tensor<${BM}x${BK/V}xf32>
  %right = arith.mulf %significands, %halfPower : tensor<${BM}x${BK/V}xf32>
  %few = arith.constant dense<-40> : tensor<${BM}x${BK/V}xi32>
  %isLow = arith.cmpi slt, %both, %few : tensor<${BM}x${BK/V}xi32>
  %ones = arith.constant dense<1.0> : tensor<${BM}x${BK/V}xf32>
  %larges = arith.constant dense<0x5F800000> : tensor<${BM}x${BK/V}xf32> // 2^64
  %lift = arith.select %isLow, %larges, %ones : tensor<${BM}x${BK/V}xi1>, tensor<${BM}x${BK/V}xf32>
  return %left, %right, %lift : tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>
}

// left * right, as an f32 that rounds to OUT as the exact product does.

func.func private @product_f32(%left : tensor<${BM}x${BK/V}x${V}xf32>, %right : tensor<${BM}x${BK/V}x${V}xf32>,
                               %lift : tensor<${BM}x${BK/V}x${V}xf32>) -> tensor<${BM}x${BK/V}x${V}xf32> {
  %product = arith.mulf %left, %right : tensor<${BM}x${BK/V}x${V}xf32>
  return %product : tensor<${BM}x${BK/V}x${V}xf32>
}

// What is in the middle of two bf16 or f16 values has at most 13 bits. A product that
// was rounded to so few moves one unit in the last place to the side where the exact
// one lies, which is the sign of the error, and that is one multiply-add.
func.func private @product_bf16(%left : tensor<${BM}x${BK/V}x${V}xf32>, %right : tensor<${BM}x${BK/V}x${V}xf32>,
                                %lift : tensor<${BM}x${BK/V}x${V}xf32>) -> tensor<${BM}x${BK/V}x${V}xf32> {
  %product = arith.mulf %left, %right : tensor<${BM}x${BK/V}x${V}xf32>
  %lifted = arith.mulf %product, %lift : tensor<${BM}x${BK/V}x${V}xf32>
  %minus = arith.negf %lifted : tensor<${BM}x${BK/V}x${V}xf32>
  %liftedLeft = arith.mulf %left, %lift : tensor<${BM}x${BK/V}x${V}xf32>
  %error = math.fma %liftedLeft, %right, %minus : tensor<${BM}x${BK/V}x${V}xf32>
  %bits = arith.bitcast %product : tensor<${BM}x${BK/V}x${V}xf32> to tensor<${BM}x${BK/V}x${V}xi32>
  %errorBits = arith.bitcast %error : tensor<${BM}x${BK/V}x${V}xf32> to tensor<${BM}x${BK/V}x${V}xi32>
  %signs = arith.xori %bits, %errorBits : tensor<${BM}x${BK/V}x${V}xi32>
  %c31 = arith.constant dense<31> : tensor<${BM}x${BK/V}x${V}xi32>
  %c1 = arith.constant dense<1> : tensor<${BM}x${BK/V}x${V}xi32>
  %negative = arith.shrsi %signs, %c31 : tensor<${BM}x${BK/V}x${V}xi32>
  %side = arith.ori %negative, %c1 : tensor<${BM}x${BK/V}x${V}xi32>
  %zero = arith.constant dense<0.0> : tensor<${BM}x${BK/V}x${V}xf32>
  %isInexact = arith.cmpf one, %error, %zero : tensor<${BM}x${BK/V}x${V}xf32>
  %low = arith.constant dense<0x7FF> : tensor<${BM}x${BK/V}x${V}xi32>
  %none = arith.constant dense<0> : tensor<${BM}x${BK/V}x${V}xi32>
  %lowBits = arith.andi %bits, %low : tensor<${BM}x${BK/V}x${V}xi32>
  %isShort = arith.cmpi eq, %lowBits, %none : tensor<${BM}x${BK/V}x${V}xi32>
  %moves = arith.andi %isInexact, %isShort : tensor<${BM}x${BK/V}x${V}xi1>
  %move = arith.select %moves, %side, %none : tensor<${BM}x${BK/V}x${V}xi1>, tensor<${BM}x${BK/V}x${V}xi32>
  %movedBits = arith.addi %bits, %move : tensor<${BM}x${BK/V}x${V}xi32>
  %moved = arith.bitcast %movedBits : tensor<${BM}x${BK/V}x${V}xi32> to tensor<${BM}x${BK/V}x${V}xf32>
  return %moved : tensor<${BM}x${BK/V}x${V}xf32>
}

func.func private @product_f16(%left : tensor<${BM}x${BK/V}x${V}xf32>, %right : tensor<${BM}x${BK/V}x${V}xf32>,
                               %lift : tensor<${BM}x${BK/V}x${V}xf32>) -> tensor<${BM}x${BK/V}x${V}xf32> {
  %product = func.call @product_bf16(%left, %right, %lift)
      : (tensor<${BM}x${BK/V}x${V}xf32>, tensor<${BM}x${BK/V}x${V}xf32>, tensor<${BM}x${BK/V}x${V}xf32>)
      -> tensor<${BM}x${BK/V}x${V}xf32>
  return %product : tensor<${BM}x${BK/V}x${V}xf32>
}

// One value per code of a block.
func.func private @spread(%blocks : tensor<${BM}x${BK/V}xf32>) -> tensor<${BM}x${BK/V}x${V}xf32> {
  %column = tile.reshape %blocks : tensor<${BM}x${BK/V}xf32> -> tensor<${BM}x${BK/V}x1xf32>
  %spread = tile.broadcast %column : tensor<${BM}x${BK/V}x1xf32> -> tensor<${BM}x${BK/V}x${V}xf32>
  return %spread : tensor<${BM}x${BK/V}x${V}xf32>
}

func.func @dequantize(
    %x : !values {tile.extents = ["M", "K"],
                  tile.shape_divisible_by = array<i64: 1, ${KA}>,
                  tile.stride_divisible_by = array<i64: ${KA}, 1>},
    %codes : !codes_${CODES} {tile.extents = ["M", "K/${P}"],
                              tile.shape_divisible_by = array<i64: 1, ${KA/P}>,
                              tile.stride_divisible_by = array<i64: ${KA/P}, 1>},
    %scales : !scales_${SCALES} {tile.extents = ["M", "K/${V}"],
                                 tile.shape_divisible_by = array<i64: 1, ${KA/V}>,
                                 tile.stride_divisible_by = array<i64: ${KA/V}, 1>},
    %global : f32) attributes {tile.kernel} {
  %m = tile.program_id 0
  %k = tile.program_id 1
  %loaded = func.call @load_${CODES}(%codes, %m, %k)
      : (!codes_${CODES}, index, index) -> tensor<${BM}x${BK}xf32>
  %blocks = tile.reshape %loaded : tensor<${BM}x${BK}xf32> -> tensor<${BM}x${BK/V}x${V}xf32>
  %factor, %rights, %lifts = func.call @factors_${SCALES}(%scales, %m, %k, %global)
      : (!scales_${SCALES}, index, index, f32)
      -> (tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>, tensor<${BM}x${BK/V}xf32>)
  %factors = func.call @spread(%factor) : (tensor<${BM}x${BK/V}xf32>) -> tensor<${BM}x${BK/V}x${V}xf32>
  %right = func.call @spread(%rights) : (tensor<${BM}x${BK/V}xf32>) -> tensor<${BM}x${BK/V}x${V}xf32>
  %lift = func.call @spread(%lifts) : (tensor<${BM}x${BK/V}xf32>) -> tensor<${BM}x${BK/V}x${V}xf32>
  %left = arith.mulf %blocks, %factors : tensor<${BM}x${BK/V}x${V}xf32>
  %product = func.call @product_${OUT}(%left, %right, %lift)
      : (tensor<${BM}x${BK/V}x${V}xf32>, tensor<${BM}x${BK/V}x${V}xf32>, tensor<${BM}x${BK/V}x${V}xf32>)
      -> tensor<${BM}x${BK/V}x${V}xf32>
  %row = tile.reshape %product : tensor<${BM}x${BK/V}x${V}xf32> -> tensor<${BM}x${BK}xf32>
  %rounded = tile.ftof %row : tensor<${BM}x${BK}xf32> -> tensor<${BM}x${BK}x${OUT}>
  tile.store %rounded, %x[%m, %k] : tensor<${BM}x${BK}x${OUT}>, !values
  return
}
