// A bf16 or f16 operand by a scaled FP4 one, on either side. bf16 takes scales
// into the operand; f16 has not the range of E8M0, so those scales multiply the
// partial sum of their block.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f
// DEFINE: %{all} = tile-lane-run --check %s --target=sm_80,sm_90,sm_100a,sm_120,sm_120f,sm_121a

// RUN: %{all} --entry=rhs_fp4 -DW=bf16 -DS=f8E4M3FN -DV=16 -DM=16 -DN=16 -DK=64 --grid=1,2 --num-warps=1 \
// RUN:   out:16x30 in:16x64 in:30x32 in:30x4:scale
// RUN: %{run} --entry=rhs_fp4 -DW=f16 -DS=f8E4M3FN -DV=16 -DM=1 -DN=64 -DK=128 --grid=3,1 --num-warps=8 \
// RUN:   out:3x64 in:3x100 in:64x50 in:64x7:scale
// RUN: %{run} --entry=rhs_fp4 -DW=f16 -DS=f8E8M0FNU -DV=16 -DM=16 -DN=4 -DK=64 --grid=1,2 --num-warps=2 \
// RUN:   out:16x7 in:16x64 in:7x32 in:7x4:scale
// RUN: %{run} --entry=rhs_fp4 -DW=bf16 -DS=f8E8M0FNU -DV=16 -DM=8 -DN=8 -DK=16 --grid=1,1 --num-warps=1 \
// RUN:   out:8x8 in:8x16 in:8x8 in:8x1:scale
// RUN: %{run} --entry=rhs_fp4 -DW=f16 -DS=f8E8M0FNU -DV=32 -DM=64 -DN=32 -DK=256 --grid=1,1 --num-warps=16 \
// RUN:   out:64x32 in:64x256 in:32x128 in:32x8:scale
// RUN: %{run} --entry=lhs_fp4 -DW=f16 -DS=f8E8M0FNU -DV=16 -DM=1 -DN=1 -DK=16 --grid=2,2 --num-warps=1 \
// RUN:   out:2x2 in:2x8 in:16x2 in:2x1:scale
// RUN: %{run} --entry=lhs_fp4 -DW=f16 -DS=f8E8M0FNU -DV=16 -DM=16 -DN=1 -DK=32 --grid=2,2 --num-warps=1 \
// RUN:   out:30x2 in:30x16 in:32x2 in:30x2:scale
// RUN: %{run} --entry=lhs_fp4 -DW=bf16 -DS=f8E8M0FNU -DV=32 -DM=32 -DN=16 -DK=64 --grid=1,1 --num-warps=2 \
// RUN:   out:32x16 in:32x32 in:64x16 in:32x2:scale
// RUN: %{run} --entry=lhs_fp4 -DW=bf16 -DS=f8E4M3FN -DV=16 -DM=16 -DN=32 -DK=64 --grid=1,1 --num-warps=4 \
// RUN:   out:15x31 in:15x32 in:64x31 in:15x4:scale

// By conversions to bf16, which take PTX 9.2; NaN scales among the random ones.
// RUN: tile-lane-run --check %s --target=sm_100a,sm_120f --ptx-version=9.2 --entry=rhs_fp4 -DW=bf16 -DS=f8E4M3FN -DV=16 -DM=16 -DN=16 -DK=64 --grid=1,2 --num-warps=1 \
// RUN:   out:16x30 in:16x64 in:30x32 in:30x4:scale
// RUN: tile-lane-run --check %s --target=sm_100a,sm_120f --ptx-version=9.2 --entry=lhs_fp4 -DW=bf16 -DS=f8E8M0FNU -DV=32 -DM=32 -DN=16 -DK=64 --grid=1,1 --num-warps=2 \
// RUN:   out:32x16 in:32x32 in:64x16 in:32x2:scale
// RUN: tile-lane-run --check %s --target=sm_100a,sm_120f --ptx-version=9.2 --entry=lhs_fp4 -DW=bf16 -DS=f8E4M3FN -DV=16 -DM=16 -DN=32 -DK=64 --grid=1,1 --num-warps=4 --random --terms=64 \
// RUN:   out:15x31 in:15x32 in:64x31 in:15x4:scale

// Any code and scale, within the bound of a sum.
// RUN: %{run} --entry=rhs_fp4 -DW=f16 -DS=f8E8M0FNU -DV=16 -DM=16 -DN=16 -DK=128 --grid=1,1 --random --terms=128 \
// RUN:   out:16x16 in:16x128 in:16x64 in:16x8:scale

!wide = memref<?x?x${W}>
!pairs = memref<?x?x!tile.f4E2M1FNx2>
!scales = memref<?x?x${S}>

func.func @rhs_fp4(%z : memref<?x?xf32>, %x : !wide, %y : !pairs, %s : !scales) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<-1.75> : tensor<${M}x${N}xf32>
  %a = tile.load %x[%m, %c0] : !wide -> tensor<${M}x${K}x${W}>
  %b0 = tile.load %y[%n, %c0] : !pairs -> tensor<${N}x${K/2}x!tile.f4E2M1FNx2>
  %b1 = tile.unpack %b0 : tensor<${N}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${N}x${K}xf4E2M1FN>
  %b = tile.permute %b1 [1, 0] : tensor<${N}x${K}xf4E2M1FN> -> tensor<${K}x${N}xf4E2M1FN>
  %s0 = tile.load %s[%n, %c0] : !scales -> tensor<${N}x${K/V}x${S}>
  %sb = tile.permute %s0 [1, 0] : tensor<${N}x${K/V}x${S}> -> tensor<${K/V}x${N}x${S}>
  %r = tile.mmaf_scaled %a, %b, %acc, %sb : tensor<${M}x${K}x${W}>, tensor<${K}x${N}xf4E2M1FN>, tensor<${M}x${N}xf32>, tensor<${K/V}x${N}x${S}>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}

func.func @lhs_fp4(%z : memref<?x?xf32>, %x : !pairs, %y : !wide, %s : !scales) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = arith.constant dense<-1.75> : tensor<${M}x${N}xf32>
  %a0 = tile.load %x[%m, %c0] : !pairs -> tensor<${M}x${K/2}x!tile.f4E2M1FNx2>
  %a = tile.unpack %a0 : tensor<${M}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${M}x${K}xf4E2M1FN>
  %b = tile.load %y[%c0, %n] : !wide -> tensor<${K}x${N}x${W}>
  %sa = tile.load %s[%m, %c0] : !scales -> tensor<${M}x${K/V}x${S}>
  %r = tile.mmaf_scaled %a, %b, %acc, %sa : tensor<${M}x${K}xf4E2M1FN>, tensor<${K}x${N}x${W}>, tensor<${M}x${N}xf32>, tensor<${M}x${K/V}x${S}>
  tile.store %r, %z[%m, %n] : tensor<${M}x${N}xf32>, memref<?x?xf32>
  return
}
