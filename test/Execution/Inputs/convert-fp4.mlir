// Both codes of every byte of FP4 pairs, converted to every format.

func.func @codes(%o0 : memref<512xf8E4M3FN>, %o1 : memref<512xf8E5M2>, %o2 : memref<512xf8E8M0FNU>, %o3 : memref<512xf8E8M0FNU>, %o4 : memref<512xbf16>, %o5 : memref<512xf16>, %o6 : memref<512xf32>, %o7 : memref<512xf8E5M2>, %o8 : memref<256x!tile.f4E2M1FNx2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.iota : tensor<256xi8>
  %t = tile.unpack %i : tensor<256xi8> -> tensor<512xf4E2M1FN>
  %r0 = tile.ftof %t : tensor<512xf4E2M1FN> -> tensor<512xf8E4M3FN>
  tile.store %r0, %o0[%c0] : tensor<512xf8E4M3FN>, memref<512xf8E4M3FN>
  %r1 = tile.ftof %t : tensor<512xf4E2M1FN> -> tensor<512xf8E5M2>
  tile.store %r1, %o1[%c0] : tensor<512xf8E5M2>, memref<512xf8E5M2>
  %r2 = tile.ftof %t toward_zero : tensor<512xf4E2M1FN> -> tensor<512xf8E8M0FNU>
  tile.store %r2, %o2[%c0] : tensor<512xf8E8M0FNU>, memref<512xf8E8M0FNU>
  %r3 = tile.ftof %t upward : tensor<512xf4E2M1FN> -> tensor<512xf8E8M0FNU>
  tile.store %r3, %o3[%c0] : tensor<512xf8E8M0FNU>, memref<512xf8E8M0FNU>
  %r4 = tile.ftof %t : tensor<512xf4E2M1FN> -> tensor<512xbf16>
  tile.store %r4, %o4[%c0] : tensor<512xbf16>, memref<512xbf16>
  %r5 = tile.ftof %t : tensor<512xf4E2M1FN> -> tensor<512xf16>
  tile.store %r5, %o5[%c0] : tensor<512xf16>, memref<512xf16>
  %r6 = tile.ftof %t : tensor<512xf4E2M1FN> -> tensor<512xf32>
  tile.store %r6, %o6[%c0] : tensor<512xf32>, memref<512xf32>
  %r7 = tile.ftof %t {saturate = false} : tensor<512xf4E2M1FN> -> tensor<512xf8E5M2>
  tile.store %r7, %o7[%c0] : tensor<512xf8E5M2>, memref<512xf8E5M2>
  %b = tile.ftof %r6 : tensor<512xf32> -> tensor<512xf4E2M1FN>
  %p = tile.pack %b : tensor<512xf4E2M1FN> -> tensor<256x!tile.f4E2M1FNx2>
  tile.store %p, %o8[%c0] : tensor<256x!tile.f4E2M1FNx2>, memref<256x!tile.f4E2M1FNx2>
  return
}
