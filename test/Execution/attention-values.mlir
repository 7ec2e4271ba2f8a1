// The second multiply of attention, with values in FP4: they are unpacked,
// converted and multiplied by their scales as tiles of 16 bits before they become
// a multiplicand, since their scales run along N (a row of values has several),
// which no scaled multiply takes; and along K, where the same code serves too.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_89,sm_120a

// RUN: %{run} --entry=along_n -DT=bf16 -DS=f8E4M3FN -DV=16 -DN=64 --num-warps=1 --grid=2 \
// RUN:   out:32x64 in:32x64 in:64x32 in:64x4:scale
// RUN: %{run} --entry=along_n -DT=bf16 -DS=f8E4M3FN -DV=16 -DN=64 --num-warps=4 --grid=2 \
// RUN:   out:29x60 in:29x61 in:61x30 in:61x4:scale
// RUN: %{run} --entry=along_n -DT=f16 -DS=f8E4M3FN -DV=16 -DN=32 --num-warps=2 --grid=2 \
// RUN:   out:32x32 in:32x64 in:64x16 in:64x2:scale
// RUN: %{run} --entry=along_n -DT=bf16 -DS=f8E8M0FNU -DV=32 -DN=64 --num-warps=1 --grid=2 \
// RUN:   out:32x64 in:32x64 in:64x32 in:64x2:scale
// RUN: %{run} --entry=along_n -DT=bf16 -DS=f8E4M3FN -DV=16 -DN=64 --num-warps=4 --grid=2 --fp4-cvt=software \
// RUN:   out:32x64 in:32x64 in:64x32 in:64x4:scale
// RUN: %{run} --entry=along_k -DT=bf16 -DS=f8E4M3FN -DV=16 -DN=64 --num-warps=1 --grid=2 \
// RUN:   out:32x64 in:32x64 in:64x32 in:4x64:scale
// RUN: %{run} --entry=along_k -DT=bf16 -DS=f8E8M0FNU -DV=32 -DN=64 --num-warps=4 --grid=2 \
// RUN:   out:32x64 in:32x64 in:64x32 in:2x64:scale
// RUN: %{run} --entry=along_k -DT=f16 -DS=f8E4M3FN -DV=16 -DN=16 --num-warps=2 --grid=2 \
// RUN:   out:32x16 in:32x64 in:64x8 in:4x16:scale

// Where FP4 has a conversion, on demand.
// RUN: tile-lane-run --check %s --target=sm_100a,sm_120a --fp4-cvt=hardware \
// RUN:   --entry=along_n -DT=bf16 -DS=f8E4M3FN -DV=16 -DN=64 --num-warps=4 --grid=2 \
// RUN:   out:32x64 in:32x64 in:64x32 in:64x4:scale

!out    = memref<?x?xf32, strided<[?, 1]>>
!values = memref<?x?x${T}, strided<[?, 1]>>
!bytes  = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
!scales = memref<?x?x${S}, strided<[?, 1]>>

func.func @along_n(%z : !out, %p : !values, %v : !bytes, %vs : !scales) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x${N}xf32>
  %acc = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (tensor<16x${N}xf32>) {
    %x = tile.load %p[%m, %k] : !values -> tensor<16x32x${T}>
    %y0 = tile.load %v[%k, %c0] : !bytes -> tensor<32x${N/2}x!tile.f4E2M1FNx2>
    %y1 = tile.unpack %y0 : tensor<32x${N/2}x!tile.f4E2M1FNx2> -> tensor<32x${N}xf4E2M1FN>
    %y2 = tile.ftof %y1 : tensor<32x${N}xf4E2M1FN> -> tensor<32x${N}x${T}>
    %s0 = tile.load %vs[%k, %c0] : !scales -> tensor<32x${N/V}x${S}>
    %s1 = tile.ftof %s0 : tensor<32x${N/V}x${S}> -> tensor<32x${N/V}x${T}>
    %s2 = tile.reshape %s1 : tensor<32x${N/V}x${T}> -> tensor<32x${N/V}x1x${T}>
    %s3 = tile.broadcast %s2 : tensor<32x${N/V}x1x${T}> -> tensor<32x${N/V}x${V}x${T}>
    %s4 = tile.reshape %s3 : tensor<32x${N/V}x${V}x${T}> -> tensor<32x${N}x${T}>
    %y = arith.mulf %y2, %s4 : tensor<32x${N}x${T}>
    %r = tile.mmaf %x, %y, %a : tensor<16x32x${T}>, tensor<32x${N}x${T}>, tensor<16x${N}xf32>
    scf.yield %r : tensor<16x${N}xf32>
  }
  tile.store %acc, %z[%m, %c0] : tensor<16x${N}xf32>, !out
  return
}

func.func @along_k(%z : !out, %p : !values, %v : !bytes, %vs : !scales) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<16x${N}xf32>
  %acc = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (tensor<16x${N}xf32>) {
    %x = tile.load %p[%m, %k] : !values -> tensor<16x32x${T}>
    %y0 = tile.load %v[%k, %c0] : !bytes -> tensor<32x${N/2}x!tile.f4E2M1FNx2>
    %y1 = tile.unpack %y0 : tensor<32x${N/2}x!tile.f4E2M1FNx2> -> tensor<32x${N}xf4E2M1FN>
    %y2 = tile.ftof %y1 : tensor<32x${N}xf4E2M1FN> -> tensor<32x${N}x${T}>
    %s0 = tile.load %vs[%k, %c0] : !scales -> tensor<${32/V}x${N}x${S}>
    %s1 = tile.ftof %s0 : tensor<${32/V}x${N}x${S}> -> tensor<${32/V}x${N}x${T}>
    %s2 = tile.reshape %s1 : tensor<${32/V}x${N}x${T}> -> tensor<${32/V}x1x${N}x${T}>
    %s3 = tile.broadcast %s2 : tensor<${32/V}x1x${N}x${T}> -> tensor<${32/V}x${V}x${N}x${T}>
    %s4 = tile.reshape %s3 : tensor<${32/V}x${V}x${N}x${T}> -> tensor<32x${N}x${T}>
    %y = arith.mulf %y2, %s4 : tensor<32x${N}x${T}>
    %r = tile.mmaf %x, %y, %a : tensor<16x32x${T}>, tensor<32x${N}x${T}>, tensor<16x${N}xf32>
    scf.yield %r : tensor<16x${N}xf32>
  }
  tile.store %acc, %z[%m, %c0] : tensor<16x${N}xf32>, !out
  return
}
