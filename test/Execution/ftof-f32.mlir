// Conversions of f32 to every format: in every binade, and for every value of the
// upper four bits of the mantissa, the ties of each narrower format and their
// neighbours; NaN, infinities and subnormals.

// DEFINE: %{outs} = out:65536 out:65536 out:65536 out:65536 out:65536 out:65536 out:65536 out:65536 out:65536 out:32768
// DEFINE: %{run} = tile-lane-run --check %s --grid=1 --num-warps=16 %{outs}

// RUN: %{run} --target=sm_120f val:0
// RUN: %{run} --target=sm_80 val:-2147483648

func.func @values(%o0 : memref<?xf8E4M3FN>, %o1 : memref<?xf8E5M2>, %o2 : memref<?xf8E4M3FN>, %o3 : memref<?xf8E5M2>, %o4 : memref<?xf8E8M0FNU>, %o5 : memref<?xf8E8M0FNU>, %o6 : memref<?xbf16>, %o7 : memref<?xf16>, %o8 : memref<?xf32>, %o9 : memref<?x!tile.f4E2M1FNx2>, %sign : i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %tails = arith.constant dense<[[0, 1, 4095, 4096, 4097, 6144, 65535, 32767, 32768, 32769, 49152, 1048575, 524287, 524288, 524289, 786432]]> : tensor<1x16xi32>
  %i = tile.iota : tensor<4096xi32>
  %c19 = arith.constant dense<19> : tensor<4096xi32>
  %top = arith.shli %i, %c19 : tensor<4096xi32>
  %column = tile.reshape %top : tensor<4096xi32> -> tensor<4096x1xi32>
  %tops = tile.broadcast %column : tensor<4096x1xi32> -> tensor<4096x16xi32>
  %rest = tile.broadcast %tails : tensor<1x16xi32> -> tensor<4096x16xi32>
  %both = arith.ori %tops, %rest : tensor<4096x16xi32>
  %s = tensor.splat %sign : tensor<4096x16xi32>
  %signed = arith.xori %both, %s : tensor<4096x16xi32>
  %bits = tile.reshape %signed : tensor<4096x16xi32> -> tensor<65536xi32>
  %t = arith.bitcast %bits : tensor<65536xi32> to tensor<65536xf32>
  %r0 = tile.ftof %t : tensor<65536xf32> -> tensor<65536xf8E4M3FN>
  tile.store %r0, %o0[%c0] : tensor<65536xf8E4M3FN>, memref<?xf8E4M3FN>
  %r1 = tile.ftof %t : tensor<65536xf32> -> tensor<65536xf8E5M2>
  tile.store %r1, %o1[%c0] : tensor<65536xf8E5M2>, memref<?xf8E5M2>
  %r2 = tile.ftof %t {saturate = false} : tensor<65536xf32> -> tensor<65536xf8E4M3FN>
  tile.store %r2, %o2[%c0] : tensor<65536xf8E4M3FN>, memref<?xf8E4M3FN>
  %r3 = tile.ftof %t {saturate = false} : tensor<65536xf32> -> tensor<65536xf8E5M2>
  tile.store %r3, %o3[%c0] : tensor<65536xf8E5M2>, memref<?xf8E5M2>
  %r4 = tile.ftof %t toward_zero : tensor<65536xf32> -> tensor<65536xf8E8M0FNU>
  tile.store %r4, %o4[%c0] : tensor<65536xf8E8M0FNU>, memref<?xf8E8M0FNU>
  %r5 = tile.ftof %t upward : tensor<65536xf32> -> tensor<65536xf8E8M0FNU>
  tile.store %r5, %o5[%c0] : tensor<65536xf8E8M0FNU>, memref<?xf8E8M0FNU>
  %r6 = tile.ftof %t : tensor<65536xf32> -> tensor<65536xbf16>
  tile.store %r6, %o6[%c0] : tensor<65536xbf16>, memref<?xbf16>
  %r7 = tile.ftof %t : tensor<65536xf32> -> tensor<65536xf16>
  tile.store %r7, %o7[%c0] : tensor<65536xf16>, memref<?xf16>
  %r8 = tile.ftof %t : tensor<65536xf32> -> tensor<65536xf32>
  tile.store %r8, %o8[%c0] : tensor<65536xf32>, memref<?xf32>
  %r9 = tile.ftof %t : tensor<65536xf32> -> tensor<65536xf4E2M1FN>
  %p9 = tile.pack %r9 : tensor<65536xf4E2M1FN> -> tensor<32768x!tile.f4E2M1FNx2>
  tile.store %p9, %o9[%c0] : tensor<32768x!tile.f4E2M1FNx2>, memref<?x!tile.f4E2M1FNx2>
  return
}
