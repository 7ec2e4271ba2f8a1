// Quantises x[M,K] to NVFP4: FP4 codes in pairs, and one E4M3 scale per 16 values
// of K, with x ~ code * scale * global.
//
//   tile-compile quantize_nvfp4.mlir --target=sm_120a -DKA=64 -DBM=16 -DBK=128 -DX=f32
//
// The scale of a block is its largest magnitude over 6 * global, the codes are x
// over the scale *as stored* and global; each is the exact quotient, rounded once to
// nearest even. A block whose scale rounds to zero has zero codes, and so has one
// with a NaN or an infinity, whose scale is NaN.
//
// Grid: ceil(M/BM), ceil(K/BK). BK is a multiple of 16. Promised: K is a multiple of
// KA, which is one of 16, and so are the distances of rows. X: f32, bf16 or f16.
// `global` is finite and positive: 1, or the largest magnitude of x over 2688.
//
// An exact quotient Q by f32 alone: Q is first computed with the error of two
// roundings and then rounded to five bits, m. Every value where the result changes
// (the middle of two codes) has at most five bits, so that m is one if Q is near to
// one. On which side of m Q lies is the sign of m * scale * global - x, which a fused
// multiply-add computes without error, because m * scale has at most nine bits. One
// unit in the last place of m to that side is not Q, but rounds as Q does.

!values = memref<?x?x${X}, strided<[?, 1]>>
!pairs  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?xf8E4M3FN, strided<[?, 1]>>

