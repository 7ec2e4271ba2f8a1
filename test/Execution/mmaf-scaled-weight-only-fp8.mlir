// A bf16 or f16 operand by a scaled FP8 one, on either side. bf16 takes scales
// into the operand; f16 has not the range of E8M0, so those scales multiply the
// partial sum of their block.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f
// DEFINE: %{all} = tile-lane-run --check %s --target=sm_80,sm_90,sm_100a,sm_120,sm_120f,sm_121a

// RUN: %{all} --entry=rhs_fp8 -DW=bf16 -DQ=f8E4M3FN -DM=16 -DN=8 -DK=64 --grid=2,2 --num-warps=1 \
// RUN:   out:29x13 in:29x60 in:60x13 in:2x13:scale
// RUN: %{run} --entry=rhs_fp8 -DW=f16 -DQ=f8E5M2 -DM=32 -DN=64 -DK=128 --grid=1,2 --num-warps=4 \
// RUN:   out:30x100 in:30x128 in:128x100 in:4x100:scale
// RUN: %{run} --entry=lhs_fp8 -DW=bf16 -DQ=f8E5M2 -DM=4 -DN=32 -DK=64 --grid=2,1 --num-warps=2 \
// RUN:   out:7x32 in:7x64 in:64x32 in:7x2:scale
// RUN: %{run} --entry=lhs_fp8 -DW=f16 -DQ=f8E4M3FN -DM=2 -DN=2 -DK=32 --grid=2,2 --num-warps=4 \
// RUN:   out:3x3 in:3x32 in:32x3 in:3x1:scale

// Any code and scale, within the bound of a sum.
// RUN: %{run} --entry=lhs_fp8 -DW=bf16 -DQ=f8E5M2 -DM=16 -DN=16 -DK=128 --grid=1,1 --random --terms=128 \
// RUN:   out:16x16 in:16x128 in:128x16 in:16x4:scale

!wide = memref<?x?x${W}>
!codes = memref<?x?x${Q}>
!scales = memref<?x?xf8E8M0FNU>

func.func @rhs_fp8(%z : memref<?x?xf32>, %x : !wide, %y : !codes, %s : !scales) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<-1.75> : tensor<${M}x${N}xf32>
  %a = tile.load %x[%m, %c0] : !wide -> tensor<${M}x${K}x${W}>
  %b = tile.load %y[%c0, %n] : !codes -> tensor<${K}x${N}x${Q}>
  %sb = tile.load %s[%c0, %n] : !scales -> tensor<${K/32}x${N}xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %acc, %sb : tensor<${M}x${K}x${W}>, tensor<${K}x${N}x${Q}>, tensor<${M}x${N}xf32>, tensor<${K/32}x${N}xf8E8M0FNU>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}

func.func @lhs_fp8(%z : memref<?x?xf32>, %x : !codes, %y : !wide, %s : !scales) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<-1.75> : tensor<${M}x${N}xf32>
  %a = tile.load %x[%m, %c0] : !codes -> tensor<${M}x${K}x${Q}>
  %b = tile.load %y[%c0, %n] : !wide -> tensor<${K}x${N}x${W}>
  %sa = tile.load %s[%m, %c0] : !scales -> tensor<${M}x${K/32}xf8E8M0FNU>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa : tensor<${M}x${K}x${Q}>, tensor<${K}x${N}x${W}>, tensor<${M}x${N}xf32>, tensor<${M}x${K/32}xf8E8M0FNU>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}
