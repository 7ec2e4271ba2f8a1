// Decodes NVFP4 to bf16 and applies the scales, and does nothing else: the cost of
// a value beside the multiply. Rows are K values; strides are known, so that a
// larger tile takes no more arithmetic for addresses.

!out    = memref<?x${K}xbf16>
!pairs  = memref<?x${K/2}x!tile.f4E2M1FNx2>
!scales = memref<?x${K/16}xf8E4M3FN>

func.func @dequantize(
    %z : !out {tile.shape_divisible_by = array<i64: ${BM}, 1>},
    %x : !pairs {tile.shape_divisible_by = array<i64: ${BM}, 1>},
    %xs : !scales {tile.shape_divisible_by = array<i64: ${BM}, 1>})
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %p = tile.load %x[%m, %c0] : !pairs -> tensor<${BM}x${K/2}x!tile.f4E2M1FNx2>
  %s = tile.load %xs[%m, %c0] : !scales -> tensor<${BM}x${K/16}xf8E4M3FN>
  %u = tile.unpack %p : tensor<${BM}x${K/2}x!tile.f4E2M1FNx2> -> tensor<${BM}x${K}xf4E2M1FN>
  %v = tile.ftof %u : tensor<${BM}x${K}xf4E2M1FN> -> tensor<${BM}x${K}xbf16>
  %f = tile.ftof %s : tensor<${BM}x${K/16}xf8E4M3FN> -> tensor<${BM}x${K/16}xbf16>
  %c = tile.reshape %f : tensor<${BM}x${K/16}xbf16> -> tensor<${BM}x${K/16}x1xbf16>
  %b = tile.broadcast %c : tensor<${BM}x${K/16}x1xbf16> -> tensor<${BM}x${K/16}x16xbf16>
  %g = tile.reshape %b : tensor<${BM}x${K/16}x16xbf16> -> tensor<${BM}x${K}xbf16>
  %r = arith.mulf %v, %g : tensor<${BM}x${K}xbf16>
  tile.store %r, %z[%m, %c0] : tensor<${BM}x${K}xbf16>, !out
  return
}