func.func @quantize_nvfp4(
    %codes : !pairs {tile.extents = ["M", "K/2"],
                     tile.shape_divisible_by = array<i64: 1, ${KA/2}>,
                     tile.stride_divisible_by = array<i64: ${KA/2}, 1>},
    %scales : !scales {tile.extents = ["M", "K/16"],
                       tile.shape_divisible_by = array<i64: 1, ${KA/16}>,
                       tile.stride_divisible_by = array<i64: ${KA/16}, 1>},
    %x : !values {tile.extents = ["M", "K"],
                  tile.shape_divisible_by = array<i64: 1, ${KA}>,
                  tile.stride_divisible_by = array<i64: ${KA}, 1>},
    %global : f32) attributes {tile.kernel} {
  %m = tile.program_id 0
  %k = tile.program_id 1

  // Global scales from 2^-60 to 2^64, with x times the same factor: nothing that
  // decides about a code is then too large or too small for f32.
  %least = arith.constant 0x21800000 : f32 // 2^-60
  %most = arith.constant 0x5F800000 : f32 // 2^64
  %up = arith.constant 0x5F800000 : f32 // 2^64
  %down = arith.constant 0x1F800000 : f32 // 2^-64
  %one = arith.constant 1.0 : f32
  %isSmall = arith.cmpf olt, %global, %least : f32
  %isLarge = arith.cmpf ogt, %global, %most : f32
  %lowered = arith.select %isLarge, %down, %one : f32
  %factor = arith.select %isSmall, %up, %lowered : f32
  %g = arith.mulf %global, %factor : f32

  %loaded = tile.load %x[%m, %k] : !values -> tensor<${BM}x${BK}x${X}>
  %wide = tile.ftof %loaded : tensor<${BM}x${BK}x${X}> -> tensor<${BM}x${BK}xf32>
  %blocks = tile.reshape %wide : tensor<${BM}x${BK}xf32> -> tensor<${BM}x${BK/16}x16xf32>

  // Scales.
  %magnitudes = math.absf %blocks : tensor<${BM}x${BK/16}x16xf32>
  %largest = tile.reduce max %magnitudes [2] : tensor<${BM}x${BK/16}x16xf32> -> tensor<${BM}x${BK/16}xf32>
  %infinity = arith.constant dense<0x7F800000> : tensor<${BM}x${BK/16}xf32>
  %isFinite = arith.cmpf olt, %largest, %infinity : tensor<${BM}x${BK/16}xf32>
  %factors = tensor.splat %factor : tensor<${BM}x${BK/16}xf32>
  %scaled = arith.mulf %largest, %factors : tensor<${BM}x${BK/16}xf32>
  %six = arith.constant 6.0 : f32
  %unit = arith.mulf %g, %six : f32
  %perUnit = arith.divf %one, %unit : f32
  %perUnits = tensor.splat %perUnit : tensor<${BM}x${BK/16}xf32>
  %about = arith.mulf %scaled, %perUnits : tensor<${BM}x${BK/16}xf32>
  %aboutBits = arith.bitcast %about : tensor<${BM}x${BK/16}xf32> to tensor<${BM}x${BK/16}xi32>
  %half = arith.constant dense<0x40000> : tensor<${BM}x${BK/16}xi32>
  %fiveBits = arith.constant dense<0xFFF80000> : tensor<${BM}x${BK/16}xi32>
  %raised = arith.addi %aboutBits, %half : tensor<${BM}x${BK/16}xi32>
  %nearBits = arith.andi %raised, %fiveBits : tensor<${BM}x${BK/16}xi32>
  %near = arith.bitcast %nearBits : tensor<${BM}x${BK/16}xi32> to tensor<${BM}x${BK/16}xf32>
  %sixes = arith.constant dense<6.0> : tensor<${BM}x${BK/16}xf32>
  %near6 = arith.mulf %near, %sixes : tensor<${BM}x${BK/16}xf32>
  %gs = tensor.splat %g : tensor<${BM}x${BK/16}xf32>
  %minus = arith.negf %scaled : tensor<${BM}x${BK/16}xf32>
  %excess = math.fma %near6, %gs, %minus : tensor<${BM}x${BK/16}xf32>
  %zeros = arith.constant dense<0.0> : tensor<${BM}x${BK/16}xf32>
  %isAbove = arith.cmpf ogt, %excess, %zeros : tensor<${BM}x${BK/16}xf32>
  %isBelow = arith.cmpf olt, %excess, %zeros : tensor<${BM}x${BK/16}xf32>
  %none = arith.constant dense<0> : tensor<${BM}x${BK/16}xi32>
  %more = arith.constant dense<1> : tensor<${BM}x${BK/16}xi32>
  %less = arith.constant dense<-1> : tensor<${BM}x${BK/16}xi32>
  %rise = arith.select %isBelow, %more, %none : tensor<${BM}x${BK/16}xi1>, tensor<${BM}x${BK/16}xi32>
  %move = arith.select %isAbove, %less, %rise : tensor<${BM}x${BK/16}xi1>, tensor<${BM}x${BK/16}xi32>
  %movedBits = arith.addi %nearBits, %move : tensor<${BM}x${BK/16}xi32>
  %moved = arith.bitcast %movedBits : tensor<${BM}x${BK/16}xi32> to tensor<${BM}x${BK/16}xf32>
  %rounded = tile.ftof %moved : tensor<${BM}x${BK/16}xf32> -> tensor<${BM}x${BK/16}xf8E4M3FN>
  %nan = arith.constant dense<0x7F> : tensor<${BM}x${BK/16}xf8E4M3FN>
  %scale = arith.select %isFinite, %rounded, %nan : tensor<${BM}x${BK/16}xi1>, tensor<${BM}x${BK/16}xf8E4M3FN>
  tile.store %scale, %scales[%m, %k] : tensor<${BM}x${BK/16}xf8E4M3FN>, !scales

  // What a value of a block is multiplied by for its code; 0 for codes of 0.
  %stored = tile.ftof %rounded : tensor<${BM}x${BK/16}xf8E4M3FN> -> tensor<${BM}x${BK/16}xf32>
  %step = arith.mulf %stored, %gs : tensor<${BM}x${BK/16}xf32>
  %ones = arith.constant dense<1.0> : tensor<${BM}x${BK/16}xf32>
  %perStep = arith.divf %ones, %step : tensor<${BM}x${BK/16}xf32>
  %isPositive = arith.cmpf ogt, %stored, %zeros : tensor<${BM}x${BK/16}xf32>
  %hasCodes = arith.andi %isFinite, %isPositive : tensor<${BM}x${BK/16}xi1>

  // Codes.
  %perStep1 = tile.reshape %perStep : tensor<${BM}x${BK/16}xf32> -> tensor<${BM}x${BK/16}x1xf32>
  %perSteps = tile.broadcast %perStep1 : tensor<${BM}x${BK/16}x1xf32> -> tensor<${BM}x${BK/16}x16xf32>
  %stored1 = tile.reshape %stored : tensor<${BM}x${BK/16}xf32> -> tensor<${BM}x${BK/16}x1xf32>
  %storeds = tile.broadcast %stored1 : tensor<${BM}x${BK/16}x1xf32> -> tensor<${BM}x${BK/16}x16xf32>
  %hasCodes1 = tile.reshape %hasCodes : tensor<${BM}x${BK/16}xi1> -> tensor<${BM}x${BK/16}x1xi1>
  %hasCode = tile.broadcast %hasCodes1 : tensor<${BM}x${BK/16}x1xi1> -> tensor<${BM}x${BK/16}x16xi1>
  %allFactors = tensor.splat %factor : tensor<${BM}x${BK/16}x16xf32>
  %values = arith.mulf %blocks, %allFactors : tensor<${BM}x${BK/16}x16xf32>
  %ratio = arith.mulf %values, %perSteps : tensor<${BM}x${BK/16}x16xf32>
  %ratioBits = arith.bitcast %ratio : tensor<${BM}x${BK/16}x16xf32> to tensor<${BM}x${BK/16}x16xi32>
  %halves = arith.constant dense<0x40000> : tensor<${BM}x${BK/16}x16xi32>
  %allFiveBits = arith.constant dense<0xFFF80000> : tensor<${BM}x${BK/16}x16xi32>
  %raisedBits = arith.addi %ratioBits, %halves : tensor<${BM}x${BK/16}x16xi32>
  %middleBits = arith.andi %raisedBits, %allFiveBits : tensor<${BM}x${BK/16}x16xi32>
  %middle = arith.bitcast %middleBits : tensor<${BM}x${BK/16}x16xi32> to tensor<${BM}x${BK/16}x16xf32>
  %middleStored = arith.mulf %middle, %storeds : tensor<${BM}x${BK/16}x16xf32>
  %allGs = tensor.splat %g : tensor<${BM}x${BK/16}x16xf32>
  %minusValues = arith.negf %values : tensor<${BM}x${BK/16}x16xf32>
  %difference = math.fma %middleStored, %allGs, %minusValues : tensor<${BM}x${BK/16}x16xf32>
  // Positive where the magnitude of m is too large, whatever the sign of x.
  %side = arith.mulf %difference, %middle : tensor<${BM}x${BK/16}x16xf32>
  %allZeros = arith.constant dense<0.0> : tensor<${BM}x${BK/16}x16xf32>
  %tooLarge = arith.cmpf ogt, %side, %allZeros : tensor<${BM}x${BK/16}x16xf32>
  %tooSmall = arith.cmpf olt, %side, %allZeros : tensor<${BM}x${BK/16}x16xf32>
  %noMove = arith.constant dense<0> : tensor<${BM}x${BK/16}x16xi32>
  %moveUp = arith.constant dense<1> : tensor<${BM}x${BK/16}x16xi32>
  %moveDown = arith.constant dense<-1> : tensor<${BM}x${BK/16}x16xi32>
  %upOrNot = arith.select %tooSmall, %moveUp, %noMove : tensor<${BM}x${BK/16}x16xi1>, tensor<${BM}x${BK/16}x16xi32>
  %moves = arith.select %tooLarge, %moveDown, %upOrNot : tensor<${BM}x${BK/16}x16xi1>, tensor<${BM}x${BK/16}x16xi32>
  %sidedBits = arith.addi %middleBits, %moves : tensor<${BM}x${BK/16}x16xi32>
  %sided = arith.bitcast %sidedBits : tensor<${BM}x${BK/16}x16xi32> to tensor<${BM}x${BK/16}x16xf32>
  %chosen = arith.select %hasCode, %sided, %allZeros : tensor<${BM}x${BK/16}x16xi1>, tensor<${BM}x${BK/16}x16xf32>
  %fp4 = tile.ftof %chosen : tensor<${BM}x${BK/16}x16xf32> -> tensor<${BM}x${BK/16}x16xf4E2M1FN>
  %row = tile.reshape %fp4 : tensor<${BM}x${BK/16}x16xf4E2M1FN> -> tensor<${BM}x${BK}xf4E2M1FN>
  %packed = tile.pack %row : tensor<${BM}x${BK}xf4E2M1FN> -> tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>
  tile.store %packed, %codes[%m, %k] : tensor<${BM}x${BK/2}x!tile.f4E2M1FNx2>, !pairs
  return
}
