// Loads and stores of an array whose extents and strides are promised to be
// divisible: whole vectors of 16 bytes, and only as much as is promised.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} -DT=i8 -DR=8 -DC=64 -DP=16 -DS=16 --grid=3,2 out:21x96:stride=112 in:21x96:stride=112
// RUN: %{run} -DT=f16 -DR=16 -DC=32 -DP=4 -DS=4 --grid=2,2 --num-warps=4 out:21x36:stride=44 in:21x36:stride=40
// RUN: %{run} -DT=i64 -DR=8 -DC=16 -DP=2 -DS=2 --grid=1,2 out:7x18:stride=22 in:7x18
// RUN: %{run} -DT=f32 -DR=4 -DC=64 -DP=64 -DS=64 --grid=2,2 --num-warps=2 out:7x128 in:7x128:stride=192
// RUN: %{run} -DT='!tile.f4E2M1FNx2' -DR=8 -DC=32 -DP=8 -DS=8 --grid=1,2 out:8x40:stride=48 in:8x40
// RUN: %{run} -DT=f8E4M3FN -DR=1 -DC=16 -DP=1 -DS=1 --grid=3,2 out:3x17 in:3x17:stride=19

// Rows begin at multiples of 16 bytes, but end anywhere.
// RUN: %{run} -DT=i8 -DR=8 -DC=64 -DP=1 -DS=16 --grid=3,2 out:21x101:stride=112 in:21x99:stride=112
// RUN: %{run} -DT=f32 -DR=4 -DC=32 -DP=2 -DS=4 --grid=1,2 --num-warps=2 out:4x58:stride=60 in:4x54:stride=64

!open = memref<?x?x${T}, strided<[?, 1]>>

func.func @promised(
    %z : !open {tile.shape_divisible_by = array<i64: 1, ${P}>, tile.stride_divisible_by = array<i64: ${S}, 1>},
    %x : !open {tile.shape_divisible_by = array<i64: 1, ${P}>, tile.stride_divisible_by = array<i64: ${S}, 1>})
    attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %t = tile.load %x[%m, %n] : !open -> tensor<${R}x${C}x${T}>
  tile.store %t, %z[%m, %n] : tensor<${R}x${C}x${T}>, !open
  return
}
