// Every FP4 code with every scale of both formats, on either side, through a
// multiply by the identity: 16 codes along K, one scale per row. NaN scales, over
// zeros too, and E8M0 up to the last that leaves 6 times the scale in range.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f --grid=1 --absolute=1e-43

// RUN: %{run} --entry=both -DS=f8E4M3FN -DM=128 -DFIRST=0 out:128x16 out:16x128
// RUN: %{run} --entry=both -DS=f8E8M0FNU -DM=256 -DFIRST=0 --num-warps=8 out:253x16 out:16x253
// RUN: %{run} --entry=both -DS=f8E8M0FNU -DM=1 -DFIRST=255 out:1x16 out:16x1

// The scales FIRST and those that follow.
func.func private @scales() -> tensor<${M}x1x${S}> {
  %i = tile.iota : tensor<${M}xi32>
  %first = arith.constant dense<${FIRST}> : tensor<${M}xi32>
  %sum = arith.addi %i, %first : tensor<${M}xi32>
  %bytes = arith.trunci %sum : tensor<${M}xi32> to tensor<${M}xi8>
  %codes = arith.bitcast %bytes : tensor<${M}xi8> to tensor<${M}x${S}>
  %r = tile.reshape %codes : tensor<${M}x${S}> -> tensor<${M}x1x${S}>
  return %r : tensor<${M}x1x${S}>
}

// All codes, in each row.
func.func private @codes() -> tensor<${M}x16xf4E2M1FN> {
  %i = tile.iota : tensor<8xi8>
  %factor = arith.constant dense<34> : tensor<8xi8>
  %one = arith.constant dense<16> : tensor<8xi8>
  %even = arith.muli %i, %factor : tensor<8xi8>
  %pairs = arith.addi %even, %one : tensor<8xi8>
  %p = tile.reshape %pairs : tensor<8xi8> -> tensor<1x8xi8>
  %rows = tile.broadcast %p : tensor<1x8xi8> -> tensor<${M}x8xi8>
  %r = tile.unpack %rows : tensor<${M}x8xi8> -> tensor<${M}x16xf4E2M1FN>
  return %r : tensor<${M}x16xf4E2M1FN>
}

func.func private @diagonal() -> tensor<16x16xi1> {
  %k = tile.iota : tensor<16xi32>
  %k0 = tile.reshape %k : tensor<16xi32> -> tensor<1x16xi32>
  %k1 = tile.reshape %k : tensor<16xi32> -> tensor<16x1xi32>
  %c = tile.broadcast %k0 : tensor<1x16xi32> -> tensor<16x16xi32>
  %r = tile.broadcast %k1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %d = arith.cmpi eq, %r, %c : tensor<16x16xi32>
  return %d : tensor<16x16xi1>
}

func.func @both(%z : memref<?x16xf32>, %w : memref<16x?xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %sa = func.call @scales() : () -> tensor<${M}x1x${S}>
  %a = func.call @codes() : () -> tensor<${M}x16xf4E2M1FN>
  %d = func.call @diagonal() : () -> tensor<16x16xi1>
  %one = arith.constant dense<1.0> : tensor<16x16xf4E2M1FN>
  %zero = arith.constant dense<0.0> : tensor<16x16xf4E2M1FN>
  %identity = arith.select %d, %one, %zero : tensor<16x16xi1>, tensor<16x16xf4E2M1FN>
  %sat = tile.permute %sa [1, 0] : tensor<${M}x1x${S}> -> tensor<1x${M}x${S}>
  %at = tile.permute %a [1, 0] : tensor<${M}x16xf4E2M1FN> -> tensor<16x${M}xf4E2M1FN>
  %unit = arith.constant dense<1.0> : tensor<1x16x${S}>
  %unitt = arith.constant dense<1.0> : tensor<16x1x${S}>
  %acc = arith.constant dense<0.0> : tensor<${M}x16xf32>
  %acct = arith.constant dense<0.0> : tensor<16x${M}xf32>
  %left = tile.mmaf_scaled %a, %identity, %acc, %sa, %unit : tensor<${M}x16xf4E2M1FN>, tensor<16x16xf4E2M1FN>, tensor<${M}x16xf32>, tensor<${M}x1x${S}>, tensor<1x16x${S}>
  %right = tile.mmaf_scaled %identity, %at, %acct, %unitt, %sat : tensor<16x16xf4E2M1FN>, tensor<16x${M}xf4E2M1FN>, tensor<16x${M}xf32>, tensor<16x1x${S}>, tensor<1x${M}x${S}>
  tile.store %left, %z[%c0, %c0] : tensor<${M}x16xf32>, memref<?x16xf32>
  tile.store %right, %w[%c0, %c0] : tensor<16x${M}xf32>, memref<16x?xf32>
  return
}
