// Every code of ${F}, as a bit pattern of ${I} counted up to ${N}, converted to
// every format.

func.func @codes(%o0 : memref<?xf8E4M3FN>, %o1 : memref<?xf8E5M2>, %o2 : memref<?xf8E4M3FN>, %o3 : memref<?xf8E5M2>, %o4 : memref<?xf8E8M0FNU>, %o5 : memref<?xf8E8M0FNU>, %o6 : memref<?xbf16>, %o7 : memref<?xf16>, %o8 : memref<?xf32>, %o9 : memref<?x!tile.f4E2M1FNx2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.iota : tensor<${N}x${I}>
  %t = arith.bitcast %i : tensor<${N}x${I}> to tensor<${N}x${F}>
  %r0 = tile.ftof %t : tensor<${N}x${F}> -> tensor<${N}xf8E4M3FN>
  tile.store %r0, %o0[%c0] : tensor<${N}xf8E4M3FN>, memref<?xf8E4M3FN>
  %r1 = tile.ftof %t : tensor<${N}x${F}> -> tensor<${N}xf8E5M2>
  tile.store %r1, %o1[%c0] : tensor<${N}xf8E5M2>, memref<?xf8E5M2>
  %r2 = tile.ftof %t {saturate = false} : tensor<${N}x${F}> -> tensor<${N}xf8E4M3FN>
  tile.store %r2, %o2[%c0] : tensor<${N}xf8E4M3FN>, memref<?xf8E4M3FN>
  %r3 = tile.ftof %t {saturate = false} : tensor<${N}x${F}> -> tensor<${N}xf8E5M2>
  tile.store %r3, %o3[%c0] : tensor<${N}xf8E5M2>, memref<?xf8E5M2>
  %r4 = tile.ftof %t toward_zero : tensor<${N}x${F}> -> tensor<${N}xf8E8M0FNU>
  tile.store %r4, %o4[%c0] : tensor<${N}xf8E8M0FNU>, memref<?xf8E8M0FNU>
  %r5 = tile.ftof %t upward : tensor<${N}x${F}> -> tensor<${N}xf8E8M0FNU>
  tile.store %r5, %o5[%c0] : tensor<${N}xf8E8M0FNU>, memref<?xf8E8M0FNU>
  %r6 = tile.ftof %t : tensor<${N}x${F}> -> tensor<${N}xbf16>
  tile.store %r6, %o6[%c0] : tensor<${N}xbf16>, memref<?xbf16>
  %r7 = tile.ftof %t : tensor<${N}x${F}> -> tensor<${N}xf16>
  tile.store %r7, %o7[%c0] : tensor<${N}xf16>, memref<?xf16>
  %r8 = tile.ftof %t : tensor<${N}x${F}> -> tensor<${N}xf32>
  tile.store %r8, %o8[%c0] : tensor<${N}xf32>, memref<?xf32>
  %r9 = tile.ftof %t : tensor<${N}x${F}> -> tensor<${N}xf4E2M1FN>
  %p9 = tile.pack %r9 : tensor<${N}xf4E2M1FN> -> tensor<${N/2}x!tile.f4E2M1FNx2>
  tile.store %p9, %o9[%c0] : tensor<${N/2}x!tile.f4E2M1FNx2>, memref<?x!tile.f4E2M1FNx2>
  return
}
